package read

import (
	"io"
	"strconv"
	"strings"

	"precision/graph"
	"precision/graph/internal/scan"
)

// jsonReader builds a model from the JSON that atc prints (--mode=1 and --mode=5).
//
// What fusion rules are taken from (names, types, ids, inputs, output descriptors, attribute lists) must
// have the right JSON type; other members of an unexpected type are passed over with a warning.
type jsonReader struct {
	*scan.JSON
	*graph.Builder
	model *graph.Model
	plain bool // attribute maps are plain objects with short values, as in OM2 containers

	attrStack []graph.Attr
	edgeStack []graph.Edge
	inStack   []graph.TensorDesc
	outStack  []graph.TensorDesc
	opStack   []*graph.Op
	intStack  []int64
	strStack  []string
	conv      []byte
	hints     graph.Hints
	hintsBusy bool
}

func readJSON(r io.Reader, path string, plain bool) (*graph.Model, error) {
	j := &jsonReader{JSON: scan.NewJSON(r), Builder: graph.NewBuilder(), model: &graph.Model{Path: path, Source: graph.SourceJSON}, plain: plain}
	j.readModel()
	if j.Err == nil {
		if c := j.Peek(); c != 0 || j.Pos < j.End {
			j.Failf("found %s after the end of the model", scan.DescribeJSON(c))
		} else if j.ReadErr() != nil {
			j.Failf("read")
		}
	}
	if j.Err != nil {
		j.Err.Path = path
		return nil, j.Err
	}
	j.model.Warnings = j.Warnings
	for i := range j.model.Warnings {
		j.model.Warnings[i].Path = path
	}
	return j.model, nil
}

func (j *jsonReader) odd(what string) {
	c := j.Peek()
	j.Warn(graph.Warning{Line: j.Line(), Offset: j.Offset(), Msg: what + " is " + scan.DescribeJSON(c) + ", skipped"})
	j.Skip()
}

func (j *jsonReader) readModel() {
	m := j.model
	m.NoGraphs = true
	if !j.Enter('{', "model") {
		return
	}
	for key := j.Key(); key != nil; key = j.Key() {
		switch string(key) {
		case "graph":
			m.NoGraphs = false
			if !j.Enter('[', `"graph"`) {
				return
			}
			for j.Elem() {
				m.Graphs = append(m.Graphs, j.readGraph())
			}
		case "attr":
			m.Attrs = j.attrMap()
		case "name":
			j.optText(&m.Name, "name of the model")
		case "custom_version":
			j.optText(&m.CustomVersion, "custom_version")
		case "version":
			var n int64
			j.optInt(&n, "version")
			m.Version = uint32(n)
		default:
			j.Skip()
		}
	}
}

func (j *jsonReader) readGraph() *graph.Graph {
	g := &graph.Graph{NoOps: true}
	if !j.Enter('{', "element of \"graph\"") {
		return g
	}
	g.Line = j.Open[j.Depth]
	mark := len(j.opStack)
	for key := j.Key(); key != nil; key = j.Key() {
		switch string(key) {
		case "op":
			g.NoOps = false
			if !j.Enter('[', `"op"`) {
				return g
			}
			for j.Elem() {
				j.opStack = append(j.opStack, j.readOp())
			}
		case "name":
			j.optText(&g.Name, "name of a graph")
		case "input":
			j.optTexts(&g.Inputs, "input of a graph")
		case "output":
			j.optTexts(&g.Outputs, "output of a graph")
		case "attr":
			g.Attrs = j.attrMap()
		default:
			j.Skip()
		}
	}
	g.Ops = append(make([]*graph.Op, 0, len(j.opStack)-mark), j.opStack[mark:]...)
	clear(j.opStack[mark:])
	j.opStack = j.opStack[:mark]
	return g
}

