//go:build !amd64 || noasm

package layout

// useAVX2 exists for the tests.
var useAVX2 = false

func transposeVector(dst []byte, dPitch int, src []byte, sPitch, rows, cols, es int) bool {
	return false
}
