package oracle

import "math"

// Batch normalisation. Statistics are a number a channel: axis C of x's layout,
// else axis 1. Prototypes: nn_batch_norm_ops.h, reduce_ops.h.

func init() {
	register(single(buildBNInfer), "BNInfer", "BNInference")
	register(one(buildBatchNorm), "BatchNorm")
	register(one(buildBNReduce), "BNTrainingReduce")
	register(one(buildBNUpdate), "BNTrainingUpdate", "BNTrainingUpdateV2")
	register(one(buildBNUpdateGrad), "BNTrainingUpdateGrad")
	register(single(buildBNReduceGrad), "BNTrainingReduceGrad")
}

// channels are x and the vectors of an operator that go along its channels.
func (c *Call) channels(x *operand, slots ...*operand) []Values {
	out := []Values{x}
	for _, o := range slots {
		if o == nil {
			panic(refuse(NoInput, "statistics"))
		}
		v := perChannel(x, o, x.axesOr(""))
		out = append(out, v)
	}
	return out
}

// normalised is scale·(x - mean)·rstd + offset; where fewer operations are done
// on the device, as x·(scale·rstd) + (offset - mean·scale·rstd), the products are
// as large as |x·scale·rstd| and |mean·scale·rstd|, whose rounding is granted.
func normalised(a arith, eps float64, x, scale, offset, mean, variance num) num {
	r := a.rsqrt(a.add(variance, exactNum(eps)))
	y := a.add(a.mul(a.mul(a.sub(x, mean), r), scale), offset)
	y.b += 3 * (a.u + a.ulps) * abs(scale.y*r.y) * (abs(x.y) + abs(mean.y))
	return y
}

// buildBNInfer: y = scale·(x - mean)/√(variance + ε) + offset. BNInference of
// Caffe divides the statistics by momentum, a scale factor, and may have no
// scale and offset.
func buildBNInfer(c *Call) Values {
	x := c.need("x", 0)
	eps := c.attrFloat("epsilon", 1e-5)
	a := c.arith()
	if c.Type == "BNInfer" {
		in := c.channels(x, c.input("scale", 1), c.input("offset", 2), c.input("mean", 3), c.input("variance", 4))
		return formulaOf(func(v []num) num { return normalised(a, eps, v[0], v[1], v[2], v[3], v[4]) }, in...)
	}
	factor := exactNum(1)
	if m := c.input("momentum", 3); m != nil {
		l := must(numbers(m))
		if len(l) != 1 || l[0] == 0 {
			panic(refuse(Unsupported, "momentum"))
		}
		factor = exactNum(l[0])
	}
	slots := []*operand{c.input("mean", 1), c.input("variance", 2)}
	scale, offset := c.input("scale", 4), c.input("offset", 5)
	if scale != nil && offset != nil {
		slots = append(slots, scale, offset)
	} else if scale != nil || offset != nil {
		panic(refuse(NoInput, "scale, offset"))
	}
	in := c.channels(x, slots...)
	return formulaOf(func(v []num) num {
		s, o := exactNum(1), exactNum(0)
		if len(v) > 3 {
			s, o = v[3], v[4]
		}
		return normalised(a, eps, v[0], s, o, a.div(v[1], factor), a.div(v[2], factor))
	}, in...)
}

// byChannel returns x with its channels first, and the elements of each.
func byChannel(x *operand) (Values, int64, int64) {
	at := 1
	for i := range x.axes {
		if x.axes[i] == 'C' {
			at = i
		}
	}
	if at >= len(x.shape) {
		panic(refuse(ShapesDiffer, shapeText(x.shape)))
	}
	var rest []int
	for i := range x.shape {
		if i != at {
			rest = append(rest, i)
		}
	}
	in, _, n := lastAxes(x, rest)
	return in, x.shape[at], n
}

