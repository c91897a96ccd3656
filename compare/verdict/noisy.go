package verdict

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"precision/compare/metric"
	"precision/compare/result"
	catalogue "precision/op"
)

// Noise is learned for forward and for backward calls by themselves: gradients are
// sums of what nearly cancels, and the sum of those that arrive by several ways is no
// call, so that less is known of what went in. On computed networks of 10 to 200 calls, on two kinds of
// device and in bfloat16 against float32, the largest factor without a fault is 2 to 6 times the usual forward, and
// up to 11 times backward.

// mostLeap is how many times the usual a call may add before it is an origin, forward
// and backward.
var mostLeap = [2]float64{8, 16}

// leastUsual is what calls add at least, as a rule: half of what one rounding of every
// element can make.
const leastUsual = 0.5

// backwards is 1 for a backward call and the gradients of a module's parameters, else 0.
func backwards(op *Operator) int {
	if strings.HasSuffix(op.Op.Name, ".backward") || strings.Contains(op.Op.Name, ".backward.") || ofParameters(op) {
		return 1
	}
	return 0
}

// ofParameters tells of the gradients of a module's parameters.
func ofParameters(op *Operator) bool { return strings.Contains(op.Op.Name, ".parameters_grad.") }

// learn finds how much calls add to the errors of their inputs as a rule: the
// factor that three of four stay below; and how far inputs are off that no call is
// known to feed, weights above all: most of them are below.
func (w *recordedWalk) learn() {
	var list [2][]float64
	var strays []float64
	seen := map[int64]bool{} // a tensor that many calls take is one
	for i := range w.operators {
		op := &w.operators[i]
		at := backwards(op)
		if f, ok := w.leap(op, &arrival{}); ok && f <= math.MaxFloat64 {
			list[at] = append(list[at], f)
		}
		for k := range op.Inputs {
			r := w.row(&op.Inputs[k])
			if size, known := sizeOf(r); known && !r.Recorded.Argument && r.Left.DType.IsFloat() && w.named(r.Facts.Producer.Op) == nil && w.named(r.Recorded.Golden.Op) == nil && at == 0 {
				if print := r.Recorded.Left.Print(r.Left.Shape); size == 0 || !seen[print] {
					seen[print] = print != 0
					strays = append(strays, size)
				}
			}
		}
	}
	w.unlearned = len(list[0])+len(list[1]) < 10
	if slices.Sort(strays); len(strays) > 0 {
		if w.strays = strays[len(strays)/2]; len(strays) < leastStrays {
			w.strays = min(w.strays, otherStatistics/mostLeap[0]) // an input is no excuse for itself
		}
	}
	for at := range list {
		if w.usual[at] = 1; len(list[at]) >= 10 {
			slices.Sort(list[at])
			w.usual[at] = min(max(leastUsual, list[at][len(list[at])*3/4]), mostUsual)
		}
	}
}

// leastStrays is how many inputs that no call is known to feed tell how far these are off as a rule.
const leastStrays = 10

// mostUsual bounds what is taken for usual, so that a fault in every layer is not
// learned as noise.
const mostUsual = 16

// limitOf is how many times the error of its inputs and a rounding the error of a call
// may be.
func (w *recordedWalk) limitOf(op *Operator) float64 {
	at := backwards(op)
	if at == 0 && catalogue.Is(op.Op.Type, catalogue.Copies) {
		return mostCopied
	}
	limit := mostLeap[at] * w.usual[at]
	if at == 0 && catalogue.Is(op.Op.Type, catalogue.Approximate) {
		limit = max(limit, mostApproximate)
	}
	return limit
}

// mostApproximate is how many roundoffs an approximate function may add.
const mostApproximate = 48

// mostCopied is the same for a table's rows, which are rounded once and not computed.
const mostCopied = 3

// mostInside is how many roundoffs elements may be off by that are neither the largest nor the smallest, where
// statistics are all that is known and something before is off by as much.
const mostInside = 16

