package oracle

import (
	"math"

	"precision/dump/dtype"
)

// u32 is the unit roundoff of float32, in which the device adds.
const u32 = 1.0 / (1 << 24)

// u64 is the unit roundoff of float64, twice: that of what was recorded and that of
// what is computed here.
const u64 = 1.0 / (1 << 52)

// gamma bounds the relative error of k operations of unit roundoff u in any
// order: k·u/(1-k·u) (Higham, lemma 3.1). It is +Inf where that is undefined, but for
// sums in bfloat16, of which 8·√k·u is said: that is not certain, but far more than
// such sums are off by (Higham and Mary, A new approach to probabilistic rounding error
// analysis, 2019), and a verdict does not rest on it alone.
func gamma(k, u float64) float64 {
	if u == 0x1p-8 && k*u >= 0.25 {
		return max(8*math.Sqrt(k)*u, 1.0/3)
	}
	if k*u >= 0.5 {
		return math.Inf(1)
	}
	return k * u / (1 - k*u)
}

func abs(x float64) float64 { return math.Abs(x) }

// precisionOf is what rounding to an element type does.
type precisionOf struct {
	v       float64 // unit roundoff; 0 for types without fractions
	t       float64 // half of the least subnormal number
	max     float64 // largest finite number; +Inf where the type has no limit that matters
	limit   float64 // from here on numbers round to infinity
	tiny    float64 // least normal number
	integer bool
}

func precisionFor(t dtype.Type) precisionOf {
	switch t {
	case dtype.Float16:
		return precisionOf{v: 0x1p-11, t: 0x1p-25, max: 65504, limit: 65520, tiny: 0x1p-14}
	case dtype.BFloat16:
		return precisionOf{v: 0x1p-8, t: 0x1p-134, max: 0x1.FEp127, limit: 0x1.FFp127, tiny: 0x1p-126}
	case dtype.Float32:
		return precisionOf{v: u32, t: 0x1p-150, max: math.MaxFloat32, limit: 0x1.FFFFFFp127, tiny: 0x1p-126}
	case dtype.Float64:
		return precisionOf{v: 0x1p-53, t: 0, max: math.MaxFloat64, limit: math.Inf(1), tiny: 0x1p-1022}
	}
	return precisionOf{max: math.Inf(1), limit: math.Inf(1), integer: true}
}

// round is x rounded to nearest even in the type.
func (p precisionOf) round(x float64) float64 {
	if p.integer || p.v == 0x1p-53 || x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	if p.v == u32 {
		return float64(float32(x))
	}
	_, e := math.Frexp(x) // |x| in [2^(e-1), 2^e)
	unit := math.Ldexp(2*p.v, e-1)
	if least := 2 * p.t; unit < least {
		unit = least
	}
	y := math.RoundToEven(x/unit) * unit
	if abs(y) >= p.limit || abs(y) > p.max {
		return math.Copysign(math.Inf(1), x)
	}
	return y
}

// computes reports whether numbers of the type are computed with, which is so
// for floating point and for integers.
func computes(t dtype.Type) bool {
	switch t {
	case dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64:
		return true
	}
	return discrete(t)
}

// discrete reports whether the type holds integers or truth values.
func discrete(t dtype.Type) bool {
	switch t {
	case dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16, dtype.Int32, dtype.Uint32, dtype.Int64, dtype.Uint64, dtype.Bool,
		dtype.QInt8, dtype.QUint8, dtype.QInt16, dtype.QUint16, dtype.QInt32:
		return true
	}
	return false
}
