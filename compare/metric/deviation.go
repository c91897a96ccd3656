package metric

import "math"

// Mean and population deviation of either side. Where elements disagree in being
// finite, they are over the finite ones of each side.
var standardDeviation = definition{
	name:  "StandardDeviation",
	needs: always(sumsOfCentered),
	exact: func(r *exactRun, _ *Config, _ func(Note)) Value {
		v := Value{form: pairs}
		v.v[0], v.v[1] = r.sums.x.meanDeviation()
		v.v[2], v.v[3] = r.sums.y.meanDeviation()
		return v
	},
	reference: func(r *referenceRun, _ *Config, _ noter) Value {
		n := float64(r.n)
		return Value{form: pairs, v: [4]float64{
			blunt(r.sums.x / n), blunt(math.Sqrt(r.middles.vx / n)),
			blunt(r.sums.y / n), blunt(math.Sqrt(r.middles.vy / n)),
		}}
	},
}

// blunt cuts means and deviations that three decimals do not show.
func blunt(f float64) float64 {
	if math.Abs(f) < 0.001 {
		return 0
	}
	return f
}