// leap is how many times the error of an output is what the errors of what went in
// and one rounding make of it; of the worst output. It is not known where what goes in
// holds NaN or infinities and was not compared element by element.
func (w *recordedWalk) leap(op *Operator, a *arrival) (factor float64, ok bool) {
	in, found := w.incoming(w.stepOf(op))
	if a.stirred && !w.elementwise(op) && a.coarse > w.intake(op).coarsest {
		in += a.coarse // a coarser type before it: statistics show less than elements are off by
	}
	if slices.ContainsFunc(op.Inputs, func(t Tensor) bool { return blind(w.row(&t)) }) {
		// But NaN and infinities that one side alone has were made here if none came in.
		beyond := func(t Tensor) bool { size, known := sizeOf(w.row(&t)); return known && math.IsInf(size, 1) }
		if slices.ContainsFunc(op.Outputs, beyond) && !slices.ContainsFunc(op.Inputs, beyond) {
			return math.Inf(1), true
		}
		if backwards(op) == 1 || !(w.level > 0) || !w.noise {
			return math.Inf(1), false
		}
		in, found = blindRoom*w.level, true // what is behind a mask is off by no more than all before, times its size
	}
	if math.IsInf(in, 1) {
		return 0, false
	}
	coarsest := w.intake(op).coarsest
	if a.stirred && !w.elementwise(op) {
		in = max(in, min(w.level, mostInside*max(coarsest, w.short)))
		if backwards(op) == 1 {
			in = max(in, min(w.flipped, math.Sqrt(in)))
		}
	}
	for k := range op.Outputs {
		r := w.row(&op.Outputs[k])
		size, condition, known := w.relative(op, r)
		if !known || w.counts(r) {
			continue
		}
		ok = true
		u := max(roundedOff(r), halfStep(r))
		rounding := max(coarsest, u, w.shortOf(op))
		if before, is := w.intake(op).before, r.Left.DType; r.Has(result.TimesScales) || is.IsFloat() && is.Bits() <= 8 {
			came := in
			if is.IsFloat() {
				came += before // which a kernel may round to within
			}
			rounding = max(min(u, math.Sqrt(2*came*u)), before) // as many move by a step as the error is a share of one
		}
		if w.stepsApart(op, &op.Outputs[k]) > 1 {
			return math.Inf(1), true
		}
		factor = max(factor, size/((in+rounding*max(1, float64(op.Op.Steps)))*condition))
	}
	return factor, ok && found
}

// blindRoom is how many times the largest error so far that is which a mask hides: scores of attention, whose errors are shares of their size, go into an
// exponential.
const blindRoom = 16

// halfStep is half a step of whole numbers, as quantised ones, as a share of their size, of products of these and scales that of 8 bits;
// 0 for others.
func halfStep(r *result.Row) float64 {
	if f := &r.Result().Facts; r.Has(result.TimesScales) && f.Y.RMS > 0 {
		return magnitude(&f.Y) / f.Y.RMS / 254
	}
	if norm := normOf(r); counted(r.Left.DType) && norm > 0 {
		return math.Sqrt(elements(r.Right.Shape)) / norm / 2
	}
	return 0
}

// blind tells that nobody knows how far the sides of a tensor are apart: only statistics are known and these
// are not finite, or a mask is in it. What is proven to be the same is.
func blind(r *result.Row) bool {
	return !r.Recorded.Argument && !proven(r) && (veiled(r) || !r.Compared && (nonFinite(r.Recorded.Left) || nonFinite(r.Recorded.Right)))
}

// miscounts tells whether a call gives other whole numbers though what went in is so
// nearly the same that no comparison among its elements can have turned out otherwise.
func (w *recordedWalk) miscounts(op *Operator) bool {
	wrong := slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		return counted(r.Left.DType) && agreementOf(r) == different && !(alikeAtEnds(r) && w.shuffledBatch())
	})
	n, known := w.ties(op)
	for k := range op.Inputs {
		if r := w.row(&op.Inputs[k]); !r.Recorded.Argument && agreementOf(r) == different && !r.Compared {
			n += mostInside * roundedOff(r) * elements(r.Right.Shape) // which statistics do not show
		}
	}
	return wrong && known && n < fewestTies && len(op.Inputs) > 0
}

