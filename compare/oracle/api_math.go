package oracle

import (
	"math"
)

// Functions of PyTorch of the numbers in one place. A number among the operands is
// taken as given or rounded to the type of the result, and so are tensors of finer
// types. On a CPU, float16 and bfloat16 are computed in float32 and rounded once.

// pointFormula makes a forward of a formula of some operands.
func pointFormula(f func(k *invocation, a arith, x []num) num, names ...string) func(k *invocation) []Reading {
	return formulaFor(func(k *invocation) Values {
		in := make([]Values, len(names))
		for i, name := range names {
			in[i] = k.value(name)
		}
		a := k.arith()
		return formulaOf(func(x []num) num { return f(k, a, x) }, in...)
	})
}

// of makes the gradient of one parameter from values, element by element, and sums up
// what was repeated to another shape.
func (k *invocation) of(name string, f func(a arith, x []num) num, in ...Values) Values {
	v := formulaOf(func(x []num) num { return f(k.arith(), x) }, in...)
	return k.reducedTo(v, name)
}

// reducedTo sums v up to the shape of an argument that was repeated to that of v.
func (k *invocation) reducedTo(v Values, name string) Values {
	o := k.tensor(name)
	return k.reducedToShape(v, o.shape)
}

func (k *invocation) reducedToShape(v Values, shape []int64) Values {
	in := v.Shape()
	var axes []int
	kept := int64(1)
	for i, d := range in {
		j := i - (len(in) - len(shape))
		if j < 0 || shape[j] == 1 && d != 1 {
			axes = append(axes, i)
		} else {
			kept *= d
		}
	}
	if kept != count(shape) {
		panic(refuse(ShapesDiffer, shapeText(in, shape)))
	}
	if len(axes) > 0 {
		moved, _, n := lastAxes(v, axes)
		v = &reduced{shape: shape, in: moved, n: n, f: sumOf(k.sumUnit(), n, 1)}
	}
	return reshape(v, shape)
}

// result is a recorded output of the forward call.
func (k *invocation) result(i int) *operand {
	if i < len(k.results) && k.results[i] != nil {
		return k.results[i]
	}
	panic(refuse(NoInput, "output "+itoa(i)+" of the forward call"))
}

// gradient is that of output i.
func gradient(g []Values, i int) Values {
	if i < len(g) && g[i] != nil {
		return g[i]
	}
	panic(refuse(NoInput, "gradient "+itoa(i)))
}

// chain makes the backward of a function of one tensor: f gives the gradient from x,
// the recorded result y and the gradient g of it.
func chain(of func(k *invocation) func(a arith, x, y, g num) num) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		return gradients{"input": func() Values {
			x := k.tensor("input")
			y := k.result(0)
			d := gradient(g, 0)
			f := of(k)
			return k.of("input", func(a arith, v []num) num { return f(a, v[0], v[1], v[2]) }, x, y, d)
		}}
	}
}

// unrounded is the backward of a quotient: of one that is rounded nothing goes back.
func unrounded(f func(k *invocation, g []Values) gradients) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		if !k.has("rounding_mode") {
			return f(k, g)
		}
		zeros := func(name string) func() Values {
			return func() Values {
				x := k.tensor(name)
				return formulaOf(func([]num) num { return exactNum(0) }, x)
			}
		}
		return gradients{"input": zeros("input"), "other": zeros("other")}
	}
}

// scaled is the derivative d, that may be off by some units of size, times g.
func scaled(a arith, g num, d, size float64) num { return a.mul(g, num{d, a.ulps * size}) }

func minus(x num) num { return num{-x.y, x.b} }

func init() {
	define("round", "input decimals", function{local: true, forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		if n := k.int("decimals", 0); n != 0 {
			panic(refuse(Unsupported, "decimals"))
		}
		return elementsOf(stepKernel(math.RoundToEven), nil, true, []Values{x})
	})})
	defineSums()
	defineProducts()
	definePowers()
	defineLimits()
}

