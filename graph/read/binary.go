package read

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/graph"
	"precision/graph/internal/scan"
)

// wireReader builds a model from the binary form of a ModelDef. Its methods take one message each, a slice of the
// whole; the first fault sticks.
type wireReader struct {
	*graph.Builder
	model *graph.Model
	whole []byte
	base  int64 // file offset of whole
	depth int
	names *attrNames
	err   *graph.Error

	attrStack []graph.Attr
	hints     graph.Hints
}

// readBinary reads data, a binary ModelDef that begins at offset base of the file, into m: its name, attributes and
// graphs. data is not kept.
func readBinary(b *graph.Builder, m *graph.Model, data []byte, base int64) error {
	w := &wireReader{Builder: b, model: m, whole: data, base: base}
	w.names = w.readNames(data)
	if w.err == nil {
		w.readModel(data)
	}
	if w.err != nil {
		w.err.Path = m.Path
		return w.err
	}
	return nil
}

// offset returns the place of p, a slice of the whole.
func (w *wireReader) offset(p []byte) int64 { return w.base + int64(cap(w.whole)-cap(p)) }

func (w *wireReader) failf(p []byte, format string, args ...any) {
	if w.err == nil {
		w.err = &graph.Error{Path: w.model.Path, Offset: w.offset(p), Msg: fmt.Sprintf(format, args...)}
	}
}

// field is one field of a message: n of a number, p of a length-delimited field. rest is what follows.
type field struct {
	num protowire.Number
	typ protowire.Type
	n   uint64
	p   []byte
}

// next cuts the first field off *p; false at the end of the message or after a fault.
func (w *wireReader) next(p *[]byte, f *field) bool {
	if len(*p) == 0 || w.err != nil {
		return false
	}
	num, typ, k := protowire.ConsumeTag(*p)
	if k < 0 {
		w.failf(*p, "broken field tag: %v", protowire.ParseError(k))
		return false
	}
	rest := (*p)[k:]
	*f = field{num: num, typ: typ}
	switch typ {
	case protowire.VarintType:
		f.n, k = protowire.ConsumeVarint(rest)
	case protowire.Fixed32Type:
		var n uint32
		n, k = protowire.ConsumeFixed32(rest)
		f.n = uint64(n)
	case protowire.Fixed64Type:
		f.n, k = protowire.ConsumeFixed64(rest)
	case protowire.BytesType:
		f.p, k = protowire.ConsumeBytes(rest)
		if k < 0 {
			if n, m := protowire.ConsumeVarint(rest); m > 0 && n > uint64(len(rest)-m) {
				w.failf(rest, "field %d claims %d bytes, %d are left of the message", num, n, len(rest)-m)
				return false
			}
		}
	default:
		// Groups, which GE does not use. ConsumeFieldValue bounds their nesting.
		k = protowire.ConsumeFieldValue(num, typ, rest)
	}
	if k < 0 {
		w.failf(rest, "field %d: %v", num, protowire.ParseError(k))
		return false
	}
	*p = rest[k:]
	return true
}

// is reports whether f has the wire type its number demands.
func (w *wireReader) is(f *field, typ protowire.Type, what string) bool {
	if f.typ != typ {
		w.Warn(graph.Warning{Path: w.model.Path, Offset: -1, Msg: fmt.Sprintf("field %d of %s has wire type %d, expected %d, skipped", f.num, what, f.typ, typ)})
		return false
	}
	return true
}

func (w *wireReader) enter(p []byte) bool {
	if w.depth == scan.MaxDepth {
		w.failf(p, "messages nested deeper than %d", scan.MaxDepth)
		return false
	}
	w.depth++
	return true
}

func (w *wireReader) unknown(what string, f *field) {
	w.Warn(graph.Warning{Path: w.model.Path, Offset: -1, Msg: "unknown field " + strconv.Itoa(int(f.num)) + " in " + what + " skipped"})
}

const (
	bytesT  = protowire.BytesType
	varintT = protowire.VarintType
)

func (w *wireReader) readModel(p []byte) {
	m := w.model
	var f field
	for w.next(&p, &f) {
		switch {
		case f.num == 7 && f.typ == bytesT:
			m.Graphs = append(m.Graphs, w.readGraph(f.p))
		case f.num == 11 && f.typ == bytesT:
			w.readAttr(f.p)
		case f.num == 1 && f.typ == bytesT:
			m.Name = w.Intern(f.p)
		case f.num == 3 && f.typ == bytesT:
			m.CustomVersion = w.Intern(f.p)
		case f.num == 2 && f.typ == varintT:
			m.Version = uint32(f.n)
		case f.num == 12:
		default:
			w.unknown("ModelDef", &f)
		}
	}
	m.Attrs = append(m.Attrs, w.TakeAttrs(&w.attrStack, 0)...)
}

func (w *wireReader) readGraph(p []byte) *graph.Graph {
	g := &graph.Graph{Line: int(w.offset(p))}
	if !w.enter(p) {
		return g
	}
	mark := len(w.attrStack)
	var f field
	for w.next(&p, &f) {
		switch {
		case f.num == 6 && f.typ == bytesT:
			g.Ops = append(g.Ops, w.readOp(f.p))
		case f.num == 1 && f.typ == bytesT:
			g.Name = w.Intern(f.p)
		case f.num == 4 && f.typ == bytesT:
			g.Inputs = append(g.Inputs, w.Intern(f.p))
		case f.num == 5 && f.typ == bytesT:
			g.Outputs = append(g.Outputs, w.Intern(f.p))
		case f.num == 11 && f.typ == bytesT:
			w.readAttr(f.p)
		case f.num == 12:
		default:
			w.unknown("GraphDef", &f)
		}
	}
	g.Attrs = w.TakeAttrs(&w.attrStack, mark)
	w.depth--
	return g
}

