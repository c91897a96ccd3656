package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/cavaliergopher/cpio"
)

// one gives the only file of a folder that a pattern matches.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %q, expected one file", pattern, found)
	}
	return found[0]
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRelease builds a release, for all platforms or with -short for one, and looks at it
// as those do who get it.
func TestRelease(t *testing.T) {
	targets := strings.Split(all, ",")
	if testing.Short() { // the others are compiled for this alone, each as long as all else takes
		targets = []string{"linux/amd64"}
	}
	commit, err := git(context.Background(), ".", "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "dist")
	if err := run(context.Background(), dir, commit, targets); err != nil {
		t.Fatal(err)
	}
	t.Run("programs", func(t *testing.T) { testPrograms(t, dir, commit, targets) })
	t.Run("sums", func(t *testing.T) { testSums(t, dir) })
	t.Run("inventory", func(t *testing.T) { testInventory(t, dir) })
	t.Run("deb", func(t *testing.T) { testDeb(t, dir) })
	t.Run("rpm", func(t *testing.T) { testRPM(t, dir) })
	t.Run("wheels", func(t *testing.T) { testWheels(t, dir, targets) })
	t.Run("container", func(t *testing.T) { testContainer(t, dir) })
	t.Run("same bytes", func(t *testing.T) { testSameBytes(t, dir, commit) })
}

// testPrograms: every program is static, knows its commit and holds no path of this
// machine.
func testPrograms(t *testing.T, dir, commit string, targets []string) {
	b := &build{out: dir}
	home, _ := os.UserHomeDir()
	for _, target := range targets {
		for _, name := range names {
			path := b.program(target, name)
			info, err := buildinfo.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			set := map[string]string{}
			for _, s := range info.Settings {
				set[s.Key] = s.Value
			}
			if got := set["GOOS"] + "/" + set["GOARCH"]; got != target || set["CGO_ENABLED"] != "0" || set["vcs.revision"] != commit || set["vcs.modified"] != "false" {
				t.Errorf("%s: %v", path, set)
			}
			text := read(t, path)
			for _, machine := range []string{runtime.GOROOT() + "/src/", home + "/", os.TempDir() + "/release"} {
				if strings.Contains(text, machine) {
					t.Errorf("%s holds the path %s of this machine", path, machine)
				}
			}
			if f, err := elf.NewFile(strings.NewReader(text)); err == nil {
				for _, p := range f.Progs {
					if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
						t.Errorf("%s is not static", path)
					}
				}
			} else if strings.HasPrefix(target, "linux/") {
				t.Errorf("%s: %v", path, err)
			}
		}
		if strings.HasPrefix(target, "windows/") {
			z, err := zip.OpenReader(one(t, dir, "*_windows_amd64.zip"))
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, f := range z.File {
				_, name, _ := strings.Cut(f.Name, "/")
				list = append(list, name)
			}
			z.Close()
			for _, want := range []string{"precision.exe", "msaccucmp.exe", "README.md", "LICENSE", "licenses/std/LICENSE", "man/man1/precision.1"} {
				if !slices.Contains(list, want) {
					t.Errorf("the archive has no %s", want)
				}
			}
		}
	}
}

// testSums: sha256sum agrees with all sums, and every file has one.
func testSums(t *testing.T, dir string) {
	files := 0
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, _ error) error {
		if !d.IsDir() {
			files++
		}
		return nil
	})
	if lines := strings.Count(read(t, filepath.Join(dir, "SHA256SUMS")), "\n"); lines != files-1 {
		t.Errorf("%d sums of %d files", lines, files-1)
	}
	cmd := exec.Command("sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%v: %s", err, out)
	}
}

