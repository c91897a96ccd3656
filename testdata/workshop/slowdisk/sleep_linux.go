package slowdisk

import (
	"time"

	"golang.org/x/sys/unix"
)

func sleep(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	for unix.Nanosleep(&t, &t) == unix.EINTR {
	}
}
