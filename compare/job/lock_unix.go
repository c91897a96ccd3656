//go:build unix && !solaris && !aix

package job

import (
	"errors"
	"os"
	"syscall"
)

// flock takes a lock that the system frees when the process ends, however it ends. known
// is false where the file system has none.
func flock(f *os.File) (free, known bool) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil:
		return true, true
	case errors.Is(err, syscall.EWOULDBLOCK):
		return false, true
	}
	return false, false
}
