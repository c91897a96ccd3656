package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/internal/nd"
)

// Pooling and resizing: every element of a result is a weighted sum, or the largest, of a box of
// places of the input, and the box is a product of windows on each axis. So one type serves them
// all, [windows]: it says for a place of an axis which places of the input it takes, with which
// weights ([taps]), and what the sum is divided by.
//
//   - pooling: equal weights, windows a stride apart, that may hang over the border;
//   - adaptive pooling: windows from ⌊i·in/out⌋ to ⌈(i+1)·in/out⌉;
//   - resizing: one, two or four places with the weights of an interpolation, which are off by as
//     much as a device, in float32, may put the place between pixels elsewhere ([taps].off).
//
// Gradients go the same way back: each place gets the gradient of every window it is in, times its
// weight there.
//
// A maximum is exact. A mean counts the padding unless count_include_pad says otherwise. Windows
// may hang over the end with ceil_mode, and have to begin inside. Sampling by a grid (affine_grid,
// grid_sample) is at the end, as a program of a tape, since its grid has a gradient.

// poolArgs are the windows of a call.
type poolArgs struct {
	kernelArgs
	x      *operand
	v      Values // (N, C, spatial)
	window []int64
	out    []int64
}

// out = (in + 2·pad − dilation·(window − 1) − 1)/stride + 1, rounded up with ceil_mode if the last
// window still begins inside the input or its left padding. The stride is the window where none is
// given.
func (k *invocation) poolArgs(d int) (p poolArgs) {
	p.x = k.tensor("input")
	p.v, _ = batched(p.x, d)
	refuseIf(len(p.v.Shape()) != d+2, ShapesDiffer, p.x.shape)
	k.required("kernel_size")
	p.window = k.each("kernel_size", d, 1)
	p.kernelArgs = k.kernelArgs(d, p.window)
	if !k.has("stride") || len(k.args["stride"].list) == 0 && k.args["stride"].v == nil {
		p.stride = p.window
	}
	up := k.bool("ceil_mode", false)
	in := p.v.Shape()[2:]
	p.out = make([]int64, d)
	for i := range in {
		span := in[i] + 2*p.before[i] - p.dilation[i]*(p.window[i]-1) - 1
		refuseIf(span < 0 || !within(p.before[i], 0, p.window[i]), ShapesDiffer, in, p.window)
		p.out[i] = span/p.stride[i] + 1
		if up && span%p.stride[i] != 0 && p.out[i]*p.stride[i] < in[i]+p.before[i] {
			p.out[i]++
		}
	}
	return p
}

// shaped gives v, of (N, C, spatial), the axes of the input.
func (p *poolArgs) shaped(v Values) Values {
	if s := v.Shape(); len(p.x.shape) < len(s) {
		return reshape(v, s[1:])
	}
	return v
}

// pooled are the windows of a call.
// divisor_override is refused, and means of integers, whose division PyTorch rounds in its own way.
func (k *invocation) pooled(d int, largest bool) (p poolArgs, w *windows) {
	p = k.poolArgs(d)
	k.unsupported("divisor_override")
	refuseIf(discrete(k.outType()) && !largest && k.Op == nil, BadType, "output 0", k.outType().String())
	outside := k.bool("count_include_pad", true) && !largest
	return p, newWindows(p.v, p.out, p.window, p.geometry, p.after, outside)
}

// pooling is torch.nn.functional.max_pool1d … 3d and avg_pool1d … 3d over d axes. With
// return_indices a maximum tells its places, too.
func pooling(d int, largest bool) func(k *invocation) []Reading {
	return func(k *invocation) []Reading {
		p, w := k.pooled(d, largest)
		out := []Values{p.shaped(w.values(k.Call, p.v, largest))}
		if largest && len(k.outs) == 2 {
			out = append(out, p.shaped(w.places(p.v)))
		}
		return outputs(out...)
	}
}

// best is the place of the largest number of those that an element is made of, and the others that
// are equal to it. NaN is larger than any number, and the last NaN of a window is taken.
func (w *windows) best(x []float64, element int64) (best int64, equal []int64) {
	best = -1
	w.each(element, func(c int64, _ float64) {
		switch {
		case best < 0 || x[c] > x[best] || math.IsNaN(x[c]):
			best, equal = c, equal[:0]
		case x[c] == x[best]:
			equal = append(equal, c)
		}
	})
	return best, equal
}

// places are where in its plane each largest number is; of equal ones any.
// A place counts within the plane of a channel, as max_pool with return_indices has it.
func (w *windows) places(v Values) Values {
	x, plane := held(v).y, count(w.in)
	shape := append(slices.Clone(v.Shape()[:len(v.Shape())-len(w.in)]), w.out...)
	return &formula{shape: shape, exact: true, cost: w.cost, f: func(i int64, _ []int64) (float64, float64) {
		at, equal := w.best(x, i)
		if at < 0 || len(equal) > 0 {
			return 0, math.Inf(1)
		}
		return float64(at % plane), 0
	}}
}

