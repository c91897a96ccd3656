package read

import (
	"io"
	"strconv"
	"strings"

	"precision/graph"
	"precision/graph/internal/scan"
)

// onnxReader builds a model from an ONNX-style dump, the text form of an ONNX ModelProto that GE writes for viewers.
// Operators are nodes of type ge:<type>; everything else of an operator and of its tensors is spread over node
// attributes with made-up names. Text attributes are usually stripped, so such a model can tell structure, types
// and shapes, but not where operators came from.
type onnxReader struct {
	textReader
	subgraphs []*graph.Graph // of nodes of type subgraph
	noID      bool           // no operator says its id
}

func readONNX(r io.Reader, path string) (*graph.Model, error) {
	o := &onnxReader{noID: true}
	o.Builder, o.model = graph.NewBuilder(), &graph.Model{Path: path, Source: graph.SourceONNX}
	o.Text = scan.NewText(r)
	o.readModelProto()
	if o.Err == nil && o.ReadErr() != nil {
		o.Failf("read")
	}
	if o.Err != nil {
		o.Err.Path = path
		return nil, o.Err
	}
	m := o.model
	m.Graphs = append(m.Graphs, o.subgraphs...)
	o.link()
	if o.noID {
		o.number()
	}
	m.Warnings = o.Warnings
	for i := range m.Warnings {
		m.Warnings[i].Path = path
	}
	return m, nil
}

func (o *onnxReader) readModelProto() {
	for {
		switch name := o.Next(); string(name) {
		case "":
			return
		case "graph":
			for v := scan.ValuesStart; o.More(&v); {
				if o.Message() {
					o.model.Graphs = append(o.model.Graphs, o.readONNXGraph())
				}
			}
		default:
			o.Skip()
		}
	}
}

