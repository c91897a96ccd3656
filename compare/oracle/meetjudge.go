package oracle

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
)

// slabOfRanks is how many elements of a rank are read at once.
const slabOfRanks = 1 << 15

// tensor judges one output of all ranks.
func (m *meeting) tensor(t int, p precisionOf) error {
	var in, out int64
	for i := range m.ends {
		a, b, err := m.sizes(i, t)
		if err != nil {
			return err
		}
		if i > 0 && (a != in || b != out) {
			m.unknown(WhyShapes)
			return nil
		}
		in, out = a, b
	}
	list := m.partitions(in, out)
	list = slices.DeleteFunc(list, func(x partition) bool { return m.made(len(x.groups[0]), 0, in, out) == nil })
	if len(list) == 0 || in <= 0 {
		m.unknown(WhyShapes)
		return nil
	}
	part, err := m.choose(list, t, p)
	if err != nil {
		return err
	}
	if m.Groups == nil {
		m.How = part.how
		for _, g := range part.groups {
			m.Groups = append(m.Groups, m.ranksOf(g))
		}
	}
	for _, g := range part.groups {
		if err := m.group(g, t, p, len(list) == 1 && part.how != GroupAttribute || part.how == GroupAll || part.how == GroupValues); err != nil {
			return err
		}
	}
	return nil
}

// made is what the output of a member is made of.
func (m *meeting) made(size, member int, in, out int64) []piece {
	root := m.root
	if k, ok := m.number("root_rank"); ok {
		root = int(max(-1, min(k, int64(size))))
	}
	return pieces[m.kind](size, member, root, in, out)
}

// findRoot finds the member whose input most members of a group have as their output, where no graph
// names the root of a broadcast; of as many the first.
func (m *meeting) findRoot(group []int, t int, n int64) error {
	m.root = 0
	if _, ok := m.number("root_rank"); ok || m.kind != "HcomBroadcast" {
		return nil
	}
	var idx []int64
	for lo := int64(0); lo < n; lo += max(tried, n/spots) {
		for i := range min(tried, n-lo) {
			idx = append(idx, lo+i)
		}
	}
	outs := make([][]float64, len(group))
	for k, place := range group {
		var err error
		if outs[k], err = m.elements(place, true, t, idx, false); err != nil {
			return err
		}
	}
	most := 0
	for k, place := range group {
		in, err := m.elements(place, false, t, idx, false)
		if err != nil {
			return err
		}
		fits := 0
		for _, out := range outs {
			if equal(in, out) {
				fits++
			}
		}
		if fits > most {
			m.root, most = k, fits
		}
	}
	return nil
}

// outcome is what became of the output of a member.
type outcome struct {
	*judge
	sum uint32 // of all elements
}

// judge holds the outputs of a group against what its inputs give: all elements, or, if few is not 0, so
// many at some spots of each piece.
func (m *meeting) judge(group []int, t int, p precisionOf, few int64) ([]*outcome, error) {
	in, out, err := m.sizes(group[0], t)
	if err != nil {
		return nil, err
	}
	if err := m.findRoot(group, t, out); err != nil {
		return nil, err
	}
	list := make([]*outcome, len(group))
	// Members whose outputs have the same pieces are held against them together.
	type key struct {
		from    int
		inLo, n int64
	}
	type place struct {
		member int
		outLo  int64
	}
	uses := map[key][]place{}
	var order []key
	for k := range group {
		list[k] = &outcome{judge: &judge{p: p, exact: m.exact(), ratio: nan, worst: -1}}
		for _, x := range m.made(len(group), k, in, out) {
			id := key{x.from, x.inLo, x.n}
			if uses[id] == nil {
				order = append(order, id)
			}
			uses[id] = append(uses[id], place{k, x.outLo})
		}
	}
	size := int64(slabOfRanks)
	if few > 0 {
		size = few
	}
	y, b, x := make([]float64, size), make([]float64, size), make([]float64, size)
	var bits []byte
	for _, id := range order {
		step := size
		if few > 0 { // some at the begin, and some further on: it may be padding
			step = max(size, id.n/spots)
		}
		for lo := int64(0); lo < id.n; lo += step {
			n := min(size, id.n-lo)
			if err := m.expect(group, id.from, t, id.inLo+lo, y[:n], b[:n], x[:n], p); err != nil {
				return nil, err
			}
			for _, u := range uses[id] {
				if err := m.read(group[u.member], true, t, u.outLo+lo, x[:n]); err != nil {
					return nil, err
				}
				o := list[u.member]
				for i := range n {
					o.element(u.outLo+lo+i, x[i], y[i], b[i])
				}
				if few == 0 {
					bits = appendBits(bits[:0], x[:n])
					o.sum = crc32.Update(o.sum, castagnoli(), bits)
				}
			}
		}
	}
	return list, nil
}

