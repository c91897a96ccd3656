//go:build unix

package plainfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	pipe, file, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(file, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{pipe: "named pipe", dir: "directory", "/dev/zero": "device", filepath.Join(dir, "none"): "no such file"} {
		if _, _, err := Open(path, "a plain file"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	for _, path := range []string{file, link} {
		f, size, err := Open(path, "a plain file")
		if err != nil || size != 3 {
			t.Fatalf("%s: %d bytes, %v", path, size, err)
		}
		f.Close()
	}
}
