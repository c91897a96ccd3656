package describe

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"precision/graph"
	"precision/graph/fusion"
	"precision/graph/read"
	"precision/internal/msg"
	"precision/testdata/workshop/graphtest"
	"precision/testdata/workshop/msgtest"
)

// noClaim are labels, and words between others; what is said of damaged files is seen where they are read.
var noClaim = regexp.MustCompile(`^graph\.(comma|none|field|title|source\..*|types|dtypes|layouts|passes|casts|casts\..*|level\..*|options|build|option|option\.scope|scope\..*|warning|` +
	`op|op\.(kernel|library|partition|passes|ubpasses|origins|attrs|inputs|outputs)|port\.(values|shapes|origin|of|from|to|more)|note|head|head\.model|part\.nameless|` +
	`fusion|fusion\.noid|diff\.(precision|fused|removed|added|rest)|at\..*|fault\..*|term\..*)$`)

// said is what is told of a text: "summary", "node NAME" or "find NAME" of a graph, "diff" of two graphs with "//" between
// them, "cast" of two types, "fusion" of the matches and effects of a pass in graphs and buffers. Lines of graphs (graphtest.Short)
// have ";" between them.
func said(t *testing.T, lang msg.Lang, text string) string {
	t.Helper()
	what, of, _ := strings.Cut(text, ": ")
	what, name, _ := strings.Cut(what, " ")
	load := func(text string) *graph.Index {
		for known, source := range map[string]string{"query": graphtest.QueryGraph, "call": graphtest.CallGraph} {
			if text == known {
				return indexed(t, "g.txt", source)
			}
		}
		return indexed(t, "g.txt", graphtest.Short(strings.ReplaceAll(text, ";", "\n")))
	}
	switch what {
	case "summary":
		return Summary(lang, load(of).Model.Summary())
	case "node":
		x := load(of)
		return Node(lang, x.Node(graphtest.Op(t, x, name)), true)
	case "find":
		x := load(of)
		if list := x.Model.Select(graph.Query{Type: name}); len(list) > 0 {
			return Ops(lang, list)
		}
		return Candidates(lang, name, x.Ops)
	case "diff":
		a, b, _ := strings.Cut(of, "//")
		return Diff(lang, graph.Compare(load(a), load(b)))
	case "cast":
		from, to, _ := strings.Cut(of, " ")
		return Summary(lang, indexed(t, "g.txt", fmt.Sprintf("graph { op { name: \"y\" type: \"Cast\" input_desc { dtype: %s } output_desc { dtype: %s } } }", from, to)).Model.Summary())
	case "fusion":
		pass := []fusion.PassStats{{Name: "Pass", Match: 3, Effect: 2}}
		return Fusion(lang, []fusion.Stats{map[string]fusion.Stats{"graph": {Graph: pass}, "ub": {UB: pass}}[of]}, true)
	}
	t.Fatalf("what is %q?", text)
	return ""
}

