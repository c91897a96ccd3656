package recording

import (
	"precision/compare/result"
	"precision/dump/msprobe"
)

// feed is what the values of a side were known by earlier.
type feed struct {
	// outputs and inputs lead from a content to the latest output, the first
	// input, that had it; alike does so without the order of elements.
	outputs, inputs, alike map[string]place
}

// place is a leaf of a call.
type place struct {
	call *call
	slot int
}

// origin is what feeds an input: an output, with the elements in the same order or
// another, and the first input that had the same content.
type origin struct{ output, before place }

// origins finds what feeds the inputs of every call of a side, and what the outputs
// of modules hand on.
func origins(s *side) map[*leaf]origin {
	f := feed{map[string]place{}, map[string]place{}, map[string]place{}}
	found := map[*leaf]origin{}
	for _, c := range s.calls {
		number := c.slots
		for i := range c.leaves {
			l := &c.leaves[i]
			if l.role != result.Input {
				continue
			}
			key := l.content()
			if key == "" {
				continue
			}
			var o origin
			o.before = f.inputs[key]
			if p, ok := f.outputs[key]; ok {
				o.output = p
			} else if p, ok := f.alike[l.alike()]; ok && o.before.call == nil && l.alike() != "" {
				o.output = p
			}
			if o != (origin{}) {
				found[l] = o
			}
			if _, ok := f.inputs[key]; !ok {
				f.inputs[key] = place{c, number[l.place]}
			}
		}
		for i := range c.leaves {
			l := &c.leaves[i]
			if l.role != result.Output {
				continue
			}
			if key := l.content(); key != "" {
				if p, ok := f.outputs[key]; ok && (c.Parsed.Form == msprobe.Module || c.Parsed.Form == msprobe.ParametersGrad) {
					found[l] = origin{output: p}
				}
				f.outputs[key] = place{c, number[l.place]}
				if a := l.alike(); a != "" {
					f.alike[a] = place{c, number[l.place]}
				}
			}
		}
	}
	return found
}

// insideOf lists, of every module, the calls made in it.
func insideOf(s *side) map[*call][]*call {
	if len(s.parent) == 0 {
		return nil
	}
	index := make(map[string]*call, len(s.calls))
	for _, c := range s.calls {
		index[c.Name] = c
	}
	m := map[*call][]*call{}
	for _, c := range s.calls {
		// The entry for the gradients of parameters belongs to its module.
		name := s.parent[c.Name]
		for range 64 { // names that are not recorded lie between
			if name == "" {
				break
			}
			if p := index[name]; p != nil && p != c {
				m[p] = append(m[p], c)
				break
			}
			name = s.parent[name]
		}
	}
	return m
}

// forwardOf is the name of the forward call that a backward call belongs to.
func forwardOf(c *call) string {
	n := c.Parsed
	if n.Direction != msprobe.Backward {
		return ""
	}
	n.Direction = msprobe.Forward
	return n.String()
}
