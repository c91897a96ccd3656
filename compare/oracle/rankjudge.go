package oracle

import (
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/must"
	"precision/internal/nd"
)

// Collectives of recordings of calls, judged: every output of every rank against what the inputs of
// all ranks come to.
//
// What an output is made of is a list of stretches ([stretch]), pieces of inputs of members, copied
// or reduced. Copies are compared bit for bit. Of a sum the order is open, as rings and trees
// differ and so do their chunks: of R ranks it is within g(R)·Σ|x| in float32, or where partial
// sums may be kept in a narrow type of roundoff v within v·(R - 1)·Σ|x| ([roomOf]); two numbers are
// rounded once.
//
// Where only statistics were recorded the same stretches say in which range the extremes, the mean
// and the norm of a result must lie ([extent]), which can accuse and never clear.
//
// What is wrong is then explained by what ranks may have done instead: one left out or counted
// twice, another group, the piece of another rank, a mean for a sum, a factor. Of these the one
// that gives all the elements is told, if it is the only one.

// check judges the outputs of all ranks.
func (m *gathering) check() (out []Finding) {
	if m.missing >= 0 {
		why := because(NoRank, m.missing)
		if len(m.ranks) < 2 {
			why = because(OneRank, len(m.ranks))
		}
		return refused(m.blanks(), why)
	}
	m.prepare()
	judges := m.elements()
	for i := range m.outs {
		o := &m.outs[i]
		c := m.calls[o.member]
		f := c.blank(o.arg.v, o.index)
		switch j := judges[i]; {
		case o.why != nil:
			unknown(&f)
			f.fail(o.why, "")
		case j == nil:
			m.statistics(o, &f)
		default:
			m.word(o, j, &f)
		}
		out = append(out, f)
	}
	m.alike(out, judges)
	m.conserved(out, judges)
	return m.unexplained(out)
}

// ranked is a judge of an output with a checksum of its elements. The checksum (CRC-32C of the
// bits) tells whether two outputs are the same without reading either again.
type ranked struct {
	*judge
	sum uint32
}

// elements judges the outputs of which all elements are there; nil for others. What several
// outputs have in common is computed once.
func (m *gathering) elements() []*ranked {
	list := make([]*ranked, len(m.outs))
	type use struct{ out, part int }
	// The result of an all_reduce is the same stretch for every rank: the inputs are read and
	// summed once, not once a rank.
	uses, order := map[string][]use{}, []string{}
	for i := range m.outs {
		o := &m.outs[i]
		if o.why != nil || !m.ready(o) {
			continue
		}
		moved := !slices.ContainsFunc(o.parts, func(s stretch) bool { return s.op != "" && s.op != "max" && s.op != "min" })
		list[i] = &ranked{judge: newJudge(o.arg.op.numeric(), moved)}
		for k := range o.parts {
			s := &o.parts[k]
			var key strings.Builder
			fmt.Fprint(&key, s.op, s.n)
			for _, from := range s.from {
				fmt.Fprintf(&key, " %p+%d", from.arg, from.lo)
			}
			if uses[key.String()] == nil {
				order = append(order, key.String())
			}
			uses[key.String()] = append(uses[key.String()], use{i, k})
		}
	}
	if len(order) == 0 {
		return list // statistics alone: there is nothing to make room for
	}
	y, b, x := make([]float64, slab), make([]float64, slab), make([]float64, slab)
	var bits []byte
	for _, key := range order {
		of := uses[key]
		s := &m.outs[of[0].out].parts[of[0].part]
		for lo := int64(0); lo < s.n && m.ctx.Err() == nil; lo += slab {
			n := min(int64(slab), s.n-lo)
			err := must.Try(func() { m.expect(s, m.outs[of[0].out].arg.op, lo, y[:n], b[:n], x[:n]) })
			for _, u := range of {
				o := &m.outs[u.out]
				at := o.parts[u.part].lo + lo
				if err == nil {
					err = must.Try(func() { o.arg.op.Range(at, x[:n], nil) })
				}
				if err != nil {
					o.why = err
					continue
				}
				for i := range n {
					list[u.out].element(at+i, x[i], y[i], b[i])
				}
				bits = appendBits(bits[:0], x[:n])
				list[u.out].sum = crc32.Update(list[u.out].sum, castagnoli(), bits)
			}
		}
	}
	return list
}

