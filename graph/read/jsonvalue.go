package read

import (
	"strconv"

	"precision/graph"
	"precision/graph/internal/scan"
)

func (j *jsonReader) readValue() *graph.Value {
	switch c := j.Peek(); c {
	case 'n':
		j.Word()
		return j.Empty
	case '{':
	default:
		j.Skip()
		return j.Invalid("\"value\" is " + scan.DescribeJSON(c) + ", expected an object")
	}
	j.Enter('{', "value")
	out := j.Empty
	for key := j.Key(); key != nil; key = j.Key() {
		switch string(key) {
		case "s":
			out = j.branch('"', "s", func() *graph.Value { return j.TextValue(j.escapedText()) })
		case "i":
			out = j.branch('0', "i", func() *graph.Value { return j.IntValue(j.int("i")) })
		case "dt":
			out = j.branch('0', "dt", func() *graph.Value { return j.NumValue(graph.KindDType, j.int("dt")) })
		case "b":
			out = j.branch('t', "b", func() *graph.Value { return j.BoolValue(string(j.Word()) == "true") })
		case "f":
			out = j.floatBranch()
		case "expression":
			out = j.branch('"', "expression", func() *graph.Value {
				return j.Expression(j.escapedText())
			})
		case "bt":
			out = j.branch('"', "bt", func() *graph.Value { return j.NumValue(graph.KindBytes, int64(len(j.Str()))) })
		case "list":
			out = j.branch('{', "list", j.readList)
		case "list_list_int":
			out = j.branch('{', "list_list_int", j.readListListInt)
		case "list_list_float":
			out = j.branch('{', "list_list_float", j.readListListFloat)
		case "td":
			out = j.branch('{', "td", func() *graph.Value {
				d := j.readDesc("td")
				return j.DescValue(&d)
			})
		case "t":
			out = j.branch('{', "t", func() *graph.Value { return j.TensorValue(j.readTensor()) })
		case "func":
			out = j.branch('{', "func", func() *graph.Value { return j.FuncValue(j.readFunc()) })
		case "g":
			out = j.branch('{', "g", func() *graph.Value { return j.GraphValue(j.readGraph()) })
		default:
			j.Skip()
		}
	}
	return out
}

// branch reads a member of a value if it starts as it should (want: 0 number, t bool), and makes an invalid
// value of it otherwise: whether that matters depends on the attribute.
func (j *jsonReader) branch(want byte, name string, read func() *graph.Value) *graph.Value {
	c := j.Peek()
	ok := c == want
	switch want {
	case '0':
		if c == '-' || c >= '0' && c <= '9' {
			if ok = j.isInt(); !ok {
				j.Skip()
				return j.Invalid(strconv.Quote(name) + " is not an integer")
			}
		}
	case 't':
		ok = c == 't' || c == 'f'
	}
	if ok {
		return read()
	}
	j.Skip()
	if c == 'n' {
		return j.Empty
	}
	want2 := scan.DescribeJSON(want)
	return j.Invalid(strconv.Quote(name) + " is " + scan.DescribeJSON(c) + ", expected " + want2)
}

// isInt looks ahead whether the number at pos is an integer.
func (j *jsonReader) isInt() bool {
	for j.End-j.Pos < 32 && j.Fill() {
	}
	for _, c := range j.Buf[j.Pos:min(j.Pos+32, j.End)] {
		switch {
		case c == '.' || c == 'e' || c == 'E':
			return false
		case scan.Class[c]&scan.ClsNum == 0:
			return true
		}
	}
	return true
}

func (j *jsonReader) floatBranch() *graph.Value {
	c := j.Peek()
	var w []byte
	switch {
	case c == '"':
		w = j.Str()
	case c == '-' || c >= '0' && c <= '9' || c == 'N' || c == 'I':
		w = j.Word()
	default:
		j.Skip()
		return j.Invalid(`"f" is ` + scan.DescribeJSON(c) + ", expected a number")
	}
	f, err := strconv.ParseFloat(string(w), 32)
	if err != nil && scan.IsSyntax(err) {
		return j.Invalid(`"f" is not a number`)
	}
	return j.FloatValue(float32(f))
}

// escapedText reads an s or expression value: atc C-escapes it before it escapes it for JSON. Text of other
// writers that is no valid C escape stays as it is.
func (j *jsonReader) escapedText() []byte {
	p := j.Str()
	for _, c := range p {
		if c == '\\' {
			out, bad := scan.CUnescape(j.conv[:0], p)
			j.conv = out
			if bad >= 0 {
				return p
			}
			return out
		}
	}
	return p
}

func (j *jsonReader) readFunc() *graph.NamedAttrs {
	f := &graph.NamedAttrs{}
	j.Enter('{', "func")
	for key := j.Key(); key != nil; key = j.Key() {
		switch string(key) {
		case "name":
			j.optText(&f.Name, "name of a func")
		case "attr":
			f.Attrs = j.attrMap()
		default:
			j.Skip()
		}
	}
	return f
}

func (j *jsonReader) readTensor() *graph.Tensor {
	t := &graph.Tensor{}
	j.Enter('{', "t")
	for key := j.Key(); key != nil; key = j.Key() {
		if string(key) == "desc" && j.Peek() == '{' {
			d := j.readDesc("desc")
			t.Desc = &d
		} else {
			j.Skip()
		}
	}
	return t
}

func (j *jsonReader) keyText() *string {
	if c := j.Peek(); c != '"' {
		j.Failf("key of an attribute is %s, expected a string", scan.DescribeJSON(c))
		return nil
	}
	return j.AttrKey(j.Str())
}
