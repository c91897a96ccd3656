package read

import (
	"io"
	"strconv"

	"precision/graph"
	"precision/graph/internal/scan"
)

// textReader builds a model from the protobuf text form of a ModelDef.
type textReader struct {
	*scan.Text
	*graph.Builder
	model *graph.Model

	// Stacks of what the open messages have collected so far; each message takes its tail.
	attrStack []graph.Attr
	edgeStack []graph.Edge
	inStack   []graph.TensorDesc
	outStack  []graph.TensorDesc
	opStack   []*graph.Op
	intStack  []int64
	strStack  []string
	list      graph.List
	listBusy  bool
	hints     graph.Hints
	hintsBusy bool
}

// readText reads the text form. The file is streamed: only the model is kept.
func readText(r io.Reader, path string) (*graph.Model, error) {
	t := &textReader{Builder: graph.NewBuilder(), model: &graph.Model{Path: path, Source: graph.SourceText}}
	t.Text = scan.NewText(r)
	t.readModel()
	if t.Err == nil && t.ReadErr() != nil {
		t.Failf("read: %v", t.ReadErr())
	}
	if t.Err != nil {
		t.Err.Path = path
		return nil, t.Err
	}
	t.model.Warnings = t.Warnings
	for i := range t.model.Warnings {
		t.model.Warnings[i].Path = path
	}
	return t.model, nil
}

func (t *textReader) unknown(msg string, name []byte) {
	if len(t.Warnings) < graph.MaxWarnings {
		t.Warn(graph.Warning{Line: t.Line(), Offset: t.Offset(), Msg: "unknown field " + strconv.Quote(scan.Clip(name)) + " in " + msg + " skipped"})
	}
	t.Skip()
}

func (t *textReader) readModel() {
	m := t.model
	for {
		switch name := t.Next(); string(name) {
		case "":
			m.Attrs = t.TakeAttrs(&t.attrStack, 0)
			return
		case "graph":
			for v := scan.ValuesStart; t.More(&v); {
				if t.Message() {
					m.Graphs = append(m.Graphs, t.readGraph())
				}
			}
		case "attr":
			t.readAttrs()
		case "name":
			t.text1(&m.Name)
		case "custom_version":
			t.text1(&m.CustomVersion)
		case "version":
			var n int64
			t.int1(&n)
			m.Version = uint32(n)
		case "attr_groups":
			t.Skip()
		default:
			t.unknown("ModelDef", name)
		}
	}
}

func (t *textReader) readGraph() *graph.Graph {
	g := &graph.Graph{Line: t.Open[t.Depth]}
	marks := [...]int{len(t.attrStack), len(t.opStack)}
	for {
		switch name := t.Next(); string(name) {
		case "":
			g.Attrs = t.TakeAttrs(&t.attrStack, marks[0])
			g.Ops = append(make([]*graph.Op, 0, len(t.opStack)-marks[1]), t.opStack[marks[1]:]...)
			clear(t.opStack[marks[1]:])
			t.opStack = t.opStack[:marks[1]]
			return g
		case "name":
			t.text1(&g.Name)
		case "input":
			t.texts1(&g.Inputs)
		case "output":
			t.texts1(&g.Outputs)
		case "op":
			for v := scan.ValuesStart; t.More(&v); {
				if t.Message() {
					t.opStack = append(t.opStack, t.readOp())
				}
			}
		case "attr":
			t.readAttrs()
		case "attr_groups":
			t.Skip()
		default:
			t.unknown("GraphDef", name)
		}
	}
}

