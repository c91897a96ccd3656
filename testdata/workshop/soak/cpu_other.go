//go:build !linux

package soak

import "time"

// cpuOf is not known of a running process.
func cpuOf(int) (time.Duration, bool) { return 0, false }
