package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"precision/compare/metric"
	"precision/dump"
	"precision/dump/dtype"
	"precision/graph/fusion"
)

// ruleTensor fills the row of one tensor of an operator. Only an ending run is
// an error; everything else is a reason in the row.
func (e *engine) ruleTensor(ctx context.Context, op *fusion.Op, row *Row, mine *dumpFile, t *dump.Tensor, s *scratch) error {
	row.MineAddress = strconv.FormatUint(t.Address, 10)
	row.Shape = shapeOf(t)
	if !e.checkOverflow(ctx, row, mine, t, s) {
		return ctx.Err()
	}
	ref, failed := e.reference(op, t)
	if failed != nil {
		row.addReason(failed.Reason)
		return nil
	}
	golden, failed := e.openGolden(row, ref)
	if failed != nil {
		row.addReason(failed.Reason)
		return nil
	}
	defer golden.Close()
	g := goldenShape{layout: ref.Layout, rule: ref.Shape, data: golden.shape()}
	planner := oldPlan
	if e.opt.Mine.Kind == dump.Quant {
		planner = samePlan
	}
	if !golden.array {
		g.layout, g.rule = golden.tensor.Format.String(), golden.tensor.OriginShape
	}
	if !e.opt.oldFormat() && e.opt.Mine.Kind == dump.Offline {
		planner = bestPlan
		if !golden.array {
			view, origin, err := originView(storedOf(golden.tensor))
			if err != nil {
				row.addReason(Reason{Kind: Unreadable, Text: fmt.Sprintf("[%s] %s: %v", op.Name, golden.path(), err)})
				return nil
			}
			golden.view, g.layout, g.data = view, origin.String(), view.Dims
		}
	}
	if len(t.OriginShape) > 0 {
		g.rule = t.OriginShape
	}
	made, err := e.convertByScript(ctx, mine, t, g, s)
	if err != nil {
		row.addReason(Reason{Kind: NoConverter, Text: fmt.Sprintf("[%s] %v", op.Name, err)})
		return ctx.Err()
	}
	return e.comparePair(ctx, row, mine, t, made, golden, func(s stored) (plan, *planError) { return planner(op.Name, s, g) }, s)
}

// reference asks the graph which golden tensor belongs to t.
func (e *engine) reference(op *fusion.Op, t *dump.Tensor) (fusion.GoldenRef, *planError) {
	find := e.opt.Rules.GoldenOutput
	if t.Input {
		find = e.opt.Rules.GoldenInput
	}
	ref, err := find(op, t.Index)
	if err == nil {
		return ref, nil
	}
	tensor := tensorIndex(op.Name, t.Input, t.Index)
	var lookup *fusion.GoldenError
	if !errors.As(err, &lookup) {
		return ref, planFailed(NotInGraph, false, "[%s] %v", op.Name, err)
	}
	switch lookup.Failure {
	case fusion.GoldenNoInput:
		return ref, planFailed(NotInGraph, true, "[%s] %v", op.Name, err)
	case fusion.GoldenBadEntry:
		return ref, planFailed(NotInGraph, false, "%v", err)
	case fusion.GoldenNoProducer:
		return ref, planFailed(NotInGraph, false, "There is no %q in the fusion rule file.", lookup.Part)
	}
	return ref, noGolden(op.Name, tensor)
}

func noGolden(op, tensor string) *planError {
	return planFailed(NoGolden, false, "[%s] There is no the ground truth dump file for %s.", op, tensor)
}

