package main

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// wheelTags are the platforms of Python that a program runs on. It is static, so it needs no libc and goes
// with that of any Linux; macOS 12 and 2.17, the age of manylinux2014, are the oldest that Go and pip know.
var wheelTags = map[string][]string{
	"linux/amd64":   {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	"linux/arm64":   {"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	"darwin/amd64":  {"macosx_12_0_x86_64"},
	"darwin/arm64":  {"macosx_12_0_arm64"},
	"windows/amd64": {"win_amd64"},
}

// sources of the package, in the repository.
const pythonSources = "contrib/python"

// wheelVersion is a version as PEP 440 writes it: 1.2.0, 1.2.0rc1, and 0.0.0.dev20260102030405+0123456789ab for a commit without a
// tag, in this order.
func wheelVersion(v string) string {
	number, pre, ok := strings.Cut(v, "~")
	if !ok {
		return number
	}
	words := strings.Split(pre, ".")
	for _, stage := range []string{"alpha", "beta", "rc"} {
		if rest, is := strings.CutPrefix(words[0], stage); is {
			return number + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[stage] + cmp.Or(strings.Join(append([]string{rest}, words[1:]...), ""), "0")
		}
	}
	// go's pseudo version: [0.]time.hash
	if len(words) == 3 && words[0] == "0" {
		words = words[1:]
	}
	if len(words) == 2 && strings.Trim(words[0], "0123456789") == "" {
		return number + ".dev" + words[0] + "+" + words[1]
	}
	return number + ".dev0+" + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r == '.' {
			return r
		}
		return -1
	}, strings.ToLower(strings.Join(words, ".")))
}

// wheel makes the package of Python for a platform: the sources, the program, and what pip wants to know of them.
func (b *build) wheel(target, share string) {
	tags := wheelTags[target]
	version := wheelVersion(b.version)
	about := "precision-" + version + ".dist-info/"
	sources := filepath.Join(b.dir, filepath.FromSlash(pythonSources))
	program := b.program(target, "precision")
	list := []entry{{"precision/bin/" + filepath.Base(program), program, 0o755}}
	under(filepath.Join(sources, "precision"), func(name, path string) {
		if ext := filepath.Ext(name); ext == ".py" || ext == ".typed" {
			list = append(list, entry{"precision/" + name, path, 0o644})
		}
	})
	under(filepath.Join(share, "doc", "licenses"), func(name, path string) {
		list = append(list, entry{about + "licenses/licenses/" + name, path, 0o644})
	})
	list = append(list, entry{about + "licenses/LICENSE", filepath.Join(b.dir, "LICENSE"), 0o644})
	readme := must(os.ReadFile(filepath.Join(sources, "README.md")))
	kind := "Wheel-Version: 1.0\nGenerator: precision release\nRoot-Is-Purelib: false\n"
	for _, tag := range tags {
		kind += "Tag: py3-none-" + tag + "\n"
	}
	texts := []struct{ name, text string }{
		{about + "METADATA", `Metadata-Version: 2.4
Name: precision
Version: ` + version + `
Summary: finds where a network on Ascend NPUs goes wrong first
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

` + string(readme)},
		{about + "WHEEL", kind},
		{about + "entry_points.txt", "[console_scripts]\nprecision = precision._program:main\n"},
		{about + "top_level.txt", "precision\n"},
	}
	slices.SortFunc(list, func(x, y entry) int { return strings.Compare(x.name, y.name) })
	path := filepath.Join(b.out, "precision-"+version+"-py3-none-"+strings.Join(tags, ".")+".whl")
	f := must(os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644))
	defer f.Close()
	w := &wheelWriter{zip: zip.NewWriter(f), b: b}
	for _, e := range list {
		each(e.path, func(r io.Reader, _ int64) { w.add(e.name, e.mode == 0o755, r) })
	}
	for _, t := range texts {
		w.add(t.name, false, strings.NewReader(t.text))
	}
	// The record names itself, without a hash.
	w.record.WriteString(about + "RECORD,,\n")
	w.add(about+"RECORD", false, strings.NewReader(w.record.String()))
	check(w.zip.Close())
	check(f.Close())
}

// wheelWriter writes the members of a wheel, and a line of its record for each.
type wheelWriter struct {
	zip    *zip.Writer
	b      *build
	record strings.Builder
}

func (w *wheelWriter) add(name string, program bool, r io.Reader) {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: w.b.time}
	if h.SetMode(0o644); program {
		h.SetMode(0o755)
	}
	sum := sha256.New()
	n := must(io.Copy(io.MultiWriter(must(w.zip.CreateHeader(h)), sum), r))
	field := name
	if strings.ContainsAny(field, `,"`) {
		field = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
	}
	fmt.Fprintf(&w.record, "%s,sha256=%s,%d\n", field, base64.RawURLEncoding.EncodeToString(sum.Sum(nil)), n)
}
