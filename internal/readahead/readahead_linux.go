package readahead

import (
	"os"

	"golang.org/x/sys/unix"
)

func file(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	cold := false
	conn.Control(func(fd uintptr) {
		// The last byte is what a file that was only begun lacks.
		var b [1]byte
		_, err := unix.Preadv2(int(fd), [][]byte{b[:]}, info.Size()-1, unix.RWF_NOWAIT)
		if cold = err == unix.EAGAIN; cold {
			unix.Fadvise(int(fd), 0, 0, unix.FADV_WILLNEED)
		}
	})
	return cold
}
