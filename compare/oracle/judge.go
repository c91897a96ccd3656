package oracle

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"precision/dump/dtype"
)

// One judge of elements: what is recorded against what should be, with its bound, element by
// element, and which elements are looked at when not all are.
//
// An element is explained when |found - y| <= B + v·(|y| + B) + t: B is what the computation may be
// off before the last rounding, v the unit roundoff of the output's type, t half its least
// subnormal number. The three terms are the computation, the rounding of a normal number, and that
// of a subnormal one. Where an element is beyond, its error in units of the bound says by how much.
//
// Beside single elements there are laws of many: errors that are all to one side, though each is
// within its bound, tell of a factor or of truncation in place of rounding ([judge.oneSided]); a
// function that needs a looser unit in most of its calls is computed so, and one call that does is
// not ([settleLooser]).
//
// Time is spent in two steps. In float32 everything is computed once, quickly ([checker.screen]);
// what that does not explain, and a sample, is computed in float64 with bounds. The sample is not
// uniform, as faults of kernels are not: it has the first and last places of blocks of 16 on every
// axis, corners, extremes, and what is not finite.

// judge collects what the elements of one output say.
type judge struct {
	p     precisionOf
	exact bool   // recorded as computed, without a last rounding
	finer uint64 // bits of a float64 that normal numbers of the type do not have; all where its digits are not the same everywhere
	long  bool   // integers of 64 bits, of which the largest lose digits here

	looked, judged int64
	open           int64 // of those looked at, what can be anything
	beyond         int64 // elements beyond the bound
	rounding       int64 // within it, but no rounding to nearest of anything within B
	saturated      int64
	flushed        int64
	lost           int64 // numbers in place of NaN
	coarse         int64 // integers beyond 2^53 that look right, as float64 shows them

	ratio           float64
	worst           int64
	value, found, b float64
	largest         float64

	// sums of recorded - expected as it is rounded, for errors that are all to one side
	n               int64
	sum, sumSquares float64

	misses []miss

	// unlikely is the share of the bound beyond which long sums are rarely off, 0 where there are
	// none, and apart what lies there: how far, and where.
	unlikely float64
	apart    extreme

	sums, sumsBeyond int64 // rows that were summed up, and those beyond their bound
}

// miss is an element beyond its bound.
type miss struct {
	i             int64
	found, y      float64
	ratio, before float64 // before is the bound, without the last rounding
}

// maxMisses bounds how many misses are kept.
const maxMisses = 256

func newJudge(t dtype.Type, exact bool) *judge {
	j := &judge{p: precisionFor(t), exact: exact, long: t.IsInteger() && t.Bits() == 64, ratio: math.NaN(), worst: -1}
	if j.finer = math.MaxUint64; t == dtype.Float16 || t == dtype.BFloat16 {
		j.finer = 1<<(53+math.Ilogb(j.p.v)) - 1
	}
	return j
}

// bound is the bound with the last rounding. y is off by b, and rounding y ± b to the type adds
// v·(|y| + b), or t where that is subnormal; v is 0 for integers, which round nowhere.
func (j *judge) bound(y, b float64) float64 {
	if j.exact || j.p.v == 0 {
		return b
	}
	return b + j.p.v*(abs(y)+b) + j.p.t
}