// ready opens an output and all that it is made of; false if elements are missing.
func (m *gathering) ready(o *gathered) bool {
	if !filed(o.arg) {
		return false
	}
	for _, s := range o.parts {
		if slices.ContainsFunc(s.from, func(from brought) bool { return !filed(from.arg) }) {
			return false
		}
	}
	if err := m.opened(o.member, o.arg); err != nil {
		o.why = err
		return true
	}
	for _, s := range o.parts {
		for _, from := range s.from {
			if err := m.opened(from.member, from.arg); err != nil {
				o.why = err
			}
		}
	}
	return o.why == nil
}

func (m *gathering) opened(member int, a *argument) error {
	if m.open == nil {
		guests := 0
		for _, b := range m.beside {
			guests += len(b.calls)
		}
		m.open = make([]*files, len(m.calls)+guests)
	}
	if m.open[member] == nil {
		m.open[member] = &files{path: m.taker(member).of.path}
	}
	if a.op == nil && a.err == nil {
		a.op, a.err = m.open[member].tensor(a.v, a.place)
	}
	return a.err
}

// expect computes what elements should be, with a bound that holds for any order of sums. For
// elements lo … of a stretch: y the result in the order of ranks, in float64, and b first Σ|x|,
// then the bound.
func (m *gathering) expect(s *stretch, out *operand, lo int64, y, b, x []float64) {
	clear(b)
	if s.op == "" {
		s.from[0].arg.op.Range(s.from[0].lo+lo, y, nil)
		return
	}
	for k, from := range s.from {
		from.arg.op.Range(from.lo+lo, x, nil)
		for i, v := range x {
			b[i] += abs(v)
			sofar := y[i]
			if y[i] = v; k > 0 {
				y[i] = combine(s.op, sofar, v)
			}
		}
	}
	roomOf(s.op, len(s.from), precisionFor(out.numeric()), y, b)
}

// roomOf makes of the sums of sizes in b the bounds of the results in y: g(R-1)·Σ|x|, and
// v·(R-1)·Σ|x| where partial sums may be rounded to a narrow type. Two numbers are rounded once. A
// mean divides the sum by R and rounds once more; a product of R factors has as many roundings,
// relative to itself. max and min round nothing.
func roomOf(op string, ranks int, p precisionOf, y, b []float64) {
	n := float64(ranks)
	unit := max(gamma(n, u32), p.v*(n-1))
	if p.v == 0x1p-53 {
		unit = gamma(n, u64)
	}
	mean := op == "mean" || op == "avg" // as graphs have it
	if p.integer || ranks < 3 && !mean {
		unit = 0
	}
	for i := range y {
		switch {
		case mean:
			y[i] /= n
			b[i] = unit*b[i]/n + max(p.v, u32)*abs(y[i])
		case op == "max" || op == "min":
			b[i] = 0
		case op == "prod":
			b[i] = unit * abs(y[i])
		default:
			b[i] *= unit
		}
	}
}

// word says what the elements of an output say.
func (m *gathering) word(o *gathered, j *ranked, f *Finding) {
	f.Ratio, f.Expected, f.Found, f.Bound, f.Largest = j.ratio, j.value, j.found, j.b, j.largest
	f.Looked, f.Beyond = j.looked, j.beyond
	if j.worst >= 0 {
		f.Worst = nd.Place(j.worst, o.arg.v.Shape)
	}
	switch {
	case j.looked == 0:
		unknown(f, because(Empty))
	case j.beyond > 0:
		f.Verdict = Wrong
		f.Reasons = append(f.Reasons, because(Gathered, m.request(o), ranksText(m.ranks)), because(Beyond, j.beyond, j.looked))
		m.explain(o, j, f)
	// The bound is so wide that an error as large as the number would pass.
	case j.coarse > 0:
		unknown(f, because(Coarse, j.coarse, j.looked))
	case j.judged == 0:
		unknown(f, because(NotJudged, j.looked))
	default:
		f.Verdict = OK
	}
}

// request is what was asked for: all_reduce with sum.
func (m *gathering) request(o *gathered) string {
	if op := o.parts[0].op; op != "" {
		return m.api + " (" + op + ")"
	}
	return m.api
}

func ranksText(ranks []int) string {
	var text []string
	for i, r := range ranks {
		if i == 8 {
			text = append(text, "…")
			break
		}
		text = append(text, itoa(r))
	}
	return strings.Join(text, ", ")
}

