package engine

import (
	"context"
	"slices"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/scaled"
	"precision/internal/must"
	"precision/internal/nd"
	catalogue "precision/op"
)

// Quantised numbers and their scales
//
// A quantiser gives numbers of few bits and their scales, and neither says what the other does not: the value is their product. The
// same value may come with another scale, a power of two for one that is not. So where both differ between the sides, the products
// are compared in place of either; where one is the same, the other tells all.

// mostScales bounds the scales of a tensor, which are held in memory.
const mostScales = 1 << 22

// Quantised are numbers and their scales, in the order of their axes.
type Quantised struct{ Numbers, Scales *Tensor }

// Products are the values of two sides, and the types of their numbers. They are not ok where a part is the same on both sides and the
// other a number as it is, where both are the same, or what cannot be read or is none of a pair.
func Products(ctx context.Context, left, right Quantised) (a, b *Tensor, numbers [2]dtype.Type, ok bool) {
	var sides [2]*Tensor
	var by [2][]float64
	bare := false
	for i, q := range []Quantised{left, right} {
		if q.Scales.Count > mostScales || q.Scales.Type.Parts() > 1 || q.Numbers.Type.Parts() > 1 {
			return nil, nil, numbers, false
		}
		factors, err := q.Scales.numbers(q.Scales.Open(), 0, q.Scales.Count)
		if err != nil {
			return nil, nil, numbers, false
		}
		p, err := scaled.Of(scaled.Tensor{Type: q.Numbers.Type, Shape: q.Numbers.Shape}, scaled.Tensor{Type: q.Scales.Type, Shape: q.Scales.Shape}, factors, true)
		if err != nil {
			return nil, nil, numbers, false
		}
		by[i], numbers[i], bare = factors, p.Type, bare || p.Bare // as numbers by now
		sides[i] = &Tensor{Type: dtype.Float32, Shape: p.Shape, Count: p.Len(), Open: func() Elements { return &valued{p, q.Numbers, q.Numbers.Open()} }}
	}
	if !slices.Equal(nd.WithoutOnes(sides[0].Shape), nd.WithoutOnes(sides[1].Shape)) {
		return nil, nil, numbers, false
	}
	if same := slices.Equal(by[0], by[1]); same && !bare || (same || !bare) && alike(ctx, left.Numbers, right.Numbers) {
		return nil, nil, numbers, false
	}
	return sides[0], sides[1], numbers, true
}

// alike tells whether two tensors hold the same numbers; what cannot be read is the same.
func alike(ctx context.Context, a, b *Tensor) bool {
	from, with := a.Open(), b.Open()
	for at := int64(0); at < a.Count && a.Count == b.Count && ctx.Err() == nil; at += metric.TileLen {
		n := min(metric.TileLen, a.Count-at)
		x, err := a.numbers(from, at, n)
		y, failed := b.numbers(with, at, n)
		if err != nil || failed != nil {
			return true
		}
		for i := range x {
			if x[i] != y[i] {
				return false
			}
		}
	}
	return a.Count == b.Count
}

// numbers are elements as numbers.
func (t *Tensor) numbers(from Elements, first, n int64) ([]float64, error) {
	raw := make([]byte, t.Type.Bytes(n))
	if err := t.read(from, raw, first, n); err != nil {
		return nil, err
	}
	v := make([]float64, n*int64(t.Type.Parts())+1)
	return v[:min(n*int64(t.Type.Parts()), int64(dtype.Widen64(t.Type, v, raw)))], nil
}

// read reads elements with the low byte first.
func (t *Tensor) read(from Elements, raw []byte, first, n int64) error {
	err := from.ReadTile(raw, first, n)
	if t.BigEndian {
		t.operand().swap(raw)
	}
	return err
}

// valued reads the values of quantised numbers.
type valued struct {
	of      *scaled.Product
	numbers *Tensor
	from    Elements
}

func (v *valued) ReadTile(dst []byte, first, n int64) error {
	return v.of.Read(dst[:4*n], first, func(raw []byte, first, n int64) error { return v.numbers.read(v.from, raw, first, n) })
}

// as is a tensor each element of which holds so many of a type.
func (t *Tensor) as(typ dtype.Type, per int64) *Tensor {
	shape := slices.Clone(t.Shape)
	if len(shape) > 0 {
		shape[len(shape)-1] *= per
	}
	return &Tensor{Type: typ, Shape: shape, Count: t.Count * per, Open: func() Elements { return &holding{t, t.Open(), per} }}
}

