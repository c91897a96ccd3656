package metric

import (
	"math"
	"strconv"
)

// Metric is a metric by its number, which is the place of its definition in the
// registry. The first ten have the numbers by which msaccucmp lets users select
// them.
type Metric uint8

// The metrics of msaccucmp.
const (
	CosineSimilarity Metric = iota
	MaxAbsoluteError
	AccumulatedRelativeError
	RelativeEuclideanDistance
	KullbackLeiblerDivergence
	StandardDeviation
	MeanAbsoluteError
	RootMeanSquareError
	MaxRelativeError
	MeanRelativeError
)

// table has the metrics in the order of their numbers. A metric is added by an
// entry at its end, whose definition, with a constant for its number, is in a
// file of its own.
var table = [...]*definition{
	CosineSimilarity:          &cosineSimilarity,
	MaxAbsoluteError:          &maxAbsoluteError,
	AccumulatedRelativeError:  &accumulatedRelativeError,
	RelativeEuclideanDistance: &relativeEuclideanDistance,
	KullbackLeiblerDivergence: &kullbackLeiblerDivergence,
	StandardDeviation:         &standardDeviation,
	MeanAbsoluteError:         &meanAbsoluteError,
	RootMeanSquareError:       &rootMeanSquareError,
	MaxRelativeError:          &maxRelativeError,
	MeanRelativeError:         &meanRelativeError,
}

// Count is the number of metrics.
const Count = len(table)

// definition is all there is to know of a metric.
type definition struct {
	// name is that of the metric and of its column in result tables.
	name string
	// needs are the sums that take further passes; nil is none.
	needs func(*Config) sums
	// relative: it is made of relative errors, so that a note counts the
	// elements that have none.
	relative bool
	// exact is the value in Exact numerics, of tensors that have a finite
	// element or elements that disagree. note tells what there is to know of it.
	exact func(r *exactRun, cfg *Config, note func(Note)) Value
	// reference is the value in Reference numerics.
	reference func(r *referenceRun, cfg *Config, note noter) Value
	// boolean: Reference numerics have it of booleans, too.
	boolean bool
}

// noter takes a note of Reference numerics about a metric.
type noter func(NoteKind, Side)

// sums are what is summed beyond the first pass.
type sums uint8

const (
	// sumsOfCentered are the products of normed elements and the squared
	// distances from the mean, of Reference numerics.
	sumsOfCentered sums = 1 << iota
	// sumsOfShares are the divergence and what it takes.
	sumsOfShares
)

// always needs the same sums whatever is configured.
func always(s sums) func(*Config) sums { return func(*Config) sums { return s } }

// String is the name of the metric, which is also its column in result tables.
func (m Metric) String() string {
	if int(m) < len(table) {
		return table[m].name
	}
	return "Metric(?)"
}

// Parse finds a metric by its exact name or its number in decimal digits.
func Parse(name string) (Metric, bool) {
	for i, d := range table {
		if name == d.name || name == strconv.Itoa(i) {
			return Metric(i), true
		}
	}
	return 0, false
}

// Default are the metrics of a table for which none were selected, in column
// order: all of them, and in Reference numerics those of msaccucmp.
func Default(n Numerics) []Metric {
	list := make([]Metric, len(table))
	for i := range list {
		list[i] = Metric(i)
	}
	if n == Reference {
		return list[:MeanRelativeError+1]
	}
	return list
}

// agreed is a value of tensors whose elements agree in not being finite, and not
// computed where some do not.
func agreed(value func(*exactSums) float64) func(*exactRun, *Config, func(Note)) Value {
	return func(r *exactRun, _ *Config, _ func(Note)) Value {
		if r.sums.disagree > 0 {
			return Value{}
		}
		return numberValue(value(&r.sums))
	}
}

// errorOf is an error, which is infinite where elements disagree in being finite.
func errorOf(value func(*exactSums) float64) func(*exactRun, *Config, func(Note)) Value {
	return func(r *exactRun, _ *Config, _ func(Note)) Value {
		if r.sums.disagree > 0 {
			return numberValue(math.Inf(1))
		}
		return numberValue(value(&r.sums))
	}
}

// numeric is a number that Reference numerics have of any tensor.
func numeric(value func(*referenceRun) float64) func(*referenceRun, *Config, noter) Value {
	return func(r *referenceRun, _ *Config, _ noter) Value { return numberValue(value(r)) }
}

// maximum is a number that Reference numerics do not have of empty tensors.
func maximum(value func(*referenceRun) float64) func(*referenceRun, *Config, noter) Value {
	return func(r *referenceRun, _ *Config, note noter) Value {
		if r.n == 0 {
			note(NoteNoMaximum, Mine)
			return Value{}
		}
		return numberValue(value(r))
	}
}
