package verdict

import (
	"math"
	"slices"
	"strconv"

	"precision/compare/result"
)

// Recomputed is what recomputing an output from its operator's own inputs said of it.
type Recomputed struct {
	Type    string
	Wrong   bool
	Ratio   float64
	Pattern string
}

const (
	// leastRecomputed is how many outputs have to be known for their share to say something.
	leastRecomputed = 12
	// mixedShare is the share of outputs, and of types of operators, that do not follow from their
	// inputs in a recording that contradicts itself: no kernel is wrong in all of them. A
	// kernel that is wrong wherever it runs, or a unit of the device, leaves out what only moves.
	mixedShare = 0.75
	// standsOut is how many times further off than half of the others an output is that is
	// wrong otherwise.
	standsOut = 1000
)

// Mixed tells whether a recording contradicts itself: most outputs, of most types of
// operators, do not follow from the inputs that were recorded with them, as where steps are mixed, or a
// layout or the graph is not that of the recording. apart are those of the list that are
// wrong otherwise than the rest.
func Mixed(list []Recomputed) (p Premise, apart []int, mixed bool) {
	types := map[string]bool{}
	patterns := map[string]int{}
	var ratios []float64
	for _, r := range list {
		types[r.Type] = types[r.Type] || r.Wrong
		if r.Wrong {
			patterns[r.Pattern]++
			ratios = append(ratios, r.Ratio)
		}
	}
	wrong := 0
	for _, is := range types {
		if is {
			wrong++
		}
	}
	if len(list) < leastRecomputed || wrong < 3 || float64(wrong) < mixedShare*float64(len(types)) || float64(len(ratios)) < mixedShare*float64(len(list)) {
		return p, nil, false
	}
	slices.Sort(ratios)
	median := ratios[len(ratios)/2]
	for i, r := range list {
		otherwise := r.Pattern != "" && 10*patterns[r.Pattern] <= len(ratios)
		if r.Wrong && (otherwise || r.Ratio > standsOut*median && !math.IsInf(median, 0)) {
			apart = append(apart, i)
		}
	}
	return Premise{Kind: PremiseConsistent, Broken: true, Tensors: len(ratios), Share: float64(len(ratios)) / float64(len(list)),
		Reason: result.Because(result.Inconsistent, strconv.Itoa(len(ratios)), strconv.Itoa(len(list)))}, apart, true
}

// contradicts keeps, where the left side contradicts itself, only roots that are wrong
// otherwise than the rest.
func (j *judge) contradicts(out *Judged) {
	var list []Recomputed
	var at []string
	for i := range j.table.Checks {
		if c := &j.table.Checks[i]; c.Known {
			if op := j.named(c.Op); op != nil {
				list, at = append(list, Recomputed{op.Op.Type, c.Wrong, c.Ratio, c.Pattern}), append(at, c.Op)
			}
		}
	}
	p, apart, mixed := Mixed(list)
	if !mixed {
		return
	}
	out.Premises = append(out.Premises, p)
	j.keepRoots(out, func(r *Root) bool {
		return slices.ContainsFunc(apart, func(k int) bool { return at[k] == j.operators[r.Operator].Op.Name })
	})
}

// keepRoots takes back roots; who inherited from them inherits from what is left.
func (j *judge) keepRoots(out *Judged, keep func(r *Root) bool) {
	kept, places := out.Roots[:0:0], map[int]int{}
	for k := range out.Roots {
		r := &out.Roots[k]
		if keep(r) {
			places[k] = len(kept)
			kept = append(kept, *r)
		} else if op := &j.operators[r.Operator]; op.State == StateBad {
			op.State = StateInherited
		}
	}
	out.Roots = kept
	for i := range j.operators {
		op := &j.operators[i]
		var from []int
		for _, k := range op.From {
			if at, ok := places[k]; ok {
				from = append(from, at)
			}
		}
		op.From = from
	}
	for k := range out.Roots {
		out.Roots[k].Inherited = 0
		for i := range j.operators {
			if op := &j.operators[i]; op.State == StateInherited && slices.Contains(op.From, k) {
				out.Roots[k].Inherited++
			}
		}
	}
}
