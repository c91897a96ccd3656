package stage_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"precision/compare/rollout"
	"precision/compare/verdict"
	"precision/dump/checkpoint"
)

// TestReal judges two recorded pairs, of which one has nothing wrong and one another scale of attention.
func TestReal(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..", "shared", "real", "rollout")
	if _, err := os.Stat(root); err != nil {
		root = filepath.Join("..", "..", "..", "..", "..", "shared", "real", "rollout")
	}
	if _, err := os.Stat(root); err != nil {
		t.Skip("the recorded pairs are not here")
	}
	for name, want := range map[string]struct {
		verdict     verdict.Verdict
		kind, stage string
	}{
		"clean":           {verdict.Good, "rounding", "act"},
		"attention_scale": {verdict.Bad, "formula", "attn"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			l, err := rollout.ReadLogProbs(filepath.Join(dir, "logp"), -1, "")
			if err != nil {
				t.Fatal(err)
			}
			q := &rollout.Request{LogProbs: l, TrainCalls: filepath.Join(dir, "train"), RolloutCalls: filepath.Join(dir, "rollout")}
			for file, to := range map[string]**checkpoint.Set{"P2_sender.pt": &q.Train, "rollout_model.pt": &q.Rollout} {
				if *to, err = checkpoint.Open(filepath.Join(dir, "weights", file)); err != nil {
					t.Fatal(err)
				}
				defer (*to).Close()
			}
			r, err := rollout.Run(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != want.verdict || len(r.Causes) == 0 || string(r.Causes[0].Kind) != want.kind || r.Causes[0].Stage != want.stage {
				t.Errorf("found %s, causes %+v", r.Verdict, r.Causes)
			}
			if sum := r.Stages.Sum; math.Abs(sum-1) > 1e-6 {
				t.Errorf("shares add up to %v", sum)
			}
			var answer struct {
				Measured struct {
					Mean float64 `json:"mean_abs_dlogp"`
				} `json:"measured"`
			}
			raw, err := os.ReadFile(filepath.Join(dir, "answer.json"))
			if err == nil && json.Unmarshal(raw, &answer) == nil && answer.Measured.Mean > 0 && math.Abs(r.Stages.Found/answer.Measured.Mean-1) > 1e-4 {
				t.Errorf("found a mean difference of %v, want %v", r.Stages.Found, answer.Measured.Mean)
			}
		})
	}
}
