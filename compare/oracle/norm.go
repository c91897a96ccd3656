package oracle

import (
	"math"
	"slices"
)

// Normalisations, of functions and kernels alike:
//
//	y = (x - mean)·r·weight + bias,  r = 1/√(variance + ε)
//
// over rows of n elements: the last axes (layer_norm; rms_norm takes mean(x²) in place of the
// variance, and no mean), groups of channels (group_norm), channels of an image (instance_norm) or
// channels (batch_norm, BatchNorm, BN…). Mean and variance come from the row itself, or are given.
// Sources: PyTorch's documentation, nn_norm_ops.h, nn_batch_norm_ops.h, reduce_ops.h,
// layer_norm_v3_proto.h.
//
// Where kernels round: sums are float32 in any order; r is a function (8 units); each product and
// sum is rounded once, by the rules of [arith]. PyTorch on a CPU folds the factors, x·(weight·r) +
// (bias - mean·weight·r), whose products are as large as |x·weight·r| and |mean·weight·r|: three
// roundings of these are granted to functions. Kernels subtract first. rms_norm may round its
// quotient to the type of the result before the weight.

// normal is a normalisation of rows of n elements.
type normal struct {
	n            int64
	eps          float64
	rms          bool // without the mean
	folded       bool // kernels may fold the factors, too
	logs         bool // the root is e^(−½·ln(variance + ε))
	weight, bias []float64
	// of gives the place of the weight of an element; nil where element i of a row has weight i.
	of func(row, i int64) int64
	// given are the mean and the variance of rows where they are not computed from these; nil
	// otherwise.
	given func(row int64) (mean, variance num)
}

// beside is what an element has of weight or bias, missing where there is none.
func (m *normal) beside(list []float64, missing float64, row, i int64) float64 {
	switch {
	case list == nil:
		return missing
	case m.of == nil:
		return list[i]
	}
	return list[m.of(row, i)]
}

// statistics are the mean and reciprocal root of a row. Given moments are taken as they are. r of
// rms is (Σx²/n + ε)^-½ with Σx² off by gamma(n+2)·Σx² and by 2|x|e + e² of the elements' own
// errors. A mean that is kept in a narrow type has a rounding of it more.
func (m *normal) statistics(row int64, x, e []float64, a arith, sumUnit float64) (mean, r num) {
	if m.given != nil {
		mean, variance := m.given(row)
		s := a.add(variance, exactNum(m.eps))
		r = a.rsqrt(s)
		if m.logs { // what the logarithm is off by, the power of e is
			r.b += r.y * 0.5 * (a.ulps + a.u) * abs(math.Log(s.y))
		}
		return mean, r
	}
	if m.rms {
		s, off := 0.0, 0.0
		for i, v := range x {
			s += v * v
			off += 2*abs(v)*e[i] + e[i]*e[i]
		}
		n := float64(len(x))
		return exactNum(0), a.rsqrt(a.add(num{s / n, (gamma(n+2, sumUnit)*s + off) / n}, exactNum(m.eps)))
	}
	t := momentsOf(x, e, sumUnit)
	y, b := t.rstd(m.eps, a.u)
	if a.u > u32 {
		t.bMean += a.u * abs(t.mean) // kept in the narrow type
	}
	return num{t.mean, t.bMean}, num{y, b}
}

// forward computes the rows of x.
// It is called with a row at a time: x and e its numbers and their errors, y and b what to fill in.
func (m *normal) forward(k *invocation) func(row int64, x, e, y, b []float64) {
	a, su := k.arith(), k.sumUnit()
	narrow := k.kept().v
	if narrow <= u32 {
		narrow = 0
	}
	return func(row int64, x, e, y, b []float64) {
		mean, r := m.statistics(row, x, e, a, su)
		for i, v := range x {
			w, s := m.beside(m.weight, 1, row, int64(i)), m.beside(m.bias, 0, row, int64(i))
			z := a.mul(a.sub(num{v, e[i]}, mean), r)
			z.b += narrow * abs(z.y) * toNumber(m.rms) // rounded before the weight, as some do
			z = a.mul(z, exactNum(w))
			size := abs(v - mean.y)
			if k.Op == nil || m.folded {
				size = abs(v) + abs(mean.y)
			}
			z.b += 3 * a.u * abs(w*r.y) * size
			z = a.add(z, exactNum(s))
			y[i], b[i] = z.y, z.b
		}
	}
}

// total sums numbers with bounds.
// Their own errors are summed exactly and, with the sum, by gamma(n + 1) more.
func total(x []num, u float64) num {
	y, size, off := 0.0, 0.0, 0.0
	for _, v := range x {
		y += v.y
		size += abs(v.y)
		off += v.b
	}
	g := gamma(float64(len(x)+1), u)
	return num{y, g*size + off*(1+g)}
}

// gradients of a normalisation, with x̂ = (x - mean)·r and h = g·w:
// dx = r·(h - mean(h) - x̂·mean(h·x̂)), dw = Σ g·x̂, db = Σ g.
func (m *normal) gradients(k *invocation, x, g Values) (dx, terms Values) {
	a, su := k.arith(), k.sumUnit()
	refuseIf(count(x.Shape()) != count(g.Shape()), ShapesDiffer, x.Shape(), g.Shape())
	grads := make([]float64, m.n)
	row := func(row int64, x, e []float64) (hat, h []num, r num) {
		// The gradient comes without bounds, as it was recorded.
		g.Range(row*m.n, grads, nil)
		mean, r := m.statistics(row, x, e, a, su)
		hat, h = make([]num, len(x)), make([]num, len(x))
		for i, v := range x {
			hat[i] = a.mul(a.sub(num{v, e[i]}, mean), r)
			hat[i].b += 2 * a.u * r.y * (abs(v) + abs(mean.y))
			h[i] = a.mul(exactNum(grads[i]), exactNum(m.beside(m.weight, 1, row, int64(i))))
		}
		return hat, h, r
	}
	dx = newRows(x, m.n, func(at int64, x, e, y, b []float64) {
		hat, h, r := row(at, x, e)
		both := make([]num, len(x))
		for i := range both {
			both[i] = a.mul(h[i], hat[i])
		}
		n := exactNum(float64(len(x)))
		first, second := a.div(total(h, su), n), a.div(total(both, su), n)
		if m.rms {
			first = exactNum(0)
		}
		for i := range y {
			z := a.mul(a.sub(a.sub(h[i], first), a.mul(hat[i], second)), r)
			// The same in another order has products with the mean by itself.
			z.b += 3 * a.u * r.y * r.y * abs(second.y) * (abs(x[i]) + abs(x[i]-hat[i].y/r.y))
			y[i], b[i] = z.y, z.b
		}
	})
	terms = newRows(x, m.n, func(at int64, x, e, y, b []float64) {
		hat, _, _ := row(at, x, e)
		for i := range y {
			z := a.mul(exactNum(grads[i]), hat[i])
			y[i], b[i] = z.y, z.b
		}
	})
	return dx, terms
}

