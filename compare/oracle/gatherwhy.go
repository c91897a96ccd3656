package oracle

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"precision/compare/result"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/order"
)

// Why outputs of a collective are wrong: what ranks may have done instead, one left out or counted
// twice, another group, the piece of another rank, a mean for a sum, old data, a factor. Of these
// the one that gives what was found is told. Where two members explain the same it stays open which
// it was.
//
// Of elements, those beyond their bounds are looked at, of each wrong output some hundreds at most,
// with the same places of every input, of this step and of an earlier one where it was recorded;
// one element tells most causes apart, and the others have to agree. Where only statistics were
// recorded, a cause has to give a range that they are in. Outputs that are wrong alike are looked
// into once, and a recording is opened as often for all outputs as it would be for one.

// cause is what explains an output, and the member whose part it is about, -1 where no one's.
type cause struct {
	result.Reason
	member int
}

// stale is the kind of old data, of the output or of a member's part. Recordings of calls are not
// asked for it.
const stale result.Kind = "stale"

// suspect is what is wrong, alike, with outputs that are made of the same.
type suspect struct {
	outs []*gathered
	part stretch // the first that is wrong
	// idx are its wrong elements, in their order, and found what they are; none where statistics tell.
	idx   []int64
	found []float64
	look  *judge
	at    int // in gathering.rows: those of members, of guests, and old ones of the members
	hits  int
	cause cause
}

const (
	// Of an output mostLooked wrong elements are looked at, or, where many ranks have wrong ones of
	// their own, at least fewestLooked; mostKept is how many elements are kept of all ranks, 32 MB.
	mostLooked   = 128
	fewestLooked = 8
	mostKept     = 1 << 22
	// mostOmissions bounds for how many outputs each member is left out in turn where statistics
	// tell, which costs the square of their number: the ranks of a sound collective have one output,
	// and a wrong one is wrong in few ways.
	mostOmissions = 8
)

// explain finds the causes of wrong outputs.
func (m *gathering) explain(wrong []*gathered) {
	var moved, reduced []*suspect
	classes := m.classes(wrong)
	for _, of := range classes {
		known := map[string]*suspect{} // by what was found
		for _, o := range of {
			o.cause.member = -1
			x, key := m.suspect(o, max(fewestLooked, min(mostLooked, mostKept/(len(m.members)*len(classes)))))
			switch same := known[key]; {
			case x == nil:
			case same != nil:
				same.outs = append(same.outs, o)
			case x.part.op == "":
				known[key], moved = x, append(moved, x)
			default:
				known[key], reduced = x, append(reduced, x)
			}
		}
	}
	m.whyMoved(moved)
	m.whyReduced(reduced)
	for _, x := range append(moved, reduced...) {
		if rest := x.rest(); m.scales && len(rest) > 0 {
			if f, ok := m.factor(rest[0]); ok {
				x.say(cause{because(Scaled, f), -1})
			}
		}
	}
}

// suspect is what is wrong with an output, and what tells it from others of the same parts; nil if
// it is known to be old.
func (m *gathering) suspect(o *gathered, most int) (x *suspect, key string) {
	parts := m.made(o)
	x = &suspect{outs: []*gathered{o}, part: parts[0]}
	if o.j == nil {
		was, _ := statsOf(o.arg)
		return x, string(appendBits(nil, was[:]))
	}
	idx, found := worstOf(o.j, most)
	if equal(m.elements(o.member, o.arg, idx, true), found) {
		o.cause.Kind = stale
		return nil, ""
	}
	at := 0
	for parts[at].lo+parts[at].n <= idx[0] {
		at++
	}
	x.part = parts[at]
	bits := []byte(itoa(at))
	for k, i := range idx {
		if i < x.part.lo+x.part.n {
			x.idx, x.found = append(x.idx, i-x.part.lo), append(x.found, found[k])
			bits = appendBits(bits, []float64{float64(i), found[k]})
		}
	}
	return x, string(bits)
}

// rest are the outputs without a cause.
func (x *suspect) rest() []*gathered {
	return slices.DeleteFunc(slices.Clone(x.outs), func(o *gathered) bool { return o.cause.Kind != "" })
}

// say has the outputs tell a cause that have none of their own.
func (x *suspect) say(c cause) {
	for _, o := range x.rest() {
		o.cause = c
	}
}

// open are the suspects that have outputs without a cause.
func open(list []*suspect) []*suspect {
	return slices.DeleteFunc(slices.Clone(list), func(x *suspect) bool { return x.hits > 0 || len(x.rest()) == 0 })
}

