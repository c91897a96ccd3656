package recording

import (
	"precision/compare/result"
	"precision/dump/msprobe"
	catalogue "precision/op"
)

// replaced pairs what stands in the place of something else: a module under the path of another class, and of
// functions the only one of either side between two pairs, which gets the same and gives as much. That is what a
// wrong activation is.
func replaced(left, right *side, pair func(a, b *call)) {
	paths := map[msprobe.Name]*call{}
	path := func(c *call) msprobe.Name { n := c.Parsed; n.Class, n.Prefix = "", ""; return n }
	open := func(c *call) bool { return c.pair == nil && c.fused == nil }
	for _, c := range right.calls {
		if c.Parsed.Form == msprobe.Module && open(c) {
			paths[path(c)] = c
		}
	}
	for _, c := range left.calls {
		if o := paths[path(c)]; c.Parsed.Form == msprobe.Module && open(c) && o != nil && open(o) && fits(c, o) && sameSize(c, o) {
			join(c, o)
		}
	}
	// only is the one call without a partner between two places, nil if there are several; what gives no tensor does not count.
	only := func(s *side, from, to int) (one *call) {
		for at := from; at < to; at++ {
			c := s.calls[at]
			if !open(c) || c.first() == nil || catalogue.Is(typeOf(c), catalogue.Moves) || catalogue.Is(c.does(), catalogue.Moves) {
				continue
			}
			if one != nil || c.Parsed.Form != msprobe.API {
				return nil
			}
			one = c
		}
		return one
	}
	last, other := 0, 0 // behind the last pair on either side
	for i, c := range left.calls {
		o := c.pair
		if c.fused != nil {
			o = c.fused.pair
		}
		if o == nil {
			continue
		}
		if at := o.at; at >= other {
			a, b := only(left, last, i), only(right, other, at)
			if a != nil && b != nil && a.Parsed.Direction == b.Parsed.Direction && sameSize(a, b) && getsSame(a, b) {
				pair(a, b)
			}
			other = at + 1
		}
		last = i + 1
	}
}

// mostNoise is how far the inputs of two calls that may be each other's may be apart.
const mostNoise = 1e-3

// getsSame tells whether the first tensors that go into two calls are nearly the same.
func getsSame(a, b *call) bool {
	input := func(c *call) *leaf {
		for i := range c.leaves {
			if l := &c.leaves[i]; l.role == result.Input && l.tensor() {
				return l
			}
		}
		return nil
	}
	x, y := input(a), input(b)
	if x == nil || y == nil || !sameCount(x, y) {
		return false
	}
	return x.content() != 0 && x.content() == y.content() || apart(x, y) < mostNoise
}
