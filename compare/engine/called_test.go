package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/testdata/workshop/dumptest"
)

// calledCase is a network whose graphs call each other, and what is to be found of
// it when the outputs of some operators are wrong.
type calledCase struct {
	name, graphs string
	dumped, bad  []string
	// roots is "operator, inherited by N, reaches …" for each root.
	roots []string
}

func calledGraph(name string, ops ...string) string {
	return "graph { name: \"" + name + "\"\n" + strings.Join(ops, "\n") + "\n}\n"
}

// Ids are those of the operators in their own graph, so that the order of the ids
// is not the order in which elements flow.
var calledCases = []calledCase{
	{
		name: "PartitionedCall",
		graphs: calledGraph("root",
			calledOp("x", "Data", 0, ""), calledOp("conv", "Conv2D", 1, "x:0"), calledOp("call", "PartitionedCall", 2, "x:0 conv:0", "sub"),
			calledOp("add", "Add", 3, "call:0"), calledOp("out", "NetOutput", 4, "add:0"),
		) + calledGraph("sub",
			calledOp("sub_x", "Data", 10, "", "=1"), calledOp("relu", "Relu", 11, "sub_x:0"), calledOp("sub_out", "NetOutput", 12, "relu:0", "<0"),
		),
		dumped: []string{"conv", "relu", "add"},
		bad:    []string{"conv", "relu", "add"},
		roots:  []string{"conv, inherited by 2, reaches add"},
	},
	{
		name: "the fault is in the called graph",
		graphs: calledGraph("root",
			calledOp("x", "Data", 0, ""), calledOp("conv", "Conv2D", 1, "x:0"), calledOp("call", "PartitionedCall", 2, "conv:0", "sub"), calledOp("out", "NetOutput", 3, "call:0"),
		) + calledGraph("sub",
			calledOp("sub_x", "Data", 0, "", "=0"), calledOp("relu", "Relu", 1, "sub_x:0"), calledOp("mul", "Mul", 2, "relu:0"), calledOp("sub_out", "NetOutput", 3, "mul:0", "<0"),
		),
		dumped: []string{"conv", "relu", "mul"},
		bad:    []string{"relu", "mul"},
		roots:  []string{"relu, inherited by 1, reaches mul"},
	},
	{
		name: "If: the branch that ran counts",
		graphs: calledGraph("root",
			calledOp("x", "Data", 0, ""), calledOp("less", "Less", 1, "x:0"), calledOp("conv", "Conv2D", 2, "x:0"),
			calledOp("if", "If", 3, "less:0 conv:0", "then", "else"), calledOp("add", "Add", 4, "if:0"), calledOp("out", "NetOutput", 5, "add:0"),
		) + calledGraph("then",
			calledOp("then_x", "Data", 0, "", "=1"), calledOp("then_mul", "Mul", 1, "then_x:0"), calledOp("then_out", "NetOutput", 2, "then_mul:0", "<0"),
		) + calledGraph("else",
			calledOp("else_x", "Data", 0, "", "=1"), calledOp("else_sub", "Sub", 1, "else_x:0"), calledOp("else_out", "NetOutput", 2, "else_sub:0", "<0"),
		),
		dumped: []string{"conv", "else_sub", "add"},
		bad:    []string{"else_sub", "add"},
		roots:  []string{"else_sub, inherited by 1, reaches add"},
	},
	{
		name: "While: the body returns, the condition does not",
		graphs: calledGraph("root",
			calledOp("x", "Data", 0, ""), calledOp("conv", "Conv2D", 1, "x:0"), calledOp("while", "While", 2, "conv:0", "cond", "body"),
			calledOp("add", "Add", 3, "while:0"), calledOp("out", "NetOutput", 4, "add:0"),
		) + calledGraph("cond",
			calledOp("cond_x", "Data", 0, "", "=0"), calledOp("less", "Less", 1, "cond_x:0"), calledOp("cond_out", "NetOutput", 2, "less:0", "<0"),
		) + calledGraph("body",
			calledOp("body_x", "Data", 0, "", "=0"), calledOp("body_mul", "Mul", 1, "body_x:0"), calledOp("body_out", "NetOutput", 2, "body_mul:0", "<0"),
		),
		dumped: []string{"conv", "less", "body_mul", "add"},
		bad:    []string{"conv", "body_mul", "add"},
		roots:  []string{"conv, inherited by 2, reaches add"},
	},
	{
		name: "without a NetOutput, behind an operator that computes nothing",
		graphs: calledGraph("root",
			calledOp("x", "Data", 0, ""), calledOp("conv", "Conv2D", 1, "x:0"), calledOp("relu", "Relu", 2, "conv:0"), calledOp("end", "End", 3, "relu:0"),
		),
		dumped: []string{"conv", "relu"},
		bad:    []string{"conv", "relu"},
		roots:  []string{"conv, inherited by 1, reaches relu"},
	},
	{
		name: "the output of the network was not recorded",
		graphs: calledGraph("root",
			calledOp("x", "Data", 0, ""), calledOp("conv", "Conv2D", 1, "x:0"), calledOp("relu", "Relu", 2, "conv:0"), calledOp("softmax", "SoftmaxV2", 3, "relu:0"), calledOp("out", "NetOutput", 4, "softmax:0"),
		),
		dumped: []string{"conv", "relu"},
		bad:    []string{"conv", "relu"},
		roots:  []string{"conv, inherited by 1, reaches softmax"},
	},
}

