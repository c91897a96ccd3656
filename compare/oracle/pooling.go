package oracle

import (
	"math"
	"slices"
	"strings"
)

// pool is the maximum or mean of windows of the last axes of x (N, C, spatial).
// Windows may hang over the border; what lies outside takes no part, unless
// the mean counts it. Max: exact. Mean: B = g(n+2)·mean|x|, n the cells of a window.
type pool struct {
	shape []int64
	x     Values
	geometry
	in, out, window []int64
	largest         bool
	outside         bool // the mean counts cells of the padding
	after           []int64
	unit            float64

	held *dense
	p, k []int64
}

func (v *pool) Shape() []int64 { return v.shape }
func (v *pool) Exact() bool    { return v.largest && isExact(v.x) }
func (v *pool) Cost() float64  { return float64(count(v.window)) }

func (v *pool) Range(lo int64, y, b []float64) error {
	return v.each(len(y), func(i int) int64 { return lo + int64(i) }, y, b)
}

func (v *pool) At(idx []int64, y, b []float64) error {
	return v.each(len(idx), func(i int) int64 { return idx[i] }, y, b)
}

func (v *pool) each(n int, id func(i int) int64, y, b []float64) error {
	if v.held == nil {
		d, err := held(v.x)
		if err != nil {
			return err
		}
		v.held, v.p, v.k = d, make([]int64, len(v.in)), make([]int64, len(v.in))
	}
	plane, from := count(v.out), count(v.in)
	for i := range n {
		k := id(i)
		unravel(k%plane, v.out, v.p)
		value, bound := v.window1(v.held, k/plane*from)
		y[i] = value
		if b != nil {
			b[i] = bound
		}
	}
	return nil
}

// window1 computes the window at v.p of the plane that begins at base.
func (v *pool) window1(x *dense, base int64) (y, b float64) {
	cells := count(v.window)
	n, sum, size, off := 0.0, 0.0, 0.0, 0.0
	best := math.Inf(-1)
	for c := range cells {
		unravel(c, v.window, v.k)
		at, inside, counted := int64(0), true, true
		for a := range v.in {
			i := v.p[a]*v.stride[a] - v.before[a] + v.k[a]*v.dilation[a]
			inside = inside && i >= 0 && i < v.in[a]
			counted = counted && i < v.in[a]+v.after[a]
			at = at*v.in[a] + i
		}
		if !inside {
			if v.outside && counted {
				n++
			}
			continue
		}
		f := x.y[base+at]
		n++
		sum += f
		size += abs(f)
		best = math.Max(best, f)
		if x.b != nil {
			off = max(off, x.b[base+at])
		}
	}
	if v.largest {
		if math.IsNaN(best) {
			off = math.Inf(1)
		}
		return best, off
	}
	return sum / n, gamma(float64(cells)+2, v.unit)*size/n + off
}

func init() {
	register(single(buildPooling), "Pooling")
	register(single(func(c *Call) Values { return buildPool(c, true) }), "MaxPool", "MaxPoolV2", "MaxPoolV3", "MaxPool3D")
	register(single(func(c *Call) Values { return buildPool(c, false) }), "AvgPool", "AvgPoolV2", "AvgPool3D", "AvgPool3DD")
	register(single(buildGlobal), "GlobalAveragePool", "GlobalMaxPool")
}

// poolInput is x in the order N, C, spatial, and what turns the result back.
func (c *Call) poolInput() (x *operand, v Values, out []int64, back []int) {
	x = c.need("x", 0)
	shape, ok := c.out(0)
	rank := len(x.shape)
	if !ok || len(shape) != rank || rank != 4 && rank != 5 {
		panic(refuse(ShapesDiffer, shapeText(x.shape, shape)))
	}
	want := plainAxes(rank)
	v, perm := channelsFirst(x, x.axesOr(want), want)
	sorted, _ := channelsFirst(&dense{shape: shape}, x.axesOr(want), want)
	if !slices.Equal(sorted.Shape()[:2], v.Shape()[:2]) {
		panic(refuse(ShapesDiffer, shapeText(x.shape, shape)))
	}
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
		geometry: geometry{stride: stride, before: before, dilation: dilation, spread: ones(len(in))}, largest: largest, unit: c.sumUnit()}
}

// buildPooling: mode 0 is the maximum, 1 the mean; ceil_mode 0 rounds the
// number of windows up, 1 down. Prototype: nn_pooling_ops.h.
func buildPooling(c *Call) Values {
	x, v, out, back := c.poolInput()
	mode := c.attrInt("mode", 0)
	global := c.attrBool("global_pooling", false)
	up := c.attrInt("ceil_mode", 0)
	if mode != 0 && mode != 1 || len(x.shape) != 4 {
		panic(refuse(BadAttribute, "mode", mode, "0 or 1"))
	}
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
			if len(list) != a.n {
				panic(refuse(BadAttribute, a.key, shapeText(list), itoa(a.n)+" numbers"))
			}
			*a.dst = list
		}
	}
	for i := range in {
		span := in[i] + pad[2*i] + pad[2*i+1] - window[i]
		if stride[i] < 1 || span < 0 || !within(window[i], 1, 1<<20) {
			panic(refuse(BadAttribute, "window, stride", shapeText(window, stride), "what fits "+shapeText(in)))
		}
		if up == 0 {
			span += stride[i] - 1
		}
		if span/stride[i]+1 != out[i] && !(up == 0 && span/stride[i] == out[i]) { // a window that would begin outside may be left out
			panic(refuse(ShapeComputed, itoa(int(span/stride[i]+1)), shapeText(out)))
		}
	}
	p := c.newPool(v, out, window, stride, []int64{pad[0], pad[2]}, []int64{pad[1], pad[3]}, dilation, mode == 0)
	return transpose(p, back)
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
	if len(window) != len(in) || len(stride) != len(in) {
		panic(refuse(BadAttribute, "ksize, strides", shapeText(ksize, strides), "one for each axis of "+axes))
	}
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
			if !within(stride[i], 1, 1<<20) || !within(window[i], 1, 1<<20) {
				panic(refuse(BadAttribute, "strides", shapeText(stride), "small positive numbers"))
			}
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
	return transpose(p, back)
}

// buildGlobal takes each plane together.
func buildGlobal(c *Call) Values {
	_, v, out, back := c.poolInput()
	if count(out) != 1 {
		panic(refuse(ShapeComputed, "1", shapeText(out)))
	}
	in := v.Shape()[2:]
	zero := make([]int64, len(in))
	p := c.newPool(v, out, in, ones(len(in)), zero, zero, ones(len(in)), c.Type == "GlobalMaxPool")
	return transpose(p, back)
}
