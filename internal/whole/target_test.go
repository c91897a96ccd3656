//go:build linux || darwin

package whole

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLinksStay(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"far", "near"} {
		os.Mkdir(filepath.Join(dir, sub), 0o700)
	}
	for _, c := range []struct{ name, to, end string }{
		{"relative", "../far/a.json", "far/a.json"},
		{"absolute", filepath.Join(dir, "far/b.json"), "far/b.json"},
		{"twice", "relative", "far/a.json"},
		{"new", "../far/new.json", "far/new.json"},
	} {
		link := filepath.Join(dir, "near", c.name)
		if err := os.Symlink(c.to, link); err != nil {
			t.Fatal(err)
		}
		if c.name != "new" {
			os.WriteFile(filepath.Join(dir, c.end), []byte("old and longer"), 0o600)
		}
		if err := Write(link, []byte("of "+c.name), 0o600); err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link was replaced by a file", c.name)
		}
		if got := read(t, filepath.Join(dir, c.end)); got != "of "+c.name {
			t.Errorf("%s: the target holds %q", c.name, got)
		}
	}
	loop := filepath.Join(dir, "loop")
	os.Symlink(loop, loop)
	if err := Write(loop, nil, 0o600); err == nil {
		t.Error("a link to itself was written")
	}
}

func TestDevicesStay(t *testing.T) {
	if err := Write("/dev/null", []byte("x"), 0o600); err != nil {
		t.Errorf("/dev/null: %v", err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Fatalf("/dev/null is no device any more: %v", err)
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		if err := Write("/dev/full", []byte("x"), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("/dev/full: %v, expected that there is no space", err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	os.Symlink("/dev/null", link)
	if err := Write(link, []byte("x"), 0o600); err != nil {
		t.Errorf("link to /dev/null: %v", err)
	}
}

func TestPipeGetsTheBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	got := make(chan string)
	go func() {
		f, _ := os.Open(path)
		text, _ := io.ReadAll(f)
		got <- string(text)
	}()
	if err := Write(path, []byte("through"), 0o600); err != nil {
		t.Error(err)
	}
	if text := <-got; text != "through" {
		t.Errorf("the reader got %q", text)
	}
}

func TestApart(t *testing.T) {
	dir := t.TempDir()
	in, same, soft, other := filepath.Join(dir, "in"), filepath.Join(dir, "same"), filepath.Join(dir, "soft"), filepath.Join(dir, "other")
	os.WriteFile(in, nil, 0o600)
	os.WriteFile(other, nil, 0o600)
	os.Link(in, same)
	os.Symlink(in, soft)
	for _, out := range []string{in, same, soft, filepath.Join(dir, ".", "in")} {
		if err := Apart([]string{out}, "", other, in); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v, expected that it is an input", out, err)
		}
	}
	for _, out := range []string{"", other, filepath.Join(dir, "new"), "/dev/null"} {
		if err := Apart([]string{out}, in, "/dev/null", filepath.Join(dir, "gone")); err != nil {
			t.Errorf("%q: %v", out, err)
		}
	}
}

// Files below a folder that is an input are inputs, however they are reached.
func TestApartFromFolders(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	os.MkdirAll(filepath.Join(in, "0", "1"), 0o700)
	far := filepath.Join(dir, "far")
	os.Mkdir(far, 0o700)
	for _, path := range []string{filepath.Join(in, "0", "1", "dump"), filepath.Join(far, "linked"), filepath.Join(dir, "other")} {
		os.WriteFile(path, []byte("data"), 0o600)
	}
	os.Symlink(far, filepath.Join(in, "more"))
	os.Symlink(in, filepath.Join(in, "0", "circle"))
	os.Link(filepath.Join(in, "0", "1", "dump"), filepath.Join(dir, "hard"))
	for _, out := range []string{filepath.Join(in, "0", "1", "dump"), filepath.Join(far, "linked"), filepath.Join(dir, "hard"), filepath.Join(in, "0", ".", "circle", "0", "1", "dump")} {
		if err := Apart([]string{"", out}, in); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v, expected that it is an input", out, err)
		}
	}
	for _, out := range []string{filepath.Join(dir, "other"), filepath.Join(in, "new"), "-"} {
		if err := Apart([]string{out}, in); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	}
}

// Two outputs that are one file, whether it is there yet or not.
func TestOutputsTwice(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	os.Mkdir("sub", 0o700)
	os.WriteFile("there", nil, 0o600)
	os.Symlink("there", "link")
	os.Symlink("new", "dangling")
	os.Symlink("sub", "way")
	os.Link("there", "hard")
	for _, two := range [][2]string{{"a", "./a"}, {"a", filepath.Join(dir, "a")}, {"there", "link"}, {"there", "hard"}, {"new", "dangling"}, {"sub/x", "way/x"}, {"sub/../a", "a"}} {
		if err := Apart([]string{two[0], "", two[1]}); !errors.Is(err, ErrTwice) {
			t.Errorf("%q: %v, expected that they are one", two, err)
		}
	}
	for _, two := range [][2]string{{"a", "b"}, {"-", "-"}, {"", ""}, {"/dev/null", "/dev/null"}, {"sub/x", "x"}} {
		if err := Apart(two[:]); err != nil {
			t.Errorf("%q: %v", two, err)
		}
	}
}

// What runs that were killed left behind goes; what others are writing stays.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	dead, folder := filepath.Join(dir, ".precision-123.tmp"), filepath.Join(dir, ".precision-dir.tmp")
	os.WriteFile(dead, []byte("half"), 0o600)
	os.Mkdir(folder, 0o700)
	os.WriteFile(filepath.Join(dir, "precision-1.tmp"), nil, 0o600)
	alive, err := NewTemp(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("a file without an owner is still there")
	}
	sweep(alive.dir)
	if _, err := os.Stat(alive.Name()); err != nil {
		t.Errorf("a file that is being written was removed: %v", err)
	}
	alive.close() // as before it gets its name
	sweep(alive.dir)
	if _, err := os.Stat(alive.Name()); err != nil {
		t.Errorf("a file about to get its name was removed: %v", err)
	}
	alive.Discard()
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("left are %v", got)
	}
}

// TestOwn: a name that comes from data leads nowhere else.
func TestOwn(t *testing.T) {
	dir := t.TempDir()
	mine, link := filepath.Join(dir, "mine"), filepath.Join(dir, "x.npy.txt")
	os.WriteFile(mine, []byte("mine"), 0o600)
	if err := os.Symlink(mine, link); err != nil {
		t.Skip(err)
	}
	_, created := CreateOwn(link, 0o600)
	for i, err := range []error{created, WriteOwn(link, nil, 0o600), FillOwn(link, 0o600, func(io.Writer) error { return nil })} {
		if !errors.As(err, new(*LinkError)) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if text, _ := os.ReadFile(mine); string(text) != "mine" {
		t.Errorf("the file it leads to holds %q", text)
	}
	if err := WriteOwn(filepath.Join(dir, "own"), []byte("x"), 0o600); err != nil {
		t.Error(err)
	}
}
