package recording

import (
	"math"
	"slices"

	"precision/compare/result"
	"precision/dump/msprobe"
	catalogue "precision/op"
)

// feed is what the values of a side were known by earlier.
type feed struct {
	// outputs and inputs lead from a content to the latest output, the first
	// input, that had it; alike does so without the order of elements.
	outputs, inputs map[identity]place
	alike           map[identity]counted
	// spread does so whatever the number of elements.
	spread map[identity]counted
	// through are the calls of one side alone that made it of what has a partner.
	through map[identity][]*call
	// shaped leads from a content of one shape to the latest output of that, former to the one before where a call of one side alone
	// gave that in another order; taken are outputs that something took as they are, takenAlone those that a call of one side alone did.
	shaped, former    map[identity]place
	taken, takenAlone map[place]bool
}

// source is the output that feeds an input of a call. That is the latest of the same content; but one that was turned for another call,
// which took it as it is, is not what a third one takes in the shape from before, nor, where one side alone turns it for a call of its
// own, what the call takes that both sides make.
func (f *feed) source(c *call, l *leaf, key identity) (p place, ok bool) {
	if p, ok = f.outputs[key]; !ok {
		return p, false
	}
	shape := key.of(l.Shape)
	own, same := f.shaped[shape]
	former, two := f.former[shape]
	switch {
	case same && own != p && f.taken[p]:
		return own, true
	case own == p && two && !c.alone() && f.takenAlone[p]:
		return former, true
	case own == p:
		f.taken[p], f.takenAlone[p] = true, f.takenAlone[p] || c.alone()
	}
	return p, true
}

// alone tells of a call that the other side does not make.
func (c *call) alone() bool { return c.pair == nil && c.fused == nil }

// of is a content in one shape.
func (id identity) of(shape []int64) identity {
	var h hash
	h.number(uint64(id))
	h.shape(shape)
	return h.identity()
}

// counted is an output with the number of its elements, and the value that it is.
type counted struct {
	place
	elements int64
	*leaf
}

// mostThrough is how many of these are kept.
const mostThrough = 8

// origins finds what feeds the inputs of every call of a side, and what the outputs
// of modules hand on. Where the other side is of another framework, or its recorder leaves them out, calls of one side
// alone that only move numbers make nothing: what comes out of them is what went in.
func (s *side) origins(migrated bool) {
	f := feed{map[identity]place{}, map[identity]place{}, map[identity]counted{}, map[identity]counted{}, map[identity][]*call{}, map[identity]place{}, map[identity]place{}, map[place]bool{}, map[place]bool{}}
	s.through = map[*leaf][]*call{}
	for _, c := range s.calls {
		var through []*call
		for i := range c.leaves {
			l := &c.leaves[i]
			if l.role != result.Input {
				continue
			}
			key := l.content()
			if key == 0 {
				continue
			}
			l.before = f.inputs[key]
			if p, ok := f.source(c, l, key); ok {
				l.from = p
			} else if a := l.alike(); a != 0 && l.before.call == 0 {
				if c := f.alike[a]; c.leaf != nil && l.meansAs(c.leaf) {
					key, l.from = a, c.place
				} else {
					l.from = f.repeated(l)
				}
			}
			if list := f.through[key]; list != nil {
				s.through[l] = list
				through = append(through, list...)
			}
			if l.before.call == 0 {
				f.inputs[l.content()] = place{int32(c.at + 1), l.slot}
			}
		}
		alone := (migrated || s.omitted[typeOf(c)]) && c.alone()
		if alone {
			through = append(through, c)
			through = through[max(0, len(through)-mostThrough):]
		}
		for i := range c.leaves {
			l := &c.leaves[i]
			if l.role != result.Output {
				continue
			}
			if c.fused != nil && !slices.Contains(c.fused.taken, l) {
				continue // it stays inside
			}
			if key := l.content(); key != 0 {
				if p, ok := f.outputs[key]; ok && (c.Parsed.Form == msprobe.Module || c.Parsed.Form == msprobe.ParametersGrad || c.state) {
					l.from = p
				}
				made := place{int32(c.at + 1), l.slot}
				if delete(f.through, key); alone {
					if in := c.moved(l); in != nil {
						made = in.from
					}
					f.through[key] = through
				}
				shape := key.of(l.Shape)
				if before, is := f.shaped[shape]; is && c.alone() && catalogue.Is(typeOf(c), catalogue.Moves) {
					f.former[shape] = before
				} else {
					delete(f.former, shape)
				}
				f.outputs[key], f.shaped[shape] = made, made
				if a := l.alike(); a != 0 {
					n, _ := l.Elements()
					f.alike[a], f.through[a] = counted{made, n, l}, f.through[key]
					f.spread[l.spread()] = f.alike[a]
				}
			}
		}
	}
	s.byGraph()
}

