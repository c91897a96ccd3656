package oracle

import "math"

// Gradients of element-wise functions, from what their prototypes take: the
// function's result y or its argument, and the gradient dy.
// Prototypes: nonlinear_fuc_ops.h, elewise_calculation_ops.h.

func init() {
	of := func(operands int, f func(a arith, x []num) num, types ...string) {
		registerPart(elementwise{operands: operands, build: func(c *Call, in []Values) Values {
			a := c.arith()
			return formulaOf(func(x []num) num { return f(a, x) }, in...)
		}}, types...)
	}
	of(3, geluGrad, "GeluGrad")
	register(single(buildBiasAddGrad), "BiasAddGrad")
	register(one(buildCrossEntropy), "SoftmaxCrossEntropyWithLogits")
	register(single(func(c *Call) Values {
		x := c.need("x", 0)
		axes := make([]int, len(x.shape))
		for i := range axes {
			axes[i] = i
		}
		return c.reduction(x, axes, false, false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
			g := gamma(float64(n+2), c.sumUnit())
			return func(x, _ []float64) (float64, float64) {
				sum := 0.0
				for _, v := range x {
					sum += v * v
				}
				return sum / 2, g * sum / 2
			}
		})
	}), "L2Loss")
}

// geluGrad: dy·(0.5·(1+t) + 0.5·x·(1-t²)·√(2/π)·(1 + 3·0.044715·x²)), t = tanh(√(2/π)(x + 0.044715x³)).
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
func buildBiasAddGrad(c *Call) Values {
	x := c.need("x", 0)
	shape, ok := c.out(0)
	if !ok {
		panic(refuse(NoOutput))
	}
	at := len(x.shape) - 1
	for i := range x.axes {
		if x.axes[i] == 'C' {
			at = i
		}
	}
	if x.axes == "" && c.attrs.Get("data_format").Text() == "NCHW" && len(x.shape) > 1 {
		at = 1
	}
	if at < 0 || x.shape[at] != count(shape) {
		panic(refuse(ShapeComputed, shapeText(x.shape), shapeText(shape)))
	}
	var axes []int
	for i := range x.shape {
		if i != at {
			axes = append(axes, i)
		}
	}
	return c.reduction(x, axes, false, false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		return sumOf(c.sumUnit(), n, 1)
	})
}

// buildCrossEntropy: loss = -Σ labels·log softmax(features) a row, and
// backprop = softmax(features) - labels.
func buildCrossEntropy(c *Call) []Values {
	x := c.need("features", 0)
	l := c.need("labels", 1)
	rank := len(x.shape)
	if rank < 1 || !sameShape(x.shape, l.shape) {
		panic(refuse(ShapesDiffer, shapeText(x.shape, l.shape)))
	}
	n := x.shape[rank-1]
	u, su := c.unit(), c.sumUnit()
	if n == 0 || n > maxDense || math.IsInf(gamma(float64(n+2), su), 1) {
		panic(refuse(NoBound, n))
	}
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
