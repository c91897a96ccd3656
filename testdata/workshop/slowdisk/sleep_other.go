//go:build !linux

package slowdisk

import "time"

func sleep(d time.Duration) { time.Sleep(d) }
