package rollout

import (
	"math"
	"testing"

	"precision/compare/rollout/stage"
	"precision/compare/verdict"
)

// TestDecide gives figures that are not known, and answers that no recording covers: neither makes a verdict better.
func TestDecide(t *testing.T) {
	good := stage.Report{Shares: true, Answers: 10, Found: 0.01, Expected: 0.02, Factor: 0.5, Covered: 1}
	for name, x := range map[string]struct {
		change func(s *stage.Report)
		mean   float64
		fault  bool
		want   verdict.Verdict
	}{
		"rounding":           {func(*stage.Report) {}, 0.01, false, verdict.Good},
		"fault within":       {func(*stage.Report) {}, 0.01, true, verdict.Suspect},
		"expected NaN":       {func(s *stage.Report) { s.Expected, s.Factor = math.NaN(), 0 }, 0.01, false, verdict.Inconclusive},
		"fault, NaN":         {func(s *stage.Report) { s.Expected, s.Factor = math.NaN(), 0 }, 0.01, true, verdict.Bad},
		"factor NaN":         {func(s *stage.Report) { s.Factor = math.NaN() }, 0.01, false, verdict.Inconclusive},
		"covered NaN":        {func(s *stage.Report) { s.Covered = math.NaN() }, 0.01, false, verdict.Inconclusive},
		"half, others off":   {func(s *stage.Report) { s.Answers = 5 }, 0.5, false, verdict.Inconclusive},
		"half, others alike": {func(s *stage.Report) { s.Answers = 5 }, 0.01, false, verdict.Good},
	} {
		s := good
		x.change(&s)
		r := &Result{Stages: &s, Figs: &Figures{Tokens: 10, MeanAbs: x.mean, MaxAbs: 1}}
		if x.fault {
			r.cause(Cause{Kind: Formula})
		}
		if r.decide(); r.Verdict != x.want {
			t.Errorf("%s: %v, want %v", name, r.Verdict, x.want)
		}
	}
}
