package oracle

import (
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/nd"
)

// Parts of tensors, and places in them: splits, slices and indices; what is found at places that
// other tensors say, and the places that a tensor says itself (nonzero, unique, histc,
// searchsorted).
//
// Picking computes nothing, so that results are exact, and their gradients are sums: each element
// gets what went to all places that it was copied to, one term exactly, several within g(n +
// 2)·Σ|g|. A function that only moves elements needs no gradient written for it: its own forward is
// run on the numbers of places, and what comes out tells where each element went ([defineMove],
// [invocation.traceBack]).
//
// Python's rules for an index (whole numbers, slices, Ellipsis, None, tensors of places, masks) are
// in [items]; that several tensors of places look up together, and where their axes come to stand,
// is numpy's advanced indexing.

// defineParts defines the functions of PyTorch that take parts of a tensor: splits, slices, items
// and what indices pick.
func defineParts() {
	// Parts of x along dim in order; sizes says how long each is and must fill the axis. Of GE's
	// SplitV one size may be −1.
	split := func(name string, sizes func(k *invocation, d int64) []int64) {
		defineMove(name, func(k *invocation) []Reading {
			x := k.tensor("input")
			axis := k.axisOf(x.shape, "dim", 0)
			d := x.shape[axis]
			list, at := slices.Clone(sizes(k, d)), int64(0)
			if open := slices.Index(list, -1); open >= 0 { // of a kernel: what the others leave
				list[open] = d
				for i, n := range list {
					if i != open {
						list[open] -= n
					}
				}
			}
			var out []Values
			for _, n := range list {
				refuseIf(n < 0 || n > d-at, BadArgument, "split", list, "parts of "+itoa(int(d)))
				v := slab1(x, axis, at, n)
				if name == "unbind" {
					v = reshape(v, without(v.Shape(), axis))
				}
				out = append(out, v)
				at += n
			}
			refuseIf(at != d, BadArgument, "split", list, "parts of "+itoa(int(d)))
			return outputs(out...)
		})
	}
	// Parts of n elements, the last of what is left; an empty axis gives one empty part.
	equal := func(d, n int64) []int64 {
		refuseIf(!within(n, 1, 1<<40) || d/n > 1<<16, BadArgument, "split", n, "a positive number")
		var out []int64
		for at := int64(0); at < d || at == 0; at += n {
			out = append(out, min(n, d-at))
		}
		return out
	}
	bySize := func(k *invocation, d int64) []int64 {
		k.required("split")
		list := k.ints("split")
		if k.args["split"].v != nil && len(list) == 1 {
			return equal(d, list[0])
		}
		return list
	}
	// torch.split: a number is the size of all parts, a list those of each.
	split("split", bySize)
	split("chunk", func(k *invocation, d int64) []int64 {
		missing := int64(0)
		if k.called != nil { // of a kernel: as many as it has outputs
			missing = int64(len(k.outs))
		}
		// torch.chunk makes parts of ceil(d/n), which may be fewer than n.
		n := k.int("chunks", missing)
		refuseIf(!within(n, 1, 1<<16), BadArgument, "chunks", n, "a positive number")
		return equal(d, max((d+n-1)/n, 1))
	})
	// torch.unbind: parts of one, without the axis.
	split("unbind", func(k *invocation, d int64) []int64 {
		refuseIf(d > 1<<16, TooLarge, d, 1<<16)
		return ones(int(d))
	})
	// torch.narrow(dim, start, length): start may count from the end.
	defineMove("narrow", moved(func(k *invocation, x *operand) Values {
		k.required("dim", "start", "length")
		axis := k.axisOf(x.shape, "dim", 0)
		lo := k.int("start", 0)
		n := k.int("length", 0)
		d := x.shape[axis]
		if lo < 0 {
			lo += d
		}
		refuseIf(lo < 0 || n < 0 || lo > d || n > d-lo, BadArgument, "start, length", []int64{lo, n}, "a part of "+itoa(int(d)))
		return slab1(x, axis, lo, n)
	}))
	// torch.select(dim, index): the axis goes.
	defineMove("select", moved(func(k *invocation, x *operand) Values {
		k.required("dim", "index")
		axis := k.axisOf(x.shape, "dim", 0)
		i := k.int("index", 0)
		return selected(x, axis, i)
	}))
	// torch.index_select(dim, index) with a vector of places, which may repeat.
	defineMove("index_select", moved(func(k *invocation, x *operand) Values {
		axis := k.axisOf(x.shape, "dim", 0)
		return gatheredBy(x, axis, k.tensor("index"))
	}))
	// The gradient goes to the places that were picked along an axis; the others get 0. indices
	// have the shape of grad, in which the axis of the reduction is kept or gone; two of them never
	// name one place.
	define("picked_backward", function{forward: formulaFor(func(k *invocation) Values {
		g, idx := k.pair("grad", "indices")
		sizes := k.ints("sizes")
		k.required("sizes")
		refuseIf(len(sizes) == 0 || slices.Min(sizes) < 0 || count(sizes) > maxDense || !slices.Equal(g.shape, idx.shape), ShapesDiffer, g.shape, idx.shape, sizes)
		axis := k.axis("dim", 0, len(sizes))
		kept := slices.Clone(sizes)
		kept[axis] = 1
		refuseIf(count(kept) != count(g.shape), ShapesDiffer, g.shape, sizes)
		d, y := held(g), zeros(sizes...)
		for i, p := range placesAlong(sizes, axis, ints(idx), kept, false, "indices") {
			y.y[p] = d.y[i]
		}
		return y
	})})
	// y[i][j][k] = x[index[i][j][k]][j][k] for axis 0; index may be shorter than x on the other
	// axes.
	defineMove("gather", moved(func(k *invocation, x *operand) Values {
		axis := k.axisOf(x.shape, "dim", 0)
		idx := k.tensor("index")
		refuseIf(len(idx.shape) != len(x.shape), ShapesDiffer, x.shape, idx.shape)
		for i := range idx.shape {
			refuseIf(i != axis && idx.shape[i] > x.shape[i], ShapesDiffer, x.shape, idx.shape)
		}
		return takenFrom(held(x), placesAlong(x.shape, axis, numbers(idx), idx.shape, false, "index"), idx.shape)
	}))
	// tril keeps j − i ≤ diagonal, triu j − i ≥ diagonal, of the last two axes. What goes becomes 0
	// also where it is NaN, so that nothing is multiplied.
	triangle := func(name string, keep func(row, col, diagonal int64) bool) {
		part := func(k *invocation, v Values) Values {
			diagonal := k.int("diagonal", 0)
			rank := len(v.Shape())
			refuseIf(rank < 2, BadArgument, "diagonal", diagonal, "a matrix")
			shape := v.Shape()[rank-2:]
			mask := &formula{shape: shape, exact: true, f: func(_ int64, at []int64) (float64, float64) {
				return toNumber(keep(at[0], at[1], diagonal)), 0
			}}
			return elementsOf(exactly(func(x []float64) float64 {
				if x[1] != 0 {
					return x[0]
				}
				return 0
			}), nil, true, []Values{v, mask})
		}
		define(name, function{forward: moved(func(k *invocation, x *operand) Values { return part(k, x) }),
			backward: unmoved(func(k *invocation, x *operand, g Values) Values { return part(k, g) })})
	}
	triangle("tril", func(row, col, d int64) bool { return col-row <= d })
	triangle("triu", func(row, col, d int64) bool { return col-row >= d })
	defineMove("getitem", moved(func(k *invocation, x *operand) Values { return items(k, x) }))
}

