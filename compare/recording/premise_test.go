package recording_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"precision/compare/verdict"
)

// TestPremises: two runs with other data or weights are told as such, and no call is
// accused. Of token ids statistics tell the largest and the smallest; where one of them
// is the same, it may be a few, and the call that takes them is named for its input.
func TestPremises(t *testing.T) {
	seeds := 4
	if n, err := strconv.Atoi(os.Getenv("SEEDS")); err == nil {
		seeds = n
	}
	for _, level := range []string{"L1", "mix"} {
		for _, m := range machines {
			certain := map[string]int{}
			for seed := range uint64(seeds) {
				for _, other := range []string{"data", "weights", "step"} {
					left, right := m.left, m.right
					left.level, right.level, left.other = level, level, other
					golden := generate(seed, right, fault{})
					j := judged(t, generate(seed, left, fault{}).write(t), golden.write(t))
					if m.name == "xor" && other != "data" || m.name == "bfloat16" && other == "step" {
						continue // there is nothing but a checksum, or the step is smaller than what rounding moves
					}
					want := map[string]verdict.PremiseKind{"data": verdict.PremiseInputs, "weights": verdict.PremiseWeights, "step": verdict.PremiseStep}[other]
					switch {
					case j.Verdict == verdict.Inconclusive && len(j.Roots) == 0 && len(j.Premises) > 0 && j.Premises[0].Kind == want && j.Premises[0].Broken:
						certain[other]++
					case other == "data" && len(j.Roots) == 1 && j.Roots[0].Kind == verdict.RootInput:
					default:
						t.Errorf("%s/%s, seed %d, other %s: %s, roots %v, premises %v", level, m.name, seed, other, j.Verdict, rootNames(j), j.Premises)
					}
				}
			}
			t.Logf("%s/%s: told %v of %d each", level, m.name, certain, seeds)
		}
	}
}

// TestOtherStepInHalf: a step moves the extremes of some weights of bfloat16 by hardly more than a rounding, which nothing makes of
// weights of one type: most of them are others all the same. A few that are others are faults.
func TestOtherStepInHalf(t *testing.T) {
	weights := func(dtype string, offs ...float64) string {
		var list []string
		for i, off := range offs {
			x := 2 + float64(i)/7
			list = append(list, entry("Functional.linear", i, []string{sized(x, 0), strings.Replace(sized(1.3+float64(i)/5, off), "torch.float32", "torch."+dtype, 1)}, sized(x+5, off)))
		}
		return written(t, list...)
	}
	golden := weights("bfloat16", 0, 0, 0, 0, 0, 0, 0, 0)
	for _, c := range []struct {
		name, left string
		step       bool
	}{
		{"three far, three near", weights("bfloat16", 0.03, 0.006, 0.02, 0.006, 0, 0.02, 0.006, 0), true},
		{"three far", weights("bfloat16", 0.09, 0, 0.05, 0, 0, 0.07, 0, 0), false},
		{"two far, five near", weights("bfloat16", 0.09, 0.006, 0.05, 0.006, 0.006, 0.006, 0.006, 0), false},
		{"three far, three rounded to another type", weights("float16", 0.09, 0.006, 0.05, 0.006, 0, 0.07, 0.006, 0), false},
	} {
		j := judged(t, c.left, golden)
		told := j.Verdict == verdict.Inconclusive && len(j.Roots) == 0 && len(j.Premises) > 0 && j.Premises[0].Kind == verdict.PremiseStep
		if told != c.step || !told && len(j.Roots) == 0 {
			t.Errorf("%s: %s, roots %v, premises %v", c.name, j.Verdict, rootNames(j), j.Premises)
		}
	}
}

// TestPaddedIds: of a padded batch one extreme of the token ids is that of the padding in every run. It is another batch if what is
// looked up by them has other extremes on both ends, in the same table, and a token or two if it has not.
func TestPaddedIds(t *testing.T) {
	ids := func(top string) string { return statistics("int64", top, "0", "null", "null") }
	run := func(top, hi, lo string, table float64) string {
		rows := statistics("float32", hi, lo, "0.5", "9")
		return written(t, entry("Functional.embedding", 0, []string{ids(top), sized(table, 0)}, rows), entry("Functional.linear", 0, []string{rows, sized(1.3, 0)}, sized(6, map[bool]float64{true: 0.1}[top != "93"])))
	}
	for _, c := range []struct {
		name, hi, lo string
		table        float64
		premise      bool
	}{{"both ends", "3.5", "-3.25", 2, true}, {"one end", "3.5", "-3", 2, false}, {"another table", "3.5", "-3.25", 2.5, false}} {
		j := judged(t, run("90", c.hi, c.lo, c.table), run("93", "3", "-3", 2))
		certain := j.Verdict == verdict.Inconclusive && len(j.Roots) == 0 && len(j.Premises) == 1 && j.Premises[0].Kind == verdict.PremiseInputs
		if certain != c.premise || !certain && (len(j.Roots) == 0 || j.Table.Ops[j.Roots[0].Operator].Type != "embedding") {
			t.Errorf("%s: %s, roots %v, premises %v", c.name, j.Verdict, rootNames(j), j.Premises)
		}
	}
}
