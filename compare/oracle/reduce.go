package oracle

// Reductions. Axes come as an attribute (…D) or as the second input; without
// any, all axes. Prototypes: reduce_ops.h.
//
// Sum: B = g(n+1)·Σ|x| + ΣB_x. Mean: the same over n. Product: B = g(n)·|y|.
// Max and min move numbers. All and any are exact.

type reducer func(c *Call, n int64) func(x, e []float64) (y, b float64)

func (c *Call) reduction(x Values, axes []int, keep, exact bool, f reducer) Values {
	in, kept, n := lastAxes(x, axes)
	shape := []int64{}
	for i, d := range x.Shape() {
		switch {
		case contains(kept, i):
			shape = append(shape, d)
		case keep:
			shape = append(shape, 1)
		}
	}
	if n == 0 {
		panic(refuse(ShapesDiffer, shapeText(x.Shape())))
	}
	v := &reduced{shape: shape, in: in, n: n, f: f(c, n), exact: exact && isExact(x)}
	return c.asRecorded(v, 0)
}

func contains(list []int, x int) bool {
	for _, k := range list {
		if k == x {
			return true
		}
	}
	return false
}

// sumOf is Σx/over.
func sumOf(u float64, n int64, over float64) func(x, e []float64) (y, b float64) {
	g := gamma(float64(n+1), u)
	return func(x, e []float64) (float64, float64) {
		sum, size, off := 0.0, 0.0, 0.0
		for i, v := range x {
			sum += v
			size += abs(v)
			off += e[i]
		}
		return sum / over, (g*size + off*(1+g)) / over
	}
}

func (c *Call) reduceUnit() float64 {
	if integers(c) {
		return 0
	}
	return c.sumUnit()
}

func toNumber(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
