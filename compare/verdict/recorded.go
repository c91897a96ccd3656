package verdict

import (
	"math"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	catalogue "precision/op"
)

// Recordings of calls
//
// A recording holds what goes into every call and what comes out, mostly as
// statistics. Its operators are the calls, and what feeds an input was found by
// its content. Where both sides compute alike, equal calls give equal results to
// the last bit, so that the first that does not is the origin however small the
// difference (alike.go). Where they do not, as on two kinds of device or in
// two dtypes, every call adds noise, and the origin is a call whose error is far
// more than its inputs and its share of noise explain (noisy.go).

// agreement is whether two sides of a value are the same, as far as is known.
type agreement uint8

const (
	unknown agreement = iota
	same
	different
)

// agreementOf tells whether a pair of values is the same to the last bit, as far as
// elements, checksums, or else statistics tell.
func agreementOf(r *result.Row) agreement {
	rec := r.Recorded
	of := func(same_ bool) agreement {
		if same_ {
			return same
		}
		return different
	}
	switch {
	case rec == nil || silent(r):
		return unknown
	case r.Fresh():
		return different
	case rec.Argument:
		if device(rec) || floats(rec) || swamping(rec) {
			return same
		}
		return of(rec.Same == rec.Both)
	case r.Has(result.SortsDiffer) || r.Has(result.ShapesDiffer):
		if ofLastStep(r) {
			return unknown
		}
		return different
	}
	var equal, known bool
	if f := &r.Result().Facts; r.Compared && f.Known {
		equal, known = f.BitEqual, true
	} else {
		equal, known = rec.Agrees()
	}
	if !known || !equal && sunk(r) && rec.Left.Stats.Max == rec.Right.Stats.Max {
		return unknown // also where masks hide the others
	}
	return of(equal)
}

// silent tells that what was recorded is no evidence of anything.
func silent(r *result.Row) bool {
	return r.Has(result.ScalesUnknown) || r.Has(result.Unfilled) || r.Has(result.OtherGradient) || r.Has(result.PartOfSum)
}

// ofLastStep tells of an output of a backward call of a function that the sides have in other forms. It is
// the gradient of the last step of the function: what that is hangs on the kernel that computed it.
func ofLastStep(r *result.Row) bool {
	return r.Role == result.Output && strings.Contains(r.Op, ".backward") && !ofModule(r.Op) && (r.Has(result.SortsDiffer) || r.Has(result.ShapesDiffer))
}

// device tells an argument that names a device or a group of processes, which
// differ between machines as a rule.
func device(rec *result.Recorded) bool {
	for _, s := range []*result.Summary{rec.Left, rec.Right} {
		switch s.Class {
		case "torch.device", "torch.ProcessGroup":
			return true
		case "str":
			for _, name := range []string{`"cuda`, `"npu`, `"cpu`, `"xpu`} {
				if len(s.Value) >= len(name) && s.Value[:len(name)] == name {
					return true
				}
			}
		}
	}
	return false
}

// floats tells an argument that names a dtype, of floating point on both sides: it
// is judged by what comes of it.
func floats(rec *result.Recorded) bool {
	return rec.Left.Class == "torch.dtype" && rec.Right.Class == "torch.dtype" && strings.Contains(rec.Left.Value, "float") && strings.Contains(rec.Right.Value, "float")
}