// alike holds outputs that must be the same on all ranks against each other, to the bit. An
// all_reduce that is within its bound on each rank is still wrong where ranks differ: all take the
// same numbers from the network.
func (m *gathering) alike(out []Finding, judges []*ranked) {
	if m.api != "all_reduce" {
		return
	}
	var sums []uint32
	for i, j := range judges {
		if j == nil || m.outs[i].index > 0 || out[i].Verdict != OK {
			return
		}
		sums = append(sums, j.sum)
	}
	most := common(sums)
	for i, sum := range sums {
		if sum != most {
			out[i].Verdict = Wrong
			out[i].Reasons = append(out[i].Reasons, because(Gathered, m.request(&m.outs[i]), ranksText(m.ranks)),
				because(RankDiffers, differing(m.outs[i].arg.op, m.outs[slices.Index(sums, most)].arg.op)))
		}
	}
}

// common is the checksum that most outputs have, of as many the first.
func common(sums []uint32) (most uint32) {
	count := map[uint32]int{}
	for _, sum := range sums {
		count[sum]++
	}
	for _, sum := range sums {
		if count[sum] > count[most] {
			most = sum
		}
	}
	return most
}

// differing counts the elements of an output that are not those of another of the same size; as far
// as they can be read. NaN on both sides is no difference.
func differing(a, b *operand) (count int64) {
	x, y := make([]float64, slab), make([]float64, slab)
	for lo := int64(0); lo < a.view.Len(); lo += slab {
		n := min(int64(slab), a.view.Len()-lo)
		if !reads(a, lo, x[:n]) || !reads(b, lo, y[:n]) {
			return count
		}
		for p := range n {
			if x[p] != y[p] && (x[p] == x[p] || y[p] == y[p]) {
				count++
			}
		}
	}
	return count
}

// unexplained takes back what was said of all ranks alike, where nothing explains it and nobody
// knows how many ranks there are: others may have taken part.
func (m *gathering) unexplained(out []Finding) []Finding {
	if m.certain {
		return out
	}
	for i := range out {
		if out[i].Verdict != Wrong || len(out[i].Reasons) > 2 {
			if o := &m.outs[i]; o.index == 0 {
				return out
			}
		}
	}
	for i := range out {
		if out[i].Verdict == Wrong {
			out[i].Reasons = nil
			unknown(&out[i], because(MoreRanks, ranksText(m.ranks)))
		}
	}
	return out
}

// statsOf are the statistics of a tensor, false where one is not a finite number.
func statsOf(a *argument) (s [4]float64, ok bool) {
	if !a.tensor() {
		return s, false
	}
	for i, n := range []msprobe.Number{a.v.Max, a.v.Min, a.v.Mean, a.v.Norm} {
		v, known := n.Value()
		if !known || math.IsNaN(v) || math.IsInf(v, 0) {
			return s, false
		}
		s[i] = v
	}
	return s, true
}

// extent is what statistics of an output may be.
type extent struct{ max, min, mean, norm interval }

// allows tells whether statistics are within a extent.
func (s *extent) allows(x [4]float64) (which int, is interval, ok bool) {
	for i, r := range []interval{s.max, s.min, s.mean, s.norm} {
		if x[i] < r.lo || x[i] > r.hi {
			return i, r, false
		}
	}
	return 0, anything, true
}

// spanned is what the statistics of some parts may come to; each of many ranks asks for the same.
type spanned struct {
	n     int64
	elem  dtype.Type
	parts []stretch
	extent
	ok bool
}

// mostSpans bounds how many are remembered of one assembly: one for each reduction that the ranks
// may have made.
const mostSpans = 8

// span is spanOf, computed once for outputs that are made of the same.
func (m *gathering) span(out *argument, parts []stretch) (extent, bool) {
	n := elementsOfArgument(out)
	same := func(a, b stretch) bool {
		return a.lo == b.lo && a.n == b.n && a.op == b.op && slices.Equal(a.from, b.from)
	}
	for i := range m.spans {
		if s := &m.spans[i]; s.n == n && s.elem == out.v.Elem && slices.EqualFunc(s.parts, parts, same) {
			return s.extent, s.ok
		}
	}
	s, ok := spanOf(out, parts)
	if len(m.spans) < mostSpans {
		m.spans = append(m.spans, spanned{n, out.v.Elem, parts, s, ok})
	}
	return s, ok
}

