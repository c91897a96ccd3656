package draw

import "math"

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
