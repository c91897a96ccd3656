package verdict

import (
	"iter"
	"math"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	catalogue "precision/op"
)

// What agrees may rest on
//
// The calls of a recording are judged in their order by what flows into them. These are the
// rules, and the files that have them:
//
//  1. A difference stays in what it flows into. Behind a root, equal statistics prove nothing:
//     they have few digits, or say little of what they stand for. What a call makes of a tensor
//     that differs carries its roots, along what is known to feed what, until elements or a
//     checksum prove a tensor the same. Behind a root only elements that show more than what came in
//     make another one (flow.go).
//  2. What rounding can do is nobody's fault. Two sides that add up in another order differ
//     by (2 + log₂ n) roundoffs of what was added, which may be far more than the sum
//     (summands.go). A call that gets the same and differs by no more stirs what it flows into, as
//     does a tensor that differs without anybody to blame. All that comes of it is judged by how much a
//     call adds to the errors that came in (noisy.go). That sides computed alike so far does
//     not say that the next call does.
//  3. A call that selects or moves, or that rounds correctly, gives the same for the same, whatever
//     the order: any difference is its own.
//  4. An argument or an input that differs though nothing before it does is a cause, however
//     small, and also where what was recorded of the outputs does not show it: then it is a
//     root if something behind differs by more than rounding, or if no outputs were
//     recorded. An input of another form, None for a tensor of flags, say, is a cause
//     if the outputs show that it matters. NaN in an input that no call made and that the call makes nothing of
//     are a cause behind whatever else differs. What a call takes the shape of alone is none.
//  5. What was not recorded is not evidence. Without inputs the first call whose output differs is
//     named and all others come later; without outputs it is the first whose input does, and what
//     lies before it. Numbers that swallow all others, as masks are made of, say nothing of how far those
//     are apart.
//  6. A choice between numbers that are nearly the same, as of experts or of the largest
//     k, may turn out otherwise for all that is known: what hangs on it is not judged by size.
//  7. A root is certain if elements, checksums, or statistics in a type with digits enough say that
//     what went in is the same.

// Begin is where a root of a recording begins: an input or an argument that
// differs though nothing before it explains that.
type Begin struct {
	// Row is the place of the input or argument in the table.
	Row int
	// From are the calls that feed the input on either side, whose outputs agree: what
	// lies between was not recorded.
	From []string
	// Instead is the call whose result is taken in place of that of the root, which is made and left.
	Instead string
	// Why says how it differs, of what was given to a network; else it is empty.
	Why result.Reason
	// vain tells of NaN that nothing before made and that the call made nothing of (recordedWalk.vain).
	vain bool
}

// arrival is what comes into a call: what the outputs of others carry, and where something begins.
type arrival struct {
	trail
	// begin is an input or argument that differs though nothing before it does; soft tells
	// that it is of another form, so that only the outputs tell whether it matters.
	begin *Begin
	soft  bool
}

// turned is a call of one side alone that may have put elements in another order, its place from 1 on, and how many calls
// have handed that on.
type turned struct{ by, hops int }

// mostHops is how many calls hand on that elements may be in another order: statistics of what most calls make of them show it.
const mostHops = 8

// trail is what the outputs of a call carry.
type trail struct {
	// roots are those whose error it is.
	roots []int
	// stirred: something may be off by noise. chosen: it hangs on a choice that may have turned out otherwise.
	stirred, chosen bool
	// coarse is the roundoff of the coarsest type on the way here, since something differs.
	coarse float64
	moved  turned
}

// add joins what another carries.
func (a *trail) add(t *trail) {
	if t.moved.by > 0 && t.moved.hops < mostHops && (a.moved.by == 0 || t.moved.hops < a.moved.hops) {
		a.moved = t.moved
	}
	a.roots = merge(a.roots, t.roots)
	a.stirred = a.stirred || t.stirred
	a.chosen = a.chosen || t.chosen
	a.coarse = max(a.coarse, t.coarse)
}

// run finds the roots of a recording.
func (w *recordedWalk) run() {
	w.trails = make([]trail, len(w.operators))
	w.inputs = map[result.Port]*trail{}
	w.drawn = map[string]int{}
	w.pending = map[int]bool{}
	w.handed.roots = map[string][]int{}
	w.narrow = map[extremes][]*result.Row{}
	w.placed, w.looked = map[int64]bool{}, map[string]lookup{}
	w.noise, w.read = w.opts.Behind, w.taken()
	for i := range w.operators {
		op := &w.operators[i]
		if i > 0 && prefixOf(op.Op.Name) != prefixOf(w.operators[i-1].Op.Name) {
			w.lonely, w.blur, w.flipped, w.near, w.gradient, w.loose, w.decided, w.sent, w.reshuffled = false, 0, 0, 0, 0, 0, nil, nil, 0
			clear(w.narrow)
			clear(w.placed)
		}
		a := w.came(op)
		if w.made(op) || len(op.Outputs) == 0 {
			w.carriedBy(op, &a)
		}
		for _, name := range op.Op.Uses {
			if k, ok := w.place[name]; ok && k < i {
				a.add(&w.trails[k])
			}
		}
		w.handedOn(op, &a)
		if ofParameters(op) || strings.HasSuffix(op.Op.Name, ".debug") || op.Op.Behind || w.unfed(op) && w.off(op) || w.onlyNaNKnown(op) {
			// Gradients of parameters, values saved by hand, states, calls whose inputs were not recorded.
			a.roots = merge(a.roots, w.before(op))
			a.stirred = a.stirred || w.noise
		}
		random, rank := catalogue.Is(op.Op.Type, catalogue.Random), ""
		if random {
			_, rank = partOf(op.Op.Name)
			if k, other := w.drawn[rank]; other {
				a.roots, a.chosen = merge(a.roots, []int{k}), true
			}
		}
		w.look(op)
		shuffles := w.shuffles(op, &a)
		w.settle(op, i, &a)
		w.trails[i].chosen = w.trails[i].chosen && !w.choseAlike(op)
		w.flipped = max(w.flipped, w.flips(op))
		if random && len(w.out.Roots) > 0 && w.out.Roots[len(w.out.Roots)-1].Operator == i {
			w.drawn[rank] = len(w.out.Roots) - 1
		}
		w.hand(op, i, &a, shuffles)
		w.asks(op, i)
		// What the sides compute by other calls may be rounded otherwise.
		w.trails[i].stirred = w.trails[i].stirred || op.Op.Steps > 0 || w.lone(i) && !catalogue.Is(op.Op.Type, catalogue.Moves)
		w.blurred(op, i)
		w.noteGradients(op)
		w.nears(op)
	}
	w.lostUpdates()
	if len(w.pending) > 0 {
		w.decide()
	}
	if len(w.out.Roots) == 0 {
		w.bare()
	}
	if len(w.out.Roots) == 0 {
		w.turnedAlone()
	}
	w.byUnknownWays()
	w.alike()
	if !w.otherOrder() {
		w.calm()
		w.nameBad()
	}
	w.sortRoots()
	w.across()
}

