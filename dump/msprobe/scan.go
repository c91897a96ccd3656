package msprobe

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"precision/internal/scan"
)

// maxEntry bounds the window. The longest entries of recordings have some
// hundred kilobytes.
const maxEntry = 8 << 20

// Scanner reads dump.json or debug.json entry by entry. The file is read once,
// from front to back; memory holds a window of it, which grows to the longest
// entry and not beyond [maxEntry].
type Scanner struct {
	r      reader
	err    error // of reading
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
	return &Scanner{r: reader{JSON: scan.NewJSON(r, maxEntry), names: &names{}, types: map[string]elem{}, file: name}}
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
	s.errs = append(s.errs, &SyntaxError{s.r.file, offset, found, expected})
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
	switch head := s.r.Ahead(3); {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		s.r.Pos += 3
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		s.in = atEnd
		s.complain(0, "text in UTF-16", "UTF-8")
		return
	}
	s.in, s.comma = inTop, noComma
	if !s.r.Enter('{', "file") {
		s.broken("an object")
		s.in = atEnd
	}
}

// separator passes over blanks and a comma, and returns the byte after them; 0
// at the end of the file. A comma too many or too few shows that a key beside it was lost.
// What follows is held.
func (s *Scanner) separator() byte {
	r := s.r.JSON
	r.Hold()
	start := r.Offset()
	b, found := r.Peek(), noComma
	if b == ',' {
		r.Pos++
		b, found = r.Peek(), oneComma
	}
	blank := r.Since(start)
	s.lines = s.lines[:0]
	if i := bytes.LastIndexByte(blank, '\n'); i >= 0 && len(bytes.Trim(blank[i+1:], " \t")) == 0 {
		s.lines = append(s.lines, blank[i:]...)
	}
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
		s.r.Leave()
		s.in = atEnd
		return
	default:
		s.broken("the key of the file")
		s.in = atEnd
		return
	}
	start, key := s.r.Here(), s.r.text()
	s.r.Colon()
	first := s.r.Peek()
	field := map[string]*string{"task": &s.header.Task, "level": &s.header.Level, "framework": &s.header.Framework, "dump_data_dir": &s.header.DataDir}[key]
	switch {
	case first == 0:
		s.broken("a key and its value")
		s.recover(start)
	case key == "data" && first == '{':
		s.r.Enter('{', "data")
		s.in, s.comma = inData, noComma
	case field != nil && first == '"':
		if *field = s.r.own(); s.r.Err != nil {
			s.broken("the value of " + key)
			s.recover(start)
		}
	case !s.pass():
		s.broken("the value of " + key)
		s.in = atEnd
	}
}

// fault goes back to where the reader stopped, if it did, and tells what stands there: nothing at the end of the file.
func (s *Scanner) fault() (f scan.Fault, found string) {
	if s.r.Err != nil {
		f = *s.r.Err
		s.r.Pos += int(f.Offset - s.r.Offset())
	}
	switch f.Err {
	case nil:
		if b := s.r.Ahead(24); len(b) > 0 {
			found = fmt.Sprintf("%q", b)
		}
	case scan.ErrTooLong:
		found = fmt.Sprintf("an entry of more than %d MB", maxEntry>>20)
	default:
		s.err = f.Err
	}
	s.r.Err = nil
	return f, found
}

// broken reports where the file stops making sense: its end, mostly.
func (s *Scanner) broken(expected string) {
	_, found := s.fault()
	switch {
	case s.err != nil:
	case found == "":
		s.complain(s.r.Offset(), "the end of the file", expected+"; the file was cut short")
	default:
		s.complain(s.r.Offset(), found, expected)
	}
}

