package engine

import (
	"context"
	"slices"

	"precision/compare/result"
	"precision/dump"
	"precision/internal/must"
)

// Named mode compares NPU dumps with golden arrays by operator name, for users
// without a graph. Only outputs can be matched: which operator produced an
// input is known to the graph alone. Fused operators find their golden array
// only when it has their name.

// named compares an operator of the NPU side with the arrays of its name.
func (e *engine) named(ctx context.Context, s *Worker, p pairOp) (out Found) {
	out.Err = must.Try(func() { e.namedOp(ctx, p, s, &out) })
	return out
}

func (e *engine) namedOp(ctx context.Context, p pairOp, s *Worker, out *Found) {
	row := wholeRow(p.index)
	row.Op, row.Type = p.left.Key, p.left.Newest().Name.OpType
	row.Left.Names, row.Right.Names = row.Op, row.Op
	if !e.rightOps[p.left.Key] {
		row.Right.Names = "*"
		if rows := e.damaged(row, e.byKey[p.left.Key], p.left); len(rows) > 0 {
			out.add(rows...)
			return
		}
		row.Add(result.Because(result.NoRightOp, row.Op))
		out.add(row)
		return
	}
	left, err := e.openDump(p.left)
	if err != nil {
		out.Failed = err
		out.add(e.perOutput(row, e.byKey[p.left.Key], unreadable(result.BadDump, p.left.Newest().Path, err, err.Error()))...)
		return
	}
	defer left.Close()
	row.Left.File = left.Path
	outputs := left.tensors(false, true)
	if len(outputs) == 0 {
		row.Add(result.Because(result.NoOutputs, row.Op, left.Path))
		out.add(row)
	}
	out.Rows = slices.Grow(out.Rows, len(outputs)) // there may be tens of thousands
	for _, t := range outputs {
		r := row
		r.Role, r.Slot = result.Output, t.Index
		e.place(&r, p.left.Key)
		must.Do(onRow(&r, func() { e.namedTensor(ctx, &r, left, t, s) }))
		out.add(r)
	}
}

func (e *engine) namedTensor(ctx context.Context, row *result.Row, left *dumpFile, t *dump.Tensor, s *Worker) {
	row.Left.Address = &t.Address
	row.Shape = shapeOf(t)
	e.checkOverflow(ctx, row, left, t, s)
	if err := e.contradiction(row, e.byKey[left.op], left, t); err != nil {
		must.Do(unreadable(result.BadTensor, left.Path, err, row.Op, err.Error()))
	}
	right := e.rightArray(row, row.Op, t.Index)
	defer right.Close()
	// Without a graph the array's own shape is all there is to go by.
	g := rightShape{rule: t.OriginShape, data: right.shape()}
	by := func(op string, s stored, g rightShape) plan { return namedPlan(op, s, g, e.channelsLast) }
	if e.opt.Unshard != nil {
		e.unshard(ctx, row, left, t, right, &g, by, s)
	}
	if !e.products(ctx, row, left, t, right, s, func(other *dump.Tensor) *rightTensor {
		asked := *row
		return e.rightArray(&asked, row.Op, other.Index)
	}) {
		e.comparePair(ctx, row, left, t, nil, right, func(s stored) plan { return by(row.Op, s, g) }, s)
	}
}