// holding reads what elements hold, from a whole one on.
type holding struct {
	of   *Tensor
	from Elements
	per  int64
}

func (h *holding) ReadTile(dst []byte, first, n int64) error {
	n = (n + h.per - 1) / h.per
	return h.of.read(h.from, dst[:h.of.Type.Bytes(n)], first/h.per, n)
}

// pairIn finds the numbers and the scales among the tensors of a dump that one of them belongs to; nil where there are none.
func pairIn(list []*dump.Tensor, t *dump.Tensor) (numbers, scales *dump.Tensor) {
	all, at := make([]scaled.Tensor, len(list)), 0
	for i, x := range list {
		all[i] = scaled.Tensor{Type: x.Type, Shape: shapeOf(x)}
		if x == t {
			at = i
		}
	}
	n, s, ok := scaled.Pair(all, !t.Input, at)
	if !ok || list[n].Err != nil || list[s].Err != nil {
		return nil, nil
	}
	return list[n], list[s]
}

// products compares what quantised numbers of a dump stand for, where numbers and scales of both sides differ, and tells whether it
// did. beside opens the golden side of a tensor that stands beside that of the row.
func (e *engine) products(ctx context.Context, row *result.Row, left *dumpFile, t *dump.Tensor, right *rightTensor, s *Worker,
	beside func(*dump.Tensor) *rightTensor) (done bool) {
	if e.opt.dialect().terse || e.opt.Unshard != nil || e.opt.Scripts != nil || e.opt.MaxElements > 0 ||
		!catalogue.Is(row.Type, catalogue.Quantises) && !(t.Input && catalogue.Is(row.Type, catalogue.Product)) {
		return false
	}
	numbers, scales := pairIn(left.tensors(t.Input, !t.Input), t)
	if numbers == nil {
		return false
	}
	// What no product is known of is not bytes all the same: exponents are powers of two, of which one more is twice as much and no byte in
	// 126, and of several numbers in a byte or word each has a sign.
	alone := func() bool {
		typ, per := dtype.Float8E8M0, int64(1)
		if t == numbers {
			typ, per = scaled.Packed(t.Type)
		} else if t.Type != dtype.Uint8 {
			typ = t.Type
		}
		a, err := logical(left, t)
		b, failed := logical(right.file, right.tensor)
		if typ == t.Type || right.tensor.Type != t.Type || err != nil || failed != nil || !slices.Equal(nd.WithoutOnes(a.Shape), nd.WithoutOnes(b.Shape)) {
			must.Do(ctx.Err())
			return false
		}
		must.Do(s.Compare(ctx, row, a.as(typ, per), b.as(typ, per), left.Path, right.path()))
		setTypes(row, t, right.tensor)
		row.Left.DType, row.Right.DType = typ, typ
		return true
	}
	golden := [2]*rightTensor{right, right}
	other, at := scales, 1
	if t == scales {
		other, at = numbers, 0
	}
	g, err := must.Of(func() *rightTensor { return beside(other) })
	if err != nil {
		return alone()
	}
	if golden[at] = g; g.file != right.file {
		defer g.Close()
	}
	var parts [4]*Tensor
	for i, x := range []struct {
		file *dumpFile
		t    *dump.Tensor
	}{{left, numbers}, {left, scales}, {golden[0].file, golden[0].tensor}, {golden[1].file, golden[1].tensor}} {
		if parts[i], err = logical(x.file, x.t); err != nil {
			return alone()
		}
	}
	a, b, types, ok := Products(ctx, Quantised{parts[0], parts[1]}, Quantised{parts[2], parts[3]})
	if !ok {
		return alone()
	}
	must.Do(s.Compare(ctx, row, a, b, left.Path, golden[0].path()))
	setTypes(row, t, right.tensor)
	row.Left.DType, row.Right.DType = types[0], types[1]
	row.Add(result.Because(result.TimesScales, row.Tensor()))
	return true
}

// logical is a tensor of a dump in the order of the framework's axes, without padding.
func logical(f *dumpFile, t *dump.Tensor) (_ *Tensor, err error) {
	defer must.Catch(&err)
	must.Do(t.Err)
	v, _, err := originView(storedOf(t))
	if t.Fortran {
		v, err = t.View()
	}
	must.Do(err)
	made := must.Get(viewOperand(f, t.Offset, t.Type, t.BigEndian, v)).tensor(v.Dims)
	return &made, nil
}
