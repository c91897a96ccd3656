package write

import (
	"bufio"
	"context"
	"io"
	"math"
	"strconv"

	"precision/graph"
	"precision/internal/clean"
)

// JSON writes the model as atc --mode=5 and --mode=1 do, so that readers of their output accept it: keys in
// alphabetical order, zero values left out, attribute maps as lists of key and value in the order of the source, s
// values C-escaped, single floats as short text, and without memory sizes, workspaces and data. It ends with ctx, whose
// cause it returns.
func JSON(ctx context.Context, w io.Writer, m *graph.Model) error {
	j := &jsonWriter{ctx: ctx, w: bufio.NewWriterSize(w, 64<<10)}
	j.model(m)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return j.w.Flush()
}

// jsonWriter writes indented JSON. Errors stick in the bufio.Writer.
type jsonWriter struct {
	ctx   context.Context
	w     *bufio.Writer
	depth int  // of JSON values, for indentation
	first bool // no member of the open value was written yet
	msgs  int  // of messages
	buf   []byte
	tmp   []byte
}

// atcDepth is the message depth below which atc writes nothing.
const atcDepth = 20

func (j *jsonWriter) line() {
	if !j.first {
		j.w.WriteByte(',')
	}
	j.first = false
	j.w.WriteByte('\n')
	for range j.depth {
		j.w.WriteString("  ")
	}
}

func (j *jsonWriter) open(c byte) {
	j.w.WriteByte(c)
	j.depth++
	j.first = true
}

func (j *jsonWriter) close(c byte) {
	j.depth--
	if !j.first {
		j.w.WriteByte('\n')
		for range j.depth {
			j.w.WriteString("  ")
		}
	}
	j.first = false
	j.w.WriteByte(c)
}

func (j *jsonWriter) key(k string) {
	j.line()
	j.text(k)
	j.w.WriteString(": ")
}

// text writes a string. Bytes that are no UTF-8, which JSON cannot hold, are written as \xff in it: atc drops them, and names
// that differ in nothing else would be one.
func (j *jsonWriter) text(s string) {
	const hex = "0123456789abcdef"
	s = clean.Valid(s)
	b := append(j.buf[:0], '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x80 {
			b = append(b, c)
			i++
			continue
		}
		i++
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	b = append(b, '"')
	j.w.Write(b)
	j.buf = b
}

// cText writes a string C-escaped first, as single bytes fields are.
func (j *jsonWriter) cText(s string) {
	b := j.tmp[:0]
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '"' || c == '\'' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~':
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, c)
		}
	}
	j.tmp = b
	j.text(string(b))
}

func (j *jsonWriter) int(n int64) {
	j.buf = strconv.AppendInt(j.buf[:0], n, 10)
	j.w.Write(j.buf)
}

func (j *jsonWriter) bool(b bool) { j.w.WriteString(strconv.FormatBool(b)) }

// number writes a float as a JSON number with the digits of its double value.
func (j *jsonWriter) number(f float32) {
	d := float64(f)
	if math.IsInf(d, 0) || math.IsNaN(d) {
		j.w.WriteString("null")
		return
	}
	b := strconv.AppendFloat(j.buf[:0], d, 'g', -1, 64)
	for _, c := range b {
		if c == '.' || c == 'e' {
			j.w.Write(b)
			return
		}
	}
	j.w.Write(append(b, '.', '0'))
}

// float writes a single float: as text of six digits if that is short, else as a number.
func (j *jsonWriter) float(f float32) {
	if t := formatG(float64(f)); len(t) <= 9 {
		j.text(t)
	} else {
		j.number(f)
	}
}

// formatG formats like C's %g.
func formatG(d float64) string {
	switch {
	case math.IsNaN(d):
		return "nan"
	case math.IsInf(d, 1):
		return "inf"
	case math.IsInf(d, -1):
		return "-inf"
	}
	return strconv.FormatFloat(d, 'g', 6, 64)
}

// Members with a zero value are left out.

func (j *jsonWriter) textField(k, s string) {
	if s != "" {
		j.key(k)
		j.text(s)
	}
}

func (j *jsonWriter) intField(k string, n int64) {
	if n != 0 {
		j.key(k)
		j.int(n)
	}
}

func (j *jsonWriter) boolField(k string, b bool) {
	if b {
		j.key(k)
		j.bool(b)
	}
}

