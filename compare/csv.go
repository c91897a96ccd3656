package compare

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"precision/compare/metric"
)

// Columns chooses the conditional columns of the result table.
type Columns struct {
	Sequence      bool // OpSequence: a range or a selection is in effect
	MineAddress   bool // the NPU side is device dumps
	GoldenAddress bool // the golden side is device dumps
	Overflow      bool
	Metrics       []metric.Metric
	// Table replaces Metrics when columns of user scripts are among them.
	Table []Column
	// OldFormat leaves out the reasons the old tool does not give.
	OldFormat bool
}

// Writer writes rows as csv: comma, CRLF, minimal quoting, NaN for what was
// not computed. Cells that a spreadsheet would run as a formula get a blank in
// front, so one odd operator name neither harms the reader nor the table.
type Writer struct {
	w     *csv.Writer
	cols  Columns
	cells []string
}

// NewWriter starts a table on w; Header comes first, then Row by Row, then Flush.
func NewWriter(w io.Writer, cols Columns) *Writer {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	return &Writer{w: c, cols: cols}
}

// Header writes the column names.
func (w *Writer) Header() error { return w.w.Write(w.cols.Header()) }

// Header lists the column names in order.
func (c Columns) Header() []string {
	h := []string{"Index"}
	if c.Sequence {
		h = append(h, "OpSequence")
	}
	h = append(h, "OpType", "NPUDump", "DataType")
	if c.MineAddress {
		h = append(h, "Address")
	}
	h = append(h, "GroundTruth", "DataType")
	if c.GoldenAddress {
		h = append(h, "Address")
	}
	h = append(h, "TensorIndex", "Shape")
	if c.Overflow {
		h = append(h, "OverFlow")
	}
	for _, v := range c.values() {
		h = append(h, v.Name())
	}
	return append(h, "CompareFailReason")
}

// values are the columns of values in order.
func (c Columns) values() []Column {
	if c.Table != nil {
		return c.Table
	}
	list := make([]Column, len(c.Metrics))
	for i, m := range c.Metrics {
		list[i].Metric = m
	}
	return list
}

// Row writes one row.
func (w *Writer) Row(r *Row) error {
	w.cells = w.cols.appendCells(w.cells[:0], r)
	return w.w.Write(w.cells)
}

// Flush hands everything on and reports the first error of all writes.
func (w *Writer) Flush() error {
	w.w.Flush()
	return w.w.Error()
}

// Cells are the texts of a row, in the order of Header.
func (c Columns) Cells(r *Row) []string { return c.appendCells(nil, r) }

func (c Columns) appendCells(cells []string, r *Row) []string {
	cells = append(cells, strconv.Itoa(r.Index))
	if c.Sequence {
		cells = append(cells, strconv.FormatInt(r.Sequence, 10))
	}
	cells = append(cells, TextCell(r.OpType), Neutral(r.Mine), TextCell(r.MineType))
	if c.MineAddress {
		cells = append(cells, TextCell(r.MineAddress))
	}
	cells = append(cells, Neutral(r.Golden), TextCell(r.GoldenType))
	if c.GoldenAddress {
		cells = append(cells, TextCell(r.GoldenAddress))
	}
	cells = append(cells, TextCell(r.Tensor()), ShapeCell(r.Shape))
	if c.Overflow {
		cells = append(cells, TextCell(r.Overflow))
	}
	for _, v := range c.values() {
		switch {
		case !r.Compared:
			cells = append(cells, "NaN")
		case v.Script != "":
			cells = append(cells, TextCell(r.Custom[v.Script]))
		default:
			cells = append(cells, r.Result.Values[v.Metric].Text(v.Metric))
		}
	}
	return append(cells, Neutral(joinReasons(r.Reasons, c.OldFormat)))
}

// TextCell is a neutral text, NaN for an empty one.
func TextCell(s string) string {
	if s == "" {
		return "NaN"
	}
	return Neutral(s)
}

// ShapeCell writes [1,3,224,224], [] for a scalar, NaN where there is none.
func ShapeCell(dims []int64) string {
	if dims == nil {
		return "NaN"
	}
	b := []byte{'['}
	for i, d := range dims {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, d, 10)
	}
	return string(append(b, ']'))
}

// Neutral returns a cell that a spreadsheet shows as text and does not run: a
// blank goes in front of a formula sign at the beginning of the cell or right
// behind a semicolon, where some locales split cells. Numbers are left alone.
func Neutral(cell string) string {
	if !formulaSign(cell) && !strings.Contains(cell, ";") {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	parts := strings.SplitAfter(cell, ";")
	for i, part := range parts {
		if formulaSign(part) {
			parts[i] = " " + part
		}
	}
	return strings.Join(parts, "")
}

// formulaSign tells whether s begins with one of = + - % @, the full-width
// forms of the first three, or a control character that a spreadsheet drops
// before it looks at the next one.
func formulaSign(s string) bool {
	if s == "" {
		return false
	}
	switch s[0] {
	case '=', '+', '-', '%', '@', '\t', '\r':
		return true
	}
	return strings.HasPrefix(s, "\uff1d") || strings.HasPrefix(s, "\uff0b") || strings.HasPrefix(s, "\uff0d")
}
