package graph_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"precision/graph"
	"precision/testdata/workshop/graphtest"
)

func names(ops []*graph.Op) string {
	var l []string
	for _, o := range ops {
		l = append(l, o.Name)
	}
	return strings.Join(l, " ")
}

func TestSelect(t *testing.T) {
	x := indexOf(t, graphtest.QueryGraph)
	for _, c := range []struct {
		q    graph.Query
		want string
	}{
		{graph.Query{Name: "Cast"}, "trans_Cast_1 trans_Cast_2 trans_Cast_3"},
		{graph.Query{Name: "cast"}, ""},
		{graph.Query{Type: "Conv"}, "old new"},
		{graph.Query{Pass: "Pass"}, "old new"},
		{graph.Query{Pass: "Fir"}, "new"},
		{graph.Query{Pass: "UB"}, "new"},
		{graph.Query{Kernel: "te_"}, "old new"},
		{graph.Query{Kernel: "te_", Pass: "Add"}, "new"},
	} {
		if got := names(x.Model.Select(c.q)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
	if got := fmt.Sprint(graph.TypeCounts(x.Ops)); got != "[{Data 1} {Conv2D 2} {Cast 3}]" {
		t.Error(got)
	}
	for _, c := range []struct {
		name, graph, want string
		exact             bool
	}{
		{"old", "", "old", true}, {"a_x_y", "", "a/x.y", false}, {"trans", "g", "trans_Cast_1 trans_Cast_2 trans_Cast_3", false},
		{"old", "unknown", "old", true}, {"nothing", "", "", false},
	} {
		if ops, exact := x.Search(c.name, c.graph); names(ops) != c.want || exact != c.exact {
			t.Errorf("search %s: %s %v", c.name, names(ops), exact)
		}
	}
}

// TestSearchNameless checks that no name of a graph does not mean the graph
// without a name.
func TestSearchNameless(t *testing.T) {
	x := indexOf(t, `graph { op { name: "a" type: "Data" } } graph { name: "g" op { name: "b" type: "Data" } }`)
	if ops, exact := x.Search("b", ""); names(ops) != "b" || !exact {
		t.Errorf("search b: %s %v", names(ops), exact)
	}
}

func TestCasts(t *testing.T) {
	x := indexOf(t, graphtest.QueryGraph)
	var got []string
	for _, c := range x.Model.Casts(graph.DefaultCastRules) {
		got = append(got, fmt.Sprintf("%s %s %v %s", c.From, c.To, c.Level(), names(c.Ops)))
	}
	want := []string{"DT_FLOAT DT_INT32 danger trans_Cast_1 trans_Cast_3", "DT_INT64 DT_INT32 warning trans_Cast_2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if c := x.Model.Casts(nil); c[0].Rule != nil || c[0].Level() != graph.LevelInfo {
		t.Error("casts without rules are judged")
	}
}

func TestNode(t *testing.T) {
	x := indexOf(t, graphtest.QueryGraph)
	n := x.Node(graphtest.Op(t, x, "new"))
	if n.Graph != "g" || n.Kernel != "te_add" || !slices.Equal(n.Passes, []string{"First", "AddPass"}) || !slices.Equal(n.UBPasses, []string{"UBPass"}) ||
		n.Inserted || len(n.Inputs) != 2 || len(n.Outputs) != 0 {
		t.Errorf("%+v", n)
	}
	want := graph.PortInfo{DType: "DT_FLOAT16", Layout: "NC1HWC0", Shape: []int64{2, 16}, OriginShape: []int64{2, 3},
		Peers: []graph.Peer{{Name: "old"}}}
	if got := n.Inputs[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("input 0: %+v", got)
	}
	if got := n.Inputs[1]; got.Index != graph.ControlIndex || got.Peers[0].Name != "a/x.y" {
		t.Errorf("control input: %+v", got)
	}
	out := x.Node(graphtest.Op(t, x, "a/x.y")).Outputs
	if len(out) != 2 || out[0].ValueRange != "[[1,5]]" || out[0].Peers[0].Name != "old" || out[1].Index != graph.ControlIndex || out[1].Peers[0].Name != "new" {
		t.Errorf("outputs: %+v", out)
	}
	if !x.Node(graphtest.Op(t, x, "trans_Cast_1")).Inserted {
		t.Error("an operator without origins was not inserted")
	}
	// Across the border of a called graph.
	x = indexOf(t, graphtest.CallGraph)
	d0 := x.Node(graphtest.Op(t, x, "d0"))
	if len(d0.Inputs) != 1 || d0.Inputs[0].Peers[0].Name != "in" || len(d0.Notes) != 1 {
		t.Errorf("Data of a called graph: %+v", d0)
	}
	call := x.Node(graphtest.Op(t, x, "call"))
	if len(call.Notes) != 2 || call.Notes[1].Kind != graph.NoteCallee || !slices.Equal(call.Notes[1].Args, []string{"1", "if:0", "mid"}) {
		t.Errorf("calling op: %q", call.Notes)
	}
	branch := x.Node(graphtest.Op(t, x, "if"))
	if len(branch.Outputs) != 2 || branch.Outputs[0].Peers[0].Name != "relu" || branch.Outputs[1].Peers[0].Name != "abs" {
		t.Errorf("calling op without outputs: %+v", branch.Outputs)
	}
}

func TestSummary(t *testing.T) {
	s := indexOf(t, graphtest.QueryGraph).Model.Summary()
	if s.Ops != 6 || s.Origins != 2 || s.Fused != 1 || s.Inserted != 1 || s.Unstated != 4 || s.Streams != 1 || s.Dynamic != 0 || len(s.Casts) != 2 {
		t.Errorf("%+v", s)
	}
	if g := s.Graphs; len(g) != 1 || g[0].Name != "g" || g[0].Session != "0_3" || g[0].Ops != 6 || g[0].Dynamic {
		t.Errorf("%+v", g)
	}
	for _, c := range []struct {
		got  []graph.Count
		want string
	}{
		{s.Types, "[{Cast 3} {Conv2D 2} {Data 1}]"},
		{s.DTypes, "[{DT_INT32 2} {DT_FLOAT 1} {DT_FLOAT16 1}]"},
		{s.Layouts, "[{ 2} {NC1HWC0 1} {ND 1}]"},
		{s.Passes, "[{AddPass 1} {ConvPass 1} {First 1} {UBPass 1}]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if got := fmt.Sprint(graph.PrecisionOptions(s.Options)); got != "[{Graph ge.exec.precision_mode force_fp32}]" {
		t.Error(got)
	}
}

// TestCountsWithoutName: of equally many, what has no layout comes last.
func TestCountsWithoutName(t *testing.T) {
	x := indexOf(t, `graph { op { name: "a" type: "T" output_desc { } output_desc { layout: "ND" } output_desc { layout: "NCHW" } } }`)
	if got := fmt.Sprint(x.Model.Summary().Layouts); got != "[{NCHW 1} {ND 1} { 1}]" {
		t.Error(got)
	}
}
