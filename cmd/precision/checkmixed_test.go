package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"precision/testdata/workshop/computed"
)

// A check says of a recording that contradicts itself what a verdict does, and accuses no
// operator; of a sound one it says nothing of the kind.
func TestCheckMixed(t *testing.T) {
	type said struct {
		Verdict  string
		Premises []struct {
			Kind, Text string
			Broken     bool
			Tensors    int
			Share      float64
		}
		Roots []any
	}
	for _, arch := range []string{"training", "quantised"} {
		for _, premise := range []string{"", "mixed"} {
			n, err := computed.New(computed.Options{Arch: arch, Seed: 11, Premise: premise})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if _, err := n.Write(dir); err != nil {
				t.Fatal(err)
			}
			read := func(args ...string) (s said) {
				out := filepath.Join(dir, "out.json")
				args = append(args, "-lt", filepath.Join(dir, filepath.FromSlash(computed.DumpDir)), "-g", filepath.Join(dir, computed.GraphFile), "-out", dir, "-json", out)
				_, stdout, stderr := precision(t, args...)
				text, err := os.ReadFile(out)
				if err != nil {
					t.Fatal(stdout, stderr, err)
				}
				if err := json.Unmarshal(text, &s); err != nil {
					t.Fatal(err)
				}
				return s
			}
			check := read("check")
			plain := read("compare", "-rt", filepath.Join(dir, computed.GoldenDir))
			both := read("compare", "-rt", filepath.Join(dir, computed.GoldenDir), "-check")
			if premise == "" {
				if check.Premises == nil || len(check.Premises)+len(plain.Premises)+len(both.Premises) > 0 || check.Verdict == "inconclusive" || both.Verdict != "good" {
					t.Errorf("%s, sound: %+v, %+v, %+v", arch, check, plain, both)
				}
				continue
			}
			for _, s := range []said{check, plain, both} {
				if s.Verdict != "inconclusive" || len(s.Roots) > 0 || len(s.Premises) != 1 || s.Premises[0].Kind != "consistent" || !s.Premises[0].Broken || s.Premises[0].Share < 0.5 || s.Premises[0].Text == "" {
					t.Errorf("%s, mixed: %+v", arch, s)
				}
			}
			if check.Premises[0].Tensors != both.Premises[0].Tensors || check.Premises[0].Text != both.Premises[0].Text {
				t.Errorf("%s: a check says %+v, a comparison with one %+v", arch, check.Premises, both.Premises)
			}
		}
	}
}
