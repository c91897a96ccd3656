package repl

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/report"
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

// TestResultOrder checks that OpSequence decides over Index and the file.
func TestResultOrder(t *testing.T) {
	table, warnings, err := parseTable(strings.NewReader(
		"Index,OpSequence,NPUDump,GroundTruth,TensorIndex,CosineSimilarity,MaxAbsoluteError,MaxRelativeError\n"+
			"0,20,late,g,late:output:0,0.5,1,1\n1,3,early,g,early:input:0,0.5,1,1\n1,3,early,g,early:output:1,NaN,inf,NaN\n"), "x.csv")
	if err != nil || len(warnings) > 0 || len(table.ops) != 2 || table.ops[0].op != "early" {
		t.Fatalf("%+v %v %v", table, warnings, err)
	}
	if w := table.ops[0].worst(0.98); w == nil || w.slot != 1 || !w.diverged() {
		t.Errorf("worst output %+v", w)
	}
	if list := suspects([]*resultTable{table}, 0.98, false); len(list) != 2 || list[0].op.op != "early" {
		t.Errorf("suspects %+v", list)
	}
}

func TestCellJudgement(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		cell          cell
		bad, diverged bool
	}{
		{cell{cosine: 0.98}, true, false},
		{cell{cosine: 0.9801}, false, false},
		{cell{cosine: nan, maxAbs: nan, maxRel: nan}, false, false},
		{cell{cosine: nan, maxAbs: 0.1, maxRel: 0.019}, false, false},
		{cell{cosine: nan, maxAbs: 0.1, maxRel: 0.021}, true, false},
		{cell{cosine: nan, maxAbs: math.Inf(1), maxRel: math.Inf(1)}, false, true},
	} {
		if bad, diverged := c.cell.bad(0.98), c.cell.diverged(); bad != c.bad || diverged != c.diverged {
			t.Errorf("%+v: bad %v, diverged %v", c.cell, bad, diverged)
		}
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

// parseTable reads a table from text.
func parseTable(text *strings.Reader, path string) (*resultTable, []error, error) {
	table, warnings, err := report.ReadCSV(text, path)
	if err != nil {
		return nil, warnings, err
	}
	return newResultTable(table, path), warnings, nil
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
		table, _, err := parseTable(strings.NewReader(text), "x.csv")
		if err != nil {
			return
		}
		s := open(Config{Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Dir: t.TempDir(), Width: 60})
		(&vcsCmd{threshold: 0.98, limit: 3, inputs: true}).show(s, []*resultTable{table})
	})
}

// TestResultSlots: an operator's tensors are in the order of their numbers.
func TestResultSlots(t *testing.T) {
	const head = "Index,LeftOp,RightOp,TensorIndex,CosineSimilarity\n"
	table, warnings, err := parseTable(strings.NewReader(head+"0,a,b,a:output:1,0.5\n0,a,b,a:input:2,1\n0,a,b,a:output:0,0.25\n0,a,b,a:input:0,1\n"), "x.csv")
	if err != nil || len(warnings) > 0 || len(table.ops) != 1 {
		t.Fatal(table, warnings, err)
	}
	o := table.ops[0]
	if o.outputs[0].slot != 0 || o.outputs[0].cosine != 0.25 || o.outputs[1].slot != 1 || o.inputs[0].slot != 0 || o.inputs[1].slot != 2 {
		t.Errorf("inputs %v, outputs %v", o.inputs, o.outputs)
	}
}
