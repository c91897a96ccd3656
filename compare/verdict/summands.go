package verdict

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	catalogue "precision/op"
)

// A sum is as exact as what is added up, not as what is left: where nearly all of it cancels, as in
// gradients that are zero in exact arithmetic, another order of summation gives another number. What was
// added up is known by its norm: that of the inputs of a sum or difference, of the products
// of two factors, of the gradient that a parameter's is the sum of; errors add up as if they had nothing to do with each other. Sine and cosine have
// nothing to add, but the error of a large angle is that of the angle. Where a function is steep, as 1/√x
// near zero, a small part of its input makes most of what comes out.

// proven tells whether a pair of tensors is known to be the same, by its elements or a checksum
// over all of them.
func proven(r *result.Row) bool {
	if r.Has(result.SortsDiffer) || r.Has(result.ShapesDiffer) {
		return false
	}
	if r.Compared && r.Result().Facts.Known {
		f := &r.Result().Facts // of a part of the elements, where only that was recorded
		return f.BitEqual && float64(f.N) >= elements(r.Left.Shape)
	}
	return r.Recorded != nil && r.Recorded.Hashed && r.Recorded.HashSame
}

// fine tells whether what is known of a pair has digits enough that it is hardly the same by chance: a
// proof, or a norm in float32 or better.
func fine(r *result.Row) bool {
	if proven(r) {
		return true
	}
	for _, s := range []*result.Summary{r.Recorded.Left, r.Recorded.Right} {
		if !s.Has(result.KnownNorm) || math.IsInf(s.Stats.Norm, 0) || math.IsNaN(s.Stats.Norm) || s.Digits > 0 && s.Digits < 7 || s.Grain > 0 {
			return false
		}
	}
	u := unit(coarserOf(r))
	return 0 < u && u <= unit(dtype.Float32)
}

// rounded tells of a pair whose sides are not the same that rounding explains it: of the elements, or of
// the sums in its statistics. Where all statistics are the same and a checksum is not, the
// elements stand in another order.
func (w *recordedWalk) rounded(r *result.Row) bool {
	size, known := sizeOf(r)
	if !known {
		return w.reordered() && !blind(r)
	}
	const extremes = result.KnownMax | result.KnownMin
	u := roundedOff(r)
	if a, b := r.Recorded.Left, r.Recorded.Right; !r.Compared && a.Has(extremes) && b.Has(extremes) && endsApart(a, b, mostLeap[0]*u) {
		return false // extremes are elements: sums that round as many times as they have terms are no excuse for them
	}
	limit := (2 + math.Log2(max(1, elements(r.Right.Shape)))) * u
	if r.Compared { // no sum of a statistic is off here, and those before it are kept in float32 at least
		limit = 4*u + limit*min(1, single/u)
	}
	return !w.provenApart(r, size) && size <= limit
}

// provenApart tells of a pair that differs, however little, that it is not rounding: a checksum says so where the statistics are the
// same, or these are ids, flags or indices.
func (w *recordedWalk) provenApart(r *result.Row, size float64) bool {
	if size == 0 && w.shuffledBatch() {
		return false
	}
	return size == 0 && r.Recorded.Hashed || counted(r.Right.DType) && w.counts(r)
}

// shuffledBatch tells that the sides were fed a batch in another order, of which checksums alone tell: then they are others of all that is made
// of it.
func (w *recordedWalk) shuffledBatch() bool {
	return slices.ContainsFunc(w.table.Meta.Pairing.Why, func(r result.Reason) bool { return r.Kind == result.BatchReordered })
}

// carriedOn tells of an input that is not the same though what made it is that rounding explains it: on the way nothing
// is added up, so that elements are rounded a few times, and only sums over all of them in another order.
func (w *recordedWalk) carriedOn(r *result.Row) bool {
	size, known := sizeOf(r)
	u := roundedOff(r)
	return known && !w.provenApart(r, size) && !w.altered(r) && size <= 4*u+(2+math.Log2(max(1, elements(r.Right.Shape))))*min(u, single)
}

