package recording

import (
	"math"

	"precision/compare/result"
	"precision/dump/msprobe"
	catalogue "precision/op"
)

// What one side alone computes has nothing to be held against, but NaN and infinities that come
// of finite numbers are wrong by themselves, except in masks, which are made of -inf.

// made gives rows for the outputs of a call without a partner that hold NaN or infinities
// though all that goes in is known and finite; whole is the row for the call.
func (s *side) made(c *call, whole result.Row, left bool) (rows []result.Row) {
	if t := typeOf(c); catalogue.Is(t, catalogue.Masks|catalogue.Moves) || !finite(c) {
		return nil
	}
	for i := range c.leaves {
		l := &c.leaves[i]
		if l.role != result.Output || !l.tensor() || !l.Elem.IsFloat() {
			continue
		}
		nan, inf := l.said.NotFinite()
		if !nan && (!inf || s.masks[place{int32(c.at + 1), l.slot}]) {
			continue
		}
		value := l.said.Stats.Max
		if !nan && !math.IsInf(value, 0) {
			value = l.said.Stats.Min
		}
		row := whole
		row.Role, row.Slot = l.role, int(l.slot)
		row.Facts.Scalar = single(l.Shape)
		row.Recorded = &result.Recorded{Place: l.place, How: result.Aligned, Left: &unsaid, Right: &unsaid}
		if o := l.operand(); left {
			row.Left.DType, row.Left.Shape, row.Recorded.Left = o.DType, o.Shape, l.said
		} else {
			row.Right.DType, row.Right.Shape, row.Recorded.Right = o.DType, o.Shape, l.said
		}
		row.Reasons = []result.Reason{result.Because(result.MadeNonFinite, l.place, number(value))}
		rows = append(rows, row)
	}
	return rows
}

// finite tells whether what goes into a call is known, and finite.
func finite(c *call) bool {
	some := false
	for i := range c.leaves {
		l := &c.leaves[i]
		if l.role != result.Input {
			continue
		}
		if !l.tensor() {
			if v, ok := l.arg.Value.Value(); ok && l.Kind == msprobe.Scalar && v-v != 0 {
				return false
			}
			continue
		}
		nan, inf := l.said.NotFinite()
		if nan || inf || !l.said.Has(result.KnownMax|result.KnownMin) {
			return false
		}
		some = true
	}
	return some
}

// findMasks finds the outputs that masks are made of: what goes into calls that fill places,
// maybe by way of calls that only move.
func (s *side) findMasks() {
	s.masks = map[place]bool{}
	for i := len(s.calls) - 1; i >= 0; i-- {
		c := s.calls[i]
		t := typeOf(c)
		into := catalogue.Is(t, catalogue.Masks)
		for k := range c.leaves {
			l := &c.leaves[k]
			into = into || l.role == result.Output && catalogue.Is(t, catalogue.Moves) && s.masks[place{int32(c.at + 1), l.slot}]
		}
		for k := range c.leaves {
			if l := &c.leaves[k]; into && l.role == result.Input && l.from.call > 0 {
				s.masks[l.from] = true
			}
		}
	}
}
