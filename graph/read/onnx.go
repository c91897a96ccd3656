package read

import (
	"cmp"
	"io"
	"strconv"
	"strings"

	"precision/graph"
)

// onnxReader reads an ONNX-style dump, the text form of an ONNX ModelProto that GE writes for viewers. Operators are
// nodes of type ge:<type>; everything else of an operator and of its tensors is spread over node attributes whose names
// are made of the names of the schema. A node is read as ONNX has it, then told to the assembler as the operator it
// stands for. Text attributes are usually stripped, so such a model can tell structure, types and shapes, but not where
// operators came from.
type onnxReader struct {
	*textReader
	nodes     frames[onnxNode] // that are being read
	node      *onnxNode        // the innermost of them
	graphs    []*graph.Graph   // that are being read
	ended     *graph.Graph
	subgraphs []*graph.Graph // of nodes of type subgraph
	noID      bool           // no operator says its id
}

// onnxNode is one NodeProto.
type onnxNode struct {
	place int
	name  string
	typ   string
	input []string
	attrs []onnxAttr
}

// onnxAttr is one AttributeProto.
type onnxAttr struct {
	name   string
	kind   string // INT, FLOAT, STRING, INTS, …
	i      int64
	f      float32
	s      string
	list   graph.List
	graphs []*graph.Graph
}

func readONNX(r io.Reader, path string) (*graph.Model, error) {
	o := &onnxReader{noID: true}
	o.textReader = newTextReader(r, &graph.Model{Path: path, Source: graph.SourceONNX})
	o.to.onnx = o
	o.message(onnxModel)
	m, err := o.to.finish(o.Err)
	if err != nil {
		return nil, err
	}
	m.Graphs = append(m.Graphs, o.subgraphs...)
	o.link()
	if o.noID {
		o.number()
	}
	m.Warnings = o.to.Warnings()
	return m, nil
}

// The fields of ONNX that hold something of GE; others are passed over.
var (
	onnxModel = &message{name: "ModelProto", quiet: true}
	onnxGraph = &message{name: "GraphProto", quiet: true, begin: func(a *assembler, place int) { a.onnx.beginGraph(place) },
		end: func(a *assembler) { a.onnx.endGraph() }}
	onnxNodes = &message{name: "NodeProto", quiet: true, begin: func(a *assembler, place int) { a.onnx.beginNode(place) },
		end: func(a *assembler) { a.onnx.endNode() }}
	onnxAttrs = &message{name: "AttributeProto", quiet: true, begin: func(a *assembler, _ int) { a.onnx.beginAttr() }}
)

func init() {
	top := func(a *assembler) *onnxNode { return a.onnx.node }
	attr := func(a *assembler) *onnxAttr { n := top(a); return &n.attrs[len(n.attrs)-1] }
	sub := func(a *assembler) { x := attr(a); x.graphs = append(x.graphs, a.onnx.ended) }
	onnxModel.set(messageTo(0, "graph", onnxGraph, func(a *assembler) { a.model.Graphs = append(a.model.Graphs, a.onnx.ended) }))
	onnxGraph.set(
		text(0, "name", func(a *assembler) *string { return &a.onnx.graphs[len(a.onnx.graphs)-1].Name }),
		messageTo(0, "node", onnxNodes, nil),
	)
	onnxNodes.set(
		text(0, "name", func(a *assembler) *string { return &top(a).name }),
		text(0, "op_type", func(a *assembler) *string { return &top(a).typ }),
		texts(0, "input", func(a *assembler) *[]string { return &top(a).input }),
		messageTo(0, "attribute", onnxAttrs, nil),
	)
	onnxAttrs.set(
		text(0, "name", func(a *assembler) *string { return &attr(a).name }),
		word(0, "type", func(a *assembler, p []byte) { attr(a).kind = a.Intern(p) }, nil),
		number(0, "i", func(a *assembler) *int64 { return &attr(a).i }),
		&field{name: "f", kind: kindFloat, float: func(a *assembler, f float32) { attr(a).f = f }},
		text(0, "s", func(a *assembler) *string { return &attr(a).s }),
		intTo(0, "ints", func(a *assembler, n int64) {
			if l := &attr(a).list; l.Is(graph.KindInt) {
				l.Ints = append(l.Ints, n)
			}
		}),
		&field{name: "floats", kind: kindFloat, float: func(a *assembler, f float32) {
			if l := &attr(a).list; l.Is(graph.KindFloat) {
				l.Floats = append(l.Floats, f)
			}
		}},
		textTo(0, "strings", func(a *assembler, p []byte) {
			if l := &attr(a).list; l.Is(graph.KindString) {
				l.Texts = append(l.Texts, a.Intern(p))
			}
		}),
		messageTo(0, "g", onnxGraph, sub),
		messageTo(0, "graphs", onnxGraph, sub),
	)
}

