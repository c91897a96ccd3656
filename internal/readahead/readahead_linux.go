package readahead

import (
	"os"

	"golang.org/x/sys/unix"
)

func file(path string) int64 {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return 0
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
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
	if !cold {
		return 0
	}
	return info.Size()
}
