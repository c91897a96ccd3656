package oracle

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/order"
)

// Why outputs of a collective are wrong: the elements that are beyond their bounds are held against
// what ranks may have done instead, and point-to-point transfers, the simplest meetings of all, are
// judged and explained here, too.
//
// All of it works on single elements: of each wrong output some hundreds to thousands, and the same
// places of every input, of this step and of an earlier one where it was recorded. A cause has to
// give every one of them to the bit or within the bound, and counts only if no other cause does;
// two members that explain the same leave it open which it was.

// why looks for what explains the wrong elements of outputs: input of a rank left out, taken twice,
// or from an earlier step; the rank's own input; the mean for the sum; the piece of another rank;
// the output of an earlier step. A cause counts if it is the only one that gives all the elements
// that were looked at. Outputs that are wrong alike are looked into once, and a recording is opened
// as often for all outputs as it would be for one.
func (m *meeting) why(group, wrong []int, t int, list []*outcome, p precisionOf) []MetFault {
	in, out := m.sizes(group[0], t)
	w := &search{meeting: m, group: group, t: t, p: p, in: in, out: out}
	faults := make([]MetFault, len(wrong))
	most := max(fewestLooked, min(mostLooked, mostKept/(len(group)*len(wrong))))
	if m.alike() {
		most = mostLooked // what is alike is looked at once
	}
	for i, k := range wrong {
		j := list[k].judge
		faults[i] = MetFault{Kind: MetBeyond, Rank: m.ends[group[k]].Rank, Output: t, Other: -1, Elements: j.beyond, Of: j.looked, Expected: j.value, Found: j.found, Bound: j.b}
		idx, found := worstOf(j, most)
		if len(idx) == 0 {
			continue
		}
		if equal(m.earlier(group[k], true, t, idx), found) {
			faults[i].Kind = MetStale
			continue
		}
		w.add(k, idx, found, &faults[i])
	}
	// As many at once as there is room for what was read of them.
	for rest := w.suspects; len(rest) > 0; {
		n, kept := 1, len(rest[0].idx)
		for n < len(rest) && (kept+len(rest[n].idx))*len(group) <= mostKept {
			kept += len(rest[n].idx)
			n++
		}
		var some []*suspect
		some, rest = rest[:n], rest[n:]
		if reduces[m.kind] {
			w.reduced(some)
		} else {
			w.copied(some)
		}
	}
	for i := range faults {
		if f := &faults[i]; f.Other >= 0 {
			f.Other = m.ends[group[f.Other]].Rank
		}
	}
	return faults
}

// Of an output mostLooked wrong elements are looked at, or, where many ranks have wrong ones of
// their own, at least fewestLooked; mostKept is how many elements are kept of all ranks, 32 MB.
const (
	mostLooked   = 128
	fewestLooked = 8
	mostKept     = 1 << 22
)

// search looks for the causes of the wrong outputs of a group.
type search struct {
	*meeting
	group    []int
	t        int
	p        precisionOf
	in, out  int64
	suspects []*suspect
	known    map[string]*suspect // by what is wrong and what was found there
}

// suspect is what is wrong in the outputs of members: which elements, and what was found.
type suspect struct {
	members []int
	faults  []*MetFault
	idx     []int64
	found   []float64
	list    []piece // of the first member

	pos   []int // of the elements among those that were read
	hits  int
	kind  string
	other int
}

// add notes the wrong elements of member k; those that are wrong alike and made of the same are one
// suspect.
func (w *search) add(k int, idx []int64, found []float64, f *MetFault) {
	var key []byte
	if !w.alike() {
		key = binary.LittleEndian.AppendUint64(key, uint64(k))
	}
	for i, at := range idx {
		key = appendBits(binary.LittleEndian.AppendUint64(key, uint64(at)), found[i:i+1])
	}
	s := w.known[string(key)]
	if s == nil {
		s = &suspect{idx: idx, found: found, list: w.made(len(w.group), k, w.in, w.out), kind: MetBeyond, other: -1}
		if w.known == nil {
			w.known = map[string]*suspect{}
		}
		w.known[string(key)] = s
		w.suspects = append(w.suspects, s)
	}
	s.members, s.faults = append(s.members, k), append(s.faults, f)
}