func (j *jsonReader) readOp() *graph.Op {
	o := j.Op()
	if msg := j.Overfull(); msg != "" {
		j.Failf("%s", msg)
	}
	if !j.Enter('{', "element of \"op\"") {
		return o
	}
	o.Line = j.Open[j.Depth]
	h := &j.hints
	if j.hintsBusy { // an operator inside an attribute of another
		h = &graph.Hints{}
	}
	outer := j.hintsBusy
	j.hintsBusy = true
	h.Reset()
	for key := j.Key(); key != nil; key = j.Key() {
		switch string(key) {
		case "name":
			o.Name = j.text("name of an op")
		case "type":
			o.Type = j.text("type of an op")
		case "id":
			o.ID = j.int("id of an op")
		case "input":
			mark := len(j.edgeStack)
			if j.Enter('[', `"input" of an op`) {
				for j.Elem() {
					j.edgeStack = append(j.edgeStack, graph.ParseEdge(j.text(`element of "input"`)))
				}
			}
			o.Inputs = j.TakeEdges(&j.edgeStack, mark)
		case "attr":
			o.Attrs = j.readAttrs("of an op")
		case "output_desc":
			o.OutputDesc = j.readDescs(&j.outStack, `"output_desc"`)
		case "input_desc":
			o.InputDesc = j.readDescs(&j.inStack, `"input_desc"`)
		case "stream_id":
			j.optInt(&o.StreamID, "stream_id")
		case "has_out_attr":
			j.optBool(&h.HasOutAttr, "has_out_attr")
		case "subgraph_name":
			j.optTexts(&o.SubgraphNames, "subgraph_name")
		case "input_name":
			j.optTexts(&h.InputNames, "input_name")
		case "src_name":
			j.optTexts(&h.SrcNames, "src_name")
		case "dst_name":
			j.optTexts(&h.DstNames, "dst_name")
		case "src_index":
			j.optInts(&h.SrcIndexes, "src_index")
		case "dst_index":
			j.optInts(&h.DstIndexes, "dst_index")
		case "input_i":
			j.optInts(&h.InputI, "input_i")
		case "output_i":
			j.optInts(&h.OutputI, "output_i")
		case "workspace":
			j.optInts(&h.Workspace, "workspace")
		case "workspace_bytes":
			j.optInts(&h.WorkspaceLen, "workspace_bytes")
		case "is_input_const":
			if j.Peek() != '[' {
				j.odd("is_input_const")
				break
			}
			j.Enter('[', "is_input_const")
			for j.Elem() {
				var b bool
				j.optBool(&b, "element of is_input_const")
				h.IsInputConst = append(h.IsInputConst, b)
			}
		default:
			j.Skip()
		}
	}
	j.SetHints(o, h)
	j.hintsBusy = outer
	return o
}

func (j *jsonReader) readDescs(stack *[]graph.TensorDesc, what string) []graph.TensorDesc {
	mark := len(*stack)
	if j.Enter('[', what) {
		for j.Elem() {
			*stack = append(*stack, graph.TensorDesc{})
			i := len(*stack) - 1
			d := j.readDesc("element of " + what)
			(*stack)[i] = d
		}
	}
	return j.TakeDescs(stack, mark)
}

func (j *jsonReader) readDesc(what string) (d graph.TensorDesc) {
	if !j.Enter('{', what) {
		return d
	}
	var x graph.DescExtra
	if msg := j.Overfull(); msg != "" {
		j.Failf("%s", msg)
	}
	for key := j.Key(); key != nil; key = j.Key() {
		switch string(key) {
		case "dtype":
			if c := j.Peek(); c == '-' || c >= '0' && c <= '9' {
				d.DType = graph.DTypeName(j.int("dtype"))
			} else {
				d.DType = j.text("dtype")
				if d.DType == graph.Undefined {
					d.DType = ""
				}
			}
		case "attr":
			if d.Attrs = j.readAttrs("of a tensor descriptor"); d.Attrs == nil {
				d.Attrs = graph.Attrs{} // rules tell no attributes from no attribute list
			}
		case "shape":
			if j.Peek() != '{' {
				j.odd("shape")
				break
			}
			j.Enter('{', "shape")
			for key := j.Key(); key != nil; key = j.Key() {
				if string(key) == "dim" {
					var dims []int64
					j.optInts(&dims, "dim")
					d.Shape = j.IntList(dims)
				} else {
					j.Skip()
				}
			}
		case "layout":
			j.optText(&d.Layout, "layout")
		case "name":
			j.optText(&x.Name, "name of a tensor descriptor")
		case "device_type":
			j.optText(&x.DeviceType, "device_type")
		case "size":
			j.optInt(&d.Size, "size")
		case "weight_size":
			j.optInt(&x.WeightSize, "weight_size")
		case "real_dim_cnt":
			j.optInt(&x.RealDimCnt, "real_dim_cnt")
		case "data_offset":
			j.optInt(&x.DataOffset, "data_offset")
		case "reuse_input_index":
			j.optInt(&x.ReuseInputIndex, "reuse_input_index")
		case "has_out_attr":
			j.optBool(&x.HasOutAttr, "has_out_attr")
		case "reuse_input":
			j.optBool(&x.ReuseInput, "reuse_input")
		case "output_tensor":
			j.optBool(&x.OutputTensor, "output_tensor")
		case "input_tensor":
			j.optBool(&x.InputTensor, "input_tensor")
		default:
			j.Skip()
		}
	}
	j.SetExtra(&d, x)
	return d
}

