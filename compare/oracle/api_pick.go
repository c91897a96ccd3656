package oracle

import (
	"math"
	"slices"
)

// Functions of PyTorch that tell or use places: nonzero, index_add, diff, histc, and norms of
// lists.

func init() {
	define("nonzero argwhere", "input as_tuple", function{forward: func(k *invocation) ([]Reading, error) {
		x, err := k.tensor("input")
		if err != nil {
			return nil, err
		}
		apart, err := k.bool("as_tuple", false)
		if err != nil {
			return nil, err
		}
		return k.places(x, apart)
	}})
	define("index_add", "input dim index source alpha", function{forward: formulaFor(indexAdd), backward: indexAddGradients, nodes: [][]string{{"input", "source"}}})
	define("diff", "input n dim prepend append", function{forward: formulaFor(func(k *invocation) (Values, error) {
		x, axis, err := k.differences()
		if err != nil {
			return nil, err
		}
		n := x.shape[axis] - 1
		return elementsOf(addKernel(k.unit(), -1), nil, false, []Values{slab1(x, axis, 1, n), slab1(x, axis, 0, n)})
	}), nodes: [][]string{{"grad", "less"}}, backward: func(k *invocation, g []Values) (gradients, error) {
		x, axis, err := k.differences()
		if err != nil {
			return nil, err
		}
		d, err := gradient(g, 0)
		if err != nil {
			return nil, err
		}
		want := slices.Clone(x.shape)
		if want[axis]--; !slices.Equal(want, d.Shape()) {
			return nil, refuse(ShapesDiffer, shapeText(want, d.Shape()))
		}
		less := func() (Values, error) {
			return elementsOf(exactly(func(x []float64) float64 { return -x[0] }), nil, true, []Values{d})
		}
		return gradients{"grad": func() (Values, error) { return d, nil }, "less": less, "input": func() (Values, error) {
			minus, err := less()
			if err != nil {
				return nil, err
			}
			shape := slices.Clone(want)
			shape[axis] = 1
			none := &dense{shape: shape, y: make([]float64, count(shape)), exact: true}
			before, err := newConcat([]Values{none, d}, axis)
			if err != nil {
				return nil, err
			}
			behind, err := newConcat([]Values{minus, none}, axis)
			if err != nil {
				return nil, err
			}
			return elementsOf(addKernel(k.unit(), 1), nil, false, []Values{before, behind})
		}}, nil
	}})
	define("histc", "input bins min max", function{forward: formulaFor(histogram)})
	define("_foreach_norm foreach_norm", "tensors ord dtype", function{forward: func(k *invocation) ([]Reading, error) {
		list, err := k.tensors("tensors")
		if err != nil {
			return nil, err
		}
		var r Reading
		for i := range list {
			one := *k
			one.params = []string{"input", "ord"}
			one.args = map[string]*argument{"input": k.args["tensors"].list[i], "ord": k.args["ord"]}
			v, err := norms(&one)
			if err != nil {
				return nil, err
			}
			r.Out = append(r.Out, v)
		}
		return []Reading{r}, nil
	}})
}

// places are where x is not 0, in order: a row for each, or with apart a tensor for each axis.
func (k *invocation) places(x *operand, apart bool) ([]Reading, error) {
	rank, n := int64(len(x.shape)), count(x.shape)
	if n*rank > maxDense {
		return nil, refuse(TooLarge, n*rank, maxDense)
	}
	d, err := held(x)
	if err != nil {
		return nil, err
	}
	var rows []float64
	at := make([]int64, rank)
	found := int64(0)
	for i, v := range d.y {
		if v == 0 {
			continue
		}
		found++
		unravel(int64(i), x.shape, at)
		for _, p := range at {
			rows = append(rows, float64(p))
		}
	}
	all := &dense{shape: []int64{found, rank}, y: rows, exact: true}
	if !apart {
		return []Reading{{Out: []Values{all}}}, nil
	}
	var r Reading
	for a := range rank {
		r.Out = append(r.Out, reshape(slab1(all, 1, a, 1), []int64{found}))
	}
	if rank == 0 {
		return nil, refuse(ShapesDiffer, shapeText(x.shape))
	}
	return []Reading{r}, nil
}

