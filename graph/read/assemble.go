package read

import (
	"precision/graph"
	"precision/internal/scan"
)

// assembler puts a model together from what the tokenizers of the four forms find: messages that begin and end, and
// the values of their fields. The schema says which function takes which.
//
// What a message collects waits on the assembler: attributes, edges, descriptors and operators on stacks of which each
// message takes its tail when it ends, the rest in frames, one a message that is open.
type assembler struct {
	*graph.Builder
	model *graph.Model
	src   source
	// tellsLists says that the source tells an empty list from none, as JSON does; null is then a value of its own.
	tellsLists bool
	onnx       *onnxReader // of an ONNX-style dump
	tf         *tensorflow // of a graph of TensorFlow
	names      *attrNames  // of a compressed offline model
	refused    bool        // the file is larger than any real graph

	attrs []graph.Attr
	edges []graph.Edge
	ins   []graph.TensorDesc
	outs  []graph.TensorDesc
	ops   []*graph.Op
	dims  []int64
	row   []float32
	rows  struct {
		ints   [][]int64
		floats [][]float32
	}

	// The innermost open message of each type, nil without one; the frames around it are on stacks.
	graph  *graphFrame
	op     *opFrame
	desc   *descFrame
	attr   *attrFrame
	fn     *funcFrame
	tensor *graph.Tensor
	list   *graph.List

	graphs    frames[graphFrame]
	opsOpen   frames[opFrame]
	descs     frames[descFrame]
	values    frames[attrFrame]
	funcs     frames[funcFrame]
	listsOpen frames[graph.List]
	tensors   []*graph.Tensor

	// ended is the message that ended last, for the field it is the value of.
	ended struct {
		graph  *graph.Graph
		op     *graph.Op
		desc   *graph.TensorDesc // until the next one begins
		shape  []int64
		fn     *graph.NamedAttrs
		tensor *graph.Tensor
	}
}

// source is what the assembler asks of a tokenizer.
type source interface {
	// warning returns a warning about the place where the tokenizer is.
	warning(msg graph.Message) graph.Warning
	// refuse ends reading at the place where the tokenizer is, of a file that is larger than any real graph.
	refuse(msg graph.Message)
}

type graphFrame struct {
	graph *graph.Graph
	attrs int
	ops   int
}

type opFrame struct {
	op                      *graph.Op
	hints                   graph.Hints
	attrs, edges, ins, outs int
}

type descFrame struct {
	desc   graph.TensorDesc
	extra  graph.DescExtra
	attrs  int
	listed bool // the file has a list of attributes, empty or not
}

type attrFrame struct {
	key    *string
	value  *graph.Value
	asText bool // the integers of the value stand for texts of a table
}

type funcFrame struct {
	name  string
	attrs int
}

// frames is a stack whose elements are used again.
type frames[T any] struct {
	all  []*T
	open int
}

// push opens a frame, which holds what it held last.
func (s *frames[T]) push() *T {
	if s.open == len(s.all) {
		s.all = append(s.all, new(T))
	}
	s.open++
	return s.all[s.open-1]
}

// pop closes the innermost frame and returns the one around it, nil without one.
func (s *frames[T]) pop() *T {
	s.open--
	if s.open == 0 {
		return nil
	}
	return s.all[s.open-1]
}

func newAssembler(b *graph.Builder, m *graph.Model, src source) *assembler {
	return &assembler{Builder: b, model: m, src: src}
}

// begin opens a message; place is its line, or offset in a binary source.
func (a *assembler) begin(m *message, place int) {
	if m.begin != nil {
		m.begin(a, place)
	}
}

// end closes the message that is the value of f.
func (a *assembler) end(f *field) {
	if f.message.end != nil {
		f.message.end(a)
	}
	if f.done != nil {
		f.done(a)
	}
}

// endModel takes what is left: the attributes of the model itself.
func (a *assembler) endModel() {
	a.model.Attrs = append(a.model.Attrs, a.TakeAttrs(&a.attrs, 0)...)
}

// limit refuses files that hold more than any real graph.
func (a *assembler) limit() {
	if msg, over := a.Overfull(); over {
		a.refused = true
		a.src.refuse(msg)
	}
}

// finish returns the model that was read of a text, or what ended the scan of it.
func (a *assembler) finish(fault *scan.Fault) (*graph.Model, error) {
	if fault != nil {
		err := graph.AtFault(a.model.Path, fault)
		if a.refused {
			err.Fault = graph.FaultLimit
		}
		return nil, err
	}
	a.model.Warnings = a.Warnings()
	return a.model, nil
}

func (a *assembler) beginGraph(place int) {
	a.graph = a.graphs.push()
	*a.graph = graphFrame{graph: &graph.Graph{Line: place, NoOps: a.tellsLists}, attrs: len(a.attrs), ops: len(a.ops)}
}

