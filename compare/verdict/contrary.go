package verdict

import (
	"precision/compare/metric"
	"precision/compare/result"
)

// contrary names inputs that are bad although what made them is good, where the operator itself
// is not bad: the same tensor was recorded twice, and one of the two is not what the device had.
// A difference of two equal inputs hides it, and so does a Relu of what is negative either way. Of operators that are
// bad or suspect it is told with the root.
func (j *judge) contrary() (names []string, all int) {
	for i := range j.operators {
		op := &j.operators[i]
		for t, from := range j.feeds(op) {
			if t == nil || !t.Verdict.Compared() {
				continue
			}
			made := j.source(from.Port)
			if made == nil || made.Row == t.Row || !made.Verdict.Compared() {
				continue
			}
			all++
			if t.Verdict == Bad && made.Verdict == Good && (op.State == StateGood || op.State == StateUncompared) && j.otherwise(op, t, made) {
				names = append(names, j.table.Rows[t.Row].Tensor())
			}
		}
	}
	return names, all
}

// source is the output that an input was made as: that of the port, or where the compiler put
// something between that has no counterpart, what that was fed with. It is nil where that was
// not compared.
func (j *judge) source(from result.Port) *Tensor {
	for range len(j.operators) {
		op := j.named(from.Op)
		if op == nil {
			return nil
		}
		t := op.output(from.Index)
		if t != nil && t.Verdict.Compared() {
			return t
		}
		if !op.Op.Inserted && !Passthrough(op.Op.Type) || len(op.Op.Inputs) == 0 {
			return nil
		}
		from = op.Op.Inputs[0]
	}
	return nil
}

// otherwise tells whether an input holds other numbers than what made it, and not those that its
// own operator wrote in their place.
func (j *judge) otherwise(op *Operator, t, made *Tensor) bool {
	in, out := &j.table.Rows[t.Row], &j.table.Rows[made.Row]
	if in.Facts.Sliced || holdsSame(in, out) {
		return false
	}
	for k := range op.Outputs {
		own := &j.table.Rows[op.Outputs[k].Row]
		a, b := in.Left.Address, own.Left.Address
		switch known := a != nil && b != nil && *a != 0 && *b != 0; {
		case known && *a == *b:
			return false
		case known: // it has a place of its own
		case !in.Result().Facts.X.Constant() && holdsSame(in, own):
			return false
		}
	}
	return true
}

// holdsSame tells whether the left tensors of two rows hold the same numbers, as far as their
// extremes and sums show, and where their golden tensors do, their errors.
func holdsSame(a, b *result.Row) bool {
	x, y := &a.Result().Facts, &b.Result().Facts
	if !x.Known || !y.Known || a.Left.DType != b.Left.DType || x.N != y.N || !alike(&x.X, &y.X) {
		return false
	}
	return !alike(&x.Y, &y.Y) || x.MaxAbs == y.MaxAbs && x.Worst.Index == y.Worst.Index && x.Differ == y.Differ
}

// alike tells whether two sides have the same extremes, mean and zeros.
func alike(a, b *metric.SideFacts) bool {
	same := func(x, y float64) bool { return x == y || x != x && y != y }
	return a.NaN == b.NaN && a.Inf == b.Inf && a.Zero == b.Zero && same(a.Lo, b.Lo) && same(a.Hi, b.Hi) && same(a.Mean, b.Mean)
}