// TestEarned: every sentence about graphs that claims something is gone where it is false.
func TestEarned(t *testing.T) {
	const one = "x Data - DT_FLOAT; y Relu x:0 origin=y DT_FLOAT; z NetOutput y:0"
	change := func(y string) string {
		return "diff: " + one + "//" + strings.Replace(one, "y Relu x:0 origin=y DT_FLOAT", y, 1)
	}
	more := change("y Relu x:0 origin=y DT_FLOAT; %s")
	cases := map[string][][2]string{}
	for key, c := range map[string][2]string{
		"part.session":              {"summary: query", "summary: call"},
		"part.calls":                {"summary: call", "summary: query"},
		"op.inserted":               {"node y: x Data - DT_FLOAT; y Cast x:0 origin= DT_FLOAT", "node y: " + one},
		"port.control":              {"node new: query", "node y: " + one},
		"port.unconnected":          {"node use: call", "node y: " + one},
		"note.caller":               {"node d0: call", "node x: " + one},
		"note.callee":               {"node call: call", "node y: " + one},
		"note.producer":             {"node if: call", "node call: call"},
		"maybe":                     {"find y: " + one, "find Relu: " + one},
		"diff.none":                 {"diff: " + one + "//" + one, change("y Relu x:0 origin=y DT_FLOAT16")},
		"diff.count":                {change("y Relu x:0 origin=y DT_FLOAT16"), "diff: " + one + "//" + one},
		"diff.of":                   {fmt.Sprintf(more, "w Abs y:0 origin=a|b DT_FLOAT"), fmt.Sprintf(more, "w Abs y:0 origin=w DT_FLOAT")},
		"diff.other":                {change("y2 Relu x:0 origin=y DT_FLOAT16"), change("y Relu x:0 origin=y DT_FLOAT16")},
		"diff.between":              {fmt.Sprintf(more, "w TransData y:0 origin= DT_FLOAT; v Abs w:0 origin=v DT_FLOAT"), fmt.Sprintf(more, "w Abs y:0 origin=w DT_FLOAT")},
		"diff.inserted":             {fmt.Sprintf(more, "w MemSet - origin= DT_FLOAT"), fmt.Sprintf(more, "w Abs y:0 origin=w DT_FLOAT")},
		"diff.cast":                 {fmt.Sprintf(more, "w Cast y:0 origin= DT_FLOAT16; v Abs w:0 origin=v DT_FLOAT16"), fmt.Sprintf(more, "w Abs y:0 origin=w DT_FLOAT")},
		"change.type":               {change("y Gelu x:0 origin=y DT_FLOAT"), change("y Relu x:0 origin=y DT_FLOAT DT_FLOAT")},
		"change.output.dtype":       {change("y Relu x:0 origin=y DT_FLOAT16"), change("y Gelu x:0 origin=y DT_FLOAT")},
		"change.outputs":            {change("y Relu x:0 origin=y DT_FLOAT DT_FLOAT"), change("y Gelu x:0 origin=y DT_FLOAT")},
		"fusion.graph":              {"fusion: graph", "fusion: ub"},
		"fusion.ub":                 {"fusion: ub", "fusion: graph"},
		"cast.DT_FLOAT.INT*":        {"cast: DT_FLOAT DT_INT32", "cast: DT_FLOAT DT_FLOAT16"},
		"cast.DT_FLOAT16.INT*":      {"cast: DT_FLOAT16 DT_INT32", "cast: DT_FLOAT16 DT_FLOAT"},
		"cast.DT_BF16.INT*":         {"cast: DT_BF16 DT_INT8", "cast: DT_BF16 DT_FLOAT"},
		"cast.DT_DOUBLE.INT*":       {"cast: DT_DOUBLE DT_INT64", "cast: DT_DOUBLE DT_FLOAT"},
		"cast.DT_INT64.DT_INT32":    {"cast: DT_INT64 DT_INT32", "cast: DT_INT32 DT_INT64"},
		"cast.DT_UINT64.DT_UINT32":  {"cast: DT_UINT64 DT_UINT32", "cast: DT_UINT32 DT_UINT64"},
		"cast.DT_DOUBLE.DT_FLOAT":   {"cast: DT_DOUBLE DT_FLOAT", "cast: DT_FLOAT DT_DOUBLE"},
		"cast.DT_DOUBLE.DT_FLOAT16": {"cast: DT_DOUBLE DT_FLOAT16", "cast: DT_DOUBLE DT_FLOAT"},
		"cast.DT_FLOAT.DT_FLOAT16":  {"cast: DT_FLOAT DT_FLOAT16", "cast: DT_FLOAT DT_BF16"},
		"cast.DT_FLOAT.DT_BF16":     {"cast: DT_FLOAT DT_BF16", "cast: DT_FLOAT DT_FLOAT16"},
	} {
		cases["graph."+key] = [][2]string{c}
	}
	elsewhere := map[string][3]string{}
	for at, keys := range map[[2]string][]string{
		{"earned_test.go", "TestCounts"}: {"head.count", "part", "origin", "ops", "op.place"},
		// What only offline models or descriptors have is put into the model by hand.
		{"earned_test.go", "TestByHand"}: {"part.dynamic", "dynamic", "option.unset", "change.inputs", "change.input.dtype", "change.input.layout", "change.input.shape",
			"change.output.layout", "change.output.shape"},
	} {
		for _, key := range keys {
			elsewhere["graph."+key] = [3]string{at[0], at[1], strconv.Quote("graph." + key)}
		}
	}
	msgtest.Earned{Under: []string{"graph."}, Claims: func(key string) bool { return !noClaim.MatchString(key) }, Cases: cases, Elsewhere: elsewhere, Say: said}.Check(t)
}

