package compare

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"precision/dump"
	"precision/dump/layout"
)

// Direct mode matches the operators of two NPU dumps by name. An operator of
// only one side has a row that says so.

// pairOp is an operator of either side or both.
type pairOp struct {
	index        int
	mine, golden *dump.Op
}

// pairOps numbers the operators: those of the left side in the time order of
// their newest files, then those only the right side has, in its order.
func pairOps(mine, golden *dump.Folder) []pairOp {
	var out []pairOp
	partner := map[string]*dump.Op{}
	for _, op := range byTime(golden) {
		partner[op.Key] = op
	}
	for _, op := range byTime(mine) {
		out = append(out, pairOp{len(out), op, partner[op.Key]})
		delete(partner, op.Key)
	}
	for _, op := range byTime(golden) {
		if partner[op.Key] == op {
			out = append(out, pairOp{len(out), nil, op})
		}
	}
	return out
}

// direct compares an operator of two NPU dumps.
func (e *engine) direct(ctx context.Context, p pairOp, s *scratch) outcome {
	var out outcome
	row := Row{Index: p.index, Sequence: int64(p.index), order: p.index, Slot: -1}
	switch {
	case p.golden == nil:
		row.Mine, row.Golden = p.mine.Key, "*"
		row.Op = p.mine.Key
		row.addReason(Reason{Kind: NoGolden, Text: fmt.Sprintf("[%s] There is no the ground truth dump file for the op \"%s\".", row.Op, row.Op)})
		out.code = codeNoDump
		out.add(row)
		return out
	case p.mine == nil:
		row.Mine, row.Golden = "*", p.golden.Key
		row.Op = p.golden.Key
		row.addReason(Reason{Kind: NoMine, Text: fmt.Sprintf("[%s] There is no the my output dump file for the op \"%s\".", row.Op, row.Op)})
		out.code = codeNoDump
		out.add(row)
		return out
	}
	row.Op = p.mine.Key
	row.Mine, row.Golden = row.Op, row.Op
	mine, err := e.openDump(p.mine)
	if err != nil {
		row.addReason(Reason{Kind: Unreadable, Text: err.Error()})
		out.code = dump.Code(err)
		out.add(row)
		return out
	}
	defer mine.Close()
	golden, err := e.openDump(p.golden)
	if err != nil {
		row.addReason(Reason{Kind: Unreadable, Text: err.Error()})
		out.code = dump.Code(err)
		out.add(row)
		return out
	}
	defer golden.Close()
	row.minePath, row.goldenPath = mine.Path, golden.Path
	base := row
	base.OpType = p.mine.Newest().Name.OpType
	if e.opt.oldFormat() && p.mine.Newest().Name.File != filepath.Base(p.mine.Newest().Path) {
		base.OpType = "" // of a renamed file the old tool does not know the type
	}
	base.Op, base.Mine, base.Golden = mine.op, mine.op, mine.op
	for _, text := range []string{mine.remark, golden.remark} {
		if text != "" && !e.opt.oldFormat() {
			base.addReason(remark(text))
		}
	}
	var idle []Reason
	for _, input := range []bool{true, false} {
		left, right := mine.tensors(input, !input), golden.tensors(input, !input)
		if skipped := e.skipDirection(row.Op, input, left, right); skipped != nil {
			idle = append(idle, *skipped)
			if !e.opt.oldFormat() && len(left) != len(right) {
				rows := unpaired(base, left, right, *skipped)
				for i, t := range left {
					if !e.checkOverflow(ctx, &rows[i], mine, t, s) && ctx.Err() != nil {
						out.err = ctx.Err()
						return out
					}
				}
				out.add(rows...)
			}
			continue
		}
		for i, t := range left {
			r := base
			r.Input, r.Slot = input, t.Index
			if err := e.directTensor(ctx, &r, mine, t, golden, right[i], s); err != nil {
				out.err = err
				return out
			}
			out.add(r)
		}
	}
	if len(idle) == 2 {
		out.code = codeBadDump
	}
	if len(out.rows) == 0 {
		row.addReason(idle...)
		out.add(row)
	}
	return out
}

