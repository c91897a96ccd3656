package stage

import (
	"math"
	"slices"

	"precision/dump/dtype"
)

// Routing is why the routers of a layer chose other experts for some tokens.
type Routing struct {
	Layer int `json:"layer"`
	// Tokens were compared; Differ of them have another set of experts.
	Tokens int `json:"tokens"`
	Differ int `json:"differ"`
	// Of these Ties have equal scores in the trainer, and Rounding scores that are closer than twice the noise of a router's product; those of Inherited are farther apart: the
	// inputs differ already.
	Ties      int `json:"ties"`
	Rounding  int `json:"rounding"`
	Inherited int `json:"inherited"`
	// Margin is the median of how far the trainer's scores of the experts that were exchanged are apart, Noise the median of twice the noise.
	Margin float64 `json:"margin"`
	Noise  float64 `json:"noise"`
	// Against counts, for trainer and rollout, the tokens whose experts are not those with the highest of that side's own scores.
	Against [2]int `json:"against_scores"`
	// Pair are the experts whose scores tie most often at the border between chosen and not chosen, in PairRows of the trainer's tokens.
	Pair     [2]int `json:"-"`
	PairRows int    `json:"pair_rows,omitempty"`
}

// choices counts as another function if it is against the scores of so many tokens; a side is understood with fewer.
const choices = 0.05

// border are the lowest score of the chosen experts and the highest of the others, and whose they are.
func border(scores, chosen []float64) (in, out int, ok bool) {
	in, out = -1, -1
	for e, x := range scores {
		if slices.Contains(chosen, float64(e)) {
			if in < 0 || x < scores[in] {
				in = e
			}
		} else if out < 0 || x > scores[out] {
			out = e
		}
	}
	return in, out, in >= 0 && out >= 0
}

// routing judges the choice of experts in a layer: whether it is that of the highest scores, and by how much exchanged experts' scores differ.
func (j *judge) routing(i int, s *Stage) {
	var ids, r, scores, want [2]*matrix
	for x := range 2 {
		ids[x], r[x] = j.rec[x][i]["i"].m, j.rec[x][i-1]["r"].m
		if ids[x] == nil || r[x] == nil || r[x].w == 0 || r[x].n != ids[x].n {
			return
		}
		j.hold(ids[x], r[x])
		j.as(x)
		scores[x] = j.net.scores(j.cuts[i].layer, r[x])
		if st := j.run(i-1, i-1, state{"n": j.input(x, i-1)}); st != nil {
			want[x] = st["r"]
		}
	}
	j.side = 0
	q := Routing{Layer: j.cuts[i].layer}
	var margins, noises []float64
	ties := map[[2]int]int{}
	for k := range ids[0].n {
		if j.tok.rollout[k] == cached {
			continue
		}
		q.Tokens++
		for x := range 2 {
			row := scores[x].row(k)
			// Scores that are as close as bfloat16 keeps them may be chosen either way.
			if in, out, ok := border(row, ids[x].row(k)); ok && row[out]-row[in] > limit*unit(dtype.BFloat16)*max(math.Abs(row[out]), math.Abs(row[in])) {
				q.Against[x]++
			}
		}
		row := scores[0].row(k)
		if in, out, ok := border(row, ids[0].row(k)); ok && row[in] == row[out] {
			ties[[2]int{min(in, out), max(in, out)}]++
		}
		lost, won := without(ids[0].row(k), ids[1].row(k)), without(ids[1].row(k), ids[0].row(k))
		if len(lost) == 0 || len(won) == 0 || j.own {
			continue
		}
		q.Differ++
		// Of several the pair that is closest decided.
		margin := math.Inf(1)
		for _, a := range lost {
			for _, b := range won {
				if a >= 0 && b >= 0 && int(a) < len(row) && int(b) < len(row) {
					margin = min(margin, math.Abs(row[int(a)]-row[int(b)]))
				}
			}
		}
		noise := 0.0
		for x := range 2 {
			if want[x] == nil {
				continue
			}
			row, off := scores[x].row(k), 0.0
			for e, v := range j.net.scores(q.Layer, &matrix{n: 1, w: want[x].w, v: want[x].row(k)}).v {
				off = max(off, math.Abs(v-row[e]))
			}
			if x == 1 { // a router that computes something else makes no noise
				off = min(off, limit*max(noise, roundings*unit(j.rec[0][i-1]["r"].t)*max(slices.Max(row), -slices.Min(row))))
			}
			noise = max(noise, off)
		}
		switch noise *= 2; {
		case margin == 0:
			q.Ties++
		case margin <= noise:
			q.Rounding++
		default:
			q.Inherited++
		}
		margins, noises = append(margins, margin), append(noises, noise)
	}
	for _, list := range []struct {
		v  []float64
		to *float64
	}{{margins, &q.Margin}, {noises, &q.Noise}} {
		if slices.Sort(list.v); len(list.v) > 0 && !math.IsInf(list.v[len(list.v)/2], 0) {
			*list.to = list.v[len(list.v)/2]
		}
	}
	for pair, n := range ties {
		if n > q.PairRows || n == q.PairRows && (pair[0] < q.Pair[0] || pair[0] == q.Pair[0] && pair[1] < q.Pair[1]) {
			q.Pair, q.PairRows = pair, n
		}
	}
	j.rep.Routing = append(j.rep.Routing, q)
	most := choices * float64(q.Tokens)
	switch a, b := float64(q.Against[0]), float64(q.Against[1]); {
	case a > most && (b > most || j.rec[1][i]["i"].assumed), b > most && j.rec[0][i]["i"].assumed:
		s.Finding = Unknown // by groups, or another rule, which may be that of a side that nobody saw choose
	case a > most:
		s.Finding, s.Side = Formula, "train"
	case b > most:
		s.Finding, s.Side = Formula, "rollout"
	}
	s.Train, s.Rollout = float64(q.Against[0])/float64(max(q.Tokens, 1)), float64(q.Against[1])/float64(max(q.Tokens, 1))
}

// input is what a side's router read.
func (j *judge) input(side, cut int) *matrix {
	for i := cut - 1; i >= 0; i-- {
		if f, ok := j.rec[side][i]["n"]; ok {
			return f.m
		}
	}
	return nil
}

// without are the elements of a list that another has not.
func without(list, other []float64) (some []float64) {
	for _, x := range list {
		if !slices.Contains(other, x) {
			some = append(some, x)
		}
	}
	return some
}
