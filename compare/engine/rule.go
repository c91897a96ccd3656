package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/graph/fusion"
)

// Rule mode walks the operator groups of the graph. Which tensors a group has
// is told by the dumps, which golden tensor each belongs to by the graph.

// group compares one group of the graph.
func (e *engine) group(ctx context.Context, s *Worker, g *fusion.Group) Found {
	switch {
	case g.Relation == fusion.L1Fusion:
		return e.l1Group(ctx, g, s)
	case len(g.Ops) == 1:
		var out Found
		if g.Ops[0].Filtered {
			return out
		}
		out.Rows, out.Failed, out.Err = e.ruleOp(ctx, g, g.Ops[0], s)
		return out
	}
	return e.multiGroup(ctx, g, s)
}

// multiGroup compares the operators of a 1:N or N:N group. Inner operators,
// whose outputs no framework operator has, are left out.
func (e *engine) multiGroup(ctx context.Context, g *fusion.Group, s *Worker) (out Found) {
	var missing []result.Row
	considered := false
	for _, op := range g.Ops {
		if op.Filtered {
			continue
		}
		considered = true
		if op.Inner() {
			out.add(e.damaged(e.groupRow(g, op), op, e.leftFiles(op.Name))...)
			continue
		}
		rows, failed, err := e.ruleOp(ctx, g, op, s)
		if err != nil {
			out.Err = err
			return out
		}
		if failed != nil {
			out.Failed = failed
		}
		if _, gone := failed.(*MissingError); gone {
			missing = append(missing, rows...)
			if !e.opt.dialect().terse {
				out.add(rows...)
			}
			continue
		}
		out.add(rows...)
	}
	if !considered || len(out.Rows) > 0 {
		return out
	}
	// Nothing at all: one row that says why.
	row := e.groupRow(g, g.Ops[0])
	for _, m := range missing {
		row.Add(m.Reasons...)
		row.Damage = cmp.Or(row.Damage, m.Damage)
	}
	if len(missing) == 0 {
		row.Add(result.Because(result.InnerOnly, g.Ops[0].Name))
	}
	out.add(row)
	return out
}

// l1Group compares the first and the last operator of a group that stays in
// the L1 buffer, in the order their dumps were written.
func (e *engine) l1Group(ctx context.Context, g *fusion.Group, s *Worker) (out Found) {
	var first, last *fusion.Op
	var firstTime, lastTime uint64
	for _, op := range g.Ops {
		time, ok := e.leftTime(op.Name)
		if !ok || op.Filtered {
			continue
		}
		if first == nil || time < firstTime {
			first, firstTime = op, time
		}
		if last == nil || time >= lastTime {
			last, lastTime = op, time
		}
	}
	if last == nil {
		row := e.groupRow(g, g.Ops[0])
		row.Add(result.Because(result.NoFusedDump))
		out.Failed = &MissingError{g.Ops[0].Name}
		out.add(row)
		return out
	}
	ops := []*fusion.Op{first, last}
	if first == last || strings.Join(first.OriginNames, "\x00") == strings.Join(last.OriginNames, "\x00") {
		ops = ops[1:]
	}
	for _, op := range ops {
		rows, failed, err := e.ruleOp(ctx, g, op, s)
		if err != nil {
			out.Err = err
			return out
		}
		if failed != nil {
			out.Failed = failed
		}
		out.add(rows...)
	}
	for _, op := range g.Ops {
		if !op.Filtered && !slices.Contains(ops, op) {
			out.add(e.damaged(e.groupRow(g, op), op, e.leftFiles(op.Name))...)
		}
	}
	return out
}

// groupRow is a row of the group with nothing but names.
func (e *engine) groupRow(g *fusion.Group, op *fusion.Op) result.Row {
	return result.Row{
		Index: g.Index, Sequence: op.ID, Type: op.Type, Op: op.Name, Role: result.Whole, Slot: -1,
		Left: result.Operand{Names: g.NPUNames()}, Right: result.Operand{Names: g.GoldenNames()},
		Facts: result.Facts{Order: e.opt.Rules.Turn(op)},
	}
}

// place notes on a row of operators paired by name what a graph knows of the
// operator: its name as the graph spells it, its place, and what feeds an input.
func (e *engine) place(row *result.Row, key string) {
	op := e.byKey[key]
	if op == nil {
		return
	}
	row.Op, row.Sequence, row.Facts.Order = op.Name, op.ID, e.opt.Rules.Turn(op)
	if row.Role == result.Input {
		row.Facts.Producer = e.producer(op, row.Slot)
	}
}

// ruleOp compares the tensors of one operator: those its dump holds.
func (e *engine) ruleOp(ctx context.Context, g *fusion.Group, op *fusion.Op, s *Worker) (rows []result.Row, failed, err error) {
	base := e.groupRow(g, op)
	left, err := e.openLeft(op.Name)
	if err != nil {
		return e.perOutput(base, op, e.missingLeft(op.Name, op.Type, err)), err, nil
	}
	defer left.Close()
	base.Left.File = left.Path
	if e.opt.dialect().allOrNothing {
		if bad := left.allBad(); bad != nil {
			left.Close()
			refuse(&base, e.missingLeft(op.Name, op.Type, bad))
			return []result.Row{base}, bad, nil
		}
		failed = left.cut()
	}
	for _, t := range left.tensors(!dequantiser(op), !quantiser(op)) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		row := base
		row.Role, row.Slot = role(t.Input), t.Index
		if t.Input {
			row.Facts.Producer = e.producer(op, t.Index)
		}
		e.markSliced(&row, left)
		if err := onRow(&row, func() { e.ruleTensor(ctx, op, &row, left, t, s) }); err != nil {
			return nil, nil, err
		}
		rows = append(rows, row)
	}
	if !e.opt.dialect().terse && e.opt.Glance == nil {
		rows = append(rows, e.damagedIn(base, op, left, dequantiser(op), quantiser(op))...) // what is in another scale
	}
	if len(rows) == 0 {
		base.Add(result.Because(result.NoTensors, op.Name, left.Path))
		rows = append(rows, base)
	}
	return rows, failed, nil
}