// fewestTies is how many elements have to be near a tie for one comparison to turn out otherwise now and then.
const fewestTies = 0.01

// ties is how many of the elements that go into a call are as near to another as they are off: of n that are off by e, e·n.
// It is not known where it is not known how far something is off, or where whole numbers are.
func (w *recordedWalk) ties(op *Operator) (n float64, known bool) {
	for k := range op.Inputs {
		r := w.row(&op.Inputs[k])
		if r.Recorded.Argument {
			continue
		}
		size, known := sizeOf(r)
		if !known || counted(r.Left.DType) && agreementOf(r) == different {
			return 0, false
		}
		n += size * elements(r.Right.Shape)
	}
	return n, true
}

// turned tells of the gradient of a call whose slope jumps, as that of relu at 0, or that gives the larger of two numbers, that noise
// explains it: it is off by no more than what came in is, or may have gone to the other number or to none, as what went in forward lay on
// the other side. Of elements no more may differ than may have turned; their number is that of the squares of the differences, in which
// rounding does not count. Statistics tell less: their sums are off by as much as that many of the largest elements make.
func (w *recordedWalk) turned(op *Operator) bool {
	if backwards(op) == 0 {
		return false
	}
	jumps, either, most := false, false, 0.0
	for use, n := range w.kinks(op) {
		if jumps, either = true, either || catalogue.Is(use.Op.Type, catalogue.Either); n > 0 {
			most = max(most, n, 1)
		}
	}
	if !jumps {
		return false
	}
	came := 0.0 // the largest error of an element of the gradient that came in
	for k := range op.Inputs {
		if r := w.row(&op.Inputs[k]); r.Compared {
			came = max(came, measureOf(r).maxAbs)
		}
	}
	return !slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		switch {
		case r.Compared:
			largest, off := measureOf(r).maxAbs, r.Result().Values[metric.RootMeanSquareError].Float()
			return !(largest <= came) && !(elements(r.Right.Shape)*off*off <= 1.0001*most*largest*largest)
		case either:
			return most == 0
		}
		size, known := sizeOf(r)
		return known && (size >= 1 || !(size <= w.turnedSums(op, most))) // of a gradient that is zero all of it is lost
	})
}

// flips is how far a gradient may be off, as a share of its norm, where elements turn at a slope that jumps: the root of the share of those that
// lie near enough, and of three more; 0 where none does. One of two numbers is none: it is not judged by size what hangs on it.
func (w *recordedWalk) flips(op *Operator) (most float64) {
	if backwards(op) == 0 {
		return 0
	}
	for use, n := range w.kinks(op) {
		if n > 0 && !catalogue.Is(use.Op.Type, catalogue.Either) && len(use.Inputs) > 0 {
			most = max(most, min(1, math.Sqrt((2*n+3)/elements(w.row(&use.Inputs[0]).Right.Shape))))
		}
	}
	return most
}

// kinks are the calls that a gradient is of whose slope jumps, with how many of their elements lie near enough to a jump to turn; 0 where
// that is not known, or hardly one does.
func (w *recordedWalk) kinks(op *Operator) iter.Seq2[*Operator, float64] {
	return func(yield func(*Operator, float64) bool) {
		for _, name := range op.Op.Uses {
			use := w.named(name)
			if use == nil || !catalogue.Of(use.Op.Type).IsKinked() {
				continue
			}
			n, known := w.ties(use)
			if !known || n < fewestTies {
				n = 0
			}
			if !yield(use, n) {
				return
			}
		}
	}
}

