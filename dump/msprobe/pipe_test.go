//go:build unix

package msprobe

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe named dump.json is passed over, not waited for.
func TestFindPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, DumpFile)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if all, err := Find(dir); err == nil {
		t.Error(all)
	}
	for _, err := range []error{second(Find(pipe)), second(Open(pipe))} {
		if err == nil || !strings.Contains(err.Error(), "plain file") && !strings.Contains(err.Error(), "is a named pipe") {
			t.Error(err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
