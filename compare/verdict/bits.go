package verdict

import (
	"math"

	"precision/compare/result"
)

// Bits is what two runs of one network on an NPU differ in, element by element.
type Bits struct {
	// Equal and Differing count compared outputs.
	Equal, Differing int
	// First are the operators whose outputs differ although all their inputs
	// are equal, as places in execution order: not deterministic, or changed
	// between versions. Where inputs are not known an operator is not among
	// them.
	First []int
}

// bits compares two runs. It is nil unless both sides are recordings of an NPU.
func (j *judge) bits() *Bits {
	if j.table.Meta.Left.Kind != KindNPU || j.table.Meta.Right.Kind != KindNPU {
		return nil
	}
	b := &Bits{}
	for i := range j.operators {
		op := &j.operators[i]
		differs := false
		for _, t := range op.Outputs {
			if equal, known := j.equal(t); known {
				if equal {
					b.Equal++
				} else {
					b.Differing++
					differs = true
				}
			}
		}
		if !differs {
			continue
		}
		same := true
		for _, t := range op.Inputs {
			equal, known := j.equal(t)
			same = same && known && equal
		}
		for slot := range op.Op.Inputs { // of each that is connected something must be known
			same = same && (op.Op.Inputs[slot].Op == "" || op.input(slot) != nil || len(op.Inputs) == 0)
		}
		if same && (len(op.Inputs) > 0 || len(op.Op.Inputs) == 0 && b.Differing == 1) {
			b.First = append(b.First, i)
		}
	}
	return b
}

// KindNPU is the kind of a side that was recorded on an NPU.
const KindNPU = "npu"

// equal tells whether the two sides of a tensor are equal element by element.
func (j *judge) equal(t Tensor) (equal, known bool) {
	r := &j.table.Rows[t.Row]
	if !r.Compared || !r.Result().Facts.Known {
		return false, false
	}
	return r.Result().Facts.BitEqual, true
}

// noisy tells whether a second run of the same network differs from the left
// side by as much as golden does: half of its distance or more.
func (j *judge) noisy(t *Tensor) bool {
	if j.opts.Second == nil {
		return false
	}
	r := &j.table.Rows[t.Row]
	if !r.Compared {
		return false
	}
	if j.second == nil {
		j.second = tensors(j.opts.Second)
	}
	s := j.second[r.Tensor()]
	if s == nil || !s.Compared {
		return false
	}
	here, again := measureOf(r), measureOf(s)
	if f := again.facts; f != nil && f.Disagree > 0 {
		return here.facts != nil && here.facts.Disagree > 0
	}
	return !math.IsNaN(here.distance) && again.distance >= here.distance/2
}

// tensors indexes the rows of a table that are tensors by name.
func tensors(t *result.Table) map[string]*result.Row {
	m := make(map[string]*result.Row, len(t.Rows))
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Role != result.Whole {
			m[r.Tensor()] = r
		}
	}
	return m
}
