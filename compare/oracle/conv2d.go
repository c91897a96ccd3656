package oracle

import (
	"slices"
	"strings"

	"precision/dump/dtype"
)

func init() {
	register(buildConv, "Conv2D", "Conv3D", "DepthwiseConv2D", "DepthwiseConv2DNative")
}

// buildConv reads a convolution. Attributes count axes of the framework's
// layout of x, whatever data_format says.
func buildConv(c *Call) []Reading {
	x := c.need("x", 0)
	w := c.need("filter", 1)
	if c.input("offset_w", 3) != nil {
		panic(refuse(Unsupported, "offset_w"))
	}
	return c.convReadings(x, w, c.input("bias", 2))
}

// channelsFirst returns v with its axes in the order that letters want, and the
// permutation; axes are the letters it has.
func channelsFirst(v Values, axes, want string) (Values, []int) {
	if len(axes) != len(want) {
		panic(refuse(Unsupported, "a layout of "+axes))
	}
	perm := make([]int, len(want))
	for i := range want {
		if perm[i] = strings.IndexByte(axes, want[i]); perm[i] < 0 {
			panic(refuse(Unsupported, "a layout of "+axes))
		}
	}
	return transpose(v, perm), perm
}

const (
	plainAxes2 = "NCHW"
	plainAxes3 = "NCDHW"
)

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

func (c *Call) convReadings(x, w, bias *operand) []Reading {
	rank := len(x.shape)
	if rank != 4 && rank != 5 || len(w.shape) != rank {
		panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape)))
	}
	want := plainAxes(rank)
	axes := x.axesOr(want)
	xs, _ := channelsFirst(x, axes, want)
	ws, _ := channelsFirst(w, w.axesOr(want), want)
	shape, ok := c.out(0)
	if !ok || len(shape) != rank {
		panic(refuse(NoOutput))
	}
	outAxes := c.outs[0].axesOr(want)
	sorted, perm := channelsFirst(&dense{shape: shape}, outAxes, want)
	out := sorted.Shape()[2:]
	groups := c.attrInt("groups", 1)
	if strings.HasPrefix(c.Type, "DepthwiseConv2D") {
		ws, groups = depthwise(w, xs.Shape()[1])
	} else if sx, sw := xs.Shape(), ws.Shape(); groups == 1 && sw[1] > 0 && sx[1] != sw[1] && sx[1]%sw[1] == 0 {
		groups = sx[1] / sw[1]
	}
	choices := c.geometries(axes, xs.Shape()[2:], ws.Shape()[2:], out)
	var b Values
	if bias != nil {
		b = bias
	}
	var readings []Reading
	for _, g := range choices {
		v := c.newConv(xs, ws, b, groups, g.geometry, out)
		if !slices.Equal(v.shape, sorted.Shape()) {
			panic(refuse(ShapeComputed, shapeText(v.shape), shapeText(sorted.Shape())))
		}
		if x.typ == dtype.Int8 {
			off := c.attrInt("offset_x", 0)
			if !within(off, -128, 127) {
				panic(refuse(BadAttribute, "offset_x", off, "-128 to 127"))
			}
			v.pad = float32(off)
		}
		readings = append(readings, Reading{Name: g.name, Args: g.args, Out: []Values{transpose(v, inverse(perm))}})
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
	if len(s) != 4 || channels == 0 {
		panic(refuse(ShapesDiffer, shapeText(s)))
	}
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
	panic(refuse(ShapesDiffer, shapeText(s)))
}

// choice is one way a kernel may move.
type choice struct {
	geometry
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
	g := c.attributes(axes, strides, in, kernel, out)
	return []choice{{geometry: g}}
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

func (c *Call) attributes(axes string, strides, in, kernel, out []int64) geometry {
	g := geometry{stride: spatial(axes, strides), dilation: ones(len(in)), spread: ones(len(in)), before: make([]int64, len(in))}
	if g.stride == nil {
		panic(refuse(BadAttribute, "strides", shapeText(strides), "one for each axis of "+axes))
	}
	dilations := c.attrInts("dilations")
	if dilations != nil {
		if g.dilation = spatial(axes, dilations); g.dilation == nil {
			panic(refuse(BadAttribute, "dilations", shapeText(dilations), "one for each axis of "+axes))
		}
	}
	pads := c.attrInts("pads")
	for i := range in {
		if g.stride[i] < 1 || g.dilation[i] < 1 || g.stride[i] > 1<<20 || g.dilation[i] > 1<<20 {
			panic(refuse(BadAttribute, "strides, dilations", shapeText(g.stride, g.dilation), "small positive numbers"))
		}
	}
	mode := strings.ToUpper(c.attrs.Get("padding").Text() + c.attrs.Get("auto_pad").Text() + c.attrs.Get("pad_mode").Text())
	switch {
	case len(pads) == 2*len(in) && !slices.Contains(pads, -1):
		for i := range in {
			g.before[i] = pads[2*i]
			if !within(pads[2*i], 0, 1<<20) || !within(pads[2*i+1], 0, 1<<20) {
				panic(refuse(BadAttribute, "pads", shapeText(pads), "small positive numbers"))
			}
			span := in[i] + pads[2*i] + pads[2*i+1] - (kernel[i]-1)*g.dilation[i] - 1
			if span < 0 || span/g.stride[i]+1 != out[i] {
				panic(refuse(ShapeComputed, itoa(int(span/g.stride[i]+1)), shapeText(out)))
			}
		}
	case strings.Contains(mode, "VALID"):
	case strings.Contains(mode, "SAME") || slices.Contains(pads, -1):
		for i := range in {
			total := max(0, (out[i]-1)*g.stride[i]+(kernel[i]-1)*g.dilation[i]+1-in[i])
			if g.before[i] = total / 2; strings.Contains(mode, "LOWER") {
				g.before[i] = total - total/2
			}
		}
	default:
		panic(refuse(BadAttribute, "pads", shapeText(pads), "two for each spatial axis"))
	}
	return g
}

func ones(n int) []int64 { return repeated(n, 1) }

func repeated(n int, x int64) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = x
	}
	return s
}

// solved lists the strides and paddings by which a kernel makes out of in, for
// convolutions whose attributes fusion lost: stride = round(in/out), and of the
// padding that takes, half before (Caffe, PyTorch), the smaller half (SAME), or
// the larger one. Dilations cannot be told from shapes; they are taken as 1.
func solved(in, kernel, out []int64) []choice {
	d := len(in)
	stride, total := make([]int64, d), make([]int64, d)
	for i := range in {
		if out[i] < 1 || in[i] < 1 || in[i] > 1<<30 {
			panic(refuse(ShapesDiffer, shapeText(in, kernel, out)))
		}
		stride[i] = max((2*in[i]+out[i])/(2*out[i]), 1)
		total[i] = max(0, (out[i]-1)*stride[i]+kernel[i]-in[i])
		if total[i] > 2*kernel[i] || (in[i]+total[i]-kernel[i])/stride[i]+1 < out[i] {
			panic(refuse(ShapesDiffer, shapeText(in, kernel, out)))
		}
	}
	// The same half on all axes comes first: they rarely differ.
	masks := []int{0, 1<<d - 1}
	for mask := 1; mask < 1<<d-1; mask++ {
		masks = append(masks, mask)
	}
	var choices []choice
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
		choices = append(choices, choice{geometry: geometry{stride: stride, before: before, dilation: ones(d), spread: ones(d)},
			name: "geometry", args: []string{shapeText(stride), shapeText(before)}})
	}
	return choices
}