// say has the faults of a suspect tell a cause, where none of theirs alone is known.
func (s *suspect) say(kind string, other int) {
	for _, f := range s.faults {
		if f.Kind == MetBeyond {
			f.Kind, f.Other = kind, other
		}
	}
}

// hit notes a cause that fits: of one member it may fit more than once.
// Two members that explain the same leave it open which it was.
func (s *suspect) hit(kind string, other int) {
	if s.hits == 0 || s.other != other {
		s.hits++
	}
	s.kind, s.other = kind, other
}

// concluded is what there is to say after all members were tried: a cause counts if it is the only
// one.
func (s *suspect) concluded() {
	if s.hits == 1 {
		s.say(s.kind, s.other)
	}
}

// elements reads single elements of a tensor of an end.
func (m *meeting) elements(place int, output bool, t int, idx []int64) []float64 {
	e := m.open(place)
	defer m.done(e)
	return e.elements(output, t, idx)
}

// earlier are those of its recording of an earlier step, nil where they cannot be had.
func (m *meeting) earlier(place int, output bool, t int, idx []int64) []float64 {
	e := &end{Member: m.ends[place].Member}
	if e.Before == nil {
		return nil
	}
	defer func() {
		if e.file != nil {
			e.file.Close()
		}
	}()
	y, _ := must.Of(func() []float64 {
		e.read(e.Before)
		return e.elements(output, t, idx)
	})
	return y
}

func (e *end) elements(output bool, t int, idx []int64) []float64 {
	o := e.tensor(output, t)
	refuseIf(idx[len(idx)-1] >= o.view.Len(), BadTensor, o.name, "shape")
	y := make([]float64, len(idx))
	o.At(idx, y, nil)
	return y
}

func equal(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return len(a) == len(b)
}

// copied looks for another origin of the elements of one piece. The wrong piece may be that of
// another rank in its place, or the one that was meant for another rank.
func (w *search) copied(list []*suspect) {
	pieces := make([]piece, len(list))
	for i, s := range list {
		// The piece with the first wrong element; the others that are wrong may be of other pieces.
		var x piece
		for _, x = range s.list {
			if s.idx[0] < x.outLo+x.n {
				break
			}
		}
		var idx []int64
		var found []float64
		for i, at := range s.idx {
			if at >= x.outLo && at < x.outLo+x.n {
				idx, found = append(idx, at-x.outLo), append(found, s.found[i])
			}
		}
		s.idx, s.found, pieces[i] = idx, found, x
		if equal(w.earlier(w.group[x.from], false, w.t, shifted(idx, x.inLo)), found) {
			s.say(MetStale, x.from)
		}
	}
	var sent []int64 // where the pieces of all begin in an input, that of any member
	for r, place := range w.group {
		w.with(place, false, w.t, len(list) > manyReads, func(o *operand) {
			for i, s := range list {
				x := pieces[i]
				if r != x.from && s.from(o, x.inLo) {
					s.hit(MetSwapped, r)
					if k := slices.Index(s.members, r); k >= 0 && s.faults[k].Kind == MetBeyond {
						s.faults[k].Kind = MetOwnInput
					}
				}
				if r != x.from || len(s.list) == 1 || w.kind == "HcomAllGather" {
					continue
				}
				if sent == nil {
					sent = w.sent()
				}
				for to, lo := range sent { // the piece that went to another rank
					if lo != x.inLo && s.from(o, lo) {
						s.hit(MetSwapped, to)
					}
				}
			}
		})
	}
	for _, s := range list {
		s.concluded()
	}
}

// sent tells where in an input the pieces of all members begin: what a member gets from others
// stands at the same place in the inputs of all.
func (w *search) sent() []int64 {
	list := make([]int64, len(w.group))
	for to := range list {
		list[to] = w.made(len(w.group), to, w.in, w.out)[0].inLo
	}
	return list
}

// from tells whether what was found stands in an input, lo elements on.
func (s *suspect) from(o *operand, lo int64) bool {
	idx, y := shifted(s.idx, lo), make([]float64, len(s.idx))
	if idx[len(idx)-1] >= o.view.Len() {
		return false
	}
	// One element tells most apart.
	return readsAt(o, idx[:1], y[:1]) && equal(y[:1], s.found[:1]) && readsAt(o, idx, y) && equal(y, s.found)
}

