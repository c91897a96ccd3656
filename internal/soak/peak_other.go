//go:build !linux && !darwin

package soak

import "os"

// peak is not known.
func peak(*os.ProcessState) int64 { return 0 }
