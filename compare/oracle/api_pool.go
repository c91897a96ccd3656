package oracle

import (
	"math"
	"slices"
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
	if len(p.v.Shape()) != d+2 {
		panic(refuse(ShapesDiffer, shapeText(p.x.shape)))
	}
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
		if span < 0 || !within(p.before[i], 0, p.window[i]) {
			panic(refuse(ShapesDiffer, shapeText(in, p.window)))
		}
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

func pooling(d int, largest bool) func(k *invocation) []Reading {
	return formulaFor(func(k *invocation) Values {
		p := k.poolArgs(d)
		if k.has("divisor_override") {
			panic(refuse(Unsupported, "divisor_override"))
		}
		v := k.newPool(p.v, p.out, p.window, p.stride, p.before, p.after, p.dilation, largest)
		v.outside = k.bool("count_include_pad", true)
		v.outside = v.outside && !largest
		return p.shaped(v)
	})
}

// cells lists the places of the input that a window covers, and how many the mean
// counts.
func (p *poolArgs) cells(at []int64, f func(place int64)) (counted float64) {
	in := p.v.Shape()[2:]
	c := make([]int64, len(in))
	for i := range count(p.window) {
		unravel(i, p.window, c)
		place, inside, counts := int64(0), true, true
		for a := range in {
			x := at[a]*p.stride[a] - p.before[a] + c[a]*p.dilation[a]
			inside = inside && x >= 0 && x < in[a]
			counts = counts && x < in[a]+p.after[a]
			place = place*in[a] + x
		}
		if inside {
			f(place)
		}
		if counts {
			counted++
		}
	}
	return counted
}

// poolingGradient gives the gradient of a maximum to the place it was taken from,
// of equal ones to any, and that of a mean to all evenly.
func poolingGradient(d int, largest bool) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		return gradients{"input": func() Values {
			p := k.poolArgs(d)
			dy := gradient(g, 0)
			if k.has("divisor_override") {
				panic(refuse(Unsupported, "divisor_override"))
			}
			padding := k.bool("count_include_pad", true)
			gs, _ := batched(dy, d)
			planes := count(p.v.Shape()[:2])
			if !slices.Equal(gs.Shape()[2:], p.out) || count(gs.Shape()[:2]) != planes {
				panic(refuse(ShapesDiffer, shapeText(gs.Shape(), p.out)))
			}
			grads := must(held(gs))
			x := must(held(p.v))
			in, out := count(p.v.Shape()[2:]), count(p.out)
			size := make([]float64, len(x.y))
			v := &dense{shape: p.x.shape, y: make([]float64, len(x.y)), b: make([]float64, len(x.y))}
			at := make([]int64, d)
			var cells []int64
			u := k.sumUnit()
			for plane := range planes {
				for o := range out {
					unravel(o, p.out, at)
					cells = cells[:0]
					n := p.cells(at, func(place int64) { cells = append(cells, plane*in+place) })
					t := grads.y[plane*out+o]
					if !largest {
						if !padding {
							n = float64(len(cells))
						}
						for _, c := range cells {
							v.y[c] += t / n
							size[c] += abs(t / n)
						}
						continue
					}
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
					v.y[best] += t
					size[best] += abs(t)
					if ties > 1 {
						for _, c := range cells {
							if x.y[c] == x.y[best] {
								v.b[c] += abs(t)
							}
						}
					}
				}
			}
			most := gamma(float64(count(p.window))+2, u)
			for i := range v.b {
				v.b[i] += most * size[i]
			}
			return v
		}}
	}
}

// adaptiveWindows divides each axis into windows from ⌊i·in/out⌋ to ⌈(i+1)·in/out⌉; cells
// calls f for the places that element i of the result takes, and says how many they are.
func adaptiveWindows(x, shape []int64, d int) (cells func(i int64, f func(place int64)) float64) {
	lead := len(x) - d
	if lead < 1 || len(shape) != len(x) || !slices.Equal(shape[:lead], x[:lead]) || slices.Contains(shape, 0) {
		panic(refuse(ShapesDiffer, shapeText(x, shape)))
	}
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
		held := must(held(x))
		u := k.sumUnit()
		return &formula{shape: shape, exact: largest, f: func(i int64, _ []int64) (float64, float64) {
			sum, size, best := 0.0, 0.0, math.Inf(-1)
			n := cells(i, func(place int64) {
				v := held.y[place]
				sum += v
				size += abs(v)
				best = math.Max(best, v)
			})
			if largest {
				return best, 0
			}
			return sum / n, gamma(n+4, u) * size / n
		}}
	})
}

// adaptiveGradient gives the gradient of a mean to all that it is of, evenly.
func adaptiveGradient(d int) func(k *invocation, g []Values) gradients {
	return weighed(func(k *invocation, x *operand, out []int64) func(i int64, add func(place int64, weight, off float64)) {
		cells := adaptiveWindows(x.shape, out, d)
		return func(i int64, add func(place int64, weight, off float64)) {
			n := cells(i, func(int64) {})
			cells(i, func(place int64) { add(place, 1/n, 0) })
		}
	})
}

func init() {
	for d, name := range map[int]string{1: "1d", 2: "2d", 3: "3d"} {
		define("max_pool"+name, "input kernel_size stride padding dilation ceil_mode return_indices",
			function{forward: pooling(d, true), backward: poolingGradient(d, true)})
		define("avg_pool"+name, "input kernel_size stride padding ceil_mode count_include_pad divisor_override",
			function{forward: pooling(d, false), backward: poolingGradient(d, false)})
		define("adaptive_avg_pool"+name, "input output_size", function{forward: adaptive(d, false), backward: adaptiveGradient(d), nodes: [][]string{{"grad"}}})
		define("adaptive_max_pool"+name, "input output_size return_indices", function{forward: adaptive(d, true)})
	}
	define("interpolate upsample", "input size scale_factor mode align_corners recompute_scale_factor antialias", function{forward: formulaFor(resized), backward: weighed(resizedFrom)})
}
