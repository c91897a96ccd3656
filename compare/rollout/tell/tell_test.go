package tell

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/report"
	"precision/compare/rollout"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }

// said is all that is told of the log-probs of a text: three sequences of eight tokens that differ by the
// numbers in front, in turn, and what was done to them.
func said(t *testing.T, lang msg.Lang, text string) string {
	t.Helper()
	words := strings.Fields(text)
	var offs []float64
	for _, w := range strings.Split(words[0], ",") {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil {
			t.Fatal(err)
		}
		offs = append(offs, x)
	}
	l := &rollout.LogProbs{Rows: 3, Columns: 8}
	for i := range 24 {
		train := -1 - 3*math.Abs(math.Sin(float64(7*i)))
		l.Train, l.Rollout = append(l.Train, train), append(l.Rollout, train-offs[i%len(offs)])
		l.Mask, l.Tokens = append(l.Mask, i < 22), append(l.Tokens, int64(i+10))
	}
	l.Tokens[22], l.Tokens[23] = 0, 0
	q := &rollout.Request{LogProbs: l}
	for _, w := range words[1:] {
		switch w {
		case "few":
			clear(l.Mask[3:])
		case "moved":
			copy(l.Train[8:15], l.Train[9:16])
		case "nan":
			l.Train[4] = math.NaN()
		case "padding":
			l.Tokens[20], l.Tokens[21] = 0, 0
		case "diff", "other-diff":
			for i := range l.Train {
				l.Diff = append(l.Diff, math.Abs(math.Exp(l.Train[i])-math.Exp(l.Rollout[i])))
			}
			if w == "other-diff" {
				l.Diff[9] += 0.5
			}
		case "routers", "other-routers":
			q.Routers = &rollout.Routers{Tokens: 2, Layers: []float64{0, 0}}
			if w == "other-routers" {
				q.Routers = &rollout.Routers{Tokens: 2, Any: 0.5, All: 0.25, Layers: []float64{0, 0.5}, Pairs: [][]rollout.Exchange{nil, {{Train: 3, Rollout: 5, Times: 1}}}}
			}
		default:
			t.Fatalf("what is %s?", w)
		}
	}
	r, err := rollout.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return report.Render(Lines(lang, r, 8), 12, func(_ report.Style, text string) string { return text })
}

var noClaim = regexp.MustCompile(`^rollout\.(label|side|verdict|more|kind|advice|layers?$|share|why\.(cause|unknown)|note\.(unread|unreadable|margins|fault))`)

