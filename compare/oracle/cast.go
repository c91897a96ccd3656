package oracle

import (
	"math"

	"precision/dump/dtype"
)

func init() {
	register(single(func(c *Call) Values {
		x := c.need("x", 0)
		return castTo(c, x)
	}), "Cast", "CastD")
	parts["cast"] = elementwise{operands: 1, build: func(c *Call, in []Values) Values { return castTo(c, in[0]) }}
}

// castTo: to floating point to nearest even, which is the last rounding; to
// integers toward zero; to bool, whether it is not zero. The type is the
// recorded one: dst_type says the same. What the integer type cannot hold is
// left to the device. A float32 may go to integers through float16 (header of
// the operator). Prototype: elewise_calculation_ops.h.
func castTo(c *Call, x Values) Values {
	to := c.outType()
	from := leaf(x)
	if !discrete(to) {
		widening := from != nil && (from.typ.FitsFloat32() && precisionFor(to).v <= u32 || from.typ == to)
		return elementsOf(func(x, e [][]float64, y, b []float64) {
			copy(y, x[0])
			if b != nil {
				copy(b, e[0])
			}
		}, func(x [][]float32, y []float32) { copy(y, x[0]) }, widening, []Values{x})
	}
	lo, hi := integerRange(to)
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			if to == dtype.Bool {
				y[i] = toNumber(v != 0)
			} else {
				y[i] = math.Trunc(v)
			}
			if b == nil {
				continue
			}
			b[i] = 0
			switch {
			case to == dtype.Bool && !(abs(v) > e[0][i]) && e[0][i] > 0:
				b[i] = 1
			case to == dtype.Bool:
			case math.IsNaN(v), y[i] < lo, y[i] > hi:
				y[i], b[i] = 0, math.Inf(1)
			case e[0][i] > 0:
				b[i] = max(abs(math.Trunc(v+e[0][i])-y[i]), abs(math.Trunc(v-e[0][i])-y[i]))
			case c.loose != strict && from != nil && from.typ == dtype.Float32 && abs(v) < 65504:
				b[i] = abs(math.Trunc(precisionFor(dtype.Float16).round(v)) - y[i])
			}
		}
	}, nil, true, []Values{x})
}
