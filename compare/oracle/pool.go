package oracle

import (
	"math"
	"slices"
	"strings"
)

// Pooling of PyTorch: windows of the last axes. A maximum is exact; a mean counts the
// padding unless count_include_pad says otherwise. Windows may hang over the end with
// ceil_mode, and have to begin inside.

// poolArgs are the windows of a call.
type poolArgs struct {
	kernelArgs
	x      *operand
	v      Values // (N, C, spatial)
	window []int64
	out    []int64
}

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

// pooled is the pool of a call.
func (k *invocation) pooled(d int, largest bool) (p poolArgs, v *pool) {
	p = k.poolArgs(d)
	k.unsupported("divisor_override")
	refuseIf(discrete(k.outType()) && !largest && k.Op == nil, BadType, "output 0", k.outType().String())
	v = k.newPool(p.v, p.out, p.window, p.stride, p.before, p.after, p.dilation, largest)
	v.outside = k.bool("count_include_pad", true) && !largest
	return p, v
}

func pooling(d int, largest bool) func(k *invocation) []Reading {
	return formulaFor(func(k *invocation) Values {
		p, v := k.pooled(d, largest)
		return p.shaped(v.values(k.Call))
	})
}

// maximumGradient gives the gradient of a maximum to the place it was taken from, of equal ones to any.
func maximumGradient(d int) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		return gradients{"input": func() Values {
			p, windows := k.pooled(d, true)
			gs, _ := batched(gradient(g, 0), d)
			refuseIf(!slices.Equal(gs.Shape(), windows.shape), ShapesDiffer, gs.Shape(), p.out)
			x := must(held(p.v))
			sum := newSpreader(int64(len(x.y)))
			var cells []int64
			for o, t := range must(held(gs)).y {
				cells = cells[:0]
				windows.cells(int64(o), func(place int64) { cells = append(cells, place) })
				best, ties := int64(-1), 0
				for _, c := range cells {
					switch {
					case best < 0 || x.y[c] > x.y[best] || math.IsNaN(x.y[c]):
						best, ties = c, 1
					case x.y[c] == x.y[best]:
						ties++
					}
				}
				if best < 0 {
					continue
				}
				sum.add(best, t, 1, 0)
				for _, c := range cells {
					if ties > 1 && x.y[c] == x.y[best] { // of equal ones any
						sum.add(c, t, 0, 1)
					}
				}
			}
			return sum.values(p.x.shape, true, k.sumUnit())
		}}
	}
}

// meanGradient gives the gradient of the mean of windows to all that it is of, evenly.
func meanGradient(windows func(k *invocation, x *operand, out []int64) func(i int64, f func(place int64)) float64) func(k *invocation, g []Values) gradients {
	return weighed(func(k *invocation, x *operand, out []int64) func(i int64, add func(place int64, weight, off float64)) {
		cells := windows(k, x, out)
		return func(i int64, add func(place int64, weight, off float64)) {
			n := cells(i, func(int64) {})
			cells(i, func(place int64) { add(place, 1/n, 0) })
		}
	})
}

// adaptiveWindows divides each axis into windows from ⌊i·in/out⌋ to ⌈(i+1)·in/out⌉; cells
// calls f for the places that element i of the result takes, and says how many they are.
func adaptiveWindows(x, shape []int64, d int) (cells func(i int64, f func(place int64)) float64) {
	lead := len(x) - d
	refuseIf(lead < 1 || len(shape) != len(x) || !slices.Equal(shape[:lead], x[:lead]) || slices.Contains(shape, 0), ShapesDiffer, x, shape)
	in, out := x[lead:], shape[lead:]
	plane, planes := count(in), count(out)
	at, begin, window, c := make([]int64, d), make([]int64, d), make([]int64, d), make([]int64, d)
	return func(i int64, f func(place int64)) float64 {
		unravel(i%planes, out, at)
		for a, p := range at {
			begin[a] = p * in[a] / out[a]
			window[a] = ((p+1)*in[a]+out[a]-1)/out[a] - begin[a]
		}
		n := count(window)
		for j := range n {
			unravel(j, window, c)
			place := int64(0)
			for a := range c {
				place = place*in[a] + begin[a] + c[a]
			}
			f(i/planes*plane + place)
		}
		return float64(n)
	}
}

