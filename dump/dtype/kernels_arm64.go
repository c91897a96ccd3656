//go:build arm64 && !noasm

package dtype

// vectors is a variable for tests to switch off. All arm64 has them.
var vectors = true

// float16Rounds widens rounds of 32 elements, IEEE binary16, to float32.
//
//go:noescape
func float16Rounds(dst *float32, src *byte, rounds int)

// bfloat16Rounds widens rounds of 32 elements, the upper halves of binary32, to float32.
//
//go:noescape
func bfloat16Rounds(dst *float32, src *byte, rounds int)

// int8Rounds widens rounds of 32 elements, signed bytes, to float32.
//
//go:noescape
func int8Rounds(dst *float32, src *byte, rounds int)

// uint8Rounds widens rounds of 32 elements, bytes, to float32.
//
//go:noescape
func uint8Rounds(dst *float32, src *byte, rounds int)
