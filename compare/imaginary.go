package compare

import (
	"context"

	"precision/compare/metric"
	"precision/compare/result"
)

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
