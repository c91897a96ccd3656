//go:build !linux

package guard

import "testing"

// Bytes returns n bytes; there is no guard on this system.
func Bytes(t testing.TB, n int) []byte { return make([]byte, n) }
