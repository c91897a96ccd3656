package look

import (
	"math"
	"slices"

	"precision/compare/result"
	"precision/graph/draw"
)

// Boxes of operators in a picture of the network, in pixels.
const (
	boxWidth  = 168
	boxHeight = 40
)

// LayOut gives the operators of a table their places in a picture of the network, unless they have them.
func LayOut(t *result.Table) {
	if slices.ContainsFunc(t.Ops, func(o result.Operator) bool { return o.X != 0 || o.Y != 0 }) {
		return
	}
	place := make(map[string]int, len(t.Ops))
	for i := range t.Ops {
		if _, twice := place[t.Ops[i].Name]; !twice {
			place[t.Ops[i].Name] = i
		}
	}
	var edges [][2]int
	for i := range t.Ops {
		for _, in := range t.Ops[i].Inputs {
			if from, ok := place[in.Op]; ok && in.Op != "" && from != i {
				edges = append(edges, [2]int{from, i})
			}
		}
	}
	x, y := draw.Layout(len(t.Ops), boxWidth, boxHeight, edges)
	for i := range t.Ops {
		t.Ops[i].X, t.Ops[i].Y = int(math.Round(x[i])), int(math.Round(y[i]))
	}
}