// buildBatchNorm: with statistics given, y as BNInfer; in training those of x
// itself, and these beside y: mean, variance (times n/(n-1)), and both again as
// they were used.
func buildBatchNorm(c *Call) []Values {
	x := c.need("x", 0)
	eps := c.attrFloat("epsilon", 1e-4)
	training := c.attrBool("is_training", true)
	a, su := c.arith(), c.sumUnit()
	scale, offset := c.input("scale", 1), c.input("offset", 2)
	if !training {
		in := c.channels(x, scale, offset, c.input("mean", 3), c.input("variance", 4))
		y := formulaOf(func(v []num) num { return normalised(a, eps, v[0], v[1], v[2], v[3], v[4]) }, in...)
		return []Values{y}
	}
	rows, channels, n := byChannel(x)
	if n == 0 || math.IsInf(gamma(float64(n+4), su), 1) {
		panic(refuse(NoBound, n))
	}
	stat := func(f func(m moments) (float64, float64)) Values {
		return &reduced{shape: []int64{channels}, in: rows, n: n, f: func(x, e []float64) (float64, float64) { return f(momentsOf(x, e, su)) }}
	}
	mean := must(held(stat(func(m moments) (float64, float64) { return m.mean, m.bMean })))
	variance := must(held(stat(func(m moments) (float64, float64) { return m.variance, m.bVar })))
	in := c.channels(x, scale, offset)
	for _, s := range []Values{mean, variance} {
		v := perChannel(x, s, x.axesOr(""))
		in = append(in, v)
	}
	y := formulaOf(func(v []num) num { return normalised(a, eps, v[0], v[1], v[2], v[3], v[4]) }, in...)
	unbiased := exactNum(1)
	if n > 1 {
		unbiased = exactNum(float64(n) / float64(n-1))
	}
	spread := formulaOf(func(v []num) num { return a.mul(v[0], unbiased) }, variance)
	out := []Values{y, mean, spread, mean, variance}
	return out[:min(len(out), max(len(c.outs), 1))]
}

// buildBNReduce: sum and sum of squares of each channel.
func buildBNReduce(c *Call) []Values {
	x := c.need("x", 0)
	rows, channels, n := byChannel(x)
	g := gamma(float64(n+2), c.sumUnit())
	sum := func(power int) Values {
		return &reduced{shape: []int64{channels}, in: rows, n: n, f: func(x, e []float64) (float64, float64) {
			y, size := 0.0, 0.0
			for _, v := range x {
				if power == 2 {
					v *= v
				}
				y += v
				size += abs(v)
			}
			return y, g * size
		}}
	}
	out := []Values{sum(1), sum(2)}
	for i := range out {
		if i < len(c.outs) {
			out[i] = c.asRecorded(out[i], i)
		}
	}
	return out
}

// buildBNUpdate: x, sum, square_sum, scale, offset and, but for V2 and V3, the
// running mean and variance. With m = sum/n and s = square_sum/n - m²:
// y = scale·(x - m)/√(s + ε) + offset, and the running statistics blended with m
// and s·n/(n-1) by factor; then m and s.
func buildBNUpdate(c *Call) []Values {
	x := c.need("x", 0)
	eps := c.attrFloat("epsilon", 1e-5)
	factor := c.attrFloat("factor", 0.1)
	_, channels, n := byChannel(x)
	slots := []*operand{c.input("sum", 1), c.input("square_sum", 2), c.input("scale", 3), c.input("offset", 4)}
	running := c.Type == "BNTrainingUpdate"
	if running {
		slots = append(slots, c.input("mean", 5), c.input("variance", 6))
	}
	in := c.channels(x, slots...)
	a, over := c.arith(), exactNum(float64(n))
	mean := func(v []num) num { return a.div(v[1], over) }
	variance := func(v []num) num {
		m := mean(v)
		s := a.sub(a.div(v[2], over), a.mul(m, m))
		if s.y < 0 { // rounding of the recorded sums
			s = num{0, s.b - s.y}
		}
		return s
	}
	y := formulaOf(func(v []num) num { return normalised(a, eps, v[0], v[3], v[4], mean(v), variance(v)) }, in...)
	// The statistics are computed once a channel: the operands without x, whose
	// place mean and variance do not look at.
	vectors := make([]Values, len(in))
	for i := range in {
		o := slots[max(i-1, 0)]
		vectors[i] = reshape(o, []int64{count(o.shape)})
		if count(o.shape) != channels {
			panic(refuse(ShapesDiffer, shapeText(x.shape, o.shape)))
		}
	}
	out := []Values{y}
	unbiased := exactNum(1)
	if n > 1 {
		unbiased = exactNum(float64(n) / float64(n-1))
	}
	f, rest := exactNum(factor), exactNum(1-factor)
	var stats []func(v []num) num
	if running {
		stats = append(stats,
			func(v []num) num { return a.add(a.mul(mean(v), f), a.mul(v[5], rest)) },
			func(v []num) num { return a.add(a.mul(a.mul(variance(v), unbiased), f), a.mul(v[6], rest)) })
	}
	for _, s := range append(stats, mean, variance) {
		v := formulaOf(s, vectors...)
		if i := len(out); i < len(c.outs) {
			v = c.asRecorded(v, i)
		}
		out = append(out, v)
	}
	return out
}

