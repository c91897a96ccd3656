package pattern

import "math"

// Errors everywhere that no hypothesis explains.
const (
	// LowPrecision: unbiased and small beside the numbers, but beyond their bound, as of sums in a
	// narrower type.
	LowPrecision Kind = "low-precision"
	// Noise: the same where no bound is known; of rounding, inherited or not.
	Noise Kind = "noise"
	// Unexplained: neither.
	Unexplained Kind = "unexplained"
)

// Spread belongs to LowPrecision, Noise and Unexplained.
type Spread struct {
	Relative float64 `json:"relative"` // root mean square of the error over that of the expected numbers
	Digits   float64 `json:"digits"`   // binary digits that are right: -log2(Relative)
	Ulps     float64 `json:"ulps"`     // Relative over twice the unit roundoff of the type
	Share    float64 `json:"share"`    // of all elements, those beyond (or different, where nothing is beyond)
	// Bias is the mean error in its own standard errors, of e/(|want|+m) so that no single element
	// decides: within ±4 it is none, and beside √n it tells how much of the error is bias.
	Bias float64 `json:"bias"`
	// Correlation of error and expected number, -1 to 1.
	Correlation float64 `json:"correlation"`
}

// smallError is the relative error up to which errors may be called noise.
const smallError = 0.125

func spread(l *look) []Finding {
	if l.affected() == 0 {
		return nil
	}
	var n, se, sw, sew, sr, srr float64
	for p, e := range l.errors(l.pick) {
		w := l.Want[p]
		n++
		se += e * e
		sw += w * w
		sew += e * w
		if d := math.Abs(w) + l.mid; d > 0 {
			sr += e / d
			srr += e / d * (e / d)
		}
	}
	s := Spread{Share: float64(l.affected()) / float64(len(l.Want))}
	if sw > 0 {
		s.Relative = finite(math.Sqrt(se / sw))
		s.Correlation = finite(sew / math.Sqrt(se*sw))
	}
	if s.Relative > 0 {
		s.Digits = finite(-math.Log2(s.Relative))
	}
	if l.unit > 0 {
		s.Ulps = finite(s.Relative / (2 * l.unit))
	}
	if srr > 0 {
		s.Bias = finite(sr / math.Sqrt(srr))
	}
	kind := Unexplained
	if small := sw > 0 && s.Relative <= smallError; small && l.Bound == nil {
		kind = Noise
	} else if small && math.Abs(s.Bias) < max(6, 0.1*math.Sqrt(n)) && s.Share >= 0.002 && l.halfReaches() {
		kind = LowPrecision
	}
	return []Finding{{Kind: kind, Args: s, Left: l.worst, Elements: l.affected()}}
}

// halfReaches reports whether half precision could be off by what every element is. All but one in
// a hundred of those beyond their bound must be: behind a relu, a few are bounded by nothing whose sums
// would be on its other side.
func (l *look) halfReaches() bool {
	if l.Half == nil {
		return false
	}
	n, over := int64(0), int64(0)
	l.eachBeyond(func(p int, e float64, _ []int64) {
		n++
		if !(math.Abs(e) <= l.Half[p]) {
			over++
		}
	})
	return 100*over <= n
}
