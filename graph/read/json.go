package read

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"

	"precision/graph"
	"precision/internal/scan"
)

// thing is what a value in JSON is for errors: the value of a field, or an element of its list.
type thing struct {
	name    graph.Term
	element bool
}

// argument is the thing as an argument of a message.
func (t thing) argument() any {
	if t.element {
		return graph.Messagef("element of %s", t.name)
	}
	return t.name
}

// jsonReader reads the JSON that atc prints (--mode=1 and --mode=5): messages are objects, repeated fields arrays,
// attribute maps arrays of objects with key and value.
//
// What fusion rules are taken from (names, types, ids, inputs, output descriptors, attribute lists) must have the
// right JSON type. Other members of an unexpected type are passed over with a warning; inside an attribute value they
// make that value invalid, which matters if somebody asks for it.
type jsonReader struct {
	*scan.JSON
	path  string
	to    *assembler
	plain bool // attribute maps are plain objects with short values, as in OM2 containers
	conv  []byte
	bad   string // what is wrong with the innermost attribute value that is read
}

func readJSON(r io.Reader, path string, plain bool) (*graph.Model, error) {
	m := &graph.Model{Path: path, Source: graph.SourceJSON, NoGraphs: true}
	j := &jsonReader{JSON: scan.NewJSON(r, scan.MaxToken), path: path, plain: plain}
	j.to = newAssembler(graph.NewBuilder(), m, j)
	j.to.tellsLists = true
	if j.Enter('{', "model") {
		j.message(modelDef)
	}
	j.to.endModel()
	if c := j.Peek(); c != 0 || j.Pos < j.End {
		j.Failf("found %s after the end of the model", scan.DescribeJSON(c))
	}
	return j.to.finish(j.Err)
}

func (j *jsonReader) warning(msg graph.Message) graph.Warning {
	return graph.Warning{Path: j.path, Line: j.Line(), Offset: j.Offset(), Msg: msg}
}

func (j *jsonReader) refuse(msg graph.Message) { j.Failf(msg.Format, msg.Args...) }

// message reads the members of the object just entered.
func (j *jsonReader) message(m *message) {
	line, offset := j.Open[j.Depth], j.Offset()
	for key := j.Key(); key != nil; key = j.Key() {
		f := m.named(key)
		switch {
		case f == nil || f.kind == kindSkipped:
			j.Skip()
		case f.many:
			j.array(m, f)
		default:
			j.value(m, f, thing{name: f.say})
		}
	}
	if m == attrEntry && j.to.attr.key == nil && j.Err == nil {
		j.Failf("attribute without \"key\"")
		j.Err.Line, j.Err.Offset = line, offset
	}
}

// array reads the array of a repeated field.
func (j *jsonReader) array(m *message, f *field) {
	c := j.Peek()
	switch {
	case j.plain && f.message == attrEntry && c == '{':
		j.plainAttrs()
		return
	case f.loose && (c == '{' || c == '"'):
		j.to.Warn(j.warning(graph.Messagef("%s is %s, skipped", f.say, scan.DescribeJSON(c))))
		j.Skip()
		return
	case c != '[' && !f.must:
		j.mismatch(m, f, thing{name: f.say}, anArray)
		return
	case !j.Enter('[', f.say):
		return
	}
	if f.start != nil {
		f.start(j.to)
	}
	what := f.element()
	for j.Elem() {
		j.value(m, f, what)
	}
}

// value reads one value of a field of m; what names it in errors.
func (j *jsonReader) value(m *message, f *field, what thing) {
	c := j.Peek()
	number := c == '-' || c >= '0' && c <= '9'
	switch f.kind {
	case kindMessage:
		if f.message == attrDef && c != '{' {
			j.noValue(c)
			return
		}
		if c == '{' {
			j.object(f, what.name)
			return
		}
		if c == '"' && f.loose { // an element that describes nothing, and counts
			j.Skip()
			j.to.begin(f.message, j.Line())
			j.to.end(f)
			return
		}
	case kindText:
		if c == '"' {
			p := j.Str()
			if f.escaped {
				p = j.unescape(p)
			}
			f.text(j.to, p)
			return
		}
	case kindInt:
		if number && (f.must || j.isInt()) {
			if n, ok := j.int(what); ok {
				f.int(j.to, n)
			}
			return
		}
		if f.must && (c == 't' || c == 'f') { // which are numbers to Python
			n := int64(0)
			if string(j.Word()) == "true" {
				n = 1
			}
			f.int(j.to, n)
			return
		}
	case kindBool:
		if c == 't' || c == 'f' {
			f.bool(j.to, string(j.Word()) == "true")
			return
		}
	case kindFloat:
		if number || c == '"' || c == 'N' || c == 'I' {
			j.float(m, f, what)
			return
		}
		if f.many && c == 'n' { // JSON has no numbers for infinity and NaN
			j.Word()
			f.float(j.to, float32(math.NaN()))
			return
		}
	case kindBlob:
		if c == '"' {
			f.blob(j.to, int64(len(j.Str())))
			return
		}
	case kindWord:
		if c == '"' {
			f.text(j.to, j.Str())
			return
		}
		if number && f.must {
			if n, ok := j.int(what); ok {
				f.int(j.to, n)
			}
			return
		}
	}
	if c == 'n' && m == attrDef && f.kind != kindFloat {
		j.Word()
		j.to.attr.value = j.to.Empty
		return
	}
	j.mismatch(m, f, what, expected(f, number))
}