// maximumGradient gives the gradient of a maximum to the place it was taken from, of equal ones to
// any.
func maximumGradient(d int) func(k *invocation, g []Values) gradients {
	return toInput(func(k *invocation, g Values) Values {
		p, w := k.pooled(d, true)
		g, _ = batched(g, d)
		return w.toLargest(k.Call, p.v, g, p.x.shape)
	})
}

// toLargest gives each number of g to the place of x that its maximum was taken from, of equal ones
// to any, and of a window that holds NaN, which kernels compare in their own ways, to any or none.
func (w *windows) toLargest(c *Call, x, g Values, shape []int64) Values {
	refuseIf(!slices.Equal(g.Shape(), w.shape), ShapesDiffer, g.Shape(), w.shape)
	in := held(x).y
	sum := newSpreader(int64(len(in)))
	for o, t := range held(g).y {
		best, equal := w.best(in, int64(o))
		finite := abs(t) <= math.MaxFloat64
		switch {
		case best < 0:
			continue
		case math.IsNaN(in[best]):
			equal = equal[:0]
			w.each(int64(o), func(at int64, _ float64) { equal = append(equal, at) })
		case len(equal) == 0:
			sum.add(best, t, 1, 0)
		default:
			equal = append(equal, best)
			if finite {
				sum.add(best, t, 1, 0)
			}
		}
		for _, at := range equal {
			if !finite {
				sum.off[at] = math.Inf(1)
			} else { // weight 0, which may be off by 1: nothing or all
				sum.add(at, t, 0, 1)
			}
		}
	}
	return sum.values(shape, true, c.sumUnit())
}

// share gives the places that each number of g is made of their parts of it.
func (w *windows) share(c *Call, g Values, shape []int64) Values {
	n, m := count(shape), count(w.shape)
	refuseIf(count(g.Shape()) != m, ShapesDiffer, g.Shape(), w.shape)
	refuseIf(n > maxDense || m > maxDense, TooLarge, max(n, m), maxDense)
	sum := newSpreader(n)
	for i, t := range numbers(g) {
		over, off := w.move(int64(i))
		w.walk(0, int64(i)/count(w.out), 1/over, func(place int64, weight float64) { sum.add(place, t, weight, off) })
	}
	return sum.values(shape, true, c.sumUnit())
}

// adaptive is adaptive_avg_pool1d … 3d and adaptive_max_pool1d … 3d: as many windows as the
// recorded result has places.
func adaptive(d int, largest bool) func(k *invocation) []Reading {
	return func(k *invocation) []Reading {
		x := k.tensor("input")
		w := adaptiveWindows(x.shape, k.shape(), d)
		out := []Values{w.values(k.Call, x, largest)}
		if largest && len(k.outs) == 2 {
			out = append(out, w.places(x))
		}
		return outputs(out...)
	}
}

// poolForms: x is (N, C, spatial), or without images (C, spatial).
func poolForms() {
	for d, name := range map[int]string{1: "1d", 2: "2d", 3: "3d"} {
		// The gradient of a maximum goes to where it was; that of a mean to all of its window.
		define("max_pool"+name, function{forward: pooling(d, true), backward: maximumGradient(d)})
		define("avg_pool"+name, function{forward: pooling(d, false), backward: spread(func(k *invocation, _, out []int64) *windows {
			p, w := k.pooled(d, false)
			refuseIf(count(out) != count(p.v.Shape()[:2])*count(p.out), ShapesDiffer, out, p.out)
			return w
		})})
		// (Σ xᵖ)^(1/p), as PyTorch computes it: the mean of powers, times the number of cells, then
		// the root.
		define("lp_pool"+name, function{forward: formulaFor(func(k *invocation) Values { // the root of a sum of powers
			p, w := k.pooled(d, false)
			power, root := "x,p)=x^p", "m,n,p)=(m*n)^(1/p)"
			if k.float("norm_type", 0) == 2 {
				power, root = "x,p)=x*x", "m,n,p)=sqrt(m*n)"
			}
			of := scalar(k.float("norm_type", 0))
			mean := w.values(k.Call, k.computed(power, p.v, of), false)
			return p.shaped(k.computed(root, mean, scalar(float64(count(p.window))), of))
		})})
		define("adaptive_avg_pool"+name, function{forward: adaptive(d, false), nodes: [][]string{{"grad"}},
			backward: spread(func(_ *invocation, x, out []int64) *windows { return adaptiveWindows(x, out, d) })})
		define("adaptive_max_pool"+name, function{forward: adaptive(d, true)})
	}
	// torch.nn.functional.interpolate; area is adaptive_avg_pool.
	define("interpolate", function{forward: formulaFor(resized), backward: spread((*invocation).resizing)})
	// torch.nn.functional.affine_grid and grid_sample.
	define("affine_grid", function{forward: formulaFor(affineGrid)})
	program("grid_sample", []string{"input", "grid"}, func(t *tape) []*dense { return []*dense{t.gridSample()} })
	// Kernels of GE: Pooling of Caffe; MaxPool, AvgPool and their gradients of TensorFlow;
	// ResizeNearestNeighborV2 and ResizeBilinearV2.
	register(single(buildPooling), "pooling")
	register(single(func(c *Call) Values { return buildPool(c, true) }), "largest")
	register(single(func(c *Call) Values { return buildPool(c, false) }), "average")
	register(single(buildGlobal), "whole")
	register(single(buildLargestGrad), "largestgrad")
	register(single(buildAverageGrad), "averagegrad")
	register(single(func(c *Call) Values { return buildResize(c, "nearest") }), "nearest")
	register(single(func(c *Call) Values { return buildResize(c, "bilinear") }), "bilinear")
}

