package oracle

import "math"

// num is a number and the bound of its error.
type num struct{ y, b float64 }

func exactNum(x float64) num { return num{x, 0} }

// arith computes with numbers and their bounds (operators.md, propagation): u is
// the unit roundoff of sums and products, ulps that of functions.
type arith struct{ u, ulps float64 }

func (c *Call) arith() arith { return arith{c.unit(), c.ulps()} }

func (a arith) add(x, z num) num {
	y, s := x.y+z.y, x.b+z.b
	return num{y, s + a.u*(abs(y)+s)}
}

func (a arith) sub(x, z num) num { return a.add(x, num{-z.y, z.b}) }

func (a arith) mul(x, z num) num {
	y, s := x.y*z.y, 0.0
	if x.b != 0 || z.b != 0 {
		s = abs(x.y)*z.b + abs(z.y)*x.b + x.b*z.b
	}
	return num{y, s + a.u*(abs(y)+s)}
}

func (a arith) div(x, z num) num {
	y, s := x.y/z.y, 0.0
	if x.b != 0 || z.b != 0 {
		if s = (x.b + abs(y)*z.b) / (abs(z.y) - z.b); s < 0 {
			s = math.Inf(1)
		}
	}
	return num{y, s + a.ulps*(abs(y)+s)}
}

// sqrt: sup of the slope 1/(2·sqrt) between x-b and x.
func (a arith) sqrt(x num) num {
	y, s := math.Sqrt(x.y), 0.0
	if x.b != 0 {
		if low := x.y - x.b; low > 0 {
			s = x.b / (2 * math.Sqrt(low))
		} else {
			s = math.Sqrt(max(x.y, 0) + x.b)
		}
	}
	return num{y, s + a.ulps*(abs(y)+s)}
}

func (a arith) rsqrt(x num) num {
	y, s := 1/math.Sqrt(x.y), 0.0
	if x.b != 0 {
		low := x.y - x.b
		if low <= 0 {
			return num{y, math.Inf(1)}
		}
		s = x.b / (2 * low * math.Sqrt(low))
	}
	return num{y, s + a.ulps*(abs(y)+s)}
}

// formulaKernel makes a kernel of a formula over the operands at one place.
func formulaKernel(f func(x []num) num) kernel {
	return func(x, e [][]float64, y, b []float64) {
		at := make([]num, len(x))
		for i := range y {
			for k := range x {
				at[k].y, at[k].b = x[k][i], 0
				if e[k] != nil {
					at[k].b = e[k][i]
				}
			}
			r := f(at)
			y[i] = r.y
			if b != nil {
				b[i] = r.b
			}
		}
	}
}

// formulaOf applies a formula element by element. What it refuses it refuses at once.
func formulaOf(f func(x []num) num, in ...Values) Values {
	f(make([]num, len(in)))
	return elementsOf(formulaKernel(f), nil, false, in)
}
