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
	file *os.File
	hold *os.File
}

// errLost is a temporary file that another run took for one without an owner,
// between its making and its locking.
var errLost = errors.New("the temporary file was removed by another run")

// NewTemp makes a temporary file in a folder with mode 0600. The first one in a
// folder removes those of runs that were killed.
func NewTemp(dir string) (*Temp, error) {
	sweepOnce(dir)
	if _, err := fails(Making, dir, 0); err != nil {
		return nil, err
	}
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

// Name is the path of the temporary file.
func (t *Temp) Name() string { return t.file.Name() }

// Chmod changes the permission bits.
func (t *Temp) Chmod(perm fs.FileMode) error { return t.file.Chmod(perm) }

// Write implements io.Writer.
func (t *Temp) Write(p []byte) (int, error) {
	n, err := fails(Writing, t.Name(), len(p))
	if err != nil {
		n, _ = t.file.Write(p[:n])
		return n, err
	}
	return t.file.Write(p)
}

// Sync forces what was written to the disk.
func (t *Temp) Sync() error {
	if _, err := fails(Syncing, t.Name(), 0); err != nil {
		return err
	}
	return t.file.Sync()
}

// close closes the file, also where that is told to have failed.
func (t *Temp) close() error {
	_, err := fails(Closing, t.Name(), 0)
	if closing := t.file.Close(); err == nil {
		err = closing
	}
	return err
}

// End closes the file and, unless something failed before, gives it its name by
// calling name. On an error the file is removed.
func (t *Temp) End(failed error, name func() error) error {
	if err := t.close(); failed == nil {
		failed = err
	}
	if failed == nil {
		_, failed = fails(Naming, t.Name(), 0)
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
	t.file.Close()
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
