package fusion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"precision/graph"
	"precision/graph/read"
	"precision/testdata/workshop/graphtest"
)

// textRules derives rules from a graph written in a short form, one operator a line:
//
//	name type inputs [key=value]… [> output]…
//
// inputs are joined by commas, "-" for none; origin=a|b sets the original names, origin= gives an empty
// list; an output is dtype[/origin name:index[/layout]].
func textRules(t *testing.T, lines string) *Rules {
	t.Helper()
	m, err := read.Read(context.Background(), strings.NewReader(graphtest.Short(lines)), "short")
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGroups(t *testing.T) {
	r := textRules(t, `
		x Data -
		conv Conv2D x:0 origin=conv|relu
		a1 S conv:0 origin=s
		c1 S conv:0 origin=c|cc
		a2 S conv:0 origin=s
		none TransData a1:0 origin=
		s S c1:0
		c2 S conv:0 origin=c|cc
		p L c1:0 l1=G origin=p1
		q L p:0 l1=G origin=q1|q2
		v L p:0 l1=G origin=p1
		ab S - origin=ab|c
		ac S - origin=a|bc
		s_lxslice0 S c1:0
		k_lxslice12_x S none_lxslice1:0
		graph
		x Data -
		y Neg x:0`)
	want := `0 1:1 "x" "x"
1 N:1 "conv" "conv,relu"
2 1:N "a1,a2,s" "s"
3 N:N "c1,c2" "c,cc"
4 1:1 "none" "*"
5 L1 "p,v,q" "p1,q1,q2"
6 N:1 "ab" "ab,c"
7 N:1 "ac" "a,bc"
8 1:1 "k_x" "k_x"
9 1:1 "y" "y"
`
	var b strings.Builder
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "%d %v %q %q\n", g.Index, g.Relation, g.NPUNames(), g.GoldenNames())
	}
	if diff := graphtest.FirstDiff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if o := r.Op("k_lxslice12_x"); o == nil || o.Name != "k_x" || o.Inputs[0].Producer() != "none" {
		t.Errorf("slice suffix stays: %+v", o)
	}
	y := r.Op("y")
	if p, _, err := r.Producer(y, 0); err != nil || p.Graph != y.Graph {
		t.Errorf("y is fed by an op of another graph: %v", err)
	}
	if !slices.Equal(r.InputNodes, []string{"x"}) {
		t.Errorf("input nodes %q", r.InputNodes)
	}
}

func TestOrder(t *testing.T) {
	r := textRules(t, `
		b T - id=5
		a T - id=2
		c T - id=5
		d T - id=0`)
	var names []string
	for _, o := range r.Ops {
		names = append(names, o.Name)
	}
	if got := strings.Join(names, ""); got != "dabc" || r.LastID() != 5 {
		t.Errorf("order %s, last id %d", got, r.LastID())
	}
}

// TestOrigins: which outputs get an origin that the graph does not state.
func TestOrigins(t *testing.T) {
	r := textRules(t, `
		plain T - DT_FLOAT DT_FLOAT/other:3
		bare T -
		same T - origin=one DT_FLOAT
		pair1 T - origin=two DT_FLOAT
		pair2 T - origin=two DT_FLOAT
		fused T - origin=a|b DT_FLOAT
		in T - origin=m multi=1 DT_FLOAT
		in2 T - origin=m multi=1 DT_FLOAT/m:1`)
	want := map[string][]Output{
		"plain": {{OriginName: "plain"}, {OriginName: "other", OriginIndex: 3}},
		"bare":  {{OriginName: "bare", OriginIndex: -1}},
		"same":  {{OriginName: "one"}},
		"pair1": {{}}, "pair2": {{}}, "fused": {{}},
	}
	for name, outs := range want {
		o := r.Op(name)
		if len(o.Outputs) != len(outs) {
			t.Errorf("%s: %d outputs, want %d", name, len(o.Outputs), len(outs))
			continue
		}
		for i, x := range o.Outputs {
			if x.OriginName != outs[i].OriginName || x.OriginIndex != outs[i].OriginIndex {
				t.Errorf("%s:%d is %q %d, want %q %d", name, i, x.OriginName, x.OriginIndex, outs[i].OriginName, outs[i].OriginIndex)
			}
		}
	}
	if !r.Op("in").Inner() || r.Op("in2").Inner() || r.Op("plain").Inner() {
		t.Error("inner ops")
	}
}