func adaptive(d int, largest bool) func(k *invocation) []Reading {
	return formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		shape := k.shape()
		cells := adaptiveWindows(x.shape, shape, d)
		return k.windowed(shape, x, cells, largest, 0)
	})
}

func poolForms() {
	for d, name := range map[int]string{1: "1d", 2: "2d", 3: "3d"} {
		define("max_pool"+name, function{forward: pooling(d, true), backward: maximumGradient(d)})
		define("avg_pool"+name, function{forward: pooling(d, false), backward: meanGradient(func(k *invocation, _ *operand, out []int64) func(i int64, f func(place int64)) float64 {
			_, windows := k.pooled(d, false)
			refuseIf(count(out) != count(windows.shape), ShapesDiffer, out, windows.shape)
			return windows.cells
		})})
		define("adaptive_avg_pool"+name, function{forward: adaptive(d, false), nodes: [][]string{{"grad"}},
			backward: meanGradient(func(_ *invocation, x *operand, out []int64) func(i int64, f func(place int64)) float64 {
				return adaptiveWindows(x.shape, out, d)
			})})
		define("adaptive_max_pool"+name, function{forward: adaptive(d, true)})
	}
	define("interpolate", function{forward: formulaFor(resized), backward: weighed(resizedFrom)})
}

// pool is the maximum or mean of windows of the last axes of x (N, C, spatial).
// Windows may hang over the border; what lies outside takes no part, unless
// the mean counts it.
type pool struct {
	shape []int64
	x     Values
	geometry
	in, out, window []int64
	largest         bool
	outside         bool // the mean counts cells of the padding
	after           []int64
	p, k            []int64
}

func (v *pool) values(c *Call) Values {
	return c.windowed(v.shape, v.x, v.cells, v.largest, float64(count(v.window)))
}

// windowed is the maximum or mean of the places of x that cells calls for, which says how many a mean divides by. Max: exact.
// Mean: B = g(n+4)·mean|x| of n numbers, which takes n roundings.
func (c *Call) windowed(shape []int64, in Values, cells func(i int64, f func(place int64)) float64, largest bool, cost float64) Values {
	x, unit := must(held(in)), c.sumUnit()
	return &formula{shape: shape, exact: largest && isExact(in), cost: cost, f: func(i int64, _ []int64) (y, b float64) {
		sum, size, off, best := 0.0, 0.0, 0.0, math.Inf(-1)
		n := cells(i, func(place int64) {
			v := x.y[place]
			sum += v
			size += abs(v)
			best = math.Max(best, v)
			if x.b != nil {
				off = max(off, x.b[place])
			}
		})
		switch {
		case !largest:
			return sum / n, gamma(n+4, unit)*size/n + off
		case math.IsNaN(best):
			off = math.Inf(1)
		}
		return best, off
	}}
}

// cells calls f for the places of x that window i covers, and says how many a mean divides by.
func (v *pool) cells(i int64, f func(place int64)) (n float64) {
	p, plane := v.p, count(v.out)
	unravel(i%plane, v.out, p)
	base := i / plane * count(v.in)
	clear(v.k)
	for range count(v.window) {
		at, inside, counted := int64(0), true, v.outside
		for a := range v.in {
			i := p[a]*v.stride[a] - v.before[a] + v.k[a]*v.dilation[a]
			inside = inside && i >= 0 && i < v.in[a]
			counted = counted && i < v.in[a]+v.after[a]
			at = at*v.in[a] + i
		}
		if inside {
			f(base + at)
		}
		if inside || counted {
			n++
		}
		for a := len(v.k) - 1; a >= 0; a-- {
			if v.k[a]++; v.k[a] < v.window[a] {
				break
			}
			v.k[a] = 0
		}
	}
	return n
}