// defineSums: x + alpha·other and x - alpha·other.
func defineSums() {
	sum := func(names string, sign float64, swap bool) {
		forward := formulaFor(func(k *invocation) Values {
			x := k.value("input")
			z := k.value("other")
			if swap {
				x, z = z, x
			}
			alpha := k.float("alpha", 1)
			in := []Values{x, z}
			var f32 func(x [][]float32, y []float32)
			if sign == 1 {
				f32 = k.quick(add32)
			}
			if integers(k.Call) {
				return elementsOf(wrapping(func(x, e [][]float64, y, b []float64) {
					for i := range y {
						y[i] = x[0][i] + sign*alpha*x[1][i]
					}
				}, k.outType()), nil, true, in)
			}
			if alpha == 1 {
				return elementsOf(addKernel(k.unit(), sign), f32, false, in)
			}
			a, n := k.arith(), k.rounding(sign*alpha)
			return formulaOf(func(x []num) num { return a.add(x[0], a.mul(n, x[1])) }, in...)
		})
		define(names, "input other alpha", function{local: true, forward: forward, backward: func(k *invocation, g []Values) gradients {
			d := gradient(g, 0)
			alpha := k.float("alpha", 1)
			first, second := exactNum(1), k.rounding(sign*alpha)
			if swap {
				first, second = k.rounding(sign*alpha), exactNum(1)
			}
			by := func(name string, f num) func() Values {
				return func() Values {
					if f.b == 0 && abs(f.y) == 1 {
						v := elementsOf(exactly(func(x []float64) float64 { return f.y * x[0] }), nil, true, []Values{d})
						return k.reducedTo(v, name)
					}
					return k.of(name, func(a arith, x []num) num { return a.mul(f, x[0]) }, d)
				}
			}
			return gradients{"input": by("input", first), "other": by("other", second)}
		}})
	}
	sum("add", 1, false)
	sum("sub subtract", -1, false)
	sum("rsub", -1, true)
}

// defineProducts: products and quotients.
func defineProducts() {
	both := func(f func(a arith, x, z, g, y num) (dx, dz num)) func(k *invocation, g []Values) gradients {
		return func(k *invocation, g []Values) gradients {
			one := func(name string, second bool) func() Values {
				return func() Values {
					x := k.value("input")
					z := k.value("other")
					d := gradient(g, 0)
					// The quotient may have been kept, rounded.
					y := Values(scalar(math.NaN()))
					if o, err := attempt(func() *operand { return k.result(0) }); err == nil {
						y = o
					}
					return k.of(name, func(a arith, v []num) num {
						dx, dz := f(a, v[0], v[1], v[2], v[3])
						if second {
							return dz
						}
						return dx
					}, x, z, d, y)
				}
			}
			return gradients{"input": one("input", false), "other": one("other", true)}
		}
	}
	define("mul multiply", "input other", function{local: true, forward: formulaFor(func(k *invocation) Values {
		x := k.value("input")
		z := k.value("other")
		if integers(k.Call) {
			return elementsOf(wrapping(mulKernel(0), k.outType()), nil, true, []Values{x, z})
		}
		return elementsOf(mulKernel(k.unit()), k.quick(mul32), false, []Values{x, z})
	}), backward: both(func(a arith, x, z, g, _ num) (num, num) { return a.mul(g, z), a.mul(g, x) })})

	quotient := func(k *invocation, mode string) Values {
		x := k.value("input")
		z := k.value("other")
		in := []Values{x, z}
		switch mode {
		case "":
			whole := integers(k.Call) // of GE, whose quotient of integers is one
			return elementsOf(divKernel(k.ulps(), whole), nil, whole, in)
		case "floor":
			return buildFloorDiv(k.Call, in)
		case "trunc":
			return elementsOf(func(x, e [][]float64, y, b []float64) {
				for i := range y {
					q := x[0][i] / x[1][i]
					y[i] = math.Trunc(q)
					if b == nil {
						continue
					}
					if b[i] = 0; x[1][i] == 0 {
						b[i] = math.Inf(1)
					} else if !integers(k.Call) && abs(q-math.Round(q)) <= k.ulps()*abs(q) {
						b[i] = 1
					}
				}
			}, nil, integers(k.Call), in)
		}
		panic(refuse(BadArgument, "rounding_mode", mode, "trunc or floor"))
	}
	define("div divide true_divide", "input other rounding_mode", function{local: true, forward: formulaFor(func(k *invocation) Values {
		mode := k.string("rounding_mode", "")
		return quotient(k, mode)
	}), backward: unrounded(both(func(a arith, x, z, g, y num) (num, num) {
		dz := a.div(a.mul(minus(g), a.div(x, z)), z)
		if !math.IsNaN(y.y) { // the rounded quotient in place of x/z
			dz.b += 2 * abs(g.y/z.y) * abs(y.y-x.y/z.y)
		}
		return a.div(g, z), dz
	}))})
	define("floor_divide", "input other", function{local: true, forward: formulaFor(func(k *invocation) Values { return quotient(k, "floor") })})
	define("remainder", "input other", function{local: true, forward: formulaFor(func(k *invocation) Values {
		x := k.value("input")
		z := k.value("other")
		return buildFloorMod(k.Call, []Values{x, z})
	})})
	define("lerp", "input end weight", function{local: true, forward: pointFormula(func(k *invocation, a arith, x []num) num {
		// x + w·(e - x), or e - (1 - w)·(e - x).
		y := a.add(x[0], a.mul(x[2], a.sub(x[1], x[0])))
		y.b += 4 * a.u * (abs(x[0].y) + abs(x[1].y))
		return y
	}, "input", "end", "weight")})
}