// recordedTensor judges a value of a call.
func (j *judge) recordedTensor(op *Operator, t Tensor) Tensor {
	r := &j.table.Rows[t.Row]
	rec := r.Recorded
	if rec == nil || silent(r) {
		return t
	}
	agrees, veil := agreementOf(r), false
	add := func(kind Kind, value float64, extra float64) {
		if limit, on := j.profile.limit(kind, j.about(op, &t)); on && !(value <= max(limit, extra)) {
			t.Causes = append(t.Causes, Cause{Kind: kind, Value: value, Limit: max(limit, extra), First: -1})
		}
	}
	switch {
	case rec.Argument:
		if agrees == different {
			add(Argument, 1, 0)
		}
	case r.Has(result.MasksAlike) || ofLastStep(r):
		return t
	case r.Has(result.SortsDiffer) || r.Has(result.ShapesDiffer) || sortsDiffer(r) && agrees != same: // whole numbers may stand in either
		add(Form, 1, 0)
	case r.Compared:
		t = j.tensor(op, t, false)
		f := &r.Result().Facts
		if j.masked(op, r) { // the lowest number of the type of either side, or -inf; what is behind shows whether all of these are masks
			t.Causes = slices.DeleteFunc(t.Causes, func(c Cause) bool { return c.Kind == Saturated || c.Kind == Inf })
			veil = f.Disagree > 0
		}
		if f.NaN.Both > 0 {
			add(NotFinite, float64(f.NaN.Both), 0)
		}
	case r.Role == result.Output && sunk(r) && !j.masked(op, r):
		add(NotFinite, 1, 0) // one of the sides saturates, or overflows, and which of them is right is not known
	case agrees == unknown:
		left, _ := rec.Left.NotFinite()
		right, _ := rec.Right.NotFinite()
		if !left || !right || sunk(r) { // norms of masks are beyond a type
			return t
		}
		add(NotFinite, 1, 0)
	default:
		j.statistics(op, r, add)
		if agrees == different && len(t.Causes) == 0 {
			if _, known := sizeOf(r); !known && !blind(r) {
				add(Differs, math.NaN(), 0)
			}
		}
	}
	if len(t.Causes) > 0 {
		j.profile.waive(j.tensorName(op, &t), t.Causes, j.day)
	}
	t.settle()
	if t.Verdict == Good && (veil || oneSidedValue(r)) {
		t.Verdict = Uncompared
	}
	t.Alone = r.Fresh() && t.Verdict == Bad
	return t
}

// oneSidedValue tells of an output that is no tensor, as a gradient that is None, that one side alone has it: there was
// nothing to compare, and nothing is missed.
func oneSidedValue(r *result.Row) bool {
	return r.Role == result.Output && r.Recorded != nil && r.Recorded.Argument && (r.Has(result.NoLeftValue) || r.Has(result.NoRightValue))
}

// sortsDiffer tells that one side counts and the other measures, or that they are
// integers of different width. A type that could not be read is not another one.
func sortsDiffer(r *result.Row) bool {
	a, b := r.Left.DType, r.Right.DType
	if r.Left.Shape == nil || r.Right.Shape == nil || a == b || r.Has(result.NoNumber) && (a == dtype.Undefined || b == dtype.Undefined) {
		return false
	}
	return !(a.IsFloat() && b.IsFloat()) && !(a.IsComplex() && b.IsComplex())
}

// statistics judges a pair by its statistics.
func (j *judge) statistics(op *Operator, r *result.Row, add func(kind Kind, value, extra float64)) {
	rec := r.Recorded
	leftNaN, leftInf := rec.Left.NotFinite()
	rightNaN, rightInf := rec.Right.NotFinite()
	switch {
	case leftNaN != rightNaN:
		add(NaN, 1, 0)
		return
	case leftNaN:
		add(NotFinite, 1, 0)
		return
	case leftInf != rightInf && !sunk(r):
		add(Inf, 1, 0)
		return
	}
	if leftInf || rightInf {
		// How large the finite elements are is not known, only that they are at least as large
		// as the extreme that is finite.
		for _, x := range [][2]float64{{rec.Left.Stats.Max, rec.Right.Stats.Max}, {rec.Left.Stats.Min, rec.Right.Stats.Min}} {
			if d := math.Abs(x[0] - x[1]); d > 0 && d <= math.MaxFloat64 && x[1] != 0 {
				add(Statistics, d/math.Abs(x[1]), 1)
			}
		}
		return
	}
	size := statisticsError(r)
	if math.IsNaN(size) {
		return
	}
	add(Statistics, size, 4*j.statisticsRounding(op, r))
}