func jsonList[T any](j *jsonWriter, k string, l []T, f func(T)) {
	if len(l) == 0 {
		return
	}
	j.key(k)
	j.open('[')
	for _, x := range l {
		if j.ctx.Err() != nil {
			break
		}
		j.line()
		f(x)
	}
	j.close(']')
}

// message writes an object unless it lies too deep.
func (j *jsonWriter) message(body func()) {
	j.open('{')
	if j.msgs < atcDepth {
		j.msgs++
		body()
		j.msgs--
	}
	j.close('}')
}

// tableAttrs are the tables of compressed attributes; the attributes are written decoded, so these go.
var tableAttrs = map[string]bool{graph.KeyCompress: true, graph.KeyNameTable: true, graph.KeyValueTable: true, graph.KeyTextTable: true}

func (j *jsonWriter) model(m *graph.Model) {
	j.message(func() {
		attrs := make(graph.Attrs, 0, len(m.Attrs))
		for _, a := range m.Attrs {
			if !tableAttrs[a.Key()] {
				attrs = append(attrs, a)
			}
		}
		j.attrs(attrs)
		j.textField("custom_version", m.CustomVersion)
		jsonList(j, "graph", m.Graphs, j.graph)
		j.textField("name", m.Name)
		j.intField("version", int64(m.Version))
	})
}

func (j *jsonWriter) graph(g *graph.Graph) {
	j.message(func() {
		j.attrs(g.Attrs)
		jsonList(j, "input", g.Inputs, j.text)
		j.textField("name", g.Name)
		jsonList(j, "op", g.Ops, j.op)
	})
}

func (j *jsonWriter) op(o *graph.Op) {
	j.message(func() {
		h := o.Hints()
		j.attrs(o.Attrs)
		jsonList(j, "dst_index", h.DstIndexes, j.int)
		jsonList(j, "dst_name", h.DstNames, j.text)
		j.boolField("has_out_attr", h.HasOutAttr)
		j.intField("id", o.ID)
		jsonList(j, "input", o.Inputs, func(e graph.Edge) { j.text(e.Text) })
		j.descs("input_desc", o.InputDesc)
		jsonList(j, "input_i", h.InputI, j.int)
		jsonList(j, "input_name", h.InputNames, j.text)
		jsonList(j, "is_input_const", h.IsInputConst, j.bool)
		j.textField("name", o.Name)
		j.descs("output_desc", o.OutputDesc)
		jsonList(j, "output_i", h.OutputI, j.int)
		jsonList(j, "src_index", h.SrcIndexes, j.int)
		jsonList(j, "src_name", h.SrcNames, j.text)
		j.intField("stream_id", o.StreamID)
		jsonList(j, "subgraph_name", o.SubgraphNames, j.text)
		j.textField("type", o.Type)
	})
}

func (j *jsonWriter) descs(k string, l []graph.TensorDesc) {
	if len(l) == 0 {
		return
	}
	j.key(k)
	j.open('[')
	for i := range l {
		j.line()
		j.desc(&l[i])
	}
	j.close(']')
}

func (j *jsonWriter) desc(d *graph.TensorDesc) {
	j.message(func() {
		x := d.Extra()
		j.attrs(d.Attrs)
		j.textField("device_type", x.DeviceType)
		j.dtype(d.DType)
		j.boolField("has_out_attr", x.HasOutAttr)
		j.boolField("input_tensor", x.InputTensor)
		j.textField("layout", d.Layout)
		j.textField("name", x.Name)
		j.boolField("output_tensor", x.OutputTensor)
		j.intField("real_dim_cnt", x.RealDimCnt)
		j.boolField("reuse_input", x.ReuseInput)
		j.intField("reuse_input_index", x.ReuseInputIndex)
		if len(d.Shape) > 0 {
			j.key("shape")
			j.message(func() { jsonList(j, "dim", d.Shape, j.int) })
		}
	})
}

// dtype writes a name; a number without name as number.
func (j *jsonWriter) dtype(name string) {
	if n, err := strconv.ParseInt(name, 10, 32); err == nil {
		j.intField("dtype", n)
		return
	}
	j.textField("dtype", name)
}

// empty reports whether nothing of a descriptor is written.
func empty(d *graph.TensorDesc) bool {
	x := d.Extra()
	x.WeightSize, x.DataOffset = 0, 0
	return len(d.Attrs) == 0 && d.DType == "" && d.Layout == "" && len(d.Shape) == 0 && x == graph.DescExtra{}
}