// windows are the places of the last axes of a tensor that each element of a result is made of:
// every axis by itself.
type windows struct {
	shape, in, out []int64              // in and out are spatial
	window         []int64              // how many places a window has along each axis, where all have as many
	axes           []func(p int64) taps // what place p of the result takes; valid until the next call
	cost           float64
	at             []int64
	taps           []taps
}

// taps are what one place of an axis is made of: places of the input and their weights, which may
// be off by off, as places are computed in float32, and are divided by over.
type taps struct {
	at     []int64
	weight []float64
	over   float64
	off    float64
}

// axis makes, for axis a of in and out places, the function that gives the taps of a place.
func windowsOf(x, shape []int64, d int, axis func(a int, in, out int64) func(p int64) taps) *windows {
	lead := len(x) - d
	refuseIf(lead < 1 || len(shape) != len(x) || !slices.Equal(shape[:lead], x[:lead]), ShapesDiffer, x, shape)
	w := &windows{shape: shape, in: x[lead:], out: shape[lead:], at: make([]int64, d), taps: make([]taps, d)}
	for a := range d {
		w.axes = append(w.axes, axis(a, w.in[a], w.out[a]))
	}
	return w
}

// even are taps of the same weight: of n places from one on, a step apart, those that are inside.
func (t *taps) even(in, from, n, step int64) taps {
	t.at = t.at[:0]
	for p := from; p < min(from+n*step, in); p += step {
		if p >= 0 {
			t.at = append(t.at, p)
		}
	}
	for len(t.weight) < len(t.at) {
		t.weight = append(t.weight, 1)
	}
	t.over = float64(len(t.at))
	return *t
}

// newWindows are windows that move over x (N, C, spatial) as a kernel does. They may hang over the
// border; what lies outside takes no part, unless a mean counts it. A place p of the result takes
// in[p·stride − before + j·dilation] for j below the window. With outside a mean divides by the
// cells up to the end of the padding behind, as count_include_pad does; cells that ceil_mode puts
// beyond it count nothing.
func newWindows(x Values, out, window []int64, g geometry, after []int64, outside bool) *windows {
	in := x.Shape()[2:]
	for i := range in {
		if !within(window[i], 1, 1<<16) || !within(g.stride[i], 1, 1<<16) || !within(g.before[i], 0, 1<<16) || !within(g.dilation[i], 1, 1<<16) ||
			count(window) > 1<<20 || g.before[i] >= window[i]*g.dilation[i] || (out[i]-1)*g.stride[i]-g.before[i] >= in[i] {
			panic(refusal(BadAttribute, "window, stride, pad", shapeText(window, g.stride, g.before), "what fits "+shapeText(in, out)))
		}
	}
	w := windowsOf(x.Shape(), append(slices.Clone(x.Shape()[:2]), out...), len(in), func(a int, in, _ int64) func(p int64) taps {
		var t taps
		return func(p int64) taps {
			from, step := p*g.stride[a]-g.before[a], g.dilation[a]
			if t.even(in, from, window[a], step); outside {
				t.over = float64(min(window[a], (in+after[a]-from+step-1)/step))
			}
			return t
		}
	})
	w.cost, w.window = float64(count(window)), window
	return w
}

// adaptiveWindows divide each axis into windows from ⌊i·in/out⌋ to ⌈(i+1)·in/out⌉.
func adaptiveWindows(x, shape []int64, d int) *windows {
	refuseIf(slices.Contains(shape, 0), ShapesDiffer, x, shape)
	return windowsOf(x, shape, d, func(_ int, in, out int64) func(p int64) taps {
		var t taps
		return func(p int64) taps {
			from := p * in / out
			return t.even(in, from, ((p+1)*in+out-1)/out-from, 1)
		}
	})
}

// move goes to an element of the result, and says what the weights of what it is made of are
// divided by and how far they may be off.
func (w *windows) move(i int64) (over, off float64) {
	over = 1
	nd.PlaceIn(i%count(w.out), w.out, w.at)
	for a, p := range w.at {
		w.taps[a] = w.axes[a](p)
		over *= w.taps[a].over
		off += w.taps[a].off
	}
	return over, off
}