// hit notes a cause that fits: of one rank it may fit more than once.
func (m *gathering) hit(x *suspect, kind result.Kind, member int) {
	rank := m.rank(member)
	if x.hits == 0 || x.cause.member != member && (rank < 0 || m.rank(x.cause.member) != rank) {
		x.hits++
	}
	x.cause = cause{because(kind, rank), member}
}

// concluded has the outputs tell the cause that fits if it is the only one.
func (x *suspect) concluded() {
	if x.hits == 1 {
		x.say(x.cause)
	}
}

// ask is which elements of a tensor of a member are looked at, from one on, and what they are: nil if
// they cannot be read, as beyond the end of their tensor.
type ask struct {
	member int
	arg    *argument
	begin  int64
	idx    []int64
	y      []float64
}

// answer reads what is asked, of one tensor after the other.
func (m *gathering) answer(asks []ask, old bool) {
	for len(asks) > 0 && (m.earlier || !old) {
		n, count := 1, len(asks[0].idx)
		for ; n < len(asks) && (asks[n].arg == asks[0].arg || asks[n].arg == nil); n++ {
			count += len(asks[n].idx)
		}
		some := asks[:n]
		asks = asks[n:]
		if some[0].arg == nil || count == 0 {
			continue
		}
		read := func(o *operand) {
			places, y := grow(m.places, count)[:0], make([]float64, count)
			m.places = places
			for i := range some {
				if a := &some[i]; a.arg != nil && len(a.idx) > 0 && a.begin+a.idx[len(a.idx)-1] < o.view.Len() {
					a.y = y[len(places):][:len(a.idx):len(a.idx)]
					for _, i := range a.idx {
						places = append(places, a.begin+i)
					}
				}
			}
			o.At(places, y[:len(places)], nil)
		}
		if must.Try(func() {
			if old {
				m.before(some[0].arg, read)
			} else {
				m.read(some[0].member, some[0].arg, false, read)
			}
		}) != nil {
			for i := range some {
				some[i].y = nil
			}
		}
	}
}

// room is that for so many.
func (m *gathering) room(n int) []ask {
	m.asks = grow(m.asks, n)
	clear(m.asks)
	return m.asks
}

// elements are those of a tensor at some places, nil if they cannot be read.
func (m *gathering) elements(member int, a *argument, idx []int64, old bool) []float64 {
	asks := []ask{{member, a, 0, idx, nil}}
	m.answer(asks, old)
	return asks[0].y
}

func equal(a, b []float64) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return len(a) == len(b)
}

// fits tells whether a reduction of count numbers gives what was found at a place: y is what they
// come to and size what their sizes do. They may have been added to those of all ranks. A mean without
// one of R ranks may be divided by R or by R − 1.
func (m *gathering) fits(x *suspect, op string, count, i int, y, size float64) bool {
	v, b, j := [1]float64{y}, [1]float64{size}, x.look
	if op == "sum" || op == "prod" {
		count = max(count, len(m.members))
	}
	roomOf(op, count, j.p, v[:], b[:])
	j.exact, j.beyond, j.judged, j.misses = roundless[op], 0, 0, j.misses[:0]
	if room := j.bound(v[0], b[0]); !(abs(x.found[i]-v[0]) > room && abs(v[0])+room < j.p.max && x.found[i] != 0) { // most are far off
		j.element(x.idx[i], x.found[i], v[0], b[0])
	}
	return j.judged > 0 && j.beyond == 0 || op == "mean" && count != len(m.members) && m.fits(x, op, len(m.members), i, y, size)
}

// by tells whether some of the sources give the output by a reduction.
func (m *gathering) by(x *suspect, op string, list []int) bool {
	if x.idx == nil {
		return m.inRange(x.outs[0], m.spanOf(x.outs[0].arg, []stretch{x.part}, op, list))
	}
	for i := range x.found {
		y, size := neutral(op), 0.0
		for _, r := range list {
			v := m.rows[r][x.at+i]
			y, size = combine(op, y, v), size+abs(v)
		}
		if !m.fits(x, op, len(list), i, y, size) {
			return false
		}
	}
	return true
}

