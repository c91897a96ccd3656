package graph

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
)

var errTokenTooLong = errors.New("token longer than 256 MB")

// maxDepth bounds nesting; real graphs stay below ten.
const maxDepth = 100

// textScanner cuts protobuf text form into fields and values. The first fault sticks: afterwards every
// loop over fields and values ends at once.
type textScanner struct {
	window
	err     *Error
	close   [maxDepth + 1]byte // closing byte of each open message
	open    [maxDepth + 1]int  // its line
	depth   int
	scratch []byte
}

const (
	clsName  = 1 << iota // part of a field name or word
	clsSpace             // blank
	clsNum               // part of a number
	clsStop              // may end a run of plain bytes in a string
)

var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = clsName | clsNum
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
			t[c] = clsName | clsNum
		case c == '-', c == '+', c == '.':
			t[c] = clsNum
		case c == ' ', c == '\t', c == '\n', c == '\r', c == '\f', c == '\v':
			t[c] = clsSpace
		}
		switch c {
		case '"', '\'', '\\', '\n', 0:
			t[c] |= clsStop
		}
	}
	return t
}()

func (s *textScanner) failf(format string, args ...any) {
	if s.err != nil {
		return
	}
	s.err = &Error{Line: s.line(), Offset: s.offset(), Code: CodeRuleFile, Msg: fmt.Sprintf(format, args...)}
	if s.window.err != nil {
		s.err.Msg = s.window.err.Error()
	}
}

// ws skips blanks and comments. Afterwards buf[pos] is the next byte, or 0 with pos == end at the end of
// the file.
func (s *textScanner) ws() {
	for {
		buf, p := s.buf, s.pos
		for class[buf[p]]&clsSpace != 0 {
			p++
			// Lines start with long runs of blanks: take eight at a time.
			for {
				x := binary.LittleEndian.Uint64(buf[p:]) ^ 0x2020202020202020
				if x != 0 {
					p += bits.TrailingZeros64(x) >> 3
					break
				}
				p += 8
			}
		}
		s.pos = p
		if p >= s.end {
			if !s.fill() {
				return
			}
			continue
		}
		if buf[p] != '#' {
			return
		}
		for {
			if i := bytes.IndexByte(s.buf[s.pos:s.end], '\n'); i >= 0 {
				s.pos += i
				break
			}
			s.pos = s.end
			if !s.fill() {
				return
			}
		}
	}
}

// peek returns the next byte after blanks, 0 at the end of the file.
func (s *textScanner) peek() byte {
	if c := s.buf[s.pos]; c > ' ' && c != '#' {
		return c
	}
	return s.peekBlank()
}

func (s *textScanner) peekBlank() byte {
	s.ws()
	if s.pos >= s.end {
		return 0
	}
	return s.buf[s.pos]
}

// next returns the name of the next field of the open message, or nil when the message ends; the closing
// byte is consumed. The name is valid until the next call of any method.
func (s *textScanner) next() []byte {
	if s.err != nil {
		return nil
	}
	c := s.peek()
	for c == ',' || c == ';' {
		s.pos++
		c = s.peek()
	}
	if class[c]&clsName != 0 {
		return s.word(clsName)
	}
	switch {
	case s.pos >= s.end:
		if s.window.err != nil {
			s.failf("read: %v", s.window.err)
		} else if s.depth > 0 {
			s.failf("file ends inside the message opened at line %d", s.open[s.depth])
		}
		return nil
	case s.depth > 0 && c == s.close[s.depth]:
		s.pos++
		s.depth--
		return nil
	case c == '[': // extension or Any: [type.googleapis.com/x] { … }
		start := s.pos
		s.keep = start
		for s.pos++; s.pos < s.end || s.fill(); s.pos++ {
			if c := s.buf[s.pos]; c == ']' {
				s.pos++
				name := s.buf[s.keep:s.pos]
				s.keep = -1
				return name
			} else if c == '\n' || c == '{' {
				break
			}
		}
		s.keep = -1
		s.failf("extension name without closing bracket")
		return nil
	}
	s.failf("found %q, expected a field name%s", c, s.expectClose())
	return nil
}

func (s *textScanner) expectClose() string {
	if s.depth == 0 {
		return ""
	}
	return fmt.Sprintf(" or %q (message opened at line %d)", s.close[s.depth], s.open[s.depth])
}

