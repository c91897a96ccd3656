package verdict

import "slices"

// An infinity that stands for a golden value beyond the range of float16 is
// saturation. Behind a cast to float32 the same infinity is within no range that
// would excuse it: what came in saturated goes on as saturated where data are only
// moved.

// passSaturation takes infinities of a tensor for saturation if the one it was
// made from, nil if that is not known, is saturated in as many elements.
func (j *judge) passSaturation(t, from *Tensor) {
	if from == nil {
		return
	}
	at := slices.IndexFunc(t.Causes, func(c Cause) bool { return c.Kind == Inf })
	sat := slices.IndexFunc(from.Causes, func(c Cause) bool { return c.Kind == Saturated })
	if at < 0 || sat < 0 || t.Causes[at].Count > from.Causes[sat].Count {
		return
	}
	if f := &j.table.Rows[t.Row].Result().Facts; f.Inf.Y > 0 || f.NaN.X+f.NaN.Y > 0 {
		return
	}
	t.Causes[at].Kind = Saturated
	t.settle()
}

// producerOf is the judged output that an input was made from, nil if it is not
// known.
func (j *judge) producerOf(op *Operator, in *Tensor) *Tensor {
	from, index := j.makerOf(op, in)
	if from == nil {
		return nil
	}
	return from.output(index)
}

// makerOf is the operator that produces an input, and as which of its outputs; nil if it is not known.
func (j *judge) makerOf(op *Operator, in *Tensor) (*Operator, int) {
	port := j.table.Rows[in.Row].Facts.Producer
	if port.Op == "" && in.Slot < len(op.Op.Inputs) {
		port = op.Op.Inputs[in.Slot]
	}
	return j.named(port.Op), port.Index
}
