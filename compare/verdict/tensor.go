package verdict

import (
	"math"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// tensor judges a row by the limits of the profile. equalInputs tells that all
// inputs of the operator are known to be equal on both sides, element by
// element. Jumps are looked for later, when all rows have been seen.
func (j *judge) tensor(op *Operator, t Tensor, equalInputs bool) Tensor {
	r := &j.table.Rows[t.Row]
	if !r.Compared && !r.Has(result.StoredShape) && !r.Has(result.WeightTransposed) {
		return t
	}
	m := measureOf(r)
	switch {
	case r.Compared && m.unknown():
		return t
	case r.Compared:
		t.Causes = j.causes(r, &m, j.about(op, &t), equalInputs)
	}
	if j.table.Meta.Stored {
		j.keeps(&t, r, j.about(op, &t))
	}
	j.chosen(op, &t, r, equalInputs)
	if len(t.Causes) > 0 {
		j.profile.waive(j.tensorName(op, &t), t.Causes, j.day)
	}
	t.settle()
	if t.Depends { // unless its error is more than what it depends on explains
		t.Verdict = Uncompared
	}
	return t
}

// settle sets the verdict from the causes.
func (t *Tensor) settle() {
	sortCauses(t.Causes)
	t.Verdict = Good
	for _, c := range t.Causes {
		switch {
		case c.Waived:
		case !c.Kind.Suspicion():
			t.Verdict = Bad
			return
		default:
			t.Verdict = Suspect
		}
	}
}

// causes lists what limits a compared row does not keep.
func (j *judge) causes(r *result.Row, m *measure, s subject, equalInputs bool) (list []Cause) {
	// over adds a cause whose value is beyond its limit, and tells whether it is.
	// NaN is beyond any.
	over := func(kind Kind, value float64, count, first int64) bool {
		limit, on := j.profile.limit(kind, s)
		within := value <= limit
		if kind == Cosine {
			within = value >= limit
		}
		if !on || within {
			return false
		}
		list = append(list, Cause{Kind: kind, Value: value, Limit: limit, Count: count, Of: max(m.n, 0), First: first})
		return true
	}
	share := func(count int64) float64 { return float64(count) / float64(m.n) }

	if r.Saturated != nil && r.Saturated.Count > 0 {
		over(Saturated, share(r.Saturated.Count), r.Saturated.Count, -1)
	}
	for _, reason := range r.Reasons {
		if reason.Kind == result.RealPartOnly || reason.Kind == result.LeftRealPartOnly {
			over(Imaginary, 1, 0, -1)
		}
	}
	if f := m.facts; f != nil {
		if n := f.NaN.X + f.NaN.Y; n > 0 {
			over(NaN, share(n), n, f.FirstDisagree.Index)
		}
		// An infinity against a NaN is told as NaN.
		if n := f.Disagree - f.NaN.X - f.NaN.Y; n > 0 {
			over(Inf, share(n), n, f.FirstDisagree.Index)
		}
		if counted(r.Right.DType) && j.counts(r) {
			if f.Differ > 0 {
				if !over(Integers, share(f.Differ), f.Differ, f.FirstDiffer.Index) && (equalInputs || noIndex(&f.FirstDiffer) || noIndex(&f.Worst)) {
					if _, on := j.profile.limit(Integers, s); on { // equal inputs give equal integers
						list = append(list, Cause{Kind: Integers, Value: share(f.Differ), Count: f.Differ, Of: m.n, First: f.FirstDiffer.Index})
					}
				}
			}
			return list
		}
		if tol := j.profile.ToleranceFor(s.op, s.typ, s.dtype); tol.Abs+tol.Rel > 0 {
			over(Tolerance, share(f.Outside), f.Outside, f.Worst.Index)
		}
		if m.finite == 0 {
			return list // the same NaN and Inf on both sides
		}
	} else if m.diverged() {
		over(NaN, 1, 0, -1)
		return list
	}
	if errors := j.errors(r, m, over); errors && j.underflow(r, m) {
		// Numbers that the coarser dtype cannot tell from zero are no error.
		kept := list[:0]
		for _, c := range list {
			if k := c.Kind; k != Cosine && k != Distance && k != Zeros && k != Scalar {
				kept = append(kept, c)
			}
		}
		list = kept
		over(Underflow, 1, m.n, -1)
	}
	return list
}

// noIndex tells of an element that differs that it is no index and no count, which noise may
// move: no tensor has so many elements. It is an id, a hash or a seed, and none may differ.
func noIndex(e *metric.Element) bool {
	return math.Abs(e.X) >= 0x1p53 && math.Abs(e.Y) >= 0x1p53
}

// Unequal tells of a tensor that is good by its limits that elements which are counted (ids,
// flags, indices) differ all the same, and how many.
func (j *Judged) Unequal(t *Tensor) (differ, of int64) {
	r := j.Row(t)
	if t.Verdict != Good || !r.Compared || t.Number || r.Chosen != nil || !counted(r.Left.DType) || !counted(r.Right.DType) {
		return 0, 0
	}
	f := &r.Result().Facts
	return f.Differ, f.N
}

// errors looks at the sizes of errors: by relative error where there is but one
// number to speak of, else by cosine and distance. It tells whether a limit
// was not kept.
func (j *judge) errors(r *result.Row, m *measure, over func(Kind, float64, int64, int64) bool) bool {
	found := false
	tell := func(kind Kind, value float64) { found = over(kind, value, 0, j.worst(m)) || found }
	left, right := m.zeroSides()
	switch {
	case left && right:
	case left || right:
		other := magnitude(&m.facts.X)
		if left {
			other = magnitude(&m.facts.Y)
		}
		// What the coarser dtype rounds to zero is zero.
		if other > smallest(r, dtype.Type.MinSubnormal) {
			tell(Zeros, other)
		}
	case m.facts == nil && math.IsNaN(m.cosine):
		// An imported row without a cosine: a scalar, or a side of zeros, or
		// the column is missing.
		switch {
		case m.n > 1 && !math.IsNaN(m.distance):
			tell(Distance, m.distance)
		case !math.IsNaN(m.relative):
			tell(Scalar, m.relative)
		case !math.IsNaN(m.distance):
			tell(Distance, m.distance)
		}
	case m.scalar():
		value := m.relative
		if m.facts != nil {
			value = m.maxAbs / magnitude(&m.facts.Y)
		}
		tell(Scalar, value)
	default:
		tell(Cosine, m.cosine)
		if !math.IsNaN(m.distance) || m.facts != nil {
			tell(Distance, m.distance)
		}
	}
	return found
}

// worst is the place of the largest error, -1 if it is not known.
func (j *judge) worst(m *measure) int64 {
	if m.facts == nil {
		return -1
	}
	return m.facts.Worst.Index
}

// underflow tells whether all golden values lie below the smallest normal
// number of the coarser dtype, where it has few digits or none, and the left
// side does not stand out of that range either.
func (j *judge) underflow(r *result.Row, m *measure) bool {
	if m.facts == nil {
		return false
	}
	small := smallest(r, dtype.Type.MinNormal)
	return small > 0 && magnitude(&m.facts.Y) > 0 && magnitude(&m.facts.Y) < small && magnitude(&m.facts.X) < small
}

// smallest is a small number of the coarser dtype of a row: the least normal one, or the spacing below it. Of products with scales it is as
// much smaller as the largest of them is than the largest number of the type.
func smallest(r *result.Row, of func(dtype.Type) float64) float64 {
	t := coarserOf(r)
	if f := &r.Result().Facts; r.Has(result.TimesScales) && t.Max() > 0 {
		return of(t) * max(magnitude(&f.X), magnitude(&f.Y)) / t.Max()
	}
	return of(t)
}

// coarserOf is the coarsest dtype of a row.
func coarserOf(r *result.Row) dtype.Type { return coarser(r.Left.DType, r.Right.DType) }
