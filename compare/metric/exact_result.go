package metric

func (r *Run) exactResult() Result {
	s := &r.exact.sums
	result := Result{
		N:              r.exact.n,
		AgreeNonFinite: s.agree,
		Disagree:       s.disagree,
		FirstDisagree:  s.first,
		ZeroGolden:     s.zeroGolden,
		ZeroGoldenMax:  s.zeroMax,
		Facts:          r.exact.facts(),
	}
	relative := false // no note on relative errors so far
	for i, m := range r.metrics {
		note := func(n Note) {
			n.Numerics, n.Metric = Exact, m
			result.Notes = append(result.Notes, n)
		}
		if i == 0 {
			switch {
			case result.N == 0:
				note(Note{Kind: NoteEmpty})
				return result
			case s.disagree > 0:
				note(Note{Kind: NoteDisagree, Count: s.disagree, Of: result.N,
					Index: s.first.Index, X: s.first.X, Y: s.first.Y})
			case s.n == 0:
				note(Note{Kind: NoteNothingFinite, Count: s.agree, Of: result.N})
				return result
			}
			if s.rounded > 0 {
				note(Note{Kind: NoteRounded, Count: s.rounded, Of: result.N})
			}
		}
		d := table[m]
		if d.relative && !relative && s.zeroGolden > 0 {
			note(Note{Kind: NoteZeroGolden, Count: s.zeroGolden, Of: result.N, Largest: s.zeroMax})
			relative = true
		}
		result.Values[m] = d.exact(&r.exact, &r.cfg, note)
	}
	return result
}
