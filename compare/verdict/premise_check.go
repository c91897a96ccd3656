package verdict

import (
	"math"
	"slices"
	"strconv"

	"precision/compare/pattern"
	"precision/compare/result"
	"precision/dump/dtype"
	catalogue "precision/op"
)

// Recomputed is what recomputing an output from its operator's own inputs said of it.
type Recomputed struct {
	Type string
	// DType is the element type of the output, with whose roundoff bounds grow.
	DType   dtype.Type
	Wrong   bool
	Ratio   float64
	Pattern string
	// Explained is the share of the error that the pattern explains.
	Explained float64
}

const (
	// leastRecomputed is how many outputs have to be known for their share to say something.
	leastRecomputed = 12
	// mixedShare is the share of outputs, and of types of operators, that do not follow from their
	// inputs in a recording that contradicts itself: no kernel is wrong in all of them. A
	// kernel that is wrong wherever it runs, or a unit of the device, leaves out what only moves.
	mixedShare = 0.75
	// standsOut is how many times further off an output is than nine in ten of those of its dtype,
	// to be wrong otherwise than they. An element near 0 with a small bound makes a ratio of
	// millions of an error like any; a bound of nothing, as that of what only moves, makes it
	// infinite.
	standsOut = 1000
	// wholly is the share of an error that what a kernel did to all its numbers explains at least: the rest is rounding.
	wholly = 0.99
)

// Mixed tells whether a recording contradicts itself: most outputs, of most types of
// operators, do not follow from the inputs that were recorded with them, as where steps are mixed, or a
// layout or the graph is not that of the recording. apart are those of the list that are
// wrong otherwise than the rest.
func Mixed(list []Recomputed) (p Premise, apart []int, mixed bool) {
	types := map[string]bool{}
	patterns := map[string]int{}
	wrongs, ratios := 0, map[dtype.Type][]float64{}
	for _, r := range list {
		types[r.Type] = types[r.Type] || r.Wrong
		if r.Wrong {
			patterns[r.Pattern]++
			wrongs++
			ratios[r.DType] = append(ratios[r.DType], r.Ratio)
		}
	}
	wrong := 0
	for _, is := range types {
		if is {
			wrong++
		}
	}
	if len(list) < leastRecomputed || wrong < 3 || float64(wrong) < mixedShare*float64(len(types)) || float64(wrongs) < mixedShare*float64(len(list)) {
		return p, nil, false
	}
	for _, of := range ratios {
		slices.Sort(of)
	}
	more := func(r *Recomputed) bool {
		of := ratios[r.DType]
		return len(of) >= leastRecomputed && !math.IsInf(r.Ratio, 0) && r.Ratio > standsOut*of[len(of)*9/10]
	}
	for i, r := range list {
		if r.Wrong && (says(&r) && 10*patterns[r.Pattern] <= wrongs || more(&r)) {
			apart = append(apart, i)
		}
	}
	return Premise{Kind: PremiseConsistent, Broken: true, Tensors: wrongs, Share: float64(wrongs) / float64(len(list)),
		Reason: result.Because(result.Inconsistent, strconv.Itoa(wrongs), strconv.Itoa(len(list)))}, apart, true
}

// says tells whether an output's pattern says what a kernel did to its numbers. That they are
// those of another tensor is what a recording that is mixed of several comes to, a pattern that leaves much of the error
// unexplained is found in two runs as well, and of choices and truth values, of which there are few, one is found by chance; so is
// another attribute of a quantiser, of whose few scales most are the same power of two in any run.
func says(r *Recomputed) bool {
	k := pattern.Kind(r.Pattern)
	if k == pattern.WrongAttribute && catalogue.Is(r.Type, catalogue.Quantises) {
		return false
	}
	return k != "" && !k.Vague() && r.Explained >= wholly && k != pattern.Stale && k != pattern.PassedThrough && k != pattern.Repeated && !counted(r.DType)
}