// attrMap reads the attributes of a model or graph, where no rule is taken from.
func (j *jsonReader) attrMap() graph.Attrs {
	if c := j.Peek(); c != '[' && !(j.plain && c == '{') {
		j.odd("attr")
		return nil
	}
	return j.readAttrs("")
}

func (j *jsonReader) readAttrs(where string) graph.Attrs {
	mark := len(j.attrStack)
	if j.plain && j.Peek() == '{' {
		j.Enter('{', "attr")
		for key := j.Key(); key != nil; key = j.Key() {
			k := j.AttrKey(key)
			v := j.plainValue()
			j.attrStack = append(j.attrStack, graph.NewAttr(k, v))
		}
		return j.TakeAttrs(&j.attrStack, mark)
	}
	if !j.Enter('[', strings.TrimSpace(`"attr" `+where)) {
		return nil
	}
	for j.Elem() {
		if !j.Enter('{', `element of "attr"`) {
			break
		}
		line, off := j.Open[j.Depth], j.Offset()
		var name *string
		value := graph.Missing
		hasKey := false
		for key := j.Key(); key != nil; key = j.Key() {
			switch string(key) {
			case "key":
				name, hasKey = j.keyText(), true
			case "value":
				value = j.readValue()
			default:
				j.Skip()
			}
		}
		if !hasKey && j.Err == nil {
			j.Failf("attribute without \"key\"")
			j.Err.Line, j.Err.Offset = line, off
		}
		j.attrStack = append(j.attrStack, graph.NewAttr(name, value))
	}
	return j.TakeAttrs(&j.attrStack, mark)
}

// Readers of single values. text and int are strict, the opt forms pass over other types with a warning.

func (j *jsonReader) text(what string) string {
	if c := j.Peek(); c != '"' {
		j.Failf("%s is %s, expected a string", what, scan.DescribeJSON(c))
		return ""
	}
	return j.Intern(j.Str())
}

func (j *jsonReader) int(what string) int64 {
	c := j.Peek()
	if c != '-' && (c < '0' || c > '9') {
		j.Failf("%s is %s, expected an integer", what, scan.DescribeJSON(c))
		return 0
	}
	w := j.Word()
	if n, ok := scan.Decimal(w); ok {
		return n
	}
	n, err := strconv.ParseInt(string(w), 10, 64)
	if err != nil {
		if u, err := strconv.ParseUint(string(w), 10, 64); err == nil {
			return int64(u)
		}
		j.Failf("%s is %s, expected an integer", what, scan.Clip(w))
	}
	return n
}

func (j *jsonReader) optText(dst *string, what string) {
	if j.Peek() != '"' {
		j.odd(what)
		return
	}
	*dst = j.text(what)
}

func (j *jsonReader) optInt(dst *int64, what string) {
	if c := j.Peek(); (c == '-' || c >= '0' && c <= '9') && j.isInt() {
		*dst = j.int(what)
		return
	}
	j.odd(what)
}

func (j *jsonReader) optBool(dst *bool, what string) {
	if c := j.Peek(); c == 't' || c == 'f' {
		*dst = string(j.Word()) == "true"
		return
	}
	j.odd(what)
}

func (j *jsonReader) optTexts(dst *[]string, what string) {
	if j.Peek() != '[' {
		j.odd(what)
		return
	}
	j.Enter('[', what)
	mark := len(j.strStack)
	for j.Elem() {
		var s string
		j.optText(&s, "element of "+what)
		j.strStack = append(j.strStack, s)
	}
	*dst = append(*dst, j.strStack[mark:]...)
	j.strStack = j.strStack[:mark]
}

func (j *jsonReader) optInts(dst *[]int64, what string) {
	if j.Peek() != '[' {
		j.odd(what)
		return
	}
	j.Enter('[', what)
	mark := len(j.intStack)
	for j.Elem() {
		var n int64
		j.optInt(&n, "element of "+what)
		j.intStack = append(j.intStack, n)
	}
	*dst = append(*dst, j.intStack[mark:]...)
	j.intStack = j.intStack[:mark]
}
