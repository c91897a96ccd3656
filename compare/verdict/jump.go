package verdict

import (
	"math"
	"slices"

	"precision/compare/result"
	"precision/dump/dtype"
	catalogue "precision/op"
)

// Jump is how many times an output's error is what the errors of its inputs and
// the rounding of its dtypes explain: by distance and by the largest error.
// Zero is not known.
type Jump struct {
	Distance, Largest float64
	// Beyond: it is also more than the inputs could explain at the very most,
	// which is what a second root takes.
	Beyond bool
	// Through: the inputs are those of what was not compared before it, between a quantiser and its dequantiser.
	Through bool
}

// halfUnits is the root mean square of rounding errors that are spread evenly
// over one unit in the last place of float16 numbers of all sizes, in unit
// roundoffs: 1/√3, less what the place in the binade takes off.
const halfUnits = 0.6

// cubeUnit is the unit roundoff that products of matrices and convolutions run
// with whatever their dtypes: float16 fractions of float32 factors (HF32 has
// one bit more).
const cubeUnit = 1.0 / (1 << 11)

// operandOf reads a compared row as an operand; ok is false if its error is not
// known in numbers.
func operandOf(r *result.Row) (o operand, ok bool) { return operandFrom(r, measureOf(r)) }

// othersOf reads it without the elements that depend on choices, where some do and
// some do not.
func othersOf(r *result.Row) (o operand, ok bool) {
	if m, ok := chosenOf(r); ok {
		return operandFrom(r, m)
	}
	return operandOf(r)
}

func operandFrom(r *result.Row, m measure) (o operand, ok bool) {
	o = operand{count: float64(m.n), rms: m.rms, unit: unit(coarserOf(r)), err: spread{m.errorRMS(), m.maxAbs}}
	if f := m.facts; f != nil {
		o.magnOf, o.dev, o.exact = magnitude(&f.Y), f.Y.Deviation, f.BitEqual
		if is := r.Left.DType; r.Has(result.TimesScales) && is.IsInteger() {
			o.step = o.magnOf / is.Max()
		}
		switch {
		case f.Y.Lo > 0:
			o.smallest = f.Y.Lo
		case f.Y.Hi < 0:
			o.smallest = -f.Y.Hi
		}
		if f.Finite == 0 {
			return o, false
		}
	} else {
		o.magnOf = 4 * o.rms // noise of an imported row: four deviations
	}
	fine := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	return o, fine(o.err.rms) && fine(o.err.max) && fine(o.rms)
}

// jump compares the error of an output with what the inputs explain. It is zero
// when an input that a kernel computes was not compared, or nothing can be
// predicted.
func (j *judge) jump(op *Operator, out *Tensor) Jump {
	row := &j.table.Rows[out.Row]
	if !row.Compared || len(op.Inputs)+len(op.Op.Inputs) == 0 {
		return Jump{}
	}
	read := operandOf
	if _, partly := chosenOf(row); partly {
		read = othersOf
	}
	o := &j.out
	var ok bool
	if *o, ok = read(row); !ok || o.err.max == 0 || j.counts(row) || j.swallows(op, row) {
		return Jump{}
	}
	u := unit(coarserOf(row))
	if op.row.Traits&catalogue.Product != 0 && !counted(row.Left.DType) { // sums of integers are exact
		u = max(u, cubeUnit)
	}
	rows, known := j.feeding(op)
	through := false
	if !known {
		rows, through = j.quantisedFrom(op)
		known = through
	}
	if !known && depends(row) {
		// What choices explain has to come in by an input that was compared; another one is
		// no excuse.
		rows = j.compared(op)
		known = len(rows) > 0
	}
	if !known {
		return Jump{}
	}
	in := j.in[:0]
	for _, r := range rows {
		x, ok := read(&j.table.Rows[r])
		if !ok {
			return Jump{}
		}
		if x.err.max > 0 && j.replaced(&j.table.Rows[r]) {
			x.err = spread{}
		}
		in = append(in, x)
		u = max(u, unit(coarserOf(&j.table.Rows[r])))
	}
	j.in = in
	predict := j.classOf(op.row, row)
	if through {
		for k := range in {
			in[k].level()
		}
		predict = handed
	}
	p := predict(in, o)
	if !p.tame {
		return Jump{}
	}
	// Rounding of the output, and of weights of which there is no row.
	small := smallest(row, dtype.Type.MinSubnormal)
	floor := spread{halfUnits*u*o.rms + small, u*o.magnOf + 3*u*o.rms + small}
	jump := Jump{
		Distance: o.err.rms / math.Hypot(p.typical.rms, floor.rms),
		Largest:  o.err.max / (p.typical.max + floor.max),
		Through:  through,
	}
	margin := 2.0
	if p.sharp {
		margin = 1.2
	}
	jump.Beyond = o.err.rms > margin*(p.bound.rms+floor.rms) || o.err.max > margin*(p.bound.max+floor.max)
	return jump
}

