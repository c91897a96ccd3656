package oracle

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"precision/compare/pattern"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/graph"
	"precision/internal/must"
	"precision/internal/nd"
	catalogue "precision/op"
)

// One output and its verdict. The readings of a call are tried one after the other, the likeliest
// first; the first that explains all elements ends it. What none explains is looked at with looser
// units that the device may have used, and what then remains is wrong, with the reading that comes
// closest.
//
// How much is looked at depends on what it costs. Outputs that are cheap are judged whole; of
// expensive ones a sample is, and what a first pass in float32 does not explain. Products too large
// for that are summed up along rows with random signs, which one pass over the operands can hold
// against what was recorded ([checker.sumRows]), so that no element is out of sight.

// Settings say how much is looked at.
type Settings struct {
	// Full recomputes every element in float64, whatever it takes.
	Full bool
	Env  Environment
	// Earlier, if set, yields the tensors that stale data may come from.
	Earlier iter.Seq[pattern.Tensor]
	// Golden, if set, tells local from inherited errors.
	Golden *Golden
	// Keep keeps the elements of outputs that are wrong, see [Finding.Want], in place of saying how
	// they are wrong.
	Keep bool
}

const (
	// mostMultiplied bounds the multiplications that are done for one output
	// when not everything is asked for: in float32 to find what to look at, and
	// in float64.
	mostScreened   = 4e9
	mostMultiplied = 1e9
	// mostFull bounds them when everything is.
	mostFull = 1e13
	// slab is how many elements are judged at once, as a rule.
	slab = 1 << 18
	// mostRechecked bounds the multiplications for elements that float32 does
	// not explain.
	mostRechecked = 2e8
	// mostCounted bounds them where some of the elements are wrong for sure.
	mostCounted = 4e6
)

// CheckOp judges the outputs of a recorded operator.
func CheckOp(op *graph.Op, r *dump.Reader, s Settings) []Finding {
	findings := make([]Finding, len(r.Outputs))
	for i := range findings {
		findings[i] = blank(op, r, i)
	}
	call, bad, err := newCall(op, r, s.Env)
	if err != nil {
		return failed(findings, err, bad, r.Path)
	}
	defer call.release()
	defer func() {
		for i := range findings {
			if f := &findings[i]; f.Verdict == Unknown && bad[i] == nil && s.Golden != nil && !s.Golden.brief && s.Golden.follows(op.Name) {
				c := checker{file: r.Path, call: call, index: i, rec: call.outs[i], golden: s.Golden}
				c.unread(f)
			}
		}
	}()
	readings, err := call.readings()
	if err != nil {
		return failed(findings, err, bad, r.Path)
	}
	for i := range findings {
		f := &findings[i]
		switch {
		case bad[i] != nil:
			f.fail(bad[i], r.Path)
		case readings[0].out(i) == nil:
			f.Reasons = append(f.Reasons, because(OutputCount, len(r.Outputs), len(readings[0].Out)))
		default:
			c := checker{file: r.Path, call: call, index: i, rec: call.outs[i], full: s.Full, keep: s.Keep, golden: s.Golden, earlier: s.Earlier}
			if s.Golden != nil && s.Golden.brief {
				if best, err := must.Of(func() Reading { return c.likeliest(readings) }); err == nil {
					c.follow(f, best)
				}
				continue
			}
			c.check(f, readings)
		}
	}
	return findings
}

func blank(op *graph.Op, r *dump.Reader, i int) Finding {
	f := newFinding(op.Name, op.Type, op.ID, i)
	f.DType, f.Shape = r.Outputs[i].Type, r.Outputs[i].OriginShape
	return f
}

// newFinding is one of an output of which nothing is known.
func newFinding(op, typ string, id int64, index int) Finding {
	return Finding{Op: op, Type: typ, ID: id, Rank: -1, Index: index, Ratio: nan, Expected: nan, Found: nan, Bound: nan, Largest: nan}
}

func refused(f []Finding, why result.Reason) []Finding {
	for i := range f {
		f[i].Verdict, f[i].Reasons = Unknown, append(f[i].Reasons, why)
	}
	return f
}

