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
		parent := ""
		switch b := r.Peek(); {
		case key == microSteps:
			r.number()
			return
		case b == '[':
			r.Enter('[', "value")
			for i := 0; r.Elem(); i++ {
				switch i {
				case 0:
					parent = r.parent()
				case 1: // the part of a step
					r.number()
				default:
					r.Skip()
				}
			}
		default:
			parent = r.parent()
		}
		if r.Err == nil {
			c.add(key, parent)
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
	if r.Peek() == '"' {
		return r.text()
	}
	if n := r.number(); r.Err == nil && n.Kind != Null {
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
		start := s.r.Here()
		key := s.r.own()
		if s.r.Colon() {
			value(&s.r, key)
		}
		if s.r.Err == nil {
			continue
		}
		_, found := s.fault()
		switch {
		case s.err != nil:
			s.in = atEnd
		case found == "":
			s.complain(s.r.Offset(), "the end of the file", "the end of an entry; the file was cut short")
			s.in = atEnd
		default:
			s.complain(s.r.Offset(), found, "an entry of its kind")
			s.recover(start)
		}
	}
	return s.errs, s.err
}
