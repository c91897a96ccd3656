package pattern

import "math"

// RandomElements are single elements that are wrong here and there.
const RandomElements Kind = "random-elements"

// Scatter belongs to RandomElements.
type Scatter struct {
	Share  float64 `json:"share"`  // of all elements
	Size   float64 `json:"size"`   // their root mean square error over that of the expected numbers
	Region Region  `json:"region"` // where they are
}

// faint is the size of errors, over that of the numbers, that sums in a narrower type make.
const faint = 0.02

// randomElements tells of errors in up to a tenth of the elements, far above those of the others: where
// they are the smaller part of the whole error, at least four times what noise explains.
func randomElements(l *look) []Finding {
	if l.beyond == 0 || 10*l.beyond > int64(len(l.Want)) || l.dense && l.worst < 4 {
		return nil
	}
	s := Scatter{Share: float64(l.beyond) / float64(len(l.Want)), Region: l.region()}
	if rms := l.rms(); rms > 0 {
		s.Size = finite(math.Sqrt(l.sumBeyond/float64(l.beyond)) / rms)
	}
	if l.Bound != nil && s.Size < faint && s.Share > 0.002 {
		return nil // many, and hardly beyond: of low precision
	}
	return []Finding{{Kind: RandomElements, Args: s, Left: l.worst, Elements: l.beyond}}
}

// rms is the root mean square of the expected numbers picked.
func (l *look) rms() float64 {
	s, n := 0.0, 0.0
	for p := range l.errors(l.pick) {
		s += l.Want[p] * l.Want[p]
		n++
	}
	return math.Sqrt(s / max(n, 1))
}

// finite keeps a number in what JSON can hold.
func finite(v float64) float64 {
	if v != v {
		return 0
	}
	return min(max(v, -math.MaxFloat64), math.MaxFloat64)
}
