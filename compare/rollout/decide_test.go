package rollout

import (
	"math"
	"slices"
	"testing"

	"precision/compare/rollout/stage"
	"precision/compare/verdict"
	"precision/compare/weights"
	"precision/dump/dtype"
)

// TestDecide gives figures that are not known, and answers that no recording covers: neither makes a verdict better.
func TestDecide(t *testing.T) {
	good := stage.Report{Shares: true, Answers: 10, Found: 0.01, Expected: 0.02, Factor: 0.5, Covered: 1}
	note := Note{}
	for name, x := range map[string]struct {
		change func(s *stage.Report)
		mean   float64
		fault  bool
		want   verdict.Verdict
	}{
		"rounding":           {func(*stage.Report) {}, 0.01, false, verdict.Good},
		"fault within":       {func(*stage.Report) {}, 0.01, true, verdict.Suspect},
		"beyond":             {func(s *stage.Report) { s.Factor = 2 }, 0.01, false, verdict.Suspect},
		"wide":               {func(s *stage.Report) { s.Factor, s.Wide = 2, true }, 0.01, false, verdict.Suspect},
		"expected NaN":       {func(s *stage.Report) { s.Expected, s.Factor = math.NaN(), 0 }, 0.01, false, verdict.Inconclusive},
		"fault, NaN":         {func(s *stage.Report) { s.Expected, s.Factor = math.NaN(), 0 }, 0.01, true, verdict.Bad},
		"factor NaN":         {func(s *stage.Report) { s.Factor = math.NaN() }, 0.01, false, verdict.Inconclusive},
		"covered NaN":        {func(s *stage.Report) { s.Covered = math.NaN() }, 0.01, false, verdict.Inconclusive},
		"beyond, damaged":    {func(s *stage.Report) { s.Factor, s.Damaged = 2, 1 }, 0.01, false, verdict.Inconclusive},
		"fault, damaged":     {func(s *stage.Report) { s.Damaged = 1 }, 0.01, true, verdict.Bad},
		"half, others off":   {func(s *stage.Report) { s.Answers = 5 }, 0.5, false, verdict.Inconclusive},
		"scale not known":    {func(*stage.Report) { note.Key = "scale" }, 0.01, false, verdict.Inconclusive},
		"half, others alike": {func(s *stage.Report) { s.Answers = 5 }, 0.01, false, verdict.Good},
	} {
		s := good
		note = Note{}
		x.change(&s)
		r := &Result{Unknown: []Note{note}, Stages: &s, Figs: &Figures{Tokens: 10, MeanAbs: x.mean, MaxAbs: 1}}
		if x.fault {
			r.cause(Cause{Kind: Formula})
		}
		if r.decide(); r.Verdict != x.want {
			t.Errorf("%s: %v, want %v", name, r.Verdict, x.want)
		}
	}
}