// word returns the run of bytes of a class at pos.
func (s *textScanner) word(cls uint8) []byte {
	start, p := s.pos, s.pos
	for {
		for class[s.buf[p]]&cls != 0 {
			p++
		}
		if p < s.end {
			break
		}
		s.keep, s.pos = start, p
		more := s.fill()
		start, p = s.keep, s.pos
		s.keep = -1
		if !more {
			break
		}
	}
	s.pos = p
	return s.buf[start:p]
}

// values tells how the values of one field are written: name: v, or name: [v, v].
type values uint8

const (
	valuesStart values = iota
	valuesList
	valuesDone
)

// more advances to the next value of a field and reports whether there is one.
//
//	for v := valuesStart; s.more(&v); { … read one value … }
func (s *textScanner) more(v *values) bool {
	if s.err != nil {
		return false
	}
	switch *v {
	case valuesStart:
		c := s.peek()
		if c == ':' {
			s.pos++
			if s.buf[s.pos] == ' ' {
				s.pos++
			}
			c = s.peek()
		}
		if c == '[' {
			s.pos++
			if s.peek() == ']' {
				s.pos++
				*v = valuesDone
				return false
			}
			*v = valuesList
			return true
		}
		*v = valuesDone
		return true
	case valuesList:
		switch c := s.peek(); c {
		case ',':
			s.pos++
			s.ws()
			return true
		case ']':
			s.pos++
			*v = valuesDone
		default:
			s.failf("found %q, expected \",\" or \"]\" in a list", c)
		}
	}
	return false
}

// message enters a message value.
func (s *textScanner) message() bool {
	c := s.peek()
	var end byte
	switch c {
	case '{':
		end = '}'
	case '<':
		end = '>'
	default:
		s.failf("found %q, expected a message", c)
		return false
	}
	if s.depth == maxDepth {
		s.failf("messages nested deeper than %d", maxDepth)
		return false
	}
	s.pos++
	s.depth++
	s.close[s.depth] = end
	s.open[s.depth] = s.line()
	return true
}

// str returns a string value, decoded. It is valid until the next call of any method.
func (s *textScanner) str() []byte {
	q := s.peek()
	if q != '"' && q != '\'' {
		s.failf("found %q, expected a quoted string", q)
		return nil
	}
	s.pos++
	s.keep = s.pos
	esc, ok := s.quoteEnd(q)
	if !ok {
		return nil
	}
	n := s.pos - s.keep
	s.pos++
	c := s.peek()
	if !esc && c != '"' && c != '\'' {
		out := s.buf[s.keep : s.keep+n]
		s.keep = -1
		return out
	}
	s.scratch = s.scratch[:0]
	s.unescape(s.buf[s.keep : s.keep+n])
	for s.err == nil && (c == '"' || c == '\'') {
		s.pos++
		s.keep = s.pos
		if _, ok := s.quoteEnd(c); !ok {
			return nil
		}
		s.unescape(s.buf[s.keep:s.pos])
		s.pos++
		s.keep = -1
		c = s.peek()
	}
	s.keep = -1
	return s.scratch
}

// quoteEnd moves pos to the closing quote and reports whether a backslash occurred before it.
func (s *textScanner) quoteEnd(q byte) (escaped, ok bool) {
	for {
		buf, p := s.buf, s.pos
		for class[buf[p]]&clsStop == 0 {
			p++
		}
		s.pos = p
		switch c := buf[p]; {
		case c == q:
			return escaped, true
		case c == '\n':
			s.failf("string without closing quote")
			return escaped, false
		case c == '\\' && p+1 < s.end:
			escaped = true
			s.pos = p + 2
		case c == '\\' || p >= s.end:
			if !s.fill() {
				s.failf("file ends inside a string")
				return escaped, false
			}
		default:
			s.pos++
		}
	}
}

// blob skips a string value and returns the number of bytes it stands for.
func (s *textScanner) blob() int64 {
	var n int64
	for {
		q := s.peek()
		if q != '"' && q != '\'' {
			if n == 0 {
				s.failf("found %q, expected a quoted string", q)
			}
			return n
		}
		s.pos++
		m, ok := s.blobPiece(q)
		if !ok {
			return n
		}
		n += m
		if c := s.peek(); c != '"' && c != '\'' {
			return n
		}
	}
}

