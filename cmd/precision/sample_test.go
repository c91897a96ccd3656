package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The sample network of the README, and what is wrong with it.
const (
	sample   = "../../testdata/sample"
	sampleOp = "block2/conv"
)

// fromJSON runs a command with -json and reads what it wrote.
func fromJSON(t *testing.T, into any, args ...string) {
	t.Helper()
	out := t.TempDir()
	file := filepath.Join(out, "out.json")
	code, _, stderr := precision(t, append(args, "-lt", sample+"/npu", "-g", sample+"/ge_proto_00000001_graph_1_Build.txt", "-out", out, "-json", file)...)
	if code != exitOK || stderr != "" {
		t.Fatalf("%v: exit %d: %s", args, code, stderr)
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The broken operator is the only root, and the operators behind it inherit its
// error.
func TestSampleNamesTheBrokenOperator(t *testing.T) {
	code, stdout, stderr, table := compareSample(t)
	if code != exitOK || !strings.Contains(stdout, " Conv2D block2/conv") || strings.Count(table, "\r\n") < 30 {
		t.Fatalf("exit %d: %s%s%s", code, stderr, stdout, table)
	}
	var report struct {
		Verdict   string
		Roots     []struct{ Op, Certainty string }
		Operators []struct {
			Op, State string
			Outputs   []struct {
				Metrics struct{ CosineSimilarity float64 }
			}
		}
	}
	fromJSON(t, &report, "compare", "-rt", sample+"/golden")
	if len(report.Roots) != 1 || report.Roots[0].Op != sampleOp || report.Roots[0].Certainty != "certain" || report.Verdict != "bad" {
		t.Fatalf("%s, roots %+v", report.Verdict, report.Roots)
	}
	behind := []string{"volume", "trans_TransData_2", "rows", "trans_TransData_3", "fc", "trans_Cast_1", "softmax", "top", "loss"}
	states := map[string]int{}
	for _, op := range report.Operators {
		states[op.State]++
		switch {
		case op.Op == sampleOp:
			if c := op.Outputs[0].Metrics.CosineSimilarity; op.State != "bad" || c < 0.77 || c > 0.9 {
				t.Errorf("%s is %s, cosine %v", op.Op, op.State, c)
			}
		case slices.Contains(behind, op.Op) != (op.State == "inherited"):
			t.Errorf("%s is %s", op.Op, op.State)
		}
	}
	// Ten constants leave no dump, and debug_only has no golden array.
	if states["bad"] != 1 || states["inherited"] != len(behind) || states["good"] != 12 || states["uncompared"] != 11 || states["suspect"] != 0 {
		t.Errorf("states %v", states)
	}
}

// Without golden data every operator but the broken one is what its own inputs
// make it, and what is wrong with that one has a name.
func TestSampleExplainsItself(t *testing.T) {
	var report struct {
		Operators []struct {
			Op      string
			Outputs []struct{ Verdict, Pattern string }
		}
	}
	fromJSON(t, &report, "check")
	verdicts := map[string]int{}
	for _, op := range report.Operators {
		for _, out := range op.Outputs {
			verdicts[out.Verdict]++
			want, pattern := "ok", ""
			if op.Op == sampleOp {
				want, pattern = "wrong", "unwritten"
			}
			if out.Verdict != want || out.Pattern != pattern {
				t.Errorf("%s is %s %s, want %s %s", op.Op, out.Verdict, out.Pattern, want, pattern)
			}
		}
	}
	if verdicts["ok"] != 20 || verdicts["wrong"] != 1 {
		t.Errorf("%v", verdicts)
	}
}
