package scan

import (
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is a pull scanner for JSON. As with [Text] the first fault sticks and ends all loops.
type JSON struct {
	Window
	Depth   int
	first   [maxJSONDepth + 1]bool
	array   [maxJSONDepth + 1]bool
	Open    [maxJSONDepth + 1]int // the line of each value that is open
	key     []byte
	scratch []byte
}

// maxJSONDepth bounds nesting. Each message level of a graph takes up to three levels of JSON (object, array, value object).
const maxJSONDepth = 3 * MaxDepth

// NewJSON returns a scanner of r that keeps at most limit bytes in memory, of a token or of what is held.
func NewJSON(r io.Reader, limit int) *JSON {
	return &JSON{Window: newWindow(r, limit), key: make([]byte, 0, 64)}
}

// Here returns the place of the next byte, for Back.
func (j *JSON) Here() Place { return Place{j.Offset(), j.Depth, j.lines} }

// Back returns to a place, as if nothing behind it had been read. It is held, see Hold.
func (j *JSON) Back(to Place) {
	j.Pos, j.Depth, j.lines, j.Err = int(to.Offset-j.base), to.Depth, to.lines, nil
}

// Place is where a scanner was.
type Place struct {
	Offset int64
	Depth  int
	lines  int
}

// fault notes what is wrong at the next byte; expected is what has to be there in a few words.
func (j *JSON) fault(format, expected string, args ...any) {
	if j.Err == nil {
		j.Failf(format, args...)
		j.Err.Expected = expected
	}
}

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

const endOfFile Term = "end of file"

// DescribeJSON names the value at the next byte.
func DescribeJSON(c byte) Term {
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
	return Term(strconv.QuoteRune(rune(c)))
}

// Enter opens an object or array; what names it in errors.
func (j *JSON) Enter(c byte, what Term) bool {
	if got := j.Peek(); got != c {
		j.fault("%s is %s, expected %s", string(c), what, DescribeJSON(got), DescribeJSON(c))
		return false
	}
	if j.Depth == maxJSONDepth {
		j.fault("values nested deeper than %d", "fewer values in each other", maxJSONDepth)
		return false
	}
	j.Pos++
	j.Depth++
	j.first[j.Depth] = true
	j.array[j.Depth] = c == '['
	j.Open[j.Depth] = j.Line()
	return true
}

// Leave passes over the byte that closes the open value, which the caller has seen.
func (j *JSON) Leave() {
	j.Pos++
	j.Depth--
}

// sep reads the comma before the next member or the closing byte; false at the end.
func (j *JSON) sep(end byte) bool {
	c := j.Peek()
	if c == end {
		j.Leave()
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
		j.fault("found %s, expected \",\" or %q (value opened at line %d)", "a comma or the end", DescribeJSON(c), end, j.Open[j.Depth])
		return false
	}
	j.Pos++
	return true
}

// Elem advances to the next element of the open array.
func (j *JSON) Elem() bool { return j.Err == nil && j.sep(']') }

// Key advances to the next member of the open object and returns its key, nil at the end. It is valid until more of the
// value is read than the first byte.
func (j *JSON) Key() []byte {
	if j.Err != nil || !j.sep('}') {
		return nil
	}
	if c := j.Peek(); c != '"' {
		j.fault("found %s, expected a key", "a text in quotes", DescribeJSON(c))
		return nil
	}
	k := j.Str()
	if b := j.Buf[j.Pos:]; b[0] == ':' && (b[1] > ' ' || b[1] == ' ' && b[2] > ' ') { // nearly all
		j.Pos++
		return k
	}
	k = append(j.key[:0], k...) // looking for the colon and the value may move the buffer
	j.key = k
	if !j.Colon() {
		return nil
	}
	j.Peek()
	return k
}

// Colon reads what stands behind a key.
func (j *JSON) Colon() bool {
	if c := j.Peek(); c != ':' {
		j.fault("found %s, expected \":\" after a key", ":", DescribeJSON(c))
		return false
	}
	j.Pos++
	return true
}

// Str reads the string at pos (the caller has seen the quote), decoded. It is valid until the next call of any method.
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
			j.fault("string without closing quote", "the quote that closes a text")
			j.keep = -1
			return nil
		case c == '\\' && p+1 < j.End:
			escaped = true
			j.escapedLine(buf[p+1])
			j.Pos = p + 2
		case c == '\\' || p >= j.End:
			if !j.Fill() {
				j.keep, j.Pos = -1, j.End
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
	for len(p) > 0 {
		c := p[0]
		if p = p[1:]; c != '\\' || len(p) == 0 {
			out = append(out, c)
			continue
		}
		c = p[0]
		p = p[1:]
		switch c {
		case 'n':
			c = '\n'
		case 't':
			c = '\t'
		case 'r':
			c = '\r'
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case '"', '\\', '/':
		case 'u':
			r := hex4(p)
			if r < 0 {
				j.Pos -= len(p) + 3
				j.fault("string with a broken \\u escape", "four hexadecimal digits behind \\u")
				return nil
			}
			p = p[4:]
			if utf16.IsSurrogate(r) && len(p) >= 6 && p[0] == '\\' && p[1] == 'u' {
				if r2 := utf16.DecodeRune(r, hex4(p[2:])); r2 != utf8.RuneError {
					r = r2
					p = p[6:]
				}
			}
			out = utf8.AppendRune(out, r)
			continue
		default:
			j.Pos -= len(p) + 3
			j.fault("string with unknown escape \\%c", "an escape of JSON", c)
			return nil
		}
		out = append(out, c)
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

// Unquoted reads a number or word, of which it looks at the letters alone.
func (j *JSON) Unquoted() []byte {
	c := j.Peek()
	w := j.word(ClsNum)
	if len(w) == 0 {
		j.fault("found %s, expected a value", "a value", DescribeJSON(c))
	}
	return w
}

// Word reads true, false, null, a number, or one of the constants NaN, Infinity and -Infinity that some
// writers use; anything else is a fault.
func (j *JSON) Word() []byte {
	w := j.Unquoted()
	switch string(w) {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return w
	}
	if len(w) == 0 {
		return w
	}
	if _, ok := Decimal(w); !ok {
		if c := w[len(w)-1]; !(w[0] == '-' || w[0] >= '0' && w[0] <= '9') || c < '0' || c > '9' {
			j.Return(w)
			j.fault("found %q, expected a value", "a value", Clip(w))
		} else if _, err := strconv.ParseFloat(string(w), 64); err != nil && IsSyntax(err) {
			j.Return(w)
			j.fault("found %q, expected a number", "a number", Clip(w))
		}
	}
	return w
}

// Return goes back before a word that was just read and is none, unless the file may have cut it short.
func (j *JSON) Return(w []byte) {
	if j.Pos < j.End {
		j.Pos -= len(w)
	}
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
