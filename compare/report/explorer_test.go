package report_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"precision/compare/report"
	"precision/compare/verdict"
	"precision/testdata/workshop/madeup"
)

// TestExplorer: the graph has every operator once with the edges of the table, and node data say of the same names what the
// verdict says of them: numbers alone, whatever the tensors hold.
func TestExplorer(t *testing.T) {
	for name, n := range map[string]madeup.Network{"arrays": {Ops: 60, Broken: 20}, "statistics": {Ops: 60, Broken: 20, Statistics: true}, "hostile": {Ops: 30, Broken: 4, Hostile: true}, "flat": {Ops: 5, Flat: true}} {
		j := verdict.Judge(n.Table(), verdict.Options{Profile: verdict.Default()})
		var graph struct {
			Graphs []struct {
				ID    string
				Nodes []struct {
					ID, Label, Namespace string
					IncomingEdges        []struct{ SourceNodeID, SourceNodeOutputID, TargetNodeInputID string }
				}
			}
		}
		var data map[string]struct {
			Results map[string]struct {
				Value   float64
				BgColor string
			}
		}
		for write, into := range map[*func(*bytes.Buffer) error]any{
			new(func(b *bytes.Buffer) error { return report.WriteExplorerGraph(b, j) }): &graph,
			new(func(b *bytes.Buffer) error { return report.WriteNodeData(b, j) }):      &data,
		} {
			var b bytes.Buffer
			if err := (*write)(&b); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b.Bytes(), into); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		nodes := graph.Graphs[0].Nodes
		results := data[graph.Graphs[0].ID].Results
		if len(nodes) != len(j.Operators) || len(results) == 0 {
			t.Fatalf("%s: %d nodes and %d results of %d operators", name, len(nodes), len(results), len(j.Operators))
		}
		edges, ids := 0, map[string]bool{} // inputs come before
		for i, node := range nodes {
			r, known := results[node.ID]
			if has := slices.ContainsFunc(j.Operators[i].Outputs, func(x verdict.Tensor) bool {
				row := j.Row(&x)
				return row.Compared || row.Recorded != nil && row.Recorded.Left.Known > 0
			}); known != has {
				t.Errorf("%s: of %q is said %t", name, node.ID, known)
			}
			ids[node.ID] = true
			edges += len(node.IncomingEdges)
			for _, e := range node.IncomingEdges {
				if !ids[e.SourceNodeID] {
					t.Errorf("%s: an edge comes from %q, which is no node", name, e.SourceNodeID)
				}
			}
			bad := j.Operators[i].State == verdict.StateBad || j.Operators[i].State == verdict.StateInherited
			if name != "hostile" && bad != (r.Value > 0.1) {
				t.Errorf("%s: %s is %s with an error of %g", name, node.ID, j.Operators[i].State, r.Value)
			}
		}
		if want := 0; n.Flat == (edges > want) {
			t.Errorf("%s: %d edges", name, edges)
		}
	}
}
