package graph

import (
	"errors"
	"strconv"
)

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
