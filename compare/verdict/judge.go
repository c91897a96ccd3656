package verdict

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"precision/compare/result"
	catalogue "precision/op"
)

// Options of [Judge].
type Options struct {
	// Profile is what is allowed; [Default] if nil.
	Profile *Profile
	// Second is a comparison of the same left side with a second run on the
	// NPU: errors that the two have among themselves are told as noise.
	Second *result.Table
	// Baseline is an earlier table to judge against.
	Baseline *result.Table
	// OfJob: the table is of one rank of several, Later: of a step behind others. What was fed
	// to it and which weights it had is then for the job to judge, see [Settle].
	OfJob, Later bool
	// Behind: in a step before something differs that nobody is to blame for, and so may all that
	// goes into this one.
	Behind bool
	// After is an earlier verdict, of a recording of more calls, to go on from.
	After *Judged
	// Part is the beginning that the names of this table's operators have in a table of several ranks and
	// steps, step0/rank1/; empty where that is not known, or they have it.
	Part string
	// Day is the day that waivers are held against; the zero time takes that of
	// the table.
	Day time.Time
}

// judge is a judgement in the making.
type judge struct {
	table     *result.Table
	profile   *Profile
	day       time.Time
	opts      Options
	operators []Operator // in execution order
	checks    map[result.Port]*result.Check
	second    map[string]*result.Row // of Options.Second, when it is first asked for
	place     map[string]int         // of an operator in operators
	makers    []int32                // of the inputs of all operators, one after the other: the place of who makes it, -1 if not known
	numbers   map[result.Port]bool   // outputs of integers that are measured, not counted
	intakes   map[*Operator]*intake  // of the calls of recordings, when they are first asked for
	in        []operand              // room for what goes into an operator
	out       operand                // and for what comes out
}

// spoken is a table of recordings whose rows say something of both sides, and be it nothing: the table itself, or
// of one that was put together otherwise, a copy.
func spoken(t *result.Table) *result.Table {
	whole := t
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Recorded == nil && r.Role == result.Whole || r.Recorded != nil && r.Recorded.Left != nil && r.Recorded.Right != nil {
			continue
		}
		if whole == t {
			own := *t
			own.Rows = slices.Clone(t.Rows)
			whole = &own
		}
		rec := result.Recorded{Left: &result.Summary{}, Right: &result.Summary{}}
		if r.Recorded != nil {
			rec.Place, rec.Argument = r.Recorded.Place, r.Recorded.Argument
			rec.Left, rec.Right = cmp.Or(r.Recorded.Left, rec.Left), cmp.Or(r.Recorded.Right, rec.Right)
		}
		whole.Rows[i].Recorded = &rec
	}
	return whole
}

// Judge judges a table. The table is not changed; the judged one refers to its
// rows.
func Judge(t *result.Table, opts Options) *Judged {
	if opts.Profile == nil {
		opts.Profile = Default()
	}
	if t.Meta.Recorded {
		t = spoken(t)
	}
	j := &judge{table: t, profile: opts.Profile, day: opts.Day, opts: opts}
	if j.day.IsZero() {
		j.day = t.Meta.Time
	}
	j.gather()
	j.findNumbers()
	out := &Judged{Table: t, Profile: opts.Profile, Operators: j.operators, Expired: opts.Profile.expired(j.day), Checked: len(t.Checks) > 0}
	switch {
	case t.Meta.Recorded:
		j.recorded(out)
	case t.Meta.Stored:
		j.stored(out)
	default:
		j.network(out)
	}
	out.AddHints(t.Meta.Hints...)
	j.idle(out)
	out.Damaged = j.damage()
	j.blanks()
	out.Coverage = j.coverage()
	j.count(out)
	out.Bits = j.bits()
	if opts.Baseline != nil {
		out.Baseline = j.baseline(opts.Baseline)
	}
	if opts.After != nil {
		j.goOn(out, opts.After)
	}
	return out
}

// Doubted judges a table and tells which operators have an output that is bad or suspect or depends on choices, or a
// weight that is to be weighed: a check recomputes the golden side of these, too.
func Doubted(t *result.Table, opts Options) func(op string) bool {
	j := Judge(t, Options{Profile: opts.Profile, Day: opts.Day})
	doubted := map[string]bool{}
	for _, name := range j.Weigh() {
		doubted[name] = true
	}
	for i := range j.Operators {
		for _, out := range j.Operators[i].Outputs {
			if out.Verdict == Bad || out.Verdict == Suspect || out.Depends {
				doubted[j.Operators[i].Op.Name] = true
			}
		}
	}
	return func(op string) bool { return doubted[op] }
}