// blurred notes what an operator tells of calls behind it: that sides compute otherwise, and what of theirs is the
// same as far as a coarse type shows.
func (w *recordedWalk) blurred(op *Operator, place int) {
	for k := range op.Outputs {
		r := w.row(&op.Outputs[k])
		if agreementOf(r) != same || fine(r) || !r.Left.DType.IsFloat() {
			continue
		}
		if e, ok := extremesOf(r); ok {
			w.narrow[e] = append(w.narrow[e], r)
		}
	}
	w.lonely = w.lonely || (w.lone(place) || op.Op.Steps > 0) && backwards(op) == 0
	if !w.lonely {
		return
	}
	for k := range op.Outputs {
		if r := w.row(&op.Outputs[k]); agreementOf(r) == same && r.Left.DType.IsFloat() && !fine(r) {
			w.blur = max(w.blur, unit(coarserOf(r)))
		}
	}
}

// hides tells of what goes into a call that it differs by no more than tensors before it hide.
func (w *recordedWalk) hides(op *Operator, r *result.Row) bool {
	size, known := sizeOf(r)
	return known && w.blur > 0 && size <= 2*w.blur && !isWeight(op, r.Recorded.Place) && !counted(r.Left.DType)
}

// extremes are the largest and the smallest number of either side of a tensor of so many elements: one that was
// widened from another type has the same.
type extremes struct{ count, leftMax, leftMin, rightMax, rightMin float64 }

// extremesOf tells them where they are known.
func extremesOf(r *result.Row) (e extremes, ok bool) {
	const known = result.KnownMax | result.KnownMin
	left, right := r.Recorded.Left, r.Recorded.Right
	return extremes{elements(r.Right.Shape), left.Stats.Max, left.Stats.Min, right.Stats.Max, right.Stats.Min}, left.Has(known) && right.Has(known)
}

// mostAlike is how many tensors with the same extremes are looked at, the last ones: of what is clipped there are many.
const mostAlike = 32

// widened is the roundoff of the coarser type in which a call before gave what goes into a call, if it differs by no more than
// the statistics there hide: all that is known of it is the same on either side, and what is known to feed it leads there. 0 if it is
// not so.
func (w *recordedWalk) widened(op *Operator, r *result.Row) float64 {
	e, ok := extremesOf(r)
	size, known := sizeOf(r)
	if !ok || !known || !r.Left.DType.IsFloat() {
		return 0
	}
	list := w.narrow[e]
	for k := len(list) - 1; k >= max(0, len(list)-mostAlike); k-- {
		o := list[k]
		if u := unit(coarserOf(o)); u > unit(coarserOf(r)) && size <= 2*u && w.leadsTo(r, o) {
			far := w.statisticsRounding(w.named(o.Op), o)
			if sameSums(o.Recorded.Left, r.Recorded.Left, e.count, far) && sameSums(o.Recorded.Right, r.Recorded.Right, e.count, far) {
				return u
			}
		}
	}
	return 0
}

// sameSums tells that norms and means of two tensors of n elements are the same but for rounding.
func sameSums(a, b *result.Summary, n, rounding float64) bool {
	const sums = result.KnownNorm | result.KnownMean
	norm := math.Abs(b.Stats.Norm)
	return a.Has(sums) && b.Has(sums) && math.Abs(a.Stats.Norm-b.Stats.Norm) <= rounding*norm && math.Abs(a.Stats.Mean-b.Stats.Mean) <= rounding*norm/math.Sqrt(max(1, n))
}

// leadsTo tells whether an input may come from an output: by what is known to feed it on either side, through what
// moves elements, or else, where nothing is known, by its shape.
func (w *recordedWalk) leadsTo(r, o *result.Row) bool {
	measured := false
	for _, p := range []result.Port{r.Facts.Producer, r.Recorded.Golden} {
		for range mostSteps {
			from := w.named(p.Op)
			if from == nil {
				break
			}
			if measured = true; p.Op == o.Op {
				return true
			}
			if !catalogue.Is(from.Op.Type, catalogue.Moves) || len(from.Op.Inputs) == 0 {
				break
			}
			p = from.Op.Inputs[0]
		}
	}
	one := func(n int64) bool { return n == 1 }
	return !measured && slices.Equal(slices.DeleteFunc(slices.Clone(r.Right.Shape), one), slices.DeleteFunc(slices.Clone(o.Right.Shape), one))
}

// hand hands on that elements may be in another order, which shuffles tells of the call itself.
func (w *recordedWalk) hand(op *Operator, i int, a *arrival, shuffles bool) {
	if inexact(op.Op.Type) && w.provenOutputs(op) {
		for k := range op.Outputs {
			if r := w.row(&op.Outputs[k]); unit(coarserOf(r)) <= single {
				w.bitwise += elements(r.Right.Shape)
			} else if r.Left.DType.IsFloat() {
				w.bitwise += elements(r.Right.Shape) / fewCoarse
			}
		}
	}
	switch {
	case shuffles:
		w.trails[i].moved, w.reshuffled = turned{by: i + 1}, i+1
	case w.turns(i):
		w.trails[i].moved = turned{by: i + 1}
		if backwards(op) == 0 && !w.read[op.Op.Name] {
			w.loose = i + 1
		}
	case a.moved.by > 0 && len(w.trails[i].roots) == 0:
		w.trails[i].moved = a.moved
		if !ofModule(op.Op.Name) {
			w.trails[i].moved.hops++
		}
		if w.lone(i) && backwards(op) == 0 && !w.read[op.Op.Name] {
			w.loose = a.moved.by // it is no better known where this went
		}
	}
}

// leastBitwise is how many elements calls that may be rounded otherwise on another device gave with the same bits before one that does not, so that it is no
// device that does; of a coarser type than float32, into which most sums are rounded alike, one in fewCoarse counts.
const leastBitwise, fewCoarse = 256, 64

