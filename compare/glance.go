package compare

import (
	"context"

	"precision/compare/metric"
	"precision/compare/result"
)

// Glance takes the elements of some pairs instead of comparing all of them.
type Glance struct {
	// Wanted tells of a row whether its elements are wanted; others are not
	// read.
	Wanted func(row *result.Row) bool
	// Most is the largest number of elements of a tensor; larger ones are left
	// out.
	Most int64
	// Take gets a row with both sides widened, in logical order, as its own to
	// keep. It is called from several goroutines.
	Take func(row *result.Row, left, right []float64)
}

// take reads both sides of a pair and hands them on.
func (g *Glance) take(ctx context.Context, row *result.Row, p *pairing, s *Worker) error {
	n := p.count
	if n > g.Most {
		return nil
	}
	wide := *p
	wide.wide, wide.parts = true, 1
	t := wide.newTiler(s, false)
	x, y := make([]float64, n), make([]float64, n)
	for at := int64(0); at < n; at += metric.TileLen {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(at+metric.TileLen, n)
		if err := t.fill64(p.left, t.left, x[at:end], at); err != nil {
			return &sideError{right: false, err: err}
		}
		if err := t.fill64(p.right, t.right, y[at:end], at); err != nil {
			return &sideError{right: true, err: err}
		}
	}
	g.Take(row, x, y)
	return nil
}
