//go:build (!amd64 && !arm64) || noasm

package layout

// vectors exists for the tests.
var vectors = false

func transposeVector(dst []byte, dPitch int, src []byte, sPitch, rows, cols, es int) bool {
	return false
}
