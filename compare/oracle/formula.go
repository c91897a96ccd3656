package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/dump/msprobe"
	catalogue "precision/op"
)

// Functions of the numbers in one place that are formulas in their rows of the catalogue: value, slope, gradient and
// bound come from these, for functions, gradients, kernels and parts of fused kernels alike.

// arith computes with formulas, too.

func (arith) Number(x float64) num { return exactNum(x) }
func (arith) Value(x num) float64  { return x.y }
func (arith) Sure(c num) bool      { return c.b == 0 }
func (arith) Either(x, y num) num  { return num{x.y, max(x.b, y.b) + abs(x.y-y.y)} }

// Combine: sums and products by themselves; 0 and 1 change nothing, so that nothing is rounded.
func (a arith) Combine(op string, x, z num) num {
	switch op {
	case "+", "-":
		switch zero := exactNum(0); {
		case z == zero:
			return x
		case x == zero && op == "-":
			return num{-z.y, z.b}
		case x == zero:
			return z
		case op == "-":
			return a.sub(x, z)
		}
		return a.add(x, z)
	case "*", "/":
		switch one := exactNum(1); {
		case z == one:
			return x
		case op == "/":
			return a.div(x, z)
		case x == one:
			return z
		}
		return a.mul(x, z)
	case "^":
		if z == exactNum(1) {
			return x
		}
		return a.pow(x, z)
	}
	// The larger of a number and NaN is either on a device, so that anything is accepted there.
	y := num{math.Max(x.y, z.y), max(x.b, z.b)}
	if op == "min" {
		y.y = math.Min(x.y, z.y)
	}
	if math.IsNaN(y.y) {
		y.b = math.Inf(1)
	}
	return y
}

// pow is computed as exp(z·log x), whose error grows with |z·log x|.
func (a arith) pow(x, z num) num {
	y, l := math.Pow(x.y, z.y), 0.0
	if v := abs(x.y); v > 0 && !math.IsInf(v, 1) {
		l = math.Log(v)
	}
	b := abs(y) * a.ulps * (2 + abs(z.y*l))
	if x.b != 0 || z.b != 0 {
		b += 1.1 * abs(y) * (abs(z.y)*x.b/max(abs(x.y)-x.b, 0) + abs(l)*z.b)
	}
	return num{y, b}
}

// Apply: what is exact is off as far as it gets within the error of x; others by 1.1 times the largest slope there
// (slopes change little over an error) and by units of their own.
func (a arith) Apply(f func(x float64) float64, slope func(x, y float64) float64, exact bool, x num) num {
	y, s := f(x.y), 0.0
	if x.b != 0 {
		lo, hi := f(x.y-x.b), f(x.y+x.b)
		if s = max(abs(lo-y), abs(hi-y)); !exact {
			s = max(1.1*s, 1.1*x.b*abs(slope(x.y, y)))
		}
		if math.IsNaN(s) {
			s = math.Inf(1)
		}
	}
	if exact {
		return num{y, s}
	}
	// Near a zero the error goes with the argument.
	return num{y, s + a.ulps*(abs(y)+s+min(abs(x.y*slope(x.y, y)), 1)*toNumber(abs(y) < 1))}
}

func (arith) Compare(f func(x, z float64) bool, x, z num) num {
	off := x.b + z.b
	return num{toNumber(f(x.y, z.y)), toNumber(off > 0 && abs(x.y-z.y) <= off)}
}

// formulaOfRow is the function that a row has the formula of.
func formulaOfRow(row *catalogue.Row) *function {
	f := &function{local: true, forward: formulaFor(func(k *invocation) Values { return k.formula(row) })}
	for _, p := range row.Formula.Params {
		f.params = append(f.params, p.Name)
	}
	switch {
	case row.Back != nil:
		f.backward = chain(func(k *invocation) func(a arith, x, y, g num) num {
			at := append(make([]num, 3), k.fixed(row.Formula)...)
			return func(a arith, x, y, g num) num {
				at[0], at[1], at[2] = x, y, g
				return catalogue.Compile[num](row.Back, a)(at)
			}
		})
	case len(row.Formula.Operands) == 1 && (row.Rounded || row.Formula.Keeps):
		f.backward = chain(func(k *invocation) func(a arith, x, y, g num) num {
			slope := k.slope(row)
			return func(a arith, x, y, g num) num {
				_, d := slope(x.y)
				if row.Formula.Keeps {
					return a.mul(g, exactNum(d))
				}
				return scaled(a, g, d, abs(d)+max(row.Near, 1))
			}
		})
	}
	return f
}

