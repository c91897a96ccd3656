package engine

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/layout"
	"precision/internal/must"
)

// Direct mode matches the operators of two NPU dumps by name. An operator of
// only one side has a row that says so.

// direct compares an operator of two NPU dumps.
func (e *engine) direct(p pairOp) Group {
	return func(ctx context.Context, s *Worker) (out Found) {
		out.Err = must.Try(func() { e.directOp(ctx, p, s, &out) })
		return out
	}
}

func (e *engine) directOp(ctx context.Context, p pairOp, s *Worker, out *Found) {
	row := wholeRow(p.index)
	switch {
	case p.right == nil:
		row.Left.Names, row.Right.Names = p.left.Key, "*"
		row.Op = p.left.Key
		e.oneSided(row, p.left, result.NoRightOp, out)
		return
	case p.left == nil:
		row.Left.Names, row.Right.Names = "*", p.right.Key
		row.Op = p.right.Key
		e.oneSided(row, p.right, result.NoLeftOp, out)
		return
	}
	row.Op = p.left.Key
	row.Left.Names, row.Right.Names = row.Op, row.Op
	unread := func(path string, err error) {
		row.Unreadable(result.Because(result.BadDump, err.Error()), path, err)
		out.Failed = err
		out.add(row)
	}
	leftFile, err := e.openDump(p.left)
	if err != nil {
		unread(p.left.Newest().Path, err)
		return
	}
	defer leftFile.Close()
	rightFile, err := e.openDump(p.right)
	if err != nil {
		unread(p.right.Newest().Path, err)
		return
	}
	defer rightFile.Close()
	row.Left.File, row.Right.File = leftFile.Path, rightFile.Path
	d := e.opt.dialect()
	if d.allOrNothing {
		for _, f := range []*dumpFile{leftFile, rightFile} {
			if bad := f.allBad(); bad != nil {
				unread(f.Path, bad)
				return
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
					must.Do(onRow(&rows[i], func() { e.checkOverflow(ctx, &rows[i], leftFile, t, s) }))
				}
				out.add(rows...)
			}
			continue
		}
		for i, t := range left {
			r := base
			r.Role, r.Slot = role(input), t.Index
			e.place(&r, p.left.Key)
			must.Do(onRow(&r, func() { e.directTensor(ctx, &r, leftFile, t, rightFile, right[i], s) }))
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

func (e *engine) directTensor(ctx context.Context, row *result.Row, leftFile *dumpFile, t *dump.Tensor, rightFile *dumpFile, g *dump.Tensor, s *Worker) {
	row.Left.Address, row.Right.Address = &t.Address, &g.Address
	row.Shape = shapeOf(t)
	e.checkOverflow(ctx, row, leftFile, t, s)
	setTypes(row, t, g)
	if !slices.Equal(t.Shape, g.Shape) {
		must.Do(shapeMismatch(row.Op, t.Input, t, g))
	}
	if g.Err != nil {
		must.Do(unreadable(result.BadTensor, rightFile.Path, g.Err, row.Op, g.Err.Error()))
	}
	right := &rightTensor{file: rightFile, tensor: g}
	if e.products(ctx, row, leftFile, t, right, s, func(other *dump.Tensor) *rightTensor {
		for _, g := range rightFile.tensors(other.Input, !other.Input) {
			if g.Index == other.Index && slices.Equal(other.Shape, g.Shape) {
				return &rightTensor{file: rightFile, tensor: g}
			}
		}
		panic(must.Failure(noRight(row.Op, row.Tensor())))
	}) {
		return
	}
	e.comparePair(ctx, row, leftFile, t, nil, right, func(st stored) plan {
		golden := storedOf(g)
		left, view, err := originViews(st, golden)
		view = viewed(row.Op)(view, err)
		if e.opt.dialect().restores {
			if order, ok := layout.Order(golden.format, st.format); ok && len(order) == len(view.Dims) && st.format != golden.format {
				view = viewed(row.Op)(view.Transpose(order))
			}
			if otherOrder(left.Dims, view.Dims) {
				must.Do(planFailed(result.AxesUnknown, row.Op, shapeText(left.Dims), shapeText(view.Dims)))
			}
		}
		right.view = view
		if left.Len() != right.view.Len() {
			must.Do(shapesDiffer(row.Op, left.Dims, right.view.Dims))
		}
		return plan{view: left, shape: st.shape, count: left.Len()}
	}, s)
	row.Shape = shapeOf(t)
}
