package scan

import (
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"precision/graph"
)

// JSON is a pull scanner for JSON. As with [Text] the first fault sticks and ends all loops.
type JSON struct {
	window
	Depth   int
	first   [jsonDepth + 1]bool
	array   [jsonDepth + 1]bool
	Open    [jsonDepth + 1]int
	scratch []byte
}

// NewJSON returns a scanner of r.
func NewJSON(r io.Reader) *JSON { return &JSON{window: *newWindow(r)} }

// ReadErr returns what kept the scanner from reading on, nil at the plain end of the file.
func (w *window) ReadErr() error { return w.err }

// Each message level of a graph takes up to three JSON levels (object, array, value object).
const jsonDepth = 3 * MaxDepth

// Peek returns the next byte after blanks, 0 at the end of the file or after a fault.
func (j *JSON) Peek() byte {
	if j.Err != nil {
		return 0
	}
	for {
		buf, p := j.Buf, j.Pos
		for buf[p] <= ' ' && (buf[p] == ' ' || buf[p] == '\n' || buf[p] == '\r' || buf[p] == '\t') {
			if buf[p] == '\n' {
				j.lines++
			}
			p = blanks(buf, p+1)
		}
		j.Pos = p
		if p < j.End {
			return buf[p]
		}
		if !j.Fill() {
			return 0
		}
	}
}

const endOfFile graph.Term = "end of file"

// DescribeJSON names the value at the next byte.
func DescribeJSON(c byte) graph.Term {
	switch {
	case c == 0:
		return endOfFile
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == 't' || c == 'f':
		return "a bool"
	case c == 'n':
		return "null"
	case c == '-' || c >= '0' && c <= '9':
		return "a number"
	}
	return graph.Term(strconv.QuoteRune(rune(c)))
}

// Enter opens an object or array; what names it in errors.
func (j *JSON) Enter(c byte, what graph.Term) bool {
	if got := j.Peek(); got != c {
		j.Failf("%s is %s, expected %s", what, DescribeJSON(got), DescribeJSON(c))
		return false
	}
	if j.Depth == jsonDepth {
		j.Failf("values nested deeper than %d", jsonDepth)
		return false
	}
	j.Pos++
	j.Depth++
	j.first[j.Depth] = true
	j.array[j.Depth] = c == '['
	j.Open[j.Depth] = j.Line()
	return true
}

// sep reads the comma before the next member or the closing byte; false at the end.
func (j *JSON) sep(end byte) bool {
	c := j.Peek()
	if c == end {
		j.Pos++
		j.Depth--
		return false
	}
	if c == 0 && j.Pos >= j.End {
		j.Failf("file ends inside the value opened at line %d", j.Open[j.Depth])
		return false
	}
	if j.first[j.Depth] {
		j.first[j.Depth] = false
		return j.Err == nil
	}
	if c != ',' {
		j.Failf("found %s, expected \",\" or %q (value opened at line %d)", DescribeJSON(c), end, j.Open[j.Depth])
		return false
	}
	j.Pos++
	return true
}

// Elem advances to the next element of the open array.
func (j *JSON) Elem() bool { return j.Err == nil && j.sep(']') }

// Key advances to the next member of the open object and returns its key, nil at the end. An empty key is
// returned as a non-nil empty slice.
func (j *JSON) Key() []byte {
	if j.Err != nil || !j.sep('}') {
		return nil
	}
	if c := j.Peek(); c != '"' {
		j.Failf("found %s, expected a key", DescribeJSON(c))
		return nil
	}
	k := j.Str()
	if j.Err != nil {
		return nil
	}
	// The colon follows at once in practice; otherwise looking for it may move the buffer.
	if j.Buf[j.Pos] != ':' {
		j.scratch = append(j.scratch[:0], k...)
		k = j.scratch
		if c := j.Peek(); c != ':' {
			j.Failf("found %s, expected \":\" after a key", DescribeJSON(c))
			return nil
		}
	}
	j.Pos++
	if k == nil {
		k = []byte{}
	}
	return k
}