func poolKernels() {
	register(single(buildPooling), "pooling")
	register(single(func(c *Call) Values { return buildPool(c, true) }), "largest")
	register(single(func(c *Call) Values { return buildPool(c, false) }), "average")
	register(single(buildGlobal), "whole")
}

// poolInput is x in the order N, C, spatial, and what turns the result back.
func (c *Call) poolInput() (x *operand, v Values, out []int64, back []int) {
	x = c.need("x", 0)
	shape, ok := c.out(0)
	rank := len(x.shape)
	refuseIf(!ok || len(shape) != rank || rank != 4 && rank != 5, ShapesDiffer, x.shape, shape)
	want := plainAxes(rank)
	v, perm := channelsFirst(x, x.axesOr(want), want)
	sorted, _ := channelsFirst(&dense{shape: shape}, x.axesOr(want), want)
	refuseIf(!slices.Equal(sorted.Shape()[:2], v.Shape()[:2]), ShapesDiffer, x.shape, shape)
	return x, v, sorted.Shape()[2:], inverse(perm)
}

func (c *Call) newPool(v Values, out, window, stride, before, after, dilation []int64, largest bool) *pool {
	in := v.Shape()[2:]
	for i := range in {
		if !within(window[i], 1, 1<<16) || !within(stride[i], 1, 1<<16) || !within(before[i], 0, 1<<16) || !within(dilation[i], 1, 1<<16) ||
			count(window) > 1<<20 || before[i] >= window[i]*dilation[i] || (out[i]-1)*stride[i]-before[i] >= in[i] {
			panic(refuse(BadAttribute, "window, stride, pad", shapeText(window, stride, before), "what fits "+shapeText(in, out)))
		}
	}
	return &pool{shape: append(slices.Clone(v.Shape()[:2]), out...), x: v, in: in, out: out, window: window, after: after,
		geometry: geometry{stride: stride, before: before, dilation: dilation, spread: ones(len(in))}, largest: largest, p: make([]int64, len(in)), k: make([]int64, len(in))}
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
	window, stride, pad, dilation := in, ones(2), make([]int64, 4), ones(2)
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
			panic(refuse(ShapeComputed, itoa(int(span/stride[i]+1)), shapeText(out)))
		}
	}
	p := c.newPool(v, out, window, stride, []int64{pad[0], pad[2]}, []int64{pad[1], pad[3]}, dilation, mode == 0)
	return transpose(p.values(c), back)
}

// buildPool: ksize and strides count the axes of x's layout; padding is SAME or
// VALID, or given by pads. A mean counts the cells inside, or with exclusive
// false those of the padding, too.
func buildPool(c *Call, largest bool) Values {
	x, v, out, back := c.poolInput()
	rank := len(x.shape)
	axes := x.axesOr(plainAxes(rank))
	in := v.Shape()[2:]
	ksize := c.attrInts("ksize")
	strides := c.attrInts("strides")
	window, stride := spatial(axes, ksize), spatial(axes, strides)
	refuseIf(len(window) != len(in) || len(stride) != len(in), BadAttribute, "ksize, strides", shapeText(ksize, strides), "one for each axis of "+axes)
	before, after := make([]int64, len(in)), make([]int64, len(in))
	pads := c.attrInts("pads")
	global := c.attrBool("global_pooling", false)
	mode := strings.ToUpper(c.attrs.Get("padding").Text() + c.attrs.Get("padding_mode").Text())
	if global {
		window, stride = in, ones(len(in))
	} else if len(pads) == 2*len(in) && !strings.Contains(mode, "SAME") && !strings.Contains(mode, "VALID") {
		for i := range in {
			before[i], after[i] = pads[2*i], pads[2*i+1]
		}
	} else if strings.Contains(mode, "SAME") {
		for i := range in {
			refuseIf(!within(stride[i], 1, 1<<20) || !within(window[i], 1, 1<<20), BadAttribute, "strides", stride, "small positive numbers")
			total := max(0, (out[i]-1)*stride[i]+window[i]-in[i])
			before[i], after[i] = total/2, total-total/2
		}
	} else if !strings.Contains(mode, "VALID") {
		panic(refuse(BadAttribute, "padding", mode, "SAME or VALID"))
	}
	p := c.newPool(v, out, window, stride, before, after, ones(len(in)), largest)
	exclusive := c.attrBool("exclusive", true)
	include := c.attrBool("count_include_pad", false)
	p.outside = !largest && (!exclusive || include)
	return transpose(p.values(c), back)
}