// altered tells of an input that it is, on one side alone, what a call gave whose result has the same type and extremes on both sides, and has others,
// by more than one rounding, on the other side: what lies between there, and was not recorded, changes numbers, as a cast to a shorter type and back.
func (w *recordedWalk) altered(r *result.Row) bool {
	port := cmp.Or(r.Facts.Producer, r.Recorded.Golden)
	from := w.named(port.Op)
	if from == nil || r.Facts.Producer.Op != "" && r.Recorded.Golden.Op != "" {
		return false
	}
	t := from.output(port.Index)
	if t == nil {
		return false
	}
	out := w.row(t)
	e, ok := extremesOf(r)
	made, known := extremesOf(out)
	return ok && known && sameEnds(out) && endsApart(r.Recorded.Left, r.Recorded.Right, 2*roundedOff(r)) && r.Left.DType == r.Right.DType && out.Left.DType == r.Left.DType && out.Right.DType == r.Left.DType &&
		e.count == made.count && (e.leftMax == made.leftMax && e.leftMin == made.leftMin || e.rightMax == made.rightMax && e.rightMin == made.rightMin)
}

// unheld tells of an input of which only the checksum differs that what made it is the same by statistics alone: then
// those may hide as much there.
func (w *recordedWalk) unheld(r *result.Row) bool {
	size, known := sizeOf(r)
	if !known || size > 0 {
		return false
	}
	for _, p := range []result.Port{r.Facts.Producer, r.Recorded.Golden} {
		if from := w.named(p.Op); from != nil {
			if out := from.output(p.Index); out != nil && !proven(w.row(out)) {
				return true
			}
		}
	}
	return false
}

// reordered tells that calls stand in another order on the two sides, or stand for others: so may what
// they add up, and a checksum alone tells nothing of how far that is apart.
func (w *recordedWalk) reordered() bool {
	p := &w.table.Meta.Pairing
	return p.Reordered+p.Mapped > 0
}

// roundings are the outputs of one type on both sides that differ by what rounding explains; nil if there is a root.
func (w *recordedWalk) roundings() *Rounded {
	r := Rounded{Products: w.shorter}
	for i := range w.operators {
		op := &w.operators[i]
		for k := range op.Outputs {
			row := w.row(&op.Outputs[k])
			agrees := agreementOf(row)
			if agrees == unknown || row.Recorded.Argument || !row.Left.DType.IsFloat() {
				continue
			}
			r.Of++
			if size, known := sizeOf(row); known && size > 0 && agrees == different && row.Left.DType == row.Right.DType {
				r.Count, r.Most = r.Count+1, max(r.Most, size)
			}
		}
	}
	if r.Count == 0 || len(w.out.Roots) > 0 {
		return nil
	}
	return &r
}

// recast tells of a pair that it differs by no more than what its two types make of a number.
func recast(r *result.Row) bool {
	size, known := sizeOf(r)
	return known && r.Left.DType != r.Right.DType && size <= 2*roundedOff(r)
}

// beyond tells whether a call that got the same gives something else than another order of
// summation does.
func (w *recordedWalk) beyond(op *Operator) bool {
	exact := backwards(op) == 0 && op.Op.Steps == 0 && !inexact(op.Op.Type) && !slices.ContainsFunc(op.Inputs, func(t Tensor) bool {
		r := w.row(&t)
		return agreementOf(r) == unknown || r.Has(result.ChecksumLate) || w.blur > 0 && !r.Recorded.Argument && !fine(r)
	})
	return slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		return agreementOf(r) == different && (exact && r.Left.DType == r.Right.DType && !w.shuffled(op, r) && !unseen(r) || counted(r.Left.DType)) || w.stepsApart(op, &t) > 1 || w.shows(op, r)
	})
}

// unseen tells of a pair of which statistics are all that is known that it differs by no more than a roundoff of float32 or two: that much is
// hidden by those of what went in. Where a product of a million elements is rounded otherwise in some, its extremes and its norm are
// the same as a rule, and what is made of it by a call that rounds correctly may show it.
func unseen(r *result.Row) bool {
	size, known := sizeOf(r)
	return known && !r.Compared && !r.Recorded.Hashed && r.Left.DType.IsFloat() && size <= 2*single
}

// mislaid tells of a module that it gives on one side what a call gave, and something else on the other, though that call gave the same on
// both: what one side alone does with it is no rounding, however little it is.
func (w *recordedWalk) mislaid(op *Operator) bool {
	return ofModule(op.Op.Name) && backwards(op) == 0 && slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		if agreementOf(r) != different || r.Left.DType != r.Right.DType || r.Has(result.ChecksumLate) {
			return false
		}
		return slices.ContainsFunc([]result.Port{r.Recorded.Golden, r.Facts.Producer}, func(p result.Port) bool {
			from := w.named(p.Op)
			if from == nil {
				return false
			}
			out := from.output(p.Index)
			return out != nil && agreementOf(w.row(out)) == same
		})
	})
}