// Every sentence is gone where what it claims is not so.
func TestEarned(t *testing.T) {
	cases := map[string][][2]string{
		"rollout.why.identical": {{"0", "0,0.001"}, {"0", "0 nan"}},
		"rollout.why.few":       {{"0 few", "0"}},
		"rollout.why.stages":    {{"0.01,-0.02", "0"}, {"0.01,-0.02", "0.01,-0.02 moved"}},
		"rollout.logp":          {},
		"rollout.logp.growth":   {{"0.01,0.01,0.1,0.1,0.1,0.1,0.1,0.1", "0.1,0.1,0.1,0.1,0.1,0.1,0.01,0.01"}},
		"rollout.logp.sequence": {{"0.01,0.01,0.01,0.01,0.01,0.01,0.01,0.01,1,1,1,1,1,1,1,1,0.01,0.01,0.01,0.01,0.01,0.01,0.01,0.01", "0.1"}},
		"rollout.cause.finite":  {{"0 nan", "0"}},
		"rollout.cause.shifted": {{"0.001 moved", "0.001"}},
		"rollout.cause.beyond":  {{"0 padding", "0"}},
		"rollout.cause.diff":    {{"0.1 other-diff", "0.1 diff"}},
		"rollout.router":        {{"0 other-routers", "0"}},
	}
	delete(cases, "rollout.logp")
	elsewhere := map[string][3]string{
		"rollout.logp":             {"../rollout_test.go", "TestFigures", "MultProbError"},
		"rollout.weights":          {"../../../cmd/precision/rollout_test.go", "TestRollout", "all 1 weights are the same"},
		"rollout.why.weights":      {"../../../cmd/precision/rollout_test.go", "TestRollout", "all 1 weights are the same"},
		"rollout.why.same":         {"../../weights/weights_test.go", "TestKinds", "Permuted"},
		"rollout.weights.differ":   {"../../weights/weights_test.go", "TestKinds", "found, c.want"},
		"rollout.cause.ties":       {"../../weights/weights_test.go", "TestEqualRows", "EqualRows"},
		"rollout.note.rotated":     {"../../weights/weights_test.go", "TestRotated", "Harmless"},
		"rollout.note.permuted":    {"../../weights/weights_test.go", "TestKinds", "Permuted"},
		"rollout.note.alone.left":  {"../../weights/weights_test.go", "TestKinds", "MissingHere"},
		"rollout.note.alone.right": {"../../weights/weights_test.go", "TestKinds", "Extra"},
		"rollout.note.names":       {"../../../cmd/precision/rollout_test.go", "TestRollout", "not alike"},
	}
	for key, kind := range map[string]string{"step": "Step", "near": "Near", "quantised": "Quantised", "elsewhere": "Elsewhere", "constant": "Constant", "transposed": "Transposed",
		"unlike": "Unlike", "shape": "Shape", "missing": "MissingHere", "all.step": "Step", "all.near": "Near", "all.quantised": "Quantised"} {
		elsewhere["rollout.cause."+key] = [3]string{"../../weights/weights_test.go", "TestKinds", kind}
	}
	made := "../stage/made_test.go"
	for key, mark := range map[string]string{"why.within": "Precision", "why.wide": "r.Shares", "note.wide": "r.Shares", "why.unexplained": "r.Shares", "why.rounding": "r.Shares", "why.covered": "r.Covered", "logp.expected": "r.Sum", "stages": "r.Tokens",
		"cause.cache": "nothing", "cause.precision": "Precision", "cause.formula": "Formula", "cause.harmless": "nothing", "cause.weights": "nothing", "cause.variant": "x.variant", "cause.rounding": "Rounding",
		"note.bare": "r.Notes", "note.finite": "r.Notes", "note.embedding": "r.Notes", "note.checkpoints": "r.Notes", "note.positions": "r.Notes", "note.tokens": "r.Notes", "note.network": "r.Notes", "note.stages": "r.Notes", "note.large": "r.Notes", "note.stage": "r.Notes", "note.left": "r.Tokens"} {
		test := "TestFaults"
		if slices.Contains([]string{"Precision", "Formula", "nothing"}, mark) {
			test = "faults" // its table
		}
		elsewhere["rollout."+key] = [3]string{made, test, mark}
	}
	for _, v := range []string{"eps", "plus", "weightless", "factor", "interleaved", "theta", "theta.interleaved", "theta.bfloat16", "shift", "angles", "scale", "mask", "window", "nowindow", "tiled", "softcap", "nosoftcap", "cache", "act", "nobias",
		"weights.plain", "weights.renorm", "temperature", "notemperature", "lost"} {
		elsewhere["rollout.note.variant."+v] = [3]string{made, "TestFaults", "x.variant"}
	}
	for _, key := range []string{"note.foreign", "cause.logits", "note.bare", "note.checkpoints", "note.stage"} {
		_, mark, _ := strings.Cut(key, ".")
		elsewhere["rollout."+key] = [3]string{"../stage/bad_test.go", "TestBadInput", mark}
	}
	for _, stage := range []string{"norm", "attn", "rope"} {
		elsewhere["rollout.cause.told."+stage] = [3]string{"../stage/bad_test.go", "TestTold", "told." + stage}
	}
	elsewhere["rollout.note.sloped"] = [3]string{"../stage/back_test.go", "TestSlopes", "r.Sloped"}
	elsewhere["rollout.note.answers"] = [3]string{"../decide_test.go", "TestDecide", "Answers"}
	elsewhere["rollout.why.damaged"] = [3]string{"../decide_test.go", "TestDecide", "Damaged"}
	elsewhere["rollout.note.merged"] = [3]string{"../../weights/weights_test.go", "TestAdapter", "Merged"}
	elsewhere["rollout.cause.unmerged"] = [3]string{"../../weights/weights_test.go", "TestAdapter", "Unmerged"}
	elsewhere["rollout.cause.adapter"] = [3]string{"../decide_test.go", "TestAdapters", "adapter"}
	for _, key := range []string{"cause.adapter.sign", "cause.adapter.others", "note.scale"} {
		elsewhere["rollout."+key] = [3]string{"../decide_test.go", "TestAdapters", strings.TrimPrefix(strings.TrimPrefix(key, "cause."), "note.")}
	}
	elsewhere["rollout.note.stage.none"] = [3]string{"../decide_test.go", "TestNotJudged", "stage.none"}
	elsewhere["rollout.cause.rounding.type"] = [3]string{"../decide_test.go", "TestKept", "rounding.type"}
	for key, test := range map[string]string{"router.margins": "TestRouting", "cause.ties.rows": "TestRouting", "cause.against": "faults", "why.experts": "TestRouting"} {
		elsewhere["rollout."+key] = [3]string{made, test, map[string]string{"TestRouting": "Routing", "faults": "against the scores"}[test]}
	}
	elsewhere["rollout.cause.all.unlike"] = [3]string{"../decide_test.go", "TestOtherModel", "otherModel"}
	elsewhere["rollout.why.model"] = [3]string{"../decide_test.go", "TestOtherModel", "Inconclusive"}
	elsewhere["rollout.cause.unseen"] = [3]string{made, "TestUnseen", "Unseen"}
	elsewhere["rollout.note.dropped"] = [3]string{made, "TestFewTokens", "r.Dropped"}
	for _, key := range []string{"tokens", "front.train", "front.rollout"} {
		elsewhere["rollout.cause."+key] = [3]string{made, "TestOtherTokens", "Mismatch"}
	}
	msgtest.Earned{Under: []string{"rollout."}, Claims: func(key string) bool { return !noClaim.MatchString(key) }, Cases: cases, Elsewhere: elsewhere, Say: said}.Check(t)
}
