package oracle

import (
	"math"
	"slices"
)

// Functions of PyTorch that tell or use places: nonzero, index_add, diff, histc, and norms of
// lists.

func init() {
	define("nonzero argwhere", "input as_tuple", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		apart := k.bool("as_tuple", false)
		return k.places(x, apart)
	}})
	define("index_add", "input dim index source alpha", function{forward: formulaFor(indexAdd), backward: indexAddGradients, nodes: [][]string{{"input", "source"}}})
	define("diff", "input n dim prepend append", function{forward: formulaFor(func(k *invocation) Values {
		x, axis := k.differences()
		n := x.shape[axis] - 1
		return elementsOf(addKernel(k.unit(), -1), nil, false, []Values{slab1(x, axis, 1, n), slab1(x, axis, 0, n)})
	}), nodes: [][]string{{"grad", "less"}}, backward: func(k *invocation, g []Values) gradients {
		x, axis := k.differences()
		d := gradient(g, 0)
		want := slices.Clone(x.shape)
		if want[axis]--; !slices.Equal(want, d.Shape()) {
			panic(refuse(ShapesDiffer, shapeText(want, d.Shape())))
		}
		less := func() Values {
			return elementsOf(exactly(func(x []float64) float64 { return -x[0] }), nil, true, []Values{d})
		}
		return gradients{"grad": func() Values { return d }, "less": less, "input": func() Values {
			minus := less()
			shape := slices.Clone(want)
			shape[axis] = 1
			none := &dense{shape: shape, y: make([]float64, count(shape)), exact: true}
			before := newConcat([]Values{none, d}, axis)
			behind := newConcat([]Values{minus, none}, axis)
			return elementsOf(addKernel(k.unit(), 1), nil, false, []Values{before, behind})
		}}
	}})
	define("histc", "input bins min max", function{forward: formulaFor(histogram)})
	define("_foreach_norm foreach_norm", "tensors ord dtype", function{forward: func(k *invocation) []Reading {
		list := k.tensors("tensors")
		var r Reading
		for i := range list {
			one := *k
			one.params = []string{"input", "ord"}
			one.args = map[string]*argument{"input": k.args["tensors"].list[i], "ord": k.args["ord"]}
			v := norms(&one)
			r.Out = append(r.Out, v)
		}
		return []Reading{r}
	}})
}

// places are where x is not 0, in order: a row for each, or with apart a tensor for each axis.
func (k *invocation) places(x *operand, apart bool) []Reading {
	rank, n := int64(len(x.shape)), count(x.shape)
	if n*rank > maxDense {
		panic(refuse(TooLarge, n*rank, maxDense))
	}
	d := must(held(x))
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
		return []Reading{{Out: []Values{all}}}
	}
	var r Reading
	for a := range rank {
		r.Out = append(r.Out, reshape(slab1(all, 1, a, 1), []int64{found}))
	}
	if rank == 0 {
		panic(refuse(ShapesDiffer, shapeText(x.shape)))
	}
	return []Reading{r}
}

// indexAdd: y = x with alpha·source added to its slices, as often as the index says.
func indexAdd(k *invocation) Values {
	k.required("dim", "index")
	x := k.tensor("input")
	source := k.tensor("source")
	axis := k.axis("dim", 0, len(x.shape))
	if len(x.shape) == 0 || len(source.shape) != len(x.shape) {
		panic(refuse(ShapesDiffer, shapeText(x.shape, source.shape)))
	}
	idx := k.tensor("index")
	to := ints(idx)
	want := slices.Clone(x.shape)
	if want[axis] = int64(len(to)); !slices.Equal(want, source.shape) {
		panic(refuse(ShapesDiffer, shapeText(x.shape, source.shape)))
	}
	d := must(held(x))
	s := must(held(source))
	alpha := k.factor("alpha")
	sum, steps, at := newSpreader(int64(len(d.y))), rowMajor(x.shape), make([]int64, len(x.shape))
	for i, v := range d.y {
		sum.add(int64(i), v, 1, 0)
	}
	for i, v := range s.y {
		unravel(int64(i), source.shape, at)
		if at[axis] = to[at[axis]]; at[axis] < 0 || at[axis] >= x.shape[axis] {
			panic(refuse(BadArgument, "index", at[axis], "below "+itoa(int(x.shape[axis]))))
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
	return sum.values(x.shape, false, u)
}

// indexAddGradients: of x that of the result, of the source its slices.
func indexAddGradients(k *invocation, g []Values) gradients {
	d := gradient(g, 0)
	return gradients{"input": func() Values { return d }, "source": func() Values {
		k.required("dim", "index")
		axis := k.axis("dim", 0, len(d.Shape()))
		if len(d.Shape()) == 0 {
			panic(refuse(ShapesDiffer, shapeText(d.Shape())))
		}
		v := k.gathered(d, axis, "index")
		alpha := k.factor("alpha")
		if alpha == exactNum(1) {
			return v
		}
		return formulaOf(func(x []num) num { return k.arith().mul(alpha, x[0]) }, v)
	}}
}

// differences are the tensor and the axis of a call of diff.
func (k *invocation) differences() (*operand, int) {
	x := k.tensor("input")
	if n := k.int("n", 1); n != 1 || k.has("prepend") || k.has("append") || x.typ.IsBool() {
		panic(refuse(Unsupported, "diff of other than neighbours"))
	}
	axis := k.axis("dim", -1, len(x.shape))
	if len(x.shape) == 0 || x.shape[axis] < 1 {
		panic(refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape)))
	}
	return x, axis
}

// histogram counts elements in equal bins; one near the border of two may be in either.
func histogram(k *invocation) Values {
	x := k.tensor("input")
	bins := k.int("bins", 100)
	if !within(bins, 1, 1<<20) || count(x.shape) > maxDense {
		panic(refuse(BadArgument, "bins", bins, "a small positive number"))
	}
	lo := k.float("min", 0)
	hi := k.float("max", 0)
	d := must(held(x))
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
	return &dense{shape: []int64{bins}, y: y, b: b, exact: false}
}