// element judges one element: i is its place, found what was recorded, y and b
// what it should be.
func (j *judge) element(i int64, found, y, b float64) {
	j.looked++
	if j.long && found == y && abs(y) >= 0x1p53 {
		j.coarse++ // 2^60+7 looks like 2^60
		return
	}
	if found == y {
		j.judged++
		j.explained(i, found, y, b, 0)
		if !math.IsInf(y, 0) {
			j.count(0, y)
		}
		return
	}
	if math.IsNaN(y) {
		j.expectNaN(i, found, b)
		return
	}
	bound := j.bound(y, b)
	if !(abs(bound) <= math.MaxFloat64) && (math.IsNaN(bound) || !math.IsInf(y, 0)) {
		j.open++
		return // rounding can explain anything
	}
	j.judged++
	// What a type cannot hold becomes infinite, or stays at the largest number
	// where the device only saturates.
	// over: it may be too large for the type; must: it is.
	over := abs(y)+bound >= j.p.limit
	must := abs(y)-bound >= j.p.limit || math.IsInf(y, 0)
	switch {
	case math.IsNaN(found) && math.IsInf(y, 0) && !j.exact:
		// A pole: what a device makes of it is not said by any of the papers, and
		// 0/0 beside x/0 is a matter of one rounding upstream.
		j.lost++
		return
	case math.IsNaN(found):
		j.miss(i, found, y, b, math.Inf(1))
		return
	case math.IsInf(found, 0):
		if over && math.Signbit(found) == math.Signbit(y) {
			j.explained(i, found, y, b, 0)
		} else {
			j.miss(i, found, y, b, math.Inf(1))
		}
		return
	case over && abs(found) == j.p.max && math.Signbit(found) == math.Signbit(y):
		if must {
			j.saturated++
		}
		j.explained(i, found, y, b, 0)
		return
	case must:
		j.miss(i, found, y, b, math.Inf(1))
		return
	}
	off := abs(found - y)
	if off > j.largest {
		j.largest = off
	}
	if j.rounds() {
		j.count(found-j.p.Round(y), y)
	}
	r := off / bound
	if bound == 0 {
		r = math.Inf(1)
	}
	switch {
	case r <= 1:
		if j.rounds() && !j.nearest(found, y, b) {
			j.rounding++
		}
		if j.unlikely > 0 && !j.exact {
			// What is left of the error without the last rounding, as a share of B.
			if share := (off - j.p.v*abs(y) - j.p.t) / ((1 + j.p.v) * b); share > j.unlikely {
				j.apart.add(i, []float64{share})
			}
		}
		j.explained(i, found, y, b, r)
	// A device may flush subnormal numbers to zero; many of these are told, none is wrong.
	case found == 0 && abs(y) < j.p.tiny && !j.p.integer:
		j.flushed++
	default:
		j.miss(i, found, y, b, r)
	}
}

func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// nearest reports whether rounding something within B of y to nearest gives
// what was found.
func (j *judge) nearest(found, y, b float64) bool {
	// Nearer than half the distance of neighbours, and one of them: as most are.
	if power := math.Float64frombits(math.Float64bits(y) & (0x7ff << 52)); abs(found-y) < j.p.v*power && power >= 2*j.p.tiny &&
		abs(y) < j.p.max && math.Float64bits(found)&j.finer == 0 {
		return true
	}
	b *= 1 + 1e-12
	return j.p.Round(y-b) <= found && found <= j.p.Round(y+b)
}

// expectNaN judges an element that should be NaN. With an infinite bound it may
// be anything, as the maximum of NaN may. Moving elements keeps NaN. Of
// arithmetic, devices that only saturate make 0, and any other number is odd: NaN
// here comes of Inf - Inf or of NaN among the inputs, for which no bound holds.
func (j *judge) expectNaN(i int64, found, b float64) {
	switch {
	case math.IsNaN(found):
		j.judged++
		j.explained(i, found, math.NaN(), 0, 0)
	case math.IsInf(b, 1):
		j.open++
	case j.p.integer:
	case j.exact:
		j.judged++
		j.miss(i, found, math.NaN(), b, math.Inf(1))
	case found == 0:
		j.judged++
		j.saturated++
	default:
		j.judged++
		j.lost++
	}
}

// The largest ratio of error and bound is kept with its place, also of outputs that are right.
func (j *judge) explained(i int64, found, y, b, r float64) {
	if !(r <= j.ratio) {
		j.worse(i, found, y, b, r)
	}
}

