package compare

import (
	"context"
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

// outcome computes the pair, and again where elements are to be left out.
func (p *pairing) outcome(ctx context.Context, s *Worker) (o outcome, err error) {
	o.values, err = p.compute(ctx, s)
	if err == nil {
		o.lost, err = p.imaginaryLeftOut(ctx, s)
	}
	if err == nil {
		o.saturated, err = p.secondLook(ctx, &o.values, s)
	}
	return o, err
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

// secondLook computes the pair without the elements that saturated, if there
// are any.
func (p *pairing) secondLook(ctx context.Context, first *metric.Result, s *Worker) (*result.Saturated, error) {
	out := saturationOf(p.left.typ, &first.Facts)
	if out == nil {
		return nil, nil
	}
	again := *p
	again.out = out
	values, err := again.compute(ctx, s)
	if err != nil || out.count.Load() == 0 {
		return nil, err
	}
	values.Notes = nil // they are about all elements or none
	return &result.Saturated{Count: out.count.Load(), Result: values}, nil
}

// imaginaryLeftOut tells whether one side has imaginary parts that are not 0 and that
// no metric has seen, as the other side is real: then the metrics are of the real
// parts alone, and a good similarity proves nothing. It returns the reason to give,
// with the operator for its argument, and "" where nothing was left out.
func (p *pairing) imaginaryLeftOut(ctx context.Context, s *Worker) (result.Kind, error) {
	side, o, kind := 0, p.left, result.LeftRealPartOnly
	switch left, right := p.left.typ.Parts() == 2, p.right.typ.Parts() == 2; {
	case left == right:
		return "", nil
	case right:
		side, o, kind = 1, p.right, result.RealPartOnly
	}
	from := s.open(side, o)
	t := &tiler{p: p, s: s}
	for at := int64(0); at < p.count; at += metric.TileLen {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		s.complex = grow(s.complex, 2*min(metric.TileLen, p.count-at))
		if err := t.fillReal(o, from, s.complex, at); err != nil {
			return "", &sideError{right: side == 1, err: err}
		}
		for i := 1; i < len(s.complex); i += 2 {
			if s.complex[i] != 0 { // NaN is not 0
				return kind, nil
			}
		}
	}
	return "", nil
}