// affine reads weight and bias, each of n numbers, or none.
func (m *normal) affine(k *invocation, n int64) {
	m.weight, m.bias = k.listOf("weight", n), k.listOf("bias", n)
}

// lastNormal is a normalisation of the last axes of x. Which axes: normalized_shape of the
// function, begin_norm_axis of LayerNorm of GE (default 0), or the shape of the weight. missing is
// the ε of the form: 1e-5 of layer_norm, and of rms_norm the epsilon of the input's type, as
// torch.finfo has it.
func (k *invocation) lastNormal(x *operand, rms bool, missing float64) *normal {
	shape := k.ints("normalized_shape")
	switch {
	case shape != nil:
	case k.called != nil && !rms: // of a kernel
		axis := k.int("begin_norm_axis", 0)
		if axis < 0 {
			axis += int64(len(x.shape))
		}
		refuseIf(!within(axis, 0, int64(len(x.shape))-1), BadAttribute, "begin_norm_axis", axis, "an axis of "+shapeText(x.shape))
		shape = x.shape[axis:]
	case k.has("weight"): // a module has it as the shape of its weight
		w := k.tensor("weight")
		shape = w.shape
	}
	lead := len(x.shape) - len(shape)
	refuseIf(len(shape) == 0 || lead < 0 || !slices.Equal(x.shape[lead:], shape), ShapesDiffer, x.shape, shape)
	m := &normal{n: count(shape), rms: rms}
	m.eps = k.float("eps", missing)
	refuseIf(k.called != nil && m.eps < 0, BadArgument, k.shown("eps"), m.eps, "0 or more")
	m.affine(k, m.n)
	m.saved(k, x)
	return k.fitting(m)
}

// saved takes the statistics that a kernel of gradients is given, a number each of every row.
// 1/r² in place of variance + ε: native_layer_norm_backward takes mean and rstd and no ε.
func (m *normal) saved(k *invocation, x *operand) {
	if !k.args["rstd"].tensor() || m.n == 0 {
		return
	}
	rows := count(x.shape) / m.n
	root, mean := k.listOf("rstd", rows), []float64(nil)
	if !m.rms {
		k.required("mean")
		mean = k.listOf("mean", rows)
	}
	m.eps, m.given = 0, func(row int64) (num, num) {
		at, r := num{}, root[row]
		if mean != nil {
			at.y = mean[row]
		}
		return at, exactNum(1 / (r * r))
	}
}

// statistic is a number of every row, which is output i. The rows are numbered by the leading axes;
// the shape is the recorded one if it has as many elements.
func (m *normal) statistic(k *invocation, x Values, i int, of func(x, e []float64, a arith, sumUnit float64) num) Values {
	a, su, n := k.arith(), k.sumUnit(), max(m.n, 1)
	v := Values(&reduced{shape: []int64{count(x.Shape()) / n}, in: x, n: m.n, f: func(x, e []float64) (float64, float64) {
		y := of(x, e, a, su)
		return y.y, y.b
	}})
	return k.asRecorded(v, i)
}

// The statistics that functions and kernels give beside the result.
func (m *normal) mean(x, e []float64, a arith, sumUnit float64) num {
	y, _ := m.statistics(0, x, e, a, sumUnit)
	return y
}

func (m *normal) root(x, e []float64, a arith, sumUnit float64) num {
	_, y := m.statistics(0, x, e, a, sumUnit)
	return y
}

func (m *normal) variance(x, e []float64, _ arith, sumUnit float64) num {
	t := momentsOf(x, e, sumUnit)
	return num{t.variance, t.bVar}
}

// fitting refuses rows that nothing can be said of.
// Sums of so many elements that gamma is no bound, or rows larger than what is held at once.
func (k *invocation) fitting(m *normal) *normal {
	refuseIf(m.n == 0 || m.n > maxDense || math.IsInf(gamma(float64(m.n)+4, k.sumUnit()), 1), NoBound, m.n)
	return m
}

// normForms: layer_norm takes the mean and variance of the last axes, group_norm of a group of
// channels and all places, instance_norm of one channel of one image, batch_norm of a channel of
// all images; rms_norm takes no mean. The kernels of GE are LayerNormGrad and its kin, and the
// parts into which training splits BatchNorm.
func normForms() {
	register(one(buildLayerNormGrad), "normgrad")
	register(one(buildLayerNormX), "normx")
	register(one(buildLayerNormSums), "normsums")
	register(one(buildBNReduce), "bnreduce")
	register(one(buildBNUpdate), "bnupdate")
	register(one(buildBNUpdateGrad), "bnupdategrad")
	register(single(buildBNReduceGrad), "bnreducegrad")
	channel := func(k *invocation, v Values, _ string) Values { return k.channelSum(v) }
	// The last step of a recorder may be any of the three gradients.
	all := []string{"input", "weight", "bias"}
	define("layer_norm", normalising(func(k *invocation) (*operand, *normal) {
		x := k.tensor("input")
		return x, k.lastNormal(x, false, 1e-5)
	}, (*invocation).reducedTo, 2, all...))
	// torch.nn.functional.rms_norm has torch.finfo(dtype).eps where no ε is given: twice the unit
	// roundoff.
	define("rms_norm", normalising(func(k *invocation) (*operand, *normal) {
		x := k.tensor("input")
		return x, k.lastNormal(x, true, 2*precisionFor(x.numeric()).v)
	}, (*invocation).reducedTo, 2, all...))
	define("group_norm", normalising((*invocation).grouped, channel, 3, all...))
	// Beside the result a kernel gives the mean and variance that it has used, and functions those
	// that their gradients need.
	define("batch_norm", function{forward: func(k *invocation) []Reading {
		out := []Values{batchNorm(k)}
		if !k.bool("training", k.solve) && k.has("running_mean") || len(k.outs) < 2 {
			return outputs(out...)
		}
		switch m, in, _ := k.channelNormal(k.tensor("input")); { // beside it those of the batch
		case k.called != nil: // of a kernel mean and variance, this over n-1, and again as they were used
			// Running statistics take Σ(x−x̄)²/(n−1).
			unbiased := func(x, e []float64, a arith, sumUnit float64) num {
				n := float64(max(m.n, 2))
				return a.mul(m.variance(x, e, a, sumUnit), exactNum(n/(n-1)))
			}
			out = append(out, m.statistic(k, in, 1, m.mean), m.statistic(k, in, 2, unbiased), m.statistic(k, in, 3, m.mean), m.statistic(k, in, 4, m.variance))
			out = out[:min(len(out), len(k.outs))]
		case len(k.outs) == 3:
			out = append(out, m.statistic(k, in, 1, m.mean), m.statistic(k, in, 2, m.root))
		}
		return outputs(out...)
	}, backward: batchNormGradients, nodes: [][]string{all}})
	define("instance_norm", normalising((*invocation).byInstance, channel, 3, "grad"))
	// x / max(‖x‖₂, eps) along an axis, of which the norm is rounded to the type of x before the
	// division.
	define("normalize", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		p := k.float("p", 2)
		refuseIf(p != 2, Unsupported, "p other than 2")
		axis := k.axisOf(x.shape, "dim", 1)
		eps := k.float("eps", 1e-12)
		a, g := k.arith(), gamma(float64(x.shape[axis])+2, k.sumUnit())
		v := precisionFor(k.outType()).v
		return k.alongAxes(x, []int{axis}, func(_ int64, x, e, y, b []float64) {
			s := 0.0
			for _, v := range x {
				s += v * v
			}
			r := a.sqrt(num{s, g * s})
			if r.y < eps {
				r = num{eps, r.b}
			}
			r.b += v * r.y // the norm is a tensor of its own
			for i, v := range x {
				z := a.div(exactNum(v), r)
				y[i], b[i] = z.y, z.b
			}
		})
	})})
}

