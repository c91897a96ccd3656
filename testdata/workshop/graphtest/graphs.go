// Package graphtest holds what the tests of several rooms of graph share: graphs, and the description that models are
// compared by.
package graphtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/graph"
)

// Real returns a graph file made by GE itself. Such files are too large for the repository;
// PRECISION_REAL names a folder with them.
func Real(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("PRECISION_REAL")
	if dir == "" {
		dir = filepath.Join(Root(t), "..", "shared", "real")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real graph: %v", err)
	}
	return path
}

// Root returns the folder of the module.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the folder of the test")
		}
		dir = up
	}
}

// Big repeats the operators of a real graph in one graph until the text has at least n bytes.
func Big(t testing.TB, n int) []byte {
	t.Helper()
	data, err := os.ReadFile(Real(t, "training/ge_proto_00000001_Build.txt"))
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(data, []byte("\n  op {\n"))
	j := bytes.LastIndex(data, []byte("\n  op {\n"))
	out := append(make([]byte, 0, n+len(data)), data[:i]...)
	for len(out) < n {
		out = append(out, data[i:j]...)
	}
	return append(out, data[j:]...)
}

// Everything has each field and each way of writing it that the text form allows.
const Everything = `# a comment
name: 'model' version: 0x10
custom_version: "a" # between the pieces
  "b" 'c"d'
graph: <
  name: "g\303\244\x41\n\"'\\\?\u00e4\U0001F600"
  input: ["data:0", 'x:1'];
  output: "out:0",
  op {
    name: "data" type: "Data" input: "" id: 7 stream_id: -3 has_out_attr: true
    attr { key: "list_s" value { list { s: "a" s: "b" val_type: VT_LIST_STRING } } }
    attr { key: "list_i" value { list { i: [1, -2, 0x7f, 017] val_type: 2 } } }
    attr { key: "list_f" value { list { f: 1.5 f: inf f: -inf f: 1e10 f: .5 f: 3f val_type: VT_LIST_FLOAT } } }
    attr { key: "list_b" value { list { b: true b: false b: t b: 0 } } }
    attr { key: "list_bt" value { list { bt: "abc" bt: "\000\001\377" "\\" } } }
    attr { key: "list_dt" value { list { dt: 1 val_type: VT_LIST_DATA_TYPE } } }
    attr { key: "list_td" value { list { td { dtype: DT_BF16 attr { key: "x" value { i: 1 } } } td { } } } }
    attr { key: "list_t" value { list { t { desc { layout: "ND" } data: "1234" } } } }
    attr { key: "list_na" value { list { na { name: "f" attr { key: "k" value { list { s: "inner" } } } } } } }
    attr { key: "list_g" value { list { g { name: "inner" op { name: "o" } } } } }
    attr { key: "empty_list" value { list { } } }
    attr { key: "s" value { s: "\345\216\237" } }
    attr { key: "i" value { i: 9223372036854775807 } }
    attr { key: "neg" value { i: -9223372036854775808 } }
    attr { key: "f" value { f: 0.25 } }
    attr { key: "b" value { b: false } }
    attr { key: "bt" value { bt: "a\"b\\\n\001\0010" } }
    attr { key: "func" value { func { name: "options" attr { key: "a" value { s: "1" } } } } }
    attr { key: "td" value { td { name: "t" shape { dim: 1 dim: -1 } } } }
    attr { key: "t" value { t { desc { dtype: DT_FLOAT } data: "\377\376" 'x' } } }
    attr { key: "g" value { g { name: "sub" op { name: "p" input_desc { layout: "NCHW" } } } } }
    attr { key: "lli" value { list_list_int { list_list_i { list_i: 1 list_i: 2 } list_list_i { } } } }
    attr { key: "lli0" value { list_list_int { } } }
    attr { key: "llf" value { list_list_float { list_list_f { list_f: [1, 2.5] } } } }
    attr { key: "dt" value { dt: 27 } }
    attr { key: "expression" value { expression: "s0 * 2" } }
    attr { key: "none" value { } }
    attr <key: "angle" value <i: 5>>
    input_name: "x" src_name: "a" src_index: 1 dst_name: "b:c" dst_index: -1 input_i: 3 output_i: 4
    workspace: 5 workspace_bytes: 6 is_input_const: true is_input_const: false
    input_desc { name: "x" dtype: DT_FLOAT16 shape { dim: [1, 3, 224, 224] } layout: "FRACTAL_Z:32" device_type: "NPU"
      attr { key: "origin_shape" value { list { i: 1 i: 3 } } } has_out_attr: true size: 1 weight_size: 2
      reuse_input: true output_tensor: true input_tensor: true real_dim_cnt: 4 reuse_input_index: 1 data_offset: 64
      cmps_size: 1 cmps_tab: "x" cmps_tab_offset: 2 }
    output_desc { dtype: DT_UNDEFINED }
    output_desc { dtype: 28 shape { } }
    subgraph_name: "s1" subgraph_name: "s2"
  }
>
attr { key: "model" value { s: "" } }
`

