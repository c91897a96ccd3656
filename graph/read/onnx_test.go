package read

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"precision/graph"
	"precision/testdata/workshop/graphtest"
)

const onnxText = `ir_version: 6
producer_name: "GE"
graph {
  node {
    output: "x:0" output: "x:-1" name: "x" op_type: "ge:Data"
    attribute { name: "id" type: INT }
    attribute { name: "index" i: 3 type: INT }
    attribute { name: "dst_name" strings: "call" type: STRINGS }
    attribute { name: "dst_index" ints: 0 type: INTS }
    attribute { name: "output_desc_nums" i: 1 type: INT }
    attribute { name: "output_desc_dtype:0" s: "DT_FLOAT16" type: STRING }
    attribute { name: "output_desc_layout:0" s: "NCHW" type: STRING }
    attribute { name: "output_desc_shape:0" ints: 1 ints: 3 type: INTS }
    attribute { name: "output_desc_origin_shape:0" ints: 3 type: INTS }
    attribute { name: "output_desc_origin_dtype:0" s: "DT_FLOAT" type: STRING }
    attribute { name: "output_desc_origin_layout:0" s: "ND" type: STRING }
    attribute { name: "output_desc_attr__parent_node_index:0" i: 4 type: INT }
    attribute { name: "output_desc_size:0" i: 12 type: INT }
    attribute { name: "output_desc_shape:7" ints: 1 type: INTS }
  }
  node {
    input: "x:0" input: "" input: "x:-1" name: "s_know_PartitionedCall_0" op_type: "ge:PartitionedCall"
    attribute { name: "id" i: 1 type: INT }
    attribute { name: "stream_id" i: -1 type: INT }
    attribute { name: "axes" ints: 1 ints: 2 type: INTS }
    attribute { name: "alpha" f: 0.5 type: FLOAT }
    attribute { name: "zero" type: INT }
    attribute { name: "words" strings: "a" strings: "b" type: STRINGS }
    attribute { name: "input_desc_nums" i: 2000000000 type: INT }
    attribute { name: "input_desc_dtype:1" s: "DT_UNDEFINED" type: STRING }
  }
  node { name: "s_know" op_type: "subgraph"
    attribute { name: "graph" type: GRAPH g { name: "s_know" node { name: "n" op_type: "ge:NetOutput" } } } }
  name: "root"
}
`

func TestONNX(t *testing.T) {
	m, err := Read(context.Background(), iotest.OneByteReader(strings.NewReader(onnxText)), "f.pbtxt")
	if err != nil {
		t.Fatal(err)
	}
	if m.Source != graph.SourceONNX || len(m.Graphs) != 2 || m.Graphs[0].Name != "root" || m.Graphs[1].Name != "s_know" || len(m.Warnings) > 0 {
		t.Fatalf("source %v, %d graphs, warnings %v", m.Source, len(m.Graphs), m.Warnings)
	}
	x, call := m.Graphs[0].Ops[0], m.Graphs[0].Ops[1]
	d := &x.OutputDesc[0]
	if got := fmt.Sprint(x.Type, " ", d, " ", d.Attr("origin_shape"), d.Attr("origin_data_type"), d.Attr("origin_format"), d.Attr("_parent_node_index"),
		d.Size, x.Attr("index"), x.Hints().DstNames); got != "Data DT_FLOAT16 NCHW [1,3] [3] DT_FLOAT ND 4 12 3 [call]" {
		t.Errorf("first op: %s", got)
	}
	if got := fmt.Sprint(call.ID, call.StreamID, call.Attr("axes"), call.Attr("alpha"), call.Attr("zero"), call.Attr("words"),
		call.SubgraphNames, len(call.Inputs), call.Inputs[2].IsControl()); got != "1 -1 [1,2] 0.5 0 [a,b] [s_know] 3 true" {
		t.Errorf("second op: %s", got)
	}
	if n := len(call.InputDesc); n > 20 {
		t.Errorf("%d descriptors from a claim", n)
	}
	if m, err = Read(context.Background(), strings.NewReader("graph { node { name: \"a\" op_type: \"ge:X\" } node { name: \"b\" op_type: \"ge:Y\" } }"), "f"); err != nil ||
		m.Graphs[0].Ops[1].ID != 1 || len(m.Warnings) != 1 {
		t.Errorf("without ids: %v", err)
	}
}

// TestRealONNX compares both dumps of one graph as far as the ONNX-style one goes.
func TestRealONNX(t *testing.T) {
	for onnx, text := range map[string]string{
		"training/ge_onnx_00000000_graph_1_Build.pbtxt":  "training/ge_proto_00000000_Build.txt",
		"training/ge_onnx_00000001_graph_11_Build.pbtxt": "training/ge_proto_00000001_Build.txt",
	} {
		a, err := Open(context.Background(), graphtest.Real(t, onnx))
		if err != nil {
			t.Fatal(err)
		}
		b, err := Open(context.Background(), graphtest.Real(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := graphtest.FirstDiff(structure(b), structure(a)); diff != "" {
			t.Errorf("%s: %s", onnx, diff)
		}
	}
}

func structure(m *graph.Model) string {
	var b strings.Builder
	for _, g := range m.Graphs {
		fmt.Fprintf(&b, "graph %s\n", g.Name)
		for _, o := range g.Ops {
			fmt.Fprintf(&b, " %s %s %d %d %v\n", o.Name, o.Type, o.ID, o.StreamID, o.SubgraphNames)
			for _, e := range o.Inputs {
				fmt.Fprintf(&b, "  < %s\n", e.Text)
			}
			for i := range o.InputDesc {
				fmt.Fprintf(&b, "  i %v %v\n", &o.InputDesc[i], o.InputDesc[i].Attr("origin_shape").Ints())
			}
			for i := range o.OutputDesc {
				fmt.Fprintf(&b, "  o %v %v\n", &o.OutputDesc[i], o.OutputDesc[i].Attr("origin_shape").Ints())
			}
		}
	}
	return b.String()
}

func FuzzONNX(f *testing.F) {
	f.Add([]byte(onnxText))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := readONNX(bytes.NewReader(data), "fuzz"); err == nil {
			_ = graphtest.Describe(m)
		}
	})
}
