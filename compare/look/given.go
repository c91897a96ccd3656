package look

import (
	"math"
	"strings"

	"precision/compare/result"
	"precision/compare/verdict"
)

// sameNorm is how far norms of the same numbers, summed in another order, may be apart.
const sameNorm = 1e-6

// givenHints says of roots that begin with what a call was given how that differs, as far as
// statistics show: a weight that was not updated, that is another one's, or whose numbers are in other
// places, and an input that two calls make. known are the tensors of which elements need not be read.
func givenHints(j *verdict.Judged) (hints []result.Reason, known map[string]bool) {
	known = map[string]bool{}
	order := j.Prominent()
	for _, k := range order[:min(len(order), askedMost/2)] {
		root := &j.Roots[k]
		if root.Begin == nil || j.Table.Rows[root.Begin.Row].Recorded == nil {
			continue
		}
		at := root.Begin.Row
		r := &j.Table.Rows[at]
		if root.Kind == verdict.RootWeight {
			if h, is := weightHint(j, at); is {
				hints, known[r.Tensor()] = append(hints, h), h.Kind != result.HintMoved
			}
			continue
		}
		if from := root.Begin.From; len(from) == 2 && !r.Recorded.Argument {
			hints = append(hints, result.Because(result.HintFed, r.Tensor(), from[0], from[1]))
		}
	}
	return hints, known
}

// weightHint compares what was said of a weight with what was said of others.
func weightHint(j *verdict.Judged, at int) (result.Reason, bool) {
	r := &j.Table.Rows[at]
	left, right := r.Recorded.Left, r.Recorded.Right
	if !distinctive(left) || !distinctive(right) {
		return result.Reason{}, false
	}
	bare := func(r *result.Row) string { return r.Tensor()[strings.LastIndexByte(r.Tensor(), '/')+1:] }
	var stale, other result.Reason
	for i := range j.Table.Rows {
		o := &j.Table.Rows[i]
		if i == at || o.Recorded == nil || o.Role != result.Input || o.Type != r.Type || o.Recorded.Place != r.Recorded.Place ||
			result.ShapeText(o.Left.Shape) != result.ShapeText(r.Left.Shape) || !distinctive(o.Recorded.Left) || !distinctive(o.Recorded.Right) {
			continue
		}
		was := o.Recorded
		switch again := bare(o) == bare(r) && i < at; {
		case again && exactly(was.Left, left) && !exactly(was.Right, right):
			stale = result.Because(result.HintStale, "left", r.Tensor(), o.Tensor())
		case again && exactly(was.Right, right) && !exactly(was.Left, left):
			stale = result.Because(result.HintStale, "right", r.Tensor(), o.Tensor())
		case other.Kind == "" && numbersOf(left, was.Right) && !numbersOf(left, right):
			other = result.Because(result.HintOther, r.Tensor(), o.Tensor())
		}
	}
	switch {
	case stale.Kind != "":
		return stale, true
	case other.Kind != "":
		return other, true
	case numbersOf(left, right) && r.Left.DType.IsFloat():
		return result.Because(result.HintMoved, r.Tensor()), true
	}
	return result.Reason{}, false
}

// distinctive tells whether enough is known of a tensor to know it again: statistics of more than one number.
func distinctive(s *result.Summary) bool {
	const all = result.KnownMax | result.KnownMin | result.KnownNorm
	return s != nil && s.Known&all == all && s.Stats.Max != s.Stats.Min && !math.IsNaN(s.Stats.Norm)
}

// exactly tells that two recordings of one side say the same.
func exactly(a, b *result.Summary) bool { return a.Stats == b.Stats && a.Sum == b.Sum }

// numbersOf tells that two tensors hold the same numbers, in whatever order.
func numbersOf(a, b *result.Summary) bool {
	return a.Stats.Max == b.Stats.Max && a.Stats.Min == b.Stats.Min && math.Abs(a.Stats.Norm-b.Stats.Norm) <= sameNorm*b.Stats.Norm
}