// shuffles tells of the first call that gives other elements for the same ones, whose statistics are the same but for roundoffs, where both sides
// compute alike to the last bit so far: its elements are in another order, if what takes them shows that they are others.
func (w *recordedWalk) shuffles(op *Operator, a *arrival) bool {
	if w.bitwise < leastBitwise || w.noise || a.stirred || a.begin != nil || len(a.roots) > 0 || len(op.Whole) > 0 || slices.ContainsFunc(op.Inputs, func(t Tensor) bool { return !w.row(&t).Recorded.Argument && !proven(w.row(&t)) }) {
		return false
	}
	return slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		return bySumAlone(r) && elements(r.Right.Shape) > 1
	})
}

// asks notes the roots of a single flag that differs: a program that asks it goes another way from there on, and gives calls other
// forms of the same, a mask or none. So it does those of places: it may take rows by these.
func (w *recordedWalk) asks(op *Operator, i int) {
	if slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		return r.Left.DType == dtype.Bool && elements(r.Left.Shape) == 1 && elements(r.Right.Shape) == 1 && agreementOf(r) == different
	}) {
		w.decided = merge(w.decided, w.trails[i].roots)
	}
	if slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		return r.Left.DType.IsInteger() && agreementOf(r) == different
	}) {
		w.sent = merge(w.sent, w.trails[i].roots)
	}
	if t := &w.trails[i]; t.chosen && len(t.roots) == 0 {
		for k := range op.Outputs {
			if r := w.row(&op.Outputs[k]); r.Left.DType.IsInteger() && agreementOf(r) == different {
				w.placed[int64(elements(r.Right.Shape))] = true
			}
		}
	}
}

// putElsewhere tells of a tensor that its elements differ and its statistics do not: they may lie in another order.
func putElsewhere(r *result.Row) bool {
	const all = result.KnownMax | result.KnownMin | result.KnownNorm
	a, b := r.Recorded.Left, r.Recorded.Right
	return (r.Compared || r.Recorded.Hashed) && slices.Equal(r.Left.Shape, r.Right.Shape) && a.Has(all) && b.Has(all) && !apartBy(a, b, 4*roundedOff(r))
}

// bySumAlone tells of a tensor that a checksum tells that its elements differ, and that its statistics do not, but for roundoffs.
func bySumAlone(r *result.Row) bool {
	return r.Recorded.Hashed && !r.Recorded.HashSame && putElsewhere(r)
}

// settle decides what a call is by what came into it, and what it hands on.
func (w *recordedWalk) settle(op *Operator, i int, a *arrival) {
	t := &w.trails[i]
	if a.coarse = max(a.coarse, w.intake(op).coarsest); w.off(op) {
		w.coarse = max(w.coarse, a.coarse)
		if a.begin == nil {
			a.begin = w.oneSided(op)
			a.soft = a.begin != nil // where rounding explains the result, the other side has it by default
		}
	}
	carries := func(roots []int) { *t = trail{roots: roots, stirred: a.stirred, chosen: a.chosen, coarse: a.coarse} }
	begins := func(n int) {
		carries([]int{n})
		if a.begin != nil {
			w.inputs[result.Port{Op: op.Op.Name, Index: w.table.Rows[a.begin.Row].Slot}] = t
		}
	}
	root := func(r Root) {
		w.out.Roots = append(w.out.Roots, r)
		begins(len(w.out.Roots) - 1)
	}
	word, _ := op.checkWord()
	switch {
	case word == checkWrong:
		root(w.newRoot(op, i, a)) // also where both sides have the same wrong result
	case len(op.Outputs) == 0 && op.Op.Outputs == 0 && a.begin != nil && !a.soft && len(a.roots) == 0 && len(op.Inputs) > 0:
		// Its outputs were not recorded.
		root(w.inputRoot(op, i, a.begin))
	case a.begin != nil && a.begin.vain:
		root(w.inputRoot(op, i, a.begin))
		op.State = max(op.State, w.stateOf(op, a.begin))
	case !w.off(op):
		if a.begin != nil && !a.soft && len(a.roots) == 0 && !w.provenOutputs(op) {
			root(w.inputRoot(op, i, a.begin))
			w.pending[t.roots[0]] = true
			return
		}
		if a.begin != nil && !a.soft {
			w.hidden = append(w.hidden, a.begin)
		}
		carries(a.roots)
	case len(a.roots) == 0 && (a.begin == nil || a.soft) && word <= checkFollows && w.unseen(op):
		w.blank(op)
		*t = trail{stirred: true, chosen: true, coarse: a.coarse}
		w.noise = true
	case w.isRoot(op, a):
		other := -1
		if a.begin == nil && len(a.roots) == 0 && !w.made(op) { // no order of elements makes NaN of finite ones
			if !w.ofEach(op) {
				other = a.moved.by - 1
			}
		} else if b := a.begin; !a.soft && b != nil && !w.table.Rows[b.Row].Recorded.Argument {
			for _, find := range []func(*Operator, *Begin) int{w.behindAlone, w.shownAlone, w.untaken, w.swallowed, w.otherForm} {
				if other < 0 {
					other = find(op, b)
				}
			}
			if other < 0 && len(b.From) == 0 && !isWeight(op, w.table.Rows[b.Row].Recorded.Place) {
				other = a.moved.by - 1
			}
		}
		if other < 0 {
			root(w.newRoot(op, i, a))
			return
		}
		// What one side alone calls, or takes no notice of, is the root, and not who takes it.
		other = w.spoiled(other)
		n := slices.IndexFunc(w.out.Roots, func(r Root) bool { return r.Operator == other })
		if n < 0 && len(w.operators[other].Whole) == 0 && (a.begin == nil || other == w.reshuffled-1) {
			n = len(w.out.Roots)
			w.out.Roots = append(w.out.Roots, w.newRoot(&w.operators[other], other, &arrival{}))
		} else if n < 0 {
			n = len(w.out.Roots)
			w.out.Roots = append(w.out.Roots, w.aloneRoot(other, a.begin, op.State == StateBad))
		}
		begins(n)
		if op.From = t.roots; op.State == StateBad {
			op.State = StateInherited
		}
	default:
		op.From = a.roots
		if len(a.roots) == 0 {
			a.stirred = true
			a.chosen = a.chosen || w.chooses(op) || w.regrouped(op) || w.turned(op) && w.flips(op) == 0
			if !w.counting(op) {
				w.noise = true
				w.raise(op)
			}
		}
		if op.State == StateBad {
			op.State = StateInherited
		}
		carries(a.roots)
	}
}

