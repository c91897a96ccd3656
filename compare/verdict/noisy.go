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
	var list []float64
	for i := range w.operators {
		if f, ok := w.leap(&w.operators[i]); ok {
			list = append(list, f)
		}
	}
	w.usual = 1
	if len(list) >= 10 {
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
		if use := w.byName[name]; use != nil {
			add(use.Inputs)
			add(use.Outputs)
		}
	}
	return sum, found
}

// mostLeap is how many times the usual a call may add before it is an origin.
const mostLeap = 8

// leaps tells whether a call adds more error than noise explains.
func (w *recordedWalk) leaps(op *Operator) bool {
	f, ok := w.leap(op)
	return ok && (f > mostLeap*w.usual || math.IsNaN(f))
}

// gap tells whether an input is off by far more than what feeds it, or, where that
// is not known, than anything before.
func (w *recordedWalk) gap(r *result.Row, calls []string) bool {
	size, known := sizeOf(r)
	if !known || counted(r.Left.DType) {
		return false
	}
	level := w.level
	if len(calls) > 0 {
		level = 0
		for _, name := range calls {
			for _, t := range w.byName[name].Outputs {
				if s, known := sizeOf(w.row(&t)); known {
					level = max(level, s)
				}
			}
		}
	}
	return size > mostLeap*w.usual*(level+noiseFloor*roundedOff(r))
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
