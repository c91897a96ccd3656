package recording

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
	"precision/internal/each"
	catalogue "precision/op"
)

// Ways to record that need to be read in their own way: values saved by hand, structure alone,
// comparison while recording, and calls that are run again for their gradients.

// saveOrder puts values saved by hand into the order in which they were computed. The recorder
// writes the gradient of a value right behind the value; it was computed behind all
// values, that of the last one first.
func (s *side) saveOrder() {
	var values, gradients []*call
	names := map[string]bool{}
	for _, c := range s.calls {
		if c.Parsed.Form != msprobe.Debug {
			return
		}
		names[c.Name] = true
	}
	for _, c := range s.calls {
		n := c.Parsed
		var ok bool
		if n.API, ok = strings.CutSuffix(n.API, "_grad"); ok && names[n.String()] {
			gradients = append(gradients, c)
		} else {
			values = append(values, c)
		}
	}
	slices.Reverse(gradients)
	s.calls = append(values, gradients...)
	for i, c := range s.calls {
		c.at = i
	}
}

// renumber gives the backward calls of modules the numbers of their forward calls, where the recorder counted them otherwise.
func (s *side) renumber() {
	names := map[string]string{}
	for at, number := range msprobe.BackwardNumbers(each.Of(s.calls, func(c *call) msprobe.Name { return c.Parsed })) {
		n := s.calls[at].Parsed
		n.Number = number
		names[s.calls[at].Name] = n.String()
	}
	if len(names) == 0 {
		return
	}
	named := func(name string) string { return cmp.Or(names[name], name) }
	for _, c := range s.calls {
		if name := named(c.Name); name != c.Name {
			s.renumbered.add(c.Name, name)
			c.Name, c.Parsed = name, msprobe.ParseName(name)
		}
	}
	parent := make(map[string]string, len(s.parent))
	for name, of := range s.parent {
		parent[named(name)] = named(of)
	}
	s.parent = parent
}

// readStructure makes calls of the entries of construct.json, where calls were recorded without
// any of their values.
func (s *side) readStructure(c *msprobe.Construct) {
	add := s.adder()
	for _, name := range c.Order {
		if n := msprobe.ParseName(name); n.Form != msprobe.Other {
			add(&msprobe.Call{Name: name, Parsed: n})
		}
	}
}

// readRaw notes that a side was compared with another recording as it was made. Then only
// the calls that differed there have files, and what has none is known by its statistics.
func (s *side) readRaw(r *msprobe.Recording) {
	if !s.raw || r.Tensors == "" {
		return
	}
	there := map[string]bool{}
	if entries, err := os.ReadDir(r.Tensors); err == nil {
		for _, e := range entries {
			there[e.Name()] = true
		}
	}
	s.filed = false
	for _, c := range s.calls {
		for i := range c.leaves {
			l := &c.leaves[i]
			if l.DataName != "" && !there[filepath.Base(l.DataName)] {
				l.DataName = ""
			}
			if l.DataName != "" {
				s.stopped = c.Name
			}
		}
	}
}

// behindBackward notes the calls that were made while gradients were computed, where both
// sides tell, so that they are paired with no others.
func behindBackward(left, right *side) {
	sides := []*side{left, right}
	stacks := left.stack != nil && right.stack != nil
	for _, s := range sides {
		for _, c := range s.calls {
			if c.Parsed.Direction == msprobe.Forward && (c.again || stacks && s.stack.Behind(c.Name)) {
				c.again = true
				h := hash(c.token)
				h.text("backward")
				c.token = h.identity()
			}
		}
	}
}

// originals finds for calls made while gradients were computed the earlier ones that did the same
// with the same: they are these calls, run again.
func (s *side) originals() {
	made := map[identity]*call{}
	for _, c := range s.calls {
		if c.Parsed.Direction != msprobe.Forward {
			continue
		}
		h := hash(0)
		h.number(uint64(c.Parsed.Form))
		h.text(c.Parsed.Prefix)
		h.text(c.Parsed.API)
		h.text(c.Parsed.Class)
		for i := range c.leaves {
			switch l := &c.leaves[i]; {
			case l.role != result.Input:
			case l.tensor():
				h.number(uint64(l.stated()))
			default:
				h.text(l.summary.Value)
			}
		}
		if key := h.identity(); c.again {
			c.original = made[key]
		} else {
			made[key] = c
		}
	}
}

// leastOmitted is how many functions that only move numbers a recording has none of where its recorder leaves them out; a
// program that was changed in one place calls one or two that another does not.
const leastOmitted = 4

// findOmitted finds the functions that only move numbers and of which another recording has no call, if there are so many that it is
// its recorder that leaves them out: msprobe wraps other functions in each version, so that one records each view and each transposition,
// and another none. What puts elements in another order, by itself or by indices, is left out by none, and may be a fault.
func (s *side) findOmitted(other *side) {
	s.omitted = map[string]bool{}
	for _, c := range s.calls {
		if row := catalogue.Of(typeOf(c)); c.Parsed.Form == msprobe.API && row.Traits&catalogue.Moves != 0 && row.Traits&catalogue.Turns == 0 && row.Does != "embedding" {
			s.omitted[typeOf(c)] = true
		}
	}
	for _, c := range other.calls {
		delete(s.omitted, typeOf(c))
	}
	if len(s.omitted) < leastOmitted {
		s.omitted = nil
	}
}
