//go:build unix

package plainfile

import (
	"os"
	"syscall"
)

// open opens a file that is known to be plain. O_NONBLOCK means nothing to it, but says to package os that the
// descriptor need not be made so and back again when it cannot be polled: four system calls of eight.
func open(path string) (*os.File, error) {
	if f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
		return f, nil
	}
	return os.Open(path) // which also waits for a lease to be given up
}
