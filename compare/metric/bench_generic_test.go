//go:build !amd64 || noasm

package metric

import "unsafe"

// readStreams only reads two arrays of n elements.
func readStreams(x, y *float32, n int) (or uint64) {
	a := unsafe.Slice((*[4]uint64)(unsafe.Pointer(x)), n/8)
	b := unsafe.Slice((*[4]uint64)(unsafe.Pointer(y)), n/8)
	var p, q uint64
	for i := range a {
		u, v := &a[i], &b[i]
		p |= u[0] | u[1] | u[2] | u[3]
		q |= v[0] | v[1] | v[2] | v[3]
	}
	return p | q
}
