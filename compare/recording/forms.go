package recording

import (
	"precision/compare/result"
	"precision/dump/msprobe"
)

// Two sides that compute the same in other ways hand each other other things: attention weights or
// None, a mask of flags or one that is added to scores. That is no difference by itself: what reads
// them shows whether it matters.

// withheld tells of an output that one side alone hands out.
func withheld(a, b *leaf) bool {
	return a.role == result.Output && a.tensor() != b.tensor() && (a.Kind == msprobe.None || b.Kind == msprobe.None)
}

// mostMasked is what is so far below zero that it is there to mask.
const mostMasked = -1e3

// flags tells of two masks of one shape that the first has a flag for each element and the second a number to
// add, zero or far below it.
func flags(a, b *leaf) bool {
	const extremes = result.KnownMax | result.KnownMin
	return a.sort() == 'b' && b.sort() == 'f' && sameShape(a.Shape, b.Shape) && b.summary.Has(extremes) && b.summary.Stats.Max == 0 && b.summary.Stats.Min <= mostMasked
}
