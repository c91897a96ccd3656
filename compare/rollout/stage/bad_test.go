package stage_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"precision/compare/rollout"
	"precision/compare/rollout/stage"
	"precision/compare/verdict"
)

// rewrite changes the lines of a side's dump.json; a line that becomes empty is left out.
func rewrite(t *testing.T, side string, change func(line string) string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(side, "step*", "rank*", "dump.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		for line := range strings.Lines(string(text)) {
			out.WriteString(change(line))
		}
		if err := os.WriteFile(f, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBadInput has what people give by mistake: it is named, nothing is called good for it, and what is left is looked at.
func TestBadInput(t *testing.T) {
	noElements := regexp.MustCompile(`,"data_name":"[^"]*"|"data_name":"[^"]*",`)
	for _, x := range []struct {
		name, pair string
		spoil      func(t *testing.T, q *rollout.Request)
		want       verdict.Verdict
		says       string // the key of a note or cause, or a stage
	}{
		{"ids of the response that nobody computed", "nothing, rounded otherwise", func(_ *testing.T, q *rollout.Request) { q.LogProbs.Tokens[9] = 22 }, verdict.Good, "foreign"},
		{"all ids of the response are others", "nothing, rounded otherwise", func(_ *testing.T, q *rollout.Request) { q.LogProbs.Tokens[1], q.LogProbs.Tokens[9] = 22, 22 }, verdict.Inconclusive, "foreign"},
		{"rope was not recorded", "nothing, rounded otherwise", func(t *testing.T, q *rollout.Request) {
			rewrite(t, q.RolloutCalls, func(line string) string {
				if strings.Contains(line, "rotary_emb") { // and with it the positions
					return ""
				}
				return line
			})
		}, verdict.Good, "rope+attn"},
		{"no stage of attention", "scale", func(t *testing.T, q *rollout.Request) {
			rewrite(t, q.RolloutCalls, func(line string) string {
				if strings.Contains(line, ".o_proj.") {
					return ""
				}
				return line
			})
		}, verdict.Bad, "attn"},
		{"no layers", "nothing, rounded otherwise", func(t *testing.T, q *rollout.Request) {
			rewrite(t, q.RolloutCalls, func(line string) string {
				if strings.Contains(line, ".layers.") {
					return ""
				}
				return line
			})
		}, verdict.Inconclusive, "stage.none"},
		{"no weights", "scale", func(_ *testing.T, q *rollout.Request) { q.Train, q.Rollout = nil, nil }, verdict.Inconclusive, "checkpoints"},
		{"statistics only", "nothing, rounded otherwise", func(t *testing.T, q *rollout.Request) {
			for _, side := range []string{q.TrainCalls, q.RolloutCalls} {
				rewrite(t, side, func(line string) string { return noElements.ReplaceAllString(line, "") })
				if err := os.RemoveAll(filepath.Join(side, "step0", "rank0", "dump_tensor_data")); err != nil {
					t.Fatal(err)
				}
			}
		}, verdict.Inconclusive, "bare"},
		{"elements of one file are cut", "nothing, rounded otherwise", func(t *testing.T, q *rollout.Request) {
			files, err := filepath.Glob(filepath.Join(q.RolloutCalls, "step0", "rank0", "dump_tensor_data", "*.pt"))
			if err != nil || len(files) < 9 {
				t.Fatal(files, err)
			}
			if err := os.Truncate(files[len(files)/2], 100); err != nil {
				t.Fatal(err)
			}
		}, verdict.Good, "fault"},
		{"log-probs of other logits", "nothing, rounded otherwise", func(_ *testing.T, q *rollout.Request) {
			for i := range q.LogProbs.Train {
				q.LogProbs.Train[i] *= 1 + 0.3*float64(i%3)
			}
		}, verdict.Bad, "logits"},
		{"a file that cannot be read", "nothing, rounded otherwise", func(_ *testing.T, q *rollout.Request) { q.Unread = []error{fmt.Errorf("cut")} }, verdict.Inconclusive, "unread"},
	} {
		t.Run(x.name, func(t *testing.T) {
			q := asked(stage.MadeFault(t, x.pair))
			x.spoil(t, q)
			r, err := rollout.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, n := range slices.Concat(r.Unknown, r.Traps) {
				said = append(said, n.Key)
			}
			for _, s := range r.Stages.Stages {
				said = append(said, s.Name)
			}
			for _, c := range r.Causes {
				said = append(said, c.Key)
			}
			if r.Verdict != x.want || !slices.Contains(said, x.says) {
				t.Errorf("%s (%s), want %s and %q: %v, causes %+v", r.Verdict, r.Why, x.want, x.says, said, r.Causes)
			}
			if r.Figs == nil || r.Figs.Tokens != 14 || q.Train != nil && r.Weights == nil {
				t.Errorf("what is left was not looked at: %+v, %v", r.Figs, r.Weights)
			}
		})
	}
}

// TestTold has recordings without elements, whose calls were given other numbers: a scale, an epsilon and a base that both sides tell are compared, and what one side
// alone tells is not.
func TestTold(t *testing.T) {
	write := func(dir string, calls ...string) string {
		folder := filepath.Join(dir, "step0", "rank0")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		text := `{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": "", "data": {` + "\n" + strings.Join(calls, ",\n") + "}}\n"
		if err := os.WriteFile(filepath.Join(folder, "dump.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	tensor := func(shape string) string {
		return `{"type": "torch.Tensor", "dtype": "torch.float32", "shape": ` + shape + `, "Max": 1.0, "Min": -1.0, "Mean": 0.0, "Norm": 2.0, "requires_grad": false}`
	}
	number := func(x float64) string { return fmt.Sprintf(`{"type": "float", "value": %g}`, x) }
	call := func(name, kwargs, out string, in ...string) string {
		return fmt.Sprintf(`"%s.forward": {"input_args": [%s], "input_kwargs": {%s}, "output": [%s]}`, name, strings.Join(in, ", "), kwargs, out)
	}
	trainer := func(eps, scale, base float64) []string {
		return []string{
			call("Functional.embedding.0", "", tensor("[2, 3, 8]"), tensor("[2, 3]")),
			call("Tensor.__rpow__.0", "", tensor("[4]"), tensor("[4]"), number(base)),
			call("Tensor.__add__.0", "", tensor("[2, 3, 1]"), tensor("[2, 3, 1]"), number(eps)),
			call("Torch.rsqrt.0", "", tensor("[2, 3, 1]"), tensor("[2, 3, 1]")),
			call("Torch.matmul.0", "", tensor("[2, 2, 3, 3]"), tensor("[2, 2, 3, 4]"), tensor("[2, 2, 4, 3]")),
			call("Tensor.__mul__.0", "", tensor("[2, 2, 3, 3]"), tensor("[2, 2, 3, 3]"), number(scale)),
		}
	}
	engine := func(eps, scale, base float64) []string {
		list := []string{
			call("Functional.embedding.0", "", tensor("[6, 8]"), tensor("[6]")),
			call("NPU.npu_rms_norm.0", "", tensor("[6, 8]"), tensor("[6, 8]"), tensor("[8]"), number(eps)),
			call("NPU.npu_fused_infer_attention_score.0", `"scale": `+number(scale), tensor("[6, 2, 4]"), tensor("[6, 2, 4]"), tensor("[6, 2, 4]"), tensor("[6, 2, 4]")),
		}
		if base > 0 {
			list = append(list, call("Tensor.__rpow__.0", "", tensor("[4]"), tensor("[4]"), number(base)))
		}
		return list
	}
	for _, x := range []struct {
		eps, scale, base float64
		want             []string
	}{
		{1e-6, 0.5, 1e4, nil},
		{1e-6, 0.5, 0, nil},
		{1e-5, 0.5, 1e4, []string{"told.norm"}},
		{1e-6, 0.03125, 1e4, []string{"told.attn"}},
		{1e-5, 0.25, 1e6, []string{"told.norm", "told.rope", "told.attn"}},
	} {
		dir := t.TempDir()
		r, err := rollout.Run(t.Context(), &rollout.Request{
			TrainCalls:   write(filepath.Join(dir, "train"), trainer(1e-6, 0.5, 1e4)...),
			RolloutCalls: write(filepath.Join(dir, "rollout"), engine(x.eps, x.scale, x.base)...)})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, c := range r.Causes {
			found = append(found, c.Key)
		}
		if !slices.Equal(found, x.want) || (r.Verdict == verdict.Bad) != (len(x.want) > 0) || r.Verdict == verdict.Good {
			t.Errorf("%+v: %s, %v", x, r.Verdict, found)
		}
	}
}