// selected is one index of an axis, without the axis.
func selected(x Values, axis int, i int64) Values {
	d := x.Shape()[axis]
	if i < 0 {
		i += d
	}
	refuseIf(i < 0 || i >= d, BadArgument, "index", i, "below "+itoa(int(d)))
	v := slab1(x, axis, i, 1)
	return reshape(v, without(v.Shape(), axis))
}

// gatheredBy takes the slices of x along an axis that whole numbers say, of which negative ones
// count from the end.
func gatheredBy(x Values, axis int, idx *operand) Values { return gatheredIn(x, axis, 0, idx, true) }

// gatheredIn is y[b…, l…, i…, r…] = x[b…, l…, index[b…, i…], r…] along an axis, b being the leading
// axes that both share, and l and r what x has before and behind the axis. Negative indices count
// from the end where that is allowed; what lies beyond the axis is refused.
func gatheredIn(x Values, axis, shared int, idx *operand, negative bool) Values {
	refuseIf(!discrete(idx.typ) || count(idx.shape) > maxDense, BadType, idx.name, idx.typ.String())
	list, s := numbers(idx), x.Shape()
	g := &gather{x: x, lead: count(s[:axis]), n: s[axis], inner: count(s[axis+1:]), batches: count(s[:shared]), perBatch: count(idx.shape[shared:]), indices: make([]int64, len(list))}
	for i, f := range list {
		if g.indices[i] = int64(f); negative && f < 0 {
			g.indices[i] += g.n
		}
		refuseIf(g.indices[i] < 0 || g.indices[i] >= g.n, OutsideCache, idx.name, int64(f), g.n)
	}
	g.shape = slices.Concat(s[:axis], idx.shape[shared:], s[axis+1:])
	refuseIf(g.batches == 0 || g.perBatch == 0 || g.inner == 0 || g.lead == 0 || len(g.shape) > maxRank, ShapesDiffer, s, idx.shape)
	return g
}

