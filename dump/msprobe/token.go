package msprobe

import (
	"strings"
	"unicode/utf8"

	"precision/internal/scan"
)

// fail stops at the next byte.
func (r *reader) fail(expected string) {
	if r.Err == nil {
		r.Err = &scan.Fault{Offset: r.Offset(), Expected: expected}
	}
}

// text reads a text that is likely to come again; its quote was seen.
func (r *reader) text() string { return r.names.of(r.Str()) }

// own reads a text that is likely to be the only one of its kind; its quote was seen.
func (r *reader) own() string { return valid(r.Str()) }

func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// number reads a bare value: a number, truth value, null, or a text.
func (r *reader) number() Number {
	if r.Peek() == '"' {
		return Number{Kind: Text, S: r.own()}
	}
	w := r.Unquoted()
	n, ok := ParseNumber(w)
	if ok || r.Err != nil {
		return n
	}
	switch string(w) {
	case "null":
		return Number{Kind: Null}
	case "true":
		return Number{Kind: Bool, I: 1, F: 1}
	case "false":
		return Number{Kind: Bool}
	}
	r.Return(w)
	r.fail("a value")
	return Number{}
}

// json passes over a value and returns its bytes, the first kilobyte.
func (r *reader) json() string {
	r.Peek()
	start := r.Offset()
	r.Skip()
	b := r.Since(start)
	return valid(b[:min(len(b), 1<<10)])
}

// names keeps texts that come again and again once.
type names struct{ m map[string]string }

// maxNames bounds how many.
const maxNames = 1 << 14

func (n *names) of(b []byte) string {
	if s, ok := n.m[string(b)]; ok {
		return s
	}
	s := valid(b)
	if len(n.m) < maxNames && len(b) < 256 {
		if n.m == nil {
			n.m = map[string]string{}
		}
		n.m[string(b)] = s
	}
	return s
}
