package graph

import (
	"math"
	"strconv"
)

// readList reads a ListValue. An element of the wrong type makes the whole list invalid.
func (j *jsonReader) readList() *Value {
	var l list
	l.reset()
	bad := ""
	j.enter('{', "list")
	for key := j.key(); key != nil; key = j.key() {
		switch name := string(key); name {
		case "s":
			j.listOf(&l, KindString, '"', name, &bad, func() { l.strs = append(l.strs, j.text("s")) })
		case "i":
			j.listOf(&l, KindInt, '0', name, &bad, func() { l.ints = append(l.ints, j.int("i")) })
		case "dt":
			j.listOf(&l, KindDType, '0', name, &bad, func() { l.ints = append(l.ints, j.int("dt")) })
		case "b":
			j.listOf(&l, KindBool, 't', name, &bad, func() { l.bools = append(l.bools, string(j.word()) == "true") })
		case "f":
			j.listOf(&l, KindFloat, 'f', name, &bad, func() {
				if j.peek() == 'n' { // JSON has no numbers for inf and nan
					j.word()
					l.floats = append(l.floats, float32(math.NaN()))
					return
				}
				f, _ := j.floatBranch().Float()
				l.floats = append(l.floats, f)
			})
		case "td":
			j.listOf(&l, KindTensorDesc, '{', name, &bad, func() {
				d := j.readDesc("td")
				l.descs = append(l.descs, &d)
			})
		case "t":
			j.listOf(&l, KindTensor, '{', name, &bad, func() { l.tens = append(l.tens, j.readTensor()) })
		case "na":
			j.listOf(&l, KindFunc, '{', name, &bad, func() { l.funcs = append(l.funcs, j.readFunc()) })
		case "g":
			j.listOf(&l, KindGraph, '{', name, &bad, func() { l.graphs = append(l.graphs, j.readGraph()) })
		case "val_type":
			if j.peek() == '"' {
				l.vt = listType(j.str())
			} else {
				j.skip()
			}
		default:
			j.skip()
		}
	}
	if bad != "" {
		return j.invalid(bad)
	}
	return j.listValue(&l)
}

// listOf reads one array of a list. first is the byte its elements start with (0 integer, t bool, f number).
func (j *jsonReader) listOf(l *list, k Kind, first byte, name string, bad *string, read func()) {
	if c := j.peek(); c != '[' {
		*bad = "list." + name + " is " + describeJSON(c) + ", expected an array"
		j.skip()
		return
	}
	j.enter('[', name)
	for j.elem() {
		c := j.peek()
		num := c == '-' || c >= '0' && c <= '9'
		ok := c == first
		switch first {
		case '0':
			ok = num && j.isInt()
		case 't':
			ok = c == 't' || c == 'f'
		case 'f':
			ok = num || c == '"' || c == 'N' || c == 'I' || c == 'n'
		}
		switch {
		case !ok:
			if *bad == "" {
				*bad = "element of list." + name + " is " + describeJSON(c)
			}
			j.skip()
		case l.is(k):
			read()
		default:
			j.skip()
		}
	}
}

func (j *jsonReader) readListListInt() *Value {
	var rows [][]int64
	bad := j.listRows("list_list_int", "list_list_i", "list_i", func(filled bool) {
		var row []int64
		if filled {
			j.optInts(&row, "list_i")
		}
		rows = append(rows, j.intList(row))
	})
	if bad != "" {
		return j.invalid(bad)
	}
	return j.intRows(rows)
}

func (j *jsonReader) readListListFloat() *Value {
	var rows [][]float32
	bad := j.listRows("list_list_float", "list_list_f", "list_f", func(filled bool) {
		var row []float32
		if filled && j.peek() == '[' {
			j.enter('[', "list_f")
			for j.elem() {
				f, _ := j.floatBranch().Float()
				row = append(row, f)
			}
		} else if filled {
			j.odd("list_f")
		}
		rows = append(rows, row)
	})
	if bad != "" {
		return j.invalid(bad)
	}
	return j.value(Value{kind: KindListListFloat, num: uint64(len(rows)), ext: rows})
}

// listRows walks { outer: [ { inner: … }, … ] } and calls row once for each
// element, at its inner value if it has one.
func (j *jsonReader) listRows(what, outer, inner string, row func(filled bool)) (bad string) {
	j.enter('{', what)
	for key := j.key(); key != nil; key = j.key() {
		if string(key) != outer {
			j.skip()
			continue
		}
		if c := j.peek(); c != '[' {
			bad = outer + " is " + describeJSON(c)
			j.skip()
			continue
		}
		j.enter('[', outer)
		for j.elem() {
			if c := j.peek(); c != '{' {
				bad = "element of " + outer + " is " + describeJSON(c)
				j.skip()
				continue
			}
			j.enter('{', outer)
			filled := false
			for key := j.key(); key != nil; key = j.key() {
				if string(key) == inner && !filled {
					filled = true
					row(true)
				} else {
					j.skip()
				}
			}
			if !filled {
				row(false)
			}
		}
	}
	return bad
}

// plainValue reads a short attribute value: the JSON type stands for the branch.
func (j *jsonReader) plainValue() *Value {
	switch c := j.peek(); c {
	case '"':
		return j.textValue(j.str())
	case 't', 'f':
		return j.boolValue(string(j.word()) == "true")
	case 'n':
		j.word()
		return j.empty
	case '{':
		return j.readValue()
	case '[':
		return j.plainList()
	default:
		w := string(j.word())
		if n, err := strconv.ParseInt(w, 10, 64); err == nil {
			return j.intValue(n)
		}
		f, _ := strconv.ParseFloat(w, 32)
		return j.floatValue(float32(f))
	}
}

func (j *jsonReader) plainList() *Value {
	var l list
	var rows [][]int64
	l.reset()
	j.enter('[', "attribute value")
	for j.elem() {
		switch c := j.peek(); {
		case c == '"' && l.is(KindString):
			l.strs = append(l.strs, j.intern(j.str()))
		case (c == 't' || c == 'f') && l.is(KindBool):
			l.bools = append(l.bools, string(j.word()) == "true")
		case c == '[':
			var row []int64
			j.optInts(&row, "row of an attribute value")
			rows = append(rows, j.intList(row))
		case (c == '-' || c >= '0' && c <= '9') && l.elem != KindFloat && j.isInt() && l.is(KindInt):
			l.ints = append(l.ints, j.int("element of an attribute value"))
		case (c == '-' || c >= '0' && c <= '9') && (l.elem == KindFloat || l.elem == KindEmpty || l.elem == KindInt):
			if l.elem == KindInt { // 1, 0.5: numbers written without a point
				for _, n := range l.ints {
					l.floats = append(l.floats, float32(n))
				}
				l.ints = l.ints[:0]
			}
			l.elem = KindFloat
			f, _ := j.floatBranch().Float()
			l.floats = append(l.floats, f)
		default:
			j.skip()
		}
	}
	if rows != nil {
		return j.intRows(rows)
	}
	return j.listValue(&l)
}
