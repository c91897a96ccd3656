package draw

import (
	"cmp"
	"math"
	"slices"

	"precision/internal/order"
)

// layered places boxes in layers from top to bottom so that edges point down and cross little, after Sugiyama, Tagawa
// and Toda (IEEE Transactions on Systems, Man, and Cybernetics, 1981): layers by longest path, bends where an edge
// passes a layer, order by barycentres, then positions drawn towards the neighbours.
type layered struct {
	nodes  []lnode // boxes first, then bends
	boxes  int
	layers [][]int
	edges  []ledge
	width  float64
	height float64
}

type lnode struct {
	w, h  float64
	x, y  float64 // centre
	layer int
	up    []int // neighbours one layer above
	down  []int
	pos   int // in its layer
}

// ledge is an edge as it is drawn: from its box over bends to its box.
type ledge struct {
	from, to int
	path     []int // nodes on the way, both ends included
	flipped  bool  // points up: part of a circle
}

const (
	gapX     = 22.0
	gapY     = 46.0
	bendW    = 8.0
	maxBends = 30000 // beyond, long edges are drawn straight
	sweeps   = 12
)

// layOut places boxes of the given sizes.
func layOut(w, h []float64, edges [][2]int) *layered {
	l := &layered{}
	for i := range w {
		l.nodes = append(l.nodes, lnode{w: w[i], h: h[i]})
	}
	l.boxes = len(l.nodes)
	for _, e := range edges {
		l.edges = append(l.edges, ledge{from: e[0], to: e[1]})
	}
	l.breakCircles()
	l.assign()
	l.bend()
	l.order()
	l.place()
	return l
}

// bent reports whether node n is a bend of an edge.
func (l *layered) bent(n int) bool { return n >= l.boxes }

// ends returns an edge in the direction in which all edges together have no circle.
func (e *ledge) ends() (from, to int) {
	if e.flipped {
		return e.to, e.from
	}
	return e.from, e.to
}

// breakCircles flips the edges that lead back to an operator still open in a depth-first walk.
func (l *layered) breakCircles() {
	out := make([][]int, len(l.nodes))
	for i, e := range l.edges {
		out[e.from] = append(out[e.from], i)
	}
	const (
		open = 1
		done = 2
	)
	state := make([]uint8, len(l.nodes))
	type frame struct{ n, next int }
	for root := range l.nodes {
		if state[root] != 0 {
			continue
		}
		state[root] = open
		stack := []frame{{root, 0}}
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next == len(out[f.n]) {
				state[f.n] = done
				stack = stack[:len(stack)-1]
				continue
			}
			e := &l.edges[out[f.n][f.next]]
			f.next++
			switch state[e.to] {
			case open:
				e.flipped = true
			case 0:
				state[e.to] = open
				stack = append(stack, frame{e.to, 0})
			}
		}
	}
}

// assign gives each box the layer below all its producers, then pulls producers down towards their consumers.
func (l *layered) assign() {
	n := len(l.nodes)
	indeg := make([]int, n)
	out := make([][]int, n)
	for i := range l.edges {
		a, b := l.edges[i].ends()
		if a == b {
			continue
		}
		indeg[b]++
		out[a] = append(out[a], b)
	}
	var topo []int
	for i := range n {
		if indeg[i] == 0 {
			topo = append(topo, i)
		}
	}
	for k := 0; k < len(topo); k++ {
		a := topo[k]
		for _, b := range out[a] {
			l.nodes[b].layer = max(l.nodes[b].layer, l.nodes[a].layer+1)
			if indeg[b]--; indeg[b] == 0 {
				topo = append(topo, b)
			}
		}
	}
	deepest := 0
	for i := range l.nodes {
		deepest = max(deepest, l.nodes[i].layer)
	}
	hasUp := make([]bool, n)
	for i := range l.edges {
		if a, b := l.edges[i].ends(); a != b {
			hasUp[b] = true
		}
	}
	// Boxes without edges stand in rows of their own below the rest.
	alone := 0
	for i := range l.nodes {
		if !hasUp[i] && len(out[i]) == 0 && len(l.edges) > 0 {
			l.nodes[i].layer = deepest + 1 + alone/6
			alone++
		}
	}
	for k := len(topo) - 1; k >= 0; k-- {
		a := topo[k]
		if hasUp[a] || len(out[a]) == 0 {
			continue // only sources can sink without stretching other edges
		}
		low := deepest
		for _, b := range out[a] {
			low = min(low, l.nodes[b].layer-1)
		}
		l.nodes[a].layer = max(l.nodes[a].layer, low)
	}
}

// bend splits edges that pass layers.
func (l *layered) bend() {
	bends := 0
	for i := range l.edges {
		e := &l.edges[i]
		a, b := e.ends()
		e.path = append(e.path, a)
		span := l.nodes[b].layer - l.nodes[a].layer
		if span > 1 && bends+span < maxBends {
			prev := a
			for k := l.nodes[a].layer + 1; k < l.nodes[b].layer; k++ {
				l.nodes = append(l.nodes, lnode{w: bendW, layer: k})
				m := len(l.nodes) - 1
				l.link(prev, m)
				e.path = append(e.path, m)
				prev = m
				bends++
			}
			l.link(prev, b)
		} else if a != b {
			l.link(a, b)
		}
		e.path = append(e.path, b)
		if e.flipped {
			slices.Reverse(e.path)
		}
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		for len(l.layers) <= n.layer {
			l.layers = append(l.layers, nil)
		}
		n.pos = len(l.layers[n.layer])
		l.layers[n.layer] = append(l.layers[n.layer], i)
	}
}

