package compare

import (
	"fmt"
	"runtime"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump"
	"precision/graph/fusion"
)

// Options of a comparison. Validate fills in the defaults.
type Options struct {
	// Mine is the folder with the NPU dumps, Golden the other side.
	Mine, Golden *dump.Folder
	// Rules is the fusion structure of the graph; nil matches operators by
	// name.
	Rules *fusion.Rules
	// ByName pairs operators by name although Rules are known: these still tell
	// the order of operators and what feeds an input.
	ByName bool
	// Numerics are the metric formulas: metric.Exact, or metric.Reference for
	// the digits and the table habits of msaccucmp.py.
	Numerics metric.Numerics
	// TableOnly leaves out the facts that a judge goes by, which take time in
	// Reference numerics.
	TableOnly bool
	// Metrics are the columns, in order; by default those of [metric.Default].
	Metrics []metric.Metric
	// Table are the columns of values when the user's algorithms are among
	// them; nil is one column a metric. Metrics must be those in it.
	Table []result.Column
	// Scripts are the user's algorithms and conversions, if any.
	Scripts *UserScripts
	// MaxElements bounds how many elements of a tensor reach the metrics; 0
	// takes all.
	MaxElements int64
	// Slices keeps the slices of FFTS+ apart, as operators of their own.
	Slices bool
	// Overflow adds the float16 overflow column.
	Overflow bool
	// Sequence adds the OpSequence column, as a range or a selection does.
	Sequence bool
	// Only chooses the operator groups to compare; nil takes all.
	Only func(*fusion.Group) bool
	// Workers is the number of goroutines; all cores by default. The result
	// does not depend on it.
	Workers int
	// Progress is told after every operator group how many are done.
	Progress func(done, total int)
}

// Validate checks the options and fills in defaults.
func (o *Options) Validate() error {
	if o.Mine == nil || o.Golden == nil {
		return fmt.Errorf("two folders are needed: the NPU dumps and the golden side")
	}
	if o.MaxElements < 0 {
		return fmt.Errorf("the largest number of elements is %d, expected 0 or more", o.MaxElements)
	}
	if o.Workers < 0 {
		return fmt.Errorf("the number of workers is %d, expected 1 or more", o.Workers)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if len(o.Metrics) == 0 && len(o.Table) == 0 {
		o.Metrics = metric.Default(o.Numerics)
	}
	seen := map[metric.Metric]bool{}
	for _, m := range o.Metrics {
		if int(m) >= metric.Count {
			return fmt.Errorf("there is no metric number %d", m)
		}
		if seen[m] {
			return fmt.Errorf("%s is selected twice", m)
		}
		seen[m] = true
	}
	return nil
}

// oldFormat tells whether rows follow the habits of msaccucmp.py.
func (o *Options) oldFormat() bool { return o.Numerics == metric.Reference }

// byGraph tells whether the graph says what belongs together.
func (o *Options) byGraph() bool { return o.Rules != nil && !o.ByName }

// How tells what pairs are found by.
func (o *Options) How() result.How {
	if o.byGraph() {
		return result.ByGraph
	}
	return result.ByName
}

// Columns are the columns of the result table for these options.
func (o *Options) Columns() result.Columns {
	values := o.Table
	if values == nil {
		values = result.ColumnsOf(o.Metrics)
	}
	return result.Columns{
		Sequence:     o.Sequence,
		LeftAddress:  o.Mine.Kind == dump.Offline,
		RightAddress: !o.Golden.Numpy,
		Overflow:     o.Overflow && o.Mine.Kind == dump.Offline,
		Values:       values,
		Quiet:        o.oldFormat(),
		Loaded:       o.oldFormat() && o.byGraph(),
	}
}