// calledOp is an operator of a graph: inputs name:output apart by blanks, and a
// word each for a graph it calls, "=N" for the input of the caller that it stands
// for, "<N" for the output of the caller that its first input becomes.
func calledOp(name, typ string, id int, inputs string, more ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  op { name: %q type: %q id: %d", name, typ, id)
	for _, in := range strings.Fields(inputs) {
		fmt.Fprintf(&b, " input: %q", in)
	}
	parent := func(n string) string { return `attr { key: "_parent_node_index" value { i: ` + n + " } }" }
	returned := ""
	for _, m := range more {
		switch {
		case m[0] == '=':
			b.WriteString(" " + parent(m[1:]))
		case m[0] == '<':
			returned = parent(m[1:])
		default:
			fmt.Fprintf(&b, " subgraph_name: %q", m)
		}
	}
	for range strings.Fields(inputs) {
		b.WriteString(" input_desc { " + returned + " }")
	}
	b.WriteString(` output_desc { dtype: DT_FLOAT layout: "NCHW" shape { dim: 1 dim: 4 dim: 2 dim: 2 } attr { key: "origin_format" value { s: "NCHW" } } } }`)
	return b.String()
}

// Errors are followed into called graphs and out of them again.
func TestRootsAcrossCalledGraphs(t *testing.T) {
	for _, c := range calledCases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			graph := filepath.Join(dir, "graph.txt")
			if err := os.WriteFile(graph, []byte("name: \"model\"\n"+c.graphs), 0o644); err != nil {
				t.Fatal(err)
			}
			for i, op := range c.dumped {
				values := make([]float32, 16)
				for k := range values {
					values[k] = float32(k*(i+2)%7) - 2.5
				}
				shape := []int64{1, 4, 2, 2}
				if err := dumptest.WriteNpy(fmt.Sprintf("%s/golden/%s.0.%d.npy", dir, op, 1700000000000000+i), "<f4", shape, dumptest.Floats(values)); err != nil {
					t.Fatal(err)
				}
				if slices.Contains(c.bad, op) {
					slices.Reverse(values)
				}
				d := dumptest.Dump{OpName: op, Outputs: []dumptest.Tensor{floats(shape, values...)}}
				if err := d.Write(fmt.Sprintf("%s/npu/Op.%s.%d.3.%d", dir, op, i+1, 1700000000000000+i)); err != nil {
					t.Fatal(err)
				}
			}
			s, err := Job{Options: Options{Numerics: metric.Exact}, Left: dir + "/npu", Right: dir + "/golden", Graph: graph}.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if n := out.Table.Compared(); n != len(c.dumped) || s.Folders.How() != result.ByGraph {
				t.Fatalf("%d compared of %d, paired %v", n, len(c.dumped), s.Folders.How())
			}
			j := verdict.Judge(out.Table, verdict.Options{})
			var got []string
			for _, r := range j.Roots {
				got = append(got, fmt.Sprintf("%s, inherited by %d, reaches %s", j.Operators[r.Operator].Op.Name, r.Inherited, strings.Join(r.Reaches, " ")))
			}
			if !slices.Equal(got, c.roots) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), strings.Join(c.roots, "; "))
			}
		})
	}
}