// Str reads the string at pos (the caller has seen the quote). It is valid until the next call of any method.
func (j *JSON) Str() []byte {
	j.Pos++
	j.keep = j.Pos
	escaped := false
	for {
		buf, p := j.Buf, j.Pos
		for Class[buf[p]]&clsStop == 0 {
			p++
		}
		j.Pos = p
		switch c := buf[p]; {
		case c == '"':
			out := buf[j.keep:p]
			j.Pos++
			j.keep = -1
			if escaped {
				return j.unescape(out)
			}
			return out
		case c == '\n':
			j.Failf("string without closing quote")
			j.keep = -1
			return nil
		case c == '\\' && p+1 < j.End:
			escaped = true
			j.escapedLine(buf[p+1])
			j.Pos = p + 2
		case c == '\\' || p >= j.End:
			if !j.Fill() {
				j.keep = -1
				j.Failf("file ends inside a string")
				return nil
			}
		default:
			j.Pos++
		}
	}
}

func (j *JSON) unescape(p []byte) []byte {
	out := j.scratch[:0]
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c != '\\' || i+1 == len(p) {
			out = append(out, c)
			continue
		}
		i++
		switch p[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case '"', '\\', '/':
			out = append(out, p[i])
		case 'u':
			r := hex4(p[i+1:])
			if r < 0 {
				j.Failf("string with a broken \\u escape")
				return nil
			}
			i += 4
			if utf16.IsSurrogate(r) && i+6 < len(p) && p[i+1] == '\\' && p[i+2] == 'u' {
				if r2 := utf16.DecodeRune(r, hex4(p[i+3:])); r2 != utf8.RuneError {
					r = r2
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			j.Failf("string with unknown escape \\%c", p[i])
			return nil
		}
	}
	j.scratch = out
	if out == nil {
		out = []byte{}
	}
	return out
}

func hex4(p []byte) rune {
	if len(p) < 4 {
		return -1
	}
	r := rune(0)
	for _, c := range p[:4] {
		if !isHex(c) {
			return -1
		}
		r = r<<4 | rune(hexDigit(c))
	}
	return r
}

// number returns the text of the number, word or constant at pos.
func (j *JSON) number() []byte {
	w := j.word(ClsNum)
	if len(w) == 0 {
		c := j.Peek()
		j.Failf("found %s, expected a value", DescribeJSON(c))
	}
	return w
}

// Word reads true, false, null, a number, or one of the constants NaN, Infinity and -Infinity that some
// writers use; anything else is a fault.
func (j *JSON) Word() []byte {
	w := j.number()
	switch string(w) {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return w
	}
	if len(w) > 0 {
		if _, ok := Decimal(w); !ok {
			if c := w[len(w)-1]; !(w[0] == '-' || w[0] >= '0' && w[0] <= '9') || c < '0' || c > '9' {
				j.Failf("found %q, expected a value", Clip(w))
			} else if _, err := strconv.ParseFloat(string(w), 64); err != nil && IsSyntax(err) {
				j.Failf("found %q, expected a number", Clip(w))
			}
		}
	}
	return w
}

// IsSyntax reports whether strconv found no number, rather than one out of range.
func IsSyntax(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrSyntax
}

// Skip passes over one value of any type.
func (j *JSON) Skip() {
	base := j.Depth
	for j.Err == nil {
		switch c := j.Peek(); c {
		case '{', '[':
			j.Enter(c, "value")
		case '"':
			j.Str()
		default:
			j.Word()
		}
		// Close what ends here and step to the next value.
		for j.Err == nil && j.Depth > base {
			if j.array[j.Depth] {
				if j.Elem() {
					break
				}
			} else if j.Key() != nil {
				break
			}
		}
		if j.Depth == base {
			return
		}
	}
}
