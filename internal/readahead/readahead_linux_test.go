package readahead

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A file that is not in memory is brought there; what is no regular file is left alone.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tensor")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if File(path) != 0 {
		t.Error("a file just written is not in memory")
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if n := File(path); n == 0 {
		t.Skip("this file system keeps files in memory")
	} else if n != 1<<20 {
		t.Errorf("%d bytes of 1 MiB were asked for", n)
	}
	for range 500 {
		if File(path) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if File(path) != 0 {
		t.Error("the file did not come")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{pipe, t.TempDir(), filepath.Join(t.TempDir(), "none"), "/dev/zero"} {
		if File(other) != 0 {
			t.Errorf("%s was asked for", other)
		}
	}
}
