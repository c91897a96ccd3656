package job

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
)

// calls writes recordings of one call into folders.
func calls(t *testing.T, dirs ...string) string {
	t.Helper()
	top := t.TempDir()
	const text = `{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {"Torch.add.0.forward": {"input_args": [], "input_kwargs": {},
 "output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8], "Max": 4.0, "Min": 1.0, "Mean": 2.0, "Norm": 8.0, "requires_grad": false}]}}}`
	for _, d := range dirs {
		file := filepath.Join(top, d)
		if filepath.Ext(d) == "" {
			file = filepath.Join(file, "dump.json")
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// Recordings of calls are paired by step and rank; of processes without a rank only those of which there is no
// doubt, and what was recorded beside dump.json does not make a second part.
func TestPlanOfCalls(t *testing.T) {
	for name, c := range map[string]struct{ left, right, pairs, alone []string }{
		"ranks":            {[]string{"step0/rank0", "step0/rank1"}, []string{"step0/rank1", "step0/rank0"}, []string{"rank0 rank0", "rank1 rank1"}, nil},
		"a rank missing":   {[]string{"step0/rank0", "step0/rank1"}, []string{"step0/rank1"}, []string{"rank1 rank1"}, []string{"no-golden rank0"}},
		"one process":      {[]string{"step0/proc7"}, []string{"step0/proc9", "step1/proc9"}, []string{"proc7 proc9"}, []string{"no-dump proc9"}},
		"several":          {[]string{"step0/proc7", "step0/proc8"}, []string{"step0/proc17", "step0/proc18"}, nil, []string{"ambiguous proc7", "ambiguous proc8"}},
		"an older one":     {[]string{"step0/proc7"}, []string{"step0/proc17", "step0/proc18"}, nil, []string{"ambiguous proc7"}},
		"the same run":     {[]string{"step0/proc7", "step0/proc8"}, []string{"step0/proc7", "step0/proc8"}, []string{"proc7 proc7", "proc8 proc8"}, nil},
		"one of each":      {[]string{"step0/rank0", "step0/proc7"}, []string{"step0/rank0", "step0/proc17"}, []string{"proc7 proc17", "rank0 rank0"}, nil},
		"one for all":      {[]string{"step0/rank0", "step0/proc7", "step0/proc8"}, []string{"step0"}, []string{"proc7 step0", "proc8 step0", "rank0 step0"}, nil},
		"beside dump.json": {[]string{"step0/rank0", "step0/rank0/debug.json"}, []string{"step0/rank0", "step0/rank0/debug.json"}, []string{"rank0 rank0"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := (Request{Left: calls(t, c.left...), Right: calls(t, c.right...)}).Plan(t.Context())
			if (err == nil) != (len(c.pairs) > 0) {
				t.Fatal(err)
			}
			var pairs, alone []string
			for _, x := range p.Parts {
				pairs = append(pairs, filepath.Base(x.Left)+" "+filepath.Base(x.Right))
			}
			for _, a := range p.Alone {
				if a.Why != AloneNoDump || c.alone != nil && strings.HasPrefix(c.alone[0], AloneNoDump) {
					alone = append(alone, a.Why+" "+filepath.Base(a.Path))
				}
			}
			if !slices.Equal(pairs, c.pairs) || !slices.Equal(alone, c.alone) {
				t.Errorf("pairs %q, alone %q", pairs, alone)
			}
		})
	}
}

// said is a recorded tensor by its largest element; the others follow from it.
func said(v float64) string {
	return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8, 8], "Max": %.9g, "Min": %.9g, "Mean": %.9g, "Norm": %.9g, "requires_grad": false}`, v, -v/2, v/16, 3*v)
}

// recorded writes the calls of a rank in a step below a folder.
func recorded(t *testing.T, top string, step, rank int, calls ...string) {
	t.Helper()
	dir := filepath.Join(top, fmt.Sprintf("step%d", step), fmt.Sprintf("rank%d", rank))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {` + strings.Join(calls, ", ") + `}}`
	if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// steps writes recordings of two steps, of a linear call each: what it gets, its weight and what it gives.
func steps(t *testing.T, values [2][3]float64) string {
	t.Helper()
	top := t.TempDir()
	for step, v := range values {
		recorded(t, top, step, 0, fmt.Sprintf(`"Functional.linear.0.forward": {"input_args": [%s, %s], "input_kwargs": {}, "output": [%s]}`, said(v[0]), said(v[1]), said(v[2])))
	}
	return top
}

// What the rounding of a step leaves behind in the weights is no fault of the next one, in whatever order
// parts are judged; without it, it is.
func TestBehindNoise(t *testing.T) {
	golden := [2][3]float64{{1, 0.5, 2}, {1.5, 0.25, 3}}
	later := [3]float64{1.5, 0.25 * (1 + 2e-7), 3 * (1 + 3e-7)}
	rounds := [3]float64{1, 0.5, 2 * (1 + 3e-7)}
	for name, c := range map[string]struct {
		first, second [3]float64
		verdict       string
		origins       int
	}{
		"a step that rounds otherwise":       {rounds, later, "good", 0},
		"the same step":                      {golden[0], later, "suspect", 1},
		"a wrong step":                       {[3]float64{1, 0.5, 2.5}, later, "bad", 1},
		"the batch of another rank after it": {rounds, [3]float64{1.5 * 0.95, 0.25, 3 * 0.95}, "suspect", 1},
	} {
		p, err := (Request{Left: steps(t, [2][3]float64{c.first, c.second}), Right: steps(t, golden)}).Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Run(t.Context(), Settings{Out: filepath.Join(t.TempDir(), "out")})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != c.verdict || len(r.Origins) != c.origins {
			t.Errorf("%s: %s, %+v", name, r.Verdict, r.Origins)
		}
	}
}

// TestCallLeftOut: a call that one side leaves out in a step is named with its function, and where it shows.
func TestCallLeftOut(t *testing.T) {
	record := func(updates bool) string {
		weight := 0.5
		top := t.TempDir()
		for step := range 2 {
			in := 1 + float64(step)/2
			calls := []string{fmt.Sprintf(`"Functional.linear.0.forward": {"input_args": [%s, %s], "input_kwargs": {}, "output": [%s]}`, said(in), said(weight), said(4*weight))}
			if updates {
				calls = append(calls, fmt.Sprintf(`"Torch._fused_adamw_.0.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, said(weight), said(weight/2)))
				weight /= 2
			}
			recorded(t, top, step, 0, calls...)
		}
		return top
	}
	r := ran(t, Request{Left: record(false), Right: record(true)}, Settings{Out: filepath.Join(t.TempDir(), "out")})
	want := Origin{Op: "Torch._fused_adamw_.0.forward", Type: "_fused_adamw_", First: 0, Ranks: "0"}
	if len(r.Origins) != 1 || r.Origins[0].Op != want.Op || r.Origins[0].Type != want.Type || r.Origins[0].First != 0 || r.Origins[0].Ranks != want.Ranks ||
		!slices.Equal(r.Origins[0].Reached, []Reach{{1, 0, "Functional.linear.0.forward"}}) {
		t.Errorf("%s, %+v; expected %+v, which reaches the next step", r.Verdict, r.Origins, want)
	}
}

// TestArgumentOfAJob: an argument that differs in several calls is one root, with its values and the other calls.
func TestArgumentOfAJob(t *testing.T) {
	record := func(eps float64) string {
		top, calls := t.TempDir(), []string(nil)
		for n := range 3 {
			calls = append(calls, fmt.Sprintf(`"Functional.layer_norm.%d.forward": {"input_args": [%s, {"type": "float", "value": %g}], "input_kwargs": {}, "output": [%s]}`, n, said(float64(n+2)), eps, said((float64(n)+2)*(1+eps))))
		}
		recorded(t, top, 0, 0, calls...)
		return top
	}
	r := ran(t, Request{Left: record(0.5), Right: record(0.01)}, Settings{Out: filepath.Join(t.TempDir(), "out")})
	if len(r.Origins) != 1 || r.Origins[0].Argument == nil || *r.Origins[0].Argument != (Argument{"input.1", "0.5", "0.01"}) ||
		!slices.Equal(r.Origins[0].Places, []string{"Functional.layer_norm.1.forward", "Functional.layer_norm.2.forward"}) {
		t.Errorf("%s, %+v", r.Verdict, r.Origins)
	}
}

// TestDTypesOfAJob: a job tells of tensors whose dtypes differ, and names the first.
func TestDTypesOfAJob(t *testing.T) {
	record := func(dtype string) string {
		top := t.TempDir()
		recorded(t, top, 0, 0, fmt.Sprintf(`"Functional.relu.0.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, said(2), strings.Replace(said(2), "torch.float32", dtype, 1)))
		return top
	}
	for dtype, want := range map[string][]result.Reason{
		"torch.float32": nil,
		"torch.float64": {result.Because(result.DTypesMixed, "1", "torch.float32", "torch.float64", "Functional.relu.0.forward output.0")},
	} {
		r := ran(t, Request{Left: record("torch.float32"), Right: record(dtype)}, Settings{Out: filepath.Join(t.TempDir(), "out")})
		if got := r.Digests[0].Together; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, expected %v", dtype, got, want)
		}
	}
}
