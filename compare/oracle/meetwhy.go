package oracle

import "math"

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