// reduced looks for other results of a reduction.
func (w *search) reduced(list []*suspect) {
	at := each.Of(list, func(s *suspect) []int64 { return shifted(s.idx, s.list[0].inLo-s.list[0].outLo) })
	places := w.places(list, at)
	rows, olds := w.inputs(places)
	size, n := len(rows), len(rows[0])
	// What all behind a rank come to, the sizes of all, and then rank by rank what those before it
	// come to. The sum without rank r is before[r] + behind[r+1]: 2R additions for all ranks, not
	// R².
	behind, sizes := make([][]float64, size+1), make([]float64, n)
	for r := size - 1; r >= 0; r-- {
		behind[r] = w.join(slices.Clone(rows[r]), behind[r+1])
		for i, v := range rows[r] {
			sizes[i] += abs(v)
		}
	}
	var all []float64
	for _, row := range rows { // from the first on, as the ranks are summed
		all = w.join(all, row)
	}
	// A mean without one of R ranks may be divided by R or by R − 1.
	scale, count := 1.0, float64(size)
	if w.Reduction == "mean" || w.Reduction == "avg" {
		scale = 1 / count
	}
	for _, s := range list {
		for i, k := range s.members {
			if s.faults[i].Kind == MetBeyond && equal(elementsAt(rows[k], s.pos), s.found) {
				s.faults[i].Kind = MetOwnInput
			}
		}
		whole := func(i int) float64 { return all[s.pos[i]] }
		switch {
		case w.Reduction == "sum" && w.fits(s, whole, sizes, 1/count):
			s.say(MetMean, -1)
		case scale != 1 && w.fits(s, whole, sizes, 1):
			s.say(MetSum, -1)
		}
	}
	var before []float64
	for r, row := range rows {
		for _, s := range list {
			without := func(i int) float64 {
				k := s.pos[i]
				switch {
				case before == nil:
					return behind[r+1][k]
				case behind[r+1] == nil:
					return before[k]
				}
				return combine(w.Reduction, before[k], behind[r+1][k])
			}
			switch {
			case w.fits(s, without, sizes, scale), scale != 1 && w.fits(s, without, sizes, 1/(count-1)):
				s.hit(MetLeftOut, r)
			case w.fits(s, func(i int) float64 { return combine(w.Reduction, all[s.pos[i]], row[s.pos[i]]) }, sizes, scale):
				s.hit(MetTwice, r)
			case olds[r] != nil && w.fits(s, func(i int) float64 { return combine(w.Reduction, without(i), olds[r][s.pos[i]]) }, sizes, scale):
				s.hit(MetStale, r)
			}
		}
		before = w.join(before, row)
	}
	var rest []*suspect
	for _, s := range list {
		if s.concluded(); s.hits == 0 && w.kind == "HcomReduceScatter" {
			rest = append(rest, s)
		}
	}
	w.piecesOfOthers(rest, scale, places, all, sizes)
}

// piecesOfOthers looks for the rank whose piece of the result an output is. At some places it is
// known already what the inputs come to, and their sizes.
func (w *search) piecesOfOthers(list []*suspect, scale float64, known []int64, sums, sumsOfSizes []float64) {
	rest := slices.DeleteFunc(slices.Clone(list), func(s *suspect) bool {
		return !slices.ContainsFunc(s.faults, func(f *MetFault) bool { return f.Kind == MetBeyond })
	})
	if len(rest) == 0 {
		return
	}
	n := rest[0].list[0].n
	// The elements of all suspects in a piece, and from there in the pieces of all ranks, one after
	// the other.
	at := make([][]int64, len(rest))
	for i, s := range rest {
		s.idx = s.idx[:min(len(s.idx), max(fewestLooked, mostKept/(len(w.group)*len(rest))))]
		s.found = s.found[:len(s.idx)]
		at[i] = shifted(s.idx, -s.list[0].outLo)
	}
	inPiece := w.places(rest, at)
	places := make([]int64, 0, len(inPiece)*len(w.group))
	for r := range w.group {
		places = append(places, shifted(inPiece, int64(r)*n)...)
	}
	all, sizes := make([]float64, len(places)), make([]float64, len(places))
	read := false
	for i, at := range places {
		k, found := slices.BinarySearch(known, at)
		if !found {
			read = true
			break
		}
		all[i], sizes[i] = sums[k], sumsOfSizes[k]
	}
	if read {
		all = nil
		clear(sizes)
		for _, place := range w.group {
			row := w.elements(place, false, w.t, places)
			all = w.join(all, row)
			for i, v := range row {
				sizes[i] += abs(v)
			}
		}
	}
	for _, s := range rest {
		for r := range w.group {
			of := r * len(inPiece)
			if r != s.members[0] && w.fits(s, func(i int) float64 { return all[of+s.pos[i]] }, sizes[of:], scale) {
				s.hit(MetSwapped, r)
			}
		}
		s.concluded()
	}
}