// statisticsError is how far the statistics of two sides are apart, relative to the
// size of the golden tensor: the largest difference of Max and Min over the largest
// magnitude, of Norm over Norm, of Mean over the root mean square. Each is a lower
// bound of the relative error of the elements. It is NaN where nothing is known or an
// extreme is not finite, and infinite where golden is zero and the left side is not.
func statisticsError(r *result.Row) float64 {
	a, b := r.Recorded.Left, r.Recorded.Right
	size := math.NaN()
	over := func(x, y, scale, room float64) {
		d := math.Abs(x - y)
		if d <= max(a.Step(x), b.Step(y), room) || math.IsNaN(d) {
			d = 0
		} else if scale == 0 {
			d = math.Inf(1)
		} else {
			d /= scale
		}
		if !(size >= d) {
			size = d
		}
	}
	both := a.Known & b.Known
	const extremes = result.KnownMax | result.KnownMin
	peak := math.Max(math.Abs(b.Stats.Max), math.Abs(b.Stats.Min))
	if both&extremes != 0 && (nonFinite(a) || nonFinite(b)) {
		return math.NaN() // what is beyond all numbers hides how far the others are off
	}
	if both&extremes == extremes {
		over(a.Stats.Max, b.Stats.Max, peak, 0)
		over(a.Stats.Min, b.Stats.Min, peak, 0)
	}
	if both&result.KnownNorm != 0 {
		over(a.Stats.Norm, b.Stats.Norm, math.Abs(b.Stats.Norm), r.Recorded.NormRoom)
	}
	if both&result.KnownMean != 0 && both&result.KnownNorm != 0 {
		n := elements(r.Right.Shape)
		over(a.Stats.Mean, b.Stats.Mean, math.Abs(b.Stats.Norm)/math.Sqrt(max(1, n)), 0)
	}
	if size == 0 && a.Has(extremes) != b.Has(extremes) {
		return math.NaN() // one side lost what could tell
	}
	return size
}

// nonFinite tells whether a known extreme is no finite number.
func nonFinite(s *result.Summary) bool {
	nan, inf := s.NotFinite()
	return nan || inf
}

// statisticsRounding is what rounding alone can make of [statisticsError]: the
// elements of either side are rounded to their dtype, and the recorder sums in that
// dtype, or in another, pairwise, so that each sum is off by one roundoff for every
// doubling of the number of elements.
func (j *judge) statisticsRounding(op *Operator, r *result.Row) float64 {
	own := max(unit(coarserOf(r)), j.intake(op).coarsest)
	sums := 0.0
	for _, s := range []*result.Summary{r.Recorded.Left, r.Recorded.Right} {
		u := own
		if s.Summed != dtype.Undefined {
			u = unit(s.Summed)
		}
		sums = max(sums, u)
	}
	return 2*own + math.Log2(max(1, elements(r.Right.Shape)))*sums
}

// elements is the number of elements of a shape.
func elements(shape []int64) float64 {
	n := 1.0
	for _, d := range shape {
		n *= float64(d)
	}
	return n
}

// recorded judges a table of recordings: what [Judge] does for others with jumps
// and edges.
func (j *judge) recorded(out *Judged) {
	for i := range j.operators {
		op := &j.operators[i]
		for _, list := range [][]Tensor{op.Inputs, op.Outputs} {
			for k := range list {
				list[k] = j.recordedTensor(op, list[k])
			}
		}
		j.takeCheck(op)
	}
	j.states(out)
	j.otherGraph(out)
	out.Edges = true
	w := &recordedWalk{judge: j, out: out}
	w.factors()
	w.learn()
	w.premises()
	w.run()
	w.excuse()
	if len(out.Premises) == 0 {
		out.Rounded = w.roundings()
	}
	j.follow(out)
	j.contradicts(out)
}

// roundedOff is the unit roundoff of the coarsest float dtype of a row, or what the
// digits of its statistics make of it.
func roundedOff(r *result.Row) float64 {
	u := unit(coarserOf(r))
	if u <= 0 {
		u = unit(dtype.Float32)
	}
	if rec := r.Recorded; rec != nil && !r.Compared {
		for _, s := range []*result.Summary{rec.Left, rec.Right} {
			peak := math.Max(math.Abs(s.Stats.Max), math.Abs(s.Stats.Min))
			if step := s.Step(peak); step > 0 && peak > 0 {
				u = max(u, step/peak)
			}
		}
	}
	return u
}

// sizeOf is the relative error of a pair: of the elements where they were compared,
// else what the statistics tell. known is false where nothing does.
func sizeOf(r *result.Row) (size float64, known bool) {
	switch agreementOf(r) {
	case unknown:
		return 0, false
	case same:
		return 0, true
	}
	if r.Has(result.SortsDiffer) || r.Has(result.ShapesDiffer) {
		return math.Inf(1), true
	}
	if r.Compared && r.Result().Facts.Known {
		f := &r.Result().Facts
		if f.Disagree == 0 && sunk(r) {
			if r.Saturated == nil {
				return 0, false // the distance is that of the masks
			}
			f = &r.Saturated.Result.Facts // of what is no mask
		}
		switch {
		case f.Disagree > 0 && !sunk(r):
			return math.Inf(1), true
		case f.Finite == 0:
			return 0, true
		}
		return f.Distance, true
	}
	if r.Recorded.Argument {
		return 0, true
	}
	leftNaN, leftInf := r.Recorded.Left.NotFinite()
	rightNaN, rightInf := r.Recorded.Right.NotFinite()
	if leftNaN != rightNaN || leftInf != rightInf && !sunk(r) {
		return math.Inf(1), true
	}
	size = statisticsError(r)
	return size, !math.IsNaN(size)
}