// normalising is a function that normalises the rows that split finds, times a weight, plus a bias,
// whose gradients are what sum makes of the terms of all elements. With results or more it gives
// the mean of each row, and the reciprocal root or the variance, too. The last step of it takes the
// gradients named.
func normalising(split func(*invocation) (*operand, *normal), sum func(k *invocation, terms Values, name string) Values, results int, node ...string) function {
	return function{forward: func(k *invocation) []Reading {
		x, m := split(k)
		out := []Values{newRows(x, m.n, m.forward(k))}
		if !m.rms && len(k.outs) >= results {
			second := m.root
			if k.string("beside", "rstd") == "variance" {
				second = m.variance
			}
			out = append(out, m.statistic(k, x, 1, m.mean), m.statistic(k, x, 2, second))
		}
		return outputs(out...)
	}, backward: func(k *invocation, g []Values) gradients {
		x, m := split(k)
		d := k.alone(g)
		dx, terms := m.gradients(k, x, d)
		return gradients{
			"input":  func() Values { return dx },
			"weight": func() Values { return sum(k, terms, "weight") },
			"bias":   func() Values { return sum(k, d, "bias") },
			"grad":   func() Values { return d },
		}
	}, nodes: [][]string{node}}
}

// grouped is the normalisation of groups of channels. Row r of (N·groups) has channels r mod groups
// · per and on; its element i is of the channel i / plane among these.
func (k *invocation) grouped() (*operand, *normal) {
	x := k.tensor("input")
	groups := k.int("num_groups", 0)
	refuseIf(len(x.shape) < 2 || groups < 1 || x.shape[1]%groups != 0, BadArgument, "num_groups", groups, "a part of the channels of "+shapeText(x.shape))
	channels, plane := x.shape[1], count(x.shape[2:])
	per := channels / groups
	m := &normal{n: per * plane, of: func(row, i int64) int64 { return row%groups*per + i/plane }}
	m.eps = k.float("eps", 1e-5)
	m.affine(k, channels)
	m.saved(k, x)
	return x, k.fitting(m)
}

// byInstance is the normalisation of every channel of every image by itself.
func (k *invocation) byInstance() (*operand, *normal) {
	x := k.tensor("input")
	refuseIf(!k.bool("use_input_stats", true), Unsupported, "statistics that are not those of the input")
	refuseIf(len(x.shape) < 3, ShapesDiffer, x.shape)
	channels := x.shape[1]
	m := &normal{n: count(x.shape[2:]), of: func(row, _ int64) int64 { return row % channels }}
	m.eps = k.float("eps", 1e-5)
	m.affine(k, channels)
	return x, k.fitting(m)
}

// byChannels is x with an axis, that of its channels, first, and what is in each as a row. The rows
// are (channels, n), n the elements of all images that one channel has; kept and axes are what
// rowsBack needs to undo it.
func byChannels(x Values, at int) (in Values, kept, axes []int, n int64) {
	refuseIf(at >= len(x.Shape()), ShapesDiffer, x.Shape())
	axes = slices.Delete(inOrder(len(x.Shape())), at, at+1)
	in, kept, n = lastAxes(x, axes)
	return in, kept, axes, n
}

// channelNormal is a batch norm with the statistics of x itself.
// The bound grants the folded form, which PyTorch's kernels and cuDNN's use.
func (k *invocation) channelNormal(x *operand) (*normal, Values, func(v Values) Values) {
	in, kept, axes, n := byChannels(x, x.channel())
	m := &normal{n: n, folded: true, of: func(row, _ int64) int64 { return row }}
	m.eps = k.float("eps", 1e-5)
	back := func(v Values) Values { return k.rowsBack(v, len(x.shape), kept, axes) }
	m.affine(k, x.shape[x.channel()])
	return k.fitting(m), in, back
}

// alongChannels are x and what goes along its channels: weight, bias, mean and variance, of which
// the first two may be 1 and 0. BNInference of Caffe divides the statistics by a factor.
func (k *invocation) alongChannels(x *operand) []Values {
	refuseIf(len(x.shape) < 2, ShapesDiffer, x.shape)
	in := []Values{x}
	for i, name := range []string{"weight", "bias", "running_mean", "running_var"} {
		switch o := k.optional(name); {
		case o == nil:
			refuseIf(i > 1, NoInput, k.shown(name))
			in = append(in, scalar(float64(1-i)))
		case i > 1 && k.has("factor"):
			factor := k.float("factor", 1)
			refuseIf(factor == 0, Unsupported, k.shown("factor"))
			in = append(in, k.computed("m,f)=m/f", perChannel(x, o), scalar(factor)))
		default:
			in = append(in, perChannel(x, o))
		}
	}
	return in
}

