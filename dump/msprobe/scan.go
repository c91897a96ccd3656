package msprobe

import (
	"bytes"
	"fmt"
	"io"
)

// Scanner reads dump.json or debug.json entry by entry. The file is read once,
// from front to back; memory holds a window of it, which grows to the longest
// entry and not beyond [maxEntry].
type Scanner struct {
	window
	r      reader
	header Header
	in     state
	call   Call
	errs   []*SyntaxError // to be handed out before the scan goes on
	result Record
	lines  []byte // how the line of an entry starts
	comma  comma
}

// comma is what has to stand before the next key.
type comma uint8

const (
	anyComma comma = iota // behind what could not be read
	noComma               // at the beginning of an object
	oneComma
)

// state is where in the file the scan is.
type state uint8

const (
	atStart state = iota
	inTop         // among the keys of the file
	inData        // among the entries
	atEnd
)

// NewScanner returns a Scanner of a file; name is for messages.
func NewScanner(r io.Reader, name string) *Scanner {
	s := &Scanner{window: window{in: r, file: name}}
	s.r.names, s.r.types = &names{}, map[string]elem{}
	return s
}

// Scan reads the next record; false at the end of the file or when it cannot be
// read any more, see [Scanner.Err].
func (s *Scanner) Scan() bool {
	for {
		if len(s.errs) > 0 {
			s.result, s.errs = s.errs[0], s.errs[1:]
			return true
		}
		if s.in == atEnd {
			s.result = nil
			return false
		}
		if s.step() {
			s.result = &s.call
			return true
		}
	}
}

// Result returns the record that Scan read: a *Call, which holds until the next
// Scan (see [Call.Clone]), or a *SyntaxError.
func (s *Scanner) Result() Record { return s.result }

// Header returns what was read of the keys of the file. They come before the
// calls in files of the recorder.
func (s *Scanner) Header() Header { return s.header }

// Err is the error of reading the file, nil at its end.
func (s *Scanner) Err() error { return s.err }

func (s *Scanner) complain(offset int64, found, expected string) {
	s.errs = append(s.errs, &SyntaxError{s.file, offset, found, expected})
}

// step reads on; true when there is a call.
func (s *Scanner) step() bool {
	switch s.in {
	case atStart:
		s.start()
	case inTop:
		s.top()
	case inData:
		return s.entry()
	}
	return false
}

func (s *Scanner) start() {
	switch head := s.peek(3); {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		s.at += 3
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		s.in = atEnd
		s.complain(0, "text in UTF-16", "UTF-8")
		return
	}
	s.in, s.comma = inTop, noComma
	if !s.try(&s.r, func(r *reader) { r.take('{') }) {
		s.broken("an object")
		s.in = atEnd
	}
}

// separator passes over blanks and a comma, and returns the byte after them; 0
// at the end of the file. A comma too many or too few shows that a key beside it was lost.
func (s *Scanner) separator() (b byte) {
	found := noComma
	s.try(&s.r, func(r *reader) {
		if b, found = r.next(), noComma; b == ',' {
			r.p++
			b, found = r.next(), oneComma
		}
	})
	expected := s.comma
	if s.comma = oneComma; b == '}' {
		if found == oneComma && expected != anyComma {
			s.broken("a key behind the comma")
		}
		return b
	}
	switch {
	case b != '"' || expected == anyComma || found == expected:
	case found == oneComma:
		s.broken("a key before the comma")
	default:
		s.broken("a comma before the key")
	}
	return b
}

// top reads one of the keys of the file.
func (s *Scanner) top() {
	switch b := s.separator(); b {
	case '"':
	case '}':
		s.at++
		s.in = atEnd
		return
	default:
		s.broken("the key of the file")
		s.in = atEnd
		return
	}
	var key string
	var first byte
	if !s.try(&s.r, func(r *reader) {
		key = r.text()
		r.take(':')
		first = r.next()
	}) {
		s.broken("a key and its value")
		s.in = atEnd
		return
	}
	field := map[string]*string{"task": &s.header.Task, "level": &s.header.Level, "framework": &s.header.Framework, "dump_data_dir": &s.header.DataDir}[key]
	switch {
	case key == "data" && first == '{':
		s.at++
		s.in, s.comma = inData, noComma
		return
	case field != nil && first == '"':
		if s.try(&s.r, func(r *reader) { *field = r.own() }) {
			return
		}
	default:
		if s.pass() {
			return
		}
	}
	s.broken("the value of " + key)
	s.in = atEnd
}