func TestQuantFilter(t *testing.T) {
	r := textRules(t, `
		x Data - DT_FLOAT16
		a_quant_layer AscendQuant x:0 DT_INT8
		w_quant_layer AscendWeightQuant x:0 DT_FLOAT16
		conv Conv2D a_quant_layer:0,w_quant_layer:0 DT_INT32
		off Const - DT_INT8
		pool Pool conv:0 DT_INT8
		sink Sink pool:0
		deq AscendDequant pool:0 origin=net/conv/AscendDequant DT_FLOAT16
		a_anti_quant_layer T deq:0 DT_INT8 DT_FLOAT16
		after Relu a_anti_quant_layer:1 DT_FLOAT16
		inside Relu a_anti_quant_layer:0 DT_FLOAT16
		half_dequant_layer T pool:0 DT_FLOAT16 DT_FLOAT`)
	var got []string
	for _, o := range r.Ops {
		if o.Filtered {
			got = append(got, o.Name)
		}
	}
	want := []string{"conv", "pool", "inside", "half_dequant_layer"}
	if !slices.Equal(got, want) {
		t.Errorf("filtered %q, want %q", got, want)
	}
	if len(r.Warnings) != 2 { // w_quant_layer and half_dequant_layer
		t.Errorf("warnings %v", r.Warnings)
	}
}

func TestGoldenFailures(t *testing.T) {
	r := textRules(t, `
		x Data - DT_FLOAT/x:0/NCHW
		c1 Cast c2:0 DT_FLOAT
		c2 TransData c1:0 DT_FLOAT
		bad T x:y,x,x:-7,:0,,late:-1,ghost:0,none:0,c1:0,x:9,a:b:1 DT_FLOAT
		none T - origin= DT_FLOAT
		nothing T - origin=
		a:b T - DT_FLOAT DT_FLOAT
		open Cast - DT_FLOAT`)
	bad := r.Op("bad")
	for i, c := range []struct {
		failure     GoldenFailure
		entry, part string
		ref         string
	}{
		{GoldenBadEntry, "x:y", "y", ""},
		{GoldenBadEntry, "x", "x", ""},
		{GoldenBadEntry, "x:-7", "-7", ""},
		{GoldenBadEntry, ":0", ":0", ""},
		{GoldenNoProducer, "ghost:0", "ghost", ""},
		{GoldenNoOrigin, "", "", ""},
		{GoldenCycle, "", "", ""},
		{0, "", "", "x:0"},   // output 9 does not exist: output 0 stands in
		{0, "", "", "a:b:1"}, // names may hold colons
		{GoldenNoInput, "", "", ""},
	} {
		ref, err := r.GoldenInput(bad, i)
		var e *GoldenError
		if !errors.As(err, &e) {
			e = &GoldenError{}
		}
		if e.Failure != c.failure || e.Entry != c.entry || e.Part != c.part {
			t.Errorf("input %d: %v (%+v)", i, err, e)
		}
		if got := fmt.Sprintf("%s:%d", ref.Op, ref.Index); c.ref != "" && got != c.ref {
			t.Errorf("input %d: %s, want %s", i, got, c.ref)
		}
	}
	if ref, err := r.GoldenInput(bad, 7); err != nil || ref.Layout != "NCHW" {
		t.Errorf("layout %q: %v", ref.Layout, err)
	}
	for name, want := range map[string]GoldenFailure{"c1": GoldenCycle, "nothing": GoldenNoOrigin, "open": GoldenNoInput} {
		_, err := r.GoldenOutput(r.Op(name), 0)
		var e *GoldenError
		if !errors.As(err, &e) || e.Failure != want || e.Error() == "" {
			t.Errorf("output of %s: %v", name, err)
		}
	}
}

