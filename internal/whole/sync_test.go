package whole

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// Files that are written for later are brought onto the disk all at once, file by file too, and a disk that refuses is told.
func TestSyncAtOnce(t *testing.T) {
	defer Inject(nil)
	f, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync("tables"); err != nil {
		t.Errorf("no such folder: %v", err)
	}
	syncs := 0
	Inject(func(step Step, _ string, bytes int) (int, error) {
		if step == Syncing {
			syncs++
		}
		return bytes, nil
	})
	for _, name := range []string{"tables/a.csv", "tables/b.csv"} {
		if err := f.FillLater(name, func(w io.Writer) error { _, err := io.WriteString(w, name); return err }); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Path(name)); string(got) != name {
			t.Errorf("found %q, %v", got, err)
		}
	}
	if err := f.Sync("tables"); err != nil || syncs != 1 {
		t.Errorf("%d times on the disk, %v, expected once", syncs, err)
	}
	dir, err := os.Open(f.Path("tables"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := f.syncEach(dir, "tables"); err != nil {
		t.Errorf("file by file: %v", err)
	}
	Inject(func(step Step, _ string, bytes int) (int, error) {
		if step == Syncing {
			return 0, fs.ErrInvalid
		}
		return bytes, nil
	})
	if err := f.Sync("tables"); !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), "tables") {
		t.Errorf("%v, expected the error of the disk with the folder", err)
	}
}