func (r Reading) out(i int) Values {
	if i < len(r.Out) {
		return r.Out[i]
	}
	return nil
}

// readings are the ways to understand the operator; there is at least one.
func (c *Call) readings() ([]Reading, error) {
	return must.Of(func() []Reading {
		if c.build != nil {
			return c.build(c)
		}
		if words, ok := fusedWords(kernelName(c.Op)); ok {
			return buildFused(c, words)
		}
		row := catalogue.Of(c.Type)
		switch {
		case row.Kernel != "":
			return kernelForm(row.Kernel)(c)
		case row.As != nil || row.Formula != nil:
			return c.twin(row)
		case row.Traits&catalogue.Random != 0:
			panic(refusal(Random, c.Type))
		}
		panic(refusal(NoOperator, c.Type))
	})
}

// failed is [refused] for an error. An output that is bad itself cannot be read, which is why
// nothing is known of it.
func failed(f []Finding, err error, bad []error, file string) []Finding {
	for i := range f {
		why := err
		if i < len(bad) && bad[i] != nil {
			why = bad[i]
		}
		f[i].fail(why, file)
	}
	return f
}

// checker judges one output.
type checker struct {
	file  string
	call  *Call
	index int
	rec   *operand
	full  bool
	keep  bool

	golden  *Golden
	earlier iter.Seq[pattern.Tensor]

	ext extreme
	buf []float64
}

// The order of verdicts: nothing to look at, nothing that can be judged, beyond its bound, and then
// what is suspect though within it: sums of rows, errors that long sums rarely have, saturation,
// flushed and lost numbers, and roundings that no rounding to nearest makes or that are all to one
// side.
func (c *checker) check(f *Finding, readings []Reading) {
	f.Shape, f.Elements, f.DType = c.rec.shape, c.rec.view.Len(), c.rec.numeric()
	if f.Elements == 0 {
		f.Reasons = append(f.Reasons, because(Empty))
		return
	}
	best, j, err := c.best(readings)
	if err != nil {
		f.fail(err, c.file)
		return
	}
	f.fill(j)
	switch {
	case j.coarse > 0 && j.beyond == 0:
		unknown(f, because(Coarse, j.coarse, j.looked))
		return
	case j.judged == 0:
		unknown(f, because(NotJudged, j.looked))
		return
	case best.NaN != nil && best.NaN.Load() && j.open > 0 && j.beyond == 0:
		unknown(f, because(NaNOrdered, j.open, j.looked))
		return
	}
	switch {
	case c.golden == nil:
	case c.golden.Follow == nil:
		c.split(f, best)
	case j.beyond == 0 && c.golden.Follow(c.call.Op.Name):
		c.follow(f, best)
	}
	f.Verdict = OK
	if best.Name != "" && len(readings) > 1 && j.beyond == 0 {
		f.Reasons = append(f.Reasons, because(Explained, best.title()))
	}
	if j.beyond > 0 {
		c.wrong(f, readings, best, j)
		return
	}
	suspect := func(kind result.Kind, args ...any) {
		f.Verdict = Suspect
		f.Reasons = append(f.Reasons, because(kind, args...))
	}
	if j.sumsBeyond > 0 {
		suspect(SumDiffers, j.sumsBeyond, j.sums)
	}
	if k := c.unlikely(j); k != nil && k.beyond > 0 {
		suspect(Unlikely, k.beyond, c.call.terms, k.ratio, k.found, k.value)
	}
	for _, x := range []struct {
		kind result.Kind
		n    int64
	}{{Saturated, j.saturated}, {Flushed, j.flushed}, {LostNaN, j.lost}, {Rounding, j.rounding}} {
		if x.n > 0 {
			suspect(x.kind, x.n)
		}
	}
	if mean, limit, yes := j.oneSided(); yes && j.saturated == 0 && c.independent(best) {
		suspect(OneSided, mean, limit)
	}
}

// independent reports whether roundings of elements have nothing to do with each
// other. They have where an operand is repeated along others: a mask of a few
// large numbers rounds the same way in every row.
func (c *checker) independent(r Reading) bool {
	if isProduct(r.out(c.index)) {
		return c.various()
	}
	if p, is := r.out(c.index).(*pointwise); is && slices.ContainsFunc(p.in, roundedNumber) {
		return false
	}
	n := c.rec.view.Len()
	return !slices.ContainsFunc(c.call.operands(), func(o *operand) bool { k := o.view.Len(); return k > 1 && k < n })
}

