package msprobe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// cursor reads JSON from the bytes in memory. After an error it stays where it
// is and reads nothing, so that callers need not look after every step.
type cursor struct {
	b   []byte
	p   int
	end bool // nothing follows b in the file

	more            bool // stopped as b ended
	bad             bool // stopped at p
	found, expected string

	names *names
}

func (c *cursor) ok() bool { return !c.more && !c.bad }

// fail stops at p.
func (c *cursor) fail(expected string) {
	if !c.ok() {
		return
	}
	c.bad, c.expected = true, expected
	if c.p >= len(c.b) {
		c.found = "the end of the file"
		return
	}
	c.found = fmt.Sprintf("%q", c.b[c.p:min(c.p+24, len(c.b))])
}

// ended stops where the bytes do.
func (c *cursor) ended() {
	if c.ok() {
		c.more = true
	}
}

// next skips blanks and returns the byte after them, 0 if there is none. A zero
// byte, which files have that were being written when the power went, is an error,
// so that 0 always means that the cursor has stopped.
func (c *cursor) next() byte {
	if !c.ok() {
		return 0
	}
	b := c.b
	for p := c.p; p < len(b); p++ {
		switch b[p] {
		case ' ', '\n', '\r', '\t':
			continue
		}
		if c.p = p; b[p] == 0 {
			c.fail("a value, or what stands between values")
		}
		return b[p]
	}
	c.p = len(b)
	c.ended()
	return 0
}

// take skips blanks and the byte that must follow.
func (c *cursor) take(b byte) {
	switch got := c.next(); {
	case !c.ok():
	case got != b:
		c.fail(string(rune(b)))
	default:
		c.p++
	}
}

// raw reads a text and returns what is between the quotes.
func (c *cursor) raw() (s []byte, escaped bool) {
	if c.next() != '"' {
		c.fail("a text in quotes")
		return nil, false
	}
	start := c.p + 1
	for i := start; ; {
		k := bytes.IndexByte(c.b[min(i, len(c.b)):], '"')
		if k < 0 {
			break
		}
		// An odd number of backslashes before it makes it part of the text.
		end := i + k
		n := end
		for n > start && c.b[n-1] == '\\' {
			n--
		}
		if (end-n)%2 == 0 {
			c.p = end + 1
			return c.b[start:end], escaped || bytes.IndexByte(c.b[start:end], '\\') >= 0
		}
		escaped, i = true, end+1
	}
	c.ended()
	return nil, false
}

// text reads a text that is likely to come again.
func (c *cursor) text() string {
	b, escaped := c.raw()
	if escaped {
		return unescape(b)
	}
	return c.names.of(b)
}

// own reads a text that is likely to be the only one of its kind.
func (c *cursor) own() string {
	b, escaped := c.raw()
	if escaped {
		return unescape(b)
	}
	return valid(b)
}

func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

func unescape(b []byte) (s string) {
	quoted := append(append([]byte{'"'}, b...), '"')
	if json.Unmarshal(quoted, &s) == nil {
		return s
	}
	return valid(b)
}

// number reads a bare value: a number, truth value, null, or a text.
func (c *cursor) number() Number {
	switch c.next() {
	case 0:
		return Number{}
	case '"':
		return Number{Kind: Text, S: c.own()}
	}
	i := c.p
	for i < len(c.b) && word[c.b[i]] {
		i++
	}
	if i == len(c.b) && !c.end {
		c.ended()
		return Number{}
	}
	w := c.b[c.p:i]
	n, ok := ParseNumber(w)
	if !ok {
		switch string(w) {
		case "null":
			n, ok = Number{Kind: Null}, true
		case "true":
			n, ok = Number{Kind: Bool, I: 1, F: 1}, true
		case "false":
			n, ok = Number{Kind: Bool}, true
		}
	}
	if !ok {
		if i == len(c.b) { // true, cut
			c.ended()
		} else {
			c.fail("a value")
		}
		return Number{}
	}
	c.p = i
	return n
}

// word are the bytes of numbers and of the bare words.
var word = func() (w [256]bool) {
	for _, b := range []byte("+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") {
		w[b] = true
	}
	return
}()

// list walks through the items of a list.
func (c *cursor) list(item func(i int)) {
	c.take('[')
	for i := 0; c.ok(); i++ {
		b := c.next()
		if b == ']' {
			c.p++
			return
		}
		if i > 0 {
			c.comma(b)
		}
		item(i)
	}
}

// object walks through the keys of an object; item reads the value.
func (c *cursor) object(item func(key []byte)) {
	c.take('{')
	for i := 0; c.ok(); i++ {
		b := c.next()
		if b == '}' {
			c.p++
			return
		}
		if i > 0 {
			c.comma(b)
		}
		key, _ := c.raw()
		c.take(':')
		if c.ok() {
			item(key)
		}
	}
}

func (c *cursor) comma(b byte) {
	switch {
	case b == ',':
		c.p++
	case b != 0:
		c.fail("a comma or the end")
	}
}

// skip passes over a value of any kind.
func (c *cursor) skip() {
	depth := 0
	for c.ok() {
		switch b := c.next(); b {
		case 0:
			return
		case '"':
			c.raw()
		case '{', '[':
			depth++
			c.p++
		case '}', ']':
			if depth--; depth < 0 {
				c.fail("a value")
				return
			}
			c.p++
		case ',', ':':
			if depth == 0 {
				c.fail("a value")
				return
			}
			c.p++
			continue
		default:
			c.number()
		}
		if depth == 0 {
			return
		}
	}
}

// json passes over a value and returns its bytes, the first kilobyte.
func (c *cursor) json() string {
	c.next()
	start := c.p
	c.skip()
	if !c.ok() {
		return ""
	}
	b := c.b[start:c.p]
	return valid(bytes.Clone(b[:min(len(b), 1<<10)]))
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
