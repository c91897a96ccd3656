package verdict

import (
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

// cancelled takes back the roots that are such sums, with what follows from these alone.
func (j *judge) cancelled(out *Judged) {
	var sums []int
	var rows []int
	for k := range out.Roots {
		if op := &j.operators[out.Roots[k].Operator]; j.cancels(op) {
			sums = append(sums, k)
			rows = append(rows, op.Outputs[0].Row)
		}
	}
	if len(sums) == 0 {
		return
	}
	follow := 0
	excuse := func(op *Operator) {
		op.State, op.From = StateGood, nil
		for i := range op.Outputs {
			if t := &op.Outputs[i]; t.Verdict.Compared() {
				t.Verdict, t.Causes = Good, nil
			}
		}
	}
	for i := range j.operators {
		op := &j.operators[i]
		only := len(op.From) > 0 && !slices.ContainsFunc(op.From, func(k int) bool { return !slices.Contains(sums, k) })
		if only && (op.State == StateInherited || op.State == StateSuspect) {
			excuse(op)
			follow++
		}
	}
	for _, k := range sums {
		excuse(&j.operators[out.Roots[k].Operator])
	}
	first := j.operators[out.Roots[sums[0]].Operator].Op.Name
	j.keepRoots(out, func(r *Root) bool { return j.operators[r.Operator].State != StateGood })
	out.Premises = append(out.Premises, Premise{Kind: PremiseCompared, Tensors: len(sums), Share: 1, Rows: rows,
		Reason: result.Because(result.Cancelled, strconv.Itoa(len(sums)), first, strconv.Itoa(follow))})
}

// cancels tells whether an operator is a sum that is off by no more than the rounding of its terms.
func (j *judge) cancels(op *Operator) bool {
	if word, _ := catalogue.Call(catalogue.Of(op.Op.Type).Error); word != "totalled" || len(op.Outputs) != 1 {
		return false
	}
	t := &op.Outputs[0]
	o, ok := operandOf(&j.table.Rows[t.Row])
	if said := t.said(); !ok || said != saidNothing && said != saidFollows || slices.ContainsFunc(t.Causes, func(c Cause) bool { return c.Kind.Jump() || c.Kind == Law }) {
		return false
	}
	rows, known := j.feeding(op)
	if !known || len(rows) == 0 {
		return false
	}
	// An error of each term, and of the sum on its way, as often up as down.
	var most float64
	for _, at := range rows {
		r := &j.table.Rows[at]
		term, ok := operandOf(r)
		rounding := (2 + math.Log2(max(1, term.count))) * max(unit(coarserOf(r)), single)
		if !ok || term.relative() > rounding { // terms are sums themselves, in another order on either side
			return false
		}
		n := max(1, term.count/max(1, o.count))
		most = math.Hypot(most, math.Sqrt(n)*(term.err.rms+rounding*term.rms))
	}
	return o.err.rms <= cancelledMargin*most
}

// cancelledMargin is how many times what errors add up to as a rule a sum may be off: three deviations.
const cancelledMargin = 3