// walk calls f for the places of x that the element is made of: from axis a on, in the plane or row
// that begins at place.
func (w *windows) walk(a int, place int64, weight float64, f func(place int64, weight float64)) {
	t, place := &w.taps[a], place*w.in[a]
	if a == len(w.taps)-1 {
		for j, p := range t.at {
			f(place+p, weight*t.weight[j])
		}
		return
	}
	for j, p := range t.at {
		w.walk(a+1, place+p, weight*t.weight[j], f)
	}
}

// each calls f for all places that element i is made of, with their weights, and says what these
// are divided by and may be off.
func (w *windows) each(i int64, f func(place int64, weight float64)) (over, off float64) {
	over, off = w.move(i)
	w.walk(0, i/count(w.out), 1, f)
	return over, off
}

// values are the sums of what x has at the places, or the largest of it, which is exact. With
// weights off by δ, B = Σ|x|·δ + g(n+4)·Σ|w·x| of n numbers; a mean divides, which is one rounding
// more.
func (w *windows) values(c *Call, in Values, largest bool) Values {
	x, unit := held(in), c.sumUnit()
	var best, sum, size, reach, own, n float64
	v := &formula{shape: w.shape, exact: largest && isExact(in), cost: w.cost}
	if largest {
		take := func(place int64, _ float64) {
			if best = max(best, x.y[place]); x.b != nil {
				own = max(own, x.b[place])
			}
		}
		v.f = func(i int64, _ []int64) (y, b float64) {
			best, own = math.Inf(-1), 0
			if w.each(i, take); math.IsNaN(best) {
				own = math.Inf(1)
			}
			return best, own
		}
		return v
	}
	take := func(place int64, weight float64) {
		y := x.y[place]
		if n, reach = n+1, reach+abs(y); weight != 0 {
			y *= weight
			sum += y
			size += abs(y)
		}
		if x.b != nil {
			own = max(own, x.b[place])
		}
	}
	v.f = func(i int64, _ []int64) (y, b float64) {
		sum, size, reach, own, n = 0, 0, 0, 0, 0
		over, off := w.each(i, take)
		// An element's own error passes by its weight, of which the sum over a window is 1.
		if b = gamma(max(n, over)+4, unit)*size/over + own; off > 0 {
			b += off * reach
		}
		if math.IsInf(off, 1) {
			b = off
		}
		return sum / over, b
	}
	return v
}

// spread gives the gradient of a result to what it was made of; "grad" is that of the result, for
// recorders that look at the last step.
func spread(of func(k *invocation, x, out []int64) *windows) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		return gradients{
			"input": func() Values {
				x, d := k.tensor("input"), gradient(g, 0)
				return of(k, x.shape, d.Shape()).share(k.Call, d, x.shape)
			},
			"grad": func() Values { return gradient(g, 0) },
		}
	}
}

// poolInput is x in the order N, C, spatial, and what turns the result back.
// Spatial axes are two or three; output 0 says their sizes.
func (c *Call) poolInput() (x *operand, v Values, out []int64, back []int) {
	x = c.need("x", 0)
	shape := c.shape()
	v, out, back = images(x, x.axes, shape)
	return x, v, out, back
}

// images are x, whose axes go by letters, in the order N, C, spatial, the spatial axes of shape,
// which has the letters of x, and what turns x back.
func images(x Values, letters string, shape []int64) (v Values, out []int64, back []int) {
	rank := len(x.Shape())
	refuseIf(len(shape) != rank || rank != 4 && rank != 5, ShapesDiffer, x.Shape(), shape)
	want := plainAxes(rank)
	if len(letters) != rank {
		letters = want
	}
	v, perm := channelsFirst(x, letters, want)
	sorted, _ := channelsFirst(&dense{shape: shape}, letters, want)
	refuseIf(!slices.Equal(sorted.Shape()[:2], v.Shape()[:2]), ShapesDiffer, x.Shape(), shape)
	return v, sorted.Shape()[2:], inverse(perm)
}

