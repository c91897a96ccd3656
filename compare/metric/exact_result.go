package metric

import "math"

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
	note := func(n Note) {
		n.Numerics = Exact
		result.Notes = append(result.Notes, n)
	}
	relative, hasRelative := r.first(Metric.relative)
	for i, m := range r.metrics {
		if i == 0 {
			switch {
			case result.N == 0:
				note(Note{Kind: NoteEmpty, Metric: m})
				return result
			case s.disagree > 0:
				note(Note{Kind: NoteDisagree, Metric: m, Count: s.disagree, Of: result.N,
					Index: s.first.Index, X: s.first.X, Y: s.first.Y})
			case s.n == 0:
				note(Note{Kind: NoteNothingFinite, Metric: m, Count: s.agree, Of: result.N})
				return result
			}
		}
		if m == CosineSimilarity {
			r.noteCosine(note)
		}
		if hasRelative && m == relative && s.zeroGolden > 0 {
			note(Note{Kind: NoteZeroGolden, Metric: m, Count: s.zeroGolden, Of: result.N, Largest: s.zeroMax})
		}
		result.Values[m] = r.exactValue(m)
	}
	return result
}

// noteCosine says why there is no cosine.
func (r *Run) noteCosine(note func(Note)) {
	s := &r.exact.sums
	switch {
	case r.cfg.Scalar:
		note(Note{Kind: NoteScalar, Metric: CosineSimilarity})
	case s.disagree > 0:
	case s.xx.m == 0 && s.yy.m != 0:
		note(Note{Kind: NoteAllZero, Metric: CosineSimilarity, Side: Mine})
	case s.xx.m != 0 && s.yy.m == 0:
		note(Note{Kind: NoteAllZero, Metric: CosineSimilarity, Side: Golden})
	}
}

func (r *Run) exactValue(m Metric) Value {
	s := &r.exact.sums
	if m == StandardDeviation {
		v := Value{form: pairs}
		v.v[0], v.v[1] = s.x.meanDeviation()
		v.v[2], v.v[3] = s.y.meanDeviation()
		return v
	}
	if s.disagree > 0 {
		switch m {
		case CosineSimilarity, RelativeEuclideanDistance, KullbackLeiblerDivergence:
			return Value{}
		}
		return numberValue(math.Inf(1))
	}
	switch m {
	case CosineSimilarity:
		return r.exactCosine()
	case MaxAbsoluteError:
		return numberValue(s.maxAbs)
	case AccumulatedRelativeError:
		return numberValue(s.rel.float())
	case RelativeEuclideanDistance:
		return numberValue(s.distance())
	case KullbackLeiblerDivergence:
		if r.exact.kl.p == 0 { // no second pass
			return numberValue(0)
		}
		return numberValue(r.exact.kl.divergence())
	case MeanAbsoluteError:
		return numberValue(s.ad.mean(s.n).float())
	case RootMeanSquareError:
		return numberValue(s.dd.mean(s.n).sqrt().float())
	case MaxRelativeError:
		return numberValue(s.maxRel)
	default: // MeanRelativeError
		return numberValue(s.rel.mean(s.n).float())
	}
}

func (r *Run) exactCosine() Value {
	s := &r.exact.sums
	if c := s.cosine(); c == c && !r.cfg.Scalar {
		return numberValue(c)
	}
	return Value{}
}