// spanOf is what the statistics of an output may be that is made of parts; false if the
// statistics of these tell nothing. whole tells that the sources are whole tensors.
func spanOf(out *argument, parts []stretch) (s extent, ok bool) {
	n := float64(elementsOfArgument(out))
	p := precisionFor(out.v.Elem)
	// A recorder sums in the type or in float32, in any order. Pairwise sums of n numbers are off
	// by log₂ n units; 4 and the factor are for its blocks and the root.
	unit := (4 + 2*math.Log2(max(1, n))) * max(p.v, u32)
	s = extent{interval{math.Inf(-1), math.Inf(-1)}, interval{math.Inf(1), math.Inf(1)}, interval{}, interval{}}
	squares, mean, size := interval{}, interval{}, 0.0
	for _, part := range parts {
		of, whole := extent{}, true
		for k, from := range part.from {
			x, known := statsOf(from.arg)
			if !known {
				return s, false
			}
			whole = whole && float64(elementsOfArgument(from.arg)) == float64(part.n)
			one := extent{interval{x[0], x[0]}, interval{x[1], x[1]}, interval{x[2], x[2]}, interval{x[3], x[3]}}
			size += x[3]
			if k == 0 {
				of = one
				continue
			}
			of = together(part.op, of, one)
		}
		count := float64(len(part.from))
		if part.op == "mean" {
			for _, r := range []*interval{&of.max, &of.min, &of.mean, &of.norm} {
				r.lo, r.hi = r.lo/count, r.hi/count
			}
		}
		// Its norm is √n·peak at most.
		if !whole { // of a slice nothing but the range is known
			peak := max(abs(of.max.hi), abs(of.min.lo)) * math.Sqrt(float64(part.n))
			of = extent{interval{of.min.lo, of.max.hi}, interval{of.min.lo, of.max.hi}, interval{of.min.lo, of.max.hi}, interval{0, peak}}
		}
		s.max = interval{max(s.max.lo, of.max.lo), max(s.max.hi, of.max.hi)}
		s.min = interval{min(s.min.lo, of.min.lo), min(s.min.hi, of.min.hi)}
		// Means of parts are weighed by their elements; squares of norms add up.
		w := float64(part.n) / max(n, 1)
		mean = interval{mean.lo + w*of.mean.lo, mean.hi + w*of.mean.hi}
		squares = interval{squares.lo + of.norm.lo*of.norm.lo, squares.hi + of.norm.hi*of.norm.hi}
	}
	s.mean, s.norm = mean, interval{math.Sqrt(squares.lo), math.Sqrt(squares.hi)}
	reduces := slices.ContainsFunc(parts, func(x stretch) bool { return x.op != "" })
	room := 0.0
	if reduces {
		room = float64(len(parts[0].from)) * max(p.v, u32)
	}
	grow := func(r *interval, by float64) { r.lo, r.hi = r.lo-by, r.hi+by }
	peak := max(abs(s.max.hi), abs(s.min.lo), abs(s.max.lo), abs(s.min.hi))
	grow(&s.max, room*peak)
	grow(&s.min, room*peak)
	grow(&s.mean, (unit+room)*size/math.Sqrt(max(n, 1)))
	order := 2 * msprobe.NormOrder(elementsOfArgument(out)) // of the output, and of its parts
	grow(&s.norm, (unit+room+order)*max(s.norm.hi, size))
	return s, true
}

// together is what the statistics of two tensors may come to. Of sums: max(x + z) lies between what
// the one's maximum and the other's minimum come to and the sum of both maxima; means add exactly;
// norms by the triangle inequality. Of max and min of two tensors the range of each follows from
// both. Of products only the range of the corners is known.
func together(op string, a, b extent) extent {
	switch op {
	case "max":
		return extent{interval{max(a.max.lo, b.max.lo), max(a.max.hi, b.max.hi)}, interval{max(a.min.lo, b.min.lo), min(max(a.min.hi, b.max.hi), max(b.min.hi, a.max.hi))},
			interval{max(a.mean.lo, b.mean.lo), max(a.max.hi, b.max.hi)}, interval{0, math.Hypot(a.norm.hi, b.norm.hi)}}
	case "min":
		return extent{interval{max(min(a.max.lo, b.min.lo), min(b.max.lo, a.min.lo)), min(a.max.hi, b.max.hi)}, interval{min(a.min.lo, b.min.lo), min(a.min.hi, b.min.hi)},
			interval{min(a.min.lo, b.min.lo), min(a.mean.hi, b.mean.hi)}, interval{0, math.Hypot(a.norm.hi, b.norm.hi)}}
	case "prod":
		r := corners(interval{a.min.lo, a.max.hi}, interval{b.min.lo, b.max.hi}, func(x, y float64) float64 { return x * y })
		return extent{r, r, r, interval{0, a.norm.hi * b.norm.hi}}
	}
	return extent{
		interval{max(a.max.lo+b.min.lo, a.min.lo+b.max.lo), a.max.hi + b.max.hi},
		interval{a.min.lo + b.min.lo, min(a.max.hi+b.min.hi, a.min.hi+b.max.hi)},
		interval{a.mean.lo + b.mean.lo, a.mean.hi + b.mean.hi},
		interval{max(0, a.norm.lo-b.norm.hi, b.norm.lo-a.norm.hi), a.norm.hi + b.norm.hi},
	}
}