func (j *judge) worse(i int64, found, y, b, r float64) {
	j.ratio, j.worst, j.found, j.value, j.b = r, i, found, y, j.bound(y, b)
}

func (j *judge) miss(i int64, found, y, b, r float64) {
	j.beyond++
	if !(r <= j.ratio) {
		j.worse(i, found, y, b, r)
	}
	if len(j.misses) < maxMisses {
		j.misses = append(j.misses, miss{i, found, y, r, b})
	}
}

// count adds an error to what tells errors to one side.
func (j *judge) count(off, y float64) {
	j.n++
	j.sum += off
	j.sumSquares += y * y
}

// rounds tells that the last rounding leads the errors: that to float16 or a coarser type. In finer
// ones those of functions lead, which may well be to one side.
func (j *judge) rounds() bool { return !j.exact && j.p.v >= 0x1p-11 }

// minOneSided is how many elements the test for errors to one side takes.
const minOneSided = 1000

// oneSided tests whether errors are all to one side: with n elements whose
// last rounding is to v, |mean error| > 8·v·rms/√n. Fault-free outputs in
// float16 reach 1.4 in place of the 8, a factor of 1.0001 at least 13. Errors are
// those against the rounded y: what rounding itself does is to one side where there
// are few different numbers, as of a root of 10⁷ in bfloat16, of which there are a
// few hundred.
func (j *judge) oneSided() (mean, limit float64, yes bool) {
	if !j.rounds() || j.n < minOneSided {
		return 0, 0, false
	}
	n := float64(j.n)
	mean = j.sum / n
	// The error of rounding is uniform, ±v·|y|, so that the mean of n has a deviation of
	// v·rms/√(3n); 8 of v·rms/√n are 14 deviations.
	limit = 8 * j.p.v * math.Sqrt(j.sumSquares/n) / math.Sqrt(n)
	return mean, limit, abs(mean) > limit
}

// u32 is the unit roundoff of float32, in which the device adds.
const u32 = 1.0 / (1 << 24)

// u64 is the unit roundoff of float64, twice: that of what was recorded and that of
// what is computed here.
const u64 = 1.0 / (1 << 52)

// gamma bounds the relative error of k operations of unit roundoff u in any
// order: k·u/(1-k·u) (Higham, lemma 3.1). It is +Inf where that is undefined, but for
// sums in bfloat16, of which 8·√k·u is said: that is not certain, but far more than
// such sums are off by (Higham and Mary, A new approach to probabilistic rounding error
// analysis, 2019), and a verdict does not rest on it alone.
func gamma(k, u float64) float64 {
	if u == 0x1p-8 && k*u >= 0.25 {
		return max(8*math.Sqrt(k)*u, 1.0/3)
	}
	if k*u >= 0.5 {
		return math.Inf(1)
	}
	return k * u / (1 - k*u)
}

func abs(x float64) float64 { return math.Abs(x) }

// precisionOf is what rounding to an element type does.
type precisionOf struct {
	v       float64 // unit roundoff; 0 for types without fractions
	t       float64 // half of the least subnormal number
	max     float64 // largest finite number; +Inf where the type has no limit that matters
	limit   float64 // from here on numbers round to infinity
	tiny    float64 // least normal number
	integer bool
	dtype.Rounding
}

