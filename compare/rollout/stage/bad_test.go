package stage_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"precision/compare/rollout"
	"precision/compare/rollout/stage"
	"precision/compare/weights"
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

// mistake is a pair of which something is wrong as it is given.
type mistake struct {
	pair  string // of stage.MadeFault
	spoil func(t *testing.T, q *rollout.Request)
}

// mistakes are what people give by mistake, or cannot give, by the names of the page: TestDocs holds what is said of them.
func mistakes() map[string]mistake {
	noElements := regexp.MustCompile(`,"data_name":"[^"]*"|"data_name":"[^"]*",`)
	lines := func(side func(q *rollout.Request) string, keep func(line string) bool) func(t *testing.T, q *rollout.Request) {
		return func(t *testing.T, q *rollout.Request) {
			rewrite(t, side(q), func(line string) string {
				if strings.Contains(line, "input_args") && !keep(line) {
					return ""
				}
				return line
			})
		}
	}
	engine := func(q *rollout.Request) string { return q.RolloutCalls }
	lacks := func(parts ...string) func(line string) bool {
		return func(line string) bool {
			return !slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(line, p) })
		}
	}
	alone := func(q *rollout.Request) { q.TrainCalls, q.RolloutCalls, q.LogProbs = "", "", nil }
	held := func(change func(all map[string]*weights.Matrix)) func(t *testing.T, q *rollout.Request) {
		return func(t *testing.T, q *rollout.Request) {
			q.Rollout = stage.MadeWeights(t, false, change)
		}
	}
	told := func(eps, scale, base float64) mistake {
		return mistake{"nothing", func(t *testing.T, q *rollout.Request) {
			alone(q)
			q.Train, q.Rollout = nil, nil
			q.TrainCalls, q.RolloutCalls = numbers(t, 1e-6, 0.5, 1e4, false), numbers(t, eps, scale, base, true)
		}}
	}
	const clean = "nothing, rounded otherwise"
	return map[string]mistake{
		"ids of a row that nobody computed":             {clean, func(_ *testing.T, q *rollout.Request) { q.LogProbs.Tokens[9] = 22 }},
		"ids that nobody computed":                      {clean, func(_ *testing.T, q *rollout.Request) { q.LogProbs.Tokens[1], q.LogProbs.Tokens[9] = 22, 22 }},
		"attention that nobody knows, without rotation": {"attention that nobody knows", lines(engine, lacks("rotary_emb"))},
		"the scale, without rotation":                   {"scale", lines(engine, lacks("rotary_emb"))},
		"the scale, without the output of attention":    {"scale", lines(engine, lacks(".o_proj."))},
		"no layers recorded":                            {clean, lines(engine, lacks(".layers."))},
		"an embedding and no more recorded": {clean, func(t *testing.T, q *rollout.Request) {
			q.LogProbs = nil
			lines(engine, func(line string) bool { return strings.Contains(line, "embed_tokens") })(t, q)
		}},
		"no embedding recorded":                 {clean, lines(engine, lacks("embed_tokens"))},
		"a token to warm up, without positions": {"one token to warm up", lines(engine, lacks("rotary_emb"))},
		"recordings without weights":            {"scale", func(_ *testing.T, q *rollout.Request) { q.Train, q.Rollout = nil, nil }},
		"statistics without elements": {clean, func(t *testing.T, q *rollout.Request) {
			for _, side := range []string{q.TrainCalls, q.RolloutCalls} {
				rewrite(t, side, func(line string) string { return noElements.ReplaceAllString(line, "") })
				if err := os.RemoveAll(filepath.Join(side, "step0", "rank0", "dump_tensor_data")); err != nil {
					t.Fatal(err)
				}
			}
		}},
		"statistics, the same numbers": told(1e-6, 0.5, 1e4),
		"statistics, fewer numbers":    told(1e-6, 0.5, 0),
		"statistics, epsilon":          told(1e-5, 0.5, 1e4),
		"statistics, scale":            told(1e-6, 0.03125, 1e4),
		"statistics, base":             told(1e-6, 0.5, 1e6),
		"a file of elements that is cut": {clean, func(t *testing.T, q *rollout.Request) {
			files, err := filepath.Glob(filepath.Join(q.RolloutCalls, "step0", "rank0", "dump_tensor_data", "*.pt"))
			if err != nil || len(files) < 9 {
				t.Fatal(files, err)
			}
			if err := os.Truncate(files[len(files)/2], 100); err != nil {
				t.Fatal(err)
			}
		}},
		"a recording that is cut": {clean, func(t *testing.T, q *rollout.Request) {
			path := filepath.Join(q.RolloutCalls, "step0", "rank0", "dump.json")
			info, err := os.Stat(path)
			if err == nil {
				err = os.Truncate(path, info.Size()/2)
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
		"responses that go on behind what was recorded": {clean, func(_ *testing.T, q *rollout.Request) {
			q.LogProbs.Mask[6], q.LogProbs.Tokens[6] = true, 12
		}},
		"a mask that leaves nothing": {clean, func(_ *testing.T, q *rollout.Request) { clear(q.LogProbs.Mask) }},
		"a file that cannot be read": {clean, func(_ *testing.T, q *rollout.Request) {
			q.Unread = []error{errors.New("what was given as a file is none")}
		}},
		"more tokens than asked for": {clean, func(_ *testing.T, q *rollout.Request) { q.Tokens = 8 }},
		"padding under the mask":     {clean, func(_ *testing.T, q *rollout.Request) { q.LogProbs.Mask[7] = true }},
		"a prob_diff of other log-probs": {clean, func(_ *testing.T, q *rollout.Request) {
			q.LogProbs.Diff = make([]float64, len(q.LogProbs.Train))
			q.LogProbs.Diff[2] = 0.25
		}},
		"a large network":                        {clean, func(t *testing.T, _ *rollout.Request) { t.Cleanup(stage.Sloped()) }},
		"a large network, hidden states rotated": {"nothing, hidden states rotated", func(t *testing.T, _ *rollout.Request) { t.Cleanup(stage.Sloped()) }},
		"weights of another shape": {clean, held(func(all map[string]*weights.Matrix) {
			m := all["model.layers.1.mlp.down_proj.weight"]
			m.Shape, m.V = []int64{m.Shape[0], m.Shape[1] / 2}, m.V[:len(m.V)/2]
		})},
		"weights of another model": {clean, held(func(all map[string]*weights.Matrix) {
			for _, m := range all {
				slices.Reverse(m.V)
			}
		})},
		"weights without queries": {clean, func(t *testing.T, q *rollout.Request) {
			q.Train = stage.MadeWeights(t, false, func(all map[string]*weights.Matrix) { delete(all, "model.layers.0.self_attn.q_proj.weight") })
			q.Rollout = q.Train
		}},
		"weights of other names": {"nothing", func(t *testing.T, q *rollout.Request) {
			alone(q)
			held(func(all map[string]*weights.Matrix) {
				for name, m := range maps.Clone(all) {
					delete(all, name)
					all["tower.block_"+strings.NewReplacer("model.layers.", "", ".", "_").Replace(name)+".kernel"] = m
				}
			})(t, q)
		}},
		"matrices of low-rank training in the rollout": {"nothing, weights merged, not shown", func(t *testing.T, q *rollout.Request) {
			alone(q)
			q.Rollout = q.Train
			q.Train = stage.MadeWeights(t, false, func(map[string]*weights.Matrix) {})
		}},
		"routers that differ, without their scores": {"nothing, experts", func(_ *testing.T, q *rollout.Request) {
			alone(q)
			q.Train, q.Rollout = nil, nil
			q.Routers = &rollout.Routers{Tokens: 4, Any: 0.25, All: 0.25, Layers: []float64{0.25}, Pairs: [][]rollout.Exchange{{{Train: 1, Rollout: 2, Times: 1}}}}
		}},
		"equal rows of the router's weight": {"nothing, experts", func(t *testing.T, q *rollout.Request) {
			alone(q)
			q.Train = stage.MadeWeights(t, true, func(all map[string]*weights.Matrix) {
				m := all["model.layers.0.mlp.gate.weight"]
				w := int(m.Shape[1])
				copy(m.V[2*w:3*w], m.V[w:2*w])
			})
			q.Rollout = q.Train
			q.Routers = &rollout.Routers{Tokens: 4, Any: 0.25, All: 0.25, Layers: []float64{0.25}, Pairs: [][]rollout.Exchange{{{Train: 1, Rollout: 2, Times: 1}}}}
		}},
	}
}

// numbers writes a recording of statistics whose calls were given some numbers, in the style of a trainer or an engine; a base of 0 is not recorded.
func numbers(t *testing.T, eps, scale, base float64, engine bool) (dir string) {
	tensor := func(shape string) string {
		return `{"type": "torch.Tensor", "dtype": "torch.float32", "shape": ` + shape + `, "Max": 1.0, "Min": -1.0, "Mean": 0.0, "Norm": 2.0, "requires_grad": false}`
	}
	number := func(x float64) string { return fmt.Sprintf(`{"type": "float", "value": %g}`, x) }
	call := func(name, kwargs, out string, in ...string) string {
		return fmt.Sprintf(`"%s.forward": {"input_args": [%s], "input_kwargs": {%s}, "output": [%s]}`, name, strings.Join(in, ", "), kwargs, out)
	}
	calls := []string{
		call("Functional.embedding.0", "", tensor("[2, 3, 8]"), tensor("[2, 3]")),
		call("Tensor.__add__.0", "", tensor("[2, 3, 1]"), tensor("[2, 3, 1]"), number(eps)),
		call("Torch.rsqrt.0", "", tensor("[2, 3, 1]"), tensor("[2, 3, 1]")),
		call("Torch.matmul.0", "", tensor("[2, 2, 3, 3]"), tensor("[2, 2, 3, 4]"), tensor("[2, 2, 4, 3]")),
		call("Tensor.__mul__.0", "", tensor("[2, 2, 3, 3]"), tensor("[2, 2, 3, 3]"), number(scale)),
	}
	if engine {
		calls = []string{
			call("Functional.embedding.0", "", tensor("[6, 8]"), tensor("[6]")),
			call("NPU.npu_rms_norm.0", "", tensor("[6, 8]"), tensor("[6, 8]"), tensor("[8]"), number(eps)),
			call("NPU.npu_fused_infer_attention_score.0", `"scale": `+number(scale), tensor("[6, 2, 4]"), tensor("[6, 2, 4]"), tensor("[6, 2, 4]"), tensor("[6, 2, 4]")),
		}
	}
	if base > 0 {
		calls = append(calls, call("Tensor.__rpow__.0", "", tensor("[4]"), tensor("[4]"), number(base)))
	}
	dir = t.TempDir()
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
