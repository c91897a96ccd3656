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
	switch t {
	case Float32, Complex64:
		float32To32(dst, src)
	case Float16, Complex32:
		float16To32(dst, src)
	case BFloat16:
		bfloat16To32(dst, src)
	case Int8, QInt8, Undefined:
		int8To32(dst, src)
	case Uint8, QUint8:
		uint8To32(dst, src)
	default:
		widen(t, dst, src)
	}
	return len(dst)
}

// Widen64 is [Widen32] for float64. Only 64-bit integers can lose digits.
func Widen64(t Type, dst []float64, src []byte) int {
	dst = dst[:numbers(t, len(dst), len(src))]
	widen(t, dst, src)
	return len(dst)
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

// real is what elements are widened to.
type real interface{ float32 | float64 }

// widen fills dst; src holds enough elements.
func widen[D real](t Type, dst []D, src []byte) {
	switch t {
	case Float32, Complex64:
		float32s(dst, src)
	case Float64, Complex128:
		float64s(dst, src)
	case Float16, Complex32:
		float16s(dst, src)
	case BFloat16:
		bfloat16s(dst, src)
	case Int8, QInt8, Undefined:
		int8s(dst, src)
	case Uint8, QUint8:
		uint8s(dst, src)
	case Bool:
		bools(dst, src)
	case Int16, QInt16:
		for i := range dst {
			dst[i] = D(int16(binary.LittleEndian.Uint16(src[2*i:])))
		}
	case Uint16, QUint16:
		for i := range dst {
			dst[i] = D(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case Int32, QInt32:
		for i := range dst {
			dst[i] = D(int32(binary.LittleEndian.Uint32(src[4*i:])))
		}
	case Uint32:
		for i := range dst {
			dst[i] = D(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case Int64, Resource:
		for i := range dst {
			dst[i] = D(int64(binary.LittleEndian.Uint64(src[8*i:])))
		}
	case Uint64:
		for i := range dst {
			dst[i] = D(binary.LittleEndian.Uint64(src[8*i:]))
		}
	case HiFloat8:
		codes(dst, src, &hiFloat8)
	case Float8E5M2:
		codes(dst, src, &float8E5M2)
	case Float8E4M3FN:
		codes(dst, src, &float8E4M3FN)
	case Float8E8M0:
		codes(dst, src, &float8E8M0)
	case Int4:
		nibbles(dst, src, &int4)
	case Float4E2M1:
		nibbles(dst, src, &float4E2M1)
	case Float4E1M2:
		nibbles(dst, src, &float4E1M2)
	case Int2:
		crumbs(dst, src, &int2)
	case Uint2:
		crumbs(dst, src, &uint2)
	case Uint1:
		bits1(dst, src)
	}
}
