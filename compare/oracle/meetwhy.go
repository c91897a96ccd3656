package oracle

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// why looks for what explains the wrong elements of an output: input of a rank left out, taken
// twice, or from an earlier step; the rank's own input; the mean for the sum; the piece of
// another rank; the output of an earlier step. A cause counts if it is the only one that gives all the
// elements that were looked at.
func (m *meeting) why(group []int, k, t int, j *judge, p precisionOf) (MetFault, error) {
	f := MetFault{Kind: MetBeyond, Rank: m.ends[group[k]].Rank, Output: t, Other: -1, Elements: j.beyond, Of: j.looked, Expected: j.value, Found: j.found, Bound: j.b}
	idx := worstOf(j, 128)
	if len(idx) == 0 {
		return f, nil
	}
	in, out, err := m.sizes(group[k], t)
	if err != nil {
		return f, err
	}
	s := &suspect{meeting: m, group: group, k: k, t: t, p: p, idx: idx, list: m.made(len(group), k, in, out)}
	if s.found, err = m.elements(group[k], true, t, idx, false); err != nil {
		return f, err
	}
	if old, err := m.elements(group[k], true, t, idx, true); err == nil && equal(old, s.found) {
		f.Kind = MetStale
		return f, nil
	}
	if reduces[m.kind] {
		f.Kind, f.Other, err = s.reduced()
	} else {
		f.Kind, f.Other, err = s.copied()
	}
	if f.Other >= 0 {
		f.Other = m.ends[group[f.Other]].Rank
	}
	return f, err
}

// suspect is a wrong output and the elements of it that are looked at.
type suspect struct {
	*meeting
	group []int
	k, t  int
	p     precisionOf
	idx   []int64
	list  []piece
	found []float64
}

// elements reads single elements of a tensor of an end, or of its recording of an earlier step.
func (m *meeting) elements(place int, output bool, t int, idx []int64, before bool) ([]float64, error) {
	e := m.ends[place]
	if before {
		if e.Before == nil {
			return nil, refuse(NoInput, "earlier step")
		}
		file, ins, outs, err := openEnd(e.Before, e.Op)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		e = &end{file: file, ins: ins, outs: outs}
	} else if _, err := m.open(place); err != nil {
		return nil, err
	} else {
		defer m.done(e)
	}
	o, err := e.tensor(output, t)
	if err != nil {
		return nil, err
	}
	if idx[len(idx)-1] >= o.view.Len() {
		return nil, refuse(BadTensor, o.name, "shape")
	}
	y := make([]float64, len(idx))
	return y, o.At(idx, y, nil)
}

func equal(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return len(a) == len(b)
}

// copied looks for another origin of the elements of one piece.
func (s *suspect) copied() (kind string, other int, err error) {
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
	if old, err := s.elements(s.group[x.from], false, s.t, shifted(idx, x.inLo), true); err == nil && equal(old, found) {
		return MetStale, x.from, nil
	}
	if own, err := s.elements(s.group[s.k], false, s.t, shifted(idx, x.inLo), false); err == nil && x.from != s.k && equal(own, found) {
		return MetOwnInput, -1, nil
	}
	hit, hits := -1, 0
	in, out, err := s.sizes(s.group[s.k], s.t)
	if err != nil {
		return MetBeyond, -1, err
	}
	for r := range s.group {
		froms := []piece{{from: r, inLo: x.inLo}}
		if len(s.list) > 1 && s.kind != "HcomAllGather" { // the piece that went to another rank
			if theirs := s.made(len(s.group), r, in, out); x.from < len(theirs) {
				froms = append(froms, theirs[x.from])
			}
		}
		for _, y := range froms {
			if y.from == x.from && y.inLo == x.inLo {
				continue
			}
			if got, err := s.elements(s.group[y.from], false, s.t, shifted(idx, y.inLo), false); err == nil && equal(got, found) {
				if hit != r {
					hits++
				}
				hit = r
			}
		}
	}
	if hits == 1 {
		return MetSwapped, hit, nil
	}
	return MetBeyond, -1, nil
}