// limit is where rounding to nearest begins to give infinity: the largest number and half a unit of
// it.
func precisionFor(t dtype.Type) precisionOf {
	switch t {
	case dtype.Float16:
		return precisionOf{v: 0x1p-11, t: 0x1p-25, max: 65504, limit: 65520, tiny: 0x1p-14, Rounding: t.Rounding()}
	case dtype.BFloat16:
		return precisionOf{v: 0x1p-8, t: 0x1p-134, max: 0x1.FEp127, limit: 0x1.FFp127, tiny: 0x1p-126, Rounding: t.Rounding()}
	case dtype.Float32:
		return precisionOf{v: u32, t: 0x1p-150, max: math.MaxFloat32, limit: 0x1.FFFFFFp127, tiny: 0x1p-126, Rounding: t.Rounding()}
	case dtype.Float64:
		return precisionOf{v: 0x1p-53, t: 0, max: math.MaxFloat64, limit: math.Inf(1), tiny: 0x1p-1022}
	}
	if narrowFloat(t) { // beyond the largest they saturate, or are no number
		return precisionOf{v: t.Unit(), t: t.MinSubnormal() / 2, max: t.Max(), limit: t.Max() * (1 + t.Unit()), tiny: t.MinSubnormal(), Rounding: t.Rounding()}
	}
	return precisionOf{max: math.Inf(1), limit: math.Inf(1), integer: true}
}

// narrowFloat tells of floating point of eight bits.
func narrowFloat(t dtype.Type) bool {
	return t == dtype.Float8E4M3FN || t == dtype.Float8E5M2 || t == dtype.Float8E8M0 || t == dtype.HiFloat8
}

// computes reports whether numbers of the type are computed with, which is so
// for floating point and for integers.
func computes(t dtype.Type) bool {
	switch t {
	case dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64:
		return true
	}
	return discrete(t) || narrowFloat(t)
}

// discrete reports whether the type holds integers or truth values.
func discrete(t dtype.Type) bool {
	switch t {
	case dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16, dtype.Int32, dtype.Uint32, dtype.Int64, dtype.Uint64, dtype.Bool,
		dtype.QInt8, dtype.QUint8, dtype.QInt16, dtype.QUint16, dtype.QInt32:
		return true
	}
	return false
}

// fewCalls is how many calls of a function in a narrow type have to be off before that is
// how the function is computed: of one call, a wrong factor looks the same.
const fewCalls = 2

// settleLooser decides on outputs that are wrong, and that one looser unit would explain. If it
// explains every output of the function that is beyond its bound, and the function needs it
// as a rule (at least in half of its calls), this is how the function is computed: with lower
// precision. If it were one call's fault, the others would not need it.
func settleLooser(findings []Finding) {
	type function struct {
		name string
		of   dtype.Type
	}
	type counts struct{ known, beyond, wrong int }
	group := func(f *Finding) function { return function{f.function, f.DType} }
	seen := map[function]counts{}
	for i := range findings {
		f := &findings[i]
		if f.Verdict == Unknown || f.function == "" {
			continue
		}
		n := seen[group(f)]
		n.known++
		if f.looser || f.Verdict == Suspect && len(f.Reasons) > 0 && f.Reasons[len(f.Reasons)-1].Kind == LowPrecision {
			n.beyond++
		} else if f.Verdict == Wrong {
			n.wrong++
		}
		seen[group(f)] = n
	}
	for i := range findings {
		f := &findings[i]
		n := seen[group(f)]
		if !f.looser || f.Verdict != Wrong || n.wrong > 0 || 2*n.beyond < n.known || n.beyond < fewCalls && precisionFor(f.DType).v > u32 {
			continue
		}
		f.Verdict, f.Pattern, f.Patterns = Suspect, "", nil
		f.Reasons = append(f.Reasons[:0], because(LowPrecision, f.Beyond))
	}
}

// mostShown is how many elements that float32 explains are looked at in float64 as
// well, to tell how near to their bound they are.
const mostShown = 64

// doubt is an element that float32 does not explain.
type doubt struct {
	i     int64
	score float32
}

