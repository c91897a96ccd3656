// Package python reads what stands in Python programs, and what they print, without running any: logical lines, and
// values as literals and calls write them.
package python

import (
	"errors"
	"strings"

	"precision/internal/must"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Bare Kind = iota // a number, a name, or an expression that is not taken apart
	Text
	List // also a tuple
	Dict // also a set
	Call // also a printed object: NAME(field=value)
)

// Value is a value.
type Value struct {
	Kind   Kind
	Source string // as it is written
	Text   string // what a text says, or the name of what is called
	Items  []Item
}

// Item is an element of a list, an entry of a dictionary or an argument of a call.
type Item struct {
	Name  string
	Named bool
	Value
}

// What is wrong with a text. A value that is none is Bare as a whole.
var (
	ErrDeep  = errors.New("found values nested too deeply")
	ErrShort = errors.New("a value has no end")
	ErrForm  = errors.New("found no value")
)

const (
	mostDepth = 100
	mostAngle = 200 // of what is printed in angle brackets
)

// Read reads the value that a text begins with. Of errors the first counts.
func Read(text string) (v Value, err error) {
	defer must.Catch(&err)
	r := &reader{text: text}
	v = r.value(true)
	return v, r.err
}

// Arguments reads those of a call, from behind its bracket to the one that closes it; with an error, those before.
func Arguments(text string) (items []Item, err error) {
	defer must.Catch(&err)
	r := &reader{text: text}
	items, _ = r.items(')', true)
	return items, r.err
}

type reader struct {
	text      string
	at, depth int
	err       error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// peek is the letter behind blanks, 0 at the end.
func (r *reader) peek() byte {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
	if r.at == len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// word reads a name.
func (r *reader) word(more string) string {
	start := r.at
	for r.at < len(r.text) {
		c := r.text[r.at]
		if c != '_' && c < 0x80 && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && strings.IndexByte(more, c) < 0 {
			break
		}
		r.at++
	}
	return r.text[start:r.at]
}

// over tells whether a value ends here: at a comma, a bracket or the end.
func (r *reader) over() bool {
	c := r.peek()
	return c == 0 || strings.IndexByte(",)]}:", c) >= 0
}

// value reads a value; colon tells that a colon ends it.
func (r *reader) value(colon bool) Value {
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > mostDepth {
		must.Do(ErrDeep)
	}
	r.peek()
	start := r.at
	v := Value{Text: r.word(".")}
	end := byte(0)
	switch c := r.peek(); {
	case v.Text == "" && c == '{':
		v.Kind, end = Dict, '}'
	case v.Text == "" && c == '[':
		v.Kind, end = List, ']'
	case v.Text == "" && c == '(':
		v.Kind, end = List, ')'
	case c == '(':
		v.Kind, end = Call, ')'
	}
	ok := false
	if end != 0 {
		r.at++
		v.Items, ok = r.items(end, v.Kind == Call)
	} else {
		r.at = start
		v.Text, ok = r.quoted()
		v.Kind = Text
	}
	stop := r.at
	if !ok || !r.over() {
		if end != 0 {
			r.fail(ErrForm)
		}
		r.at = start
		v = Value{}
		stop = r.expression(colon)
	}
	v.Source = strings.TrimSpace(r.text[start:stop])
	return v
}

// items reads what stands up to a bracket. It is false where there is anything else.
func (r *reader) items(end byte, call bool) (list []Item, ok bool) {
	for {
		switch r.peek() {
		case 0:
			r.fail(ErrShort)
			return list, false
		case end:
			r.at++
			return list, true
		}
		one, start := Item{}, r.at
		switch {
		case call:
			one.Name = r.word("")
			one.Named = one.Name != "" && r.peek() == '=' && !strings.HasPrefix(r.text[r.at:], "==")
		case end == '}':
			key := r.value(true)
			if one.Name = key.Source; key.Kind == Text {
				one.Name = key.Text
			}
			one.Named = r.peek() == ':'
		}
		if one.Named {
			r.at++
		} else if r.at, one.Name = start, ""; end == '}' {
			r.fail(ErrForm) // a set, which nothing prints
		}
		one.Value = r.value(!call)
		if list = append(list, one); one.Kind == Bare && strings.Contains(one.Source, " for ") {
			return list, false // a comprehension is no list of values
		}
		switch r.peek() {
		case ',':
			r.at++
		case 0, end:
		default:
			return list, false
		}
	}
}

// quoted reads texts; several side by side are one.
func (r *reader) quoted() (text string, found bool) {
	for {
		r.peek()
		start := r.at
		prefix := strings.ToLower(r.word(""))
		if c := r.peek(); c != '"' && c != '\'' || strings.Trim(prefix, "rbu") != "" {
			r.at = start
			return text, found
		}
		raw := r.text[r.at:quoteEnd(r.text, r.at)]
		r.at += len(raw)
		marks := 1
		if len(raw) >= 6 && (strings.HasPrefix(raw, `"""`) || strings.HasPrefix(raw, "'''")) {
			marks = 3
		}
		if len(raw) < 2*marks {
			r.fail(ErrShort)
			return "", false
		}
		raw = raw[marks : len(raw)-marks]
		if !strings.Contains(prefix, "r") {
			raw = escapes.Replace(raw)
		}
		text, found = text+raw, true
	}
}

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, `'`)

// expression passes what is not taken apart and gives where it ends.
func (r *reader) expression(colon bool) int {
	if r.peek() == '<' { // <LoadFormat.AUTO: 'auto'>
		r.at += max(strings.IndexByte(r.text[r.at:min(r.at+mostAngle, len(r.text))], '>'), 0)
	}
	for depth := 0; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case '"', '\'':
			r.at = quoteEnd(r.text, r.at) - 1
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return r.at
			}
		case ',', ':':
			if depth == 0 && (c == ',' || colon) {
				return r.at
			}
		}
	}
	return r.at
}
