package engine

import (
	"precision/compare/result"
	"precision/dump"
)

// The dump of an operator that FFTS+ ran in slices holds the inputs of the
// first slice only. What such an input is worth is seen at the operator that
// produces it, whose output is put together from all slices: its row lends the
// values. Rows are held back until all groups are done when that can happen.

// revision tells whether rows must wait for others, and what is done then.
func (f *Folders) Revision() func([]result.Row) {
	if !f.byGraph() {
		return nil
	}
	for _, op := range f.Left.Ops {
		if op.Slicing != dump.Whole {
			return lendSliced
		}
	}
	return nil
}

// markSliced notes that a row is one of a sliced operator.
func (e *engine) markSliced(row *result.Row, left *dumpFile) {
	if !left.merged && left.Slices == nil {
		return
	}
	row.Facts.Sliced = true
}

// lendSliced fills the input rows of sliced operators from the output rows of
// the sliced operators that feed them. Rows without such a producer stay.
func lendSliced(rows []result.Row) {
	outputs := map[string]*result.Row{}
	for i := range rows {
		if r := &rows[i]; r.Facts.Sliced && r.Role == result.Output && r.Compared {
			outputs[r.Tensor()] = r
		}
	}
	for i := range rows {
		r := &rows[i]
		if !r.Facts.Sliced || r.Role != result.Input || r.Facts.Producer.Op == "" {
			continue
		}
		p := r.Facts.Producer
		from := outputs[result.TensorName(p.Op, result.Output, p.Index)]
		if from == nil {
			continue
		}
		if !r.Compared { // what it was compared with is not that of its own dump
			r.Left.Shape, r.Right.Shape = nil, nil
		}
		r.Shape, r.Overflow, r.Compared, r.Metrics, r.Saturated = from.Shape, from.Overflow, from.Compared, from.Metrics, from.Saturated
		r.Custom, r.Reasons, r.Facts.Scalar = from.Custom, from.Reasons, from.Facts.Scalar
	}
}
