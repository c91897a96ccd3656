package torch

import (
	"cmp"
	"context"
	"slices"

	"precision/compare/engine"
	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/layout"
	"precision/internal/order"
)

// blockTiles is how many tiles are read at a time: 1 MiB of float32, so that a
// compressed chunk is seldom decoded for two reads.
const blockTiles = 8

// Groups are the pairs in the order of the calls of the left side.
func (f *Files) Groups() []engine.Group {
	pairs := slices.Clone(f.match.pairs)
	order.Stable(pairs, func(a, b pair) int { return cmp.Compare(a.index, b.index) })
	list := make([]engine.Group, len(pairs))
	for i := range pairs {
		list[i] = func(ctx context.Context, w *engine.Worker) (found engine.Found) {
			row, err := f.match.row(ctx, &pairs[i], w)
			return engine.Found{Rows: []result.Row{row}, Err: err}
		}
	}
	return list
}

// row compares a pair. Whatever goes wrong is a reason in the row.
func (m *matching) row(ctx context.Context, p *pair, w *engine.Worker) (result.Row, error) {
	r := result.Row{Index: int(p.index), Op: p.op, Role: result.Whole, Slot: -1}
	r.Facts.Order = r.Index
	if p.left != nil {
		r.Left.File = p.left.path
		r.Role = p.left.role()
	}
	if p.right != nil {
		r.Right.File = p.right.path
		r.Role = p.right.role()
	}
	why := p.reason
	if why == nil {
		why = p.check()
	}
	if why == nil {
		left, right, failed := m.open(p)
		if failed == nil {
			return r, w.Compare(ctx, &r, left, right, p.left.path, p.right.path)
		}
		why = failed
	}
	r.Add(*why)
	return r, ctx.Err()
}

// check compares what the attributes say.
func (p *pair) check() *result.Reason {
	switch {
	case p.left.err != nil:
		return unreadable(p.op, p.left, p.left.err)
	case p.right.err != nil:
		return unreadable(p.op, p.right, p.right.err)
	case p.left.data == dataMissing:
		return because(result.NoLeftType, p.op, p.left.path)
	case p.right.data == dataMissing:
		return because(result.NoRightType, p.op, p.right.path)
	case !p.left.data.comparable(p.right.data):
		return because(result.TypesDiffer, p.op, p.left.data.String(), p.left.path, p.right.data.String(), p.right.path)
	}
	return nil
}

func because(kind result.Kind, args ...string) *result.Reason {
	r := result.Because(kind, args...)
	return &r
}

func unreadable(op string, t *tensor, err error) *result.Reason {
	return because(result.BadFile, op, t.path, err.Error())
}

// open prepares both tensors. Only golden tensors of another device are
// recorded in the order of their memory.
func (m *matching) open(p *pair) (left, right *engine.Tensor, failed *result.Reason) {
	left, err := m.left.open(p.left, false)
	if err != nil {
		return nil, nil, unreadable(p.op, p.left, err)
	}
	device := m.right.device
	right, err = m.right.open(p.right, device == deviceGPU || device == deviceCPU)
	if err != nil {
		return nil, nil, unreadable(p.op, p.right, err)
	}
	return left, right, nil
}

// ahead reads a block of a tensor at a time.
type ahead struct {
	from        *layout.Reader
	size, count int64
	block       []byte
	first, n    int64 // the elements in the block
}

func (a *ahead) ReadTile(dst []byte, first, n int64) error {
	if first < a.first || first+n > a.first+a.n {
		a.first, a.n = first, 0
		m := min(max(n, blockTiles*metric.TileLen), a.count-first)
		a.block = slices.Grow(a.block[:0], int(m*a.size))[:m*a.size]
		if err := a.from.ReadTile(a.block, first, m); err != nil {
			return err
		}
		a.n = m
	}
	copy(dst[:n*a.size], a.block[(first-a.first)*a.size:])
	return nil
}
