package oracle

import "slices"

// Convolutions of PyTorch, their transposes and gradients. Sizes that the arguments
// give must be those of the recorded output.

// kernelArgs are how a kernel moves.
type kernelArgs struct {
	geometry
	after  []int64
	groups int64
}

func (k *invocation) kernelArgs(d int, kernel []int64) (a kernelArgs) {
	a.stride = k.each("stride", d, 1)
	a.dilation = k.each("dilation", d, 1)
	a.groups = k.int("groups", 1)
	a.spread, a.after = ones(d), make([]int64, d)
	for i := range kernel {
		if !within(a.stride[i], 1, 1<<20) || !within(a.dilation[i], 1, 1<<20) || !within(kernel[i], 1, 1<<20) {
			panic(refuse(BadArgument, "stride, dilation", shapeText(a.stride, a.dilation), "small positive numbers"))
		}
	}
	if k.args["padding"].isText() {
		mode := k.string("padding", "")
		a.before = make([]int64, d)
		if mode == "valid" {
			return a
		}
		if mode != "same" {
			panic(refuse(BadArgument, "padding", mode, "same or valid"))
		}
		for i := range kernel {
			total := a.dilation[i] * (kernel[i] - 1)
			a.before[i], a.after[i] = total/2, total-total/2
		}
		return a
	}
	a.before = k.each("padding", d, 0)
	copy(a.after, a.before)
	return a
}

// image is the input of a convolution.
func (k *invocation) image() *operand {
	k.required("input")
	return k.factored("input")
}

// batched gives a tensor without an axis for images one of size 1.
func batched(v Values, d int) (Values, bool) {
	if s := v.Shape(); len(s) == d+1 {
		return reshape(v, append([]int64{1}, s...)), true
	}
	return v, false
}

// windows is how many places a kernel has on each axis.
func (a *kernelArgs) windows(in, kernel []int64) []int64 {
	out := make([]int64, len(in))
	for i := range in {
		span := in[i] + a.before[i] + a.after[i] - a.dilation[i]*(kernel[i]-1) - 1
		if span < 0 || !within(a.before[i], 0, 1<<20) {
			panic(refuse(ShapesDiffer, shapeText(in, kernel)))
		}
		out[i] = span/a.stride[i] + 1
	}
	return out
}

// moves are the ways in which a kernel may move, as the arguments say, or where a
// module keeps these to itself, all that give the recorded shape.
func (k *invocation) moves(x, w []int64) (choices []choice, groups int64, out []int64) {
	d := len(x) - 2
	if !k.solve {
		a := k.kernelArgs(d, w[2:])
		out = a.windows(x[2:], w[2:])
		return []choice{{geometry: a.geometry}}, a.groups, out
	}
	shape := k.shape()
	if len(shape) < d || w[1] == 0 {
		panic(refuse(ShapesDiffer, shapeText(x, w)))
	}
	out = shape[len(shape)-d:]
	choices = solved(x[2:], w[2:], out)
	return choices, max(x[1]/w[1], 1), out
}

// convolution is that of d axes.
func convolution(d int) func(k *invocation) []Reading {
	return func(k *invocation) []Reading {
		x := k.image()
		w, bias := k.weights()
		xs, alone := batched(x, d)
		if len(xs.Shape()) != d+2 || len(w.shape) != d+2 {
			panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape)))
		}
		var b Values
		if bias != nil {
			b = bias
		}
		choices, groups, sizes := k.moves(xs.Shape(), w.shape)
		var out []Reading
		for _, c := range choices {
			v := k.newConv(xs, w, b, groups, c.geometry, sizes)
			var y Values = v
			if alone {
				y = reshape(v, v.Shape()[1:])
			}
			if bias != nil && precisionFor(k.outType()).v > u32 {
				plain := k.newConv(xs, w, nil, groups, c.geometry, sizes)
				late := elementsOf(addKernel(k.unit(), 1), nil, false, []Values{k.between(plain), reshape(bias, append([]int64{w.shape[0]}, ones(d)...))})
				out = append(out, Reading{Name: c.name, Args: c.args, Out: []Values{y}},
					Reading{Name: "rounded-before-bias", Out: []Values{reshape(late, y.Shape())}})
				continue
			}
			out = append(out, Reading{Name: c.name, Args: c.args, Out: []Values{y}})
		}
		return out
	}
}

// backOf is the transposed convolution of g with w: the gradient of the input of a
// convolution that has places of size in.
func (k *invocation) backOf(g, w, bias Values, a kernelArgs, in []int64) Values {
	sw := w.Shape()
	if a.groups < 1 || sw[0]%a.groups != 0 {
		panic(refuse(ShapesDiffer, shapeText(sw)))
	}
	back := geometry{stride: ones(len(in)), dilation: a.dilation, spread: a.stride, before: make([]int64, len(in))}
	for i := range back.before {
		back.before[i] = (sw[2+i]-1)*a.dilation[i] - a.before[i]
	}
	return k.newConv(g, turnFilter(w, a.groups), bias, a.groups, back, in)
}