var statNames = [...]string{"Max", "Min", "Mean", "Norm"}

// statistics judges an output by what statistics tell.
func (m *gathering) statistics(o *gathered, f *Finding) {
	x, known := statsOf(o.arg)
	s, certain := m.span(o.arg, o.parts)
	if !known || !certain {
		unknown(f, because(NoElements, o.arg.place), statisticsLeft(o.arg))
		return
	}
	which, is, ok := s.allows(x)
	if ok {
		unknown(f, because(NoElements, o.arg.place), because(InRange))
		return
	}
	f.Verdict = Wrong
	f.Reasons = append(f.Reasons, because(Gathered, m.request(o), ranksText(m.ranks)), because(OutOfRange, statNames[which], x[which], is.lo, is.hi))
	m.explain(o, nil, f)
}

// partly tells that an output is in part what the rank had there before: not all of it may have
// been written when the recorder looked. Of statistics the largest or smallest element tells; of a
// transfer both have to be of what was sent or was there.
func (m *gathering) partly(o *gathered, j *ranked) bool {
	out, known := statsOf(o.arg)
	before := m.args[o.member]["tensor"]
	if m.transfer && j != nil && filed(before) && m.opened(o.member, before) == nil {
		var was [1]float64
		idx, found := worstOf(j.judge, 128)
		for k, i := range idx {
			if !reads(before.op, i, was[:]) || found[k] != was[0] {
				return false
			}
		}
		return true
	}
	if m.transfer {
		was, certain := statsOf(before)
		sent, sends := statsOf(o.parts[0].from[0].arg)
		return known && certain && sends && (out[0] == was[0] || out[0] == sent[0]) && (out[1] == was[1] || out[1] == sent[1])
	}
	return known && slices.ContainsFunc(o.parts[0].from, func(b brought) bool {
		in, known := statsOf(b.arg)
		return known && b.member == o.member && (in[0] == out[0] || in[1] == out[1])
	})
}

// begins tells of an output that its call did not wait for.
func (m *gathering) begins(o *gathered) bool {
	return m.calls[o.member].Parsed.Begins(m.calls[o.member].Argument)
}

// explain adds what explains a wrong output, whose numbers are the same where outputs are. What an
// asynchronous call gave may be in any state between its inputs and what it should be, with some
// ranks left out of some elements:
// only what no such state looks like is wrong.
func (m *gathering) explain(o *gathered, j *ranked, f *Finding) {
	var numbers any
	var fits is
	if j != nil {
		numbers, fits = j.sum, elementsAre(j)
	} else {
		x, _ := statsOf(o.arg)
		numbers, fits = x, statisticsAre(o.arg)
	}
	why, ok := m.why(o, numbers, fits)
	switch {
	case m.begins(o) && (m.partly(o, j) || why.Kind == OwnInput || !m.transfer && !slices.Contains([]result.Kind{OtherReduction, CountedTwice, OtherPiece, Scaled}, why.Kind)):
		f.Reasons = nil
		unknown(f, because(InFlight))
	case ok:
		f.Reasons = append(f.Reasons, why)
	}
}

