package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"precision/graph"
	"precision/graph/read"
	"precision/testdata/workshop/graphtest"
)

// shortIndex indexes a graph in the short form of graphtest.Short.
func shortIndex(t *testing.T, path, lines string) *graph.Index {
	t.Helper()
	m, err := read.Read(context.Background(), strings.NewReader(graphtest.Short(lines)), path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := graph.NewIndex(m)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// listDiff writes what a Diff holds, a line a difference.
func listDiff(d *graph.Diff) string {
	var b strings.Builder
	fmt.Fprintf(&b, "same %d\n", d.Same)
	for _, c := range d.Changed {
		fmt.Fprintf(&b, "changed %s -> %s of %s:", c.Op.Name, c.B.Name, strings.Join(c.Origins, " "))
		for _, p := range c.Changes {
			b.WriteString(" " + listChange(p))
		}
		b.WriteByte('\n')
	}
	for _, f := range d.Fused {
		fmt.Fprintf(&b, "fused %s: %s / %s\n", strings.Join(f.Origins, " "), names(f.A), names(f.B))
	}
	for what, refs := range [][]graph.OpRef{d.Removed, d.Added} {
		for _, r := range refs {
			fmt.Fprintf(&b, "%s %s ", []string{"removed", "added"}[what], r.Op.Name)
			if r.Inserted {
				fmt.Fprintf(&b, "between %s and %s\n", r.From, r.To)
			} else {
				fmt.Fprintf(&b, "of %s\n", strings.Join(r.Origins, " "))
			}
		}
	}
	return b.String()
}

func listChange(c graph.PortChange) string {
	if c.Field == graph.FieldType {
		return fmt.Sprintf("type %s -> %s", c.A, c.B)
	}
	return fmt.Sprintf("%s %d %s %s -> %s", map[bool]string{true: "input", false: "output"}[c.Input], c.Index, c.Field, c.A, c.B)
}

func TestDiff(t *testing.T) {
	a := shortIndex(t, "a", `
		x Data - DT_FLOAT
		trans_Cast_0 Cast x:0 origin= DT_FLOAT16
		conv1relu1 Conv2D trans_Cast_0:0 origin=conv1|relu1 DT_FLOAT16
		trans_TransData_1 TransData conv1relu1:0 origin= DT_FLOAT16
		pool Pool trans_TransData_1:0 origin=pool DT_FLOAT16
		soft SoftmaxV2 pool:0 origin=soft DT_FLOAT16
		fc MatMul pool:0 origin=fc DT_FLOAT
		gone Abs fc:0 origin=gone DT_FLOAT
		Node_Output NetOutput soft:0,gone:0`)
	b := shortIndex(t, "b", `
		x Data - DT_FLOAT
		trans_Cast_7 Cast x:0 origin= DT_FLOAT16
		conv1 Conv2D trans_Cast_7:0 origin=conv1 DT_FLOAT16
		relu1 Relu conv1:0 origin=relu1 DT_FLOAT16
		pool Pool relu1:0 origin=pool DT_FLOAT16
		trans_Cast_8 Cast pool:0 origin= DT_FLOAT
		soft SoftmaxV2 trans_Cast_8:0 origin=soft DT_FLOAT
		fc_new MatMulV2 pool:0 origin=fc DT_FLOAT
		more Abs fc_new:0 origin=more DT_FLOAT
		Node_Output NetOutput soft:0,more:0`)
	want := `same 4
changed soft -> soft of soft: output 0 dtype DT_FLOAT16 -> DT_FLOAT
changed fc -> fc_new of fc: type MatMul -> MatMulV2
fused conv1 relu1: conv1relu1 / conv1 relu1
removed gone of gone
removed trans_TransData_1 between relu1:0 and pool:0
added more of more
added trans_Cast_8 between pool:0 and soft:0
`
	if diff := graphtest.FirstDiff(want, listDiff(graph.Compare(a, b))); diff != "" {
		t.Error(diff)
	}
	if d := graph.Compare(a, a); !d.Empty() || d.Same != len(a.Ops) {
		t.Errorf("a graph differs from itself: %+v", d)
	}
}

func TestDiffReal(t *testing.T) {
	for _, name := range []string{"resnet50/ge_proto_00000062_Build.txt", "training/ge_proto_00000001_Build.txt", "json/test.om.json"} {
		m, err := read.Open(context.Background(), graphtest.Real(t, name))
		if err != nil {
			t.Fatal(err)
		}
		x, err := graph.NewIndex(m)
		if err != nil {
			t.Fatal(err)
		}
		if d := graph.Compare(x, x); !d.Empty() {
			t.Errorf("%s differs from itself:\n%s", name, listDiff(d))
		}
	}
}

func TestSimilar(t *testing.T) {
	a := shortIndex(t, "a", `
		x Data - DT_FLOAT
		c Cast x:0 DT_FLOAT16
		one T c:0 DT_FLOAT16
		two T c:0 DT_FLOAT16
		three T c:0 DT_FLOAT16
		left T c:0 DT_FLOAT16`)
	b := shortIndex(t, "b", `
		x Data - DT_FLOAT
		one T c:0 DT_FLOAT16
		two T c:0 DT_FLOAT
		three T c:0 DT_FLOAT16 DT_FLOAT16
		right T c:0 DT_FLOAT16`)
	s := graph.Similar(a.Model.Graphs[0], b.Model.Graphs[0])
	if names(s.OnlyA) != "left" || names(s.OnlyB) != "right" || s.Compared != 4 || s.Similar != 2 || len(s.Different) != 2 {
		t.Errorf("%+v", s)
	}
	if c := s.Different[0]; !c.Precision() || listChange(c.Changes[0]) != "output 0 dtype DT_FLOAT16 -> DT_FLOAT" {
		t.Errorf("%+v", c)
	}
	if c := s.Different[1]; c.Precision() || listChange(c.Changes[0]) != "output -1 count 1 -> 2" {
		t.Errorf("%+v", c)
	}
}

func TestPairGraphs(t *testing.T) {
	parse := func(text string) []*graph.Graph {
		m, err := read.Read(context.Background(), strings.NewReader(text), "g")
		if err != nil {
			t.Fatal(err)
		}
		return m.Graphs
	}
	id := func(s string) string { return ` attr { key: "_session_graph_id" value { s: "` + s + `" } }` }
	a := parse(`graph { name: "ge_default_20230101000000_1" } graph { name: "other"` + id("0_7") + `} graph { name: "same" } graph { name: "alone" }`)
	b := parse(`graph { name: "same" } graph { name: "renamed"` + id("0_7") + `} graph { name: "ge_default_20240505050505_1" }`)
	var got []string
	for _, p := range graph.PairGraphs(a, b) {
		got = append(got, p[0].Name+"="+p[1].Name)
	}
	want := "ge_default_20230101000000_1=ge_default_20240505050505_1 other=renamed same=same"
	if strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
	if p := graph.PairGraphs(parse(`graph { name: "a" }`), parse(`graph { name: "b" }`)); len(p) != 1 {
		t.Errorf("single graphs are not paired: %v", p)
	}
}
