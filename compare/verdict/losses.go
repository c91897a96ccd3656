package verdict

import (
	"slices"

	"precision/compare/result"
	catalogue "precision/op"
)

// fewDamaged is one in how many may be damaged for a verdict to stand on the others: more than
// a hundredth is no accident of one file.
const fewDamaged = 100

// mostNames is how many names a loss carries; faces tell the first ones.
const mostNames = 100

// losses lists what the verdict does without, the gravest first.
func (j *judge) losses(out *Judged) []Loss {
	list := Losses(out.Coverage, out.Damaged, out.Outputs)
	m := &j.table.Meta
	if names := m.Pairing.Alone(); len(names) > 0 || m.Pairing.Unpaired > 0 {
		n := max(len(names), m.Pairing.Unpaired)
		at := 0
		if len(list) > 0 && list[0].Kind == LossCoverage {
			at = 1
		}
		list = slices.Insert(list, at, Loss{Kind: LossPartners, Count: n, Of: n + m.Pairing.Paired, Names: first(names), Breaks: true})
	}
	if names, of := j.contrary(); len(names) > 0 {
		list = append(list, Loss{Kind: LossContrary, Count: len(names), Of: of, Names: first(names)})
	}
	for i := range out.Premises { // one of the two was not what ran
		if p := &out.Premises[i]; p.Reason.Kind == result.GivenNear {
			list = append(list, Loss{Kind: LossGiven, Count: p.Tensors, Names: []string{p.Reason.Arg(0)}})
		}
	}
	if names, of := j.unlike(); max(len(names), m.Strangers) > 0 {
		n := max(len(names), m.Strangers)
		if len(names) < m.Strangers {
			names = m.Strange
		}
		// Of another network's graph nothing that follows holds.
		list = append(list, Loss{Kind: LossGraph, Count: n, Of: max(of, m.Dumped), Names: first(names), Breaks: 2*m.Strangers > m.Dumped})
	}
	if m.Imported {
		list = append(list, Loss{Kind: LossTable, Count: 1})
	}
	return list
}

// unlike are the operators whose headers are not what the graph says of them, of so many.
func (j *judge) unlike() (names []string, of int) {
	for i := range j.operators {
		op := &j.operators[i]
		if !op.Op.Dumped {
			continue
		}
		of++
		if slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return j.table.Rows[t.Row].Has(result.GraphUnlike) }) {
			names = append(names, op.Op.Name)
		}
	}
	return names, of
}

// Losses lists what a verdict on so much does without, the gravest first.
func Losses(c Coverage, damage []result.Damage, outputs NetworkOutputs) (list []Loss) {
	if !c.Enough() {
		list = append(list, Loss{Kind: LossCoverage, Count: c.Expected - c.Compared, Of: c.Expected, Breaks: true})
	}
	var cut, damaged []string
	for i := range damage {
		if d := &damage[i]; d.Reason.Kind == result.RecordingCut {
			cut = append(cut, d.Name)
		} else {
			damaged = append(damaged, d.Name)
		}
	}
	if len(cut) > 0 {
		list = append(list, Loss{Kind: LossRecording, Count: len(cut), Names: first(cut), Breaks: true})
	}
	if o := &outputs; len(o.Uncompared) > 0 {
		list = append(list, Loss{Kind: LossOutputs, Count: len(o.Uncompared), Of: o.Expected, Names: first(o.Uncompared), Breaks: o.Damaged > 0})
	}
	if n := len(damaged); n > 0 {
		list = append(list, Loss{Kind: LossDamaged, Count: n, Of: c.Expected, Names: first(damaged), Breaks: n*fewDamaged > c.Expected})
	}
	if n := c.Lost.Count; n > 0 {
		list = append(list, Loss{Kind: LossTensors, Count: n, Of: c.Expected, Names: c.Lost.Names})
	}
	if n := c.Ungiven.Count; n > 0 {
		list = append(list, Loss{Kind: LossInputs, Count: n, Names: c.Ungiven.Names})
	}
	return list
}

func first(names []string) []string { return slices.Clone(names[:min(len(names), mostNames)]) }

// outputs looks at the tensors that leave the network.
func (j *judge) outputs() (n NetworkOutputs) {
	seen := map[result.Port]bool{}
	for i := range j.operators {
		op := j.operators[i].Op
		if !op.Final && len(op.Leaves) == 0 {
			continue
		}
		leaves := op.Leaves
		if len(leaves) == 0 {
			leaves = []int64{0}
			for slot := 1; slot < op.Outputs; slot++ {
				leaves = append(leaves, int64(slot))
			}
		}
		for _, slot := range leaves {
			at, ok := j.made(result.Port{Op: op.Name, Index: int(slot)})
			if !ok || seen[at] {
				continue
			}
			seen[at] = true
			j.output(at, &n)
		}
	}
	return n
}

// made follows an output back to the kernel that made its elements: through what moved no
// data of its own, and what the compiler added and has no counterpart. ok is false for
// what no kernel computes.
func (j *judge) made(at result.Port) (result.Port, bool) {
	for range len(j.operators) {
		op := j.named(at.Op)
		if op == nil || !op.computes() {
			return at, false
		}
		t := op.output(at.Index)
		idle := len(op.Outputs) == 0 && (Passthrough(op.Op.Type) || op.Op.NoKernel) || t != nil && !t.Verdict.Compared() && (op.Op.Inserted && j.table.Rows[t.Row].Why() == result.NoGolden || j.table.Rows[t.Row].Facts.Unpaired && catalogue.Is(op.Op.Type, catalogue.Moves))
		if !idle {
			return at, true
		}
		if len(op.Op.Inputs) == 0 || op.Op.Inputs[0].Op == "" {
			return at, !op.Op.NoKernel
		}
		at = op.Op.Inputs[0]
	}
	return at, false
}

// output counts an output of the network.
func (j *judge) output(at result.Port, n *NetworkOutputs) {
	op := j.named(at.Op)
	t := op.output(at.Index)
	if t != nil && elementless(&j.table.Rows[t.Row]) {
		return
	}
	n.Expected++
	switch {
	case t != nil && t.Verdict.Compared():
		n.Compared++
		return
	case t != nil && t.Verdict == Damaged || t == nil && op.State == StateDamaged:
		n.Damaged++
	}
	if !j.waived(op, at.Index) {
		n.Uncompared = append(n.Uncompared, result.TensorName(at.Op, result.Output, at.Index))
	}
}
