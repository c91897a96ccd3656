package read

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/graph"
	"precision/internal/must"
)

// tensorflow is what is read of a graph of TensorFlow: a GraphDef in binary or text form, or those of a SavedModel. Nodes become operators,
// functions become graphs.
type tensorflow struct {
	graph    *graph.Graph // that nodes go to
	main     *graph.Graph
	function bool // the graph is a function, whose edges name outputs
	node     tensorflowNode
	attr     struct {
		key   []byte
		value *graph.Value
		calls string
	}
}

type tensorflowNode struct {
	place  int
	name   string
	typ    string
	inputs []string
	attrs  []tensorflowAttr
	calls  []string
}

type tensorflowAttr struct {
	key   string
	value *graph.Value
}

// The messages of TensorFlow, with the fields that are kept.
var (
	tfSaved     = &message{name: "SavedModel", quiet: true}
	tfMeta      = &message{name: "MetaGraphDef", quiet: true}
	tfGraph     = &message{name: "GraphDef", quiet: true, begin: func(a *assembler, place int) { a.tf.beginGraph(a, place) }}
	tfLibrary   = &message{name: "FunctionDefLibrary", quiet: true}
	tfFunction  = &message{name: "FunctionDef", quiet: true, begin: func(a *assembler, place int) { a.tf.beginFunction(a, place) }, end: func(a *assembler) { a.tf.graph, a.tf.function = a.tf.main, false }}
	tfSignature = &message{name: "OpDef", quiet: true}
	tfNode      = &message{name: "NodeDef", quiet: true, begin: func(a *assembler, place int) { a.tf.node = tensorflowNode{place: place} }, end: func(a *assembler) { a.tf.endNode(a) }}
	tfAttr      = &message{name: "AttrEntry", quiet: true, begin: func(a *assembler, _ int) { a.tf.attr.key, a.tf.attr.value, a.tf.attr.calls = nil, nil, "" }, end: func(a *assembler) { a.tf.endAttr() }}
	tfValue     = &message{name: "AttrValue", quiet: true}
	tfCalled    = &message{name: "NameAttrList", quiet: true}
)

func init() {
	tfSaved.set(messagesTo(2, "meta_graphs", tfMeta, nil))
	tfMeta.set(messageTo(2, "graph_def", tfGraph, nil))
	tfGraph.set(messagesTo(1, "node", tfNode, nil), messageTo(2, "library", tfLibrary, nil))
	tfLibrary.set(messagesTo(1, "function", tfFunction, nil))
	tfFunction.set(messageTo(1, "signature", tfSignature, nil), messagesTo(3, "node_def", tfNode, nil))
	tfSignature.set(text(1, "name", func(a *assembler) *string { return &a.tf.graph.Name }))
	tfNode.set(
		text(1, "name", func(a *assembler) *string { return &a.tf.node.name }),
		text(2, "op", func(a *assembler) *string { return &a.tf.node.typ }),
		texts(3, "input", func(a *assembler) *[]string { return &a.tf.node.inputs }),
		messagesTo(5, "attr", tfAttr, nil),
	)
	tfAttr.set(
		textTo(1, "key", func(a *assembler, p []byte) { a.tf.attr.key = bytes.Clone(p) }),
		messageTo(2, "value", tfValue, nil),
	)
	set := func(a *assembler, v *graph.Value) { a.tf.attr.value = v }
	tfValue.set(
		textTo(2, "s", func(a *assembler, p []byte) { set(a, a.TextValue(p)) }),
		intTo(3, "i", func(a *assembler, n int64) { set(a, a.IntValue(n)) }),
		&field{number: 4, name: "f", say: "f", kind: kindFloat, float: func(a *assembler, f float32) { set(a, a.FloatValue(f)) }},
		&field{number: 5, name: "b", say: "b", kind: kindBool, bool: func(a *assembler, b bool) { set(a, a.BoolValue(b)) }},
		word(6, "type", func(a *assembler, p []byte) { set(a, a.TextValue(p)) }, func(a *assembler, n int64) { set(a, a.TextValue([]byte(tfTypes[n]))) }),
		messageTo(10, "func", tfCalled, nil),
	)
	tfCalled.set(text(1, "name", func(a *assembler) *string { return &a.tf.attr.calls }))
}

// tfTypes are the names of TensorFlow's types by their numbers.
var tfTypes = map[int64]string{
	1: "DT_FLOAT", 2: "DT_DOUBLE", 3: "DT_INT32", 4: "DT_UINT8", 5: "DT_INT16", 6: "DT_INT8", 7: "DT_STRING", 8: "DT_COMPLEX64", 9: "DT_INT64", 10: "DT_BOOL",
	11: "DT_QINT8", 12: "DT_QUINT8", 13: "DT_QINT32", 14: "DT_BFLOAT16", 15: "DT_QINT16", 16: "DT_QUINT16", 17: "DT_UINT16", 18: "DT_COMPLEX128", 19: "DT_HALF",
	20: "DT_RESOURCE", 21: "DT_VARIANT", 22: "DT_UINT32", 23: "DT_UINT64",
}