func (o *onnxReader) beginGraph(place int) {
	o.graphs = append(o.graphs, &graph.Graph{Line: place})
}

func (o *onnxReader) endGraph() {
	last := len(o.graphs) - 1
	o.ended, o.graphs = o.graphs[last], o.graphs[:last]
}

func (o *onnxReader) beginNode(place int) {
	n := o.nodes.push()
	*n = onnxNode{place: place, input: n.input[:0], attrs: n.attrs[:0]}
	o.node = n
}

// beginAttr opens one more attribute, with the lists of one that is no longer needed where there is one.
func (o *onnxReader) beginAttr() {
	n := o.node
	if k := len(n.attrs); k < cap(n.attrs) {
		n.attrs = n.attrs[:k+1]
	} else {
		n.attrs = append(n.attrs, onnxAttr{})
	}
	x := &n.attrs[len(n.attrs)-1]
	*x = onnxAttr{list: x.list}
	x.list.Reset()
}

// endNode tells the operator of a node, or keeps the graphs of a node that stands for a sub graph.
func (o *onnxReader) endNode() {
	n := o.node
	o.node = o.nodes.pop()
	if n.typ = strings.TrimPrefix(n.typ, "ge:"); n.typ != "subgraph" {
		g := o.graphs[len(o.graphs)-1]
		g.Ops = append(g.Ops, o.operator(n))
		return
	}
	for i := range n.attrs {
		for _, g := range n.attrs[i].graphs {
			g.Name = cmp.Or(g.Name, n.name)
			o.subgraphs = append(o.subgraphs, g)
		}
	}
}

// ofNode are the fields that a node has itself.
var ofNode = map[string]bool{"name": true, "type": true, "input": true}

// operator tells the assembler a node as a message of the schema.
func (o *onnxReader) operator(n *onnxNode) *graph.Op {
	to := o.to
	to.begin(opDef, n.place)
	to.op.op.Name, to.op.op.Type = n.name, n.typ
	input := opDef.named([]byte("input"))
	for _, s := range n.input {
		input.text(to, []byte(s))
	}
	in, out := newONNXSlots("input_desc", n), newONNXSlots("output_desc", n)
	for i := range n.attrs {
		x := &n.attrs[i]
		switch {
		case x.name == in.count || x.name == out.count:
		case in.take(x) || out.take(x):
		case !ofNode[x.name] && x.tell(to, opDef.named([]byte(x.name))):
			o.noID = o.noID && x.name != "id"
		default:
			to.put([]byte(x.name), x.value(to))
		}
	}
	in.tell(to)
	out.tell(to)
	opDef.end(to)
	return to.ended.op
}

// tell hands the attribute over as a field of the schema; false if it is none.
func (x *onnxAttr) tell(to *assembler, f *field) bool {
	if f == nil || f.kind == kindMessage {
		return false
	}
	switch f.kind {
	case kindText, kindWord:
		if !f.many {
			f.text(to, []byte(x.s))
		}
		for _, s := range x.list.Texts {
			f.text(to, []byte(s))
		}
	case kindInt:
		if !f.many {
			f.int(to, x.i)
		}
		for _, n := range x.list.Ints {
			f.int(to, n)
		}
	case kindBool:
		if !f.many {
			f.bool(to, x.i != 0)
		}
		for _, n := range x.list.Ints {
			f.bool(to, n != 0)
		}
	}
	return true
}

func (x *onnxAttr) value(to *assembler) *graph.Value {
	switch x.kind {
	case "INT", "2":
		return to.IntValue(x.i)
	case "FLOAT", "1":
		return to.FloatValue(x.f)
	case "STRING", "3":
		return to.TextValue([]byte(x.s))
	case "INTS", "FLOATS", "STRINGS", "7", "6", "8":
		return to.ListValue(&x.list)
	}
	return to.Empty
}