// With running statistics each is a number of its channel, and y a formula of five numbers; in
// training, or without them, of the batch.
func batchNorm(k *invocation) Values {
	x := k.tensor("input")
	training := k.bool("training", k.solve)
	if training || !k.has("running_mean") {
		m, in, back := k.channelNormal(x)
		return back(newRows(in, m.n, m.forward(k)))
	}
	a, eps := k.arith(), k.float("eps", 1e-5)
	return formulaOf(func(v []num) num { return normalised(a, eps, v[0], v[1], v[2], v[3], v[4]) }, k.alongChannels(x)...)
}

// alone is the gradient of a result beside which no other has one.
func (k *invocation) alone(g []Values) Values {
	refuseIf(len(g) > 1 && slices.ContainsFunc(g[1:], func(v Values) bool { return v != nil }), NoGradient, k.name)
	return gradient(g, 0)
}

// batchNormGradients: y = w·(x-μ)·r + bias with r = (σ²+ε)^-½ a channel. With the batch's own
// moments dx is that of [normal.gradients]; with the running ones, which are constants, dx = dy·w·r
// and dw = Σ dy·(x-μ)·r, whose bound grants x-μ the roundings of both. dbias = Σ dy.
func batchNormGradients(k *invocation, g []Values) gradients {
	x := k.tensor("input")
	d := k.alone(g)
	refuseIf(!slices.Equal(d.Shape(), x.shape), ShapesDiffer, x.shape, d.Shape())
	training := k.bool("training", k.solve)
	out := gradients{"bias": func() Values { return k.channelSum(d) }}
	if training || !k.has("running_mean") {
		m, in, back := k.channelNormal(x)
		grads, _, _, _ := byChannels(d, x.channel())
		dx, terms := m.gradients(k, in, grads)
		out["input"] = func() Values { return back(dx) }
		out["weight"] = func() Values {
			return &reduced{shape: []int64{x.shape[1]}, in: terms, n: m.n, f: sumOf(k.sumUnit(), m.n, 1)}
		}
		return out
	}
	in := k.alongChannels(x)
	a, eps := k.arith(), exactNum(k.float("eps", 1e-5))
	// r is computed once a channel, and is a tensor of its own.
	root := formulaOf(func(v []num) num { return a.rsqrt(a.add(v[0], eps)) }, in[4])
	out["input"] = func() Values {
		return formulaOf(func(v []num) num { return a.mul(v[0], a.mul(v[1], v[2])) }, d, root, in[1])
	}
	out["weight"] = func() Values {
		terms := formulaOf(func(v []num) num {
			y := a.mul(v[3], a.mul(a.sub(v[0], v[1]), v[2]))
			y.b += 3 * a.u * abs(v[3].y*v[2].y) * (abs(v[0].y) + abs(v[1].y))
			return y
		}, x, in[3], root, d)
		return k.channelSum(terms)
	}
	return out
}

// moments are the mean and variance of a row with their bounds:
// B_mean = g(n+1)·mean|x|, and B_var = g(n+4)·(mean(x²) + mean²) +
// 2·|mean|·B_mean + B_mean², which covers both E(x-m)² and E(x²) - m².
type moments struct{ mean, variance, bMean, bVar float64 }

// momentsOf are the mean and the variance Σ(x-mean)²/n of numbers that may be off by e, with sums
// in arithmetic of unit roundoff u in any order:
//
//	B_mean = g(n+1)·Σ|x|/n + max e
//	B_var  = g(n+4)·(Σx²/n + mean²) + 2|mean|·B_mean + B_mean² (+ 4e·(Σ|x|/n + e))
//
// which holds for the mean of the squares less the square of the mean, too.
func momentsOf(x, e []float64, u float64) (m moments) {
	n := float64(len(x))
	size, squares, off := 0.0, 0.0, 0.0
	for i, v := range x {
		m.mean += v
		size += abs(v)
		off = max(off, e[i])
	}
	m.mean /= n
	for _, v := range x {
		m.variance += (v - m.mean) * (v - m.mean)
		squares += v * v
	}
	m.variance /= n
	m.bMean = gamma(n+1, u)*size/n + off
	m.bVar = gamma(n+4, u)*(squares/n+m.mean*m.mean) + 2*abs(m.mean)*m.bMean + m.bMean*m.bMean
	if off > 0 {
		m.bVar += 4 * off * (size/n + off)
	}
	return m
}

// rstd is 1/sqrt(var + eps) and its bound, +Inf where rounding can make the variance anything:
// rstd·(0.5·(B_var + u·s)/(s - B_var) + 8u), s = var + eps. The slope of s^-½ is ½·s^-1½, at most
// rstd·½/(s - B_var) within B_var; with more than half of s in doubt nothing is said.
func (m moments) rstd(eps, u float64) (r, b float64) {
	s := m.variance + eps
	r = 1 / math.Sqrt(s)
	if m.bVar >= s/2 {
		return r, math.Inf(1)
	}
	return r, r * (0.5*(m.bVar+u*s)/(s-m.bVar) + 8*u)
}

// givenNormal is the normalisation that kernels of gradients go back through: dy, x, variance, mean
// and gamma are given.
func (c *Call) givenNormal(eps float64) (k *invocation, m *normal, x, dy *operand) {
	var in [5]*operand
	for i, name := range []string{"dy", "x", "variance", "mean", "gamma"} {
		in[i] = c.need(name, i)
	}
	dy, x, n, total := in[0], in[1], count(in[4].shape), count(in[1].shape)
	refuseIf(n == 0 || n > maxDense || total%n != 0 || count(dy.shape) != total || count(in[2].shape) != total/n || count(in[3].shape) != total/n,
		ShapesDiffer, dy.shape, x.shape, in[2].shape, in[3].shape, in[4].shape)
	variance, mean := numbers(in[2]), numbers(in[3])
	m = &normal{n: n, eps: eps, weight: numbers(in[4]),
		given: func(row int64) (num, num) { return exactNum(mean[row]), exactNum(variance[row]) }}
	return &invocation{Call: c}, m, x, dy
}

// overRows are the sums over all rows of n numbers.
func (k *invocation) overRows(n int64, of ...Values) (out []Values) {
	for _, v := range of {
		out = append(out, k.reducedToShape(reshape(v, []int64{count(v.Shape()) / n, n}), []int64{n}))
	}
	return out
}

