package repl

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/report"
	"precision/compare/verdict"
	"precision/repl/workspace"
)

func TestResultFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"result_9.csv", "result_10.csv", "sub/result_2.csv", "result_10_1.csv", "result_x.csv", "other.csv", "result_3.txt"} {
		if err := writeBytes(filepath.Join(dir, name), nil); err != nil {
			t.Fatal(err)
		}
	}
	files, err := workspace.ResultFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, filepath.Base(f))
	}
	if want := []string{"result_2.csv", "result_9.csv", "result_10.csv", "result_10_1.csv"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestResultOrder checks that OpSequence decides over Index and the file, and that
// an operator's tensors are in the order of their numbers.
func TestResultOrder(t *testing.T) {
	j := judgeText(t, "Index,OpSequence,NPUDump,GroundTruth,TensorIndex,CosineSimilarity,MaxAbsoluteError,MaxRelativeError\n"+
		"0,20,late,g,late:output:0,0.5,1,1\n1,3,early,g,early:input:0,0.5,1,1\n1,3,early,g,early:output:1,NaN,inf,NaN\n1,3,early,g,early:output:0,1,0,0\n")
	if len(j.Operators) != 2 || j.Operators[0].Op.Name != "early" || j.Operators[0].State == verdict.StateGood || j.Operators[1].State == verdict.StateGood {
		t.Fatalf("%+v", j.Operators)
	}
	if out := j.Operators[0].Outputs; len(out) != 2 || out[0].Verdict != verdict.Good || out[1].Verdict != verdict.Bad || out[1].Causes[0].Kind != verdict.NaN {
		t.Errorf("%+v", out)
	}
}

// TestNewestResult passes over what comparisons leave that did not end.
func TestNewestResult(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"0/result_1.csv", "20260101000000/result_20260101000000.csv", "20260102000000/.precision-1.tmp", "notes/result_9.csv"} {
		if err := writeBytes(filepath.Join(dir, name), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "20260103000000"), 0o755); err != nil {
		t.Fatal(err)
	}
	if run, n := workspace.NewestResult(dir); filepath.Base(run) != "20260101000000" || n == 0 {
		t.Errorf("%s, %d", run, n)
	}
	if run, n := workspace.NewestResult(filepath.Join(dir, "20260103000000")); filepath.Base(run) != "20260103000000" || n != 0 {
		t.Errorf("%s, %d in an empty folder", run, n)
	}
}

func TestNumber6(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1.0 / 3: "0.333333", 1e-9: "1e-09", math.Inf(1): "inf", math.Inf(-1): "-inf", -2: "-2"} {
		if got := number6(x); got != want {
			t.Errorf("%g: got %s, want %s", x, got, want)
		}
	}
	if got := number6(math.NaN()); got != "nan" {
		t.Errorf("NaN: got %s", got)
	}
}

// judgeText judges a table from text.
func judgeText(t testing.TB, text string) *judged {
	t.Helper()
	table, warnings, err := report.ReadCSV(strings.NewReader(text), "x.csv")
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	return &judged{verdict.Judge(table, verdict.Options{}), "x.csv"}
}

func FuzzResult(f *testing.F) {
	for _, name := range []string{"result_20260102030405.csv", "old.csv", "bare.csv"} {
		text, err := os.ReadFile(filepath.Join("testdata", "results", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, _, err := report.ReadCSV(strings.NewReader(text), "x.csv")
		if err != nil {
			return
		}
		s := open(Config{Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Dir: t.TempDir(), Width: 60})
		j, err := s.judge(table, "x.csv", 0.98)
		if err != nil {
			t.Fatal(err)
		}
		v := &vcsCmd{threshold: 0.98, sort: "drop", boxes: 3, inputs: true}
		_ = s.verdictText(j, 3) + v.list(s, j) + v.panels(s, j)
	})
}
