package computed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Types of the graph.
const (
	f32  = "DT_FLOAT"
	f16  = "DT_FLOAT16"
	b16  = "DT_BF16"
	f8   = "DT_FLOAT8_E4M3FN"
	e8   = "DT_FLOAT8_E8M0"
	i8   = "DT_INT8"
	i32  = "DT_INT32"
	i64  = "DT_INT64"
	u64  = "DT_UINT64"
	flag = "DT_BOOL"
)

// spec is a tensor of the graph: its shape in the framework's order.
type spec struct {
	dtype, layout string
	shape         []int
}

// attrs are attributes as the graph has them: int, float64, bool, string, or lists.
type attrs map[string]any

func (a attrs) ints(key string) []int  { v, _ := a[key].([]int); return v }
func (a attrs) int(key string) int     { v, _ := a[key].(int); return v }
func (a attrs) num(key string) float64 { v, _ := a[key].(float64); return v }
func (a attrs) yes(key string) bool    { v, _ := a[key].(bool); return v }
func (a attrs) text(key string) string { v, _ := a[key].(string); return v }
func (a attrs) with(key string, v any) attrs {
	out := attrs{key: v}
	for k, w := range a {
		if k != key {
			out[k] = w
		}
	}
	return out
}

// part is one operator of a fused kernel; from are inputs of the kernel, -1-k the
// result of part k.
type part struct {
	kind  string
	attrs attrs
	from  []int
}

type node struct {
	name, kind string
	inputs     []string // "" is not connected
	outputs    []spec
	attrs      attrs // those with a dot before the name are not in the graph
	parts      []part
	origin     string // "" was inserted by the compiler, or is a constant
	originals  []string
	value      array
	vary       func(rng *rand.Rand) array // another value of the same sort
}

func (x *node) computed() bool { return x.kind != "Const" && x.kind != "Variable" && x.kind != "Data" }

func (x *node) weight() bool { return x.kind == "Const" || x.kind == "Variable" }

type builder struct {
	rng      *rand.Rand
	nodes    []*node
	byName   map[string]*node
	tensors  map[string]spec
	inserted int
	size     int
	mask     float64
	seed     uint64
	results  []string
	other    *rand.Rand // of networks that are not as the architecture has them
	bfloat   bool
	powers   bool
}

func newBuilder(o Options) *builder {
	b := &builder{rng: o.rng(1), byName: map[string]*node{}, tensors: map[string]spec{}, size: o.Size, mask: o.Mask, seed: o.Seed, powers: o.Powers}
	if o.Other {
		b.other = o.rng(7)
		b.bfloat = b.other.IntN(3) == 0
	}
	return b
}

// of is the usual choice, or any of all.
func of[T any](b *builder, usual T, others ...T) T {
	if b.other == nil {
		return usual
	}
	if i := b.other.IntN(1 + len(others)); i > 0 {
		return others[i-1]
	}
	return usual
}

// floats tells whether a type holds numbers with a fraction.
func floats(dtype string) bool { return narrow(dtype) || dtype == f32 || dtype == f8 || dtype == e8 }

// narrow tells whether a device keeps in a type what a framework keeps in float32.
func narrow(dtype string) bool { return dtype == f16 || dtype == b16 }

// half is the narrow type of the network.
func (b *builder) half() string {
	if b.bfloat {
		return b16
	}
	return f16
}

func (b *builder) add(x *node) string {
	if b.byName[x.name] != nil {
		panic("two operators " + x.name)
	}
	for i, s := range x.outputs {
		if s.dtype == f16 {
			x.outputs[i].dtype = b.half()
		}
	}
	b.nodes = append(b.nodes, x)
	b.byName[x.name] = x
	for i, s := range x.outputs {
		b.tensors[fmt.Sprintf("%s:%d", x.name, i)] = s
	}
	return x.name + ":0"
}

