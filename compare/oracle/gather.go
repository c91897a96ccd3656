package oracle

import (
	"math"
	"slices"
)

func init() {
	register(single(buildGather), "Gather", "GatherV2", "GatherV2D")
	register(single(buildOneHot), "OneHot", "OneHotD")
	register(single(buildPad), "Pad", "PadD", "PadV2", "PadV2D", "PadV3", "PadV3D")
}

// gather takes slices of x: element (l, j, i) is x[l, index[l', j], i], l' the
// batch of l.
type gather struct {
	shape             []int64
	x                 Values
	lead, n, inner    int64 // axes before, the axis, and those behind it
	batches, perBatch int64 // of the indices; lead is batches·rest
	indices           []int64
}

func (g *gather) Shape() []int64 { return g.shape }
func (g *gather) Exact() bool    { return isExact(g.x) }

// source is where the run of inner elements begins that output run k is.
func (g *gather) source(k int64) (int64, bool) {
	l, j := k/g.perBatch, k%g.perBatch
	i := g.indices[l/(g.lead/g.batches)*g.perBatch+j]
	if i < 0 || i >= g.n {
		return 0, false
	}
	return (l*g.n + i) * g.inner, true
}

func (g *gather) Range(lo int64, y, b []float64) error {
	for at := int64(0); at < int64(len(y)); {
		k, i := (lo+at)/g.inner, (lo+at)%g.inner
		n := min(g.inner-i, int64(len(y))-at)
		var bounds []float64
		if b != nil {
			bounds = b[at : at+n]
		}
		if s, ok := g.source(k); !ok {
			outside(y[at:at+n], bounds)
		} else if err := g.x.Range(s+i, y[at:at+n], bounds); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// outside is what an index beyond the axis gives: anything.
func outside(y, b []float64) {
	clear(y)
	for i := range b {
		b[i] = math.Inf(1)
	}
}

func (g *gather) At(idx []int64, y, b []float64) error {
	for i, k := range idx {
		var bound []float64
		if b != nil {
			bound = b[i : i+1]
		}
		if err := g.Range(k, y[i:i+1], bound); err != nil {
			return err
		}
	}
	return nil
}

// buildGather: y = x[…, indices, …] along an axis, which is a recorded number
// (GatherV2), an attribute (GatherV2D) or 0.
func buildGather(c *Call) Values {
	in := c.operands()
	if len(in) < 2 {
		panic(refuse(InputCount, len(in), 2))
	}
	x, idx := in[0], in[1]
	a := c.attrInt("axis", 0)
	if c.attrs.Get("axis") == nil && len(in) > 2 {
		l := ints(in[2])
		if len(l) != 1 {
			panic(refuse(BadAttribute, "axis", shapeText(l), "one axis"))
		}
		a = l[0]
	}
	axes := axesOf("axis", []int64{a}, len(x.shape))
	if len(axes) != 1 {
		panic(refuse(BadAttribute, "axis", a, "an axis of "+shapeText(x.shape)))
	}
	axis := axes[0]
	dims := c.attrInt("batch_dims", 0)
	if dims < 0 {
		dims += int64(len(idx.shape))
	}
	if dims < 0 || dims > int64(len(idx.shape)) || dims > int64(axis) || !slices.Equal(x.shape[:dims], idx.shape[:dims]) {
		panic(refuse(BadAttribute, "batch_dims", dims, "axes that x and indices share"))
	}
	negative := c.attrBool("negative_index_support", false)
	if count(idx.shape) > maxDense {
		panic(refuse(TooLarge, count(idx.shape), maxDense))
	}
	list := must(numbers(idx))
	g := &gather{x: x, lead: count(x.shape[:axis]), n: x.shape[axis], inner: count(x.shape[axis+1:]),
		batches: count(x.shape[:dims]), perBatch: count(idx.shape[dims:]), indices: make([]int64, len(list))}
	for i, f := range list {
		g.indices[i] = int64(f)
		if negative && f < 0 {
			g.indices[i] += g.n
		}
	}
	g.shape = slices.Concat(x.shape[:axis], idx.shape[dims:], x.shape[axis+1:])
	if g.batches == 0 || g.perBatch == 0 || g.inner == 0 || len(g.shape) > maxRank {
		panic(refuse(ShapesDiffer, shapeText(x.shape, idx.shape)))
	}
	return c.asRecorded(g, 0)
}

// formula is a tensor whose elements a function gives.
type formula struct {
	shape []int64
	f     func(i int64, at []int64) (y, b float64)
	exact bool
	at    []int64
}

func (v *formula) Shape() []int64 { return v.shape }
func (v *formula) Exact() bool    { return v.exact }

func (v *formula) one(i int64, y, b []float64, k int) {
	v.at = grow(v.at, len(v.shape))
	unravel(i, v.shape, v.at)
	value, bound := v.f(i, v.at)
	y[k] = value
	if b != nil {
		b[k] = bound
	}
}

func (v *formula) Range(lo int64, y, b []float64) error {
	for i := range y {
		v.one(lo+int64(i), y, b, i)
	}
	return nil
}

func (v *formula) At(idx []int64, y, b []float64) error {
	for i, k := range idx {
		v.one(k, y, b, i)
	}
	return nil
}

// buildOneHot: y[…, j, …] = on where j is the index, else off; on_value and
// off_value are inputs.
func buildOneHot(c *Call) Values {
	in := c.operands()
	if c.Type == "OneHot" && len(in) == 4 { // indices, depth, on, off
		in = []*operand{in[0], in[2], in[3]}
	}
	shape, ok := c.out(0)
	if len(in) != 3 || !ok {
		panic(refuse(InputCount, len(in), 3))
	}
	index := must(numbers(in[0]))
	on := must(numbers(in[1]))
	off := must(numbers(in[2]))
	axis := c.attrInt("axis", -1)
	axes := axesOf("axis", []int64{axis}, len(shape))
	if len(axes) != 1 || len(on) != 1 || len(off) != 1 {
		panic(refuse(BadAttribute, "axis", axis, "an axis of "+shapeText(shape)))
	}
	rest := slices.Delete(slices.Clone(shape), axes[0], axes[0]+1)
	if count(rest) != int64(len(index)) {
		panic(refuse(ShapeComputed, shapeText(in[0].shape), shapeText(shape)))
	}
	steps := rowMajor(rest)
	return &formula{shape: shape, exact: true, f: func(_ int64, at []int64) (float64, float64) {
		k, o := int64(0), 0
		for i, a := range at {
			if i != axes[0] {
				k += a * steps[o]
				o++
			}
		}
		if index[k] == float64(at[axes[0]]) {
			return on[0], 0
		}
		return off[0], 0
	}}
}

// buildPad puts a border of one value around x. paddings are two numbers an
// axis, before and behind, as an attribute or an input.
func buildPad(c *Call) Values {
	x := c.need("x", 0)
	if mode := c.attrs.Get("mode").Text(); mode != "" && mode != "constant" && mode != "CONSTANT" {
		panic(refuse(Unsupported, "mode "+mode))
	}
	var list []int64
	if v := c.attrs.Get("paddings"); v != nil {
		for _, l := range v.IntLists() {
			list = append(list, l...)
		}
		if list == nil {
			list = v.Ints()
		}
	} else {
		p := c.need("paddings", 1)
		list = ints(p)
	}
	value := 0.0
	for name, k := range c.names {
		if (name == "constant_values" || name == "constant_value") && k < len(c.slots) && c.slots[k] != nil {
			v := must(numbers(c.slots[k]))
			if len(v) != 1 {
				panic(refuse(Unsupported, name))
			}
			value = v[0]
		}
	}
	if v := c.attrFloat("constant_values", value); c.attrs.Get("constant_values") != nil {
		value = v
	}
	shape, ok := c.out(0)
	rank := len(x.shape)
	if len(list) != 2*rank || !ok || len(shape) != rank {
		panic(refuse(BadAttribute, "paddings", shapeText(list), "two for each axis of "+shapeText(x.shape)))
	}
	for i, d := range x.shape {
		if !within(list[2*i], 0, 1<<40) || !within(list[2*i+1], 0, 1<<40) || d+list[2*i]+list[2*i+1] != shape[i] {
			panic(refuse(ShapeComputed, shapeText(x.shape, list), shapeText(shape)))
		}
	}
	d := must(held(x))
	steps := rowMajor(x.shape)
	return &formula{shape: shape, exact: true, f: func(_ int64, at []int64) (float64, float64) {
		k := int64(0)
		for i, a := range at {
			if a -= list[2*i]; a < 0 || a >= x.shape[i] {
				return value, 0
			}
			k += a * steps[i]
		}
		return d.y[k], 0
	}}
}