// unpaired are rows of tensors of which the two sides have different numbers, so
// that it cannot be told which belong together: one for every number, as many
// as the side with more of them has.
func unpaired(base Row, left, right []*dump.Tensor, why Reason) []Row {
	var rows []Row
	for i := range max(len(left), len(right)) {
		r := base
		r.Reasons = append(slices.Clone(base.Reasons), why)
		if i < len(right) {
			r.Input, r.Slot, r.Shape = right[i].Input, right[i].Index, shapeOf(right[i])
			r.GoldenAddress = strconv.FormatUint(right[i].Address, 10)
		}
		if i < len(left) {
			r.Input, r.Slot, r.Shape = left[i].Input, left[i].Index, shapeOf(left[i])
			r.MineAddress = strconv.FormatUint(left[i].Address, 10)
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
func (e *engine) skipDirection(op string, input bool, left, right []*dump.Tensor) *Reason {
	word := "output"
	if input {
		word = "input"
	}
	switch {
	case len(left) != len(right):
		return &Reason{Kind: ShapeDiffers, Text: fmt.Sprintf("[%s] The number of %s does not match (%d vs %d).", op, word, len(left), len(right))}
	case len(left) == 0:
		return &Reason{Kind: Empty, Text: fmt.Sprintf("[%s] There is no %s. Skip the %s:%s.", op, word, op, word)}
	}
	if e.opt.oldFormat() {
		for i := range left {
			if !slices.Equal(left[i].Shape, right[i].Shape) {
				return shapeMismatch(op, input, left[i], right[i])
			}
		}
	}
	return nil
}

func shapeMismatch(op string, input bool, left, right *dump.Tensor) *Reason {
	return &Reason{Kind: ShapeDiffers, Text: fmt.Sprintf("[%s] The shape does not match (%s vs %s) for %s.",
		op, shapeText(left.Shape), shapeText(right.Shape), tensorIndex(op, input, left.Index))}
}

func (e *engine) directTensor(ctx context.Context, row *Row, mine *dumpFile, t *dump.Tensor, golden *dumpFile, g *dump.Tensor, s *scratch) error {
	row.MineAddress = strconv.FormatUint(t.Address, 10)
	row.GoldenAddress = strconv.FormatUint(g.Address, 10)
	row.Shape = shapeOf(t)
	if !e.checkOverflow(ctx, row, mine, t, s) {
		return ctx.Err()
	}
	if !slices.Equal(t.Shape, g.Shape) {
		row.addReason(*shapeMismatch(row.Op, row.Input, t, g))
		return nil
	}
	if g.Err != nil {
		row.addReason(Reason{Kind: Unreadable, Text: fmt.Sprintf("[%s] %v", row.Op, g.Err)})
		return nil
	}
	right := &goldenTensor{file: golden, tensor: g}
	err := e.comparePair(ctx, row, mine, t, nil, right, func(st stored) (plan, *planError) {
		left, view, err := originViews(st, storedOf(g))
		if err != nil {
			return plan{}, planFailed(ShapeDiffers, false, "[%s] %v", row.Op, err)
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

// originViews are the views of two tensors of the same stored shape. In the same
// layout their elements lie alike, so both are read in one way, also when the
// framework shapes they name have other axis orders or one side names none.
func originViews(mine, golden stored) (left, right layout.View, err error) {
	if left, _, err = originView(mine); err != nil {
		return left, right, err
	}
	if right, _, err = originView(golden); err != nil {
		return left, right, err
	}
	switch alike := mine.format == golden.format && mine.group == golden.group && slices.Equal(mine.shape, golden.shape); {
	case !alike:
	case len(mine.origin) == 0:
		left = right
	case len(golden.origin) == 0 || left.Len() == right.Len():
		right = left
	}
	return left, right, nil
}

// originView leaves out the block padding of a device tensor: its elements in
// the order of the framework layout that its original shape belongs to, which
// is returned too. Where that cannot be told the stored order is kept, padding
// included.
func originView(s stored) (layout.View, layout.Format, error) {
	count, ok := product(s.shape)
	if !ok || s.elements < count {
		return layout.View{}, 0, fmt.Errorf("the dump holds %d elements, its shape is %s", s.elements, shapeText(s.shape))
	}
	format := layout.AsStored(s.format, len(s.shape))
	if !plain(format) && len(s.origin) > 0 {
		for _, to := range guesses(format, len(s.origin)) {
			if v, err := layout.Restore(format, to, s.shape, s.origin, s.group); err == nil {
				return v, to, nil
			}
		}
	}
	v, err := layout.Contiguous(s.shape)
	return v, s.format, err
}