// op is an operator of the framework.
func (b *builder) op(name, kind string, in []string, out []spec, a attrs) string {
	return b.add(&node{name: name, kind: kind, inputs: in, outputs: out, attrs: a, origin: name, originals: []string{name}})
}

// like is an operator whose output is like its first input, broadcast.
func (b *builder) like(name, kind string, a attrs, in ...string) string {
	s := b.tensors[in[0]]
	shapes := make([][]int, len(in))
	for i := range in {
		shapes[i] = b.tensors[in[i]].shape
	}
	s.shape = broadcast(shapes...)
	return b.op(name, kind, in, []spec{s}, a)
}

// fused is one kernel of several operators of the framework.
func (b *builder) fused(in []string, out spec, originals []string, parts ...part) string {
	name := ""
	for _, o := range originals {
		name += o
	}
	kind, a := parts[0].kind, parts[0].attrs
	if len(parts) > 1 {
		a = attrs{}
	}
	return b.add(&node{name: name, kind: kind, inputs: in, outputs: []spec{out}, attrs: a, parts: parts,
		origin: originals[len(originals)-1], originals: originals})
}

// source is a constant, a variable or data; vary draws another one.
func (b *builder) source(name, kind, dtype, layout string, draw func(rng *rand.Rand) array) string {
	if dtype == f16 {
		dtype = b.half()
	}
	v := draw(b.rng).rounded(dtype)
	return b.add(&node{name: name, kind: kind, outputs: []spec{{dtype, layout, v.shape}}, value: v, attrs: attrs{},
		vary: func(rng *rand.Rand) array { return draw(rng).rounded(dtype) }})
}

// data is an input of the network.
func (b *builder) data(name, dtype string, draw func(rng *rand.Rand) array) string {
	layout := "ND"
	at := b.source(name, "Data", dtype, layout, draw)
	x := b.nodes[len(b.nodes)-1]
	if len(x.value.shape) == 4 {
		x.outputs[0].layout = "NCHW"
		b.tensors[at] = x.outputs[0]
	}
	x.origin, x.originals = name, []string{name}
	n := 0
	for _, o := range b.nodes {
		if o.kind == "Data" {
			n++
		}
	}
	x.attrs = attrs{"index": n - 1}
	return at
}

// weight is a trained constant of normal numbers.
func (b *builder) weight(name, dtype, layout string, scale, shift float64, shape ...int) string {
	return b.source(name, "Const", dtype, layout, func(rng *rand.Rand) array { return normal(rng, scale, shift, shape...) })
}

// variable is a trained variable.
func (b *builder) variable(name, dtype string, scale, shift float64, shape ...int) string {
	return b.source(name, "Variable", dtype, "ND", func(rng *rand.Rand) array { return normal(rng, scale, shift, shape...) })
}

// constant is a number of the formula, the same in every run.
func (b *builder) constant(name, dtype string, v array) string {
	at := b.source(name, "Const", dtype, "ND", func(*rand.Rand) array { return v.clone() })
	b.nodes[len(b.nodes)-1].vary = nil
	return at
}

// insert is an operator that the compiler put in.
func (b *builder) insert(kind, x string, out spec, a attrs) string {
	name := fmt.Sprintf("trans_%s_%d", kind, b.inserted)
	b.inserted++
	return b.add(&node{name: name, kind: kind, inputs: []string{x}, outputs: []spec{out}, attrs: a})
}

var codes = map[string]int{f32: 0, f16: 1, i8: 2, i32: 3, i64: 9, flag: 12, b16: 27}

func castAttrs(from, to string) attrs {
	return attrs{"SrcT": codes[from], "DstT": codes[to], "dst_type": codes[to], "truncate": false}
}

func (b *builder) cast(x, dtype string) string {
	s := b.tensors[x]
	if dtype == f16 {
		dtype = b.half()
	}
	if s.dtype == dtype {
		return x
	}
	from := s.dtype
	s.dtype = dtype
	return b.insert("Cast", x, s, castAttrs(from, dtype))
}

