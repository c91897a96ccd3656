package scan

import (
	"encoding/binary"
	"errors"
	"strconv"
)

// Str returns a string value, decoded. It is valid until the next call of any method.
func (s *Text) Str() []byte {
	q := s.peek()
	if q != '"' && q != '\'' {
		s.Failf("found %s, expected a quoted string", s.found(q))
		return nil
	}
	s.Pos++
	s.keep = s.Pos
	esc, ok := s.quoteEnd(q)
	if !ok {
		return nil
	}
	n := s.Pos - s.keep
	s.Pos++
	c := s.peek()
	if !esc && c != '"' && c != '\'' {
		out := s.Buf[s.keep : s.keep+n]
		s.keep = -1
		return out
	}
	s.scratch = s.scratch[:0]
	s.unescape(s.Buf[s.keep : s.keep+n])
	for s.Err == nil && (c == '"' || c == '\'') {
		s.Pos++
		s.keep = s.Pos
		if _, ok := s.quoteEnd(c); !ok {
			return nil
		}
		s.unescape(s.Buf[s.keep:s.Pos])
		s.Pos++
		s.keep = -1
		c = s.peek()
	}
	s.keep = -1
	return s.scratch
}

// quoteEnd moves pos to the closing quote and reports whether a backslash occurred before it.
func (s *Text) quoteEnd(q byte) (escaped, ok bool) {
	for {
		buf, p := s.Buf, s.Pos
		for Class[buf[p]]&clsStop == 0 {
			p++
		}
		s.Pos = p
		switch c := buf[p]; {
		case c == q:
			return escaped, true
		case c == '\n':
			s.Failf("string without closing quote")
			return escaped, false
		case c == '\\' && p+1 < s.End:
			escaped = true
			s.escapedLine(buf[p+1])
			s.Pos = p + 2
		case c == '\\' || p >= s.End:
			if !s.Fill() {
				s.Failf("file ends inside a string")
				return escaped, false
			}
		default:
			s.Pos++
		}
	}
}

// Blob skips a string value and returns the number of bytes it stands for.
func (s *Text) Blob() (n int64) {
	for {
		q := s.peek()
		if q != '"' && q != '\'' {
			if n == 0 {
				s.Failf("found %s, expected a quoted string", s.found(q))
			}
			return n
		}
		s.Pos++
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

func (s *Text) blobPiece(q byte) (int64, bool) {
	var n int64
	for {
		buf, p, end := s.Buf, s.Pos, s.End
		for {
			c := buf[p]
			if c == '\\' {
				// An escape needs up to ten bytes; near the end read on first.
				if end-p < 10 && !s.eof {
					break
				}
				if n++; threeDigits(binary.LittleEndian.Uint32(buf[p:])) {
					// As GE writes them, most often many in a row.
					for p += 4; twoEscapes(binary.LittleEndian.Uint64(buf[p:])); p += 8 {
						n += 2
					}
					continue
				}
				p++
				switch c := buf[p]; {
				case octal(c):
					p++
					for k := 0; k < 2 && octal(buf[p]); k++ {
						p++
					}
				case c == 'x' || c == 'X':
					p++
					for k := 0; k < 2 && isHex(buf[p]); k++ {
						p++
					}
				case p >= end:
				default:
					s.escapedLine(c)
					p++
				}
				continue
			}
			if c == q {
				s.Pos = p + 1
				return n, true
			}
			if c == '\n' || c == 0 && p >= end {
				break
			}
			p++
			n++
		}
		s.Pos = min(p, end)
		if p < end && buf[p] == '\n' {
			s.Failf("string without closing quote")
			return n, false
		}
		if !s.Fill() && s.Pos >= s.End {
			s.Failf("file ends inside a string")
			return n, false
		}
	}
}

// threeDigits tells whether four bytes are a backslash and three octal digits, twoEscapes whether eight are that twice.
func threeDigits(w uint32) bool { return w&0xf8f8f8ff == 0x3030305c }
func twoEscapes(w uint64) bool  { return w&0xf8f8f8fff8f8f8ff == 0x3030305c3030305c }

func octal(c byte) bool { return c&^7 == '0' }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (s *Text) unescape(p []byte) {
	out, bad := CUnescape(s.scratch, p)
	s.scratch = out
	if bad >= 0 {
		s.Failf("unknown escape \\%c in a string", p[bad])
	}
}

// number returns the text of a number or word (enum name, true, false, inf, nan).
func (s *Text) number() []byte {
	c := s.peek()
	if Class[c]&ClsNum == 0 {
		s.Failf("found %s, expected a number or a word", s.found(c))
		return nil
	}
	w := s.word(ClsNum)
	if len(w) == 1 && (w[0] == '-' || w[0] == '+') { // the number may stand apart: - 5
		sign := w[0]
		s.scratch = append(s.scratch[:0], sign)
		if Class[s.peek()]&ClsNum != 0 {
			w = s.word(ClsNum)
			if sign == '+' {
				return w
			}
			s.scratch = append(s.scratch, w...)
		}
		return s.scratch
	}
	return w
}

// Int returns an integer: decimal, hexadecimal or octal.
func (s *Text) Int() int64 {
	w := s.number()
	if s.Err != nil {
		return 0
	}
	if n, ok := Decimal(w); ok {
		return n
	}
	n, err := strconv.ParseInt(string(w), 0, 64)
	if err != nil {
		if u, uerr := strconv.ParseUint(string(w), 0, 64); uerr == nil {
			return int64(u)
		}
		s.Failf("found %q, expected an integer", Clip(w))
	}
	return n
}

// Decimal parses a plain decimal number of at most 18 digits.
func Decimal(w []byte) (int64, bool) {
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

// Bool returns a truth value in one of the forms protobuf text allows.
func (s *Text) Bool() bool {
	switch w := s.number(); string(w) {
	case "true", "True", "t", "1":
		return true
	case "false", "False", "f", "0":
		return false
	default:
		s.Failf("found %q, expected true or false", Clip(w))
		return false
	}
}

// Float returns a number, inf or nan.
func (s *Text) Float() float32 {
	w := s.number()
	if s.Err != nil {
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
		s.Failf("found %q, expected a number", Clip(w))
	}
	return float32(f)
}

// Enum returns an enum value: a name, or a number as text.
func (s *Text) Enum() []byte { return s.number() }