// screen computes everything in float32, whose error the bound covers as well:
// an element that is within a last rounding of it is explained. What is not is looked at in
// float64, and so is a sample. Within v·|y| + t of float32's result an element is right, as B
// allows for float32, too. Places beyond that are doubts, of which at most four times
// mostRechecked/cost are kept; once the worst of many are wrong for sure only some more are
// collected, so that a wrong output costs no more than a right one.
func (c *checker) screen(v Values, j *judge) {
	n, size := c.rec.view.Len(), min(step(v), c.rec.view.Len())
	kept := buffers.Get().(*[2][]float32)
	defer buffers.Put(kept)
	kept[0], kept[1] = grow(kept[0], int(size)), grow(kept[1], int(size))
	y, found := kept[0], kept[1]
	fast := v.(float32er)
	half, tiny := float32(j.p.v), float32(j.p.t)
	most := int(max(mostRechecked/cost(v), 64))
	var doubts []doubt
	sure, every, highest := false, int64(1), float32(0)
	for lo := int64(0); lo < n; lo += size {
		k := min(size, n-lo)
		c.rec.Range32(lo, found[:k])
		fast.Range32(lo, y[:k])
		sum, squares := 0.0, 0.0
		for i, f := range found[:k] {
			e := y[i]
			d := abs32(f - e) // without a jump, which no processor could foresee
			e = abs32(e)
			if allowed := half*e + tiny; !(d <= allowed) {
				score := d / allowed
				if score != score { // NaN
					score = math.MaxFloat32
				}
				if !sure || (lo+int64(i))%every == 0 || score > highest {
					doubts = append(doubts, doubt{lo + int64(i), score})
				}
				highest = max(highest, score)
			}
			if d < 65504 { // neither NaN nor Inf
				sum += float64(f - y[i])
				squares += float64(e * e)
			}
		}
		j.sum += sum
		j.sumSquares += squares
		j.n += k
		if enough := int(max(mostCounted/cost(v), mostTried)); !sure && len(doubts) > enough {
			// Where the worst of many are beyond their bound, some more of them do.
			if sure = c.beyond(v, doubts); sure {
				most, every = enough, n/int64(4*enough)+1
			}
		}
		if len(doubts) > 4*most {
			doubts = worstDoubts(doubts, most)
		}
	}
	doubts = worstDoubts(doubts, most)
	idx := make([]int64, 0, len(doubts)+mostTried)
	for _, d := range doubts {
		idx = append(idx, d.i)
	}
	idx = append(idx, thinned(samples(c.rec.shape, nil), min(mostShown, most))...)
	slices.Sort(idx)
	idx = slices.Compact(idx)
	sum, squares, count := j.sum, j.sumSquares, j.n
	c.at(v, idx, j)
	j.sum, j.sumSquares, j.n = sum, squares, count
	j.looked = n
	j.judged = max(j.judged, 1)
}

// beyond reports whether the worst doubts are beyond their bound for sure.
func (c *checker) beyond(v Values, d []doubt) bool {
	worst := slices.Clone(d[:mostShown])
	at := func() int { // the mildest of them
		k := 0
		for i := range worst {
			if worst[i].score < worst[k].score {
				k = i
			}
		}
		return k
	}
	k := at()
	for _, x := range d[mostShown:] {
		if x.score > worst[k].score {
			worst[k] = x
			k = at()
		}
	}
	idx := make([]int64, len(worst))
	for i, x := range worst {
		idx[i] = x.i
	}
	probe := newJudge(c.rec.typ, false)
	c.at(v, sortedUnique(idx), probe)
	return probe.beyond > 0
}

// worstDoubts keeps at most n: half of them the worst, the others evenly spaced.
func worstDoubts(d []doubt, n int) []doubt {
	if len(d) <= n {
		return d
	}
	slices.SortFunc(d, func(a, b doubt) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.i, b.i)) })
	kept := slices.Clone(d[:n/2])
	rest := d[n/2:]
	for i := range n - n/2 {
		kept = append(kept, rest[i*len(rest)/(n-n/2)])
	}
	return kept
}

// sampler chooses the elements of an output that are looked at when not all
// are. Faults of kernels sit in tails and borders, so that places are chosen by
// strata: of every block of 16 along every axis, its first and last index,
// somewhere on the other axes; then the corners, the extreme and the
// non-finite numbers that were recorded, and more at random. The seed is fixed.
type sampler struct {
	shape []int64
	rng   *rand.Rand
	idx   []int64
}

