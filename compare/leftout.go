package compare

import (
	"context"

	"precision/compare/metric"
	"precision/compare/result"
)

// A mask of -1e9 becomes -65504 or -Inf in float16: that is no fault of the
// operator, but it swamps every metric. Where golden values lie beyond the range
// of the left type the pair is computed a second time without the elements that
// saturated.

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
