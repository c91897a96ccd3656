package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// Collectives of recordings of calls, judged: every output of every rank against what the inputs of
// all ranks come to.
//
// Where only statistics were recorded, the stretches that an output is made of ([stretch]) say in
// which range the extremes, the mean and the norm of a result must lie ([extent]), which can accuse
// and never clear.

// check judges the outputs of all ranks.
func (m *meetingOfCalls) check() (out []Finding) {
	if m.missing >= 0 {
		why := because(NoRank, m.missing)
		if len(m.ranks) < 2 {
			why = because(OneRank, len(m.ranks))
		}
		return refused(m.blanks(), why)
	}
	m.prepare()
	var whole, wrong []*gathered
	for i := range m.outs {
		if o := &m.outs[i]; o.why == nil && m.filed(o) {
			whole = append(whole, o)
		}
	}
	if len(whole) > 0 {
		m.hold(whole, false)
	}
	for i := range m.outs {
		switch o := &m.outs[i]; {
		case o.why != nil:
		case o.j != nil && o.j.beyond > 0, o.j == nil && m.known(o) && !m.inRange(o, m.span(o.arg, m.made(o))):
			wrong = append(wrong, o)
		}
	}
	if len(wrong) > 0 && (m.api == "all_reduce" || m.api == "reduce") {
		m.meetGuests()
	}
	m.explain(wrong)
	for i := range m.outs {
		o := &m.outs[i]
		f := m.calls[o.member].blank(o.arg.v, o.index)
		if o.why != nil {
			unknown(&f)
			f.fail(o.why, "")
		} else {
			m.word(o, slices.Contains(wrong, o), &f)
		}
		out = append(out, f)
	}
	m.alone(out)
	m.conserved(out)
	return m.unexplained(out)
}

// filed tells whether the elements of an output and of all that it is made of were recorded.
func (m *meetingOfCalls) filed(o *gathered) bool {
	return filed(o.arg) && !slices.ContainsFunc(m.made(o), func(s stretch) bool {
		if s.from != everyone {
			return !filed(m.in(s.from, s.slot))
		}
		return slices.ContainsFunc(inOrder(len(m.members)), func(r int) bool { return !filed(m.in(r, s.slot)) })
	})
}

// word says what was found of an output.
func (m *meetingOfCalls) word(o *gathered, wrong bool, f *Finding) {
	if j := o.j; j != nil {
		f.fill(j)
		f.Looked = j.looked
		switch {
		case wrong:
		case j.looked == 0:
			unknown(f, because(Empty))
		// The bound is so wide that an error as large as the number would pass.
		case j.coarse > 0:
			unknown(f, because(Coarse, j.coarse, j.looked))
		case j.judged == 0:
			unknown(f, because(NotJudged, j.looked))
		default:
			f.Verdict = OK
		}
	} else if !wrong {
		left := statisticsLeft(o.arg)
		if m.known(o) {
			left = because(InRange)
		}
		unknown(f, because(NoElements, o.arg.place), left)
	}
	if !wrong {
		return
	}
	if m.underway(o) {
		unknown(f, because(InFlight))
		return
	}
	f.Verdict = Wrong
	f.Reasons = append(f.Reasons, m.request(o))
	if o.j != nil {
		f.Reasons = append(f.Reasons, because(Beyond, o.j.beyond, o.j.looked))
	} else {
		x, _ := statsOf(o.arg)
		which, is, _ := m.span(o.arg, m.made(o)).allows(x)
		f.Reasons = append(f.Reasons, because(OutOfRange, statNames[which], x[which], is.lo, is.hi))
	}
	if o.cause.Kind != "" {
		f.Reasons = append(f.Reasons, o.cause.Reason)
	}
}

// known tells whether there are statistics of an output and of what it is made of.
func (m *meetingOfCalls) known(o *gathered) bool {
	_, known := statsOf(o.arg)
	return known && m.span(o.arg, m.made(o)) != nil
}

