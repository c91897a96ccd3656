package pattern

import (
	"encoding/binary"
	"math"

	"precision/dump/dtype"
)

// number is the arithmetic of an element type.
type number struct {
	of     dtype.Type
	float  bool
	bits   int // of an element
	digits int // significant binary digits of a float: 11 for float16
	dtype.Rounding
}

// numbers are the types whose bits are known here; others count as float32. Truths are bytes: what
// was recorded of one may be any.
var numbers = func() map[dtype.Type]number {
	all := map[dtype.Type]number{}
	for _, t := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
		all[t] = number{of: t, float: true, bits: t.Bits(), digits: -math.Ilogb(t.Unit()), Rounding: t.Rounding()}
	}
	for _, t := range []dtype.Type{dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16, dtype.Int32, dtype.Uint32, dtype.Int64, dtype.Uint64} {
		all[t] = number{of: t, bits: t.Bits()}
	}
	all[dtype.Bool] = all[dtype.Uint8]
	return all
}()

func numberOf(t dtype.Type) number {
	if f, ok := numbers[t]; ok {
		return f
	}
	return numbers[dtype.Float32]
}

// unit is the unit roundoff: 2^-11 for float16. Integers have none.
func (f number) unit() float64 { return f.of.Unit() }

// tiny is half of the least distance of two numbers of the type, from below for
// float64, where the half is no number.
func (f number) tiny() float64 {
	if !f.float {
		return 0.5
	}
	return max(f.of.MinSubnormal()/2, math.SmallestNonzeroFloat64)
}

// largest is the largest finite number: 65504 for float16.
func (f number) largest() float64 { return f.of.Max() }

// limit is where rounding to nearest first leaves the type: 65520 for float16.
func (f number) limit() float64 {
	if f.float && f.digits < 53 {
		return f.largest() + f.ulp(f.largest())/2
	}
	return f.largest()
}

// ulp is the distance of the numbers of the type around v.
func (f number) ulp(v float64) float64 {
	switch {
	case !f.float:
		return 1
	case v == 0:
		return f.of.MinSubnormal()
	}
	return max(math.Ldexp(2*f.unit(), math.Ilogb(v)), f.of.MinSubnormal())
}

// round gives the nearest number of the type, ties to even; NaN and Inf stay.
func (f number) round(v float64) float64 {
	if !f.float && v-v == 0 {
		least := 0.0
		if f.of.Signed() {
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
		if f.bits > 53 || !f.of.Signed() && v < 0 {
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
		e = uint64(math.Ilogb(a) - math.Ilogb(f.of.MinNormal()) + 1)
		m -= 1 << (f.digits - 1)
	}
	return sign | e<<(f.digits-1) | m, true
}

// decode is the inverse of encode.
func (f number) decode(b uint64) float64 {
	var v [1]float64
	dtype.Widen64(f.of, v[:], binary.LittleEndian.AppendUint64(nil, b)[:f.bits/8])
	return v[0]
}
