package pattern

import "math"

// Slope is a leaky activation with another slope: negative numbers have a factor of
// their own, the others are right.
const Slope Kind = "slope"

// Slopes belongs to Slope: the factors of the expected negative and positive numbers.
type Slopes struct {
	Negative float64 `json:"negative"`
	Positive float64 `json:"positive"`
}

// slope fits a factor (Σgw/Σw²) to each sign.
func slope(l *look) []Finding {
	var top, bottom [2]float64
	for p := range l.errors(l.pick) {
		s := 0
		if l.Want[p] < 0 {
			s = 1
		}
		top[s] += l.got[p] * l.Want[p]
		bottom[s] += l.Want[p] * l.Want[p]
	}
	if bottom[0] == 0 || bottom[1] == 0 {
		return nil
	}
	a := Slopes{Positive: top[0] / bottom[0], Negative: top[1] / bottom[1]}
	if a.Positive-a.Positive != 0 || a.Negative-a.Negative != 0 || math.Abs(a.Negative-a.Positive) < 1e-3*math.Abs(a.Positive) || a.Negative == 0 {
		return nil
	}
	predict := func(p int) float64 {
		if w := l.Want[p]; w < 0 {
			return a.Negative * w
		}
		return a.Positive * l.Want[p]
	}
	f := l.judge(predict)
	return l.told(l.resembles(predict) && f.holds(0.7, 2, 1) && l.simpler.explainsFarLessThan(f), Slope, a, f)
}
