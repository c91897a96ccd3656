package repl

import (
	"math"

	"precision/compare/metric"
	"precision/compare/result"
)

// cosineOf is the cosine similarity of a row, NaN if it has none or NaN and Inf
// of the two sides disagree.
func cosineOf(r *result.Row) float64 {
	if !r.Compared || r.Result().Disagree > 0 {
		return math.NaN()
	}
	if v := r.Result().Values[metric.CosineSimilarity]; v.OK() {
		return v.Float()
	}
	if f := &r.Result().Facts; f.Known && f.N > 1 {
		return f.Cosine
	}
	return math.NaN()
}

// largestOf is the largest absolute error of a row, infinite where NaN and Inf of
// the two sides disagree, NaN if it is not known.
func largestOf(r *result.Row) float64 {
	switch {
	case !r.Compared:
		return math.NaN()
	case r.Result().Disagree > 0:
		return math.Inf(1)
	case r.Result().Values[metric.MaxAbsoluteError].OK():
		return r.Result().Values[metric.MaxAbsoluteError].Float()
	case r.Result().Facts.Known:
		return r.Result().Facts.MaxAbs
	}
	return math.NaN()
}
