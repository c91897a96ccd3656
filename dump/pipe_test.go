//go:build unix

package dump_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"precision/dump"
	"precision/dump/npy"
)

// A named pipe among the dumps must not hold anybody up.
func TestNamedPipe(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"Add.a.1.1.1630000000000000", "a.npy", dump.MappingFile} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	if _, err := dump.OpenFile(filepath.Join(dir, "Add.a.1.1.1630000000000000")); dump.Code(err) != dump.CodePath {
		t.Errorf("dump: %v", err)
	}
	if _, err := npy.Open(filepath.Join(dir, "a.npy")); err == nil {
		t.Error("array: no error")
	}
	if m, warnings := dump.ReadMapping(dir); len(m) > 0 || len(warnings) != 1 {
		t.Errorf("mapping: %v, warnings %v", m, warnings)
	}
}
