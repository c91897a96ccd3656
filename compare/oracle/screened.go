package oracle

import (
	"cmp"
	"math"
	"slices"
)

// mostShown is how many elements that float32 explains are looked at in float64 as
// well, to tell how near to their bound they are.
const mostShown = 64

// doubt is an element that float32 does not explain.
type doubt struct {
	i     int64
	score float32
}

// screen computes everything in float32, whose error the bound covers as well:
// an element that is within a last rounding of it is explained. What is not is
// looked at in float64, and so is a sample.
func (c *checker) screen(v Values, j *judge) error {
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
		if err := c.rec.Range32(lo, found[:k]); err != nil {
			return err
		}
		if err := fast.Range32(lo, y[:k]); err != nil {
			return err
		}
		sum, squares := 0.0, 0.0
		for i, f := range found[:k] {
			e := y[i]
			d := f - e
			if d < 0 {
				d = -d
			}
			if e < 0 {
				e = -e
			}
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
			var err error
			if sure, err = c.beyond(v, doubts); err != nil {
				return err
			}
			if sure {
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
	err := c.at(v, idx, j)
	j.sum, j.sumSquares, j.n = sum, squares, count
	j.looked = n
	j.judged = max(j.judged, 1)
	return err
}

// beyond reports whether the worst doubts are beyond their bound for sure.
func (c *checker) beyond(v Values, d []doubt) (bool, error) {
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
	err := c.at(v, sortedUnique(idx), probe)
	return probe.beyond > 0, err
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
