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
	// uncounted: an imported row does not tell how many elements it has.
	uncounted bool
	// apart: an imported row tells that NaN or Inf of the two sides disagree;
	// unclear: that both have some, and not whether they agree.
	apart, unclear bool
}

// measureOf reads the numbers of a compared row, without the elements of a
// second look where there was one.
func measureOf(r *result.Row) measure {
	res := r.Result()
	if r.Saturated != nil {
		res = &r.Saturated.Result
	}
	return measureOfResult(r, res)
}

// measureOfResult reads the numbers of a look at a row.
func measureOfResult(r *result.Row, res *metric.Result) measure {
	if f := &res.Facts; f.Known {
		return measure{n: f.N, finite: f.Finite, cosine: f.Cosine, distance: f.Distance, maxAbs: f.MaxAbs, rms: f.Y.RMS, relative: f.MaxRel, facts: f}
	}
	value := func(m metric.Metric) float64 { return res.Values[m].Float() }
	m := measure{n: res.N, finite: res.N, cosine: value(metric.CosineSimilarity), distance: value(metric.RelativeEuclideanDistance),
		maxAbs: value(metric.MaxAbsoluteError), relative: value(metric.MaxRelativeError), rms: math.NaN()}
	if root := value(metric.RootMeanSquareError); m.distance > 0 && root > 0 {
		m.rms = root / m.distance
	}
	m.imported(r, res)
	return m
}

// diverged tells of an imported row whether NaN or Inf of the two sides
// disagree.
func (m *measure) diverged() bool { return m.facts == nil && m.apart }

// disagrees tells whether the sides are known to have NaN or Inf in other places.
func (m *measure) disagrees() bool { return m.apart || m.facts != nil && m.facts.Disagree > 0 }

// unknown tells whether a row holds nothing to judge it by: no elements, or an
// imported one without the columns that would tell.
func (m *measure) unknown() bool {
	if m.facts != nil {
		return m.n == 0
	}
	if m.apart {
		return false
	}
	nothing := math.IsNaN(m.cosine) && math.IsNaN(m.distance) && math.IsNaN(m.relative) && m.maxAbs != 0
	return m.n == 0 && !m.uncounted || m.unclear || nothing
}

// imported reads off a row without facts what it tells of NaN and Inf. There is
// no cosine then, and the largest error is infinite, or nan in tables of
// msaccucmp.py; what was not computed tells nothing.
func (m *measure) imported(r *result.Row, res *metric.Result) {
	m.uncounted = res.N == 0 && r.Shape == nil
	cosine, largest := res.Values[metric.CosineSimilarity], res.Values[metric.MaxAbsoluteError]
	m.apart = res.Disagree > 0 || math.IsInf(m.maxAbs, 0) || largest.OK() && math.IsNaN(m.maxAbs) || cosine.OK() && math.IsNaN(m.cosine)
	for _, reason := range r.Reasons {
		switch reason.Kind {
		case result.NonFinite, result.LeftNonFinite, result.RightNonFinite, result.NoteDisagree:
			m.apart = true
		case result.BothNonFinite:
			m.unclear = true
		}
	}
	m.apart = m.apart && !m.unclear
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