func (s *textScanner) blobPiece(q byte) (int64, bool) {
	var n int64
	for {
		buf, p, end := s.buf, s.pos, s.end
		for {
			c := buf[p]
			if c == '\\' {
				// An escape needs up to ten bytes; near the end read on first.
				if end-p < 10 && !s.eof {
					break
				}
				p++
				n++
				switch c := buf[p]; {
				case c >= '0' && c <= '7':
					p++
					for k := 0; k < 2 && buf[p] >= '0' && buf[p] <= '7'; k++ {
						p++
					}
				case c == 'x' || c == 'X':
					p++
					for k := 0; k < 2 && isHex(buf[p]); k++ {
						p++
					}
				case p >= end:
				default:
					p++
				}
				continue
			}
			if c == q {
				s.pos = p + 1
				return n, true
			}
			if c == '\n' || c == 0 && p >= end {
				break
			}
			p++
			n++
		}
		s.pos = min(p, end)
		if p < end && buf[p] == '\n' {
			s.failf("string without closing quote")
			return n, false
		}
		if !s.fill() && s.pos >= s.end {
			s.failf("file ends inside a string")
			return n, false
		}
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (s *textScanner) unescape(p []byte) {
	out, bad := cUnescape(s.scratch, p)
	s.scratch = out
	if bad >= 0 {
		s.failf("unknown escape \\%c in a string", p[bad])
	}
}

// number returns the text of a number or word (enum name, true, false, inf, nan).
func (s *textScanner) number() []byte {
	c := s.peek()
	if class[c]&clsNum == 0 {
		s.failf("found %q, expected a number or a word", c)
		return nil
	}
	w := s.word(clsNum)
	if len(w) == 1 && (w[0] == '-' || w[0] == '+') { // the number may stand apart: - 5
		sign := w[0]
		s.scratch = append(s.scratch[:0], sign)
		if class[s.peek()]&clsNum != 0 {
			w = s.word(clsNum)
			if sign == '+' {
				return w
			}
			s.scratch = append(s.scratch, w...)
		}
		return s.scratch
	}
	return w
}

func (s *textScanner) int() int64 {
	w := s.number()
	if s.err != nil {
		return 0
	}
	if n, ok := decimal(w); ok {
		return n
	}
	n, err := strconv.ParseInt(string(w), 0, 64)
	if err != nil {
		if u, uerr := strconv.ParseUint(string(w), 0, 64); uerr == nil {
			return int64(u)
		}
		s.failf("found %q, expected an integer", clip(w))
	}
	return n
}

// decimal parses a plain decimal number of at most 18 digits.
func decimal(w []byte) (int64, bool) {
	neg := false
	if len(w) > 0 && w[0] == '-' {
		neg = true
		w = w[1:]
	}
	if len(w) == 0 || len(w) > 18 || w[0] == '0' && len(w) > 1 {
		return 0, false
	}
	n := int64(0)
	for _, c := range w {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

func (s *textScanner) bool() bool {
	switch w := s.number(); string(w) {
	case "true", "True", "t", "1":
		return true
	case "false", "False", "f", "0":
		return false
	default:
		s.failf("found %q, expected true or false", clip(w))
		return false
	}
}

func (s *textScanner) float() float32 {
	w := s.number()
	if s.err != nil {
		return 0
	}
	t := string(w)
	f, err := strconv.ParseFloat(t, 32)
	if err != nil && !errors.Is(err, strconv.ErrRange) && len(t) > 1 && (t[len(t)-1] == 'f' || t[len(t)-1] == 'F') {
		f, err = strconv.ParseFloat(t[:len(t)-1], 32)
	}
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		if n, nerr := strconv.ParseInt(t, 0, 64); nerr == nil {
			return float32(n)
		}
		s.failf("found %q, expected a number", clip(w))
	}
	return float32(f)
}

// enum returns an enum value: a name, or a number as text.
func (s *textScanner) enum() []byte { return s.number() }

// skip passes over the values of a field the schema does not know.
func (s *textScanner) skip() {
	for v := valuesStart; s.more(&v); {
		s.skipValue()
	}
}

func (s *textScanner) skipValue() {
	switch c := s.peek(); {
	case c == '"' || c == '\'':
		s.blob()
	case c == '{' || c == '<':
		if s.message() {
			s.skipMessage()
		}
	default:
		s.number()
	}
}

// skipMessage passes over the rest of the message just entered.
func (s *textScanner) skipMessage() {
	for s.next() != nil {
		s.skip()
	}
}

func clip(p []byte) string {
	if len(p) > 40 {
		return string(p[:40]) + "…"
	}
	return string(p)
}
