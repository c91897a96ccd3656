package steps

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"precision/compare/advice"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

// advised is all that is said of a chain of 15 operators that words describe: "good" and "inconclusive" without a root; a kind of
// cause, of the last one; "region" where any may be it; "golden" and "differs" where a check has shown that; "unsized"; budget=
// in bytes; "calls" of a recording whose step nothing tells, or of step 3 and rank 1 with "placed".
func advised(t *testing.T, lang msg.Lang, text string) string {
	t.Helper()
	j := &verdict.Judged{Verdict: verdict.Bad, Table: &result.Table{}}
	root := verdict.Root{Operator: 14, Causes: []verdict.Cause{{Kind: verdict.Cosine}}}
	o, unsized, calls, placed, fed, none := advice.Options{}, false, false, false, false, false
	for _, word := range strings.Fields(text) {
		switch word {
		case "good", "inconclusive", "rootless":
			none = true
			j.Verdict = map[string]verdict.Verdict{"good": verdict.Good, "inconclusive": verdict.Inconclusive, "rootless": verdict.Bad}[word]
		case "region":
			root.Certainty = verdict.Region
		case "golden":
			root.Kind, root.Followed = verdict.RootGolden, true
		case "differs":
			root.Kind, root.Followed = verdict.RootDiffers, true
		case "unsized":
			unsized = true
		case "calls":
			calls = true
		case "placed":
			placed = true
		case "fed":
			fed = true
		default:
			if _, err := fmt.Sscanf(word, "budget=%d", &o.Budget); err != nil {
				root.Causes[0].Kind = verdict.Kind(word)
			}
		}
	}
	j.Table.Meta.Recorded = calls
	if calls {
		j.Table.Meta.Left.Kind = "msprobe"
	}
	for i := range 15 {
		name := fmt.Sprintf("op%d", i)
		if calls {
			name = fmt.Sprintf("Torch.op%d.0.forward", i)
		}
		if placed {
			name = "step3/rank1/" + name
		}
		if root.Certainty == verdict.Region && i < 14 {
			root.Region = append(root.Region, name)
		}
		op := &result.Operator{Name: name, Type: "Add", Index: i, Order: i, Outputs: 1, Dumped: true}
		r := result.Row{Op: name, Type: "Add", Index: i, Role: result.Output, Left: result.Operand{DType: dtype.Float32, Shape: []int64{256}}, Shape: []int64{256}}
		if fed && i == 0 {
			op.Inputs = []result.Port{{Op: "maker"}}
		}
		if unsized {
			r.Left, r.Shape = result.Operand{}, nil
		}
		r.Right = r.Left
		j.Table.Rows = append(j.Table.Rows, r)
		j.Operators = append(j.Operators, verdict.Operator{Op: op, Outputs: []verdict.Tensor{{Row: i}}})
	}
	if !none {
		j.Roots = []verdict.Root{root}
	}
	return Text{Lang: lang}.Say(j, advice.For(j, o), nil, o.Budget)
}

// noClaim are names, words between others, and what is to be done.
var noClaim = regexp.MustCompile(`^advice\.say\.(root|others|kinds|passes|region|rest|plan|command|files|wrote|file)$|` +
	`^advice\.(overflow|fp32|epsilon|mask|loss-scale|unwritten|fusion|precision-mode|hf32|inputs|attributes|formats|twice|complex|weights)$`)

// What advice says of a verdict is gone where it is not so.
func TestEarned(t *testing.T) {
	msgtest.Earned{Under: []string{"advice."}, Claims: func(key string) bool { return !noClaim.MatchString(key) }, Say: advised, Cases: map[string][][2]string{
		"advice.say.none.good":         {{"good", "inconclusive"}},
		"advice.say.none.inconclusive": {{"inconclusive", "rootless"}},
		"advice.say.none.bad":          {{"rootless", "good"}},
		"advice.golden":                {{"golden", "differs"}, {"golden", "law"}},
		"advice.report":                {{"law", "distance"}, {"law", "golden"}},
		"advice.record":                {{"region", "law"}},
		"advice.say.plan.region":       {{"region", "law"}},
		"advice.say.plan.near":         {{"law", "region"}},
		"advice.say.plan.halved":       {{"region budget=4096", "region budget=999999"}},
		"advice.say.plan.feeding":      {{"region fed", "region"}, {"region fed", "law fed"}, {"region fed", "region fed budget=4096"}},
		"advice.say.plan.unknown":      {{"region unsized", "region"}},
		"advice.say.plan.where":        {{"calls placed law", "calls law"}},
		"advice.say.plan.steps":        {{"calls law", "calls placed law"}},
	}}.Check(t)
}
