package metric

// Result is what a comparison of two tensors came to.
type Result struct {
	// N is the number of elements of each side.
	N int64
	// Values are indexed by Metric. Metrics that were not selected are not
	// computed.
	Values [Count]Value
	// Notes are in the order of the selected metrics.
	Notes []Note

	// The counts up to ZeroGoldenMax are of Exact numerics.

	// AgreeNonFinite is the number of elements that are NaN on both sides, or
	// the same infinity. They are left out of all metrics.
	AgreeNonFinite int64 `column:"metrics_agree"`
	// Disagree is the number of elements that are not finite on one side or
	// both, and do not agree.
	Disagree int64 `column:"metrics_disagree"`
	// FirstDisagree is the first of them, if there is one: its index in the
	// tensor and its values.
	FirstDisagree Element `column:"metrics_first_disagree"`
	// ZeroGolden is the number of elements that differ where golden is 0.
	ZeroGolden int64 `column:"metrics_zero_golden"`
	// ZeroGoldenMax is their largest absolute error.
	ZeroGoldenMax float64 `column:"metrics_zero_golden_max"`

	// Facts are what a judge goes by, besides the values.
	Facts Facts `column:""`
}

// Element is an element of the pair.
type Element struct {
	Index int64   `column:""`
	X     float64 `column:"left"`
	Y     float64 `column:"right"`
	// XRest and YRest are what integers of more than 53 bits have beyond X and Y,
	// the float64 next to them; else 0.
	XRest float64 `column:"left_rest"`
	YRest float64 `column:"right_rest"`
}

// Text is the table cell of m.
func (r *Result) Text(m Metric) string { return r.Values[m].Text(m) }

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
