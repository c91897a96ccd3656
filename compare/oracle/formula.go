package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/order"
	catalogue "precision/op"
)

// Functions of the numbers in one place that are formulas in their rows of the catalogue: value,
// slope, gradient and bound come from these, for functions, gradients, kernels and parts of fused
// kernels alike.
//
// A formula is compiled for a kind of number (op/formula.go). Of float64 it gives values; of [num],
// a number with the bound of its error, it gives values with bounds, by running error analysis
// (Wilkinson; Higham, 3.3): each step adds what its operands' errors come to, to first order and
// with a tenth for the rest, and a unit of its own. Of [dual], a number with its slope (forward
// mode), it gives gradients with bounds.
//
// Steps that round nothing add nothing: x + 0, x·1, comparisons, choices. Functions are granted
// eight units in the last place, as vector units compute them by tables and polynomials, and where
// a row says near=n so many units around zero, too.

// arith computes with formulas, too.

// Either is a number that one of two formulas gives, with a bound that reaches to the other. Sure
// says that a condition does not hang on rounding.
func (arith) Number(x float64) num { return exactNum(x) }
func (arith) Value(x num) float64  { return x.y }
func (arith) Sure(c num) bool      { return c.b == 0 }
func (arith) Either(x, y num) num  { return num{x.y, max(x.b, y.b) + abs(x.y-y.y)} }

// Combine: sums and products by themselves; 0 and 1 change nothing, so that nothing is rounded. The
// larger of two numbers has the error of the one that wins; where their errors overlap it has the
// larger error of both.
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
		return a.beyond(a.pow(x, z))
	}
	// The larger of a number and NaN is either on a device, so that anything is accepted there.
	y := num{max(x.y, z.y), max(x.b, z.b)}
	if op == "min" {
		y.y = min(x.y, z.y)
	}
	if math.IsNaN(y.y) { // of an infinity and NaN it may be the infinity
		if y.y = math.Max(x.y, z.y); op == "min" {
			y.y = math.Min(x.y, z.y)
		}
	}
	switch {
	case math.IsNaN(y.y):
		y.b = math.Inf(1)
	case abs(x.y-z.y) > x.b+z.b: // and no error makes it the other one
		if y.b = x.b; y.y != x.y {
			y.b = z.b
		}
	}
	return y
}

// pow is computed as exp(z·log x), whose error grows with |z·log x|.
// B = |y|·ulps·(2 + |z·log x|) + 1.1·|y|·(|z|·B_x/(|x| − B_x) + |log x|·B_z), the slopes of xᶻ in
// both, with a tenth for what slopes change within the errors.
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

