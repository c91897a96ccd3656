package oracle

import (
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// Convolutions in one to three dimensions, their transposes and gradients, as products.
//
// The columns of an image, one for each position of the kernel and in it C/groups·Π kernel rows,
// turn a convolution into a product of matrices (im2col), made a tile at a time ([moving]). With
// g(K + 2)·(|x|∗|w| + |b|) the bound is that of any product of K terms: a kernel that transforms
// first (Winograd, FFT) is off by more, and is not granted that.
//
// All of a convolution's relatives are convolutions. The gradient of the input is one of the
// gradient, its elements a stride apart, with the kernel turned around ([Call.backOf]); so is a
// transposed convolution. The gradient of the weight is one with images in the place of channels,
// and stride and dilation exchanged ([Call.filterGradient]).
//
// How a kernel moves is said by attributes, or, where a fused kernel or a module kept them to
// itself, follows from the shapes of input, weight and result: the strides and paddings that
// networks have, as far as they give the recorded shape, are readings ([solved]).

// moving is how the columns of a convolution in any number of spatial dimensions are made of an
// image:
//
//	y[n,o,p] = Σ x[n, c, p·stride - before + k·dilation]·w[o,c,k] + bias[o]
//
// over the channels c of o's group and the places k of the kernel. Places
// outside x hold pad, which is 0 but for quantised inputs; with spread > 1 the
// elements of x are that far apart, with zeros between them (transposed
// convolutions). The bound is g(K+2)·(|x|∗|w| + |b|), K = C/groups·Π kernel.
// Prototypes: nn_calculation_ops.h.
type moving struct {
	groups int64
	geometry
	cg              int64   // channels of a group
	in, out, kernel []int64 // spatial
	plane, places   int64   // elements of an output plane; places of the kernel
	inPlane         int64
	pad             float32

	// cols holds the columns of a tile: K rows of the elements that go into
	// positions [p0, p1) of an image and group, the block at.
	cols       []float32
	call       *Call // keeps cols
	at, p0, p1 int64
	scratch    []int64
	xs, ws     []int64    // where the factors of an element are
	place      [2][]int64 // of the kernel and of the element
}

// geometry is how a kernel moves, one entry a spatial axis.
type geometry struct {
	stride, before, dilation, spread []int64
}

// newConv plans a convolution of x (N, C, …) with w (O, C/groups, …) to an
// output of the given spatial dims.
func (c *Call) newConv(x, w, bias Values, groups int64, g geometry, out []int64) *product {
	sx, sw := x.Shape(), w.Shape()
	d := len(sx) - 2
	refuseIf(d < 1 || len(sw) != len(sx) || len(out) != d || groups < 1 || sw[0]%groups != 0 || sx[1] != sw[1]*groups, ShapesDiffer, sx, sw)
	for i := range d {
		refuseIf(!within(g.stride[i], 1, 1<<20) || !within(g.dilation[i], 1, 1<<20) || !within(g.spread[i], 1, 1<<20) || !within(g.before[i], -1<<20, 1<<20),
			BadAttribute, "strides, pads, dilations", shapeText(g.stride, g.before, g.dilation), "small whole numbers")
	}
	m := &moving{call: c, groups: groups, geometry: g, cg: sw[1], in: sx[2:], kernel: sw[2:], out: out,
		plane: count(out), places: count(sw[2:]), inPlane: count(sx[2:]), at: -1, place: [2][]int64{make([]int64, d), make([]int64, d)}}
	v := c.newProduct(m.cg*m.places, w, x, bias, sw[0])
	v.conv, v.shape, v.rows, v.cols = m, append([]int64{sx[0], sw[0]}, out...), sw[0]/groups, m.plane
	return v
}

// within tells whether x lies in lo … hi, both included. Arguments that sizes are computed from are
// held to such ranges first, so that no product of them overflows.
func within(x, lo, hi int64) bool { return x >= lo && x <= hi }

// plain reports whether the columns of an image are the image: kernels of one
// place that do not move.
func (v *moving) plain() bool {
	if v.places != 1 || !slices.Equal(v.in, v.out) {
		return false
	}
	for i := range v.in {
		if v.stride[i] != 1 || v.before[i] != 0 || v.spread[i] != 1 {
			return false
		}
	}
	return true
}

// maxColumns bounds the elements of the columns that are made at once.
const maxColumns = 4 << 20

// columns returns the columns of positions [p0, p1) of the image and group that a block is of as a
// matrix, and where its positions begin and end. The matrix is (K, positions), K = channels of the
// group × places of the kernel, row c·places + k; what lies outside is pad. At most 4 M numbers are
// made, for as many positions as that is; of kernels of one place that do not move it is the image
// itself.
func (v *moving) columns(x []float32, block, p0 int64) (m matrix, from, to int64) {
	x = x[block*v.cg*v.inPlane:]
	if v.plain() {
		return matrix{x, int(v.plane)}, 0, v.plane
	}
	if v.at == block && p0 >= v.p0 && p0 < v.p1 {
		return matrix{v.cols, int(v.p1 - v.p0)}, v.p0, v.p1
	}
	width := min(v.plane, max(maxColumns/max(v.cg*v.places, 1), 1))
	p0 -= p0 % width
	p1 := min(p0+width, v.plane)
	width = p1 - p0
	v.at, v.p0, v.p1 = block, p0, p1
	if size := int(v.cg * v.places * width); cap(v.cols) < size {
		v.cols = v.call.take32(size)
	}
	v.cols = v.cols[:v.cg*v.places*width]
	d, pad := len(v.in), v.pad
	k, p := make([]int64, d), make([]int64, d)
	src := grow(v.scratch, int(width)) // place in a plane of x for every position, -1 for none
	v.scratch = src
	for place := range v.places {
		nd.PlaceIn(place, v.kernel, k)
		nd.PlaceIn(p0, v.out, p)
		for i := range src {
			src[i] = v.source(p, k)
			for a := d - 1; a >= 0; a-- {
				if p[a]++; p[a] < v.out[a] {
					break
				}
				p[a] = 0
			}
		}
		for c := range v.cg {
			dst := v.cols[(c*v.places+place)*width:][:width]
			from := x[c*v.inPlane:][:v.inPlane]
			for i, s := range src {
				if s >= 0 {
					dst[i] = from[s]
				} else {
					dst[i] = pad
				}
			}
		}
	}
	return matrix{v.cols, int(width)}, p0, p1
}

// source is the place in a plane of x that position p takes place k of the
// kernel from; -1 if it is outside.
func (v *moving) source(p, k []int64) int64 {
	at := int64(0)
	for a := range v.in {
		i := p[a]*v.stride[a] - v.before[a] + k[a]*v.dilation[a]
		if i < 0 || i%v.spread[a] != 0 || i/v.spread[a] >= v.in[a] {
			return -1
		}
		at = at*v.in[a] + i/v.spread[a]
	}
	return at
}

// moved is take of a convolution. For single elements: their factors are gathered place by place of
// the kernel, so that no columns are made.
func (v *product) moved(block, row, c int64) (sum, size float64) {
	m := v.conv
	k, p := m.place[0], m.place[1]
	nd.PlaceIn(c, m.out, p)
	m.xs, m.ws = m.xs[:0], m.ws[:0]
	left, right := v.factors[0][:0], v.factors[1][:0]
	for place := range m.places {
		nd.PlaceIn(place, m.kernel, k)
		s := m.source(p, k)
		if s < 0 && m.pad == 0 {
			continue
		}
		x, w := block*m.cg*m.inPlane+s, row*v.k+place
		for c := range m.cg {
			if !v.held {
				m.ws = append(m.ws, w+c*m.places)
				if m.xs = append(m.xs, -1); s >= 0 {
					m.xs[len(m.xs)-1] = x + c*m.inPlane
				}
				continue
			}
			a, b := float64(v.l32[w+c*m.places]), float64(m.pad)
			if s >= 0 {
				b = float64(v.r32[x+c*m.inPlane])
			}
			if v.likely {
				left, right = append(left, a), append(right, b)
			}
			sum += a * b
			size += abs(a * b)
		}
	}
	if !v.held {
		left, right = grow(left, len(m.ws)), grow(right, len(m.ws))
		v.left.At(m.ws, left, nil)
		some := slices.DeleteFunc(slices.Clone(m.xs), func(at int64) bool { return at < 0 })
		inside := make([]float64, len(some))
		v.right.At(some, inside, nil)
		for l, at := range m.xs {
			if right[l] = float64(m.pad); at >= 0 {
				right[l], inside = inside[0], inside[1:]
			}
		}
	}
	if v.factors = [2][]float64{left, right}; !v.held {
		sum, size = v.summed()
	}
	return sum, size
}

// buildConv reads a convolution. Attributes count axes of the framework's
// layout of x, whatever data_format says.
func buildConv(c *Call) []Reading {
	x := c.need("x", 0)
	w := c.need("filter", 1)
	refuseIf(c.input("offset_w", 3) != nil, Unsupported, "offset_w")
	return c.convReadings(x, w, c.input("bias", 2))
}

// channelsFirst returns v with its axes in the order that letters want, and the
// permutation; axes are the letters it has.
func channelsFirst(v Values, axes, want string) (Values, []int) {
	refuseIf(len(axes) != len(want), Unsupported, "a layout of "+axes)
	perm := make([]int, len(want))
	for i := range want {
		perm[i] = strings.IndexByte(axes, want[i])
		refuseIf(perm[i] < 0, Unsupported, "a layout of "+axes)
	}
	return transpose(v, perm), perm
}

const (
	plainAxes2 = "NCHW"
	plainAxes3 = "NCDHW"
)

// plainAxes are the letters of the framework's layout of images, or of volumes with five axes.
func plainAxes(rank int) string {
	if rank == 5 {
		return plainAxes3
	}
	return plainAxes2
}

// axesOr are the letters of an operand, or those of the plain layout if it has
// none.
func (o *operand) axesOr(want string) string {
	if len(o.axes) == len(want) {
		return o.axes
	}
	return want
}

// planes are two operands of a kernel of images and its output with the channels in front: (N, C,
// spatial) or (O, I, kernel).
type planes struct {
	x, w Values
	axes string  // letters of x
	out  []int64 // the recorded shape
	back func(v Values) Values
}

// planesOf plans them; back gives a result the axes of the recorded output. Letters of the layout
// say where N, C, H, W (D) are in x and the output; filters have theirs, HWCN too.
func (c *Call) planesOf(x, w *operand) planes {
	rank := len(x.shape)
	shape := c.shape()
	refuseIf(rank != 4 && rank != 5 || len(w.shape) != rank || len(shape) != rank, ShapesDiffer, x.shape, w.shape, shape)
	want := plainAxes(rank)
	p := planes{axes: x.axesOr(want)}
	p.x, _ = channelsFirst(x, p.axes, want)
	p.w, _ = channelsFirst(w, w.axesOr(want), want)
	sorted, perm := channelsFirst(&dense{shape: shape}, c.outs[0].axesOr(want), want)
	p.out = sorted.Shape()
	p.back = func(v Values) Values {
		refuseIf(!slices.Equal(v.Shape(), p.out), ShapeComputed, v.Shape(), p.out)
		return transpose(v, inverse(perm))
	}
	return p
}

// moved is how a kernel moves from x to out, both spatial, as the attributes say.
// groups is 1 unless it is said.
func (c *Call) moved(axes string, x, kernel, out []int64) kernelArgs {
	strides := c.attrInts("strides")
	refuseIf(strides == nil, NoAttribute, "strides")
	return kernelArgs{geometry: c.attributes(axes, strides, x, kernel, out), groups: c.attrInt("groups", 1)}
}

// convReadings is a convolution by each geometry that attributes and shapes admit. Groups of which
// nothing is said follow from the channels: the input has as many times those of the filter.
func (c *Call) convReadings(x, w, bias *operand) (readings []Reading) {
	p := c.planesOf(x, w)
	xs, ws, out := p.x, p.w, p.out[2:]
	groups := c.attrInt("groups", 1)
	if strings.HasPrefix(c.Type, "DepthwiseConv2D") {
		ws, groups = depthwise(w, xs.Shape()[1])
	} else if sx, sw := xs.Shape(), ws.Shape(); groups == 1 && sw[1] > 0 && sx[1] != sw[1] && sx[1]%sw[1] == 0 {
		groups = sx[1] / sw[1]
	}
	choices := c.geometries(p.axes, xs.Shape()[2:], ws.Shape()[2:], out)
	for _, g := range choices {
		v := c.newConv(xs, ws, valuesOf(bias), groups, g.geometry, out)
		if x.typ == dtype.Int8 {
			off := c.attrInt("offset_x", 0)
			refuseIf(!within(off, -128, 127), BadAttribute, "offset_x", off, "-128 to 127")
			v.conv.pad = float32(off)
		}
		readings = append(readings, Reading{Name: g.name, Args: g.args, Out: []Values{p.back(v)}})
	}
	return readings
}

// inverse undoes a permutation.
func inverse(perm []int) []int {
	out := make([]int, len(perm))
	for i, k := range perm {
		out[k] = i
	}
	return out
}

// depthwise turns the filter of a depthwise convolution into that of a grouped
// one: as many groups as channels. Filters are (H, W, C, multiplier) or
// (C·multiplier, 1, H, W), or (multiplier, C, H, W).
func depthwise(w *operand, channels int64) (Values, int64) {
	s := w.shape
	refuseIf(len(s) != 4 || channels == 0, ShapesDiffer, s)
	switch axes := w.axesOr(plainAxes2); {
	case axes == "HWCN" && s[2] == channels:
		moved := transpose(w, []int{2, 3, 0, 1})
		return reshape(moved, []int64{channels * s[3], 1, s[0], s[1]}), channels
	case axes == "NCHW" && s[1] == 1 && s[0]%channels == 0:
		return w, channels
	case axes == "NCHW" && s[1] == channels:
		moved := transpose(w, []int{1, 0, 2, 3})
		return reshape(moved, []int64{channels * s[0], 1, s[2], s[3]}), channels
	}
	panic(refusal(ShapesDiffer, shapeText(s)))
}

// choice is one way a kernel may move.
type choice struct {
	kernelArgs
	name string
	args []string
}

// geometries lists how the kernel may move: as the attributes say, or, where a
// fused kernel lost them, in every way that gives the recorded shape.
func (c *Call) geometries(axes string, in, kernel, out []int64) []choice {
	strides := c.attrInts("strides")
	if strides == nil {
		return solved(in, kernel, out)
	}
	return []choice{{kernelArgs: kernelArgs{geometry: c.attributes(axes, strides, in, kernel, out)}}}
}

// spatial takes the entries of H, W (and D) out of a list in the order of axes;
// a list of as many entries as spatial axes is taken as it is.
func spatial(axes string, list []int64) []int64 {
	want := plainAxes(len(axes))[2:]
	if len(list) == len(want) {
		return list
	}
	if len(list) != len(axes) {
		return nil
	}
	out := make([]int64, len(want))
	for i := range want {
		out[i] = list[strings.IndexByte(axes, want[i])]
	}
	return out
}

// attributes are strides, dilations and padding along the spatial axes of a layout. Pads have to
// give the output's size; VALID pads nothing; SAME, or a pad of -1, pads what the output's size
// takes, the larger half behind, or in front where it says LOWER.
func (c *Call) attributes(axes string, strides, in, kernel, out []int64) geometry {
	g := geometry{stride: spatial(axes, strides), dilation: ones(len(in)), spread: ones(len(in)), before: make([]int64, len(in))}
	refuseIf(g.stride == nil, BadAttribute, "strides", strides, "one for each axis of "+axes)
	dilations := c.attrInts("dilations")
	if dilations != nil {
		g.dilation = spatial(axes, dilations)
		refuseIf(g.dilation == nil, BadAttribute, "dilations", shapeText(dilations), "one for each axis of "+axes)
	}
	pads := c.attrInts("pads")
	for i := range in {
		refuseIf(g.stride[i] < 1 || g.dilation[i] < 1 || g.stride[i] > 1<<20 || g.dilation[i] > 1<<20, BadAttribute, "strides, dilations", shapeText(g.stride, g.dilation), "small positive numbers")
	}
	mode := strings.ToUpper(c.attrs.Get("padding").Text() + c.attrs.Get("auto_pad").Text() + c.attrs.Get("pad_mode").Text())
	switch {
	case len(pads) == 2*len(in) && !slices.Contains(pads, -1):
		for i := range in {
			g.before[i] = pads[2*i]
			refuseIf(!within(pads[2*i], 0, 1<<20) || !within(pads[2*i+1], 0, 1<<20), BadAttribute, "pads", pads, "small positive numbers")
			span := in[i] + pads[2*i] + pads[2*i+1] - (kernel[i]-1)*g.dilation[i] - 1
			refuseIf(span < 0 || span/g.stride[i]+1 != out[i], ShapeComputed, itoa(int(span/g.stride[i]+1)), shapeText(out))
		}
	case strings.Contains(mode, "VALID"):
	case strings.Contains(mode, "SAME") || slices.Contains(pads, -1):
		for i := range in {
			// What the output's size takes beyond the input.
			total := max(0, (out[i]-1)*g.stride[i]+(kernel[i]-1)*g.dilation[i]+1-in[i])
			if g.before[i] = total / 2; strings.Contains(mode, "LOWER") {
				g.before[i] = total - total/2
			}
		}
	default:
		panic(refusal(BadAttribute, "pads", shapeText(pads), "two for each spatial axis"))
	}
	return g
}

// ones and repeated are lists of n equal numbers: strides, dilations, axes of one element.
func ones(n int) []int64 { return repeated(n, 1) }

func repeated(n int, x int64) []int64 { return slices.Repeat([]int64{x}, n) }

// solved lists the strides and paddings by which a kernel makes out of in, for
// convolutions whose attributes fusion lost: stride = round(in/out), and of the
// padding that takes, half before (Caffe, PyTorch), the smaller half (SAME), or
// the larger one. Dilations cannot be told from shapes; they are taken as 1.
func solved(in, kernel, out []int64) (choices []choice) {
	d := len(in)
	stride, total := make([]int64, d), make([]int64, d)
	for i := range in {
		refuseIf(out[i] < 1 || in[i] < 1 || in[i] > 1<<30, ShapesDiffer, in, kernel, out)
		stride[i] = max((2*in[i]+out[i])/(2*out[i]), 1)
		total[i] = max(0, (out[i]-1)*stride[i]+kernel[i]-in[i])
		refuseIf(total[i] > 2*kernel[i] || (in[i]+total[i]-kernel[i])/stride[i]+1 < out[i], ShapesDiffer, in, kernel, out)
	}
	// The same half on all axes comes first: they rarely differ.
	masks := []int{0, 1<<d - 1}
	for mask := 1; mask < 1<<d-1; mask++ {
		masks = append(masks, mask)
	}
	for _, mask := range masks {
		before := make([]int64, d)
		for i := range in {
			if before[i] = (total[i] + 1) / 2; mask>>i&1 == 1 {
				before[i] = total[i] / 2
			}
		}
		if slices.ContainsFunc(choices, func(c choice) bool { return slices.Equal(c.before, before) }) {
			continue
		}
		choices = append(choices, choice{kernelArgs: kernelArgs{geometry: geometry{stride: stride, before: before, dilation: ones(d), spread: ones(d)}},
			name: "geometry", args: []string{shapeText(stride), shapeText(before)}})
	}
	return choices
}

// Transposed convolutions and the gradients of convolutions, as convolutions.
// Prototypes: nn_calculation_ops.h.

// transposedConv: y[n,ci,p] = Σ dy[n,co,q]·w[co,ci,k] over all q·stride - before +
// k·dilation = p. That is the convolution of dy, its elements stride apart,
// with the turned filter w[co,ci,K-1-k], padded by (K-1)·dilation - before.
func (c *Call) transposedConv(gradient string, slot int) Values {
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
	p := c.planesOf(c.need(gradient, first+skip), c.need("filter", second+skip))
	sw := p.w.Shape()
	// The forward convolution, from out to dy, is what the attributes speak of.
	a := c.moved(p.axes, p.out[2:], sw[2:], p.x.Shape()[2:])
	refuseIf(a.groups < 1 || sw[0]%max(a.groups, 1) != 0 || sw[0] != p.x.Shape()[1] || sw[1]*a.groups != p.out[1], ShapesDiffer, p.x.Shape(), sw, p.out)
	var bias Values
	if slot == 0 {
		bias = valuesOf(c.input("bias", 2+skip))
	}
	return p.back(c.backOf(p.x, p.w, bias, a, p.out[2:]))
}

// valuesOf is an operand as Values; nil if there is none.
func valuesOf(o *operand) Values {
	if o == nil {
		return nil
	}
	return o
}

// dTyped tells names of kernels that end in D, whose sizes are attributes and not inputs.
func dTyped(t string) bool { return t[len(t)-1] == 'D' && t != "Conv2D" && t != "Conv3D" }

// turnFilter makes of w (O, I/groups, kernel) the filter (I, O/groups, kernel) with
// the kernel turned around.
// Negative steps on the axes of the kernel, from its last place.
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

// buildFilterGrad is the gradient of the filter of a convolution; see [Call.filterGradient].
func buildFilterGrad(c *Call) Values {
	x := c.need("x", 0)
	k := 2
	if dTyped(c.Type) {
		k = 1
	}
	p := c.planesOf(x, c.need("out_backprop", k))
	return p.back(c.filterGradient(p.x, p.w, c.moved(p.axes, p.x.Shape()[2:], p.out[2:], p.w.Shape()[2:]), p.out[2:]))
}

// Convolutions of PyTorch, their transposes and gradients. Sizes that the arguments
// give must be those of the recorded output.

// kernelArgs are how a kernel moves.
type kernelArgs struct {
	geometry
	after  []int64
	groups int64
}

// kernelArgs are stride, dilation, groups and padding of a call over d axes. Padding "same" has its
// larger half behind. padBy is of a reading that tries another padding: so much more in front and
// less behind.
func (k *invocation) kernelArgs(d int, kernel []int64) (a kernelArgs) {
	a.stride = k.each("stride", d, 1)
	a.dilation = k.each("dilation", d, 1)
	a.groups = k.int("groups", 1)
	a.spread, a.after = ones(d), make([]int64, d)
	for i := range kernel {
		refuseIf(!within(a.stride[i], 1, 1<<20) || !within(a.dilation[i], 1, 1<<20) || !within(kernel[i], 1, 1<<20),
			BadArgument, "stride, dilation", shapeText(a.stride, a.dilation), "small positive numbers")
	}
	name := "padding"
	if k.string("pad_mode", "pad") != "pad" { // MindSpore says it apart
		name = "pad_mode"
	}
	if k.args[name].isText() {
		mode := k.string(name, "")
		a.before = make([]int64, d)
		if mode == "valid" {
			return a
		}
		refuseIf(mode != "same", BadArgument, name, mode, "same or valid")
		for i := range kernel {
			refuseIf(a.stride[i] != 1, Unsupported, "stride, "+mode)
			total := a.dilation[i] * (kernel[i] - 1)
			a.before[i], a.after[i] = total/2, total-total/2
		}
		return a
	}
	for i, pad := range k.each("padding", d, 0) {
		a.before, a.after[i] = append(a.before, pad+k.padBy), pad-k.padBy
	}
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
		refuseIf(span < 0 || !within(a.before[i], 0, 1<<20), ShapesDiffer, in, kernel)
		out[i] = span/a.stride[i] + 1
	}
	return out
}