// places are the elements of all suspects, each once and in order; the suspects learn where theirs
// are among them.
func (w *search) places(list []*suspect, at [][]int64) []int64 {
	places := sortedUnique(slices.Concat(at...))
	for i, s := range list {
		s.pos = make([]int, len(at[i]))
		for j, x := range at[i] {
			s.pos[j], _ = slices.BinarySearch(places, x)
		}
	}
	return places
}

// inputs are elements of the inputs of all members, and of those of an earlier step, nil where
// there are none.
func (w *search) inputs(places []int64) (rows, olds [][]float64) {
	rows, olds = make([][]float64, len(w.group)), make([][]float64, len(w.group))
	for r, place := range w.group {
		rows[r], olds[r] = w.elements(place, false, w.t, places), w.earlier(place, false, w.t, places)
	}
	return rows, olds
}

// elementsAt are the elements of a row at places.
func elementsAt(row []float64, places []int) []float64 {
	y := make([]float64, len(places))
	for i, k := range places {
		y[i] = row[k]
	}
	return y
}

// shifted are places that are by behind others.
func shifted(idx []int64, by int64) []int64 {
	list := make([]int64, len(idx))
	for i := range idx {
		list[i] = idx[i] + by
	}
	return list
}

// join makes of a what two results come to; nil is that of nothing.
func (m *meeting) join(a, b []float64) []float64 {
	if a == nil {
		return slices.Clone(b)
	}
	switch m.Reduction {
	case "max", "min", "prod":
		for i, v := range b {
			a[i] = combine(m.Reduction, a[i], v)
		}
	default:
		for i, v := range b {
			a[i] += v
		}
	}
	return a
}

// combine is what a reduction makes of two numbers; a mean is divided later.
func combine(reduction string, a, b float64) float64 {
	switch reduction {
	case "max":
		return math.Max(a, b)
	case "min":
		return math.Min(a, b)
	case "prod":
		return a * b
	}
	return a + b
}

// fits tells whether all that was found is y times scale, y made of numbers whose sizes add up to
// sizes:
// within a bound for any order, and to the bit where nothing is rounded.
func (w *search) fits(s *suspect, y func(i int) float64, sizes []float64, scale float64) bool {
	count := float64(len(w.group))
	unit := max(gamma(count+2, u32), w.p.v*(count+1)) + w.p.v
	for i, found := range s.found {
		v, b := y(i)*scale, 0.0
		switch w.Reduction {
		case "max", "min":
		case "prod":
			b = unit*abs(v) + w.p.t
		default:
			b = unit*(sizes[s.pos[i]]+abs(v)) + w.p.t
		}
		if !(abs(found-v) <= b) {
			return false
		}
	}
	return true
}

// CheckTransfers judges what ranks received, HcomReceive, by what others sent, HcomSend: bit for
// bit. Ends belong together by the ranks and the tag that their graphs name, or, where these do not
// tell, by what was sent: only what fits is known then.
func CheckTransfers(ctx context.Context, members []Member) (Meeting, error) {
	order.Stable(members, func(a, b Member) int { return cmp.Compare(a.Rank, b.Rank) })
	m := &meeting{ctx: ctx, keep: len(members) <= mostOpen, kind: "HcomReceive"}
	for i := range members {
		m.ends = append(m.ends, &end{Member: members[i]})
	}
	defer m.close()
	m.Verdict, m.How = OK, GroupAttribute
	judged := false
	for i, e := range m.ends {
		if e.Type != "HcomReceive" {
			continue
		}
		known, err := must.Of(func() bool { return m.receive(i) })
		if err != nil {
			if ctx.Err() != nil {
				return m.Meeting, context.Cause(ctx)
			}
			m.unknown(WhyBadDump, itoa(m.rank), err.Error())
			return m.Meeting, nil
		}
		judged = judged || known
	}
	switch {
	case m.Verdict == OK && !judged:
		m.unknown(WhyOneRank)
	case m.Verdict == Wrong:
		m.Why, m.Args = "", nil
	case m.Why != "":
		m.Verdict = Unknown
	}
	return m.Meeting, nil
}

