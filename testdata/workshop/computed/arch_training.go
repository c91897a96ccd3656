package computed

import (
	"math"
	"math/rand/v2"
)

// training is one step: two convolutions with batch normalisation and pooling, the
// loss, gradients of all of it, and the updates of the weights.
func training(b *builder) {
	batch, w, classes, side := of(b, 4, 3, 6), of(b, 16, 12, 20)*b.size, of(b, 6, 10), of(b, 12, 8)
	x := b.image("input", batch, 3, side, side)
	labels := b.data("labels", f32, func(rng *rand.Rand) array {
		a := zeros(batch, classes)
		for i := range batch {
			a.v[i*classes+rng.IntN(classes)] = 1
		}
		return a
	})
	type layer struct{ in, conv, act, pooled, weight, mean, variance, scale string }
	var layers []layer
	for i := range 2 {
		s := []string{"conv1", "conv2"}[i]
		l := layer{in: x}
		c := b.tensors[x].shape
		l.weight = b.variable(s+"/weights", f32, math.Sqrt(2/float64(c[1]*9)), 0, w, c[1], 3, 3)
		b.picture(l.weight)
		half := b.layout(b.cast(l.weight, f16), "FRACTAL_Z")
		y := spec{f16, "NC1HWC0", []int{batch, w, c[2], c[3]}}
		l.conv = b.op(s+"/Conv2D", "Conv2D", []string{x, half}, []spec{y}, convAttrs(1))
		vector := spec{f32, "ND", []int{w}}
		sums := b.op(s+"/bn/reduce", "BNTrainingReduce", []string{l.conv}, []spec{vector, vector}, attrs{})
		l.scale = b.variable(s+"/bn/gamma", f32, 0.1, 1, w)
		beta := b.variable(s+"/bn/beta", f32, 0.1, 0, w)
		mean, variance := b.variable(s+"/bn/moving_mean", f32, 0.2, 0, w), b.variable(s+"/bn/moving_variance", f32, 0.1, 1, w)
		y2 := b.op(s+"/bn/update", "BNTrainingUpdate", []string{l.conv, sums, s + "/bn/reduce:1", l.scale, beta, mean, variance},
			[]spec{y, vector, vector, vector, vector}, attrs{"factor": 0.1, "epsilon": 1e-3})
		l.mean, l.variance = s+"/bn/update:3", s+"/bn/update:4"
		l.act = b.like(s+"/Relu", "Relu", attrs{}, y2)
		y.shape = []int{batch, w, c[2] / 2, c[3] / 2}
		l.pooled = b.op(s+"/MaxPool", "MaxPool", []string{l.act}, []spec{y}, poolAttrs())
		x = l.pooled
		layers = append(layers, l)
	}
	flat := b.flat("fc/Reshape", x)
	k := b.shape(flat)[1]
	kernel := b.variable("fc/weights", f32, 1/math.Sqrt(float64(k)), 0, k, classes)
	matrix := b.layout(b.cast(kernel, f16), "FRACTAL_NZ")
	bias := b.variable("fc/bias", f32, 0.1, 0, classes)
	input := b.layout(flat, "FRACTAL_NZ")
	logits := b.op("fc/MatMul", "MatMulV2", []string{input, matrix}, []spec{{f16, "FRACTAL_NZ", []int{batch, classes}}}, productAttrs(false, false))
	logits = b.like("fc/BiasAdd", "Add", attrs{}, b.cast(b.layout(logits, "ND"), f32), bias)
	loss := b.op("loss/xent", "SoftmaxCrossEntropyWithLogits", []string{logits, labels}, []spec{{f32, "ND", []int{batch}}, {f32, "ND", []int{batch, classes}}}, attrs{})
	mean := b.reduce("loss/Mean", "ReduceMeanD", loss, false, 0)
	g := b.like("gradients/mul", "Mul", attrs{}, "loss/xent:1", b.constant("gradients/scale", f32, scalarOf(1/float64(batch))))
	gBias := b.reduce("gradients/fc/bias", "ReduceSumD", g, false, 0)
	gh := b.layout(b.cast(g, f16), "FRACTAL_NZ")
	gKernel := b.op("gradients/fc/MatMul_1", "MatMulV2", []string{input, gh}, []spec{{f16, "FRACTAL_NZ", []int{k, classes}}}, productAttrs(true, false))
	updates := []string{b.momentum("fc/weights", kernel, b.cast(b.layout(gKernel, "ND"), f32)), b.momentum("fc/bias", bias, gBias)}
	d := b.op("gradients/fc/MatMul", "MatMulV2", []string{gh, matrix}, []spec{{f16, "FRACTAL_NZ", []int{batch, k}}}, productAttrs(false, true))
	d = b.reshape("gradients/fc/Reshape", b.layout(d, "ND"), b.shape(x)...)
	b.picture(d)
	d = b.layout(d, "NC1HWC0")
	for i := 1; i >= 0; i-- {
		l, s := layers[i], []string{"conv1", "conv2"}[i]
		y := b.tensors[l.act]
		d = b.op("gradients/"+s+"/MaxPoolGrad", "MaxPoolGrad", []string{l.act, l.pooled, d}, []spec{y}, poolAttrs())
		d = b.like("gradients/"+s+"/ReluGrad", "ReluGrad", attrs{}, d, l.act)
		vector := spec{f32, "ND", []int{w}}
		gs := b.op("gradients/"+s+"/bn/update", "BNTrainingUpdateGrad", []string{d, l.conv, l.mean, l.variance}, []spec{vector, vector}, attrs{"epsilon": 1e-3})
		d = b.op("gradients/"+s+"/bn/reduce", "BNTrainingReduceGrad", []string{d, l.conv, gs, "gradients/" + s + "/bn/update:1", l.scale, l.mean, l.variance},
			[]spec{y}, attrs{"epsilon": 1e-3})
		c := b.shape(l.in)[1]
		a := convAttrs(1)
		a["filter_size"] = []int{w, c, 3, 3}
		gw := b.op("gradients/"+s+"/filter", "Conv2DBackpropFilterD", []string{l.in, d}, []spec{{f32, "NCHW", []int{w, c, 3, 3}}}, a)
		updates = append(updates, b.momentum(s+"/weights", l.weight, gw), b.momentum(s+"/gamma", l.scale, gs))
		if i > 0 {
			a = convAttrs(1)
			a["input_size"] = b.shape(l.in)
			half := b.layout(b.cast(l.weight, f16), "FRACTAL_Z")
			d = b.op("gradients/"+s+"/input", "Conv2DBackpropInputD", []string{half, d}, []spec{b.tensors[l.in]}, a)
		}
	}
	b.results = append([]string{mean}, updates...)
}

