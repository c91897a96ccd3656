package describe

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"precision/graph"
	"precision/graph/fusion"
	"precision/graph/read"
	"precision/internal/msg"
	"precision/testdata/workshop/graphtest"
	"precision/testdata/workshop/msgtest"
)

var update = flag.Bool("update", false, "rewrite testdata from what is said now")

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }

func indexed(t *testing.T, path, text string) *graph.Index {
	t.Helper()
	m, err := read.Read(context.Background(), strings.NewReader(text), path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := graph.NewIndex(m)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// everything says whatever the package has to say, each under a heading.
func everything(t *testing.T, lang msg.Lang) string {
	query, call := indexed(t, "g.txt", graphtest.QueryGraph), indexed(t, "call.txt", graphtest.CallGraph)
	var b strings.Builder
	say := func(what, text string) { fmt.Fprintf(&b, "== %s\n%s", what, text) }

	say("summary", Summary(lang, query.Model.Summary()))
	say("summary of called graphs", Summary(lang, call.Model.Summary()))
	say("summary of an offline model", Summary(lang, &graph.Summary{Path: "model.om", Source: graph.SourceOM, Name: "net", Ops: 1, Streams: 1,
		Graphs: []graph.GraphSummary{{Name: "main", Ops: 1, Calls: []string{"then", "else"}, Dynamic: true}, {Ops: 0}}, Origins: 1, Dynamic: 1,
		Types:    []graph.Count{{Name: "If", N: 1}},
		Options:  []graph.Option{{Scope: "Global", Key: "ge.socVersion", Value: "Ascend910"}, {Scope: "Session", Key: "ge.exec.precision_mode"}, {Scope: "Graph", Key: "ge.deterministic", Value: "1"}},
		Build:    []graph.Option{{Key: "soc_version", Value: "Ascend310"}},
		Warnings: []graph.Warning{{Path: "model.om", Offset: 256, Msg: graph.Messagef("header announces %d bytes, the file has %d", 5, 6)}}}))
	for _, name := range []string{"new", "a/x.y", "trans_Cast_1"} {
		say("operator "+name, Node(lang, query.Node(graphtest.Op(t, query, name)), name == "new"))
	}
	for _, name := range []string{"d0", "call", "if", "use"} {
		say("operator "+name, Node(lang, call.Node(graphtest.Op(t, call, name)), false))
	}
	ports := &graph.NodeInfo{Op: &graph.Op{Name: "conv", Type: "Conv2D"}, Graph: "g", KernelLib: "AIcoreEngine", Partition: "part_1",
		Outputs: []graph.PortInfo{{DType: "DT_FLOAT", Layout: "ND", Shape: []int64{-1, 3}, ShapeRange: "[[1,-1],[3,3]]", OriginName: "conv/bias",
			Peers: []graph.Peer{{Name: "relu", Index: 0}, {Name: "add", Index: 1}}}}}
	say("operator conv", Node(lang, ports, false))
	ops := query.Model.Select(graph.Query{Type: "Conv"})
	say("list", Ops(lang, ops))
	say("types", Types(graph.TypeCounts(query.Ops)))
	say("candidates", Candidates(lang, "w", ops))

	old := indexed(t, "a", graphtest.Short(`
		x Data - DT_FLOAT
		trans_Cast_0 Cast x:0 origin= DT_FLOAT
		conv1relu1 Conv2D trans_Cast_0:0 origin=conv1|relu1 DT_FLOAT16
		trans_TransData_1 TransData conv1relu1:0 origin= DT_FLOAT16
		pool Pool trans_TransData_1:0 origin=pool DT_FLOAT16
		soft SoftmaxV2 pool:0 origin=soft DT_FLOAT16
		fc MatMul pool:0 origin=fc DT_FLOAT
		gone Abs fc:0 origin=gone|off DT_FLOAT
		memset MemSet -
		Node_Output NetOutput soft:0,gone:0`))
	now := indexed(t, "b", graphtest.Short(`
		x Data - DT_FLOAT
		trans_Cast_7 Cast x:0 origin= DT_FLOAT16
		conv1 Conv2D trans_Cast_7:0 origin=conv1 DT_FLOAT16
		relu1 Relu conv1:0 origin=relu1 DT_FLOAT16
		pool Pool relu1:0 origin=pool DT_FLOAT16
		trans_Cast_8 Cast pool:0 origin= DT_FLOAT
		soft SoftmaxV2 trans_Cast_8:0 origin=soft DT_FLOAT
		fc_new MatMulV2 pool:0 origin=fc DT_FLOAT
		more Abs fc_new:0 origin=more DT_FLOAT
		Node_Output NetOutput soft:0,more:0`))
	say("diff", Diff(lang, graph.Compare(old, now)))
	say("no diff", Diff(lang, graph.Compare(now, now)))
	b.WriteString("== changes\n")
	for _, c := range []graph.PortChange{
		{Field: graph.FieldType, Index: -1, A: "MatMul", B: "MatMulV2"}, {Input: true, Field: graph.FieldCount, Index: -1, A: "1", B: "2"},
		{Field: graph.FieldCount, Index: -1, A: "3", B: "0"}, {Input: true, Field: graph.FieldDType, A: "DT_FLOAT"},
		{Input: true, Index: 1, Field: graph.FieldLayout, A: "ND", B: "NC1HWC0"}, {Input: true, Field: graph.FieldShape, A: "[1]", B: "[2]"},
		{Field: graph.FieldDType, A: "DT_FLOAT", B: "DT_BF16"}, {Index: 2, Field: graph.FieldLayout, B: "ND"}, {Field: graph.FieldShape, A: "[]", B: "[4]"},
	} {
		b.WriteString(Change(lang, c) + "\n")
	}
	stats := []fusion.Stats{
		{GraphID: "0_1", Graph: []fusion.PassStats{{Name: "ConvPass", Match: 3, Effect: 2}, {Name: "IdlePass", Match: 1}}},
		{UB: []fusion.PassStats{{Name: "UBPass", Match: 1, Effect: 1}}}}
	say("fusion", Fusion(lang, stats, false))
	say("fusion of all passes", Fusion(lang, stats, true))
	b.WriteString("== casts\n")
	for i := range graph.DefaultCastRules {
		r := &graph.DefaultCastRules[i]
		fmt.Fprintf(&b, "%s -> %s %s: %s\n", r.From, r.To, lang.T("graph.level."+r.Level.String()), Cast(lang, r))
	}
	b.WriteString("== sources\n")
	for s := graph.SourceUnknown; s <= graph.SourceTensorFlow; s++ {
		b.WriteString(Source(lang, s) + "\n")
	}
	return b.String()
}

// TestGolden holds what is said in both languages to testdata.
func TestGolden(t *testing.T) {
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		path, got := filepath.Join("testdata", lang.String()+".txt"), everything(t, lang)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := graphtest.FirstDiff(string(want), got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// TestEveryText: there is no message that testdata does not show.
func TestEveryText(t *testing.T) {
	hole := regexp.MustCompile(`%[a-z]|\{[^}]*\}`)
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		said := everything(t, lang)
		for key, text := range lang.Under("graph.") {
			if strings.HasPrefix(key, "graph.fault.") || strings.HasPrefix(key, "graph.term.") {
				continue // TestFaults has them
			}
			for _, part := range hole.Split(text, -1) {
				if !strings.Contains(said, part) {
					t.Errorf("%s: %s is not shown: there is no %q", lang, key, part)
				}
			}
		}
	}
}

// TestCastWithoutText: rules of users have no text.
func TestCastWithoutText(t *testing.T) {
	if got := Cast(msg.Chinese, &graph.CastRule{From: "DT_INT8", To: "*"}); got != "" {
		t.Errorf("%q", got)
	}
}

// TestReal: summaries of graphs that GE made.
func TestReal(t *testing.T) {
	for name, want := range map[string][]string{
		"training/ge_proto_00000001_Build.txt": {"18 operators in 5 graphs", "calls ge_default_20230713074125_sub_0_input", "ge.socVersion = Ascend910A (global)",
			"ge.exec.op_precision_mode = /home/user/tf/op_precision.ini (session)"},
		"resnet50/ge_proto_00000062_Build.txt": {"170 operators in 1 graph on", "TbeCommonRules0FusionPass 43"},
		"json/model.json":                      {"19 operators", "soc_version = Ascend310"},
	} {
		m, err := read.Open(context.Background(), graphtest.Real(t, name))
		if err != nil {
			t.Fatal(err)
		}
		text := Summary(msg.English, m.Summary())
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", name, w, text)
			}
		}
	}
}
