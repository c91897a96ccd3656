package recording_test

import (
	"os"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
)

// TestQuirks: what msprobe's own comparison passes is seen, each on the recording
// that shows it.
func TestQuirks(t *testing.T) {
	if _, err := os.Stat(real); err != nil {
		t.Skip("no recordings here")
	}
	cache := map[string]*verdict.Judged{}
	pair := func(name string) *verdict.Judged {
		if cache[name] == nil {
			cache[name] = judged(t, real+name+"/target", real+name+"/golden")
		}
		return cache[name]
	}
	// find is the judged value of a call at a place.
	find := func(t *testing.T, j *verdict.Judged, op, place string) (*verdict.Tensor, *result.Row) {
		t.Helper()
		o := j.Find(op)
		if o == nil {
			t.Fatalf("no call %s", op)
		}
		for _, list := range [][]verdict.Tensor{o.Inputs, o.Outputs} {
			for k := range list {
				if r := j.Row(&list[k]); r.Recorded != nil && r.Recorded.Place == place {
					return &list[k], r
				}
			}
		}
		t.Fatalf("%s has no %s", op, place)
		return nil, nil
	}
	caused := func(x *verdict.Tensor, kind verdict.Kind) bool {
		for _, c := range x.Causes {
			if c.Kind == kind {
				return true
			}
		}
		return false
	}
	t.Run("NaN on both sides is told and not good", func(t *testing.T) {
		x, _ := find(t, pair("types_l1_tensor_md5"), "Torch.neg.0.forward", "output.0")
		if x.Verdict != verdict.Suspect || !caused(x, verdict.NotFinite) {
			t.Errorf("%s with %v", x.Verdict, x.Causes)
		}
	})
	t.Run("equal norms do not hide swapped axes", func(t *testing.T) {
		x, r := find(t, pair("block_l1_tensor_md5"), "Torch.matmul.0.forward", "input.1")
		if x.Verdict != verdict.Bad || !caused(x, verdict.Cosine) || !r.Recorded.Hashed || r.Recorded.HashSame {
			t.Errorf("%s with %v", x.Verdict, x.Causes)
		}
	})
	t.Run("a view that was not recorded is named by its ends", func(t *testing.T) {
		j := pair("block_l1_tensor_md5")
		if b := j.Roots[0].Begin; b == nil || strings.Join(b.From, " ") != "Functional.linear.1.forward" {
			t.Errorf("%+v", b)
		}
	})
	t.Run("weights are compared by themselves", func(t *testing.T) {
		x, _ := find(t, pair("cnn_mix_tensor"), "Functional.conv2d.1.forward", "input.1")
		if x.Verdict != verdict.Bad {
			t.Errorf("%s with %v", x.Verdict, x.Causes)
		}
	})
	t.Run("gradients and optimizer steps are judged", func(t *testing.T) {
		j := pair("cnn_l1_ranks")
		bad := 0
		for i := range j.Operators {
			op := &j.Operators[i]
			if strings.HasPrefix(op.Op.Name, "step1/rank1/") != (op.State >= verdict.StateSuspect) && op.State >= verdict.StateSuspect {
				t.Errorf("%s is %s", op.Op.Name, op.State)
			}
			if op.State >= verdict.StateInherited {
				bad++
			}
		}
		if bad < 6 {
			t.Errorf("%d bad calls", bad)
		}
	})
	t.Run("a changed argument is a finding with both values", func(t *testing.T) {
		x, r := find(t, pair("cnn_l1_statistics"), "Functional.batch_norm.0.forward", "input.7")
		if !caused(x, verdict.Argument) || r.Recorded.Left.Value != "0.5" || r.Recorded.Right.Value != "1e-05" {
			t.Errorf("%v, %+v", x.Causes, r.Recorded)
		}
	})
	t.Run("bfloat16 against float32 is noted once and is no error", func(t *testing.T) {
		j := pair("block_l1_tensor_bf16")
		notes := 0
		for _, why := range j.Table.Meta.Pairing.Why {
			if why.Kind == result.DTypesMixed {
				notes++
			}
		}
		if notes != 1 || j.Tensors[verdict.Bad] > 2 {
			t.Errorf("%d notes, %v", notes, j.Tensors)
		}
	})
	t.Run("calls in another order are paired by what they do", func(t *testing.T) {
		j := pair("block_l1_reorder")
		_, r := find(t, j, "Functional.linear.0.forward", "output.0")
		if r.Recorded.How != result.Aligned || r.Right.Names != "Functional.linear.1.forward" || j.Table.Meta.Pairing.Reordered == 0 {
			t.Errorf("%s paired with %s", r.Left.Names, r.Right.Names)
		}
		_, r = find(t, j, "Functional.linear.0.backward", "output.0")
		if r.Right.Names != "Functional.linear.1.backward" {
			t.Errorf("backward: %s paired with %s", r.Left.Names, r.Right.Names)
		}
	})
	t.Run("values saved by hand are judged", func(t *testing.T) {
		j := pair("save_debug_tensor")
		if x := j.Find("step0/proc/hidden.0.debug"); x == nil || x.State < verdict.StateSuspect {
			t.Errorf("%+v", x)
		}
	})
	t.Run("an xor of a scalar is its value", func(t *testing.T) {
		j := pair("cnn_l1_xor")
		x, _ := find(t, j, "Functional.cross_entropy.0.forward", "output.0")
		if x.Verdict == verdict.Good || x.Verdict == verdict.Uncompared {
			t.Errorf("the loss is %s", x.Verdict)
		}
	})
	t.Run("a single number is judged by its relative error", func(t *testing.T) {
		x, _ := find(t, pair("types_l1_tensor_md5"), "Torch.add.0.forward", "output.0")
		if x.Verdict != verdict.Bad {
			t.Errorf("%s with %v", x.Verdict, x.Causes)
		}
	})
	t.Run("keyword arguments have one name", func(t *testing.T) {
		_, r := find(t, pair("odd_mix_tensor_md5"), "Tensor.__mul__.2.forward", "input.1")
		if !r.Recorded.Argument {
			t.Errorf("%+v", r.Recorded)
		}
	})
}

