package engine

import (
	"context"
	"math"
	"slices"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/layout"
	"precision/internal/must"
	"precision/internal/nd"
)

// tried is how many elements of a slice are held against the right side to tell which it
// is.
const triedOfSlice = 4096

// unshard finds the slice of the right side that a tensor is, and has right be it.
func (e *engine) unshard(ctx context.Context, row *result.Row, left *dumpFile, t *dump.Tensor, right *rightTensor, g *rightShape,
	by planner, s *Worker) {
	u := e.opt.Unshard
	want := t.OriginShape
	if len(want) == 0 {
		want = shapeOf(t)
	}
	axis, slicesOf, ok := u.Cut(want, g.data)
	if !ok || !right.array || right.tensor.Fortran || right.typ().Bits()%8 != 0 || t.Err != nil {
		return
	}
	which := []int{u.Rank % slicesOf}
	if n := u.Ranks / slicesOf; n > 0 && u.Rank/n < slicesOf && u.Rank/n != which[0] {
		which = append(which, u.Rank/n)
	}
	best, least := 0, math.Inf(1)
	whole := g.data
	for k, at := range which {
		view, skip, err := sliceOf(whole, axis, slicesOf, at)
		if err != nil {
			return // the shapes go on to say what is the case
		}
		right.view, right.skip, g.data = view, skip, view.Dims
		if len(which) == 1 {
			break
		}
		if off := e.distance(ctx, row, left, t, right, func(st stored) plan { return by(row.Op, st, *g) }, s); off < least {
			best, least = k, off
		}
	}
	at := which[best]
	right.view, right.skip, _ = sliceOf(whole, axis, slicesOf, at)
	g.data = right.view.Dims
	row.Add(result.Because(result.SliceCompared, count(at), count(slicesOf), count(axis), shapeText(whole)))
}

// Cut tells along which axis a shape is one of how many slices of another. Only one axis may
// differ.
func (u *Unshard) Cut(part, whole []int64) (axis, slicesOf int, ok bool) {
	if len(part) != len(whole) || slices.Equal(part, whole) {
		return 0, 0, false
	}
	axis = -1
	for k := range part {
		if part[k] == whole[k] {
			continue
		}
		if axis >= 0 || part[k] <= 0 || whole[k]%part[k] != 0 {
			return 0, 0, false
		}
		axis = k
	}
	n := whole[axis] / part[axis]
	if n < 2 || n > int64(max(u.Ranks, 2)) || u.Axis >= 0 && axis != u.Axis || u.Slices > 0 && n != int64(u.Slices) {
		return 0, 0, false
	}
	return axis, int(n), true
}

// sliceOf is the view of one of n equal slices of an array along an axis, and how many
// elements come before its first.
func sliceOf(dims []int64, axis, n, at int) (layout.View, int64, error) {
	shape, stride := slices.Clone(dims), nd.Strides(dims)
	shape[axis] /= int64(n)
	v, err := layout.Strided(shape, stride)
	return v, int64(at) * shape[axis] * stride[axis], err
}

// distance is how far the first elements of a tensor are from those of the right side;
// infinite where they cannot be held against each other.
func (e *engine) distance(ctx context.Context, row *result.Row, left *dumpFile, t *dump.Tensor, right *rightTensor, prepare func(stored) plan, s *Worker) float64 {
	sum := 0.0
	glance := &Glance{Most: math.MaxInt64, Take: func(_ *result.Row, e Seen) {
		for i := range e.Left {
			if d := e.Error(i); !math.IsNaN(d) {
				sum += d
			}
		}
	}}
	if must.Try(func() {
		p := prepare(storedOf(t))
		a, b := must.Get(viewOperand(left, t.Offset, t.Type, t.BigEndian, p.view)), must.Get(right.operand())
		must.Do(glance.take(ctx, row, newPairing(a, b, min(p.count, triedOfSlice), metric.Config{Numerics: metric.Exact}), s))
	}) != nil {
		must.Do(ctx.Err())
		return math.Inf(1)
	}
	return sum
}
