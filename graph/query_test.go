package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"precision/graph"
	"precision/graph/internal/graphtest"
	"precision/graph/read"
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
	var b bytes.Buffer
	if err := x.Node(graphtest.Op(t, x, "new")).WriteText(&b, true); err != nil {
		t.Fatal(err)
	}
	want := `Op(Type/Name): [Conv2D] new
ID: 2  Stream: 0  Graph: g
KernelName: te_add
PassName: First, AddPass
UBPassName: UBPass
Attributes:
  pass_name: [First,AddPass]
  _kernelname: te_add
  pass_name_ub: UBPass
Input:
 -[0] [DT_FLOAT16][NC1HWC0][2,16] origin[2,3] old:0
 -[control] a/x.y
Output:
`
	if diff := graphtest.FirstDiff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	x.Node(graphtest.Op(t, x, "a/x.y")).WriteText(&b, false)
	for _, want := range []string{" -[0] [DT_FLOAT][ND][] value_range[[1,5]] old:0\n", " -[control] new\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	x.Node(graphtest.Op(t, x, "trans_Cast_1")).WriteText(&b, false)
	if !strings.Contains(b.String(), "none, inserted") {
		t.Error(b.String())
	}
	// Across the border of a called graph.
	x = indexOf(t, graphtest.CallGraph)
	d0 := x.Node(graphtest.Op(t, x, "d0"))
	if len(d0.Inputs) != 1 || d0.Inputs[0].Peers[0].Name != "in" || len(d0.Notes) != 1 {
		t.Errorf("Data of a called graph: %+v", d0)
	}
	call := x.Node(graphtest.Op(t, x, "call"))
	if len(call.Notes) != 2 || !strings.Contains(call.Notes[1].String(), "if:0") {
		t.Errorf("calling op: %q", call.Notes)
	}
	branch := x.Node(graphtest.Op(t, x, "if"))
	if len(branch.Outputs) != 2 || branch.Outputs[0].Peers[0].Name != "relu" || branch.Outputs[1].Peers[0].Name != "abs" {
		t.Errorf("calling op without outputs: %+v", branch.Outputs)
	}
}

func TestSummary(t *testing.T) {
	x := indexOf(t, graphtest.QueryGraph)
	var b bytes.Buffer
	if err := x.Model.Summary().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `g.txt: text graph, 6 operators in 1 graphs on 1 streams
  g: 6 operators, session and graph 0_3
Origin: 2 framework operators; 1 operators fused from several, 1 inserted, 4 not stated
Types: Cast 3, Conv2D 2, Data 1
Output types: DT_INT32 2, DT_FLOAT 1, DT_FLOAT16 1
Output layouts: none 2, NC1HWC0 1, ND 1
Fusion passes: AddPass 1, ConvPass 1, First 1, UBPass 1
Casts:
  DT_FLOAT -> DT_INT32 2  danger: fractions are cut off, large values wrap
  DT_INT64 -> DT_INT32 1  warning: values beyond 32 bits wrap
Run configuration:
  ge.exec.precision_mode = force_fp32 (graph)
`
	if diff := graphtest.FirstDiff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestSummaryReal(t *testing.T) {
	for name, want := range map[string][]string{
		"training/ge_proto_00000001_Build.txt": {"18 operators in 5 graphs", "calls ge_default_20230713074125_sub_0_input", "ge.socVersion = Ascend910A (global)",
			"ge.exec.op_precision_mode = /home/user/tf/op_precision.ini (session)"},
		"resnet50/ge_proto_00000062_Build.txt": {"170 operators in 1 graphs", "TbeCommonRules0FusionPass 43"},
		"json/model.json":                      {"19 operators", "soc_version = Ascend310"},
	} {
		m, err := read.Open(context.Background(), graphtest.Real(t, name))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		m.Summary().WriteText(&b)
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s: no %q in\n%s", name, w, b.String())
			}
		}
	}
}