func (t *textReader) readOp() *graph.Op {
	o := t.Op()
	if msg := t.Overfull(); msg != "" {
		t.Failf("%s", msg)
	}
	o.Line = t.Open[t.Depth]
	h := &t.hints
	if t.hintsBusy { // an operator inside an attribute of another
		h = &graph.Hints{}
	}
	outer := t.hintsBusy
	t.hintsBusy = true
	h.Reset()
	attrs, edges, ins, outs := len(t.attrStack), len(t.edgeStack), len(t.inStack), len(t.outStack)
	for {
		switch name := t.Next(); string(name) {
		case "":
			o.Attrs = t.TakeAttrs(&t.attrStack, attrs)
			o.Inputs = t.TakeEdges(&t.edgeStack, edges)
			o.InputDesc = t.TakeDescs(&t.inStack, ins)
			o.OutputDesc = t.TakeDescs(&t.outStack, outs)
			t.SetHints(o, h)
			t.hintsBusy = outer
			return o
		case "name":
			t.text1(&o.Name)
		case "type":
			t.text1(&o.Type)
		case "input":
			for v := scan.ValuesStart; t.More(&v); {
				t.edgeStack = append(t.edgeStack, graph.ParseEdge(t.Intern(t.Str())))
			}
		case "attr":
			t.readAttrs()
		case "id":
			t.int1(&o.ID)
		case "stream_id":
			t.int1(&o.StreamID)
		case "has_out_attr":
			t.bool1(&h.HasOutAttr)
		case "input_desc":
			for v := scan.ValuesStart; t.More(&v); {
				if t.Message() {
					t.inStack = append(t.inStack, graph.TensorDesc{})
					t.readDesc(&t.inStack, len(t.inStack)-1)
				}
			}
		case "output_desc":
			for v := scan.ValuesStart; t.More(&v); {
				if t.Message() {
					t.outStack = append(t.outStack, graph.TensorDesc{})
					t.readDesc(&t.outStack, len(t.outStack)-1)
				}
			}
		case "subgraph_name":
			t.texts1(&o.SubgraphNames)
		case "input_name":
			t.texts1(&h.InputNames)
		case "src_name":
			t.texts1(&h.SrcNames)
		case "dst_name":
			t.texts1(&h.DstNames)
		case "src_index":
			t.ints1(&h.SrcIndexes)
		case "dst_index":
			t.ints1(&h.DstIndexes)
		case "input_i":
			t.ints1(&h.InputI)
		case "output_i":
			t.ints1(&h.OutputI)
		case "workspace":
			t.ints1(&h.Workspace)
		case "workspace_bytes":
			t.ints1(&h.WorkspaceLen)
		case "is_input_const":
			for v := scan.ValuesStart; t.More(&v); {
				h.IsInputConst = append(h.IsInputConst, t.Bool())
			}
		case "attr_groups":
			t.Skip()
		default:
			t.unknown("OpDef", name)
		}
	}
}

// readDesc fills (*stack)[i]. The stack may grow while nested descriptors are read, so the element is
// addressed by its index.
func (t *textReader) readDesc(stack *[]graph.TensorDesc, i int) {
	var d graph.TensorDesc
	var x graph.DescExtra
	if msg := t.Overfull(); msg != "" {
		t.Failf("%s", msg)
	}
	mark := len(t.attrStack)
	for {
		switch name := t.Next(); string(name) {
		case "":
			d.Attrs = t.ShareAttrs(&t.attrStack, mark)
			t.SetExtra(&d, x)
			(*stack)[i] = d
			return
		case "name":
			t.text1(&x.Name)
		case "dtype":
			for v := scan.ValuesStart; t.More(&v); {
				d.DType = t.DType(t.Enum())
			}
		case "layout":
			t.text1(&d.Layout)
		case "shape":
			for v := scan.ValuesStart; t.More(&v); {
				if t.Message() {
					d.Shape = t.readShape()
				}
			}
		case "attr":
			t.readAttrs()
		case "device_type":
			t.text1(&x.DeviceType)
		case "size":
			t.int1(&d.Size)
		case "weight_size":
			t.int1(&x.WeightSize)
		case "real_dim_cnt":
			t.int1(&x.RealDimCnt)
		case "data_offset":
			t.int1(&x.DataOffset)
		case "reuse_input_index":
			t.int1(&x.ReuseInputIndex)
		case "has_out_attr":
			t.bool1(&x.HasOutAttr)
		case "reuse_input":
			t.bool1(&x.ReuseInput)
		case "output_tensor":
			t.bool1(&x.OutputTensor)
		case "input_tensor":
			t.bool1(&x.InputTensor)
		case "attr_groups", "cmps_size", "cmps_tab", "cmps_tab_offset":
			t.Skip()
		default:
			t.unknown("TensorDescriptor", name)
		}
	}
}

func (t *textReader) readShape() []int64 {
	mark := len(t.intStack)
	for {
		switch name := t.Next(); string(name) {
		case "":
			s := t.IntList(t.intStack[mark:])
			t.intStack = t.intStack[:mark]
			return s
		case "dim":
			for v := scan.ValuesStart; t.More(&v); {
				t.intStack = append(t.intStack, t.Int())
			}
		default:
			t.unknown("ShapeDef", name)
		}
	}
}

// Readers of fields with a single value, or a list of plain values.

func (t *textReader) text1(dst *string) {
	for v := scan.ValuesStart; t.More(&v); {
		*dst = t.Intern(t.Str())
	}
}

func (t *textReader) texts1(dst *[]string) {
	for v := scan.ValuesStart; t.More(&v); {
		*dst = append(*dst, t.Intern(t.Str()))
	}
}

func (t *textReader) int1(dst *int64) {
	for v := scan.ValuesStart; t.More(&v); {
		*dst = t.Int()
	}
}

func (t *textReader) ints1(dst *[]int64) {
	for v := scan.ValuesStart; t.More(&v); {
		*dst = append(*dst, t.Int())
	}
}

func (t *textReader) bool1(dst *bool) {
	for v := scan.ValuesStart; t.More(&v); {
		*dst = t.Bool()
	}
}
