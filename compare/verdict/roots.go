package verdict

import (
	"slices"

	"precision/compare/result"
)

// roots finds where errors begin, walking the operators in execution order, so
// that what feeds an operator is settled before it.
func (j *judge) roots(out *Judged) {
	if !out.Edges && !j.anyInputs() {
		j.firstInOrder(out)
		return
	}
	origins := make([][]int, len(j.operators)) // roots whose error each operator carries
	for i := range j.operators {
		op := &j.operators[i]
		from := j.carried(op, origins)
		origins[i] = from
		if op.State == StateUncompared && op.Op.Final {
			op.From = from
		}
		if op.State != StateBad && op.State != StateSuspect {
			continue
		}
		w := j.walk(op)
		if root, is := j.root(op, i, &w, from); is {
			origins[i] = []int{len(out.Roots)}
			out.Roots = append(out.Roots, root)
			continue
		}
		op.From = from
		if op.State == StateBad {
			op.State = StateInherited
		}
	}
	j.dropIdle(out)
	j.follow(out)
	if len(out.Roots) == 0 && len(j.table.Checks) == 0 {
		j.firstInOrder(out)
	}
}

// anyInputs tells whether inputs were compared.
func (j *judge) anyInputs() bool {
	for i := range j.operators {
		for _, t := range j.operators[i].Inputs {
			if t.Verdict != Uncompared {
				return true
			}
		}
	}
	return false
}

// firstInOrder is all that can be said without a graph: what was bad first.
func (j *judge) firstInOrder(out *Judged) {
	for _, state := range []State{StateBad, StateInherited, StateSuspect} {
		for i := range j.operators {
			op := &j.operators[i]
			if op.State != state {
				continue
			}
			r := j.rootOf(op, i)
			if state == StateSuspect && !slices.ContainsFunc(r.Causes, func(c Cause) bool { return c.Kind.Jump() }) {
				continue
			}
			r.Certainty = Order
			if op.State == StateInherited {
				op.State = StateBad
			}
			for k := i + 1; k < len(j.operators); k++ {
				if j.operators[k].State == StateBad {
					r.Inherited++
				}
			}
			out.Roots = append(out.Roots, r)
			return
		}
	}
}

// walked is what the search upstream of an operator found.
type walked struct {
	region  []string // operators between that could not be compared
	edge    bool     // an input is bad though its producer is good
	nan     bool     // an input has NaN or Inf, or it is not known
	amiss   bool     // an input is bad or suspect
	known   bool     // one is, and so is what produces it
	unknown bool     // an input of which nothing is known at all
}

// walk looks at what feeds an operator, through operators that could not be
// compared, to the nearest tensors that could.
func (j *judge) walk(op *Operator) walked {
	var w walked
	seen := map[string]bool{op.Op.Name: true}
	slots := max(len(op.Op.Inputs), 0)
	for i := range op.Inputs {
		slots = max(slots, op.Inputs[i].Slot+1)
	}
	for slot := range slots {
		t := op.input(slot)
		var from result.Port
		if slot < len(op.Op.Inputs) {
			from = op.Op.Inputs[slot]
		}
		if from.Op == "" && t != nil {
			from = j.table.Rows[t.Row].Facts.Producer
		}
		j.look(&w, t, from, seen)
	}
	slices.SortFunc(w.region, func(a, b string) int { return j.place[a] - j.place[b] })
	return w
}

// look adds what one input tells: t is its row, nil without one, from what
// produces it.
func (j *judge) look(w *walked, t *Tensor, from result.Port, seen map[string]bool) {
	producer := j.named(from.Op)
	if t != nil && t.Verdict != Uncompared {
		m := measureOf(&j.table.Rows[t.Row])
		w.nan = w.nan || j.nonFinite(t.Row) || m.diverged()
		if t.Verdict == Good && !j.troubled(producer, from.Index) {
			return
		}
		if t.Verdict == Bad {
			w.amiss = true
			w.known = w.known || producer == nil // nobody knows who made it, which accuses nobody here
			if producer != nil && !j.explains(w, producer, from.Index, seen) {
				w.edge = true
			}
			return
		}
	}
	if producer == nil {
		if (t == nil || t.Verdict == Uncompared) && from.Op != "" {
			w.unknown = true
		}
		return
	}
	j.explains(w, producer, from.Index, seen)
}

// nonFinite tells whether the left side of a row has NaN or infinities.
func (j *judge) nonFinite(row int) bool {
	f := &j.table.Rows[row].Result().Facts
	return f.Known && f.X.NaN+f.X.Inf > 0
}

// troubled tells whether an output is bad or suspect.
func (j *judge) troubled(op *Operator, index int) bool {
	if op == nil {
		return false
	}
	t := op.output(index)
	return t != nil && (t.Verdict == Bad || t.Verdict == Suspect)
}

