package dtype

import (
	"encoding/binary"
	"math"
)

//go:generate go -C ../../tools/gen run ./dtype/amd64 -out ../../dump/dtype/widen_amd64.s -stubs ../../dump/dtype/widen_amd64.go -pkg dtype
//go:generate go -C ../../tools/gen run ./dtype/arm64 -out ../../dump/dtype/widen_arm64.s

// The loops here define what each type means. dst is never longer than the
// elements in src.

func float32s[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
	}
}

func float64s[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
	}
}

func float16s[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(Half(binary.LittleEndian.Uint16(src[2*i:])))
	}
}

// Half decodes IEEE 754 binary16.
func Half(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0:
		// frac * 2^-24 is exact; or-ing the sign keeps negative zero.
		return math.Float32frombits(math.Float32bits(float32(frac)*0x1p-24) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// bfloat16s decodes the upper half of a binary32.
func bfloat16s[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16))
	}
}

func int8s[D real](dst []D, src []byte) {
	for i, b := range src[:len(dst)] {
		dst[i] = D(int8(b))
	}
}

func uint8s[D real](dst []D, src []byte) {
	for i, b := range src[:len(dst)] {
		dst[i] = D(b)
	}
}

func bools[D real](dst []D, src []byte) {
	for i, b := range src[:len(dst)] {
		if dst[i] = 0; b != 0 {
			dst[i] = 1
		}
	}
}

func codes[D real](dst []D, src []byte, values *[256]float32) {
	for i, b := range src[:len(dst)] {
		dst[i] = D(values[b])
	}
}

// nibbles takes the low half of a byte before the high one, as ONNX packs
// int4.
func nibbles[D real](dst []D, src []byte, values *[16]float32) {
	for i := range dst {
		dst[i] = D(values[src[i>>1]>>(i&1*4)&0xf])
	}
}

// crumbs takes the lowest two bits of a byte first.
func crumbs[D real](dst []D, src []byte, values *[4]float32) {
	for i := range dst {
		dst[i] = D(values[src[i>>2]>>(i&3*2)&3])
	}
}

// bits1 takes the most significant bit of a byte first.
func bits1[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(src[i>>3] >> (7 - i&7) & 1)
	}
}
