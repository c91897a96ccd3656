package read

import (
	"precision/graph"
	"precision/graph/internal/scan"
)

// readAttrs reads the value of an attr field: map entries { key value }.
func (t *textReader) readAttrs() {
	for v := scan.ValuesStart; t.More(&v); {
		if !t.Message() {
			return
		}
		var key *string
		value := graph.Missing
		for name := t.Next(); name != nil; name = t.Next() {
			switch string(name) {
			case "key":
				for v := scan.ValuesStart; t.More(&v); {
					key = t.AttrKey(t.Str())
				}
			case "value":
				for v := scan.ValuesStart; t.More(&v); {
					if t.Message() {
						value = t.readValue()
					}
				}
			default:
				t.unknown("an attribute entry", name)
			}
		}
		t.attrStack = append(t.attrStack, graph.NewAttr(key, value))
	}
}

// readValue reads an AttrDef. Of several branches the last counts, as for every oneof.
func (t *textReader) readValue() *graph.Value {
	out := graph.Missing
	for {
		name := t.Next()
		if name == nil {
			return out
		}
		known := true
		switch string(name) {
		case "s":
			for v := scan.ValuesStart; t.More(&v); {
				out = t.TextValue(t.Str())
			}
		case "i":
			for v := scan.ValuesStart; t.More(&v); {
				out = t.IntValue(t.Int())
			}
		case "b":
			for v := scan.ValuesStart; t.More(&v); {
				out = t.BoolValue(t.Bool())
			}
		case "f":
			for v := scan.ValuesStart; t.More(&v); {
				out = t.FloatValue(t.Float())
			}
		case "bt":
			for v := scan.ValuesStart; t.More(&v); {
				out = t.NumValue(graph.KindBytes, t.Blob())
			}
		case "dt":
			for v := scan.ValuesStart; t.More(&v); {
				out = t.NumValue(graph.KindDType, t.Int())
			}
		case "expression":
			for v := scan.ValuesStart; t.More(&v); {
				out = t.Expression(t.Str())
			}
		default:
			known = false
		}
		if known {
			continue
		}
		kind := string(name)
		switch kind {
		case "list", "func", "td", "t", "g", "list_list_int", "list_list_float":
			for v := scan.ValuesStart; t.More(&v); {
				if !t.Message() {
					return out
				}
				switch kind {
				case "list":
					out = t.readList()
				case "func":
					out = t.FuncValue(t.readFunc())
				case "td":
					out = t.DescValue(t.readDescPtr())
				case "t":
					out = t.TensorValue(t.readTensor())
				case "g":
					out = t.GraphValue(t.readGraph())
				case "list_list_int":
					out = t.readListListInt()
				case "list_list_float":
					out = t.readListListFloat()
				}
			}
		default:
			t.unknown("AttrDef", []byte(kind))
		}
	}
}

func (t *textReader) readFunc() *graph.NamedAttrs {
	f := &graph.NamedAttrs{}
	mark := len(t.attrStack)
	for {
		switch name := t.Next(); string(name) {
		case "":
			f.Attrs = t.ShareAttrs(&t.attrStack, mark)
			return f
		case "name":
			t.text1(&f.Name)
		case "attr":
			t.readAttrs()
		default:
			t.unknown("NamedAttrs", name)
		}
	}
}

func (t *textReader) readDescPtr() *graph.TensorDesc {
	i := len(t.inStack)
	t.inStack = append(t.inStack, graph.TensorDesc{})
	t.readDesc(&t.inStack, i)
	d := t.inStack[i]
	t.inStack[i] = graph.TensorDesc{}
	t.inStack = t.inStack[:i]
	return &d
}

func (t *textReader) readTensor() *graph.Tensor {
	x := &graph.Tensor{}
	for {
		switch name := t.Next(); string(name) {
		case "":
			return x
		case "desc":
			for v := scan.ValuesStart; t.More(&v); {
				if t.Message() {
					x.Desc = t.readDescPtr()
				}
			}
		case "data":
			for v := scan.ValuesStart; t.More(&v); {
				x.DataLen = t.Blob()
			}
		default:
			t.unknown("TensorDef", name)
		}
	}
}

