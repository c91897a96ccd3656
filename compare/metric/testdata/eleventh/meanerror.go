package metric

import "math"

// MeanError is Σ(x-y) / n.
const MeanError = MeanRelativeError + 1

// In Reference numerics it asks for the sums of the second pass, for the sake of the
// example.
var meanError = definition{
	name:  "MeanError",
	needs: always(sumsOfCentered),
	exact: errorOf(func(s *exactSums) float64 { return s.diff.mean(s.n).float() }),
	reference: numeric(func(r *referenceRun) float64 {
		if r.pass < 2 {
			return math.NaN() // there was no second pass
		}
		return (r.sums.x - r.sums.y) / float64(r.n)
	}),
}