// picture makes the output of the last operator or source one of four axes.
func (b *builder) picture(x string) {
	n := b.nodes[len(b.nodes)-1]
	n.outputs[0].layout = "NCHW"
	b.tensors[x] = n.outputs[0]
}

func convAttrs(pad int) attrs {
	return attrs{"strides": []int{1, 1, 1, 1}, "pads": []int{pad, pad, pad, pad}, "dilations": []int{1, 1, 1, 1}, "groups": 1, "data_format": "NCHW", "offset_x": 0}
}

func poolAttrs() attrs {
	return attrs{"ksize": []int{1, 1, 2, 2}, "strides": []int{1, 1, 2, 2}, "padding": "VALID", "data_format": "NCHW"}
}

func productAttrs(x1, x2 bool) attrs {
	return attrs{"transpose_x1": x1, "transpose_x2": x2, "offset_x": 0}
}

// momentum updates a variable; its old value stays where it was.
func (b *builder) momentum(scope, weight, g string) string {
	s := b.tensors[weight]
	accum := b.variable(scope+"/Momentum", f32, 0.01, 0, s.shape...)
	if s.layout == "NCHW" {
		b.picture(accum)
	}
	rate, m := b.constant(scope+"/learning_rate", f32, scalarOf(0.1)), b.constant(scope+"/momentum_rate", f32, scalarOf(0.9))
	return b.op("train/"+scope, "ApplyMomentumD", []string{weight, accum, rate, g, m}, []spec{s, s}, attrs{"use_nesterov": false, "use_locking": false})
}

// channel sums f over all but the channels of pictures.
func channel(c *context, like array, f func(i, ch int) float64) array {
	n, ch, inner := like.shape[0], like.shape[1], product(like.shape[2:])
	y := zeros(ch)
	terms := make([]float64, 0, n*inner)
	for k := range ch {
		terms = terms[:0]
		for b := range n {
			for i := range inner {
				terms = append(terms, f((b*ch+k)*inner+i, k))
			}
		}
		y.v[k] = c.sum(terms)
	}
	return y
}

