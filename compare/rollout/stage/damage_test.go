package stage_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"precision/compare/rollout"
	"precision/compare/rollout/stage"
	"precision/compare/verdict"
)

// better orders verdicts: damage never moves one towards good, and inconclusive is never better.
var better = map[verdict.Verdict]int{verdict.Inconclusive: 0, verdict.Bad: 1, verdict.Suspect: 2, verdict.Good: 3}

// asked is a request for the whole pair.
func asked(in *stage.Request) *rollout.Request {
	q := &rollout.Request{TrainCalls: in.Train, RolloutCalls: in.Rollout, Train: in.TrainWeights, Rollout: in.RolloutWeights,
		LogProbs: &rollout.LogProbs{Rows: in.Rows, Columns: in.Columns, Train: in.TrainLog, Rollout: in.RolloutLog, Tokens: in.Answers}}
	for i := range in.TrainLog {
		q.LogProbs.Mask = append(q.LogProbs.Mask, in.Counts(i))
	}
	return q
}

// TestDamage leaves arguments out, cuts files, and changes shapes and elements, on one side or the other: nothing panics, and a verdict
// never becomes better.
func TestDamage(t *testing.T) {
	times := 20
	if os.Getenv("SEEDS") != "" {
		times = 200
	}
	for _, wrong := range []bool{false, true} {
		root := t.TempDir()
		in := stage.Made(t, root, wrong)
		q := asked(in)
		judge := func() verdict.Verdict {
			r, err := rollout.Run(t.Context(), q)
			if err != nil {
				return verdict.Inconclusive // it is said, and no verdict is given
			}
			return r.Verdict
		}
		whole, seen := judge(), map[verdict.Verdict]int{}
		if want := map[bool]verdict.Verdict{false: verdict.Good, true: verdict.Bad}[wrong]; whole != want {
			t.Fatalf("the pair is %s, want %s", whole, want)
		}
		r := rand.New(rand.NewPCG(3, 4))
		for range times {
			side := []string{in.Train, in.Rollout}[r.IntN(2)]
			path, what := filepath.Join(side, "step0", "rank0", "dump.json"), ""
			kind := r.IntN(5)
			if kind > 2 {
				files, err := filepath.Glob(filepath.Join(side, "step0", "rank0", "dump_tensor_data", "*.pt"))
				if err != nil || len(files) == 0 {
					t.Fatal(files, err)
				}
				path = files[r.IntN(len(files))]
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			spoiled := slices.Clone(text)
			switch kind {
			case 0, 3:
				what = "cut"
				spoiled = spoiled[:r.IntN(len(spoiled))]
			case 1:
				lines := bytes.Split(spoiled, []byte("\n"))
				at := 1 + r.IntN(len(lines)-2)
				what = "without " + string(lines[at][:min(60, len(lines[at]))])
				spoiled = bytes.Join(slices.Delete(lines, at, at+1), []byte("\n"))
			case 2:
				what = "shapes"
				for range 4 {
					spoiled = bytes.Replace(spoiled, []byte(`"shape":[`), fmt.Appendf(nil, `"shape":[%d,`, r.IntN(3)), 1+r.IntN(9))
				}
			default:
				what = "elements"
				for i := max(len(spoiled)/2, 0); i < len(spoiled)/2+40 && i < len(spoiled); i++ {
					spoiled[i] ^= byte(r.IntN(256))
				}
			}
			if err := os.WriteFile(path, spoiled, 0o600); err != nil {
				t.Fatal(err)
			}
			v := judge()
			seen[v]++
			if better[v] > better[whole] {
				x, _ := rollout.Run(t.Context(), q)
				t.Errorf("%s, %s: %s became %s: %s %+v %+v", path, what, whole, v, x.Why, x.Causes, x.Unknown)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Log(whole, "became", seen)
	}
}