// CallGraph: a root that calls a graph through PartitionedCall, which holds an If with two branches.
const CallGraph = `
graph { name: "root"
  op { name: "in" type: "Data" output_desc { } }
  op { name: "cond" type: "Data" output_desc { } }
  op { name: "call" type: "PartitionedCall" input: "in:0" input: "cond:0" input: "in:-1" subgraph_name: "mid"
    input_desc { } input_desc { } output_desc { } output_desc { } }
  op { name: "use" type: "Neg" input: "call:1" input: "" input: "gone:0" input: "broken" input: "late:-1"
    input_desc { dtype: DT_FLOAT } input_desc { layout: "RESERVED" } }
  op { name: "late" type: "NoOp" input: "use:-1" }
  op { name: "use2" type: "Neg" input: "call:0" input_desc { } }
}
graph { name: "mid"
  op { name: "d0" type: "Data" attr { key: "_parent_node_index" value { i: 0 } } }
  op { name: "d1" type: "Data" attr { key: "_parent_node_index" value { i: 1 } } }
  op { name: "if" type: "If" input: "d1:0" input: "d0:0" subgraph_name: "then" subgraph_name: "else" subgraph_name: "unknown" }
  op { name: "mid_out" type: "NetOutput" input: "if:0" input: "d0:0"
    input_desc { attr { key: "_parent_node_index" value { i: 1 } } } input_desc { attr { key: "_parent_node_index" value { i: 0 } } } }
}
graph { name: "then"
  op { name: "t0" type: "Data" attr { key: "_parent_node_index" value { i: 1 } } }
  op { name: "relu" type: "Relu" input: "t0:0" }
  op { name: "then_out" type: "NetOutput" input: "relu:0" input_desc { } }
}
graph { name: "else"
  op { name: "e0" type: "Data" attr { key: "_parent_node_index" value { i: 1 } } }
  op { name: "abs" type: "Abs" input: "e0:0" }
  op { name: "else_out" type: "NetOutput" input: "abs:0" }
}
`

// QueryGraph has operators with passes, kernels, origins and casts.
const QueryGraph = `
graph { name: "g"
  attr { key: "_session_graph_id" value { s: "0_3" } }
  attr { key: "GlobalOptions" value { func { name: "GlobalOptions"
    attr { key: "ge.exec.precision_mode" value { s: "allow_mix_precision" } } attr { key: "ge.x" value { s: "1" } } } } }
  attr { key: "GraphOptions" value { func { attr { key: "ge.exec.precision_mode" value { s: "force_fp32" } } } } }
  op { name: "a/x.y" type: "Data" output_desc { dtype: DT_FLOAT layout: "ND" attr { key: "value_range" value { list_list_int { list_list_i { list_i: 1 list_i: 5 } } } } } }
  op { name: "old" type: "Conv2D" id: 1 input: "a/x.y:0" attr { key: "pass_name" value { s: "ConvPass" } }
    attr { key: "old_kernelname" value { s: "te_conv" } } attr { key: "_datadump_original_op_names" value { list { s: "f1" s: "f2" s: "f1" } } }
    output_desc { dtype: DT_FLOAT16 layout: "NC1HWC0" } }
  op { name: "new" type: "Conv2D" id: 2 input: "old:0" input: "a/x.y:-1" attr { key: "pass_name" value { list { s: "First" s: "AddPass" } } }
    attr { key: "_kernelname" value { s: "te_add" } } attr { key: "pass_name_ub" value { s: "UBPass" } }
    input_desc { dtype: DT_FLOAT16 layout: "NC1HWC0" shape { dim: 2 dim: 16 } attr { key: "origin_shape" value { list { i: 2 i: 3 } } } } }
  op { name: "trans_Cast_1" type: "Cast" input: "old:0" attr { key: "_datadump_original_op_names" value { list { } } }
    input_desc { dtype: DT_FLOAT } input_desc { } output_desc { dtype: DT_INT32 } }
  op { name: "trans_Cast_2" type: "Cast" input: "old:0" attr { key: "SrcT" value { i: 9 } } attr { key: "dst_type" value { i: 3 } } }
  op { name: "trans_Cast_3" type: "Cast" input: "old:0" input_desc { dtype: DT_FLOAT } output_desc { dtype: DT_INT32 } }
}
`

