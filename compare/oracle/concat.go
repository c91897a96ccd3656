package oracle

import "slices"

func init() {
	register(single(buildConcat), "Concat", "ConcatD", "ConcatV2", "ConcatV2D")
	register(single(buildPack), "Pack", "Stack")
	register(one(buildSplit), "Split", "SplitD", "SplitV", "SplitVD")
}

// concat joins tensors along an axis.
type concat struct {
	shape []int64
	parts []Values
	inner int64   // elements of a step along the axis
	ends  []int64 // of the parts, in elements of one row
	row   int64   // elements of all parts together, in one row
}

func newConcat(parts []Values, axis int) *concat {
	shape := slices.Clone(parts[0].Shape())
	c := &concat{shape: shape, parts: parts, inner: count(shape[axis+1:])}
	shape[axis] = 0
	for _, p := range parts {
		s := p.Shape()
		if len(s) != len(shape) {
			panic(refuse(ShapesDiffer, shapeText(shape, s)))
		}
		for i := range s {
			if i != axis && s[i] != shape[i] {
				panic(refuse(ShapesDiffer, shapeText(shape, s)))
			}
		}
		shape[axis] += s[axis]
		c.row += s[axis] * c.inner
		c.ends = append(c.ends, c.row)
	}
	return c
}

func (c *concat) Shape() []int64 { return c.shape }

func (c *concat) Exact() bool {
	return !slices.ContainsFunc(c.parts, func(v Values) bool { return !isExact(v) })
}

// find is the part that an element of a row is in, and where in the part's row.
func (c *concat) find(i int64) (part int, at, width int64) {
	part, _ = slices.BinarySearch(c.ends, i+1)
	start := int64(0)
	if part > 0 {
		start = c.ends[part-1]
	}
	return part, i - start, c.ends[part] - start
}

func (c *concat) Range(lo int64, y, b []float64) error {
	for at := int64(0); at < int64(len(y)); {
		r, i := (lo+at)/c.row, (lo+at)%c.row
		part, off, width := c.find(i)
		n := min(width-off, int64(len(y))-at)
		var bounds []float64
		if b != nil {
			bounds = b[at : at+n]
		}
		if err := c.parts[part].Range(r*width+off, y[at:at+n], bounds); err != nil {
			return err
		}
		at += n
	}
	return nil
}

func (c *concat) At(idx []int64, y, b []float64) error {
	for i, k := range idx {
		part, off, width := c.find(k % c.row)
		var bounds []float64
		if b != nil {
			bounds = b[i : i+1]
		}
		if err := c.parts[part].At([]int64{k/c.row*width + off}, y[i:i+1], bounds); err != nil {
			return err
		}
	}
	return nil
}

// dynamic are the inputs of an operator that takes any number of them; the
// named one, which says an axis, is not among them.
func (c *Call) dynamic(axisName string) []*operand {
	skip, named := c.names[axisName]
	var out []*operand
	for i, o := range c.slots {
		if o != nil && !(named && i == skip) {
			out = append(out, o)
		}
	}
	return out
}

// axisOf is an axis that comes as an attribute or as an input.
func (c *Call) axisOf(key, input string, missing int64, rank int) int {
	list := []int64{missing}
	if c.attrs.Get(key) != nil {
		a := c.attrInt(key, missing)
		list[0] = a
	} else if k, ok := c.names[input]; ok && k < len(c.slots) && c.slots[k] != nil {
		l := ints(c.slots[k])
		if len(l) != 1 {
			panic(refuse(BadAttribute, key, shapeText(l), "one axis"))
		}
		list = l
	} else if missing < -1<<30 {
		panic(refuse(NoAttribute, key))
	}
	axes := axesOf(key, list, rank)
	if len(axes) != 1 {
		panic(refuse(BadAttribute, key, shapeText(list), "one axis"))
	}
	return axes[0]
}

const required = -1 << 31

func buildConcat(c *Call) Values {
	in := c.dynamic("concat_dim")
	if len(in) == 0 {
		panic(refuse(NoInput, "x"))
	}
	axis := c.axisOf("concat_dim", "concat_dim", required, len(in[0].shape))
	parts := make([]Values, len(in))
	for i, o := range in {
		parts[i] = o
	}
	v := newConcat(parts, axis)
	return c.asRecorded(v, 0)
}

// buildPack joins tensors along a new axis.
func buildPack(c *Call) Values {
	in := c.dynamic("")
	if len(in) == 0 {
		panic(refuse(NoInput, "x"))
	}
	rank := len(in[0].shape)
	axis := c.axisOf("axis", "axis", 0, rank+1)
	parts := make([]Values, len(in))
	for i, o := range in {
		if len(o.shape) != rank {
			panic(refuse(ShapesDiffer, shapeText(in[0].shape, o.shape)))
		}
		parts[i] = reshape(o, slices.Insert(slices.Clone(o.shape), axis, 1))
	}
	v := newConcat(parts, axis)
	return c.asRecorded(v, 0)
}

// buildSplit takes x apart along an axis: into parts of given sizes, or of
// equal ones.
func buildSplit(c *Call) []Values {
	k := 0
	if c.Type == "Split" { // split_dim comes first
		k = 1
	}
	x := c.need("x", k)
	axis := c.axisOf("split_dim", "split_dim", required, len(x.shape))
	sizes := c.attrInts("size_splits")
	if o := c.input("size_splits", 1); sizes == nil && o != nil && (c.Type == "SplitV") {
		sizes = ints(o)
	}
	d := x.shape[axis]
	if sizes == nil {
		n := int64(len(c.outs))
		if n == 0 || d%n != 0 {
			panic(refuse(ShapesDiffer, shapeText(x.shape)))
		}
		sizes = repeated(int(n), d/n)
	}
	sizes = slices.Clone(sizes)
	total, open := int64(0), -1
	for i, s := range sizes {
		switch {
		case s == -1 && open < 0:
			open = i
		case s < 0 || s > d:
			panic(refuse(BadAttribute, "size_splits", shapeText(sizes), "parts of "+itoa(int(d))))
		default:
			total += s
		}
	}
	if open >= 0 {
		sizes[open] = d - total
		total = d
	}
	if total != d || len(sizes) != len(c.outs) || open >= 0 && sizes[open] < 0 {
		panic(refuse(BadAttribute, "size_splits", shapeText(sizes), "parts of "+itoa(int(d))))
	}
	begin := make([]int64, len(x.shape))
	var out []Values
	for i, s := range sizes {
		shape := slices.Clone(x.shape)
		shape[axis] = s
		v := c.asRecorded(cut(x, begin, shape, ones(len(shape))), i)
		out = append(out, v)
		begin[axis] += s
	}
	return out
}
