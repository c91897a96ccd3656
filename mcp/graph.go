package mcp

import (
	"cmp"
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"precision/compare/result"
	"precision/graph"
	"precision/internal/each"
	"precision/internal/must"
	"precision/run"
)

// GraphIn names an operator and how far to go from it.
type GraphIn struct {
	Table    string `json:"table,omitempty" jsonschema:"the table; the last one if left out"`
	Path     string `json:"path,omitempty" jsonschema:"a file of a graph, in place of a table: ge_proto_*_Build.txt, its JSON, an .om"`
	Operator string `json:"operator" jsonschema:"its name, that of the framework, or a part that no other name has"`
	Depth    int    `json:"depth,omitempty" jsonschema:"steps from it, 1 to 8; 2 if left out"`
	Up       *bool  `json:"up,omitempty" jsonschema:"what feeds it; true if left out"`
	Down     *bool  `json:"down,omitempty" jsonschema:"what takes its outputs; true if left out"`
	Cursor   string `json:"cursor,omitempty"`
}

// Node is an operator of a neighbourhood with what feeds it.
type Node struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Steps  int      `json:"steps" jsonschema:"from the operator asked for: below 0 feeds it, above 0 takes its outputs"`
	State  string   `json:"state,omitempty"`
	Root   bool     `json:"root,omitempty"`
	Inputs []string `json:"inputs" jsonschema:"the outputs that feed it, by slot, as conv1:output:0; empty where nothing is connected"`
}

// Neighbourhood is what is around an operator, the nearest first.
type Neighbourhood struct {
	Table    string `json:"table,omitempty"`
	Operator string `json:"operator"`
	Nodes    []Node `json:"nodes"`
	Page
}

const (
	usualDepth = 2
	mostDepth  = 8
	mostInputs = 16
)

func (s *Server) graph(ctx context.Context, _ *sdk.CallToolRequest, in GraphIn) (out Neighbourhood) {
	in.Depth = cmp.Or(in.Depth, usualDepth)
	must.Not(in.Depth < 1 || in.Depth > mostDepth, "depth: found %d, expected 1 to %d", in.Depth, mostDepth)
	up, down := in.Up == nil || *in.Up, in.Down == nil || *in.Down
	if in.Path != "" {
		return s.graphOfFile(ctx, in, up, down)
	}
	x := s.tables.open(ctx, in.Table)
	j, at := x.comparison(), x.operator(in.Operator)
	must.Not(!j.Edges, "%s: the table does not know which operator feeds which; compare with the graph, or name a graph as path", x.name)
	feeders := func(i int) (list []int) {
		for _, p := range j.Operators[i].Op.Inputs {
			if k, ok := x.byName[p.Op]; ok && p.Op != "" {
				list = append(list, k)
			}
		}
		return list
	}
	order, steps := around(at, in.Depth, up, down, feeders, x.usersOf)
	out.Table, out.Operator = x.name, j.Operators[at].Op.Name
	out.Page, out.Nodes = fill(in.Cursor, listKey("graph", x.state, at, in.Depth, up, down), len(order), listBytes, func(i int) Node {
		op := &j.Operators[order[i]]
		inputs := each.Of(op.Op.Inputs, func(p result.Port) string {
			if p.Op == "" {
				return ""
			}
			return result.TensorName(p.Op, result.Output, p.Index)
		})
		return Node{Name: clip(op.Op.Name, mostName), Type: op.Op.Type, Steps: steps[order[i]], State: op.State.String(), Root: x.lines[order[i]].Root,
			Inputs: append([]string{}, clipped(inputs, mostInputs, mostName)...)}
	})
	return out
}

// around are the nodes so many steps from one, the nearest first, and how many steps each is away.
func around[N comparable](from N, depth int, up, down bool, feeders, users func(N) []N) (order []N, steps map[N]int) {
	order, steps = []N{from}, map[N]int{from: 0}
	for _, way := range []struct {
		wanted bool
		sign   int
		next   func(N) []N
	}{{up, -1, feeders}, {down, 1, users}} {
		if !way.wanted {
			continue
		}
		front := []N{from}
		for d := 1; d <= depth; d++ {
			var next []N
			for _, n := range front {
				for _, k := range way.next(n) {
					if _, seen := steps[k]; !seen {
						steps[k] = way.sign * d
						next, order = append(next, k), append(order, k)
					}
				}
			}
			front = next
		}
	}
	return order, steps
}

func (s *Server) graphOfFile(ctx context.Context, in GraphIn, up, down bool) (out Neighbourhood) {
	path := s.f.path(in.Path)
	index := must.Get(graph.NewIndex(must.Get(run.OpenGraph(ctx, path))))
	ops, exact := index.Search(in.Operator, "")
	must.Not(len(ops) == 0, "no operator %q in %s", clip(in.Operator, 200), in.Path)
	if !exact {
		one(each.Of(ops, func(op *graph.Op) string { return op.Name }), in.Operator)
	}
	order, steps := around(ops[0], in.Depth, up, down,
		func(op *graph.Op) []*graph.Op { return index.Neighbors(op, true) }, func(op *graph.Op) []*graph.Op { return index.Neighbors(op, false) })
	out.Operator = ops[0].Name
	out.Page, out.Nodes = fill(in.Cursor, listKey("graph", path, ops[0].Name, in.Depth, up, down), len(order), listBytes, func(i int) Node {
		op := order[i]
		inputs := each.Of(index.Inputs(op), func(e graph.Input) string {
			if e.From == nil {
				return ""
			}
			return result.TensorName(e.From.Name, result.Output, e.Index)
		})
		return Node{Name: clip(op.Name, mostName), Type: op.Type, Steps: steps[op], Inputs: append([]string{}, clipped(inputs, mostInputs, mostName)...)}
	})
	return out
}