// buildPooling: mode 0 is the maximum, 1 the mean; ceil_mode 0 rounds the
// number of windows up, 1 down. Prototype: nn_pooling_ops.h.
func buildPooling(c *Call) Values {
	x, v, out, back := c.poolInput()
	mode := c.attrInt("mode", 0)
	global := c.attrBool("global_pooling", false)
	up := c.attrInt("ceil_mode", 0)
	refuseIf(mode != 0 && mode != 1 || len(x.shape) != 4, BadAttribute, "mode", mode, "0 or 1")
	in := v.Shape()[2:]
	window, stride, pad := in, ones(2), make([]int64, 4)
	if !global {
		for _, a := range []struct {
			key string
			dst *[]int64
			n   int
		}{{"window", &window, 2}, {"stride", &stride, 2}, {"pad", &pad, 4}} {
			list := c.attrInts(a.key)
			if list == nil && a.key != "window" {
				continue
			}
			refuseIf(len(list) != a.n, BadAttribute, a.key, list, itoa(a.n)+" numbers")
			*a.dst = list
		}
	}
	for i := range in {
		span := in[i] + pad[2*i] + pad[2*i+1] - window[i]
		refuseIf(stride[i] < 1 || span < 0 || !within(window[i], 1, 1<<20), BadAttribute, "window, stride", shapeText(window, stride), "what fits "+shapeText(in))
		if up == 0 {
			span += stride[i] - 1
		}
		if span/stride[i]+1 != out[i] && !(up == 0 && span/stride[i] == out[i]) { // a window that would begin outside may be left out
			panic(refusal(ShapeComputed, itoa(int(span/stride[i]+1)), shapeText(out)))
		}
	}
	w := newWindows(v, out, window, geometry{stride: stride, before: []int64{pad[0], pad[2]}, dilation: ones(2)}, []int64{pad[1], pad[3]}, false)
	return transpose(w.values(c, v, mode == 0), back)
}

// buildPool is a maximum or a mean of windows.
func buildPool(c *Call, largest bool) Values {
	x, v, out, back := c.poolInput()
	return transpose(c.poolWindows(x, v.Shape(), out, largest).values(c, v, largest), back)
}

// buildLargestGrad: x, its pooled maxima and their gradient. Prototypes: max_pool_grad_proto.h,
// nn_pooling_ops.h.
func buildLargestGrad(c *Call) Values {
	x, g := c.need("x1", 0), c.input("grad", 2)
	refuseIf(g == nil, NoInput, "grad")
	v, out, back := images(x, x.axes, g.shape)
	d, _, _ := images(g, g.axes, g.shape)
	return transpose(c.poolWindows(x, v.Shape(), out, true).toLargest(c, v, d, v.Shape()), back)
}

// buildAverageGrad: the shape of what was pooled, which stands in an attribute of kernels for fixed
// shapes, and the gradient of the means. A window that is larger than the image, of which half is
// smaller, is none of TensorFlow's (nn_pooling_ops.h).
func buildAverageGrad(c *Call) Values {
	fixed := strings.HasSuffix(c.Type, "D")
	g := c.need("input_grad", int(1-toNumber(fixed)))
	shape := c.shape()
	want := c.attrInts("orig_input_shape")
	if !fixed {
		want = ints(c.need("orig_input_shape", 0))
	}
	refuseIf(!slices.Equal(shape, want), ShapesDiffer, shape, want)
	v, in, _ := images(g, g.axes, shape)
	d, out, back := images(g, g.axes, g.shape)
	whole := append(slices.Clone(v.Shape()[:2]), in...)
	w := c.poolWindows(g, whole, out, false)
	for i, n := range in {
		window := w.window[i]
		refuseIf(window > n && window/2 < n-1, Unsupported, "ksize "+itoa(int(window))+" of "+itoa(int(n)))
	}
	return transpose(w.share(c, d, whole), back)
}

// poolWindows are the windows of a kernel over x (N, C, spatial), whose axes go by the letters of
// of: ksize and strides count the axes of that layout; padding is SAME or VALID, or given by pads.
// A mean counts the cells inside, or with exclusive false those of the padding, too.
func (c *Call) poolWindows(of *operand, x, out []int64, largest bool) *windows {
	axes, in := of.axesOr(plainAxes(len(x))), x[2:]
	ksize := c.attrInts("ksize")
	strides := c.attrInts("strides")
	window, stride := spatial(axes, ksize), spatial(axes, strides)
	refuseIf(len(window) != len(in) || len(stride) != len(in), BadAttribute, "ksize, strides", shapeText(ksize, strides), "one for each axis of "+axes)
	refuseIf(!largest && c.attrInt("divisor_override", 0) != 0, Unsupported, "divisor_override")
	before, after := make([]int64, len(in)), make([]int64, len(in))
	pads := c.attrInts("pads")
	global := c.attrBool("global_pooling", false)
	mode := strings.ToUpper(c.attrs.Get("padding").Text() + c.attrs.Get("padding_mode").Text() + c.attrs.Get("padding_mod").Text())
	if global {
		window, stride = in, ones(len(in))
	} else if len(pads) == 2*len(in) && !strings.Contains(mode, "SAME") && !strings.Contains(mode, "VALID") {
		for i := range in {
			before[i], after[i] = pads[2*i], pads[2*i+1]
		}
	} else if strings.Contains(mode, "SAME") {
		for i := range in {
			refuseIf(!within(stride[i], 1, 1<<20) || !within(window[i], 1, 1<<20), BadAttribute, "strides", stride, "small positive numbers")
			// SAME as in TensorFlow: one more behind where the padding is odd.
			total := max(0, (out[i]-1)*stride[i]+window[i]-in[i])
			before[i], after[i] = total/2, total-total/2
		}
	} else if !strings.Contains(mode, "VALID") {
		panic(refusal(BadAttribute, "padding", mode, "SAME or VALID"))
	}
	exclusive := c.attrBool("exclusive", true)
	include := c.attrBool("count_include_pad", false)
	return newWindows(&dense{shape: x}, out, window, geometry{stride: stride, before: before, dilation: ones(len(in))}, after, !largest && (!exclusive || include))
}

