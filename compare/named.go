package compare

import (
	"context"
	"fmt"
	"strconv"

	"precision/dump"
)

// Named mode compares NPU dumps with golden arrays by operator name, for users
// without a graph. Only outputs can be matched: which operator produced an
// input is known to the graph alone. Fused operators find their golden array
// only when it has their name.

// named compares an operator of the NPU side with the arrays of its name.
func (e *engine) named(ctx context.Context, p pairOp, s *scratch) outcome {
	var out outcome
	row := Row{Index: p.index, Sequence: int64(p.index), order: p.index, Slot: -1, Op: p.mine.Key, Mine: p.mine.Key, Golden: p.mine.Key,
		OpType: p.mine.Newest().Name.OpType}
	if !e.goldenOps[p.mine.Key] {
		row.Golden = "*"
		row.addReason(Reason{Kind: NoGolden, Text: fmt.Sprintf("[%s] There is no the ground truth dump file for the op \"%s\".", row.Op, row.Op)})
		out.add(row)
		return out
	}
	mine, err := e.openDump(p.mine)
	if err != nil {
		row.addReason(Reason{Kind: Unreadable, Text: err.Error()})
		out.code = dump.Code(err)
		out.add(row)
		return out
	}
	defer mine.Close()
	row.minePath = mine.Path
	outputs := mine.tensors(false, true)
	if len(outputs) == 0 {
		row.addReason(Reason{Kind: Empty, Text: fmt.Sprintf("[%s] The dump %s has no outputs; without a graph inputs cannot be matched.", row.Op, mine.Path)})
		out.add(row)
	}
	for _, t := range outputs {
		r := row
		r.Slot = t.Index
		if err := e.namedTensor(ctx, &r, mine, t, s); err != nil {
			out.err = err
			return out
		}
		out.add(r)
	}
	return out
}

func (e *engine) namedTensor(ctx context.Context, row *Row, mine *dumpFile, t *dump.Tensor, s *scratch) error {
	row.MineAddress = strconv.FormatUint(t.Address, 10)
	row.Shape = shapeOf(t)
	if !e.checkOverflow(ctx, row, mine, t, s) {
		return ctx.Err()
	}
	golden, failed := e.goldenArray(row, row.Op, t.Index)
	if failed != nil {
		row.addReason(failed.Reason)
		return nil
	}
	defer golden.Close()
	// Without a graph the array's own shape is all there is to go by.
	g := goldenShape{rule: t.OriginShape, data: golden.shape()}
	return e.comparePair(ctx, row, mine, t, nil, golden, func(s stored) (plan, *planError) { return bestPlan(row.Op, s, g) }, s)
}