// ofEach tells of a call that it computes a function of each number of one tensor: what is said of its result is the same in any order of elements.
func (w *recordedWalk) ofEach(op *Operator) bool {
	tensors := 0
	for k := range op.Inputs {
		if !w.row(&op.Inputs[k]).Recorded.Argument {
			tensors++
		}
	}
	return tensors == 1 && catalogue.Of(op.Op.Type).Formula != nil
}

// provenOutputs tells whether all outputs of a call are known to be the same, as a shape that it asks for.
func (w *recordedWalk) provenOutputs(op *Operator) bool {
	return len(op.Outputs)+op.Op.Outputs > 0 && !slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return !proven(w.row(&t)) })
}

// stateOf is the state of a call of which nothing but what it begins with shows that something is wrong: as bad as that is.
func (w *recordedWalk) stateOf(op *Operator, begin *Begin) State {
	if slices.ContainsFunc(op.Inputs, func(t Tensor) bool { return t.Row == begin.Row && t.Verdict == Bad }) {
		return StateBad
	}
	return StateSuspect
}

// inputRoot is a root by what goes into a call alone.
func (w *recordedWalk) inputRoot(op *Operator, place int, begin *Begin) Root {
	r := Root{Operator: place, Kind: RootDiffers, Begin: begin, Edge: true, Certainty: Likely}
	if len(op.Outputs) > 0 {
		r = w.rootOf(op, place)
		r.Begin, r.Edge, r.Certainty = begin, true, Likely
	}
	row := &w.table.Rows[begin.Row]
	if len(begin.From) == 0 && !row.Recorded.Argument {
		if r.Kind = RootInput; isWeight(w.named(row.Op), row.Recorded.Place) {
			r.Kind = RootWeight
		}
	}
	w.between(&r, begin)
	return r
}

// between makes calls without a partner that feed what a root begins with the region it is in.
func (w *recordedWalk) between(r *Root, begin *Begin) {
	for _, name := range begin.From {
		// What was not compared, or what feeds one side alone, whose result the other does not take.
		if from := w.named(name); from != nil && (len(from.Outputs) == 0 || len(begin.From) > 1) {
			r.Certainty, r.Region = Region, append(r.Region, name)
		}
	}
	row := &w.table.Rows[begin.Row]
	if row.Recorded.Argument || isWeight(w.named(row.Op), row.Recorded.Place) || row.Recorded.Parameter != "" {
		return
	}
	through := strings.Split(strings.TrimSuffix(row.Recorded.Through, "\n"), "\n")
	through = append(through, w.within(row), w.unread(row.Op, begin.From))
	for _, name := range through {
		if name != "" && !slices.Contains(r.Region, name) {
			r.Certainty, r.Region = Region, append(r.Region, name)
		}
	}
}

// unread is the last call that one side alone makes between the only one that feeds another and that one, and whose result no recorded call takes, ""
// if there is none: what was not recorded may put it where the other side has something else.
func (w *recordedWalk) unread(name string, from []string) string {
	if len(from) != 1 {
		return ""
	}
	for k := w.place[name] - 1; k > w.place[from[0]]; k-- {
		if x := &w.operators[k]; len(x.Whole) > 0 && !w.read[x.Op.Name] && backwards(x) == backwards(w.named(name)) {
			return x.Op.Name
		}
	}
	return ""
}

// within is the innermost module around a call whose own inputs are the same, or nearly beside an input of the call,
// "" if none is: what lies in front of the call and was not recorded lies in it.
func (w *recordedWalk) within(begin *result.Row) string {
	size, known := sizeOf(begin)
	for op := range w.outside(begin.Op) {
		tensors, differ := 0, false
		for k := range op.Inputs {
			if r := w.row(&op.Inputs[k]); !r.Recorded.Argument && !isWeight(op, r.Recorded.Place) {
				tensors++
				far, measured := sizeOf(r)
				differ = differ || agreementOf(r) == different && !(known && measured && mostLeap[0]*far < size)
			}
		}
		if tensors > 0 && !differ {
			return op.Op.Name
		}
	}
	return ""
}

// inside tells that a module lies around a call.
func (w *recordedWalk) inside(name, module string) bool {
	for op := range w.outside(name) {
		if op.Op.Name == module {
			return true
		}
	}
	return false
}

// outside are the modules around a call, the innermost first.
func (w *recordedWalk) outside(name string) iter.Seq[*Operator] {
	if w.around == nil {
		w.around = map[string]int{}
		for i := range w.operators {
			op := w.operators[i].Op
			if !ofModule(op.Name) {
				continue
			}
			for _, inner := range op.Uses {
				if _, known := w.around[inner]; !known && backwards(&w.operators[i]) == backwards(w.named(inner)) {
					w.around[inner] = i
				}
			}
		}
	}
	return func(yield func(*Operator) bool) {
		at, ok := w.around[name]
		for n := 0; n < 64 && ok && yield(&w.operators[at]); n++ {
			at, ok = w.around[w.operators[at].Op.Name]
		}
	}
}

// ordered adds to a root what may have put elements that go into it in another order, where statistics say that they
// are the same and their last axis is another than where they were made: what lies between, recorded or not.
func (w *recordedWalk) ordered(r *Root, op *Operator) {
	for k := range op.Inputs {
		row := w.row(&op.Inputs[k])
		if row.Recorded.Argument || agreementOf(row) == unknown || row.Compared || row.Recorded.Hashed {
			continue
		}
		for _, x := range []struct {
			from  result.Port
			shape func(*result.Row) []int64
		}{
			{row.Facts.Producer, func(r *result.Row) []int64 { return r.Left.Shape }},
			{row.Recorded.Golden, func(r *result.Row) []int64 { return r.Right.Shape }},
		} {
			from := w.named(x.from.Op)
			if from == nil {
				continue
			}
			out := from.output(x.from.Index)
			if out == nil || lastAxis(x.shape(w.row(out))) == lastAxis(x.shape(row)) {
				continue
			}
			between := append(strings.Split(row.Recorded.Through, "\n"), w.meeting(op.Op.Name, x.from.Op))
			for _, name := range between {
				if name != "" && !slices.Contains(r.Region, name) {
					r.Certainty, r.Region = Region, append(r.Region, name)
				}
			}
		}
	}
}