// swallows tells whether an input is bad for NaN or Inf of which none comes out: in a number of the output is then what
// no finite error of the input explains.
func (j *judge) swallows(op *Operator, out *result.Row) bool {
	if m := measureOf(out); m.disagrees() {
		return false
	}
	for t, from := range j.feeds(op) {
		if t == nil && from.by != nil {
			t = from.by.output(from.Index)
		}
		if t != nil && t.Verdict == Bad {
			if m := measureOf(&j.table.Rows[t.Row]); m.disagrees() {
				return true
			}
		}
	}
	return false
}

// replaced tells of an input that it was given, and is another on the two sides: whether that is what its operator
// took is asked of the output, which is not excused by it. Numbers of another scale, as quantised ones, are one tensor.
func (j *judge) replaced(row *result.Row) bool {
	from := j.named(row.Op)
	if row.Role == result.Input {
		from, _ = j.makerOf(from, from.input(row.Slot))
	}
	if from == nil || from.computes() || counted(row.Left.DType) != counted(row.Right.DType) {
		return false
	}
	a := apartOf(row, false)
	return a.other() && a.scale == 0
}

// feeding are the compared rows of the inputs of an operator. known is false
// when one that a kernel computes has none.
func (j *judge) feeding(op *Operator) (rows []int, known bool) {
	have := map[int]bool{}
	for i := range op.Inputs {
		t := &op.Inputs[i]
		if t.Verdict != Uncompared || t.Depends {
			rows = append(rows, t.Row)
			have[t.Slot] = true
		}
	}
	for slot, p := range op.Op.Inputs {
		if have[slot] || p.Op == "" {
			continue
		}
		from := j.named(p.Op)
		switch {
		case from == nil || from.Op.Constant || from.Op.Feed:
		case p.Index >= 0 && from.output(p.Index) != nil && (from.output(p.Index).Verdict != Uncompared || from.output(p.Index).Depends):
			rows = append(rows, from.output(p.Index).Row)
		default:
			return nil, false
		}
	}
	if len(op.Op.Inputs) == 0 {
		for i := range op.Inputs { // no edges are known: every input counts
			if op.Inputs[i].Verdict == Uncompared {
				return nil, false
			}
		}
		return rows, len(rows) > 0
	}
	return rows, true
}

// mostQuantised is how many operators may lie between a quantiser and a dequantiser: a product, additions, and moves. Each
// dequantiser walks them anew.
const mostQuantised = 64

// quantisedFrom are, of an operator behind others whose outputs are in another scale than any golden tensor, the compared
// rows of what goes into these: into the quantiser. ok is false where there are none, or one that a kernel computes has none.
func (j *judge) quantisedFrom(op *Operator) (rows []int, ok bool) {
	seen := map[string]bool{}
	known, through := true, false
	var add func(op *Operator)
	add = func(op *Operator) {
		if seen[op.Op.Name] = true; len(seen) > mostQuantised {
			known = false
		}
		if !known {
			return
		}
		for t, p := range j.feeds(op) {
			from := p.by
			switch {
			case t != nil && t.Verdict.Compared():
				rows = append(rows, t.Row)
			case from == nil:
				known = known && p.Op == ""
			case !from.computes() || seen[p.Op]:
			case p.Index >= 0 && from.output(p.Index) != nil && from.output(p.Index).Verdict.Compared():
				rows = append(rows, from.output(p.Index).Row)
			case from.Op.Skipped:
				through = true
				add(from)
			default:
				known = false
			}
		}
	}
	add(op)
	return rows, known && through && len(rows) > 0
}

// level adds to an operand what rounding it, and a weight, to steps of eight bits takes off.
func (o *operand) level() {
	const spreadOver, evenly = 127, 0.41 // the root of two times that of 1/12
	step := o.magnOf / spreadOver
	o.err.rms = math.Hypot(o.err.rms, evenly*step)
	o.err.max += step
	o.exact = false
}

// compared are the rows of those inputs of an operator that were compared.
func (j *judge) compared(op *Operator) (rows []int) {
	have := map[int]bool{}
	for i := range op.Inputs {
		if t := &op.Inputs[i]; t.Verdict.Compared() || t.Depends {
			rows, have[t.Slot] = append(rows, t.Row), true
		}
	}
	for slot, p := range op.Op.Inputs {
		if from := j.named(p.Op); from != nil && !have[slot] {
			if out := from.output(p.Index); out != nil && (out.Verdict.Compared() || out.Depends) {
				rows = append(rows, out.Row)
			}
		}
	}
	return rows
}

// output and input are the judged output and input of a slot, nil if there is none.
func (o *Operator) output(slot int) *Tensor { return slotted(o.Outputs, slot) }
func (o *Operator) input(slot int) *Tensor  { return slotted(o.Inputs, slot) }

func slotted(list []Tensor, slot int) *Tensor {
	if slot >= 0 && slot < len(list) && list[slot].Slot == slot { // where all are there, and a call may have thousands
		return &list[slot]
	}
	for i := range list {
		if list[i].Slot == slot {
			return &list[i]
		}
	}
	return nil
}

