package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/internal/must"
	catalogue "precision/op"
)

// Arithmetic of the numbers in one place, as far as it is more than a formula of the catalogue:
// sums and products with the quick path of fused kernels, quotients, updates of weights, and
// kernels of GE of the same kind.
//
// A number among the operands is taken as given or rounded to the type of the result, since kernels
// do either, and so are tensors of finer types than the result has. On a CPU, float16 and bfloat16
// are computed in float32 and rounded once. Integers have no rounding: their results are exact, and
// open where the type would wrap.
//
// The bound of a sum is B1 + B2 + u·(|y| + B1 + B2), that of a product |x1|·B2 + |x2|·B1 + B1·B2
// and a unit, that of a quotient (B1 + |y|·B2)/(|x2| - B2) and eight units, as devices divide by
// way of a reciprocal.

// of makes the gradient of one parameter from values, element by element, and sums up
// what was repeated to another shape.
func (k *invocation) of(name string, f func(a arith, x []num) num, in ...Values) Values {
	return k.madeThenSummed(formulaOf(func(x []num) num { return f(k.arith(), x) }, in...), name, in...)
}

// madeThenSummed is a gradient computed from in, summed up to the shape of an argument that was repeated: a tensor of the type that the
// types of in promote to is made of it first.
func (k *invocation) madeThenSummed(v Values, name string, in ...Values) Values {
	var finest precisionOf // of nothing that is rounded
	for _, x := range in {
		if o := leaf(x); o != nil && o.numeric().IsFloat() {
			if p := precisionFor(o.numeric()); finest.v == 0 || p.v < finest.v {
				finest = p
			}
		}
	}
	return reducedBy(v, k.tensor(name).shape, func(n int64) func(x, e []float64) (y, b float64) { return sumOfRounded(k.sumUnit(), n, finest) })
}

// reducedTo sums v up to the shape of an argument that was repeated to that of v.
func (k *invocation) reducedTo(v Values, name string) Values {
	o := k.tensor(name)
	return k.reducedToShape(v, o.shape)
}

func (k *invocation) reducedToShape(v Values, shape []int64) Values {
	return reducedBy(v, shape, func(n int64) func(x, e []float64) (y, b float64) { return sumOf(k.sumUnit(), n, 1) })
}

// reducedBy sums leading axes that shape has not, and axes of one that were repeated, of n numbers each, in any order.
func reducedBy(v Values, shape []int64, sum func(n int64) func(x, e []float64) (y, b float64)) Values {
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
	refuseIf(kept != count(shape), ShapesDiffer, in, shape)
	if len(axes) > 0 {
		moved, _, n := lastAxes(v, axes)
		v = &reduced{shape: shape, in: moved, n: n, f: sum(n)}
	}
	return reshape(v, shape)
}

// result is a recorded output of the forward call.
func (k *invocation) result(i int) *operand {
	if i < len(k.results) && k.results[i] != nil {
		return k.results[i]
	}
	panic(refusal(NoInput, "output "+itoa(i)+" of the forward call"))
}

// gradient is that of output i.
func gradient(g []Values, i int) Values {
	if i < len(g) && g[i] != nil {
		return g[i]
	}
	panic(refusal(NoInput, "gradient "+itoa(i)))
}

// chain makes the backward of a function of one tensor: f gives the gradient from x,
// the recorded result y and the gradient g of it.
// y is taken as it was recorded, as autograd keeps it, rounded.
func chain(of func(k *invocation) func(a arith, x, y, g num) num) func(k *invocation, g []Values) gradients {
	return unmoved(func(k *invocation, x *operand, d Values) Values {
		y, f := k.result(0), of(k)
		return k.of("input", func(a arith, v []num) num { return f(a, v[0], v[1], v[2]) }, x, y, d)
	})
}

// unrounded is the backward of a quotient: of one that is rounded nothing goes back.
// torch.div with rounding_mode has gradients of 0, as floor and trunc have slopes of 0.
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

// slopesOf is the backward of a formula.
func slopesOf(text string) func(k *invocation, g []Values) gradients {
	f, err := catalogue.Read(text)
	if err != nil {
		panic(err)
	}
	row := &catalogue.Row{Formula: f}
	return func(k *invocation, g []Values) gradients { return k.formulaGradients(row, gradient(g, 0)) }
}

func arithmeticForms() {
	defineSums()
	defineProducts()
	defineLimits()
}