// TestUnpaired: calls that one side has are rows without values, on both sides, and the root of what
// they make differ.
func TestUnpaired(t *testing.T) {
	for _, c := range []struct {
		fault, call string
		reason      result.Kind
	}{{"extra", "Functional.relu.0.forward", result.NoRightCall}, {"missing", "Functional.gelu.2.forward", result.NoLeftCall}} {
		j := judged(t, record(t, run{fault: c.fault, block: 2}), record(t, run{}))
		found := false
		for i := range j.Table.Rows {
			r := &j.Table.Rows[i]
			if r.Role == result.Whole && r.Has(c.reason) {
				found = true
				if name := r.Left.Names + r.Right.Names; !strings.Contains(name, strings.TrimSuffix(c.call, ".2.forward")) {
					t.Errorf("%s: %s", c.fault, name)
				}
				if op := j.Find(r.Op); op.State != verdict.StateBad || len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != r.Op {
					t.Errorf("%s is %s, roots %v", r.Op, op.State, rootNames(j))
				}
			}
		}
		if !found {
			t.Errorf("%s: no row for it", c.fault)
		}
	}
}

// TestCut: of a recording that was cut short what is complete is compared, and the
// rest is told, with the place; it is not good, however much of it is left.
func TestCut(t *testing.T) {
	golden := record(t, run{})
	left := record(t, run{})
	text, err := os.ReadFile(left + "/dump.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{len(text) - 3, len(text) * 9 / 10, len(text) / 2, 200, 90} {
		if err := os.WriteFile(left+"/dump.json", text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		j := judged(t, left, golden)
		certain := false
		for _, d := range j.Damaged {
			certain = certain || d.Reason.Kind == result.RecordingCut && d.File == left+"/dump.json" && d.Offset >= 0 && d.Offset <= int64(n)
		}
		if j.Verdict != verdict.Inconclusive || len(j.Roots) > 0 || !certain {
			t.Errorf("cut at %d: %s, roots %v, told %v", n, j.Verdict, rootNames(j), certain)
		}
	}
}
