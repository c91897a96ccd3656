package recording_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/recording"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/dump/torch"
	"precision/testdata/workshop/dumptest"
)

// TestDebugMode: logs of PyTorch's DebugMode (testdata/oplog/make.py) are aligned though one side computes an activation by other
// operators, and an operator that gives something else is where the error begins.
func TestDebugMode(t *testing.T) {
	at := func(name string) string { return filepath.Join("testdata", "oplog", name) }
	for _, c := range []struct {
		left, right string
		want        verdict.Verdict
		root        string
	}{
		{"modules.log", "decomposed.log", verdict.Good, ""},
		{"modules.log", "fault.log", verdict.Bad, "aten.mul_.Tensor.0.forward"},
		{"hash.log", "hash.log", verdict.Good, ""},
	} {
		if !recording.Are(at(c.left), at(c.right)) {
			t.Fatalf("%s and %s are not taken for recordings", c.left, c.right)
		}
		j := judged(t, at(c.left), at(c.right))
		var roots []string
		for i := range j.Roots {
			roots = append(roots, j.Operators[j.Roots[i].Operator].Op.Name)
		}
		if j.Verdict != c.want || c.root != "" && !slices.Contains(roots, c.root) || c.root == "" && roots != nil {
			t.Errorf("%s, %s: %s, roots %q; expected %s, %q", c.left, c.right, j.Verdict, roots, c.want, c.root)
		}
		if c.left == "modules.log" && j.Coverage.Compared < 20 {
			t.Errorf("%s, %s: only %d tensors were compared", c.left, c.right, j.Coverage.Compared)
		}
	}
}

// titan writes a log as torchtitan does, of layers with some operators each; split has one product of every layer done as two operators more.
// From the faulty layer on all is off.
func titan(t *testing.T, layers int, split bool, fault int, seed uint64) (path string, entries int) {
	t.Helper()
	r, noise := rand.New(rand.NewPCG(9, 9)), rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	count := map[string]int{}
	off := 1.0
	write := func(module, op string, rows int, backward bool) {
		l2 := 10 + 90*r.Float64()
		max, min, mean := l2/8*(1+r.Float64()), -l2/8*(1+r.Float64()), 0.01*r.NormFloat64()
		f := off * (1 + 1e-7*noise.NormFloat64())
		fmt.Fprintf(&b, "[%s/op_%d_%s]\n  Shape: torch.Size([%d, 64]), Dtype: torch.float32\n  L1 norm:  %.6e\n  L2 norm:  %.6e\n  Min:      %.6e\n  Max:      %.6e\n  Mean:     %.6e\n  Location: model.py:%d\n",
			module, count[module], op, rows, 7*l2*f, l2*f, min*f, max*f, mean*f, 10+count[module])
		if backward {
			b.WriteString("  Phase: backward\n")
		}
		b.WriteString("\n")
		count[module]++
		entries++
	}
	for _, backward := range []bool{false, true} {
		for l := range layers {
			module := fmt.Sprintf("layers.%d", l)
			if l == fault && !backward {
				off = 1.3
			}
			for i, op := range []string{"native_layer_norm", "mm", "_scaled_dot_product_flash_attention", "mm", "silu", "mul", "mm", "add"} {
				if split && op == "silu" && !backward {
					// Other operators with numbers of their own, which the left side does not have.
					own := r
					r = noise
					write(module+".mlp", "sigmoid", 32+l, backward)
					write(module+".mlp", "exp", 32+l, backward)
					r = own
				}
				write(module+map[bool]string{true: ".attn", false: ".mlp"}[i < 4], op, 32+l, backward)
			}
		}
	}
	path = filepath.Join(t.TempDir(), "rank_0_activations.log")
	text := fmt.Sprintf("Total captured activations: %d\nExcluded ops dispatched: view\n%s\n\n%s", entries, strings.Repeat("=", 80), b.String())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, entries
}

// TestTitan: logs of torchtitan of 320 and 360 operators are paired to the last one that both have, whatever their numbers in their
// modules, and the operator from which on numbers are off is the root.
func TestTitan(t *testing.T) {
	for _, fault := range []int{-1, 7} {
		left, n := titan(t, 20, false, -1, 1)
		right, m := titan(t, 20, true, fault, 2)
		if n != 320 || m != 360 {
			t.Fatalf("%d and %d operators", n, m)
		}
		j := judged(t, right, left)
		if j.Coverage.Compared != n {
			t.Errorf("fault %d: %d operators were paired, expected %d", fault, j.Coverage.Compared, n)
		}
		var roots []string
		for i := range j.Roots {
			roots = append(roots, j.Operators[j.Roots[i].Operator].Op.Name)
		}
		if fault < 0 && j.Verdict != verdict.Good || fault >= 0 && (j.Verdict != verdict.Bad || len(roots) == 0 || roots[0] != fmt.Sprintf("layers.%d.attn/op_0_native_layer_norm", fault)) {
			t.Errorf("fault %d: %s, roots %q", fault, j.Verdict, roots)
		}
	}
}

// A log that ends in the middle of a line keeps what came before, and says so.
func TestLogCut(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "oplog", "modules.log"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.log")
	at := strings.LastIndex(string(text), "  ->  ") - 5
	if err := os.WriteFile(path, text[:at], 0o600); err != nil {
		t.Fatal(err)
	}
	j := judged(t, path, filepath.Join("testdata", "oplog", "modules.log"))
	if len(j.Damaged) == 0 {
		t.Error("a log that is cut is not told as damaged")
	}
}

// TestSGLang: what SGLang's dumper wrote is compared in the order of its numbers, by step and rank; files of older ones hold the tensor
// itself and call the step otherwise.
func TestSGLang(t *testing.T) {
	write := func(fault bool) string {
		dir := t.TempDir()
		for step := range 2 {
			for i, name := range []string{"hidden", "attn", "mlp"} {
				v := make([]float32, 32)
				for k := range v {
					v[k] = float32(k*(i+2)%7 + step)
					if fault && i > 0 && step == 1 {
						v[k] *= 2
					}
				}
				var b bytes.Buffer
				if err := torch.Write(&b, dtype.Float32, []int64{4, 8}, bytes.NewReader(dumptest.Floats(v))); err != nil {
					t.Fatal(err)
				}
				file := fmt.Sprintf("forward_pass_id=%d___rank=0___name=%s___dump_index=%d___layer_id=3.pt", step, name, 10-3*i+100*step)
				if err := os.WriteFile(filepath.Join(dir, file), b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		return dir
	}
	left, good, bad := write(false), write(false), write(true)
	if j := judged(t, left, good); j.Verdict != verdict.Good || j.Coverage.Compared != 6 {
		t.Errorf("%s, %d compared", j.Verdict, j.Coverage.Compared)
	}
	j := judged(t, bad, left)
	// Numbered backwards, the last name was dumped first.
	if j.Verdict != verdict.Bad || len(j.Roots) == 0 || !strings.HasSuffix(j.Operators[j.Roots[0].Operator].Op.Name, "step1/rank0/mlp.layer_id=3") {
		t.Errorf("%s, roots %v", j.Verdict, j.Roots)
	}
	with := filepath.Join("testdata", "oplog", "sglang") // a dict with the tensor as value
	if j := judged(t, with, with); j.Coverage.Compared != 2 || len(j.Damaged) > 0 {
		t.Errorf("%d compared, damaged %v", j.Coverage.Compared, j.Damaged)
	}
}
