package soak

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestCPUOf holds what /proc tells against what the kernel tells of us by another way.
func TestCPUOf(t *testing.T) {
	usage := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for start := usage(); usage() < start+200*time.Millisecond; {
	}
	before := usage()
	got, known := cpuOf(os.Getpid())
	const unit = 20 * time.Millisecond // two figures, each cut to a hundredth of a second
	if after := usage(); !known || got < before-2*unit || got > after+unit {
		t.Errorf("%v (known: %t), expected between %v and %v", got, known, before, after)
	}
	if _, known := cpuOf(-1); known {
		t.Error("a process that is not there has used processor time")
	}
}
