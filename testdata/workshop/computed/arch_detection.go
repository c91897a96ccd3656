package computed

import (
	"math"
)

// detection finds boxes: scores of a grid, the best ones, their boxes, and those of
// them that do not overlap.
func detection(b *builder) {
	w, grid := of(b, 16, 12, 20)*b.size, of(b, 8, 6, 10)
	x := b.image("input", 1, 3, 2*grid, 2*grid)
	x = b.conv("backbone/conv1", x, w, 3, 2, "Relu")
	x = b.conv("backbone/conv2", x, w, 3, 1, "Relu")
	scores := b.layout(b.conv("head/score", x, 4, 1, 1, ""), "NCHW")
	deltas := b.layout(b.conv("head/box", x, 4, 3, 1, ""), "NCHW")
	n := grid * grid
	p := b.cast(b.like("head/Sigmoid", "Sigmoid", attrs{}, scores), f32)
	if b.other != nil {
		p = b.awkward("scores", p)
	}
	p = b.reshape("scores/Reshape", b.transpose("scores/transpose", p, 0, 2, 3, 1), n, 4)
	b.nd(p)
	best := b.reduce("scores/Max", "ReduceMaxD", p, false, 1)
	class := b.op("scores/ArgMax", "ArgMaxD", []string{p}, []spec{{i32, "ND", []int{n}}}, attrs{"dimension": 1})
	// boxes: centres on the grid, sizes by exp
	d := b.nd(b.reshape("boxes/Reshape", b.transpose("boxes/transpose", b.cast(deltas, f32), 0, 2, 3, 1), n, 4))
	centres := zeros(n, 2)
	for i := range n {
		centres.v[2*i], centres.v[2*i+1] = float64(i/grid), float64(i%grid)
	}
	parts := b.split("boxes/split", d, 1, 2)
	centre := b.like("boxes/centre", "Add", attrs{}, b.like("boxes/Tanh", "Tanh", attrs{}, parts[0]), b.constant("boxes/anchors", f32, centres))
	size := b.like("boxes/Exp", "Exp", attrs{}, b.like("boxes/Minimum", "Minimum", attrs{}, parts[1], b.constant("boxes/limit", f32, scalarOf(math.Log(3)))))
	boxes := b.concat("boxes/concat", 1, b.like("boxes/sub", "Sub", attrs{}, centre, size), b.like("boxes/add", "Add", attrs{}, centre, size))
	k := 24
	flat := b.reshape("top/Reshape", best, 1, n)
	values := b.op("top/TopK", "TopKD", []string{flat}, []spec{{f32, "ND", []int{1, k}}, {i32, "ND", []int{1, k}}}, attrs{"k": k, "largest": true, "sorted": true, "dim": -1})
	at := b.reshape("top/indices", "top/TopK:1", k)
	chosen := b.gather("top/Gather_boxes", boxes, at)
	label := b.gather("top/Gather_class", class, at)
	sure := b.boolean(b.like("top/Greater", "Greater", attrs{}, values, b.constant("top/threshold", f32, scalarOf(0.6))))
	kept := b.like("top/Select", "Select", attrs{}, sure, values, b.constant("top/zero", f32, zeros(1, k)))
	b.setLike(kept, values)
	area := b.like("top/mul", "Mul", attrs{}, b.slice("top/height", chosen, []int{0, 2}, []int{k, 3}), b.slice("top/width", chosen, []int{0, 3}, []int{k, 4}))
	nms := b.op("nms/NonMaxSuppression", "NonMaxSuppressionV6", []string{chosen, values}, []spec{{i32, "ND", []int{10, 3}}}, attrs{"iou_threshold": 0.5, "score_threshold": 0.3, "center_point_box": 0})
	sorted := b.op("sort/Sort", "Sort", []string{area2(b, area, k)}, []spec{{f32, "ND", []int{1, k}}, {i32, "ND", []int{1, k}}}, attrs{"axis": -1, "descending": b.seed%2 == 0})
	b.results = []string{chosen, label, kept, nms, sorted, "sort/Sort:1"}
}

func area2(b *builder, x string, k int) string { return b.reshape("sort/Reshape", x, 1, k) }

// nd is the layout of what is no picture any more.
func (b *builder) nd(x string) string {
	n := b.nodes[len(b.nodes)-1]
	n.outputs[0].layout = "ND"
	b.tensors[x] = n.outputs[0]
	return x
}

// setLike gives the output of the last operator the type of another tensor.
func (b *builder) setLike(x, other string) {
	n := b.nodes[len(b.nodes)-1]
	n.outputs[0].dtype = b.tensors[other].dtype
	b.tensors[x] = n.outputs[0]
}

// awkward makes scores what judges find hard: on a coarse grid, so that rounding makes ties of some and
// steps of others; or with NaN, of elements that have nothing to divide by, which are thrown away again.
func (b *builder) awkward(scope, x string) string {
	switch of(b, 0, 1, 2, 3) {
	case 1:
		step := b.constant(scope+"/step", f32, scalarOf(64))
		return b.like(scope+"/steps", "RealDiv", attrs{}, b.like(scope+"/Round", "Round", attrs{}, b.like(scope+"/mul", "Mul", attrs{}, x, step)), step)
	case 2:
		zero := b.constant(scope+"/none", f32, scalarOf(0))
		mask := zeros(b.shape(x)...)
		for i := range mask.v {
			mask.v[i] = float64(i % 3 & 1)
		}
		some := b.like(scope+"/masked", "Mul", attrs{}, x, b.constant(scope+"/mask", f32, mask))
		y := b.like(scope+"/RealDiv", "RealDiv", attrs{}, some, some)
		known := b.boolean(b.like(scope+"/NotEqual", "Greater", attrs{}, b.like(scope+"/Square", "Square", attrs{}, some), zero))
		y = b.like(scope+"/Select", "Select", attrs{}, known, y, zero)
		b.setLike(y, x)
		return b.like(scope+"/kept", "Mul", attrs{}, x, b.like(scope+"/plus", "Add", attrs{}, y, b.constant(scope+"/one", f32, scalarOf(1))))
	case 3: // a sum of what was and what is
		return b.like(scope+"/residual", "Add", attrs{}, x, b.like(scope+"/more/Tanh", "Tanh", attrs{}, x))
	}
	return x
}
