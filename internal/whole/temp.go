package whole

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// pattern is the name of temporary files.
const pattern = ".precision-*.tmp"

// Temp is a temporary file with a name of its own in the folder of a result.
// It is held by a lock until it has its final name, so that other runs can tell
// it from one whose owner is gone.
type Temp struct {
	*os.File
	hold *os.File
}

// errLost is a temporary file that another run took for one without an owner,
// between its making and its locking.
var errLost = errors.New("the temporary file was removed by another run")

// NewTemp makes a temporary file in a folder with mode 0600. The first one in a
// folder removes those of runs that were killed.
func NewTemp(dir string) (*Temp, error) {
	sweepOnce(dir)
	for try := 0; ; try++ {
		f, err := os.CreateTemp(dir, pattern)
		if err != nil {
			return nil, err
		}
		hold, err := holdFile(f)
		if err == nil {
			return &Temp{f, hold}, nil
		}
		f.Close()
		os.Remove(f.Name())
		if !errors.Is(err, errLost) || try == 10 {
			return nil, err
		}
	}
}

// End closes the file and, unless something failed before, gives it its name by
// calling name. On an error the file is removed.
func (t *Temp) End(failed error, name func() error) error {
	if err := t.Close(); failed == nil {
		failed = err
	}
	if failed == nil {
		failed = name()
	}
	if failed != nil {
		os.Remove(t.Name())
	}
	t.release()
	return failed
}

// Discard drops the file.
func (t *Temp) Discard() {
	t.Close()
	os.Remove(t.Name())
	t.release()
}

func (t *Temp) release() {
	if t.hold != nil {
		t.hold.Close()
		t.hold = nil
	}
}

var swept sync.Map // of folders

// sweepOnce removes the temporary files of a folder whose owners are gone, once
// a run.
func sweepOnce(dir string) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if _, before := swept.LoadOrStore(dir, true); !before {
		sweep(dir)
	}
}

// sweep removes the temporary files of a folder whose owners are gone.
func sweep(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(1024)
		for _, e := range entries {
			if ok, _ := filepath.Match(pattern, e.Name()); ok && e.Type() == fs.FileMode(0) {
				removeOrphan(filepath.Join(dir, e.Name()))
			}
		}
		if err != nil {
			return
		}
	}
}
