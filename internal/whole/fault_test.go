package whole

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errDisk = errors.New("input/output error")

// faulty writes until it has written so many bytes, and part of the write that
// goes beyond.
type faulty struct {
	w    io.Writer
	left int
}

func (f *faulty) Write(p []byte) (int, error) {
	if len(p) <= f.left {
		f.left -= len(p)
		return f.w.Write(p)
	}
	n, _ := f.w.Write(p[:f.left])
	f.left = 0
	return n, errDisk
}

// Wherever the disk fails, the old file stays, nothing is left behind and the
// error tells the file.
func TestFaultAtEveryPlace(t *testing.T) {
	defer func(was func(*os.File) io.Writer) { through = was }(through)
	content := strings.Repeat("0123456789abcdef", 3*(1<<16)/16)
	for at := 0; at <= len(content); at += 4093 {
		dir := t.TempDir()
		path := filepath.Join(dir, "result.csv")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		through = func(f *os.File) io.Writer { return &faulty{f, at} }
		for name, write := range map[string]func() error{
			"Write": func() error { return Write(path, []byte(content), 0o600) },
			"lines": func() error {
				return Fill(path, 0o600, func(w io.Writer) error {
					for i := 0; i < len(content); i += 1024 {
						fmt.Fprint(w, content[i:i+1024]) // the error stays until Commit
					}
					return nil
				})
			},
		} {
			err := write()
			if at == len(content) && err == nil {
				continue
			}
			if !errors.Is(err, errDisk) || !strings.Contains(fmt.Sprint(err), path) {
				t.Errorf("%s, fault at %d: error %v, expected that of the disk and the file", name, at, err)
			}
			if got, _ := os.ReadFile(path); string(got) != "old" {
				t.Errorf("%s, fault at %d: the file holds %d bytes, expected what it was", name, at, len(got))
			}
			if got := names(t, dir); len(got) != 1 {
				t.Errorf("%s, fault at %d: left behind %v", name, at, got)
			}
		}
	}
}
