package compare

import (
	"precision/dump"
	"precision/graph/fusion"
)

// The dump of an operator that FFTS+ ran in slices holds the inputs of the
// first slice only. What such an input is worth is seen at the operator that
// produces it, whose output is put together from all slices: its row lends the
// values. Rows are held back until all groups are done when that can happen.

// heldBack tells whether rows must wait for others.
func (o *Options) heldBack() bool {
	if o.Rules == nil {
		return false
	}
	for _, op := range o.Mine.Ops {
		if op.Slicing != dump.Whole {
			return true
		}
	}
	return false
}

// markSliced notes on a row of a sliced operator what feeds the tensor.
func (e *engine) markSliced(op *fusion.Op, row *Row, mine *dumpFile) {
	if !mine.merged && mine.Slices == nil {
		return
	}
	row.sliced = true
	if !row.Input {
		return
	}
	if producer, output, err := e.opt.Rules.Producer(op, row.Slot); err == nil {
		row.producer = tensorIndex(producer.Name, false, output)
	}
}

// lendSliced fills the input rows of sliced operators from the output rows of
// the sliced operators that feed them. Rows without such a producer stay.
func lendSliced(rows []Row) {
	outputs := map[string]*Row{}
	for i := range rows {
		if r := &rows[i]; r.sliced && !r.Input && r.Slot >= 0 && r.Compared {
			outputs[r.Tensor()] = r
		}
	}
	for i := range rows {
		r := &rows[i]
		if !r.sliced || r.producer == "" {
			continue
		}
		if from := outputs[r.producer]; from != nil {
			r.Shape, r.Overflow, r.Compared, r.Result = from.Shape, from.Overflow, from.Compared, from.Result
			r.Custom, r.Reasons, r.scalar = from.Custom, from.Reasons, from.scalar
		}
	}
}