// conserved looks at what the outputs of all ranks have in common with all inputs, where each
// output is made of slices whose statistics nobody knows: their sum, and the largest and smallest
// element.
func (m *gathering) conserved(out []Finding, judges []*ranked) {
	if !m.split {
		return
	}
	var total, size [2]float64
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	add := func(at int, a *argument) bool {
		x, ok := statsOf(a)
		n := float64(elementsOfArgument(a))
		total[at] += x[2] * n
		size[at] += x[3] * math.Sqrt(n)
		lo[at], hi[at] = min(lo[at], x[1]), max(hi[at], x[0])
		return ok
	}
	op, some, p := "", []int{}, precisionOf{}
	for i := range m.outs {
		o := &m.outs[i]
		if o.why != nil || o.index > 0 {
			continue
		}
		if judges[i] != nil || m.begins(o) || !add(1, o.arg) {
			return
		}
		op, some, p = o.parts[0].op, append(some, i), precisionFor(o.arg.v.Elem)
	}
	for k := range m.calls {
		if !add(0, m.args[k]["in"]) {
			return
		}
	}
	// What the means of recorders are off, over all ranks.
	unit := (8 + 4*math.Log2(max(2, float64(len(some))))) * max(p.v, u32) * 8
	want := total[0]
	if op == "mean" {
		want /= float64(len(m.calls))
	}
	off := (op == "" || op == "sum" || op == "mean") && abs(want-total[1]) > unit*(size[0]+size[1])
	if op == "" {
		off = off || lo[0] != lo[1] || hi[0] != hi[1]
	}
	if op == "max" {
		off = off || hi[0] != hi[1]
	}
	if !off {
		return
	}
	for _, i := range some {
		if out[i].Verdict != Wrong {
			out[i].Reasons = nil
			out[i].Verdict = Wrong
			out[i].Reasons = append(out[i].Reasons, because(Gathered, m.request(&m.outs[i]), ranksText(m.ranks)), because(NotConserved, total[1], want))
		}
	}
}

// is tells whether an output is what some parts make.
type is func(m *gathering, o *gathered, parts []stretch) bool

// elementsAre looks at the elements that are wrong, and at no others. 128 of the worst are looked
// at; a candidate explains them if all are within its bound and at least one of them is judged.
func elementsAre(j *ranked) is {
	idx, found := worstOf(j.judge, 128)
	return func(m *gathering, o *gathered, parts []stretch) bool {
		hit := false
		for k, i := range idx {
			at := slices.IndexFunc(parts, func(s stretch) bool { return i >= s.lo && i < s.lo+s.n })
			if at < 0 {
				continue
			}
			s := &parts[at]
			if slices.ContainsFunc(s.from, func(from brought) bool {
				return m.opened(from.member, from.arg) != nil || from.lo+i-s.lo >= from.arg.op.view.Len()
			}) {
				return false
			}
			var y, b, x [1]float64
			if must.Try(func() { m.expect(s, o.arg.op, i-s.lo, y[:], b[:], x[:]) }) != nil {
				return false
			}
			look := newJudge(o.arg.op.numeric(), s.op == "" || s.op == "max" || s.op == "min")
			if look.element(i, found[k], y[0], b[0]); look.beyond > 0 || look.judged == 0 {
				return false
			}
			hit = true
		}
		return hit
	}
}

// statisticsAre looks at statistics.
func statisticsAre(out *argument) is {
	return func(m *gathering, _ *gathered, parts []stretch) bool {
		x, known := statsOf(out)
		s, certain := m.span(out, parts)
		if !known || !certain {
			return false
		}
		_, _, ok := s.allows(x)
		return ok
	}
}

// why looks for what explains a wrong output: the only other thing that it is.
func (m *gathering) why(o *gathered, numbers any, fits is) (why result.Reason, found bool) {
	with := func(change func(s *stretch)) []stretch {
		parts := slices.Clone(o.parts)
		for i := range parts {
			change(&parts[i])
		}
		return parts
	}
	if o.parts[0].op == "" {
		return m.whyMoved(o, fits)
	}
	own := slices.IndexFunc(o.parts[0].from, func(s brought) bool { return s.member == o.member })
	if own >= 0 && fits(m, o, with(func(s *stretch) { s.from, s.op = s.from[own:own+1], "" })) {
		if len(o.parts[0].from) == 2 && m.shared(o) { // both have it: that of the other is lost
			return because(LeftOut, m.ranks[o.parts[0].from[1-own].member]), true
		}
		return because(OwnInput), true
	}
	for _, op := range []string{"sum", "mean", "max", "min", "prod"} {
		if op == "prod" && o.arg.op == nil {
			continue // statistics of products may be anything
		}
		if op != o.parts[0].op && fits(m, o, with(func(s *stretch) { s.op = op })) {
			return because(OtherReduction, op), true
		}
	}
	if why, found := m.countedOtherwise(o, numbers, fits, with); found {
		return why, true
	}
	if ranks := m.otherGroup(o, fits, with); ranks != nil {
		return because(OtherGroup, ranksText(ranks)), true
	}
	// The piece of another rank.
	for i := range m.outs {
		p := &m.outs[i]
		if p.index == o.index && p.member != o.member && p.why == nil && len(p.parts) == len(o.parts) && p.parts[0].n == o.parts[0].n && p.parts[0].from[0] != o.parts[0].from[0] && fits(m, o, p.parts) {
			return because(OtherPiece, m.ranks[p.member]), true
		}
	}
	if f, ok := m.factor(o); ok {
		return because(Scaled, f), true
	}
	return why, false
}

