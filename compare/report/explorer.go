package report

import (
	"encoding/json"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
)

// The forms of google-ai-edge/model-explorer: a graph as nodes with namespaces, and node data, which colour the nodes
// of a graph by a number (model_explorer/graph_builder.py and node_data_builder.py of its package, 0.1.34).
type (
	explorerGraphs struct {
		Label  string          `json:"label"`
		Graphs []explorerGraph `json:"graphs"`
	}
	explorerGraph struct {
		ID    string         `json:"id"`
		Nodes []ExplorerNode `json:"nodes"`
	}
	// ExplorerNode is an operator. Its namespace is the scope that it lies in, with slashes.
	ExplorerNode struct {
		ID        string         `json:"id"`
		Label     string         `json:"label"`
		Namespace string         `json:"namespace"`
		Attrs     []ExplorerPair `json:"attrs"`
		Incoming  []ExplorerEdge `json:"incomingEdges,omitempty"`
		Outputs   []ExplorerItem `json:"outputsMetadata,omitempty"`
	}
	// ExplorerPair is a fact of a node or an output.
	ExplorerPair struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	// ExplorerEdge leads from an output of another node to an input.
	ExplorerEdge struct {
		From   string `json:"sourceNodeId"`
		Output string `json:"sourceNodeOutputId"`
		Input  string `json:"targetNodeInputId"`
	}
	// ExplorerItem is an output, by its number.
	ExplorerItem struct {
		ID    string         `json:"id"`
		Attrs []ExplorerPair `json:"attrs"`
	}
	explorerData struct {
		Results  map[string]explorerValue `json:"results"`
		Gradient []explorerStop           `json:"gradient"`
	}
	explorerValue struct {
		Value  float64 `json:"value"`
		Colour string  `json:"bgColor"`
		Ink    string  `json:"textColor"`
	}
	explorerStop struct {
		Stop   float64 `json:"stop"`
		Colour string  `json:"bgColor"`
	}
)

// explorerID is the name of the graph, by which node data find it.
const explorerID = "network"

// explorerColours are those of states on the page of a comparison, in its light form.
var explorerColours = map[verdict.State]string{verdict.StateBad: "#c43c00", verdict.StateInherited: "#b0447f", verdict.StateSuspect: "#8f6a00", verdict.StateDamaged: "#5b4bb0", verdict.StateGood: "#00765a", verdict.StateUncompared: "#7b8591"}

// WriteExplorerGraph writes the operators and their edges as a graph for model-explorer. Scopes of names are
// namespaces, so that the viewer folds them: layer/attention/MatMul lies in layer/attention.
func WriteExplorerGraph(to io.Writer, j *verdict.Judged) error {
	causes := map[int][]string{}
	for k := range j.Roots {
		causes[j.Roots[k].Operator] = Text{Lang: msg.English}.Card(j, &j.Roots[k]).Causes
	}
	return WriteExplorer(to, j.Table.Meta.Left.Dir, func(yield func(ExplorerNode) bool) {
		for i := range j.Operators {
			op := &j.Operators[i]
			space := Namespace(op.Op.Name)
			switch {
			case op.Op.Scope != "":
				space = strings.ReplaceAll(op.Op.Scope, ".", "/")
			case len(op.Op.Framework) > 0:
				space = Namespace(op.Op.Framework[0])
			}
			n := ExplorerNode{ID: op.Op.Name, Label: op.Op.Type, Namespace: space,
				Attrs: []ExplorerPair{{"name", op.Op.Name}, {"verdict", speaker{msg.English}.say("word." + op.State.String())}, {"order", strconv.Itoa(i)}}}
			for _, text := range causes[i] {
				n.Attrs = append(n.Attrs, ExplorerPair{"cause", text})
			}
			for slot, from := range op.Op.Inputs {
				n.Incoming = append(n.Incoming, ExplorerEdge{from.Op, strconv.Itoa(from.Index), strconv.Itoa(slot)})
			}
			for k := range op.Outputs {
				row := j.Row(&op.Outputs[k])
				n.Outputs = append(n.Outputs, ExplorerItem{strconv.Itoa(row.Slot), []ExplorerPair{{"tensor", row.Tensor()}, {"shape", result.ShapeText(row.Shape)}, {"error", Figure(apart(row))}}})
			}
			if !yield(n) {
				return
			}
		}
	})
}

