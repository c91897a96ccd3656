package verdict

import (
	"slices"

	"precision/compare/result"
)

// otherWeight are reasons by which a weight is another than that of the other side.
var otherWeight = []result.Kind{result.WeightStep, result.WeightNear, result.WeightQuantised, result.WeightElsewhere, result.WeightConstant,
	result.WeightTransposed, result.WeightUnlike}

// stored judges tensors that were stored under names: each by itself, as none is made of another.
func (j *judge) stored(out *Judged) {
	for i := range j.operators {
		j.judgeTensors(&j.operators[i])
	}
	j.states(out)
	for i := range j.operators {
		op := &j.operators[i]
		if op.State != StateBad && op.State != StateSuspect {
			continue
		}
		r := j.rootOf(op, i)
		if r.Certainty = Certain; len(r.Causes) > 0 && r.Causes[0].Kind == Given {
			r.Kind = RootWeight
		}
		out.Roots = append(out.Roots, r)
	}
}

// keeps settles a tensor that was stored: a weight of another sort, or one of another shape, is bad however little it differs; one in
// a form that computes the same is good however much. A tensor that differs where most do not is suspect.
func (j *judge) keeps(t *Tensor, r *result.Row, s subject) {
	add := func(kind Kind) {
		value := 1.0
		if r.Compared {
			if m := measureOf(r); m.distance == m.distance {
				value = m.distance
			}
		}
		if limit, on := j.profile.limit(kind, s); on {
			t.Causes = append(t.Causes, Cause{Kind: kind, Value: value, Limit: limit, First: -1})
		}
	}
	switch has := func(kinds ...result.Kind) bool {
		return slices.ContainsFunc(r.Reasons, func(x result.Reason) bool { return slices.Contains(kinds, x.Kind) })
	}; {
	case has(result.WeightPermuted, result.WeightRotated):
		t.Causes = nil
	case has(result.StoredShape):
		add(Form)
	case has(otherWeight...):
		add(Given)
	case has(result.StoredDiffers):
		add(Differs)
	}
}