// stepped tells of a call that rounds to whole numbers that noise explains what it gives: none is further off than the next number, and no more are than
// lie as near to a half as elements are off, four times over, and three. The sum of the squares of differences counts those.
func (w *recordedWalk) stepped(op *Operator) bool {
	if backwards(op) == 1 || !catalogue.Is(op.Op.Type, catalogue.Rounds) || len(op.Inputs) == 0 || !w.row(&op.Inputs[0]).Compared {
		return false
	}
	in := measureOf(w.row(&op.Inputs[0]))
	return !slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		if !r.Compared {
			return true
		}
		off, n := measureOf(r), elements(r.Right.Shape)
		return !(off.maxAbs <= 1+in.maxAbs) || !(n*off.errorRMS()*off.errorRMS() <= 4*n*in.errorRMS()+3)
	})
}

// turnedSums is how far the norm and the mean of a gradient may be off, relative to its norm, where so many elements of what comes in
// turn: as many as the largest.
func (w *recordedWalk) turnedSums(op *Operator, most float64) (off float64) {
	for k := range op.Inputs {
		r := w.row(&op.Inputs[k])
		if r.Recorded.Argument || r.Recorded.Right == nil {
			continue
		}
		if s := &r.Recorded.Right.Stats; s.Norm > 0 {
			share := max(math.Abs(s.Max), math.Abs(s.Min)) / s.Norm
			off = max(off, most*share*(share+1/math.Sqrt(elements(r.Right.Shape))))
		}
	}
	return min(off, 1)
}

// incoming is the error that arrives at a call: that of its inputs together, and of
// the calls it uses.
func (w *recordedWalk) incoming(op *Operator) (sum float64, found bool) {
	add := func(list []Tensor, of *Operator) {
		for k := range list {
			r := w.row(&list[k])
			if r.Has(result.SortsDiffer) {
				continue // how far they are apart nobody knows
			}
			if size, known := sizeOf(r); known {
				if of != nil && math.IsInf(size, 1) {
					size, _, _ = w.relative(of, r) // a gradient of which nothing is left on one side
				}
				if size == 0 && r.Recorded.Hashed && agreementOf(r) == different {
					size = roundedOff(r) // that the checksum tells of, and statistics do not
				}
				sum += size
				found = true
			}
		}
	}
	add(op.Inputs, nil)
	for _, name := range op.Op.Uses {
		if use := w.named(name); use != nil {
			add(use.Inputs, nil)
			add(use.Outputs, use)
		}
	}
	return sum, found
}

// leaps tells whether a call adds more error than noise explains. Where there are
// too few calls to learn the noise from, one whose inputs are all the same may not be
// beyond the limits.
func (w *recordedWalk) leaps(op *Operator, a *arrival) bool {
	f, ok := w.leap(op, a)
	if !ok && w.unfed(op) {
		return op.State == StateBad && len(w.before(op)) == 0
	}
	return ok && (w.exceeds(op, f) || math.IsNaN(f)) || w.miscounts(op) || w.unlearned && ok && op.State == StateBad && w.unchanged(op)
}

// exceeds tells whether the factor of an error is beyond noise, and the error beyond what another order of summation makes of what is the same: it
// makes as much of what is nearly the same.
func (w *recordedWalk) exceeds(op *Operator, factor float64) bool {
	return factor > w.limitOf(op) && (math.IsInf(factor, 1) || w.shown(op))
}

// unfed tells of a call that no tensor is recorded to go into, so that nothing explains an
// error of its outputs and only limits speak of it.
func (w *recordedWalk) unfed(op *Operator) bool {
	return !slices.ContainsFunc(op.Inputs, func(t Tensor) bool { return !w.row(&t).Recorded.Argument })
}

// unchanged tells whether all that goes into a call is the same to the last bit.
func (w *recordedWalk) unchanged(op *Operator) bool {
	return len(op.Inputs) > 0 && !slices.ContainsFunc(op.Inputs, func(t Tensor) bool { return agreementOf(w.row(&t)) != same })
}

