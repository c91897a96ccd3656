package oracle

import (
	"slices"
)

// Transposed convolutions and the gradients of convolutions, as convolutions.
// Prototypes: nn_calculation_ops.h.

func init() {
	register(single(func(c *Call) Values {
		x, w := "x", "filter"
		return c.transposedConv(x, w, 0)
	}), "Conv2DTranspose", "Conv2DTransposeD", "Deconvolution", "Conv3DTranspose", "Conv3DTransposeD")
	register(single(func(c *Call) Values { return c.transposedConv("out_backprop", "filter", 1) }),
		"Conv2DBackpropInput", "Conv2DBackpropInputD", "Conv3DBackpropInput", "Conv3DBackpropInputD")
	register(single(buildFilterGrad), "Conv2DBackpropFilter", "Conv2DBackpropFilterD", "Conv3DBackpropFilter", "Conv3DBackpropFilterD")
}

// transposedConv: y[n,ci,p] = Σ dy[n,co,q]·w[co,ci,k] over all q·stride - before +
// k·dilation = p. That is the convolution of dy, its elements stride apart,
// with the turned filter w[co,ci,K-1-k], padded by (K-1)·dilation - before.
func (c *Call) transposedConv(gradient, filter string, slot int) Values {
	// The operators without D begin with the size of the result, which the
	// recorded output has as well.
	skip := 0
	if _, named := c.names["input_size"]; named || c.names[gradient] == 0 && len(c.names) == 0 && !dTyped(c.Type) && c.Type != "Deconvolution" {
		skip = 1
	}
	first, second := 0, 1
	if slot == 1 {
		first, second = 1, 0 // filter comes before the gradient
	}
	dy := c.need(gradient, first+skip)
	w := c.need(filter, second+skip)
	rank := len(dy.shape)
	shape, ok := c.out(0)
	if !ok || rank != 4 && rank != 5 || len(shape) != rank || len(w.shape) != rank {
		panic(refuse(ShapesDiffer, shapeText(dy.shape, w.shape, shape)))
	}
	want := plainAxes(rank)
	axes := dy.axesOr(want)
	xs, _ := channelsFirst(dy, axes, want)
	ws, _ := channelsFirst(w, w.axesOr(want), want)
	sorted, perm := channelsFirst(&dense{shape: shape}, c.outs[0].axesOr(want), want)
	out, sw := sorted.Shape(), ws.Shape()
	groups := c.attrInt("groups", 1)
	if groups < 1 || sw[0]%groups != 0 || sw[0] != xs.Shape()[1] || sw[1]*groups != out[1] {
		panic(refuse(ShapesDiffer, shapeText(xs.Shape(), sw, out)))
	}
	// The forward convolution, from out to dy, is what the attributes speak of.
	strides := c.attrInts("strides")
	if strides == nil {
		panic(refuse(NoAttribute, "strides"))
	}
	g := c.attributes(axes, strides, out[2:], sw[2:], xs.Shape()[2:])
	turned := turnFilter(ws, groups)
	back := geometry{stride: ones(rank - 2), dilation: g.dilation, spread: g.stride, before: make([]int64, rank-2)}
	for i := range back.before {
		back.before[i] = (sw[2+i]-1)*g.dilation[i] - g.before[i]
	}
	var bias Values
	if o := c.input("bias", 2+skip); o != nil && slot == 0 {
		bias = o
	}
	v := c.newConv(xs, turned, bias, groups, back, out[2:])
	if !slices.Equal(v.shape, out) {
		panic(refuse(ShapeComputed, shapeText(v.shape), shapeText(out)))
	}
	return transpose(v, inverse(perm))
}

func dTyped(t string) bool { return t[len(t)-1] == 'D' && t != "Conv2D" && t != "Conv3D" }

// turnFilter makes of w (O, I/groups, kernel) the filter (I, O/groups, kernel) with
// the kernel turned around.
func turnFilter(w Values, groups int64) Values {
	s := w.Shape()
	steps := rowMajor(s)
	og := s[0] / groups
	shape := []int64{groups, s[1], og}
	step := []int64{og * steps[0], steps[1], steps[0]}
	off := int64(0)
	for i := 2; i < len(s); i++ {
		shape, step = append(shape, s[i]), append(step, -steps[i])
		off += (s[i] - 1) * steps[i]
	}
	turned := newStrided(w, shape, step, off)
	return reshape(turned, append([]int64{groups * s[1], og}, s[2:]...))
}

// buildFilterGrad: dw[co,ci,k] = Σ dy[n,co,q]·x[n,ci,q·stride - before + k·dilation], the
// convolution of x with the images in place of channels by dy in place of the
// filter; stride and dilation change places.
func buildFilterGrad(c *Call) Values {
	x := c.need("x", 0)
	k := 2
	if dTyped(c.Type) {
		k = 1
	}
	dy := c.need("out_backprop", k)
	groups := c.attrInt("groups", 1)
	rank := len(x.shape)
	shape, ok := c.out(0)
	if !ok || rank != 4 && rank != 5 || len(shape) != rank || len(dy.shape) != rank {
		panic(refuse(ShapesDiffer, shapeText(x.shape, dy.shape, shape)))
	}
	if groups != 1 {
		panic(refuse(Unsupported, "groups"))
	}
	want := plainAxes(rank)
	axes := x.axesOr(want)
	xs, _ := channelsFirst(x, axes, want)
	ds, _ := channelsFirst(dy, dy.axesOr(want), want)
	sorted, perm := channelsFirst(&dense{shape: shape}, c.outs[0].axesOr(want), want)
	kernel := sorted.Shape()[2:]
	strides := c.attrInts("strides")
	if strides == nil {
		panic(refuse(NoAttribute, "strides"))
	}
	g := c.attributes(axes, strides, xs.Shape()[2:], kernel, ds.Shape()[2:])
	g.stride, g.dilation = g.dilation, g.stride
	swap := []int{1, 0, 2, 3, 4}[:rank]
	v := c.newConv(transpose(xs, swap), transpose(ds, swap), nil, 1, g, kernel)
	back := transpose(v, swap)
	if !slices.Equal(back.Shape(), sorted.Shape()) {
		panic(refuse(ShapeComputed, shapeText(back.Shape()), shapeText(sorted.Shape())))
	}
	return transpose(back, inverse(perm))
}
