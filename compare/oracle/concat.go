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

func newConcat(parts []Values, axis int) (*concat, error) {
	shape := slices.Clone(parts[0].Shape())
	c := &concat{shape: shape, parts: parts, inner: count(shape[axis+1:])}
	shape[axis] = 0
	for _, p := range parts {
		s := p.Shape()
		if len(s) != len(shape) {
			return nil, refuse(ShapesDiffer, shapeText(shape, s))
		}
		for i := range s {
			if i != axis && s[i] != shape[i] {
				return nil, refuse(ShapesDiffer, shapeText(shape, s))
			}
		}
		shape[axis] += s[axis]
		c.row += s[axis] * c.inner
		c.ends = append(c.ends, c.row)
	}
	return c, nil
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
func (c *Call) axisOf(key, input string, missing int64, rank int) (int, error) {
	list := []int64{missing}
	if c.attrs.Get(key) != nil {
		a := c.attrInt(key, missing)
		list[0] = a
	} else if k, ok := c.names[input]; ok && k < len(c.slots) && c.slots[k] != nil {
		l, err := ints(c.slots[k])
		if err != nil {
			return 0, err
		}
		if len(l) != 1 {
			return 0, refuse(BadAttribute, key, shapeText(l), "one axis")
		}
		list = l
	} else if missing < -1<<30 {
		return 0, refuse(NoAttribute, key)
	}
	axes, err := axesOf(key, list, rank)
	if err != nil {
		return 0, err
	}
	if len(axes) != 1 {
		return 0, refuse(BadAttribute, key, shapeText(list), "one axis")
	}
	return axes[0], nil
}

const required = -1 << 31

func buildConcat(c *Call) (Values, error) {
	in := c.dynamic("concat_dim")
	if len(in) == 0 {
		return nil, refuse(NoInput, "x")
	}
	axis, err := c.axisOf("concat_dim", "concat_dim", required, len(in[0].shape))
	if err != nil {
		return nil, err
	}
	parts := make([]Values, len(in))
	for i, o := range in {
		parts[i] = o
	}
	v, err := newConcat(parts, axis)
	if err != nil {
		return nil, err
	}
	return c.asRecorded(v, 0)
}

// buildPack joins tensors along a new axis.
func buildPack(c *Call) (Values, error) {
	in := c.dynamic("")
	if len(in) == 0 {
		return nil, refuse(NoInput, "x")
	}
	rank := len(in[0].shape)
	axis, err := c.axisOf("axis", "axis", 0, rank+1)
	if err != nil {
		return nil, err
	}
	parts := make([]Values, len(in))
	for i, o := range in {
		if len(o.shape) != rank {
			return nil, refuse(ShapesDiffer, shapeText(in[0].shape, o.shape))
		}
		parts[i] = reshape(o, slices.Insert(slices.Clone(o.shape), axis, 1))
	}
	v, err := newConcat(parts, axis)
	if err != nil {
		return nil, err
	}
	return c.asRecorded(v, 0)
}

// buildSplit takes x apart along an axis: into parts of given sizes, or of
// equal ones.
func buildSplit(c *Call) ([]Values, error) {
	k := 0
	if c.Type == "Split" { // split_dim comes first
		k = 1
	}
	x, err := c.need("x", k)
	if err != nil {
		return nil, err
	}
	axis, err := c.axisOf("split_dim", "split_dim", required, len(x.shape))
	if err != nil {
		return nil, err
	}
	sizes := c.attrInts("size_splits")
	if o := c.input("size_splits", 1); sizes == nil && o != nil && (c.Type == "SplitV") {
		if sizes, err = ints(o); err != nil {
			return nil, err
		}
	}
	d := x.shape[axis]
	if sizes == nil {
		n := int64(len(c.outs))
		if n == 0 || d%n != 0 {
			return nil, refuse(ShapesDiffer, shapeText(x.shape))
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
			return nil, refuse(BadAttribute, "size_splits", shapeText(sizes), "parts of "+itoa(int(d)))
		default:
			total += s
		}
	}
	if open >= 0 {
		sizes[open] = d - total
		total = d
	}
	if total != d || len(sizes) != len(c.outs) || open >= 0 && sizes[open] < 0 {
		return nil, refuse(BadAttribute, "size_splits", shapeText(sizes), "parts of "+itoa(int(d)))
	}
	begin := make([]int64, len(x.shape))
	var out []Values
	for i, s := range sizes {
		shape := slices.Clone(x.shape)
		shape[axis] = s
		v, err := c.asRecorded(cut(x, begin, shape, ones(len(shape))), i)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		begin[axis] += s
	}
	return out, nil
}
