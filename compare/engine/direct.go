package engine

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/layout"
)

// Direct mode matches the operators of two NPU dumps by name. An operator of
// only one side has a row that says so.

// direct compares an operator of two NPU dumps.
func (e *engine) direct(p pairOp) Group {
	return func(ctx context.Context, s *Worker) (out Found) {
		out.Err = e.directOp(ctx, p, s, &out)
		return out
	}
}

func (e *engine) directOp(ctx context.Context, p pairOp, s *Worker, out *Found) error {
	row := wholeRow(p.index)
	switch {
	case p.right == nil:
		row.Left.Names, row.Right.Names = p.left.Key, "*"
		row.Op = p.left.Key
		e.oneSided(row, p.left, result.NoRightOp, out)
		return nil
	case p.left == nil:
		row.Left.Names, row.Right.Names = "*", p.right.Key
		row.Op = p.right.Key
		e.oneSided(row, p.right, result.NoLeftOp, out)
		return nil
	}
	row.Op = p.left.Key
	row.Left.Names, row.Right.Names = row.Op, row.Op
	leftFile, err := e.openDump(p.left)
	if err != nil {
		row.Unreadable(result.Because(result.BadDump, err.Error()), p.left.Newest().Path, err)
		out.Failed = err
		out.add(row)
		return nil
	}
	defer leftFile.Close()
	rightFile, err := e.openDump(p.right)
	if err != nil {
		row.Unreadable(result.Because(result.BadDump, err.Error()), p.right.Newest().Path, err)
		out.Failed = err
		out.add(row)
		return nil
	}
	defer rightFile.Close()
	row.Left.File, row.Right.File = leftFile.Path, rightFile.Path
	d := e.opt.dialect()
	if d.allOrNothing {
		for _, f := range []*dumpFile{leftFile, rightFile} {
			if bad := f.allBad(); bad != nil {
				row.Unreadable(result.Because(result.BadDump, bad.Error()), f.Path, bad)
				out.Failed = bad
				out.add(row)
				return nil
			}
			out.Failed = cmp.Or(out.Failed, f.cut())
		}
	}
	base := row
	base.Type = p.left.Newest().Name.OpType
	if d.terse && p.left.Newest().Name.File != filepath.Base(p.left.Newest().Path) {
		base.Type = "" // of a renamed file the old tool does not know the type
	}
	base.Op, base.Left.Names, base.Right.Names = leftFile.op, leftFile.op, leftFile.op
	for _, remark := range []*result.Reason{leftFile.remark, rightFile.remark} {
		if remark != nil && !d.terse {
			base.Add(*remark)
		}
	}
	var idle []result.Reason
	for _, input := range []bool{true, false} {
		left, right := leftFile.tensors(input, !input), rightFile.tensors(input, !input)
		if skipped := e.skipDirection(row.Op, input, left, right); skipped != nil {
			idle = append(idle, *skipped)
			if !d.terse && len(left) != len(right) {
				rows := unpaired(base, left, right, *skipped)
				for i, t := range left {
					if !e.checkOverflow(ctx, &rows[i], leftFile, t, s) && ctx.Err() != nil {
						return ctx.Err()
					}
				}
				out.add(rows...)
			}
			continue
		}
		for i, t := range left {
			r := base
			r.Role, r.Slot = role(input), t.Index
			e.place(&r, p.left.Key)
			if err := e.directTensor(ctx, &r, leftFile, t, rightFile, right[i], s); err != nil {
				return err
			}
			out.add(r)
		}
	}
	if len(idle) == 2 {
		out.Failed = faultf(FaultBadDump, "operator %q has no tensors that can be paired", row.Op)
	}
	if len(out.Rows) == 0 {
		row.Add(idle...)
		out.add(row)
	}
	return nil
}

// oneSided adds the row of an operator that only one side has, or what of its dump cannot be
// believed.
func (e *engine) oneSided(row result.Row, files *dump.Op, why result.Kind, out *Found) {
	out.Failed = &MissingError{row.Op}
	rows := e.damaged(row, nil, files)
	if len(rows) == 0 {
		row.Add(result.Because(why, row.Op))
		rows = []result.Row{row}
	}
	out.add(rows...)
}

