package oracle

import (
	"cmp"
	"context"
	"slices"
)

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
