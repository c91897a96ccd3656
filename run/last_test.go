package run

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestLast: the last result comes back with absolute paths, its copy goes when another takes its place, and what
// users wrote stays.
func TestLast(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	dir := filepath.Join(home, "state")
	if _, err := OpenLast(dir); err == nil {
		t.Error("there is a last result before the first")
	}
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	if err := (Last{Left: "npu", Graph: "graph.txt"}).Keep(dir, text("one")); err != nil {
		t.Fatal(err)
	}
	first, err := OpenLast(dir)
	if err != nil || first.Left != filepath.Join(home, "npu") || first.Graph != filepath.Join(home, "graph.txt") || first.Right != "" {
		t.Fatalf("%+v, %v", first, err)
	}
	if got, err := os.ReadFile(first.Result); err != nil || string(got) != "one" {
		t.Errorf("the copy is %q, %v", got, err)
	}
	own := filepath.Join(home, "job")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (Last{Result: "job"}).Keep(dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first.Result); err == nil {
		t.Error("the copy of the result before is still there")
	}
	if second, err := OpenLast(dir); err != nil || second.Result != own {
		t.Errorf("%+v, %v", second, err)
	}
	if err := (Last{Left: "npu"}).Keep(dir, text("three")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(own); err != nil {
		t.Error("what the user wrote was removed")
	}
	for _, damaged := range []string{"", "{", `{"left": "x"}`, "[]"} {
		if err := os.WriteFile(filepath.Join(dir, lastFile), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := OpenLast(dir); err == nil {
			t.Errorf("%q is taken for %+v", damaged, l)
		}
	}
	if err := (Last{}).Keep("", text("none")); err != nil {
		t.Errorf("without a folder: %v", err)
	}
}

// TestStateFolder: the folder is the user's, and none where there is no home.
func TestStateFolder(t *testing.T) {
	for _, c := range []struct{ xdg, home, want string }{{"/s", "/h", "/s/precision"}, {"", "/h", "/h/.local/state/precision"}, {"relative", "/h", "/h/.local/state/precision"}, {"", "", ""}} {
		got := StateFolder(func(name string) string { return map[string]string{"XDG_STATE_HOME": c.xdg, "HOME": c.home}[name] })
		if filepath.ToSlash(got) != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
