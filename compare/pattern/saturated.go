package pattern

// Saturated is a number at the end of the type's range where the expected one lies
// beyond it. Whether 65504 or Inf is recorded depends on the product's overflow mode.
const Saturated Kind = "saturated"

// Saturation belongs to Saturated.
type Saturation struct {
	Limit  float64 `json:"limit"`  // the largest number of the type
	Beyond int64   `json:"beyond"` // elements expected beyond it, Inf included
	AtMax  int64   `json:"at_max"` // of those, recorded as ±Limit
	AtInf  int64   `json:"at_inf"` // of those expected finite, recorded as Inf
	Zeroed int64   `json:"zeroed"` // NaN expected, 0 recorded, as the saturating mode does
	First  []int64 `json:"first"`  // coordinates of the first
}

func saturated(l *look) []Finding {
	if l.clippedRange == 0 && l.zeroed == 0 {
		return nil
	}
	s := Saturation{Limit: l.largest, Zeroed: l.zeroed}
	l.each(func(p int) (float64, bool) {
		g, w := l.got[p], l.Want[p]
		return 0, g != w && !l.overflowsRightly(p) && (l.saturates(g, w) || l.zeroed > 0 && w != w && g == 0)
	}, func(p int, _ float64, at []int64) {
		if s.First == nil {
			s.First = append([]int64(nil), at...)
		}
		if g := l.got[p]; g == l.largest || g == -l.largest {
			s.AtMax++
		} else if g != 0 {
			s.AtInf++
		}
	})
	for _, w := range l.Want {
		if w > l.limit || w < -l.limit {
			s.Beyond++
		}
	}
	n := s.AtMax + s.AtInf + s.Zeroed
	return []Finding{{Kind: Saturated, Args: s, Explained: float64(n) / float64(n+l.nan+l.inf+l.hidden), Elements: n}}
}
