package recording_test

import (
	"os"
	"strconv"
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
			told := map[string]int{}
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
						told[other]++
					case other == "data" && len(j.Roots) == 1 && j.Roots[0].Kind == verdict.RootInput:
					default:
						t.Errorf("%s/%s, seed %d, other %s: %s, roots %v, premises %v", level, m.name, seed, other, j.Verdict, rootNames(j), j.Premises)
					}
				}
			}
			t.Logf("%s/%s: told %v of %d each", level, m.name, told, seeds)
		}
	}
}