// repeated is the output that an input is made of by repeating it as a whole, as heads of attention share keys: views
// are not recorded. It is none where nothing like it was made.
func (f *feed) repeated(l *leaf) place {
	n, _ := l.Elements()
	c := f.spread[l.spread()]
	if c.elements < 2 || n <= c.elements || n%c.elements != 0 {
		return place{}
	}
	limit := 1e-4
	if l.Known {
		limit = max(limit, 4*l.Elem.Unit())
	}
	if want := c.summary.Stats.Norm * math.Sqrt(float64(n/c.elements)); !(math.Abs(l.summary.Stats.Norm-want) <= limit*want) || !l.meansAs(c.leaf) {
		return place{}
	}
	return c.place
}

// meansAs tells that two tensors have the same mean, as far as sums over them are rounded: those of the same elements do, in any
// order and as often as they are repeated, and not those of a rotation, which keeps the norm.
func (l *leaf) meansAs(other *leaf) bool {
	if !l.summary.Has(result.KnownMean|result.KnownNorm) || !other.summary.Has(result.KnownMean) {
		return true
	}
	n, _ := l.Elements()
	limit := 1e-4
	if l.Known {
		limit = max(limit, 4*l.Elem.Unit())
	}
	return !(math.Abs(l.summary.Stats.Mean-other.summary.Stats.Mean) > limit*l.summary.Stats.Norm/math.Sqrt(float64(n)))
}

// moved is the input that a call which only moves numbers hands out as an output, nil if there is none.
func (c *call) moved(out *leaf) *leaf {
	if catalogue.Is(typeOf(c), catalogue.Moves) || catalogue.Is(c.does(), catalogue.Moves) {
		for i := range c.leaves {
			if l := &c.leaves[i]; l.role == result.Input && l.alike() != 0 && l.alike() == out.alike() {
				return l
			}
		}
	}
	return nil
}

// insideOf lists, of every module, the calls made in it.
func insideOf(s *side) map[*call][]*call {
	if len(s.parent) == 0 {
		return nil
	}
	m := map[*call][]*call{}
	for _, c := range s.calls {
		// The entry for the gradients of parameters belongs to its module.
		name := s.parent[c.Name]
		for range 64 { // names that are not recorded lie between
			if name == "" {
				break
			}
			if p := s.find(name); p != nil && p != c {
				m[p] = append(m[p], c)
				break
			}
			name = s.parent[name]
		}
	}
	return m
}

// nameParameters finds what the program calls the values that are parameters of modules: those of a
// module, and what the calls in it are given that no call made and that is one of them.
func (p *part) nameParameters() {
	p.own = map[*leaf]string{}
	for _, c := range p.left.calls {
		module := c
		if c.Parsed.Form != msprobe.Module {
			if module = p.left.find(p.left.parent[c.Name]); module == nil || c.Parsed.Direction != msprobe.Forward {
				continue
			}
		}
		for i := range c.leaves {
			l := &c.leaves[i]
			if !l.tensor() || l.role != result.Input || l.from.call > 0 || c != module && l.sort() != 'f' {
				continue
			}
			for k := range module.leaves {
				if m := &module.leaves[k]; m.Section == msprobe.Parameters && (m == l || c != module && sameShape(m.Shape, l.Shape) && m.stated() == l.stated()) {
					p.own[l] = module.Parsed.API + "." + m.path
					break
				}
			}
		}
	}
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