// reduced looks for another result of a reduction.
func (s *suspect) reduced() (kind string, other int, err error) {
	x := s.list[0]
	rows, err := s.inputs(x.inLo - x.outLo)
	if err != nil {
		return MetBeyond, -1, err
	}
	if equal(rows[s.k], s.found) {
		return MetOwnInput, -1, nil
	}
	all := s.fold(rows)
	scale, count := 1.0, float64(len(s.group))
	switch s.Reduction {
	case "sum":
		if s.fits(all, rows, 1/count) {
			return MetMean, -1, nil
		}
	case "mean", "avg":
		if scale = 1 / count; s.fits(all, rows, 1) {
			return MetSum, -1, nil
		}
	}
	// What all before a rank and all behind it come to.
	before, behind := make([][]float64, len(rows)+1), make([][]float64, len(rows)+1)
	for r := range rows {
		before[r+1] = s.join(before[r], rows[r])
	}
	for r := len(rows) - 1; r >= 0; r-- {
		behind[r] = s.join(rows[r], behind[r+1])
	}
	hits := 0
	for r := range rows {
		k := ""
		without := s.join(before[r], behind[r+1])
		switch old, _ := s.elements(s.group[r], false, s.t, shifted(s.idx, x.inLo-x.outLo), true); {
		case s.fits(without, rows, scale), scale != 1 && s.fits(without, rows, 1/(count-1)):
			k = MetLeftOut
		case s.fits(s.join(all, rows[r]), rows, scale):
			k = MetTwice
		case old != nil && s.fits(s.join(without, old), rows, scale):
			k = MetStale
		default:
			continue
		}
		hits++
		kind, other = k, r
	}
	if hits == 0 && s.kind == "HcomReduceScatter" && len(s.group) <= mostPieces {
		return s.pieceOfOther(scale)
	}
	if hits == 1 {
		return kind, other, nil
	}
	return MetBeyond, -1, nil
}

// mostPieces is how many ranks a group may have for the pieces of all others to be tried: each
// takes a reading of all inputs.
const mostPieces = 64

// pieceOfOther looks for the rank whose piece of the result an output is.
func (s *suspect) pieceOfOther(scale float64) (kind string, other int, err error) {
	kind, other = MetBeyond, -1
	n := s.list[0].n
	for r := range s.group {
		if r == s.k {
			continue
		}
		rows, err := s.inputs(int64(r)*n - s.list[0].outLo)
		if err != nil {
			return MetBeyond, -1, err
		}
		if !s.fits(s.fold(rows), rows, scale) {
			continue
		}
		if other >= 0 {
			return MetBeyond, -1, nil
		}
		kind, other = MetSwapped, r
	}
	return kind, other, nil
}

