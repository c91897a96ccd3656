package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"precision/testdata/workshop/computed"
)

// Of networks that were really computed, clean ones are good without and with a check, and what
// is wrong with the others is named by both: two seeds of every architecture, each with some of the
// ways of being wrong. `go run ./testdata/faults -computed 10` measures more of them.
func TestComputedNetworks(t *testing.T) {
	if testing.Short() {
		t.Skip("computes networks")
	}
	run := func(args ...string) (int, string, string) {
		var o, e bytes.Buffer
		code := execute(context.Background(), env{stdout: &o, stderr: &e}, args)
		return code, o.String(), e.String()
	}
	score := computed.Score{Report: func(text string) { t.Error(text) }}
	dir, seeds := t.TempDir(), uint64(1)
	if os.Getenv("SEEDS") != "" {
		seeds = 2
	}
	for a, arch := range computed.Archs() {
		for seed := range seeds {
			for i, o := range computed.Cases(arch, 501+seed) {
				switch clean := i == 0; {
				case o.Premise != "", o.Fault == "acc16": // have tests of their own; only a check sees sums in float16
					continue
				case !clean && (i+a+int(seed))%7 != 0:
					continue
				}
				if err := score.Measure(run, o, filepath.Join(dir, fmt.Sprint(arch, seed, i))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if n := len(computed.Archs()); score.Kinds["none"].Networks != int(seeds)*n || len(score.Kinds) < 12 {
		t.Errorf("measured %v", score.Kinds)
	}
}

// Choices between scores that are closer than their error are told, and are no cause; one that
// no noise explains is.
func TestChoices(t *testing.T) {
	dir := t.TempDir()
	told := 0
	for seed := range uint64(6) {
		for _, fault := range []string{"", "shift:scores/ArgMax"} {
			n, err := computed.New(computed.Options{Arch: "detection", Seed: 1 + seed, Fault: fault})
			if err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(dir, fmt.Sprint(seed, len(fault)))
			if _, err := n.Write(at); err != nil {
				t.Fatal(err)
			}
			_, stdout, stderr := precision(t, "compare", "-lt", filepath.Join(at, computed.DumpDir), "-rt", filepath.Join(at, computed.GoldenDir),
				"-g", filepath.Join(at, computed.GraphFile), "-out", filepath.Join(at, "out"))
			good := bytes.Contains([]byte(stdout), []byte("Verdict          good"))
			if good != (fault == "") {
				t.Errorf("seed %d, %q: %s%s", 1+seed, fault, stdout, stderr)
			}
			if good && bytes.Contains([]byte(stdout), []byte("choices differ, all between scores closer than the inputs' error")) {
				told++
			}
		}
	}
	if told == 0 {
		t.Error("no choice differs in any of the networks")
	}
}
