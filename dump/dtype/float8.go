package dtype

import "math"

// The 8 bit types are widened by table. Each table is made from the definition
// of its format, code by code.
var (
	hifloat8 = table8(decodeHiFloat8)
	e5m2     = table8(decodeE5M2)
	e4m3fn   = table8(decodeE4M3FN)
	e8m0     = table8(decodeE8M0)
	fp4e2m1  = table4(func(c uint8) float64 { return smallFloat(c, 2, 1, 1) })
	fp4e1m2  = table4(func(c uint8) float64 { return smallFloat(c, 1, 2, 1) })
)

func table8(decode func(uint8) float64) *[256]float32 {
	var t [256]float32
	for c := range t {
		t[c] = float32(decode(uint8(c)))
	}
	return &t
}

func table4(decode func(uint8) float64) *[16]float32 {
	var t [16]float32
	for c := range t {
		t[c] = float32(decode(uint8(c)))
	}
	return &t
}

func signed(negative bool, v float64) float64 {
	if negative {
		return math.Copysign(v, -1)
	}
	return v
}

// smallFloat decodes a format without infinities and NaN: one sign bit, then
// exponent bits with the given bias, then mantissa bits (OCP Microscaling
// Formats).
func smallFloat(code uint8, exponentBits, mantissaBits uint, bias int) float64 {
	e := int(code >> mantissaBits & (1<<exponentBits - 1))
	m := float64(code&(1<<mantissaBits-1)) / float64(int(1)<<mantissaBits)
	negative := code>>(exponentBits+mantissaBits)&1 == 1
	if e == 0 {
		return signed(negative, math.Ldexp(m, 1-bias))
	}
	return signed(negative, math.Ldexp(1+m, e-bias))
}

// decodeE4M3FN: bias 7, no infinities, all ones is NaN (OCP FP8).
func decodeE4M3FN(c uint8) float64 {
	if c&0x7f == 0x7f {
		return math.NaN()
	}
	return smallFloat(c, 4, 3, 7)
}

// decodeE5M2: bias 15, infinities and NaN as IEEE 754 has them (OCP FP8).
func decodeE5M2(c uint8) float64 {
	if c>>2&31 == 31 {
		if c&3 != 0 {
			return math.NaN()
		}
		return signed(c>>7 == 1, math.Inf(1))
	}
	return smallFloat(c, 5, 2, 15)
}

// decodeE8M0: a power of two, the scale of a microscaling block (OCP MX).
func decodeE8M0(c uint8) float64 {
	if c == 0xff {
		return math.NaN()
	}
	return math.Ldexp(1, int(c)-127)
}

// decodeHiFloat8: tapered precision. A prefix after the sign tells how many
// exponent bits follow, the rest is mantissa (HiFloat8 format definition):
//
//	prefix 11   4 exponent bits  1 mantissa bit
//	prefix 10   3                2
//	prefix 01   2                3
//	prefix 001  1                3
//	prefix 0001 0                3
//	prefix 0000 denormal, 2^(m-23)
//
// The exponent is sign and magnitude with a hidden leading one.
func decodeHiFloat8(c uint8) float64 {
	switch c {
	case 0x00:
		return 0
	case 0x80:
		return math.NaN()
	case 0x6f:
		return math.Inf(1)
	case 0xef:
		return math.Inf(-1)
	}
	x, negative := c&0x7f, c>>7 == 1
	var d, m uint
	switch {
	case x >= 0x60:
		d, m = 4, 1
	case x >= 0x40:
		d, m = 3, 2
	case x >= 0x20:
		d, m = 2, 3
	case x >= 0x10:
		d, m = 1, 3
	case x >= 0x08:
		d, m = 0, 3
	default:
		return signed(negative, math.Ldexp(1, int(x)-23))
	}
	exponent := 0
	if d > 0 {
		field := uint(x) >> m & (1<<d - 1)
		exponent = int(1<<(d-1) | field&(1<<(d-1)-1))
		if field>>(d-1) == 1 {
			exponent = -exponent
		}
	}
	fraction := float64(x&(1<<m-1)) / float64(int(1)<<m)
	return signed(negative, math.Ldexp(1+fraction, exponent))
}