func (t *tensorflow) beginGraph(a *assembler, place int) {
	name := filepath.Base(a.model.Path)
	t.main = &graph.Graph{Line: place, Name: strings.TrimSuffix(name, filepath.Ext(name))}
	t.graph, t.function = t.main, false
	a.model.Graphs = append(a.model.Graphs, t.graph)
}

func (t *tensorflow) beginFunction(a *assembler, place int) {
	t.graph, t.function = &graph.Graph{Line: place}, true
	a.model.Graphs = append(a.model.Graphs, t.graph)
}

func (t *tensorflow) endAttr() {
	x := &t.attr
	if x.calls != "" {
		t.node.calls = append(t.node.calls, x.calls)
	}
	if x.value != nil {
		t.node.attrs = append(t.node.attrs, tensorflowAttr{string(x.key), x.value})
	}
}

// endNode tells the operator that a node is.
func (t *tensorflow) endNode(a *assembler) {
	n := &t.node
	a.begin(opDef, n.place)
	op := a.op.op
	op.Name, op.Type, op.ID, op.SubgraphNames = n.name, n.typ, int64(len(t.graph.Ops)), n.calls
	for _, from := range n.inputs {
		a.edges = append(a.edges, graph.ParseEdge(a.Intern([]byte(t.edge(from)))))
	}
	for _, x := range n.attrs {
		a.put([]byte(x.key), x.value)
	}
	opDef.end(a)
	t.graph.Ops = append(t.graph.Ops, a.ended.op)
}

// edge is an input as GE writes it: a is a:0, ^a is a:-1, and a:out:1 of a function is a:1.
func (t *tensorflow) edge(from string) string {
	if name, control := strings.CutPrefix(from, "^"); control {
		return name + ":-1"
	}
	first, last := strings.IndexByte(from, ':'), strings.LastIndexByte(from, ':')
	switch {
	case first < 0:
		return from + ":0"
	case t.function && first < last:
		return from[:first] + from[last:]
	}
	return from
}

// readTensorFlow reads the text form of a GraphDef, or of a SavedModel.
func readTensorFlow(r io.Reader, path string, of *message) (*graph.Model, error) {
	t := newTextReader(r, &graph.Model{Path: path, Source: graph.SourceTensorFlow})
	t.to.tf = &tensorflow{}
	t.to.begin(of, 1)
	t.message(of)
	return t.to.finish(t.Err)
}

// readTensorFlowBinary reads the binary form.
func readTensorFlowBinary(ctx context.Context, data []byte, path string, of *message) (_ *graph.Model, err error) {
	defer must.Catch(&err)
	b, m := graph.NewBuilder(), &graph.Model{Path: path, Source: graph.SourceTensorFlow}
	w := &wireReader{ctx: ctx, whole: data}
	w.to = newAssembler(b, m, w)
	w.to.tf = &tensorflow{}
	w.to.begin(of, 0)
	w.message(of, data)
	m.Warnings = b.Warnings()
	return m, nil
}

// tensorflowBinary tells the binary form of a GraphDef, whose first field is a node with its name and type, or of a
// SavedModel; nil for anything else. A model of GE begins with its name.
func tensorflowBinary(head []byte) *message {
	num, typ, n := protowire.ConsumeTag(head)
	if n < 0 || num != 1 {
		return nil
	}
	if typ == protowire.VarintType { // the version of a SavedModel, and its graphs
		v, k := protowire.ConsumeVarint(head[n:])
		if k < 0 || v != 1 {
			return nil
		}
		if num, typ, k = protowire.ConsumeTag(head[n+k:]); k > 0 && num == 2 && typ == protowire.BytesType {
			return tfSaved
		}
		return nil
	}
	length, k := protowire.ConsumeVarint(head[n:])
	if typ != protowire.BytesType || k < 0 {
		return nil
	}
	node := head[n+k:]
	node = node[:min(uint64(len(node)), length)]
	for want := protowire.Number(1); want <= 2; want++ {
		num, typ, n := protowire.ConsumeTag(node)
		if n < 0 || num != want || typ != protowire.BytesType {
			return nil
		}
		value, k := protowire.ConsumeBytes(node[n:])
		if k < 0 || len(value) == 0 || bytes.ContainsFunc(value, func(r rune) bool { return r < ' ' }) {
			return nil
		}
		node = node[n+k:]
	}
	return tfGraph
}

// tensorflowText tells the text form by its first words.
func tensorflowText(p []byte) *message {
	words := bytes.Fields(p[:min(len(p), 64)])
	switch {
	case len(words) > 1 && (string(words[0]) == "node" || string(words[0]) == "library") && string(words[1]) == "{":
		return tfGraph
	case len(words) > 0 && string(words[0]) == "saved_model_schema_version:":
		return tfSaved
	}
	return nil
}
