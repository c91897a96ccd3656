package verdict

import (
	"slices"

	"precision/compare/result"
	catalogue "precision/op"
)

// Passthrough tells whether operators of a type run no kernel where they leave no dump: they only give tensors another
// shape, which the compiler made a change of address, or control others.
func Passthrough(opType string) bool {
	return catalogue.Is(opType, catalogue.Reshapes|catalogue.Control)
}

// computes tells whether a kernel computes the operator's outputs.
func computes(op *result.Operator) bool {
	return !op.Constant && !op.Feed && !catalogue.Is(op.Type, catalogue.Constant|catalogue.Feed)
}

// computes tells it of an operator that is judged.
func (o *Operator) computes() bool {
	return !o.Op.Constant && !o.Op.Feed && o.row.Traits&(catalogue.Constant|catalogue.Feed) == 0
}

// coverage counts the outputs of compute operators: those that a graph gives them or that
// either side recorded, whether or not they could be compared.
func (j *judge) coverage() Coverage {
	c := Coverage{Missing: map[result.Class]int{}}
	for i := range j.operators {
		op := &j.operators[i]
		if !op.computes() {
			for _, t := range op.Outputs {
				if t.Verdict.Compared() {
					c.Constants++
				}
			}
			continue
		}
		j.expect(op, &c)
		for _, t := range op.Inputs { // weights that were compared
			p := j.table.Rows[t.Row].Facts.Producer
			if from := j.named(p.Op); t.Verdict.Compared() && from != nil && !from.computes() {
				c.Constants++
			}
		}
	}
	j.ungiven(&c)
	return c
}

// ungiven counts the inputs of the network that the left side alone has: whether both runs were fed
// alike is not known. Of weights frameworks rarely record any.
func (j *judge) ungiven(c *Coverage) {
	if j.table.Meta.Recorded {
		return
	}
	compared := map[result.Port]bool{} // by what was recorded of a network input
	var list []result.Port
	see := func(from *Operator, p result.Port, t *Tensor) {
		if from == nil || from.Op.Constant || !from.Op.Feed && from.row.Traits&catalogue.Feed == 0 {
			return
		}
		if j.table.Rows[t.Row].Why() == result.NoGolden && !slices.Contains(list, p) && !j.waived(from, p.Index) {
			list = append(list, p)
		}
		compared[p] = compared[p] || t.Verdict.Compared()
	}
	for i := range j.operators {
		op := &j.operators[i]
		for k := range op.Outputs {
			see(op, result.Port{Op: op.Op.Name, Index: op.Outputs[k].Slot}, &op.Outputs[k])
		}
		for t, from := range j.feeds(op) {
			if t != nil {
				see(from.by, from.Port, t)
			}
		}
	}
	for _, p := range list {
		if compared[p] {
			continue
		}
		c.Ungiven.add(p.Op, result.Output, p.Index, 1)
	}
}

// add adds n tensors, the first of which is one of an operator.
func (m *Missed) add(op string, role result.Role, slot, n int) {
	if m.Count += n; len(m.Names) < mostNames {
		m.Names = append(m.Names, result.TensorName(op, role, slot))
	}
}