// DrawGraph has names that drawings must escape.
const DrawGraph = `graph { name: "g"
  op { name: "in<&\"'>" type: "Data" output_desc { dtype: DT_FLOAT16 shape { dim: 1 dim: 3 } } output_desc { dtype: DT_INT32 } }
  op { name: "conv{}|" type: "Conv2D" id: 1 input: "in<&\"'>:0" input_desc { dtype: DT_FLOAT16 } output_desc { dtype: DT_FLOAT } }
  op { name: "relu" type: "Relu" id: 2 input: "conv{}|:0" input: "in<&\"'>:1" input: "conv{}|:-1" subgraph_name: "x" }
}`

// Short returns the text of a graph written in a short form, one operator a line:
//
//	name type inputs [key=value]… [> output]…
//
// inputs are joined by commas, "-" for none; origin=a|b sets the original names, origin= gives an empty list; an
// output is dtype[/origin name:index[/layout]].
func Short(lines string) string {
	var b strings.Builder
	b.WriteString("graph {\n")
	id := 0
	for line := range strings.SplitSeq(lines, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == "graph" {
			fmt.Fprintf(&b, "}\ngraph {\n")
			continue
		}
		fmt.Fprintf(&b, "op { name: %q type: %q id: %d\n", words[0], words[1], id)
		id++
		if words[2] != "-" {
			for e := range strings.SplitSeq(words[2], ",") {
				fmt.Fprintf(&b, " input: %q\n", e)
			}
		}
		for i := 3; i < len(words); i++ {
			k, v, _ := strings.Cut(words[i], "=")
			switch k {
			case "origin":
				b.WriteString(` attr { key: "_datadump_original_op_names" value { list {`)
				if v != "" {
					for n := range strings.SplitSeq(v, "|") {
						fmt.Fprintf(&b, " s: %q", n)
					}
				}
				b.WriteString(" } } }\n")
			case "l1":
				fmt.Fprintf(&b, ` attr { key: "_L1_fusion_sub_graph_no" value { s: %q } }`, v)
			case "multi":
				b.WriteString(` attr { key: "_datadump_is_multiop" value { b: true } }`)
			case "id":
				fmt.Fprintf(&b, " id: %s\n", v)
			case ">":
			default:
				parts := strings.Split(words[i], "/")
				fmt.Fprintf(&b, ` output_desc { dtype: %s attr { key: "x" value { } }`, parts[0])
				if len(parts) > 1 {
					name, index, ok := strings.Cut(parts[1], ":")
					fmt.Fprintf(&b, ` attr { key: "_datadump_origin_name" value { s: %q } }`, name)
					if ok {
						fmt.Fprintf(&b, ` attr { key: "_datadump_origin_output_index" value { i: %s } }`, index)
					}
				}
				if len(parts) > 2 {
					fmt.Fprintf(&b, ` attr { key: "origin_format" value { s: %q } }`, parts[2])
				}
				b.WriteString(" }\n")
			}
		}
		b.WriteString("}\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// Op returns the operator of that name.
func Op(t testing.TB, x *graph.Index, name string) *graph.Op {
	t.Helper()
	for _, o := range x.Ops {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("no op %s", name)
	return nil
}