// buildResize: x and the size of the result, an input or an attribute. Places are those of
// TensorFlow: p·(in−1)/(out−1) with align_corners, (p + ½)·in/out − ½ with half_pixel_centers, else
// p·in/out; nearest rounds them, the last down (TensorFlow's image_resizer_state.h and
// resize_nearest_neighbor_op.cc, with which the kernels are compatible:
// resize_bilinear_v2_proto.h). scales are another's.
func buildResize(c *Call, mode string) Values {
	x, v, out, back := c.poolInput()
	size := c.attrInts("size")
	if o := c.input("size", 1); o != nil {
		size = ints(o)
	}
	refuseIf(len(size) == 0, NoInput, "size")
	refuseIf(!slices.Equal(size, out), ShapeComputed, shapeText(size), shapeText(out))
	refuseIf(mode != "nearest" && discrete(c.outType()), BadType, "output 0", c.outType().String())
	for i, s := range c.attrs.Get("scales").Floats() {
		refuseIf(s != 0 && (i >= len(size) || float64(s)*float64(v.Shape()[2+i]) != float64(size[i])), Unsupported, "scales")
	}
	at := edges
	corners, half := c.attrBool("align_corners", false), c.attrBool("half_pixel_centers", false)
	switch {
	case corners && half:
		panic(refusal(Unsupported, "align_corners with half_pixel_centers"))
	case corners:
		at = outermost
	case half:
		at = centres
	}
	refuseIf(len(x.shape) != 4 || slices.Max(out) > maxDense || slices.Contains(v.Shape(), 0) || slices.Contains(out, 0), ShapesDiffer, x.shape, out)
	w := windowsOf(v.Shape(), append(slices.Clone(v.Shape()[:2]), out...), 2, func(_ int, in, out int64) func(p int64) taps {
		list := tapsOf(mode, in, out, float64(in)/float64(out), at)
		return func(p int64) taps { return list[p] }
	})
	y := w.values(c, v, false).(*formula)
	y.exact = mode == "nearest"
	return transpose(y, back)
}

// buildGlobal takes each plane together.
func buildGlobal(c *Call) Values {
	_, v, out, back := c.poolInput()
	refuseIf(count(out) != 1, ShapeComputed, "1", out)
	in := v.Shape()[2:]
	w := newWindows(v, out, in, geometry{stride: ones(len(in)), before: make([]int64, len(in)), dilation: ones(len(in))}, nil, false)
	return transpose(w.values(c, v, c.Type == "GlobalMaxPool"), back)
}

// resized is torch.nn.functional.interpolate: every axis by itself, in the modes
// nearest, nearest-exact, linear (of 1 to 3 axes), bicubic and area.
func resized(k *invocation) Values {
	x := k.tensor("input")
	shape := k.shape()
	mode := k.string("mode", "nearest")
	if mode == "area" {
		r := adaptive(len(x.shape)-2, false)(k)
		return r[0].Out[0]
	}
	v := k.resizing(x.shape, shape).values(k.Call, x, false).(*formula)
	v.exact = mode == "nearest" || mode == "nearest-exact"
	return v
}

// resizing is how a call makes shape of x. Source places are (p + ½)·ratio − ½, or p·(in−1)/(out−1)
// with align_corners. The ratio is 1/scale_factor as it was given, or with recompute_scale_factor,
// or sizes, in/out.
func (k *invocation) resizing(x, shape []int64) *windows {
	mode := k.string("mode", "nearest")
	corners := k.bool("align_corners", false)
	refuseIf(k.bool("antialias", false), Unsupported, "antialias")
	d := len(x) - 2
	refuseIf(d < 1 || d > 3, ShapesDiffer, x, shape)
	scale := k.scales(d)
	size := k.ints("size")
	return windowsOf(x, shape, d, func(i int, in, out int64) func(p int64) taps {
		want := out
		switch {
		case len(size) == 1:
			want = size[0]
		case len(size) == d:
			want = size[i]
		case scale != nil:
			want = int64(math.Floor(float64(in) * scale[i]))
		default:
			panic(refusal(NoArgument, "size"))
		}
		refuseIf(want != out || out > maxDense || in < 1, ShapeComputed, want, shape)
		ratio := float64(in) / float64(out)
		fresh := k.bool("recompute_scale_factor", false)
		if scale != nil && !fresh {
			ratio = 1 / scale[i]
		}
		at := centres
		switch {
		case mode == "nearest":
			at = edges
		case corners:
			at = outermost
		}
		list := tapsOf(mode, in, out, ratio, at)
		return func(p int64) taps { return list[p] }
	})
}

