//go:build linux || darwin

package whole

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// holdFile locks a temporary file. The lock is on a second handle, as the first
// is closed, which tells what failed in writing, before the file has its name.
// It is nil where the file system has no locks.
func holdFile(dir *os.Root, f *os.File) (*os.File, error) {
	hold, err := dir.OpenFile(filepath.Base(f.Name()), os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errLost
	}
	if err != nil {
		return nil, err
	}
	switch err := flock(hold, syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		hold.Close()
		return nil, errLost
	case err != nil:
		hold.Close()
		return nil, nil
	}
	own, err := hold.Stat()
	named, gone := dir.Lstat(filepath.Base(f.Name()))
	if err != nil || gone != nil || !os.SameFile(own, named) {
		hold.Close()
		return nil, errLost
	}
	return hold, nil
}

// removeOrphan removes a temporary file that nobody holds.
func removeOrphan(dir *os.Root, name string) {
	f, err := dir.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		dir.Remove(name)
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
