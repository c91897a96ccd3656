package verdict

import "precision/compare/result"

// lookBehind gives operators that were not recorded, or whose outputs could not be
// compared, the outputs that a consumer recorded as its input: what arrived there
// is what they made. An output that has a compared row of its own keeps it.
func (j *judge) lookBehind(ops []Operator, index map[string]int) {
	for i := range j.table.Rows {
		r := &j.table.Rows[i]
		if !r.Compared || r.Role != result.Input {
			continue
		}
		port := r.Facts.Producer
		if at, ok := index[r.Op]; ok && port.Op == "" && r.Slot >= 0 && r.Slot < len(ops[at].Op.Inputs) {
			port = ops[at].Op.Inputs[r.Slot]
		}
		at, ok := index[port.Op]
		if !ok || port.Index < 0 || !ops[at].computes() || port.Op == r.Op {
			continue
		}
		op := &ops[at]
		seen := Tensor{Row: i, Slot: port.Index, Seen: true}
		switch own := op.output(port.Index); {
		case own == nil:
			op.Outputs = append(op.Outputs, seen)
		case !j.table.Rows[own.Row].Compared && !own.Seen && j.table.Rows[own.Row].Class() != result.Empty:
			*own = seen
		}
	}
}