// network judges the operators of a graph.
func (j *judge) network(out *Judged) {
	for i := range j.operators {
		j.judgeTensors(&j.operators[i])
	}
	j.jumps()
	j.states(out)
	j.otherGraph(out)
	p := j.premises(out)
	if torn, is := j.torn(); is {
		out.Premises = []Premise{torn} // of such a recording nothing else can be told
		p.all()
	} else if !p.broken {
		if weights, why, are := j.unseenWeights(p); are {
			p.breaks(weights)
			out.Premises = append(out.Premises, Premise{Kind: PremiseWeights, Broken: true, Tensors: len(weights), Share: 1,
				Reason: why})
		}
	}
	j.roots(out, p)
	j.contradicts(out)
	out.weigh = j.weigh(out, p)
}

// gather makes operators of the table's list and of the rows, in execution
// order.
func (j *judge) gather() {
	index := make(map[string]int, len(j.table.Ops))
	ops := make([]Operator, 0, len(j.table.Ops))
	for i := range j.table.Ops {
		op := &j.table.Ops[i]
		if _, twice := index[op.Name]; twice {
			continue
		}
		index[op.Name] = len(ops)
		ops = append(ops, Operator{Op: op, row: catalogue.Of(op.Type)})
	}
	var room lists
	is := func(at int, name string) bool { return at < len(ops) && ops[at].Op.Name == name }
	at := 0
	for i := range j.table.Rows {
		r := &j.table.Rows[i]
		if is(at, r.Op) {
			// as the row before
		} else if at++; is(at, r.Op) {
			// in the order of the operators
		} else if known, ok := index[r.Op]; ok {
			at = known
		} else {
			at = len(ops)
			index[r.Op] = at
			ops = append(ops, Operator{Op: &result.Operator{Name: r.Op, Type: r.Type, Index: r.Index, Order: r.Facts.Order}, row: catalogue.Of(r.Type)})
		}
		op := &ops[at]
		t := Tensor{Row: i, Slot: r.Slot}
		switch r.Role {
		case result.Output:
			op.Outputs = room.add(op.Outputs, t)
		case result.Input:
			op.Inputs = room.add(op.Inputs, t)
		default:
			op.Whole = append(op.Whole, i)
		}
	}
	j.checks = make(map[result.Port]*result.Check, len(j.table.Checks))
	for i := range j.table.Checks {
		c := &j.table.Checks[i]
		j.checks[result.Port{Op: c.Op, Index: c.Output}] = c
	}
	if !j.table.Meta.Recorded {
		j.lookBehind(ops, index)
	}
	executed := func(a, b Operator) int {
		return cmp.Or(cmp.Compare(a.Op.Order, b.Op.Order), cmp.Compare(a.Op.Index, b.Op.Index))
	}
	if !slices.IsSortedFunc(ops, executed) {
		slices.SortStableFunc(ops, executed)
		for i := range ops {
			index[ops[i].Op.Name] = i
		}
	}
	j.operators, j.place = ops, index
	n := 0
	for i := range ops {
		n += len(ops[i].Op.Inputs)
	}
	j.makers = make([]int32, 0, n)
	for i := range ops {
		op := &ops[i]
		op.at, op.makersAt = int32(i), int32(len(j.makers))
		for _, from := range op.Op.Inputs {
			at, ok := j.place[from.Op]
			if !ok {
				at = -1
			}
			j.makers = append(j.makers, int32(at))
		}
		bySlot := func(a, b Tensor) int { return cmp.Compare(a.Slot, b.Slot) }
		slices.SortStableFunc(op.Outputs, bySlot)
		slices.SortStableFunc(op.Inputs, bySlot)
	}
}

// lists makes room for lists of tensors, mostly of one or two, out of larger pieces.
type lists []Tensor

func (room *lists) add(list []Tensor, t Tensor) []Tensor {
	if len(list) < cap(list) {
		return append(list, t)
	}
	n := len(list) + 1
	if n > 4 {
		return append(list, t)
	}
	if len(*room) < n {
		*room = make(lists, 128)
	}
	list = append((*room)[:0:n], list...)
	*room = (*room)[n:]
	return append(list, t)
}

// named is the operator of a name, nil without one.
func (j *judge) named(name string) *Operator {
	if at, ok := j.place[name]; ok {
		return &j.operators[at]
	}
	return nil
}

// makersOf are the places of the operators that make the inputs of one as it says, by slot; -1 of those not known.
func (j *judge) makersOf(op *Operator) []int32 { return j.makers[op.makersAt:][:len(op.Op.Inputs)] }

// feed is what produces an input: the output, empty where nobody says it, and its operator, nil where there is none of that name.
type feed struct {
	result.Port
	by *Operator
}

