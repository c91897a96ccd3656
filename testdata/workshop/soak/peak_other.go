//go:build !linux && !darwin

package soak

import (
	"os"
	"time"
)

// CPU is not known.
func CPU() time.Duration { return 0 }

// peak is not known.
func peak(*os.ProcessState) int64 { return 0 }