func TestWithQuant(t *testing.T) {
	r := textRules(t, `
		x Data - DT_FLOAT/x:0/NHWC
		f T x:0 origin=qa|qb DT_FLOAT/qb:0/NHWC DT_FLOAT/gone:0
		g T f:0 origin=qc l1=L DT_FLOAT/qc:7
		h T f:0 origin=qc l1=L
		k T f:0 origin=stranger DT_FLOAT`)
	q := textRules(t, `
		x Data - DT_FLOAT/x:0/NCHW
		qa T x:0 origin=a1|a2 DT_FLOAT/a2:0/NCHW
		qb T qa:0 origin=b DT_FLOAT/b:3/NCHW
		qc T qb:0 origin=c DT_FLOAT/c:0`)
	before := dumpRules(r)
	got := r.WithQuant(q)
	want := `0 1:1 "x" "x"
  Data "x" id 0 origin ["x"] false L1 "" multi false filtered false inner false
    > "x" 0 "NHWC" [] DT_FLOAT
1 N:1 "f" "a1,a2,b"
  T "f" id 1 origin ["a1" "a2" "b"] true L1 "" multi false filtered false inner false
    < x:0
    > "b" 3 "NHWC" [] DT_FLOAT
2 L1 "g,h" "c"
  T "g" id 2 origin ["c"] true L1 "L" multi false filtered false inner false
    < f:0
    > "" -1 "" [] DT_FLOAT
  T "h" id 3 origin ["c"] true L1 "L" multi false filtered false inner false
    < f:0
3 1:1 "k" "stranger"
  T "k" id 4 origin ["stranger"] true L1 "" multi false filtered false inner false
    < f:0
    > "stranger" 0 "" [] DT_FLOAT
`
	if text := dumpRules(got); !strings.HasPrefix(text, want) {
		t.Error(graphtest.FirstDiff(want, text))
	}
	if dumpRules(r) != before {
		t.Error("the given rules were changed")
	}
	if len(got.Warnings) != 2 { // gone, stranger
		t.Errorf("warnings %v", got.Warnings)
	}
}

func TestMerge(t *testing.T) {
	r := textRules(t, "x Data - DT_FLOAT/x:0\nf T x:0 origin=q DT_FLOAT/q:0")
	quant := textRules(t, "x Data - DT_FLOAT/x:0\nq T x:0 origin=a DT_FLOAT/a:0")
	closed := textRules(t, "x Data - DT_FLOAT/x:0\nplain T x:0 origin=a DT_FLOAT/a:0")
	for i, c := range []struct{ got, want *Rules }{
		{Merge(r, nil, nil), r},
		{Merge(nil, quant, nil), quant},
		{Merge(r, quant, nil), r.WithQuant(quant)},
		{Merge(r, nil, closed), r.WithoutFusion(closed)},
		{Merge(nil, quant, closed), quant.WithoutFusion(closed)},
		{Merge(r, quant, closed), r.WithQuant(quant).WithoutFusion(closed)},
	} {
		if got, want := dumpRules(c.got), dumpRules(c.want); got != want {
			t.Errorf("%d: %s", i, graphtest.FirstDiff(want, got))
		}
	}
	if got := Merge(nil, nil, closed); got != nil {
		t.Errorf("rules without those of the network that ran: %v", got)
	}
}

