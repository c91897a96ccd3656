package oracle

import (
	"math"

	"precision/dump/dtype"
)

// Element-wise operators of two operands, by numpy's rules of broadcasting.
// Prototypes: elewise_calculation_ops.h.

// addKernel: y = x1 + x2, B = B1 + B2 + u·(|y| + B1 + B2).
func addKernel(u float64, sign float64) kernel {
	return func(x, e [][]float64, y, b []float64) {
		for i := range y {
			y[i] = x[0][i] + sign*x[1][i]
		}
		for i := range b {
			s := e[0][i] + e[1][i]
			b[i] = s + u*(abs(y[i])+s)
		}
	}
}

func add32(x [][]float32, y []float32) {
	a, b := x[0][:len(y)], x[1][:len(y)]
	for i := range y {
		y[i] = a[i] + b[i]
	}
}

// mulKernel: y = x1·x2, B = |x1|·B2 + |x2|·B1 + B1·B2 + u·|y|.
func mulKernel(u float64) kernel {
	return func(x, e [][]float64, y, b []float64) {
		for i := range y {
			y[i] = x[0][i] * x[1][i]
		}
		for i := range b {
			s := abs(x[0][i])*e[1][i] + abs(x[1][i])*e[0][i] + e[0][i]*e[1][i]
			if math.IsNaN(s) { // 0·Inf of an operand without error
				s = 0
			}
			b[i] = s + u*(abs(y[i])+s)
		}
	}
}

func mul32(x [][]float32, y []float32) {
	a, b := x[0][:len(y)], x[1][:len(y)]
	for i := range y {
		y[i] = a[i] * b[i]
	}
}

// divKernel: y = x1/x2, B = (B1 + |y|·B2)/(|x2| - B2) + 8u·|y|; 0/0 and x/0
// follow IEEE 754. With truncate the quotient of integers is cut.
func divKernel(ulps float64, truncate bool) kernel {
	return func(x, e [][]float64, y, b []float64) {
		for i := range y {
			if y[i] = x[0][i] / x[1][i]; truncate {
				y[i] = math.Trunc(y[i])
			}
		}
		for i := range b {
			if truncate {
				b[i] = 0
				continue
			}
			s := 0.0
			if e[0][i] != 0 || e[1][i] != 0 {
				if s = (e[0][i] + abs(y[i])*e[1][i]) / (abs(x[1][i]) - e[1][i]); s < 0 {
					s = math.Inf(1)
				}
			}
			b[i] = s + ulps*(abs(y[i])+s)
		}
	}
}

// pickKernel is max and min: B is that of the operands. The maximum of a number
// and NaN is either on a device, so that anything is accepted there.
func pickKernel(pick func(a, b float64) float64) kernel {
	return func(x, e [][]float64, y, b []float64) {
		for i := range y {
			y[i] = pick(x[0][i], x[1][i])
		}
		for i := range b {
			b[i] = max(e[0][i], e[1][i])
			if math.IsNaN(y[i]) {
				b[i] = math.Inf(1)
			}
		}
	}
}

// quick is a way to compute in float32 for the kernels of graphs, whose chains of parts are large; recorded calls
// are computed in float64 at once.
func (c *Call) quick(f32 func(x [][]float32, y []float32)) func(x [][]float32, y []float32) {
	if c.Op == nil {
		return nil
	}
	return f32
}

// elementsOf makes an operator of a kernel.
func elementsOf(f kernel, f32 func(x [][]float32, y []float32), exact bool, in []Values) Values {
	p := newPointwise(f, in...)
	p.f32 = f32
	if exact {
		p.exact = true
		for _, v := range in {
			p.exact = p.exact && isExact(v)
		}
	}
	return p
}

// integers reports whether all recorded operands hold integers, so that sums
// and products have no error. Results beyond the type are left to wrap.
func integers(c *Call) bool {
	for _, o := range c.slots {
		if o != nil && !discrete(o.typ) {
			return false
		}
	}
	return discrete(c.outType())
}

// wrapping drops the bounds of integer arithmetic. A result that the type
// cannot hold may wrap or stop at the limit; nothing is said of it.
func wrapping(f kernel, t dtype.Type) kernel {
	lo, hi := integerRange(t)
	return func(x, e [][]float64, y, b []float64) {
		f(x, e, y, nil)
		for i := range b {
			if b[i] = 0; y[i] < lo || y[i] > hi {
				b[i] = math.Inf(1)
			}
		}
	}
}

// integerRange is what an integer type holds, as far as float64 counts.
func integerRange(t dtype.Type) (lo, hi float64) {
	switch t {
	case dtype.Bool:
		return 0, 1
	case dtype.Int64, dtype.Uint64:
		return -1 << 53, 1 << 53
	case dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.QUint8, dtype.QUint16:
		return 0, math.Ldexp(1, t.Bits()) - 1
	}
	return -math.Ldexp(1, t.Bits()-1), math.Ldexp(1, t.Bits()-1) - 1
}

// buildPow: y = x1^x2, computed as exp(x2·log x1), whose error grows with
// |x2·log x1|: B = |y|·8u·(1 + |x2·log|x1||) and what the operands are off.
func buildPow(c *Call, in []Values) Values {
	ulps := c.ulps()
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i := range y {
			y[i] = math.Pow(x[0][i], x[1][i])
		}
		for i := range b {
			l := 0.0
			if a := abs(x[0][i]); a > 0 && !math.IsInf(a, 1) {
				l = math.Log(a)
			}
			b[i] = abs(y[i]) * ulps * (2 + abs(x[1][i]*l))
			if e[0][i] != 0 || e[1][i] != 0 {
				b[i] += 1.1 * abs(y[i]) * (abs(x[1][i])*e[0][i]/max(abs(x[0][i])-e[0][i], 0) + abs(l)*e[1][i])
			}
		}
	}, nil, false, in)
}

// buildFloorDiv: y = floor(x1/x2). Where the quotient lies within its error of
// a whole number either side of it is right.
func buildFloorDiv(c *Call, in []Values) Values {
	ulps, whole := c.ulps(), integers(c)
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i := range y {
			q := x[0][i] / x[1][i]
			y[i] = math.Floor(q)
			if b != nil {
				b[i] = 0
				if !whole && abs(q-math.Round(q)) <= ulps*abs(q) {
					b[i] = 1
				}
				if x[1][i] == 0 {
					b[i] = math.Inf(1)
				}
			}
		}
	}, nil, whole, in)
}

// buildFloorMod: y = x1 - floor(x1/x2)·x2, of the sign of x2.
func buildFloorMod(c *Call, in []Values) Values {
	ulps, whole := c.ulps(), integers(c)
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i := range y {
			q := x[0][i] / x[1][i]
			y[i] = x[0][i] - math.Floor(q)*x[1][i]
			if b != nil {
				b[i] = 0
				if !whole {
					b[i] = ulps * (abs(x[0][i]) + abs(x[1][i]))
					if abs(q-math.Round(q)) <= ulps*abs(q) {
						b[i] += abs(x[1][i])
					}
				}
				if x[1][i] == 0 {
					b[i] = math.Inf(1)
				}
			}
		}
	}, nil, whole, in)
}
