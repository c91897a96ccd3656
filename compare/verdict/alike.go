package verdict

import (
	"math"
	"slices"
	"strings"

	"precision/compare/result"
)

// Begin is where a root of a recording begins: an input or an argument that
// differs though nothing before it explains that.
type Begin struct {
	// Row is the place of the input or argument in the table.
	Row int
	// From are the calls that feed the input on either side, whose outputs agree: what
	// lies between was not recorded.
	From []string
	// Why says how it differs, of what was given to a network; else it is empty.
	Why result.Reason
}

// run finds the roots of a recording.
func (w *recordedWalk) run() {
	w.origin = make([][]int, len(w.operators))
	w.arrived = make([][]int, len(w.operators))
	w.inputs = map[result.Port][]int{}
	for i := range w.operators {
		op := &w.operators[i]
		if len(op.Outputs) == 0 {
			// Without a partner, or without results: what comes in goes out.
			w.origin[i] = w.carriedBy(op)
			continue
		}
		from, begin := w.came(op)
		if w.made(op) {
			from = merge(from, w.carriedBy(op))
		}
		for _, name := range op.Op.Uses {
			if k, ok := w.place[name]; ok && k < i {
				from = merge(merge(from, w.origin[k]), w.arrived[k])
			}
		}
		from = w.handedOn(op, from)
		w.arrived[i] = from
		if strings.Contains(op.Op.Name, ".parameters_grad.") || strings.HasSuffix(op.Op.Name, ".debug") || op.Op.Behind {
			from = merge(from, w.before(op)) // gradients of parameters, values saved by hand, states
		}
		if !w.alike && w.unfed(op) || w.onlyTold(op) {
			from = merge(from, w.before(op))
		}
		if !w.off(op) {
			if begin != nil {
				w.hidden = append(w.hidden, begin)
			}
			continue
		}
		if begin == nil {
			begin = w.oneSided(op)
		}
		if w.isRoot(op, begin, from) {
			n := len(w.out.Roots)
			if alone := w.behindAlone(begin); alone >= 0 {
				// What one side alone calls is the root, and not who takes it.
				if k := slices.IndexFunc(w.out.Roots, func(r Root) bool { return r.Operator == alone }); k >= 0 {
					n = k
				} else {
					w.out.Roots = append(w.out.Roots, w.aloneRoot(alone, begin, op.State == StateBad))
				}
				w.origin[i], op.From = []int{n}, []int{n}
				if op.State == StateBad {
					op.State = StateInherited
				}
				w.arrived[i] = w.origin[i]
				w.inputs[result.Port{Op: op.Op.Name, Index: w.table.Rows[begin.Row].Slot}] = []int{n}
				continue
			}
			w.out.Roots = append(w.out.Roots, w.newRoot(op, i, begin))
			w.origin[i] = []int{n}
			w.arrived[i] = w.origin[i]
			if begin != nil {
				w.inputs[result.Port{Op: op.Op.Name, Index: w.table.Rows[begin.Row].Slot}] = []int{n}
			}
			continue
		}
		w.origin[i], op.From = from, from
		if len(from) == 0 && len(w.before(op)) == 0 {
			w.raise(op)
		}
		if op.State == StateBad {
			op.State = StateInherited
		}
	}
	if !w.alike {
		w.calm()
	} else if len(w.out.Roots) == 0 && len(w.hidden) > 0 {
		w.bare()
	}
	w.sortRoots()
	w.across()
}

// bare makes a difference that shows in no output a root: a weight in a row that no token
// picked is wrong all the same.
func (w *recordedWalk) bare() {
	for _, begin := range w.hidden {
		r := &w.table.Rows[begin.Row]
		if r.Recorded.Argument || len(begin.From) > 0 {
			continue
		}
		op := w.named(r.Op)
		root := w.rootOf(op, w.place[r.Op])
		root.Begin, root.Edge, root.Certainty = begin, true, Likely
		w.out.Roots = append(w.out.Roots, root)
		op.State = max(op.State, StateSuspect)
		return
	}
}

// oneSided is an argument that one side alone gives to a call whose tensors are all the same
// and whose result is not: it is not what the other side has by default.
func (w *recordedWalk) oneSided(op *Operator) (begin *Begin) {
	for k := range op.Inputs {
		r := w.row(&op.Inputs[k])
		switch {
		case !r.Recorded.Argument:
			if agreementOf(r) != same {
				return nil
			}
		case r.Recorded.How == result.Mapped: // another function has other arguments
		case begin == nil && (r.Has(result.NoRightValue) || r.Has(result.NoLeftValue)):
			begin = &Begin{Row: op.Inputs[k].Row}
		}
	}
	return begin
}