// elementwise tells whether the tensors that go into a call were compared element by
// element.
func (w *recordedWalk) elementwise(op *Operator) bool {
	some := false
	for k := range op.Inputs {
		if r := w.row(&op.Inputs[k]); !r.Recorded.Argument {
			if !r.Compared {
				return false
			}
			some = true
		}
	}
	return some
}

// worstIncoming is the largest relative error of an element that goes into a call.
func (w *recordedWalk) worstIncoming(op *Operator) (worst float64) {
	for k := range op.Inputs {
		if f := &w.row(&op.Inputs[k]).Result().Facts; f.Known && !f.BitEqual && !(worst >= f.MaxRel) {
			worst = f.MaxRel
		}
	}
	return worst
}

// gap tells whether an input is not what feeds it, or, where that is not known, off
// by far more than other inputs of that sort and than anything before.
func (w *recordedWalk) gap(op *Operator, r *result.Row, calls []string, coarse float64) bool {
	// Elements tell also of what one side alone computes, as long as nothing before differs.
	lone := r.Compared && !w.noise && slices.ContainsFunc(calls, func(name string) bool { k, ok := w.place[name]; return ok && w.lone(k) })
	if !lone && slices.ContainsFunc(calls, func(name string) bool { from := w.named(name); return from != nil && len(from.Outputs) > 0 }) {
		coarse = max(coarse, w.laid(op, r))
		return w.apartFromMade(r, coarse) || w.broken(r, r.Recorded.Golden, coarse, func(r *result.Row) *result.Summary { return r.Recorded.Left }) ||
			w.broken(r, r.Facts.Producer, coarse, func(r *result.Row) *result.Summary { return r.Recorded.Right })
	}
	size, known := sizeOf(r)
	if !known || counted(r.Left.DType) || r.Has(result.SortsDiffer) {
		return false
	}
	if backwards(op) == 0 && size*normOf(r) <= single*w.gradient {
		return false // a gradient that is zero but for rounding, as of an offset in front of a softmax, which a step of an optimizer gets
	}
	u := max(coarse, roundedOff(r), w.short) // products may lie between that were not recorded
	size /= w.left(op, r)
	if back := w.uncomparedTaker(op); back != nil {
		size /= max(1, w.gradientSummands(back, r)/normOf(r))
	}
	if sum := w.handedBack(op, r); sum > normOf(r) {
		size *= normOf(r) / sum
	}
	if at := backwards(op); at == 1 { // sums of gradients: the error of one is that of all behind it
		return size > max(mostLeap[0]*w.level, mostLeap[1]*u)
	}
	if !w.opts.Behind && r.Recorded.Parameter != "" {
		return size > mostLeap[0]*max(w.strays, u) // a weight that no call feeds has nothing to do with what came before
	}
	return size > mostLeap[0]*max(w.strays, u) && size > 3*(w.level+u) // what came before, and one more rounding
}

// takersOf are the backward calls of what takes what the forward call of a backward one gives: of functions where it is one, of modules
// where it is that of a module.
func (w *recordedWalk) takersOf(op *Operator) []string {
	forward := turnedName(op.Op.Name, ".backward", ".forward")
	if forward == "" {
		return nil
	}
	if w.takers == nil {
		w.takers = map[string][]string{}
		for i := range w.operators {
			taker := w.operators[i].Op.Name
			for _, p := range w.operators[i].Op.Inputs {
				back := turnedName(taker, ".forward", ".backward")
				if list := w.takers[p.Op]; back != "" && ofModule(taker) == ofModule(p.Op) && (len(list) == 0 || list[len(list)-1] != back) {
					w.takers[p.Op] = append(list, back)
				}
			}
		}
	}
	return w.takers[forward]
}

// turnedName is the name of a call with the other direction, at its end or before the number of a module's call; "" where the first is not in it.
func turnedName(name, from, to string) string {
	i := strings.LastIndex(name, from)
	if i < 0 || i+len(from) < len(name) && name[i+len(from)] != '.' {
		return ""
	}
	return name[:i] + to + name[i+len(from):]
}

