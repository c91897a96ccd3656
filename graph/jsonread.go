package graph

import (
	"io"
	"strconv"
	"strings"
)

// jsonReader builds a model from the JSON that atc prints (--mode=1 and --mode=5).
//
// What fusion rules are taken from (names, types, ids, inputs, output descriptors, attribute lists) must
// have the right JSON type; other members of an unexpected type are passed over with a warning.
type jsonReader struct {
	jsonScanner
	*builder
	model *Model
	plain bool // attribute maps are plain objects with short values, as in OM2 containers

	attrStack []Attr
	edgeStack []Edge
	inStack   []TensorDesc
	outStack  []TensorDesc
	opStack   []*Op
	intStack  []int64
	strStack  []string
	conv      []byte
	hints     Hints
	hintsBusy bool
}

func readJSON(r io.Reader, path string, plain bool) (*Model, error) {
	j := &jsonReader{builder: newBuilder(), model: &Model{Path: path, Source: SourceJSON}, plain: plain}
	j.jsonScanner.window = *newWindow(r)
	j.readModel()
	if j.err == nil {
		if c := j.peek(); c != 0 || j.pos < j.end {
			j.failf("found %s after the end of the model", describeJSON(c))
		} else if j.window.err != nil {
			j.failf("read")
		}
	}
	if j.err != nil {
		j.err.Path = path
		return nil, j.err
	}
	j.model.Warnings = j.warnings
	for i := range j.model.Warnings {
		j.model.Warnings[i].Path = path
	}
	return j.model, nil
}

func (j *jsonReader) odd(what string) {
	c := j.peek()
	j.warn(Warning{Line: j.line(), Offset: j.offset(), Msg: what + " is " + describeJSON(c) + ", skipped"})
	j.skip()
}

func (j *jsonReader) readModel() {
	m := j.model
	m.noGraphs = true
	if !j.enter('{', "model") {
		return
	}
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "graph":
			m.noGraphs = false
			if !j.enter('[', `"graph"`) {
				return
			}
			for j.elem() {
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
			j.skip()
		}
	}
}

func (j *jsonReader) readGraph() *Graph {
	g := &Graph{noOps: true}
	if !j.enter('{', "element of \"graph\"") {
		return g
	}
	g.Line = j.open[j.depth]
	mark := len(j.opStack)
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "op":
			g.noOps = false
			if !j.enter('[', `"op"`) {
				return g
			}
			for j.elem() {
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
			j.skip()
		}
	}
	g.Ops = append(make([]*Op, 0, len(j.opStack)-mark), j.opStack[mark:]...)
	clear(j.opStack[mark:])
	j.opStack = j.opStack[:mark]
	return g
}

func (j *jsonReader) readOp() *Op {
	o := j.op()
	if msg := j.overfull(); msg != "" {
		j.failf("%s", msg)
	}
	if !j.enter('{', "element of \"op\"") {
		return o
	}
	o.Line = j.open[j.depth]
	h := &j.hints
	if j.hintsBusy { // an operator inside an attribute of another
		h = &Hints{}
	}
	outer := j.hintsBusy
	j.hintsBusy = true
	h.reset()
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "name":
			o.Name = j.text("name of an op")
		case "type":
			o.Type = j.text("type of an op")
		case "id":
			o.ID = j.int("id of an op")
		case "input":
			mark := len(j.edgeStack)
			if j.enter('[', `"input" of an op`) {
				for j.elem() {
					j.edgeStack = append(j.edgeStack, ParseEdge(j.text(`element of "input"`)))
				}
			}
			o.Inputs = take(&j.edges, &j.edgeStack, mark)
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
			if j.peek() != '[' {
				j.odd("is_input_const")
				break
			}
			j.enter('[', "is_input_const")
			for j.elem() {
				var b bool
				j.optBool(&b, "element of is_input_const")
				h.IsInputConst = append(h.IsInputConst, b)
			}
		default:
			j.skip()
		}
	}
	o.hints = j.encodeHints(h)
	j.hintsBusy = outer
	return o
}

func (j *jsonReader) readDescs(stack *[]TensorDesc, what string) []TensorDesc {
	mark := len(*stack)
	if j.enter('[', what) {
		for j.elem() {
			*stack = append(*stack, TensorDesc{})
			i := len(*stack) - 1
			d := j.readDesc("element of " + what)
			(*stack)[i] = d
		}
	}
	return take(&j.descs, stack, mark)
}