// Apply: what is exact is off as far as it gets within the error of x; others by 1.1 times the
// largest slope there (slopes change little over an error) and by units of their own.
func (a arith) Apply(f func(x float64) float64, slope func(x, y float64) float64, exact bool, x num) num {
	y, s := f(x.y), 0.0
	if x.b != 0 {
		lo, hi := f(x.y-x.b), f(x.y+x.b)
		if s = max(abs(lo-y), abs(hi-y)); !exact {
			// Both ends and the slope: a function that turns between the ends would be missed by
			// either alone.
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
	return a.beyond(num{y, s + a.ulps*(abs(y)+s+min(abs(x.y*slope(x.y, y)), 1)*toNumber(abs(y) < 1))})
}

// It is 0 or 1, and open where the errors of both sides reach over the difference.
func (arith) Compare(f func(x, z float64) bool, x, z num) num {
	off := x.b + z.b
	return num{toNumber(f(x.y, z.y)), toNumber(off > 0 && abs(x.y-z.y) <= off)}
}

// formulaOfRow is the function that a row has the formula of. A loss (with a parameter "reduction")
// has its sum or mean on top. Gradients come from the row's own formula (Back), from the slope of a
// function of one number, or from slopes by the chain rule (formulaGradients).
func formulaOfRow(row *catalogue.Row) *function {
	f := &function{local: true, forward: formulaFor(func(k *invocation) Values { return k.formula(row) })}
	for _, p := range row.Formula.Params {
		f.params = append(f.params, p.Name)
	}
	switch {
	case slices.Contains(f.params, "reduction"):
		f.local = false
		f.forward = formulaFor(func(k *invocation) Values { return k.reducedLoss(k.formula(row), k.lossReduction()) })
		f.nodes = [][]string{row.Formula.Tensors(), {"elements"}}
		f.backward = func(k *invocation, g []Values) gradients { return k.lossGradients(row, gradient(g, 0)) }
	case row.Back != nil:
		f.backward = chain(func(k *invocation) func(a arith, x, y, g num) num {
			at := make([]num, 3) // x, y, g, and the numbers
			for i, x := range k.fixed(row.Formula) {
				if row.Formula.Params[i].Number {
					at = append(at, x)
				}
			}
			return func(a arith, x, y, g num) num {
				at[0], at[1], at[2] = x, y, g
				return catalogue.Compile[num](row.Back, a)(at)
			}
		})
	// Keeps: what comes out is the number itself or nothing, so that its slope is 0 or 1 and exact.
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
	default:
		f.backward = func(k *invocation, g []Values) gradients { return k.formulaGradients(row, gradient(g, 0)) }
		f.nodes = [][]string{row.Formula.Tensors()}
	}
	return f
}

// formulaGradients are the gradients of the operands of a formula: its slope in each times that of
// the result. Forward mode: operand i has slope 1 and the others 0, and v and d go through the
// formula together.
func (k *invocation) formulaGradients(row *catalogue.Row, d Values) gradients {
	f, all := row.Formula, gradients{}
	for i, operand := range f.Operands {
		name := f.Params[operand].Name
		all[name] = func() Values {
			var in []Values
			for _, at := range f.Operands {
				in = append(in, k.operandOf(&f.Params[at]))
			}
			return k.madeThenSummed(k.slopeOf(f, k.fixed(f), i, d, in...), name, append(in, d)...)
		}
	}
	return all
}

// slopeOf is the slope of a formula in one of its operands times d, its other parameters being
// numbers.
func (k *invocation) slopeOf(f *catalogue.Formula, fixed []num, i int, d Values, in ...Values) Values {
	at, a := make([]dual, len(f.Params)), k.arith()
	for j, x := range fixed {
		at[j].v = x
	}
	run := catalogue.Compile[dual](f, duals{a})
	return formulaOf(func(x []num) num {
		for j, place := range f.Operands {
			at[place] = dual{v: x[j], d: exactNum(toNumber(i == j))}
		}
		return a.along(x[len(x)-1], run(at).d)
	}, append(slices.Clone(in), d)...)
}

// slopeIn is that of a formula of tensors alone.
func (k *invocation) slopeIn(text string, i int, d Values, in ...Values) Values {
	f, err := catalogue.Read(text)
	must.Do(err)
	return k.slopeOf(f, nil, i, d, in...)
}

// operandOf is an operand of a formula, or what it is where it may be left out.
func (k *invocation) operandOf(p *catalogue.Param) Values {
	if p.Optional && !k.has(p.Name) {
		return scalar(p.Default)
	}
	return k.value(p.Name)
}

// dual is a number with its slope, both with their bounds.
type dual struct{ v, d num }

// duals computes with formulas and their slopes.
type duals struct{ arith }

func (duals) Number(x float64) dual { return dual{v: exactNum(x)} }
func (duals) Value(x dual) float64  { return x.v.y }
func (duals) Sure(c dual) bool      { return c.v.b == 0 }
func (a duals) Either(x, z dual) dual {
	return dual{a.arith.Either(x.v, z.v), a.arith.Either(x.d, z.d)}
}
func (a duals) Compare(f func(x, z float64) bool, x, z dual) dual {
	return dual{v: a.arith.Compare(f, x.v, z.v)}
}
func (a duals) Apply(f func(x float64) float64, slope func(x, y float64) float64, exact bool, x dual) dual {
	v := a.arith.Apply(f, slope, exact, x.v)
	return dual{v, a.along(x.d, a.slopeAt(slope, exact, x.v, v))}
}

// d(x∘z) = ∂x·dx + ∂z·dz; a slope of 0 leaves NaN and infinities of the other side out.
func (a duals) Combine(op string, x, z dual) dual {
	v := a.arith.Combine(op, x.v, z.v)
	dx, dz := a.slopes(op, x.v, z.v, v)
	return dual{v, a.arith.Combine("+", a.along(x.d, dx), a.along(z.d, dz))}
}

// along is a gradient times a slope: nothing where either is 0, and anything where the slope is
// infinite. PyTorch multiplies, and gets NaN of 0·∞ in some formulas and 0 in others: nothing is
// asked of these places.
func (a arith) along(g, d num) num {
	if zero := exactNum(0); g == zero || d == zero {
		return zero
	}
	y := a.Combine("*", g, d)
	if math.IsNaN(y.y) || math.IsInf(y.y, 0) && !math.IsInf(g.y, 0) || math.IsInf(d.y, 0) {
		y = num{0, math.Inf(1)}
	}
	return y
}

// slopeAt is the slope of a function of one number. Where that is small it may be a difference from
// 1.
func (a arith) slopeAt(slope func(x, y float64) float64, exact bool, x, y num) num {
	s := num{y: slope(x.y, y.y)}
	if !exact {
		s.b = a.ulps*abs(s.y) + 2*a.u*toNumber(abs(s.y) < 1)
	}
	if x.b != 0 {
		s.b += max(abs(slope(x.y-x.b, y.y)-s.y), abs(slope(x.y+x.b, y.y)-s.y)) + y.b*toNumber(!exact)
	}
	if math.IsNaN(s.b) {
		s.b = math.Inf(1)
	}
	return s
}

// slopes are those of Combine in both operands. Of two equal numbers each may get all, or half. For
// x^z: z·x^(z−1) and y·log x; at x = 0 the latter is 0 for z ≥ 0 and unknown below. max and min
// pass the whole gradient to the larger or smaller one.
func (a arith) slopes(op string, x, z, y num) (dx, dz num) {
	one := exactNum(1)
	switch op {
	case "+":
		return one, one
	case "-":
		return one, exactNum(-1)
	case "*":
		return z, x
	case "/":
		return a.div(one, z), minus(a.div(y, z))
	case "^":
		if z.y != 0 {
			dx = a.Combine("*", z, a.beyond(a.pow(x, a.sub(z, one))))
		}
		if x.y == 0 {
			if z.y < 0 {
				dz.b = math.Inf(1)
			}
		} else {
			dz = a.mul(y, a.Apply(math.Log, func(x, _ float64) float64 { return 1 / x }, false, x))
		}
		return dx, dz
	}
	switch {
	case abs(x.y-z.y) <= x.b+z.b:
		half := num{0.5, 0.5}
		return half, half
	case (x.y > z.y) == (op == "max"):
		return one, num{}
	}
	return num{}, one
}

// fixed are the numbers among the parameters of a formula, as they were given, in the places of
// these. A word becomes its place among the words of the parameter. Numbers of integer tensors are
// cut, others come as the kernel rounds them.
func (k *invocation) fixed(f *catalogue.Formula) []num {
	at := make([]num, len(f.Params))
	for i, p := range f.Params {
		switch {
		case p.Words != nil:
			word := k.string(p.Name, p.Words[0])
			n := slices.Index(p.Words, word)
			refuseIf(n < 0, BadArgument, p.Name, word, strings.Join(p.Words, " or "))
			at[i].y = float64(n)
		case p.Number:
			x := k.float(p.Name, p.Default)
			if integers(k.Call) && k.outType() != dtype.Bool {
				x = math.Trunc(x)
			}
			at[i] = k.rounding(x)
		}
	}
	return at
}

// slope is the function of one number that a formula is, with its slope.
func (k *invocation) slope(row *catalogue.Row) func(x float64) (y, slope float64) {
	at := make([]float64, len(row.Formula.Params))
	for i, x := range k.fixed(row.Formula) {
		at[i] = x.y
	}
	return slopeAt(row, at)
}

// slopeAt is that with the numbers given.
func slopeAt(row *catalogue.Row, at []float64) func(x float64) (y, slope float64) {
	of := row.Formula.Slope(at)
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

// formula applies the formula of a row to the arguments. Numbers that are exact are folded into the
// formula first, so that x·1 and x + 0 round nothing. Formulas of integers wrap around as integers
// of their type do. Where nothing rounds, columns of float32 are computed as such (quick).
func (k *invocation) formula(row *catalogue.Row) Values {
	given, sure := map[int]float64{}, map[int]float64{}
	at := k.fixed(row.Formula)
	for i, p := range row.Formula.Params {
		if p.Number {
			if given[i] = at[i].y; at[i].b == 0 {
				sure[i] = at[i].y
			}
		}
	}
	f := row.Formula.Fixed(sure)
	in := make([]Values, len(f.Operands))
	for i, at := range f.Operands {
		name := f.Params[at].Name
		if other := f.Operands[(i+1)%len(f.Operands)]; f.Exact && len(in) == 2 && discrete(k.outType()) {
			in[i] = k.compared(name, f.Params[other].Name)
		} else {
			in[i] = k.operandOf(&f.Params[at])
		}
	}
	if row.Rounded {
		return k.applied(row, in[0])
	}
	run := catalogue.Compile[num](f, k.arith())
	step := formulaKernel(run) // of operands alone, in the order of the parameters
	if !slices.Equal(f.Operands, inOrder(len(at))) {
		step = formulaKernel(func(x []num) num {
			for i, v := range x {
				at[f.Operands[i]] = v
			}
			return run(at)
		})
	}
	if !f.Exact && integers(k.Call) {
		whole := formulaKernel(func(x []num) num {
			for i, v := range x {
				at[f.Operands[i]] = v
			}
			y := run(at)
			if math.IsInf(y.y, 0) && slices.ContainsFunc(x, func(v num) bool { return v.y == 0 }) {
				return num{} // 0 to the power of -1: of whole numbers there is no Inf
			}
			return y
		})
		return elementsOf(wrapping(whole, k.outType()), nil, true, in)
	}
	var f32 func(x [][]float32, y []float32)
	if f.Exact { // what rounds nothing gives numbers of the type it got
		f32 = k.quick(f.Fixed(given).Columns())
	}
	return elementsOf(step, f32, f.Exact, in)
}

// applied is a function of one number with the bound that its row says. ulps·(|y| + near·min(|x|,
// 1)), near and cancels from the row; if a number of the formula (a slope, an alpha) may have been
// rounded the other way, the result by that is reached over, too.
func (k *invocation) applied(row *catalogue.Row, x Values) Values {
	whole := rounding(k.slope(row), k.ulps(), row.Near, row.Traits&catalogue.Cancels != 0)
	if row.Ends { // x·σ(x) of -Inf is NaN as PyTorch and TBE compute it, and 0 where a kernel looks first
		within := whole
		whole = func(x, e [][]float64, y, b []float64) {
			within(x, e, y, b)
			for i := range b {
				if math.IsInf(x[0][i], -1) {
					b[i] = math.Inf(1)
				}
			}
		}
	}
	at := k.fixed(row.Formula)
	if !slices.ContainsFunc(at, func(v num) bool { return v.b != 0 }) {
		return elementsOf(whole, nil, false, []Values{x})
	}
	// Kernels round numbers to the type of the tensor, or not (ops-nn activation/leaky_relu,
	// ops-math muls and adds).
	turned := make([]float64, len(at))
	for i, v := range at {
		turned[i] = v.y + v.b
		if precisionFor(k.outType()).Round(v.y) < v.y {
			turned[i] = v.y - v.b
		}
	}
	of := slopeAt(row, turned)
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		whole(x, e, y, b)
		for i := range b {
			if other, _ := of(x[0][i]); !math.IsNaN(other - y[i]) {
				b[i] += abs(other - y[i])
			}
		}
	}, nil, false, []Values{x})
}

// computed is a formula of tensors, by the rules of [arith].
func (k *invocation) computed(text string, in ...Values) Values {
	f, err := catalogue.Read(text)
	must.Do(err)
	return formulaOf(catalogue.Compile[num](f, k.arith()), in...)
}

// also is a formula of v and of what may not be there, in whose place v stays as it is.
func (k *invocation) also(text string, v, other Values) Values {
	if other == nil {
		return v
	}
	return k.computed(text, v, other)
}

// rounding is a function of one number that is units of (|y| + near·min(|x|, 1)) off, and of what x
// is off 1.1 times the largest slope there.
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

// asPart makes a kernel of the numbers in one place a part of fused ones: its first operands are
// values.
func asPart(row *catalogue.Row) (p elementwise, ok bool) {
	f, args := kernelFunction(row)
	if f == nil || !f.local || row.As != nil && row.As.Gradient != "" { // gradients are of recorded tensors alone
		return p, false
	}
	var operands []catalogue.Arg
	for _, a := range args {
		if a.Slot >= 0 {
			operands = append(operands, a)
		}
	}
	order.Stable(operands, func(a, b catalogue.Arg) int { return a.Slot - b.Slot })
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

// num is a number and the bound of its error.
type num struct{ y, b float64 }

func exactNum(x float64) num { return num{x, 0} }

// arith computes with numbers and their bounds (operators.md, propagation): u is
// the unit roundoff of sums and products, ulps that of functions.
type arith struct {
	u, ulps float64
	// most is what the narrow type holds that steps in between may have been kept in; 0 for no
	// limit.
	most float64
}

// A narrow type limits what a step may hold only where the call may have been computed step by step
// in it.
func (c *Call) arith() arith {
	a := arith{u: c.unit(), ulps: c.ulps()}
	if c.loose != strict && c.narrow > 0 {
		a.most = precisionFor(c.outType()).max
	}
	return a
}

// beyond: a step that the type does not hold may be anything.
func (a arith) beyond(x num) num {
	if a.most > 0 && abs(x.y) >= a.most {
		x.b = math.Inf(1)
	}
	return x
}

// The operands' errors and a unit of the result, which itself is off by these.
func (a arith) add(x, z num) num {
	y, s := x.y+z.y, x.b+z.b
	return num{y, s + a.u*(abs(y)+s)}
}

func (a arith) sub(x, z num) num { return a.add(x, num{-z.y, z.b}) }

// |x|·B_z + |z|·B_x + B_x·B_z, exactly what (x ± B_x)(z ± B_z) − x·z can be.
func (a arith) mul(x, z num) num {
	y, s := x.y*z.y, 0.0
	if x.b != 0 || z.b != 0 {
		s = abs(x.y)*z.b + abs(z.y)*x.b + x.b*z.b
	}
	return a.beyond(num{y, s + a.u*(abs(y)+s)})
}

// (B_x + |y|·B_z)/(|z| − B_z); a divisor that may be 0 leaves the quotient open. Devices divide by
// reciprocals, which ulps allows for.
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

// The largest slope of x^-½ within the error is that at x − B: ½·(x − B)^-1½.
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

// kernel computes elements of an element-wise operator. x and e hold the values
// and bounds of the operands, b is nil when no bounds are wanted.
type kernel func(x, e [][]float64, y, b []float64)

// pointwise is a tensor each of whose elements depends on those of its operands
// at the same place.
type pointwise struct {
	shape []int64
	in    []Values // all of shape
	f     kernel
	f32   func(x [][]float32, y []float32) // nil if there is no quick way
	exact bool
	x, e  [][]float64
	x32   [][]float32
}

// newPointwise broadcasts the operands to their common shape.
func newPointwise(f kernel, in ...Values) *pointwise {
	shapes := each.Of(in, func(v Values) []int64 { return v.Shape() })
	shape, ok := broadcastShape(shapes...)
	refuseIf(!ok, ShapesDiffer, shapeText(shapes...))
	p := &pointwise{shape: shape, f: f, in: make([]Values, len(in)), x: make([][]float64, len(in)), e: make([][]float64, len(in)),
		x32: make([][]float32, len(in))}
	for i, v := range in {
		p.in[i], ok = broadcast(v, shape)
		refuseIf(!ok, ShapesDiffer, shapeText(shapes...))
	}
	return p
}

func (p *pointwise) Shape() []int64 { return p.shape }
func (p *pointwise) Exact() bool    { return p.exact }

func (p *pointwise) Cost() float64 {
	c := 1.0
	for _, v := range p.in {
		c += cost(v)
	}
	return c
}

// Align is that of the operand that takes most.
func (p *pointwise) Align() int64 {
	a, most := int64(1), 0.0
	for _, v := range p.in {
		if c := cost(v); c > most {
			a, most = align(v), c
		}
	}
	return a
}

func (p *pointwise) fast() bool {
	if p.f32 == nil {
		return false
	}
	return !slices.ContainsFunc(p.in, func(v Values) bool { return !isFast(v) })
}

func (p *pointwise) Range32(lo int64, y []float32) {
	for i, v := range p.in {
		p.x32[i] = grow(p.x32[i], len(y))
		v.(float32er).Range32(lo, p.x32[i])
	}
	p.f32(p.x32, y)
}

func (p *pointwise) Range(lo int64, y, b []float64) {
	p.run(y, b, func(v Values, y, b []float64) { v.Range(lo, y, b) })
}

func (p *pointwise) At(idx []int64, y, b []float64) {
	p.run(y, b, func(v Values, y, b []float64) { v.At(idx, y, b) })
}

func (p *pointwise) run(y, b []float64, get func(v Values, y, b []float64)) {
	for i, v := range p.in {
		p.x[i] = grow(p.x[i], len(y))
		if b != nil {
			p.e[i] = grow(p.e[i], len(y))
		} else {
			p.e[i] = nil
		}
		get(v, p.x[i], p.e[i])
	}
	p.f(p.x, p.e, y, b)
}

// exactly makes a kernel of a function whose result has no error when its
// operands have none.
func exactly(f func(x []float64) float64) kernel {
	return func(x, e [][]float64, y, b []float64) {
		at := make([]float64, len(x))
		for i := range y {
			for k := range x {
				at[k] = x[k][i]
			}
			y[i] = f(at)
		}
		clear(b)
	}
}

// rounded allows for an operator's result being rounded to a type before the
// next part of a fused kernel takes it. Whether it was is not known; both stay
// within the bound.
type rounded struct {
	Values
	p precisionOf
}

func (r *rounded) Exact() bool   { return false }
func (r *rounded) Cost() float64 { return cost(r.Values) }
func (r *rounded) Align() int64  { return align(r.Values) }
func (r *rounded) fast() bool    { return isFast(r.Values) }

func (r *rounded) Range32(lo int64, y []float32) { r.Values.(float32er).Range32(lo, y) }

func (r *rounded) Range(lo int64, y, b []float64) {
	r.Values.Range(lo, y, b)
	r.widen(y, b)
}

func (r *rounded) At(idx []int64, y, b []float64) {
	r.Values.At(idx, y, b)
	r.widen(y, b)
}

func (r *rounded) widen(y, b []float64) {
	for i := range b {
		b[i] += r.p.v*(abs(y[i])+b[i]) + r.p.t
	}
}