// testInventory: whatever is linked into a program is in the inventory, with a licence
// and with the sum that go.sum has.
func testInventory(t *testing.T, dir string) {
	path := one(t, dir, "*.cdx.json")
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(strings.NewReader(read(t, path)), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(bom.SerialNumber) {
		t.Errorf("serial number %s", bom.SerialNumber)
	}
	goSum := read(t, filepath.Join("..", "..", "go.sum"))
	listed := map[string]cyclonedx.Component{}
	for _, c := range *bom.Components {
		listed[c.PackageURL] = c
		if c.Licenses == nil || len(*c.Licenses) == 0 {
			t.Errorf("%s has no licence", c.Name)
		}
		if c.Properties != nil && !strings.Contains(goSum, c.Name+" "+c.Version+" "+(*c.Properties)[0].Value+"\n") {
			t.Errorf("%s: go.sum has another sum than %v", c.Name, *c.Properties)
		}
	}
	programs, _ := filepath.Glob(filepath.Join(dir, "bin", "*", "*"))
	for _, p := range programs {
		info, err := buildinfo.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range info.Deps {
			if d.Replace != nil && strings.HasPrefix(d.Replace.Path, "./") {
				continue // a folder of the repository
			}
			if _, ok := listed["pkg:golang/"+d.Path+"@"+d.Version]; !ok {
				t.Errorf("%s of %s is not in the inventory", d.Path, p)
			}
		}
		if _, ok := listed["pkg:golang/std@"+strings.TrimPrefix(info.GoVersion, "go")]; !ok {
			t.Errorf("the standard library of %s is not in the inventory", p)
		}
	}
	if len(programs) == 0 || len(listed) < 10 {
		t.Errorf("%d programs, %d components", len(programs), len(listed))
	}
	raw := map[string]any{}
	if err := json.Unmarshal([]byte(read(t, path)), &raw); err != nil || raw["bomFormat"] != "CycloneDX" {
		t.Errorf("%v, %v", raw["bomFormat"], err)
	}
}

// wanted are files that a package must install.
var wanted = []string{"usr/bin/precision", "usr/bin/msaccucmp", "usr/share/man/man1/precision.1.gz", "usr/share/man/man1/msaccucmp.1.gz",
	"usr/share/man/zh_CN/man1/precision-compare.1.gz", "usr/share/bash-completion/completions/precision",
	"usr/share/fish/vendor_completions.d/precision.fish", "usr/share/doc/precision/copyright", "usr/share/doc/precision/licenses/std/LICENSE"}

// testDeb unpacks the package into an empty folder and runs the first command of the
// README there, where nothing else is.
func testDeb(t *testing.T, dir string) {
	dpkg, err := exec.LookPath("dpkg")
	if err != nil {
		t.Skip("no dpkg")
	}
	deb := one(t, dir, "*_amd64.deb")
	root := t.TempDir()
	if out, err := exec.Command(dpkg, "-x", deb, root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range append([]string{"usr/share/zsh/vendor-completions/_precision"}, wanted...) {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	control, err := exec.Command(dpkg, "-I", deb).CombinedOutput()
	for _, want := range []string{"Package: precision", "Architecture: amd64", "Version: "} {
		if err != nil || !strings.Contains(string(control), want) {
			t.Errorf("%q is not in\n%s", want, control)
		}
	}
	man, err := exec.Command("gzip", "-dc", filepath.Join(root, "usr/share/man/man1/precision.1.gz")).Output()
	if err != nil || !strings.HasPrefix(string(man), ".TH") {
		t.Errorf("precision.1.gz: %v: %.60s", err, man)
	}
	firstCommand(t, root, "/usr/bin/precision")
}

// firstCommand runs the first command of the README in an otherwise empty root folder:
// there is no /tmp, /proc or C library, as in a container from scratch.
func firstCommand(t *testing.T, root, program string) {
	t.Helper()
	repo := filepath.Join("..", "..")
	block := regexp.MustCompile("(?s)```sh\n(.*?)\n```").FindStringSubmatch(read(t, filepath.Join(repo, "README.md")))
	if block == nil {
		t.Fatal("README.md has no command")
	}
	words := strings.Fields(block[1])
	if len(words) < 4 || strings.Join(words[:3], " ") != "go run ./cmd/precision" {
		t.Fatalf("the first command of README.md is %s", block[1])
	}
	if err := os.CopyFS(filepath.Join(root, "data", "testdata", "sample"), os.DirFS(filepath.Join(repo, "testdata", "sample"))); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, words[3:]...)
	cmd.Dir, cmd.Env = "/data", []string{}
	if !inRoot(cmd, root) {
		cmd.Path, cmd.Dir = filepath.Join(root, program), filepath.Join(root, "data")
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "bad: the error begins at 1 operator") || !strings.Contains(string(out), "block2/conv") {
		t.Errorf("%v: %s", err, out)
	}
	one(t, filepath.Join(root, "data", "result"), "result_*.csv")
}

// testRPM reads the package as rpm does, lead, two headers, an archive, and finds the
// programs that are in the release.
func testRPM(t *testing.T, dir string) {
	text := read(t, one(t, dir, "*.x86_64.rpm"))
	in := bufio.NewReader(strings.NewReader(text))
	lead := make([]byte, 96)
	if _, err := io.ReadFull(in, lead); err != nil || !bytes.HasPrefix(lead, []byte{0xed, 0xab, 0xee, 0xdb}) {
		t.Fatalf("no lead of an rpm: %v", err)
	}
	rpmHeader(t, in, true)
	tags := rpmHeader(t, in, false)
	for tag, want := range map[uint32]string{1000: "precision", 1014: "Apache-2.0", 1022: "x86_64", 1007: "localhost"} { // name, licence, arch, build host
		if tags[tag] != want {
			t.Errorf("tag %d is %q, expected %q", tag, tags[tag], want)
		}
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	files := cpio.NewReader(z)
	for {
		h, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimLeft(h.Name, "./")
		got[name] = h.Size
		if name == "usr/bin/precision" {
			body, err := io.ReadAll(files)
			if err != nil || string(body) != read(t, filepath.Join(dir, "bin", "linux_amd64", "precision")) || h.Mode&0o777 != 0o755 {
				t.Errorf("%s differs from the program of the release, or has mode %o: %v", name, h.Mode, err)
			}
		}
	}
	for _, name := range append([]string{"usr/share/zsh/site-functions/_precision"}, wanted...) {
		if got[name] == 0 {
			t.Errorf("%s is not there", name)
		}
	}
}

// rpmHeader reads a header and gives its texts. The first one of a package is padded to
// eight bytes.
func rpmHeader(t *testing.T, in io.Reader, padded bool) map[uint32]string {
	t.Helper()
	var h struct {
		Magic, _    uint32
		Tags, Bytes uint32
	}
	if err := binary.Read(in, binary.BigEndian, &h); err != nil || h.Magic != 0x8eade801 {
		t.Fatalf("no header of an rpm: %x, %v", h.Magic, err)
	}
	index := make([][4]uint32, h.Tags)
	size := int(h.Bytes)
	if padded {
		size = (size + 7) / 8 * 8
	}
	store := make([]byte, size)
	if err := errors.Join(binary.Read(in, binary.BigEndian, index), binary.Read(in, binary.BigEndian, store)); err != nil {
		t.Fatal(err)
	}
	tags := map[uint32]string{}
	for _, e := range index {
		if tag, kind, at := e[0], e[1], e[2]; kind == 6 || kind == 9 { // a string, one in several languages
			text, _, _ := bytes.Cut(store[at:], []byte{0})
			tags[tag] = string(text)
		}
	}
	return tags
}

// testContainer does what the container file says, in place of podman: nothing, a file,
// a folder, and the entry point.
func testContainer(t *testing.T, dir string) {
	root := t.TempDir()
	entry := ""
	for line := range strings.Lines(read(t, filepath.Join(dir, "Containerfile"))) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "FROM" && words[1] == "scratch", words[0] == "ARG" && words[1] == "TARGETARCH=amd64", words[0] == "WORKDIR" && words[1] == "/data":
		case words[0] == "COPY":
			from := strings.ReplaceAll(words[1], "${TARGETARCH}", "amd64")
			info, err := os.Stat(filepath.Join(dir, from))
			if err != nil || info.Mode()&0o111 == 0 {
				t.Fatalf("%s: %v", from, err)
			}
			if err := os.WriteFile(filepath.Join(root, words[2]), []byte(read(t, filepath.Join(dir, from))), 0o755); err != nil {
				t.Fatal(err)
			}
		case words[0] == "ENTRYPOINT":
			var list []string
			if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "ENTRYPOINT")), &list); err != nil || len(list) != 1 {
				t.Fatal(line)
			}
			entry = list[0]
		default:
			t.Errorf("not known here: %s", line)
		}
	}
	firstCommand(t, root, entry)
}