// inputs are the elements of the inputs of all members that are by behind those of the output.
func (s *suspect) inputs(by int64) ([][]float64, error) {
	rows := make([][]float64, len(s.group))
	for r, place := range s.group {
		var err error
		if rows[r], err = s.elements(place, false, s.t, shifted(s.idx, by), false); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// shifted are places that are by behind others.
func shifted(idx []int64, by int64) []int64 {
	list := make([]int64, len(idx))
	for i := range idx {
		list[i] = idx[i] + by
	}
	return list
}

// fold is what rows come to, before a mean is divided.
func (s *suspect) fold(rows [][]float64) (y []float64) {
	for _, row := range rows {
		y = s.join(y, row)
	}
	return y
}

// join is what two results come to; nil is that of nothing.
func (s *suspect) join(a, b []float64) []float64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	y := make([]float64, len(a))
	for i := range y {
		y[i] = combine(s.Reduction, a[i], b[i])
	}
	return y
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

// fits tells whether all that was found is y times scale, y made of numbers such as those of
// rows: within a bound for any order, and to the bit where nothing is rounded.
func (s *suspect) fits(y []float64, rows [][]float64, scale float64) bool {
	count := float64(len(rows))
	unit := max(gamma(count+2, u32), s.p.v*(count+1)) + s.p.v
	for i, found := range s.found {
		v, b := y[i]*scale, 0.0
		switch s.Reduction {
		case "max", "min":
		case "prod":
			b = unit*abs(v) + s.p.t
		default:
			for _, row := range rows {
				b += abs(row[i])
			}
			b = unit*(b+abs(v)) + s.p.t
		}
		if !(abs(found-v) <= b) {
			return false
		}
	}
	return true
}

// CheckTransfers judges what ranks received, HcomReceive, by what others sent, HcomSend: bit
// for bit. Ends belong together by the ranks and the tag that their graphs name, or, where these do not
// tell, by what was sent: only what fits is known then.
func CheckTransfers(ctx context.Context, members []Member) (Meeting, error) {
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Compare(a.Rank, b.Rank) })
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
		known, err := m.receive(i)
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
func (m *meeting) receive(i int) (judged bool, err error) {
	_, n, err := m.sizes(i, 0)
	if err != nil {
		return false, err
	}
	from, known := m.senders(i)
	if len(from) == 0 && known {
		m.Why, m.Args = WhyNoSender, []string{itoa(m.ends[i].Rank)}
		return false, nil
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
		j, err := m.transferred(k, i, n)
		if err != nil {
			return false, err
		}
		if j != nil && j.beyond == 0 {
			if m.Groups = append(m.Groups, []int{m.ends[k].Rank, m.ends[i].Rank}); !known {
				m.How = GroupValues
			}
			return true, nil
		}
		if j != nil && wrong == nil {
			wrong, its = j, k
		}
	}
	switch {
	case !known:
		m.Why, m.Args = WhyNoSender, []string{itoa(m.ends[i].Rank)}
		return false, nil
	case wrong == nil: // what was sent has another size
		m.Why, m.Args = WhyShapes, nil
		return false, nil
	}
	m.Groups = append(m.Groups, []int{m.ends[its].Rank, m.ends[i].Rank})
	f, err := m.whyReceived(its, i, n, wrong)
	if err == nil {
		m.Verdict, m.Faults = Wrong, append(m.Faults, f)
	}
	return err == nil, err
}

// whyReceived looks for what an end received in place of what was sent: what the sender sent, or it
// received, at an earlier step, or what a rank sent to another.
func (m *meeting) whyReceived(from, i int, n int64, j *judge) (MetFault, error) {
	f := MetFault{Kind: MetBeyond, Rank: m.ends[i].Rank, Other: m.ends[from].Rank, Elements: j.beyond, Of: j.looked, Expected: j.value, Found: j.found, Bound: 0}
	idx := worstOf(j, 128)
	found, err := m.elements(i, true, 0, idx, false)
	if err != nil {
		return f, err
	}
	old, err := m.elements(from, false, 0, idx, true)
	mine, own := m.elements(i, true, 0, idx, true)
	if err == nil && equal(old, found) || own == nil && equal(mine, found) {
		f.Kind = MetStale
		return f, nil
	}
	hit := -1
	for k, s := range m.ends {
		if s.Type != "HcomSend" || k == from {
			continue
		}
		j, err := m.transferred(k, i, n)
		if err != nil {
			return f, err
		}
		if j == nil || j.beyond > 0 {
			continue
		}
		if hit >= 0 && s.Rank != m.ends[hit].Rank {
			return f, nil
		}
		hit = k
	}
	if hit >= 0 {
		f.Kind, f.Other = MetSwapped, m.ends[hit].Rank
	}
	return f, nil
}

// transferred holds what an end received against what another sent; nil where their sizes
// differ.
func (m *meeting) transferred(from, to int, n int64) (*judge, error) {
	sent, _, err := m.sizes(from, 0)
	if err != nil || sent != n || n <= 0 {
		return nil, err
	}
	e, err := m.open(to)
	if err != nil {
		return nil, err
	}
	j := newJudge(e.outs[0].typ, true)
	m.done(e)
	size := min(n, slabOfRanks)
	x, y := make([]float64, size), make([]float64, size)
	for lo := int64(0); lo < n; lo += size {
		k := min(size, n-lo)
		if err := m.read(from, false, 0, lo, y[:k]); err != nil {
			return nil, err
		}
		if err := m.read(to, true, 0, lo, x[:k]); err != nil {
			return nil, err
		}
		for i := range k {
			j.element(lo+i, x[i], y[i], 0)
		}
		if lo == 0 && j.beyond == k { // of another tensor, as a rule
			break
		}
	}
	return j, nil
}