// lastAxis is the size of the last axis, 1 without any.
func lastAxis(shape []int64) int64 {
	if len(shape) == 0 {
		return 1
	}
	return shape[len(shape)-1]
}

// meeting is the innermost module around two calls, "" if none is.
func (w *recordedWalk) meeting(a, b string) string {
	outer := map[*Operator]bool{}
	for op := range w.outside(b) {
		outer[op] = true
	}
	for op := range w.outside(a) {
		if outer[op] {
			return op.Op.Name
		}
	}
	return ""
}

// ofModule tells the name of a module, or cell, from that of a function.
func ofModule(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	return strings.HasPrefix(name, "Module.") || strings.HasPrefix(name, "Cell.")
}

// decide keeps, of the roots whose own outputs do not show them, those that something behind
// shows by more than rounding, or the first tensor among them where these are all that is known.
func (w *recordedWalk) decide() {
	shown := map[int]bool{}
	for i := range w.operators {
		op := &w.operators[i]
		if !slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return w.shows(op, w.row(&t)) }) {
			continue
		}
		for _, k := range w.trails[i].roots {
			shown[k] = true
		}
	}
	only := len(w.out.Roots) == len(w.pending)
	var keep []*Root
	for k := range w.out.Roots {
		r := &w.out.Roots[k]
		switch {
		case !w.pending[k] || shown[k]:
		case only && !w.table.Rows[r.Begin.Row].Recorded.Argument:
			only = false
		default:
			continue
		}
		keep = append(keep, r)
		if op := &w.operators[r.Operator]; w.pending[k] {
			op.State = max(op.State, w.stateOf(op, r.Begin))
		}
	}
	for i := range w.trails {
		t := &w.trails[i]
		t.roots = slices.DeleteFunc(slices.Clone(t.roots), func(k int) bool { return !slices.Contains(keep, &w.out.Roots[k]) })
	}
	w.keepRoots(w.out, func(_ int, r *Root) bool { return slices.Contains(keep, r) })
}

// bare makes a tensor that is given to a call and differs a root though no output shows it, if it is all that
// is known: a weight in a row that no token picked, an offset that a softmax takes out again.
func (w *recordedWalk) bare() {
	for _, begin := range w.hidden {
		r := &w.table.Rows[begin.Row]
		if r.Recorded.Argument {
			continue
		}
		op := w.named(r.Op)
		w.out.Roots = append(w.out.Roots, w.inputRoot(op, w.place[r.Op], begin))
		op.State = max(op.State, w.stateOf(op, begin))
		return
	}
}

// nameBad makes the first call a root that limits call bad where nothing else is one, so that a verdict that is bad has a name.
func (w *recordedWalk) nameBad() {
	if len(w.out.Roots) > 0 {
		return
	}
	if k := slices.IndexFunc(w.operators, func(op Operator) bool { return op.State == StateBad && len(op.Outputs) > 0 }); k >= 0 {
		r := w.rootOf(&w.operators[k], k)
		r.Certainty = Likely
		w.out.Roots = append(w.out.Roots, r)
	}
}

// handedOn adds what the outputs carry that a module, or the gradients of its parameters, only
// hand on.
func (w *recordedWalk) handedOn(op *Operator, a *arrival) {
	for k := range op.Outputs {
		r := w.row(&op.Outputs[k])
		for _, p := range []result.Port{r.Facts.Producer, r.Recorded.Golden} {
			if at, ok := w.place[p.Op]; ok && p.Op != op.Op.Name {
				a.add(&w.trails[at])
			}
		}
	}
}

// copies tells whether all that differs of a module, or of the gradients of its parameters, was made by another
// call, the same on both sides.
func (w *recordedWalk) copies(op *Operator) bool {
	return !slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		from := r.Facts.Producer
		return agreementOf(r) == different && (from != r.Recorded.Golden || w.named(from.Op) == nil || from.Op == op.Op.Name)
	})
}

// off tells whether an output differs.
func (w *recordedWalk) off(op *Operator) bool {
	return slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return agreementOf(w.row(&t)) == different })
}

// made tells of a call without a partner that made NaN or infinities of finite numbers.
func (w *recordedWalk) made(op *Operator) bool {
	return slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return w.row(&t).Fresh() })
}

// carriedBy adds what arrives at a call by all that feeds it, where nothing is known of what
// differs.
func (w *recordedWalk) carriedBy(op *Operator, a *arrival) {
	for _, p := range op.Op.Inputs {
		if k, ok := w.place[p.Op]; ok {
			a.add(&w.trails[k])
		}
	}
}