const (
	// leastEdges is how many inputs have to be known beside the outputs that made them.
	leastEdges = 12
	// sameDistance is the factor that distances from the same golden tensor may be apart when
	// sums were taken in another order.
	sameDistance = 1.01
	// otherRounding is the distance from which on two recordings of a tensor are no roundings of one: three steps of bfloat16.
	otherRounding = 3.0 / (1 << 8)
)

// torn tells whether the left side contradicts itself without any recomputing: at least half
// of the inputs are not what the operators that made them recorded as outputs, held against the
// same golden tensors. A kernel that is wrong hands on what it wrote.
func (j *judge) torn() (p Premise, is bool) {
	edges, apart := 0, 0
	for i := range j.operators {
		op := &j.operators[i]
		for t, from := range j.feeds(op) {
			if t == nil || from.by == nil || !t.Verdict.Compared() {
				continue
			}
			made := from.by.output(from.Index)
			if made == nil || made.Seen || !made.Verdict.Compared() {
				continue
			}
			edges++
			taken, wrote := measureOf(&j.table.Rows[t.Row]).distance, measureOf(&j.table.Rows[made.Row]).distance
			near, far := math.Min(taken, wrote), math.Max(taken, wrote)
			if (t.Verdict == Bad || made.Verdict == Bad || far > otherRounding) && far > sameDistance*near { // not where one is NaN
				apart++
			}
		}
	}
	return Premise{Kind: PremiseConsistent, Broken: true, Tensors: apart, Share: float64(apart) / float64(max(edges, 1)),
		Reason: result.Because(result.Torn, strconv.Itoa(apart), strconv.Itoa(edges))}, edges >= leastEdges && 2*apart >= edges
}

// contradicts keeps, where the left side contradicts itself, only roots that are wrong
// otherwise than the rest.
func (j *judge) contradicts(out *Judged) {
	var list []Recomputed
	var at []string
	for i := range j.table.Checks {
		if c := &j.table.Checks[i]; c.Known {
			if op := j.named(c.Op); op != nil {
				r := Recomputed{op.Op.Type, j.dtypeOf(op, c.Output), c.Wrong, c.Ratio, c.Pattern, c.Explained}
				if t := op.output(c.Output); t != nil && pattern.Kind(c.Pattern) == pattern.NaN && j.table.Rows[t.Row].Result().Facts.Y.NaN > 0 {
					r.Pattern = "" // other data have NaN in other places
				}
				list, at = append(list, r), append(at, c.Op)
			}
		}
	}
	p, apart, mixed := Mixed(list)
	if !mixed {
		return
	}
	out.Premises = []Premise{p} // of such a recording nothing else can be told
	j.keepRoots(out, func(_ int, r *Root) bool {
		return slices.ContainsFunc(apart, func(k int) bool { return at[k] == j.operators[r.Operator].Op.Name })
	})
}

// dtypeOf is the element type of an output as the left side has it; that of float32 where it is not known.
func (j *judge) dtypeOf(op *Operator, output int) dtype.Type {
	if t := op.output(output); t != nil && j.table.Rows[t.Row].Left.Shape != nil {
		return j.table.Rows[t.Row].Left.DType
	}
	return dtype.Float32
}

// keepRoots takes back roots; who inherited from them inherits from what is left. keep gets their places in the list, too.
func (j *judge) keepRoots(out *Judged, keep func(k int, r *Root) bool) {
	kept, places := out.Roots[:0:0], map[int]int{}
	for k := range out.Roots {
		r := &out.Roots[k]
		if keep(k, r) {
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
				from = merge(from, []int{at})
			}
		}
		op.From = from
	}
	j.inherit(out)
}

// inherit counts what inherits from every root.
func (j *judge) inherit(out *Judged) {
	for k := range out.Roots {
		out.Roots[k].Inherited = 0
	}
	for i := range j.operators {
		if op := &j.operators[i]; op.State == StateInherited {
			for _, k := range op.From {
				out.Roots[k].Inherited++
			}
		}
	}
}
