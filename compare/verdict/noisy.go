package verdict

import (
	"math"
	"slices"

	"precision/compare/result"
)

// noiseFloor is how many roundoffs of the coarser dtype a call adds at least.
const noiseFloor = 4

// learn finds how much calls add to the errors of their inputs as a rule: the
// factor that nine of ten stay below, at least 1.
func (w *recordedWalk) learn() {
	var list, strays []float64
	for i := range w.operators {
		op := &w.operators[i]
		if f, ok := w.leap(op); ok {
			list = append(list, f)
		}
		for k := range op.Inputs {
			r := w.row(&op.Inputs[k])
			if size, known := sizeOf(r); known && !r.Recorded.Argument && r.Left.DType.IsFloat() && w.named(r.Facts.Producer.Op) == nil && w.named(r.Recorded.Golden.Op) == nil {
				strays = append(strays, size)
			}
		}
	}
	if len(strays) > 0 {
		slices.Sort(strays)
		w.strays = strays[len(strays)*9/10]
	}
	w.usual = 1
	if w.unlearned = len(list) < 10; !w.unlearned {
		slices.Sort(list)
		w.usual = max(1, list[len(list)*9/10])
	}
}

// leap is how many times the error of an output is what the errors of what went in
// and rounding make of it; of the worst output.
func (w *recordedWalk) leap(op *Operator) (factor float64, ok bool) {
	in, found := w.incoming(op)
	for k := range op.Outputs {
		r := w.row(&op.Outputs[k])
		size, known := sizeOf(r)
		if !known || counted(r.Left.DType) {
			continue
		}
		ok = true
		factor = max(factor, size/(in+noiseFloor*roundedOff(r)))
	}
	return factor, ok && found
}

// incoming is the error that arrives at a call: that of its inputs together, and of
// the calls it uses.
func (w *recordedWalk) incoming(op *Operator) (sum float64, found bool) {
	add := func(list []Tensor) {
		for k := range list {
			if size, known := sizeOf(w.row(&list[k])); known {
				sum += size
				found = true
			}
		}
	}
	add(op.Inputs)
	for _, name := range op.Op.Uses {
		if use := w.named(name); use != nil {
			add(use.Inputs)
			add(use.Outputs)
		}
	}
	return sum, found
}

// mostLeap is how many times the usual a call may add before it is an origin.
const mostLeap = 8

// leaps tells whether a call adds more error than noise explains. Where there are
// too few calls to learn the noise from, one whose inputs are all the same may not be
// beyond the limits.
func (w *recordedWalk) leaps(op *Operator) bool {
	f, ok := w.leap(op)
	return ok && (f > mostLeap*w.usual || math.IsNaN(f)) || w.unlearned && ok && op.State == StateBad && w.unchanged(op)
}

// unchanged tells whether all that goes into a call is the same to the last bit.
func (w *recordedWalk) unchanged(op *Operator) bool {
	return len(op.Inputs) > 0 && !slices.ContainsFunc(op.Inputs, func(t Tensor) bool { return agreementOf(w.row(&t)) != same })
}

// elementwise tells whether the tensors that go into a call were compared element by
// element.
func (w *recordedWalk) elementwise(op *Operator) bool {
	return !slices.ContainsFunc(op.Inputs, func(t Tensor) bool {
		r := w.row(&t)
		return !r.Recorded.Argument && !r.Compared
	})
}

// gap tells whether an input is not what feeds it, or, where that is not known, off
// by far more than other inputs of that sort and than anything before.
func (w *recordedWalk) gap(r *result.Row, calls []string) bool {
	if len(calls) > 0 {
		return w.broken(r, r.Recorded.Golden, func(r *result.Row) *result.Said { return r.Recorded.Left }) ||
			w.broken(r, r.Facts.Producer, func(r *result.Row) *result.Said { return r.Recorded.Right })
	}
	size, known := sizeOf(r)
	if !known || counted(r.Left.DType) {
		return false
	}
	return size > mostLeap*max(w.strays, roundedOff(r)) && size > 3*w.level
}

// broken tells whether an input is what an output is on one side, which says what
// feeds it, and is something else on the other.
func (w *recordedWalk) broken(r *result.Row, from result.Port, other func(*result.Row) *result.Said) bool {
	op := w.named(from.Op)
	if op == nil {
		return false
	}
	t := op.output(from.Index)
	if t == nil {
		return false
	}
	a, b := other(r), other(w.row(t))
	const all = result.KnownMax | result.KnownMin | result.KnownNorm
	if !a.Has(all) || !b.Has(all) {
		return false
	}
	limit := mostLeap * max(roundedOff(r), roundedOff(w.row(t)))
	far := func(x, y, scale float64) bool { return math.Abs(x-y) > limit*scale }
	peak := math.Max(math.Abs(b.Stats.Max), math.Abs(b.Stats.Min))
	return far(a.Stats.Max, b.Stats.Max, peak) || far(a.Stats.Min, b.Stats.Min, peak) || far(a.Stats.Norm, b.Stats.Norm, math.Abs(b.Stats.Norm))
}

// raise notes the errors of the outputs of a call.
func (w *recordedWalk) raise(op *Operator) {
	for k := range op.Outputs {
		if size, known := sizeOf(w.row(&op.Outputs[k])); known && !math.IsInf(size, 0) {
			w.level = max(w.level, size)
		}
	}
}

// calm takes back what limits said of outputs whose errors noise explains, where no
// root is behind them.
func (w *recordedWalk) calm() {
	for i := range w.operators {
		op := &w.operators[i]
		if op.State != StateBad && op.State != StateInherited || len(w.origin[i]) > 0 {
			continue
		}
		if f, ok := w.leap(op); !ok || f > mostLeap*w.usual {
			continue
		}
		op.State = StateGood
		for k := range op.Outputs {
			t := &op.Outputs[k]
			t.Causes = slices.DeleteFunc(t.Causes, func(c Cause) bool {
				return c.Kind == Cosine || c.Kind == Distance || c.Kind == Scalar || c.Kind == Statistics
			})
			if t.Verdict != Uncompared {
				t.settle()
			}
			op.State = max(op.State, [...]State{StateUncompared, StateGood, StateSuspect, StateBad}[t.Verdict])
		}
	}
}