func (b *builder) layout(x, layout string) string {
	s := b.tensors[x]
	if s.layout == layout {
		return x
	}
	from := s.layout
	s.layout = layout
	return b.insert("TransData", x, s, attrs{"src_format": from, "dst_format": layout, "input_format": formats[from], "output_format": formats[layout]})
}

func (b *builder) shape(x string) []int { return b.tensors[x].shape }

func (b *builder) reshape(name, x string, shape ...int) string {
	s := b.tensors[x]
	s.shape = shape
	return b.op(name, "Reshape", []string{x}, []spec{s}, attrs{})
}

func (b *builder) transpose(name, x string, perm ...int) string {
	s := b.tensors[x]
	shape := make([]int, len(perm))
	for i, p := range perm {
		shape[i] = s.shape[p]
	}
	s.shape = shape
	return b.op(name, "TransposeD", []string{x}, []spec{s}, attrs{"perm": perm})
}

func (b *builder) concat(name string, axis int, in ...string) string {
	s := b.tensors[in[0]]
	s.shape = slices.Clone(s.shape)
	for _, x := range in[1:] {
		s.shape[axis] += b.shape(x)[axis]
	}
	return b.op(name, "ConcatD", in, []spec{s}, attrs{"concat_dim": axis, "N": len(in)})
}

// split cuts an axis in equal parts; the tensors are name:0, name:1 and so on.
func (b *builder) split(name, x string, axis, n int) []string {
	s := b.tensors[x]
	s.shape = slices.Clone(s.shape)
	s.shape[axis] /= n
	out, names := make([]spec, n), make([]string, n)
	sizes := make([]int, n)
	for i := range n {
		out[i], names[i], sizes[i] = s, fmt.Sprintf("%s:%d", name, i), s.shape[axis]
	}
	b.op(name, "SplitVD", []string{x}, out, attrs{"size_splits": sizes, "split_dim": axis, "num_split": n})
	return names
}

