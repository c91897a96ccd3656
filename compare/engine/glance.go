package engine

import (
	"context"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/internal/integer"
)

// wants tells whether rows of an operator may be wanted.
func (g *Glance) wants(name string) bool { return g == nil || g.Ops == nil || g.Ops(name) }

// Glances tells whether a run wants elements and no rows.
func (s *Worker) Glances() bool { return s.opt.Glance != nil }

// Wants tells whether rows of an operator may be wanted.
func (s *Worker) Wants(op string) bool { return s.opt.Glance.wants(op) }

// WantsRow tells whether a row is wanted.
func (s *Worker) WantsRow(row *result.Row) bool {
	return s.opt.Glance == nil || s.opt.Glance.Wanted(row)
}

// take reads both sides of a pair and hands them on.
func (g *Glance) take(ctx context.Context, row *result.Row, p *pairing, s *Worker) error {
	n := p.count
	var tiles, at []int64
	if g.Tiles != nil {
		tiles = g.Tiles(row, n)
	}
	switch {
	case len(tiles) > 0:
		at = make([]int64, 0, int64(len(tiles))*metric.TileLen)
	case n > g.Most:
		return nil
	default:
		for tile := int64(0); tile*metric.TileLen < n; tile++ {
			tiles = append(tiles, tile)
		}
	}
	wide := *p
	wide.wide, wide.parts = true, 1
	t := wide.newTiler(s, false)
	size := min(int64(len(tiles))*metric.TileLen, n)
	x, y := make([]float64, 0, size), make([]float64, 0, size)
	var xs, ys []uint64 // where both are integers, of which one may be long
	if wide.whole(p.left) && wide.whole(p.right) {
		xs, ys = make([]uint64, size), make([]uint64, size)
	}
	for _, tile := range tiles {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := tile * metric.TileLen
		from, to := len(x), len(x)+int(min(metric.TileLen, n-first))
		x, y = x[:to], y[:to]
		var a, b []uint64
		if xs != nil {
			a, b = xs[from:to], ys[from:to]
		}
		if err := t.fill64(x[from:], y[from:], a, b, first); err != nil {
			return err
		}
		for i := first; at != nil && i < first+int64(to-from); i++ {
			at = append(at, i)
		}
	}
	seen := Seen{At: at, Left: x, Right: y}
	if xs != nil {
		seen.LeftRest = rests(x, integer.List{Bits: xs, Signed: p.left.typ.Signed()})
		seen.RightRest = rests(y, integer.List{Bits: ys, Signed: p.right.typ.Signed()})
		switch {
		case seen.LeftRest == nil && seen.RightRest != nil:
			seen.LeftRest = make([]float64, len(x))
		case seen.RightRest == nil && seen.LeftRest != nil:
			seen.RightRest = make([]float64, len(x))
		}
	}
	g.Take(row, seen)
	return nil
}

// rests are what integers have beyond the float64 next to them, nil if none has.
func rests(f []float64, of integer.List) (list []float64) {
	for i, v := range f {
		if r := of.Rest(i, v); r != 0 {
			if list == nil {
				list = make([]float64, len(f))
			}
			list[i] = r
		}
	}
	return list
}
