package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"precision/graph"
	"precision/graph/read"
	"precision/testdata/workshop/graphtest"
)

func indexOf(t testing.TB, text string) *graph.Index {
	t.Helper()
	m, err := read.Read(context.Background(), strings.NewReader(text), "g.txt")
	if err != nil {
		t.Fatal(err)
	}
	x, err := graph.NewIndex(m)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func portText(ports []graph.Port) string {
	var b strings.Builder
	for i, p := range ports {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s:%d", p.Op.Name, p.Index)
	}
	return b.String()
}

func TestIndex(t *testing.T) {
	x := indexOf(t, graphtest.CallGraph)
	var b strings.Builder
	for _, in := range x.Inputs(graphtest.Op(t, x, "use")) {
		name := "-"
		if in.From != nil {
			name = in.From.Name
		}
		fmt.Fprintf(&b, "%d %s %d %v\n", in.Slot, name, in.Index, in.Desc)
	}
	want := `0 call 1 DT_FLOAT - []
1 - -2 DT_UNDEFINED RESERVED []
2 - 0 <nil>
3 - -2 <nil>
-1 late -1 <nil>
`
	if diff := graphtest.FirstDiff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if got := portText(x.Consumers(graphtest.Op(t, x, "in"), 0)); got != "call:0" {
		t.Errorf("consumers of in: %s", got)
	}
	if ops := x.ControlConsumers(graphtest.Op(t, x, "in")); len(ops) != 1 || ops[0].Name != "call" {
		t.Errorf("control consumers of in: %v", ops)
	}
	if got := portText(x.Consumers(graphtest.Op(t, x, "in"), graph.ControlIndex)); got != "" {
		t.Errorf("control edges among data consumers: %s", got)
	}
	for _, c := range []struct {
		op   string
		slot int
		want string
	}{
		{"use", 0, "relu:0 abs:0"}, {"use2", 0, "in:0"}, {"relu", 0, "in:0"}, {"if", 0, "cond:0"}, {"use", 1, ""}, {"use", 9, ""},
	} {
		if got := portText(x.Sources(graphtest.Op(t, x, c.op), c.slot)); got != c.want {
			t.Errorf("sources of %s:%d: %s, want %s", c.op, c.slot, got, c.want)
		}
	}
	for _, c := range []struct{ op, want string }{
		{"in", "relu:0 abs:0 use2:0"}, {"cond", "if:0"}, {"relu", "use:0"}, {"abs", "use:0"}, {"use", ""},
	} {
		if got := portText(x.Sinks(graphtest.Op(t, x, c.op), 0)); got != c.want {
			t.Errorf("sinks of %s: %s, want %s", c.op, got, c.want)
		}
	}
	if len(x.Callers(x.Graph("mid"))) != 1 || len(x.Callees(graphtest.Op(t, x, "if"))) != 2 {
		t.Error("callers and callees")
	}
}

func TestCallCycle(t *testing.T) {
	m, err := read.Read(context.Background(), strings.NewReader(`graph { name: "a" op { name: "x" type: "If" subgraph_name: "b" } }
graph { name: "b"
  op { name: "y" type: "While" subgraph_name: "c" } }
graph { name: "c"
  op { name: "z" type: "Case" subgraph_name: "b" } }`), "g.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, err = graph.NewIndex(m)
	var e *graph.Error
	if !errors.As(err, &e) || e.Error() != `g.txt:5: op "z" calls graph "b", which calls it` {
		t.Errorf("error %v", err)
	}
	// Data operators that feed their own caller end as well.
	x := indexOf(t, `graph { name: "a" op { name: "c" type: "While" input: "c:0" subgraph_name: "b" } }
graph { name: "b" op { name: "d" type: "Data" attr { key: "_parent_node_index" value { i: 0 } } }
  op { name: "o" type: "NetOutput" input: "d:0" } }`)
	if got := portText(x.Sources(graphtest.Op(t, x, "c"), 0)); got != "" {
		t.Errorf("sources in a circle: %s", got)
	}
	if got := portText(x.Sinks(graphtest.Op(t, x, "c"), 0)); got != "" {
		t.Errorf("sinks in a circle: %s", got)
	}
}

// TestIndexReal: every data slot of real graphs has its descriptor and, if connected, its producer.
func TestIndexReal(t *testing.T) {
	for _, name := range []string{"resnet50/ge_proto_00000062_Build.txt", "training/ge_proto_00000001_Build.txt", "json/model.json", "json/test.om.json"} {
		m, err := read.Open(context.Background(), graphtest.Real(t, name))
		if err != nil {
			t.Fatal(err)
		}
		x, err := graph.NewIndex(m)
		if err != nil {
			t.Fatal(err)
		}
		slots := 0
		for _, o := range x.Ops {
			for _, in := range x.Inputs(o) {
				if in.Slot >= 0 && in.Desc == nil || !in.Edge.IsEmpty() && in.From == nil {
					t.Errorf("%s: %s input %q: %+v", name, o.Name, in.Edge.Text, in)
				}
				if in.From != nil && in.Index >= 0 {
					slots++
					if in.Index >= len(in.From.OutputDesc) {
						t.Errorf("%s: %s has no output %d", name, in.From.Name, in.Index)
					}
				}
			}
		}
		uses := 0
		for _, o := range x.Ops {
			for k := range o.OutputDesc {
				uses += len(x.Consumers(o, k))
			}
		}
		if uses != slots || slots == 0 {
			t.Errorf("%s: %d connected slots, %d uses", name, slots, uses)
		}
	}
	m, err := read.Open(context.Background(), graphtest.Real(t, "training/ge_proto_00000001_Build.txt"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := graph.NewIndex(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := portText(x.Sources(graphtest.Op(t, x, "Node_Output"), 0)); got == "" {
		t.Error("nothing feeds the output of the network")
	}
	for _, o := range x.Ops {
		if len(x.Callers(o.Graph)) == 0 {
			continue
		}
		for _, in := range x.Inputs(o) {
			if in.Slot < 0 {
				continue
			}
			for _, p := range x.Sources(o, in.Slot) {
				if p.Op.Type == "Data" || p.Op.Type == "PartitionedCall" {
					t.Errorf("%s:%d comes from %s %s", o.Name, in.Slot, p.Op.Type, p.Op.Name)
				}
			}
		}
	}
}

// wideText repeats the operators of the ResNet-50 graph under new names until there are at least n, kernels left out.
func wideText(t testing.TB, n int) []byte {
	t.Helper()
	data, err := os.ReadFile(graphtest.Real(t, "resnet50/ge_proto_00000062_Build.txt"))
	if err != nil {
		t.Fatal(err)
	}
	data = regexp.MustCompile(`bt: "[^\n]*"`).ReplaceAll(data, []byte(`bt: ""`))
	i := bytes.Index(data, []byte("\n  op {\n"))
	j := bytes.LastIndex(data, []byte("\n  attr {\n"))
	ops := data[i:j]
	name := regexp.MustCompile(`\n    name: "(.*)"`)
	input := regexp.MustCompile(`\n    input: "(.+):(-?\d+)"`)
	out := bytes.Clone(data[:i])
	for k := 0; k*170 < n; k++ {
		block := name.ReplaceAll(ops, fmt.Appendf(nil, "\n    name: \"${1}_%d\"", k))
		out = append(out, input.ReplaceAll(block, fmt.Appendf(nil, "\n    input: \"${1}_%d:$2\"", k))...)
	}
	return append(out, data[j:]...)
}

// BenchmarkReady measures how long a graph of 14 000 operators takes from text to answers.
func BenchmarkReady(b *testing.B) {
	data := wideText(b, 14000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		m, err := read.Read(context.Background(), bytes.NewReader(data), "wide")
		if err != nil {
			b.Fatal(err)
		}
		x, err := graph.NewIndex(m)
		if err != nil {
			b.Fatal(err)
		}
		if len(x.Ops) < 14000 {
			b.Fatalf("%d ops", len(x.Ops))
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	m, err := read.Read(context.Background(), bytes.NewReader(wideText(b, 14000)), "wide")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := graph.NewIndex(m); err != nil {
			b.Fatal(err)
		}
	}
}