// handedOn adds the roots of the outputs that a module, or the gradients of its
// parameters, only hand on.
func (w *recordedWalk) handedOn(op *Operator, from []int) []int {
	for k := range op.Outputs {
		r := w.row(&op.Outputs[k])
		for _, p := range []result.Port{r.Facts.Producer, r.Recorded.Golden} {
			if at, ok := w.place[p.Op]; ok && p.Op != op.Op.Name {
				from = merge(from, w.origin[at])
			}
		}
	}
	return from
}

// off tells whether an output differs.
func (w *recordedWalk) off(op *Operator) bool {
	return slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return agreementOf(w.row(&t)) == different })
}

// made tells of a call without a partner that made NaN or infinities of finite numbers.
func (w *recordedWalk) made(op *Operator) bool {
	return slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return w.row(&t).Has(result.MadeNonFinite) })
}

// carriedBy are the roots that arrive at an operator.
func (w *recordedWalk) carriedBy(op *Operator) (from []int) {
	for _, p := range op.Op.Inputs {
		if k, ok := w.place[p.Op]; ok {
			from = merge(from, w.origin[k])
		}
	}
	return from
}

// came looks at what goes into a call: the roots whose error it carries, and
// an input or argument that differs though nothing before it does.
func (w *recordedWalk) came(op *Operator) (from []int, begin *Begin) {
	var lost *Begin // no call is known that feeds it
	for k := range op.Inputs {
		t := &op.Inputs[k]
		r := w.row(t)
		if r.Has(result.ChecksumLate) && w.off(op) {
			// It may carry what only its checksum could tell.
			if roots, _, _ := w.fed(r); len(roots) > 0 {
				from = merge(from, roots)
			} else {
				from = merge(from, w.before(op))
			}
		}
		if agreementOf(r) != different {
			continue
		}
		if r.Recorded.Argument {
			if begin == nil && w.literal(op, r.Recorded) {
				begin = &Begin{Row: t.Row}
			}
			continue
		}
		roots, calls, fed := w.fed(r)
		at := result.Port{Op: op.Op.Name, Index: r.Slot}
		switch {
		case len(roots) > 0:
			from = merge(from, roots)
			w.inputs[at] = roots
		case !w.alike && !w.gap(op, r, calls):
		case !w.alike && fed:
			if begin == nil {
				begin = &Begin{Row: t.Row, From: calls}
			}
		case fed:
			if begin == nil || w.table.Rows[begin.Row].Recorded.Argument {
				begin = &Begin{Row: t.Row, From: calls}
			}
		case lost == nil:
			lost = &Begin{Row: t.Row, From: calls}
		}
	}
	if lost == nil {
		return from, begin
	}
	// It may come from anything before, by a way that was not recorded.
	if before := w.before(op); len(before) > 0 {
		return merge(from, before), begin
	}
	if begin == nil {
		begin = lost
	}
	return from, begin
}

// fed follows an input to what feeds it on either side. roots are those of the
// outputs that differ, calls those whose outputs do not or are not known; fed tells
// that there is one.
func (w *recordedWalk) fed(r *result.Row) (roots []int, calls []string, fed bool) {
	for _, p := range []result.Port{r.Facts.Producer, r.Recorded.Golden} {
		op := w.named(p.Op)
		if op == nil {
			continue
		}
		k := w.place[p.Op]
		out := op.output(p.Index)
		if out == nil || agreementOf(w.row(out)) != same {
			roots = merge(roots, w.origin[k])
		}
		if !slices.Contains(calls, p.Op) {
			calls = append(calls, p.Op)
		}
		// What a call without a partner got may be known no more than what it made.
		fed = fed || out != nil
	}
	if before := w.inputs[r.Recorded.Before]; len(roots) == 0 && r.Recorded.Before.Op != "" && len(before) > 0 {
		roots = before
	}
	return roots, calls, fed
}

// before are the roots that came before a call on the same rank and step.
func (w *recordedWalk) before(op *Operator) (roots []int) {
	part := prefixOf(op.Op.Name)
	for k := range w.out.Roots {
		if prefixOf(w.operators[w.out.Roots[k].Operator].Op.Name) == part {
			roots = append(roots, k)
		}
	}
	return roots
}

// partOf are the step and the rank in front of the name of a call where a table has
// several.
func partOf(name string) (step, rank string) {
	for {
		head, rest, ok := strings.Cut(name, "/")
		switch {
		case !ok:
			return step, rank
		case strings.HasPrefix(head, "step"):
			step = head
		case strings.HasPrefix(head, "rank") || head == "proc":
			return step, head
		}
		name = rest
	}
}

// literal tells whether an argument that differs stands in the program, rather than
// being computed from what differs anyway: nothing does so far, or both values are as
// people write them.
func (w *recordedWalk) literal(op *Operator, rec *result.Recorded) bool {
	before := len(w.before(op)) > 0
	for _, s := range []*result.Said{rec.Left, rec.Right} {
		if long := s.Class == "float" && len(strings.Trim(s.Value, "-0.")) > 8; long && (before || !w.alike) || s.Class == "int" && before {
			return false
		}
	}
	return true
}