// uncomparedTaker is the backward call of a function that takes what a call gives, if nothing of what that hands on was
// compared: what goes into the backward call of the giver is that; else nil. Where no call is known to take it, as what turns axes
// was not recorded, that is the function whose gradients come right before.
func (w *recordedWalk) uncomparedTaker(op *Operator) *Operator {
	uncompared := func(back *Operator) bool {
		return back != nil && len(back.Outputs) > 0 && !slices.ContainsFunc(back.Outputs, func(t Tensor) bool { return agreementOf(w.row(&t)) != unknown })
	}
	takers := w.takersOf(op)
	for _, taker := range takers {
		if back := w.named(taker); uncompared(back) {
			return back
		}
	}
	if len(takers) > 0 || ofModule(op.Op.Name) || backwards(op) == 0 {
		return nil
	}
	for k := w.place[op.Op.Name] - 1; k >= 0; k-- {
		if back := &w.operators[k]; !ofModule(back.Op.Name) && !w.lone(k) {
			if backwards(back) == 1 && uncompared(back) {
				return back
			}
			return nil
		}
	}
	return nil
}

// handedBack is the norm of the gradients that are added up to what goes into a backward call, as large as they may be: those that
// the calls hand back that take what its forward call gives; 0 where there is none to add.
func (w *recordedWalk) handedBack(op *Operator, r *result.Row) (sum float64) {
	takers := w.takersOf(op)
	if len(takers) < 2 || ofModule(op.Op.Name) { // modules within others hand back the same
		return 0
	}
	for _, taker := range takers {
		back, most := w.named(taker), 0.0
		if back == nil {
			return 0
		}
		for k := range back.Outputs {
			if out := w.row(&back.Outputs[k]); slices.Equal(out.Right.Shape, r.Right.Shape) && normOf(out) <= math.MaxFloat64 {
				most = max(most, normOf(out))
			}
		}
		sum += most
	}
	return sum
}

// handedRoots are the roots of the gradients that are added up to what goes into a backward call, or to what one side alone has from one such call, as
// where the others are zero there: that of a weight that several calls multiply with, which a hook gets.
func (w *recordedWalk) handedRoots(op *Operator, r *result.Row) (roots []int) {
	at := w.place[op.Op.Name]
	if takers := w.takersOf(op); len(takers) >= 2 {
		for _, taker := range takers {
			if k, ok := w.place[taker]; ok && k < at && w.off(&w.operators[k]) {
				roots = merge(roots, w.trails[k].roots)
			}
		}
	}
	from := w.named(cmp.Or(r.Facts.Producer.Op, r.Recorded.Golden.Op))
	if from == nil || backwards(from) == 0 || r.Facts.Producer.Op != "" && r.Recorded.Golden.Op != "" {
		return roots
	}
	for ; w.handed.next < at; w.handed.next++ { // calls come in order: each is looked at once
		x := &w.operators[w.handed.next]
		for _, t := range x.Outputs {
			if out := w.row(&t); backwards(x) == 1 && agreementOf(out) == different {
				shape := fmt.Sprint(out.Right.Shape)
				w.handed.roots[shape] = merge(w.handed.roots[shape], w.trails[w.handed.next].roots)
			}
		}
	}
	return merge(roots, w.handed.roots[fmt.Sprint(r.Right.Shape)])
}

// laid is how far the tensor is apart that an input of a backward call is the gradient of, 0 where that is not known: what chose or
// sorted its rows does so with those of the gradient, on the way there.
func (w *recordedWalk) laid(op *Operator, r *result.Row) (size float64) {
	name, backward := strings.CutSuffix(op.Op.Name, ".backward")
	forward := w.named(name + ".forward")
	if !backward || forward == nil {
		return 0
	}
	for k := range forward.Outputs {
		of := w.row(&forward.Outputs[k])
		if far, known := sizeOf(of); known && slices.Equal(of.Right.Shape, r.Right.Shape) && !math.IsInf(far, 0) {
			size = max(size, far)
		}
	}
	return size
}