// expect counts the outputs of an operator.
func (j *judge) expect(op *Operator, c *Coverage) {
	// No framework operator has its outputs, but for those that the graph names one of.
	aside := op.Op.Inner || op.Op.Skipped
	lose := func(slot, n int) { c.Lost.add(op.Op.Name, result.Output, slot, n) }
	for _, t := range op.Inputs {
		// Weights may be in a layout of the device, of which recorders take no statistics.
		if r := &j.table.Rows[t.Row]; halfRecorded(r) && !t.Verdict.Compared() && !isWeight(op, r.Recorded.Place) {
			c.Ungiven.add(op.Op.Name, result.Input, t.Slot, 1)
		}
	}
	missing := func(slot, n int, class result.Class, unpaired bool) {
		if n <= 0 {
			return
		}
		c.Expected += n
		c.Missing[class] += n
		// What the graph names no golden tensor for, no framework could record; without its word
		// that is what the compiler added. What it added to move elements stands for what it was
		// fed with, which is lost there if it is.
		added := class == result.NoGolden && op.Op.Inserted && (j.table.Meta.Pairing.How != result.ByGraph || catalogue.Is(op.Op.Type, catalogue.Moves))
		switch {
		case unpaired || added:
		case j.waived(op, slot):
			c.Waived += n
		default:
			lose(slot, n)
		}
	}
	slots := 0
	for _, t := range op.Outputs {
		r := &j.table.Rows[t.Row]
		slots = max(slots, t.Slot+1)
		switch {
		case t.Verdict.Compared() && !t.Alone:
			c.Expected++
			c.Compared++
			if r.Recorded != nil && !r.Compared && !proven(r) {
				c.Statistics++
			}
			if t.Seen && j.undumped(op) && !j.waived(op, t.Slot) {
				lose(t.Slot, 1) // what a consumer recorded is all there is of it
			}
		case elementless(r), silent(r) && !r.Has(result.ScalesUnknown), oneSidedValue(r):
		case aside && (op.Op.Skipped || r.Facts.Unpaired):
		default:
			missing(t.Slot, 1, r.Why(), r.Facts.Unpaired)
		}
	}
	// What the graph promises beyond that; of an operator without rows it may be that it
	// ran no kernel, or that it was left out on purpose.
	class := result.NoDump
	switch {
	case aside:
		// The outputs of quantisers have no counterpart; their dumps are missed all the same.
		if op.Op.Skipped && len(op.Whole) > 0 && !j.table.Meta.Partial && j.table.Rows[op.Whole[0]].Why() == result.NoDump {
			lose(0, 1)
		}
		return
	case len(op.Outputs) > 0:
	case len(op.Whole) > 0:
		r := &j.table.Rows[op.Whole[0]]
		if class = r.Why(); class != result.Unreadable && (op.Op.NoKernel || Passthrough(op.Op.Type)) || class == result.Empty && op.Op.Outputs == 0 {
			return
		}
	case len(op.Inputs) > 0 && op.Op.Dumped && !j.table.Meta.Recorded && op.Op.Outputs > 0: // the dump has inputs alone
	case !j.undumped(op):
		return
	}
	if len(op.Outputs) == 0 {
		missing(0, max(1, op.Op.Outputs), class, false)
		return
	}
	if !j.table.Meta.Recorded { // rows of recordings are those of both sides
		missing(slots, op.Op.Outputs-slots, class, false)
	}
}

// halfRecorded tells that one side alone has the extremes of a tensor of a call, of which nothing else
// was compared.
func halfRecorded(r *result.Row) bool {
	const extremes = result.KnownMax | result.KnownMin
	return r.Recorded != nil && r.Has(result.NoStatistics) && r.Recorded.Left.Has(extremes) != r.Recorded.Right.Has(extremes)
}

// undumped tells that a graph has the operator, that it runs a kernel, and that there is no
// recording of it although none was left out on purpose.
func (j *judge) undumped(op *Operator) bool {
	return op.Op.Outputs > 0 && !op.Op.Dumped && !op.Op.NoKernel && !Passthrough(op.Op.Type) && !op.Op.Inner && !op.Op.Skipped &&
		!j.table.Meta.Partial && !j.table.Meta.Recorded
}

// elementless tells that a tensor has no elements to compare on either side.
func elementless(r *result.Row) bool {
	if r.Compared {
		return r.Result().N == 0 && r.Shape != nil && elements(r.Shape) == 0
	}
	return r.Left.Shape != nil && r.Right.Shape != nil && elements(r.Left.Shape) == 0 && elements(r.Right.Shape) == 0
}

// waived tells whether a waiver takes an output out of what has to be compared.
func (j *judge) waived(op *Operator, slot int) bool {
	causes := []Cause{{Kind: Missing}}
	j.profile.waive(result.TensorName(op.Op.Name, result.Output, slot), causes, j.day)
	return causes[0].Waived
}
