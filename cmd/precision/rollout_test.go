package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/npy"
)

// floats writes a float32 array of whole numbers divided by ten.
func floats(t *testing.T, path string, shape []int64, tenths ...int) {
	t.Helper()
	var raw []byte
	for _, n := range tenths {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(n)/10))
	}
	var file bytes.Buffer
	if err := npy.Write(&file, dtype.Float32, shape, raw); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRollout runs the command as its users do, with a fault and without, and with words that do not fit.
func TestRollout(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	train := []int{-10, -35, -2, -70, -21, -14, -44, -9}
	floats(t, at("old_log_probs_step_1.npy"), []int64{1, 8}, train...)
	floats(t, at("rollout_log_probs_step_1.npy"), []int64{1, 8}, train...)
	floats(t, at("late.npy"), []int64{1, 8}, append([]int{-30}, train[:7]...)...)
	floats(t, at("w.npy"), []int64{2, 4}, train...)
	floats(t, at("v.npy"), []int64{2, 4}, 1, 2, 3, 4, 5, 6, 7, 8)
	if err := os.WriteFile(at("cut.safetensors"), []byte{200, 0, 0, 0, 0, 0, 0, 0, '{'}, 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(at("w.npy"))
	if err == nil {
		err = os.WriteFile(at("cut.npy"), whole[:len(whole)-3], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	floats(t, at("routed.npy"), []int64{1, 2, 2, 2}, 0, 10, 20, 30, 0, 10, 20, 30)
	floats(t, at("others.npy"), []int64{1, 2, 2, 2}, 0, 10, 20, 30, 0, 10, 20, 10)
	floats(t, at("longer.npy"), []int64{1, 4, 1, 2}, 0, 10, 20, 30, 0, 10, 20, 30)
	out := at("out.json")
	weights := func(a, b string) string { return at(a) + "," + at(b) }
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"-logp " + dir, 0, "good: all 8 log-probs that count are equal"},
		{"-logp " + dir + " -gate=strict", 0, "8 tokens: mean |Δ| 0"},
		{"-logp " + weights("old_log_probs_step_1.npy", "late.npy") + " -gate -json " + out, 3, "bad: the log-probs of sequence 0"},
		{"-logp " + dir + " -step 7", 1, "step 7"},
		{"-weights " + weights("w.npy", "w.npy"), 0, "good: all 1 weights are the same"},
		{"-weights " + weights("w.npy", "v.npy") + " -gate", 3, "inconclusive"}, // names of files that are not alike
		{"-weights " + at("w.npy"), 1, "two checkpoints"},
		{"-weights " + weights("w.npy", "none.npy"), 1, "none.npy"},
		{"-logp " + dir + " -json " + at("old_log_probs_step_1.npy"), 1, "is an input too"},
		{"-events -logp " + dir, 0, `"action":"verdict","verdict":"good"}`},
		{"-events -json - -logp " + dir, 1, "-events"},
		{"-logp " + weights("old_log_probs_step_1.npy", "w.npy"), 1, "found shape [2 4], expected [1 8]"},
		{"-logp " + dir + " -mask " + at("w.npy"), 1, "found shape [2 4], expected [1 8]"},
		{"-logp " + dir + " -mask " + at("none.npy"), 1, "none.npy"},
		{"-logp " + weights("old_log_probs_step_1.npy", "w.npy") + " -weights " + weights("w.npy", "w.npy") + " -gate", 3, "not looked at: " + at("w.npy")},
		{"-logp " + dir + " -weights " + weights("w.npy", "cut.safetensors"), 0, "inconclusive"},
		{"-logp " + dir + " -weights " + weights("w.npy", "cut.safetensors"), 0, "not looked at: " + at("cut.safetensors")},
		{"-logp " + weights("cut.npy", "w.npy"), 1, "cut.npy"},
		{"-logp " + weights("cut.npy", "w.npy") + " -weights " + weights("w.npy", "w.npy"), 0, "not looked at: " + at("cut.npy")},
		{"-logp " + dir + " -mask " + at("cut.npy") + " -weights " + weights("w.npy", "w.npy") + " -gate", 3, "not looked at: " + at("cut.npy")},
		{"-router-train " + at("routed.npy") + " -router-rollout " + at("routed.npy") + " -logp " + dir, 0, "good"},
		{"-router-train " + at("routed.npy") + " -router-rollout " + at("others.npy") + " -logp " + dir, 0, "50 %"},
		{"-router-train " + at("routed.npy") + " -router-rollout " + at("longer.npy"), 1, "longer.npy: found experts of shape [1 4 1 2], expected [1 2 2 2]"},
		{"-router-train " + at("w.npy") + " -router-rollout " + at("w.npy"), 1, "found experts of shape [2 4], expected [sequence, position, layer, choice]"},
		{"-router-train " + at("routed.npy") + " -router-rollout " + at("longer.npy") + " -logp " + dir + " -gate", 3, "not looked at: " + at("longer.npy")},
		{"", 1, "needs -logp"},
		{"-html " + at("out.html"), 1, "or -train with -rollout"},
		{"-html - -logp " + dir, 1, "-html takes the name of a file"},
		{"-router-train " + at("w.npy"), 1, "go together"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := execute(t.Context(), env{stdout: &stdout, stderr: &stderr, lang: "en"}, append([]string{"rollout"}, strings.Fields(c.args)...))
			if said := stdout.String() + stderr.String(); code != c.code || !strings.Contains(said, c.says) {
				t.Errorf("status %d, want %d with %q:\n%s", code, c.code, c.says, said)
			}
		})
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Verdict string
		DLogP   struct {
			Tokens  int
			MeanAbs float64 `json:"mean_abs"`
		}
		Causes []struct{ Kind, Name string }
	}
	if err := json.Unmarshal(b, &found); err != nil || found.Verdict != "bad" || found.DLogP.Tokens != 8 || found.Causes[0].Kind != "arrays" || found.Causes[0].Name != "row 0" {
		t.Errorf("wrote %+v: %v", found, err)
	}
}

// TestCompareRollout compares the two recorded pairs as if they were of one program: no call is blamed, and it is said what such a pair is for.
func TestCompareRollout(t *testing.T) {
	for _, name := range []string{"clean", "attention_scale"} {
		dir := filepath.Join("..", "..", "..", "shared", "real", "rollout", name)
		if _, err := os.Stat(dir); err != nil {
			t.Skip("the recorded pairs are not here")
		}
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), env{stdout: &stdout, stderr: &stderr, lang: "en"},
			[]string{"compare", "-lt", filepath.Join(dir, "rollout"), "-rt", filepath.Join(dir, "train"), "-out", t.TempDir()})
		said := stdout.String() + stderr.String()
		if !strings.Contains(said, "inconclusive") || !strings.Contains(said, "are a pair for precision rollout") || strings.Contains(said, "Root") || strings.Contains(said, "certain") {
			t.Errorf("%s: status %d\n%s", name, code, said)
		}
	}
}
