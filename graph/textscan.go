package graph

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
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
