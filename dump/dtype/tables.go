package dtype

import "math"

var (
	hiFloat8     = decoded(decodeHiFloat8)
	float8E5M2   = decoded(func(b byte) float64 { return small(b, 5, 2, true) })
	float8E4M3FN = decoded(decodeE4M3FN)
	float8E8M0   = decoded(decodeE8M0)

	int4       = [16]float32{0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1}
	int2       = [4]float32{0, 1, -2, -1}
	uint2      = [4]float32{0, 1, 2, 3}
	float4E2M1 = [16]float32{0, 0.5, 1, 1.5, 2, 3, 4, 6, negZero, -0.5, -1, -1.5, -2, -3, -4, -6}
	float4E1M2 = [16]float32{0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, negZero, -0.25, -0.5, -0.75, -1, -1.25, -1.5, -1.75}
)

var negZero = float32(math.Copysign(0, -1))

func decoded(decode func(byte) float64) (t [256]float32) {
	for i := range t {
		t[i] = float32(decode(byte(i)))
	}
	return t
}

// small decodes a sign, an exponent of e bits biased by 2^(e-1)-1 and a
// mantissa of m bits, as IEEE 754 lays out wider formats. With special, the
// highest exponent means infinity and NaN.
func small(b byte, e, m uint, special bool) (v float64) {
	bias := 1<<(e-1) - 1
	exp, frac := int(b>>m)&(1<<e-1), float64(b&(1<<m-1))/float64(uint(1)<<m)
	switch {
	case special && exp == 1<<e-1 && frac == 0:
		v = math.Inf(1)
	case special && exp == 1<<e-1:
		return math.NaN()
	case exp == 0:
		v = math.Ldexp(frac, 1-bias)
	default:
		v = math.Ldexp(1+frac, exp-bias)
	}
	if b&0x80 != 0 {
		v = math.Copysign(v, -1)
	}
	return v
}

// decodeE4M3FN decodes OCP FP8 E4M3: no infinities, and the all-ones code is
// NaN instead of 480.
func decodeE4M3FN(b byte) float64 {
	if b&0x7f == 0x7f {
		return math.NaN()
	}
	return small(b, 4, 3, false)
}

// decodeE8M0 decodes the OCP MX scale: a power of two without sign or zero.
func decodeE8M0(b byte) float64 {
	if b == 0xff {
		return math.NaN()
	}
	return math.Ldexp(1, int(b)-127)
}

// decodeHiFloat8 decodes the device's tapered format: sign, a prefix that says
// how many exponent bits follow, the exponent as sign and magnitude with a
// hidden leading one, and a mantissa in what is left.
//
//	11 eeee m    |E| 8..15      001 e mmm   |E| 1
//	10 eee mm    |E| 4..7       0001 mmm     E  0
//	01 ee mmm    |E| 2..3       0000 mmm    ±2^(m-23)
//
// Four codes are special: 00 is zero, 80 NaN, 6F and EF the infinities.
func decodeHiFloat8(b byte) float64 {
	sign := 1.0
	if b&0x80 != 0 {
		sign = -1
	}
	switch b {
	case 0x00:
		return 0
	case 0x80:
		return math.NaN()
	case 0x6f, 0xef:
		return math.Inf(int(sign))
	}
	x := b & 0x7f
	var e, m uint // bits of exponent and mantissa
	switch {
	case x >= 0x60:
		e, m = 4, 1
	case x >= 0x40:
		e, m = 3, 2
	case x >= 0x20:
		e, m = 2, 3
	case x >= 0x10:
		e, m = 1, 3
	case x >= 0x08:
		e, m = 0, 3
	default:
		return sign * math.Ldexp(1, int(x)-23)
	}
	exp := 0
	if e > 0 {
		field := int(x>>m) & (1<<e - 1)
		top := 1 << (e - 1)
		exp = top | field&(top-1)
		if field&top != 0 {
			exp = -exp
		}
	}
	return sign * math.Ldexp(1+float64(x&(1<<m-1))/float64(uint(1)<<m), exp)
}
