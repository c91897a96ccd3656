package graphtest

import (
	"fmt"
	"slices"
	"strings"

	"precision/graph"
	pb "precision/testdata/workshop/graphtest/gepb"
)

// Describe renders everything of a model that the schema has, for comparison with describePB.
func Describe(m *graph.Model) string {
	w := &describer{}
	w.f("model %q %d %q", m.Name, m.Version, m.CustomVersion)
	w.attrs(m.Attrs)
	for _, g := range m.Graphs {
		w.graph(g)
	}
	return w.b.String()
}

type describer struct {
	b      strings.Builder
	indent int
}

func (w *describer) f(format string, args ...any) {
	for range w.indent {
		w.b.WriteByte(' ')
	}
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *describer) graph(g *graph.Graph) {
	w.f("graph %q in %q out %q", g.Name, g.Inputs, g.Outputs)
	w.indent++
	w.attrs(g.Attrs)
	for _, o := range g.Ops {
		h := o.Hints()
		w.f("op %q %q id %d stream %d sub %q has_out %v", o.Name, o.Type, o.ID, o.StreamID, o.SubgraphNames, h.HasOutAttr)
		w.indent++
		for _, e := range o.Inputs {
			w.f("input %q", e.Text)
		}
		w.f("names %q src %q %v dst %q %v", h.InputNames, h.SrcNames, h.SrcIndexes, h.DstNames, h.DstIndexes)
		w.f("offsets %v %v workspace %v %v const %v", h.InputI, h.OutputI, h.Workspace, h.WorkspaceLen, h.IsInputConst)
		w.attrs(o.Attrs)
		for i := range o.InputDesc {
			w.desc("input_desc", &o.InputDesc[i])
		}
		for i := range o.OutputDesc {
			w.desc("output_desc", &o.OutputDesc[i])
		}
		w.indent--
	}
	w.indent--
}

func (w *describer) desc(what string, d *graph.TensorDesc) {
	x := d.Extra()
	w.f("%s %q %q %v %q %q size %d %d %d %d %d flags %v %v %v %v", what, x.Name, d.DType, d.Shape, d.Layout, x.DeviceType,
		d.Size, x.WeightSize, x.RealDimCnt, x.DataOffset, x.ReuseInputIndex, x.HasOutAttr, x.ReuseInput, x.OutputTensor, x.InputTensor)
	w.indent++
	w.attrs(d.Attrs)
	w.indent--
}

func (w *describer) attrs(as graph.Attrs) {
	as = slices.Clone(as)
	slices.SortStableFunc(as, func(a, b graph.Attr) int { return strings.Compare(a.Key(), b.Key()) })
	for _, a := range as {
		w.f("attr %q:", a.Key())
		w.indent++
		w.value(a.Value)
		w.indent--
	}
}

func (w *describer) value(v *graph.Value) {
	vt := 0
	if n, ok := v.ListType(); ok {
		vt = n
	}
	switch v.Kind() {
	case graph.KindMissing, graph.KindEmpty:
		w.f("none")
	case graph.KindInvalid:
		w.f("invalid %s", v)
	case graph.KindList:
		w.f("list %d %q %v %v %v", vt, v.Strings(), v.Ints(), v.Floats(), v.Bools())
		for _, d := range v.TensorDescs() {
			w.desc("td", d)
		}
		for _, t := range v.Tensors() {
			w.tensor(t)
		}
		for _, g := range v.Graphs() {
			w.graph(g)
		}
		for _, f := range v.Funcs() {
			w.fn(f)
		}
	case graph.KindListListInt:
		w.f("list_list_int %v", v.IntLists())
	case graph.KindListListFloat:
		w.f("list_list_float %v", v.FloatLists())
	case graph.KindTensorDesc:
		w.desc("td", v.TensorDescs()[0])
	case graph.KindTensor:
		w.tensor(v.Tensors()[0])
	case graph.KindFunc:
		w.fn(v.Funcs()[0])
	case graph.KindGraph:
		w.graph(v.Graphs()[0])
	default:
		w.f("%v %q", v.Kind(), v.String())
	}
}

func (w *describer) tensor(t *graph.Tensor) {
	w.f("tensor %d", t.DataLen)
	if t.Desc != nil {
		w.desc("desc", t.Desc)
	}
}

func (w *describer) fn(f *graph.NamedAttrs) {
	w.f("func %q", f.Name)
	w.indent++
	w.attrs(f.Attrs)
	w.indent--
}

// FromPB turns a message that the protobuf library read into a model.
func FromPB(m *pb.ModelDef) *graph.Model {
	out := &graph.Model{Name: m.Name, Version: m.Version, CustomVersion: m.CustomVersion, Attrs: attrsPB(m.Attr)}
	for _, g := range m.Graph {
		out.Graphs = append(out.Graphs, graphPB(g))
	}
	return out
}

func graphPB(g *pb.GraphDef) *graph.Graph {
	out := &graph.Graph{Name: g.Name, Inputs: g.Input, Outputs: g.Output, Attrs: attrsPB(g.Attr)}
	for _, o := range g.Op {
		op := &graph.Op{Name: o.Name, Type: o.Type, ID: o.Id, StreamID: o.StreamId, SubgraphNames: o.SubgraphName,
			Attrs: attrsPB(o.Attr)}
		graph.NewBuilder().SetHints(op, &graph.Hints{InputNames: o.InputName, SrcNames: o.SrcName, SrcIndexes: o.SrcIndex,
			DstNames: o.DstName, DstIndexes: o.DstIndex, InputI: o.InputI, OutputI: o.OutputI, Workspace: o.Workspace,
			WorkspaceLen: o.WorkspaceBytes, IsInputConst: o.IsInputConst, HasOutAttr: o.HasOutAttr})
		for _, e := range o.Input {
			op.Inputs = append(op.Inputs, graph.Edge{Text: e})
		}
		for _, d := range o.InputDesc {
			op.InputDesc = append(op.InputDesc, *descPB(d))
		}
		for _, d := range o.OutputDesc {
			op.OutputDesc = append(op.OutputDesc, *descPB(d))
		}
		out.Ops = append(out.Ops, op)
	}
	return out
}

