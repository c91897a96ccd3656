package engine

import (
	"context"
	"slices"

	"precision/compare/result"
	"precision/dump"
)

// Named mode compares NPU dumps with golden arrays by operator name, for users
// without a graph. Only outputs can be matched: which operator produced an
// input is known to the graph alone. Fused operators find their golden array
// only when it has their name.

// named compares an operator of the NPU side with the arrays of its name.
func (e *engine) named(ctx context.Context, s *Worker, p pairOp) (out Found) {
	out.Err = e.namedOp(ctx, p, s, &out)
	return out
}

func (e *engine) namedOp(ctx context.Context, p pairOp, s *Worker, out *Found) error {
	row := wholeRow(p.index)
	row.Op, row.Type = p.left.Key, p.left.Newest().Name.OpType
	row.Left.Names, row.Right.Names = row.Op, row.Op
	if !e.rightOps[p.left.Key] {
		row.Right.Names = "*"
		if rows := e.damaged(row, e.byKey[p.left.Key], p.left); len(rows) > 0 {
			out.add(rows...)
			return nil
		}
		row.Add(result.Because(result.NoRightOp, row.Op))
		out.add(row)
		return nil
	}
	left, err := e.openDump(p.left)
	if err != nil {
		out.Failed = err
		out.add(e.perOutput(row, e.byKey[p.left.Key], unreadable(result.BadDump, p.left.Newest().Path, err, err.Error()))...)
		return nil
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
		if err := e.namedTensor(ctx, &r, left, t, s); err != nil {
			return err
		}
		out.add(r)
	}
	return nil
}

func (e *engine) namedTensor(ctx context.Context, row *result.Row, left *dumpFile, t *dump.Tensor, s *Worker) error {
	row.Left.Address = &t.Address
	row.Shape = shapeOf(t)
	if !e.checkOverflow(ctx, row, left, t, s) {
		return ctx.Err()
	}
	if err := e.contradiction(row, e.byKey[left.op], left, t); err != nil {
		row.Unreadable(result.Because(result.BadTensor, row.Op, err.Error()), left.Path, err)
		return nil
	}
	right, failed := e.rightArray(row, row.Op, t.Index)
	if failed != nil {
		refuse(row, failed)
		return nil
	}
	defer right.Close()
	// Without a graph the array's own shape is all there is to go by.
	g := rightShape{rule: t.OriginShape, data: right.shape()}
	planner := func(op string, s stored, g rightShape) (plan, *PairError) { return namedPlan(op, s, g, e.channelsLast) }
	if e.opt.Unshard != nil {
		if err := e.unshard(ctx, row, left, t, right, &g, planner, s); err != nil {
			return err
		}
	}
	if done, err := e.products(ctx, row, left, t, right, s, func(other *dump.Tensor) (*rightTensor, *PairError) {
		asked := *row
		return e.rightArray(&asked, row.Op, other.Index)
	}); done || err != nil {
		return err
	}
	return e.comparePair(ctx, row, left, t, nil, right, func(s stored) (plan, *PairError) { return planner(row.Op, s, g) }, s)
}
