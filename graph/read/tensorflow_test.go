package read

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/graph"
	"precision/graph/fusion"
)

const made = "../../testdata/frameworks/made"

// TestTensorFlow: a graph that TensorFlow wrote, in both forms, has the operators, types and edges that it gave it.
func TestTensorFlow(t *testing.T) {
	var expected struct{ Graph [][]any }
	text, err := os.ReadFile(made + "/expected.json")
	if err == nil {
		err = json.Unmarshal(text, &expected)
	}
	if err != nil || len(expected.Graph) == 0 {
		t.Fatal(err)
	}
	for _, file := range []string{"frozen.pb", "frozen.pbtxt"} {
		m, err := Open(context.Background(), filepath.Join(made, "graphs", file))
		if err != nil {
			t.Fatal(err)
		}
		if m.Source != graph.SourceTensorFlow || len(m.Graphs) != 1 || m.Graphs[0].Name != "frozen" || len(m.Graphs[0].Ops) != len(expected.Graph) || len(m.Warnings) > 0 {
			t.Fatalf("%s: %v, %d graphs, %v", file, m.Source, len(m.Graphs), m.Warnings)
		}
		for i, op := range m.Graphs[0].Ops {
			want := expected.Graph[i]
			var inputs, wanted []string
			for _, e := range op.Inputs {
				inputs = append(inputs, e.Text)
			}
			for _, in := range want[2].([]any) {
				name := in.(string)
				switch {
				case strings.HasPrefix(name, "^"):
					name = name[1:] + ":-1"
				case !strings.Contains(name, ":"):
					name += ":0"
				}
				wanted = append(wanted, name)
			}
			if op.Name != want[0] || op.Type != want[1] || !slices.Equal(inputs, wanted) {
				t.Errorf("%s: %s %s %v, want %v", file, op.Type, op.Name, inputs, want)
			}
			if op.Type == "MatMul" && (op.Attr("T") == nil || op.Attr("transpose_a") == nil) {
				t.Errorf("%s: %s has no attributes", file, op.Name)
			}
		}
		if _, err := fusion.New(m); err == nil || !strings.Contains(err.Error(), "a graph of TensorFlow") {
			t.Errorf("%s is taken for a graph of GE: %v", file, err)
		}
	}
	m, err := Open(context.Background(), filepath.Join(made, "weights", "saved", "saved_model.pb"))
	if err != nil || len(m.Graphs) < 10 {
		t.Fatal(err)
	}
	calls := 0
	for _, g := range m.Graphs {
		for _, op := range g.Ops {
			for _, name := range op.SubgraphNames {
				calls++
				if !slices.ContainsFunc(m.Graphs, func(g *graph.Graph) bool { return g.Name == name }) {
					t.Errorf("%s calls %s, which is not there", op.Name, name)
				}
			}
		}
	}
	if calls == 0 {
		t.Error("no function is called")
	}
	// A file that was cut is an error with its place, never a smaller graph.
	whole, err := os.ReadFile(filepath.Join(made, "graphs", "frozen.pb"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(whole); n++ {
		m, err := Read(context.Background(), strings.NewReader(string(whole[:n])), "cut.pb")
		if err == nil && m.Source == graph.SourceTensorFlow && len(m.Graphs[0].Ops) == len(expected.Graph) && n < len(whole)-10 {
			t.Errorf("cut at %d: no error", n)
		}
	}
}