// TestAdapters holds scales that weights were merged with against that of the trainer's calls, and against each other where these show none.
func TestAdapters(t *testing.T) {
	inf := math.Inf(1)
	for name, x := range map[string]struct {
		shown  float64
		merged []weights.Tensor
		keys   []string
		note   string // rollout.note.KEY
	}{
		"shown":              {2, []weights.Tensor{{Value: 2}, {Value: 2.02}}, nil, "merged"},
		"another":            {4, []weights.Tensor{{Value: 2}}, []string{"adapter"}, ""},
		"taken away, shown":  {-2, []weights.Tensor{{Value: -2}}, nil, "merged"},
		"added, not shown":   {-2, []weights.Tensor{{Value: 2}}, []string{"adapter"}, ""},
		"shown, rounds away": {2, []weights.Tensor{{Spread: inf}}, nil, "scale"},
		"not shown":          {0, []weights.Tensor{{Value: 2}, {Value: 2}, {Value: 2}}, nil, "scale"},
		"twice":              {0, []weights.Tensor{{Value: 2}, {Value: 4}, {Value: 2}}, []string{"adapter.others"}, "scale"},
		"within its spread":  {0, []weights.Tensor{{Value: 2}, {Value: 4, Spread: 3}, {Value: 2}}, nil, "scale"},
		"other ranks":        {0, []weights.Tensor{{Value: 2}, {Value: 4, Rank: 8}, {Value: 2}}, nil, "scale"},
		"shown of a rank":    {2, []weights.Tensor{{Value: 2}, {Value: 4, Rank: 8}, {Value: 4, Rank: 8}}, nil, "scale"},
		"shown of no rank":   {3, []weights.Tensor{{Value: 2}, {Value: 4, Rank: 8}}, []string{"adapter", "adapter"}, ""},
		"no two alike":       {0, []weights.Tensor{{Value: 2}, {Value: 4}, {Value: 8}}, nil, "scale"},
		"taken away":         {0, []weights.Tensor{{Value: -2}, {Value: -2}}, []string{"adapter.sign", "adapter.sign"}, ""},
	} {
		for i := range x.merged {
			x.merged[i].Kind = weights.Merged
		}
		r := &Result{Weights: &weights.Report{Tensors: append(x.merged, weights.Tensor{Name: "b", Kind: weights.Same})}}
		r.judgeWeights()
		r.adapters(x.shown)
		var keys []string
		for _, c := range r.Causes {
			keys = append(keys, c.Key)
		}
		note := ""
		for _, n := range append(r.Traps, r.Unknown...) {
			note += n.Key
		}
		if !slices.Equal(keys, x.keys) || note != x.note {
			t.Errorf("%s: %v and %q, want %v and %q", name, keys, note, x.keys, x.note)
		}
		if r.decide(); (r.Verdict == verdict.Good) != (len(x.keys) == 0 && x.note == "merged") {
			t.Errorf("%s: %v", name, r.Verdict)
		}
	}
}

// TestNotJudged has errors of a stage that are known, and others that are not.
func TestNotJudged(t *testing.T) {
	for _, x := range []struct {
		train, rollout float64
		key            string
	}{{0.3, 0.4, "stage"}, {-1, 0.4, "stage.none"}, {0, 0, "stage.none"}} {
		r := &Result{}
		r.findings(&stage.Report{Stages: []stage.Stage{{Name: "attn", Finding: stage.Unknown, Train: x.train, Rollout: x.rollout}}})
		if len(r.Unknown) != 1 || r.Unknown[0].Key != x.key {
			t.Errorf("%v and %v: %v", x.train, x.rollout, r.Unknown)
		}
	}
}

// TestKept has logits in one type and in two.
func TestKept(t *testing.T) {
	for other, key := range map[dtype.Type]string{dtype.BFloat16: "", dtype.Float32: "rounding.type"} {
		r := &Result{}
		r.findings(&stage.Report{Stages: []stage.Stage{{Name: "lm_head", Layer: -1, Finding: stage.Rounding, Own: -1, Types: [2]dtype.Type{dtype.BFloat16, other}}}})
		if key == "" && len(r.Causes) > 0 || key != "" && (len(r.Causes) != 1 || r.Causes[0].Key != key) {
			t.Errorf("%s: %+v", other, r.Causes)
		}
	}
}

// TestOtherModel has weights most of which have nothing to do with each other: one fact, and none of the engines' where these agree.
func TestOtherModel(t *testing.T) {
	for name, x := range map[string]struct {
		kind   weights.Kind
		factor float64
		causes int
		want   verdict.Verdict
	}{
		"agree":     {weights.Unlike, 0.5, 1, verdict.Inconclusive},
		"differ":    {weights.Unlike, 5, 1, verdict.Bad},
		"the same":  {weights.Same, 0.5, 0, verdict.Good},
		"exchanged": {weights.Elsewhere, 0.5, 6, verdict.Suspect},
	} {
		r := &Result{Stages: &stage.Report{Shares: true, Answers: 10, Found: 0.01, Expected: 0.02, Factor: x.factor, Covered: 1}, Figs: &Figures{Tokens: 10, MeanAbs: 0.01, MaxAbs: 1}, Weights: &weights.Report{}}
		for range 6 {
			r.Weights.Tensors = append(r.Weights.Tensors, weights.Tensor{Kind: x.kind})
		}
		r.judgeWeights()
		r.decide()
		if len(r.Causes) != x.causes || r.Verdict != x.want || x.kind == weights.Unlike && r.Causes[0].Key != otherModel {
			t.Errorf("%s: %v, %+v", name, r.Verdict, r.Causes)
		}
	}
}