// jumps measures the jump of every output, and calls suspect what jumps beyond
// its limit. The limits of the profile are for networks as quiet as their
// dtypes; where the operators of this one are noisier as a rule, they are
// raised by that much.
func (j *judge) jumps() {
	var ordinary, levels []float64
	for i := range j.operators {
		op := &j.operators[i]
		for k := range op.Outputs {
			t := &op.Outputs[k]
			t.Jump = j.jump(op, t)
			if units, output, ok := j.broken(op); ok && output == k {
				t.Law = units
			}
			switch {
			case t.Verdict != Good || t.Jump.Distance <= 0:
			case t.Jump.Through:
				levels = append(levels, t.Jump.Distance)
			case !hands(op.row):
				ordinary = append(ordinary, t.Jump.Distance)
			}
		}
	}
	usual, quantised := noiseOf(ordinary, leastOrdinary), noiseOf(levels, leastLevels)
	for i := range j.operators {
		op := &j.operators[i]
		noise := usual
		if hands(op.row) {
			noise = 1 // nothing is computed, so nothing is noisy
		}
		for k := range op.Outputs {
			t := &op.Outputs[k]
			if t.checkWord() == checkFollows && !t.Jump.Through {
				continue // both sides were recomputed: it is what their inputs make of it
			}
			steps := 0.0
			if t.Verdict == Good {
				steps = j.stepsApart(op, t)
			}
			if t.Jump.Distance <= 1 && t.Jump.Largest <= 1 && t.Law <= 1 && steps <= 1 {
				t.Jump.Beyond = false
				continue // no limit is less
			}
			noise := noise
			if t.Jump.Through {
				noise = quantised
			}
			r := &j.table.Rows[t.Row]
			s := j.about(op, t)
			before := len(t.Causes)
			look := func(kind Kind, value float64) bool {
				limit, on := j.profile.limit(kind, s)
				if !on || value <= limit*noise {
					return false
				}
				m := measureOf(r)
				t.Causes = append(t.Causes, Cause{Kind: kind, Value: value, Limit: limit * noise, First: j.worst(&m)})
				return true
			}
			far := look(JumpDistance, t.Jump.Distance)
			far = look(JumpLargest, t.Jump.Largest) || far
			if steps > 1 && !far {
				m := measureOf(r)
				t.Causes = append(t.Causes, Cause{Kind: JumpLargest, Value: steps, Limit: 1, First: j.worst(&m)})
			}
			t.Jump.Beyond = t.Jump.Beyond && far
			if limit, on := j.profile.limit(Law, s); on && t.Law > limit {
				t.Causes = append(t.Causes, Cause{Kind: Law, Value: t.Law, Limit: limit, First: -1})
				t.Jump.Beyond = true
			}
			if len(t.Causes) > before {
				t.Depends = false
				j.profile.waive(j.tensorName(op, t), t.Causes, j.day)
				t.settle()
			}
		}
	}
}

// stepsApart is how many steps the worst of quantised numbers is off where what goes in is equal bit by bit: a number halfway
// between two may become either, and not another one, but for what a kernel that computes more rounds before.
func (j *judge) stepsApart(op *Operator, t *Tensor) float64 {
	r := &j.table.Rows[t.Row]
	is, f := r.Left.DType, &r.Result().Facts
	if op.row.Traits&catalogue.Quantises == 0 || !r.Compared || !f.Known || f.Differ == 0 || is.Bits() > 8 || is == dtype.Float8E8M0 || j.counts(r) {
		return 0
	}
	rows, known := j.feeding(op)
	u := 0.0
	for _, k := range rows {
		in := &j.table.Rows[k]
		if in.Recorded != nil && agreementOf(in) == same && !in.Compared {
			continue
		}
		if known = known && in.Compared && in.Result().Facts.BitEqual; !known {
			break
		}
		u = max(u, unit(coarserOf(in)))
	}
	if !known || len(rows) == 0 {
		return 0
	}
	x, y, step := math.Abs(f.Worst.X), math.Abs(f.Worst.Y), 1.0
	if is.IsFloat() {
		step = is.MinSubnormal()
	}
	switch scaled := r.Has(result.TimesScales); {
	case scaled && is.IsFloat():
		step = max(step*magnitude(&f.Y)/is.Max(), is.Unit()*(x+y)) // each side rounded by itself
	case scaled:
		step = 2 * magnitude(&f.Y) / is.Max() // one may have steps twice as large
	case is.IsFloat() && f.Worst.X*f.Worst.Y > 0:
		step = max(step, 2*is.Unit()*min(x, y))
	}
	return math.Abs(f.Worst.X-f.Worst.Y) / (step + 4*u*max(x, y))
}

// leastOrdinary and leastLevels are how many operators tell how noisy they are as a rule: those that compute with
// what was compared, and those behind quantised ones, of which networks have fewer.
const leastOrdinary, leastLevels = 10, 4

// noiseOf is how much noisier than predicted the good operators that compute
// something are as a rule: the jump that three of four stay below, which on quiet
// networks is 0.9 to 1.1, and at least 1. Few operators tell nothing.
func noiseOf(jumps []float64, least int) float64 {
	if len(jumps) < least {
		return 1
	}
	slices.Sort(jumps)
	return max(1, jumps[len(jumps)*3/4]/1.1)
}
