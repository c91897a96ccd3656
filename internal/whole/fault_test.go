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

// full lets so many bytes through, and part of the write that goes beyond.
func full(left int) Fault {
	return func(step Step, _ string, bytes int) (int, error) {
		if step != Writing {
			return bytes, nil
		}
		if bytes <= left {
			left -= bytes
			return bytes, nil
		}
		n := left
		left = 0
		return n, errDisk
	}
}

// Wherever the disk fails, the old file stays, nothing is left behind and the
// error tells the file.
func TestFaultAtEveryPlace(t *testing.T) {
	defer Inject(nil)
	content := strings.Repeat("0123456789abcdef", 3*(1<<16)/16)
	for at := 0; at <= len(content); at += 4093 {
		dir := t.TempDir()
		path := filepath.Join(dir, "result.csv")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
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
			Inject(full(at))
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

// Whichever step fails, the error is told, what was there stays and nothing is left
// behind.
func TestFaultAtEveryStep(t *testing.T) {
	defer Inject(nil)
	fill := func(w io.Writer) error {
		_, err := io.Copy(w, strings.NewReader(strings.Repeat("0123456789abcdef", 3<<12)))
		return err
	}
	for name, write := range map[string]func(path string) error{
		"Write":   func(path string) error { return Write(path, []byte("new"), 0o600) },
		"Fill":    func(path string) error { return Fill(path, 0o600, fill) },
		"FillNew": func(path string) error { _, err := FillNew(path, 0o600, fill); return err },
	} {
		seen := map[Step]bool{}
		for at := 0; ; at++ {
			dir := t.TempDir()
			path := filepath.Join(dir, "result.csv")
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			steps, failed := 0, Step("")
			Inject(func(step Step, _ string, bytes int) (int, error) {
				if steps++; steps-1 == at {
					failed = step
					return bytes / 2, errDisk
				}
				return bytes, nil
			})
			err := write(path)
			Inject(nil)
			if failed == "" {
				if err != nil {
					t.Errorf("%s without a fault: %v", name, err)
				}
				break
			}
			seen[failed] = true
			if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s, step %d fails (%s): error %v, expected that of the disk and the file", name, at, failed, err)
			}
			if got, _ := os.ReadFile(path); string(got) != "old" {
				t.Errorf("%s, step %d fails (%s): the file holds %d bytes, expected what it was", name, at, failed, len(got))
			}
			if got := names(t, dir); len(got) != 1 {
				t.Errorf("%s, step %d fails (%s): left behind %v", name, at, failed, got)
			}
		}
		for _, step := range []Step{Making, Writing, Syncing, Closing, Naming} {
			if !seen[step] {
				t.Errorf("%s: step %s never failed", name, step)
			}
		}
	}
}