// broken reports where the file stops making sense: its end, mostly.
func (s *Scanner) broken(expected string) {
	if s.err != nil {
		return
	}
	if s.r.bad {
		s.complain(s.offset()+int64(s.r.p), s.r.found, expected)
		return
	}
	rest := s.peek(24)
	if len(rest) == 0 || s.r.more {
		s.complain(s.offset()+int64(len(s.buf)-s.at), "the end of the file", expected+"; the file was cut short")
		return
	}
	s.complain(s.offset(), fmt.Sprintf("%q", rest), expected)
}

// entry reads an entry of data; true if it gives a call.
func (s *Scanner) entry() bool {
	switch b := s.separator(); b {
	case '"':
	case '}':
		s.at++
		s.in = inTop
		return false
	case 0:
		s.broken("the next entry")
		s.in = atEnd
		return false
	default:
		s.broken("the name of an entry")
		s.lines = s.indent(s.lines[:0])
		s.recover(s.at)
		return false
	}
	s.lines = s.indent(s.lines[:0])
	var first byte
	whole := s.try(&s.r, func(r *reader) {
		s.call = Call{Values: r.values[:0], file: s.file, offset: s.offset()}
		r.values, r.shapes, r.numbers, r.path, r.extras = r.values[:0], r.shapes[:0], r.numbers[:0], r.path[:0], 0
		s.call.Name = r.own()
		s.call.Parsed = ParseName(s.call.Name)
		r.file, r.base, r.entry = s.file, s.offset(), s.call.Name
		r.take(':')
		first = r.next()
		s.content(r, first)
	})
	s.call.Values = s.r.values
	if whole {
		return true
	}
	s.call.Cut = true
	at := s.call.offset
	switch {
	case s.r.bad:
		where := s.at + s.r.p
		s.complain(at+int64(s.r.p), s.r.found, s.r.expected+fmt.Sprintf(" in the entry %q", short(s.call.Name)))
		s.recover(where)
	case s.long:
		s.complain(at, fmt.Sprintf("an entry of more than %d MB", maxEntry>>20), fmt.Sprintf("less for %q", short(s.call.Name)))
		s.recover(s.at + s.r.p)
	case s.err != nil:
		s.in = atEnd
	default:
		s.complain(s.offset()+int64(len(s.buf)-s.at), "the end of the file", fmt.Sprintf("the end of the entry %q; the file was cut short", short(s.call.Name)))
		s.in = atEnd
	}
	return s.call.Name != ""
}

// recover finds the next entry behind one that cannot be read from a place in
// the window on: by its indentation, or, in a file without lines, by the end of
// the value.
func (s *Scanner) recover(from int) {
	s.comma = anyComma
	if len(s.lines) > 0 {
		if !s.resync(s.lines, from) {
			s.in = atEnd
		}
		return
	}
	if !s.try(&s.r, func(r *reader) {
		r.raw()
		r.take(':')
	}) || !s.pass() {
		s.in = atEnd
	}
}

func short(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// content reads the value of an entry.
func (s *Scanner) content(r *reader, first byte) {
	form := s.call.Parsed.Form
	if form == Debug {
		r.section = Saved
		r.value(0)
		return
	}
	if first == 'n' {
		r.number() // null: a call without anything
		return
	}
	var seen [Gradients + 1]bool
	r.object(func(key []byte) {
		known := true
		switch string(key) {
		case "input_args", "input":
			r.section = Input
		case "input_kwargs":
			r.section = Kwargs
		case "output":
			r.section = Output
			s.call.Outputs = true
		case "parameters":
			r.section = Parameters
		case "is_recompute":
			var n Number
			if r.bare(&n) {
				s.call.Recompute = n.Kind == Bool && n.I != 0
				return
			}
			known = false
		case "is_nan":
			var n Number
			if r.bare(&n) {
				if v, ok := n.Value(); ok {
					s.call.NaN = No
					if v != 0 {
						s.call.NaN = Yes
					}
				}
				return
			}
			known = false
		default:
			known = false
		}
		switch {
		case form == ParametersGrad:
			s.gradients(r, key)
		case known && seen[r.section]:
			r.fail("each of a call's keys once")
		case known:
			seen[r.section] = true
			r.value(0)
		default:
			r.skip()
		}
	})
}

// gradients reads the list of one tensor that the gradient of a parameter is.
func (s *Scanner) gradients(r *reader, key []byte) {
	r.section = Gradients
	r.path = append(r.path[:0], valid(key)...)
	defer func() { r.path = r.path[:0] }()
	if r.next() != '[' {
		r.value(1)
		return
	}
	name := len(r.path)
	r.list(func(i int) {
		if r.path = r.path[:name]; i > 0 {
			r.path = fmt.Appendf(r.path, ".%d", i)
		}
		r.value(1)
	})
}