// apartFromMade tells of an input that one call feeds on both sides that its elements are off by far more than
// those that the call gave: they are in another order, say.
func (w *recordedWalk) apartFromMade(r *result.Row, coarse float64) bool {
	from := w.named(r.Facts.Producer.Op)
	if from == nil || r.Facts.Producer != r.Recorded.Golden || !r.Compared {
		return false
	}
	t := from.output(r.Facts.Producer.Index)
	if t == nil || !w.row(t).Compared || !slices.Equal(w.row(t).Left.Shape, w.row(t).Right.Shape) {
		return false
	}
	size, known := sizeOf(r)
	made, too := sizeOf(w.row(t))
	return known && too && size > mostLeap[0]*max(made, coarse, roundedOff(r))
}

// broken tells whether an input is what an output is on one side, which says what
// feeds it, and is something else on the other.
func (w *recordedWalk) broken(r *result.Row, from result.Port, coarse float64, other func(*result.Row) *result.Summary) bool {
	op := w.named(from.Op)
	if op == nil {
		return false
	}
	t := op.output(from.Index)
	if t == nil {
		return false
	}
	out := w.row(t)
	if agreementOf(out) == unknown {
		return false // the sides recorded other tensors there
	}
	limit := mostLeap[0] * max(coarse, roundedOff(r), roundedOff(out))
	own := r.Recorded.Left
	if other(r) == own {
		own = r.Recorded.Right
	}
	made := out.Recorded.Left
	if other(out) == made {
		made = out.Recorded.Right
	}
	return apartBy(other(r), other(out), limit) && !apartBy(own, made, 0)
}

// apartBy tells of two tensors by their statistics that they are further apart than a limit.
func apartBy(a, b *result.Summary, limit float64) bool {
	const all = result.KnownMax | result.KnownMin | result.KnownNorm
	return a.Has(all) && b.Has(all) && (endsApart(a, b, limit) || math.Abs(a.Stats.Norm-b.Stats.Norm) > limit*math.Abs(b.Stats.Norm))
}

// endsApart tells of two tensors whose extremes are known that these are further apart than a share of the largest.
func endsApart(a, b *result.Summary, share float64) bool {
	peak := share * math.Max(math.Abs(b.Stats.Max), math.Abs(b.Stats.Min))
	return math.Abs(a.Stats.Max-b.Stats.Max) > peak || math.Abs(a.Stats.Min-b.Stats.Min) > peak
}

// noteGradients notes how large gradients are, times the roundoffs that adding them up may be off by.
func (w *recordedWalk) noteGradients(op *Operator) {
	if backwards(op) == 0 {
		return
	}
	for k := range op.Outputs {
		r := w.row(&op.Outputs[k])
		if n := normOf(r) * (2 + math.Log2(max(1, elements(r.Right.Shape)))); n <= math.MaxFloat64 {
			w.gradient = max(w.gradient, n)
		}
	}
}

// counting tells of a call that takes what counts and gives what counts, as positions from which a mask is made. It rounds nothing: that the
// sides count otherwise is no noise, and no measure of how far numbers may be apart.
func (w *recordedWalk) counting(op *Operator) bool {
	measured := func(t Tensor) bool { r := w.row(&t); return !r.Recorded.Argument && !counted(r.Left.DType) }
	return len(op.Inputs) > 0 && !slices.ContainsFunc(op.Inputs, measured) && !slices.ContainsFunc(op.Outputs, measured)
}

// raise notes the errors of the outputs of a call.
func (w *recordedWalk) raise(op *Operator) {
	for k := range op.Outputs {
		if size, known := sizeOf(w.row(&op.Outputs[k])); known && !math.IsInf(size, 0) {
			w.level = max(w.level, size)
		}
	}
}

