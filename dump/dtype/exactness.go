package dtype

import "math"

// Unit is the unit roundoff: the largest relative error of rounding a real
// number of the normal range to the type, 2^-p for p significant bits. It is
// 2^-24 for float32, 2^-11 for float16, 2^-8 for bfloat16, and for complex types
// that of their parts. For hifloat8, whose digits grow fewer away from one, it
// is that of its largest numbers. It is 0 for whole numbers and truth values,
// whose rounding error is absolute, and for types of which nothing is known.
func (t Type) Unit() float64 { return t.row().limits.unit }

// MinNormal is the smallest positive number that has all digits: 2^-14 for
// float16. It is 0 where [Type.Unit] is.
func (t Type) MinNormal() float64 { return t.row().limits.minNormal }

// MinSubnormal is the smallest positive number, and the spacing of those below
// [Type.MinNormal]: 2^-24 for float16. It is 0 where [Type.Unit] is.
func (t Type) MinSubnormal() float64 { return t.row().limits.minSubnormal }

// Max is the largest finite number: 65504 for float16, 127 for int8, 1 for
// bool. That of a 64-bit integer is rounded to float64. It is 0 where nothing
// is known.
func (t Type) Max() float64 {
	r := t.row()
	switch r.class {
	case classSigned:
		return whole(int(r.bits) - 1)
	case classUnsigned:
		return whole(int(r.bits))
	case classBool:
		return 1
	}
	return r.limits.max
}

// whole is the largest number of some bits.
func whole(bits int) float64 { return math.Ldexp(1, bits) - 1 }

// Rounding rounds numbers to a floating-point type. The zero value leaves them as they are.
type Rounding struct {
	unit, least, max float64
	single           bool // float32, which the processor rounds to
}

// Rounding is how numbers are rounded to the type: to the nearest, ties to even; beyond the largest they are infinite, in
// types that have no infinity, too. Float64 and types without fractions change nothing.
func (t Type) Rounding() Rounding {
	if t == Float64 {
		return Rounding{}
	}
	return Rounding{t.Unit(), t.MinSubnormal(), t.Max(), t == Float32}
}

// Round is the number that is nearest to v; NaN and infinities stay.
func (r Rounding) Round(v float64) float64 {
	switch {
	case r.unit == 0 || v == 0 || v-v != 0:
		return v
	case r.single:
		return float64(float32(v))
	}
	_, e := math.Frexp(v) // |v| is in [2^(e-1), 2^e), where numbers are 2^e units of roundoff apart
	step := max(math.Ldexp(r.unit, e), r.least)
	near := math.RoundToEven(v/step) * step
	if math.Abs(near) > r.max {
		return math.Copysign(math.Inf(1), v)
	}
	return near
}

// Coarser returns the type of the two that keeps less of a real number: the
// one with the larger [Type.Unit], of equal ones the one with the smaller
// range, and a if they do not differ in that either. Whole numbers count as
// exact: of float16 and int32 it is float16.
func Coarser(a, b Type) Type {
	switch ua, ub := a.Unit(), b.Unit(); {
	case ua > ub:
		return a
	case ub > ua:
		return b
	case b.Max() < a.Max():
		return b
	}
	return a
}
