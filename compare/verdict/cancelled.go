package verdict

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"precision/compare/result"
	catalogue "precision/op"
)

// A sum whose terms cancel is as exact as its terms, not as what is left of them. The gradient of a bias in front of a
// softmax is zero in exact arithmetic: what is computed is what rounding left, another number on every machine, and an
// optimiser that divides gradients by their size makes whole steps of it. Such a sum is no root, though no limit is met,
// where its terms agree as well as rounding lets numbers agree and what is left is no further off than their errors add up to.
// Behind many layers terms differ by more than the rounding of one sum: then no more may be left on the golden side than rounding leaves.
// Of what follows nothing is known: both sides have noise there, and a fault would look the same.

// cancelled takes back the roots that are such sums, with what follows from these alone.
func (j *judge) cancelled(out *Judged) {
	is := make([]bool, len(out.Roots))
	var rows []int
	first := ""
	for k := range out.Roots {
		if op := &j.operators[out.Roots[k].Operator]; j.cancels(op) {
			is[k] = true
			rows = append(rows, op.Outputs[0].Row)
			first = cmp.Or(first, op.Op.Name)
		}
	}
	if len(rows) == 0 {
		return
	}
	follow := 0
	for i := range j.operators {
		op := &j.operators[i]
		only := len(op.From) > 0 && !slices.ContainsFunc(op.From, func(k int) bool { return !is[k] })
		if !only || op.State != StateInherited && op.State != StateSuspect {
			continue
		}
		word, _ := op.checkWord()
		op.State, op.From = StateUncompared, nil
		for k := range op.Outputs {
			t := &op.Outputs[k]
			switch {
			case t.Verdict == Good, t.Verdict.Compared() && word == checkFollows:
				op.State = StateGood
				t.Verdict, t.Causes = Good, nil
			case t.Verdict.Compared():
				t.Verdict, t.Depends = Uncompared, true
			}
		}
		follow++
	}
	for k, sum := range is {
		if op := &j.operators[out.Roots[k].Operator]; sum {
			op.State, op.From, op.Outputs[0].Verdict, op.Outputs[0].Causes = StateGood, nil, Good, nil
		}
	}
	j.keepRoots(out, func(k int, _ *Root) bool { return !is[k] })
	out.Premises = append(out.Premises, Premise{Kind: PremiseCompared, Tensors: len(rows), Share: 1, Rows: rows,
		Reason: result.Because(result.Cancelled, strconv.Itoa(len(rows)), first, strconv.Itoa(follow))})
}

// cancels tells whether an operator is a sum that is off by no more than the rounding of its terms.
func (j *judge) cancels(op *Operator) bool {
	if word, _ := catalogue.Call(catalogue.Of(op.Op.Type).Error); word != "totalled" || len(op.Outputs) != 1 {
		return false
	}
	t := &op.Outputs[0]
	o, ok := operandOf(&j.table.Rows[t.Row])
	other := func(c Cause) bool {
		return c.Kind != Cosine && c.Kind != Distance && c.Kind != Scalar && c.Kind != Zeros
	}
	if word := t.checkWord(); !ok || word != checkNothing && word != checkFollows || slices.ContainsFunc(t.Causes, other) {
		return false
	}
	rows, known := j.feeding(op)
	if !known || len(rows) == 0 {
		return false
	}
	// An error of each term, and of the sum on its way, as often up as down.
	var most, apart, left float64
	gathered := false
	for _, at := range rows {
		r := &j.table.Rows[at]
		term, ok := operandOf(r)
		rounding := (2 + math.Log2(max(1, term.count))) * max(unit(coarserOf(r)), single)
		if !ok || term.relative() > mostGathered*rounding { // terms are sums themselves, in another order on either side
			return false
		}
		gathered = gathered || term.relative() > rounding
		n := max(1, term.count/max(1, o.count))
		most = math.Hypot(most, math.Sqrt(n)*(term.err.rms+rounding*term.rms))
		apart = math.Hypot(apart, math.Sqrt(n)*term.rms)
		left = math.Hypot(left, math.Sqrt(n)*rounding*term.rms)
	}
	return o.err.rms <= cancelledMargin*most && o.rms <= apart/leastCancelled && (!gathered || o.rms <= cancelledMargin*left)
}

// mostGathered is how many times the rounding of one sum terms may differ by: what gathers on the way through some thousand sums, as often up as down.
const mostGathered = 64

// leastCancelled is how many times smaller than a sum of terms that have nothing to do with each other one is that cancels.
const leastCancelled = 8

// cancelledMargin is how many times what errors add up to as a rule a sum may be off: three deviations.
const cancelledMargin = 3
