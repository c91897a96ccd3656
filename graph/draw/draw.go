// Package draw makes pictures of graphs: a [Drawing] is the neighbourhood of an operator ([Neighborhood]) or a graph
// ([Whole]), written as SVG ([Drawing.WriteSVG]) or in the DOT language ([Drawing.WriteDOT]), with operators coloured by
// type or by a metric ([Style]).
package draw

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/graph"
	"precision/internal/msg"
	"precision/internal/order"
	catalogue "precision/op"
)

// Drawing is a part of a graph to be drawn.
type Drawing struct {
	Title string
	Nodes []Node
	Edges []Edge
	Cut   int // operators left out because of the limit on nodes
}

// Node is an operator of a drawing.
type Node struct {
	Op      *graph.Op
	Root    bool
	MoreIn  int // producers that are not drawn
	MoreOut int // consumers that are not drawn
}

// Edge connects two nodes, given by their positions in Nodes.
type Edge struct {
	From, To int
	Out, In  int // output and input slot
	Desc     *graph.TensorDesc
}

// Style says how a drawing looks.
type Style struct {
	// Heat colours operators by the worst cosine of their outputs; NaN means it could not be computed. Operators without an
	// entry keep the colour of their type.
	Heat map[*graph.Op]float64
	// Lang is the language of legends and tool tips.
	Lang msg.Lang
}

// mostNodes is the number of nodes up to which drawings stay readable; tests have less.
var mostNodes = 200

// Neighborhood returns what lies within depth edges of root: producers of producers and consumers of consumers.
// Nearest operators come first when there are more than a drawing may have. Operators that wait on
// everything, like NetOutput, are drawn but not passed. Control edges are no part of drawings.
func Neighborhood(x *graph.Index, root *graph.Op, depth int) *Drawing {
	at := map[*graph.Op]int{root: 0}
	d := &Drawing{Title: root.Name, Nodes: []Node{{Op: root, Root: true}}}
	cut := map[*graph.Op]bool{}
	type step struct {
		op *graph.Op
		up bool
	}
	front := []step{{root, true}, {root, false}}
	for range depth {
		var next []step
		for _, s := range front {
			if s.op != root && (catalogue.Is(s.op.Type, catalogue.Cleans) || s.op.Type == "NetOutput") {
				continue
			}
			for _, o := range x.Neighbors(s.op, s.up) {
				if _, ok := at[o]; ok || cut[o] {
					continue
				}
				if len(d.Nodes) >= mostNodes {
					cut[o] = true
					continue
				}
				at[o] = len(d.Nodes)
				d.Nodes = append(d.Nodes, Node{Op: o})
				next = append(next, step{o, s.up})
			}
		}
		front = next
	}
	d.Cut = len(cut)
	d.connect(x, at)
	return d
}

// Whole returns a drawing of the first operators of g by id, as many as a drawing may have.
func Whole(x *graph.Index, g *graph.Graph) *Drawing {
	ops := slices.Clone(g.Ops)
	order.Stable(ops, func(a, b *graph.Op) int { return cmp.Compare(a.ID, b.ID) })
	d := &Drawing{Title: g.Name}
	at := map[*graph.Op]int{}
	for _, o := range ops {
		if len(d.Nodes) == mostNodes {
			d.Cut = len(ops) - mostNodes
			break
		}
		at[o] = len(d.Nodes)
		d.Nodes = append(d.Nodes, Node{Op: o})
	}
	d.connect(x, at)
	return d
}

// connect adds the edges between the nodes and counts those that leave the drawing.
func (d *Drawing) connect(x *graph.Index, at map[*graph.Op]int) {
	for i := range d.Nodes {
		n := &d.Nodes[i]
		for _, in := range x.Inputs(n.Op) {
			if in.From == nil || in.Slot < 0 {
				continue
			}
			from, ok := at[in.From]
			if !ok {
				n.MoreIn++
				continue
			}
			e := Edge{From: from, To: i, Out: in.Index, In: in.Slot, Desc: in.Desc}
			if in.Index >= 0 && in.Index < len(in.From.OutputDesc) {
				e.Desc = &in.From.OutputDesc[in.Index]
			}
			d.Edges = append(d.Edges, e)
		}
		for _, o := range x.Neighbors(n.Op, false) {
			if _, ok := at[o]; !ok {
				n.MoreOut++
			}
		}
	}
}