// nears notes how many elements of numbers that differ are as near to another as they are off, where a call makes places, or ranks, of them: its choice may
// turn out otherwise, which the largest and the smallest place do not show.
func (w *recordedWalk) nears(op *Operator) {
	if backwards(op) == 1 || !slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return counted(w.row(&t).Left.DType) }) {
		return
	}
	if n, known := w.ties(op); known && n >= fewestTies {
		w.near += n
	}
}

// regrouped tells of a call that gives another number of places, as of what an expert gets, that choices before it explain which may
// have turned out otherwise: it is told by its statistics alone what it got, and no more are more or fewer than that.
func (w *recordedWalk) regrouped(op *Operator) bool {
	if w.near == 0 || backwards(op) == 1 || slices.ContainsFunc(op.Inputs, func(t Tensor) bool {
		r := w.row(&t)
		return r.Recorded.Argument || !counted(r.Left.DType) || r.Compared && agreementOf(r) == same || r.Recorded.Hashed && r.Recorded.HashSame || r.Has(result.ShapesDiffer)
	}) {
		return false
	}
	return len(op.Inputs) > 0 && !slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		return !counted(r.Left.DType) || !r.Has(result.ShapesDiffer) || !(math.Abs(elements(r.Left.Shape)-elements(r.Right.Shape)) <= float64(max(1, len(r.Right.Shape)))*(4*w.near+3))
	})
}

// chooses tells of a call that gives other whole numbers, as places or experts, for nearly the same.
func (w *recordedWalk) chooses(op *Operator) bool {
	return slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		return w.counts(r) && agreementOf(r) == different
	})
}

// choseAlike tells of what hangs on a choice that may have turned out otherwise that it did not: all that the call gives is the same but for
// rounding, and excuses nothing behind it.
func (w *recordedWalk) choseAlike(op *Operator) bool {
	alike := func(t Tensor) bool {
		r := w.row(&t)
		return agreementOf(r) != unknown && r.Left.DType.IsFloat() && !w.shows(op, r)
	}
	return len(op.Outputs) > 0 && len(op.Outputs) >= op.Op.Outputs && !slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return !alike(t) })
}

// nothingLeft tells of an output that the sums it is made of cancel to less than one rounding of theirs, or that what goes into its call is
// off by as much as it is large: zeros in its place are as right.
func (w *recordedWalk) nothingLeft(op *Operator, r *result.Row) bool {
	in, found := w.incoming(w.stepOf(op))
	return found && in >= 1 || w.condition(op, r)*w.intake(op).coarsest >= 1
}

// calm takes back what limits said of outputs whose errors noise explains, where no
// root is behind them.
func (w *recordedWalk) calm() {
	for i := range w.operators {
		op := &w.operators[i]
		if op.State != StateBad && op.State != StateInherited || len(w.trails[i].roots) > 0 {
			continue
		}
		t := &w.trails[i]
		if op.Op.Final && backwards(op) == 0 && !t.chosen && t.coarse <= single && w.shown(op) {
			continue // what a network makes of float32 is not off by as much as limits allow for all that each call adds
		}
		if f, ok := w.leap(op, &arrival{trail: trail{stirred: t.stirred, coarse: t.coarse}}); !t.chosen && (ok && w.exceeds(op, f) || w.miscounts(op)) {
			continue
		}
		op.State = StateGood
		chosen := t.chosen // which other places or experts may come of
		for k := range op.Outputs {
			t := &op.Outputs[k]
			t.Causes = slices.DeleteFunc(t.Causes, func(c Cause) bool {
				return c.Kind == Cosine || c.Kind == Distance || c.Kind == Scalar || c.Kind == Statistics || (c.Kind == Integers || c.Kind == Form) && chosen ||
					c.Kind == Zeros && (w.turned(op) || w.nothingLeft(op, w.row(t)))
			})
			if t.Verdict != Uncompared {
				t.settle()
			}
			op.State = max(op.State, [...]State{StateUncompared, StateGood, StateSuspect, StateBad}[t.Verdict])
		}
	}
}