// whyReduced looks for other results of a reduction.
func (m *gathering) whyReduced(list []*suspect) {
	size, omissions := len(m.members), 0
	own := func(x *suspect) {
		for _, o := range x.outs {
			if o.cause.Kind == "" && m.by(x, "", []int{o.member}) {
				o.cause = cause{because(OwnInput), -1}
			}
		}
	}
	for rest := list; len(rest) > 0; {
		// As many at once as there is room for what was read of them.
		n, kept := 0, 0
		for n < len(rest) && (n == 0 || (kept+len(rest[n].idx))*size <= mostKept) {
			rest[n].at, rest[n].look = kept, newJudge(rest[n].outs[0].arg.v.Elem, false)
			kept += len(rest[n].idx)
			n++
		}
		some := rest[:n]
		rest = rest[n:]
		m.rows = make([][]float64, 2*size+len(m.guests))
		if kept > 0 {
			for r := range size + len(m.guests) {
				if m.rows[r] = m.elementsOf(some, r, false); r < size {
					m.rows[size+len(m.guests)+r] = m.elementsOf(some, r, true)
				}
			}
		}
		for _, x := range some {
			if x.idx == nil {
				omissions++
			} else if slices.ContainsFunc(m.rows[:size], func(row []float64) bool { return row == nil }) {
				continue // not all can be read
			}
			if len(x.outs) == 1 { // what ranks have in common is none of their own
				own(x)
			}
			if len(x.rest()) > 0 {
				m.otherwise(x, x.idx != nil || omissions <= mostOmissions)
				own(x)
			}
		}
	}
	m.rows = nil
	m.otherPieces(open(list))
}

// elementsOf are those of suspects in what a source brought in; nil if some cannot be read.
func (m *gathering) elementsOf(list []*suspect, source int, old bool) (y []float64) {
	asks := m.room(len(list))
	for i, x := range list {
		if a := m.in(source, x.part.slot); source < len(m.members) || elementsOfArgument(a) == x.part.n {
			asks[i] = ask{source, a, x.part.begin, x.idx, nil}
		}
	}
	m.answer(asks, old)
	for i, x := range list {
		if len(asks[i].y) < len(x.idx) {
			return nil
		}
		y = append(y, asks[i].y...)
	}
	return y
}

// otherwise looks for another reduction, for the one member whose part is counted otherwise, if told
// to try each, and for another group.
func (m *gathering) otherwise(x *suspect, members bool) {
	op, size := x.part.op, len(m.members)
	for _, other := range m.others {
		if other != op && (other != "prod" || x.idx != nil) && m.by(x, other, inOrder(size)) { // statistics of products may be anything
			x.say(cause{because(OtherReduction, other), -1})
			return
		}
	}
	if members {
		m.counted(x)
	}
	api := m.members[x.outs[0].member].api
	if x.concluded(); x.hits > 0 || x.idx == nil || !m.scales || api != "all_reduce" && api != "reduce" {
		return
	}
	for _, o := range x.rest() {
		if ranks := m.otherGroup(x, o); ranks != nil {
			o.cause = cause{because(OtherGroup, ranksText(ranks)), -1}
		}
	}
}

// counted looks for the one member whose part is missing, is there twice, or is an old one. What
// elements come to without a rank is what those before it and those behind it come to, so that it
// takes 2R additions for all ranks, not R².
func (m *gathering) counted(x *suspect) {
	op, size, n := x.part.op, len(m.members), len(x.idx)
	before, behind, sizes := make([]float64, n), make([]float64, (size+1)*n), make([]float64, n)
	fill(before, neutral(op))
	fill(behind[size*n:], neutral(op))
	for r := size - 1; r >= 0; r-- {
		for i := range n {
			sizes[i] += abs(m.rows[r][x.at+i])
			behind[r*n+i] = combine(op, m.rows[r][x.at+i], behind[(r+1)*n+i])
		}
	}
	// try hits if a member's part is replaced by some more sources.
	try := func(kind result.Kind, r int, more ...int) bool {
		if x.idx == nil && !m.by(x, op, append(slices.Delete(inOrder(size), r, r+1), more...)) {
			return false
		}
		for i := range n {
			y, size := combine(op, before[i], behind[(r+1)*n+i]), sizes[i]
			for _, k := range more {
				y, size = combine(op, y, m.rows[k][x.at+i]), size+abs(m.rows[k][x.at+i])
			}
			if !m.fits(x, op, len(m.members)-1+len(more), i, y, size) {
				return false
			}
		}
		m.hit(x, kind, r)
		return true
	}
	for r := 0; r < size && x.hits < 2; r++ {
		old := len(m.rows) - size + r
		if !try(LeftOut, r) && !try(CountedTwice, r, r, r) && m.rows[old] != nil {
			try(stale, r, old)
		}
		for i := range n {
			before[i] = combine(op, before[i], m.rows[r][x.at+i])
		}
	}
}

