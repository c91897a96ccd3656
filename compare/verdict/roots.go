package verdict

import (
	"slices"

	"precision/compare/result"
)

// roots finds where errors begin, walking the operators in execution order, so
// that what feeds an operator is settled before it.
func (j *judge) roots(out *Judged, p *premised) {
	if !out.Edges && !j.anyInputs() {
		if !p.broken {
			j.firstInOrder(out)
		}
		return
	}
	origins := make([][]int, len(j.operators)) // roots whose error each operator carries
	some := false                              // operator does
	for i := range j.operators {
		op := &j.operators[i]
		var from []int
		if some {
			from = j.carried(op, origins)
		}
		behind := p.reached(j, i)
		given, is := j.givenRoot(out, p, i)
		from = merge(slices.Clone(from), given)
		origins[i] = from
		some = some || len(from) > 0
		if is || len(p.users[i]) > 0 && !op.computes() {
			continue // named for what it takes; what no kernel computes is named where it is taken
		}
		if op.State == StateUncompared && op.Op.Final {
			op.From = from
		}
		if op.State != StateBad && op.State != StateSuspect {
			continue
		}
		w := j.walk(op)
		if len(from) == 0 {
			// Too small to be followed by its size, and yet all there is.
			for _, made := range w.blamed {
				from = merge(from, origins[made])
			}
			origins[i] = from
		}
		root, is := j.root(op, i, &w, from)
		if p.broken && !root.Recomputed && is && (behind || p.unseen(i)) {
			p.behind[i], is = true, false
		}
		if is {
			origins[i], some = []int{len(out.Roots)}, true
			out.Roots = append(out.Roots, root)
			continue
		}
		op.From = from
		if op.State == StateBad {
			op.State = StateInherited
		}
	}
	if p.broken {
		j.follow(out)
		return
	}
	j.dropIdle(out)
	j.cancelled(out)
	j.follow(out)
	if len(out.Roots) == 0 {
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
	blamed  []int    // what produces these, as places in execution order
	unknown bool     // an input of which nothing is known at all
}

// walk looks at what feeds an operator, through operators that could not be
// compared, to the nearest tensors that could.
func (j *judge) walk(op *Operator) (w walked) {
	seen := map[string]bool{op.Op.Name: true}
	for t, from := range j.feeds(op) {
		j.look(&w, t, from.Port, seen)
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
		w.blamed = append(w.blamed, j.place[producer.Op.Name])
		return true
	}
	if !producer.computes() {
		return true // what was given is not known, or differs as such
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
				return c.Kind.Place()
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
	return j.rootAt(op, place, worst)
}

// rootAt is the operator as a root with one of its outputs.
func (j *judge) rootAt(op *Operator, place, output int) Root {
	r := Root{Operator: place, Output: output, Kind: RootDiffers, Noise: j.noisy(&op.Outputs[output])}
	for _, c := range op.Outputs[output].Causes {
		if !c.Waived {
			r.Causes = append(r.Causes, c)
		}
	}
	return r
}

// root decides whether an operator is a root.
func (j *judge) root(op *Operator, place int, w *walked, from []int) (Root, bool) {
	explained := w.known || len(from) > 0
	word, at := op.checkWord()
	r := j.rootOf(op, place)
	switch word {
	case checkWrong:
		// Recomputed from its own inputs there is no doubt left.
		r.Certainty, r.Recomputed, r.Kind = Certain, true, RootWrong
		return r, true
	case checkDiffers, checkGolden:
		r = j.rootAt(op, place, at)
		if r.Followed, r.Second = true, explained; word == checkGolden {
			r.Kind = RootGolden
		}
		if op.State == StateSuspect {
			r.Certainty = Likely
		}
		j.doubt(op, &r)
		return r, true
	case checkFollows:
		if explained {
			return r, false // differs as its inputs make it
		}
	}
	has := func(kind func(Kind) bool) bool {
		return slices.ContainsFunc(r.Causes, func(c Cause) bool { return kind(c.Kind) })
	}
	fresh := j.freshNonFinite(op, w)
	jumps := has(Kind.Jump)
	if op.State == StateSuspect {
		r.Certainty = Likely
		if r.Second = explained; !explained && len(w.region) > 0 {
			r.Certainty, r.Region = Region, w.region
		}
		return r, !explained || jumps && j.beyond(op)
	}
	is := true
	switch {
	case fresh:
		r.FreshNaN = true
	case explained:
		r.Second, is = true, jumps && j.beyond(op)
	case w.amiss: // a bad input that nothing upstream explains
		r.Edge, r.Certainty, r.Region = w.edge, Region, w.region
	case len(w.region) > 0:
		r.Certainty, r.Region = Region, w.region
	}
	j.doubt(op, &r)
	return r, is
}

// doubt takes back that a root is certain where an input of its operator was not
// compared, as a weight of which there is no golden array.
func (j *judge) doubt(op *Operator, r *Root) {
	if r.Certainty != Certain && !r.Followed {
		return
	}
	if r.Uncompared = j.uncompared(op); len(r.Uncompared) > 0 {
		r.Certainty = Likely
	}
}

// uncompared names the inputs of an operator that were not compared, neither as it recorded
// them nor where they were made.
func (j *judge) uncompared(op *Operator) (names []string) {
	slots := len(op.Op.Inputs)
	for i := range op.Inputs {
		slots = max(slots, op.Inputs[i].Slot+1)
	}
	for slot := range slots {
		t := op.input(slot)
		if t != nil && t.Verdict != Uncompared {
			continue
		}
		var from result.Port
		if slot < len(op.Op.Inputs) {
			from = op.Op.Inputs[slot]
		}
		if from.Op == "" && t != nil {
			from = j.table.Rows[t.Row].Facts.Producer
		}
		if t == nil && from.Op == "" {
			continue // nothing is connected
		}
		if producer := j.named(from.Op); producer != nil {
			if made := producer.output(from.Index); made != nil && made.Verdict != Uncompared && !made.Alone {
				continue
			}
		}
		names = append(names, result.TensorName(op.Op.Name, result.Input, slot))
	}
	return names
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

// checkWord is what recomputing an operator says of its outputs that are bad or suspect.
type checkWord uint8

const (
	checkNothing checkWord = iota
	// checkFollows: each follows from the operator's own inputs, and its golden output from
	// golden inputs.
	checkFollows
	// checkDiffers: it follows from the operator's own inputs, the golden output does not
	// follow from golden inputs by the same graph and weights.
	checkDiffers
	// checkGolden: as before, and it is the golden array that is wrong.
	checkGolden
	// checkWrong: it does not follow from the operator's own inputs.
	checkWrong
)

// checkWord is the gravest word on an operator's outputs, and on which. Where only some are
// known to follow, the word is that of the others: nothing.
func (o *Operator) checkWord() (word checkWord, at int) {
	known := true
	for i := range o.Outputs {
		t := &o.Outputs[i]
		if t.Verdict != Bad && t.Verdict != Suspect {
			continue
		}
		s := t.checkWord()
		if s > word {
			word, at = s, i
		}
		known = known && s != checkNothing
	}
	if word == checkFollows && !known {
		word = checkNothing
	}
	return word, at
}

func (t *Tensor) checkWord() checkWord {
	switch {
	case t.Check == nil:
		return checkNothing
	case t.Check.Wrong:
		return checkWrong
	}
	switch t.Check.Golden {
	case result.GoldenFollows:
		return checkFollows
	case result.GoldenDiffers:
		return checkDiffers
	case result.GoldenWrong:
		return checkGolden
	}
	return checkNothing
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
	j.keepRoots(out, func(k int, r *Root) bool {
		return j.operators[r.Operator].State != StateSuspect || used[k] || r.Begin != nil ||
			slices.ContainsFunc(r.Causes, func(c Cause) bool { return c.Kind.Jump() })
	})
}

// follow counts what inherits from every root, and finds the outputs of the
// network its error arrives at.
func (j *judge) follow(out *Judged) {
	j.inherit(out)
	for i := range j.operators {
		op := &j.operators[i]
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
