package torch

import (
	"sort"

	"precision/compare/metric"
	"precision/compare/result"
)

// Table is the result of a comparison.
type Table struct {
	// Rows are in order of their Index.
	Rows []result.Row
	// Warnings tell of objects in the files that were left out.
	Warnings []error

	opt                  Options
	minePath, goldenPath string
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

// Columns are those of the table: its rows name datasets by their paths, in
// Left.File and Right.File.
func (t *Table) Columns() result.Columns {
	return result.Columns{Datasets: true, Values: result.ColumnsOf(t.opt.Metrics)}
}

// Suspicious tells whether the cosine similarity of a row is at most 0.95 or missing,
// whatever the reason: with post-processing such rows are worth a closer look.
func Suspicious(r *result.Row) bool {
	return !r.Compared || !(r.Result.Values[metric.CosineSimilarity].Float() > suspectCosine)
}