// exact tells that nothing is rounded.
func (m *meeting) exact() bool {
	return !reduces[m.kind] || m.Reduction == "max" || m.Reduction == "min"
}

func appendBits(bits []byte, x []float64) []byte {
	for _, v := range x {
		bits = binary.LittleEndian.AppendUint64(bits, math.Float64bits(v))
	}
	return bits
}

// expect computes what elements should be, and a bound that holds for any order of
// sums: g(R-1)·Σ|x_r|, and v·(R-1)·Σ|x_r| where partial sums may be rounded to a narrow type.
func (m *meeting) expect(group []int, from, t int, lo int64, y, b, x []float64, p precisionOf) error {
	clear(b)
	if from != everyone {
		return m.read(group[from], false, t, lo, y)
	}
	for k, place := range group {
		if err := m.read(place, false, t, lo, x); err != nil {
			return err
		}
		for i, v := range x {
			b[i] += abs(v)
			sofar := y[i]
			if y[i] = v; k > 0 {
				y[i] = combine(m.Reduction, sofar, v)
			}
		}
	}
	m.bound(len(group), y, b, p)
	return nil
}

// bound makes of the sums of sizes in b the bounds of the results in y.
func (m *meeting) bound(size int, y, b []float64, p precisionOf) {
	n := float64(size)
	unit := max(gamma(n, u32), p.v*(n-1))
	if p.integer {
		unit = 0
	}
	for i := range y {
		switch m.Reduction {
		case "max", "min":
			b[i] = 0
		case "prod":
			b[i] = unit * abs(y[i])
		case "mean", "avg":
			y[i] /= n
			b[i] = (unit*b[i])/n + u32*abs(y[i])
		default:
			b[i] *= unit
		}
	}
}

// group judges the outputs of a group; found tells that its members were guessed.
func (m *meeting) group(group []int, t int, p precisionOf, found bool) error {
	list, err := m.judge(group, t, p, 0)
	if err != nil {
		return err
	}
	var wrong []int
	sums := map[uint32]int{}
	for k, o := range list {
		if o.beyond > 0 {
			wrong = append(wrong, k)
		}
		sums[o.sum]++
	}
	if len(wrong) == 0 {
		if m.alike() && len(sums) > 1 {
			m.apart(group, t, list, sums)
		}
		return nil
	}
	if m.inPlace(group, t) {
		m.unknown(WhyInPlace)
		return nil
	}
	var faults []MetFault
	explained := false
	for _, k := range wrong {
		f, err := m.why(group, k, t, list[k].judge, p)
		if err != nil {
			return err
		}
		explained = explained || f.Kind != MetBeyond
		faults = append(faults, f)
	}
	if !explained && len(wrong) == len(group) && found {
		if m.alike() && len(sums) == 1 {
			m.unknown(WhyAgree)
			return nil
		}
		if len(m.ends) > 2 {
			m.unknown(WhyGroups)
			return nil
		}
	}
	m.Verdict, m.Faults = Wrong, append(m.Faults, faults...)
	return nil
}

// alike tells whether all members must have the same output.
func (m *meeting) alike() bool {
	return m.kind == "HcomAllReduce" || m.kind == "HcomAllGather" || m.kind == "HcomBroadcast"
}

// apart blames the members whose outputs are within the bound and not those of the others.
func (m *meeting) apart(group []int, t int, list []*outcome, sums map[uint32]int) {
	most := list[0].sum
	for _, o := range list { // in order of ranks, so that ties fall the same way
		if sums[o.sum] > sums[most] {
			most = o.sum
		}
	}
	m.Verdict = Wrong
	for k, o := range list {
		if o.sum != most {
			m.Faults = append(m.Faults, MetFault{Kind: MetDiffers, Rank: m.ends[group[k]].Rank, Output: t, Other: -1, Expected: nan, Found: nan, Bound: nan})
		}
	}
}

// inPlace tells whether a recorded input has the address of its output: it may be the result
// already.
func (m *meeting) inPlace(group []int, t int) bool {
	for _, place := range group {
		e, err := m.open(place)
		if err != nil {
			return false
		}
		same := t < len(e.ins) && t < len(e.outs) && e.ins[t].address != 0 && e.ins[t].address == e.outs[t].address
		m.done(e)
		if same {
			return true
		}
	}
	return false
}

// worstOf are places of wrong elements, the worst first, no more than so many.
func worstOf(j *judge, most int) []int64 {
	misses := slices.Clone(j.misses)
	slices.SortStableFunc(misses, func(a, b miss) int { return cmp.Compare(b.ratio, a.ratio) })
	var idx []int64
	for _, x := range misses[:min(most, len(misses))] {
		idx = append(idx, x.i)
	}
	return sortedUnique(idx)
}
