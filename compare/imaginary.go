package compare

import (
	"context"

	"precision/compare/metric"
)

// imaginaryLeftOut tells whether the right side has imaginary parts that are not 0
// and that no metric has seen, as the left side is real: then the metrics are of the
// real parts alone, and a good similarity proves nothing.
func (p *pairing) imaginaryLeftOut(ctx context.Context, s *Worker) (bool, error) {
	if p.right.typ.Parts() != 2 || p.left.typ.Parts() == 2 {
		return false, nil
	}
	from := s.open(1, p.right)
	t := &tiler{p: p, s: s, right: from}
	for at := int64(0); at < p.count; at += metric.TileLen {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		s.complex = grow(s.complex, 2*min(metric.TileLen, p.count-at))
		if err := t.fillReal(p.right, from, s.complex, at); err != nil {
			return false, &sideError{right: true, err: err}
		}
		for i := 1; i < len(s.complex); i += 2 {
			if s.complex[i] != 0 { // NaN is not 0
				return true, nil
			}
		}
	}
	return false, nil
}
