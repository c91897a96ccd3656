package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// module is something that a program of the release is made of.
type module struct {
	path, version, sum string
	// files are its licences and notices; licences their SPDX names.
	files    []string
	licences []string
}

// licenceFile are the names of files that must go with a copy; besideIt are those that
// hold no licence themselves.
var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents)([-_.].*)?$`)
	besideIt    = regexp.MustCompile(`(?i)^(notice|patents)`)
)

// declared are modules that name their licence in their README and hold no text of it, as somebody has seen.
var declared = map[string]string{
	"github.com/mattn/go-localereader": "MIT", // bubbletea needs it on Windows
}

// modules are those that are linked into the programs, and the standard library, by
// path. What a folder of the repository replaces is a part of the program. A licence that is not known by its words ends the release: somebody has to
// look at it.
func (b *build) modules(ctx context.Context) []*module {
	// Of all platforms, so that what goes with one does not depend on which others are
	// built.
	found := map[string]*module{}
	for target := range strings.SplitSeq(all, ",") {
		args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not (or .Main (and .Replace (not .Replace.Version)))}}{{.Path}}|{{.Version}}|{{.Sum}}|{{.Dir}}{{end}}{{end}}"}
		for _, name := range names {
			args = append(args, "./cmd/"+name)
		}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Env = b.dir, settings(target)
		for line := range strings.Lines(must(output(cmd))) {
			part := strings.SplitN(strings.TrimSpace(line), "|", 4)
			if len(part) < 4 || found[part[0]] != nil {
				continue
			}
			m := &module{path: part[0], version: part[1], sum: part[2]}
			m.read(part[3])
			found[m.path] = m
		}
	}
	list := slices.Collect(maps.Values(found))
	std := &module{path: "std", version: b.goVersion}
	std.read(must(output(exec.CommandContext(ctx, "go", "env", "GOROOT"))))
	list = append(list, std)
	// What is embedded has its licence beside it.
	under(b.dir, func(_, path string) {
		dir, name := filepath.Split(path)
		if dir = filepath.Clean(dir); dir == b.dir || !licenceFile.MatchString(name) || filepath.Ext(path) == ".go" {
			return
		}
		m := &module{path: filepath.Base(dir)}
		list = append(list, m)
		m.read(dir)
	})
	slices.SortFunc(list, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return list
}

// read finds the licence files of a module and what they are.
func (m *module) read(dir string) {
	for _, e := range must(os.ReadDir(dir)) {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		m.files = append(m.files, path)
		if besideIt.MatchString(e.Name()) {
			continue
		}
		for _, match := range licensecheck.Scan(must(os.ReadFile(path))).Match {
			if !match.IsURL && !slices.Contains(m.licences, match.ID) {
				m.licences = append(m.licences, match.ID)
			}
		}
	}
	if id := declared[m.path]; id != "" && len(m.licences) == 0 {
		readme := filepath.Join(dir, "README.md")
		text := must(os.ReadFile(readme))
		if regexp.MustCompile(`(?m)^#+ Licen[cs]e\s+` + regexp.QuoteMeta(id) + `$`).Match(text) {
			m.files, m.licences = append(m.files, readme), append(m.licences, id)
		}
	}
	if len(m.licences) == 0 {
		check(fmt.Errorf("module %s: no file of %s holds a licence that is known by its words", m.path, dir))
	}
}

// collect puts documents and licences beside manual pages and completions.
func collect(share string, src source, modules []*module) {
	for _, name := range []string{"README.md", "README.zh.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"} {
		copyFile(filepath.Join(share, "doc", name), filepath.Join(src.dir, name))
	}
	for _, m := range modules {
		for _, f := range m.files {
			copyFile(filepath.Join(share, "doc", "licenses", filepath.FromSlash(m.path), filepath.Base(f)), f)
		}
	}
}