// roundedNumber tells of a number that may have been rounded, which is off alike wherever it is
// taken.
func roundedNumber(v Values) bool {
	if s, is := v.(*strided); is {
		v = s.in
	}
	d, is := v.(*dense)
	return is && len(d.b) == 1 && d.b[0] > 0
}

// various reports whether most of what was recorded differs: products of what is alike are, and
// round the same way.
func (c *checker) various() bool {
	const looked = 64
	idx, found := thinned(samples(c.rec.shape, nil), looked), make([]float64, looked)
	if !readsAt(c.rec, idx, found) {
		return false
	}
	slices.Sort(found)
	return len(slices.Compact(found)) > looked/2
}

// fill copies the worst element.
func (f *Finding) fill(j *judge) {
	f.Looked, f.Beyond, f.Ratio = j.looked-j.open, j.beyond, j.ratio
	f.Largest = j.largest
	if j.worst >= 0 {
		f.Worst = make([]int64, len(f.Shape))
		nd.PlaceIn(j.worst, f.Shape, f.Worst)
		f.Expected, f.Found, f.Bound = j.value, j.found, j.b
	}
}

// mostAlone is of how many elements one may be off by itself: of a kernel that takes functions in
// float16 more are.
const mostAlone = 128

// wrong decides on an output that is beyond its bound by every reading: lower
// precision may explain it where the device may have used that, and an input
// that was written over cannot be held against it.
func (c *checker) wrong(f *Finding, readings []Reading, best Reading, j *judge) {
	f.Verdict = Wrong
	if c.looseAllowed() && (c.explainedBy(looseParts, j) || c.explainedBy(looseSums, j)) {
		f.Verdict = Suspect
		f.Reasons = append(f.Reasons, because(LowPrecision, j.beyond))
		return
	}
	half := c.call.device && j.beyond > max(1, j.judged/mostAlone) && c.explainedBy(halfParts, j) // it is no matter of single elements
	if half && c.call.halved {
		f.Verdict = OK
		f.Reasons = append(f.Reasons, because(HalfInside, j.beyond))
		return
	}
	f.looser = c.call.build != nil && (half || c.explainedBy(looserParts, j) || c.explainedBy(loosestParts, j))
	if at := c.inPlace(); at >= 0 {
		unknown(f, because(InPlace, at))
		return
	}
	f.Reasons = append(f.Reasons, because(Beyond, j.beyond, j.looked))
	if j.sumsBeyond > 0 {
		f.Reasons = append(f.Reasons, because(SumDiffers, j.sumsBeyond, j.sums))
	}
	if len(readings) > 1 {
		f.Reasons = append(f.Reasons, because(Readings, len(readings)))
	}
	if c.keep {
		c.show(f, best)
	} else {
		c.explain(f, best, j)
	}
}

// explainedBy reports whether so much less precision explains every element. Where a step in
// between may have got beyond what its type holds nothing is known of a number, and what was found
// has to be none.
func (c *checker) explainedBy(l looseness, j *judge) bool {
	loose := *c.call
	loose.loose = l
	again, err := loose.readings()
	if err != nil {
		return false
	}
	idx := make([]int64, 0, len(j.misses))
	for _, m := range j.misses {
		idx = append(idx, m.i)
	}
	if k := c.mildest(again, idx); k == nil || k.beyond > 0 {
		return false
	}
	_, k, err := c.best(again)
	return err == nil && k.beyond == 0 && (k.judged > 0 || math.IsNaN(j.found) || math.IsInf(j.found, 0))
}

// mildest judges some elements by the reading that leaves the fewest of them; nil without one.
func (c *checker) mildest(readings []Reading, idx []int64) (least *judge) {
	idx = sortedUnique(idx)
	for _, r := range readings {
		v := r.out(c.index)
		if v == nil || !sameCount(v.Shape(), c.rec.shape) {
			continue
		}
		k := newJudge(c.rec.numeric(), isExact(v))
		if must.Try(func() { c.at(v, idx, k) }) == nil && (least == nil || k.beyond < least.beyond) {
			least = k
		}
	}
	return least
}

