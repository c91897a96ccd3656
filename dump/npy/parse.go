package npy

import (
	"fmt"
	"strconv"
	"strings"

	"precision/dump/dtype"
	"precision/internal/must"
)

// parse reads the header text: a Python dictionary of descr, fortran_order and
// shape. With an error about the type alone there is a header all the same, with the width of
// an element in bits, 0 where the type does not tell it.
func parse(text string) (h *Header, width int64, err error) {
	p := &parser{text: text}
	h = &Header{}
	if err := must.Try(func() { p.dict(h) }); err != nil {
		return nil, 0, err
	}
	if p.odd != nil {
		return h, p.width, p.odd
	}
	return h, int64(h.Type.Bits()), nil
}

// parser is at position at of a header text.
type parser struct {
	text string
	at   int
	// odd tells of a type that is none of numbers, whose elements have the width, in bits.
	odd   error
	width int64
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("header at %d: %s", p.at, fmt.Sprintf(format, args...))
}

// needs ends the reading where something is not as it has to be.
func (p *parser) needs(ok bool, format string, args ...any) {
	if !ok {
		must.Do(p.errorf(format, args...))
	}
}

// next skips blanks and returns the byte after them without taking it; 0 at
// the end.
func (p *parser) next() byte {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return c
		}
	}
	return 0
}

func (p *parser) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

// rest is a short piece of what follows, for messages.
func (p *parser) rest() string { return p.text[p.at:min(len(p.text), p.at+40)] }

func (p *parser) dict(h *Header) {
	p.needs(p.take('{'), "found %q, expected a dictionary", p.rest())
	seen := map[string]bool{}
	for !p.take('}') {
		key := p.str()
		p.needs(!seen[key], "key %q comes twice", key)
		seen[key] = true
		p.needs(p.take(':'), "found %q, expected a colon after key %q", p.rest(), key)
		switch key {
		case "descr":
			p.descr(h)
		case "fortran_order":
			h.Fortran = p.boolean()
		case "shape":
			h.Shape = p.tuple()
		default:
			p.needs(false, "unknown key %q", key)
		}
		p.needs(p.take(',') || p.next() == '}', "found %q, expected a comma or the end of the dictionary", p.rest())
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		p.needs(seen[key], "no key %q in the header", key)
	}
	p.needs(p.next() == 0, "found %q after the header, expected nothing", p.rest())
}

// TypeError says that the header is in order, but its elements are no numbers, or
// none of a known width.
type TypeError struct{ err error }

func (e *TypeError) Error() string { return e.err.Error() }
func (e *TypeError) Unwrap() error { return e.err }

func (p *parser) descr(h *Header) {
	first := p.next()
	p.needs(first != '[' && first != '(', "descr is %q: arrays of records are not supported", p.rest())
	descr := p.str()
	var ok bool
	if h.Type, h.BigEndian, ok = dtype.FromNumpy(descr); ok {
		return
	}
	what := "no number type known here"
	sort := strings.TrimLeft(descr, "<>|=")
	digits, _, _ := strings.Cut(sort[min(1, len(sort)):], "[") // M8[ns]
	bytes, _ := strconv.ParseInt(digits, 10, 32)
	switch sort[:min(1, len(sort))] {
	case "O":
		what, bytes = "an array of Python objects", 0
	case "U":
		bytes *= 4
		fallthrough
	case "S", "a":
		what = "an array of text"
	case "V":
		what = "an array of raw bytes"
	case "M", "m":
		what = "an array of dates"
	case "f", "c":
		what = "a float of a width that is not supported"
	default:
		bytes = 0
	}
	p.width = 8 * bytes
	p.odd = &TypeError{p.errorf("descr %q is %s, expected bool, integer, float or complex", descr, what)}
}

// str reads a quoted text without escapes.
func (p *parser) str() string {
	quote := p.next()
	p.needs(quote == '\'' || quote == '"', "found %q, expected a quoted text", p.rest())
	s := p.text[p.at+1:]
	end := strings.IndexAny(s, string(quote)+"\\\n")
	p.needs(end >= 0 && s[end] == quote, "found %q, expected a closing quote", p.rest())
	p.at += end + 2
	return s[:end]
}

func (p *parser) boolean() bool {
	p.next()
	for _, word := range []string{"False", "True"} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return word == "True"
		}
	}
	panic(must.Failure(p.errorf("found %q, expected True or False", p.rest())))
}

// tuple reads dims: (), (3,), (2, 3). Python 2 wrote a long as 3L.
func (p *parser) tuple() []int64 {
	p.needs(p.take('('), "found %q, expected a tuple of dims", p.rest())
	dims, comma := []int64{}, true
	for !p.take(')') {
		p.needs(comma, "found %q, expected a comma between dims", p.rest())
		p.next()
		digits := p.text[p.at:]
		end := 0
		for end < len(digits) && digits[end] >= '0' && digits[end] <= '9' {
			end++
		}
		d, err := strconv.ParseInt(digits[:end], 10, 64)
		p.needs(err == nil, "found %q, expected a dim from 0 to 2^63-1", p.rest())
		p.needs(len(dims) < maxDims, "more than %d dims", maxDims)
		dims = append(dims, d)
		if p.at += end; p.at < len(p.text) && p.text[p.at] == 'L' {
			p.at++
		}
		comma = p.take(',')
	}
	if len(dims) == 1 && !comma {
		p.needs(false, "shape is a number in brackets, expected a tuple such as (%d,)", dims[0])
	}
	return dims
}
