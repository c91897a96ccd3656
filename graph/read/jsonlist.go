package read

import (
	"math"
	"strconv"

	"precision/graph"
	"precision/graph/internal/scan"
)

// readList reads a ListValue. An element of the wrong type makes the whole list invalid.
func (j *jsonReader) readList() *graph.Value {
	var l graph.List
	l.Reset()
	bad := ""
	j.Enter('{', "list")
	for key := j.Key(); key != nil; key = j.Key() {
		switch name := string(key); name {
		case "s":
			j.listOf(&l, graph.KindString, '"', name, &bad, func() { l.Texts = append(l.Texts, j.text("s")) })
		case "i":
			j.listOf(&l, graph.KindInt, '0', name, &bad, func() { l.Ints = append(l.Ints, j.int("i")) })
		case "dt":
			j.listOf(&l, graph.KindDType, '0', name, &bad, func() { l.Ints = append(l.Ints, j.int("dt")) })
		case "b":
			j.listOf(&l, graph.KindBool, 't', name, &bad, func() { l.Bools = append(l.Bools, string(j.Word()) == "true") })
		case "f":
			j.listOf(&l, graph.KindFloat, 'f', name, &bad, func() {
				if j.Peek() == 'n' { // JSON has no numbers for inf and nan
					j.Word()
					l.Floats = append(l.Floats, float32(math.NaN()))
					return
				}
				f, _ := j.floatBranch().Float()
				l.Floats = append(l.Floats, f)
			})
		case "td":
			j.listOf(&l, graph.KindTensorDesc, '{', name, &bad, func() {
				d := j.readDesc("td")
				l.Descs = append(l.Descs, &d)
			})
		case "t":
			j.listOf(&l, graph.KindTensor, '{', name, &bad, func() { l.Tensors = append(l.Tensors, j.readTensor()) })
		case "na":
			j.listOf(&l, graph.KindFunc, '{', name, &bad, func() { l.Funcs = append(l.Funcs, j.readFunc()) })
		case "g":
			j.listOf(&l, graph.KindGraph, '{', name, &bad, func() { l.Graphs = append(l.Graphs, j.readGraph()) })
		case "val_type":
			if j.Peek() == '"' {
				l.ValType = graph.ListTypeNumber(j.Str())
			} else {
				j.Skip()
			}
		default:
			j.Skip()
		}
	}
	if bad != "" {
		return j.Invalid(bad)
	}
	return j.ListValue(&l)
}

// listOf reads one array of a list. first is the byte its elements start with (0 integer, t bool, f number).
func (j *jsonReader) listOf(l *graph.List, k graph.Kind, first byte, name string, bad *string, read func()) {
	if c := j.Peek(); c != '[' {
		*bad = "list." + name + " is " + scan.DescribeJSON(c) + ", expected an array"
		j.Skip()
		return
	}
	j.Enter('[', name)
	for j.Elem() {
		c := j.Peek()
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
				*bad = "element of list." + name + " is " + scan.DescribeJSON(c)
			}
			j.Skip()
		case l.Is(k):
			read()
		default:
			j.Skip()
		}
	}
}

func (j *jsonReader) readListListInt() *graph.Value {
	var rows [][]int64
	bad := j.listRows("list_list_int", "list_list_i", "list_i", func(filled bool) {
		var row []int64
		if filled {
			j.optInts(&row, "list_i")
		}
		rows = append(rows, j.IntList(row))
	})
	if bad != "" {
		return j.Invalid(bad)
	}
	return j.IntRows(rows)
}

func (j *jsonReader) readListListFloat() *graph.Value {
	var rows [][]float32
	bad := j.listRows("list_list_float", "list_list_f", "list_f", func(filled bool) {
		var row []float32
		if filled && j.Peek() == '[' {
			j.Enter('[', "list_f")
			for j.Elem() {
				f, _ := j.floatBranch().Float()
				row = append(row, f)
			}
		} else if filled {
			j.odd("list_f")
		}
		rows = append(rows, row)
	})
	if bad != "" {
		return j.Invalid(bad)
	}
	return j.FloatRows(rows)
}

// listRows walks { outer: [ { inner: … }, … ] } and calls row once for each
// element, at its inner value if it has one.
func (j *jsonReader) listRows(what, outer, inner string, row func(filled bool)) (bad string) {
	j.Enter('{', what)
	for key := j.Key(); key != nil; key = j.Key() {
		if string(key) != outer {
			j.Skip()
			continue
		}
		if c := j.Peek(); c != '[' {
			bad = outer + " is " + scan.DescribeJSON(c)
			j.Skip()
			continue
		}
		j.Enter('[', outer)
		for j.Elem() {
			if c := j.Peek(); c != '{' {
				bad = "element of " + outer + " is " + scan.DescribeJSON(c)
				j.Skip()
				continue
			}
			j.Enter('{', outer)
			filled := false
			for key := j.Key(); key != nil; key = j.Key() {
				if string(key) == inner && !filled {
					filled = true
					row(true)
				} else {
					j.Skip()
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
func (j *jsonReader) plainValue() *graph.Value {
	switch c := j.Peek(); c {
	case '"':
		return j.TextValue(j.Str())
	case 't', 'f':
		return j.BoolValue(string(j.Word()) == "true")
	case 'n':
		j.Word()
		return j.Empty
	case '{':
		return j.readValue()
	case '[':
		return j.plainList()
	default:
		w := string(j.Word())
		if n, err := strconv.ParseInt(w, 10, 64); err == nil {
			return j.IntValue(n)
		}
		f, _ := strconv.ParseFloat(w, 32)
		return j.FloatValue(float32(f))
	}
}

func (j *jsonReader) plainList() *graph.Value {
	var l graph.List
	var rows [][]int64
	l.Reset()
	j.Enter('[', "attribute value")
	for j.Elem() {
		switch c := j.Peek(); {
		case c == '"' && l.Is(graph.KindString):
			l.Texts = append(l.Texts, j.Intern(j.Str()))
		case (c == 't' || c == 'f') && l.Is(graph.KindBool):
			l.Bools = append(l.Bools, string(j.Word()) == "true")
		case c == '[':
			var row []int64
			j.optInts(&row, "row of an attribute value")
			rows = append(rows, j.IntList(row))
		case (c == '-' || c >= '0' && c <= '9') && l.Elem != graph.KindFloat && j.isInt() && l.Is(graph.KindInt):
			l.Ints = append(l.Ints, j.int("element of an attribute value"))
		case (c == '-' || c >= '0' && c <= '9') && (l.Elem == graph.KindFloat || l.Elem == graph.KindEmpty || l.Elem == graph.KindInt):
			if l.Elem == graph.KindInt { // 1, 0.5: numbers written without a point
				for _, n := range l.Ints {
					l.Floats = append(l.Floats, float32(n))
				}
				l.Ints = l.Ints[:0]
			}
			l.Elem = graph.KindFloat
			f, _ := j.floatBranch().Float()
			l.Floats = append(l.Floats, f)
		default:
			j.Skip()
		}
	}
	if rows != nil {
		return j.IntRows(rows)
	}
	return j.ListValue(&l)
}