func (w *wireReader) readOp(p []byte) *graph.Op {
	o := w.Op()
	if msg := w.Overfull(); msg != "" {
		w.failf(p, "%s", msg)
	}
	o.Line = int(w.offset(p))
	if !w.enter(p) {
		return o
	}
	mark := len(w.attrStack)
	var h graph.Hints
	var f field
	for w.next(&p, &f) {
		switch f.num {
		case 1:
			w.text(&o.Name, &f, "OpDef")
		case 2:
			w.text(&o.Type, &f, "OpDef")
		case 5:
			var s string
			w.text(&s, &f, "OpDef")
			o.Inputs = append(o.Inputs, graph.ParseEdge(s))
		case 10:
			if w.is(&f, bytesT, "OpDef") {
				w.readAttr(f.p)
			}
		case 20:
			h.HasOutAttr = f.n != 0
		case 21:
			o.ID = int64(f.n)
		case 22:
			o.StreamID = int64(f.n)
		case 23:
			w.texts(&h.InputNames, &f, "OpDef")
		case 24:
			w.texts(&h.SrcNames, &f, "OpDef")
		case 25:
			w.numbers(&h.SrcIndexes, &f)
		case 26:
			w.texts(&h.DstNames, &f, "OpDef")
		case 27:
			w.numbers(&h.DstIndexes, &f)
		case 28:
			w.numbers(&h.InputI, &f)
		case 29:
			w.numbers(&h.OutputI, &f)
		case 30:
			w.numbers(&h.Workspace, &f)
		case 31:
			w.numbers(&h.WorkspaceLen, &f)
		case 32:
			var l []int64
			w.numbers(&l, &f)
			for _, n := range l {
				h.IsInputConst = append(h.IsInputConst, n != 0)
			}
		case 33:
			if w.is(&f, bytesT, "OpDef") {
				o.InputDesc = append(o.InputDesc, w.readDesc(f.p))
			}
		case 34:
			if w.is(&f, bytesT, "OpDef") {
				o.OutputDesc = append(o.OutputDesc, w.readDesc(f.p))
			}
		case 35:
			w.texts(&o.SubgraphNames, &f, "OpDef")
		case 11:
		default:
			w.unknown("OpDef", &f)
		}
	}
	o.Attrs = w.TakeAttrs(&w.attrStack, mark)
	w.SetHints(o, &h)
	w.depth--
	return o
}

func (w *wireReader) readDesc(p []byte) (d graph.TensorDesc) {
	if !w.enter(p) {
		return d
	}
	mark := len(w.attrStack)
	var x graph.DescExtra
	if msg := w.Overfull(); msg != "" {
		w.failf(p, "%s", msg)
	}
	var f field
	for w.next(&p, &f) {
		switch f.num {
		case 1:
			w.text(&x.Name, &f, "TensorDescriptor")
		case 2:
			d.DType = graph.DTypeName(int64(int32(f.n)))
		case 3:
			if w.is(&f, bytesT, "TensorDescriptor") {
				var dims []int64
				var g field
				for q := f.p; w.next(&q, &g); {
					if g.num == 1 {
						w.numbers(&dims, &g)
					}
				}
				d.Shape = w.IntList(dims)
			}
		case 4:
			w.text(&d.Layout, &f, "TensorDescriptor")
		case 5:
			if w.is(&f, bytesT, "TensorDescriptor") {
				w.readAttr(f.p)
			}
		case 9:
			x.HasOutAttr = f.n != 0
		case 10:
			d.Size = int64(f.n)
		case 11:
			x.WeightSize = int64(f.n)
		case 12:
			x.ReuseInput = f.n != 0
		case 13:
			x.OutputTensor = f.n != 0
		case 14:
			w.text(&x.DeviceType, &f, "TensorDescriptor")
		case 15:
			x.InputTensor = f.n != 0
		case 16:
			x.RealDimCnt = int64(f.n)
		case 17:
			x.ReuseInputIndex = int64(f.n)
		case 18:
			x.DataOffset = int64(f.n)
		case 6, 19, 20, 21:
		default:
			w.unknown("TensorDescriptor", &f)
		}
	}
	d.Attrs = w.ShareAttrs(&w.attrStack, mark)
	w.SetExtra(&d, x)
	w.depth--
	return d
}

func (w *wireReader) text(dst *string, f *field, what string) {
	if w.is(f, bytesT, what) {
		*dst = w.Intern(f.p)
	}
}

func (w *wireReader) texts(dst *[]string, f *field, what string) {
	if w.is(f, bytesT, what) {
		*dst = append(*dst, w.Intern(f.p))
	}
}

// numbers appends a repeated number, packed or not.
func (w *wireReader) numbers(dst *[]int64, f *field) {
	if f.typ != bytesT {
		*dst = append(*dst, int64(f.n))
		return
	}
	for p := f.p; len(p) > 0; {
		n, k := protowire.ConsumeVarint(p)
		if k < 0 {
			w.failf(p, "field %d: %v", f.num, protowire.ParseError(k))
			return
		}
		*dst = append(*dst, int64(n))
		p = p[k:]
	}
}

const mixedList = "list with elements of several kinds: only the first kind is kept"