func (b *builder) slice(name, x string, begin, end []int) string {
	s := b.tensors[x]
	s.shape = slices.Clone(s.shape)
	for i := range begin {
		s.shape[i] = end[i] - begin[i]
	}
	ones := make([]int, len(begin))
	for i := range ones {
		ones[i] = 1
	}
	return b.op(name, "StridedSliceD", []string{x}, []spec{s}, attrs{"begin": begin, "end": end, "strides": ones,
		"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0})
}

// reduce is a sum, mean or maximum over axes.
func (b *builder) reduce(name, kind, x string, keepDims bool, axes ...int) string {
	s := b.tensors[x]
	var shape []int
	for i, d := range s.shape {
		switch {
		case !slices.Contains(axes, i):
			shape = append(shape, d)
		case keepDims:
			shape = append(shape, 1)
		}
	}
	s.shape, s.layout = shape, "ND"
	return b.op(name, kind, []string{x}, []spec{s}, attrs{"axes": axes, "keep_dims": keepDims})
}

// gather takes rows of a table.
func (b *builder) gather(name, table, ids string) string {
	t, i := b.tensors[table], b.tensors[ids]
	t.shape = append(slices.Clone(i.shape), t.shape[1:]...)
	t.layout = "ND"
	return b.op(name, "GatherV2D", []string{table, ids}, []spec{t}, attrs{"axis": 0, "batch_dims": 0})
}

// dense is a product with a weight, and a bias if with is set, in one kernel.
// x is a float16 matrix.
func (b *builder) dense(scope, x string, out int, bias bool, act string) string {
	act = b.act(act)
	rows, k := b.shape(x)[0], b.shape(x)[1]
	x = b.layout(x, "FRACTAL_NZ")
	in := []string{x, b.weight(scope+"/kernel", f16, "FRACTAL_NZ", 1/math.Sqrt(float64(k)), 0, k, out)}
	originals := []string{scope + "/MatMul"}
	if bias {
		in = append(in, b.weight(scope+"/bias", f16, "ND", 0.3, 0, out))
		originals = append(originals, scope+"/BiasAdd")
	}
	a := attrs{"transpose_x1": false, "transpose_x2": false, "offset_x": 0}
	s := spec{f16, "FRACTAL_NZ", []int{rows, out}}
	from := []int{0, 1, 2}[:len(in)]
	if act != "" {
		originals = append(originals, scope+"/"+act)
		return b.fused(in, s, originals, part{"MatMulV2", a, from}, part{act, attrs{}, []int{-1}})
	}
	return b.add(&node{name: scope + "/MatMul", kind: "MatMulV2", inputs: in, outputs: []spec{s}, attrs: a, origin: originals[len(originals)-1], originals: originals})
}

// act is an activation, or another one.
func (b *builder) act(kind string) string {
	if kind == "" {
		return ""
	}
	return of(b, kind, "Relu", "Relu6", "Swish", "Gelu", "Tanh", "Sigmoid")
}

// conv is a convolution with bias, and an activation in the same kernel if it has
// a name; x is a float16 image.
func (b *builder) conv(scope, x string, out, kernel, stride int, act string) string {
	return b.convolution(scope, "Conv2D", x, out, kernel, stride, act)
}

func (b *builder) convolution(scope, kind, x string, out, kernel, stride int, act string) string {
	act = b.act(act)
	x = b.layout(x, "NC1HWC0")
	s := b.tensors[x]
	n, c, h, w := s.shape[0], s.shape[1], s.shape[2], s.shape[3]
	pad := kernel / 2
	filter, layout, fan := []int{out, c, kernel, kernel}, "FRACTAL_Z", c*kernel*kernel
	groups := 1
	if kind == "DepthwiseConv2D" {
		filter, layout, fan, groups = []int{c, 1, kernel, kernel}, "NCHW", kernel*kernel, c
	}
	in := []string{x, b.weight(scope+"/kernel", f16, layout, math.Sqrt(2/float64(fan)), 0, filter...), b.weight(scope+"/bias", f16, "ND", 0.2, 0, out)}
	a := attrs{"strides": []int{1, 1, stride, stride}, "pads": []int{pad, pad, pad, pad}, "dilations": []int{1, 1, 1, 1}, "groups": groups, "data_format": "NCHW", "offset_x": 0}
	y := spec{f16, "NC1HWC0", []int{n, out, (h+2*pad-kernel)/stride + 1, (w+2*pad-kernel)/stride + 1}}
	name, originals := scope+"/"+kind, []string{scope + "/" + kind, scope + "/BiasAdd"}
	if act == "" {
		return b.add(&node{name: name, kind: kind, inputs: in, outputs: []spec{y}, attrs: a, origin: originals[1], originals: originals})
	}
	return b.fused(in, y, append(originals, scope+"/"+act), part{kind, a, []int{0, 1, 2}}, part{act, attrs{}, []int{-1}})
}

// image is a batch of pictures, as a float16 tensor of the device.
func (b *builder) image(name string, shape ...int) string {
	x := b.data(name, f32, func(rng *rand.Rand) array {
		a := normal(rng, 0.3, 0, shape...)
		h, w := shape[2], shape[3]
		for i := range a.v { // patches, as pictures have them
			y, x := i/w%h, i%w
			a.v[i] += math.Sin(float64(y)*0.7+float64(i/(h*w))) * math.Cos(float64(x)*0.5)
		}
		return a
	})
	return b.layout(b.cast(x, f16), "NC1HWC0")
}

// flat is an image as a matrix.
func (b *builder) flat(name, x string) string {
	x = b.layout(x, "NCHW")
	s := b.shape(x)
	y := b.reshape(name, x, s[0], product(s[1:]))
	b.nodes[len(b.nodes)-1].outputs[0].layout = "ND"
	b.tensors[y] = b.nodes[len(b.nodes)-1].outputs[0]
	return y
}
