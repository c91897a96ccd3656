package oracle

import (
	"math"

	"precision/dump/dtype"
)

// factor is a number argument that is 1 if it was not given; NaN, which explains
// nothing, if it is none.
func (k *invocation) factor(name string) num {
	return k.rounding(k.float(name, 1))
}

func definePowers() {
	define("pow float_power", "input exponent", function{local: true, forward: formulaFor(func(k *invocation) Values {
		x := k.value("input")
		z := k.value("exponent")
		if integers(k.Call) {
			return elementsOf(wrapping(func(x, e [][]float64, y, b []float64) {
				for i := range y {
					y[i] = math.Trunc(math.Pow(x[0][i], x[1][i]))
				}
			}, k.outType()), nil, true, []Values{x, z})
		}
		return buildPow(k.Call, []Values{x, z})
	}), backward: func(k *invocation, g []Values) gradients {
		return gradients{"input": func() Values {
			x := k.value("input")
			z := k.value("exponent")
			d := gradient(g, 0)
			return k.of("input", func(a arith, v []num) num {
				if v[1].y == 0 {
					return exactNum(0)
				}
				p := math.Pow(v[0].y, v[1].y-1)
				l := 0.0
				if v[0].y != 0 {
					l = math.Log(abs(v[0].y))
				}
				return a.mul(v[2], a.mul(v[1], num{p, abs(p) * a.ulps * (2 + abs(v[1].y*l))}))
			}, x, z, d)
		}}
	}})
}

// defineLimits: the larger, the smaller, and what is between.
func defineLimits() {
	limits := func(k *invocation) Values {
		x := k.tensor("input")
		lo, hi := Values(scalar(math.Inf(-1))), Values(scalar(math.Inf(1)))
		if k.has("min") {
			lo = k.value("min")
		}
		if k.has("max") {
			hi = k.value("max")
		}
		return elementsOf(func(x, e [][]float64, y, b []float64) {
			for i, v := range x[0] {
				from := 0
				y[i] = v
				if v < x[1][i] {
					y[i], from = x[1][i], 1
				}
				if y[i] > x[2][i] {
					y[i], from = x[2][i], 2
				}
				if b != nil {
					b[i] = e[from][i]
				}
			}
		}, nil, true, []Values{x, lo, hi})
	}
	define("clamp clip", "input min max", function{local: true, forward: formulaFor(limits), backward: chain(func(k *invocation) func(a arith, x, y, g num) num {
		return func(a arith, x, y, g num) num {
			if y.y == x.y {
				if lo, ok := k.args["min"].number(); !ok || x.y == lo {
					return num{g.y, abs(g.y)}
				}
				return g
			}
			return exactNum(0)
		}
	})})
	define("clamp_min", "input min", function{local: true, forward: formulaFor(limits)})
	define("clamp_max", "input max", function{local: true, forward: formulaFor(limits)})
	define("nan_to_num", "input nan posinf neginf", function{local: true, forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		p := precisionFor(x.numeric())
		var to [3]float64
		for i, a := range []struct {
			name    string
			missing float64
		}{{"nan", 0}, {"posinf", p.max}, {"neginf", -p.max}} {
			to[i] = k.float(a.name, a.missing)
		}
		return elementsOf(exactly(func(x []float64) float64 {
			switch {
			case math.IsNaN(x[0]):
				return to[0]
			case math.IsInf(x[0], 1):
				return to[1]
			case math.IsInf(x[0], -1):
				return to[2]
			}
			return x[0]
		}), nil, x.typ == dtype.Float64, []Values{x})
	})})
}

// picked is the larger or smaller of two.
func (k *invocation) picked(f func(a, b float64) float64) Values {
	x := k.value("input")
	z := k.value("other")
	return elementsOf(pickKernel(f), nil, true, []Values{x, z})
}