// buildGlobal takes each plane together.
func buildGlobal(c *Call) Values {
	_, v, out, back := c.poolInput()
	refuseIf(count(out) != 1, ShapeComputed, "1", out)
	in := v.Shape()[2:]
	zero := make([]int64, len(in))
	p := c.newPool(v, out, in, ones(len(in)), zero, zero, ones(len(in)), c.Type == "GlobalMaxPool")
	return transpose(p.values(c), back)
}

// taps are what one place of an axis is made of: places of the input and their
// weights, which may be off by off as places are computed in float32.
type taps struct {
	at     []int64
	weight []float64
	off    float64
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
	axes := k.resizing(x.shape, shape)
	held := must(held(x))
	return &formula{shape: shape, exact: mode == "nearest" || mode == "nearest-exact", f: blend(held, x.shape[2:], axes, k.sumUnit())}
}

// resizedFrom says which places of x an element of the result is made of.
func resizedFrom(k *invocation, x *operand, out []int64) func(i int64, add func(place int64, weight, off float64)) {
	axes := k.resizing(x.shape, out)
	in := x.shape[2:]
	plane, planes, at := count(in), count(out[2:]), make([]int64, len(in))
	return func(i int64, add func(place int64, weight, off float64)) {
		unravel(i%planes, out[2:], at)
		off := 0.0
		for a, p := range at {
			off += axes[a][p].off
		}
		eachTap(axes, in, at, func(place int64, w float64) { add(i/planes*plane+place, w, off) })
	}
}