// buildBNUpdateGrad: grads, x, batch_mean, batch_variance give
// Σ grads·(x - mean)/√(variance + ε) and Σ grads of each channel.
func buildBNUpdateGrad(c *Call) []Values {
	g := c.need("grads", 0)
	x := c.need("x", 1)
	eps := c.attrFloat("epsilon", 1e-4)
	in := c.channels(x, c.input("batch_mean", 2), c.input("batch_variance", 3))
	if !sameShape(g.shape, x.shape) {
		panic(refuse(ShapesDiffer, shapeText(g.shape, x.shape)))
	}
	a := c.arith()
	terms := formulaOf(func(v []num) num {
		return a.mul(v[3], a.mul(a.sub(v[0], v[1]), a.rsqrt(a.add(v[2], exactNum(eps)))))
	}, append(in, reshape(g, x.shape))...)
	channels := 1
	for i := range x.axes {
		if x.axes[i] == 'C' {
			channels = i
		}
	}
	var axes []int
	for i := range x.shape {
		if i != channels {
			axes = append(axes, i)
		}
	}
	var out []Values
	for i, v := range []Values{terms, reshape(g, x.shape)} {
		sum, _, n := lastAxes(v, axes)
		r := c.asRecorded(&reduced{shape: []int64{x.shape[channels]}, in: sum, n: n, f: sumOf(c.sumUnit(), n, 1)}, i)
		out = append(out, r)
	}
	return out
}

// buildBNReduceGrad: grads, x, diff_scale, diff_offset, scale, batch_mean,
// batch_variance. With x̂ = (x - mean)/√(variance + ε):
// y = (grads - diff_scale·x̂/n - diff_offset/n)·scale/√(variance + ε).
func buildBNReduceGrad(c *Call) Values {
	g := c.need("grads", 0)
	x := c.need("x", 1)
	eps := c.attrFloat("epsilon", 1e-4)
	_, _, n := byChannel(x)
	in := c.channels(x, c.input("diff_scale", 2), c.input("diff_offset", 3), c.input("scale", 4), c.input("batch_mean", 5), c.input("batch_variance", 6))
	if !sameShape(g.shape, x.shape) {
		panic(refuse(ShapesDiffer, shapeText(g.shape, x.shape)))
	}
	a, over := c.arith(), exactNum(float64(n))
	return formulaOf(func(v []num) num {
		r := a.rsqrt(a.add(v[5], exactNum(eps)))
		hat := a.mul(a.sub(v[0], v[4]), r)
		d := a.sub(a.sub(v[6], a.div(a.mul(v[1], hat), over)), a.div(v[2], over))
		y := a.mul(d, a.mul(v[3], r))
		y.b += 3 * (a.u + a.ulps) * abs(v[3].y*r.y*r.y*v[1].y/over.y) * (abs(v[0].y) + abs(v[4].y))
		return y
	}, append(in, reshape(g, x.shape))...)
}
