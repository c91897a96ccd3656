package whole

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// pattern is the name of temporary files.
const pattern = ".precision-*.tmp"

// Temp is a temporary file with a name of its own in the folder of a result.
// It is held by a lock until it has its final name, so that other runs can tell
// it from one whose owner is gone. Its folder stays open until then, and it gets its
// name in there, whatever has become of the folder's path.
type Temp struct {
	dir  *os.Root
	file *os.File
	hold *os.File
}

// errLost is a temporary file that another run took for one without an owner,
// between its making and its locking.
var errLost = errors.New("the temporary file was removed by another run")

// NewTemp makes a temporary file in a folder with mode 0600. The first one in a
// folder removes those of runs that were killed.
func NewTemp(dir string) (*Temp, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return newTemp(root)
}

// newTemp is NewTemp in an open folder, which is closed with the file.
func newTemp(dir *os.Root) (_ *Temp, err error) {
	defer func() {
		if err != nil {
			dir.Close()
		}
	}()
	sweepOnce(dir)
	if _, err := fails(Making, dir.Name(), 0); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		name := strings.Replace(pattern, "*", strconv.FormatUint(rand.Uint64(), 36), 1)
		f, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && try < 10 {
			continue
		}
		if err != nil {
			return nil, err
		}
		hold, err := holdFile(dir, f)
		if err == nil {
			return &Temp{dir, f, hold}, nil
		}
		f.Close()
		dir.Remove(name)
		if !errors.Is(err, errLost) || try == 10 {
			return nil, err
		}
	}
}

// Name is the path of the temporary file.
func (t *Temp) Name() string { return t.file.Name() }

// base is its name in its folder.
func (t *Temp) base() string { return filepath.Base(t.file.Name()) }

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

// End closes the file and, unless something failed before, gives it its name in its
// folder in the place of whatever has it. On an error the file is removed.
func (t *Temp) End(failed error, name string) error {
	return t.end(failed, func() error { return t.dir.Rename(t.base(), name) })
}

// end is End where name gives the file its name.
func (t *Temp) end(failed error, name func() error) error {
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
		t.dir.Remove(t.base())
	}
	t.release()
	return failed
}

// Discard drops the file.
func (t *Temp) Discard() {
	t.file.Close()
	t.dir.Remove(t.base())
	t.release()
}

func (t *Temp) release() {
	if t.hold != nil {
		t.hold.Close()
		t.hold = nil
	}
	t.dir.Close()
}

var swept sync.Map // of folders

// sweepOnce removes the temporary files of a folder whose owners are gone, once
// a run.
func sweepOnce(dir *os.Root) {
	path := dir.Name()
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if _, before := swept.LoadOrStore(path, true); !before {
		sweep(dir)
	}
}

// sweep removes the temporary files of a folder whose owners are gone.
func sweep(dir *os.Root) {
	d, err := dir.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	for { // names alone: a folder of many files is not asked about each of them
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if ok, _ := filepath.Match(pattern, name); !ok {
				continue
			}
			if info, err := dir.Lstat(name); err == nil && info.Mode().IsRegular() {
				removeOrphan(dir, name)
			}
		}
		if err != nil {
			return
		}
	}
}