// onnxSlots are the attributes of a node that describe the tensors of one side, named prefix + field + ":" + slot.
type onnxSlots struct {
	field  *field // of the schema: input_desc or output_desc
	prefix string
	count  string // attribute that tells how many slots there are
	slots  [][]onnxPart
}

// onnxPart is one attribute of a descriptor.
type onnxPart struct {
	name string
	*onnxAttr
}

func newONNXSlots(name string, n *onnxNode) *onnxSlots {
	s := &onnxSlots{field: opDef.named([]byte(name)), prefix: name + "_", count: name + "_nums"}
	count := int64(0)
	for i := range n.attrs {
		if n.attrs[i].name == s.count {
			count = n.attrs[i].i
		}
	}
	// The number is a claim: no more slots than attributes or edges could fill.
	most := len(n.attrs)
	if name == "input_desc" {
		most += len(n.input)
	}
	s.slots = make([][]onnxPart, max(0, min(count, int64(most))))
	return s
}

// take puts an attribute into its slot; false if it does not describe a tensor of this side.
func (s *onnxSlots) take(x *onnxAttr) bool {
	rest, ok := strings.CutPrefix(x.name, s.prefix)
	i := strings.LastIndexByte(rest, ':')
	if !ok || i < 0 {
		return false
	}
	k, err := strconv.Atoi(rest[i+1:])
	if err != nil || k < 0 || k >= len(s.slots) {
		return false
	}
	name := rest[:i]
	f := tensorDescriptor.named([]byte(name))
	switch {
	case f != nil && name != "attr", strings.HasPrefix(name, "attr_"), name == "origin_dtype", name == "origin_layout", name == "origin_shape":
		s.slots[k] = append(s.slots[k], onnxPart{name, x})
		return true
	}
	return false
}

// tell hands over the descriptors.
func (s *onnxSlots) tell(to *assembler) {
	for _, parts := range s.slots {
		to.begin(s.field.message, 0)
		for _, x := range parts {
			x.describe(to)
		}
		to.end(s.field)
	}
}

func (x onnxPart) describe(to *assembler) {
	switch x.name {
	case "shape":
		to.desc.desc.Shape = to.IntList(x.list.Ints)
	case "origin_dtype":
		if x.s != "" && x.s != graph.Undefined {
			to.put([]byte("origin_data_type"), to.TextValue([]byte(x.s)))
		}
	case "origin_layout":
		if x.s != "" {
			to.put([]byte(graph.AttrFormat), to.TextValue([]byte(x.s)))
		}
	case "origin_shape":
		if len(x.list.Ints) > 0 { // else it is not known or a scalar, which cannot be told apart
			to.put([]byte(graph.AttrShape), to.ListValue(&x.list))
		}
	default:
		if key, ok := strings.CutPrefix(x.name, "attr_"); ok {
			to.put([]byte(key), x.value(to))
			return
		}
		x.tell(to, tensorDescriptor.named([]byte(x.name)))
	}
}

// link restores which graph a PartitionedCall calls: these dumps do not say, but GE builds the operator's name from
// the graph's.
func (o *onnxReader) link() {
	byName := map[string]bool{}
	for _, g := range o.subgraphs {
		byName[g.Name] = true
	}
	for op := range o.to.model.Ops() {
		if op.Type != "PartitionedCall" || len(op.SubgraphNames) > 0 {
			continue
		}
		if i := strings.LastIndex(op.Name, "_PartitionedCall_"); i > 0 && byName[op.Name[:i]] {
			op.SubgraphNames = []string{op.Name[:i]}
		}
	}
}

// number gives operators their file position as id where the dump has none.
func (o *onnxReader) number() {
	for _, g := range o.to.model.Graphs {
		for i, op := range g.Ops {
			op.ID = int64(i)
		}
		if len(g.Ops) > 0 {
			o.to.Warn(graph.Warning{Path: o.path, Line: g.Line, Offset: -1, Msg: graph.Messagef("no operator ids in the dump, file order is used")})
		}
	}
}
