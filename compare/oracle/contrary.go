package oracle

import (
	"precision/dump"
	"precision/graph"
)

// A tensor that one operator makes and another takes is recorded twice: where the two differ, one
// is not what the device had, and what was recomputed from it says nothing of the kernel.

// mostHeld is how many elements of the two are held against each other: all of a small tensor, and
// of others enough to see that it was written over, exchanged or lost.
const mostHeld = 4096

// contrary adds to the findings of an operator which of its inputs are not what was recorded
// where they were made.
func (j Job) contrary(t task, r *dump.Reader, findings []Finding) {
	at := -1
	for slot, e := range t.op.Inputs {
		if e.IsControl() || e.IsEmpty() {
			continue
		}
		if at++; at >= len(r.Inputs) {
			return
		}
		differ, looked := j.held(t, r, &r.Inputs[at], descAt(t.op.InputDesc, slot), e)
		if differ == 0 {
			continue
		}
		for i := range findings {
			f := &findings[i]
			switch f.Verdict {
			case Unknown:
				continue
			case OK:
				f.Verdict = Suspect
			}
			f.Reasons = append(f.Reasons, because(Contrary, at, e.Producer(), e.Index, differ, looked))
		}
	}
}

// held is in how many elements an input and the output that an edge names were found to differ,
// and how many were looked at.
func (j Job) held(t task, r *dump.Reader, in *dump.Tensor, desc *graph.TensorDesc, e graph.Edge) (differ, looked int) {
	rec := j.Devices[t.device].Folder.Op(e.Producer())
	if rec == nil || r.Slices != nil {
		return 0, 0
	}
	made, err := rec.Newest().Open()
	if err != nil {
		return 0, 0 // told of its operator
	}
	defer made.Close()
	if made.Slices != nil || e.Index < 0 || int64(e.Index) >= int64(len(made.Outputs)) || made.Misnamed() != nil {
		return 0, 0
	}
	out := &made.Outputs[e.Index]
	if out.Type != in.Type || out.Format != in.Format || out.SubFormat != in.SubFormat {
		return 0, 0
	}
	a := someOf(r, in, desc)
	differ = unlike(a, someOf(made, out, desc))
	if differ == 0 || writtenOver(r, in, a, desc) {
		return 0, 0
	}
	return differ, len(a)
}

// writtenOver tells whether the operator put an output in the place of an input, which was
// recorded after that; some are elements of the input.
func writtenOver(r *dump.Reader, in *dump.Tensor, some []float64, desc *graph.TensorDesc) bool {
	uniform := true
	for _, v := range some {
		uniform = uniform && v == some[0]
	}
	for i := range r.Outputs {
		out := &r.Outputs[i]
		if in.Address != 0 && out.Address != 0 {
			if in.Address == out.Address {
				return true
			}
			continue
		}
		// One number everywhere is no sign of it.
		if out.Type != in.Type || out.Format != in.Format || uniform {
			continue
		}
		if b := someOf(r, out, desc); len(b) == len(some) && unlike(some, b) == 0 {
			return true
		}
	}
	return false
}

// someOf are evenly spaced elements of a tensor, nil if it cannot be read.
func someOf(r *dump.Reader, t *dump.Tensor, desc *graph.TensorDesc) []float64 {
	o, err := openOperand(r, t, desc)
	if err != nil || count(o.shape) != o.view.Len() {
		return nil
	}
	n := o.view.Len()
	idx := make([]int64, min(n, mostHeld))
	for i := range idx {
		if idx[i] = int64(i); n > mostHeld {
			idx[i] = int64(float64(i) * float64(n-1) / (mostHeld - 1))
		}
	}
	some := make([]float64, len(idx))
	if o.At(idx, some, nil) != nil {
		return nil
	}
	return some
}

// unlike is in how many places two lists differ, 0 where they are of different length.
func unlike(a, b []float64) (n int) {
	if len(a) != len(b) {
		return 0
	}
	for i := range a {
		if a[i] != b[i] && (a[i] == a[i] || b[i] == b[i]) {
			n++
		}
	}
	return n
}