func descPB(d *pb.TensorDescriptor) *graph.TensorDesc {
	if d == nil {
		return nil
	}
	out := &graph.TensorDesc{DType: d.Dtype.String(), Layout: d.Layout, Shape: d.GetShape().GetDim(), Attrs: attrsPB(d.Attr),
		Size: d.Size}
	graph.NewBuilder().SetExtra(out, &graph.DescExtra{Name: d.Name, DeviceType: d.DeviceType, WeightSize: d.WeightSize, RealDimCnt: d.RealDimCnt,
		DataOffset: d.DataOffset, ReuseInputIndex: d.ReuseInputIndex, HasOutAttr: d.HasOutAttr, ReuseInput: d.ReuseInput,
		OutputTensor: d.OutputTensor, InputTensor: d.InputTensor})
	if d.Dtype == pb.DataType_DT_UNDEFINED {
		out.DType = ""
	}
	return out
}

func attrsPB(m map[string]*pb.AttrDef) graph.Attrs {
	var out graph.Attrs
	for k, v := range m {
		out = append(out, graph.NewAttr(&k, valuePB(v)))
	}
	return out
}

func valuePB(v *pb.AttrDef) *graph.Value {
	b := graph.NewBuilder()
	switch x := v.Value.(type) {
	case *pb.AttrDef_S:
		return b.TextValue(x.S)
	case *pb.AttrDef_I:
		return b.IntValue(x.I)
	case *pb.AttrDef_F:
		return b.FloatValue(x.F)
	case *pb.AttrDef_B:
		return b.BoolValue(x.B)
	case *pb.AttrDef_Bt:
		return b.NumValue(graph.KindBytes, int64(len(x.Bt)))
	case *pb.AttrDef_Dt:
		return b.NumValue(graph.KindDType, x.Dt)
	case *pb.AttrDef_Expression:
		return b.Expression(x.Expression)
	case *pb.AttrDef_Func:
		return b.FuncValue(&graph.NamedAttrs{Name: x.Func.Name, Attrs: attrsPB(x.Func.Attr)})
	case *pb.AttrDef_Td:
		return b.DescValue(descPB(x.Td))
	case *pb.AttrDef_T:
		return b.TensorValue(tensorPB(x.T))
	case *pb.AttrDef_G:
		return b.GraphValue(graphPB(x.G))
	case *pb.AttrDef_ListListInt_:
		var rows [][]int64
		for _, r := range x.ListListInt.ListListI {
			rows = append(rows, r.ListI)
		}
		return b.IntRows(rows)
	case *pb.AttrDef_ListListFloat_:
		var rows [][]float32
		for _, r := range x.ListListFloat.ListListF {
			rows = append(rows, r.ListF)
		}
		return b.FloatRows(rows)
	case *pb.AttrDef_List:
		return listPB(b, x.List)
	}
	return b.Empty
}

func listPB(b *graph.Builder, p *pb.AttrDef_ListValue) *graph.Value {
	l := graph.List{Elem: graph.KindEmpty, ValType: int16(p.ValType)}
	for _, s := range p.S {
		if l.Is(graph.KindString) {
			l.Texts = append(l.Texts, string(s))
		}
	}
	for _, n := range p.I {
		if l.Is(graph.KindInt) {
			l.Ints = append(l.Ints, n)
		}
	}
	for _, f := range p.F {
		if l.Is(graph.KindFloat) {
			l.Floats = append(l.Floats, f)
		}
	}
	for _, x := range p.B {
		if l.Is(graph.KindBool) {
			l.Bools = append(l.Bools, x)
		}
	}
	for _, x := range p.Bt {
		if l.Is(graph.KindBytes) {
			l.Ints = append(l.Ints, int64(len(x)))
		}
	}
	for _, d := range p.Td {
		if l.Is(graph.KindTensorDesc) {
			l.Descs = append(l.Descs, descPB(d))
		}
	}
	for _, t := range p.T {
		if l.Is(graph.KindTensor) {
			l.Tensors = append(l.Tensors, tensorPB(t))
		}
	}
	for _, g := range p.G {
		if l.Is(graph.KindGraph) {
			l.Graphs = append(l.Graphs, graphPB(g))
		}
	}
	for _, f := range p.Na {
		if l.Is(graph.KindFunc) {
			l.Funcs = append(l.Funcs, &graph.NamedAttrs{Name: f.Name, Attrs: attrsPB(f.Attr)})
		}
	}
	for _, n := range p.Dt {
		if l.Is(graph.KindDType) {
			l.Ints = append(l.Ints, n)
		}
	}
	return b.ListValue(&l)
}

func tensorPB(t *pb.TensorDef) *graph.Tensor {
	return &graph.Tensor{Desc: descPB(t.Desc), DataLen: int64(len(t.Data))}
}

// FirstDiff returns the first line in which two descriptions differ.
func FirstDiff(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, x, y)
		}
	}
	return ""
}
