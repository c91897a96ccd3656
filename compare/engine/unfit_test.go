package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/verdict"
)

// A graph whose operators have the names of the dumped ones, and other types or shapes, is that of
// another network or build: it is told, and never passes the strict gate.
func TestGraphThatDoesNotFit(t *testing.T) {
	text, err := os.ReadFile(sample + "/ge_proto_00000001_graph_1_Build.txt")
	if err != nil {
		t.Fatal(err)
	}
	swap := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	for _, c := range []struct {
		name   string
		change func(string) string
		count  int
		breaks bool
	}{
		{"as it is", func(s string) string { return s }, 0, false},
		{"two types", swap(`type: "MaxPool"`, `type: "AvgPool"`, `type: "Mul"`, `type: "Add"`), 2, false},
		{"most types", swap(`type: "Conv2D"`, `type: "MatMul"`, `type: "Relu"`, `type: "Tanh"`, `type: "MaxPool"`, `type: "AvgPool"`, `type: "Mul"`, `type: "Add"`, `type: "TransData"`, `type: "Cast"`, `type: "SliceD"`, `type: "PadD"`, `type: "Add"`, `type: "Sub"`), -1, true},
		{"most element types", swap("DT_FLOAT16", "DT_INT32"), -1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			graph := filepath.Join(t.TempDir(), "graph.txt")
			if err := os.WriteFile(graph, []byte(c.change(string(text))), 0o644); err != nil {
				t.Fatal(err)
			}
			table, _ := network(t, Job{Left: sample + "/npu", Right: sample + "/golden", Graph: graph})
			j := verdict.Judge(table, verdict.Options{})
			at := slices.IndexFunc(j.Losses, func(l verdict.Loss) bool { return l.Kind == verdict.LossGraph })
			if at < 0 {
				if c.count != 0 {
					t.Fatalf("not told: %v", j.Losses)
				}
				return
			}
			if l := j.Losses[at]; l.Breaks != c.breaks || c.count >= 0 && l.Count != c.count || 2*l.Count <= l.Of && c.count < 0 {
				t.Errorf("%+v, expected %d", l, c.count)
			}
		})
	}
}

// The outputs of a quantiser have no counterpart: its dump is missed and its damage told all the same.
func TestDumpsOfQuantisers(t *testing.T) {
	const in = "../../testdata/cases/quant_npu_vs_plain/in"
	for _, c := range []struct {
		name   string
		harm   func(path string, b []byte) error
		kind   verdict.LossKind
		breaks bool
	}{
		{"whole", func(string, []byte) error { return nil }, "", false},
		{"cut", func(path string, b []byte) error { return os.WriteFile(path, b[:len(b)-20], 0o600) }, verdict.LossDamaged, true},
		{"deleted", func(path string, _ []byte) error { return os.Remove(path) }, verdict.LossTensors, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			copyTree(t, in+"/npu", dir, nil)
			path := dumpOf(t, dir, "conv1_quant_layer")
			b, err := os.ReadFile(path)
			if err == nil {
				err = c.harm(path, b)
			}
			if err != nil {
				t.Fatal(err)
			}
			table, _ := network(t, Job{Left: dir, Right: in + "/golden", Graph: in + "/graph.json"})
			found := false
			for _, l := range verdict.Judge(table, verdict.Options{}).Losses {
				if slices.Contains(l.Names, "conv1_quant_layer:output:0") {
					found = true
					if l.Kind != c.kind || l.Breaks != c.breaks {
						t.Errorf("%+v", l)
					}
				}
			}
			if found != (c.kind != "") {
				t.Errorf("told: %v", found)
			}
		})
	}
}
