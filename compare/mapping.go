package compare

import (
	"context"
	"encoding/csv"
	"io"
	"strconv"

	"precision/dump"
	"precision/graph/fusion"
)

// MappingRow is a line of the mapping table: a tensor of an NPU dump and the
// files that would be compared. What is not known is empty and prints as NaN.
type MappingRow struct {
	Index        int
	Sequence     int64
	OpType       string
	Mine, Golden string // operator names
	Tensor       string
	MinePath     string
	GoldenPath   string
}

// Mapping lists which files the tensors of a network are paired with, without
// comparing them. Operators the comparison leaves out are listed too. The error
// is a *[CodeError] without a graph.
func Mapping(ctx context.Context, opt Options) ([]MappingRow, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	if opt.Rules == nil {
		return nil, codeErrorf(codeParameter, "a mapping table needs a graph: the golden names are in it")
	}
	e := &engine{opt: opt}
	var rows []MappingRow
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

func (e *engine) mapOp(g *fusion.Group, op *fusion.Op) []MappingRow {
	base := MappingRow{Index: g.Index, Sequence: op.ID, OpType: op.Type, Mine: g.NPUNames(), Golden: g.GoldenNames()}
	files := e.mineFiles(op.Name)
	if files == nil {
		return []MappingRow{base}
	}
	base.MinePath = absolute(files.Newest().Path)
	mine, err := e.openDump(files)
	if err != nil {
		return []MappingRow{base}
	}
	defer mine.Close()
	var rows []MappingRow
	for _, t := range mine.tensors(!dequantiser(op), !quantiser(op)) {
		row := base
		row.Tensor = tensorIndex(op.Name, t.Input, t.Index)
		if ref, failed := e.reference(op, t); failed == nil {
			if golden := e.goldenFiles(ref); golden != nil {
				row.GoldenPath = absolute(golden.Newest().Path)
			}
		}
		rows = append(rows, row)
	}
	if rows == nil { // a dump without tensors is listed all the same
		rows = append(rows, base)
	}
	return rows
}

// goldenFiles are the recordings of a golden tensor.
func (e *engine) goldenFiles(ref fusion.GoldenRef) *dump.Op {
	if e.opt.Golden.Kind == dump.Offline {
		return e.opt.Golden.Op(ref.Op)
	}
	return e.opt.Golden.Output(ref.Op, int(ref.Index))
}

// WriteMapping writes the table as csv in the dialect of the result table.
func WriteMapping(w io.Writer, rows []MappingRow, sequence bool) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	header := []string{"Index", "OpType", "NPUDump", "GroundTruth", "TensorIndex", "NPUDumpPath", "GroundTruthPath"}
	if sequence {
		header = append([]string{"Index", "OpSequence"}, header[1:]...)
	}
	if err := c.Write(header); err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		cells := []string{strconv.Itoa(r.Index)}
		if sequence {
			cells = append(cells, strconv.FormatInt(r.Sequence, 10))
		}
		cells = append(cells, TextCell(r.OpType), Neutral(r.Mine), Neutral(r.Golden), TextCell(r.Tensor), TextCell(r.MinePath), TextCell(r.GoldenPath))
		if err := c.Write(cells); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