// unpaired are rows of tensors of which the two sides have different numbers, so
// that it cannot be told which belong together: one for every number, as many
// as the side with more of them has.
func unpaired(base result.Row, left, right []*dump.Tensor, why result.Reason) (rows []result.Row) {
	for i := range max(len(left), len(right)) {
		r := base
		r.Reasons = append(slices.Clone(base.Reasons), why)
		if i < len(right) {
			r.Role, r.Slot, r.Shape = role(right[i].Input), right[i].Index, shapeOf(right[i])
			r.Right.Address = &right[i].Address
		}
		if i < len(left) {
			r.Role, r.Slot, r.Shape = role(left[i].Input), left[i].Index, shapeOf(left[i])
			r.Left.Address = &left[i].Address
		}
		rows = append(rows, r)
	}
	return rows
}

// skipDirection tells why the inputs or the outputs of an operator cannot be
// paired. The old tool drops a whole direction for one tensor of another
// shape, here that tensor alone has a row with the reason; of other numbers of
// tensors it says nothing as long as the other direction can be compared, here
// each has a row that says so.
func (e *engine) skipDirection(op string, input bool, left, right []*dump.Tensor) *result.Reason {
	word := role(input).String()
	because := func(kind result.Kind, args ...string) *result.Reason {
		r := result.Because(kind, args...)
		return &r
	}
	switch {
	case len(left) != len(right):
		return because(result.CountsDiffer, op, word, count(len(left)), count(len(right)))
	case len(left) == 0:
		return because(result.NoSuchTensors, op, word)
	}
	if e.opt.dialect().allOrNothing {
		for i := range left {
			if !slices.Equal(left[i].Shape, right[i].Shape) {
				return &shapeMismatch(op, input, left[i], right[i]).Reason
			}
		}
	}
	return nil
}

func shapeMismatch(op string, input bool, left, right *dump.Tensor) *PairError {
	return planFailed(result.ShapeOf, op, shapeText(left.Shape), shapeText(right.Shape), result.TensorName(op, role(input), left.Index))
}

func (e *engine) directTensor(ctx context.Context, row *result.Row, leftFile *dumpFile, t *dump.Tensor, rightFile *dumpFile, g *dump.Tensor, s *Worker) error {
	row.Left.Address, row.Right.Address = &t.Address, &g.Address
	row.Shape = shapeOf(t)
	if !e.checkOverflow(ctx, row, leftFile, t, s) {
		return ctx.Err()
	}
	setTypes(row, t, g)
	if !slices.Equal(t.Shape, g.Shape) {
		row.Add(shapeMismatch(row.Op, t.Input, t, g).Reason)
		return nil
	}
	if g.Err != nil {
		row.Unreadable(result.Because(result.BadTensor, row.Op, g.Err.Error()), rightFile.Path, g.Err)
		return nil
	}
	right := &rightTensor{file: rightFile, tensor: g}
	if done, err := e.products(ctx, row, leftFile, t, right, s, func(other *dump.Tensor) (*rightTensor, *PairError) {
		for _, g := range rightFile.tensors(other.Input, !other.Input) {
			if g.Index == other.Index && slices.Equal(other.Shape, g.Shape) {
				return &rightTensor{file: rightFile, tensor: g}, nil
			}
		}
		return nil, noRight(row.Op, row.Tensor())
	}); done || err != nil {
		return err
	}
	err := e.comparePair(ctx, row, leftFile, t, nil, right, func(st stored) (plan, *PairError) {
		golden := storedOf(g)
		left, view, err := originViews(st, golden)
		if err != nil {
			return plan{}, planFailed(result.BadView, row.Op, err.Error())
		}
		if e.opt.dialect().restores {
			if order, ok := layout.Order(golden.format, st.format); ok && len(order) == len(view.Dims) && st.format != golden.format {
				if view, err = view.Transpose(order); err != nil {
					return plan{}, planFailed(result.BadView, row.Op, err.Error())
				}
			}
			if otherOrder(left.Dims, view.Dims) {
				return plan{}, planFailed(result.AxesUnknown, row.Op, shapeText(left.Dims), shapeText(view.Dims))
			}
		}
		right.view = view
		if left.Len() != right.view.Len() {
			return plan{}, shapesDiffer(row.Op, left.Dims, right.view.Dims)
		}
		return plan{view: left, shape: st.shape, count: left.Len()}, nil
	}, s)
	row.Shape = shapeOf(t)
	return err
}
