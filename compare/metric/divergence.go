package metric

import "math"

// Σ p·ln(p/q), p and q being x and y scaled to [0,1] by their extrema, floored at
// 2^-23 and divided by their sums.
var kullbackLeiblerDivergence = definition{
	name:  "KullbackLeiblerDivergence",
	needs: always(sumsOfShares),
	exact: func(r *exactRun, _ *Config, _ func(Note)) Value {
		switch {
		case r.sums.disagree > 0:
			return Value{}
		case r.narrow != nil:
			return numberValue(r.close.divergence())
		case r.kl.p == 0: // no second pass
			return numberValue(0)
		}
		return numberValue(r.kl.divergence())
	},
	reference: referenceDivergence,
}

func referenceDivergence(r *referenceRun, _ *Config, note noter) Value {
	if r.n == 0 {
		note(NoteNoMaximum, Mine)
		return Value{}
	}
	kl := float64(r.kl)
	if !r.wantsKL {
		kl = math.NaN()
		e := &r.extrema
		if finite(e.loX) && finite(e.hiX) && finite(e.loY) && finite(e.hiY) {
			kl = math.Inf(1) // the spread of one side overflows
		}
	}
	switch {
	case math.IsInf(kl, 0):
		note(NoteInfinite, Golden)
	case math.Abs(kl) < epsilon64:
		kl = 0
	}
	return numberValue(kl)
}