func (j *jsonWriter) attrs(attrs graph.Attrs) {
	jsonList(j, "attr", attrs, func(a graph.Attr) {
		j.message(func() {
			j.key("key") // even when empty: readers demand it
			j.text(a.Key())
			if a.Value.Kind() == graph.KindMissing {
				return
			}
			j.key("value")
			j.value(a.Value)
		})
	})
}

// value writes an attribute value; null where nothing of it is left.
func (j *jsonWriter) value(v *graph.Value) {
	name := v.Kind().String()
	var body func()
	switch v.Kind() {
	case graph.KindString, graph.KindExpression:
		body = func() { j.cText(v.Text()) }
	case graph.KindInt, graph.KindDType:
		body = func() { n, _ := v.Int(); j.int(n) }
	case graph.KindFloat:
		body = func() { f, _ := v.Float(); j.float(f) }
	case graph.KindBool:
		body = func() { j.bool(v.Bool()) }
	case graph.KindList:
		if vt, _ := v.ListType(); (v.Elem() != graph.KindEmpty && v.Elem() != graph.KindBytes) || vt > 0 {
			body = func() { j.list(v) }
		}
	case graph.KindListListInt:
		if rows := v.IntLists(); len(rows) > 0 {
			body = func() { jsonRows(j, "list_list_i", "list_i", rows, j.int) }
		}
	case graph.KindListListFloat:
		if rows := v.FloatLists(); len(rows) > 0 {
			body = func() { jsonRows(j, "list_list_f", "list_f", rows, j.number) }
		}
	case graph.KindTensorDesc:
		if d := v.TensorDescs()[0]; !empty(d) {
			body = func() { j.desc(d) }
		}
	case graph.KindTensor:
		if t := v.Tensors()[0]; t.Desc != nil && !empty(t.Desc) {
			body = func() { j.tensor(t) }
		}
	case graph.KindFunc:
		if f := v.Funcs()[0]; f.Name != "" || len(f.Attrs) > 0 {
			body = func() { j.fn(f) }
		}
	case graph.KindGraph:
		if g := v.Graphs()[0]; g.Name != "" || len(g.Ops)+len(g.Inputs)+len(g.Attrs) > 0 {
			body = func() { j.graph(g) }
		}
	}
	if body == nil || j.msgs >= atcDepth {
		j.w.WriteString("null")
		return
	}
	j.message(func() {
		j.key(name)
		body()
	})
}

func (j *jsonWriter) list(v *graph.Value) {
	j.message(func() {
		switch v.Elem() {
		case graph.KindBool:
			jsonList(j, "b", v.Bools(), j.bool)
		case graph.KindDType:
			jsonList(j, "dt", v.Ints(), j.int)
		case graph.KindFloat:
			jsonList(j, "f", v.Floats(), j.number)
		case graph.KindGraph:
			jsonList(j, "g", v.Graphs(), j.graph)
		case graph.KindInt:
			jsonList(j, "i", v.Ints(), j.int)
		case graph.KindFunc:
			jsonList(j, "na", v.Funcs(), j.fn)
		case graph.KindString:
			jsonList(j, "s", v.Strings(), j.text)
		case graph.KindTensor:
			jsonList(j, "t", v.Tensors(), j.tensor)
		case graph.KindTensorDesc:
			jsonList(j, "td", v.TensorDescs(), j.desc)
		}
		if n, ok := v.ListType(); ok && n > 0 {
			if name := graph.ListTypeName(n); name != "" {
				j.textField("val_type", name)
			} else {
				j.intField("val_type", int64(n))
			}
		}
	})
}

func jsonRows[T any](j *jsonWriter, outer, inner string, rows [][]T, f func(T)) {
	j.message(func() {
		jsonList(j, outer, rows, func(row []T) {
			j.message(func() { jsonList(j, inner, row, f) })
		})
	})
}

func (j *jsonWriter) tensor(t *graph.Tensor) {
	j.message(func() {
		if t.Desc != nil && !empty(t.Desc) {
			j.key("desc")
			j.desc(t.Desc)
		}
	})
}

func (j *jsonWriter) fn(f *graph.NamedAttrs) {
	j.message(func() {
		j.attrs(f.Attrs)
		j.textField("name", f.Name)
	})
}
