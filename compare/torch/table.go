package torch

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"precision/compare"
	"precision/compare/metric"
	"precision/internal/whole"
)

// Table is the result of a comparison.
type Table struct {
	// Rows are in order of their Index.
	Rows []Row
	// Warnings tell of objects in the files that were left out.
	Warnings []error

	opt                  Options
	minePath, goldenPath string
}

// Row is a pair of tensors, a tensor without partner, or a call of which no
// tensor has one.
type Row struct {
	// Index is the order number of the call.
	Index int64
	// Op is the operator in my file, empty if it has no such call.
	Op string
	// Mine and Golden are the paths of the datasets, empty where there is none.
	Mine, Golden string
	// Type is the element type of my tensor as numpy names it. Type and Shape
	// are empty unless the pair was compared; a scalar has a shape of no
	// dimensions, not nil.
	Type  string
	Shape []int64
	// Compared tells whether Result holds values.
	Compared bool
	Result   metric.Result
	// Reasons say why values are missing or what to know when reading them.
	Reasons []compare.Reason
}

// Reason is the CompareFailReason cell.
func (r *Row) Reason() string {
	var texts []string
	for _, reason := range r.Reasons {
		texts = append(texts, reason.Text)
	}
	return strings.Join(texts, ",")
}

func (t *Table) sort() {
	sort.SliceStable(t.Rows, func(i, j int) bool { return t.Rows[i].Index < t.Rows[j].Index })
}

// Matched tells whether any tensors could be compared.
func (t *Table) Matched() bool {
	for i := range t.Rows {
		if t.Rows[i].Compared {
			return true
		}
	}
	return false
}

// Header lists the column names in order.
func (t *Table) Header() []string {
	h := []string{"Index", "NPUDump", "NPUDumpPath", "GroundTruthPath", "DataType", "Shape"}
	for _, m := range t.opt.Metrics {
		h = append(h, m.String())
	}
	return append(h, "CompareFailReason")
}

// Cells are the texts of a row in the order of Header.
func (t *Table) Cells(r *Row) []string {
	c := []string{strconv.FormatInt(r.Index, 10), compare.TextCell(r.Op), compare.TextCell(r.Mine), compare.TextCell(r.Golden), compare.TextCell(r.Type), compare.ShapeCell(r.Shape)}
	for _, m := range t.opt.Metrics {
		if r.Compared {
			c = append(c, r.Result.Text(m))
		} else {
			c = append(c, "NaN")
		}
	}
	return append(c, compare.Neutral(r.Reason()))
}

// Write writes the table as csv: comma, CRLF, minimal quoting, NaN for what was
// not computed.
func (t *Table) Write(w io.Writer) error {
	return t.write(w, func(*Row) bool { return true })
}

func (t *Table) write(w io.Writer, keep func(*Row) bool) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	if err := c.Write(t.Header()); err != nil {
		return err
	}
	for i := range t.Rows {
		if r := &t.Rows[i]; keep(r) {
			if err := c.Write(t.Cells(r)); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

// WriteFile writes the table to path, whole or not at all. With
// Options.PostProcess it also writes the folder that [Table.FilteredFolder]
// names: the suspicious rows as filtered_result.csv and the tensors of these
// rows, in the order they were compared in, as .npy files. Tensors that cannot
// be read are left out and returned as warnings.
func (t *Table) WriteFile(ctx context.Context, path string) (warnings []error, err error) {
	if err := t.writeFile(path, func(*Row) bool { return true }); err != nil {
		return nil, err
	}
	if !t.opt.PostProcess {
		return nil, nil
	}
	folder := t.FilteredFolder(path)
	if err := t.writeFile(filepath.Join(folder, "filtered_result.csv"), suspicious); err != nil {
		return nil, err
	}
	return t.writeTensors(ctx, folder)
}

func (t *Table) writeFile(path string, keep func(*Row) bool) error {
	f, err := whole.Create(path, 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := t.write(f, keep); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return f.Commit()
}
