package engine

import (
	"cmp"
	"math"
	"runtime"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/compare/script"
	"precision/dump/dtype"
)

// Options are what every comparison can be told, whatever its pairs come from.
// The zero Options compute all ten metrics of the table exactly, on all cores.
type Options struct {
	// Numerics are the metric formulas: metric.Exact, or metric.Reference for
	// the digits and the table habits of msaccucmp.py.
	Numerics metric.Numerics
	// TableOnly leaves out the facts that a judge goes by, which take time in
	// Reference numerics.
	TableOnly bool
	// Metrics are the columns, in order; all ten of the table by default.
	Metrics []metric.Metric
	// ValueColumns are the columns of values when the user's algorithms are among
	// them; nil is one column a metric. Metrics must be those in it.
	ValueColumns []result.Column
	// Scripts are the user's algorithms and conversions, if any.
	Scripts *UserScripts
	// Tolerance is what elements of an operator and dtype may be off by, for the
	// share of those that are not to be counted; nil counts none.
	Tolerance func(op, typ string, t dtype.Type) metric.Tolerance
	// MaxElements bounds how many elements of a tensor reach the metrics; 0
	// takes all.
	MaxElements int64
	// Overflow tells of float16 tensors of the left side whether they overflow.
	Overflow bool
	// Unshard, if not nil, has tensors that are slices compared with those of the right
	// side, which was not sharded.
	Unshard *Unshard
	// Workers is the number of goroutines; all cores by default. The result
	// does not depend on it.
	Workers int
	// Glance, if not nil, gets the elements of some pairs; nothing is compared
	// then.
	Glance *Glance
	// Progress, if not nil, is told after every group how many are done. It is called one at a time.
	Progress func(done, total int)
	// repeats are the pairs of a run.
	repeats *repeats
}

// EnsureDefaults fills in what was left open.
func (o *Options) EnsureDefaults() {
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	if len(o.Metrics) == 0 && len(o.ValueColumns) == 0 {
		o.Metrics = metric.Default(o.Numerics)
	}
}

// Validate fills in defaults and checks the options.
func (o *Options) Validate() error {
	o.EnsureDefaults()
	if o.MaxElements < 0 {
		return faultf(FaultOption, "the largest number of elements is %d, expected 0 or more", o.MaxElements)
	}
	if o.Workers < 0 {
		return faultf(FaultOption, "the number of workers is %d, expected 1 or more", o.Workers)
	}
	seen := map[metric.Metric]bool{}
	for _, m := range o.Metrics {
		if int(m) >= metric.Count {
			return faultf(FaultOption, "there is no metric number %d", m)
		}
		if seen[m] {
			return faultf(FaultOption, "%s is selected twice", m)
		}
		seen[m] = true
	}
	return nil
}

// Values are the columns of values, in order.
func (o *Options) Values() []result.Column {
	if o.ValueColumns != nil {
		return o.ValueColumns
	}
	return result.ColumnsOf(o.Metrics)
}

// Meta is what a table tells of the options.
func (o *Options) Meta() result.Meta {
	m := result.Meta{Numerics: o.Numerics.String(), Partial: o.MaxElements > 0}
	for _, c := range o.Values() {
		m.Metrics = append(m.Metrics, c.Name())
	}
	return m
}

// Glance takes the elements of some pairs instead of comparing all of them.
type Glance struct {
	// Ops, if not nil, tells of an operator whether one of its rows may be wanted: the
	// files of others need not be opened.
	Ops func(name string) bool
	// Wanted tells of a row whether its elements are wanted; others are not
	// read.
	Wanted func(row *result.Row) bool
	// Tiles, if not nil, names the tiles to read of a tensor with so many elements: their numbers,
	// ascending, in units of metric.TileLen. Of one without any all is read.
	Tiles func(row *result.Row, elements int64) []int64
	// Most is the largest number of elements of a tensor that is read whole; larger ones are left
	// out.
	Most int64
	// Take gets a row with its elements, as its own to keep. It is called from several
	// goroutines.
	Take func(row *result.Row, s Seen)
}

// Unshard says that the right side was not sharded: where a tensor of the left side is one of
// several equal slices along an axis, it is compared with that slice of the right one. Tensors that
// every rank has whole are compared as they are.
type Unshard struct {
	// Axis and Slices are where and into how many slices tensors are cut; -1 and 0 take
	// what shapes tell.
	Axis, Slices int
	// Rank of Ranks is which rank the left side is of, counted from 0. Ranks have slices in turn,
	// 0 1 0 1, or neighbours have the same, 0 0 1 1: values tell.
	Rank, Ranks int
}

// UserScripts are the scripts a comparison runs.
type UserScripts struct {
	*script.Scripts
	// Params are the parameters of algorithms, by name.
	Params map[string]map[string]string
}

// Seen are elements of a pair.
type Seen struct {
	// At are their places, nil where they are all there are.
	At []int64
	// Left and Right are both sides, widened, in logical order.
	Left, Right []float64
	// LeftRest and RightRest are what integers of more than 53 bits have beyond Left and
	// Right; nil where nothing has.
	LeftRest, RightRest []float64
}

// Error is how far element i of the left side is from that of the right.
func (s *Seen) Error(i int) float64 {
	d := s.Left[i] - s.Right[i]
	if s.LeftRest != nil {
		d += s.LeftRest[i] - s.RightRest[i]
	}
	return math.Abs(d)
}

// Element is element i of both sides.
func (s *Seen) Element(i int) metric.Element {
	e := metric.Element{Index: int64(i), X: s.Left[i], Y: s.Right[i]}
	if s.LeftRest != nil {
		e.XRest, e.YRest = s.LeftRest[i], s.RightRest[i]
	}
	return e
}
