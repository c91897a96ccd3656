package rollouts

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"precision/compare/report/html"
	"precision/compare/rollout"
	"precision/compare/rollout/stage"
	"precision/compare/verdict"
	"precision/compare/weights"
	"precision/internal/msg"
)

// TestWrite writes a result with names of others, long sequences and numbers that are none: nothing of it acts upon the page, and what is
// shown is bounded and centred on what is worst.
func TestWrite(t *testing.T) {
	l := &rollout.LogProbs{Rows: 40, Columns: 1000, Train: make([]float64, 40_000), Rollout: make([]float64, 40_000)}
	l.Rollout[7*1000+900], l.Rollout[3], l.Train[8000] = -2, -0.5, math.NaN()
	r := &rollout.Result{Verdict: verdict.Bad, Why: "cause", Logs: l, Figs: l.Figures(),
		Stages: &stage.Report{Stages: []stage.Stage{{Layer: 0, Name: "norm", Finding: stage.Formula, Side: "rollout", Train: 0.001, Rollout: 0.5, Own: -1}}},
		Causes: []rollout.Cause{
			{Kind: rollout.Formula, Stage: "norm", Side: "rollout", Key: "variant", Args: []any{"norm", "rollout", rollout.Note{Key: "variant.eps", Args: []any{1e-5}}}},
			{Kind: rollout.Weights, Name: "<script>alert(1)</script>", Key: "missing", Args: []any{"<script>alert(1)</script>"}, Share: math.NaN()},
		}}
	var b bytes.Buffer
	if err := Write(&b, r, msg.Chinese, "<b>", "\x1b"); err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{"<script>alert", "\x1b"} {
		if strings.Contains(b.String(), never) {
			t.Errorf("the page has %q", never)
		}
	}
	from, _, err := html.Data(&b)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Rollout struct {
			Verdict string
			Stages  []struct{ Stage string }
		}
		Page own
	}
	if err := json.NewDecoder(from).Decode(&d); err != nil {
		t.Fatal(err)
	}
	p := d.Page
	if d.Rollout.Verdict != "bad" || len(d.Rollout.Stages) != 1 || p.Lang != "zh" || len(p.Say) != 2 || p.Largest != 2 || p.Sequences != 40 || len(p.Tokens) != mostSequences {
		t.Fatalf("found %+v", d.Rollout)
	}
	if q := p.Tokens[0]; q.Row != 7 || len(q.D) != mostPositions || *q.D[900-q.From] != 2 {
		t.Errorf("the first sequence is %d, from %d", q.Row, q.From)
	}
	for lang, s := range p.Say {
		if len(s.Causes) != 2 || len(s.Causes[0].Advice) != 1 || !strings.Contains(strings.Join(s.Causes[0].Advice[0].Lines, "\n"), "--norm-epsilon") {
			t.Errorf("%s: %+v", lang, s.Causes)
		}
	}
	// Parts that were not given are empty lists, not missing.
	b.Reset()
	if err := Write(&b, &rollout.Result{Verdict: verdict.Inconclusive, Why: "unknown"}, msg.English, "a", "b"); err != nil {
		t.Fatal(err)
	}
}

// TestKinds: what the page says of findings and weights has a text in both languages.
func TestKinds(t *testing.T) {
	keys := []string{}
	for _, f := range []stage.Finding{stage.Same, stage.Rounding, stage.Precision, stage.Weights, stage.Formula, stage.Cache, stage.Harmless, stage.Unknown} {
		keys = append(keys, "html.rollout.finding."+string(f))
	}
	for _, k := range []weights.Kind{weights.Same, weights.Step, weights.Near, weights.Quantised, weights.Elsewhere, weights.Constant, weights.Transposed, weights.Permuted, weights.Rotated, weights.Merged,
		weights.Unmerged, weights.Folded, weights.Unlike, weights.Shape, weights.Unreadable, weights.MissingHere, weights.Extra} {
		keys = append(keys, "html.rollout.weight."+string(k))
	}
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		texts := lang.Under("html.rollout.")
		for _, k := range keys {
			if texts[k] == "" {
				t.Errorf("%s: nothing is said of %s", lang, k)
			}
		}
		if len(texts) < len(keys) {
			t.Errorf("%d texts of %d", len(texts), len(keys))
		}
	}
}