// comparePair plans and computes a pair and puts the result into the row.
// made, if not nil, takes the place of the stored tensor.
func (e *engine) comparePair(ctx context.Context, row *Row, mine *dumpFile, t *dump.Tensor, made *memoryTensor, golden *goldenTensor,
	prepare func(stored) (plan, *planError), s *scratch) error {
	if t.Err != nil {
		row.addReason(Reason{Kind: Unreadable, Text: fmt.Sprintf("[%s] %v", row.Op, t.Err)})
		return nil
	}
	for _, side := range []dtype.Type{t.Type, golden.typ()} {
		if !side.Readable() {
			row.addReason(Reason{Kind: TypeUnsupport, Text: fmt.Sprintf("[%s] The element type %s (%d) is not supported.", row.Op, side, side)})
			return nil
		}
	}
	var err error
	st := storedOf(t)
	if made != nil {
		st = made.st
	}
	p, failed := prepare(st)
	if failed != nil {
		row.addReason(failed.Reason)
		return nil
	}
	if t.Fortran {
		p.view, err = t.View()
	}
	var left *operand
	switch {
	case err != nil:
	case made != nil:
		left, err = viewOperand(bytes.NewReader(made.data), 0, made.typ, false, p.view)
	default:
		left, err = viewOperand(mine, t.Offset, t.Type, t.BigEndian, p.view)
	}
	if err != nil {
		row.addReason(Reason{Kind: Unreadable, Text: fmt.Sprintf("[%s] %s: %v", row.Op, mine.Path, err)})
		return nil
	}
	right, err := golden.operand()
	if err != nil {
		row.addReason(Reason{Kind: Unreadable, Text: fmt.Sprintf("[%s] %s: %v", row.Op, golden.path(), err)})
		return nil
	}
	cfg := metric.Config{
		Numerics:  e.opt.Numerics,
		TableOnly: e.opt.TableOnly,
		Metrics:   e.opt.Metrics,
		Scalar:    scalarLike(p.view.Dims), // the padding of a layout does not count
	}
	if e.opt.oldFormat() {
		cfg.Scalar = oldScalarLike(p.shape)
		cfg.Boolean = e.opt.Rules != nil && t.Type == dtype.Bool && golden.typ() == dtype.Bool
	}
	count := p.count
	if e.opt.MaxElements > 0 {
		count = min(count, e.opt.MaxElements)
	}
	pair := newPairing(left, right, count, cfg)
	result, err := pair.compute(ctx, s, e.crew)
	if err == nil {
		err = e.runScripts(ctx, row, pair, mine.Path, golden.path(), s)
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		path := mine.Path
		var side *sideError
		if errors.As(err, &side) && side.golden {
			path = golden.path()
		}
		row.addReason(Reason{Kind: Unreadable, Text: fmt.Sprintf("[%s] %s: %v", row.Op, path, err)})
		return nil
	}
	row.Compared, row.Result, row.scalar = true, result, cfg.Scalar
	row.Shape = p.shape
	row.MineType, row.GoldenType = e.typeName(t.Type, st), e.typeName(golden.typ(), stored{shape: golden.shape()})
	row.addReason(p.remarks...)
	if n := result.AgreeNonFinite; n > 0 && n < result.N {
		row.addReason(remark(fmt.Sprintf("%d of %d elements are the same NaN or Inf on both sides and left out.", n, result.N)))
	}
	minePath, goldenPath := mine.Path, golden.path()
	if e.opt.oldFormat() { // whose messages have full paths
		minePath, goldenPath = absolute(minePath), absolute(goldenPath)
	}
	for _, n := range result.Notes {
		row.addReason(remark(n.Text(minePath, goldenPath)))
	}
	return nil
}

// typeName is the DataType cell. The old tool names the numpy type that its
// arrays end up with.
func (e *engine) typeName(t dtype.Type, s stored) string {
	if !e.opt.oldFormat() || e.opt.Rules == nil {
		return t.String()
	}
	if n, ok := product(s.shape); ok && n == 0 {
		return "float64"
	}
	return t.Loaded()
}

// shapeOf is the shape a dump stores for a tensor; a scalar has an empty one.
func shapeOf(t *dump.Tensor) []int64 {
	if t.Shape == nil {
		return []int64{}
	}
	return t.Shape
}

// storedOf describes a tensor for the planners.
func storedOf(t *dump.Tensor) stored {
	s := stored{format: t.Format, group: int(t.SubFormat), shape: shapeOf(t), origin: t.OriginShape}
	s.elements = t.Type.Count(int64(t.Size))
	if n, ok := product(s.shape); ok {
		s.elements = min(s.elements, n)
	}
	return s
}
