package msprobe

import "io"

// Construct is construct.json: which module a call was made in.
type Construct struct {
	// Parent leads from the name of an entry to that of the module around it;
	// entries at the top have the empty name. Names may be those of calls that
	// dump.json leaves out.
	Parent map[string]string
	// Order are the entries as they come, which is that of the calls.
	Order []string
	// Errors are the parts that could not be read.
	Errors []*SyntaxError
}

// microSteps is the key that is no entry: how many parts a step has.
const microSteps = "megatron_micro_step_number"

// ReadConstruct reads construct.json; name is for messages. What can be read of
// a damaged file is there beside the errors. An error is one of reading.
func ReadConstruct(in io.Reader, name string) (*Construct, error) {
	c := &Construct{Parent: map[string]string{}}
	var known names // parents come again and again
	var err error
	c.Errors, err = object(in, name, func(r *reader, key string) {
		r.names = &known
		switch b := r.next(); {
		case key == microSteps:
			r.number()
		case b == '[':
			parent := ""
			r.list(func(i int) {
				switch {
				case i == 0:
					parent = r.parent()
				case i == 1: // the part of a step
					r.number()
				default:
					r.skip()
				}
			})
			if r.ok() {
				c.add(key, parent)
			}
		default:
			if parent := r.parent(); r.ok() {
				c.add(key, parent)
			}
		}
	})
	return c, err
}

func (c *Construct) add(key, parent string) {
	if _, twice := c.Parent[key]; !twice {
		c.Order = append(c.Order, key)
	}
	c.Parent[key] = parent
}

// parent reads the name of a module, or null.
func (r *reader) parent() string {
	if r.next() == '"' {
		return r.text()
	}
	if n := r.number(); r.ok() && n.Kind != Null {
		r.fail("the name of a module")
	}
	return ""
}

// maxErrors bounds how many errors of one file are kept.
const maxErrors = 100

// object reads an object whose values are small, key by key, and goes on behind
// those that cannot be read.
func object(in io.Reader, name string, value func(r *reader, key string)) (errs []*SyntaxError, err error) {
	s := NewScanner(in, name)
	s.start()
	for s.in == inTop && len(s.errs) < maxErrors {
		b := s.separator()
		switch {
		case b == '}':
			s.in = atEnd
			continue
		case b != '"':
			s.broken("the next entry")
			s.in = atEnd
			continue
		}
		s.lines = s.indent(s.lines[:0])
		if s.try(&s.r, func(r *reader) {
			key := r.own()
			r.take(':')
			if r.next() != 0 {
				value(r, key)
			}
		}) {
			continue
		}
		if s.r.bad || s.long {
			s.broken("an entry of its kind")
			s.recover(s.at + s.r.p)
		} else {
			s.broken("the end of an entry")
			s.in = atEnd
		}
	}
	return s.errs, s.err
}