// testSameBytes builds the commit again, from a clone in another place, on a machine with
// other habits, and compares what both releases have.
func testSameBytes(t *testing.T, dir, commit string) {
	here, err := git(context.Background(), ".", "rev-parse", "--show-toplevel")
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "elsewhere", "of another name")
	if _, err := git(context.Background(), ".", "clone", "--quiet", here, clone); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(clone, "cmd", "precision", "stray.go"), []byte("package main\n\nfunc init() { panic(1) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(clone)
	t.Setenv("TZ", "Asia/Shanghai")
	t.Setenv("LC_ALL", "zh_CN.UTF-8")
	t.Setenv("GOFLAGS", "-tags=noasm")
	t.Setenv("GOAMD64", "v3")
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	t.Setenv("TMPDIR", t.TempDir())
	again := filepath.Join(t.TempDir(), "dist")
	if err := run(context.Background(), again, commit, []string{"linux/amd64"}); err != nil {
		t.Fatal(err)
	}
	first := read(t, filepath.Join(dir, "SHA256SUMS"))
	compared := 0
	for line := range strings.Lines(read(t, filepath.Join(again, "SHA256SUMS"))) {
		if compared++; !strings.Contains(first, line) {
			t.Errorf("other bytes: %s", line)
		}
	}
	if compared < 9 { // two programs, archive, deb, rpm, wheel, inventory, notes, container file
		t.Errorf("only %d files were compared", compared)
	}
}

func TestPackageVersion(t *testing.T) {
	for v, want := range map[string]string{
		"v1.2.3":                             "1.2.3",
		"v1.2.3-rc1":                         "1.2.3~rc1",
		"v0.0.0-20260102030405-0123456789ab": "0.0.0~20260102030405.0123456789ab",
		"v1.2.4-0.20260102030405-0123456789ab+dirty": "1.2.4~0.20260102030405.0123456789ab",
		"v2.0.0+meta": "2.0.0",
	} {
		if got := packageVersion(v); got != want {
			t.Errorf("%s: got %s, expected %s", v, got, want)
		}
	}
}
