package oracle

import (
	"math"
	"slices"
)

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
	if d < 1 || d > 3 || len(shape) != d+2 || !slices.Equal(shape[:2], x[:2]) {
		panic(refuse(ShapesDiffer, shapeText(x, shape)))
	}
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
		if want != out || out > maxDense || in < 1 {
			panic(refuse(ShapeComputed, want, shapeText(shape)))
		}
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
	if len(list) != d {
		panic(refuse(BadArgument, "scale_factor", len(list), itoa(d)+" numbers"))
	}
	out := make([]float64, d)
	for i, s := range list {
		f, ok := s.number()
		if !ok || !(f > 0) {
			panic(refuse(BadArgument, "scale_factor", s.text(), "a positive number"))
		}
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
// second of four places.
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