// items is v[index] as Python writes it: slices and whole numbers go along the axes in turn, an
// ellipsis passes over those that nothing else takes, None adds one. Tensors of whole numbers look
// up together, and so do the places that a tensor of booleans says, which stands for as many axes
// as it has.
func items(k *invocation, v Values) Values {
	a := k.args["index"]
	refuseIf(a == nil, NoArgument, "index")
	list := []*argument{a}
	if a.v == nil {
		list = a.list
	}
	rank, takes, tensors := len(v.Shape()), 0, false
	for _, i := range list {
		refuseIf(i == nil, NoArgument, "index")
		refuseIf(i.v == nil, Unsupported, "an index that is a list")
		switch {
		// A mask takes as many axes as it has; a lone truth adds one.
		case i.tensor() && must.Get(i.op, i.err).typ.IsBool():
			takes, tensors = takes+max(len(i.op.shape), 1), true
		case i.v.Kind != msprobe.Ellipsis && i.v.Kind != msprobe.None:
			takes++
			tensors = tensors || i.tensor() && len(i.op.shape) > 0
		}
	}
	axis := 0
	var by []lookup
	for _, i := range list {
		rest := len(v.Shape()) - axis
		switch {
		case i.v.Kind == msprobe.Ellipsis:
			axis += max(rest-takes, 0)
			continue
		case i.v.Kind == msprobe.None:
			v = reshape(v, slices.Insert(slices.Clone(v.Shape()), axis, 1))
			axis++
			continue
		}
		takes--
		refuseIf(rest < 1, BadArgument, "index", itoa(len(list)), itoa(rank)+" axes")
		switch {
		case i.v.Kind == msprobe.Slice:
			v = sliced(v, axis, i.v.Items)
			axis++
		case i.tensor() && i.op.typ.IsBool():
			n := len(i.op.shape)
			refuseIf(n == 0 || n > rest || !slices.Equal(i.op.shape, v.Shape()[axis:axis+n]), ShapesDiffer, i.op.shape, v.Shape())
			takes -= n - 1
			for a, o := range k.places(i.op, true)[0].Out {
				by = append(by, lookup{axis + a, held(o)})
			}
			axis += n
		case i.tensor() && len(i.op.shape) > 0:
			refuseIf(!discrete(i.op.typ) || count(i.op.shape) > maxDense, Unsupported, "an index of "+i.op.typ.String())
			by = append(by, lookup{axis, held(i.op)})
			axis++
		default:
			n, ok := i.number()
			refuseIf(!ok || n != math.Trunc(n) || i.v.Type == "bool", BadArgument, "index", i.text(), "whole numbers and slices")
			// Beside tensors of places a number is one of them, and is repeated.
			if tensors {
				by = append(by, lookup{axis, &dense{y: []float64{n}, exact: true}})
				axis++
				continue
			}
			v = selected(v, axis, int64(n))
		}
	}
	if by == nil {
		return v
	}
	return lookedUp(v, by)
}

// lookup is a tensor of places on an axis.
type lookup struct {
	axis int
	at   *dense
}

// lookedUp takes elements by their places on some axes, which stand where these were if they are
// side by side, else in front. Places on several axes are one number in the product of these, row
// by row. The axes of the result are those of the places, put in front as numpy and PyTorch do
// where a slice lies between indexed axes.
func lookedUp(v Values, by []lookup) Values {
	var shapes [][]int64
	var axes []int
	for _, l := range by {
		shapes, axes = append(shapes, l.at.shape), append(axes, l.axis)
	}
	shape, ok := broadcastShape(shapes...)
	refuseIf(!ok || count(shape) > maxDense, ShapesDiffer, shapeText(shapes...))
	s := v.Shape()
	at := make([]int64, count(shape))
	for _, l := range by {
		w, _ := broadcast(l.at, shape)
		n := s[l.axis]
		for i, p := range numbers(w) {
			if p < 0 {
				p += float64(n)
			}
			refuseIf(p < 0 || p >= float64(n), OutsideCache, "index", p, n)
			at[i] = at[i]*n + int64(p)
		}
	}
	front := 0
	if last := len(axes) - 1; axes[last]-axes[0] == last && slices.IsSorted(axes) {
		front = axes[0]
	}
	perm, n := slices.Clone(axes), int64(1)
	var rest []int64
	for i, d := range s {
		if slices.Contains(axes, i) {
			n *= d
		} else {
			perm, rest = append(perm, i), append(rest, d)
		}
	}
	if count(s) == 0 || len(at) == 0 {
		return &dense{shape: slices.Concat(rest[:front], shape, rest[front:]), exact: true}
	}
	g := reshape(picksOf(reshape(transpose(v, perm), append([]int64{n}, rest...)), 0, at), append(slices.Clone(shape), rest...))
	back := inOrder(len(shape) + len(rest))
	for i := range back { // the axes of the places behind those that were before them
		switch {
		case i < front:
			back[i] = len(shape) + i
		case i < front+len(shape):
			back[i] = i - front
		}
	}
	return transpose(g, back)
}