// omission is what the answer depends on that leaves a member out or counts it twice: outputs of
// ranks that are the same numbers, made of the same, have the same.
type omission struct {
	numbers any // statistics, or a checksum of the elements
	op      string
	first   brought
	members int
}

// mostOmissions bounds for how many outputs of one assembly each member is left out in turn, which
// costs the square of their number: the ranks of a sound collective have one output, and a
// wrong one is wrong in few ways.
const mostOmissions = 8

// countedOtherwise looks for the one member whose part is missing in a reduction, or in it twice.
func (m *gathering) countedOtherwise(o *gathered, numbers any, fits is, with func(func(*stretch)) []stretch) (why result.Reason, found bool) {
	from := o.parts[0].from
	key := omission{numbers, o.parts[0].op, from[0], len(from)}
	if known, is := m.omitted[key]; is || len(m.omitted) == mostOmissions {
		return known, known.Kind != ""
	}
	hits := 0
	for r := range from {
		rank := m.ranks[from[r].member]
		if fits(m, o, with(func(s *stretch) { s.from = slices.Delete(slices.Clone(s.from), r, r+1) })) {
			why, hits = because(LeftOut, rank), hits+1
		} else if fits(m, o, with(func(s *stretch) { s.from = append(slices.Clone(s.from), s.from[r]) })) {
			why, hits = because(CountedTwice, rank), hits+1
		}
	}
	if hits != 1 {
		why = result.Reason{}
	}
	if m.omitted == nil {
		m.omitted = map[omission]result.Reason{}
	}
	m.omitted[key] = why
	return why, hits == 1
}

// mostSubsets bounds of how many ranks any of them may be another group; of more ranks only such
// groups are tried as people make: neighbours, and equal strides.
const mostSubsets = 6

// otherGroup looks for the ranks whose inputs a reduction is made of, if these are not those of its
// group: some of them, or with those that met in other groups at the same time. Elements have to
// tell, and no two groups may fit.
func (m *gathering) otherGroup(o *gathered, fits is, with func(func(*stretch)) []stretch) (ranks []int) {
	if o.arg.op == nil || m.api != "all_reduce" && m.api != "reduce" {
		return nil
	}
	of := map[int]brought{} // by rank
	for _, b := range o.parts[0].from {
		of[m.ranks[b.member]] = b
	}
	at := len(m.calls)
	for _, a := range m.beside {
		for k, c := range a.calls {
			if c != nil {
				if in := c.collective()["tensor"]; filed(in) && elementsOfArgument(in) == elementsOfArgument(o.arg) {
					of[a.ranks[k]] = brought{at, in, 0}
				}
			}
			at++
		}
	}
	all := slices.Sorted(maps.Keys(of))
	own := m.ranks[o.member]
	for _, group := range groupsOf(all, m.ranks) {
		if !slices.Contains(group, own) || slices.Equal(group, slices.Sorted(slices.Values(m.ranks))) {
			continue
		}
		var from []brought
		for _, r := range group {
			from = append(from, of[r])
		}
		if !fits(m, o, with(func(s *stretch) { s.from = from })) {
			continue
		}
		if ranks != nil {
			return nil
		}
		ranks = group
	}
	return ranks
}

// groupsOf are the groups that ranks may be taken for: all of them, any of those that should have
// met where they are few, blocks of neighbours and equal strides.
func groupsOf(all, met []int) (groups [][]int) {
	add := func(group []int) {
		if len(group) > 1 && !slices.ContainsFunc(groups, func(g []int) bool { return slices.Equal(g, group) }) {
			groups = append(groups, group)
		}
	}
	add(all)
	for _, list := range [][]int{all, slices.Sorted(slices.Values(met))} {
		if len(list) <= mostSubsets {
			for set := range 1 << len(list) {
				var group []int
				for i, r := range list {
					if set>>i&1 == 1 {
						group = append(group, r)
					}
				}
				add(group)
			}
			continue
		}
		// Tensor parallel groups are neighbours, data parallel ones equal strides.
		for size := 2; size < len(list); size *= 2 {
			for lo := 0; lo+size <= len(list); lo += size {
				add(slices.Clone(list[lo : lo+size]))
			}
			for first := range size {
				var group []int
				for i := first; i < len(list); i += size {
					group = append(group, list[i])
				}
				add(group)
			}
		}
	}
	return groups
}

