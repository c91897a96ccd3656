package pattern

import "math"

// RoundingMode is a result rounded in another way than to the nearest number.
const RoundingMode Kind = "rounding-mode"

// Mode is a way to round.
type Mode string

// Modes.
const (
	TowardZero Mode = "toward-zero"
	AwayFrom0  Mode = "away-from-zero"
	Down       Mode = "down"
	Up         Mode = "up"
)

// Rounding belongs to RoundingMode.
type Rounding struct {
	Mode Mode `json:"mode"`
	// Mean is the mean error in units of the last place, along the direction of the mode: 0.5 for
	// numbers that are spread evenly; 0 when rounded to nearest.
	Mean float64 `json:"mean"`
	// Seen is how many elements were more than 1/64 of a unit from a number of the type.
	Seen int64 `json:"seen"`
}

// roundingMode applies where every error is below one unit in the last place u: then, over the
// elements that are no numbers of the type, all errors of one direction mean that mode; to
// nearest would take either with equal chance.
func roundingMode(l *look) []Finding {
	var n, toward, down, below int64
	mean := 0.0
	for p, e := range l.errors(l.pick) {
		w := l.Want[p]
		u := l.num.ulp(w)
		if math.Abs(e) >= u*(1+1e-6) {
			return nil
		}
		if f := w / u; math.Abs(f-math.Round(f)) < 1.0/64 || math.Abs(w) < u {
			continue
		}
		n++
		mean += math.Abs(e) / u
		if (e < 0) == (w > 0) {
			toward++
		}
		if e < 0 {
			down++
		}
		if math.Abs(e) < u/2 {
			below++
		}
	}
	if n < 64 || 100*below > 90*n {
		return nil
	}
	r := Rounding{Mean: mean / float64(n), Seen: n}
	most := n - n/200 // borders of binades
	var mode func(x float64) float64
	switch {
	case toward >= most:
		r.Mode, mode = TowardZero, math.Trunc
	case n-toward >= most:
		r.Mode, mode = AwayFrom0, func(x float64) float64 { return math.Copysign(math.Ceil(math.Abs(x)), x) }
	case down >= most:
		r.Mode, mode = Down, math.Floor
	case n-down >= most:
		r.Mode, mode = Up, math.Ceil
	default:
		return nil
	}
	f := l.judge(func(p int) float64 {
		u := l.num.ulp(l.Want[p])
		return mode(l.Want[p]/u) * u
	})
	return l.told(f.explained >= 0.5, RoundingMode, r, f)
}
