package engine

import (
	"context"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
)

// Tensor is one side of a pair, ready to be read: elements of one type in the
// order they are compared in.
type Tensor struct {
	Type dtype.Type
	// Shape is the logical shape; a scalar has an empty one.
	Shape []int64
	// Count is the number of elements.
	Count int64
	// BigEndian: multi-byte elements are stored with the high byte first.
	BigEndian bool
	// Open starts a reader of the elements, for one goroutine.
	Open func() Elements
}

// Compare computes a pair and puts the result into the row, or why it cannot be
// computed: element types without numbers, numbers of elements that differ, a
// side that cannot be read. left and right name the tensors in reasons. The error
// is that of a context that is done.
func (s *Worker) Compare(ctx context.Context, row *result.Row, left, right *Tensor, leftName, rightName string) error {
	row.Left.DType, row.Left.Shape = left.Type, left.Shape
	row.Right.DType, row.Right.Shape = right.Type, right.Shape
	for _, t := range []*Tensor{left, right} {
		if !t.Type.Readable() {
			row.Add(result.Because(result.DTypeUnknown, row.Op, t.Type.String(), count(int(t.Type))))
			return nil
		}
	}
	if left.Count != right.Count {
		row.Add(result.Because(result.ElementsDiffer, row.Op, count(left.Count), count(right.Count)))
		return nil
	}
	scalar := s.opt.dialect().scalar(left.Shape)
	pair := s.opt.pairing(row, left.operand(), right.operand(), left.Count, dtype.Coarser(left.Type, right.Type), scalar, false)
	if g := s.opt.Glance; g != nil {
		if row.Shape = left.Shape; !g.Wanted(row) {
			return nil
		}
		return g.take(ctx, row, pair, s)
	}
	came, err := pair.outcome(ctx, s)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := sideOf(err, leftName, rightName)
		why := strings.TrimPrefix(err.Error(), name+": ") // readers of some formats name the file
		row.Unreadable(result.Because(result.BadFile, row.Op, name, why), name, err)
		return nil
	}
	row.Facts.Scalar, row.Shape = scalar, left.Shape
	came.put(row, leftName, rightName)
	return nil
}

func (t *Tensor) operand() *operand {
	return &operand{typ: t.Type, big: t.BigEndian, count: t.Count, open: t.Open}
}
