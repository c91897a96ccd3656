package compare

import (
	"encoding/binary"
	"unsafe"

	"precision/dump/dtype"
)

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// float32Bytes is the memory of dst as bytes when the elements of o can be read
// straight into it: float32 in the byte order of this machine. Golden arrays
// mostly are, and a copy less counts at the speed of memory. Otherwise nil.
func float32Bytes(o *operand, dst []float32) []byte {
	if o.typ != dtype.Float32 || o.big == littleEndian || len(dst) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst))
}
