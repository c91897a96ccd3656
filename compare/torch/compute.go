package torch

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"precision/compare"
	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// blockTiles is how many tiles are read at a time: 1 MiB of float32, so that a
// compressed chunk is seldom decoded for two reads.
const blockTiles = 8

// compute fills the rows, one pair a worker.
func (t *Table) compute(ctx context.Context, m *matching) error {
	var next, done atomic.Int64
	var all sync.WaitGroup
	var progress sync.Mutex
	for range min(t.opt.Workers, len(m.pairs)) {
		all.Go(func() {
			var s scratch
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= len(m.pairs) {
					return
				}
				t.Rows[i] = t.row(ctx, m, &m.pairs[i], &s)
				progress.Lock()
				n := done.Add(1)
				if t.opt.Progress != nil {
					t.opt.Progress(int(n), len(m.pairs))
				}
				progress.Unlock()
			}
		})
	}
	all.Wait()
	if int(done.Load()) < len(m.pairs) || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// row compares a pair. Whatever goes wrong is a reason in the row.
func (t *Table) row(ctx context.Context, m *matching, p *pair, s *scratch) result.Row {
	r := result.Row{Index: int(p.index), Op: p.op, Role: result.Whole, Slot: -1}
	r.Facts.Order = r.Index
	if p.mine != nil {
		r.Left.File = p.mine.path
		r.Role = p.mine.role()
	}
	if p.golden != nil {
		r.Right.File = p.golden.path
		r.Role = p.golden.role()
	}
	if p.reason == nil {
		p.reason = t.check(p)
	}
	if p.reason == nil {
		p.reason = t.compare(ctx, m, p, &r, s)
	}
	if p.reason != nil {
		r.Add(*p.reason)
	}
	return r
}

// check compares what the attributes say.
func (t *Table) check(p *pair) *result.Reason {
	switch {
	case p.mine.err != nil:
		return unreadable(p.op, p.mine, p.mine.err)
	case p.golden.err != nil:
		return unreadable(p.op, p.golden, p.golden.err)
	case p.mine.data == dataMissing:
		return because(result.NoLeftType, p.op, p.mine.path)
	case p.golden.data == dataMissing:
		return because(result.NoRightType, p.op, p.golden.path)
	case !p.mine.data.comparable(p.golden.data):
		return because(result.TypesDiffer, p.op, p.mine.data.String(), p.mine.path, p.golden.data.String(), p.golden.path)
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
func (m *matching) open(p *pair) (mine, golden *source, failed *result.Reason) {
	mine, err := m.mine.open(p.mine, false)
	if err != nil {
		return nil, nil, unreadable(p.op, p.mine, err)
	}
	device := m.golden.device
	golden, err = m.golden.open(p.golden, device == deviceGPU || device == deviceCPU)
	if err != nil {
		return nil, nil, unreadable(p.op, p.golden, err)
	}
	return mine, golden, nil
}

func (t *Table) compare(ctx context.Context, m *matching, p *pair, r *result.Row, s *scratch) *result.Reason {
	mine, golden, failed := m.open(p)
	if failed != nil {
		return failed
	}
	if mine.count != golden.count {
		return because(result.ElementsDiffer, p.op, strconv.FormatInt(mine.count, 10), strconv.FormatInt(golden.count, 10))
	}
	count := mine.count
	if t.opt.MaxElements > 0 {
		count = min(count, t.opt.MaxElements)
	}
	r.Facts.Scalar = t.opt.scalar(mine.shape)
	run := metric.NewRun(metric.Config{Numerics: t.opt.numerics(), Metrics: t.opt.Metrics, Scalar: r.Facts.Scalar})
	s.wide = t.opt.Exact && !(mine.typ.FitsFloat32() && golden.typ.FitsFloat32())
	for {
		for first := int64(0); first < count; first += blockTiles * metric.TileLen {
			if err := context.Cause(ctx); err != nil {
				return unreadable(p.op, p.mine, err)
			}
			n := min(count-first, blockTiles*metric.TileLen)
			if err := s.x.load(mine, first, n, s.wide); err != nil {
				return unreadable(p.op, p.mine, err)
			}
			if err := s.y.load(golden, first, n, s.wide); err != nil {
				return unreadable(p.op, p.golden, err)
			}
			s.reduce(run, n)
		}
		if !run.Next() {
			break
		}
	}
	r.Left.DType, r.Left.Shape = mine.typ, append([]int64{}, mine.shape...)
	r.Right.DType, r.Right.Shape = golden.typ, append([]int64{}, golden.shape...)
	r.Shape = r.Left.Shape
	compare.SetResult(r, run.Result(), p.mine.path, p.golden.path)
	return nil
}

// scalar tells whether a shape counts as that of a scalar: all dimensions are
// 1. The old tool goes by the sum of the dimensions, which takes [0,2] as well.
func (o *Options) scalar(shape []int64) bool {
	ones, sum := true, int64(0)
	for _, d := range shape {
		ones = ones && d == 1
		sum += d
	}
	if o.Exact {
		return ones
	}
	return sum == int64(len(shape))
}

// scratch is the memory of a worker.
type scratch struct {
	x, y    numbers
	wide    bool
	partial metric.Partial
}

// numbers is a block of a tensor.
type numbers struct {
	raw []byte
	f32 []float32
	f64 []float64
}

func (b *numbers) load(src *source, first, n int64, wide bool) error {
	size := src.typ.Bytes(n)
	b.raw = grow(b.raw, size)
	if err := src.ReadTile(b.raw, first, n); err != nil {
		return err
	}
	if wide {
		b.f64 = grow(b.f64, n)
		dtype.Widen64(src.typ, b.f64, b.raw)
	} else {
		b.f32 = grow(b.f32, n)
		dtype.Widen32(src.typ, b.f32, b.raw)
	}
	return nil
}

// grow returns a slice of length n, using s when it is large enough.
func grow[T any](s []T, n int64) []T {
	if int64(cap(s)) < n {
		return make([]T, n)
	}
	return s[:n]
}

// reduce hands the block that is loaded to the run, tile by tile.
func (s *scratch) reduce(run *metric.Run, n int64) {
	for lo := int64(0); lo < n; lo += metric.TileLen {
		hi := min(lo+metric.TileLen, n)
		if s.wide {
			run.Reduce64(&s.partial, s.x.f64[lo:hi], s.y.f64[lo:hi])
		} else {
			run.Reduce32(&s.partial, s.x.f32[lo:hi], s.y.f32[lo:hi])
		}
		run.Fold(&s.partial)
	}
}