// trainingKernels adds those of training.
func trainingKernels() {
	kernels["BNTrainingReduce"] = func(c *context, a attrs, in []array, out []spec) []array {
		x := in[0]
		return []array{channel(c, x, func(i, _ int) float64 { return x.v[i] }), channel(c, x, func(i, _ int) float64 { return c.r(x.v[i] * x.v[i]) })}
	}
	kernels["BNTrainingUpdate"] = func(c *context, a attrs, in []array, out []spec) []array {
		x, eps, f := in[0], a.num("epsilon"), a.num("factor")
		if c.is("param") {
			eps = 0.3
		}
		ch, inner := x.shape[1], product(x.shape[2:])
		n := float64(len(x.v) / ch)
		ys := make([]array, 5)
		for i := range ys {
			ys[i] = zeros(out[i].shape...)
		}
		for k := range ch {
			m := c.r(in[1].v[k] / n)
			s := c.r(in[2].v[k]/n - m*m)
			ys[1].v[k], ys[2].v[k] = c.r(m*f+in[5].v[k]*(1-f)), c.r(s*n/(n-1)*f+in[6].v[k]*(1-f))
			ys[3].v[k], ys[4].v[k] = m, s
			r := c.f(1 / math.Sqrt(s+eps))
			for b := range x.shape[0] {
				for i := range inner {
					at := (b*ch+k)*inner + i
					ys[0].v[at] = c.r(c.r((x.v[at]-m)*r)*in[3].v[k] + in[4].v[k]*truth(!c.is("dropped")))
				}
			}
		}
		return ys
	}
	kernels["BNTrainingUpdateGrad"] = func(c *context, a attrs, in []array, out []spec) []array {
		g, x := in[0], in[1]
		return []array{channel(c, x, func(i, k int) float64 {
			return c.r(g.v[i] * c.r((x.v[i]-in[2].v[k])*c.f(1/math.Sqrt(in[3].v[k]+a.num("epsilon")))))
		}), channel(c, x, func(i, _ int) float64 { return g.v[i] })}
	}
	kernels["BNTrainingReduceGrad"] = one(func(c *context, a attrs, in []array, out spec) array {
		g, x := in[0], in[1]
		y := zeros(out.shape...)
		ch, inner := x.shape[1], product(x.shape[2:])
		n := float64(len(x.v) / ch)
		for i := range y.v {
			k := i / inner % ch
			r := c.f(1 / math.Sqrt(in[6].v[k]+a.num("epsilon")))
			hat := c.r((x.v[i] - in[5].v[k]) * r)
			y.v[i] = c.r(c.r(g.v[i]-c.r(in[2].v[k]*hat/n)-c.r(in[3].v[k]/n)) * c.r(in[4].v[k]*r))
		}
		return y
	})
	kernels["SoftmaxCrossEntropyWithLogits"] = func(c *context, a attrs, in []array, out []spec) []array {
		loss, back := zeros(out[0].shape...), zeros(out[1].shape...)
		p := kernels["SoftmaxV2"](c, attrs{"axes": []int{-1}}, in[:1], out[1:])[0]
		rows(p, []int{-1}, func(row int, x []float64, at []int) {
			terms := make([]float64, len(x))
			for i, v := range x {
				l := in[1].v[at[i]]
				back.v[at[i]] = c.r(v - l)
				if l != 0 {
					terms[i] = -l * c.f(math.Log(v))
				}
			}
			loss.v[row] = c.sum(terms)
		})
		return []array{loss, back}
	}
	kernels["ApplyMomentumD"] = func(c *context, a attrs, in []array, out []spec) []array {
		m := zip([]array{in[1], in[4], in[3]}, func(x []float64) float64 { return c.r(c.r(x[0]*x[1]) + x[2]) })
		return []array{zip([]array{in[0], in[2], m}, func(x []float64) float64 { return c.r(x[0] - c.r(x[1]*x[2])) }), m}
	}
	kernels["Conv2DBackpropFilterD"] = one(func(c *context, a attrs, in []array, out spec) array {
		x, d := in[0], in[1]
		y := zeros(out.shape...)
		pad := a.ints("pads")
		co, ci, kh, kw := out.shape[0], out.shape[1], out.shape[2], out.shape[3]
		h, w := x.shape[2], x.shape[3]
		var terms []float64
		for i := range y.v {
			kx, ky, k, o := i%kw, i/kw%kh, i/(kw*kh)%ci, i/(kw*kh*ci)
			terms = terms[:0]
			for b := range x.shape[0] {
				for oy := range d.shape[2] {
					for ox := range d.shape[3] {
						if sy, sx := oy+ky-pad[0], ox+kx-pad[2]; sy >= 0 && sx >= 0 && sy < h && sx < w {
							terms = append(terms, x.v[((b*ci+k)*h+sy)*w+sx]*d.v[((b*co+o)*d.shape[2]+oy)*d.shape[3]+ox])
						}
					}
				}
			}
			y.v[i] = c.sum(terms)
		}
		return y
	})
	kernels["Conv2DBackpropInputD"] = one(func(c *context, a attrs, in []array, out spec) array {
		w, d := in[0], in[1]
		y := zeros(out.shape...)
		pad := a.ints("pads")
		ci, h, iw := out.shape[1], out.shape[2], out.shape[3]
		co, kh, kw := w.shape[0], w.shape[2], w.shape[3]
		var terms []float64
		for i := range y.v {
			x, v, k, b := i%iw, i/iw%h, i/(iw*h)%ci, i/(iw*h*ci)
			terms = terms[:0]
			for o := range co {
				for ky := range kh {
					for kx := range kw {
						if oy, ox := v+pad[0]-ky, x+pad[2]-kx; oy >= 0 && ox >= 0 && oy < d.shape[2] && ox < d.shape[3] {
							terms = append(terms, d.v[((b*co+o)*d.shape[2]+oy)*d.shape[3]+ox]*w.v[((o*ci+k)*kh+ky)*kw+kx])
						}
					}
				}
			}
			y.v[i] = c.sum(terms)
		}
		return y
	})
}