// unlikely judges what lies far out within the bound of long sums, by what these are off by in
// practice; nil where there is nothing. They are judged again with bounds of g(6·√K) in place of
// g(K) and the scatter of their own factors.
func (c *checker) unlikely(j *judge) *judge {
	idx := j.apart.places()
	if len(idx) == 0 {
		return nil
	}
	practice := *c.call
	practice.likely = true
	readings, err := practice.readings()
	if err != nil {
		return nil
	}
	return c.mildest(readings, idx)
}

// inPlace is the input that has the address of the output, -1 if none has.
func (c *checker) inPlace() int {
	return slices.IndexFunc(c.call.operands(), func(o *operand) bool { return o.address != 0 && o.address == c.rec.address })
}

// looseAllowed reports whether the device may have used less precision than it
// should for this operator.
func (c *checker) looseAllowed() bool {
	if c.call.env.HalfFunctions || c.call.env.HighPerformance || c.call.narrow > 0 {
		return true
	}
	for _, o := range c.call.operands() {
		if o.typ == dtype.Float32 {
			return true // multiplying units may take it as less
		}
	}
	return false
}

// mostTried bounds the elements on which readings are told apart.
const mostTried = 512

// tried looks at a sample under every reading: in which order they explain it, and how many
// elements each leaves. Where the first leaves none it comes alone, unless all are asked for. 512
// places at most. What leaves nothing beyond and judges something comes first, then what judges
// nothing.
func (c *checker) tried(readings []Reading, all bool) (order []int, beyond []int64) {
	c.scan()
	idx := samples(c.rec.shape, c.ext.places())
	for len(idx) > mostTried {
		idx = thinned(idx, mostTried)
	}
	var judged []bool
	for i, r := range readings {
		j := newJudge(c.rec.numeric(), isExact(r.out(c.index)))
		c.at(r.out(c.index), idx, j)
		order, beyond, judged = append(order, i), append(beyond, j.beyond), append(judged, j.judged > 0)
		if i == 0 && !all && beyond[0] == 0 && judged[0] {
			break
		}
	}
	// One by which rounding can explain anything comes behind one that explains it, and
	// before those that do not.
	slices.SortStableFunc(order, func(a, b int) int {
		if c := cmp.Compare(beyond[a], beyond[b]); c != 0 {
			return c
		}
		return cmp.Compare(toNumber(judged[b]), toNumber(judged[a]))
	})
	return order, beyond
}

// likeliest is a reading that explains a sample of an output.
func (c *checker) likeliest(readings []Reading) Reading {
	for _, r := range readings {
		v := r.out(c.index)
		refuseIf(v == nil || !sameCount(v.Shape(), c.rec.shape), OutputCount, len(c.call.outs), len(r.Out))
	}
	order, beyond := c.tried(readings, false)
	refuseIf(beyond[order[0]] > 0, NotJudged, beyond[order[0]])
	return readings[order[0]]
}

// best judges the output by the reading that explains it best: first on a few
// elements by each, then on all; and if it does not explain these, or only by
// odd roundings, by the others too.
func (c *checker) best(readings []Reading) (best Reading, first *judge, err error) {
	defer must.Catch(&err)
	for _, r := range readings {
		v := r.out(c.index)
		refuseIf(!sameCount(v.Shape(), c.rec.shape), ShapeComputed, v.Shape(), c.rec.shape)
	}
	order := []int{0}
	beyond := []int64{0}
	if len(readings) > 1 {
		order, beyond = c.tried(readings, false)
	}
	which := order[0]
	for i := 0; i < len(order); i++ {
		k := order[i]
		if i > 0 && beyond[k] > 0 {
			break // what does not explain a few elements does not explain all
		}
		j := c.judge(readings[k].out(c.index))
		if first == nil || j.beyond < first.beyond || j.beyond == 0 && first.judged == 0 && j.judged > 0 || c.plainer(readings[k], j, first) {
			first, which = j, k
		}
		if j.beyond == 0 && j.judged > 0 && j.rounding == 0 {
			break
		}
		if len(order) < len(readings) {
			order, beyond = c.tried(readings, true)
		}
	}
	return readings[which], first, nil
}