// senders are the ends that may have sent what an end received; known tells that the graphs
// name them. There are several where transfers have one tag.
func (m *meeting) senders(i int) (from []int, known bool) {
	r := m.ends[i]
	if r.Op == nil {
		return nil, false
	}
	rank, ok := r.Op.Attr("src_rank").Int()
	if !ok {
		return nil, false
	}
	tag, _ := r.Op.Attr("sr_tag").Int()
	for k, s := range m.ends {
		if s.Type != "HcomSend" || s.Op == nil || int64(s.Rank) != rank {
			continue
		}
		to, ok := s.Op.Attr("dest_rank").Int()
		its, _ := s.Op.Attr("sr_tag").Int()
		if ok && to == int64(r.Rank) && its == tag {
			from = append(from, k)
		}
	}
	return from, true
}

// receive judges one end; judged tells whether its sender is known.
func (m *meeting) receive(i int) (judged bool) {
	_, n := m.sizes(i, 0)
	from, known := m.senders(i)
	if len(from) == 0 && known {
		m.Why, m.Args = WhyNoSender, []string{itoa(m.ends[i].Rank)}
		return false
	}
	if !known {
		for k, s := range m.ends {
			if s.Type == "HcomSend" && s.Rank != m.ends[i].Rank {
				from = append(from, k)
			}
		}
	}
	var wrong *judge
	var its int
	for _, k := range from {
		j := m.transferred(k, i, n)
		if j != nil && j.beyond == 0 {
			if m.Groups = append(m.Groups, []int{m.ends[k].Rank, m.ends[i].Rank}); !known {
				m.How = GroupValues
			}
			return true
		}
		if j != nil && wrong == nil {
			wrong, its = j, k
		}
	}
	switch {
	case !known:
		m.Why, m.Args = WhyNoSender, []string{itoa(m.ends[i].Rank)}
		return false
	case wrong == nil: // what was sent has another size
		m.Why, m.Args = WhyShapes, nil
		return false
	}
	m.Groups = append(m.Groups, []int{m.ends[its].Rank, m.ends[i].Rank})
	m.Verdict, m.Faults = Wrong, append(m.Faults, m.whyReceived(its, i, n, wrong))
	return true
}

// whyReceived looks for what an end received in place of what was sent: what the sender sent, or it
// received, at an earlier step, or what a rank sent to another.
func (m *meeting) whyReceived(from, i int, n int64, j *judge) MetFault {
	f := MetFault{Kind: MetBeyond, Rank: m.ends[i].Rank, Other: m.ends[from].Rank, Elements: j.beyond, Of: j.looked, Expected: j.value, Found: j.found, Bound: 0}
	idx, found := worstOf(j, 128)
	if equal(m.earlier(from, false, 0, idx), found) || equal(m.earlier(i, true, 0, idx), found) {
		f.Kind = MetStale
		return f
	}
	hit := -1
	for k, s := range m.ends {
		if s.Type != "HcomSend" || k == from {
			continue
		}
		if j := m.transferred(k, i, n); j == nil || j.beyond > 0 {
			continue
		}
		if hit >= 0 && s.Rank != m.ends[hit].Rank {
			return f
		}
		hit = k
	}
	if hit >= 0 {
		f.Kind, f.Other = MetSwapped, m.ends[hit].Rank
	}
	return f
}

// transferred holds what an end received against what another sent; nil where their sizes
// differ.
func (m *meeting) transferred(from, to int, n int64) *judge {
	if sent, _ := m.sizes(from, 0); sent != n || n <= 0 {
		return nil
	}
	e := m.open(to)
	j := newJudge(e.outs[0].typ, true)
	m.done(e)
	size := min(n, slabOfRanks)
	x, y := make([]float64, size), make([]float64, size)
	for lo := int64(0); lo < n; lo += size {
		k := min(size, n-lo)
		m.read(from, false, 0, lo, y[:k])
		m.read(to, true, 0, lo, x[:k])
		for i := range k {
			j.element(lo+i, x[i], y[i], 0)
		}
		if lo == 0 && j.beyond == k { // of another tensor, as a rule
			break
		}
	}
	return j
}