// request is what was asked for: all_reduce with sum, and of which ranks.
func (m *meetingOfCalls) request(o *gathered) result.Reason {
	asked := m.api
	if op := m.made(o)[0].op; op != "" {
		asked += " (" + op + ")"
	}
	return because(Gathered, asked, ranksText(m.ranks))
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

// alone finds the outputs of an all_reduce that are within their bounds and not those of the others.
func (m *meetingOfCalls) alone(out []Finding) {
	var outs []*gathered
	for i := range m.outs {
		if outs = append(outs, &m.outs[i]); m.api != "all_reduce" || m.outs[i].j == nil || m.outs[i].index > 0 || out[i].Verdict != OK {
			return
		}
	}
	m.apart(outs)
	for i, o := range outs {
		if o.differs {
			out[i].Verdict = Wrong
			out[i].Reasons = append(out[i].Reasons, m.request(o), because(RankDiffers, o.differing))
		}
	}
}

// unexplained takes back what was said of all ranks alike, where nothing explains it and nobody
// knows how many ranks there are: others may have taken part.
func (m *meetingOfCalls) unexplained(out []Finding) []Finding {
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

// spanned is what the statistics of outputs depend on: what they are made of, of which the first part
// tells.
type spanned struct {
	n     int64
	elem  dtype.Type
	first stretch
	parts int
}

// span is what the statistics of an output may be that is made of parts, nil if the statistics of
// these tell nothing; many ranks ask for the same.
func (m *gathering) span(out *argument, parts []stretch) *extent {
	key := spanned{elementsOfArgument(out), out.v.Elem, parts[0], len(parts)}
	s, known := m.spans[key]
	if !known {
		s = m.spanOf(out, parts, parts[0].op, inOrder(len(m.members)))
		if m.spans == nil {
			m.spans = map[spanned]*extent{}
		}
		m.spans[key] = s
	}
	return s
}

// spanOf is that of a reduction op of some members.
func (m *gathering) spanOf(out *argument, parts []stretch, op string, list []int) *extent {
	n := float64(elementsOfArgument(out))
	p := precisionFor(out.v.Elem)
	// A recorder sums in the type or in float32, in any order. Pairwise sums of n numbers are off
	// by log₂ n units; 4 and the factor are for its blocks and the root.
	unit := (4 + 2*math.Log2(max(1, n))) * max(p.v, u32)
	s := &extent{interval{math.Inf(-1), math.Inf(-1)}, interval{math.Inf(1), math.Inf(1)}, interval{}, interval{}}
	squares, mean, size := interval{}, interval{}, 0.0
	for _, part := range parts {
		of, whole := extent{}, true
		from := list
		if part.from != everyone {
			from = []int{part.from}
		}
		for k, r := range from {
			a := m.in(r, part.slot)
			x, known := statsOf(a)
			if !known {
				return nil
			}
			whole = whole && elementsOfArgument(a) == part.n
			one := extent{interval{x[0], x[0]}, interval{x[1], x[1]}, interval{x[2], x[2]}, interval{x[3], x[3]}}
			size += x[3]
			if k == 0 {
				of = one
				continue
			}
			of = together(op, of, one)
		}
		count := float64(len(from))
		if op == "mean" {
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
	room := 0.0
	if op != "" {
		room = float64(len(list)) * max(p.v, u32)
	}
	grow := func(r *interval, by float64) { r.lo, r.hi = r.lo-by, r.hi+by }
	peak := max(abs(s.max.hi), abs(s.min.lo), abs(s.max.lo), abs(s.min.hi))
	grow(&s.max, room*peak)
	grow(&s.min, room*peak)
	grow(&s.mean, (unit+room)*size/math.Sqrt(max(n, 1)))
	order := 2 * msprobe.NormOrder(elementsOfArgument(out)) // of the output, and of its parts
	grow(&s.norm, (unit+room+order)*max(s.norm.hi, size))
	return s
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

// inRange tells whether the statistics of an output are known to be within an extent.
func (m *gathering) inRange(o *gathered, s *extent) bool {
	x, known := statsOf(o.arg)
	if s == nil || !known {
		return false
	}
	_, _, ok := s.allows(x)
	return ok
}

// partly tells that an output is in part what the rank had there before: not all of it may have
// been written when the recorder looked. Of statistics the largest or smallest element tells; of a
// transfer both have to be of what was sent or was there.
func (m *meetingOfCalls) partly(o *gathered) bool {
	out, known := statsOf(o.arg)
	first := m.made(o)[0]
	before := m.members[o.member].args["tensor"]
	if m.transfer && o.j != nil && filed(before) {
		idx, found := worstOf(o.j, mostLooked)
		if was := m.elements(o.member, before, idx, false); was != nil {
			return equal(was, found)
		}
	}
	if m.transfer {
		was, certain := statsOf(before)
		sent, sends := statsOf(m.in(first.from, first.slot))
		return known && certain && sends && (out[0] == was[0] || out[0] == sent[0]) && (out[1] == was[1] || out[1] == sent[1])
	}
	in, certain := statsOf(m.in(o.member, first.slot))
	return known && certain && (first.from == everyone || first.from == o.member) && (in[0] == out[0] || in[1] == out[1])
}

// underway tells of a wrong output that its call may not have been done. What an asynchronous call
// gave may be in any state between its inputs and what it should be, with some ranks left out of
// some elements: only what no such state looks like is wrong.
func (m *meetingOfCalls) underway(o *gathered) bool {
	if c := m.calls[o.member]; !c.Parsed.Begins(c.Argument) {
		return false
	}
	why := o.cause.Kind
	return m.partly(o) || why == OwnInput || !m.transfer && !slices.Contains([]result.Kind{OtherReduction, CountedTwice, OtherPiece, Scaled}, why)
}

// conserved looks at what the outputs of all ranks have in common with all inputs, where each
// output is made of slices whose statistics nobody knows: their sum, and the largest and smallest
// element.
func (m *meetingOfCalls) conserved(out []Finding) {
	if !slices.Contains([]string{"reduce_scatter_tensor", "_reduce_scatter_base", "all_to_all_single"}, m.api) {
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
		if c := m.calls[o.member]; o.j != nil || c.Parsed.Begins(c.Argument) || !add(1, o.arg) {
			return
		}
		op, some, p = m.made(o)[0].op, append(some, i), precisionFor(o.arg.v.Elem)
	}
	for k := range m.calls {
		if !add(0, m.members[k].args["in"]) {
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
			out[i].Reasons = append(out[i].Reasons, m.request(&m.outs[i]), because(NotConserved, total[1], want))
		}
	}
}

// factor is what all of an output is multiplied by, where it is neither 1 nor too small to tell.
// The first 256 elements are looked at, but for those whose bound is above a thousandth; all of
// them must have the same factor within 1e-5 and their bounds.
func (m *gathering) factor(o *gathered) (f float64, ok bool) {
	if o.j == nil {
		return m.factorOfStatistics(o)
	}
	const few = 256
	n := min(elementsOfArgument(o.arg), few)
	y, b, x, found := make([]float64, n), make([]float64, n), make([]float64, n), m.elements(o.member, o.arg, inOrder(n), false)
	var batch []portion
	for _, s := range m.made(o) {
		if n := min(s.n, n-s.lo); n > 0 {
			batch = append(batch, portion{of: []*gathered{o}, stretch: &s, n: n, at: s.lo})
		}
	}
	m.expect(batch, y, b, x)
	if found == nil || slices.ContainsFunc(batch, func(p portion) bool { return p.err != nil }) {
		return 0, false
	}
	for i := range n {
		room := b[i] + 4*precisionFor(o.arg.v.Elem).v*abs(y[i])
		if y[i] == 0 || room > 1e-3*abs(y[i]) {
			continue
		}
		g := found[i] / y[i]
		if f == 0 {
			f = g
		}
		if ok = abs(g-f) <= abs(f)*(1e-5+2*room/abs(y[i])); !ok {
			return 0, false
		}
	}
	return rounded4(f), ok && abs(f-1) > 1e-4 && f != 0
}

func (m *gathering) factorOfStatistics(o *gathered) (float64, bool) {
	x, known := statsOf(o.arg)
	s := m.span(o.arg, m.made(o))
	if !known || s == nil || s.norm.hi-s.norm.lo > 1e-3*s.norm.hi || s.norm.hi == 0 {
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