// plainer tells whether a reading needs no roundings that none to nearest makes, where another one
// does, and is no wider for that:
// of two arithmetics that a kernel may have it is the one that it has.
func (c *checker) plainer(r Reading, j, other *judge) bool {
	if j.beyond > 0 || j.rounding > 0 || j.judged == 0 || other.beyond > 0 || other.rounding == 0 || other.worst < 0 {
		return false
	}
	there := newJudge(c.rec.numeric(), isExact(r.out(c.index)))
	c.at(r.out(c.index), []int64{other.worst}, there)
	return there.b <= other.b*(1+0x1p-4)
}

// thinned keeps about n evenly spaced members of a list.
// The first is among them.
func thinned(idx []int64, n int) []int64 {
	out := make([]int64, 0, n)
	for i := range n {
		out = append(out, idx[i*len(idx)/n])
	}
	return out
}

// judge compares what was recorded with v, as much of it as the operator's cost allows. Narrow
// types are screened in float32 where that is quick; what costs no more than mostMultiplied is
// judged whole in float64, anything else by a sample.
func (c *checker) judge(v Values) *judge {
	j := newJudge(c.rec.numeric(), isExact(v))
	if t := c.call.terms; t > 0 && c.call.narrow == 0 && !c.call.env.HalfFunctions {
		j.unlikely = gamma(6*math.Sqrt(t), u32) / gamma(t, u32)
	}
	n := c.rec.view.Len()
	work := cost(v) * float64(n)
	narrow := c.rec.numeric() == dtype.Float16 || c.rec.numeric() == dtype.BFloat16
	switch {
	case !c.full && narrow && !j.exact && work <= mostScreened && isFast(v):
		c.screen(v, j)
	case work <= mostMultiplied || c.full && work <= mostFull:
		err := must.Try(func() { c.all(v, j) })
		if err == nil || reasonOf(err).Kind != TooLarge {
			must.Do(err)
			break
		}
		u := j.unlikely
		j = newJudge(c.rec.numeric(), isExact(v))
		j.unlikely = u
		c.sampled(v, j)
	default:
		c.sampled(v, j)
	}
	return j
}

func sameCount(a, b []int64) bool { return count(a) == count(b) }

// step is how many elements are computed at once: about a slab, in multiples of
// what is best computed together.
func step(v Values) int64 {
	a := align(v)
	if a >= slab {
		return min(a, 8*slab)
	}
	return slab / a * a
}

// all judges every element.
func (c *checker) all(v Values, j *judge) {
	n, size := c.rec.view.Len(), step(v)
	size = min(size, n)
	kept := buffers64.Get().(*[3][]float64)
	defer buffers64.Put(kept)
	for i := range kept {
		kept[i] = grow(kept[i], int(size))
	}
	y, b, found := kept[0], kept[1], kept[2]
	for lo := int64(0); lo < n; lo += size {
		k := min(size, n-lo)
		c.rec.Range(lo, found[:k], nil)
		v.Range(lo, y[:k], b[:k])
		for i := range k {
			j.element(lo+i, found[i], y[i], b[i])
		}
	}
}

// at judges some elements.
func (c *checker) at(v Values, idx []int64, j *judge) {
	y, b, found := make([]float64, len(idx)), make([]float64, len(idx)), make([]float64, len(idx))
	c.rec.At(idx, found, nil)
	v.At(idx, y, b)
	for i, k := range idx {
		j.element(k, found[i], y[i], b[i])
	}
}

// scan looks for the extreme numbers among all that were recorded.
func (c *checker) scan() {
	if c.ext.rng != nil {
		return
	}
	n := c.rec.view.Len()
	c.buf = grow(c.buf, int(min(n, slab)))
	for lo := int64(0); lo < n; lo += slab {
		part := c.buf[:min(slab, n-lo)]
		c.rec.Range(lo, part, nil)
		c.ext.add(lo, part)
	}
}