// shuffled tells of what a call moved, or took from a table, that the sides may have the same elements in another order, as of a batch: the
// largest and the smallest are the same, and the sums as far as they are rounded.
func (w *recordedWalk) shuffled(op *Operator, r *result.Row) bool {
	hashed := r.Recorded.Hashed && !slices.ContainsFunc(op.Inputs, func(t Tensor) bool { return w.row(&t).Has(result.ChecksumLate) })
	return catalogue.Is(op.Op.Type, catalogue.Moves|catalogue.Copies) && !hashed && alikeAtEnds(r) && w.rounded(r) &&
		!slices.ContainsFunc(op.Inputs, func(t Tensor) bool { r := w.row(&t); return proven(r) && !isWeight(op, r.Recorded.Place) })
}

// shows tells whether an output differs by more than rounding.
func (w *recordedWalk) shows(op *Operator, r *result.Row) bool {
	if agreementOf(r) != different {
		return false
	}
	size, condition, known := w.relative(op, r)
	if !known {
		return !blind(r) && !w.reordered()
	}
	return size > w.ordinary(op, r, condition) || w.rescaled(op, r) || w.shrunk(op, r)
}

// fewestRescaled is of how many elements the norm moves seldom where each of them is rounded otherwise: by a sixteenth of a roundoff.
const fewestRescaled = 256

// ofTheSame tells of an output of many elements that statistics in a type of few digits are all that is known of it, and that nothing differs before,
// nor in what goes into its call.
func (w *recordedWalk) ofTheSame(op *Operator, r *result.Row) bool {
	return backwards(op) == 0 && op.Op.Steps == 0 && !r.Compared && !fine(r) && r.Left.DType == r.Right.DType && !w.noise && elements(r.Right.Shape) >= fewestRescaled && w.unchanged(op)
}

// mostNormSteps is how many steps of a type of few digits the norm of a result may move where its elements are rounded otherwise: these
// cancel, and what is left is the rounding of the norm itself and of one factor of all.
const mostNormSteps = 2

// shrunk tells of what a function makes of what is the same on both sides, in a type of few digits, that its norm is further off than elements rounded
// otherwise make it: as where a channel of 32 is zero, which is no more than four roundoffs of the largest element. Functions that are
// taken from polynomials, or are steep, may be off in one direction.
func (w *recordedWalk) shrunk(op *Operator, r *result.Row) bool {
	row, a, b := catalogue.Of(op.Op.Type), r.Recorded.Left, r.Recorded.Right
	if !w.ofTheSame(op, r) || ofModule(op.Op.Name) && row.Module == nil || row.Traits&(catalogue.Approximate|catalogue.Steep|catalogue.Random) != 0 ||
		!a.Has(result.KnownNorm) || !b.Has(result.KnownNorm) {
		return false
	}
	_, exponent := math.Frexp(b.Stats.Norm)
	step := math.Ldexp(unit(r.Right.DType), exponent)
	return math.Abs(a.Stats.Norm-b.Stats.Norm) > (mostNormSteps+0.5)*step
}

// rescaled tells of what a module makes of what is the same on both sides that one factor is between them, though one as small as a roundoff of
// a type of few digits: the largest and the smallest number, the mean and the norm are all nearer to zero on one side, as a norm of layers leaves
// them with another epsilon, which no recording of modules has. Elements that are rounded otherwise, one up and one down, move the norm seldom and hardly
// ever all four in one direction. A module of several calls may multiply with a number that one side rounds first, as open kernels do.
func (w *recordedWalk) rescaled(op *Operator, r *result.Row) bool {
	const all = result.KnownMax | result.KnownMin | result.KnownMean | result.KnownNorm
	a, b := r.Recorded.Left, r.Recorded.Right
	if !ofModule(op.Op.Name) || !w.ofTheSame(op, r) || !a.Has(all) || !b.Has(all) || nonFinite(a) || nonFinite(b) || !slices.Equal(r.Right.Shape, w.row(&op.Inputs[0]).Right.Shape) {
		return false
	}
	further := func(x, y float64) int { return cmp.Compare(math.Abs(x), math.Abs(y)) * cmp.Compare(x*y, 0) }
	way := further(a.Stats.Norm, b.Stats.Norm)
	return way != 0 && b.Stats.Max*b.Stats.Min < 0 && further(a.Stats.Max, b.Stats.Max) == way && further(a.Stats.Min, b.Stats.Min) == way && further(a.Stats.Mean, b.Stats.Mean) == way &&
		!slices.ContainsFunc(w.operators, func(o Operator) bool {
			return strings.HasPrefix(o.Op.Scope, op.Op.Scope+".") || o.Op.Scope == op.Op.Scope && !ofModule(o.Op.Name)
		})
}

