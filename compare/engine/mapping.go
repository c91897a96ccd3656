package engine

import (
	"context"

	"precision/compare/result"
	"precision/dump"
	"precision/graph/fusion"
)

// Mapping lists which files the tensors of a network are paired with, without
// comparing them. Operators the comparison leaves out are listed too. The error
// is a *[Error] without a graph.
func Mapping(ctx context.Context, opt Folders) (rows []result.MappingRow, err error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	if opt.Rules == nil {
		return nil, faultf(FaultOption, "a mapping table needs a graph: the golden names are in it")
	}
	e := newEngine(&opt)
	for _, g := range opt.Rules.Groups {
		if opt.Only != nil && !opt.Only(g) {
			continue
		}
		for _, op := range g.Ops {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			rows = append(rows, e.mapOp(g, op)...)
		}
	}
	return rows, nil
}

func (e *engine) mapOp(g *fusion.Group, op *fusion.Op) (rows []result.MappingRow) {
	base := result.MappingRow{Index: g.Index, Sequence: op.ID, Type: op.Type, Left: g.NPUNames(), Right: g.GoldenNames()}
	files := e.leftFiles(op.Name)
	if files == nil {
		return []result.MappingRow{base}
	}
	base.LeftPath = absolute(files.Newest().Path)
	left, err := e.openDump(files)
	if err != nil {
		return []result.MappingRow{base}
	}
	defer left.Close()
	for _, t := range left.tensors(!dequantiser(op), !quantiser(op)) {
		row := base
		row.Tensor = result.TensorName(op.Name, role(t.Input), t.Index)
		if ref, failed := e.reference(op, t); failed == nil {
			if right := e.rightFiles(ref); right != nil {
				row.RightPath = absolute(right.Newest().Path)
			}
		}
		rows = append(rows, row)
	}
	if rows == nil { // a dump without tensors is listed all the same
		rows = append(rows, base)
	}
	return rows
}

// rightFiles are the recordings of a golden tensor.
func (e *engine) rightFiles(ref fusion.GoldenRef) *dump.Op {
	return e.opt.Right.Holding(ref.Op, int(ref.Index))
}