// indexAdd: y = x with alpha·source added to its slices, as often as the index says.
func indexAdd(k *invocation) (Values, error) {
	if err := k.required("dim", "index"); err != nil {
		return nil, err
	}
	x, err := k.tensor("input")
	if err != nil {
		return nil, err
	}
	source, err := k.tensor("source")
	if err != nil {
		return nil, err
	}
	axis, err := k.axis("dim", 0, len(x.shape))
	if err != nil || len(x.shape) == 0 || len(source.shape) != len(x.shape) {
		return nil, refuse(ShapesDiffer, shapeText(x.shape, source.shape))
	}
	idx, err := k.tensor("index")
	if err != nil {
		return nil, err
	}
	to, err := ints(idx)
	if err != nil {
		return nil, err
	}
	want := slices.Clone(x.shape)
	if want[axis] = int64(len(to)); !slices.Equal(want, source.shape) {
		return nil, refuse(ShapesDiffer, shapeText(x.shape, source.shape))
	}
	d, err := held(x)
	if err != nil {
		return nil, err
	}
	s, err := held(source)
	if err != nil {
		return nil, err
	}
	alpha := k.factor("alpha")
	sum, steps, at := newSpreader(int64(len(d.y))), rowMajor(x.shape), make([]int64, len(x.shape))
	for i, v := range d.y {
		sum.add(int64(i), v, 1, 0)
	}
	for i, v := range s.y {
		unravel(int64(i), source.shape, at)
		if at[axis] = to[at[axis]]; at[axis] < 0 || at[axis] >= x.shape[axis] {
			return nil, refuse(BadArgument, "index", at[axis], "below "+itoa(int(x.shape[axis])))
		}
		p := int64(0)
		for a := range at {
			p += at[a] * steps[a]
		}
		sum.add(p, v, alpha.y, alpha.b)
	}
	u := k.sumUnit()
	if u < precisionFor(k.outType()).v {
		u = precisionFor(k.outType()).v // each is added in the tensor itself
	}
	if discrete(k.outType()) {
		u = 0
	}
	return sum.values(x.shape, false, u), nil
}

// indexAddGradients: of x that of the result, of the source its slices.
func indexAddGradients(k *invocation, g []Values) (gradients, error) {
	d, err := gradient(g, 0)
	if err != nil {
		return nil, err
	}
	return gradients{"input": func() (Values, error) { return d, nil }, "source": func() (Values, error) {
		if err := k.required("dim", "index"); err != nil {
			return nil, err
		}
		axis, err := k.axis("dim", 0, len(d.Shape()))
		if err != nil || len(d.Shape()) == 0 {
			return nil, refuse(ShapesDiffer, shapeText(d.Shape()))
		}
		v, err := k.gathered(d, axis, "index")
		if err != nil {
			return nil, err
		}
		alpha := k.factor("alpha")
		if alpha == exactNum(1) {
			return v, nil
		}
		return formulaOf(func(x []num) num { return k.arith().mul(alpha, x[0]) }, v)
	}}, nil
}

// differences are the tensor and the axis of a call of diff.
func (k *invocation) differences() (*operand, int, error) {
	x, err := k.tensor("input")
	if err != nil {
		return nil, 0, err
	}
	if n, err := k.int("n", 1); err != nil || n != 1 || k.has("prepend") || k.has("append") || x.typ.IsBool() {
		return nil, 0, refuse(Unsupported, "diff of other than neighbours")
	}
	axis, err := k.axis("dim", -1, len(x.shape))
	if err != nil || len(x.shape) == 0 || x.shape[axis] < 1 {
		return nil, 0, refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape))
	}
	return x, axis, nil
}

// histogram counts elements in equal bins; one near the border of two may be in either.
func histogram(k *invocation) (Values, error) {
	x, err := k.tensor("input")
	if err != nil {
		return nil, err
	}
	bins, err := k.int("bins", 100)
	if err != nil || !within(bins, 1, 1<<20) || count(x.shape) > maxDense {
		return nil, refuse(BadArgument, "bins", bins, "a small positive number")
	}
	lo, err := k.float("min", 0)
	if err != nil {
		return nil, err
	}
	hi, err := k.float("max", 0)
	if err != nil {
		return nil, err
	}
	d, err := held(x)
	if err != nil {
		return nil, err
	}
	if lo == hi && len(d.y) > 0 {
		lo, hi = slices.Min(d.y), slices.Max(d.y)
	}
	if lo == hi {
		lo, hi = lo-1, hi+1
	}
	y, b := make([]float64, bins), make([]float64, bins)
	for _, v := range d.y {
		at := (v - lo) / (hi - lo) * float64(bins)
		if math.IsNaN(at) || v < lo || v > hi {
			continue
		}
		in := min(int64(at), bins-1)
		y[in]++
		off := 8 * precisionFor(x.numeric()).v * float64(bins)
		for _, near := range []float64{at - off, at + off} {
			if other := int64(math.Floor(near)); other != in && other >= 0 && other < bins {
				b[in]++
				b[other]++
			}
		}
	}
	return &dense{shape: []int64{bins}, y: y, b: b, exact: false}, nil
}