// came looks at what goes into a call: what its inputs carry, and an input or argument that
// differs though nothing before it does.
func (w *recordedWalk) came(op *Operator) (a arrival) {
	begin := func(r int, from []string, soft bool) {
		// What is given to a call says more than that an argument differs, and both more than
		// that something has another form.
		if a.begin != nil && a.begin.vain {
			return
		}
		if a.begin == nil || a.soft && !soft || w.table.Rows[a.begin.Row].Recorded.Argument && !soft && from != nil {
			a.begin, a.soft = &Begin{Row: r, From: from}, soft
		}
	}
	for k := range op.Inputs {
		t := &op.Inputs[k]
		r := w.row(t)
		if r.Recorded == nil {
			continue
		}
		agrees := agreementOf(r)
		if r.Recorded.Argument {
			if agrees == different && len(w.decided) > 0 && switched(r.Recorded) {
				a.roots = merge(a.roots, w.decided)
			} else if agrees == different && w.literal(op, r.Recorded) {
				begin(t.Row, nil, !numbers(r.Recorded))
			}
			continue
		}
		if len(w.decided) > 0 && (r.Has(result.SortsDiffer) || r.Has(result.ShapesDiffer)) {
			a.roots = merge(a.roots, w.decided)
			continue
		}
		if r.Slot == 0 && catalogue.Is(op.Op.Type, catalogue.Shaped) && !r.Has(result.SortsDiffer) && !r.Has(result.ShapesDiffer) {
			continue // what is not read explains nothing, and is nobody's fault here
		}
		if agrees == same && proven(r) {
			if view := w.viewed(r); view != "" && w.off(op) {
				begin(t.Row, []string{view}, false)
			}
			continue
		}
		if agrees == different && w.sampled(op, r) {
			w.otherTokens(op, t)
			a.stirred, a.chosen = true, true
			continue
		}
		if w.vain(op, r) {
			a.begin, a.soft = &Begin{Row: t.Row, vain: true}, false
			continue
		}
		in, calls, known := w.fed(op, r)
		if len(calls) == 0 && w.loose > 0 && backwards(op) == 0 && r.Left.DType.IsFloat() && !isWeight(op, r.Recorded.Place) {
			a.add(&trail{moved: turned{by: w.loose}}) // by a way that was not recorded, as a split
		}
		if len(calls) == 0 && w.reshuffled > 0 && bySumAlone(r) {
			a.add(&trail{moved: turned{by: w.reshuffled}})
		}
		if a.add(&in); r.Has(result.ChecksumLate) {
			// The checksum is no evidence, and does not prove either that what the statistics hide is the same.
			a.stirred = a.stirred || w.noise || w.lonely
		}
		if agrees == different && len(in.roots) == 0 {
			in.roots = w.handedRoots(op, r)
			a.roots = merge(a.roots, in.roots)
		}
		w.inputs[result.Port{Op: op.Op.Name, Index: r.Slot}] = &in
		switch soft := r.Has(result.SortsDiffer); {
		case agrees != different || len(in.roots) > 0:
		case w.maskedAlone(r):
			a.stirred = true
		case len(calls) > 0 && strayNaN(r) && len(w.nanBefore(op)) > 0:
			a.roots = merge(a.roots, w.nanBefore(op))
		case w.detour(r), len(calls) > 0 && (finiteOnce(r) || !w.noise && !w.reordered() && unsized(r)):
			begin(t.Row, calls, soft)
		case in.stirred && w.crossed(r):
			a.stirred = true
			a.chosen = w.crossing(r, in.coarse) || a.chosen
		case in.stirred:
			if w.gap(op, r, calls, in.coarse) || w.pointwiseAlone(r, calls) {
				begin(t.Row, calls, soft)
			}
		case known == fedBySame && len(w.sent) > 0 && putElsewhere(r):
			a.roots = merge(a.roots, w.sent)
		case known == fedBySame:
			if u := w.widened(op, r); w.carriedOn(r) || w.unheld(r) || u > 0 {
				a.stirred = true
				a.coarse = max(a.coarse, u)
			} else {
				if w.crossed(r) {
					w.crossing(r, in.coarse)
				}
				begin(t.Row, calls, soft)
			}
		case known == fedByOthers && len(w.before(op)) == 0:
			// What has no partner may compute the same in another way: it is judged by what comes out.
			if w.gap(op, r, nil, in.coarse) {
				begin(t.Row, calls, soft)
			} else {
				a.stirred = true
			}
		default: // It may come from anything before, by a way that was not recorded.
			before := w.before(op)
			a.roots = merge(a.roots, before)
			a.coarse = max(a.coarse, w.coarse)
			hidden := 0.0 // the roundoff of a type that hides it
			if w.hides(op, r) {
				hidden = w.blur
			} else if len(before) == 0 {
				hidden = w.widened(op, r)
			}
			coarse := in.coarse
			if len(in.roots) == 0 && !isWeight(op, r.Recorded.Place) {
				coarse = max(coarse, w.coarse) // it may come from what is of a coarser type
			}
			switch noise := w.noise || recast(r); {
			case len(before) == 0 && len(r.Right.Shape) > 1 && w.placed[r.Right.Shape[0]] && putElsewhere(r):
				a.stirred, a.chosen = true, true // rows that a choice sent elsewhere, by a way that was not recorded
			case len(before) > 0:
			case w.loose > 0 && !w.noise && backwards(op) == 0 && r.Left.DType.IsFloat() && r.Recorded.Hashed && !isWeight(op, r.Recorded.Place):
				begin(t.Row, nil, soft) // checksums alone show that elements are in another order
			case hidden > 0:
				a.stirred = true
				a.coarse = max(a.coarse, hidden)
			case noise && (w.opts.Behind && isWeight(op, r.Recorded.Place) || !w.gap(op, r, nil, coarse)), w.rounded(r) && (!isWeight(op, r.Recorded.Place) || alikeAtEnds(r) && (r.Recorded.NormRoom == 0 || lastDigit(r)) && !w.shown(op)):
				a.stirred = true
			default:
				begin(t.Row, nil, soft)
			}
		}
	}
	return a
}

// viewed is the kernel of a view that feeds an input on one side and that the other side does not have, "" if there
// is none: its file has the memory as it lies, which says nothing of the order in which elements are taken from there.
func (w *recordedWalk) viewed(r *result.Row) string {
	for _, p := range []result.Port{r.Facts.Producer, r.Recorded.Golden} {
		if k, ok := w.place[p.Op]; ok && strings.HasSuffix(w.operators[k].Op.Type, "View") && w.lone(k) {
			return p.Op
		}
	}
	return ""
}

// detour tells of an input that one side alone computes from what the other side takes as it is, that it is not the same
// then: by its elements, or its extremes and norm, beyond one rounding for every step of the way.
func (w *recordedWalk) detour(r *result.Row) bool {
	for _, p := range [2][2]result.Port{{r.Facts.Producer, r.Recorded.Golden}, {r.Recorded.Golden, r.Facts.Producer}} {
		steps := w.stepsAlone(p[0], p[1])
		if steps == 0 || w.named(p[1].Op) == nil {
			continue
		}
		if counted(r.Left.DType) && counted(r.Right.DType) {
			return true // it differs, and numbers of experts and places are not rounded
		}
		if !r.Left.DType.IsFloat() {
			continue
		}
		u := roundedOff(r)
		sums := 2 + math.Log2(max(1, elements(r.Right.Shape)))
		limit := float64(2+steps)*u + sums*min(u, single)
		if size, known := sizeOf(r); known && r.Compared {
			return size > limit
		}
		return apartBy(r.Recorded.Left, r.Recorded.Right, limit)
	}
	return false
}

// mostPointwise is how many calls of one side alone are followed to what they compute of each number.
const mostPointwise = 4

