package engine

import (
	"bytes"
	"context"
	"hash/maphash"
	"io"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/graph/fusion"
	"precision/internal/must"
)

// ruleTensor fills the row of one tensor of an operator.
func (e *engine) ruleTensor(ctx context.Context, op *fusion.Op, row *result.Row, left *dumpFile, t *dump.Tensor, s *Worker) {
	row.Left.Address = &t.Address
	row.Shape = shapeOf(t)
	e.checkOverflow(ctx, row, left, t, s)
	err := t.Err
	if err != nil && (e.opt.dialect().terse || dump.Code(err) == dump.CodeType) {
		err = nil // told when the pair is there
	} else if err == nil {
		err = e.contradiction(row, op, left, t)
	}
	if err != nil {
		row.Left.DType, row.Left.Shape = t.Type, shapeOf(t)
		must.Do(unreadable(result.BadTensor, left.Path, err, op.Name, err.Error()))
	}
	ref, failed := e.reference(op, t)
	if failed != nil {
		row.Facts.Unpaired = failed.Reason.Kind == result.NoRightTensor
		must.Do(failed)
	}
	right := e.openRight(row, ref)
	defer right.Close()
	g := rightShape{layout: ref.Layout, rule: ref.Shape, data: right.shape()}
	d := e.opt.dialect()
	by := d.plan
	quantised := e.opt.Left.Simulated() // a framework model: nothing has a device layout
	if quantised {
		by = samePlan
	}
	if !right.array {
		g.layout, g.rule = right.tensor.Format.String(), right.tensor.OriginShape
	}
	if d.restores && !quantised && !right.array {
		view, origin, err := originView(storedOf(right.tensor))
		if err != nil {
			must.Do(unreadable(result.BadFile, right.path(), err, op.Name, right.path(), err.Error()))
		}
		right.view, g.layout, g.data = view, origin.String(), view.Dims
	}
	if len(t.OriginShape) > 0 {
		g.rule = t.OriginShape
	}
	if e.opt.Unshard != nil {
		e.unshard(ctx, row, left, t, right, &g, by, s)
	}
	if e.products(ctx, row, left, t, right, s, func(other *dump.Tensor) *rightTensor {
		ref, failed := e.reference(op, other)
		if failed != nil {
			must.Do(failed)
		}
		asked := *row
		return e.openRight(&asked, ref)
	}) {
		return
	}
	made, err := e.convertByScript(ctx, left, t, g, s)
	if err != nil {
		must.Do(ctx.Err())
		must.Do(planFailed(result.ConverterFailed, op.Name, err.Error()))
	}
	e.comparePair(ctx, row, left, t, made, right, func(s stored) plan { return by(op.Name, s, g) }, s)
}

