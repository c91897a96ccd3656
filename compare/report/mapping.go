package report

import (
	"io"
	"strconv"

	"precision/compare/result"
	"precision/internal/clean"
)

// WriteMapping writes a mapping table as csv in the dialect of the result
// table. sequence adds the column OpSequence.
func WriteMapping(w io.Writer, rows []result.MappingRow, sequence bool) error {
	c := clean.NewCSV(w)
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
		cells = append(cells, textCell(r.Type), clean.Cell(r.Left), clean.Cell(r.Right), textCell(r.Tensor), textCell(r.LeftPath), textCell(r.RightPath))
		if err := c.Write(cells); err != nil {
			return err
		}
	}
	return c.Flush()
}
