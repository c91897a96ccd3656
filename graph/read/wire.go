package read

import (
	"context"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/graph"
	"precision/internal/must"
	"precision/internal/scan"
)

// wireReader reads the binary form: it numbers fields and gives messages a length. The first fault ends the reading.
type wireReader struct {
	ctx   context.Context // asked now and then: the whole is in memory
	seen  int             // messages
	to    *assembler
	whole []byte
	base  int64 // file offset of whole
	depth int
	at    []byte // message that is read
}

// readBinary reads data, a binary ModelDef that begins at offset base of the file, into m: its name, attributes and
// graphs. data is not kept.
func readBinary(ctx context.Context, b *graph.Builder, m *graph.Model, data []byte, base int64) (err error) {
	defer must.Catch(&err)
	w := &wireReader{ctx: ctx, whole: data, base: base}
	w.to = newAssembler(b, m, w)
	w.to.names = w.readNames(data)
	w.message(modelDef, data)
	w.to.endModel()
	return nil
}

// offset returns the place of p, a slice of the whole.
func (w *wireReader) offset(p []byte) int64 { return w.base + int64(cap(w.whole)-cap(p)) }

func (w *wireReader) failf(p []byte, format string, args ...any) {
	w.end(p, graph.Error{Msg: graph.Messagef(format, args...)})
}

// end ends the reading at p.
func (w *wireReader) end(p []byte, err graph.Error) {
	err.Path, err.Offset = w.to.model.Path, w.offset(p)
	must.Do(&err)
}

func (w *wireReader) warning(msg graph.Message) graph.Warning {
	return graph.Warning{Path: w.to.model.Path, Offset: -1, Msg: msg}
}

func (w *wireReader) refuse(msg graph.Message) {
	w.end(w.at, graph.Error{Fault: graph.FaultLimit, Msg: msg})
}

// parseError says what is wrong with a tag or a value, without the name of the library and the blank behind it, which
// differs from build to build.
func parseError(k int) graph.Term {
	text := strings.TrimPrefix(protowire.ParseError(k).Error(), "proto:")
	return graph.Term(strings.TrimLeft(text, " \u00a0"))
}

// wireField is one field of a message: n of a number, p of a length-delimited field.
type wireField struct {
	num protowire.Number
	typ protowire.Type
	n   uint64
	p   []byte
}

// next cuts the first field off *p; false at the end of the message.
func (w *wireReader) next(p *[]byte, f *wireField) bool {
	if len(*p) == 0 {
		return false
	}
	var num protowire.Number
	var typ protowire.Type
	k := 1
	if c := (*p)[0]; c >= 1<<3 && c < 0x80 { // nearly all tags
		num, typ = protowire.Number(c>>3), protowire.Type(c&7)
	} else if num, typ, k = protowire.ConsumeTag(*p); k < 0 {
		w.failf(*p, "broken field tag: %v", parseError(k))
	}
	rest := (*p)[k:]
	f.num, f.typ, f.n, f.p = num, typ, 0, nil
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
			}
		}
	default:
		// Groups, which GE does not use. ConsumeFieldValue bounds their nesting.
		k = protowire.ConsumeFieldValue(num, typ, rest)
	}
	if k < 0 {
		w.failf(rest, "field %d: %v", num, parseError(k))
	}
	*p = rest[k:]
	return true
}

const bytesT = protowire.BytesType

// wireTypes are the wire types of the kinds of fields.
var wireTypes = [...]protowire.Type{kindText: bytesT, kindInt: protowire.VarintType, kindBool: protowire.VarintType,
	kindFloat: protowire.Fixed32Type, kindBlob: bytesT, kindWord: protowire.VarintType, kindMessage: bytesT}

// message reads the fields of p, a message of type m.
func (w *wireReader) message(m *message, p []byte) {
	if w.depth == scan.MaxDepth {
		w.end(p, graph.Error{Fault: graph.FaultLimit, Msg: graph.Messagef("messages nested deeper than %d", scan.MaxDepth)})
	}
	if w.seen++; w.seen%4096 == 0 && w.ctx.Err() != nil {
		w.failf(p, "%v", w.ctx.Err())
	}
	w.depth++
	var x wireField
	for w.next(&p, &x) {
		f := m.numbered(int(x.num))
		switch {
		case f != nil && x.typ == wireTypes[f.kind] && f.kind != kindSkipped:
			w.value(f, &x)
		case f == nil && m.quiet:
		case f == nil:
			w.to.Warn(w.warning(graph.Messagef("unknown field %d in %s skipped", x.num, graph.Term(m.name))))
		case f.kind == kindSkipped:
		case f.many && x.typ == bytesT && wireTypes[f.kind] != bytesT:
			w.packed(f, x.p)
		default:
			w.to.Warn(w.warning(graph.Messagef("field %d of %s has wire type %d, expected %d, skipped", x.num, graph.Term(m.name), x.typ, wireTypes[f.kind])))
		}
	}
	w.depth--
}

// value hands over a value of the right wire type.
func (w *wireReader) value(f *field, x *wireField) {
	switch f.kind {
	case kindMessage:
		w.at = x.p
		w.to.begin(f.message, int(w.offset(x.p)))
		w.message(f.message, x.p)
		w.to.end(f)
	case kindText:
		f.text(w.to, x.p)
	case kindInt, kindWord:
		f.int(w.to, int64(x.n))
	case kindBool:
		f.bool(w.to, x.n != 0)
	case kindFloat:
		f.float(w.to, math.Float32frombits(uint32(x.n)))
	case kindBlob:
		f.blob(w.to, int64(len(x.p)))
	}
}

// packed hands over numbers that are stored one after another.
func (w *wireReader) packed(f *field, p []byte) {
	for rest := p; len(rest) > 0; {
		x := wireField{}
		k := 0
		if f.kind == kindFloat {
			var n uint32
			n, k = protowire.ConsumeFixed32(rest)
			x.n = uint64(n)
		} else {
			x.n, k = protowire.ConsumeVarint(rest)
		}
		switch {
		case k < 0 && f.kind == kindFloat:
			w.failf(rest, "field %d: %d bytes of floats", f.number, len(p))
		case k < 0:
			w.failf(rest, "field %d: %v", f.number, parseError(k))
		}
		w.value(f, &x)
		rest = rest[k:]
	}
}
