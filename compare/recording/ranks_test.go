package recording_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
)

// ranks writes a recording of two ranks that multiply and sum up what they have;
// wrong is the rank whose product is off.
func ranks(t *testing.T, wrong int) string {
	dir := t.TempDir()
	tensor := func(v float64) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8], "Max": %v, "Min": %v, "Mean": %v, "Norm": %v, "requires_grad": false}`,
			v, v/3, v/2, 2*v)
	}
	for r := range 2 {
		product, sum := 10.5+float64(r), 22.25
		if wrong == r {
			product += 0.5
		}
		if wrong >= 0 {
			sum += 0.5
		}
		calls := []string{
			fmt.Sprintf(`"Torch.matmul.0.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, tensor(3.5+float64(r)), tensor(product)),
			fmt.Sprintf(`"Distributed.all_reduce.0.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, tensor(product), tensor(sum)),
			fmt.Sprintf(`"Torch.matmul.1.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, tensor(sum), tensor(2*sum)),
		}
		path := filepath.Join(dir, "step0", fmt.Sprintf("rank%d", r))
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		text := dumpOf("L1", calls)
		if err := os.WriteFile(filepath.Join(path, "dump.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestExchangedRanks: folders of ranks that changed places are told as such, and nobody is accused; one rank that was given
// what another one was is a fault.
func TestExchangedRanks(t *testing.T) {
	golden := ranks(t, -1)
	for name, exchanged := range map[string]bool{"exchanged": true, "twice": false} {
		left := ranks(t, -1)
		at := func(rank string) string { return filepath.Join(left, "step0", rank) }
		if err := os.Rename(at("rank0"), at("other")); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(at("rank0"), os.DirFS(at("rank1"))); err != nil {
			t.Fatal(err)
		}
		if exchanged {
			if err := errors.Join(os.RemoveAll(at("rank1")), os.Rename(at("other"), at("rank1"))); err != nil {
				t.Fatal(err)
			}
		} else if err := os.RemoveAll(at("other")); err != nil {
			t.Fatal(err)
		}
		j := judged(t, left, golden)
		certain := len(j.Premises) == 1 && j.Premises[0].Kind == verdict.PremiseRanks && j.Premises[0].Reason.Kind == result.RanksExchanged && len(j.Roots) == 0 && j.Verdict == verdict.Inconclusive
		if certain != exchanged || !exchanged && len(j.Roots) == 0 {
			t.Errorf("%s: %v, roots %v, premises %v", name, j.Verdict, rootNames(j), j.Premises)
		}
	}
}

// TestRanks: an error that arrives by a collective call begins in the rank that
// made it, also where that rank comes later.
func TestRanks(t *testing.T) {
	golden := ranks(t, -1)
	for wrong := range 2 {
		j := judged(t, ranks(t, wrong), golden)
		want := []string{fmt.Sprintf("step0/rank%d/Torch.matmul.0.forward", wrong)}
		if got := rootNames(j); !slices.Equal(got, want) {
			t.Errorf("roots %v, expected %v", got, want)
		}
	}
	// A rank without a partner, of either side: nothing bad in the others is no good verdict.
	if err := os.Rename(filepath.Join(golden, "step0", "rank1"), filepath.Join(golden, "step0", "rank5")); err != nil {
		t.Fatal(err)
	}
	for wrong, want := range map[int][2]verdict.Verdict{-1: {verdict.Inconclusive, verdict.Inconclusive}, 0: {verdict.Inconclusive, verdict.Inconclusive}} {
		mine := ranks(t, wrong)
		for k, verdict := range want {
			if got := judged(t, mine, golden).Verdict; got != verdict {
				t.Errorf("rank %d is wrong, %d of %d without a partner: %s, expected %s", wrong, k+1, k+2, got, verdict)
			}
			if k > 0 {
				break
			}
			if err := os.CopyFS(filepath.Join(mine, "step0", "rank2"), os.DirFS(filepath.Join(mine, "step0", "rank1"))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Rename(filepath.Join(golden, "step0", "rank5"), filepath.Join(golden, "step0", "rank1")); err != nil {
		t.Fatal(err)
	}
	// Of one rank alone the collective call is all that can be named.
	j := judged(t, ranks(t, 1)+"/step0/rank0", golden+"/step0/rank0")
	if got := rootNames(j); !slices.Equal(got, []string{"Distributed.all_reduce.0.forward"}) {
		t.Errorf("one rank: roots %v", got)
	}
}

// TestStepLeftOut: a step of the optimizer that one side leaves out is the root of what the
// next step computes with.
func TestStepLeftOut(t *testing.T) {
	tensor := func(v float64) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 8], "Max": %v, "Min": %v, "Mean": %v, "Norm": %v}`, v, -v/2, v/8, 3*v)
	}
	call := func(name string, out string, in ...string) string {
		return fmt.Sprintf(`"%s": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, strings.Join(in, ", "), out)
	}
	record := func(steps bool) string {
		dir := t.TempDir()
		for step := range 2 {
			w := 2.0
			if step > 0 && steps {
				w = 2.25
			}
			calls := []string{
				call("Functional.linear.0.forward", tensor(3*w), tensor(1+float64(step)), tensor(w)),
				call("Functional.gelu.0.forward", tensor(2.75*w), tensor(3*w)),
			}
			if step == 0 && steps {
				calls = append(calls, call("Tensor.add_.0.forward", tensor(2.25), tensor(2), tensor(0.5)))
			}
			path := filepath.Join(dir, fmt.Sprintf("step%d", step), "rank0")
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			text := dumpOf("L1", calls)
			if err := os.WriteFile(filepath.Join(path, "dump.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	j := judged(t, record(false), record(true))
	if got := rootNames(j); len(got) != 1 || !strings.HasPrefix(got[0], "step0/rank0/Tensor.add_.0.forward") || j.Verdict != verdict.Bad {
		t.Errorf("%s, roots %v, expected the step that was left out", j.Verdict, got)
	}
	if got := rootNames(judged(t, record(true), record(true))); len(got) > 0 {
		t.Errorf("the same run: roots %v", got)
	}
}

// TestNaNIsNotRecognised: the step after one with NaN follows from that one, and not from a call of one side alone
// that happened to give NaN, too.
func TestNaNIsNotRecognised(t *testing.T) {
	tensor := func(v float64) string {
		if v != v {
			return `{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 8], "Max": NaN, "Min": NaN, "Mean": NaN, "Norm": NaN}`
		}
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 8], "Max": %v, "Min": %v, "Mean": %v, "Norm": %v}`, v, -v/2, v/8, 3*v)
	}
	call := func(name string, out string, in ...string) string {
		return fmt.Sprintf(`"%s": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, strings.Join(in, ", "), out)
	}
	record := func(wrong bool) string {
		dir := t.TempDir()
		for step := range 2 {
			x, y, w := 1+float64(step), 5+float64(step), 2+float64(step)
			if wrong && step > 0 {
				w = math.NaN()
			}
			if wrong {
				y = math.NaN()
			}
			calls := []string{call("Functional.linear.0.forward", tensor(y), tensor(x), tensor(w))}
			if step == 0 && wrong {
				calls = append(calls, call("Tensor.__mul__.0.forward", tensor(math.NaN()), tensor(y), tensor(7)))
			}
			path := filepath.Join(dir, fmt.Sprintf("step%d", step), "rank0")
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, "dump.json"), []byte(dumpOf("L1", calls)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	if got := rootNames(judged(t, record(true), record(false))); len(got) != 1 || !strings.HasPrefix(got[0], "step0/rank0/Functional.linear.0.forward") {
		t.Errorf("roots %v, expected the call that made NaN", got)
	}
}

// TestBatchedTransfers: what batch_isend_irecv brings is not there yet when it is recorded; an input that
// differs behind it follows from the rank that sent.
func TestBatchedTransfers(t *testing.T) {
	tensor := func(v float64) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8], "Max": %v, "Min": %v, "Mean": %v, "Norm": %v, "requires_grad": false}`, v, v/3, v/2, 2*v)
	}
	batch := func(n int, op string, v float64, peer int) string {
		p := fmt.Sprintf(`[[{"class_type": "torch.distributed.P2POp", "tensor": %s, "op": %q, "peer": %d, "tag": 0, "group_id": "a"}]]`, tensor(v), op, peer)
		return fmt.Sprintf(`"Distributed.batch_isend_irecv.%d.forward": {"input_args": %s, "input_kwargs": {}, "output": %s}`, n, p, p)
	}
	side := func(off float64) string {
		dir := t.TempDir()
		sender := []string{batch(0, "isend", 10.5+off, 0)}
		for i := range 4 { // it sends late, and rank 0 had another partner before
			sender = slices.Insert(sender, i, entry("Torch.matmul", i, []string{tensor(3.5 + float64(i))}, tensor(7.5+float64(i)+off*float64(i/3))))
		}
		for r, calls := range [][]string{{batch(0, "isend", 5, 2), batch(1, "irecv", 0, 1), entry("Torch.matmul", 0, []string{tensor(10.5 + off)}, tensor(21+2*off))}, sender, {batch(0, "irecv", 0, 0)}} {
			path := filepath.Join(dir, "step0", fmt.Sprintf("rank%d", r))
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, "dump.json"), []byte(dumpOf("L1", calls)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	golden := side(0)
	if j := judged(t, side(0.5), golden); !slices.Equal(rootNames(j), []string{"step0/rank1/Torch.matmul.3.forward"}) {
		t.Errorf("roots %v", rootNames(j))
	}
}
