package verdict

import (
	"math"

	"precision/compare/metric"
	"precision/compare/result"
)

// Gate is what lets a comparison, a job or a check not pass. It is the same for all of them.
type Gate struct {
	// On: a verdict that is bad or inconclusive does not pass, nor does a recording that was held
	// against itself; Strict: neither does one that is suspect, or that lost anything.
	On, Strict bool
	// Below is the cosine similarity that every output must reach, nil for
	// none. A single element must come within 1 - Below of golden instead. An
	// output that has neither, or that was not compared, does not pass, and
	// neither does an inconclusive table, or one of a recording and itself.
	Below *float64
}

// Standing is what a gate looks at.
type Standing struct {
	Verdict Verdict
	// Itself: both sides are one recording, which shows nothing.
	Itself bool
	// Losses are what the verdict does without.
	Losses []Loss
	// Known: errors are held against a baseline, of which Regressions are the ones that grew.
	Known       bool
	Regressions []Change
}

// Trip is one thing that a gate stops at.
type Trip struct {
	Kind TripKind
	// Row is the row that tripped it, -1 where it is the table as a whole.
	Row int
	// Value is the cosine similarity or relative error of the row, NaN if it
	// has none; Limit what it was held against.
	Value, Limit float64
	// Tensor is the name of the tensor, where there is one that may have no row.
	Tensor string
	// Loss is what was lost, nil where that is not the matter.
	Loss *Loss
}

// TripKind says what a gate stopped at. Its text is its name in messages.
type TripKind string

// What gates stop at. The first six are about the table.
const (
	TripBad          TripKind = "bad"
	TripSuspect      TripKind = "suspect"
	TripInconclusive TripKind = "inconclusive"
	TripItself       TripKind = "itself"     // both sides are one recording
	TripLoss         TripKind = "loss"       // something was lost
	TripRegression   TripKind = "regression" // an error grew since the baseline
	TripCosine       TripKind = "cosine"     // below Gate.Below
	TripScalar       TripKind = "scalar"     // further than 1 - Gate.Below
	TripNoCosine     TripKind = "no-cosine"  // NaN, or nothing to measure
	TripUncompared   TripKind = "uncompared" // an output without values
)

// Stops lists what a gate stops at; what it looks at passes if there is nothing. Errors that a
// baseline knows are no failure; those that grew are.
func (g Gate) Stops(s Standing) (list []Trip) {
	if !g.On && !g.Strict {
		return nil
	}
	trip := func(kind TripKind) Trip { return Trip{Kind: kind, Row: -1, Value: math.NaN(), Limit: math.NaN()} }
	lost := func(l *Loss) Trip { t := trip(TripLoss); t.Loss = l; return t }
	switch {
	case s.Verdict == Inconclusive:
		list = append(list, trip(TripInconclusive))
		for i := range s.Losses {
			if s.Losses[i].Breaks && !g.Strict { // strict tells all
				list = append(list, lost(&s.Losses[i]))
			}
		}
	case s.Itself:
		list = append(list, trip(TripItself))
	case s.Known:
		for _, c := range s.Regressions {
			list = append(list, Trip{Kind: TripRegression, Row: c.Row, Tensor: c.Tensor, Value: c.Now, Limit: c.Before})
		}
	case s.Verdict == Bad:
		list = append(list, trip(TripBad))
	case g.Strict && s.Verdict == Suspect:
		list = append(list, trip(TripSuspect))
	}
	for i := range s.Losses {
		if g.Strict {
			list = append(list, lost(&s.Losses[i]))
		}
	}
	return list
}

// Standing is how a table stands before a gate.
func (j *Judged) Standing() Standing {
	s := Standing{Verdict: j.Verdict, Itself: j.Table.Meta.Pairing.OfItself(), Losses: j.Losses, Known: j.Baseline != nil}
	if j.Baseline != nil {
		s.Regressions = j.Baseline.Regressions
	}
	return s
}

// Trips lists what a gate stops at; the table passes if there is nothing.
func (j *Judged) Trips(g Gate) []Trip {
	list := g.Stops(j.Standing())
	if g.Below == nil {
		return list
	}
	if len(list) == 0 && (j.Verdict == Inconclusive || j.Standing().Itself) {
		list = Gate{On: true}.Stops(j.Standing())
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
				without = append(without, Trip{Kind: TripUncompared, Row: row, Value: math.NaN(), Limit: *g.Below})
			}
		}
	}
	return append(list, without...)
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