// readList reads a ListValue. Lists inside lists exist only through td, t, g and na; the scratch list
// is then taken by the outer one.
func (t *textReader) readList() *graph.Value {
	l := &t.list
	if t.listBusy {
		l = &graph.List{}
	}
	outer := t.listBusy
	t.listBusy = true
	l.Reset()
	for {
		switch name := t.Next(); string(name) {
		case "":
			t.listBusy = outer
			if l.Mixed {
				t.Warn(graph.Warning{Line: t.Line(), Offset: t.Offset(), Msg: mixedList})
			}
			return t.ListValue(l)
		case "s":
			for v := scan.ValuesStart; t.More(&v); {
				p := t.Str()
				if l.Is(graph.KindString) {
					l.Texts = append(l.Texts, t.Intern(p))
				}
			}
		case "i":
			t.listInts(l, graph.KindInt)
		case "dt":
			t.listInts(l, graph.KindDType)
		case "f":
			for v := scan.ValuesStart; t.More(&v); {
				if f := t.Float(); l.Is(graph.KindFloat) {
					l.Floats = append(l.Floats, f)
				}
			}
		case "b":
			for v := scan.ValuesStart; t.More(&v); {
				if x := t.Bool(); l.Is(graph.KindBool) {
					l.Bools = append(l.Bools, x)
				}
			}
		case "bt":
			for v := scan.ValuesStart; t.More(&v); {
				if n := t.Blob(); l.Is(graph.KindBytes) {
					l.Ints = append(l.Ints, n)
				}
			}
		case "td":
			for v := scan.ValuesStart; t.More(&v); {
				if t.Message() {
					if d := t.readDescPtr(); l.Is(graph.KindTensorDesc) {
						l.Descs = append(l.Descs, d)
					}
				}
			}
		case "t":
			for v := scan.ValuesStart; t.More(&v); {
				if t.Message() {
					if x := t.readTensor(); l.Is(graph.KindTensor) {
						l.Tensors = append(l.Tensors, x)
					}
				}
			}
		case "g":
			for v := scan.ValuesStart; t.More(&v); {
				if t.Message() {
					if g := t.readGraph(); l.Is(graph.KindGraph) {
						l.Graphs = append(l.Graphs, g)
					}
				}
			}
		case "na":
			for v := scan.ValuesStart; t.More(&v); {
				if t.Message() {
					if f := t.readFunc(); l.Is(graph.KindFunc) {
						l.Funcs = append(l.Funcs, f)
					}
				}
			}
		case "val_type":
			for v := scan.ValuesStart; t.More(&v); {
				l.ValType = graph.ListTypeNumber(t.Enum())
			}
		default:
			t.unknown("ListValue", name)
		}
	}
}

func (t *textReader) listInts(l *graph.List, k graph.Kind) {
	for v := scan.ValuesStart; t.More(&v); {
		if n := t.Int(); l.Is(k) {
			l.Ints = append(l.Ints, n)
		}
	}
}

func (t *textReader) readListListInt() *graph.Value {
	var rows [][]int64
	for name := t.Next(); name != nil; name = t.Next() {
		if string(name) != "list_list_i" {
			t.unknown("ListListInt", name)
			continue
		}
		for v := scan.ValuesStart; t.More(&v); {
			if !t.Message() {
				break
			}
			mark := len(t.intStack)
			for name := t.Next(); name != nil; name = t.Next() {
				if string(name) != "list_i" {
					t.unknown("ListInt", name)
					continue
				}
				for v := scan.ValuesStart; t.More(&v); {
					t.intStack = append(t.intStack, t.Int())
				}
			}
			rows = append(rows, t.IntList(t.intStack[mark:]))
			t.intStack = t.intStack[:mark]
		}
	}
	return t.IntRows(rows)
}

func (t *textReader) readListListFloat() *graph.Value {
	var rows [][]float32
	for name := t.Next(); name != nil; name = t.Next() {
		if string(name) != "list_list_f" {
			t.unknown("ListListFloat", name)
			continue
		}
		for v := scan.ValuesStart; t.More(&v); {
			if !t.Message() {
				break
			}
			var row []float32
			for name := t.Next(); name != nil; name = t.Next() {
				if string(name) != "list_f" {
					t.unknown("ListFloat", name)
					continue
				}
				for v := scan.ValuesStart; t.More(&v); {
					row = append(row, t.Float())
				}
			}
			rows = append(rows, row)
		}
	}
	return t.FloatRows(rows)
}
