package compare

import (
	"math"

	"precision/compare/metric"
	"precision/compare/result"
)

// Summary is what a run found, in short.
type Summary struct {
	// Rows counts lines of the table, Compared those with values, Below those
	// of them that the threshold calls bad.
	Rows, Compared, Below int
	// Threshold is the cosine similarity the judgement used.
	Threshold float64
	// Missed counts the lines without values by their reason.
	Missed map[result.Class]int
	// First is the first operator of the framework, in execution order, with
	// a bad output; nil if there is none.
	First *Finding
	// FirstInserted is the first operator with a bad output that the graph
	// compiler inserted (layout or type conversions without a counterpart in
	// the framework), if it comes before First. Its golden array is that of
	// the operator that feeds it.
	FirstInserted *Finding
	// Unjudged: the cosine similarity is not among the selected metrics.
	Unjudged bool

	worst worst
}

// Finding names a bad operator.
type Finding struct {
	Row *result.Row
	// Cosine is the cosine similarity of the tensor, NaN for scalars and for
	// tensors with disagreeing NaN or Inf.
	Cosine float64
	// Scalar: the tensor has a single element and is judged by Error, its
	// relative error.
	Scalar bool
	Error  float64
}

// worst keeps what -fail-below needs to know of all outputs.
type worst struct {
	cosine float64 // smallest
	scalar float64 // largest relative error of a scalar
	nan    bool
	any    bool
}

// Summarise judges the rows of a table by a threshold of the cosine similarity.
func Summarise(t *result.Table, threshold float64) *Summary {
	s := &Summary{
		Threshold: threshold,
		Missed:    map[result.Class]int{},
		Unjudged:  !t.Meta.Has(metric.CosineSimilarity),
		worst:     worst{cosine: math.Inf(1)},
	}
	for i := range t.Rows {
		s.add(&t.Rows[i])
	}
	if s.First != nil && s.FirstInserted != nil && s.First.Row.Facts.Order < s.FirstInserted.Row.Facts.Order {
		s.FirstInserted = nil
	}
	return s
}

// AnyOutputBelow tells whether some output has a cosine similarity below
// limit. NaN counts as below, whether it was computed or not, and so does a dump
// that cannot be read; scalars, which have no cosine, are judged by a relative
// error above 1-limit.
func (s *Summary) AnyOutputBelow(limit float64) bool {
	w := s.worst
	return w.any && (w.nan || w.cosine < limit || w.scalar > 1-limit)
}

// add counts a row.
func (s *Summary) add(r *result.Row) {
	s.Rows++
	if r.Compared {
		s.Compared++
	} else {
		s.Missed[r.Class()]++
	}
	output := r.Role == result.Output
	if s.Unjudged {
		return
	}
	if !r.Compared {
		if output || r.Role == result.Whole && r.Class() == result.Unreadable {
			s.worst.any, s.worst.nan = true, true
		}
		return
	}
	f := Finding{Row: r, Cosine: r.Result.Values[metric.CosineSimilarity].Float(), Scalar: r.Facts.Scalar, Error: scalarError(&r.Result)}
	res := &r.Result
	nothing := res.N == 0 || res.AgreeNonFinite == res.N
	bad := !(f.Cosine >= s.Threshold)
	switch {
	case nothing: // no elements, or the same NaN and Inf on both sides
		bad = false
	case f.Scalar:
		bad = !(f.Error <= 1-s.Threshold)
	}
	if output {
		s.worst.any = true
		switch {
		case nothing:
			s.worst.nan = s.worst.nan || res.N > 0 && math.IsNaN(f.Cosine)
		case f.Scalar:
			s.worst.scalar = max(s.worst.scalar, f.Error)
		case math.IsNaN(f.Cosine):
			s.worst.nan = true
		default:
			s.worst.cosine = min(s.worst.cosine, f.Cosine)
		}
	}
	if !bad {
		return
	}
	s.Below++
	if !output {
		return
	}
	first := &s.First
	if r.Inserted() {
		first = &s.FirstInserted
	}
	if *first == nil || r.Facts.Order < (*first).Row.Facts.Order {
		*first = &f
	}
}

// scalarError is how far a single element is off, relative to golden: infinite
// when golden is 0 or one side is not finite.
func scalarError(r *metric.Result) float64 {
	if r.Disagree > 0 || r.ZeroGolden > 0 {
		return math.Inf(1)
	}
	return r.Values[metric.MaxRelativeError].Float()
}