// TestCounts: the numbers that are told are those of the graph.
func TestCounts(t *testing.T) {
	for n := range 4 {
		text := "x Data - DT_FLOAT"
		for i := range n {
			text += fmt.Sprintf("\nr%d Relu x:0 origin=r%d DT_FLOAT\nc%d Cast x:0 origin= DT_FLOAT\nf%d Abs x:0 origin=a%d|b%d DT_FLOAT", i, i, i, i, i, i)
		}
		text += "\ngraph\ny Data - DT_FLOAT"
		m, err := read.Read(context.Background(), strings.NewReader(graphtest.Short(text)), "g.txt")
		if err != nil {
			t.Fatal(err)
		}
		summary := Summary(msg.English, m.Summary())
		for key, args := range map[string][]any{"graph.head.count": {3*n + 2, 2, 1}, "graph.part": {"", 3*n + 1}, "graph.origin": {3 * n, n, n, 2}} {
			want := msg.English.T(key, args...)
			if key == "graph.part" {
				want = strings.TrimPrefix(want, ":")
			}
			if !strings.Contains(summary, want) {
				t.Errorf("not %q:\n%s", want, summary)
			}
		}
		if want, got := msg.English.T("graph.ops", n), Ops(msg.English, m.Select(graph.Query{Type: "Cast"})); n > 0 && !strings.Contains(got, want) {
			t.Errorf("not %q:\n%s", want, got)
		}
		x, err := graph.NewIndex(m)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := msg.English.T("graph.op.place", 3*n+1, 0, ""), Node(msg.English, x.Node(graphtest.Op(t, x, "y")), false); !strings.Contains(got, strings.TrimSpace(want)) {
			t.Errorf("not %q:\n%s", want, got)
		}
	}
}

// TestByHand: what is put into a model is told, and what is not is not.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		key      string
		is, not  string
		argument []any
	}{
		{"graph.part.dynamic", Summary(msg.English, &graph.Summary{Graphs: []graph.GraphSummary{{Name: "g", Dynamic: true}}}), Summary(msg.English, &graph.Summary{Graphs: []graph.GraphSummary{{Name: "g"}}}), nil},
		{"graph.dynamic", Summary(msg.English, &graph.Summary{Dynamic: 2}), Summary(msg.English, &graph.Summary{}), []any{2}},
		{"graph.option.unset", Summary(msg.English, &graph.Summary{Options: []graph.Option{{Scope: "Graph", Key: "ge.exec.precision_mode"}}}), Summary(msg.English, &graph.Summary{Options: []graph.Option{{Scope: "Graph", Key: "ge.exec.precision_mode", Value: "v"}}}), nil},
		{"graph.change.inputs", Change(msg.English, graph.PortChange{Input: true, Field: graph.FieldCount, A: "1", B: "2"}), Change(msg.English, graph.PortChange{Field: graph.FieldCount, A: "1", B: "2"}), []any{"1", "2"}},
		{"graph.change.input.dtype", Change(msg.English, graph.PortChange{Input: true, Field: graph.FieldDType, Index: 1, A: "a", B: "b"}), Change(msg.English, graph.PortChange{Input: true, Field: graph.FieldDType, Index: 0, A: "a", B: "b"}), []any{1, "a", "b"}},
		{"graph.change.input.layout", Change(msg.English, graph.PortChange{Input: true, Field: graph.FieldLayout, A: "a", B: "b"}), Change(msg.English, graph.PortChange{Field: graph.FieldLayout, A: "a", B: "b"}), []any{0, "a", "b"}},
		{"graph.change.input.shape", Change(msg.English, graph.PortChange{Input: true, Field: graph.FieldShape, A: "a", B: "b"}), Change(msg.English, graph.PortChange{Input: true, Field: graph.FieldShape, A: "b", B: "a"}), []any{0, "a", "b"}},
		{"graph.change.output.layout", Change(msg.English, graph.PortChange{Field: graph.FieldLayout, A: "a", B: "b"}), Change(msg.English, graph.PortChange{Input: true, Field: graph.FieldLayout, A: "a", B: "b"}), []any{0, "a", "b"}},
		{"graph.change.output.shape", Change(msg.English, graph.PortChange{Field: graph.FieldShape, A: "a", B: "b"}), Change(msg.English, graph.PortChange{Field: graph.FieldDType, A: "a", B: "b"}), []any{0, "a", "b"}},
	} {
		if want := msg.English.T(c.key, c.argument...); !strings.Contains(c.is, want) || strings.Contains(c.not, want) {
			t.Errorf("%s: %q is not said of\n%s\nor is of\n%s", c.key, want, c.is, c.not)
		}
	}
}