// inexact tells whether a call may round otherwise on another device. Calls that do not tell
// nothing about whether two sides compute alike.
func inexact(typ string) bool { return !catalogue.Is(typ, catalogue.Exact|catalogue.Moves) }

// recordedWalk goes through the calls in their order.
type recordedWalk struct {
	*judge
	out *Judged
	// trails are what the outputs of every operator carry, inputs what an input does.
	trails []trail
	inputs map[result.Port]*trail
	// drawn are the roots of ranks that drew other random numbers: all that is drawn after that is other numbers, too.
	drawn map[string]int
	// hidden are differences that showed in no output, though the outputs are known; pending the roots
	// whose outputs may show them by more than what is known.
	hidden  []*Begin
	pending map[int]bool
	// noise tells that something differed so far that nobody is to blame for.
	noise bool
	// coarse is the roundoff of the coarsest type of what differed so far.
	coarse float64
	// blur is that of what agrees so far, by statistics alone, behind a call that one side alone makes:
	// they may have computed otherwise, and hide by how much.
	blur float64
	// flipped is how far gradients so far may be off by slopes that jump: a share f of their elements makes an error of √f, of which norms
	// tell f.
	flipped float64
	// near is how many choices so far may have turned out otherwise.
	near float64
	// gradient is the norm of the largest gradient so far, times the roundoffs that adding it up may be off by.
	gradient float64
	// narrow are outputs so far that agree as far as a coarse type shows, by their extremes.
	narrow map[extremes][]*result.Row
	// lonely tells that there was such a call.
	lonely bool
	// read are the calls whose results are known to go into others. loose is the last forward call of one side alone, from 1 on, that
	// may have put elements in another order and whose result went nobody knows where.
	read  map[string]bool
	loose int
	// makes tells of each side whether any output has NaN there; nil as long as nobody asked.
	makes *[2]bool
	// decided are the roots of flags that differ and that the program may have asked.
	decided []int
	// sent are the roots of places that differ: rows may lie elsewhere for them.
	sent []int
	// looked are the first lookups of each rank.
	looked map[string]lookup
	// placed are how many places there are of lists in which a choice made some others, which nobody is to blame for.
	placed map[int64]bool
	// usual is how much calls add to errors as a rule, forward and backward; level the
	// largest error so far that no root is behind.
	usual [2]float64
	level float64
	// fedOther are the steps and ranks whose batches are others than those of the other side; given is
	// [Piece.Given] by what is in front of the names of calls. apart are operators of roots that ranks in another order do not explain.
	fedOther map[[2]string]*result.Reason
	given    map[string][]GivenTensor
	apart    map[int]bool
	// around leads from calls to the innermost modules that they are made in.
	around map[string]int
	// handed are the roots of gradients that differ, by their shapes, of the calls before next.
	handed struct {
		next  int
		roots map[string][]int
	}
	// takers leads from forward calls to the backward calls of those that take what they give.
	takers map[string][]string
	// backs are the backward calls, by the forward calls that they belong to.
	backs map[string]*Operator
	// crossings are inputs that calls of two pairs make, where calls stand in another order, and that are others for it.
	crossings []*result.Row
	// unlearned tells that there were too few calls to learn usual from.
	unlearned bool
	// strays is what the inputs of forward calls are off by that nothing is known to feed, weights
	// above all: most are below.
	strays float64
	// short is the roundoff of the factors of products of float32, where one side has taken all of them for shorter
	// numbers; shorter are the calls that show it.
	short   float64
	shorter int
	// bitwise counts elements of calls that may be rounded otherwise on another device and gave the same bits.
	bitwise float64
	// reshuffled is the call, from 1 on, whose elements may be in another order while its statistics are the same (shuffles).
	reshuffled int
}

func (j *judge) row(t *Tensor) *result.Row { return &j.table.Rows[t.Row] }

// merge adds roots to a sorted list without those it has.
func merge(list, more []int) []int {
	for _, k := range more {
		if i, has := slices.BinarySearch(list, k); !has {
			list = slices.Insert(list, i, k)
		}
	}
	return list
}
