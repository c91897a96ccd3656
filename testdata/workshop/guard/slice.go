package guard

import (
	"testing"
	"unsafe"
)

// Slice returns a copy of v right before a page without access.
func Slice[T any](t testing.TB, v []T) []T {
	t.Helper()
	if len(v) == 0 {
		return nil
	}
	b := Bytes(t, len(v)*int(unsafe.Sizeof(v[0])))
	guarded := unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(v))
	copy(guarded, v)
	return guarded
}
