package dtype

import (
	"encoding/binary"
	"math"
)

// Widen32 turns the little-endian elements of src into float32, element i into
// dst[i]; complex elements give two numbers each, real part first. Types that
// a float32 does not hold are rounded once. Elements smaller than a byte start
// at a byte border. It fills as much of dst as src has whole elements for and
// returns that number; a type that is not readable gives 0.
func Widen32(t Type, dst []float32, src []byte) int {
	n := len(dst)
	if !t.Readable() {
		return 0
	}
	if have := t.Count(int64(len(src))) * int64(t.Parts()); int64(n) > have {
		n = int(have)
	}
	dst = dst[:n]
	le := binary.LittleEndian
	switch t {
	case Float32, Complex64:
		widenFloat32(dst, src)
	case Float16, Complex32:
		widenFloat16(dst, src)
	case BFloat16:
		widenBFloat16(dst, src)
	case Int8, Undefined, QInt8:
		for i := range dst {
			dst[i] = float32(int8(src[i]))
		}
	case Uint8, QUint8:
		for i := range dst {
			dst[i] = float32(src[i])
		}
	case Bool:
		for i := range dst {
			dst[i] = 0
			if src[i] != 0 {
				dst[i] = 1
			}
		}
	case Int16, QInt16:
		for i := range dst {
			dst[i] = float32(int16(le.Uint16(src[2*i:])))
		}
	case Uint16, QUint16:
		for i := range dst {
			dst[i] = float32(le.Uint16(src[2*i:]))
		}
	case Int32, QInt32:
		for i := range dst {
			dst[i] = float32(int32(le.Uint32(src[4*i:])))
		}
	case Uint32:
		for i := range dst {
			dst[i] = float32(le.Uint32(src[4*i:]))
		}
	case Int64, Resource:
		for i := range dst {
			dst[i] = float32(int64(le.Uint64(src[8*i:])))
		}
	case Uint64:
		for i := range dst {
			dst[i] = float32(le.Uint64(src[8*i:]))
		}
	case Float64, Complex128:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(le.Uint64(src[8*i:])))
		}
	default:
		widenSmall(t, dst, src)
	}
	return n
}

// Widen64 is Widen32 for float64: it keeps every digit of 32 bit integers and
// the first 53 bits of longer ones.
func Widen64(t Type, dst []float64, src []byte) int {
	n := len(dst)
	if !t.Readable() {
		return 0
	}
	if have := t.Count(int64(len(src))) * int64(t.Parts()); int64(n) > have {
		n = int(have)
	}
	dst = dst[:n]
	le := binary.LittleEndian
	switch t {
	case Int32, QInt32:
		for i := range dst {
			dst[i] = float64(int32(le.Uint32(src[4*i:])))
		}
	case Uint32:
		for i := range dst {
			dst[i] = float64(le.Uint32(src[4*i:]))
		}
	case Int64, Resource:
		for i := range dst {
			dst[i] = float64(int64(le.Uint64(src[8*i:])))
		}
	case Uint64:
		for i := range dst {
			dst[i] = float64(le.Uint64(src[8*i:]))
		}
	case Float64, Complex128:
		for i := range dst {
			dst[i] = math.Float64frombits(le.Uint64(src[8*i:]))
		}
	default:
		widenThrough32(t, dst, src)
	}
	return n
}

// widenThrough32 takes the way over float32, which holds these types exactly,
// in pieces that stay in the first cache.
func widenThrough32(t Type, dst []float64, src []byte) {
	var piece [1024]float32
	for len(dst) > 0 {
		n := Widen32(t, piece[:min(len(dst), len(piece))], src)
		if n == 0 {
			return
		}
		for i, v := range piece[:n] {
			dst[i] = float64(v)
		}
		dst, src = dst[n:], src[min(int64(len(src)), t.Bytes(int64(n/t.Parts()))):]
	}
}

// widenSmall widens the types that go by table or are packed into bytes.
func widenSmall(t Type, dst []float32, src []byte) {
	switch t {
	case HiFloat8:
		lookup(dst, src, hifloat8)
	case Float8E5M2:
		lookup(dst, src, e5m2)
	case Float8E4M3FN:
		lookup(dst, src, e4m3fn)
	case Float8E8M0:
		lookup(dst, src, e8m0)
	case Uint1: // most significant bit first
		for i := range dst {
			dst[i] = float32(src[i>>3] >> (7 - i&7) & 1)
		}
	case Int4: // low half first, two's complement
		for i := range dst {
			dst[i] = float32(int8(src[i>>1]>>(i&1*4)<<4) >> 4)
		}
	case Int2:
		for i := range dst {
			dst[i] = float32(int8(src[i>>2]>>(i&3*2)<<6) >> 6)
		}
	case Uint2:
		for i := range dst {
			dst[i] = float32(src[i>>2] >> (i & 3 * 2) & 3)
		}
	case Float4E2M1:
		for i := range dst {
			dst[i] = fp4e2m1[src[i>>1]>>(i&1*4)&15]
		}
	case Float4E1M2:
		for i := range dst {
			dst[i] = fp4e1m2[src[i>>1]>>(i&1*4)&15]
		}
	}
}

func lookup(dst []float32, src []byte, table *[256]float32) {
	src = src[:len(dst)]
	for i, c := range src {
		dst[i] = table[c]
	}
}

func widenFloat32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func widenBFloat16Generic(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

func widenFloat16Generic(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = Half(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

// Half is the value of an IEEE 754 binary16 number.
func Half(h uint16) float32 {
	// Shifted into place, the exponent is off by 127-15; multiplying by 2^112
	// mends it and normalises subnormals on the way.
	const magic = 0x1p112
	abs := uint32(h&0x7fff) << 13
	v := math.Float32frombits(abs) * magic
	if abs >= 0x7c00<<13 { // infinity and NaN
		v = math.Float32frombits(abs | 0x7f800000)
	}
	return math.Float32frombits(math.Float32bits(v) | uint32(h&0x8000)<<16)
}