// mostSubsets bounds of how many ranks any of them may be another group; of more ranks only such
// groups are tried as people make: neighbours, and equal strides.
const mostSubsets = 6

// otherGroup looks for the ranks whose inputs a reduction is made of, if these are not those of its
// group: some of them, or with those that met in other groups at the same time. Elements have to
// tell, and no two groups may fit.
func (m *gathering) otherGroup(x *suspect, o *gathered) (ranks []int) {
	of := map[int]int{} // sources by rank
	for k := range len(m.members) + len(m.guests) {
		if m.rows[k] != nil {
			of[m.rank(k)] = k
		}
	}
	met := slices.Sorted(slices.Values(m.allRanks()))
	for _, group := range groupsOf(slices.Sorted(maps.Keys(of)), met) {
		if !slices.Contains(group, m.rank(o.member)) || slices.Equal(group, met) {
			continue
		}
		if m.by(x, x.part.op, each.Of(group, func(r int) int { return of[r] })) {
			if ranks != nil {
				return nil
			}
			ranks = group
		}
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
	for _, list := range [][]int{all, met} {
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

// otherPieces looks for the rank whose piece of the result of a reduction an output is.
func (m *gathering) otherPieces(list []*suspect) {
	var pieces []*gathered
	if len(list) > 0 {
		pieces = each.Of(m.classes(m.reductions(list[0])), func(of []*gathered) *gathered { return of[0] })
	}
	if len(pieces) < 2 {
		return
	}
	// The elements of all suspects in a piece, and what these are in the pieces of all ranks.
	var places []int64
	for _, x := range list {
		x.idx = x.idx[:min(len(x.idx), max(fewestLooked, mostKept/(len(m.members)*len(list))))]
		x.found = x.found[:len(x.idx)]
		places = append(places, x.idx...)
	}
	places = sortedUnique(places)
	parts := each.Of(pieces, func(o *gathered) stretch { return m.made(o)[0] })
	sums, sizes := make([]float64, len(parts)*len(places)), make([]float64, len(parts)*len(places))
	fill(sums, neutral(parts[0].op))
	readable := true
	for r := range m.members {
		asks := each.Of(parts, func(s stretch) ask { return ask{r, m.in(r, s.slot), s.begin, places, nil} })
		m.answer(asks, false)
		for d, a := range asks {
			readable = readable && len(a.y) == len(places)
			for i, v := range a.y {
				sizes[d*len(places)+i] += abs(v)
				sums[d*len(places)+i] = combine(parts[d].op, sums[d*len(places)+i], v)
			}
		}
	}
	for _, x := range list {
		for d, s := range parts {
			fits := readable && s != x.part && s.n == x.part.n
			for i := 0; i < len(x.idx) && fits; i++ {
				k, _ := slices.BinarySearch(places, x.idx[i])
				fits = m.fits(x, s.op, len(m.members), i, sums[d*len(places)+k], sizes[d*len(places)+k])
			}
			if fits && (x.idx != nil || m.inRange(x.outs[0], m.span(x.outs[0].arg, []stretch{s}))) {
				m.hit(x, OtherPiece, pieces[d].member)
			}
		}
		x.concluded()
	}
}

// reductions are the outputs that are pieces of the same reduction as a suspect.
func (m *gathering) reductions(x *suspect) (list []*gathered) {
	for i := range m.outs {
		if o := &m.outs[i]; o.why == nil && o.index == x.outs[0].index && m.made(o)[0].op == x.part.op && m.made(o)[0].n == x.part.n {
			list = append(list, o)
		}
	}
	return list
}

// origin is a piece that may stand in place of the right one of a suspect, and whose it is.
type origin struct {
	*suspect
	stretch
	whose int
}

// whyMoved looks for another origin of the elements of a piece: that of another rank in its place,
// or the one that was meant for another rank.
func (m *gathering) whyMoved(list []*suspect) {
	list = slices.DeleteFunc(slices.Clone(list), func(x *suspect) bool { return x.idx == nil && len(m.made(x.outs[0])) > 1 })
	for _, x := range list {
		places := each.Of(x.idx, func(i int64) int64 { return x.part.begin + i })
		if x.idx != nil && equal(m.elements(x.part.from, m.in(x.part.from, x.part.slot), places, true), x.found) {
			x.say(cause{result.Reason{Kind: stale}, x.part.from})
		}
	}
	list = open(list)
	for r := range len(m.members) + len(m.guests) {
		m.lookThrough(list, r)
	}
	for _, x := range list {
		x.concluded()
	}
}

// mostOrigins is how many are looked at at once.
const mostOrigins = 1 << 14

// lookThrough looks for suspects in what one member, or a guest, brought in.
func (m *gathering) lookThrough(list []*suspect, r int) {
	all := m.origins[:0]
	add := func(x *suspect, s stretch, whose int) {
		if all = append(all, origin{x, s, whose}); len(all) == mostOrigins {
			m.tryOrigins(all, r)
			all = all[:0]
		}
	}
	sent := map[slot][]stretch{}
	for _, x := range list {
		if r != x.part.from {
			add(x, m.inPlace(x, r), r)
		}
		own := slices.ContainsFunc(x.outs, func(o *gathered) bool { return o.member == r })
		if r >= len(m.members) || !own && r != x.part.from {
			continue
		}
		if sent[x.part.slot] == nil {
			sent[x.part.slot] = m.sent(r, x.part.slot)
		}
		for to, s := range sent[x.part.slot] {
			if s.lo = x.part.lo; s != x.part && s.n == x.part.n {
				add(x, s, to)
			}
		}
		if a := m.in(r, slot{"tensor", 0}); own && r != x.part.from && a.tensor() { // what was there before
			add(x, stretch{x.part.lo, x.part.n, slot{"tensor", 0}, 0, r, ""}, r)
		}
	}
	m.tryOrigins(all, r)
	m.origins = all
}

// tryOrigins notes which of them fit.
func (m *gathering) tryOrigins(all []origin, r int) {
	for _, most := range []int{1, mostLooked} { // one element tells most apart
		asks := m.room(len(all))
		for i, c := range all {
			switch a := m.in(r, c.slot); {
			case elementsOfArgument(a) < c.begin+c.n:
			case c.idx != nil:
				asks[i] = ask{r, a, c.begin, c.idx[:min(most, len(c.idx))], nil}
			case m.inRange(c.outs[0], m.span(c.outs[0].arg, []stretch{c.stretch})):
				asks[i].y = []float64{}
			}
		}
		m.answer(asks, false)
		fits := all[:0]
		for i, c := range all {
			if y := asks[i].y; y != nil && equal(y, c.found[:len(y)]) {
				fits = append(fits, c)
			}
		}
		all = fits
	}
	for _, c := range all {
		for _, o := range c.outs {
			if o.member == r && r != c.part.from && o.cause.Kind == "" {
				o.cause = cause{because(OwnInput), -1}
			}
		}
		if len(c.rest()) > 0 {
			m.hit(c.suspect, OtherPiece, c.whose)
		}
	}
}

// inPlace is what a member has in place of the right piece of a suspect.
func (m *gathering) inPlace(x *suspect, r int) stretch {
	s := x.part
	if s.from = r; r < len(m.members) && m.members[r].api == "all_to_all_single" {
		var n int64
		if s.begin, n = m.share(r, x.outs[0].member); n != s.n {
			s.begin = math.MaxInt64 - s.n // of another length: nowhere
		}
	}
	return s
}

// sent is what a member has for each of the others, by their places.
func (m *gathering) sent(r int, x slot) (list []stretch) {
	list = []stretch{}
	switch m.members[r].api {
	case "all_to_all", "scatter":
		for at, a := range listOf(m.members[r].args[x.name]) {
			list = append(list, stretch{0, elementsOfArgument(a), slot{x.name, at}, 0, r, ""})
		}
	case "all_to_all_single":
		for k := range m.members {
			begin, n := m.share(r, k)
			list = append(list, stretch{0, n, x, begin, r, ""})
		}
	}
	return list
}

// worstOf are places of wrong elements in their order, and what was found there: of the worst, and
// of equally bad ones the first, no more than so many.
func worstOf(j *judge, most int) (idx []int64, found []float64) {
	if len(j.misses) == 0 {
		return nil, nil
	}
	ratios := each.Of(j.misses, func(x miss) float64 { return x.ratio })
	slices.Sort(ratios)
	ratios = ratios[max(0, len(ratios)-most):]
	least, equal := ratios[0], 0
	for equal < len(ratios) && cmp.Compare(ratios[equal], least) == 0 {
		equal++
	}
	var worst []miss
	for _, x := range j.misses {
		c := cmp.Compare(x.ratio, least)
		if c == 0 {
			equal--
		}
		if c > 0 || c == 0 && equal >= 0 {
			worst = append(worst, x)
		}
	}
	order.Stable(worst, func(a, b miss) int { return cmp.Compare(a.i, b.i) })
	for _, x := range worst {
		idx, found = append(idx, x.i), append(found, x.found)
	}
	return idx, found
}
