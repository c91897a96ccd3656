package verdict

import (
	"math"

	"precision/compare/metric"
	"precision/compare/result"
)

// Gate is what lets a table not pass.
type Gate struct {
	// On: a verdict that is bad or inconclusive does not pass, nor does a recording that was held
	// against itself; Strict: neither does one that is suspect.
	On, Strict bool
	// Below is the cosine similarity that every output must reach, nil for
	// none. A single element must come within 1 - Below of golden instead. An
	// output that has neither, or that was not compared, does not pass, and
	// neither does an inconclusive table, or one of a recording and itself.
	Below *float64
}

// Trip is one thing that a gate stops at.
type Trip struct {
	Kind TripKind
	// Row is the row that tripped it, -1 where it is the table as a whole.
	Row int
	// Value is the cosine similarity or relative error of the row, NaN if it
	// has none; Limit what it was held against.
	Value, Limit float64
}

// TripKind says what a gate stopped at. Its text is its name in messages.
type TripKind string

// What gates stop at. The first five are about the table.
const (
	TripBad          TripKind = "bad"
	TripSuspect      TripKind = "suspect"
	TripInconclusive TripKind = "inconclusive"
	TripItself       TripKind = "itself"     // both sides are one recording
	TripRegression   TripKind = "regression" // an error grew since the baseline
	TripCosine       TripKind = "cosine"     // below Gate.Below
	TripScalar       TripKind = "scalar"     // further than 1 - Gate.Below
	TripNoCosine     TripKind = "no-cosine"  // NaN, or nothing to measure
	TripUncompared   TripKind = "uncompared" // an output without values
)

// Trips lists what a gate stops at; the table passes if there is nothing.
func (j *Judged) Trips(g Gate) []Trip {
	var list []Trip
	if (g.On || g.Strict) && j.Fails(g.Strict) {
		t := Trip{Row: -1, Value: math.NaN(), Limit: math.NaN()}
		switch void := j.void(); {
		case void != "":
			t.Kind = void
		case j.Baseline != nil:
			for _, c := range j.Baseline.Regressions {
				list = append(list, Trip{TripRegression, c.Row, c.Now, c.Before})
			}
		case j.Verdict == Bad:
			t.Kind = TripBad
		default:
			t.Kind = TripSuspect
		}
		if t.Kind != "" {
			list = append(list, t)
		}
	}
	if g.Below == nil {
		return list
	}
	if void := j.void(); void != "" && len(list) == 0 {
		list = append(list, Trip{void, -1, math.NaN(), math.NaN()})
	}
	var without []Trip // told last, as there may be many
	for i := range j.Operators {
		for k := range j.Operators[i].Outputs {
			switch t, trips := j.below(j.Operators[i].Outputs[k].Row, *g.Below); {
			case trips && t.Kind == TripUncompared:
				without = append(without, t)
			case trips:
				list = append(list, t)
			}
		}
		for _, row := range j.Operators[i].Whole {
			if j.Table.Rows[row].Class() == result.Unreadable {
				without = append(without, Trip{TripUncompared, row, math.NaN(), *g.Below})
			}
		}
	}
	return append(list, without...)
}

// void tells why no gate lets the table pass, whatever its numbers: it shows nothing. It is empty
// where the table shows something.
func (j *Judged) void() TripKind {
	switch {
	case j.Verdict == Inconclusive:
		return TripInconclusive
	case j.Table.Meta.Pairing.OfItself():
		return TripItself
	}
	return ""
}

// below holds an output against a limit of the cosine similarity.
func (j *Judged) below(row int, limit float64) (Trip, bool) {
	r := &j.Table.Rows[row]
	t := Trip{Row: row, Value: math.NaN(), Limit: limit}
	if !r.Compared {
		t.Kind = TripUncompared
		return t, true
	}
	res := r.Result()
	if res.N == 0 {
		return t, false
	}
	m := measureOf(r)
	if r.Facts.Scalar || m.n == 1 {
		t.Kind, t.Value, t.Limit = TripScalar, m.relative, 1-limit
		if res.Disagree > 0 || res.ZeroGolden > 0 {
			t.Value = math.Inf(1)
		}
		return t, !(t.Value <= t.Limit)
	}
	if v := res.Values[metric.CosineSimilarity]; v.OK() {
		t.Value = v.Float()
	} else if m.facts != nil && m.facts.Disagree == 0 {
		t.Value = m.facts.Cosine
	}
	t.Kind = TripCosine
	if math.IsNaN(t.Value) {
		t.Kind = TripNoCosine
	}
	return t, !(t.Value >= limit)
}
