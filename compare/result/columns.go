package result

import (
	"slices"

	"precision/compare/metric"
	"precision/internal/nd"
)

// Column is a column of values: a built-in metric or, if Script is not empty,
// a user's algorithm.
type Column struct {
	Metric metric.Metric
	Script string
}

// Name is the header of the column.
func (c Column) Name() string {
	if c.Script != "" {
		return c.Script
	}
	return c.Metric.String()
}

// ColumnsOf are the columns of metrics.
func ColumnsOf(metrics []metric.Metric) []Column {
	list := make([]Column, len(metrics))
	for i, m := range metrics {
		list[i].Metric = m
	}
	return list
}

// Columns chooses the conditional columns of a table that is written as csv.
type Columns struct {
	// Sequence is the column OpSequence: a range or a selection is in effect.
	Sequence bool
	// LeftAddress and RightAddress: the side is device dumps.
	LeftAddress, RightAddress bool
	// Overflow is the column of overflow detection.
	Overflow bool
	// Datasets: the sides are recordings of datasets in files, whose tables
	// name the datasets in place of operators.
	Datasets bool
	// Recorded are the columns of recordings of calls: the place of a value in its
	// call, how the calls were paired, statistics, checksums and arguments of both
	// sides.
	Recorded bool
	// Values are the columns of values, in order.
	Values []Column
	// Quiet leaves out the reasons that the old tool does not give.
	Quiet bool
	// Loaded names element types as numpy has them once the arrays are read,
	// as the old tool does.
	Loaded bool
}

// ShapeText writes dims as reasons do: (1, 3, 4, 4).
func ShapeText(dims []int64) string { return "(" + nd.Text(dims, ", ") + ")" }

// Has tells whether a metric is among the table's.
func (m *Meta) Has(name metric.Metric) bool { return slices.Contains(m.Metrics, name.String()) }