// ShortType returns an element type in the form labels use: "DT_FLOAT16" as "float16".
func ShortType(dtype string) string { return strings.ToLower(strings.TrimPrefix(dtype, "DT_")) }

func (e *Edge) label() string {
	if e.Desc == nil {
		return ""
	}
	return ShortType(e.Desc.DType) + " " + graph.FormatShape(e.Desc.Shape)
}

// typeColors gives the families of operators their fill colour.
var typeColors = []struct {
	color string
	words []string
}{
	{"#e4e4e4", []string{"data", "const", "constant", "variable", "netoutput", "noop", "placeholder", "getnext"}},
	{"#ffe0b0", []string{"transdata", "transpose", "reshape", "cast", "reformat", "squeeze", "expanddims", "flatten", "identity"}},
	{"#f2c6c6", []string{"send", "recv", "stream", "atomicaddrclean", "memset", "partitionedcall", "while", "if", "case", "switch", "merge"}},
	{"#b9d4f5", []string{"conv", "matmul", "fullyconnection", "gemm", "attention", "depthwise"}},
	{"#d9c8f0", []string{"norm", "softmax", "reduce", "bninference", "bntraining", "mean", "sum"}},
	{"#c4e8c4", []string{"relu", "add", "sub", "mul", "div", "sigmoid", "tanh", "gelu", "eltwise", "exp", "log", "sqrt", "abs", "neg", "maximum", "minimum"}},
	{"#bfe6e6", []string{"pool", "concat", "split", "slice", "gather", "pad", "resize", "upsample", "tile", "pack", "topk", "stridedread", "stridedwrite"}},
}

var restColors = []string{"#f0e8a8", "#cfd8c0", "#e8cfe0", "#c8d0e8", "#e0d0c0", "#d0e8d8"}

// TypeColor returns the fill colour of an operator type: one for each family, and one of a few others for the rest.
func TypeColor(typ string) string {
	t := strings.ToLower(typ)
	for _, c := range typeColors[:3] { // these names are whole
		for _, w := range c.words {
			if strings.HasPrefix(t, w) {
				return c.color
			}
		}
	}
	for _, c := range typeColors[3:] {
		for _, w := range c.words {
			if strings.Contains(t, w) {
				return c.color
			}
		}
	}
	h := fnv.New32a()
	h.Write([]byte(t))
	return restColors[h.Sum32()%uint32(len(restColors))]
}

// fill returns the fill colour of an operator and its metric as text.
func (s *Style) fill(o *graph.Op) (color, value string) {
	v, ok := s.Heat[o]
	if !ok {
		return TypeColor(o.Type), ""
	}
	if math.IsNaN(v) {
		return "#c9a7e0", "NaN"
	}
	p := min(max((v-heatBad)/(heatGood-heatBad), 0), 1)
	// From red over yellow to green.
	r, g := 235.0, 110+125*2*p
	if p > 0.5 {
		r, g = 235-2*(p-0.5)*110, 235
	}
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(r)), int(math.Round(min(g, 235))), 110), strconv.FormatFloat(v, 'g', 5, 64)
}

// What heat is, and the values that are drawn red and green.
const (
	heatName          = "CosineSimilarity"
	heatBad, heatGood = 0.9, 1.0
)

// Layout places boxes of width w and height h in layers from top to bottom, so
// that edges, pairs of places of boxes, point down and cross little. It returns
// the centres of the boxes. Boxes without any edge among them stand in rows, in
// their order.
func Layout(boxes int, w, h float64, edges [][2]int) (x, y []float64) {
	x, y = make([]float64, boxes), make([]float64, boxes)
	if len(edges) == 0 {
		across := int(math.Ceil(math.Sqrt(float64(boxes))))
		across = min(max(across, 4), 24)
		for i := range boxes {
			x[i], y[i] = (float64(i%across)+0.5)*(w+gapX), (float64(i/across)+0.5)*(h+gapY)
		}
		return x, y
	}
	ws, hs := make([]float64, boxes), make([]float64, boxes)
	for i := range boxes {
		ws[i], hs[i] = w, h
	}
	l := layOut(ws, hs, edges)
	for i := range boxes {
		x[i], y[i] = l.nodes[i].x, l.nodes[i].y
	}
	return x, y
}