// moves are the ways in which a kernel may move to places, as the arguments say, or where a module
// keeps these to itself, all that fit the shapes. Without places they are what the arguments give,
// or those of the recorded output. A module that is only known by its class keeps stride and
// padding to itself (solve); readings are then named by the geometry.
func (k *invocation) moves(x, w, places []int64) (choices []choice, out []int64) {
	d := len(x) - 2
	if !k.solve {
		a := k.kernelArgs(d, w[2:])
		out = a.windows(x[2:], w[2:])
		return []choice{{kernelArgs: a}}, out
	}
	if out = places; out == nil {
		shape := k.shape()
		refuseIf(len(shape) < d, ShapesDiffer, x, w)
		out = shape[len(shape)-d:]
	}
	refuseIf(w[1] == 0, ShapesDiffer, x, w)
	choices = solved(x[2:], w[2:], out)
	for i := range choices {
		choices[i].groups = max(x[1]/w[1], 1)
	}
	return choices, out
}

// convolution is that of d axes. y (N, O, out) of x (N, C, in) and w (O, C/groups, kernel). In
// narrow types the product may be rounded before the bias, a reading of its own.
func convolution(d int) func(k *invocation) []Reading {
	return func(k *invocation) []Reading {
		x := k.image()
		w, bias := k.weights()
		xs, alone := batched(x, d)
		refuseIf(len(xs.Shape()) != d+2 || len(w.shape) != d+2, ShapesDiffer, x.shape, w.shape)
		choices, sizes := k.moves(xs.Shape(), w.shape, nil)
		var out []Reading
		for _, c := range choices {
			v := k.newConv(xs, w, valuesOf(bias), c.groups, c.geometry, sizes)
			var y Values = v
			if alone {
				y = reshape(v, v.Shape()[1:])
			}
			if bias != nil && precisionFor(k.outType()).v > u32 {
				plain := k.newConv(xs, w, nil, c.groups, c.geometry, sizes)
				late := k.plus(k.between(plain), reshape(bias, append([]int64{w.shape[0]}, ones(d)...)))
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
// The padding of the turned kernel is (K−1)·dilation − before, which may be negative and then cuts.
func (c *Call) backOf(g, w, bias Values, a kernelArgs, in []int64) Values {
	sw := w.Shape()
	refuseIf(a.groups < 1 || sw[0]%a.groups != 0, ShapesDiffer, sw)
	back := geometry{stride: ones(len(in)), dilation: a.dilation, spread: a.stride, before: make([]int64, len(in))}
	for i := range back.before {
		back.before[i] = (sw[2+i]-1)*a.dilation[i] - a.before[i]
	}
	return c.newConv(g, turnFilter(w, a.groups), bias, a.groups, back, in)
}

// filterGradient: dw[co,ci,k] = Σ dy[n,co,q]·x[n,ci,q·stride - before + k·dilation], for every
// group by itself: the convolution of x with the images in place of channels by dy in place of the
// filter; stride and dilation change places.
func (c *Call) filterGradient(x, g Values, a kernelArgs, kernel []int64) Values {
	swap := inOrder(len(x.Shape()))
	swap[0], swap[1] = 1, 0
	move := geometry{stride: a.dilation, dilation: a.stride, spread: a.spread, before: a.before}
	ci, co := x.Shape()[1], g.Shape()[1]
	refuseIf(a.groups < 1 || ci%a.groups != 0 || co%a.groups != 0, ShapesDiffer, x.Shape(), g.Shape())
	ci, co = ci/a.groups, co/a.groups
	var parts []Values
	for i := range a.groups {
		v := c.newConv(transpose(slab1(x, 1, i*ci, ci), swap), transpose(slab1(g, 1, i*co, co), swap), nil, 1, move, kernel)
		parts = append(parts, transpose(v, swap))
	}
	return joined(0, parts...)
}

// imageGradient are the input and the weight of a convolution over d axes, and the input and the
// gradient with an axis for images.
func (k *invocation) imageGradient(d int, g []Values) (x, w *operand, xs, gs Values) {
	x = k.image()
	w, _ = k.weights()
	xs, _ = batched(x, d)
	gs, _ = batched(gradient(g, 0), d)
	refuseIf(len(xs.Shape()) != d+2 || len(w.shape) != d+2 || len(gs.Shape()) != d+2, ShapesDiffer, x.shape, w.shape, gs.Shape())
	return x, w, xs, gs
}

// convolutionGradients are those of a convolution over d axes: of the input dy convolved back with
// the filter, of the filter the input correlated with dy, of the bias the sum of dy a channel. Each
// reading of the padding has its own.
func convolutionGradients(d int) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		x, w, xs, gs := k.imageGradient(d, g)
		all := gradients{"bias": func() Values { return k.channelSum(gs) }}
		choices, out := k.moves(xs.Shape(), w.shape, gs.Shape()[2:])
		refuseIf(!slices.Equal(out, gs.Shape()[2:]), ShapesDiffer, xs.Shape(), w.shape, gs.Shape())
		for n, c := range choices {
			a := c.kernelArgs
			refuseIf(gs.Shape()[1] != w.shape[0] || gs.Shape()[0] != xs.Shape()[0] || xs.Shape()[1] != w.shape[1]*a.groups, ShapesDiffer, x.shape, w.shape, gs.Shape())
			all["input"+other(n)] = func() Values {
				v := k.backOf(gs, w, nil, a, xs.Shape()[2:])
				return reshape(v, x.shape)
			}
			all["weight"+other(n)] = func() Values { return k.filterGradient(xs, gs, a, w.shape[2:]) }
		}
		return all
	}
}

// other marks the gradients by another way that the arguments of a function may be, of which the
// first has no mark.
func other(n int) string {
	if n == 0 {
		return ""
	}
	return "~" + itoa(n)
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

// transposedConvolution is torch.nn.functional.conv_transpose1d … 3d over d axes: (in − 1)·stride −
// 2·padding + dilation·(kernel − 1) + output_padding + 1 places. It is linear, and the transpose of
// a convolution as a matrix: [Call.backOf].
func transposedConvolution(d int) func(k *invocation) []Reading {
	return formulaFor(func(k *invocation) Values {
		x := k.image()
		w, bias := k.weights()
		xs, _ := batched(x, d)
		refuseIf(k.solve || len(xs.Shape()) != d+2 || len(w.shape) != d+2, ShapesDiffer, x.shape, w.shape)
		a := k.kernelArgs(d, w.shape[2:])
		extra := k.each("output_padding", d, 0)
		out := make([]int64, d)
		for i := range out {
			// torch.nn.ConvTranspose2d; output_padding only makes the output longer.
			out[i] = (xs.Shape()[2+i]-1)*a.stride[i] - 2*a.before[i] + a.dilation[i]*(w.shape[2+i]-1) + extra[i] + 1
			refuseIf(out[i] < 1, ShapesDiffer, x.shape, w.shape)
		}
		v := k.backOf(xs, w, valuesOf(bias), a, out)
		if len(x.shape) == d+1 {
			return reshape(v, v.Shape()[1:])
		}
		return v
	})
}

// transposedGradients: what a transposed convolution does to its input a convolution undoes.
// dx is the convolution of dy by w; dw correlates dy with x, with their places changed; db sums dy.
func transposedGradients(d int) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		x, w, xs, gs := k.imageGradient(d, g)
		refuseIf(k.solve || gs.Shape()[0] != xs.Shape()[0], ShapesDiffer, x.shape, w.shape, gs.Shape())
		a := k.kernelArgs(d, w.shape[2:])
		refuseIf(a.groups < 1 || xs.Shape()[1] != w.shape[0] || gs.Shape()[1] != w.shape[1]*a.groups, ShapesDiffer, x.shape, w.shape, gs.Shape())
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

// convForms: x is (N, C, spatial), the weight (O, C/groups, kernel), or of a transposed convolution
// (C, O/groups, kernel), the bias (O). The names in GE are those of nn_calculation_ops.h:
// Conv2DBackpropInput has the filter before the gradient, and its input_size is what the result's
// shape says.
func convForms() {
	register(buildConv, "conv")
	register(single(func(c *Call) Values { return c.transposedConv("x", 0) }), "convtransposed")
	register(single(func(c *Call) Values { return c.transposedConv("out_backprop", 1) }), "convinput")
	register(single(buildFilterGrad), "convfilter")
	for d, name := range map[int]string{1: "1d", 2: "2d", 3: "3d"} {
		define("conv"+name, function{forward: convolution(d), backward: convolutionGradients(d)})
		define("conv_transpose"+name, function{forward: transposedConvolution(d), backward: transposedGradients(d)})
	}
	// aten::convolution says by an argument whether it is transposed, and by shapes over how many
	// axes.
	define("convolution", function{forward: func(k *invocation) []Reading { return k.convolutionForm().forward(k) },
		backward: func(k *invocation, g []Values) gradients { return k.convolutionForm().backward(k, g) }})
}

// convolutionForm is what aten's convolution is, by its argument transposed and the axes of its
// input.
func (k *invocation) convolutionForm() *function {
	x := k.tensor("input")
	f := forms["conv"+map[bool]string{true: "_transpose"}[k.bool("transposed", false)]+itoa(len(x.shape)-2)+"d"]
	refuseIf(f == nil, ShapesDiffer, x.shape)
	return f
}
