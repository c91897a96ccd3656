package graph

import "strconv"

func (j *jsonReader) readValue() *Value {
	switch c := j.peek(); c {
	case 'n':
		j.word()
		return j.empty
	case '{':
	default:
		j.skip()
		return j.invalid("\"value\" is " + describeJSON(c) + ", expected an object")
	}
	j.enter('{', "value")
	out := j.empty
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "s":
			out = j.branch('"', "s", func() *Value { return j.textValue(j.escapedText()) })
		case "i":
			out = j.branch('0', "i", func() *Value { return j.intValue(j.int("i")) })
		case "dt":
			out = j.branch('0', "dt", func() *Value { return j.numValue(KindDType, j.int("dt")) })
		case "b":
			out = j.branch('t', "b", func() *Value { return j.boolValue(string(j.word()) == "true") })
		case "f":
			out = j.floatBranch()
		case "expression":
			out = j.branch('"', "expression", func() *Value {
				return j.value(Value{kind: KindExpression, str: j.intern(j.escapedText())})
			})
		case "bt":
			out = j.branch('"', "bt", func() *Value { return j.numValue(KindBytes, int64(len(j.str()))) })
		case "list":
			out = j.branch('{', "list", j.readList)
		case "list_list_int":
			out = j.branch('{', "list_list_int", j.readListListInt)
		case "list_list_float":
			out = j.branch('{', "list_list_float", j.readListListFloat)
		case "td":
			out = j.branch('{', "td", func() *Value {
				d := j.readDesc("td")
				return j.value(Value{kind: KindTensorDesc, ext: &d})
			})
		case "t":
			out = j.branch('{', "t", func() *Value { return j.value(Value{kind: KindTensor, ext: j.readTensor()}) })
		case "func":
			out = j.branch('{', "func", func() *Value { return j.value(Value{kind: KindFunc, ext: j.readFunc()}) })
		case "g":
			out = j.branch('{', "g", func() *Value { return j.value(Value{kind: KindGraph, ext: j.readGraph()}) })
		default:
			j.skip()
		}
	}
	return out
}

// branch reads a member of a value if it starts as it should (want: 0 number, t bool), and makes an invalid
// value of it otherwise: whether that matters depends on the attribute.
func (j *jsonReader) branch(want byte, name string, read func() *Value) *Value {
	c := j.peek()
	ok := c == want
	switch want {
	case '0':
		if c == '-' || c >= '0' && c <= '9' {
			if ok = j.isInt(); !ok {
				j.skip()
				return j.invalid(strconv.Quote(name) + " is not an integer")
			}
		}
	case 't':
		ok = c == 't' || c == 'f'
	}
	if ok {
		return read()
	}
	j.skip()
	if c == 'n' {
		return j.empty
	}
	want2 := describeJSON(want)
	return j.invalid(strconv.Quote(name) + " is " + describeJSON(c) + ", expected " + want2)
}

// isInt looks ahead whether the number at pos is an integer.
func (j *jsonReader) isInt() bool {
	for j.end-j.pos < 32 && j.fill() {
	}
	for _, c := range j.buf[j.pos:min(j.pos+32, j.end)] {
		switch {
		case c == '.' || c == 'e' || c == 'E':
			return false
		case class[c]&clsNum == 0:
			return true
		}
	}
	return true
}

func (j *jsonReader) floatBranch() *Value {
	c := j.peek()
	var w []byte
	switch {
	case c == '"':
		w = j.str()
	case c == '-' || c >= '0' && c <= '9' || c == 'N' || c == 'I':
		w = j.word()
	default:
		j.skip()
		return j.invalid(`"f" is ` + describeJSON(c) + ", expected a number")
	}
	f, err := strconv.ParseFloat(string(w), 32)
	if err != nil && isSyntax(err) {
		return j.invalid(`"f" is not a number`)
	}
	return j.floatValue(float32(f))
}

// escapedText reads an s or expression value: atc C-escapes it before it escapes it for JSON. Text of other
// writers that is no valid C escape stays as it is.
func (j *jsonReader) escapedText() []byte {
	p := j.str()
	for _, c := range p {
		if c == '\\' {
			out, bad := cUnescape(j.conv[:0], p)
			j.conv = out
			if bad >= 0 {
				return p
			}
			return out
		}
	}
	return p
}

func (j *jsonReader) readFunc() *NamedAttrs {
	f := &NamedAttrs{}
	j.enter('{', "func")
	for key := j.key(); key != nil; key = j.key() {
		switch string(key) {
		case "name":
			j.optText(&f.Name, "name of a func")
		case "attr":
			f.Attrs = j.attrMap()
		default:
			j.skip()
		}
	}
	return f
}

func (j *jsonReader) readTensor() *Tensor {
	t := &Tensor{}
	j.enter('{', "t")
	for key := j.key(); key != nil; key = j.key() {
		if string(key) == "desc" && j.peek() == '{' {
			d := j.readDesc("desc")
			t.Desc = &d
		} else {
			j.skip()
		}
	}
	return t
}

func (j *jsonReader) keyText() *string {
	if c := j.peek(); c != '"' {
		j.failf("key of an attribute is %s, expected a string", describeJSON(c))
		return nil
	}
	return j.attrKey(j.str())
}
