package rollouts

import (
	"math"
	"regexp"
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
	made := "../../rollout/stage/made_test.go"
	elsewhere := map[string][3]string{
		"rollout.logp":           {"../../rollout/rollout_test.go", "TestFigures", "MultProbError"},
		"rollout.logp.expected":  {made, "TestFaults", "r.Sum"},
		"rollout.stages":         {made, "TestFaults", "r.Tokens"},
		"rollout.weights":        {"../../../cmd/precision/rollout_test.go", "TestRollout", "all 1 weights are the same"},
		"rollout.weights.differ": {"../../weights/weights_test.go", "TestKinds", "found, c.want"},
		"rollout.router.margins": {made, "TestRouting", "Routing"},
		"rollout.why.weights":    {"../../../cmd/precision/rollout_test.go", "TestRollout", "all 1 weights are the same"},
		"rollout.why.same":       {"../../weights/weights_test.go", "TestKinds", "Permuted"},
		"rollout.why.experts":    {made, "TestRouting", "Routing"},
		"rollout.why.damaged":    {"../../rollout/decide_test.go", "TestDecide", "Damaged"},
		"rollout.why.model":      {"../../rollout/decide_test.go", "TestOtherModel", "Inconclusive"},
	}
	for key, mark := range map[string]string{"within": "fault within", "rounding": "rounding", "unexplained": "beyond", "covered": "covered NaN", "wide": "wide"} {
		elsewhere["rollout.why."+key] = [3]string{"../../rollout/decide_test.go", "TestDecide", mark}
	}
	for key := range msg.English.Under("rollout.cause.", "rollout.note.") {
		if len(cases[key]) == 0 {
			elsewhere[key] = [3]string{"../../rollout/stage/docs_test.go", "TestDocs", "has no example"} // and none in the others
		}
	}
	msgtest.Earned{Under: []string{"rollout."}, Claims: func(key string) bool { return !noClaim.MatchString(key) }, Cases: cases, Elsewhere: elsewhere, Say: said}.Check(t)
}
