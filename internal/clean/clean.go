// Package clean keeps what names from files, graphs and recordings hold from
// steering a terminal or breaking a table. Control characters, escape sequences,
// characters that turn the direction of writing, and bytes that are no UTF-8 are
// written as \x and two hexadecimal digits for each of their bytes.
package clean

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name writes a name so that it can be shown and kept. [Original] gives the name
// back. Names without anything to hide, nearly all, are returned as they are.
func Name(s string) string {
	i := first(s)
	if i < 0 {
		return s
	}
	return string(hide([]byte(s[:i]), s[i:], func(r rune, s string) bool { return Steers(r) || escape(s) }))
}

// Valid writes a name as UTF-8, for files whose form has its own way with control
// characters, as JSON: bytes that are no UTF-8 are written as Name writes them, and so
// is what reads as such an escape. [Original] gives the name back.
func Valid(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, `\x`) {
		return s
	}
	return string(hide(nil, s, func(_ rune, s string) bool { return escape(s) }))
}

// Original is the name that [Name] or [Valid] wrote.
func Original(s string) string {
	if !strings.Contains(s, `\x`) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if escape(s[i:]) {
			b, _ := strconv.ParseUint(s[i+2:i+4], 16, 8)
			out = append(out, byte(b))
			i += 3
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

// Text is for sentences and whole answers: as [Name], but lines, tabs and what
// reads as an escape stay.
func Text(s string) string {
	steers := func(r rune) bool { return Steers(r) && r != '\n' && r != '\t' }
	return shown(s, steers)
}

// Line is for what must stay on one line: as [Text], but without lines and tabs.
func Line(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return shown(s, Steers)
		}
	}
	return s
}

func shown(s string, steers func(rune) bool) string {
	for i, r := range s {
		if steers(r) || r == utf8.RuneError {
			return string(hide([]byte(s[:i]), s[i:], func(r rune, _ string) bool { return steers(r) }))
		}
	}
	return s
}

// Without these two some scripts cannot be written.
const nonJoiner, joiner = '\u200c', '\u200d'

// Steers reports whether a character would steer a terminal, or turn the
// direction in which the text around it is shown.
func Steers(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Cf, r) && r != joiner && r != nonJoiner
}

// first is the place of the first byte that Name changes, or -1.
func first(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '\\' {
			for j, r := range s[i:] {
				_, size := utf8.DecodeRuneInString(s[i+j:])
				if Steers(r) || r == utf8.RuneError && size == 1 || r == '\\' && escape(s[i+j:]) {
					return i + j
				}
			}
			return -1
		}
	}
	return -1
}

// escape reports whether a text begins with \x and two digits.
func escape(s string) bool {
	return len(s) >= 4 && s[0] == '\\' && s[1] == 'x' && digit(s[2]) && digit(s[3])
}

func digit(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

const digits = "0123456789abcdef"

// hide appends s with the characters for which bad holds, given with what begins
// with them, and bytes that are no UTF-8 as escapes.
func hide(to []byte, s string, bad func(r rune, s string) bool) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if !bad(r, s) && !(r == utf8.RuneError && size == 1) {
			to = append(to, s[:size]...)
		} else {
			for _, c := range []byte(s[:size]) {
				to = append(to, '\\', 'x', digits[c>>4], digits[c&15])
			}
		}
		s = s[size:]
	}
	return to
}

// Writer writes [Text] to another writer. It may hold back up to three bytes of a
// character that is not yet complete; they follow with the next bytes, or stay
// away where nothing follows.
type Writer struct {
	w    io.Writer
	rest []byte
}

// NewWriter makes a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write takes all of p, or returns the error of the writer below.
func (w *Writer) Write(p []byte) (int, error) {
	text := p
	if w.rest != nil {
		text = append(w.rest, p...)
	}
	n := len(text) - incomplete(text)
	w.rest = append([]byte(nil), text[n:]...)
	if len(w.rest) == 0 {
		w.rest = nil
	}
	if _, err := io.WriteString(w.w, Text(string(text[:n]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// incomplete is how many bytes at the end begin a character that is cut.
func incomplete(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if c := p[len(p)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