// scales are the arguments scale_factor; nil if there are none.
func (k *invocation) scales(d int) []float64 {
	a := k.args["scale_factor"]
	if a.none() {
		return nil
	}
	list := a.list
	if a.v != nil {
		list = slices.Repeat([]*argument{a}, d)
	}
	refuseIf(len(list) != d, BadArgument, "scale_factor", len(list), itoa(d)+" numbers")
	out := make([]float64, d)
	for i, s := range list {
		f, ok := s.number()
		refuseIf(!ok || !(f > 0), BadArgument, "scale_factor", s.text(), "a positive number")
		out[i] = f
	}
	return out
}

// grid is what of an image and of its resized one lies on each other.
type grid uint8

const (
	centres   grid = iota // of cells all: place p is from (p + ½)·ratio − ½
	outermost             // the centres of the outermost cells: p·(in−1)/(out−1)
	edges                 // the first edge: p·ratio
)

// tapsOf are those of one axis. nearest takes the cell whose centre is nearest, or of edges the one
// that the place is in; linear the two neighbours, cubic four; beyond the border the outermost is
// repeated.
func tapsOf(mode string, in, out int64, ratio float64, at grid) []taps {
	list := make([]taps, out)
	clip := func(i int64) int64 { return min(max(i, 0), in-1) }
	if at == outermost {
		ratio = 0
		if out > 1 {
			ratio = float64(in-1) / float64(out-1)
		}
	}
	for i := range list {
		list[i].over = 1
		p := float64(i)
		source := p * ratio
		if at == centres {
			source = (p+0.5)*ratio - 0.5
		}
		// The ratio, the product with it and the shift by a half are rounded to float32, the ratio
		// perhaps as the reciprocal of another: four roundings, and as many for a fused or a
		// reordered form of them.
		off := 8 * u32 * (abs(p*ratio) + 1)
		switch mode {
		case "nearest", "nearest-exact":
			s := source
			if at != edges {
				s += 0.5
			}
			lo, hi := clip(int64(math.Floor(s-off))), clip(int64(math.Floor(s+off)))
			list[i].at, list[i].weight = []int64{clip(int64(math.Floor(s)))}, []float64{1}
			if lo != hi { // which of the two is a matter of rounding
				list[i].off = math.Inf(1)
			}
		case "linear", "bilinear", "trilinear":
			s := max(source, 0)
			lo := clip(int64(math.Floor(s)))
			w := s - float64(lo)
			list[i].at, list[i].weight, list[i].off = []int64{lo, clip(lo + 1)}, []float64{1 - w, w}, off
			if w > 1 {
				list[i].weight = []float64{0, 1}
			}
		case "bicubic":
			// Weights of a cubic change by less than 8 times what the place does.
			lo := int64(math.Floor(source))
			list[i].off = 8 * off
			for j, w := range cubic(source - float64(lo)) {
				list[i].at, list[i].weight = append(list[i].at, clip(lo+int64(j)-1)), append(list[i].weight, w)
			}
		default:
			panic(refusal(BadArgument, "mode", mode, "nearest, linear, bicubic or area"))
		}
	}
	return list
}

// cubic are the weights of cubic convolution with a = -0.75 at a distance t behind the second of
// four places (Keys, Cubic convolution interpolation, 1981, which has a = -0.5; -0.75 is that of
// PyTorch's UpSample.h and of OpenCV).
func cubic(t float64) [4]float64 {
	const a = -0.75
	near := func(x float64) float64 { return ((a+2)*x-(a+3))*x*x + 1 }
	far := func(x float64) float64 { return ((a*x-5*a)*x+8*a)*x - 4*a }
	return [4]float64{far(t + 1), near(t), near(1 - t), far(2 - t)}
}

// affineGrid are the places of an image that each place of another comes from, by a matrix (N, d,
// d+1): between -1 and 1, the last axis first. Without align_corners places are the centres of
// pixels, (2i + 1)/n − 1, with it the ends are −1 and 1; an axis of one pixel is 0.
func affineGrid(k *invocation) Values {
	theta, size := k.tensor("theta"), k.ints("size")
	d := len(size) - 2
	refuseIf(d < 2 || slices.Min(size) < 0 || len(theta.shape) != 3 || theta.shape[0] != size[0] || theta.shape[1] != int64(d) || theta.shape[2] != int64(d+1), ShapesDiffer, theta.shape, size)
	m, corners := held(theta).y, k.bool("align_corners", false)
	shape := append(append([]int64{size[0]}, size[2:]...), int64(d))
	return &formula{shape: shape, f: func(_ int64, at []int64) (float64, float64) {
		row := m[(at[0]*int64(d)+at[d+1])*int64(d+1):]
		y, reach := row[d], abs(row[d])
		for i := range d {
			n := float64(size[d+1-i])
			x := 2*float64(at[d-i])/max(n-1, 1) - 1
			if n == 1 {
				x = 0
			} else if !corners {
				x *= (n - 1) / n
			}
			y += row[i] * x
			reach += abs(row[i])
		}
		return y, 8 * k.unit() * reach
	}}
}

