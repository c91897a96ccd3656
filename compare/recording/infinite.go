package recording

import (
	"math"
	"slices"

	"precision/compare/result"
	"precision/dump/msprobe"
	"precision/internal/nd"
	catalogue "precision/op"
)

// What one side alone computes has nothing to be held against, but NaN and infinities that come
// of finite numbers are wrong by themselves, except in masks: -inf that was put in some places, until a
// call makes finite numbers of it again.

// made gives rows for the outputs of a call without a partner that hold NaN or infinities
// though all that goes in is known and finite; whole is the row for the call.
func (s *side) made(c *call, whole result.Row, left bool) (rows []result.Row) {
	own := func(l *leaf, why result.Reason) {
		row := whole
		row.Role, row.Slot = l.role, int(l.slot)
		row.Facts.Scalar = nd.Single(l.Shape)
		row.Recorded = &result.Recorded{Place: l.place, How: result.Aligned, Left: &noSummary, Right: &noSummary}
		if o := l.operand(); left {
			row.Left.DType, row.Left.Shape, row.Recorded.Left = o.DType, o.Shape, l.summary
		} else {
			row.Right.DType, row.Right.Shape, row.Recorded.Right = o.DType, o.Shape, l.summary
		}
		row.Reasons = append([]result.Reason{why}, whole.Reasons...)
		rows = append(rows, row)
	}
	if l := c.flag(); l != nil {
		if s.hands(c) {
			own(l, result.Because(result.NaNFlagged, c.Name))
		}
		return rows
	}
	puts := catalogue.Is(typeOf(c), catalogue.Masks|catalogue.Moves)
	known, literal := finite(c)
	if !known || !literal && catalogue.Is(typeOf(c), catalogue.Moves) {
		return nil
	}
	for i := range c.leaves {
		l := &c.leaves[i]
		if l.role != result.Output || !l.tensor() || !l.Elem.IsFloat() {
			continue
		}
		nan, inf := l.summary.NotFinite()
		at := place{int32(c.at + 1), l.slot}
		if !nan && (!inf || literal && !puts || s.masks[at] || puts && (!data(c) || l.summary.Stats.Max <= math.MaxFloat64 && !s.read[at])) {
			continue
		}
		if s.repeats(c) {
			return nil
		}
		value := l.summary.Stats.Max
		if !nan && !math.IsInf(value, 0) {
			value = l.summary.Stats.Min
		}
		own(l, result.Because(result.MadeNonFinite, l.place, number(value)))
	}
	return rows
}

// repeats tells of a call that it makes of the same inputs what a call that both sides have gave on both, as one that is made again while
// gradients are computed.
func (s *side) repeats(c *call) bool {
	alike := func(x *call) bool {
		return typeOf(x) == typeOf(c) && x.content == c.content && x.nonfinite == c.nonfinite
	}
	return slices.ContainsFunc(s.calls, func(x *call) bool { return x.pair != nil && alike(x) && alike(x.pair) })
}

// givesNonfinite is what identifies the outputs of a call of which one holds NaN or infinities, 0 where none does.
func (c *call) givesNonfinite() identity {
	output := func(l *leaf) bool { return l.role == result.Output && l.tensor() }
	some := false
	for i := range c.leaves {
		some = some || output(&c.leaves[i]) && c.leaves[i].infinite()
	}
	if !some {
		return 0 // nearly always, without a hash
	}
	var h hash
	for i := range c.leaves {
		if l := &c.leaves[i]; output(l) {
			h.number(uint64(l.summary.Print(l.Shape)))
		}
	}
	return h.identity()
}

// flag is what a device said of NaN in a call, nil where that was not recorded.
func (c *call) flag() *leaf {
	if i := slices.IndexFunc(c.leaves, func(l leaf) bool { return l.path == "is_nan" && l.role == result.Output && !l.tensor() }); i >= 0 {
		return &c.leaves[i]
	}
	return nil
}

// hands tells of a call of one side alone that it is the first since the last pair of calls in which a device found NaN, and that
// the next pair has them on this side alone: else it may be a mask that was made.
func (s *side) hands(c *call) bool {
	if !c.flagged {
		return false
	}
	for k := c.at - 1; k >= 0 && s.calls[k].pair == nil; k-- {
		if s.calls[k].flagged {
			return false
		}
	}
	next := slices.IndexFunc(s.calls[c.at:], func(x *call) bool { return x.pair != nil })
	return next >= 0 && s.calls[c.at+next].flagged && !s.calls[c.at+next].pair.flagged
}

// finite tells whether the tensors that go into a call are known, and finite, and whether a number
// among its arguments is not.
func finite(c *call) (known, literal bool) {
	for i := range c.leaves {
		l := &c.leaves[i]
		if l.role != result.Input {
			continue
		}
		if !l.tensor() {
			v, ok := l.arg.Value.Value()
			literal = literal || ok && l.Kind == msprobe.Scalar && v-v != 0
			continue
		}
		if l.infinite() || !l.summary.Has(result.KnownMax|result.KnownMin) {
			return false, false
		}
		known = true
	}
	return known, literal
}

// data tells that other numbers than the one or two that masks are made of go into a call.
func data(c *call) bool {
	return slices.ContainsFunc(c.leaves, func(l leaf) bool {
		return l.role == result.Input && l.tensor() && l.Elem.IsFloat() && l.summary.Stats.Max != l.summary.Stats.Min
	})
}

// infinite tells that what is said of a tensor is not finite.
func (l *leaf) infinite() bool {
	nan, inf := l.summary.NotFinite()
	return nan || inf
}

// settled tells that a call takes infinities and gives finite numbers, as softmax does with masked scores.
func settled(c *call) (some bool) {
	for i := range c.leaves {
		if l := &c.leaves[i]; l.role == result.Output && l.tensor() && l.Elem.IsFloat() {
			if l.infinite() || !l.summary.Has(result.KnownMax|result.KnownMin) {
				return false
			}
			some = true
		}
	}
	return some
}

// findMasks finds the outputs that masks are made of: what goes into calls that fill places or that
// make finite numbers of infinities, maybe by way of calls that hand infinities on; and which infinities are read at all.
func (s *side) findMasks() {
	s.masks, s.read = map[place]bool{}, map[place]bool{}
	for i := len(s.calls) - 1; i >= 0; i-- {
		c := s.calls[i]
		t := typeOf(c)
		into, hands := catalogue.Is(t, catalogue.Masks), false
		for k := range c.leaves {
			l := &c.leaves[k]
			if l.role == result.Output && s.masks[place{int32(c.at + 1), l.slot}] {
				_, inf := l.summary.NotFinite()
				into, hands = into || catalogue.Is(t, catalogue.Moves), hands || inf
			}
		}
		for k := range c.leaves {
			l := &c.leaves[k]
			if l.role != result.Input || l.from.call <= 0 {
				continue
			}
			_, inf := l.summary.NotFinite()
			if inf {
				s.read[l.from] = true
			}
			if into || inf && (hands || settled(c)) {
				s.masks[l.from] = true
			}
		}
	}
}
