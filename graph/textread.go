package graph

import (
	"io"
	"strconv"
)

// textReader builds a model from the protobuf text form of a ModelDef.
type textReader struct {
	textScanner
	*builder
	model *Model

	// Stacks of what the open messages have collected so far; each message takes its tail.
	attrStack []Attr
	edgeStack []Edge
	inStack   []TensorDesc
	outStack  []TensorDesc
	opStack   []*Op
	intStack  []int64
	strStack  []string
	list      list
	listBusy  bool
	hints     Hints
	hintsBusy bool
}

// readText reads the text form. The file is streamed: only the model is kept.
func readText(r io.Reader, path string) (*Model, error) {
	t := &textReader{builder: newBuilder(), model: &Model{Path: path, Source: SourceText}}
	t.textScanner.window = *newWindow(r)
	t.readModel()
	if t.err == nil && t.window.err != nil {
		t.failf("read: %v", t.window.err)
	}
	if t.err != nil {
		t.err.Path = path
		return nil, t.err
	}
	t.model.Warnings = t.warnings
	for i := range t.model.Warnings {
		t.model.Warnings[i].Path = path
	}
	return t.model, nil
}

func (t *textReader) unknown(msg string, name []byte) {
	if len(t.warnings) < maxWarnings {
		t.warn(Warning{Line: t.line(), Offset: t.offset(), Msg: "unknown field " + strconv.Quote(clip(name)) + " in " + msg + " skipped"})
	}
	t.skip()
}

func (t *textReader) readModel() {
	m := t.model
	for {
		switch name := t.next(); string(name) {
		case "":
			m.Attrs = take(&t.attrs, &t.attrStack, 0)
			return
		case "graph":
			for v := valuesStart; t.more(&v); {
				if t.message() {
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
			t.skip()
		default:
			t.unknown("ModelDef", name)
		}
	}
}

func (t *textReader) readGraph() *Graph {
	g := &Graph{Line: t.open[t.depth]}
	marks := [...]int{len(t.attrStack), len(t.opStack)}
	for {
		switch name := t.next(); string(name) {
		case "":
			g.Attrs = take(&t.attrs, &t.attrStack, marks[0])
			g.Ops = append(make([]*Op, 0, len(t.opStack)-marks[1]), t.opStack[marks[1]:]...)
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
			for v := valuesStart; t.more(&v); {
				if t.message() {
					t.opStack = append(t.opStack, t.readOp())
				}
			}
		case "attr":
			t.readAttrs()
		case "attr_groups":
			t.skip()
		default:
			t.unknown("GraphDef", name)
		}
	}
}

func (t *textReader) readOp() *Op {
	o := t.op()
	if msg := t.overfull(); msg != "" {
		t.failf("%s", msg)
	}
	o.Line = t.open[t.depth]
	h := &t.hints
	if t.hintsBusy { // an operator inside an attribute of another
		h = &Hints{}
	}
	outer := t.hintsBusy
	t.hintsBusy = true
	h.reset()
	attrs, edges, ins, outs := len(t.attrStack), len(t.edgeStack), len(t.inStack), len(t.outStack)
	for {
		switch name := t.next(); string(name) {
		case "":
			o.Attrs = take(&t.attrs, &t.attrStack, attrs)
			o.Inputs = take(&t.edges, &t.edgeStack, edges)
			o.InputDesc = take(&t.descs, &t.inStack, ins)
			o.OutputDesc = take(&t.descs, &t.outStack, outs)
			o.hints = t.encodeHints(h)
			t.hintsBusy = outer
			return o
		case "name":
			t.text1(&o.Name)
		case "type":
			t.text1(&o.Type)
		case "input":
			for v := valuesStart; t.more(&v); {
				t.edgeStack = append(t.edgeStack, ParseEdge(t.intern(t.str())))
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
			for v := valuesStart; t.more(&v); {
				if t.message() {
					t.inStack = append(t.inStack, TensorDesc{})
					t.readDesc(&t.inStack, len(t.inStack)-1)
				}
			}
		case "output_desc":
			for v := valuesStart; t.more(&v); {
				if t.message() {
					t.outStack = append(t.outStack, TensorDesc{})
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
			for v := valuesStart; t.more(&v); {
				h.IsInputConst = append(h.IsInputConst, t.bool())
			}
		case "attr_groups":
			t.skip()
		default:
			t.unknown("OpDef", name)
		}
	}
}

// readDesc fills (*stack)[i]. The stack may grow while nested descriptors are read, so the element is
// addressed by its index.
func (t *textReader) readDesc(stack *[]TensorDesc, i int) {
	var d TensorDesc
	var x DescExtra
	if msg := t.overfull(); msg != "" {
		t.failf("%s", msg)
	}
	mark := len(t.attrStack)
	for {
		switch name := t.next(); string(name) {
		case "":
			d.Attrs = t.takeAttrs(&t.attrStack, mark)
			d.extra = t.extra(x)
			(*stack)[i] = d
			return
		case "name":
			t.text1(&x.Name)
		case "dtype":
			for v := valuesStart; t.more(&v); {
				d.DType = t.dtypeText(t.enum())
			}
		case "layout":
			t.text1(&d.Layout)
		case "shape":
			for v := valuesStart; t.more(&v); {
				if t.message() {
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
			t.skip()
		default:
			t.unknown("TensorDescriptor", name)
		}
	}
}

// dtypeText turns a dtype number into its name where it has one.
func (b *builder) dtypeText(p []byte) string {
	if n, ok := decimal(p); ok {
		return dtypeName(n)
	}
	if string(p) == undefined {
		return ""
	}
	return b.intern(p)
}

func (t *textReader) readShape() []int64 {
	mark := len(t.intStack)
	for {
		switch name := t.next(); string(name) {
		case "":
			s := t.intList(t.intStack[mark:])
			t.intStack = t.intStack[:mark]
			return s
		case "dim":
			for v := valuesStart; t.more(&v); {
				t.intStack = append(t.intStack, t.int())
			}
		default:
			t.unknown("ShapeDef", name)
		}
	}
}

// Readers of fields with a single value, or a list of plain values.

func (t *textReader) text1(dst *string) {
	for v := valuesStart; t.more(&v); {
		*dst = t.intern(t.str())
	}
}

func (t *textReader) texts1(dst *[]string) {
	for v := valuesStart; t.more(&v); {
		*dst = append(*dst, t.intern(t.str()))
	}
}

func (t *textReader) int1(dst *int64) {
	for v := valuesStart; t.more(&v); {
		*dst = t.int()
	}
}

func (t *textReader) ints1(dst *[]int64) {
	for v := valuesStart; t.more(&v); {
		*dst = append(*dst, t.int())
	}
}

func (t *textReader) bool1(dst *bool) {
	for v := valuesStart; t.more(&v); {
		*dst = t.bool()
	}
}
