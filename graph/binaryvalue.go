package graph

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// readAttr reads a map entry and pushes it.
func (w *wireReader) readAttr(p []byte) {
	if !w.enter(p) {
		return
	}
	var key, value []byte
	found := false
	var f field
	for w.next(&p, &f) {
		switch {
		case f.num == 1 && f.typ == bytesT:
			key = f.p
		case f.num == 2 && f.typ == bytesT:
			value, found = f.p, true
		}
	}
	key, asText := w.names.key(key)
	a := Attr{key: w.attrKey(key), Value: missing}
	if found {
		a.Value = w.readValue(value)
		if asText {
			a.Value = w.names.text(w.builder, a.Value)
		}
	}
	w.attrStack = append(w.attrStack, a)
	w.depth--
}

func (w *wireReader) readValue(p []byte) *Value {
	out := missing
	var f field
	for w.next(&p, &f) {
		switch {
		case f.num == 1 && f.typ == bytesT:
			out = w.readList(f.p)
		case f.num == 2 && f.typ == bytesT:
			out = w.textValue(f.p)
		case f.num == 3 && f.typ == varintT:
			out = w.intValue(int64(f.n))
		case f.num == 4 && f.typ == protowire.Fixed32Type:
			out = w.floatValue(math.Float32frombits(uint32(f.n)))
		case f.num == 5 && f.typ == varintT:
			out = w.boolValue(f.n != 0)
		case f.num == 7 && f.typ == bytesT:
			out = w.numValue(KindBytes, int64(len(f.p)))
		case f.num == 10 && f.typ == bytesT:
			out = w.value(Value{kind: KindFunc, ext: w.readFunc(f.p)})
		case f.num == 11 && f.typ == bytesT:
			d := w.readDesc(f.p)
			out = w.value(Value{kind: KindTensorDesc, ext: &d})
		case f.num == 12 && f.typ == bytesT:
			out = w.value(Value{kind: KindTensor, ext: w.readTensor(f.p)})
		case f.num == 13 && f.typ == bytesT:
			out = w.value(Value{kind: KindGraph, ext: w.readGraph(f.p)})
		case f.num == 14 && f.typ == bytesT:
			out = w.readListListInt(f.p)
		case f.num == 15 && f.typ == varintT:
			out = w.numValue(KindDType, int64(f.n))
		case f.num == 16 && f.typ == bytesT:
			out = w.readListListFloat(f.p)
		case f.num == 17 && f.typ == bytesT:
			out = w.value(Value{kind: KindExpression, str: w.intern(f.p)})
		default:
			w.unknown("AttrDef", &f)
		}
	}
	return out
}

func (w *wireReader) readFunc(p []byte) *NamedAttrs {
	x := &NamedAttrs{}
	if !w.enter(p) {
		return x
	}
	mark := len(w.attrStack)
	var f field
	for w.next(&p, &f) {
		switch {
		case f.num == 1 && f.typ == bytesT:
			x.Name = w.intern(f.p)
		case f.num == 2 && f.typ == bytesT:
			w.readAttr(f.p)
		}
	}
	x.Attrs = w.takeAttrs(&w.attrStack, mark)
	w.depth--
	return x
}

func (w *wireReader) readTensor(p []byte) *Tensor {
	t := &Tensor{}
	var f field
	for w.next(&p, &f) {
		switch {
		case f.num == 1 && f.typ == bytesT:
			d := w.readDesc(f.p)
			t.Desc = &d
		case f.num == 2 && f.typ == bytesT:
			t.DataLen = int64(len(f.p))
		}
	}
	return t
}

func (w *wireReader) readList(p []byte) *Value {
	var l list
	l.reset()
	l.vt = -1
	var f field
	var nums []int64
	for w.next(&p, &f) {
		switch f.num {
		case 2:
			if w.is(&f, bytesT, "ListValue") && l.is(KindString) {
				l.strs = append(l.strs, w.intern(f.p))
			}
		case 3, 5, 12:
			nums = nums[:0]
			w.numbers(&nums, &f)
			switch {
			case f.num == 3 && l.is(KindInt), f.num == 12 && l.is(KindDType):
				l.ints = append(l.ints, nums...)
			case f.num == 5 && l.is(KindBool):
				for _, n := range nums {
					l.bools = append(l.bools, n != 0)
				}
			}
		case 4:
			if l.is(KindFloat) {
				w.floats(&l.floats, &f)
			}
		case 7:
			if w.is(&f, bytesT, "ListValue") && l.is(KindBytes) {
				l.ints = append(l.ints, int64(len(f.p)))
			}
		case 8:
			if w.is(&f, bytesT, "ListValue") && l.is(KindTensorDesc) {
				d := w.readDesc(f.p)
				l.descs = append(l.descs, &d)
			}
		case 9:
			if w.is(&f, bytesT, "ListValue") && l.is(KindTensor) {
				l.tens = append(l.tens, w.readTensor(f.p))
			}
		case 10:
			if w.is(&f, bytesT, "ListValue") && l.is(KindGraph) {
				l.graphs = append(l.graphs, w.readGraph(f.p))
			}
		case 11:
			if w.is(&f, bytesT, "ListValue") && l.is(KindFunc) {
				l.funcs = append(l.funcs, w.readFunc(f.p))
			}
		case 20:
			l.vt = int16(f.n)
		default:
			w.unknown("ListValue", &f)
		}
	}
	if l.mixed {
		w.warn(Warning{Path: w.model.Path, Offset: -1, Msg: mixedList})
	}
	return w.listValue(&l)
}

func (w *wireReader) floats(dst *[]float32, f *field) {
	switch f.typ {
	case protowire.Fixed32Type:
		*dst = append(*dst, math.Float32frombits(uint32(f.n)))
	case bytesT:
		for p := f.p; len(p) > 0; p = p[4:] {
			n, k := protowire.ConsumeFixed32(p)
			if k < 0 {
				w.failf(p, "field %d: %d bytes of floats", f.num, len(f.p))
				return
			}
			*dst = append(*dst, math.Float32frombits(n))
		}
	}
}

func (w *wireReader) readListListInt(p []byte) *Value {
	var rows [][]int64
	var f, g field
	for w.next(&p, &f) {
		if f.num != 1 || f.typ != bytesT {
			continue
		}
		var row []int64
		for q := f.p; w.next(&q, &g); {
			if g.num == 1 {
				w.numbers(&row, &g)
			}
		}
		rows = append(rows, w.intList(row))
	}
	return w.intRows(rows)
}

func (w *wireReader) readListListFloat(p []byte) *Value {
	var rows [][]float32
	var f, g field
	for w.next(&p, &f) {
		if f.num != 1 || f.typ != bytesT {
			continue
		}
		var row []float32
		for q := f.p; w.next(&q, &g); {
			if g.num == 1 {
				w.floats(&row, &g)
			}
		}
		rows = append(rows, row)
	}
	return w.value(Value{kind: KindListListFloat, num: uint64(len(rows)), ext: rows})
}