// resizing are the taps of every axis of a call that makes shape of x.
func (k *invocation) resizing(x, shape []int64) [][]taps {
	mode := k.string("mode", "nearest")
	corners := k.bool("align_corners", false)
	if smooth := k.bool("antialias", false); smooth {
		panic(refuse(Unsupported, "antialias"))
	}
	d := len(x) - 2
	refuseIf(d < 1 || d > 3 || len(shape) != d+2 || !slices.Equal(shape[:2], x[:2]), ShapesDiffer, x, shape)
	scale := k.scales(d)
	size := k.ints("size")
	axes := make([][]taps, d)
	for i := range axes {
		in, out := x[2+i], shape[2+i]
		want := out
		switch {
		case len(size) == 1:
			want = size[0]
		case len(size) == d:
			want = size[i]
		case scale != nil:
			want = int64(math.Floor(float64(in) * scale[i]))
		default:
			panic(refuse(NoArgument, "size"))
		}
		refuseIf(want != out || out > maxDense || in < 1, ShapeComputed, want, shape)
		ratio := float64(in) / float64(out)
		fresh := k.bool("recompute_scale_factor", false)
		if scale != nil && !fresh {
			ratio = 1 / scale[i]
		}
		axes[i] = tapsOf(mode, in, out, ratio, corners)
	}
	return axes
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

// tapsOf are those of one axis.
func tapsOf(mode string, in, out int64, ratio float64, corners bool) []taps {
	list := make([]taps, out)
	clip := func(i int64) int64 { return min(max(i, 0), in-1) }
	if corners {
		ratio = 0
		if out > 1 {
			ratio = float64(in-1) / float64(out-1)
		}
	}
	for i := range list {
		p := float64(i)
		source := (p+0.5)*ratio - 0.5
		if corners {
			source = p * ratio
		}
		// The ratio, the product with it and the shift by a half are rounded to float32, the ratio perhaps as the reciprocal of
		// another: four roundings, and as many for a fused or a reordered form of them.
		off := 8 * u32 * (abs(p*ratio) + 1)
		switch mode {
		case "nearest", "nearest-exact":
			s := p * ratio
			if mode == "nearest-exact" {
				s = (p + 0.5) * ratio
			}
			lo, hi := clip(int64(math.Floor(s-off))), clip(int64(math.Floor(s+off)))
			list[i] = taps{at: []int64{clip(int64(math.Floor(s)))}, weight: []float64{1}}
			if lo != hi { // which of the two is a matter of rounding
				list[i].off = math.Inf(1)
			}
		case "linear", "bilinear", "trilinear":
			s := max(source, 0)
			lo := clip(int64(math.Floor(s)))
			w := s - float64(lo)
			list[i] = taps{at: []int64{lo, clip(lo + 1)}, weight: []float64{1 - w, w}, off: off}
			if w > 1 {
				list[i].weight = []float64{0, 1}
			}
		case "bicubic":
			lo := int64(math.Floor(source))
			list[i].off = 8 * off
			for j, w := range cubic(source - float64(lo)) {
				list[i].at, list[i].weight = append(list[i].at, clip(lo+int64(j)-1)), append(list[i].weight, w)
			}
		default:
			panic(refuse(BadArgument, "mode", mode, "nearest, linear, bicubic or area"))
		}
	}
	return list
}

// cubic are the weights of cubic convolution with a = -0.75 at a distance t behind the
// second of four places (Keys, Cubic convolution interpolation, 1981, which has a = -0.5; -0.75 is that of PyTorch's
// UpSample.h and of OpenCV).
func cubic(t float64) [4]float64 {
	const a = -0.75
	near := func(x float64) float64 { return ((a+2)*x-(a+3))*x*x + 1 }
	far := func(x float64) float64 { return ((a*x-5*a)*x+8*a)*x - 4*a }
	return [4]float64{far(t + 1), near(t), near(1 - t), far(2 - t)}
}

// blend sums the taps of all axes: with weights off by δ, B = Σ|x|·δ + g(n+4)·Σ|w·x|.
func blend(x *dense, in []int64, axes [][]taps, unit float64) func(i int64, at []int64) (float64, float64) {
	plane := count(in)
	planes := int64(1)
	for _, a := range axes {
		planes *= int64(len(a))
	}
	return func(i int64, at []int64) (float64, float64) {
		base := i / planes * plane
		sum, size, reach, n := 0.0, 0.0, 0.0, 1.0
		off := 0.0
		for a, p := range at[2:] {
			off += axes[a][p].off
			n *= float64(len(axes[a][p].at))
		}
		eachTap(axes, in, at[2:], func(place int64, w float64) {
			v := x.y[base+place]
			if w != 0 {
				sum += w * v
				size += abs(w * v)
			}
			reach += abs(v)
		})
		if math.IsInf(off, 1) {
			return sum, off
		}
		return sum, off*reach + gamma(n+4, unit)*size
	}
}

// eachTap calls f for what the element at some place of the result is made of.
func eachTap(axes [][]taps, in, at []int64, f func(place int64, weight float64)) {
	var walk func(a int, place int64, w float64)
	walk = func(a int, place int64, w float64) {
		if a == len(axes) {
			f(place, w)
			return
		}
		t := &axes[a][at[a]]
		for j, p := range t.at {
			walk(a+1, place*in[a]+p, w*t.weight[j])
		}
	}
	walk(0, 0, 1)
}
