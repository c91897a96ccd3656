package recording

import (
	"context"

	"precision/compare/result"
)

// Call is a call of a recording as people look at it.
type Call struct {
	// Part is the step and rank, empty where the recording has one only.
	Part string
	// Name is the call, Type its function or class, Inside the module it was made in.
	Name, Type, Inside string
	// Stack are the lines of the program that made it, the innermost first.
	Stack []string
	// Source is the innermost of them that is no part of an installed library.
	Source string
	Values []Value

	side *side
	of   *call
}

// Value is an argument or result of a call.
type Value struct {
	// Place is where it stands: input.0, output.1.
	Place string
	// DType and Shape are those of a tensor, empty and nil for arguments.
	DType string
	Shape []int64
	// Summary is what the recording says of it.
	Summary *result.Summary
	// From is the call whose output feeds it, Output which; empty if it is not known.
	From   string
	Output int
	// File is the name of the file of its elements.
	File string
}

// Each hands the calls of the recordings below a path to yield, in their order, until it
// returns false. With feeds, elements tell what feeds a call where nothing else does, of which a part is read.
func Each(path string, feeds bool, yield func(*Call) bool) error {
	list, _, err := find(path, formats)
	if err != nil {
		return err
	}
	for _, f := range list {
		s, err := f.load()
		if err != nil {
			return err
		}
		for _, c := range s.calls {
			c.op = c.Name
			numbers(c, nil)
		}
		s.digits()
		if feeds {
			s.prints()
		}
		s.origins(false)
		for _, c := range s.calls {
			shown := s.show(c)
			if len(list) > 1 {
				shown.Part = f.label()
			}
			if !yield(shown) {
				return nil
			}
		}
	}
	return nil
}

func (s *side) show(c *call) *Call {
	shown := &Call{Name: c.Name, Type: typeOf(c), Inside: s.parent[c.Name], Source: s.source(c.Name), side: s, of: c}
	for f := range s.stack.Of(c.Name) {
		shown.Stack = append(shown.Stack, f.String())
	}
	for i := range c.leaves {
		l := &c.leaves[i]
		v := Value{Place: l.place, Summary: l.summary, File: l.DataName}
		if l.tensor() {
			v.DType, v.Shape = l.DType, l.Shape
		}
		if from := s.port(l.from); from.Op != "" && from.Op != c.Name {
			v.From, v.Output = from.Op, from.Index
		}
		shown.Values = append(shown.Values, v)
	}
	return shown
}

// Measure takes the statistics of tensors of which nothing is said, as in recordings of elements alone, from their elements.
// What cannot be read stays as it is.
func (c *Call) Measure(ctx context.Context) {
	for i := range c.of.leaves {
		if l := &c.of.leaves[i]; l.mute() {
			if found, err := c.side.measured(ctx, l); err == nil {
				c.Values[i].Summary = found.summary(l.summary)
			}
		}
	}
}
