package read

import "precision/graph"

// The schema: every field of a graph file that is known, once. Numbers are those of the binary form, names those of
// the text form and of JSON; ONNX-style dumps spread the same names over node attributes.
var (
	modelDef         = &message{name: "ModelDef"}
	graphDef         = &message{name: "GraphDef", begin: (*assembler).beginGraph, end: (*assembler).endGraph}
	opDef            = &message{name: "OpDef", begin: (*assembler).beginOp, end: (*assembler).endOp}
	tensorDescriptor = &message{name: "TensorDescriptor", begin: (*assembler).beginDesc, end: (*assembler).endDesc}
	shapeDef         = &message{name: "ShapeDef", begin: (*assembler).beginShape, end: (*assembler).endShape}
	tensorDef        = &message{name: "TensorDef", onFault: ignore, begin: (*assembler).beginTensor, end: (*assembler).endTensor}
	namedAttrs       = &message{name: "NamedAttrs", begin: (*assembler).beginFunc, end: (*assembler).endFunc}
	attrEntry        = &message{name: "an attribute entry", begin: (*assembler).beginAttr, end: (*assembler).endAttr}
	attrDef          = &message{name: "AttrDef", onFault: spoil, begin: (*assembler).beginValue}
	listValue        = &message{name: "ListValue", onFault: spoil, begin: (*assembler).beginList, end: (*assembler).endList}
	listListInt      = &message{name: "ListListInt", onFault: spoil, begin: (*assembler).beginRows, end: (*assembler).endIntRows}
	listInt          = &message{name: "ListInt", begin: (*assembler).beginRow, end: (*assembler).endIntRow}
	listListFloat    = &message{name: "ListListFloat", onFault: spoil, begin: (*assembler).beginRows, end: (*assembler).endFloatRows}
	listFloat        = &message{name: "ListFloat", begin: (*assembler).beginRow, end: (*assembler).endFloatRow}
)