// sampled judges a sample, and the sums of rows with random signs where the
// output is a product of matrices.
func (c *checker) sampled(v Values, j *judge) {
	c.scan()
	if x := asMatmul(v); x != nil && x.rows > 0 && x.cols > 0 && x.cols <= maxDense && x.k <= maxDense {
		x.open()
		if !x.held {
			c.judgeRows(x, c.sampledRows(x), j)
			c.sumRows(v, j)
			return
		}
	}
	idx := samples(c.rec.shape, c.ext.places())
	if most := int(max(mostRechecked/alone(v), 64)); len(idx) > most {
		idx = thinned(idx, most)
	}
	c.at(v, idx, j)
	c.sumRows(v, j)
}

// buffers are what screen computes in, buffers64 what all does, kept from one output to the next.
var (
	buffers   = sync.Pool{New: func() any { return new([2][]float32) }}
	buffers64 = sync.Pool{New: func() any { return new([3][]float64) }}
)

// Products that are too large to recompute are summed up along their rows with
// random signs r: Σ_j C[m,j]·r_j against A[m,:]·(B·r), which takes MK + KN + MN
// operations. A row is sound within
//
//	S_m = 1.01·v·Σ_j|C[m,j]| + g(K+2)·(|A|·(|B|·1 + |b|·1))_m + N·t
//
// (operators.md, checksums), and of long sums in practice within 6·v·√(Σ_j C[m,j]²) in place of the
// first term, as signs are random, and g(6·√K) in the second ([Call.summed]). What a row cannot
// show, the sample has to: single small errors, and float16 sums.

// rowChecks counts the sums that were made and those beyond their bound, and
// lists some of the rows that these belong to, counted over all matrices.
type rowChecks struct {
	sums, beyond int64
	rows         []int64
}

// mostRows bounds the bad rows that are recomputed.
const mostRows = 8

// asMatmul is the matrix product whose elements v has in their order; nil if it
// is something else.
func asMatmul(v Values) *product {
	switch v := v.(type) {
	case *product:
		if v.conv == nil {
			return v
		}
	case *strided:
		if v.plain && v.off == 0 {
			return asMatmul(v.in)
		}
	}
	return nil
}

// checkRows makes the sums of all rows of what was recorded; practice holds them to what is likely.
func (x *product) checkRows(rec *operand, p precisionOf, practice bool) (out rowChecks) {
	rng := rand.New(rand.NewPCG(17, uint64(x.cols)))
	// The same signs at every run, so that a finding can be seen again.
	signs := make([]float64, x.cols)
	for i := range signs {
		signs[i] = 1 - 2*float64(rng.IntN(2))
	}
	// The bias has a product of its own with the signs.
	bias, biasSize := 0.0, 0.0
	for i, b := range x.bias {
		bias += b * signs[i]
		biasSize += abs(b)
	}
	// B·r and |B|·1, once for each second matrix.
	br, size := make([]float64, x.k), make([]float64, x.k)
	row, a := make([]float64, x.cols), make([]float64, x.k)
	last := int64(-1)
	for g := range x.lefts {
		if x.rights[g] != last {
			last = x.rights[g]
			for k := range x.k {
				x.right.Range((last*x.k+k)*x.cols, row, nil)
				br[k], size[k] = 0, 0
				for j, v := range row {
					br[k] += v * signs[j]
					size[k] += abs(v)
				}
			}
		}
		for m := range x.rows {
			x.left.Range((x.lefts[g]*x.rows+m)*x.k, a, nil)
			want, bound := bias, biasSize
			for k, v := range a {
				want += v * br[k]
				bound += abs(v) * size[k]
			}
			at := int64(g)*x.rows + m
			rec.Range(at*x.cols, row, nil)
			got, total, squares := 0.0, 0.0, 0.0
			for j, v := range row {
				got += v * signs[j]
				total += abs(v)
				squares += v * v
			}
			g, rounding := x.g, 1.01*p.v*total
			if practice {
				g, rounding = gamma(6*math.Sqrt(float64(x.k)), u32), min(rounding, 6*p.v*math.Sqrt(squares))
			}
			bound = rounding + (g+2*x.input)*bound + float64(x.cols)*p.t
			out.sums++
			switch {
			case math.IsNaN(got-want) || math.IsInf(got-want, 0) || math.IsInf(bound, 0):
				// Inf and NaN are looked at one by one.
			case abs(got-want) > bound:
				if out.beyond++; len(out.rows) < mostRows {
					out.rows = append(out.rows, at)
				}
			}
		}
	}
	return out
}