// shown tells whether an output of a call differs by more than rounding.
func (w *recordedWalk) shown(op *Operator) bool {
	return slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return w.shows(op, w.row(&t)) })
}

// ordinary is what rounding and another order of summation make of an output at most: the result
// is rounded, as maybe what leads to it, and products are summed in float32 or better. condition is that of [recordedWalk.relative].
func (w *recordedWalk) ordinary(op *Operator, r *result.Row, condition float64) float64 {
	in := w.intake(op)
	u := max(in.coarsest, roundedOff(r))
	steps := 4.0 + float64(op.Op.Steps)
	long, rows := w.terms(op, r)
	if counts := w.intake(w.stepOf(op)).counts; len(counts) > 0 {
		// What is summed over many elements may be rounded in between, as over blocks in bfloat16.
		steps = max(steps, 2+math.Log2(max(1, counts[0]/max(1, elements(r.Right.Shape)))))
	}
	return steps*u + ((2+math.Log2(in.largest)+oneByOne*math.Sqrt(long))*min(u, single)+ownSums(u)*math.Sqrt(rows)*u+2*w.shortOf(op))*condition
}

// terms is how many numbers are added up to an element of an output in float32 or better, and in the type of the call. Those are the products of two
// numbers: of a product of N·K and K·M elements K, and of its gradient by one of these, which the other is multiplied by; a convolution takes
// its elements as often as its kernel has places. Norms over a batch add up all elements of a channel, there and back. Gradients that
// rows are added up to may be kept in their own type, as layer_norm's are on a CPU in bfloat16. 0 where nothing is added up.
func (w *recordedWalk) terms(op *Operator, r *result.Row) (long, rows float64) {
	op = w.stepOf(op)
	in := w.intake(op)
	counts := in.counts
	n := max(1, elements(r.Right.Shape))
	if len(counts) == 0 {
		return 0, 0
	}
	if backwards(op) == 0 {
		if len(counts) > 1 && catalogue.Is(op.Op.Type, catalogue.Product) {
			long = math.Sqrt(counts[0] * counts[1] / n * in.places)
		}
		return max(long, in.channel), 0
	}
	if n < counts[0] {
		rows = counts[0] / n
	}
	for _, name := range op.Op.Uses {
		use := w.named(name)
		if use == nil || backwards(use) == 1 {
			continue
		}
		of := w.intake(use)
		if long = max(long, of.channel); !catalogue.Is(use.Op.Type, catalogue.Product) {
			continue
		}
		long, rows = max(long, rows), 0 // an offset's
		if len(of.counts) == 0 {        // its partner is a call of another shape: no sum has more terms than the gradient has elements
			long = counts[0]
		}
		for _, other := range of.counts[:min(len(of.counts), mostFactors)] {
			long = max(long, 2*math.Sqrt(counts[0]*other/n*of.places)) // of which the sides seldom add up one alike
		}
	}
	return long, rows
}

// oneByOne is how many roundoffs a sum of K terms that are added one after the other is off by, over √K: its partial sums grow as √k, and each
// is rounded by 0.41 roundoffs, which makes 0.29·√K; products of 16384 terms have more of that than of all else.
const oneByOne = 0.5

// ownSums is the same of sums that are kept in a type of that roundoff: in those of few digits terms get lost beside what has been added up.
func ownSums(u float64) float64 {
	if u > single {
		return 4 * oneByOne
	}
	return oneByOne
}

// tensorUnit is the roundoff of the numbers of ten bits that units for products of matrices take those of float32
// for, if they may (TF32, HF32).
const tensorUnit = 1.0 / (1 << 11)

// shortOf is the roundoff of the factors of a call, beyond that of their type: of products where one side
// has taken all of them for numbers of ten bits.
func (w *recordedWalk) shortOf(op *Operator) float64 {
	if catalogue.Is(w.stepOf(op).Op.Type, catalogue.Product) {
		return w.short
	}
	return 0
}

