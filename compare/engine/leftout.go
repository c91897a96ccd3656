package engine

import (
	"math"
	"sync/atomic"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// A mask of -1e9 becomes -65504 or -Inf in float16: that is no fault of the
// operator, but it swamps every metric. Where golden values lie beyond the range
// of the left type the pair is computed a second time without the elements that
// saturated.

// saturation tells which elements saturated.
type saturation struct {
	// most is the largest finite number of the left type; beyond is where
	// rounding no longer leads back to it.
	most, beyond float64
	counting     bool
	count        atomic.Int64
}

// saturationOf prepares the second look; nil if golden stays within the range
// of the left type, which is nearly always so.
func saturationOf(left dtype.Type, facts *metric.Facts) *saturation {
	if !facts.Known || !left.IsFloat() {
		return nil
	}
	most := left.Max()
	exponent := math.Ilogb(most)
	s := &saturation{most: most, beyond: most + left.Unit()*math.Ldexp(1, exponent)}
	if !(facts.Y.MaxMagnitude() >= s.beyond) {
		return nil
	}
	return s
}

// leaveOut sets the elements that saturated to 0 on both sides: golden is
// finite and beyond the range, and left is at the end of it, or infinite, with the
// same sign.
func leaveOut[F float32 | float64](s *saturation, x, y []F) {
	n := int64(0)
	for i, v := range y {
		right, left := float64(v), float64(x[i])
		if math.Abs(right) >= s.beyond && !math.IsInf(right, 0) && math.Abs(left) >= s.most && (left > 0) == (right > 0) {
			x[i], y[i] = 0, 0
			n++
		}
	}
	if s.counting && n > 0 {
		s.count.Add(n)
	}
}

// outcome is what a pair comes to.
type outcome struct {
	values    metric.Result
	lost      result.Kind // which parts were left out, if any
	saturated *result.Saturated
}

// put puts what came of a pair into a row. left and right are the names of the
// tensors for notes about one of them.
func (o *outcome) put(row *result.Row, left, right string) {
	if row.Saturated = o.saturated; o.lost != "" {
		row.Add(result.Because(o.lost, row.Op))
	}
	values := o.values
	if n := values.AgreeNonFinite; n > 0 && n < values.N {
		row.Add(result.Because(result.SameNonFinite, count(n), count(values.N)))
	}
	for _, n := range values.Notes {
		row.Add(result.NoteReason(n, left, right))
	}
	values.Notes = nil // the row has them as reasons
	row.Compared, row.Metrics = true, &values
}