func (o *onnxReader) readONNXGraph() *graph.Graph {
	g := &graph.Graph{Line: o.Open[o.Depth]}
	for {
		switch name := o.Next(); string(name) {
		case "":
			return g
		case "name":
			o.text1(&g.Name)
		case "node":
			for v := scan.ValuesStart; o.More(&v); {
				if o.Message() {
					if op := o.readNode(); op != nil {
						g.Ops = append(g.Ops, op)
					}
				}
			}
		default:
			o.Skip()
		}
	}
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

// readNode returns the operator of a node, nil for a node that stands for a sub graph.
func (o *onnxReader) readNode() *graph.Op {
	op := o.Op()
	if msg := o.Overfull(); msg != "" {
		o.Failf("%s", msg)
	}
	op.Line = o.Open[o.Depth]
	var attrs []onnxAttr
	for name := o.Next(); name != nil; name = o.Next() {
		switch string(name) {
		case "name":
			o.text1(&op.Name)
		case "op_type":
			o.text1(&op.Type)
			op.Type = strings.TrimPrefix(op.Type, "ge:")
		case "input":
			for v := scan.ValuesStart; o.More(&v); {
				op.Inputs = append(op.Inputs, graph.ParseEdge(o.Intern(o.Str())))
			}
		case "attribute":
			for v := scan.ValuesStart; o.More(&v); {
				if o.Message() {
					attrs = append(attrs, o.readONNXAttr())
				}
			}
		default:
			o.Skip()
		}
	}
	if op.Type == "subgraph" {
		for i := range attrs {
			for _, g := range attrs[i].graphs {
				if g.Name == "" {
					g.Name = op.Name
				}
				o.subgraphs = append(o.subgraphs, g)
			}
		}
		return nil
	}
	o.spread(op, attrs)
	return op
}

func (o *onnxReader) readONNXAttr() (a onnxAttr) {
	a.list.Reset()
	for {
		switch name := o.Next(); string(name) {
		case "":
			return a
		case "name":
			o.text1(&a.name)
		case "type":
			for v := scan.ValuesStart; o.More(&v); {
				a.kind = string(o.Enum())
			}
		case "i":
			o.int1(&a.i)
		case "f":
			for v := scan.ValuesStart; o.More(&v); {
				a.f = o.Float()
			}
		case "s":
			o.text1(&a.s)
		case "ints":
			o.listInts(&a.list, graph.KindInt)
		case "floats":
			for v := scan.ValuesStart; o.More(&v); {
				if f := o.Float(); a.list.Is(graph.KindFloat) {
					a.list.Floats = append(a.list.Floats, f)
				}
			}
		case "strings":
			for v := scan.ValuesStart; o.More(&v); {
				if s := o.Intern(o.Str()); a.list.Is(graph.KindString) {
					a.list.Texts = append(a.list.Texts, s)
				}
			}
		case "g", "graphs":
			for v := scan.ValuesStart; o.More(&v); {
				if o.Message() {
					a.graphs = append(a.graphs, o.readONNXGraph())
				}
			}
		default:
			o.Skip()
		}
	}
}

// spread puts the attributes of a node where the operator keeps them.
func (o *onnxReader) spread(op *graph.Op, attrs []onnxAttr) {
	var h graph.Hints
	in := onnxDescs{prefix: "input_desc_"}
	out := onnxDescs{prefix: "output_desc_"}
	for i := range attrs {
		switch a := &attrs[i]; a.name {
		case "input_desc_nums":
			in.count = a.i
		case "output_desc_nums":
			out.count = a.i
		}
	}
	// The numbers are claims: no more slots than attributes or edges could fill.
	in.count = min(in.count, int64(len(attrs)+len(op.Inputs)))
	out.count = min(out.count, int64(len(attrs)))
	in.descs, out.descs = make([]onnxDesc, max(0, in.count)), make([]onnxDesc, max(0, out.count))
	mark := len(o.attrStack)
	for i := range attrs {
		a := &attrs[i]
		switch a.name {
		case "id":
			op.ID, o.noID = a.i, false
		case "stream_id":
			op.StreamID = a.i
		case "input_name":
			h.InputNames = a.list.Texts
		case "src_name":
			h.SrcNames = a.list.Texts
		case "dst_name":
			h.DstNames = a.list.Texts
		case "src_index":
			h.SrcIndexes = a.list.Ints
		case "dst_index":
			h.DstIndexes = a.list.Ints
		case "input_i":
			h.InputI = a.list.Ints
		case "output_i":
			h.OutputI = a.list.Ints
		case "workspace":
			h.Workspace = a.list.Ints
		case "workspace_bytes":
			h.WorkspaceLen = a.list.Ints
		case "is_input_const":
			for _, n := range a.list.Ints {
				h.IsInputConst = append(h.IsInputConst, n != 0)
			}
		case "has_out_attr":
			h.HasOutAttr = a.i != 0
		case "subgraph_name":
			op.SubgraphNames = a.list.Texts
		case "input_desc_nums", "output_desc_nums":
		default:
			if !in.take(o, a) && !out.take(o, a) {
				o.attrStack = append(o.attrStack, graph.NewAttr(o.AttrKey([]byte(a.name)), o.attrValue(a)))
			}
		}
	}
	op.Attrs = o.TakeAttrs(&o.attrStack, mark)
	op.InputDesc, op.OutputDesc = in.finish(o), out.finish(o)
	o.SetHints(op, &h)
}

func (o *onnxReader) attrValue(a *onnxAttr) *graph.Value {
	switch a.kind {
	case "INT", "2":
		return o.IntValue(a.i)
	case "FLOAT", "1":
		return o.FloatValue(a.f)
	case "STRING", "3":
		return o.TextValue([]byte(a.s))
	case "INTS", "FLOATS", "STRINGS", "7", "6", "8":
		return o.ListValue(&a.list)
	}
	return o.Empty
}

// onnxDescs collects the descriptors of one side of an operator from attributes named prefix + field + ":" + slot.
type onnxDescs struct {
	prefix string
	count  int64
	descs  []onnxDesc
}

type onnxDesc struct {
	d     graph.TensorDesc
	x     graph.DescExtra
	attrs []graph.Attr
}

// take puts a into its descriptor; false if it does not describe a tensor of this side.
func (c *onnxDescs) take(o *onnxReader, a *onnxAttr) bool {
	rest, ok := strings.CutPrefix(a.name, c.prefix)
	if !ok {
		return false
	}
	i := strings.LastIndexByte(rest, ':')
	if i < 0 {
		return false
	}
	k, err := strconv.Atoi(rest[i+1:])
	if err != nil || k < 0 || k >= len(c.descs) {
		return false
	}
	t := &c.descs[k]
	field := rest[:i]
	add := func(key string, v *graph.Value) { t.attrs = append(t.attrs, graph.NewAttr(o.AttrKey([]byte(key)), v)) }
	switch field {
	case "dtype":
		t.d.DType = o.DType([]byte(a.s))
	case "layout":
		t.d.Layout = a.s
	case "shape":
		t.d.Shape = o.IntList(a.list.Ints)
	case "size":
		t.d.Size = a.i
	case "weight_size":
		t.x.WeightSize = a.i
	case "device_type":
		t.x.DeviceType = a.s
	case "real_dim_cnt":
		t.x.RealDimCnt = a.i
	case "data_offset":
		t.x.DataOffset = a.i
	case "reuse_input":
		t.x.ReuseInput = a.i != 0
	case "input_tensor":
		t.x.InputTensor = a.i != 0
	case "output_tensor":
		t.x.OutputTensor = a.i != 0
	case "name":
		t.x.Name = a.s
	case "origin_dtype":
		if a.s != "" && a.s != graph.Undefined {
			add("origin_data_type", o.TextValue([]byte(a.s)))
		}
	case "origin_layout":
		if a.s != "" {
			add(graph.AttrFormat, o.TextValue([]byte(a.s)))
		}
	case "origin_shape":
		if len(a.list.Ints) > 0 { // else it is not known or a scalar, which cannot be told apart
			add(graph.AttrShape, o.ListValue(&a.list))
		}
	case "cmps_size", "cmps_tab", "cmps_tab_offset":
	default:
		key, ok := strings.CutPrefix(field, "attr_")
		if !ok {
			return false
		}
		add(key, o.attrValue(a))
	}
	return true
}

func (c *onnxDescs) finish(o *onnxReader) []graph.TensorDesc {
	if len(c.descs) == 0 {
		return nil
	}
	out := make([]graph.TensorDesc, len(c.descs))
	for i := range c.descs {
		t := &c.descs[i]
		mark := len(o.attrStack)
		o.attrStack = append(o.attrStack, t.attrs...)
		t.d.Attrs = o.ShareAttrs(&o.attrStack, mark)
		o.SetExtra(&t.d, t.x)
		out[i] = t.d
	}
	return out
}

// link restores which graph a PartitionedCall calls: these dumps do not say, but GE builds the operator's name from
// the graph's.
func (o *onnxReader) link() {
	byName := map[string]bool{}
	for _, g := range o.subgraphs {
		byName[g.Name] = true
	}
	for _, g := range o.model.Graphs {
		for _, op := range g.Ops {
			if op.Type != "PartitionedCall" || len(op.SubgraphNames) > 0 {
				continue
			}
			if i := strings.LastIndex(op.Name, "_PartitionedCall_"); i > 0 && byName[op.Name[:i]] {
				op.SubgraphNames = []string{op.Name[:i]}
			}
		}
	}
}

// number gives operators their file position as id where the dump has none.
func (o *onnxReader) number() {
	for _, g := range o.model.Graphs {
		for i, op := range g.Ops {
			op.ID = int64(i)
		}
		if len(g.Ops) > 0 {
			o.Warn(graph.Warning{Line: g.Line, Offset: -1, Msg: "no operator ids in the dump, file order is used"})
		}
	}
}
