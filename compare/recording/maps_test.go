package recording_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
)

// fusedPair writes the recordings of a block with attention: with a fused kernel and NPU
// functions on the left, with plain functions on the right. wrong makes the fused
// attention give another result.
func fusedPair(t *testing.T, wrong bool) (left, right string) {
	tensor := func(seed float64, shape string) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": %s, "Max": %v, "Min": %v, "Mean": %v, "Norm": %v, "requires_grad": false}`,
			shape, 2+seed, -1.5-seed, 0.1*seed, 11+3*seed)
	}
	call := func(name string, in []string, out string) string {
		return fmt.Sprintf(`"%s.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, strings.Join(in, ", "), out)
	}
	const flat, heads, scores = "[4, 6, 16]", "[4, 2, 6, 8]", "[4, 2, 6, 6]"
	attended := 0.51000002
	if wrong {
		attended = 0.8
	}
	shared := func(n int, off float64) []string {
		return []string{call(fmt.Sprintf("Functional.linear.%d", n), []string{tensor(float64(n)+0.2+off, flat), tensor(float64(n)+0.7, "[16, 16]")}, tensor(float64(n)+0.4+off, flat))}
	}
	var a, b []string
	for n := range 3 { // q, k, v
		a, b = append(a, shared(n, 0)...), append(b, shared(n, 0)...)
	}
	a = append(a, call("NPU.npu_fusion_attention.0", []string{tensor(0.4, heads), tensor(1.4, heads), tensor(2.4, heads), `{"type": "int", "value": 2}`}, tensor(attended, heads)))
	b = append(b, call("Torch.matmul.0", []string{tensor(0.4, heads), tensor(1.4, "[4, 2, 8, 6]")}, tensor(0.9, scores)),
		call("Tensor.__mul__.0", []string{tensor(0.9, scores), `{"type": "float", "value": 0.35}`}, tensor(0.31, scores)),
		call("Functional.softmax.0", []string{tensor(0.31, scores)}, tensor(0.12, scores)),
		call("Torch.matmul.1", []string{tensor(0.12, scores), tensor(2.4, heads)}, tensor(0.51, heads)))
	out := 0.0
	if wrong {
		out = 0.3
	}
	a, b = append(a, shared(3, out)...), append(b, shared(3, 0)...)
	a = append(a, call("NPU.npu_rms_norm.0", []string{tensor(3.4+out, flat), tensor(0.05, "[16]")}, tensor(1.1000001+out, flat)))
	b = append(b, strings.Replace(call("Module.norm.RMSNorm", []string{tensor(3.4, flat)}, tensor(1.1, flat)), "RMSNorm.forward", "RMSNorm.forward.0", 1))
	for n := 4; n < 12; n++ {
		a, b = append(a, shared(n, out)...), append(b, shared(n, 0)...)
	}
	for i, list := range [][]string{a, b} {
		dir := filepath.Join(t.TempDir(), "step0", "rank0")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		text := dumpOf("mix", list)
		if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			left = dir
		} else {
			right = dir
		}
	}
	return left, right
}

// TestMaps: a fused kernel is compared with the calls it stands for, from either side; a
// wrong one is the root, and its row says how the pair was found.
func TestMaps(t *testing.T) {
	for _, wrong := range []bool{false, true} {
		left, right := fusedPair(t, wrong)
		for _, swap := range []bool{false, true} {
			a, b, name := left, right, "NPU.npu_fusion_attention.0.forward"
			if swap {
				a, b, name = right, left, "Torch.matmul.1.forward"
			}
			j := judged(t, a, b)
			var want []string
			if wrong {
				want = []string{name}
			}
			if got := rootNames(j); !slices.Equal(got, want) {
				t.Errorf("wrong %v, swapped %v: roots %v, expected %v", wrong, swap, got, want)
			}
			mapped, alone := 0, 0
			for i := range j.Table.Rows {
				r := &j.Table.Rows[i]
				if r.Role == result.Whole {
					alone++
					t.Logf("%s %s", r.Left.Names, r.Right.Names)
				}
				if r.Recorded != nil && r.Recorded.How == result.Mapped {
					mapped++
				}
			}
			if alone > 0 || mapped < 6 {
				t.Errorf("swapped %v: %d calls without a partner, %d rows of mapped calls", swap, alone, mapped)
			}
		}
	}
}
