package oracle

import "math"

// Reductions. Axes come as an attribute (…D) or as the second input; without
// any, all axes. Prototypes: reduce_ops.h.
//
// Sum: B = g(n+1)·Σ|x| + ΣB_x. Mean: the same over n. Product: B = g(n)·|y|.
// Max and min move numbers. All and any are exact.

type reducer func(c *Call, n int64) func(x, e []float64) (y, b float64)

func registerReduction(exact bool, f reducer, types ...string) {
	register(single(func(c *Call) (Values, error) {
		x, err := c.need("x", 0)
		if err != nil {
			return nil, err
		}
		axes, keep, err := c.reduceAxes(len(x.shape))
		if err != nil {
			return nil, err
		}
		return c.reduction(x, axes, keep, exact, f)
	}), types...)
}

// reduceAxes are the axes that a reduction takes together.
func (c *Call) reduceAxes(rank int) (axes []int, keep bool, err error) {
	keep, err = c.boolAttr("keep_dims", false)
	if err != nil {
		return nil, false, err
	}
	key := "axes"
	if c.attrs.Get(key) == nil && c.attrs.Get("axis") != nil {
		key = "axis"
	}
	list, err := c.intsAttr(key)
	if err != nil {
		return nil, false, err
	}
	if c.attrs.Get(key) == nil {
		if o := c.input("axes", 1); o != nil {
			if list, err = ints(o); err != nil {
				return nil, false, err
			}
		}
	}
	if axes, err = axesOf(key, list, rank); err != nil {
		return nil, false, err
	}
	if len(list) == 0 {
		for i := range rank {
			axes = append(axes, i)
		}
	}
	return axes, keep, nil
}

func (c *Call) reduction(x Values, axes []int, keep, exact bool, f reducer) (Values, error) {
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
		return nil, refuse(ShapesDiffer, shapeText(x.Shape()))
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

func init() {
	registerReduction(false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		return sumOf(c.reduceUnit(), n, 1)
	}, "ReduceSum", "ReduceSumD")
	registerReduction(false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		return sumOf(c.sumUnit(), n, float64(n))
	}, "ReduceMean", "ReduceMeanD")
	registerReduction(false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		g := gamma(float64(n), c.reduceUnit())
		return func(x, e []float64) (float64, float64) {
			y := 1.0
			for _, v := range x {
				y *= v
			}
			return y, g * abs(y)
		}
	}, "ReduceProd", "ReduceProdD")
	pick := func(f func(a, b float64) float64, start float64) reducer {
		return func(c *Call, n int64) func(x, e []float64) (float64, float64) {
			return func(x, e []float64) (float64, float64) {
				y, b := start, 0.0
				for i, v := range x {
					y, b = f(y, v), max(b, e[i])
				}
				if math.IsNaN(y) {
					b = math.Inf(1)
				}
				return y, b
			}
		}
	}
	registerReduction(true, pick(math.Max, math.Inf(-1)), "ReduceMax", "ReduceMaxD")
	registerReduction(true, pick(math.Min, math.Inf(1)), "ReduceMin", "ReduceMinD")
	truth := func(want bool) reducer {
		return func(c *Call, n int64) func(x, e []float64) (float64, float64) {
			return func(x, e []float64) (float64, float64) {
				for _, v := range x {
					if (v != 0) != want {
						return toNumber(!want), 0
					}
				}
				return toNumber(want), 0
			}
		}
	}
	registerReduction(true, truth(true), "ReduceAll", "ReduceAllD")
	registerReduction(true, truth(false), "ReduceAny", "ReduceAnyD")
}

func toNumber(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
