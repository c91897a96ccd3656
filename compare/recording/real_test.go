package recording_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"testing"

	"precision/compare/engine"
	"precision/compare/recording"
	"precision/compare/report"
	"precision/compare/verdict"
)

const real = "../../../shared/real/msprobe/"

// judged compares two recordings and judges them.
func judged(t *testing.T, left, right string) *verdict.Judged {
	t.Helper()
	s, err := recording.Open(left, right, recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := engine.Run(context.Background(), s, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(out.Table, verdict.Options{})
}

func rootNames(j *verdict.Judged) (names []string) {
	for _, r := range j.Roots {
		names = append(names, j.Operators[r.Operator].Op.Name)
	}
	return names
}

// TestRecordings: every recording is judged as its README says.
func TestRecordings(t *testing.T) {
	if _, err := os.Stat(real); err != nil {
		t.Skip("no recordings here")
	}
	for _, c := range []struct {
		name    string
		roots   []string // the first is the call that the README names
		verdict verdict.Verdict
	}{
		{"cnn_l1_statistics", []string{"Functional.batch_norm.0.forward"}, verdict.Bad},
		{"cnn_mix_tensor", []string{"Functional.conv2d.1.forward"}, verdict.Bad},
		{"cnn_l0_statistics_nan", []string{"Module.conv1.Conv2d.forward.0"}, verdict.Bad},
		{"cnn_l1_xor", []string{"Functional.conv2d.1.forward"}, verdict.Suspect},
		{"cnn_l1_tensor_slice", []string{"Functional.linear.0.forward"}, verdict.Bad},
		// The same argument of the optimizer, for each parameter of one dimension.
		{"cnn_l1_ranks", []string{"step1/rank1/Tensor.add_.3.forward"}, verdict.Bad},
		{"block_mix_statistics", []string{"Functional.layer_norm.1.forward"}, verdict.Bad},
		{"block_l1_tensor_md5", []string{"Torch.matmul.0.forward"}, verdict.Bad},
		{"block_l1_md5_nanmask", []string{"Tensor.__add__.1.forward"}, verdict.Bad},
		{"block_l1_tensor_bf16", nil, verdict.Good},
		{"block_l1_reorder", nil, verdict.Good},
		{"block_l0_ranks", []string{"step1/rank1/Module.embed.Embedding.forward.0"}, verdict.Bad},
		{"types_l1_tensor_md5", []string{"Torch.add.0.forward", "Tensor.__mul__.9.forward"}, verdict.Bad},
		{"odd_mix_tensor_md5", []string{"Tensor.__mul__.2.forward"}, verdict.Bad},
		{"atb_synthetic_tensor", []string{"2_Prefill_layer/0_Attention"}, verdict.Bad},
		{"atb_synthetic_statistics", []string{"2_Prefill_layer/0_Attention"}, verdict.Bad},
		{"save_debug_tensor", []string{"step0/proc/hidden.0.debug"}, verdict.Suspect},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judged(t, real+c.name+"/target", real+c.name+"/golden")
			if got := rootNames(j); !slices.Equal(got, c.roots) || j.Verdict != c.verdict {
				t.Errorf("%s with the roots %v, expected %s with %v", j.Verdict, got, c.verdict, c.roots)
			}
			var text, again bytes.Buffer
			if err := report.WriteJSON(&text, j); err != nil {
				t.Fatal(err)
			}
			saved, err := report.ReadJSON(bytes.NewReader(text.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if err := report.WriteJSON(&again, verdict.Judge(saved.Table, verdict.Options{})); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(text.Bytes(), again.Bytes()) {
				t.Error("read back from JSON the verdict is another")
			}
			// A recording against itself has no fault.
			for _, side := range []string{"/target", "/golden"} {
				self := judged(t, real+c.name+side, real+c.name+side)
				if len(self.Roots) > 0 || self.Verdict == verdict.Bad {
					t.Errorf("%s against itself: %s with the roots %v", side, self.Verdict, rootNames(self))
				}
			}
		})
	}
}

// TestResNet: a recording of a GPU, of an older recorder; steps against themselves,
// and two steps that got other images and weights.
func TestResNet(t *testing.T) {
	const dir = real + "upstream/resnet50_gpu/"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no recordings here")
	}
	if j := judged(t, dir, dir); len(j.Roots) > 0 || j.Verdict != verdict.Good {
		t.Errorf("against itself: %s, roots %v", j.Verdict, rootNames(j))
	}
	j := judged(t, dir+"step1", dir+"step0")
	if len(j.Roots) > 0 || j.Verdict != verdict.Inconclusive || len(j.Premises) == 0 || j.Premises[0].Kind != verdict.PremiseStep {
		t.Errorf("another step: %s, roots %v, premises %v, expected another step", j.Verdict, rootNames(j), j.Premises)
	}
	for _, op := range j.Operators {
		if len(op.Outputs) == 0 && len(op.Whole) > 0 {
			t.Errorf("%s has no partner", op.Op.Name)
		}
	}
}