// eachAsRecorded gives results the shapes of the outputs; what was not recorded is none.
func (c *Call) eachAsRecorded(out []Values) []Values {
	for i, v := range out {
		if _, ok := c.out(i); !ok || v == nil {
			out[i] = nil
		} else {
			out[i] = c.asRecorded(v, i)
		}
	}
	return out
}

// buildLayerNormGrad: dy, x, variance, mean and gamma give dx, Σ dy·x̂ and Σ dy over the rows; see
// [normal.gradients].
func buildLayerNormGrad(c *Call) []Values {
	k, m, x, dy := c.givenNormal(c.attrFloat("epsilon", 1e-7))
	dx, terms := m.gradients(k, x, dy)
	return c.eachAsRecorded(append([]Values{dx}, k.overRows(m.n, terms, dy)...))
}

// buildLayerNormX: the first of these and x̂, by kernels that have no ε but 1e-12 and take the root
// by way of the logarithm (TBE's layer_norm_x_backprop_v2.py, of fixed shapes and others).
func buildLayerNormX(c *Call) []Values {
	k, m, x, dy := c.givenNormal(1e-12)
	m.logs = true
	dx, _ := m.gradients(k, x, dy)
	a := k.arith()
	return c.eachAsRecorded([]Values{dx, newRows(x, m.n, func(row int64, x, e, y, b []float64) {
		mean, r := m.statistics(row, x, e, a, 0)
		for i, v := range x {
			hat := a.mul(a.sub(num{v, e[i]}, mean), r)
			y[i], b[i] = hat.y, hat.b
		}
	})})
}

// buildLayerNormSums: dy and x̂ give Σ dy·x̂ and Σ dy over the rows, which have as many numbers as
// gamma.
func buildLayerNormSums(c *Call) []Values {
	dy, hat := c.need("dy", 0), c.need("res_for_gamma", 1)
	shape := c.attrInts("shape_gamma")
	refuseIf(len(shape) == 0, NoAttribute, "shape_gamma")
	n := count(shape)
	refuseIf(!slices.Equal(dy.shape, hat.shape) || n < 1 || count(dy.shape)%n != 0, ShapesDiffer, dy.shape, hat.shape, shape)
	k := &invocation{Call: c}
	return c.eachAsRecorded(k.overRows(n, k.computed("g,x)=g*x", dy, hat), dy))
}

// Batch normalisation. Statistics are a number a channel: axis C of x's layout,
// else axis 1. Prototypes: nn_batch_norm_ops.h, reduce_ops.h.