// sliced is v[start:stop:step] along an axis.
func sliced(v Values, axis int, items []msprobe.Number) Values {
	at, open := [3]int64{0, 0, 1}, [3]bool{true, true, true}
	for i, n := range items[:min(len(items), 3)] {
		if n.Kind == msprobe.Null || n.Kind == msprobe.Absent {
			continue
		}
		refuseIf(n.Kind != msprobe.Int, BadArgument, "slice", n.String(), "whole numbers")
		at[i], open[i] = n.I, false
	}
	return stepped(v, axis, at, open)
}

// stepped is v[start:stop:step] along an axis, of which start and stop may be open.
// PyTorch has no slices backwards, so that a step below 1 is refused.
func stepped(v Values, axis int, at [3]int64, open [3]bool) Values {
	refuseIf(at[2] < 1, BadArgument, "step", at[2], "a positive step")
	lo, n := sliceOf(at[0], at[1], at[2], v.Shape()[axis], open[0], open[1], false)
	begin, shape, steps := make([]int64, len(v.Shape())), slices.Clone(v.Shape()), ones(len(v.Shape()))
	begin[axis], shape[axis], steps[axis] = lo, n, at[2]
	return cut(v, begin, shape, steps)
}

// Functions of PyTorch that tell or use places: nonzero, index_add, diff, histc, and norms of
// lists.

// pickForms: what is found at places and what is counted there. Values that are moved are exact;
// counts are whole numbers, and exact but where a border between two bins lies within rounding.
func pickForms() {
	// torch.nonzero: places as rows of a matrix, or with as_tuple a vector for each axis, in
	// row-major order.
	define("nonzero", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		apart := k.bool("as_tuple", false)
		return k.places(x, apart)
	}})
	// Tensor.index_add(dim, index, source, alpha).
	define("index_add", function{forward: formulaFor(indexAdd), backward: indexAddGradients, nodes: [][]string{{"input", "source"}}})
	// torch.diff of neighbours: y[i] = x[i + 1] − x[i].
	define("diff", function{forward: formulaFor(func(k *invocation) Values {
		x, axis := k.differences()
		n := x.shape[axis] - 1
		return elementsOf(addKernel(k.unit(), -1), nil, false, []Values{slab1(x, axis, 1, n), slab1(x, axis, 0, n)})
	}), nodes: [][]string{{"grad", "less"}}, backward: func(k *invocation, g []Values) gradients {
		x, axis := k.differences()
		d := gradient(g, 0)
		want := slices.Clone(x.shape)
		want[axis]--
		refuseIf(!slices.Equal(want, d.Shape()), ShapesDiffer, shapeText(want, d.Shape()))
		// dx[i] = g[i−1] − g[i], with 0 beyond both ends
		less := func() Values {
			return elementsOf(exactly(func(x []float64) float64 { return -x[0] }), nil, true, []Values{d})
		}
		return gradients{"grad": func() Values { return d }, "less": less, "input": func() Values {
			minus := less()
			shape := slices.Clone(want)
			shape[axis] = 1
			none := zeros(shape...)
			before := newConcat([]Values{none, d}, axis)
			behind := newConcat([]Values{minus, none}, axis)
			return k.plus(before, behind)
		}}
	}})
	// torch.histc(bins, min, max).
	define("histc", function{forward: formulaFor(histogram)})
	// A norm for each tensor of a list, as clip_grad_norm_ takes them.
	define("_foreach_norm", function{forward: func(k *invocation) []Reading {
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
	// The length is that of the largest number and 1, or minlength; weights are summed in any
	// order.
	define("bincount", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		shape, weights := k.shape(), k.optional("weights")
		refuseIf(len(x.shape) != 1 || len(shape) != 1 || shape[0] < k.int("minlength", 0) || weights != nil && !slices.Equal(weights.shape, x.shape), ShapesDiffer, x.shape, shape)
		refuseIf(shape[0] > maxDense, TooLarge, shape[0], maxDense)
		counts, list := make([]int64, shape[0]), ints(x)
		for _, p := range list {
			refuseIf(p < 0 || p >= shape[0], OutsideCache, k.shown("input"), p, shape[0])
			counts[p]++
		}
		least := max(slices.Max(append(list, -1))+1, k.int("minlength", 0))
		if refuseIf(shape[0] != least, ShapeComputed, []int64{least}, shape); weights == nil {
			return wholes(counts, shape)
		}
		sum := newSpreader(shape[0])
		for i, w := range numbers(weights) {
			sum.add(list[i], w, 1, 0)
		}
		return sum.values(shape, true, k.sumUnit())
	})})
	// fftshift rolls forward by n/2, ifftshift back, which differ where n is odd.
	define("fftshift", function{forward: moved(func(k *invocation, x *operand) Values { // rolled by half of each axis
		axes := k.axes("dim", len(x.shape))
		if !k.has("dim") {
			axes = inOrder(len(x.shape))
		}
		var v Values = x
		for _, a := range axes {
			half := x.shape[a] / 2
			if k.name != "fft_fftshift" {
				half = -half
			}
			v = rolled(v, a, half)
		}
		return v
	})})
	// What a sampler may choose from: the rest of the logits becomes −Inf.
	define("npu_top_k_top_p", function{forward: formulaFor(topKTopP)})
	// Ranges start[g, b] ≤ place < end[g, b] of the last axis become value[g], the later group over
	// the earlier.
	define("npu_masked_fill_range", function{forward: moved(func(k *invocation, x *operand) Values {
		from, axis, batches := k.tensor("start"), k.axisOf(x.shape, "axis", -1), int64(1)
		if len(x.shape) > 1 {
			batches = x.shape[0]
		}
		lo, hi, value := numbers(from), numbers(k.tensor("end")), numbers(k.tensor("value"))
		refuseIf(axis != len(x.shape)-1 || len(x.shape) > 3, Unsupported, "another axis than the last of three")
		refuseIf(len(from.shape) != 2 || from.shape[1] != batches || len(lo) != len(hi) || int64(len(value)) != from.shape[0], ShapesDiffer, x.shape, from.shape)
		d, per, n := held(x), count(x.shape)/max(batches, 1), x.shape[axis]
		return &formula{shape: x.shape, exact: true, f: func(i int64, _ []int64) (float64, float64) {
			y, at := d.y[i], float64(i%n)
			for g := i / per; g < int64(len(lo)); g += batches {
				if at >= lo[g] && at < hi[g] {
					y = value[g/batches]
				}
			}
			return y, 0
		}}
	})})
	// Bits that are set for what is not below 0, the lowest first, and back.
	define("npu_sign_bits_pack", function{forward: moved(func(k *invocation, x *operand) Values {
		d := held(x)
		return sized(&formula{shape: []int64{(count(x.shape) + 7) / 8}, exact: true, f: func(i int64, _ []int64) (y, b float64) {
			for j, v := range d.y[8*i : min(8*i+8, int64(len(d.y)))] {
				if v >= 0 {
					y += float64(int(1) << j)
				} else if math.IsNaN(v) {
					b = math.Inf(1)
				}
			}
			return y, b
		}}, k.shape())
	})})
	// Back: a set bit is 1 and another −1, eight numbers for each byte.
	define("npu_sign_bits_unpack", function{forward: moved(func(k *invocation, x *operand) Values {
		d := held(x)
		return sized(&formula{shape: []int64{8 * count(x.shape)}, exact: true, f: func(i int64, _ []int64) (float64, float64) {
			return float64(int(d.y[i/8])>>(i%8)&1)*2 - 1, 0
		}}, k.shape())
	})})
}

