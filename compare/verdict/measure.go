package verdict

import (
	"math"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// measure is what the judge reads off a row: the numbers of the metric core,
// or, of a table that was imported from csv, what its columns tell.
type measure struct {
	n, finite int64
	// cosine and distance are NaN where there is none.
	cosine, distance float64
	// maxAbs is the largest error, rms the root mean square of golden, both
	// NaN if not known.
	maxAbs, rms float64
	// relative is the largest relative error.
	relative float64
	// facts are nil for an imported row.
	facts *metric.Facts
}

// measureOf reads the numbers of a compared row, without the elements of a
// second look where there was one.
func measureOf(r *result.Row) measure {
	res := &r.Result
	if r.Saturated != nil {
		res = &r.Saturated.Result
	}
	if f := &res.Facts; f.Known {
		return measure{n: f.N, finite: f.Finite, cosine: f.Cosine, distance: f.Distance, maxAbs: f.MaxAbs, rms: f.Y.RMS, relative: f.MaxRel, facts: f}
	}
	value := func(m metric.Metric) float64 { return res.Values[m].Float() }
	m := measure{n: res.N, finite: res.N, cosine: value(metric.CosineSimilarity), distance: value(metric.RelativeEuclideanDistance),
		maxAbs: value(metric.MaxAbsoluteError), relative: value(metric.MaxRelativeError), rms: math.NaN()}
	if root := value(metric.RootMeanSquareError); m.distance > 0 && root > 0 {
		m.rms = root / m.distance
	}
	return m
}

// diverged tells of an imported row whether NaN or Inf of the two sides
// disagree: there is no cosine then, and the largest error is infinite.
func (m *measure) diverged() bool {
	return m.facts == nil && math.IsNaN(m.cosine) && (math.IsInf(m.maxAbs, 0) || math.IsNaN(m.maxAbs) && m.n > 1)
}

// errorRMS is the root mean square of the error, NaN if it is not known.
func (m *measure) errorRMS() float64 {
	if m.facts != nil && m.facts.Differ == 0 {
		return 0
	}
	if math.IsInf(m.distance, 0) {
		return m.maxAbs // golden is zero
	}
	return m.distance * m.rms
}

// scalar tells whether a relative error says more than a cosine: a single
// element, or a golden side that is the same number everywhere.
func (m *measure) scalar() bool {
	return m.n == 1 || m.facts != nil && m.facts.Y.Constant() && m.facts.Y.Lo != 0
}

// zeroSides tells which sides are all zero.
func (m *measure) zeroSides() (left, right bool) {
	if m.facts == nil {
		return false, false
	}
	return m.facts.X.Zero == m.n, m.facts.Y.Zero == m.n
}

// magnitude is the largest |v| of a side, 0 where there is no finite element.
func magnitude(s *metric.SideFacts) float64 {
	if v := s.MaxMagnitude(); v > 0 {
		return v
	}
	return 0
}

// unit is the unit roundoff of a dtype, 0 for integers and unknown ones.
func unit(t dtype.Type) float64 { return t.Unit() }

// counted tells whether elements of a dtype are counted rather than measured.
func counted(t dtype.Type) bool { return t.IsInteger() || t.IsBool() }
