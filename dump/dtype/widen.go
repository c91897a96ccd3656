package dtype

import "encoding/binary"

// Widen32 decodes little-endian elements of type t from src into dst and
// returns how many numbers it wrote: as many as both hold. A complex element is
// two numbers, real part first; a packed type starts at a whole byte of src.
// Values outside float32 are rounded once. Types that are not [Type.Readable]
// give 0.
//
// The decoding is that of IEEE 754 for floats, OCP MX and OCP FP8 for the small
// ones, and the device's own for hifloat8; bool is 0 or 1 whatever byte stands
// for true.
func Widen32(t Type, dst []float32, src []byte) int {
	dst = dst[:numbers(t, len(dst), len(src))]
	if len(dst) > 0 {
		t.row().widen.to32(dst, src)
	}
	return len(dst)
}

// Widen64 is [Widen32] for float64. Only 64-bit integers can lose digits.
func Widen64(t Type, dst []float64, src []byte) int {
	dst = dst[:numbers(t, len(dst), len(src))]
	if len(dst) > 0 {
		t.row().widen.to64(dst, src)
	}
	return len(dst)
}

// Whole decodes little-endian integers of type t, truth values among them, from src
// into dst, extended to 64 bits by their sign if they have one, and returns how many:
// as many as both hold. Other types give 0.
func Whole(t Type, dst []uint64, src []byte) int {
	if !t.IsInteger() && !t.IsBool() {
		return 0
	}
	n := numbers(t, len(dst), len(src))
	dst = dst[:n]
	if t.Bits() == 64 {
		for i := range dst {
			dst[i] = binary.LittleEndian.Uint64(src[8*i:])
		}
		return n
	}
	var some [256]float64 // narrower types are exact in float64
	for at := 0; at < n; at += len(some) {
		k := min(n-at, len(some))
		t.row().widen.to64(some[:k], src[t.Bytes(int64(at)):])
		for i, v := range some[:k] {
			dst[at+i] = uint64(int64(v))
		}
	}
	return n
}

// numbers is how many reals of type t fit both a destination of nd numbers and
// a source of ns bytes, in whole elements.
func numbers(t Type, nd, ns int) int {
	if !t.Readable() {
		return 0
	}
	parts := t.Parts()
	return parts * int(min(int64(nd/parts), t.Count(int64(ns))))
}

// widening is the two ways to decode elements. src holds enough to fill dst.
type widening struct {
	to32 func(dst []float32, src []byte)
	to64 func(dst []float64, src []byte)
}

// codes8, codes4 and codes2 decode elements of 8, 4 and 2 bits by their table
// of values.

func codes8(values *[256]float32) widening {
	return widening{
		func(dst []float32, src []byte) { codes(dst, src, values) },
		func(dst []float64, src []byte) { codes(dst, src, values) },
	}
}

func codes4(values *[16]float32) widening {
	return widening{
		func(dst []float32, src []byte) { nibbles(dst, src, values) },
		func(dst []float64, src []byte) { nibbles(dst, src, values) },
	}
}

func codes2(values *[4]float32) widening {
	return widening{
		func(dst []float32, src []byte) { crumbs(dst, src, values) },
		func(dst []float64, src []byte) { crumbs(dst, src, values) },
	}
}

// real is what elements are widened to.
type real interface{ float32 | float64 }

func int16s[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(int16(binary.LittleEndian.Uint16(src[2*i:])))
	}
}

func uint16s[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func int32s[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(int32(binary.LittleEndian.Uint32(src[4*i:])))
	}
}

func uint32s[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func int64s[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(int64(binary.LittleEndian.Uint64(src[8*i:])))
	}
}

func uint64s[D real](dst []D, src []byte) {
	for i := range dst {
		dst[i] = D(binary.LittleEndian.Uint64(src[8*i:]))
	}
}
