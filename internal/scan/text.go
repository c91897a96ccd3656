package scan

import (
	"bytes"
	"io"
	"strconv"
)

// MaxDepth bounds nesting; real graphs stay below ten.
const MaxDepth = 100

// Text cuts protobuf text form into fields and values. The first fault sticks: afterwards every
// loop over fields and values ends at once.
type Text struct {
	Window
	close   [MaxDepth + 1]byte // closing byte of each open message
	Open    [MaxDepth + 1]int  // its line
	Depth   int
	scratch []byte
}

// NewText returns a scanner of r.
func NewText(r io.Reader) *Text { return &Text{Window: newWindow(r, MaxToken)} }

const (
	clsName  = 1 << iota // part of a field name or word
	ClsSpace             // blank
	ClsNum               // part of a number
	clsStop              // may end a run of plain bytes in a string
)

var Class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = clsName | ClsNum
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
			t[c] = clsName | ClsNum
		case c == '-', c == '+', c == '.':
			t[c] = ClsNum
		case c == ' ', c == '\t', c == '\n', c == '\r', c == '\f', c == '\v':
			t[c] = ClsSpace
		}
		switch c {
		case '"', '\'', '\\', '\n', 0:
			t[c] |= clsStop
		}
	}
	return t
}()

// ws skips blanks and comments. Afterwards buf[pos] is the next byte, or 0 with pos == end at the end of
// the file.
func (s *Text) ws() {
	for {
		buf, p := s.Buf, s.Pos
		for Class[buf[p]]&ClsSpace != 0 {
			if buf[p] == '\n' {
				s.lines++
			}
			p = blanks(buf, p+1)
		}
		s.Pos = p
		if p >= s.End {
			if !s.Fill() {
				return
			}
			continue
		}
		if buf[p] != '#' {
			return
		}
		for {
			if i := bytes.IndexByte(s.Buf[s.Pos:s.End], '\n'); i >= 0 {
				s.Pos += i
				break
			}
			s.Pos = s.End
			if !s.Fill() {
				return
			}
		}
	}
}

// peek returns the next byte after blanks, 0 at the end of the file.
func (s *Text) peek() byte {
	c := s.Buf[s.Pos]
	if c <= ' ' || c == '#' {
		c = s.peekBlank()
	}
	return c
}

func (s *Text) peekBlank() byte {
	s.ws()
	if s.Pos >= s.End {
		return 0
	}
	return s.Buf[s.Pos]
}

// Next returns the name of the next field of the open message, or nil when the message ends; the closing
// byte is consumed. The name is valid until the next call of any method.
func (s *Text) Next() []byte {
	if s.Err != nil {
		return nil
	}
	c := s.Buf[s.Pos]
	if Class[c]&clsName == 0 {
		for c = s.peekBlank(); c == ',' || c == ';'; c = s.peek() {
			s.Pos++
		}
	}
	if Class[c]&clsName != 0 {
		return s.word(clsName)
	}
	switch {
	case s.Pos >= s.End:
		if s.Depth > 0 {
			s.Failf("file ends inside the message opened at line %d", s.Open[s.Depth])
		}
		return nil
	case s.Depth > 0 && c == s.close[s.Depth]:
		s.Pos++
		s.Depth--
		return nil
	case c == '[': // extension or Any: [type.googleapis.com/x] { … }
		start := s.Pos
		s.keep = start
		for s.Pos++; s.Pos < s.End || s.Fill(); s.Pos++ {
			if c := s.Buf[s.Pos]; c == ']' {
				s.Pos++
				name := s.Buf[s.keep:s.Pos]
				s.keep = -1
				return name
			} else if c == '\n' || c == '{' {
				break
			}
		}
		s.keep = -1
		s.Failf("extension name without closing bracket")
		return nil
	}
	if s.Depth == 0 {
		s.Failf("found %s, expected a field name", s.found(c))
	} else {
		s.Failf("found %s, expected a field name or %q (message opened at line %d)", s.found(c), s.close[s.Depth], s.Open[s.Depth])
	}
	return nil
}

// found names the next byte.
func (s *Text) found(c byte) Term {
	if c == 0 && s.Pos >= s.End {
		return endOfFile
	}
	return Term(strconv.QuoteRune(rune(c)))
}

// Value goes to the value of a field: name: v, or the first of name: [v, v]. found is false where the list is empty
// and after a fault.
//
//	for list, ok := s.Value(); ok; ok = list && s.More() { … read one value … }
func (s *Text) Value() (list, found bool) {
	if s.Err != nil {
		return false, false
	}
	c := s.Buf[s.Pos]
	if c == ' ' {
		c = s.peek()
	}
	colon := c == ':'
	if colon {
		s.Pos++
		if s.Buf[s.Pos] == ' ' {
			s.Pos++
		}
		c = s.Buf[s.Pos]
	}
	if c <= ' ' || c == '#' {
		if c = s.peek(); c == ':' && !colon {
			s.Pos++
			c = s.peek()
		}
	}
	if c != '[' {
		return false, true
	}
	s.Pos++
	if s.peek() == ']' {
		s.Pos++
		return true, false
	}
	return true, true
}

// More goes to the next value of a list; false at its end.
func (s *Text) More() bool {
	if s.Err != nil {
		return false
	}
	switch c := s.peek(); c {
	case ',':
		s.Pos++
		s.ws()
		return true
	case ']':
		s.Pos++
	default:
		s.Failf("found %s, expected \",\" or \"]\" in a list", s.found(c))
	}
	return false
}

// Message enters a message value.
func (s *Text) Message() bool {
	c := s.peek()
	var end byte
	switch c {
	case '{':
		end = '}'
	case '<':
		end = '>'
	default:
		s.Failf("found %s, expected a message", s.found(c))
		return false
	}
	if s.Depth == MaxDepth {
		s.Failf("messages nested deeper than %d", MaxDepth)
		return false
	}
	s.Pos++
	s.Depth++
	s.close[s.Depth] = end
	s.Open[s.Depth] = s.Line()
	return true
}

// Skip passes over the values of a field the schema does not know.
func (s *Text) Skip() {
	for list, ok := s.Value(); ok; ok = list && s.More() {
		s.SkipValue()
	}
}

// SkipValue passes over one value of any type.
func (s *Text) SkipValue() {
	switch c := s.peek(); {
	case c == '"' || c == '\'':
		s.Blob()
	case c == '{' || c == '<':
		if s.Message() {
			s.skipMessage()
		}
	default:
		s.number()
	}
}

// skipMessage passes over the rest of the message just entered.
func (s *Text) skipMessage() {
	for s.Next() != nil {
		s.Skip()
	}
}

// Clip shortens what an error quotes.
func Clip(p []byte) string {
	if len(p) > 40 {
		return string(p[:40]) + "…"
	}
	return string(p)
}