// feeds yields, for every input of an operator, its tensor, nil where no row is about it, and
// what produces it, as the operator says or else the row.
func (j *judge) feeds(op *Operator) iter.Seq2[*Tensor, feed] {
	return func(yield func(*Tensor, feed) bool) {
		makers := j.makersOf(op)
		slots := len(op.Op.Inputs)
		for i := range op.Inputs {
			slots = max(slots, op.Inputs[i].Slot+1)
		}
		for slot := range slots {
			t := op.input(slot)
			var from feed
			if slot < len(makers) {
				if from.Port = op.Op.Inputs[slot]; makers[slot] >= 0 {
					from.by = &j.operators[makers[slot]]
				}
			}
			if from.Op == "" && t != nil {
				from.Port = j.table.Rows[t.Row].Facts.Producer
				from.by = j.named(from.Op)
			}
			if !yield(t, from) {
				return
			}
		}
	}
}

// judgeTensors judges the tensors of an operator, inputs first: what outputs of
// integers may come to depends on them.
func (j *judge) judgeTensors(op *Operator) {
	equal := len(op.Inputs) > 0
	for i := range op.Inputs {
		t := &op.Inputs[i]
		*t = j.tensor(op, *t, false)
		j.passSaturation(t, j.producerOf(op, t))
		r := &j.table.Rows[t.Row]
		equal = equal && r.Compared && r.Result().Facts.Known && r.Result().Facts.BitEqual
	}
	for i := range op.Outputs {
		op.Outputs[i] = j.tensor(op, op.Outputs[i], equal)
		if hands(op.row) {
			for k := range op.Inputs {
				j.passSaturation(&op.Outputs[i], &op.Inputs[k])
			}
		}
	}
	j.takeCheck(op)
}

// takeCheck adds an oracle's word to the outputs of an operator.
func (j *judge) takeCheck(op *Operator) {
	for i := range op.Outputs {
		t := &op.Outputs[i]
		c := j.checks[result.Port{Op: op.Op.Name, Index: t.Slot}]
		if c == nil || !c.Known && c.Golden != result.GoldenWrong {
			continue
		}
		t.Check = c
		if c.Amplification > op.Sensitive { // not NaN
			op.Sensitive = c.Amplification
		}
		if word := t.checkWord(); t.Depends && (word == checkDiffers || word == checkGolden) {
			t.Depends = false // no choice is why a golden output does not follow from golden inputs
			t.settle()
		}
		if limit, on := j.profile.limit(Unexplained, j.about(op, t)); on && c.Wrong {
			compared := t.Verdict.Compared()
			t.Causes = append(t.Causes, Cause{Kind: Unexplained, Value: c.Ratio, Limit: limit, First: -1})
			j.profile.waive(j.tensorName(op, t), t.Causes, j.day)
			if t.settle(); !compared && t.Verdict != Bad {
				t.Verdict = Uncompared // a waiver makes nothing of what was not compared
			}
			t.Alone = !compared && t.Verdict == Bad
		}
	}
}

// states gives every operator its state, not yet telling who inherits.
func (j *judge) states(out *Judged) {
	for i := range j.operators {
		op := &j.operators[i]
		for k := range op.Outputs {
			op.State = max(op.State, [...]State{StateUncompared, StateGood, StateSuspect, StateBad}[op.Outputs[k].Verdict])
		}
		if len(op.Op.Inputs) > 0 {
			out.Edges = true
		}
	}
}

// count counts what faces tell, and gives the table its verdict.
func (j *judge) count(out *Judged) {
	for i := range j.operators {
		op := &j.operators[i]
		out.Counts[op.State]++
		for _, list := range [][]Tensor{op.Outputs, op.Inputs} {
			for k := range list {
				out.Tensors[list[k].Verdict]++
			}
		}
	}
	out.Outputs = j.outputs()
	out.Losses = j.losses(out)
	breaks := func(l Loss) bool { return l.Breaks }
	switch {
	case !out.Coverage.Enough():
		out.Verdict = Inconclusive
	case slices.ContainsFunc(out.Premises, func(p Premise) bool { return p.Broken && (len(out.Roots) == 0 || p.Kind == PremiseConsistent) }):
		out.Verdict = Inconclusive
	case out.Counts[StateBad]+out.Counts[StateInherited] > 0:
		out.Verdict = Bad
	case slices.ContainsFunc(out.Losses, breaks):
		out.Verdict = Inconclusive
	case j.doubtful(out):
		out.Verdict = Suspect
	default:
		out.Verdict = Good
	}
}

// doubtful tells whether some operator is suspect for more than the range of its
// dtype: what is saturated or too small for it, with nothing bad behind, is
// named and does no harm.
func (j *judge) doubtful(out *Judged) bool {
	return len(out.Roots) > 0 || slices.ContainsFunc(j.operators, func(op Operator) bool { return op.doubtful() })
}

// doubtful tells it of one operator that is no root.
func (o *Operator) doubtful() bool {
	for _, t := range o.Outputs {
		for _, c := range t.Causes {
			if t.Verdict == Suspect && !c.Waived && c.Kind != Saturated && c.Kind != Underflow {
				return true
			}
		}
	}
	return false
}