// expected says what a field needs, after what was found instead.
func expected(f *field, number bool) graph.Term {
	switch f.kind {
	case kindMessage:
		return "an object"
	case kindInt:
		if f.must {
			return "an integer"
		}
		if number {
			return notInteger
		}
		return "a number"
	case kindBool:
		return "a bool"
	case kindFloat:
		return "a number"
	}
	return "a string"
}

const (
	anArray    graph.Term = "an array"
	notInteger graph.Term = "not an integer"
)

// mismatch deals with a value of the wrong type, which it passes over: a fault where rules need the field, else
// whatever suits the message.
func (j *jsonReader) mismatch(m *message, f *field, what thing, expected graph.Term) {
	found := scan.DescribeJSON(j.Peek())
	switch {
	case f.must, f.message == attrEntry && expected != anArray:
		j.Failf("%s is %s, expected %s", what.argument(), found, expected)
		return
	case m.onFault == passOver:
		j.to.Warn(j.warning(graph.Messagef("%s is %s, skipped", what.argument(), found)))
	case m == attrDef && expected == notInteger:
		j.to.attr.value = j.to.Invalid(strconv.Quote(f.name) + " is " + string(notInteger))
	case m == attrDef:
		j.to.attr.value = j.to.Invalid(fmt.Sprintf("%q is %s, expected %s", f.name, found, expected))
	case m.onFault == spoil && f.many && j.bad == "":
		j.bad = fmt.Sprintf("%s is %s", what.argument(), found)
		if !what.element {
			j.bad += ", expected " + string(expected)
		}
	}
	j.Skip()
}

// object reads a message. One that is spoilt makes an invalid value.
func (j *jsonReader) object(f *field, what graph.Term) {
	if !j.Enter('{', what) {
		return
	}
	outer := j.bad
	j.bad = ""
	j.to.begin(f.message, j.Open[j.Depth])
	j.message(f.message)
	j.to.end(f)
	if j.bad != "" && f.message.onFault == spoil {
		j.to.attr.value = j.to.Invalid(j.bad)
	}
	j.bad = outer
}

// noValue reads what stands in place of an attribute value.
func (j *jsonReader) noValue(c byte) {
	j.to.attr.value = j.to.Empty
	if c != 'n' {
		j.to.attr.value = j.to.Invalid("\"value\" is " + string(scan.DescribeJSON(c)) + ", expected an object")
	}
	j.Skip()
}

// int reads an integer; what names it in errors.
func (j *jsonReader) int(what thing) (int64, bool) {
	w := j.Word()
	if n, ok := scan.Decimal(w); ok {
		return n, true
	}
	n, err := strconv.ParseInt(string(w), 10, 64)
	if err == nil {
		return n, true
	}
	u, err := strconv.ParseUint(string(w), 10, 64)
	if err != nil {
		j.Failf("%s is %s, expected %s", what.argument(), scan.Clip(w), graph.Term("an integer"))
	}
	return int64(u), err == nil
}

// isInt looks ahead whether the number at pos is an integer.
func (j *jsonReader) isInt() bool {
	for _, c := range j.Ahead(32) {
		switch {
		case c == '.' || c == 'e' || c == 'E':
			return false
		case scan.Class[c]&scan.ClsNum == 0:
			return true
		}
	}
	return true
}

// float reads a number, which may be written as text.
func (j *jsonReader) float(m *message, f *field, what thing) {
	x, ok := j.parseFloat()
	switch {
	case ok:
		f.float(j.to, x)
	case m == attrDef:
		j.to.attr.value = j.to.Invalid(strconv.Quote(f.name) + " is not a number")
	case m.onFault == spoil:
		j.bad = fmt.Sprintf("%s is not a number", what.argument())
	default:
		j.to.Warn(j.warning(graph.Messagef("%s is not a number, skipped", what.argument())))
	}
}

func (j *jsonReader) parseFloat() (float32, bool) {
	var w []byte
	if j.Peek() == '"' {
		w = j.Str()
	} else {
		w = j.Word()
	}
	x, err := strconv.ParseFloat(string(w), 32)
	return float32(x), err == nil || !scan.IsSyntax(err)
}

// unescape decodes an s or expression value: atc C-escapes it before it escapes it for JSON. Text of other writers
// that is no valid C escape stays as it is.
func (j *jsonReader) unescape(p []byte) []byte {
	if bytes.IndexByte(p, '\\') < 0 {
		return p
	}
	out, bad := scan.CUnescape(j.conv[:0], p)
	j.conv = out
	if bad >= 0 {
		return p
	}
	return out
}