// defineSums: x + alpha·other and x - alpha·other.
func defineSums() {
	// alpha is rounded to the type of the tensor, or not; of integers it is whole, and sums wrap.
	sum := func(name string, sign float64, swap bool) {
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
		define(name, function{local: true, forward: forward, backward: func(k *invocation, g []Values) gradients {
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
	sum("sub", -1, false)
	sum("rsub", -1, true)
}

// defineProducts: products and quotients.
func defineProducts() {
	// f gives both gradients from x, z, the gradient g and the recorded result y, NaN where none
	// was kept.
	both := func(f func(a arith, x, z, g, y num) (dx, dz num)) func(k *invocation, g []Values) gradients {
		return func(k *invocation, g []Values) gradients {
			one := func(name string, second bool) func() Values {
				return func() Values {
					x := k.value("input")
					z := k.value("other")
					d := gradient(g, 0)
					// The quotient may have been kept, rounded.
					y := Values(scalar(math.NaN()))
					if o, err := must.Of(func() *operand { return k.result(0) }); err == nil {
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
	// dx = g·z, dz = g·x
	define("mul", function{local: true, forward: formulaFor(func(k *invocation) Values {
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
			return k.roundedQuotient(math.Floor, in)
		case "trunc":
			return k.roundedQuotient(math.Trunc, in)
		}
		panic(refusal(BadArgument, "rounding_mode", mode, "trunc or floor"))
	}
	define("div", function{local: true, forward: formulaFor(func(k *invocation) Values {
		mode := k.string("rounding_mode", "")
		return quotient(k, mode)
	}), backward: unrounded(both(func(a arith, x, z, g, y num) (num, num) {
		dz := a.div(a.mul(minus(g), a.div(x, z)), z)
		if !math.IsNaN(y.y) { // the rounded quotient in place of x/z
			dz.b += 2 * abs(g.y/z.y) * abs(y.y-x.y/z.y)
		}
		return a.div(g, z), dz
	}))})
	define("floor_divide", function{local: true, forward: formulaFor(func(k *invocation) Values { return quotient(k, "floor") })})
	// x − z·floor(x/z), which has the sign of z as Python's % has; the slope in z is −floor(x/z).
	define("remainder", function{local: true, forward: formulaFor(func(k *invocation) Values {
		x := k.value("input")
		z := k.value("other")
		return buildFloorMod(k.Call, []Values{x, z})
	}), backward: slopesOf("input,other)=input-other*floor(input/other)")})
}

// factor is a number argument that is 1 if it was not given; NaN, which explains
// nothing, if it is none.
func (k *invocation) factor(name string) num {
	x := k.float(name, 1)
	if integers(k.Call) {
		x = math.Trunc(x)
	}
	return k.rounding(x)
}

// defineLimits: numbers in place of those that are none.
func defineLimits() {
	// Infinities become the largest numbers of the type unless posinf and neginf say otherwise;
	// what became a number has no gradient.
	define("nan_to_num", function{local: true, forward: formulaFor(func(k *invocation) Values {
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
	}), backward: chain(func(k *invocation) func(a arith, x, y, g num) num {
		return func(a arith, x, y, g num) num {
			if math.IsNaN(x.y) || math.IsInf(x.y, 0) {
				return num{}
			}
			return g
		}
	})})
}

// picked is the larger or smaller of two.
func (k *invocation) picked(f func(a, b float64) float64) Values {
	x := k.value("input")
	z := k.value("other")
	return elementsOf(pickKernel(f), nil, true, []Values{x, z})
}

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

// divKernel: y = x1/x2, B = (B1 + |y|·B2)/(|x2| - B2) + 8u·|y|, as (x1+d)/(x2+e) - x1/x2 = (d -
// y·e)/(x2+e), and vector units divide by a reciprocal that is refined, which is not rounded
// correctly; 0/0 and x/0 follow IEEE 754. With truncate the quotient of integers is cut.
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

// quick is a way to compute in float32 for the kernels of graphs, whose chains of parts are large;
// recorded calls are computed in float64 at once.
func (c *Call) quick(f32 func(x [][]float32, y []float32)) func(x [][]float32, y []float32) {
	if c.Op == nil {
		return nil
	}
	return f32
}

// elementsOf makes an operator of a kernel.
// f32 is a quick way in float32, nil for none; with exact the result is exact if all operands are.
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

// plus is a sum of two tensors, rounded once; of a second one that is nil it is the first.
func (c *Call) plus(x, z Values) Values {
	if z == nil {
		return x
	}
	return elementsOf(addKernel(c.unit(), 1), nil, false, []Values{x, z})
}

// times is a product of the numbers in one place, rounded once.
func (c *Call) times(x, z Values) Values {
	return elementsOf(mulKernel(c.unit()), nil, false, []Values{x, z})
}

// integers reports whether all recorded operands hold integers, so that sums
// and products have no error. Results beyond the type are left to wrap.
func integers(c *Call) bool {
	return !slices.ContainsFunc(c.slots, func(o *operand) bool { return o != nil && !discrete(o.typ) }) && discrete(c.outType())
}

// wrapping drops the bounds of integer arithmetic, whose quotients and powers are cut. A result
// that the type cannot hold may wrap or stop at the limit; nothing is said of it.
func wrapping(f kernel, t dtype.Type) kernel {
	lo, hi := integerRange(t)
	return func(x, e [][]float64, y, b []float64) {
		f(x, e, y, nil)
		for i, v := range y {
			if y[i] = math.Trunc(v); b != nil {
				b[i] = 0
				if !(v >= lo && v <= hi) {
					b[i] = math.Inf(1)
				}
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

// roundedQuotient is x1/x2 rounded to a whole number. Where the quotient lies within its error of
// one either side of it is right.
func (c *Call) roundedQuotient(round func(x float64) float64, in []Values) Values {
	ulps, whole := c.ulps(), integers(c)
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i := range y {
			q := x[0][i] / x[1][i]
			y[i] = round(q)
			switch {
			case b == nil:
			case x[1][i] == 0:
				b[i] = math.Inf(1)
			default:
				b[i] = toNumber(!whole && abs(q-math.Round(q)) <= ulps*abs(q))
			}
		}
	}, nil, whole, in)
}

// buildFloorMod: y = x1 - floor(x1/x2)·x2, of the sign of x2. A quotient within its error of a
// whole number may be floored to either side, which is off by |x2|; x2 = 0 is open.
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

func eltwiseForms() {
	// As part of a fused kernel, where the mode is lost, an Eltwise is a sum.
	registerPart(elementwise{operands: 2, build: func(c *Call, in []Values) Values {
		return elementsOf(addKernel(c.unit(), 1), add32, false, in)
	}}, "eltwise")
	register(single(buildEltwise), "eltwise")
	register(single(buildAddN), "addn")
	register(single(buildScale), "scale")
	register(single(buildBiasAdd), "bias")
	parts["bias"] = elementwise{operands: 2, build: func(c *Call, in []Values) Values {
		bias := in[1]
		if s := in[0].Shape(); len(s) >= 4 && count(bias.Shape()) == s[1] && s[1] != s[len(s)-1] {
			shape := ones(len(s))
			shape[1] = s[1]
			bias = reshape(bias, shape)
		}
		return elementsOf(addKernel(c.unit(), 1), add32, false, []Values{in[0], bias})
	}}
}

// buildEltwise combines any number of tensors: product (mode 0), sum (1, each
// times its coeff) or maximum (2). Prototype: elewise_calculation_ops.h.
func buildEltwise(c *Call) Values {
	in := c.all()
	mode := c.attrInt("mode", 1)
	coeff := c.floatsAttr("coeff")
	refuseIf(len(in) < 1 || len(in) > 1<<10, InputCount, len(in), 2)
	if mode != 1 {
		coeff = nil
	}
	refuseIf(coeff != nil && len(coeff) != len(in), BadAttribute, "coeff", len(coeff), itoa(len(in)))
	u := c.unit()
	switch mode {
	case 0:
		v := in[0]
		for _, w := range in[1:] {
			v = elementsOf(mulKernel(u), mul32, false, []Values{v, w})
		}
		return v
	case 1:
		return weightedSum(u, coeff, in)
	case 2:
		v := in[0]
		for _, w := range in[1:] {
			v = elementsOf(pickKernel(math.Max), nil, true, []Values{v, w})
		}
		return v
	}
	panic(refusal(BadAttribute, "mode", mode, "0, 1 or 2"))
}

// weightedSum: y = Σ k·x in any order, B = Σ|k|·B_x + g(n+1)·Σ(|k·x| + …); all factors are 1
// without k. n terms have n − 1 additions and a product each.
func weightedSum(u float64, k []float64, in []Values) Values {
	g := gamma(float64(len(in)+1), u)
	if k == nil {
		k = slices.Repeat([]float64{1}, len(in))
	}
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i := range y {
			y[i] = 0
			for j := range x {
				y[i] += k[j] * x[j][i]
			}
		}
		for i := range b {
			s, size := 0.0, 0.0
			for j := range x {
				s += abs(k[j]) * e[j][i]
				size += abs(k[j] * x[j][i])
			}
			b[i] = s + g*(size+s)
		}
	}, nil, false, in)
}

// buildAddN: y = Σ x.
func buildAddN(c *Call) Values {
	in := c.all()
	refuseIf(len(in) < 1 || len(in) > 1<<10, InputCount, len(in), 2)
	return weightedSum(c.reduceUnit(), nil, in)
}

// biasAxis is the axis that a bias goes along: the channels of x's layout, else the last
// (data_format NHWC) or second (NCHW) axis.
func (c *Call) biasAxis(x *operand) int {
	switch rank := len(x.shape); {
	case len(x.axes) == rank && strings.Contains(x.axes, "C"):
		return x.channel()
	case rank > 1 && c.attrs.Get("data_format").Text() == "NCHW":
		return 1
	default:
		return rank - 1
	}
}

// buildBiasAdd: y = x + bias along the channels.
func buildBiasAdd(c *Call) Values {
	x, bias := c.need("x", 0), c.need("bias", 1)
	at, n := c.biasAxis(x), count(bias.shape)
	refuseIf(at < 0 || x.shape[at] != n, ShapesDiffer, x.shape, bias.shape)
	shape := ones(len(x.shape))
	shape[at] = n
	return elementsOf(addKernel(c.unit(), 1), add32, false, []Values{x, reshape(bias, shape)})
}

// buildScale: y = x·scale + bias along the channels.
func buildScale(c *Call) Values {
	x, k := c.need("x", 0), &invocation{Call: c}
	along := func(o *operand) Values {
		switch {
		case o == nil:
			return nil
		case sameShape(o.shape, x.shape):
			return reshape(o, x.shape)
		}
		return perChannel(x, o)
	}
	return k.also("y,b)=y+b", k.computed("x,s)=x*s", x, along(c.need("scale", 1))), along(c.input("bias", 2)))
}

// Gradients of element-wise functions, from what their prototypes take: the
// function's result y or its argument, and the gradient dy.
// Prototypes: nonlinear_fuc_ops.h, elewise_calculation_ops.h.

func gradientForms() {
	registerPart(elementwise{operands: 3, build: func(c *Call, in []Values) Values {
		a := c.arith()
		return formulaOf(func(x []num) num { return geluGrad(a, x) }, in...)
	}}, "gelugrad")
	register(single(buildBiasAddGrad), "biasgrad")
	register(one(buildCrossEntropy), "crossentropy")
	register(single(func(c *Call) Values {
		x := c.need("x", 0)
		return c.reduction(x, inOrder(len(x.shape)), false, false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
			g := gamma(float64(n+2), c.sumUnit())
			return func(x, _ []float64) (float64, float64) {
				sum := 0.0
				for _, v := range x {
					sum += v * v
				}
				return sum / 2, g * sum / 2
			}
		})
	}), "halfsquares")
}

// geluGrad is the gradient of the tanh form of Hendrycks and Gimpel (Gaussian error linear units,
// 2016):
// dy·(0.5·(1+t) + 0.5·x·(1-t²)·√(2/π)·(1 + 3·0.044715·x²)), t = tanh(√(2/π)(x + 0.044715x³)).
// The inputs are dy, x and y. The bound grants the inner functions their error
// in units of the terms they stand in.
func geluGrad(a arith, x []num) num {
	const k, c = 0.7978845608028654, 0.044715
	v := x[1].y
	t := math.Tanh(k * (v + c*v*v*v))
	left, right := 0.5*(1+t), 0.5*v*(1-t*t)*k*(1+3*c*v*v)
	d := left + right
	// The slope of right in t is at most |x|·k·(1+3c·x²)·|t|; t itself is off by
	// 8u and by what its argument is off, which matters while t is not ±1.
	off := 4*a.ulps*(0.5+abs(v)*k*(1+3*c*v*v)*min(1, 4*(1-abs(t))+a.ulps)) + 4*a.ulps*abs(right)
	return a.mul(x[0], num{d, off})
}

// buildBiasAddGrad sums over all axes but that of the channels.
// db_c = Σ dy over all but the channels, in any order.
func buildBiasAddGrad(c *Call) Values {
	x := c.need("x", 0)
	shape := c.shape()
	at := c.biasAxis(x)
	refuseIf(at < 0 || x.shape[at] != count(shape), ShapeComputed, x.shape, shape)
	return c.reduction(x, slices.Delete(inOrder(len(x.shape)), at, at+1), false, false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		return sumOf(c.sumUnit(), n, 1)
	})
}

// buildCrossEntropy: loss = -Σ labels·log softmax(features) a row, and
// backprop = softmax(features) - labels.
func buildCrossEntropy(c *Call) []Values {
	x := c.need("features", 0)
	l := c.need("labels", 1)
	rank := len(x.shape)
	refuseIf(rank < 1 || !sameShape(x.shape, l.shape), ShapesDiffer, x.shape, l.shape)
	n := x.shape[rank-1]
	u, su := c.unit(), c.sumUnit()
	refuseIf(n == 0 || n > maxDense || math.IsInf(gamma(float64(n+2), su), 1), NoBound, n)
	logRow, probRow := logSoftmaxRow(u, su), softmaxRow(u, su)
	logs := newRows(x, n, func(_ int64, x, e, y, b []float64) { logRow(x, e, y, b) })
	terms := elementsOf(mulKernel(u), nil, false, []Values{logs, reshape(l, x.shape)})
	g := gamma(float64(n+1), su)
	var loss Values = &reduced{shape: x.shape[:rank-1], in: terms, n: n, f: func(x, e []float64) (float64, float64) {
		sum, size, off := 0.0, 0.0, 0.0
		for i, v := range x {
			sum -= v
			size += abs(v)
			off += e[i]
		}
		return sum, g*size + off*(1+g)
	}}
	loss = c.asRecorded(loss, 0)
	probs := newRows(x, n, func(_ int64, x, e, y, b []float64) { probRow(x, e, y, b) })
	back := elementsOf(addKernel(u, -1), nil, false, []Values{probs, reshape(l, x.shape)})
	return []Values{loss, back}
}

// Updates of weights. What they write over is an input, too: where both have
// one address the recorded input may be the result already, and a mismatch
// says nothing. Prototypes: nn_training_ops.h.

func optimizerKernels() {
	register(one(func(c *Call) []Values {
		v := c.update(5)
		nesterov := c.attrBool("use_nesterov", false)
		return buildMomentum(c.arith(), nesterov, v)
	}), "momentum")
	// Functions of torch_npu (documentation and tests of op-plugin), which write over what is given
	// as out, and the kernels of GE (ops-nn's apply_adam_w_proto.h).
	define("npu_apply_adam", function{forward: func(k *invocation) []Reading {
		in := k.updated()
		for _, name := range k.params[:6] {
			in = append(in, k.amount(name))
		}
		nesterov := k.bool("use_nesterov", false)
		return outputs(buildAdam(k.arith(), nesterov, append(in, k.tensor("grad")))...)
	}})
	// beta1_power and beta2_power are βᵗ⁻¹ of the step before: the corrections are 1 − β·βᵗ⁻¹.
	define("npu_apply_adam_w", function{forward: func(k *invocation) []Reading {
		k.unsupported("max_grad_norm")
		refuseIf(k.bool("amsgrad", false), Unsupported, "amsgrad")
		v, g := k.updated(), Values(k.tensor("grad"))
		var of []Values
		for _, name := range k.params[:7] {
			of = append(of, k.amount(name))
		}
		if k.bool("maximize", false) {
			g = k.computed("g)=-g", g)
		}
		first, second := k.computed("p,b)=1-p*b", of[0], of[4]), k.computed("p,b)=1-p*b", of[1], of[5])
		return outputs(k.adamW(v, g, of[4], of[5], first, second, of[2], of[6], of[3])...)
	}})
	// MindSpeed's own, with a running mean of the weights (its docs/ops).
	// s = d·s + (1 − d)·p, d = ema_decay. mode 0 is Adam with decay in the gradient, 1 AdamW. A
	// power βˢᵗᵉᵖ in float32 is off by a unit a step and some.
	define("npu_apply_fused_ema_adamw", function{forward: func(k *invocation) []Reading {
		var v []Values
		for _, name := range []string{"var", "m", "v", "s"} {
			v = append(v, k.tensor(name))
		}
		of := func(name string, missing float64) Values { return k.constant(k.float(name, missing)) }
		g, beta, gamma, decay := Values(k.tensor("grad")), of("beta1", 0.9), of("beta2", 0.999), of("weight_decay", 0)
		step := numbers(k.tensor("step"))
		refuseIf(len(step) != 1, BadArgument, "step", len(step), "one number")
		correction := func(beta float64) Values {
			if corrects := k.bool("bias_correction", true); !corrects {
				return scalar(1)
			}
			p := math.Pow(float64(float32(beta)), step[0])
			return &dense{shape: []int64{}, y: []float64{1 - p}, b: []float64{(step[0]+8)*u32*p + u32}}
		}
		if mode := k.int("mode", 1); mode == 0 {
			g, decay = k.computed("g,w,p)=g+w*p", g, decay, v[0]), scalar(0)
		} else {
			refuseIf(mode != 1, BadArgument, "mode", mode, "0 or 1")
		}
		out := k.adamW(v, g, beta, gamma, correction(k.float("beta1", 0.9)), correction(k.float("beta2", 0.999)), of("lr", 1e-3), of("eps", 1e-8), decay)
		return outputs(append(out, k.computed("s,p,d)=d*s+(1-d)*p", v[3], out[0], of("ema_decay", 0.9999)))...)
	}})
}

// updated are the weights and moments that a call is given as out, or a kernel as var, m and v.
func (k *invocation) updated() (in []Values) {
	if k.called != nil {
		return []Values{k.tensor("var"), k.tensor("m"), k.tensor("v")}
	}
	list := k.tensors("out")
	refuseIf(len(list) != 3, InputCount, len(list), 3)
	for _, o := range list {
		in = append(in, o)
	}
	return in
}

// adamW is what a step of AdamW makes of weights and moments, where first and second are what
// corrects the moments.
func (k *invocation) adamW(v []Values, g, beta, gamma, first, second, rate, eps, decay Values) []Values {
	m := k.computed("m,b,g)=b*m+(1-b)*g", v[1], beta, g)
	s := k.computed("v,b,g)=b*v+(1-b)*g*g", v[2], gamma, g)
	return []Values{k.computed("p,m,v,c,d,l,e,w)=p-l*w*p-l*(m/c/(sqrt(v/d)+e))", v[0], m, s, first, second, rate, eps, decay), m, s}
}

// update lists the n inputs of an update; those of one element go with all.
func (c *Call) update(n int) []Values {
	in := c.all()
	refuseIf(len(in) != n, InputCount, len(in), n)
	for i, v := range in {
		if s := v.Shape(); i > 0 && count(s) == 1 {
			in[i] = reshape(v, []int64{})
		}
	}
	return in
}

// buildMomentum: var, accum, lr, grad, momentum. accum' = accum·momentum + grad,
// var' = var - lr·accum', or with Nesterov var - lr·(grad + momentum·accum').
func buildMomentum(a arith, nesterov bool, v []Values) []Values {
	accum := func(x []num) num { return a.add(a.mul(x[1], x[4]), x[3]) }
	weight := formulaOf(func(x []num) num {
		m := accum(x)
		if nesterov {
			m = a.add(x[3], a.mul(x[4], m))
		}
		return a.sub(x[0], a.mul(x[2], m))
	}, v...)
	sum := formulaOf(accum, v...)
	return []Values{weight, sum}
}

// buildAdam: var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
// m' = m + (1-β1)(g-m), v' = v + (1-β2)(g²-v), var' = var - lr·√(1-β2^t)/(1-β1^t)·m'/(√v' + ε);
// with Nesterov β1·m' + (1-β1)·g in place of m' (Kingma and Ba, Adam, 2015, algorithm 1 in the
// order of its section 2; Dozat, 2016). Computed as β·m + (1-β)·g the bound holds for either form:
// 2u of both terms is what the difference g-m and its product with 1-β are rounded by.
func buildAdam(a arith, nesterov bool, v []Values) []Values {
	whole := exactNum(1)
	blend := func(beta, old, fresh num) num {
		r := a.add(a.mul(beta, old), a.mul(a.sub(whole, beta), fresh))
		r.b += 2 * a.u * (abs(old.y) + abs(fresh.y))
		return r
	}
	first := func(x []num) num { return blend(x[6], x[1], x[9]) }
	second := func(x []num) num { return blend(x[7], x[2], a.mul(x[9], x[9])) }
	weight := formulaOf(func(x []num) num {
		m := first(x)
		if nesterov {
			m = a.add(a.mul(x[6], m), a.mul(a.sub(whole, x[6]), x[9]))
		}
		rate := a.div(a.mul(x[5], a.sqrt(a.sub(whole, x[4]))), a.sub(whole, x[3]))
		return a.sub(x[0], a.div(a.mul(rate, m), a.add(a.sqrt(second(x)), x[8])))
	}, v...)
	m := formulaOf(first, v...)
	s := formulaOf(second, v...)
	return []Values{weight, m, s}
}