// explains follows an input to the output that produces it, and on upstream
// while nothing was compared. It tells whether an error was met on the way, or
// something that hides one.
func (j *judge) explains(w *walked, producer *Operator, index int, seen map[string]bool) bool {
	if out := producer.output(index); out != nil && out.Verdict != Uncompared {
		m := measureOf(&j.table.Rows[out.Row])
		w.nan = w.nan || j.nonFinite(out.Row) || m.diverged()
		if out.Verdict == Good {
			return false
		}
		w.amiss, w.known = true, true
		return true
	}
	if !computes(producer.Op) {
		return false
	}
	if seen[producer.Op.Name] {
		return true
	}
	seen[producer.Op.Name] = true
	w.region = append(w.region, producer.Op.Name)
	w.nan = true // it may well have one
	for slot, from := range producer.Op.Inputs {
		j.look(w, producer.input(slot), from, seen)
	}
	return true
}

// rootOf is the operator as a root, with its worst output.
func (j *judge) rootOf(op *Operator, place int) Root {
	worst := 0
	gravity := func(t *Tensor) int {
		for _, c := range t.Causes {
			if !c.Waived {
				return c.Kind.place()
			}
		}
		return len(kinds)
	}
	for k := range op.Outputs {
		a, b := &op.Outputs[k], &op.Outputs[worst]
		if a.Verdict > b.Verdict || a.Verdict == b.Verdict && gravity(a) < gravity(b) {
			worst = k
		}
	}
	r := Root{Operator: place, Output: worst, Noise: j.noisy(&op.Outputs[worst])}
	for _, c := range op.Outputs[worst].Causes {
		if !c.Waived {
			r.Causes = append(r.Causes, c)
		}
	}
	return r
}

// root decides whether an operator is a root.
func (j *judge) root(op *Operator, place int, w *walked, from []int) (Root, bool) {
	r := j.rootOf(op, place)
	if said, wrong := j.checked(op); said {
		// Recomputed from its own inputs there is no doubt left.
		r.Certainty, r.Recomputed = Certain, true
		return r, wrong
	}
	has := func(kind func(Kind) bool) bool {
		return slices.ContainsFunc(r.Causes, func(c Cause) bool { return kind(c.Kind) })
	}
	fresh := j.freshNonFinite(op, w)
	jumps := has(Kind.Jump)
	explained := w.known || len(from) > 0
	if op.State == StateSuspect {
		r.Certainty = Likely
		r.Second = explained
		return r, !explained || jumps && j.beyond(op)
	}
	switch {
	case fresh:
		r.FreshNaN = true
		return r, true
	case explained:
		r.Second = true
		return r, jumps && j.beyond(op)
	case w.amiss: // a bad input that nothing upstream explains
		r.Edge, r.Certainty, r.Region = w.edge, Region, w.region
	case len(w.region) > 0:
		r.Certainty, r.Region = Region, w.region
	}
	return r, true
}

// beyond tells whether an output's error is more than the inputs could explain
// at the very most.
func (j *judge) beyond(op *Operator) bool {
	for i := range op.Outputs {
		if op.Outputs[i].Jump.Beyond {
			return true
		}
	}
	return false
}

// checked is the oracle's word on an operator: said if it knows all compared
// outputs or finds one wrong.
func (j *judge) checked(op *Operator) (said, wrong bool) {
	said = len(op.Outputs) > 0
	for i := range op.Outputs {
		c := op.Outputs[i].Check
		wrong = wrong || c != nil && c.Wrong
		said = said && (c != nil || op.Outputs[i].Verdict == Uncompared)
	}
	return said && j.anyCheck(op) || wrong, wrong
}

// anyCheck tells whether the oracle knows anything of an operator.
func (j *judge) anyCheck(op *Operator) bool {
	return slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return t.Check != nil })
}

// dropIdle takes back roots that are only saturated or below the range of their
// dtype when nothing bad lies behind them.
func (j *judge) dropIdle(out *Judged) {
	used := make([]bool, len(out.Roots))
	for i := range j.operators {
		if j.operators[i].State == StateInherited {
			for _, k := range j.operators[i].From {
				used[k] = true
			}
		}
	}
	renumber := make([]int, len(out.Roots))
	kept := out.Roots[:0:0]
	for k, r := range out.Roots {
		idle := j.operators[r.Operator].State == StateSuspect && !used[k] &&
			!slices.ContainsFunc(r.Causes, func(c Cause) bool { return c.Kind.Jump() })
		renumber[k] = -1
		if !idle {
			renumber[k] = len(kept)
			kept = append(kept, r)
		}
	}
	out.Roots = kept
	for i := range j.operators {
		op := &j.operators[i]
		var from []int
		for _, k := range op.From {
			if renumber[k] >= 0 {
				from = append(from, renumber[k])
			}
		}
		op.From = from
	}
}

// follow counts what inherits from every root, and finds the outputs of the
// network its error arrives at.
func (j *judge) follow(out *Judged) {
	for i := range j.operators {
		op := &j.operators[i]
		if op.State == StateInherited {
			for _, k := range op.From {
				out.Roots[k].Inherited++
			}
		}
		if !op.Op.Final || op.State == StateGood {
			continue
		}
		for k := range out.Roots {
			if out.Roots[k].Operator == i || slices.Contains(op.From, k) {
				out.Roots[k].Reaches = append(out.Roots[k].Reaches, op.Op.Name)
			}
		}
	}
}