func init() {
	modelDef.set(
		text(1, "name", func(a *assembler) *string { return &a.model.Name }).called("name of the model"),
		intTo(2, "version", func(a *assembler, n int64) { a.model.Version = uint32(n) }),
		text(3, "custom_version", func(a *assembler) *string { return &a.model.CustomVersion }),
		messagesTo(7, "graph", graphDef, func(a *assembler) { a.model.Graphs = append(a.model.Graphs, a.ended.graph) }).
			called(`"graph"`).strict().from(func(a *assembler) { a.model.NoGraphs = false }),
		keyed(11, "attr"),
		skipped(12, "attr_groups"),
	)
	graphDef.set(
		text(1, "name", func(a *assembler) *string { return &a.graph.graph.Name }).called("name of a graph"),
		texts(4, "input", func(a *assembler) *[]string { return &a.graph.graph.Inputs }).called("input of a graph"),
		texts(5, "output", func(a *assembler) *[]string { return &a.graph.graph.Outputs }).called("output of a graph"),
		messagesTo(6, "op", opDef, func(a *assembler) { a.ops = append(a.ops, a.ended.op) }).
			called(`"op"`).strict().from(func(a *assembler) { a.graph.graph.NoOps = false }),
		keyed(11, "attr"),
		skipped(12, "attr_groups"),
	)
	opDef.set(
		textTo(1, "name", func(a *assembler, p []byte) { a.op.op.Name = a.OpName(p) }).called("name of an op").strict(),
		text(2, "type", func(a *assembler) *string { return &a.op.op.Type }).called("type of an op").strict(),
		listed(textTo(5, "input", func(a *assembler, p []byte) { a.edges = append(a.edges, graph.ParseEdge(a.Intern(p))) })).
			called(`"input" of an op`).strict().from(func(a *assembler) { a.edges = a.edges[:a.op.edges] }),
		keyed(10, `"attr" of an op`).strict().from(func(a *assembler) { a.attrs = a.attrs[:a.op.attrs] }),
		skipped(11, "attr_groups"),
		flag(20, "has_out_attr", func(a *assembler) *bool { return &a.op.hints.HasOutAttr }),
		number(21, "id", func(a *assembler) *int64 { return &a.op.op.ID }).called("id of an op").strict(),
		number(22, "stream_id", func(a *assembler) *int64 { return &a.op.op.StreamID }),
		texts(23, "input_name", func(a *assembler) *[]string { return &a.op.hints.InputNames }),
		texts(24, "src_name", func(a *assembler) *[]string { return &a.op.hints.SrcNames }),
		numbers(25, "src_index", func(a *assembler) *[]int64 { return &a.op.hints.SrcIndexes }),
		texts(26, "dst_name", func(a *assembler) *[]string { return &a.op.hints.DstNames }),
		numbers(27, "dst_index", func(a *assembler) *[]int64 { return &a.op.hints.DstIndexes }),
		numbers(28, "input_i", func(a *assembler) *[]int64 { return &a.op.hints.InputI }),
		numbers(29, "output_i", func(a *assembler) *[]int64 { return &a.op.hints.OutputI }),
		numbers(30, "workspace", func(a *assembler) *[]int64 { return &a.op.hints.Workspace }),
		numbers(31, "workspace_bytes", func(a *assembler) *[]int64 { return &a.op.hints.WorkspaceLen }),
		flags(32, "is_input_const", func(a *assembler) *[]bool { return &a.op.hints.IsInputConst }),
		messagesTo(33, "input_desc", tensorDescriptor, func(a *assembler) { a.ins = append(a.ins, *a.ended.desc) }).
			called(`"input_desc"`).from(func(a *assembler) { a.ins = a.ins[:a.op.ins] }),
		messagesTo(34, "output_desc", tensorDescriptor, func(a *assembler) { a.outs = append(a.outs, *a.ended.desc) }).
			called(`"output_desc"`).strict().orNames().from(func(a *assembler) { a.outs = a.outs[:a.op.outs] }),
		texts(35, "subgraph_name", func(a *assembler) *[]string { return &a.op.op.SubgraphNames }),
	)
	tensorDescriptor.set(
		text(1, "name", func(a *assembler) *string { return &a.desc.extra.Name }).called("name of a tensor descriptor"),
		word(2, "dtype", func(a *assembler, p []byte) { a.desc.desc.DType = a.DType(p) },
			func(a *assembler, n int64) { a.desc.desc.DType = graph.DTypeName(int64(int32(n))) }).strict(),
		messageTo(3, "shape", shapeDef, func(a *assembler) { a.desc.desc.Shape = a.ended.shape }),
		text(4, "layout", func(a *assembler) *string { return &a.desc.desc.Layout }),
		keyed(5, `"attr" of a tensor descriptor`).strict().from(func(a *assembler) {
			a.attrs = a.attrs[:a.desc.attrs]
			a.desc.listed = true
		}),
		skipped(6, "attr_groups"),
		flag(9, "has_out_attr", func(a *assembler) *bool { return &a.desc.extra.HasOutAttr }),
		number(10, "size", func(a *assembler) *int64 { return &a.desc.desc.Size }),
		number(11, "weight_size", func(a *assembler) *int64 { return &a.desc.extra.WeightSize }),
		flag(12, "reuse_input", func(a *assembler) *bool { return &a.desc.extra.ReuseInput }),
		flag(13, "output_tensor", func(a *assembler) *bool { return &a.desc.extra.OutputTensor }),
		text(14, "device_type", func(a *assembler) *string { return &a.desc.extra.DeviceType }),
		flag(15, "input_tensor", func(a *assembler) *bool { return &a.desc.extra.InputTensor }),
		number(16, "real_dim_cnt", func(a *assembler) *int64 { return &a.desc.extra.RealDimCnt }),
		number(17, "reuse_input_index", func(a *assembler) *int64 { return &a.desc.extra.ReuseInputIndex }),
		number(18, "data_offset", func(a *assembler) *int64 { return &a.desc.extra.DataOffset }),
		skipped(19, "cmps_size"),
		skipped(20, "cmps_tab"),
		skipped(21, "cmps_tab_offset"),
	)
	shapeDef.set(numbers(1, "dim", func(a *assembler) *[]int64 { return &a.dims }).
		from(func(a *assembler) { a.dims = a.dims[:0] }))
	tensorDef.set(
		messageTo(1, "desc", tensorDescriptor, func(a *assembler) { d := *a.ended.desc; a.tensor.Desc = &d }),
		&field{number: 2, name: "data", say: "data", kind: kindBlob, blob: func(a *assembler, n int64) { a.tensor.DataLen = n }},
	)
	namedAttrs.set(
		text(1, "name", func(a *assembler) *string { return &a.fn.name }).called("name of a func"),
		keyed(2, "attr"),
	)
	attrEntry.set(
		textTo(1, "key", (*assembler).key).called("key of an attribute").strict(),
		messageTo(2, "value", attrDef, nil),
	)
	attrDef.set(
		messageTo(1, "list", listValue, nil),
		&field{number: 2, name: "s", kind: kindText, escaped: true, text: func(a *assembler, p []byte) { a.attr.value = a.TextValue(p) }},
		intTo(3, "i", func(a *assembler, n int64) { a.attr.value = a.IntValue(n) }),
		&field{number: 4, name: "f", kind: kindFloat, float: func(a *assembler, f float32) { a.attr.value = a.FloatValue(f) }},
		&field{number: 5, name: "b", kind: kindBool, bool: func(a *assembler, b bool) { a.attr.value = a.BoolValue(b) }},
		&field{number: 7, name: "bt", kind: kindBlob, blob: func(a *assembler, n int64) { a.attr.value = a.NumValue(graph.KindBytes, n) }},
		messageTo(10, "func", namedAttrs, func(a *assembler) { a.attr.value = a.FuncValue(a.ended.fn) }),
		messageTo(11, "td", tensorDescriptor, func(a *assembler) { d := *a.ended.desc; a.attr.value = a.DescValue(&d) }),
		messageTo(12, "t", tensorDef, func(a *assembler) { a.attr.value = a.TensorValue(a.ended.tensor) }),
		messageTo(13, "g", graphDef, func(a *assembler) { a.attr.value = a.GraphValue(a.ended.graph) }),
		messageTo(14, "list_list_int", listListInt, nil),
		intTo(15, "dt", func(a *assembler, n int64) { a.attr.value = a.NumValue(graph.KindDType, n) }),
		messageTo(16, "list_list_float", listListFloat, nil),
		&field{number: 17, name: "expression", kind: kindText, escaped: true, text: func(a *assembler, p []byte) { a.attr.value = a.Expression(p) }},
	)
	listValue.set(
		listOf(textTo(2, "s", func(a *assembler, p []byte) {
			if l := a.elements(graph.KindString); l != nil {
				l.Texts = append(l.Texts, a.Intern(p))
			}
		})),
		listOf(intTo(3, "i", func(a *assembler, n int64) {
			if l := a.elements(graph.KindInt); l != nil {
				l.Ints = append(l.Ints, n)
			}
		})),
		listOf(&field{number: 4, name: "f", kind: kindFloat, float: func(a *assembler, f float32) {
			if l := a.elements(graph.KindFloat); l != nil {
				l.Floats = append(l.Floats, f)
			}
		}}),
		listOf(&field{number: 5, name: "b", kind: kindBool, bool: func(a *assembler, b bool) {
			if l := a.elements(graph.KindBool); l != nil {
				l.Bools = append(l.Bools, b)
			}
		}}),
		listOf(&field{number: 7, name: "bt", kind: kindBlob, blob: func(a *assembler, n int64) {
			if l := a.elements(graph.KindBytes); l != nil {
				l.Ints = append(l.Ints, n)
			}
		}}),
		listOf(messageTo(8, "td", tensorDescriptor, func(a *assembler) {
			if l := a.elements(graph.KindTensorDesc); l != nil {
				d := *a.ended.desc
				l.Descs = append(l.Descs, &d)
			}
		})),
		listOf(messageTo(9, "t", tensorDef, func(a *assembler) {
			if l := a.elements(graph.KindTensor); l != nil {
				l.Tensors = append(l.Tensors, a.ended.tensor)
			}
		})),
		listOf(messageTo(10, "g", graphDef, func(a *assembler) {
			if l := a.elements(graph.KindGraph); l != nil {
				l.Graphs = append(l.Graphs, a.ended.graph)
			}
		})),
		listOf(messageTo(11, "na", namedAttrs, func(a *assembler) {
			if l := a.elements(graph.KindFunc); l != nil {
				l.Funcs = append(l.Funcs, a.ended.fn)
			}
		})),
		listOf(intTo(12, "dt", func(a *assembler, n int64) {
			if l := a.elements(graph.KindDType); l != nil {
				l.Ints = append(l.Ints, n)
			}
		})),
		word(20, "val_type", func(a *assembler, p []byte) { a.list.ValType = graph.ListTypeNumber(p) },
			func(a *assembler, n int64) { a.list.ValType = int16(n) }),
	)
	listListInt.set(messagesTo(1, "list_list_i", listInt, nil))
	listInt.set(numbers(1, "list_i", func(a *assembler) *[]int64 { return &a.dims }))
	listListFloat.set(messagesTo(1, "list_list_f", listFloat, nil))
	listFloat.set(&field{number: 1, name: "list_f", say: "list_f", kind: kindFloat, many: true,
		float: func(a *assembler, f float32) { a.row = append(a.row, f) }})
}