// mostNearly is how many roundoffs of float32 what goes into a product may be off by, as what a norm before it gives, so that it still shows how
// many bits its factors have.
const mostNearly = 16

// factors finds whether one side has computed products of float32 as of shorter numbers: calls that got the same, or nearly so,
// differ by what that makes of them, and none gave what float32 does. That is two calls at least, or one where all
// others get what came of it, as in a network whose first layer alone is given the same.
func (w *recordedWalk) factors() {
	const others = 3 // at least: of fewer a single wrong one is as likely
	shorter, behind := 0, 0
	coarse := func(t Tensor) bool { r := w.row(&t); return !r.Recorded.Argument && !fine(r) }
	for i := range w.operators {
		op := &w.operators[i]
		if !catalogue.Is(op.Op.Type, catalogue.Product) || backwards(op) == 1 || w.intake(op).coarsest != single || len(op.Op.Uses) > 0 || slices.ContainsFunc(op.Inputs, coarse) {
			continue
		}
		in, known := w.incoming(op)
		if !w.unchanged(op) && !(known && in <= mostNearly*single) {
			behind++
			continue
		}
		for k := range op.Outputs {
			r := w.row(&op.Outputs[k])
			size, known := sizeOf(r)
			condition := w.condition(op, r)
			switch limit := w.ordinary(op, r, condition) + in*condition; {
			case agreementOf(r) == unknown || r.Recorded.Argument || !r.Left.DType.IsFloat():
			case known && size <= limit && !(normOf(r) > 0): // of zeros nothing is known
			case !known || size <= limit || fewApart(r):
				return
			case size <= limit+2*tensorUnit*condition:
				shorter++
			}
		}
	}
	if shorter >= 2 || shorter == 1 && behind >= others {
		w.short, w.shorter = tensorUnit, shorter
	}
}

// fewApart tells of a result that most of its elements are the same on both sides, or the largest and the smallest of them, which other factors move
// as they do all others.
func fewApart(r *result.Row) bool {
	if f := &r.Result().Facts; r.Compared && f.Known {
		return 2*f.Differ < f.N
	}
	return alikeAtEnds(r)
}

// normOf is the norm of the right side of a tensor, NaN if it is not known.
func normOf(r *result.Row) float64 {
	_, right := norms(r)
	return right
}

// norms are those of both sides, NaN where one is not known. Of a single number the recorder writes the number itself, with its sign.
func norms(r *result.Row) (left, right float64) {
	if f := &r.Result().Facts; r.Compared && f.Known {
		n := math.Sqrt(float64(f.Finite))
		return f.X.RMS * n, f.Y.RMS * n
	}
	rec := r.Recorded
	if rec == nil || rec.Argument {
		return math.NaN(), math.NaN()
	}
	of := func(s *result.Summary) float64 {
		if s == nil || !s.Has(result.KnownNorm) {
			return math.NaN()
		}
		return math.Abs(s.Stats.Norm)
	}
	return of(rec.Left), of(rec.Right)
}

// condition is how many times larger than an output, by their norms, the numbers are that were added
// up to it; at least 1.
func (w *recordedWalk) condition(op *Operator, r *result.Row) float64 {
	if op.Op.Steps > 0 && backwards(op) == 0 {
		return op.Op.Lost
	}
	if c := w.addedUp(op, r) / normOf(r); c > 1 {
		return c // infinite where nothing is left
	}
	return 1
}

// addedUp is the norm of what was added up to an output.
func (w *recordedWalk) addedUp(op *Operator, r *result.Row) float64 {
	sum := op.Op.Lost * normOf(r)
	if op = w.stepOf(op); backwards(op) == 1 {
		return max(sum, w.gradientSummands(op, r))
	}
	return max(sum, w.summands(op, r))
}

// relative is how far an output is off, and how many times its rounding may be larger than that of a single number. Both are relative to the
// right side, or to what was added up where nothing is left of it there.
func (w *recordedWalk) relative(op *Operator, r *result.Row) (size, condition float64, known bool) {
	size, known = sizeOf(r)
	if condition = w.condition(op, r); !math.IsInf(size, 1) || !math.IsInf(condition, 1) {
		return size, condition, known
	}
	if r.Has(result.SortsDiffer) || r.Has(result.ShapesDiffer) || r.Compared && r.Result().Facts.Disagree > 0 {
		return size, condition, known // no number says how far they are apart
	}
	left, _ := norms(r)
	if share := left / w.addedUp(op, r); share <= math.MaxFloat64 {
		return share, 1, known
	}
	return size, condition, known
}