// taker is a call of the group, or behind these of one beside it.
func (m *gathering) taker(member int) *recordedCall {
	if member < len(m.calls) {
		return m.calls[member]
	}
	member -= len(m.calls)
	for _, a := range m.beside {
		if member < len(a.calls) {
			return a.calls[member]
		}
		member -= len(a.calls)
	}
	return nil
}

// shared tells whether another rank has the same output.
func (m *gathering) shared(o *gathered) bool {
	return slices.ContainsFunc(m.outs, func(p gathered) bool {
		if p.member == o.member || p.index != o.index {
			return false
		}
		if o.arg.op != nil && p.arg.op != nil {
			return o.arg.op.view.Len() == p.arg.op.view.Len() && sameElements(o.arg.op, p.arg.op)
		}
		a, _ := statsOf(o.arg)
		b, known := statsOf(p.arg)
		return known && a == b
	})
}

// whyMoved does so for what is only moved, part by part.
func (m *gathering) whyMoved(o *gathered, fits is) (why result.Reason, found bool) {
	for _, s := range o.parts {
		one := func(from brought) bool {
			return elementsOfArgument(from.arg) >= from.lo+s.n && fits(m, o, []stretch{{s.lo, s.n, []brought{from}, ""}})
		}
		if fits(m, o, []stretch{s}) {
			continue // this one is right
		}
		for i := range m.outs { // what went to the rank itself, or to another
			p := &m.outs[i]
			for _, x := range p.parts {
				switch {
				case p.why != nil || x.op != "" || x.n != s.n || x.from[0] == s.from[0]:
				case !one(x.from[0]):
				case x.from[0].member == o.member:
					return because(OwnInput), true
				case x.from[0].member != s.from[0].member:
					return because(OtherPiece, m.ranks[x.from[0].member]), true
				default:
					return because(OtherPiece, m.ranks[p.member]), true
				}
			}
		}
		if a := m.args[o.member]["tensor"]; a.tensor() && s.from[0].member != o.member && one(brought{o.member, a, 0}) {
			return because(OwnInput), true
		}
	}
	if f, ok := m.factor(o); ok {
		return because(Scaled, f), true
	}
	return why, false
}

// factor is what all of an output is multiplied by, where it is neither 1 nor too small to tell.
// The first 256 elements are looked at, but for those whose bound is above a thousandth; all of
// them must have the same factor within 1e-5 and their bounds.
func (m *gathering) factor(o *gathered) (f float64, ok bool) {
	if o.arg.op == nil {
		return m.factorOfStatistics(o)
	}
	n := min(o.arg.op.view.Len(), 256)
	for i := range n {
		at := slices.IndexFunc(o.parts, func(s stretch) bool { return i >= s.lo && i < s.lo+s.n })
		if at < 0 {
			return 0, false
		}
		s := &o.parts[at]
		var y, b, x, found [1]float64
		if must.Try(func() { m.expect(s, o.arg.op, i-s.lo, y[:], b[:], x[:]) }) != nil || !reads(o.arg.op, i, found[:]) {
			return 0, false
		}
		room := b[0] + 4*precisionFor(o.arg.op.numeric()).v*abs(y[0])
		if y[0] == 0 || room > 1e-3*abs(y[0]) {
			continue
		}
		g := found[0] / y[0]
		if f == 0 {
			f = g
		}
		if ok = abs(g-f) <= abs(f)*(1e-5+2*room/abs(y[0])); !ok {
			return 0, false
		}
	}
	return rounded4(f), ok && abs(f-1) > 1e-4 && f != 0
}

func (m *gathering) factorOfStatistics(o *gathered) (float64, bool) {
	x, known := statsOf(o.arg)
	s, certain := m.span(o.arg, o.parts)
	if !known || !certain || s.norm.hi-s.norm.lo > 1e-3*s.norm.hi || s.norm.hi == 0 {
		return 0, false
	}
	f := x[3] / s.norm.hi
	for i, r := range []interval{s.max, s.min} {
		if abs(x[i]-f*r.hi) > 1e-3*abs(f*r.hi) {
			return 0, false
		}
	}
	return rounded4(f), abs(f-1) > 1e-3
}

// rounded4 is a number with four digits.
func rounded4(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(abs(v)))-3)
	return math.Round(v/unit) * unit
}
