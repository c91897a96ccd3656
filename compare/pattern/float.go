package pattern

import (
	"math"

	"precision/dump/dtype"
)

// number is the arithmetic of an element type.
type number struct {
	float      bool
	signed     bool
	bits       int // of an element
	digits     int // significant binary digits of a float: 11 for float16
	emin, emax int // of its normal numbers, as of 1.m·2^e
	dtype.Rounding
}

// numbers lists the types whose bits are known here; others count as float32.
var numbers = map[dtype.Type]number{
	dtype.Float16:  {float: true, signed: true, bits: 16, digits: 11, emin: -14, emax: 15, Rounding: dtype.Float16.Rounding()},
	dtype.BFloat16: {float: true, signed: true, bits: 16, digits: 8, emin: -126, emax: 127, Rounding: dtype.BFloat16.Rounding()},
	dtype.Float32:  {float: true, signed: true, bits: 32, digits: 24, emin: -126, emax: 127, Rounding: dtype.Float32.Rounding()},
	dtype.Float64:  {float: true, signed: true, bits: 64, digits: 53, emin: -1022, emax: 1023},
	dtype.Int8:     {signed: true, bits: 8},
	dtype.Uint8:    {bits: 8},
	dtype.Bool:     {bits: 8},
	dtype.Int16:    {signed: true, bits: 16},
	dtype.Uint16:   {bits: 16},
	dtype.Int32:    {signed: true, bits: 32},
	dtype.Uint32:   {bits: 32},
	dtype.Int64:    {signed: true, bits: 64},
	dtype.Uint64:   {bits: 64},
}

func numberOf(t dtype.Type) number {
	if f, ok := numbers[t]; ok {
		return f
	}
	return numbers[dtype.Float32]
}

// unit is the unit roundoff: 2^-11 for float16. Integers have none.
func (f number) unit() float64 {
	if !f.float {
		return 0
	}
	return math.Ldexp(1, -f.digits)
}

// tiny is half of the least distance of two numbers of the type, from below for
// float64, where the half is no number.
func (f number) tiny() float64 {
	if !f.float {
		return 0.5
	}
	return max(math.Ldexp(1, f.emin-f.digits), math.SmallestNonzeroFloat64)
}

// largest is the largest finite number: 65504 for float16.
func (f number) largest() float64 {
	switch {
	case f.float:
		return math.Ldexp(2-math.Ldexp(1, 1-f.digits), f.emax)
	case f.signed:
		return math.Ldexp(1, f.bits-1) - 1
	}
	return math.Ldexp(1, f.bits) - 1
}

// limit is where rounding to nearest first leaves the type: 65520 for float16.
func (f number) limit() float64 {
	if f.float && f.digits < 53 {
		return math.Ldexp(2-math.Ldexp(1, -f.digits), f.emax)
	}
	return f.largest()
}

// ulp is the distance of the numbers of the type around v.
func (f number) ulp(v float64) float64 {
	if !f.float {
		return 1
	}
	e := f.emin
	if v != 0 {
		e = max(e, math.Ilogb(v))
	}
	return max(math.Ldexp(1, e-f.digits+1), math.SmallestNonzeroFloat64)
}

// round gives the nearest number of the type, ties to even; NaN and Inf stay.
func (f number) round(v float64) float64 {
	if !f.float && v-v == 0 {
		least := 0.0
		if f.signed {
			least = -f.largest() - 1
		}
		return min(max(math.RoundToEven(v), least), f.largest())
	}
	return f.Round(v)
}

// has reports whether v is a number of the type.
func (f number) has(v float64) bool { return v-v == 0 && f.round(v) == v }

// encode gives the bits of a finite number of the type. Integers of 64 bits come as
// float64 and have lost their low bits: they are refused, like what has no place in
// the type.
func (f number) encode(v float64) (uint64, bool) {
	if !f.has(v) {
		return 0, false
	}
	if !f.float {
		if f.bits > 53 || !f.signed && v < 0 {
			return 0, false
		}
		return uint64(int64(v)) & (1<<f.bits - 1), true
	}
	b := math.Float64bits(v)
	if f.digits == 53 {
		return b, true
	}
	sign := b >> 63 << (f.bits - 1)
	a := math.Abs(v)
	u := f.ulp(a)
	m := uint64(a / u) // with the leading 1 of normal numbers
	e := uint64(0)
	if m >= 1<<(f.digits-1) {
		e = uint64(math.Ilogb(a) - f.emin + 1)
		m -= 1 << (f.digits - 1)
	}
	return sign | e<<(f.digits-1) | m, true
}

// decode is the inverse of encode.
func (f number) decode(b uint64) float64 {
	if !f.float {
		if f.signed {
			return float64(int64(b<<(64-f.bits)) >> (64 - f.bits))
		}
		return float64(b & (1<<f.bits - 1))
	}
	if f.digits == 53 {
		return math.Float64frombits(b)
	}
	m := b & (1<<(f.digits-1) - 1)
	e := int(b>>(f.digits-1)) & (1<<(f.bits-f.digits) - 1)
	v := 0.0
	switch {
	case e == 1<<(f.bits-f.digits)-1 && m == 0:
		v = math.Inf(1)
	case e == 1<<(f.bits-f.digits)-1:
		return math.NaN()
	case e == 0:
		v = math.Ldexp(float64(m), f.emin-f.digits+1)
	default:
		v = math.Ldexp(float64(m|1<<(f.digits-1)), e-1+f.emin-f.digits+1)
	}
	if b>>(f.bits-1)&1 != 0 {
		v = -v
	}
	return v
}