// isRoot decides whether a call whose output differs is an origin.
func (w *recordedWalk) isRoot(op *Operator, begin *Begin, from []int) bool {
	switch word, _ := op.said(); {
	case word > saidFollows:
		return true
	case word == saidFollows && len(from) > 0:
		return false
	}
	if w.made(op) {
		return len(from) == 0
	}
	if len(w.repeats(op)) > 0 {
		return false
	}
	if !w.alike {
		// Statistics are a lower bound of errors: behind a root they may well show
		// late what was there before.
		return begin != nil || w.leaps(op) && (len(from) == 0 || !op.Op.Behind && w.elementwise(op))
	}
	return begin != nil || len(from) == 0
}

// onlyTold tells of a call that of its outputs no number is known, but whether there are NaN.
func (w *recordedWalk) onlyTold(op *Operator) bool {
	return !slices.ContainsFunc(op.Outputs, func(t Tensor) bool { r := w.row(&t); return !r.Recorded.Argument && agreementOf(r) != untold })
}

// repeats are the roots of the call that a call is, run again.
func (w *recordedWalk) repeats(op *Operator) []int {
	for _, list := range [][]Tensor{op.Inputs, op.Outputs} {
		for k := range list {
			for _, why := range w.row(&list[k]).Reasons {
				if why.Kind == result.CallRepeated {
					if at, ok := w.place[why.Args[0]]; ok {
						return w.origin[at]
					}
				}
			}
		}
	}
	return nil
}

// newRoot makes an operator a root.
func (w *recordedWalk) newRoot(op *Operator, place int, begin *Begin) Root {
	for k := range op.Outputs {
		t := &op.Outputs[k]
		if agreementOf(w.row(t)) != different || t.Verdict == Bad {
			continue
		}
		size, known := sizeOf(w.row(t))
		switch {
		case !known && slices.ContainsFunc(t.Causes, func(c Cause) bool { return c.Kind == Differs }):
			continue
		case !known:
			size = math.NaN()
		case !w.alike && begin == nil && !counted(w.row(t).Left.DType):
			f, _ := w.leap(op)
			t.Causes = append(t.Causes, Cause{Kind: JumpDistance, Value: f, Limit: w.limitOf(op), First: -1})
			t.settle()
			op.State = max(op.State, StateSuspect)
			continue
		}
		t.Causes = append(t.Causes, Cause{Kind: Differs, Value: size, First: -1})
		w.profile.waive(w.tensorName(op, t), t.Causes, w.day)
		t.settle()
		op.State = max(op.State, StateSuspect)
		if t.Verdict == Bad {
			op.State = StateBad
		}
	}
	r := w.rootOf(op, place)
	r.Begin = begin
	if w.made(op) {
		if r.Kind = RootWrong; w.row(&op.Outputs[0]).Recorded.Left.Known == 0 {
			r.Kind = RootGolden
		}
		return r
	}
	switch {
	case begin == nil && len(w.hidden) > 0:
		r.Begin = w.hidden[len(w.hidden)-1]
		r.Certainty, r.Region = Region, []string{w.table.Rows[r.Begin.Row].Op}
	case begin == nil:
	case w.table.Rows[begin.Row].Recorded.Argument:
		if row := &w.table.Rows[begin.Row]; row.Has(result.NoRightValue) || row.Has(result.NoLeftValue) {
			r.Causes = append([]Cause{{Kind: Argument, Value: 1, First: -1}}, r.Causes...)
		}
	default:
		if row := &w.table.Rows[begin.Row]; len(begin.From) == 0 {
			if r.Kind = RootInput; row.Recorded.Parameter != "" || isWeight(w.named(row.Op), row.Recorded.Place) {
				r.Kind = RootWeight
			}
		}
		r.Edge, r.Certainty = true, Region
		for _, name := range begin.From {
			// What was not compared, or what feeds one side alone, whose result the other does not take.
			if from := w.named(name); from != nil && (len(from.Outputs) == 0 || len(begin.From) > 1) {
				r.Region = append(r.Region, name)
			}
		}
	}
	for k := range op.Inputs {
		if t := &op.Inputs[k]; r.Certainty == Certain && (agreementOf(w.row(t)) == untold || w.row(t).Has(result.ChecksumLate)) {
			r.Untold = append(r.Untold, w.row(t).Tensor())
		}
	}
	if len(r.Untold) > 0 {
		r.Certainty = Likely
	}
	for k := range op.Inputs {
		// What is still on its way from other ranks when it is recorded has no values: the
		// collective that brings it may be at fault as well.
		if rec := w.row(&op.Inputs[k]).Recorded; r.Certainty == Likely && strings.HasSuffix(rec.Left.Class, "AsyncCollectiveTensor") && agreementOf(w.row(&op.Inputs[k])) == untold {
			r.Certainty = Region
		}
	}
	return r
}