// WriteExplorer writes operators as a graph for model-explorer. Names and facts may be any text; edges from operators that are
// not among them are left out.
func WriteExplorer(to io.Writer, label string, operators iter.Seq[ExplorerNode]) error {
	g := explorerGraph{ID: explorerID, Nodes: []ExplorerNode{}}
	known := map[string]bool{}
	for n := range operators {
		known[n.ID] = true
		g.Nodes = append(g.Nodes, n)
	}
	clean := func(pairs []ExplorerPair) {
		for i := range pairs {
			pairs[i].Value = Clean(pairs[i].Value)
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.ID, n.Label, n.Namespace = Clean(n.ID), Clean(n.Label), Clean(n.Namespace)
		clean(n.Attrs)
		for k := range n.Outputs {
			clean(n.Outputs[k].Attrs)
		}
		n.Incoming = slices.DeleteFunc(n.Incoming, func(e ExplorerEdge) bool { return !known[e.From] })
		for k := range n.Incoming {
			n.Incoming[k].From = Clean(n.Incoming[k].From)
		}
	}
	return json.NewEncoder(to).Encode(explorerGraphs{Label: Clean(label), Graphs: []explorerGraph{g}})
}

// WriteNodeData writes the verdict as node data for model-explorer: of every operator the largest error of its outputs, in the
// colour of its state. They colour the graph of [WriteExplorerGraph], or any graph with these names.
func WriteNodeData(to io.Writer, j *verdict.Judged) error {
	return WriteNodes(to, func(yield func(Node) bool) {
		for i := range j.Operators {
			op := &j.Operators[i]
			for k := range op.Outputs {
				if !yield(Node{op.Op.Name, apart(j.Row(&op.Outputs[k])), op.State}) {
					return
				}
			}
		}
	})
}

// Node is an output of an operator, with its error, NaN where nothing is known of it.
type Node struct {
	Op    string
	Error float64
	State verdict.State
}

// WriteNodes writes node data for model-explorer: of every operator the largest error of its outputs that is known, and the
// state of the last of these.
func WriteNodes(to io.Writer, nodes iter.Seq[Node]) error {
	d := explorerData{Results: map[string]explorerValue{}, Gradient: []explorerStop{{0, explorerColours[verdict.StateGood]}, {1, explorerColours[verdict.StateBad]}}}
	for n := range nodes {
		name := Clean(n.Op)
		if math.IsNaN(n.Error) || d.Results[name].Value > n.Error {
			continue // nothing is known of its error, which is not none
		}
		d.Results[name] = explorerValue{min(n.Error, mostApart), explorerColours[n.State], "#ffffff"}
	}
	return json.NewEncoder(to).Encode(map[string]explorerData{explorerID: d})
}

// mostApart stands for errors that are no number: JSON has none, and the viewer's scale ends somewhere.
const mostApart = 1e6

// apart is how far apart the sides of a row are: the relative Euclidean distance of their elements, or the largest difference
// of two recorded statistics as a share of the larger one; NaN where neither is known.
func apart(row *result.Row) float64 {
	if row.Compared {
		if d := row.Result().Facts.Distance; d < mostApart {
			return d
		}
		return mostApart
	}
	rec := row.Recorded
	if rec == nil || rec.Left == nil || rec.Right == nil {
		return math.NaN()
	}
	worst := math.NaN()
	both := rec.Left.Known & rec.Right.Known
	x, y := rec.Left.Stats, rec.Right.Stats
	for i, pair := range [][2]float64{{x.Max, y.Max}, {x.Min, y.Min}, {x.Mean, y.Mean}, {x.Norm, y.Norm}} {
		if both&(1<<i) == 0 {
			continue
		}
		a, b := pair[0], pair[1]
		d := 0.0
		if a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
			if d = math.Abs(a-b) / max(math.Abs(a), math.Abs(b)); !(d < mostApart) {
				d = mostApart
			}
		}
		if !(d <= worst) {
			worst = d
		}
	}
	return worst
}

// Namespace is the scope of an operator's name: all but its last part.
func Namespace(name string) string {
	at := strings.LastIndexByte(name, '/')
	return name[:max(at, 0)]
}
