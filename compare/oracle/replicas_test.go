package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/msprobe"
)

// TestReplicas: what ranks of a data parallel job have alike, and what they must not.
func TestReplicas(t *testing.T) {
	tensor := func(v float64) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8, 8], "Max": %v, "Min": -1, "Mean": 0.1, "Norm": %v, "requires_grad": true}`, v, 5*v)
	}
	linear := func(n int, in, weight, out float64) string {
		return fmt.Sprintf(`"Functional.linear.%d.forward": {"input_args": [%s, %s], "input_kwargs": {}, "output": [%s]}`, n, tensor(in), tensor(weight), tensor(out))
	}
	const gather = `"Distributed.barrier.0.forward": {"input_args": [], "input_kwargs": {}, "output": []}, "Distributed.all_reduce.0.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%[1]s]}`
	// net is five linear calls of a rank: what goes in, and by how much a weight is another.
	net := func(batch, off float64) string {
		var calls []string
		for n := range 5 {
			w := 2 + float64(n)
			if n == 3 {
				w += off
			}
			calls = append(calls, linear(n, batch+float64(n), w, batch+float64(n+1)))
		}
		return strings.Join(calls, ",\n")
	}
	for name, c := range map[string]struct {
		ranks []string
		want  []string
	}{
		"ranks of their own batches":        {[]string{net(10, 0), net(20, 0), net(30, 0)}, nil},
		"the same batch twice":              {[]string{net(10, 0), net(20, 0), net(10, 0)}, []string{"rank2/Functional.linear.0.forward check-same-batch 0 5"}},
		"a weight that is another":          {[]string{net(10, 0.5), net(20, 0), net(30, 0)}, []string{"rank0/Functional.linear.3.forward check-other-weight input.1 1 1 5"}},
		"ranks of other weights":            {[]string{net(10, 0), strings.ReplaceAll(net(20, 0), `"Min": -1`, `"Min": -2`)}, nil},
		"ranks that run something together": {[]string{fmt.Sprintf(gather, tensor(1)) + "," + net(10, 0), fmt.Sprintf(gather, tensor(1)) + "," + net(10, 0.5)}, nil},
		"parts of tensors":                  {[]string{net(10, 0), strings.Replace(net(10, 0.5), `"requires_grad": true`, `"requires_grad": true, "device_mesh": [0, 1], "placements": [{"Replicate": {}}]`, 1)}, nil},
		"one rank":                          {[]string{net(10, 0)}, nil},
	} {
		top := t.TempDir()
		for rank, text := range c.ranks {
			dir := filepath.Join(top, fmt.Sprintf("rank%d", rank))
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			text = `{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {` + text + "}}"
			if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		list, err := msprobe.Find(top)
		if err != nil {
			t.Fatal(err)
		}
		findings, _, err := RecordingJob{Recordings: list, Workers: 1}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range findings {
			for _, r := range f.Reasons {
				if r.Kind == SameBatch || r.Kind == OtherWeight {
					got = append(got, strings.Join(append([]string{f.Op, string(r.Kind)}, r.Args...), " "))
					if f.Verdict != Suspect {
						t.Errorf("%s: %s", name, f.Verdict)
					}
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
}
