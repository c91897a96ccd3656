package report

import (
	"io"
	"os"
	"slices"
	"strconv"

	"precision/compare/result"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/internal/whole"
)

// CSV writes rows as csv: comma, CRLF, minimal quoting, NaN for what was not
// computed. Cells that a spreadsheet would run as a formula get a blank in
// front, so one odd operator name neither harms the reader nor the table.
type CSV struct {
	w     *clean.CSV
	cols  result.Columns
	cells []string
}

// NewCSV starts a table on w; Header comes first, then Row by Row, then Flush.
func NewCSV(w io.Writer, cols result.Columns) *CSV {
	return &CSV{w: clean.NewCSV(w), cols: cols}
}

// Header writes the column names.
func (w *CSV) Header() error { return w.w.Write(Header(w.cols)) }

// Row writes one row.
func (w *CSV) Row(r *result.Row) error {
	w.cells = appendCells(w.cells[:0], w.cols, r)
	return w.w.Write(w.cells)
}

// Flush hands everything on and reports the first error of all writes.
func (w *CSV) Flush() error { return w.w.Flush() }

// File is a csv table that appears under its name when it is complete.
type File struct {
	*CSV
	file *whole.File
}

// Create starts a table that will be at path. Discard must be called when done.
func Create(path string, cols result.Columns) (*File, error) {
	f, err := whole.Create(path, 0o600)
	if err != nil {
		return nil, err
	}
	t := &File{CSV: NewCSV(f, cols), file: f}
	if err := t.Header(); err != nil {
		f.Discard()
		return nil, err
	}
	return t, nil
}

// CommitNew lets the table appear under its name, or where that is taken under
// one with a number. It returns the path it has.
func (f *File) CommitNew() (string, error) {
	if err := f.Flush(); err != nil {
		return "", &os.PathError{Op: "write", Path: f.file.Path(), Err: err}
	}
	err := f.file.CommitNew()
	return f.file.Path(), err
}

// Discard drops the table unless it was committed.
func (f *File) Discard() { f.file.Discard() }

// WriteRows writes a table of the rows that keep holds for; nil keeps all.
func WriteRows(w io.Writer, cols result.Columns, rows []result.Row, keep func(*result.Row) bool) error {
	return NewCSV(w, cols).all(rows, keep)
}

// WriteFile is [WriteRows] to a file that appears whole.
func WriteFile(path string, cols result.Columns, rows []result.Row, keep func(*result.Row) bool) error {
	return whole.Fill(path, 0o600, func(w io.Writer) error { return WriteRows(w, cols, rows, keep) })
}

// WriteNewFile is [WriteFile] to a file that replaces none; where the name is taken it
// gets a number. It returns the path.
func WriteNewFile(path string, cols result.Columns, rows []result.Row) (string, error) {
	return whole.FillNew(path, 0o600, func(w io.Writer) error { return WriteRows(w, cols, rows, nil) })
}

