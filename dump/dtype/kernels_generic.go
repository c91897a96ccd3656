//go:build (!amd64 && !arm64) || noasm

package dtype

// vectors exists for the tests.
var vectors = false

// The types that most tensors have. A version for one processor replaces these
// and nothing else.

func float16To32(dst []float32, src []byte)  { float16s(dst, src) }
func float16To64(dst []float64, src []byte)  { float16s(dst, src) }
func bfloat16To64(dst []float64, src []byte) { bfloat16s(dst, src) }
func bfloat16To32(dst []float32, src []byte) { bfloat16s(dst, src) }
func int8To32(dst []float32, src []byte)     { int8s(dst, src) }
func uint8To32(dst []float32, src []byte)    { uint8s(dst, src) }
