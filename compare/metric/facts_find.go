package metric

import (
	"math"
	"sync/atomic"
)

// seen is the largest error of the tiles that were folded so far. Reducing a tile
// looks for the place of its largest error only if that is larger: since tiles are
// folded in order, the places that are left out cannot be the first of the
// tensor. So few tiles are searched, the logarithm of their number if errors come in
// any order, and the result does not depend on how far the fold was.
type seen struct{ bits atomic.Uint64 }

func (s *seen) maxAbs() float64 { return math.Float64frombits(s.bits.Load()) }

func (s *seen) note(maxAbs float64) { s.bits.Store(math.Float64bits(maxAbs)) }

// firstApart is the first i with |x[i]-y[i]| >= by, and len(x) if there is none.
func firstApart[T float32 | float64](x, y []T, by float64) int {
	y = y[:len(x)]
	for i, v := range x {
		if math.Abs(float64(v)-float64(y[i])) >= by {
			return i
		}
	}
	return len(x)
}

// outside counts the elements with |x-y| > Abs + Rel·|y|.
func outside[T float32 | float64](x, y []T, within Tolerance) int64 {
	y = y[:len(x)]
	n := 0
	for i, v := range x {
		if !within.holds(float64(v), float64(y[i])) {
			n++
		}
	}
	return int64(n)
}

// holds tells whether finite x and y are within the tolerance.
func (t *Tolerance) holds(x, y float64) bool {
	return math.Abs(x-y) <= t.Abs+float64(t.Rel*math.Abs(y))
}