// recompute computes some rows of one matrix whole, and their bounds, in one
// pass over the second operand. Rows are counted over all matrices; y and b hold
// them one behind the other.
func (x *product) recompute(rows []int64, y, b []float64) {
	a, row := make([]float64, int64(len(rows))*x.k), make([]float64, x.cols)
	g := rows[0] / x.rows
	for i, at := range rows {
		x.left.Range((x.lefts[g]*x.rows+at%x.rows)*x.k, a[int64(i)*x.k:][:x.k], nil)
	}
	clear(y)
	clear(b)
	for k := range x.k {
		x.right.Range((x.rights[g]*x.k+k)*x.cols, row, nil)
		for i := range rows {
			v := a[int64(i)*x.k+k]
			sum, size := y[int64(i)*x.cols:][:x.cols], b[int64(i)*x.cols:][:x.cols]
			for j, w := range row {
				t := v * w
				sum[j] += t
				size[j] += abs(t)
			}
		}
	}
	for i := range rows {
		x.finish(0, 0, y[int64(i)*x.cols:][:x.cols], b[int64(i)*x.cols:][:x.cols])
	}
}

// judgeRows judges all elements of some rows.
func (c *checker) judgeRows(x *product, rows []int64, j *judge) {
	most := int(max(maxDense/4/x.cols, 1))
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && n < most && rows[n]/x.rows == rows[0]/x.rows {
			n++
		}
		size := int64(n) * x.cols
		y, b, got := make([]float64, size), make([]float64, size), make([]float64, x.cols)
		x.recompute(rows[:n], y, b)
		for i, at := range rows[:n] {
			c.rec.Range(at*x.cols, got, nil)
			for k, f := range got {
				p := int64(i)*x.cols + int64(k)
				j.element(at*x.cols+int64(k), f, y[p], b[p])
			}
		}
		rows = rows[n:]
	}
}

// sampledRows are the rows that are looked at of a product whose operands are too
// large to hold, where a row costs one pass over the second operand and further
// ones little more: those of the extreme numbers, the first and the last, and
// some at random.
func (c *checker) sampledRows(x *product) []int64 {
	var rows []int64
	for _, i := range c.ext.places() {
		rows = append(rows, i/x.cols)
	}
	total := int64(len(x.lefts)) * x.rows
	rng := rand.New(rand.NewPCG(23, uint64(total)))
	rows = thinned(sortedUnique(rows), min(len(rows), mostRows))
	rows = append(rows, 0, total-1)
	for range mostRows {
		rows = append(rows, rng.Int64N(total))
	}
	return sortedUnique(rows)
}

// mostSummed bounds the numbers that are read to sum up rows.
const mostSummed = 4 << 30

// sumRows looks at a large product through sums of its rows, and at every element of rows that are
// beyond their bound. Only streamed factors: recorded tensors, or views that are read in order. A
// sum in float16 (v of the type large) hides single errors, which the sample then has to find; rows
// beyond their bound are computed whole.
func (c *checker) sumRows(v Values, j *judge) {
	x := asMatmul(v)
	if x == nil || x.exact || j.p.v == 0 || !streams(x.left) || !streams(x.right) {
		return
	}
	batches := float64(len(x.lefts))
	if batches*(float64(x.rows)*float64(x.k)+float64(x.k)*float64(x.cols)+float64(x.rows)*float64(x.cols)) > mostSummed || x.cols > maxDense || x.k > maxDense {
		return
	}
	found := x.checkRows(c.rec, j.p, j.unlikely > 0 && !x.single)
	j.sums, j.sumsBeyond = found.sums, found.beyond
	c.judgeRows(x, found.rows, j)
}

// streams reports whether v is read row after row at little cost.
func streams(v Values) bool {
	if o, ok := v.(*operand); ok {
		return o != nil
	}
	s, ok := v.(*strided)
	return ok && s.plain && streams(s.in)
}