// entry reads an entry of data; true if it gives a call.
func (s *Scanner) entry() bool {
	b := s.separator()
	r, start := &s.r, s.r.Here()
	switch b {
	case '"':
	case '}':
		r.Leave()
		s.in = inTop
		return false
	case 0:
		s.broken("the next entry")
		s.in = atEnd
		return false
	default:
		s.broken("the name of an entry")
		s.recover(start)
		return false
	}
	r.values, r.shapes, r.numbers, r.path, r.extras = r.values[:0], r.shapes[:0], r.numbers[:0], r.path[:0], 0
	s.call = Call{Name: r.own(), file: r.file, offset: start.Offset}
	s.call.Parsed = ParseName(s.call.Name)
	r.entry = s.call.Name
	if r.Colon() {
		s.content(r)
	}
	if s.call.Values = r.values; r.Err == nil {
		return true
	}
	s.call.Cut = true
	f, found := s.fault()
	name := strconv.Quote(short(s.call.Name))
	switch {
	case s.err != nil:
		s.in = atEnd
	case f.Err != nil:
		s.complain(s.call.offset, found, "less for "+name)
		s.recover(start)
	case found == "":
		s.complain(r.Offset(), "the end of the file", "the end of the entry "+name+"; the file was cut short")
		s.in = atEnd
	default:
		s.complain(r.Offset(), found, f.Expected+" in the entry "+name)
		s.recover(start)
	}
	return s.call.Name != ""
}

// recover finds the next entry behind one that begins at start and cannot be read at the next byte: by its
// indentation, or, in a file without lines, by the end of its value.
func (s *Scanner) recover(start scan.Place) {
	s.comma = anyComma
	if len(s.lines) > 0 {
		s.r.Depth = start.Depth
		if !s.resync() {
			s.in = atEnd
		}
		return
	}
	s.r.Back(start)
	if !s.pass() || !s.r.Colon() || !s.pass() {
		s.in = atEnd
	}
}

// resync goes to the next text that starts a line with the indentation of an entry, or rather to the end of the line
// before; false if there is none.
func (s *Scanner) resync() bool {
	r := s.r.JSON
	r.Release()
	next := append(s.lines, '"')
	for {
		rest := r.Buf[r.Pos:r.End]
		if i := bytes.Index(rest, next); i >= 0 {
			r.Pos += i
			return true
		}
		r.Pos += max(0, len(rest)-len(next))
		if !r.Fill() {
			return false
		}
	}
}

// pass passes over a value of any size with no look at what is in it; false if it does not end.
func (s *Scanner) pass() bool {
	r := s.r.JSON
	r.Release()
	depth, quoted, escaped, word := 0, false, false, false
	for ; r.Pos < r.End || r.Fill(); r.Pos++ {
		b := r.Buf[r.Pos]
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = b == '\\', b != '"'
		case scan.Class[b]&scan.ClsNum != 0:
			word = true
		case word && depth == 0:
			return true
		case b == '"':
			quoted = true
			continue
		case b == '{', b == '[':
			depth++
		case b == '}', b == ']':
			depth--
		}
		switch {
		case depth < 0, depth == 0 && b == ',' && !quoted:
			return false
		case depth == 0 && !quoted && (b == '"' || b == '}' || b == ']'):
			r.Pos++
			return true
		}
	}
	return word && depth == 0
}

func short(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// content reads the value of an entry.
func (s *Scanner) content(r *reader) {
	form := s.call.Parsed.Form
	if form == Debug {
		r.section = Saved
		r.value(0)
		return
	}
	if r.Peek() == 'n' {
		r.number() // null: a call without anything
		return
	}
	var seen [Gradients + 1]bool
	r.Enter('{', "call")
	for key := r.Key(); key != nil; key = r.Key() {
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
				continue
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
				continue
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
			r.Skip()
		}
	}
}

// gradients reads the list of one tensor that the gradient of a parameter is.
func (s *Scanner) gradients(r *reader, key []byte) {
	r.section = Gradients
	r.path = append(r.path[:0], valid(key)...)
	defer func() { r.path = r.path[:0] }()
	if r.Peek() != '[' {
		r.value(1)
		return
	}
	name := len(r.path)
	r.Enter('[', "gradients")
	for i := 0; r.Elem(); i++ {
		if r.path = r.path[:name]; i > 0 {
			r.path = fmt.Appendf(r.path, ".%d", i)
		}
		r.value(1)
	}
}