func (j *jsonReader) readDesc(what string) (d TensorDesc) {
	if !j.enter('{', what) {
		return d
	}
	var x DescExtra
	if msg := j.overfull(); msg != "" {
		j.failf("%s", msg)
	}
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "dtype":
			if c := j.peek(); c == '-' || c >= '0' && c <= '9' {
				d.DType = dtypeName(j.int("dtype"))
			} else {
				d.DType = j.text("dtype")
				if d.DType == undefined {
					d.DType = ""
				}
			}
		case "attr":
			if d.Attrs = j.readAttrs("of a tensor descriptor"); d.Attrs == nil {
				d.Attrs = Attrs{} // rules tell no attributes from no attribute list
			}
		case "shape":
			if j.peek() != '{' {
				j.odd("shape")
				break
			}
			j.enter('{', "shape")
			for key := j.key(); key != nil; key = j.key() {
				if string(key) == "dim" {
					var dims []int64
					j.optInts(&dims, "dim")
					d.Shape = j.intList(dims)
				} else {
					j.skip()
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
			j.skip()
		}
	}
	d.extra = j.extra(x)
	return d
}

// attrMap reads the attributes of a model or graph, where no rule is taken from.
func (j *jsonReader) attrMap() Attrs {
	if c := j.peek(); c != '[' && !(j.plain && c == '{') {
		j.odd("attr")
		return nil
	}
	return j.readAttrs("")
}

func (j *jsonReader) readAttrs(where string) Attrs {
	mark := len(j.attrStack)
	if j.plain && j.peek() == '{' {
		j.enter('{', "attr")
		for key := j.key(); key != nil; key = j.key() {
			k := j.attrKey(key)
			v := j.plainValue()
			j.attrStack = append(j.attrStack, Attr{key: k, Value: v})
		}
		return take(&j.attrs, &j.attrStack, mark)
	}
	if !j.enter('[', strings.TrimSpace(`"attr" `+where)) {
		return nil
	}
	for j.elem() {
		if !j.enter('{', `element of "attr"`) {
			break
		}
		line, off := j.open[j.depth], j.offset()
		a := Attr{Value: missing}
		hasKey := false
		for key := j.key(); key != nil; key = j.key() {
			switch string(key) {
			case "key":
				a.key, hasKey = j.keyText(), true
			case "value":
				a.Value = j.readValue()
			default:
				j.skip()
			}
		}
		if !hasKey && j.err == nil {
			j.failf("attribute without \"key\"")
			j.err.Line, j.err.Offset = line, off
		}
		j.attrStack = append(j.attrStack, a)
	}
	return take(&j.attrs, &j.attrStack, mark)
}

// Readers of single values. text and int are strict, the opt forms pass over other types with a warning.

func (j *jsonReader) text(what string) string {
	if c := j.peek(); c != '"' {
		j.failf("%s is %s, expected a string", what, describeJSON(c))
		return ""
	}
	return j.intern(j.str())
}

func (j *jsonReader) int(what string) int64 {
	c := j.peek()
	if c != '-' && (c < '0' || c > '9') {
		j.failf("%s is %s, expected an integer", what, describeJSON(c))
		return 0
	}
	w := j.word()
	if n, ok := decimal(w); ok {
		return n
	}
	n, err := strconv.ParseInt(string(w), 10, 64)
	if err != nil {
		if u, err := strconv.ParseUint(string(w), 10, 64); err == nil {
			return int64(u)
		}
		j.failf("%s is %s, expected an integer", what, clip(w))
	}
	return n
}

func (j *jsonReader) optText(dst *string, what string) {
	if j.peek() != '"' {
		j.odd(what)
		return
	}
	*dst = j.text(what)
}

func (j *jsonReader) optInt(dst *int64, what string) {
	if c := j.peek(); (c == '-' || c >= '0' && c <= '9') && j.isInt() {
		*dst = j.int(what)
		return
	}
	j.odd(what)
}

func (j *jsonReader) optBool(dst *bool, what string) {
	if c := j.peek(); c == 't' || c == 'f' {
		*dst = string(j.word()) == "true"
		return
	}
	j.odd(what)
}

func (j *jsonReader) optTexts(dst *[]string, what string) {
	if j.peek() != '[' {
		j.odd(what)
		return
	}
	j.enter('[', what)
	mark := len(j.strStack)
	for j.elem() {
		var s string
		j.optText(&s, "element of "+what)
		j.strStack = append(j.strStack, s)
	}
	*dst = append(*dst, j.strStack[mark:]...)
	j.strStack = j.strStack[:mark]
}

func (j *jsonReader) optInts(dst *[]int64, what string) {
	if j.peek() != '[' {
		j.odd(what)
		return
	}
	j.enter('[', what)
	mark := len(j.intStack)
	for j.elem() {
		var n int64
		j.optInt(&n, "element of "+what)
		j.intStack = append(j.intStack, n)
	}
	*dst = append(*dst, j.intStack[mark:]...)
	j.intStack = j.intStack[:mark]
}
