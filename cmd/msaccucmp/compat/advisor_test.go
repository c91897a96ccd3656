package compat

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const resultHead = "Index,OpType,NPUDump,DataType,GroundTruth,DataType,TensorIndex,Shape,OverFlow,CosineSimilarity,CompareFailReason\r\n"

func resultLine(index, mine, overflow, cosine string) string {
	return strings.Join([]string{index, "Relu", mine, "float16", mine, "float32", "t:output:0", `"[1,2]"`, overflow, cosine, ""}, ",") + "\r\n"
}

// advised is the advice on a result table.
func advised(t *testing.T, table string, inputs []string) Advice {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	a := NewAdvisor(inputs)
	for _, row := range rows[1:] {
		cell := func(name string) string {
			if i := slices.Index(rows[0], name); i >= 0 {
				return row[i]
			}
			return ""
		}
		cosine := math.NaN()
		if text := cell("CosineSimilarity"); text != "" {
			cosine = cellNumber(text)
		}
		// Names that a spreadsheet would run have a blank in front.
		a.add(cell("Index"), strings.TrimPrefix(cell("NPUDump"), " "), cell("OverFlow"), cosine)
	}
	return a.Advice()
}

func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		name, table         string
		inputs              []string
		detection, operator string
	}{
		{"nothing", "", nil, "NA", "NA"},
		{"no value", resultLine("0", "a", "NaN", "NaN"), nil, "NA", "NA"},
		{"no value but computed", resultLine("0", "a", "NaN", "nan"), nil, "NA", "NA"},
		{"fine", resultLine("0", "a", "NO", "0.990000") + resultLine("1", "b", "NO", "1.0"), nil, "Global Consistency", "NA"},
		{"below", resultLine("0", "a", "NO", "1.000000") + resultLine("4", "b", "NO", "0.989999"), nil, "Global Consistency", "4"},
		{"negative", resultLine("2", "a", "NO", "-0.500000"), nil, "Global Consistency", "2"},
		{"overflow first of all", resultLine("0", "in", "NO", "0.100000") + resultLine("7", "b", "YES", "NaN") + resultLine("8", "c", "YES", "1"),
			[]string{"in"}, "FP16 Overflow", "7"},
		{"input", resultLine("3", "a", "NO", "0.1") + resultLine("5", "in", "NO", "1") + resultLine("6", "in", "NO", "0.5"), []string{"in"}, "Input Inconsistent", "6"},
		{"inputs in their order", resultLine("3", "y", "NO", "0.1") + resultLine("5", "x", "NO", "0.2"), []string{"x", "y"}, "Input Inconsistent", "5"},
		{"second input", resultLine("3", "x", "NO", "1") + resultLine("5", "y", "NO", "0.2"), []string{"x", "y"}, "Input Inconsistent", "5"},
		{"input in a group", resultLine("3", `"x,conv"`, "NO", "0.1"), []string{"x"}, "Global Consistency", "3"},
		{"input with a formula's name", resultLine("3", " =x", "NO", "0.1"), []string{"=x"}, "Input Inconsistent", "3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := advised(t, resultHead+c.table, c.inputs)
			if got.Detection != c.detection || got.Operator != c.operator {
				t.Errorf("%+v; want %s, %s", got, c.detection, c.operator)
			}
			if (got.Text == "NA") != (c.detection == "NA") || strings.Contains(got.Text, "\n") {
				t.Errorf("advice %q", got.Text)
			}
		})
	}
}

// The three texts of the last rule differ.
func TestAdviceTellsTheEndOfTheNetwork(t *testing.T) {
	texts := map[string]bool{}
	for _, cosines := range [][]string{{"1", "1"}, {"0.5", "1"}, {"1", "0.5"}} {
		table := resultHead + resultLine("0", "a", "NO", cosines[0]) + resultLine("1", "b", "NO", cosines[1]) + resultLine("2", "c", "NO", "NaN")
		texts[advised(t, table, nil).Text] = true
	}
	if len(texts) != 3 {
		t.Errorf("%v", texts)
	}
}

// The recorded tables must lead to the recorded verdicts, advice in our words.
func TestAdviceRecorded(t *testing.T) {
	tables, err := filepath.Glob("../../../testdata/cases/advisor/expected/*/files/out/result_*.csv")
	if err != nil || len(tables) == 0 {
		t.Fatal("no recorded tables", err)
	}
	seen := 0
	for _, path := range tables {
		want, err := os.ReadFile(filepath.Join(filepath.Dir(path), "advisor_summary.txt"))
		if err != nil {
			continue // the advisor was off
		}
		seen++
		var inputs []string
		if strings.Contains(string(want), "Input") {
			inputs = []string{"data", "Data", "x", "input"}
		}
		table, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := advised(t, string(table), inputs)
		wantLines, lines := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
		if len(lines) != len(wantLines) || lines[0] != wantLines[0] || lines[1] != wantLines[1] || !strings.HasPrefix(lines[2], "Expert Advice: ") {
			t.Errorf("%s: %q, want %q", path, lines, wantLines)
		}
	}
	if seen == 0 {
		t.Error("no recorded summaries")
	}
}
