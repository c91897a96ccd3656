package computed

import (
	"math"
	"slices"
	"sync"
)

// kernel computes an operator in the arithmetic of c. Results are of any
// precision; they are rounded to the type of the tensor afterwards.
type kernel func(c *context, a attrs, in []array, out []spec) []array

var kernels = map[string]kernel{}

// known fills in the kernels.
var known = sync.OnceFunc(func() {
	commonKernels()
	sequenceKernels()
	trainingKernels()
	discreteKernels()
	dynamicKernels()
})

func one(f func(c *context, a attrs, in []array, out spec) array) kernel {
	return func(c *context, a attrs, in []array, out []spec) []array { return []array{f(c, a, in, out[0])} }
}

// pointwise registers f of the operands of one place.
func pointwise(kind string, f func(c *context, a attrs, x []float64) float64) {
	kernels[kind] = one(func(c *context, a attrs, in []array, _ spec) array {
		if c.is("dropped") && len(in) == 1 {
			return in[0].clone()
		}
		return zip(in, func(x []float64) float64 { return f(c, a, x) })
	})
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// commonKernels adds those of most networks.
func commonKernels() {
	number := func(kind string, f func(x float64) float64) {
		pointwise(kind, func(c *context, _ attrs, x []float64) float64 { return c.f(f(x[0])) })
	}
	exactly := func(kind string, f func(x []float64) float64) {
		pointwise(kind, func(_ *context, _ attrs, x []float64) float64 { return f(x) })
	}
	exactly("Relu", func(x []float64) float64 { return max(x[0], 0) })
	exactly("Relu6", func(x []float64) float64 { return min(max(x[0], 0), 6) })
	exactly("Maximum", func(x []float64) float64 { return max(x[0], x[1]) })
	exactly("Minimum", func(x []float64) float64 { return min(x[0], x[1]) })
	exactly("Greater", func(x []float64) float64 { return truth(x[0] > x[1]) })
	exactly("GreaterEqual", func(x []float64) float64 { return truth(x[0] >= x[1]) })
	exactly("Less", func(x []float64) float64 { return truth(x[0] < x[1]) })
	exactly("Equal", func(x []float64) float64 { return truth(x[0] == x[1]) })
	exactly("LogicalAnd", func(x []float64) float64 { return truth(x[0] != 0 && x[1] != 0) })
	exactly("Neg", func(x []float64) float64 { return -x[0] })
	exactly("Round", func(x []float64) float64 { return math.RoundToEven(x[0]) })
	exactly("Select", func(x []float64) float64 {
		if x[0] != 0 {
			return x[1]
		}
		return x[2]
	})
	exactly("MaskedFill", func(x []float64) float64 {
		if x[1] != 0 {
			return x[2]
		}
		return x[0]
	})
	exactly("ReluGrad", func(x []float64) float64 {
		if x[1] > 0 {
			return x[0]
		}
		return 0
	})
	exactly("Relu6Grad", func(x []float64) float64 {
		if x[1] > 0 && x[1] < 6 {
			return x[0]
		}
		return 0
	})
	pointwise("LeakyRelu", func(c *context, a attrs, x []float64) float64 {
		if x[0] > 0 {
			return x[0]
		}
		return c.r(x[0] * a.num("negative_slope"))
	})
	number("Sigmoid", sigmoid)
	number("HardSigmoid", func(x float64) float64 { return min(max(x/6+0.5, 0), 1) })
	number("Tanh", math.Tanh)
	number("Exp", math.Exp)
	number("Sqrt", math.Sqrt)
	number("Rsqrt", func(x float64) float64 { return 1 / math.Sqrt(x) })
	number("Square", func(x float64) float64 { return x * x })
	number("Gelu", func(x float64) float64 {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	})
	number("Swish", func(x float64) float64 { return x * sigmoid(x) })
	pointwise("Add", func(c *context, _ attrs, x []float64) float64 {
		if c.is("dropped") {
			return x[0]
		}
		return c.r(x[0] + x[1])
	})
	pointwise("Sub", func(c *context, _ attrs, x []float64) float64 { return c.r(x[0] - x[1]) })
	pointwise("Mul", func(c *context, _ attrs, x []float64) float64 { return c.r(x[0] * x[1]) })
	pointwise("RealDiv", func(c *context, _ attrs, x []float64) float64 { return c.f(x[0] / x[1]) })
	kernels["Cast"] = one(func(_ *context, _ attrs, in []array, out spec) array {
		y := in[0].clone()
		switch out.dtype {
		case i32, i64, i8:
			for i, v := range y.v {
				y.v[i] = math.Trunc(v)
			}
		case flag:
			for i, v := range y.v {
				y.v[i] = truth(v != 0)
			}
		}
		return y
	})
	moved := one(func(_ *context, _ attrs, in []array, out spec) array { return in[0].clone().as(out.shape...) })
	kernels["TransData"], kernels["Reshape"] = moved, moved
	kernels["TransposeD"] = one(func(_ *context, a attrs, in []array, _ spec) array { return transposed(in[0], a.ints("perm")...) })
	kernels["ConcatD"] = one(func(_ *context, a attrs, in []array, out spec) array { return concat(in, a.int("concat_dim")) })
	kernels["SplitVD"] = func(_ *context, a attrs, in []array, out []spec) []array {
		var parts []array
		begin := make([]int, len(in[0].shape))
		for _, s := range out {
			parts = append(parts, cut(in[0], begin, s.shape))
			begin[a.int("split_dim")] += s.shape[a.int("split_dim")]
		}
		return parts
	}
	kernels["StridedSliceD"] = one(func(_ *context, a attrs, in []array, out spec) array { return cut(in[0], a.ints("begin"), out.shape) })
	kernels["GatherV2D"] = one(func(_ *context, _ attrs, in []array, out spec) array {
		row := product(in[0].shape[1:])
		y := zeros(out.shape...)
		for i, id := range in[1].v {
			at := min(max(int(id), 0), in[0].shape[0]-1) // wrong indices read what lies there
			copy(y.v[i*row:], in[0].v[at*row:][:row])
		}
		return y
	})
	total := func(mean bool) kernel {
		return one(func(c *context, a attrs, in []array, out spec) array {
			y := zeros(out.shape...)
			rows(in[0], a.ints("axes"), func(row int, x []float64, _ []int) {
				if y.v[row] = c.sum(x); mean && !c.is("dropped") && !a.yes(".sum") {
					y.v[row] = c.f(y.v[row] / float64(len(x)))
				}
			})
			return y
		})
	}
	kernels["ReduceMeanD"], kernels["ReduceSumD"] = total(true), total(false)
	kernels["ReduceMaxD"] = one(func(_ *context, a attrs, in []array, out spec) array {
		y := zeros(out.shape...)
		rows(in[0], a.ints("axes"), func(row int, x []float64, _ []int) { y.v[row] = slices.Max(x) })
		return y
	})
	kernels["SoftmaxV2"] = one(func(c *context, a attrs, in []array, _ spec) array {
		y := zeros(in[0].shape...)
		rows(in[0], a.ints("axes"), func(_ int, x []float64, at []int) {
			most := slices.Max(x)
			e := make([]float64, len(x))
			for i, v := range x {
				e[i] = c.f(math.Exp(c.r(v - most)))
			}
			s := c.sum(e)
			for i := range e {
				y.v[at[i]] = c.f(e[i] / s)
			}
		})
		return y
	})
	kernels["LayerNorm"] = func(c *context, a attrs, in []array, out []spec) []array {
		y, mean, variance := zeros(out[0].shape...), zeros(out[1].shape...), zeros(out[2].shape...)
		n := len(in[1].v)
		over := float64(n)
		if a.yes(".unbiased") {
			over--
		}
		eps := a.num("epsilon")
		if c.is("param") {
			eps = 0.3
		}
		for row := range mean.v {
			x := in[0].v[row*n : row*n+n]
			mean.v[row] = c.r(c.sum(x) / float64(n))
			d := make([]float64, n)
			for i, v := range x {
				d[i] = (v - mean.v[row]) * (v - mean.v[row])
			}
			variance.v[row] = c.r(c.sum(d) / over)
			r := c.f(1 / math.Sqrt(variance.v[row]+eps))
			for i, v := range x {
				y.v[row*n+i] = c.r(c.r(v-mean.v[row])*r*in[1].v[i] + in[2].v[i]*truth(!c.is("dropped")))
			}
		}
		return []array{y, mean, variance}
	}
	kernels["RmsNorm"] = func(c *context, a attrs, in []array, out []spec) []array {
		y, rstd := zeros(out[0].shape...), zeros(out[1].shape...)
		n := len(in[1].v)
		eps := a.num("epsilon")
		if c.is("param") {
			eps = 0.3
		}
		for row := range rstd.v {
			x, d := in[0].v[row*n:row*n+n], make([]float64, n)
			for i, v := range x {
				d[i] = v * v
			}
			r := c.f(1 / math.Sqrt(c.sum(d)/float64(n)+eps))
			rstd.v[row] = r
			for i, v := range x {
				y.v[row*n+i] = c.r(c.r(v*r) * in[1].v[i])
			}
		}
		return []array{y, rstd}
	}
	kernels["MatMulV2"], kernels["BatchMatMul"] = one(matmul), one(matmul)
	kernels["Conv2D"], kernels["DepthwiseConv2D"] = one(conv), one(conv)
	kernels["MaxPool"] = one(func(c *context, a attrs, in []array, out spec) array {
		y := zeros(out.shape...)
		pool(in[0], a, out.shape, func(i int, x []float64, _ []int) {
			if y.v[i] = slices.Max(x); c.is("param") || a.yes(".average") {
				y.v[i] = c.f(c.sum(x) / float64(len(x)))
			}
		})
		return y
	})
	kernels["AvgPool"] = one(func(c *context, a attrs, in []array, out spec) array {
		y := zeros(out.shape...)
		pool(in[0], a, out.shape, func(i int, x []float64, _ []int) {
			if y.v[i] = c.f(c.sum(x) / float64(len(x))); c.is("param") {
				y.v[i] = slices.Max(x)
			}
		})
		return y
	})
	kernels["ResizeNearestNeighborV2D"] = one(func(c *context, a attrs, in []array, out spec) array {
		x, y := in[0], zeros(out.shape...)
		h, w, oh, ow := x.shape[2], x.shape[3], out.shape[2], out.shape[3]
		place := func(i, n, on int) int {
			if a.yes("align_corners") || c.is("param") {
				return int(math.RoundToEven(float64(i) * float64(n-1) / float64(on-1)))
			}
			return i * n / on
		}
		for i := range y.v {
			y.v[i] = x.v[i/(oh*ow)*h*w+place(i/ow%oh, h, oh)*w+place(i%ow, w, ow)]
		}
		return y
	})
	kernels["Conv2DTransposeD"] = one(func(c *context, a attrs, in []array, out spec) array {
		x, w := in[0], in[1]
		ci, h, iw := x.shape[1], x.shape[2], x.shape[3]
		co, kh, kw := w.shape[1], w.shape[2], w.shape[3]
		stride, pad := a.ints("strides")[2:], a.ints("pads")
		y := zeros(out.shape...)
		terms := []float64{}
		for i := range y.v {
			ox, oy, o, b := i%out.shape[3], i/out.shape[3]%out.shape[2], i/(out.shape[3]*out.shape[2])%co, i/(out.shape[3]*out.shape[2]*co)
			terms = terms[:0]
			for k := range ci {
				for ky := range kh {
					for kx := range kw {
						sy, sx := oy+pad[0]-ky, ox+pad[2]-kx
						if sy < 0 || sx < 0 || sy%stride[0] != 0 || sx%stride[1] != 0 || sy/stride[0] >= h || sx/stride[1] >= iw {
							continue
						}
						terms = append(terms, x.v[((b*ci+k)*h+sy/stride[0])*iw+sx/stride[1]]*w.v[((k*co+o)*kh+ky)*kw+kx])
					}
				}
			}
			y.v[i] = c.sum(terms)
		}
		return y
	})
}

func concat(in []array, axis int) array {
	shape := slices.Clone(in[0].shape)
	for _, x := range in[1:] {
		shape[axis] += x.shape[axis]
	}
	y := array{shape: shape}
	for o := range product(shape[:axis]) {
		for _, x := range in {
			n := product(x.shape[axis:])
			y.v = append(y.v, x.v[o*n:o*n+n]...)
		}
	}
	return y
}

func cut(x array, begin, shape []int) array {
	y := zeros(shape...)
	own := strides(x.shape, x.shape)
	for i := range y.v {
		rest, at := i, 0
		for d := len(shape) - 1; d >= 0; d-- {
			at += (begin[d] + rest%shape[d]) * own[d]
			rest /= shape[d]
		}
		y.v[i] = x.v[at]
	}
	return y
}

// flip swaps the last two axes.
func flip(x array) array {
	perm := make([]int, len(x.shape))
	for i := range perm {
		perm[i] = i
	}
	n := len(perm)
	perm[n-1], perm[n-2] = n-2, n-1
	return transposed(x, perm...)
}

// blocks transposes every block of 16 by 16, as reading a blocked weight in the
// wrong order does.
func blocks(x array) array {
	y := x.clone()
	cols := product(x.shape[1:])
	for r := range x.shape[0] {
		for c := range cols {
			sr, sc := r/16*16+c%16, c/16*16+r%16
			if sr < x.shape[0] && sc < cols {
				y.v[r*cols+c] = x.v[sr*cols+sc]
			} else {
				y.v[r*cols+c] = 0
			}
		}
	}
	return y
}

func matmul(c *context, a attrs, in []array, out spec) array {
	x1, x2 := in[0], in[1]
	if c.is("weight") && len(x2.shape) == 2 {
		x2 = blocks(x2)
	}
	if a.yes("transpose_x1") || a.yes("adj_x1") {
		x1 = flip(x1)
	}
	if a.yes("transpose_x2") || a.yes("adj_x2") {
		x2 = flip(x2)
	}
	x2 = flip(x2) // rows of both
	r := len(x1.shape)
	m, k, n := x1.shape[r-2], x1.shape[r-1], x2.shape[r-2]
	y := zeros(append(slices.Clone(x1.shape[:r-2]), m, n)...)
	terms := make([]float64, k, k+1)
	for b := range product(x1.shape[:r-2]) {
		for i := range m {
			p := x1.v[(b*m+i)*k:][:k]
			for j := range n {
				q := x2.v[(b*n+j)*k:][:k]
				terms = terms[:k]
				for t := range p {
					terms[t] = p[t] * q[t]
				}
				if len(in) > 2 && !c.is("dropped") {
					terms = append(terms, in[2].v[j])
				}
				y.v[(b*m+i)*n+j] = c.sum(terms)
			}
		}
	}
	return y
}

func conv(c *context, a attrs, in []array, out spec) array {
	x, w := in[0], in[1]
	if c.is("weight") {
		w = blocks(w)
	}
	h, iw := x.shape[2], x.shape[3]
	co, ci, kh, kw := w.shape[0], w.shape[1], w.shape[2], w.shape[3]
	groups := max(a.int("groups"), 1)
	stride, pad := a.ints("strides")[2:], a.ints("pads")
	if c.is("param") {
		pad = []int{pad[0] + 1, pad[1] - 1, pad[2], pad[3]}
	}
	y := zeros(out.shape...)
	oh, ow := out.shape[2], out.shape[3]
	terms := make([]float64, 0, ci*kh*kw+1)
	for i := range y.v {
		ox, oy, o, b := i%ow, i/ow%oh, i/(ow*oh)%co, i/(ow*oh*co)
		first := o / (co / groups) * ci
		terms = terms[:0]
		for k := range ci {
			for ky := range kh {
				sy := oy*stride[0] + ky - pad[0]
				if sy < 0 || sy >= h {
					continue
				}
				for kx := range kw {
					if sx := ox*stride[1] + kx - pad[2]; sx >= 0 && sx < iw {
						terms = append(terms, x.v[((b*x.shape[1]+first+k)*h+sy)*iw+sx]*w.v[((o*ci+k)*kh+ky)*kw+kx])
					}
				}
			}
		}
		if len(in) > 2 && !c.is("dropped") {
			terms = append(terms, in[2].v[o])
		}
		y.v[i] = c.sum(terms)
	}
	return y
}

// pool calls f with every window that lies within x.
func pool(x array, a attrs, out []int, f func(i int, x []float64, at []int)) {
	k, s := a.ints("ksize")[2:], a.ints("strides")[2:]
	pad := []int{0, 0}
	if a.text("padding") == "SAME" {
		for d := range pad {
			pad[d] = max(0, (out[2+d]-1)*s[d]+k[d]-x.shape[2+d]) / 2
		}
	}
	h, w, oh, ow := x.shape[2], x.shape[3], out[2], out[3]
	for i := range product(out) {
		var list []float64
		var at []int
		for ky := range k[0] {
			for kx := range k[1] {
				sy, sx := i/ow%oh*s[0]+ky-pad[0], i%ow*s[1]+kx-pad[1]
				if sy >= 0 && sx >= 0 && sy < h && sx < w {
					p := (i/(oh*ow)*h+sy)*w + sx
					list, at = append(list, x.v[p]), append(at, p)
				}
			}
		}
		f(i, list, at)
	}
}
