package array

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"precision/compare/engine"
	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/internal/must"
)

// couple are two tensors whose elements float32 holds, as many on either side: what the engine of compare takes.
type couple struct {
	left, right *Array
	tolerance   metric.Tolerance
	show        func(done, total int64)

	done   atomic.Int64 // elements of the right side that were read
	once   sync.Once
	failed error // the first error of reading
}

// compareFast is [Compare] of such a couple: one pass with the kernels of package metric. Elements beyond the tolerances
// are looked up afterwards, from the first that differs on, until there are as many as are shown.
func compareFast(ctx context.Context, left, right *Array, o Options) *Diff {
	c := &couple{left: left, right: right, tolerance: metric.Tolerance{Abs: o.Atol, Rel: o.Rtol}, show: progressOf(ctx)}
	out, err := engine.Run(ctx, c, engine.Options{
		Metrics: []metric.Metric{metric.CosineSimilarity}, // the rest are facts of the same pass
		Workers: o.Workers,
		Tolerance: func(string, string, dtype.Type) metric.Tolerance {
			return c.tolerance
		},
	})
	must.Do(c.failed)
	must.Do(err)
	f := &out.Table.Rows[0].Metrics.Facts
	d := &Diff{Count: left.Len(), Bad: f.Outside, BothNaN: f.NaN.Both, Cosine: f.Cosine}
	if f.X.NaN+f.X.Inf+f.Y.NaN+f.Y.Inf > 0 || f.X.RMS == 0 {
		d.Cosine = math.NaN()
	}
	for _, s := range []struct {
		of   *Array
		into *Stats
		f    *metric.SideFacts
	}{{left, &d.LeftStats, &f.X}, {right, &d.RightStats, &f.Y}} {
		*s.into = Stats{Count: s.of.Len(), NaN: s.f.NaN, Inf: s.f.Inf, Max: s.f.Hi, Min: s.f.Lo, Mean: s.f.Mean}
		if s.of.Type == dtype.Float16 && max(s.f.Hi, -s.f.Lo) >= largestHalf {
			*s.into = must.Get(s.of.Measure(ctx, o.Workers))
		}
	}
	if d.Bad > 0 {
		d.lookUp(ctx, left, right, f.FirstDiffer.Index, o)
	}
	d.first(left, right, o.Rows, 1)
	return d
}

// lookUp fills in the first pairs beyond the tolerances, of which none comes before element from.
func (d *Diff) lookUp(ctx context.Context, left, right *Array, from int64, o Options) {
	l, r := left.cursor(), right.cursor()
	want := min(int64(o.Rows), d.Bad)
	for first := from / tile * tile; int64(len(d.Errors)) < want && first < left.Len(); first += tile {
		must.Do(context.Cause(ctx))
		n := min(tile, left.Len()-first)
		s := sums{errors: d.Errors}
		s.add(l.elements(first, n), r.elements(first, n), first, o)
		d.Errors = s.errors
	}
}

// Table is empty: there is no table of a couple.
func (c *couple) Table() *result.Table { return &result.Table{} }

// Groups is the comparison.
func (c *couple) Groups() []engine.Group {
	return []engine.Group{func(ctx context.Context, w *engine.Worker) (f engine.Found) {
		row := result.Row{Op: c.left.Name}
		f.Err = w.Compare(ctx, &row, c.tensor(c.left, nil), c.tensor(c.right, func(n int64) { c.show(min(c.done.Add(n), c.right.Len()), c.right.Len()) }), c.left.Path, c.right.Path)
		f.Rows = []result.Row{row}
		return f
	}}
}

// tensor is a side, whose first error is kept; show, if not nil, is told how many elements were read.
func (c *couple) tensor(a *Array, show func(n int64)) *engine.Tensor {
	return &engine.Tensor{Type: a.Type, Shape: a.Shape, Count: a.Len(), Open: func() engine.Elements {
		var from *cursor
		err := must.Try(func() { from = a.cursor() })
		return reading(func(dst []byte, first, n int64) error {
			if err == nil {
				err = from.ReadTile(dst, first, n)
			}
			if err != nil {
				c.once.Do(func() { c.failed = err })
			} else if show != nil {
				show(n)
			}
			return err
		})
	}}
}

// reading are elements that a function reads.
type reading func(dst []byte, first, n int64) error

// ReadTile is the function.
func (r reading) ReadTile(dst []byte, first, n int64) error { return r(dst, first, n) }