func (w *CSV) all(rows []result.Row, keep func(*result.Row) bool) error {
	if err := w.Header(); err != nil {
		return err
	}
	for i := range rows {
		if r := &rows[i]; keep == nil || keep(r) {
			if err := w.Row(r); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// reasonTitle is the last column.
const reasonTitle = "CompareFailReason"

// Header lists the column names in order.
func Header(c result.Columns) []string {
	h := []string{"Index"}
	if c.Sequence {
		h = append(h, "OpSequence")
	}
	switch {
	case c.Datasets:
		h = append(h, "NPUDump", "NPUDumpPath", "GroundTruthPath", "DataType", "Shape")
	default:
		h = append(h, "OpType", "NPUDump", "DataType")
		if c.LeftAddress {
			h = append(h, "Address")
		}
		h = append(h, "GroundTruth", "DataType")
		if c.RightAddress {
			h = append(h, "Address")
		}
		h = append(h, "TensorIndex", "Shape")
	}
	if c.Overflow {
		h = append(h, "OverFlow")
	}
	if c.Recorded {
		h = append(h, recordedHeader...)
	}
	for _, v := range c.Values {
		h = append(h, v.Name())
	}
	return append(h, reasonTitle)
}

// Cells are the texts of a row, in the order of [Header].
func Cells(c result.Columns, r *result.Row) []string { return appendCells(nil, c, r) }

func appendCells(cells []string, c result.Columns, r *result.Row) []string {
	cells = append(cells, strconv.Itoa(r.Index))
	if c.Sequence {
		cells = append(cells, strconv.FormatInt(r.Sequence, 10))
	}
	switch {
	case c.Datasets:
		cells = append(cells, textCell(r.Op), textCell(r.Left.File), textCell(r.Right.File), typeCell(c, r, &r.Left), shapeCell(r.Shape))
	default:
		cells = append(cells, textCell(r.Type), clean.Cell(r.Left.Names), typeCell(c, r, &r.Left))
		if c.LeftAddress {
			cells = append(cells, addressCell(&r.Left))
		}
		cells = append(cells, clean.Cell(r.Right.Names), typeCell(c, r, &r.Right))
		if c.RightAddress {
			cells = append(cells, addressCell(&r.Right))
		}
		cells = append(cells, textCell(r.Tensor()), shapeCell(r.Shape))
	}
	if c.Overflow {
		cells = append(cells, textCell(r.Overflow))
	}
	if c.Recorded {
		cells = appendRecorded(cells, r.Recorded)
	}
	for _, v := range c.Values {
		switch {
		case !r.Compared:
			cells = append(cells, "NaN")
		case v.Script != "":
			cells = append(cells, textCell(r.Custom[v.Script]))
		default:
			cells = append(cells, r.Result().Values[v.Metric].Text(v.Metric))
		}
	}
	return append(cells, clean.Cell(join(msg.English, r.Reasons, c.Quiet)))
}

// typeCell is the element type of a tensor that was compared.
func typeCell(c result.Columns, r *result.Row, o *result.Operand) string {
	switch {
	case !r.Compared && r.Recorded == nil || o.Shape == nil:
		return "NaN"
	case !c.Loaded:
		return textCell(o.DType.String())
	}
	if slices.Contains(o.Shape, 0) {
		return "float64" // what numpy makes of no elements
	}
	return textCell(o.DType.Loaded())
}

func addressCell(o *result.Operand) string {
	if o.Address == nil {
		return "NaN"
	}
	return strconv.FormatUint(*o.Address, 10)
}

// textCell is a text that no spreadsheet runs, NaN for an empty one.
func textCell(s string) string {
	if s == "" {
		return "NaN"
	}
	return clean.Cell(s)
}

// shapeCell writes [1,3,224,224], [] for a scalar, NaN where there is none.
func shapeCell(dims []int64) string {
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

// recordedHeader are the columns of recordings of calls.
var recordedHeader = []string{
	"Place", "Paired", "LeftMax", "LeftMin", "LeftMean", "LeftNorm", "RightMax", "RightMin", "RightMean", "RightNorm",
	"LeftSum", "RightSum", "LeftValue", "RightValue",
}

// appendRecorded adds the cells of these columns; NaN stands in a column of
// numbers for what was not recorded.
func appendRecorded(cells []string, r *result.Recorded) []string {
	if r == nil {
		r = &result.Recorded{Left: &result.Summary{}, Right: &result.Summary{}}
	}
	cells = append(cells, textCell(r.Place), textCell(string(r.How)))
	for _, s := range []*result.Summary{r.Left, r.Right} {
		for _, x := range result.Statistics {
			v, known := x.In(s)
			switch {
			case known:
				cells = append(cells, strconv.FormatFloat(v, 'g', -1, 64))
			case s.Class == "":
				cells = append(cells, "NaN")
			default:
				cells = append(cells, "")
			}
		}
	}
	return append(cells, clean.Cell(r.Left.Sum), clean.Cell(r.Right.Sum), clean.Cell(r.Left.Value), clean.Cell(r.Right.Value))
}

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