func (a *assembler) endGraph() {
	f := a.graph
	g := f.graph
	g.Attrs = a.TakeAttrs(&a.attrs, f.attrs)
	g.Ops = append(make([]*graph.Op, 0, len(a.ops)-f.ops), a.ops[f.ops:]...)
	clear(a.ops[f.ops:])
	a.ops = a.ops[:f.ops]
	a.ended.graph = g
	a.graph = a.graphs.pop()
}

func (a *assembler) beginOp(place int) {
	f := a.opsOpen.push()
	a.op = f
	f.op = a.Op()
	a.limit()
	f.op.Line = place
	f.hints.Reset()
	f.attrs, f.edges, f.ins, f.outs = len(a.attrs), len(a.edges), len(a.ins), len(a.outs)
}

func (a *assembler) endOp() {
	f := a.op
	o := f.op
	o.Attrs = a.TakeAttrs(&a.attrs, f.attrs)
	o.Inputs = a.TakeEdges(&a.edges, f.edges)
	o.InputDesc = a.ShareDescs(&a.ins, f.ins)
	o.OutputDesc = a.ShareDescs(&a.outs, f.outs)
	a.SetHints(o, &f.hints)
	a.ended.op = o
	a.op = a.opsOpen.pop()
}

func (a *assembler) beginDesc(int) {
	f := a.descs.push()
	a.desc = f
	f.desc.DType, f.desc.Layout, f.desc.Shape, f.desc.Size = "", "", nil, 0
	f.attrs, f.listed = len(a.attrs), false
	a.limit()
}

func (a *assembler) endDesc() {
	f := a.desc
	if f.desc.Attrs = a.ShareAttrs(&a.attrs, f.attrs); f.desc.Attrs == nil && f.listed {
		f.desc.Attrs = graph.Attrs{} // rules tell no attributes from no attribute list
	}
	a.SetExtra(&f.desc, &f.extra)
	f.extra = graph.DescExtra{}
	a.ended.desc = &f.desc
	a.desc = a.descs.pop()
}

func (a *assembler) beginShape(int) { a.dims = a.dims[:0] }

func (a *assembler) endShape() { a.ended.shape = a.IntList(a.dims) }

func (a *assembler) beginTensor(int) {
	a.tensor = &graph.Tensor{}
	a.tensors = append(a.tensors, a.tensor)
}

func (a *assembler) endTensor() {
	a.ended.tensor = a.tensor
	a.tensors = a.tensors[:len(a.tensors)-1]
	if a.tensor = nil; len(a.tensors) > 0 {
		a.tensor = a.tensors[len(a.tensors)-1]
	}
}

func (a *assembler) beginFunc(int) {
	a.fn = a.funcs.push()
	*a.fn = funcFrame{attrs: len(a.attrs)}
}

func (a *assembler) endFunc() {
	a.ended.fn = &graph.NamedAttrs{Name: a.fn.name, Attrs: a.ShareAttrs(&a.attrs, a.fn.attrs)}
	a.fn = a.funcs.pop()
}

func (a *assembler) beginAttr(int) {
	a.attr = a.values.push()
	a.attr.key, a.attr.value, a.attr.asText = nil, graph.Missing, false
}

func (a *assembler) endAttr() {
	v := a.attr.value
	if a.attr.asText {
		v = a.names.text(a.Builder, v)
	}
	a.attrs = append(a.attrs, graph.NewAttr(a.attr.key, v))
	a.attr = a.values.pop()
}

// key takes the name of an attribute.
func (a *assembler) key(p []byte) {
	if a.names != nil {
		p, a.attr.asText = a.names.key(p)
	}
	a.attr.key = a.AttrKey(p)
}

// put adds an attribute that is not written as an entry.
func (a *assembler) put(key []byte, v *graph.Value) {
	a.attrs = append(a.attrs, graph.NewAttr(a.AttrKey(key), v))
}

// beginValue starts a value without a branch. Of several branches the last counts, as for every oneof.
func (a *assembler) beginValue(int) {
	a.attr.value = graph.Missing
	if a.tellsLists {
		a.attr.value = a.Empty
	}
}

func (a *assembler) beginList(int) {
	a.list = a.listsOpen.push()
	a.list.Reset()
}

func (a *assembler) endList() {
	if a.list.Mixed {
		a.Warn(a.src.warning(graph.Messagef("list with elements of several kinds: only the first kind is kept")))
	}
	a.attr.value = a.ListValue(a.list)
	a.list = a.listsOpen.pop()
}

func (a *assembler) beginRows(int) { a.rows.ints, a.rows.floats = nil, nil }

func (a *assembler) beginRow(int) { a.dims, a.row = a.dims[:0], nil }

func (a *assembler) endIntRow() { a.rows.ints = append(a.rows.ints, a.IntList(a.dims)) }

func (a *assembler) endFloatRow() { a.rows.floats = append(a.rows.floats, a.row) }

func (a *assembler) endIntRows() { a.attr.value = a.IntRows(a.rows.ints) }

func (a *assembler) endFloatRows() { a.attr.value = a.FloatRows(a.rows.floats) }
