package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNewestRun checks the choice among runs.
func TestNewestRun(t *testing.T) {
	dir := t.TempDir()
	if run, n := NewestRun(dir); run != dir || n != 0 {
		t.Errorf("%s of %d without runs", run, n)
	}
	for _, name := range []string{"20210510101133", "20230101000000", "other"} {
		os.Mkdir(filepath.Join(dir, name), 0o700)
	}
	os.WriteFile(filepath.Join(dir, "20990101000000"), nil, 0o600)
	if run, n := NewestRun(dir); filepath.Base(run) != "20230101000000" || n != 2 {
		t.Errorf("%s of %d", run, n)
	}
}