// fixed are the numbers among the parameters of a formula, as they were given, in the order of those.
func (k *invocation) fixed(f *catalogue.Formula) (list []num) {
	for _, p := range f.Params {
		switch {
		case p.Words != nil:
			word := k.string(p.Name, p.Words[0])
			at := slices.Index(p.Words, word)
			if at < 0 {
				panic(refuse(BadArgument, p.Name, word, strings.Join(p.Words, " or ")))
			}
			list = append(list, exactNum(float64(at)))
		case p.Number:
			list = append(list, k.rounding(k.float(p.Name, p.Default)))
		}
	}
	return list
}

// slope is the function of one number that a formula is, with its slope.
func (k *invocation) slope(row *catalogue.Row) func(x float64) (y, slope float64) {
	f := row.Formula
	at, numbers := make([]float64, len(f.Params)), k.fixed(f)
	for i, p := range f.Params {
		if p.Number {
			at[i], numbers = numbers[0].y, numbers[1:]
		}
	}
	of := f.Slope(at)
	if !row.Ends {
		return of
	}
	return func(x float64) (float64, float64) {
		if math.IsInf(x, -1) {
			return row.Low, 0
		}
		return of(x)
	}
}

// formula applies the formula of a row to the arguments.
func (k *invocation) formula(row *catalogue.Row) Values {
	f := row.Formula
	in := make([]Values, len(f.Operands))
	for i, at := range f.Operands {
		name := f.Params[at].Name
		if other := f.Operands[(i+1)%len(f.Operands)]; f.Exact && len(in) == 2 && discrete(k.outType()) {
			in[i] = k.compared(name, f.Params[other].Name)
		} else {
			in[i] = k.value(name)
		}
	}
	if row.Rounded {
		return elementsOf(rounding(k.slope(row), k.ulps(), row.Near, row.Traits&catalogue.Cancels != 0), nil, false, in)
	}
	run := catalogue.Compile[num](f, k.arith())
	at, numbers := make([]num, len(f.Params)), k.fixed(f)
	for i, p := range f.Params {
		if p.Number {
			at[i], numbers = numbers[0], numbers[1:]
		}
	}
	step := formulaKernel(func(x []num) num {
		for i, v := range x {
			at[f.Operands[i]] = v
		}
		return run(at)
	})
	if !f.Exact && integers(k.Call) {
		return elementsOf(wrapping(step, k.outType()), nil, true, in)
	}
	var f32 func(x [][]float32, y []float32)
	if f.Exact { // what rounds nothing gives numbers of the type it got
		f32 = k.quick(func(x [][]float32, y []float32) {
			for i := range y {
				for j, at32 := range f.Operands {
					at[at32] = exactNum(float64(x[j][i]))
				}
				y[i] = float32(run(at).y)
			}
		})
	}
	return elementsOf(step, f32, f.Exact, in)
}

// rounding is a function of one number that is units of (|y| + near·min(|x|, 1)) off, and of what x is off 1.1 times
// the largest slope there.
func rounding(of func(x float64) (y, slope float64), ulps, near float64, cancels bool) kernel {
	return func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			d := 0.0
			y[i], d = of(v)
			if b == nil {
				continue
			}
			size := near * min(abs(v), 1)
			if cancels && v < 0 {
				size = near
			}
			b[i] = ulps * (abs(y[i]) + size)
			if off := e[0][i]; off != 0 {
				_, below := of(v - off)
				_, above := of(v + off)
				b[i] += 1.1 * off * max(abs(d), abs(below), abs(above))
			}
		}
	}
}

// asPart makes a kernel of the numbers in one place a part of fused ones: its first operands are values.
func asPart(row *catalogue.Row) (p elementwise, ok bool) {
	f, args := kernelFunction(row)
	if f == nil || !f.local {
		return p, false
	}
	var operands []catalogue.Arg
	for _, a := range args {
		if a.Slot >= 0 {
			operands = append(operands, a)
		}
	}
	slices.SortFunc(operands, func(a, b catalogue.Arg) int { return a.Slot - b.Slot })
	formula := row.Formula
	if row.As != nil {
		formula = catalogue.Of(row.As.Function).Formula
	}
	return elementwise{operands: len(operands), keeps: formula != nil && formula.Keeps, build: func(c *Call, in []Values) Values {
		k := c.invoked(row, f, args)
		for i, a := range operands {
			k.args[a.Param] = &argument{v: &msprobe.Value{Kind: msprobe.Tensor}, place: a.Param, made: in[i]}
		}
		return f.forward(k)[0].Out[0]
	}}, len(operands) > 0
}
