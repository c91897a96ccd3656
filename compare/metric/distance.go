package metric

import "math"

// √(Σ(x-y)² / Σy²): infinite if only golden is zero. In Reference numerics it is 0
// wherever golden is, and has no differences of booleans.
var relativeEuclideanDistance = definition{
	name:  "RelativeEuclideanDistance",
	exact: agreed((*exactSums).distance),
	reference: func(r *referenceRun, cfg *Config, note noter) Value {
		switch {
		case math.Sqrt(float64(r.sums.yy)) <= epsilon64:
			return numberValue(0)
		case cfg.Boolean:
			note(NoteBooleanDifference, Mine)
			return Value{}
		}
		return numberValue(math.Sqrt(float64(r.sums.dd / r.sums.yy)))
	},
	boolean: true,
}

// RMS is the root mean square of some numbers, 0 of none.
func RMS(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum / float64(max(len(v), 1)))
}
