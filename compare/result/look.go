package result

import "precision/compare/metric"

// Look is a look at the elements of a pair of tensors: what one draws pictures
// of, small whatever the tensor's size.
type Look struct {
	// Tensor is its name, Shape the logical shape that was compared.
	Tensor string
	Shape  []int64
	// Equal counts the elements without an error, which are in no histogram.
	Equal int64
	// Histogram counts |left-right| by its decimal logarithm, in equal steps
	// from HistogramLow to HistogramHigh.
	Histogram                   []int64
	HistogramLow, HistogramHigh float64
	// Density counts pairs of values: a square of cells row by row, rows for
	// the left side from the lowest values up, columns for the right side,
	// both from DensityLow to DensityHigh.
	Density                 []int64
	DensityLow, DensityHigh float64
	// Channels are root mean squares of the error along axis ChannelAxis, which
	// has ChannelCount places; of a long axis several share one.
	Channels     []float64
	ChannelAxis  int
	ChannelCount int64
	// Map is the largest error over the last two axes, which have MapRows and
	// MapColumns places: MapKept rows of cells, row by row.
	Map                 []float64
	MapRows, MapColumns int64
	MapKept             int
	// First and Largest are the first and the largest differences.
	First   []metric.Element `part:"first" column:"index"`
	Largest []metric.Element `part:"largest" column:"index"`
	// Patterns say what kind of wrong it is, the best first.
	Patterns []Pattern
}

// Pattern is a kind of wrong that the elements bear out.
type Pattern struct {
	// Kind names it; docs/patterns.md lists the names.
	Kind string
	// Explained is the share of the squared error it explains, Elements how
	// many are concerned.
	Explained float64
	Elements  int64
	// Evidence are its numbers, as JSON.
	Evidence string
}