func (l *layered) link(a, b int) {
	l.nodes[a].down = append(l.nodes[a].down, b)
	l.nodes[b].up = append(l.nodes[b].up, a)
}

// order sorts each layer by the mean position of the neighbours, downwards and upwards in turn, and keeps the order
// with the fewest crossings.
func (l *layered) order() {
	best := l.crossings()
	keep := make([][]int, len(l.layers))
	save := func() {
		for i, layer := range l.layers {
			keep[i] = slices.Clone(layer)
		}
	}
	save()
	for s := 0; s < sweeps && best > 0; s++ {
		down := s%2 == 0
		for k := range l.layers {
			i := k
			if !down {
				i = len(l.layers) - 1 - k
			}
			l.sortLayer(i, down)
		}
		if c := l.crossings(); c < best {
			best = c
			save()
		}
	}
	for i, layer := range keep {
		l.layers[i] = layer
		for p, n := range layer {
			l.nodes[n].pos = p
		}
	}
}

func (l *layered) sortLayer(i int, down bool) {
	layer := l.layers[i]
	mean := make(map[int]float64, len(layer))
	for p, n := range layer {
		near := l.nodes[n].up
		if !down {
			near = l.nodes[n].down
		}
		if len(near) == 0 {
			mean[n] = float64(p)
			continue
		}
		sum := 0.0
		for _, m := range near {
			sum += float64(l.nodes[m].pos)
		}
		mean[n] = sum / float64(len(near))
	}
	order.Stable(layer, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	for p, n := range layer {
		l.nodes[n].pos = p
	}
}

// crossings counts the pairs of crossing edges between neighbouring layers, as inversions.
func (l *layered) crossings() int {
	total := 0
	for _, layer := range l.layers {
		var ends []int
		for _, n := range layer {
			k := len(ends)
			for _, m := range l.nodes[n].down {
				ends = append(ends, l.nodes[m].pos)
			}
			slices.Sort(ends[k:])
		}
		total += inversions(ends)
	}
	return total
}

func inversions(a []int) int {
	if len(a) < 2 {
		return 0
	}
	size := 0
	for _, v := range a {
		size = max(size, v+1)
	}
	tree := make([]int, size+1)
	n := 0
	for i, v := range a {
		less := 0
		for k := v + 1; k > 0; k -= k & -k {
			less += tree[k]
		}
		n += i - less
		for k := v + 1; k <= size; k += k & -k {
			tree[k]++
		}
	}
	return n
}

// place gives every node coordinates.
func (l *layered) place() {
	for _, layer := range l.layers {
		x := 0.0
		for _, n := range layer {
			l.nodes[n].x = x + l.nodes[n].w/2
			x += l.nodes[n].w + gapX
		}
	}
	for s := range 2 * sweeps {
		down := s%2 == 0
		for k := range l.layers {
			i := k
			if !down {
				i = len(l.layers) - 1 - k
			}
			l.pull(i, down, s >= 2*sweeps-2)
		}
	}
	left, y := math.Inf(1), 0.0
	for _, layer := range l.layers {
		h := 0.0
		for _, n := range layer {
			h = max(h, l.nodes[n].h)
			left = min(left, l.nodes[n].x-l.nodes[n].w/2)
		}
		for _, n := range layer {
			l.nodes[n].y = y + h/2
			if l.bent(n) {
				l.nodes[n].h = h // the edge passes between the boxes, straight
			}
		}
		y += h + gapY
	}
	for i := range l.nodes {
		l.nodes[i].x -= left
		l.width = max(l.width, l.nodes[i].x+l.nodes[i].w/2)
	}
	l.height = max(0, y-gapY)
}

// pull moves the nodes of a layer to where their neighbours want them, as near as the order allows: neighbours that
// want to overlap share their means (pool adjacent violators).
func (l *layered) pull(i int, down, both bool) {
	layer := l.layers[i]
	type block struct {
		sum, weight float64 // wanted left edge of the block, weighted
		first, last int     // positions in the layer
	}
	var blocks []block
	at := 0.0 // left edge of the node if the layer were packed from 0
	for p, n := range layer {
		node := &l.nodes[n]
		near := node.up
		if !down {
			near = node.down
		}
		want, weight := node.x, 0.1
		if both {
			near = append(slices.Clone(node.up), node.down...)
		}
		if len(near) > 0 {
			sum := 0.0
			for _, m := range near {
				sum += l.nodes[m].x
			}
			want, weight = sum/float64(len(near)), 1
			if l.bent(n) { // keep long edges straight
				weight = 4
			}
		}
		b := block{(want - node.w/2 - at) * weight, weight, p, p}
		for len(blocks) > 0 {
			prev := blocks[len(blocks)-1]
			if prev.sum/prev.weight <= b.sum/b.weight {
				break
			}
			b = block{prev.sum + b.sum, prev.weight + b.weight, prev.first, p}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
		at += node.w + gapX
	}
	at = 0
	for _, b := range blocks {
		shift := b.sum / b.weight
		for p := b.first; p <= b.last; p++ {
			node := &l.nodes[layer[p]]
			node.x = shift + at + node.w/2
			at += node.w + gapX
		}
	}
}
