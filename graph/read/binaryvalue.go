package read

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/graph"
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
	name, v := w.AttrKey(key), graph.Missing
	if found {
		v = w.readValue(value)
		if asText {
			v = w.names.text(w.Builder, v)
		}
	}
	w.attrStack = append(w.attrStack, graph.NewAttr(name, v))
	w.depth--
}

func (w *wireReader) readValue(p []byte) *graph.Value {
	out := graph.Missing
	var f field
	for w.next(&p, &f) {
		switch {
		case f.num == 1 && f.typ == bytesT:
			out = w.readList(f.p)
		case f.num == 2 && f.typ == bytesT:
			out = w.TextValue(f.p)
		case f.num == 3 && f.typ == varintT:
			out = w.IntValue(int64(f.n))
		case f.num == 4 && f.typ == protowire.Fixed32Type:
			out = w.FloatValue(math.Float32frombits(uint32(f.n)))
		case f.num == 5 && f.typ == varintT:
			out = w.BoolValue(f.n != 0)
		case f.num == 7 && f.typ == bytesT:
			out = w.NumValue(graph.KindBytes, int64(len(f.p)))
		case f.num == 10 && f.typ == bytesT:
			out = w.FuncValue(w.readFunc(f.p))
		case f.num == 11 && f.typ == bytesT:
			d := w.readDesc(f.p)
			out = w.DescValue(&d)
		case f.num == 12 && f.typ == bytesT:
			out = w.TensorValue(w.readTensor(f.p))
		case f.num == 13 && f.typ == bytesT:
			out = w.GraphValue(w.readGraph(f.p))
		case f.num == 14 && f.typ == bytesT:
			out = w.readListListInt(f.p)
		case f.num == 15 && f.typ == varintT:
			out = w.NumValue(graph.KindDType, int64(f.n))
		case f.num == 16 && f.typ == bytesT:
			out = w.readListListFloat(f.p)
		case f.num == 17 && f.typ == bytesT:
			out = w.Expression(f.p)
		default:
			w.unknown("AttrDef", &f)
		}
	}
	return out
}

func (w *wireReader) readFunc(p []byte) *graph.NamedAttrs {
	x := &graph.NamedAttrs{}
	if !w.enter(p) {
		return x
	}
	mark := len(w.attrStack)
	var f field
	for w.next(&p, &f) {
		switch {
		case f.num == 1 && f.typ == bytesT:
			x.Name = w.Intern(f.p)
		case f.num == 2 && f.typ == bytesT:
			w.readAttr(f.p)
		}
	}
	x.Attrs = w.ShareAttrs(&w.attrStack, mark)
	w.depth--
	return x
}

func (w *wireReader) readTensor(p []byte) *graph.Tensor {
	t := &graph.Tensor{}
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

func (w *wireReader) readList(p []byte) *graph.Value {
	var l graph.List
	l.Reset()
	l.ValType = -1
	var f field
	var nums []int64
	for w.next(&p, &f) {
		switch f.num {
		case 2:
			if w.is(&f, bytesT, "ListValue") && l.Is(graph.KindString) {
				l.Texts = append(l.Texts, w.Intern(f.p))
			}
		case 3, 5, 12:
			nums = nums[:0]
			w.numbers(&nums, &f)
			switch {
			case f.num == 3 && l.Is(graph.KindInt), f.num == 12 && l.Is(graph.KindDType):
				l.Ints = append(l.Ints, nums...)
			case f.num == 5 && l.Is(graph.KindBool):
				for _, n := range nums {
					l.Bools = append(l.Bools, n != 0)
				}
			}
		case 4:
			if l.Is(graph.KindFloat) {
				w.floats(&l.Floats, &f)
			}
		case 7:
			if w.is(&f, bytesT, "ListValue") && l.Is(graph.KindBytes) {
				l.Ints = append(l.Ints, int64(len(f.p)))
			}
		case 8:
			if w.is(&f, bytesT, "ListValue") && l.Is(graph.KindTensorDesc) {
				d := w.readDesc(f.p)
				l.Descs = append(l.Descs, &d)
			}
		case 9:
			if w.is(&f, bytesT, "ListValue") && l.Is(graph.KindTensor) {
				l.Tensors = append(l.Tensors, w.readTensor(f.p))
			}
		case 10:
			if w.is(&f, bytesT, "ListValue") && l.Is(graph.KindGraph) {
				l.Graphs = append(l.Graphs, w.readGraph(f.p))
			}
		case 11:
			if w.is(&f, bytesT, "ListValue") && l.Is(graph.KindFunc) {
				l.Funcs = append(l.Funcs, w.readFunc(f.p))
			}
		case 20:
			l.ValType = int16(f.n)
		default:
			w.unknown("ListValue", &f)
		}
	}
	if l.Mixed {
		w.Warn(graph.Warning{Path: w.model.Path, Offset: -1, Msg: mixedList})
	}
	return w.ListValue(&l)
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

func (w *wireReader) readListListInt(p []byte) *graph.Value {
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
		rows = append(rows, w.IntList(row))
	}
	return w.IntRows(rows)
}

func (w *wireReader) readListListFloat(p []byte) *graph.Value {
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
	return w.FloatRows(rows)
}