// steepest is the slope of a function where it is steepest, by its largest result; 0 where that is not known.
func steepest(typ string, out *result.Row) float64 {
	peak := 0.0
	if f := &out.Result().Facts; out.Compared && f.Known {
		peak = magnitude(&f.Y)
	} else if out.Recorded != nil && out.Recorded.Right.Has(result.KnownMax|result.KnownMin) { // a call of one side alone has none
		s := out.Recorded.Right
		peak = max(math.Abs(s.Stats.Max), math.Abs(s.Stats.Min))
	}
	switch catalogue.Of(typ).Summands {
	case "rootslope":
		return peak * peak * peak / 2
	case "inverseslope":
		return peak * peak
	}
	return 0
}

// stepOf is the backward call of a module for the gradients of its parameters, which are recorded by themselves
// and without what they are made of; else the call itself.
func (w *recordedWalk) stepOf(op *Operator) *Operator {
	if name := strings.Replace(op.Op.Name, ".parameters_grad.", ".backward.", 1); name != op.Op.Name {
		if back := w.named(name); back != nil {
			return back
		}
	}
	return op
}

// intake is what the tensors of a call tell of all its outputs alike, of which it may have thousands.
type intake struct {
	// coarsest is the unit roundoff of the coarsest type that the call takes or gives, on either side: it may compute in
	// that. before is that of what it takes.
	coarsest, before float64
	// norms are those of the floating tensors that go in, and counts how many elements they have.
	norms, counts []float64
	// rms is the largest root mean square of these.
	rms float64
	// largest is how many elements the largest input has.
	largest float64
	// places is how many places the kernel of a convolution has, 1 of another product.
	places float64
	// channel is how many elements of a channel a norm over a batch adds up, 0 of other calls.
	channel float64
}

// intake looks at the tensors of a call, once.
func (j *judge) intake(op *Operator) *intake {
	if known := j.intakes[op]; known != nil {
		return known
	}
	in := &intake{largest: 1, places: 1}
	product := catalogue.Is(op.Op.Type, catalogue.Product)
	channels := 0.0
	for k := range op.Inputs {
		r := j.row(&op.Inputs[k])
		n := elements(r.Right.Shape)
		in.largest = max(in.largest, n)
		if r.Recorded == nil {
			continue
		}
		if !r.Recorded.Argument {
			in.before = max(in.before, unit(coarserOf(r)))
			// A mask of attention is added to scores and multiplied with nothing.
			if norm := normOf(r); r.Right.DType.IsFloat() && norm <= math.MaxFloat64 && !(product && veiled(r)) {
				in.norms, in.counts = append(in.norms, norm), append(in.counts, n)
				in.rms = max(in.rms, norm/math.Sqrt(max(1, n)))
			}
		}
		if !isWeight(op, r.Recorded.Place) {
			continue
		}
		if len(r.Right.Shape) > 2 {
			in.places = max(in.places, elements(r.Right.Shape[2:]))
		} else if len(r.Right.Shape) == 1 {
			channels = max(1, n)
		}
	}
	if len(in.counts) > 0 && channels > 0 && catalogue.Is(op.Op.Type, catalogue.Steep) {
		in.channel = in.counts[0] / channels
	}
	in.coarsest = in.before
	for k := range op.Outputs {
		if r := j.row(&op.Outputs[k]); r.Recorded != nil && !r.Recorded.Argument {
			in.coarsest = max(in.coarsest, unit(coarserOf(r)))
		}
	}
	if j.intakes == nil {
		j.intakes = map[*Operator]*intake{}
	}
	j.intakes[op] = in
	return in
}

