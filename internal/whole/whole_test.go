package whole

import (
	"os"
	"path/filepath"
	"testing"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestAppearsOnlyOnCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "deep", "result.csv")
	f, err := Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("Index\r\n")
	f.Flush()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatalf("the file is visible before Commit: %v", err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "Index\r\n" {
		t.Errorf("content %q", got)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files left behind: %v", got)
	}
	if err := f.Commit(); err == nil {
		t.Error("a second Commit succeeds")
	}
}

func TestDiscardKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result.csv")
	if err := Write(path, []byte("a long old content"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("half")
	f.Discard()
	if got, _ := os.ReadFile(path); string(got) != "a long old content" {
		t.Errorf("content after Discard: %q", got)
	}
	if err := Write(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("a tail of the old content stays: %q", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("files left behind: %v", got)
	}
}

func TestFolderInTheWay(t *testing.T) {
	if err := Write(t.TempDir(), []byte("x"), 0o600); err == nil {
		t.Error("writing over a folder succeeds")
	}
}