// gridSample takes an image between its places: linear or nearest, with a border of 0, the nearest
// or the mirrored image.
func (t *tape) gridSample() *dense {
	x, grid := t.in("input"), t.in("grid")
	t.mute(t.narrow > 0)
	n := len(x.shape) - 2
	mode, padding := t.mode("mode", "bilinear", "bilinear", "nearest", "bicubic"), t.mode("padding_mode", "zeros", "zeros", "border", "reflection")
	refuseIf(n < 2 || len(grid.shape) != n+2 || grid.shape[n+1] != int64(n) || grid.shape[0] != x.shape[0], ShapesDiffer, x.shape, grid.shape)
	refuseIf(mode == "bicubic", Unsupported, "mode bicubic")
	corners := t.bool("align_corners", false)
	size, out := x.shape[2:], t.blank(append([]int64{x.shape[0], x.shape[1]}, grid.shape[1:n+1]...))
	plane, places := count(size), count(grid.shape[1:n+1])
	steps := rowMajor(size)
	unscale := t.formulaOf("g,s)=((g+1)*s-1)/2")
	if corners {
		unscale = t.formulaOf("g,s)=(g+1)/2*(s-1)")
	}
	one := t.Number(1)
	for b := range x.shape[0] {
		for p := range places {
			at, lo := make([]float64, n), make([]int64, n)
			for d := range n { // the last axis comes first
				s := float64(size[d])
				v := unscale([]float64{grid.y[(b*places+p)*int64(n)+int64(n-1-d)], t.Number(s)})
				at[d] = t.inside(v, s, padding, corners)
				if lo[d] = int64(math.Floor(t.at(at[d]).y)); mode == "nearest" {
					lo[d] = int64(math.RoundToEven(t.at(at[d]).y))
				}
				near := t.at(at[d])
				// A place so near to a pixel that rounding may put it on either side has the same
				// value from both, but a slope of its own from each; of the nearest one it is the
				// middle between pixels, where the value itself is open.
				edge := abs(near.y - math.Round(near.y))
				if mode == "nearest" {
					edge = abs(abs(near.y-math.Floor(near.y)) - 0.5)
				}
				if edge <= near.b+4*t.a.u*s { // either side of a place
					at[d] = t.push(taped{v: num{near.y, near.b}, from: [2]int{int(at[d]), int(at[d])}, slopes: [2]num{{1, math.Inf(1)}}})
				}
			}
			for c := range x.shape[1] {
				var terms []float64
				for corner := range 1 << n {
					weight, place, there := one, int64(0), true
					for d := range n {
						i := lo[d]
						w := t.sub(at[d], t.Number(float64(i)))
						if high := corner>>d&1 == 1; high {
							i++
						} else {
							w = t.sub(one, w)
						}
						if mode == "nearest" {
							w = one
							there = there && corner == 0
						}
						there = there && i >= 0 && i < size[d]
						place += i * steps[d]
						weight = t.mul(weight, w)
					}
					if there {
						terms = append(terms, t.mul(x.y[(b*x.shape[1]+c)*plane+place], weight))
					}
				}
				v := t.sum(terms...)
				if mode == "nearest" && slices.ContainsFunc(at, func(p float64) bool { return int(p) >= 0 && math.IsInf(t.steps[int(p)].slopes[0].b, 1) }) {
					v = t.unsure()
				}
				out.y[(b*x.shape[1]+c)*places+p] = v
			}
		}
	}
	return out
}

// inside is a place brought inside an axis. border clamps to 0 … s−1. reflection mirrors at −½ and
// s−½, or with align_corners at the first and last pixel: the number of turns says whether the
// image is seen backwards. zeros leaves the place outside.
func (t *tape) inside(v, s float64, padding string, corners bool) float64 {
	x := t.at(v).y
	refuseIf(math.IsNaN(x) || abs(x) > 1<<40, Unsupported, "places that are no numbers")
	switch padding {
	case "border":
		return t.Combine("min", t.Combine("max", v, t.Number(0)), t.Number(s-1))
	case "reflection":
		lo, span := -0.5, s
		if corners {
			lo, span = 0, s-1
		}
		if span <= 0 {
			return t.Number(0)
		}
		turns := math.Floor((x - lo) / span)
		if off := (x - lo) / span; abs(off-math.Round(off)) < 1e-6 {
			v = t.push(taped{v: t.at(v), from: [2]int{int(v), int(v)}, slopes: [2]num{{1, math.Inf(1)}}})
		}
		y := t.sub(v, t.Number(lo+turns*span))
		if math.Mod(turns, 2) != 0 {
			y = t.sub(t.Number(span), y)
		}
		y = t.add(y, t.Number(lo))
		return t.Combine("min", t.Combine("max", y, t.Number(0)), t.Number(s-1))
	}
	return v
}