// summands is the norm of what is added up in a forward call, 0 where that is not known.
func (w *recordedWalk) summands(op *Operator, r *result.Row) (sum float64) {
	in := w.intake(op)
	norms, counts := in.norms, in.counts
	n := elements(r.Right.Shape)
	if len(norms) == 0 {
		return 0
	}
	row := catalogue.Of(op.Op.Type)
	switch row.Summands {
	case "terms":
		for i := range norms {
			sum += norms[i] * math.Sqrt(max(1, n/max(1, counts[i])))
		}
	case "total", "argument":
		sum = norms[0]
	case "ones": // an error in the argument, in shares of it, is one of the result
		sum = math.Sqrt(n)
		if len(op.Inputs) == 0 {
			break
		}
		if x := w.row(&op.Inputs[0]).Recorded.Right; x.Has(result.KnownMin) && x.Stats.Min > 0 {
			// Of numbers that lie evenly down to the smallest, the root mean square of 1/x.
			sum *= math.Sqrt(max(1, norms[0]/math.Sqrt(n)/x.Stats.Min))
		}
	case "mean":
		sum = norms[0] / max(1, counts[0]/max(1, n))
	case "factors": // as many relative errors add up as numbers are multiplied, of running products along the longest axis at most
		factors := counts[0] / max(1, n)
		for _, size := range r.Right.Shape {
			if counts[0] == n {
				factors = max(factors, float64(size))
			}
		}
		sum = factors * normOf(r)
	case "rootslope", "inverseslope":
		sum = norms[0] * steepest(op.Op.Type, r)
	}
	if row.Traits&catalogue.Product != 0 {
		for i := range min(len(norms), mostFactors) {
			for k := range i {
				sum = max(sum, product(norms[i], norms[k], counts[i], counts[k], n)*math.Sqrt(math.Sqrt(in.places)))
			}
		}
	}
	return sum
}

// mostFactors bounds the pairs of operands that are looked at for every output of a product: recurrent modules have 32 weights for each
// four layers, and nothing else has as many.
const mostFactors = 64

// product is the norm of what is summed in n products of rows of two factors, of which the norms a and b and
// the numbers of elements are known: of N·K and K·M elements for N·M products. A convolution whose kernel has k places is √k times as long, and its
// norm k to the power of ¼ as large.
func product(a, b, countA, countB, n float64) float64 {
	length := math.Sqrt(countA * countB / max(1, n))
	return a * b / math.Sqrt(max(1, length))
}

// gradientSummands is the norm of what is added up in a gradient: that of the gradient that
// comes in, or of its products with another operand of the call.
func (w *recordedWalk) gradientSummands(op *Operator, r *result.Row) (sum float64) {
	norms, counts := w.intake(op).norms, w.intake(op).counts
	if len(norms) == 0 {
		return 0
	}
	n := elements(r.Right.Shape)
	g := norms[0]
	if sum = 0; n < counts[0] {
		sum = g
	}
	// A class of module that is not known, and has a weight of more than one axis, multiplies with it.
	matrix := strings.Contains(r.Op, ".parameters_grad.") && len(r.Right.Shape) > 1 && len(catalogue.Of(op.Op.Type).Names) == 0
	for _, name := range op.Op.Uses {
		if use := w.named(name); use != nil && backwards(use) == 0 {
			if len(use.Outputs) > 0 {
				sum = max(sum, g*steepest(use.Op.Type, w.row(&use.Outputs[0])))
			}
			in := w.intake(use)
			if catalogue.Is(use.Op.Type, catalogue.Product) || matrix {
				for i, o := range in.norms[:min(len(in.norms), mostFactors)] {
					sum = max(sum, product(g, o, counts[0], in.counts[i], n)*math.Sqrt(math.Sqrt(in.places)))
				}
			} else if n < counts[0] {
				sum = max(sum, g*in.rms)
			}
		}
	}
	return sum
}

// backwardOf is the backward call of a forward one, or of a block of calls that stands for one; nil where there is none.
func (w *recordedWalk) backwardOf(forward string) *Operator {
	if w.backs == nil {
		w.backs = map[string]*Operator{}
		for i := range w.operators {
			if op := &w.operators[i]; backwards(op) == 1 {
				for _, use := range op.Op.Uses {
					w.backs[use] = cmp.Or(w.backs[use], op)
				}
			}
		}
	}
	return w.backs[forward]
}

// left tells, of the gradient that a step of an optimizer gets, how many times smaller it is than what was
// added up to it: at least 1. The step is made on a parameter that a forward call had, whose backward call
// had the gradient that this is a sum of.
func (w *recordedWalk) left(op *Operator, r *result.Row) float64 {
	for k := range op.Inputs {
		before := w.row(&op.Inputs[k]).Recorded.Before
		back := w.backwardOf(before.Op)
		if back == nil || w.row(&op.Inputs[k]) == r || elements(w.row(&op.Inputs[k]).Right.Shape) != elements(r.Right.Shape) {
			continue
		}
		if c := w.gradientSummands(back, r) / normOf(r); c > 1 {
			return c
		}
	}
	return 1
}