// pointwiseAlone tells of an input of which elements are known, and before which nothing differs, that calls of one side alone that compute each
// number by itself make it and that it is off by more than they round: nothing cancels in them, whatever the other side's way is, which was not
// recorded.
func (w *recordedWalk) pointwiseAlone(r *result.Row, calls []string) bool {
	size, known := sizeOf(r)
	if w.noise || !known || !r.Compared || !r.Left.DType.IsFloat() || len(calls) != 1 {
		return false
	}
	steps := 0
	for next := calls; len(next) > 0; next = next[1:] {
		k, ok := w.place[next[0]]
		if !ok || !w.lone(k) {
			continue
		}
		op := &w.operators[k]
		if steps++; steps > mostPointwise || catalogue.Of(op.Op.Type).Formula == nil && !catalogue.Is(op.Op.Type, catalogue.Exact) || catalogue.Is(op.Op.Type, catalogue.Steep) {
			return false
		}
		for _, p := range op.Op.Inputs {
			next = append(next, p.Op)
		}
	}
	return steps > 0 && size > float64(2+steps)*roundedOff(r)
}

// finiteOnce tells of a pair that one side alone has NaN or infinities.
func finiteOnce(r *result.Row) bool {
	size, known := sizeOf(r)
	return known && math.IsInf(size, 1) && (r.Compared && r.Result().Facts.Disagree > 0 || nonFinite(r.Recorded.Left) != nonFinite(r.Recorded.Right))
}

// strayNaN tells of an input that one side alone has NaN or infinities in, by a way that was not recorded: what feeds the other side says
// nothing of that way, and may be another call that gave the same.
func strayNaN(r *result.Row) bool {
	left, right := nonFinite(r.Recorded.Left), nonFinite(r.Recorded.Right)
	return left != right && (left && r.Facts.Producer.Op == "" || right && r.Recorded.Golden.Op == "")
}

// nanBefore are the roots before a call that have NaN or infinities on one side alone.
func (w *recordedWalk) nanBefore(op *Operator) []int {
	return slices.DeleteFunc(w.before(op), func(k int) bool {
		from := &w.operators[w.out.Roots[k].Operator]
		return !slices.ContainsFunc(from.Outputs, func(t Tensor) bool { return finiteOnce(w.row(&t)) })
	})
}

// vain tells of an input that it has NaN on a side where no output has any, and that all its own call makes is finite: no
// error before explains them, however much differs. The call got something else, or passes over it.
func (w *recordedWalk) vain(op *Operator, r *result.Row) bool {
	is := hasNaN(r)
	if is[0] == is[1] || silent(r) {
		return false
	}
	some := false
	for k := range op.Outputs {
		if out := w.row(&op.Outputs[k]); !out.Recorded.Argument && out.Left.DType.IsFloat() {
			if agreementOf(out) == unknown || nonFinite(out.Recorded.Left) || nonFinite(out.Recorded.Right) {
				return false
			}
			some = true
		}
	}
	if !some {
		return false
	}
	if w.makes == nil {
		w.makes = &[2]bool{}
		for i := range w.operators {
			for k := range w.operators[i].Outputs {
				if out := w.row(&w.operators[i].Outputs[k]); out.Recorded != nil && !silent(out) {
					nan := hasNaN(out)
					w.makes[0], w.makes[1] = w.makes[0] || nan[0], w.makes[1] || nan[1]
				}
			}
		}
	}
	return is[0] && !w.makes[0] || is[1] && !w.makes[1]
}

// hasNaN tells of the left and the right side of a value whether there are NaN.
func hasNaN(r *result.Row) (is [2]bool) {
	if f := &r.Result().Facts; r.Compared && f.Known {
		return [2]bool{f.X.NaN > 0, f.Y.NaN > 0}
	}
	is[0], _ = r.Recorded.Left.NotFinite()
	is[1], _ = r.Recorded.Right.NotFinite()
	return is
}

// unsized tells of a pair of which only a checksum tells that it differs, and nobody by how much.
func unsized(r *result.Row) bool {
	_, known := sizeOf(r)
	return !known && !blind(r)
}

// mostSteps is how many calls of one side alone are followed.
const mostSteps = 16

// stepsAlone is how many calls of one side alone lie between an output of one of them and another output, 0 if the first is not made
// of the second by such calls.
func (w *recordedWalk) stepsAlone(from, to result.Port) int {
	seen, next := map[string]bool{}, []string{from.Op}
	for len(next) > 0 && len(seen) < mostSteps {
		name := next[0]
		next = next[1:]
		if k, ok := w.place[name]; !ok || !w.lone(k) || seen[name] {
			continue
		}
		seen[name] = true
		for _, p := range w.named(name).Op.Inputs {
			if p == to {
				return len(seen)
			}
			next = append(next, p.Op)
		}
	}
	return 0
}

// What is known of the call that feeds an input.
const (
	fedByNobody = iota // none is known
	fedByOthers        // one that has no partner, or whose outputs tell nothing
	fedBySame          // one whose outputs tell
)

// fed follows an input to what feeds it on either side: what that carries, which calls they are,
// and whether their outputs are known.
func (w *recordedWalk) fed(op *Operator, r *result.Row) (in trail, calls []string, known int) {
	for _, p := range []result.Port{r.Facts.Producer, r.Recorded.Golden} {
		from := w.named(p.Op)
		if from == nil {
			continue
		}
		out := from.output(p.Index)
		if out != nil && w.place[p.Op] > w.place[op.Op.Name] && agreementOf(w.row(out)) == different {
			continue // the sides make the calls in another order: it differs, and what with is not known yet
		}
		if out == nil || !proven(w.row(out)) {
			in.add(&w.trails[w.place[p.Op]])
		}
		if !slices.Contains(calls, p.Op) {
			calls = append(calls, p.Op)
		}
		switch {
		case counted(r.Left.DType) && !r.Recorded.Hashed:
			// By its largest and smallest number many a tensor of integers is another.
		case out != nil && agreementOf(w.row(out)) != unknown:
			known = fedBySame
		case known == fedByNobody:
			known = fedByOthers
		}
	}
	if before := w.inputs[r.Recorded.Before]; before != nil && len(in.roots) == 0 {
		in.add(before)
	}
	few := r.Left.DType.IsFloat() && !fine(r) || counted(r.Left.DType) && !proven(r)
	if len(calls) == 0 && agreementOf(r) == same && !isWeight(op, r.Recorded.Place) && few {
		// Nobody knows where it comes from, and its statistics have too few digits to tell, or are those of many counts.
		in.roots = merge(in.roots, w.before(op))
	}
	if len(calls) == 0 && agreementOf(r) == same && !proven(r) && !isWeight(op, r.Recorded.Place) && r.Left.DType.IsFloat() {
		in.stirred = in.stirred || w.noise // what its statistics hide may have been off before
	}
	return in, calls, known
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
	for _, s := range []*result.Summary{rec.Left, rec.Right} {
		if long := s.Class == "float" && len(strings.Trim(s.Value, "-0.")) > 8; long && (before || w.noise) || s.Class == "int" && before {
			return false
		}
	}
	return true
}