// filterGradient: dw[co,ci,k] = Σ dy[n,co,q]·x[n,ci,q·stride - before + k·dilation], for
// every group by itself.
func (k *invocation) filterGradient(x, g Values, a kernelArgs, kernel []int64) Values {
	swap := inOrder(len(x.Shape()))
	swap[0], swap[1] = 1, 0
	move := geometry{stride: a.dilation, dilation: a.stride, spread: a.spread, before: a.before}
	ci, co := x.Shape()[1], g.Shape()[1]
	if a.groups < 1 || ci%a.groups != 0 || co%a.groups != 0 {
		panic(refuse(ShapesDiffer, shapeText(x.Shape(), g.Shape())))
	}
	ci, co = ci/a.groups, co/a.groups
	var parts []Values
	for i := range a.groups {
		v := k.newConv(transpose(slab1(x, 1, i*ci, ci), swap), transpose(slab1(g, 1, i*co, co), swap), nil, 1, move, kernel)
		parts = append(parts, transpose(v, swap))
	}
	return joined(0, parts...)
}

func convolutionGradients(d int) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		x := k.image()
		w, _ := k.weights()
		dy := gradient(g, 0)
		if k.solve {
			panic(refuse(NoArgument, "stride"))
		}
		xs, _ := batched(x, d)
		gs, _ := batched(dy, d)
		if len(xs.Shape()) != d+2 || len(w.shape) != d+2 || len(gs.Shape()) != d+2 {
			panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape, dy.Shape())))
		}
		a := k.kernelArgs(d, w.shape[2:])
		out := a.windows(xs.Shape()[2:], w.shape[2:])
		if !slices.Equal(out, gs.Shape()[2:]) || gs.Shape()[1] != w.shape[0] || gs.Shape()[0] != xs.Shape()[0] || xs.Shape()[1] != w.shape[1]*a.groups {
			panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape, dy.Shape())))
		}
		return gradients{
			"input": func() Values {
				v := k.backOf(gs, w, nil, a, xs.Shape()[2:])
				return reshape(v, x.shape)
			},
			"weight": func() Values { return k.filterGradient(xs, gs, a, w.shape[2:]) },
			"bias":   func() Values { return k.channelSum(gs) },
		}
	}
}

// channelSum sums over all axes but the second.
func (k *invocation) channelSum(g Values) Values {
	axes := []int{0}
	for i := 2; i < len(g.Shape()); i++ {
		axes = append(axes, i)
	}
	moved, _, n := lastAxes(g, axes)
	return &reduced{shape: []int64{g.Shape()[1]}, in: moved, n: n, f: sumOf(k.sumUnit(), n, 1)}
}

func transposedConvolution(d int) func(k *invocation) []Reading {
	return formulaFor(func(k *invocation) Values {
		x := k.image()
		w, bias := k.weights()
		xs, _ := batched(x, d)
		if k.solve || len(xs.Shape()) != d+2 || len(w.shape) != d+2 {
			panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape)))
		}
		a := k.kernelArgs(d, w.shape[2:])
		extra := k.each("output_padding", d, 0)
		out := make([]int64, d)
		for i := range out {
			out[i] = (xs.Shape()[2+i]-1)*a.stride[i] - 2*a.before[i] + a.dilation[i]*(w.shape[2+i]-1) + extra[i] + 1
			if out[i] < 1 {
				panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape)))
			}
		}
		var b Values
		if bias != nil {
			b = bias
		}
		v := k.backOf(xs, w, b, a, out)
		if len(x.shape) == d+1 {
			return reshape(v, v.Shape()[1:])
		}
		return v
	})
}

// transposedGradients: what a transposed convolution does to its input a convolution undoes.
func transposedGradients(d int) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		x := k.image()
		w, _ := k.weights()
		dy := gradient(g, 0)
		xs, _ := batched(x, d)
		gs, _ := batched(dy, d)
		if k.solve || len(xs.Shape()) != d+2 || len(w.shape) != d+2 || len(gs.Shape()) != d+2 || gs.Shape()[0] != xs.Shape()[0] {
			panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape, dy.Shape())))
		}
		a := k.kernelArgs(d, w.shape[2:])
		if a.groups < 1 || xs.Shape()[1] != w.shape[0] || gs.Shape()[1] != w.shape[1]*a.groups {
			panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape, dy.Shape())))
		}
		return gradients{
			"input": func() Values {
				v := k.newConv(gs, w, nil, a.groups, a.geometry, xs.Shape()[2:])
				return reshape(v, x.shape)
			},
			"weight": func() Values { return k.filterGradient(gs, xs, a, w.shape[2:]) },
			"bias":   func() Values { return k.channelSum(gs) },
		}
	}
}

func init() {
	for d, name := range map[int]string{1: "1d", 2: "2d", 3: "3d"} {
		define("conv"+name, "input weight bias stride padding dilation groups", function{forward: convolution(d), backward: convolutionGradients(d)})
		define("conv_transpose"+name, "input weight bias stride padding output_padding groups dilation", function{forward: transposedConvolution(d), backward: transposedGradients(d)})
	}
}
