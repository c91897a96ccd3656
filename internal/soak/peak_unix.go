//go:build linux || darwin

package soak

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the most memory a program held, in bytes.
func peak(s *os.ProcessState) int64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