// crossed tells of an input that calls feed of two pairs, where calls stand in another order on the two
// sides: which is whose partner is not sure then.
func (w *recordedWalk) crossed(r *result.Row) bool {
	a, b := w.named(r.Facts.Producer.Op), w.named(r.Recorded.Golden.Op)
	return w.reordered() && a != b && a != nil && b != nil && len(a.Outputs) > 0 && len(b.Outputs) > 0
}

// switched tells of an argument that differs that a program which asks a flag may leave it out or turn it on.
func switched(rec *result.Recorded) bool {
	return slices.ContainsFunc([]*result.Summary{rec.Left, rec.Right}, func(s *result.Summary) bool { return s.Class == "" || s.Class == "bool" || s.Class == "None" })
}

// numbers tells an argument that is a number on both sides.
func numbers(rec *result.Recorded) bool {
	number := func(s *result.Summary) bool { return s.Class == "float" || s.Class == "int" }
	return number(rec.Left) && number(rec.Right)
}

// isRoot decides whether a call whose output differs is an origin.
func (w *recordedWalk) isRoot(op *Operator, a *arrival) bool {
	switch word, _ := op.checkWord(); {
	case word > checkFollows:
		return true
	case word == checkFollows && len(a.roots) > 0:
		return false
	}
	leaps := func() bool { return !a.chosen && w.leaps(op, a) && !w.turned(op) && !w.stepped(op) }
	switch {
	case w.made(op):
		return len(a.roots) == 0
	case w.copies(op), backwards(op) == 0 && w.ofRoot(op), len(a.roots) == 0 && w.regrouped(op):
		return false
	case a.begin != nil && !a.soft, len(a.roots) == 0 && w.mislaid(op):
		return true
	case len(a.roots) > 0:
		// Statistics are a lower bound of errors: behind a root they may well show late what
		// was there before.
		return !op.Op.Behind && w.elementwise(op) && !catalogue.Is(op.Op.Type, catalogue.Steep) && !w.ofRoot(op) && w.worstIncoming(op) < mostLinear && leaps()
	case a.stirred && !a.chosen && !w.noise && !w.reordered() && slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		return agreementOf(w.row(&t)) == different && unsized(w.row(&t))
	}):
		return true // checksums are all that there is: nothing differs before, and nobody can say that it is rounding
	case a.stirred:
		// What came by other calls is the same as far as anybody knows, and nothing differs before.
		return leaps() || op.State == StateBad && !w.noise && !a.chosen && w.unchanged(op) && w.beyond(op)
	}
	return w.beyond(op)
}

// ofRoot tells of a call that one that it belongs to is a root, as the forward call of a backward one, or the call that it repeats: it has the
// same wrong argument, or formula.
func (w *recordedWalk) ofRoot(op *Operator) bool {
	return slices.ContainsFunc(w.out.Roots, func(r Root) bool {
		return slices.Contains(op.Op.Uses, w.operators[r.Operator].Op.Name)
	})
}

// mostLinear is the relative error of an element up to which errors are taken to add up: beyond it
// nothing can be said of what a call makes of them.
const mostLinear = 1.0 / 8

// newRoot makes an operator a root.
func (w *recordedWalk) newRoot(op *Operator, place int, a *arrival) Root {
	for k := range op.Outputs {
		t := &op.Outputs[k]
		if agreementOf(w.row(t)) != different || t.Verdict == Bad {
			continue
		}
		size, known := sizeOf(w.row(t))
		switch {
		case !known && slices.ContainsFunc(t.Causes, func(c Cause) bool { return c.Kind == Differs }):
			continue
		case !known, size == 0, bySumAlone(w.row(t)): // a checksum, or whole numbers that are one in float64: it has no size
			size = math.NaN()
		case a.stirred && a.begin == nil && !counted(w.row(t).Left.DType):
			if f, _ := w.leap(op, a); !(f <= w.limitOf(op)) { // else other whole numbers tell, which it gives beside
				t.Causes = append(t.Causes, Cause{Kind: JumpDistance, Value: f, Limit: w.limitOf(op), First: -1})
				t.settle()
				op.State = max(op.State, StateSuspect)
				continue
			}
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
	switch word, at := op.checkWord(); word {
	case checkWrong:
		r.Certainty, r.Recomputed, r.Kind = Certain, true, RootWrong
		return r
	case checkDiffers, checkGolden:
		if r = w.rootAt(op, place, at); word == checkGolden {
			r.Kind = RootGolden
		}
		r.Followed = true
		return r
	}
	if r.Begin = a.begin; a.begin != nil && a.soft {
		r.Begin = &Begin{Row: a.begin.Row, From: a.begin.From}
	}
	begin := r.Begin
	if w.made(op) {
		r.FreshNaN = true
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
		w.between(&r, begin)
	}
	doubt := false
	for k := range op.Inputs {
		row := w.row(&op.Inputs[k])
		if agreementOf(row) == unknown || row.Has(result.ChecksumLate) {
			r.Uncompared = append(r.Uncompared, row.Tensor())
		}
		doubt = doubt || w.short > 0 && agreementOf(row) == different || !row.Recorded.Argument && agreementOf(row) == same && !proven(row) && !fine(row) && !isWeight(op, row.Recorded.Place)
	}
	if r.Certainty == Certain {
		w.ordered(&r, op)
	}
	if r.Certainty != Certain {
		r.Uncompared = nil
	} else if len(r.Uncompared) > 0 || doubt || w.unfed(op) {
		r.Certainty = Likely
	}
	for k := range op.Inputs {
		// What is still on its way from other ranks when it is recorded has no values: the
		// collective that brings it may be at fault as well.
		if rec := w.row(&op.Inputs[k]).Recorded; r.Certainty == Likely && strings.HasSuffix(rec.Left.Class, "AsyncCollectiveTensor") && agreementOf(w.row(&op.Inputs[k])) == unknown {
			r.Certainty = Region
		}
	}
	return r
}

// onlyNaNKnown tells of a call that of its outputs no number is known, but whether there are NaN.
func (w *recordedWalk) onlyNaNKnown(op *Operator) bool {
	return !slices.ContainsFunc(op.Outputs, func(t Tensor) bool { r := w.row(&t); return !r.Recorded.Argument && agreementOf(r) != unknown })
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
