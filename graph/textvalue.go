package graph

// readAttrs reads the value of an attr field: map entries { key value }.
func (t *textReader) readAttrs() {
	for v := valuesStart; t.more(&v); {
		if !t.message() {
			return
		}
		var a Attr
		for name := t.next(); name != nil; name = t.next() {
			switch string(name) {
			case "key":
				for v := valuesStart; t.more(&v); {
					a.key = t.attrKey(t.str())
				}
			case "value":
				for v := valuesStart; t.more(&v); {
					if t.message() {
						a.Value = t.readValue()
					}
				}
			default:
				t.unknown("an attribute entry", name)
			}
		}
		if a.Value == nil {
			a.Value = missing
		}
		t.attrStack = append(t.attrStack, a)
	}
}

// missing stands for an attribute without value.
var missing = &Value{}

// readValue reads an AttrDef. Of several branches the last counts, as for every oneof.
func (t *textReader) readValue() *Value {
	out := missing
	for {
		name := t.next()
		if name == nil {
			return out
		}
		known := true
		switch string(name) {
		case "s":
			for v := valuesStart; t.more(&v); {
				out = t.textValue(t.str())
			}
		case "i":
			for v := valuesStart; t.more(&v); {
				out = t.intValue(t.int())
			}
		case "b":
			for v := valuesStart; t.more(&v); {
				out = t.boolValue(t.bool())
			}
		case "f":
			for v := valuesStart; t.more(&v); {
				out = t.floatValue(t.float())
			}
		case "bt":
			for v := valuesStart; t.more(&v); {
				out = t.numValue(KindBytes, t.blob())
			}
		case "dt":
			for v := valuesStart; t.more(&v); {
				out = t.numValue(KindDType, t.int())
			}
		case "expression":
			for v := valuesStart; t.more(&v); {
				out = t.value(Value{kind: KindExpression, str: t.intern(t.str())})
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
			for v := valuesStart; t.more(&v); {
				if !t.message() {
					return out
				}
				switch kind {
				case "list":
					out = t.readList()
				case "func":
					out = t.value(Value{kind: KindFunc, ext: t.readFunc()})
				case "td":
					out = t.value(Value{kind: KindTensorDesc, ext: t.readDescPtr()})
				case "t":
					out = t.value(Value{kind: KindTensor, ext: t.readTensor()})
				case "g":
					out = t.value(Value{kind: KindGraph, ext: t.readGraph()})
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

func (t *textReader) readFunc() *NamedAttrs {
	f := &NamedAttrs{}
	mark := len(t.attrStack)
	for {
		switch name := t.next(); string(name) {
		case "":
			f.Attrs = t.takeAttrs(&t.attrStack, mark)
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

func (t *textReader) readDescPtr() *TensorDesc {
	i := len(t.inStack)
	t.inStack = append(t.inStack, TensorDesc{})
	t.readDesc(&t.inStack, i)
	d := t.inStack[i]
	t.inStack[i] = TensorDesc{}
	t.inStack = t.inStack[:i]
	return &d
}

func (t *textReader) readTensor() *Tensor {
	x := &Tensor{}
	for {
		switch name := t.next(); string(name) {
		case "":
			return x
		case "desc":
			for v := valuesStart; t.more(&v); {
				if t.message() {
					x.Desc = t.readDescPtr()
				}
			}
		case "data":
			for v := valuesStart; t.more(&v); {
				x.DataLen = t.blob()
			}
		default:
			t.unknown("TensorDef", name)
		}
	}
}

// readList reads a ListValue. Lists inside lists exist only through td, t, g and na; the scratch list
// is then taken by the outer one.
func (t *textReader) readList() *Value {
	l := &t.list
	if t.listBusy {
		l = &list{}
	}
	outer := t.listBusy
	t.listBusy = true
	l.reset()
	for {
		switch name := t.next(); string(name) {
		case "":
			t.listBusy = outer
			if l.mixed {
				t.warn(Warning{Line: t.line(), Offset: t.offset(), Msg: mixedList})
			}
			return t.listValue(l)
		case "s":
			for v := valuesStart; t.more(&v); {
				p := t.str()
				if l.is(KindString) {
					l.strs = append(l.strs, t.intern(p))
				}
			}
		case "i":
			t.listInts(l, KindInt)
		case "dt":
			t.listInts(l, KindDType)
		case "f":
			for v := valuesStart; t.more(&v); {
				if f := t.float(); l.is(KindFloat) {
					l.floats = append(l.floats, f)
				}
			}
		case "b":
			for v := valuesStart; t.more(&v); {
				if x := t.bool(); l.is(KindBool) {
					l.bools = append(l.bools, x)
				}
			}
		case "bt":
			for v := valuesStart; t.more(&v); {
				if n := t.blob(); l.is(KindBytes) {
					l.ints = append(l.ints, n)
				}
			}
		case "td":
			for v := valuesStart; t.more(&v); {
				if t.message() {
					if d := t.readDescPtr(); l.is(KindTensorDesc) {
						l.descs = append(l.descs, d)
					}
				}
			}
		case "t":
			for v := valuesStart; t.more(&v); {
				if t.message() {
					if x := t.readTensor(); l.is(KindTensor) {
						l.tens = append(l.tens, x)
					}
				}
			}
		case "g":
			for v := valuesStart; t.more(&v); {
				if t.message() {
					if g := t.readGraph(); l.is(KindGraph) {
						l.graphs = append(l.graphs, g)
					}
				}
			}
		case "na":
			for v := valuesStart; t.more(&v); {
				if t.message() {
					if f := t.readFunc(); l.is(KindFunc) {
						l.funcs = append(l.funcs, f)
					}
				}
			}
		case "val_type":
			for v := valuesStart; t.more(&v); {
				l.vt = listType(t.enum())
			}
		default:
			t.unknown("ListValue", name)
		}
	}
}

func (t *textReader) listInts(l *list, k Kind) {
	for v := valuesStart; t.more(&v); {
		if n := t.int(); l.is(k) {
			l.ints = append(l.ints, n)
		}
	}
}

func (t *textReader) readListListInt() *Value {
	var rows [][]int64
	for name := t.next(); name != nil; name = t.next() {
		if string(name) != "list_list_i" {
			t.unknown("ListListInt", name)
			continue
		}
		for v := valuesStart; t.more(&v); {
			if !t.message() {
				break
			}
			mark := len(t.intStack)
			for name := t.next(); name != nil; name = t.next() {
				if string(name) != "list_i" {
					t.unknown("ListInt", name)
					continue
				}
				for v := valuesStart; t.more(&v); {
					t.intStack = append(t.intStack, t.int())
				}
			}
			rows = append(rows, t.intList(t.intStack[mark:]))
			t.intStack = t.intStack[:mark]
		}
	}
	return t.intRows(rows)
}

func (t *textReader) readListListFloat() *Value {
	var rows [][]float32
	for name := t.next(); name != nil; name = t.next() {
		if string(name) != "list_list_f" {
			t.unknown("ListListFloat", name)
			continue
		}
		for v := valuesStart; t.more(&v); {
			if !t.message() {
				break
			}
			var row []float32
			for name := t.next(); name != nil; name = t.next() {
				if string(name) != "list_f" {
					t.unknown("ListFloat", name)
					continue
				}
				for v := valuesStart; t.more(&v); {
					row = append(row, t.float())
				}
			}
			rows = append(rows, row)
		}
	}
	return t.value(Value{kind: KindListListFloat, num: uint64(len(rows)), ext: rows})
}
