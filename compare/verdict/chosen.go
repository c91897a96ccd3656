package verdict

import (
	"slices"

	"precision/compare/result"
)

// Choices between near equals
//
// Where a row has [result.Row.Chosen], the engine looked at choices by scores: what
// noise explains is no fault, and what follows from it cannot be compared.

// fedBadly tells whether what made a tensor is wrong by itself: an error that large is no
// noise, and what it makes choices come to is inherited like anything else.
func (j *judge) fedBadly(op *Operator, t *Tensor, r *result.Row) bool {
	if r.Role == result.Input {
		from := j.producerOf(op, t)
		return from != nil && from.Verdict == Bad
	}
	return slices.ContainsFunc(op.Inputs, func(in Tensor) bool { return in.Verdict == Bad })
}

// chosenOf is the second look at a row, without what depends on choices; ok is
// false where there is none, or nothing is left.
func chosenOf(r *result.Row) (m measure, ok bool) {
	c := r.Chosen
	if c == nil || c.Left == 0 || c.Result.N == 0 {
		return m, false
	}
	return measureOfResult(r, &c.Result), true
}

// depends tells whether all elements of a row that are left depend on choices that
// differ, or may.
func depends(r *result.Row) bool {
	c := r.Chosen
	return c != nil && (c.Mixed || c.Left > 0 && c.Result.N == 0)
}

// chosen judges a row again by what its choices come to.
func (j *judge) chosen(op *Operator, t *Tensor, r *result.Row, equalInputs bool) {
	c := r.Chosen
	if c == nil {
		return
	}
	s := j.about(op, t)
	if wrong := c.Differ - c.Explained; wrong > 0 && !c.Unknown {
		// Not one choice may be wrong, however few there are.
		if _, on := j.profile.limit(Integers, s); on && counted(r.Left.DType) {
			t.Causes = []Cause{{Kind: Integers, Value: float64(wrong) / float64(c.Choices), Count: wrong, Of: c.Choices, First: r.Result().Facts.FirstDiffer.Index}}
		}
		return
	}
	if len(t.Causes) == 0 || j.fedBadly(op, t, r) {
		return
	}
	if m, ok := chosenOf(r); ok {
		t.Causes = j.causes(r, &m, s, equalInputs)
	}
	finite := !slices.ContainsFunc(t.Causes, func(c Cause) bool { return c.Kind == NaN || c.Kind == Inf }) // which no choice makes
	t.Depends = len(t.Causes) > 0 && finite && (depends(r) || c.Unknown)
}