// places are where x is not 0, in order: a row for each, or with apart a tensor for each axis.
func (k *invocation) places(x *operand, apart bool) []Reading {
	rank, n := int64(len(x.shape)), count(x.shape)
	refuseIf(n*rank > maxDense, TooLarge, n*rank, maxDense)
	d := held(x)
	var rows []float64
	at := make([]int64, rank)
	found := int64(0)
	for i, v := range d.y {
		if v == 0 {
			continue
		}
		found++
		nd.PlaceIn(int64(i), x.shape, at)
		for _, p := range at {
			rows = append(rows, float64(p))
		}
	}
	all := &dense{shape: []int64{found, rank}, y: rows, exact: true}
	if !apart {
		return outputs(all)
	}
	var r Reading
	for a := range rank {
		r.Out = append(r.Out, reshape(slab1(all, 1, a, 1), []int64{found}))
	}
	refuseIf(rank == 0, ShapesDiffer, x.shape)
	return []Reading{r}
}

// indexAdd: y = x with alpha·source added to its slices, as often as the index says. y[…, index[i],
// …] += alpha·source[…, i, …]. The order of additions to one place is open, and each rounds to the
// type of y, in which they are made.
func indexAdd(k *invocation) Values {
	k.required("dim", "index")
	x := k.tensor("input")
	source := k.tensor("source")
	axis := k.axis("dim", 0, len(x.shape))
	refuseIf(len(x.shape) == 0 || len(source.shape) != len(x.shape), ShapesDiffer, x.shape, source.shape)
	idx := k.tensor("index")
	to := ints(idx)
	want := slices.Clone(x.shape)
	want[axis] = int64(len(to))
	refuseIf(!slices.Equal(want, source.shape), ShapesDiffer, shapeText(x.shape, source.shape))
	refuseIf(x.typ.IsBool(), BadType, x.name, x.typ.String())
	d := held(x)
	s := held(source)
	alpha := k.factor("alpha")
	sum, steps, at := newSpreader(int64(len(d.y))), rowMajor(x.shape), make([]int64, len(x.shape))
	for i, v := range d.y {
		sum.add(int64(i), v, 1, 0)
	}
	for i, v := range s.y {
		nd.PlaceIn(int64(i), source.shape, at)
		if at[axis] = to[at[axis]]; at[axis] < 0 || at[axis] >= x.shape[axis] {
			panic(refusal(BadArgument, "index", at[axis], "below "+itoa(int(x.shape[axis]))))
		}
		sum.add(nd.Number(at, steps), v, alpha.y, alpha.b)
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
		axis := k.axisOf(d.Shape(), "dim", 0)
		v := gatheredBy(d, axis, k.tensor("index"))
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
	n := k.int("n", 1)
	refuseIf(n != 1 || k.has("prepend") || k.has("append") || x.typ.IsBool(), Unsupported, "diff of other than neighbours")
	axis := k.axis("dim", -1, len(x.shape))
	refuseIf(len(x.shape) == 0 || x.shape[axis] < 1, BadArgument, "dim", axis, "an axis of "+shapeText(x.shape))
	return x, axis
}

// histogram counts elements in equal bins; one near the border of two may be in either. Bins of
// (max − min)/bins, the last of which holds max, too; min = max = 0 takes the ends of the data, and
// widens them by 1 where they are equal (torch.histc). 8 units of the number of bins bound how the
// place of an element is rounded; elements without one take no part.
func histogram(k *invocation) Values {
	x := k.tensor("input")
	refuseIf(k.narrow > 0, BadType, x.name, x.numeric().String())
	bins := k.int("bins", 100)
	refuseIf(!within(bins, 1, 1<<20) || count(x.shape) > maxDense, BadArgument, "bins", bins, "a small positive number")
	lo := k.float("min", 0)
	hi := k.float("max", 0)
	d := held(x)
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

// Gradients of functions that move numbers or weigh them, from what the function does with
// the places of its input: each place gets the sum of the gradients of where it went.

// spreader adds gradients up by places.
type spreader struct {
	y, size, off []float64
	n            []int32
}

// newSpreader is one of n places, with nothing added yet.
func newSpreader(n int64) *spreader {
	return &spreader{y: make([]float64, n), size: make([]float64, n), off: make([]float64, n), n: make([]int32, n)}
}

// add adds weight·g; the weight may be off by off. Of each place are kept the sum, Σ|g·weight|,
// what errors of the weights come to, and how many terms there are.
func (s *spreader) add(place int64, g, weight, off float64) {
	s.y[place] += g * weight
	s.size[place] += abs(g * weight)
	s.off[place] += abs(g) * off
	s.n[place]++
}

// values are the sums: exact where nothing was weighed and no place got more than one.
func (s *spreader) values(shape []int64, weighed bool, unit float64) Values {
	d := &dense{shape: shape, y: s.y, exact: !weighed}
	for _, n := range s.n {
		d.exact = d.exact && n <= 1
	}
	if d.exact {
		return d
	}
	d.b = s.off
	for i, n := range s.n {
		if n > 1 || weighed {
			d.b[i] += gamma(float64(n)+2, unit) * s.size[i]
		}
	}
	return d
}

// whole is a gradient with all its elements.
func whole(g Values, n int64) []float64 {
	refuseIf(count(g.Shape()) != n, ShapesDiffer, g.Shape(), []int64{n})
	return numbers(g)
}

// defineMove adds a form that only moves elements of its input. It is its own gradient, too:
// given the places of the elements for their values it says where each went.
func defineMove(form string, forward func(k *invocation) []Reading) {
	f := function{forward: forward}
	f.backward = func(k *invocation, g []Values) gradients {
		return gradients{"input": func() Values { return k.traceBack(&f, g) }}
	}
	define(form, f)
}

// traceBack is the gradient of a function that only moves elements: its forward of the numbers of
// places tells where each element of an output is from, and there the gradients g of the outputs
// are added up.
func (k *invocation) traceBack(f *function, g []Values) Values {
	x := k.tensor("input")
	n := count(x.shape)
	refuseIf(n > maxDense, TooLarge, n, maxDense)
	places := inMemory(x.name, dtype.Float64, x.shape)
	for i := range places.f64 {
		places.f64[i] = float64(i + 1) // 0 is what comes from nowhere: the border of a pad
	}
	call, other := *k.Call, *k
	// The places are whole numbers in float64, whatever the type of the input, and exact up to 2⁵³.
	// The value of a pad must not be taken for a place.
	call.outs, call.double = k.results, true
	other.Call, other.args = &call, maps.Clone(k.args)
	other.args["input"] = &argument{v: k.args["input"].v, place: k.args["input"].place, op: places}
	delete(other.args, "value")
	readings := f.forward(&other)
	sum := newSpreader(n)
	for i, d := range g {
		if d == nil {
			continue
		}
		v := readings[0].out(i)
		refuseIf(v == nil, OutputCount, len(g), len(readings[0].Out))
		from := held(v)
		grads := whole(d, count(v.Shape()))
		for j, p := range from.y {
			switch at := int64(p) - 1; {
			case p == 0:
			case p != math.Trunc(p) || at < 0 || at >= n:
				panic(refusal(NoGradient, k.name))
			default:
				sum.add(at, grads[j], 1, 0)
			}
		}
	}
	return sum.values(x.shape, false, k.sumUnit())
}

// picked is the backward of functions that pick elements along an axis and tell their indices
// as the second result: each gradient goes where its element was.
func picked(k *invocation, g []Values) gradients { return pickedAlong(k, g, true) }

// pickedAlong is the same for functions that keep the axis, or do not.
func pickedAlong(k *invocation, g []Values, keep bool) gradients {
	return gradients{"input": func() Values {
		x := k.tensor("input")
		idx := k.result(1)
		d := gradient(g, 0)
		axis := k.axis("dim", -1, len(x.shape))
		shape := idx.shape
		if !keep && axis <= len(shape) {
			shape = slices.Insert(slices.Clone(shape), axis, 1)
		}
		refuseIf(len(x.shape) == 0 || len(shape) != len(x.shape), ShapesDiffer, x.shape, idx.shape)
		n, m := count(x.shape), count(shape)
		refuseIf(n > maxDense || m > maxDense, TooLarge, max(n, m), maxDense)
		at := numbers(idx)
		grads := whole(d, m)
		sum, steps, place := newSpreader(n), rowMajor(x.shape), make([]int64, len(x.shape))
		for i, to := range at {
			if to < 0 || to >= float64(x.shape[axis]) {
				panic(refusal(BadArgument, idx.name, to, "an index of "+shapeText(x.shape)))
			}
			nd.PlaceIn(int64(i), shape, place)
			place[axis] = int64(to)
			p := nd.Number(place, steps)
			if p >= n {
				panic(refusal(ShapesDiffer, shapeText(x.shape, idx.shape)))
			}
			sum.add(p, grads[i], 1, 0)
		}
		return sum.values(x.shape, false, k.sumUnit())
	}}
}

// rowsOf copies rows, each of which stands for some places.
func rowsOf(x Values, places []int64, per int64) Values {
	refuseIf(len(x.Shape()) != 2 || len(places) == 0, ShapesDiffer, x.Shape())
	return picksOf(x, 0, each.Of(places, func(p int64) int64 { return p / per }))
}

// rowsAt are these, those of places below 0 being anything.
func (k *invocation) rowsAt(x Values, places []int64, per int64) Values {
	return k.unwritten(rowsOf(x, each.Of(places, func(p int64) int64 { return max(p, 0) }), per), places)
}

// endsOf makes of how many there are of each where each ends.
func endsOf(list []int64) []int64 {
	for i := 1; i < len(list); i++ {
		list[i] += list[i-1]
	}
	return list
}

// wholes is a tensor of whole numbers.
func wholes(list, shape []int64) Values {
	return &dense{shape: shape, y: each.Of(list, func(n int64) float64 { return float64(n) }), exact: true}
}

// topKTopP keeps, of each row, the k largest and of these the most probable that together reach p;
// the rest is -Inf. What is within rounding of the border may go either way. The kernel sorts
// upwards and drops what is among the smallest as long as the probabilities up to there sum to 1 −
// p at most; the largest is always kept. slack is a unit for each of n terms and some for exp and
// the division. Of equal numbers another order would drop another, so that those within a tie at
// the border are in doubt.
func topKTopP(k *invocation) Values {
	x := k.tensor("logits")
	refuseIf(len(x.shape) != 2, ShapesDiffer, x.shape)
	rows, n := x.shape[0], x.shape[1]
	ks, ps := k.listOf("k", rows), k.listOf("p", rows)
	d := held(x)
	y := &dense{shape: x.shape, y: slices.Clone(d.y), b: make([]float64, len(d.y)), exact: true}
	for r := range rows {
		row, out, off := d.y[r*n:][:n], y.y[r*n:][:n], y.b[r*n:][:n]
		order := inOrder(int(n))
		sortBy(order, row, 1)
		if ks != nil && ks[r] >= 1 && ks[r] < float64(n) {
			least := row[order[n-int64(ks[r])]]
			for i, v := range row {
				if v < least {
					out[i] = math.Inf(-1)
				}
			}
		}
		if ps == nil {
			continue
		}
		most, sum := row[order[n-1]], 0.0
		for i := range out {
			sum += math.Exp(out[i] - most)
		}
		running, slack := 0.0, (float64(n)+64)*u32
		for at, i := range order {
			was := out[i]
			running += math.Exp(was-most) / sum
			// Another order of equal numbers lets another of them pass.
			tied := at > 0 && row[order[at-1]] == row[i] || at+1 < len(order) && row[order[at+1]] == row[i]
			switch limit := 1 - ps[r]; {
			case at == len(order)-1:
			case abs(running-limit) <= slack || tied && !math.IsInf(was, -1) && abs(running-limit) <= float64(n)*math.Exp(was-most)/sum:
				off[i] = math.Inf(1)
			case running <= limit:
				out[i] = math.Inf(-1)
			}
		}
	}
	return y
}

// orderForms look for numbers among others. searchsorted and bucketize give the first place whose
// edge is not less, or with right is greater; NaN stands behind all numbers. What is compared was
// recorded, so that the result is exact.
func orderForms() {
	search := func(edges []float64, x float64, right bool) float64 {
		return float64(sort.Search(len(edges), func(i int) bool {
			if right {
				return edges[i] > x || math.IsNaN(edges[i]) && !math.IsNaN(x)
			}
			return edges[i] >= x || math.IsNaN(edges[i])
		}))
	}
	// torch.searchsorted: sorted_sequence is one row for all, or a row for each row of the input.
	define("searchsorted", function{forward: formulaFor(func(k *invocation) Values {
		k.unsupported("sorter")
		edges, right := k.tensor("sorted_sequence"), k.bool("right", false) || k.string("side", "left") == "right"
		v := k.value("input")
		s := v.Shape()
		n := len(edges.shape)
		refuseIf(n == 0 || n > 1 && (len(s) != n || !slices.Equal(s[:n-1], edges.shape[:n-1])), ShapesDiffer, s, edges.shape)
		list, width := numbers(edges), edges.shape[n-1]
		per := int64(1)
		if len(s) > 0 {
			per = s[len(s)-1]
		}
		in := held(v)
		return &formula{shape: s, exact: true, f: func(i int64, _ []int64) (float64, float64) {
			row := list[:width]
			if n > 1 {
				row = list[i/per*width:][:width]
			}
			return search(row, in.y[i], right), 0
		}}
	})})
	// torch.bucketize: the same with one row, named boundaries.
	define("bucketize", function{forward: formulaFor(func(k *invocation) Values {
		v, edges := held(k.value("input")), numbers(k.tensor("boundaries"))
		right := k.bool("right", false)
		return &formula{shape: v.shape, exact: true, f: func(i int64, _ []int64) (float64, float64) { return search(edges, v.y[i], right), 0 }}
	})})
	// torch.isin: whether each element is one of test_elements.
	define("isin", function{forward: formulaFor(func(k *invocation) Values {
		v, in, invert := held(k.value("elements")), map[float64]bool{}, k.bool("invert", false)
		for _, x := range held(k.value("test_elements")).y {
			in[x] = true
		}
		return &formula{shape: v.shape, exact: true, f: func(i int64, _ []int64) (float64, float64) { return toNumber(in[v.y[i]] != invert), 0 }}
	})})
	// unique sorts; unique_consecutive only joins neighbours. inverse says for each element which
	// value it is.
	define("unique", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		k.unsupported("dim")
		values, to, times := distinct(x, !strings.HasSuffix(k.name, "consecutive"))
		out := []Values{values}
		if k.bool("return_inverse", false) {
			out = append(out, to)
		}
		if k.bool("return_counts", false) {
			out = append(out, times)
		}
		return outputs(out...)
	}})
	// In the order of their first places, as TensorFlow's (array_ops.h).
	register(one(func(c *Call) []Values {
		values, to, times := distinct(c.need("x", 0), true)
		place, y, n := make([]float64, len(values.y)), slices.Clone(values.y), slices.Clone(times.y)
		next := 0
		for i, g := range to.y {
			if at := int(g); n[at] != 0 { // not seen yet
				place[at], n[at] = float64(next), 0
				next++
			}
			to.y[i] = place[int(g)]
		}
		for g, v := range values.y {
			y[int(place[g])], n[int(place[g])] = v, times.y[g]
		}
		return []Values{&dense{shape: values.shape, y: y, exact: true}, to, &dense{shape: times.shape, y: n, exact: true}}
	}), "distinct")
}

// distinct are the numbers of x that differ, in order where sorted, else from one run of equal ones
// to the next; which of them each is, and how often each is there.
func distinct(x *operand, sorted bool) (values, to, times *dense) {
	list := numbers(x)
	order := inOrder(len(list))
	if sorted {
		sortBy(order, list, 1)
	}
	var different, often []float64
	which := make([]float64, len(list))
	for i, p := range order {
		if i == 0 || list[p] != list[order[i-1]] {
			different, often = append(different, list[p]), append(often, 0)
		}
		often[len(often)-1]++
		which[p] = float64(len(different) - 1)
	}
	one := func(y []float64) *dense { return &dense{shape: []int64{int64(len(y))}, y: y, exact: true} }
	return one(different), &dense{shape: x.shape, y: which, exact: true}, one(often)
}