// channels are x and the vectors of an operator that go along its channels.
func (c *Call) channels(x *operand, slots ...*operand) []Values {
	out := []Values{x}
	for _, o := range slots {
		refuseIf(o == nil, NoInput, "statistics")
		out = append(out, perChannel(x, o))
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

// buildBNReduce: sum and sum of squares of each channel.
func buildBNReduce(c *Call) []Values {
	x := c.need("x", 0)
	rows, _, _, n := byChannels(x, x.channel())
	g := gamma(float64(n+2), c.sumUnit())
	sum := func(power int) Values {
		return &reduced{shape: []int64{x.shape[x.channel()]}, in: rows, n: n, f: func(x, e []float64) (float64, float64) {
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
	return c.eachAsRecorded([]Values{sum(1), sum(2)})
}

// buildBNUpdate: x, sum, square_sum, scale, offset and, but for V2 and V3, the
// running mean and variance. With m = sum/n and s = square_sum/n - m²:
// y = scale·(x - m)/√(s + ε) + offset, and the running statistics blended with m
// and s·n/(n-1) by factor; then m and s.
func buildBNUpdate(c *Call) []Values {
	x := c.need("x", 0)
	eps := c.attrFloat("epsilon", 1e-5)
	factor := c.attrFloat("factor", 0.1)
	_, _, _, n := byChannels(x, x.channel())
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
		refuseIf(count(o.shape) != x.shape[x.channel()], ShapesDiffer, x.shape, o.shape)
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
		out = append(out, c.asRecorded(formulaOf(s, vectors...), len(out)))
	}
	return out
}

// buildBNUpdateGrad: grads, x, batch_mean, batch_variance give
// Σ grads·(x - mean)/√(variance + ε) and Σ grads of each channel.
func buildBNUpdateGrad(c *Call) (out []Values) {
	g := c.need("grads", 0)
	x := c.need("x", 1)
	eps := c.attrFloat("epsilon", 1e-4)
	in := c.channels(x, c.input("batch_mean", 2), c.input("batch_variance", 3))
	refuseIf(!sameShape(g.shape, x.shape), ShapesDiffer, g.shape, x.shape)
	a := c.arith()
	terms := formulaOf(func(v []num) num {
		return a.mul(v[3], a.mul(a.sub(v[0], v[1]), a.rsqrt(a.add(v[2], exactNum(eps)))))
	}, append(in, reshape(g, x.shape))...)
	for i, v := range []Values{terms, reshape(g, x.shape)} {
		sum, _, _, n := byChannels(v, x.channel())
		out = append(out, c.asRecorded(&reduced{shape: []int64{x.shape[x.channel()]}, in: sum, n: n, f: sumOf(c.sumUnit(), n, 1)}, i))
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
	_, _, _, n := byChannels(x, x.channel())
	in := c.channels(x, c.input("diff_scale", 2), c.input("diff_offset", 3), c.input("scale", 4), c.input("batch_mean", 5), c.input("batch_variance", 6))
	refuseIf(!sameShape(g.shape, x.shape), ShapesDiffer, g.shape, x.shape)
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

// Kernels of torch_npu that are several functions in one, by their definition in its
// documentation. What they keep in between may be rounded to the type of the result.

// npuNormForms: kernels of torch_npu in which a norm is one of several steps, and softmaxes of
// scaled scores with a mask. Where a step's result would be written to memory by a composition, and
// is not by a fused kernel, its rounding is granted either way ([rounded], [invocation.between]).
func npuNormForms() {
	// torch_npu.npu_rms_norm(self, gamma, epsilon 1e-6): the norm and the reciprocal root of each
	// row.
	define("npu_rms_norm", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		return outputs(k.rootNorm(x, x.shape))
	}, nodes: [][]string{{"input", "weight"}}, backward: func(k *invocation, g []Values) gradients {
		return forms["rms_norm"].backward(k.with(map[string]*argument{"eps": numberArgument(k.float("epsilon", 1e-6))}), g)
	}})
	// x / (k + alpha·s)^beta, s the mean of squares over size channels around, of which those
	// outside count as 0:
	// there are size//2 before and (size−1)//2 behind.
	program("local_response_norm", []string{"input"}, func(t *tape) []*dense {
		x, n := t.in("input"), t.int("size", 1)
		refuseIf(len(x.shape) < 3 || n < 1, ShapesDiffer, x.shape)
		refuseIf(t.narrow > 0 || discrete(t.tensor("input").typ), BadType, "input", t.tensor("input").numeric().String())
		alpha, beta, k := t.factor("alpha", 1e-4), t.factor("beta", 0.75), t.factor("k", 1)
		run := t.formulaOf("x,s,alpha,beta,k)=x/(k+alpha*s)^beta")
		return []*dense{t.along(x, []int{1}, true, func(row []float64) (out []float64) {
			for i := range row {
				lo, hi := max(i-int(n/2), 0), min(i+int((n-1)/2)+1, len(row))
				s := t.div(t.dot(row[lo:hi], row[lo:hi]), t.Number(float64(n)))
				out = append(out, run([]float64{row[i], s, alpha, beta, k}))
			}
			return out
		})}
	})
	// y, the reciprocal root and the sum x1 + x2.
	define("npu_add_rms_norm", function{forward: func(k *invocation) []Reading {
		a, b := k.pair("x1", "x2")
		sum := k.plus(a, b)
		y, root := k.rootNorm(k.between(sum), a.shape)
		return outputs(y, root, sum)
	}})
	// The same, with the norm in place of x1 and the sum in place of x2.
	define("npu_add_rms_norm_v2", function{mends: []string{"x1", "x2"}, forward: func(k *invocation) []Reading {
		r := forms["npu_add_rms_norm"].forward(k)
		for i := range r {
			r[i].Out[0], r[i].Out[1] = r[i].Out[1], r[i].Out[0]
		}
		return r
	}})
	// The norm in float32 and in the type of the inputs, the reciprocal root and the sum.
	define("npu_add_rms_norm_cast", function{forward: func(k *invocation) []Reading {
		a, b := k.pair("x1", "x2")
		p, sum := precisionFor(a.numeric()), k.plus(a, b)
		y, root := k.rootNorm(&rounded{sum, p}, a.shape)
		y = &rounded{&rounded{y, p}, p}
		return outputs(y, y, root, sum)
	}})
	// y, mean, the reciprocal root and the sum x1 + x2; mean, the reciprocal root and y of alpha·x
	// + gx.
	define("npu_add_layer_norm", function{nodes: [][]string{{"x1", "x2", "weight", "bias"}}, backward: sumNormGradients, forward: func(k *invocation) []Reading {
		m, sum := k.sumNorm(1, "x1", "x2")
		out := []Values{newRows(sum, m.n, m.forward(k)), m.statistic(k, sum, 1, m.mean), m.statistic(k, sum, 2, m.root), sum.Values}
		k.leaves(out, 3, "additional_output")
		return outputs(out...)
	}})
	// DeepNorm of Wang et al. (DeepNet, 2022): LayerNorm(alpha·x + gx).
	define("npu_deep_norm", function{nodes: [][]string{{"x", "gx", "bias", "weight"}}, backward: sumNormGradients, forward: func(k *invocation) []Reading {
		m, sum := k.sumNorm(k.float("alpha", 0.3), "x", "gx")
		return outputs(m.statistic(k, sum, 0, m.mean), m.statistic(k, sum, 1, m.root), newRows(sum, m.n, m.forward(k)))
	}})
	// softmax of x·scale and what is added to it.
	define("npu_masked_softmax_with_rel_pos_bias", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("x")
		k.only(0, "inner_precision_mode")
		refuseIf(len(x.shape) == 0, ShapesDiffer, x.shape)
		v := k.computed("x,s,b)=x*s+b", x, scalar(k.factor("scale_value").y), k.tensor("relative_pos_bias"))
		return k.softmax(k.also("x,m)=x+m", v, k.ifGiven("atten_mask")), []int{len(x.shape) - 1}, false)
	})})
	// see batchNormalised
	define("npu_normalize_batch", function{forward: formulaFor(batchNormalised)})
	defineHyperConnections()
	// softmax over the last axis of x·scale, where the mask is not 0 of -10000.
	define("npu_scaled_masked_softmax", function{forward: formulaFor(func(k *invocation) Values {
		x, mask := k.pair("x", "mask")
		refuseIf(k.bool("fixed_triu_mask", false), Unsupported, "fixed_triu_mask")
		a, scale := k.arith(), k.factor("scale")
		v := formulaOf(func(v []num) num {
			if v[1].y != 0 {
				return exactNum(-10000)
			}
			return a.mul(v[0], scale)
		}, x, mask)
		refuseIf(len(x.shape) == 0, ShapesDiffer, x.shape, mask.shape)
		return k.softmax(v, []int{len(x.shape) - 1}, false)
	}), nodes: [][]string{{"x"}}, backward: func(k *invocation, g []Values) gradients {
		mask, scale := k.tensor("mask"), k.factor("scale")
		return gradients{"x": func() Values {
			y := k.result(0)
			d := k.softmaxGradient(y, gradient(g, 0), []int{len(y.shape) - 1}, false)
			return k.computed("g,m,s)=where(m==0,g*s,0)", d, mask, scalar(scale.y))
		}}
	}})
}

// rootRows are rows as long as a weight, divided by their root mean squares and times it; missing
// is the ε of the kernel.
func (k *invocation) rootRows(x Values, weight *operand, missing float64) Values {
	m := &normal{n: count(weight.shape), rms: true, eps: k.float("epsilon", missing), weight: numbers(weight)}
	return newRows(x, m.n, k.fitting(m).forward(k))
}

// rootNorm is x·weight/√(mean(x²) + ε) over the axes of the weight, and the reciprocal
// root of each row.
func (k *invocation) rootNorm(x Values, shape []int64) (y, root Values) {
	w := k.tensor("weight")
	lead := len(shape) - len(w.shape)
	refuseIf(lead < 0 || !slices.Equal(shape[lead:], w.shape), ShapesDiffer, shape, w.shape)
	m := &normal{n: count(w.shape), rms: true, eps: k.float("epsilon", 1e-6)}
	m.affine(k, m.n)
	for i, plus := range m.weight { // of npu_gemma_rms_norm, 1 + weight
		m.weight[i] = plus + k.float("shift", 0)
	}
	k.fitting(m)
	if s, ok := k.out(1); ok && count(s)*m.n == count(shape) {
		root = m.statistic(k, x, 1, m.root)
	} else {
		root = &reduced{shape: append(slices.Clone(shape[:lead]), ones(len(w.shape))...), in: x, n: m.n, f: func(x, e []float64) (float64, float64) {
			y := m.root(x, e, k.arith(), k.sumUnit())
			return y.y, y.b
		}}
	}
	return newRows(x, m.n, m.forward(k)), root
}

// sumNorm is the normalisation of alpha·x + y, which kernels may round to its type before. ε is
// 1e-5 of npu_add_layer_norm and 1e-6 of npu_deep_norm; alpha comes to the kernel as float32 and
// multiplies the first.
func (k *invocation) sumNorm(alpha float64, first, second string) (*normal, *rounded) {
	x, y := k.pair(first, second)
	w := k.tensor("weight")
	lead := len(x.shape) - len(w.shape)
	refuseIf(lead < 0 || !slices.Equal(x.shape[lead:], w.shape) || !slices.Equal(x.shape, y.shape), ShapesDiffer, x.shape, y.shape, w.shape)
	m := &normal{n: count(w.shape), eps: k.float("epsilon", map[bool]float64{true: 1e-5, false: 1e-6}[first == "x1"])}
	m.affine(k, m.n)
	m.saved(k, x)
	return k.fitting(m), &rounded{k.computed("x,y,a)=a*x+y", x, y, scalar(k.rounding(alpha).y)), precisionFor(x.numeric())}
}

// sumNormGradients are those of npu_add_layer_norm and npu_deep_norm; what comes back for the sum
// itself is added.
func sumNormGradients(k *invocation, g []Values) gradients {
	first, second, alpha, at := "x1", "x2", 1.0, 0
	if _, ok := k.args["gx"]; ok {
		first, second, alpha, at = "x", "gx", k.float("alpha", 0.3), min(2, len(g)-1)
	}
	m, sum := k.sumNorm(alpha, first, second)
	d := gradient(g, at)
	dx, terms := m.gradients(k, sum, d)
	switch {
	case at == 0 && len(g) > 3 && g[3] != nil:
		dx = k.computed("x,y)=x+y", dx, g[3])
	case k.has("dsum"):
		dx = k.computed("x,y)=x+y", dx, k.tensor("dsum"))
	}
	return gradients{
		first:    func() Values { return k.computed("x,a)=a*x", dx, scalar(alpha)) },
		second:   func() Values { return dx },
		"weight": func() Values { return k.reducedTo(terms, "weight") },
		"bias":   func() Values { return k.reducedToShape(d, k.tensor("weight").shape) },
	}
}

// batchNormalised is (x - mean)/(std + 1e-5) of the numbers of each sequence (N, C, L), of each
// channel by itself or of all: its first ones make the mean and the deviation (test of op-plugin).
// normalize_type 0 takes each channel, 1 all; the divisor of the deviation is n − 1, and the 1e-5
// stands outside of the root. What lies behind a sequence is normalised, too.
func batchNormalised(k *invocation) Values {
	x, lengths := k.pair("input", "seq_len")
	refuseIf(len(x.shape) != 3 || count(lengths.shape) != x.shape[0], ShapesDiffer, x.shape, lengths.shape)
	most, wide := x.shape[2], k.int("normalize_type", 0)
	refuseIf(wide != 0 && wide != 1, BadArgument, "normalize_type", wide, "0 or 1")
	channels, n, list, a, u := x.shape[1], most, ints(lengths), k.arith(), k.sumUnit()
	if wide == 1 {
		n *= channels
	}
	for _, l := range list {
		refuseIf(!within(l, 2, most), BadArgument, "seq_len", l, "2 to "+itoa(int(most)))
	}
	return newRows(x, n, func(row int64, x, e, y, b []float64) {
		l := list[row*n/(most*channels)]
		var terms, squares []num
		for at := int64(0); at < n; at += most {
			for i := range l {
				terms = append(terms, num{x[at+i], e[at+i]})
			}
		}
		mean := a.div(total(terms, u), exactNum(float64(len(terms))))
		for _, t := range terms {
			d := a.sub(t, mean)
			squares = append(squares, a.mul(d, d))
		}
		std := a.add(a.sqrt(a.div(total(squares, u), exactNum(float64(len(terms)-1)))), exactNum(1e-5))
		for i := range y {
			v := a.div(a.sub(num{x[i], e[i]}, mean), std)
			y[i], b[i] = v.y, v.b
		}
	})
}

// defineHyperConnections: the streams of a residual that several layers share, mixed, read and
// written (documentation and tests of op-plugin, where the products are of float32).
func defineHyperConnections() {
	// x (…, n, d) streams. mix = (x·gamma)·phiᵀ of the n·d numbers of a token, root = (mean(x²) +
	// norm_eps)^-½; by mix·root·alpha + bias: σ + hc_eps reads the streams (n), 2σ writes them (n),
	// and the rest (n, n) mixes. The first output is Σ_i read_i·x_i.
	define("npu_mhc_pre", function{forward: func(k *invocation) []Reading {
		k.only(0, "inner_precise")
		x, phi := k.tensor("x"), k.tensor("phi")
		alpha, bias := k.tensor("alpha"), k.tensor("bias")
		r := len(x.shape)
		refuseIf(r < 3 || len(phi.shape) != 2 || len(alpha.shape) != 1 || len(bias.shape) != 1, ShapesDiffer, x.shape, phi.shape, alpha.shape, bias.shape)
		n, wide, lead := x.shape[r-2], x.shape[r-2]*x.shape[r-1], x.shape[:r-2]
		rows := []int64{count(lead), wide}
		parts := []int64{n, n, n * n}[:min(alpha.shape[0], 3)]
		refuseIf(len(parts) < 2 || phi.shape[1] != wide || phi.shape[0] != bias.shape[0] || phi.shape[0] != 2*n && phi.shape[0] != 2*n+n*n || (phi.shape[0] == 2*n) != (len(parts) == 2), ShapesDiffer, x.shape, phi.shape, alpha.shape, bias.shape)
		flat := reshape(x, rows)
		v, eps, a, u := k.also("x,g)=x*g", flat, sized(k.ifGiven("gamma"), []int64{1, wide})), k.float("norm_eps", 1e-6), k.arith(), k.sumUnit()
		mix := k.product(v, turned(phi, true))
		root := &reduced{shape: []int64{rows[0], 1}, in: flat, n: wide, f: func(x, e []float64) (float64, float64) {
			squares := make([]num, len(x))
			for i, v := range x {
				squares[i] = a.mul(num{v, e[i]}, num{v, e[i]})
			}
			y := a.rsqrt(a.add(a.div(total(squares, u), exactNum(float64(wide))), exactNum(eps)))
			return y.y, y.b
		}}
		at := int64(0)
		var h [3]Values // what reads, writes and mixes
		for i, width := range parts {
			text := []string{"h,r,a,b,e)=sigmoid(h*r*a+b)+e", "h,r,a,b,e)=2*sigmoid(h*r*a+b)", "h,r,a,b,e)=h*r*a+b"}[i]
			h[i] = k.computed(text, slab1(mix, 1, at, width), root, slab1(alpha, 0, int64(i), 1), slab1(bias, 0, at, width), scalar(k.float("hc_eps", 1e-6)))
			at += width
		}
		in := k.product(reshape(held(h[0]), []int64{rows[0], 1, n}), reshape(x, []int64{rows[0], n, x.shape[r-1]}))
		return outputs(k.eachAsRecorded([]Values{in, h[1], h[2], root, mix, h[0]})...)
	}})
	// Gradients of x, phi, alpha, bias and gamma, by what the forward kept: the reciprocal root,
	// mix and what reads and writes.
	define("npu_mhc_pre_backward", function{forward: readStreamsBackward})
	// A softmax of each row + eps, then columns and rows divided by their sums + eps in turn,
	// columns num_iters and rows num_iters − 1 times. Errors go through every step.
	define("npu_mhc_sinkhorn", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("x")
		r := len(x.shape)
		refuseIf(r < 2 || x.shape[r-1] != x.shape[r-2], ShapesDiffer, x.shape)
		n, times, a, u := int(x.shape[r-1]), k.int("num_iters", 20), k.arith(), k.sumUnit()
		eps := exactNum(k.float("eps", 1e-6))
		refuseIf(!within(times, 1, 100), BadArgument, "num_iters", times, "1 to 100")
		softmax := softmaxRow(k.unit(), u)
		return newRows(x, int64(n*n), func(_ int64, x, e, y, b []float64) {
			v, line := make([]num, n*n), make([]num, n)
			for i := 0; i < n*n; i += n {
				softmax(x[i:i+n], e[i:i+n], y[i:i+n], b[i:i+n])
			}
			for i := range v {
				v[i] = a.add(num{y[i], b[i]}, eps)
			}
			for half := int64(1); half < 2*times; half++ { // columns first
				one, next := 1, n
				if half%2 == 1 {
					one, next = n, 1
				}
				for l := range n {
					for i := range line {
						line[i] = v[l*next+i*one]
					}
					sum := a.add(total(line, u), eps)
					for i := range line {
						v[l*next+i*one] = a.div(line[i], sum)
					}
				}
			}
			for i, p := range v {
				y[i], b[i] = p.y, p.b
			}
		})
	})})
}

