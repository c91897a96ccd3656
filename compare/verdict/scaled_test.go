package verdict_test

import (
	"path/filepath"
	"slices"
	"testing"

	"precision/compare"
	"precision/compare/look"
	"precision/compare/verdict"
	"precision/testdata/workshop/computed"
)

// TestScaledDumps: numbers and scales that a kernel of GE gives are one value, against golden arrays and against dumps of another
// device: the same value with scales that are powers of two is no fault, and a fault is its own whatever the scales.
func TestScaledDumps(t *testing.T) {
	for _, devices := range []bool{false, true} {
		for fault, root := range map[string]string{
			"":                                      "",
			"shift:model/layer_1/gate/DynamicQuant": "model/layer_1/gate/DynamicQuant",
			"tail:model/layer_0/down/DynamicQuant":  "model/layer_0/down/DynamicQuant",
			"scale:model/layer_2/gate/DynamicMxQuant": "model/layer_2/gate/DynamicMxQuant",
		} {
			o := computed.Options{Arch: "w8a8", Seed: 1, Powers: true, Devices: devices, Fault: fault}
			_, j := compared(t, o)
			var names []string
			for _, r := range j.Roots {
				names = append(names, j.Operators[r.Operator].Op.Name)
			}
			if root == "" && (j.Verdict != verdict.Good || len(names) > 0) || root != "" && (j.Verdict == verdict.Good || !slices.Equal(names, []string{root})) {
				t.Errorf("devices %t, %q: %v, roots %v", devices, fault, j.Verdict, names)
			}
		}
	}
}

// Without a graph the dumps of two devices are paired by name, and what goes into a product is told by shapes.
func TestScaledDumpsByName(t *testing.T) {
	n, err := computed.New(computed.Options{Arch: "w8a8", Seed: 1, Powers: true, Devices: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := n.Write(dir); err != nil {
		t.Fatal(err)
	}
	s, err := compare.Job{Left: filepath.Join(dir, filepath.FromSlash(computed.DumpDir)), Right: filepath.Join(dir, computed.GoldenDir)}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	j, err := look.Judge(t.Context(), s, out.Table, verdict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range j.Operators {
		for _, x := range slices.Concat(j.Operators[i].Inputs, j.Operators[i].Outputs) {
			if x.Verdict == verdict.Bad || x.Verdict == verdict.Suspect {
				t.Errorf("%s %s: %v", j.Row(&x).Tensor(), j.Operators[i].Op.Type, x.Verdict)
			}
		}
	}
}
