package fusion

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/graph"
	"precision/graph/read"
	"precision/testdata/workshop/graphtest"
)

var casesDir = filepath.Join("..", "..", "testdata", "cases")

// caseRules loads the rules of a recorded run.
func caseRules(t *testing.T, folder, rules, quant, plain string) *Rules {
	t.Helper()
	open := func(name string) *Rules {
		r, err := openRules(filepath.Join(casesDir, folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	switch {
	case rules == "":
		return open(quant)
	case quant != "":
		return open(rules).WithQuant(open(quant))
	case plain != "":
		return open(rules).WithoutFusion(open(plain))
	}
	return open(rules)
}

// TestGoldenRecorded looks up every tensor that recorded runs compared.
func TestGoldenRecorded(t *testing.T) {
	f, err := os.Open("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r *Rules
	lines := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "case: "); ok {
			words := strings.Fields(rest)
			opt := map[string]string{}
			for _, w := range words[1:] {
				k, v, _ := strings.Cut(w, "=")
				opt[k] = v
			}
			r = caseRules(t, words[0], opt["rules"], opt["quant"], opt["plain"])
			t.Log(line)
			continue
		}
		left, want, _ := strings.Cut(line, " ")
		op, dir, index := splitTensor(t, left)
		o := r.Op(op)
		if o == nil {
			t.Errorf("%s: op not in the rules", left)
			continue
		}
		var ref GoldenRef
		if dir == "input" {
			ref, err = r.GoldenInput(o, index)
		} else {
			ref, err = r.GoldenOutput(o, index)
		}
		if got := fmt.Sprintf("%s:output:%d", ref.Op, ref.Index); err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", left, got, err, want)
		}
		lines++
	}
	if lines < 400 {
		t.Errorf("only %d tensors", lines)
	}
}

func splitTensor(t *testing.T, s string) (op, dir string, index int) {
	t.Helper()
	i := strings.LastIndexByte(s, ':')
	j := strings.LastIndexByte(s[:i], ':')
	n, err := strconv.Atoi(s[i+1:])
	if err != nil {
		t.Fatal(err)
	}
	return s[:j], s[j+1 : i], n
}

// TestCellsRecorded checks Index, OpType, NPUDump and GroundTruth of every row of recorded result tables.
func TestCellsRecorded(t *testing.T) {
	rows := 0
	dirs, _ := filepath.Glob(filepath.Join(casesDir, "*", "cmd.json"))
	for _, path := range dirs {
		folder := filepath.Base(filepath.Dir(path))
		var cmd struct {
			Runs []struct {
				ID   string
				Kind string
				Args []string
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &cmd); err != nil {
			t.Fatal(err)
		}
		for _, run := range cmd.Runs {
			opt := map[string]string{}
			for i, a := range run.Args {
				if strings.HasPrefix(a, "-") && i+1 < len(run.Args) {
					opt[a] = run.Args[i+1]
				}
			}
			tables, _ := filepath.Glob(filepath.Join(casesDir, folder, "expected", run.ID, "files", "out", "result_*.csv"))
			if run.Kind != "compare" || opt["-f"]+opt["-q"] == "" || len(tables) != 1 {
				continue
			}
			if st, err := os.Stat(filepath.Join(casesDir, folder, opt["-f"])); err != nil || st.IsDir() && opt["-f"] != "" {
				continue
			}
			r := caseRules(t, folder, opt["-f"], opt["-q"], opt["-cf"])
			rows += checkCells(t, folder+"/"+run.ID, r, tables[0])
		}
	}
	if rows < 400 {
		t.Errorf("only %d rows", rows)
	}
}

// TestCellsReal does so for a whole network, compared through JSON made from this text graph.
func TestCellsReal(t *testing.T) {
	r, err := openRules(graphtest.Real(t, "resnet50/ge_proto_00000062_Build.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if n := checkCells(t, "resnet50", r, graphtest.Real(t, "resnet50/expected/seed1_break_res3a.csv")); n < 170 {
		t.Errorf("only %d rows", n)
	}
}

func checkCells(t *testing.T, what string, r *Rules, table string) (rows int) {
	t.Helper()
	f, err := os.Open(table)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rd := csv.NewReader(f)
	rd.FieldsPerRecord = -1
	all, err := rd.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	col := map[string]int{}
	for i, name := range all[0] {
		col[name] = i
	}
	for _, row := range all[1:] {
		rows++
		cell := func(name string) string { return strings.TrimPrefix(row[col[name]], " ") }
		index, _ := strconv.Atoi(cell("Index"))
		if index >= len(r.Groups) {
			t.Errorf("%s: no group %d", what, index)
			continue
		}
		g := r.Groups[index]
		op := g.Ops[0]
		if ti := cell("TensorIndex"); ti != "NaN" {
			name, _, _ := splitTensor(t, ti)
			if op = r.Op(name); op == nil || op.Group != g || !slices.Contains(g.Ops, op) || op.Filtered {
				t.Errorf("%s: %s is not an op of group %d", what, ti, index)
				continue
			}
		}
		got := []string{op.Type, g.NPUNames(), g.GoldenNames()}
		want := []string{cell("OpType"), cell("NPUDump"), cell("GroundTruth")}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s row %d: %q, want %q", what, index, got, want)
		}
		if i, ok := col["OpSequence"]; ok && row[i] != strconv.FormatInt(op.ID, 10) {
			t.Errorf("%s: %s has id %d, want %s", what, op.Name, op.ID, row[i])
		}
	}
	return rows
}

// TestTextEqualsJSON: a text graph and its JSON give the same rules.
func TestTextEqualsJSON(t *testing.T) {
	in := filepath.Join(casesDir, "net_conv_small", "in")
	var texts []string
	for _, name := range []string{"graph.json", "ge_proto_00000012_graph_1_Build.txt"} {
		r, err := openRules(filepath.Join(in, name))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, dumpRules(r))
	}
	if diff := graphtest.FirstDiff(texts[0], texts[1]); diff != "" {
		t.Error(diff)
	}
}

func dumpRules(r *Rules) string {
	var b strings.Builder
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "%d %v %q %q\n", g.Index, g.Relation, g.NPUNames(), g.GoldenNames())
		for _, o := range g.Ops {
			fmt.Fprintf(&b, "  %s %q id %d origin %q %v L1 %q multi %v filtered %v inner %v\n", o.Type, o.Name, o.ID, o.OriginNames,
				o.HasOrigin, o.L1, o.MultiOp, o.Filtered, o.Inner())
			for _, e := range o.Inputs {
				fmt.Fprintf(&b, "    < %s\n", e.Text)
			}
			for _, x := range o.Outputs {
				fmt.Fprintf(&b, "    > %q %d %q %v %s\n", x.OriginName, x.OriginIndex, x.Layout, x.Shape, x.DType)
			}
		}
	}
	fmt.Fprintf(&b, "inputs %q\n", r.InputNodes)
	for _, o := range r.Ops {
		fmt.Fprintf(&b, "%d %s\n", o.ID, o.Name)
	}
	return b.String()
}

// TestBadRules: rule files that the recorded tool refused with code 13.
func TestBadRules(t *testing.T) {
	dir := filepath.Join(casesDir, "bad_rule_file", "in")
	for name, want := range map[string]string{
		"broken.json":      "file ends inside",
		"empty.json":       "file is empty",
		"list.json":        "model is an array",
		"no_graph.json":    `no "graph"`,
		"graph_dict.json":  `"graph" is an object`,
		"no_op.json":       `no "op" in graph "g"`,
		"no_name.json":     "op without name",
		"no_type.json":     `op "x" without type`,
		"name_number.json": "name of an op is a number",
		"attr_dict.json":   `"attr" of an op is an object`,
		"id_text.json":     "id of an op is a string",
		"no_value.json":    "_datadump_original_op_names without value",
	} {
		_, err := openRules(filepath.Join(dir, name))
		var e *graph.Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg.Text, want) || !strings.Contains(e.Error(), name) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if r, err := openRules(filepath.Join(dir, "no_ops.json")); err != nil || len(r.Ops) != 0 || r.LastID() != 0 {
		t.Errorf("graph without ops: %v", err)
	}
}

// openRules reads a graph file and derives its rules.
func openRules(path string) (*Rules, error) {
	m, err := read.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	return New(m)
}
