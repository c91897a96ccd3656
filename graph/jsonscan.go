package graph

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonScanner is a pull scanner for JSON. As with textScanner the first fault sticks and ends all loops.
type jsonScanner struct {
	window
	err     *Error
	depth   int
	first   [jsonDepth + 1]bool
	array   [jsonDepth + 1]bool
	open    [jsonDepth + 1]int
	scratch []byte
}

// Each message level of a graph takes up to three JSON levels (object, array, value object).
const jsonDepth = 3 * maxDepth

func (j *jsonScanner) failf(format string, args ...any) {
	if j.err != nil {
		return
	}
	j.err = &Error{Line: j.line(), Offset: j.offset(), Code: CodeRuleFile, Msg: fmt.Sprintf(format, args...)}
	if j.window.err != nil {
		j.err.Msg = "read: " + j.window.err.Error()
	}
}

// peek returns the next byte after blanks, 0 at the end of the file or after a fault.
func (j *jsonScanner) peek() byte {
	if j.err != nil {
		return 0
	}
	for {
		buf, p := j.buf, j.pos
		for buf[p] == ' ' || buf[p] == '\n' || buf[p] == '\r' || buf[p] == '\t' {
			p++
		}
		j.pos = p
		if p < j.end {
			return buf[p]
		}
		if !j.fill() {
			return 0
		}
	}
}

// describe names the value at the next byte.
func describeJSON(c byte) string {
	switch {
	case c == 0:
		return "end of file"
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
	return strconv.QuoteRune(rune(c))
}

// enter opens an object or array; what names it in errors.
func (j *jsonScanner) enter(c byte, what string) bool {
	if got := j.peek(); got != c {
		j.failf("%s is %s, expected %s", what, describeJSON(got), describeJSON(c))
		return false
	}
	if j.depth == jsonDepth {
		j.failf("values nested deeper than %d", jsonDepth)
		return false
	}
	j.pos++
	j.depth++
	j.first[j.depth] = true
	j.array[j.depth] = c == '['
	j.open[j.depth] = j.line()
	return true
}

// sep reads the comma before the next member or the closing byte; false at the end.
func (j *jsonScanner) sep(end byte) bool {
	c := j.peek()
	if c == end {
		j.pos++
		j.depth--
		return false
	}
	if c == 0 && j.pos >= j.end {
		j.failf("file ends inside the value opened at line %d", j.open[j.depth])
		return false
	}
	if j.first[j.depth] {
		j.first[j.depth] = false
		return j.err == nil
	}
	if c != ',' {
		j.failf("found %s, expected \",\" or %q (value opened at line %d)", describeJSON(c), end, j.open[j.depth])
		return false
	}
	j.pos++
	return true
}

// elem advances to the next element of the open array.
func (j *jsonScanner) elem() bool { return j.err == nil && j.sep(']') }

// key advances to the next member of the open object and returns its key, nil at the end. An empty key is
// returned as a non-nil empty slice.
func (j *jsonScanner) key() []byte {
	if j.err != nil || !j.sep('}') {
		return nil
	}
	if c := j.peek(); c != '"' {
		j.failf("found %s, expected a key", describeJSON(c))
		return nil
	}
	k := j.str()
	if j.err != nil {
		return nil
	}
	// The colon follows at once in practice; otherwise looking for it may move the buffer.
	if j.buf[j.pos] != ':' {
		j.scratch = append(j.scratch[:0], k...)
		k = j.scratch
		if c := j.peek(); c != ':' {
			j.failf("found %s, expected \":\" after a key", describeJSON(c))
			return nil
		}
	}
	j.pos++
	if k == nil {
		k = []byte{}
	}
	return k
}

// str reads the string at pos (the caller has seen the quote). It is valid until the next call of any method.
func (j *jsonScanner) str() []byte {
	j.pos++
	j.keep = j.pos
	escaped := false
	for {
		buf, p := j.buf, j.pos
		for class[buf[p]]&clsStop == 0 {
			p++
		}
		j.pos = p
		switch c := buf[p]; {
		case c == '"':
			out := buf[j.keep:p]
			j.pos++
			j.keep = -1
			if escaped {
				return j.unescape(out)
			}
			return out
		case c == '\n':
			j.failf("string without closing quote")
			j.keep = -1
			return nil
		case c == '\\' && p+1 < j.end:
			escaped = true
			j.pos = p + 2
		case c == '\\' || p >= j.end:
			if !j.fill() {
				j.keep = -1
				j.failf("file ends inside a string")
				return nil
			}
		default:
			j.pos++
		}
	}
}

func (j *jsonScanner) unescape(p []byte) []byte {
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
				j.failf("string with a broken \\u escape")
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
			j.failf("string with unknown escape \\%c", p[i])
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
func (j *jsonScanner) number() []byte {
	start, p := j.pos, j.pos
	for {
		for class[j.buf[p]]&clsNum != 0 {
			p++
		}
		if p < j.end {
			break
		}
		j.keep, j.pos = start, p
		more := j.fill()
		start, p = j.keep, j.pos
		j.keep = -1
		if !more {
			break
		}
	}
	j.pos = p
	w := j.buf[start:p]
	if len(w) == 0 {
		c := j.peek()
		j.failf("found %s, expected a value", describeJSON(c))
	}
	return w
}

// word reads true, false, null, a number, or one of the constants NaN, Infinity and -Infinity that some
// writers use; anything else is a fault.
func (j *jsonScanner) word() []byte {
	w := j.number()
	switch string(w) {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return w
	}
	if len(w) > 0 {
		if _, ok := decimal(w); !ok {
			if c := w[len(w)-1]; !(w[0] == '-' || w[0] >= '0' && w[0] <= '9') || c < '0' || c > '9' {
				j.failf("found %q, expected a value", clip(w))
			} else if _, err := strconv.ParseFloat(string(w), 64); err != nil && isSyntax(err) {
				j.failf("found %q, expected a number", clip(w))
			}
		}
	}
	return w
}

func isSyntax(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrSyntax
}

// skip passes over one value of any type.
func (j *jsonScanner) skip() {
	base := j.depth
	for j.err == nil {
		switch c := j.peek(); c {
		case '{', '[':
			j.enter(c, "value")
		case '"':
			j.str()
		default:
			j.word()
		}
		// Close what ends here and step to the next value.
		for j.err == nil && j.depth > base {
			if j.array[j.depth] {
				if j.elem() {
					break
				}
			} else if j.key() != nil {
				break
			}
		}
		if j.depth == base {
			return
		}
	}
}
