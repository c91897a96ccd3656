package verdict

import (
	"slices"
	"strconv"

	"precision/compare/result"
)

// Another order of calls
//
// Where the sides make calls in another order, an input may be made by calls of two pairs. Of calls that do
// not depend on each other that is harmless, and the numbers are the same, but for noise. Where they are not,
// and the network ends otherwise for it, the sides compute in another order: no call is to blame.

// crossing notes an input that calls of two pairs make, and whether its numbers are others for it.
func (w *recordedWalk) crossing(r *result.Row, coarse float64) (other bool) {
	size, known := sizeOf(r)
	if !known || size <= mostLeap[0]*max(w.level, coarse, roundedOff(r)) {
		return false
	}
	w.crossings = append(w.crossings, r)
	return true
}

// otherOrder tells that the sides compute in another order, and takes back the roots that begin so. An output of
// the network has to show it.
func (w *recordedWalk) otherOrder() bool {
	if len(w.crossings) == 0 || w.table.Meta.Pairing.Reordered == 0 || !slices.ContainsFunc(w.operators, func(op Operator) bool {
		return op.Op.Final && (op.State == StateBad || op.State == StateInherited)
	}) {
		return false
	}
	begins := func(r *Root) bool {
		return r.Begin != nil && slices.Contains(w.crossings, &w.table.Rows[r.Begin.Row])
	}
	of, others := 0, 0
	for i := range w.operators {
		for k := range w.operators[i].Inputs {
			r := w.row(&w.operators[i].Inputs[k])
			if r.Recorded != nil && w.named(r.Facts.Producer.Op) != nil && w.named(r.Recorded.Golden.Op) != nil {
				of++
				if w.crossed(r) && agreementOf(r) == different {
					others++
				}
			}
		}
	}
	first := w.crossings[0]
	w.out.Premises = append(w.out.Premises, Premise{Kind: PremiseGraph, Broken: true, Tensors: others, Share: float64(others) / float64(max(of, 1)),
		Reason: result.Because(result.OrderDiffers, strconv.Itoa(others), strconv.Itoa(of), first.Tensor(), first.Facts.Producer.Op, first.Recorded.Golden.Op)})
	w.keepRoots(w.out, func(_ int, r *Root) bool { return !begins(r) })
	return true
}
