package dtype

import (
	"encoding/binary"
	"unsafe"
)

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// float32To32 copies elements that have the machine's own form already.
func float32To32(dst []float32, src []byte) {
	if !littleEndian || len(dst) == 0 {
		float32s(dst, src)
		return
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst)), src)
}