// comparePair plans and computes a pair and puts the result into the row.
// made, if not nil, takes the place of the stored tensor.
func (e *engine) comparePair(ctx context.Context, row *result.Row, left *dumpFile, t *dump.Tensor, made *memoryTensor, right *rightTensor,
	prepare func(stored) plan, s *Worker) {
	setTypes(row, t, right.tensor)
	d := e.opt.dialect()
	if t.Err != nil {
		must.Do(unreadable(result.BadTensor, left.Path, t.Err, row.Op, t.Err.Error()))
	}
	for _, side := range []dtype.Type{t.Type, right.typ()} {
		if !d.reads(side) {
			must.Do(planFailed(result.DTypeUnknown, row.Op, side.String(), count(int(side))))
		}
	}
	var err error
	st := storedOf(t)
	if made != nil {
		st = made.st
	}
	p := prepare(st)
	if len(p.orders) > 0 && made == nil {
		p = e.inOrder(ctx, row, left, t, right, p, s)
	}
	if t.Fortran {
		p.view, err = t.View()
	}
	var leftOperand *operand
	held := false
	switch {
	case err != nil:
	case made != nil:
		leftOperand, err = viewOperand(bytes.NewReader(made.data), 0, made.typ, false, p.view)
	default:
		if e.opt.Glance == nil {
			leftOperand = s.hold(0, left, t.Offset, t.Type, t.BigEndian, p.view)
		}
		if held = leftOperand != nil; !held {
			leftOperand, err = viewOperand(left, t.Offset, t.Type, t.BigEndian, p.view)
		}
	}
	unread := func(path string, err error) {
		if err != nil {
			must.Do(unreadable(result.BadFile, path, err, row.Op, path, err.Error()))
		}
	}
	unread(left.Path, err)
	rightOperand, err := right.operand()
	unread(right.path(), err)
	scalar := d.scalar(p.view.Dims) // the padding of a layout does not count
	if d.stored {
		scalar = d.scalar(p.shape)
	}
	boolean := d.booleans && e.opt.byGraph() && t.Type == dtype.Bool && right.typ() == dtype.Bool
	pair := e.opt.pairing(row, leftOperand, rightOperand, p.count, dtype.Coarser(t.Type, right.typ()), scalar, boolean)
	if g := e.opt.Glance; g != nil {
		if row.Shape = p.shape; g.Wanted(row) {
			must.Do(g.take(ctx, row, pair, s))
		}
		return
	}
	var came outcome
	var found, repeat *repeat
	if held {
		repeat = s.repeatOf(t, right, pair, p.view)
	}
	if repeat != nil {
		var done func()
		found, done = s.opt.repeats.find(ctx, repeat.key, repeat.left, repeat.right)
		defer done()
	}
	if found != nil {
		came = found.outcome
	} else {
		if pair.count > keepElements && right.skip == 0 { // read again in later passes
			if o := s.hold(1, right.file, right.tensor.Offset, right.typ(), right.tensor.BigEndian, right.view); o != nil {
				pair.right = o
			}
		}
		if came, err = pair.outcome(ctx, s); err == nil && repeat != nil {
			repeat.outcome = came
			s.opt.repeats.add(repeat)
		}
	}
	if err == nil {
		err = e.runScripts(ctx, row, pair, left.Path, right.path(), s)
	}
	if err != nil {
		must.Do(ctx.Err())
		unread(sideOf(err, left.Path, right.path()), err)
	}
	row.Facts.Scalar = scalar
	row.Shape = p.shape
	row.Left.Shape = st.shape
	row.Add(p.remarks...)
	leftPath, rightPath := left.Path, right.path()
	if d.longPaths {
		leftPath, rightPath = absolute(leftPath), absolute(rightPath)
	}
	came.put(row, leftPath, rightPath)
}

// setTypes notes what the two tensors are.
func setTypes(row *result.Row, left, right *dump.Tensor) {
	row.Left.DType, row.Left.Shape = left.Type, shapeOf(left)
	row.Right.DType, row.Right.Shape = right.Type, shapeOf(right)
}

// hold reads a tensor as it is stored into memory of the worker; nil if it has no room, or cannot be read, which is told
// where it is read in order.
func (s *Worker) hold(side int, r io.ReaderAt, base int64, typ dtype.Type, big bool, v layout.View) *operand {
	size := v.Extent() * int64(typ.Bits()) / 8
	if typ.Bits()%8 != 0 || size < leastRepeated || size > mostHeld {
		return nil
	}
	s.held[side] = grow(s.held[side], size)
	if readFull(r, s.held[side], base) != nil {
		return nil
	}
	reader, err := layout.NewBytesReader(s.held[side], int(typ.Bits()/8), v)
	if err != nil {
		return nil
	}
	return &operand{typ: typ, big: big, count: v.Len(), open: func() Elements { return reader.Clone() }}
}

// repeatOf begins to look for a pair: it is nil where none is to be looked for. left is held.
func (s *Worker) repeatOf(t *dump.Tensor, right *rightTensor, p *pairing, left layout.View) *repeat {
	if s.opt.repeats == nil || s.opt.Scripts != nil || right.file.merged {
		return nil
	}
	b := s.held[0]
	return &repeat{left: left, right: right.view, key: repeatKey{
		sum: [2]uint64{maphash.Bytes(repeatSeeds[0], b), maphash.Bytes(repeatSeeds[1], b)}, bytes: int64(len(b)),
		golden: right.path(), at: right.tensor.Offset + right.tensor.Type.Bytes(right.skip),
		left: t.Type, right: right.typ(), leftBig: t.BigEndian, rightBig: right.tensor.BigEndian,
		count: p.count, scalar: p.cfg.Scalar, boolean: p.cfg.Boolean, tolerance: p.cfg.Tolerance,
	}}
}