// readStreamsBackward are the gradients of npu_mhc_pre by what it kept (test of op-plugin, where
// all is float32).
func readStreamsBackward(k *invocation) []Reading {
	x, phi := k.tensor("x"), k.tensor("phi")
	r := len(x.shape)
	refuseIf(r < 3 || len(phi.shape) != 2, ShapesDiffer, x.shape, phi.shape)
	n, d := x.shape[r-2], x.shape[r-1]
	rows, wide := count(x.shape[:r-2]), n*d
	refuseIf(phi.shape[0] != n*n+2*n || phi.shape[1] != wide, ShapesDiffer, x.shape, phi.shape)
	as := func(name string, shape ...int64) Values {
		return sized(k.tensor(name), append([]int64{rows}, shape...))
	}
	flat, dr := reshape(x, []int64{rows, wide}), as("grad_h_res", n*n)
	cube := reshape(x, []int64{rows, n, d})
	in, root, mix, pre, alpha := as("grad_h_in", d), as("inv_rms", 1), as("h_mix", n*n+2*n), as("h_pre", n), k.tensor("alpha")
	refuseIf(count(alpha.shape) != 3, ShapesDiffer, alpha.shape)
	p := k.computed("g,h,e)=g*(h-e)*(1-h+e)", k.newContraction([]string{"rd", "rnd"}, "rn", in, cube), pre, scalar(k.float("hc_eps", 1e-6)))
	q := k.computed("g,h)=g*h*(1-h/2)", as("grad_h_post", n), as("h_post", n))
	before := joined(1, p, q, dr) // of what alpha multiplied
	by := make([]int64, 0, n*n+2*n)
	for i := range n*n + 2*n {
		by = append(by, min(i/n, 2))
	}
	at := picksOf(reshape(alpha, []int64{1, 3}), 1, by)
	after := k.computed("g,a)=g*a", before, at)
	mixed := held(k.computed("g,r)=g*r", after, root))
	gamma := sized(k.ifGiven("gamma"), []int64{1, wide})
	weighed := k.also("x,g)=x*g", flat, gamma)
	back := held(k.product(mixed, phi))
	share := k.computed("s,r)=s*r*r*r", k.newContraction([]string{"rm", "rm"}, "r", after, mix), reshape(root, []int64{rows}))
	dx := k.computed("g,s,n,x)=g-s/n*x", k.also("g,w)=g*w", back, gamma), reshape(share, []int64{rows, 1}), scalar(float64(wide)), flat)
	dx = k.computed("a,h,g)=a+h*g", reshape(dx, []int64{rows, n, d}), reshape(pre, []int64{rows, n, 1}), reshape(in, []int64{rows, 1, d}))
	dx = k.also("a,g)=a+g", dx, sized(k.ifGiven("grad_x_post"), []int64{rows, n, d}))
	sums := k.newContraction([]string{"rm", "rm", "r"}, "m", before, mix, reshape(root, []int64{rows}))
	groups := &formula{shape: []int64{3, n*n + 2*n}, exact: true, f: func(_ int64, at []int64) (float64, float64) { return toNumber(by[at[1]] == at[0]), 0 }}
	out := []Values{dx, k.product(turned(mixed, true), weighed), k.newContraction([]string{"am", "m"}, "a", groups, sums), k.newContraction([]string{"rm"}, "m", before), nil}
	if gamma != nil {
		out[4] = k.newContraction([]string{"rw", "rw"}, "w", flat, back)
	}
	return outputs(k.eachAsRecorded(out)...)
}