func TestWithoutFusion(t *testing.T) {
	r := textRules(t, `
		x Data - DT_FLOAT/x:0
		f T x:0 origin=conv|relu|lost DT_FLOAT/relu:0 DT_FLOAT/relu:5 DT_FLOAT/lost:0
		t1 TransData f:0 origin= DT_FLOAT
		t2 TransData f:0 origin= DT_FLOAT
		m1 T f:0 origin=u|v DT_FLOAT/u:0
		m2 T f:0 origin=u|v DT_FLOAT/v:1`)
	plain := textRules(t, `
		x Data - DT_FLOAT/x:0
		conv_op T x:0 origin=conv DT_FLOAT/conv:0
		relu_op T conv_op:0 origin=relu DT_FLOAT/relu:1 DT_FLOAT/relu:0
		u_op T relu_op:0 origin=u DT_FLOAT/u:0
		v_op T relu_op:0 origin=v DT_FLOAT/v:1`)
	got := r.WithoutFusion(plain)
	var b strings.Builder
	for _, g := range got.Groups {
		fmt.Fprintf(&b, "%d %v %q %q\n", g.Index, g.Relation, g.NPUNames(), g.GoldenNames())
	}
	want := `0 1:1 "x" "x"
1 N:1 "f" "conv_op,relu_op"
2 1:1 "t1" "*"
3 1:1 "t2" "*"
4 N:N "m1,m2" "u_op,v_op"
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	f := got.Op("f")
	for i, want := range []string{"relu_op:1", "relu_op:5", " -"} {
		ref, err := got.GoldenOutput(f, i)
		if got := fmt.Sprintf("%s:%d", ref.Op, ref.Index); err == nil && got != want || err != nil && want != " -" {
			t.Errorf("output %d is %s (%v), want %s", i, got, err, want)
		}
	}
	// Both ops of a group stay producers.
	if ref, err := got.GoldenInput(got.Op("t2"), 0); err != nil || ref.Op != "relu_op" {
		t.Errorf("input of t2: %+v %v", ref, err)
	}
	if len(got.Warnings) != 3 {
		t.Errorf("warnings %v", got.Warnings)
	}
}

// TestGoldenAcrossGraphs: tensors that cross the border of a called graph keep their framework tensor.
func TestGoldenAcrossGraphs(t *testing.T) {
	const origin = ` attr { key: "_datadump_origin_name" value { s: "%s" } }`
	text := strings.NewReplacer("$conv", fmt.Sprintf(origin, "conv"), "$relu", fmt.Sprintf(origin, "relu")).Replace(`
graph { name: "root"
  op { name: "conv" type: "Conv2D" id: 1 output_desc { $conv } }
  op { name: "call" type: "PartitionedCall" id: 2 input: "" input: "conv:0" subgraph_name: "sub" input_desc { } input_desc { }
    output_desc { attr { key: "x" value { i: 1 } } } }
  op { name: "out" type: "NetOutput" id: 9 input: "call:0" input_desc { } }
}
graph { name: "sub"
  op { name: "arg" type: "Data" attr { key: "_parent_node_index" value { i: 1 } } output_desc { attr { key: "x" value { i: 1 } } } }
  op { name: "cast" type: "Cast" id: 1 input: "arg:0" output_desc { attr { key: "x" value { i: 1 } } } }
  op { name: "relu" type: "Relu" id: 2 input: "cast:0" output_desc { $relu } }
  op { name: "sub_out" type: "NetOutput" id: 3 input: "relu:0" input_desc { attr { key: "_parent_node_index" value { i: 0 } } } }
}`)
	m, err := read.Read(context.Background(), strings.NewReader(text), "g")
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Rules{r, r.WithQuant(r), r.WithoutFusion(r)} {
		for op, want := range map[string]string{"relu": "conv", "cast": "conv", "out": "relu", "sub_out": "relu"} {
			ref, err := r.GoldenInput(r.Op(op), 0)
			if err != nil || ref.Op != want {
				t.Errorf("input of %s: %+v %v, want %s", op, ref, err, want)
			}
		}
		if ref, err := r.GoldenOutput(r.Op("call"), 0); err != nil || ref.Op != "relu" {
			t.Errorf("output of call: %+v %v", ref, err)
		}
	}
}

// TestWarningsBounded: a graph of bad operators gives some warnings and their number.
func TestWarningsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "q%d_quant_layer AscendQuant - DT_FLOAT\n", i)
	}
	r := textRules(t, b.String())
	if n := len(r.Warnings); n != graph.MaxWarnings+1 {
		t.Fatalf("%d warnings", n)
	}
	if last := r.Warnings[graph.MaxWarnings].Msg.Text; last != "2950 more warnings like these" {
		t.Errorf("last: %s", last)
	}
}
