package checked

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"precision/compare/oracle"
	"precision/compare/report/html"
	"precision/compare/result"
	"precision/graph"
	"precision/internal/msg"
)

// TestWrite: the page has every output with its numbers and reasons in both languages, and nothing that a viewer obeys.
func TestWrite(t *testing.T) {
	nan := math.NaN()
	findings := []oracle.Finding{
		{Op: "conv", Type: "Conv2D", Rank: -1, Verdict: oracle.OK, Ratio: 0.5, Elements: 4, Looked: 4},
		{Op: "</script><img src=x>", Type: "\x1b[31m", Rank: 3, Index: 1, Verdict: oracle.Wrong, Ratio: math.Inf(1), Worst: []int64{0, 2}, Expected: 1.5, Found: nan, Shape: []int64{1, 3}, Elements: 3, Looked: 2, Beyond: 1,
			Reasons: []result.Reason{result.Because("check-beyond", "1", "2")}},
		{Op: "odd", Type: "Odd", Rank: -1, Verdict: oracle.Unknown, Ratio: nan, Expected: nan, Found: nan, Bound: nan, Reasons: []result.Reason{result.Because("check-beyond", "1", "2")}},
	}
	var b bytes.Buffer
	if err := Write(&b, findings, oracle.CoverageOf(findings, nil, nil), Options{Lang: msg.Chinese, Left: "<b>", Graph: "g"}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<img") || strings.Contains(b.String(), "<b>") {
		t.Error("a name is part of the page")
	}
	from, _, err := html.Data(&b)
	var d data
	if err == nil {
		var raw struct {
			Outputs struct {
				Op, DType      []string
				States         string
				Ratio, Found   []any
				Reason, Rank   []int
				Looked, Beyond []int64
			}
			Page own
		}
		if err = json.NewDecoder(from).Decode(&raw); err == nil {
			o := raw.Outputs
			if o.States != "gbu" || len(o.Op) != 3 || o.Ratio[0] != 0.5 || o.Ratio[1] != "Infinity" || o.Found[1] != "NaN" || o.Rank[1] != 3 || o.Looked[1] != 2 || o.Beyond[1] != 1 {
				t.Errorf("the outputs are %+v", o)
			}
			if strings.ContainsAny(o.Op[1], "\x1b") || o.Reason[1] != o.Reason[2] || o.Reason[0] == o.Reason[1] {
				t.Errorf("names %q, reasons %d", o.Op, o.Reason)
			}
			d.Page = raw.Page
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if d.Page.Verdict != "bad" || d.Page.Lang != "zh" || d.Page.Say["en"].Reasons[1] == d.Page.Say["zh"].Reasons[1] || d.Page.Say["en"].Reasons[1] == "" {
		t.Errorf("the page says %+v", d.Page)
	}
	if d.Page.Say["en"].Texts["report.word.bad"] != "wrong" || d.Page.Say["en"].Texts["report.word.uncompared"] != "unknown" {
		t.Errorf("states are called %q", d.Page.Say["en"].Texts["report.word.bad"])
	}
}

// TestWriteNodes: node data have the largest share of the bound of each operator, in the colour of its state, and nothing of what is unknown.
func TestWriteNodes(t *testing.T) {
	var b bytes.Buffer
	if err := WriteNodes(&b, []oracle.Finding{
		{Op: "a", Verdict: oracle.OK, Ratio: 0.5}, {Op: "a", Index: 1, Verdict: oracle.Wrong, Ratio: math.Inf(1)}, {Op: "a", Index: 2, Verdict: oracle.OK, Ratio: 0.25},
		{Op: "b", Verdict: oracle.Unknown}, {Op: "c", Verdict: oracle.OK},
	}); err != nil {
		t.Fatal(err)
	}
	const want = `"results":{"a":{"value":1000000,"bgColor":"#c43c00","textColor":"#ffffff"},"c":{"value":0,"bgColor":"#00765a","textColor":"#ffffff"}}`
	if !strings.Contains(b.String(), want) {
		t.Errorf("the node data are %s", b.String())
	}
}

// TestWriteGraph: every operator is a node once, with the outputs of all ranks and the edges that lead from others that were
// checked; what is no operator of the check is no end of an edge, and names steer nothing.
func TestWriteGraph(t *testing.T) {
	network := &graph.Model{Graphs: []*graph.Graph{{Ops: []*graph.Op{
		{Name: "a/conv"},
		{Name: "a/\x1brelu", Inputs: []graph.Edge{graph.ParseEdge("a/conv:0"), graph.ParseEdge("weight:0"), graph.ParseEdge("a/conv:-1"), graph.ParseEdge("")}},
	}}}}
	findings := []oracle.Finding{
		{Op: "a/conv", Type: "Conv2D", Rank: 0, Verdict: oracle.OK, Ratio: 0.5},
		{Op: "a/conv", Type: "Conv2D", Rank: 1, Verdict: oracle.Wrong, Ratio: math.Inf(1), Shape: []int64{2}},
		{Op: "a/\x1brelu", Type: "Relu", Rank: 0, Verdict: oracle.Unknown, Ratio: math.NaN()},
	}
	var b bytes.Buffer
	if err := WriteGraph(&b, "dumps", findings, network); err != nil {
		t.Fatal(err)
	}
	want := `{"label":"dumps","graphs":[{"id":"network","nodes":[` +
		`{"id":"a/conv","label":"Conv2D","namespace":"a","attrs":[{"key":"name","value":"a/conv"}],"outputsMetadata":[` +
		`{"id":"0","attrs":[{"key":"tensor","value":"a/conv:output:0"},{"key":"verdict","value":"ok"},{"key":"rank","value":"0"},{"key":"share of the bound","value":"0.5"}]},` +
		`{"id":"0","attrs":[{"key":"tensor","value":"a/conv:output:0"},{"key":"verdict","value":"wrong"},{"key":"rank","value":"1"},{"key":"shape","value":"(2)"},{"key":"share of the bound","value":"Inf"}]}]},` +
		`{"id":"a/\\x1brelu","label":"Relu","namespace":"a","attrs":[{"key":"name","value":"a/\\x1brelu"}],"incomingEdges":[{"sourceNodeId":"a/conv","sourceNodeOutputId":"0","targetNodeInputId":"0"}],"outputsMetadata":[` +
		`{"id":"0","attrs":[{"key":"tensor","value":"a/\\x1brelu:output:0"},{"key":"verdict","value":"unknown"},{"key":"rank","value":"0"}]}]}]}]}` + "\n"
	if b.String() != want {
		t.Errorf("the graph is\n%s, and should be\n%s", &b, want)
	}
	b.Reset()
	if err := WriteGraph(&b, "calls", findings[:1], nil); err != nil || strings.Contains(b.String(), "incoming") {
		t.Errorf("without a graph: %v, %s", err, &b)
	}
}