const (
	// mostStrata bounds the indices that are tried on one axis.
	mostStrata = 512
	// extremes is how many of the largest and the smallest recorded numbers
	// are looked at, and how many non-finite ones.
	extremes = 32
	// randomPlaces is how many places are chosen anywhere.
	randomPlaces = 1024
)

// samples are the places of an output that are looked at, sorted: two in every stratum of every
// axis, the corners, randomPlaces more, and extra. The seed is the number of elements, so that they
// are the same in every run.
func samples(shape []int64, extra []int64) []int64 {
	n := count(shape)
	s := &sampler{shape: shape, rng: rand.New(rand.NewPCG(uint64(n), 12))}
	at := make([]int64, len(shape))
	for a, d := range shape {
		for _, i := range strata(d) {
			for range 2 {
				for k, d := range shape {
					at[k] = s.rng.Int64N(d)
				}
				at[a] = i
				s.add(at)
			}
		}
	}
	for corner := range 1 << min(len(shape), 6) {
		for k, d := range shape {
			at[k] = 0
			if k < 6 && corner>>k&1 == 1 {
				at[k] = d - 1
			}
		}
		s.add(at)
	}
	for range randomPlaces {
		s.idx = append(s.idx, s.rng.Int64N(n))
	}
	s.idx = append(s.idx, extra...)
	return sortedUnique(s.idx)
}

func sortedUnique(idx []int64) []int64 {
	slices.Sort(idx)
	return slices.Compact(idx)
}

func (s *sampler) add(at []int64) {
	i := int64(0)
	for k, d := range s.shape {
		i = i*d + at[k]
	}
	s.idx = append(s.idx, i)
}

// strata are the borders of the blocks of 16 of an axis, evenly thinned.
// Each block has its first and its last index; steps double until at most mostStrata are left.
func strata(d int64) (all []int64) {
	step := int64(16)
	for d/step*2 > mostStrata {
		step *= 2
	}
	for i := int64(0); i < d; i += step {
		all = append(all, i)
		if last := min(i+step, d) - 1; last > i {
			all = append(all, last)
		}
	}
	return all
}

// extreme collects the places of the largest and of non-finite numbers in one
// pass.
type extreme struct {
	top  []place
	odd  []int64
	seen int64 // non-finite ones
	rng  *rand.Rand
}

type place struct {
	i int64
	x float64
}

// add takes the elements from place lo on: of finite ones the largest are kept, of others an even
// choice (reservoir sampling).
func (e *extreme) add(lo int64, x []float64) {
	if e.rng == nil {
		e.rng = rand.New(rand.NewPCG(1, 2))
	}
	limit := -1.0
	if len(e.top) >= extremes {
		limit = e.top[extremes-1].x
	}
	for k, v := range x {
		a := math.Abs(v)
		if a <= limit {
			continue
		}
		if !(a < math.Inf(1)) {
			// An even choice of all that there are.
			if e.seen++; len(e.odd) < extremes {
				e.odd = append(e.odd, lo+int64(k))
			} else if r := e.rng.Int64N(e.seen); r < extremes {
				e.odd[r] = lo + int64(k)
			}
			continue
		}
		e.top = append(e.top, place{lo + int64(k), a})
		if len(e.top) >= 4*extremes {
			e.trim()
			limit = e.top[extremes-1].x
		}
	}
}

// Of numbers that go up nearly each is a new largest one, so that this runs every hundred elements.
func (e *extreme) trim() {
	slices.SortFunc(e.top, func(a, b place) int { return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(a.i, b.i)) })
	e.top = e.top[:min(len(e.top), extremes)]
}

func (e *extreme) places() []int64 {
	e.trim()
	out := slices.Clone(e.odd)
	for _, p := range e.top {
		out = append(out, p.i)
	}
	return out
}
