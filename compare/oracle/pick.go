package oracle

import (
	"maps"
	"math"
	"slices"

	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/nd"
	catalogue "precision/op"
)

// defineParts defines the functions of PyTorch that take parts of a tensor: splits, slices, items and what indices pick.
func defineParts() {
	// Parts of x along dim in order; sizes says how long each is and must fill the axis. Of GE's SplitV one size may
	// be −1.
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
	split("unbind", func(k *invocation, d int64) []int64 {
		refuseIf(d > 1<<16, TooLarge, d, 1<<16)
		return ones(int(d))
	})
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
	defineMove("select", moved(func(k *invocation, x *operand) Values {
		k.required("dim", "index")
		axis := k.axisOf(x.shape, "dim", 0)
		i := k.int("index", 0)
		return selected(x, axis, i)
	}))
	defineMove("index_select", moved(func(k *invocation, x *operand) Values {
		axis := k.axisOf(x.shape, "dim", 0)
		return gatheredBy(x, axis, k.tensor("index"))
	}))
	// The gradient goes to the places that were picked along an axis; the others get 0.
	// indices have the shape of grad, in which the axis of the reduction is kept or gone; two of them never name one
	// place.
	define("picked_backward", function{forward: formulaFor(func(k *invocation) Values {
		g, idx := k.pair("grad", "indices")
		sizes := k.ints("sizes")
		k.required("sizes")
		refuseIf(len(sizes) == 0 || slices.Min(sizes) < 0 || count(sizes) > maxDense || !slices.Equal(g.shape, idx.shape), ShapesDiffer, g.shape, idx.shape, sizes)
		axis := k.axis("dim", 0, len(sizes))
		kept := slices.Clone(sizes)
		kept[axis] = 1
		refuseIf(count(kept) != count(g.shape), ShapesDiffer, g.shape, sizes)
		d, at := must.Get(held(g)), ints(idx)
		y, steps, place := make([]float64, count(sizes)), rowMajor(sizes), make([]int64, len(sizes))
		for i, p := range at {
			refuseIf(p < 0 || p >= sizes[axis], OutsideCache, "indices", p, sizes[axis])
			nd.PlaceIn(int64(i), kept, place)
			place[axis] = p
			y[nd.Number(place, steps)] = d.y[i]
		}
		return &dense{shape: sizes, y: y, exact: true}
	})})
	// y[i][j][k] = x[index[i][j][k]][j][k] for axis 0; index may be shorter than x on the other axes.
	defineMove("gather", moved(func(k *invocation, x *operand) Values {
		axis := k.axisOf(x.shape, "dim", 0)
		idx := k.tensor("index")
		refuseIf(len(idx.shape) != len(x.shape), ShapesDiffer, x.shape, idx.shape)
		for i := range idx.shape {
			refuseIf(i != axis && idx.shape[i] > x.shape[i], ShapesDiffer, x.shape, idx.shape)
		}
		at := must.Get(numbers(idx))
		for _, j := range at {
			refuseIf(j < 0 || j >= float64(x.shape[axis]), OutsideCache, "index", j, x.shape[axis])
		}
		d := must.Get(held(x))
		steps := rowMajor(x.shape)
		return &formula{shape: idx.shape, exact: true, f: func(i int64, p []int64) (float64, float64) {
			k := int64(at[i]) * steps[axis]
			for a := range p {
				if a != axis {
					k += p[a] * steps[a]
				}
			}
			return d.y[k], 0
		}}
	}))
	// tril keeps j − i ≤ diagonal, triu j − i ≥ diagonal, of the last two axes. What goes becomes 0 also where it is
	// NaN, so that nothing is multiplied.
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

// gatheredBy takes the slices of x along an axis that whole numbers say, of which negative ones count from the end.
func gatheredBy(x Values, axis int, idx *operand) Values { return gatheredIn(x, axis, 0, idx, true) }

// gatheredIn is y[b…, l…, i…, r…] = x[b…, l…, index[b…, i…], r…] along an axis, b being the leading axes that both share, and
// l and r what x has before and behind the axis. Negative indices count from the end where that is allowed; what lies
// beyond the axis is refused.
func gatheredIn(x Values, axis, shared int, idx *operand, negative bool) Values {
	refuseIf(!discrete(idx.typ) || count(idx.shape) > maxDense, BadType, idx.name, idx.typ.String())
	list, s := must.Get(numbers(idx)), x.Shape()
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

// items is v[index] as Python writes it: slices and whole numbers go along the axes in turn, an ellipsis passes over those that
// nothing else takes, None adds one. Tensors of whole numbers look up together, and so do the places that a tensor of booleans
// says, which stands for as many axes as it has.
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
				by = append(by, lookup{axis + a, must.Get(held(o))})
			}
			axis += n
		case i.tensor() && len(i.op.shape) > 0:
			refuseIf(!discrete(i.op.typ) || count(i.op.shape) > maxDense, Unsupported, "an index of "+i.op.typ.String())
			by = append(by, lookup{axis, must.Get(held(i.op))})
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

// lookedUp takes elements by their places on some axes, which stand where these were if they are side by side, else in front.
// Places on several axes are one number in the product of these, row by row. The axes of the result are those of the
// places, put in front as numpy and PyTorch do where a slice lies between indexed axes.
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
		for i, p := range must.Get(numbers(w)) {
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

func pickForms() {
	register(single(buildGather), "rows")
	register(single(buildPad), "border")
	define("nonzero", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		apart := k.bool("as_tuple", false)
		return k.places(x, apart)
	}})
	define("index_add", function{forward: formulaFor(indexAdd), backward: indexAddGradients, nodes: [][]string{{"input", "source"}}})
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
	// The length is that of the largest number and 1, or minlength; weights are summed in any order.
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
		for i, w := range must.Get(numbers(weights)) {
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
	// Ranges start[g, b] ≤ place < end[g, b] of the last axis become value[g], the later group over the earlier.
	define("npu_masked_fill_range", function{forward: moved(func(k *invocation, x *operand) Values {
		from, axis, batches := k.tensor("start"), k.axisOf(x.shape, "axis", -1), int64(1)
		if len(x.shape) > 1 {
			batches = x.shape[0]
		}
		lo, hi, value := must.Get(numbers(from)), must.Get(numbers(k.tensor("end"))), must.Get(numbers(k.tensor("value")))
		refuseIf(axis != len(x.shape)-1 || len(x.shape) > 3, Unsupported, "another axis than the last of three")
		refuseIf(len(from.shape) != 2 || from.shape[1] != batches || len(lo) != len(hi) || int64(len(value)) != from.shape[0], ShapesDiffer, x.shape, from.shape)
		d, per, n := must.Get(held(x)), count(x.shape)/max(batches, 1), x.shape[axis]
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
		d := must.Get(held(x))
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
	define("npu_sign_bits_unpack", function{forward: moved(func(k *invocation, x *operand) Values {
		d := must.Get(held(x))
		return sized(&formula{shape: []int64{8 * count(x.shape)}, exact: true, f: func(i int64, _ []int64) (float64, float64) {
			return float64(int(d.y[i/8])>>(i%8)&1)*2 - 1, 0
		}}, k.shape())
	})})
	// Rows i of indices (T, k) are ordered by expert, stably: permuted[j] = tokens[order[j]/k]. The second output is
	// where row i went. Without padding the first may be cut to num_out_tokens.
	define("npu_moe_token_permute", function{forward: func(k *invocation) []Reading {
		k.unpadded()
		x, idx := k.pair("tokens", "indices")
		order, back := k.byExpert(idx)
		s, per := k.shape(), max(1, int64(len(order))/max(x.shape[0], 1))
		refuseIf(len(s) != 2 || s[0] > int64(len(order)), ShapesDiffer, s)
		return outputs(rowsOf(x, order[:s[0]], per), wholes(back, []int64{int64(len(back))}))
	}, nodes: [][]string{{"tokens"}}, backward: func(k *invocation, g []Values) gradients {
		x, idx := k.pair("tokens", "indices")
		_, back := k.byExpert(idx)
		return gradients{"tokens": func() Values {
			return k.addedRows(gradient(g, 0), wholes(back, []int64{int64(len(back))}).(*dense).y, nil, max(1, int64(len(back))/max(x.shape[0], 1)))
		}}
	}})
	// The gradient of the tokens: the rows that each went to, added up.
	define("npu_moe_token_permute_grad", function{forward: formulaFor(func(k *invocation) Values {
		k.unpadded()
		n := k.int("num_topK", 1)
		if k.has("indices") {
			n = 1
			if s := k.tensor("indices").shape; len(s) > 1 {
				n = s[1]
			}
		}
		return k.addedRows(k.tensor("grad"), must.Get(numbers(k.tensor("sorted_indices"))), nil, n)
	})})
	// out[t] = Σ_j permuted[sorted_indices[t·k + j]]·probs[t, j]
	define("npu_moe_token_unpermute", function{forward: formulaFor(func(k *invocation) Values {
		k.unpadded()
		x, idx := k.pair("permuted_tokens", "sorted_indices")
		return k.unpermuted(x, idx, k.optional("probs"))
	}), nodes: [][]string{{"permuted_tokens", "probs"}}, backward: unpermutedGradients})
	// The third output numbers rows j·T + t of the j-th choice of token t, as moe_init_routing takes them.
	define("npu_moe_gating_top_k_softmax", function{forward: func(k *invocation) []Reading {
		x := k.tensor("x")
		refuseIf(len(x.shape) == 0, ShapesDiffer, x.shape)
		probs := must.Get(held(k.softmax(x, []int{len(x.shape) - 1}, false)))
		y, idx := k.gated(probs, nil, nil)
		k.leaveFinished(idx, x.shape)
		rows := count(idx.shape[:len(idx.shape)-1])
		n := idx.shape[len(idx.shape)-1]
		from := &formula{shape: idx.shape, exact: true, f: func(i int64, _ []int64) (float64, float64) { return float64(i%n*rows + i/n), 0 }}
		return outputs(y, idx, from)
	}})
	define("npu_moe_gating_top_k", function{forward: gatingTopK})
	// The probabilities of the best experts or, renormalised, the softmax of the best scores.
	define("npu_moe_gating_top_k_softmax_v2", function{forward: func(k *invocation) []Reading {
		x, renorm := k.tensor("x"), k.int("renorm", 0)
		refuseIf(len(x.shape) == 0 || renorm != 0 && renorm != 1, ShapesDiffer, x.shape)
		last := []int{len(x.shape) - 1}
		probs := must.Get(held(k.softmax(x, last, false)))
		if renorm == 0 {
			y, idx := k.gated(probs, nil, nil)
			k.leaveFinished(idx, x.shape)
			out := []Values{y, idx, probs}
			k.leaves(out, 2, "output_softmax")
			return outputs(out...)
		}
		scores := must.Get(numbers(x))
		y, idx := k.gated(&dense{shape: x.shape, y: scores, b: make([]float64, len(scores))}, nil, nil)
		k.leaveFinished(idx, x.shape)
		return outputs(k.softmax(y, last, false), idx, nil)
	}})
}

// places are where x is not 0, in order: a row for each, or with apart a tensor for each axis.
func (k *invocation) places(x *operand, apart bool) []Reading {
	rank, n := int64(len(x.shape)), count(x.shape)
	refuseIf(n*rank > maxDense, TooLarge, n*rank, maxDense)
	d := must.Get(held(x))
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

// indexAdd: y = x with alpha·source added to its slices, as often as the index says.
// y[…, index[i], …] += alpha·source[…, i, …]. The order of additions to one place is open, and each rounds to the
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
	d := must.Get(held(x))
	s := must.Get(held(source))
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

// histogram counts elements in equal bins; one near the border of two may be in either.
// Bins of (max − min)/bins, the last of which holds max, too; min = max = 0 takes the ends of the data, and widens
// them by 1 where they are equal (torch.histc). 8 units of the number of bins bound how the place of an element is
// rounded; elements without one take no part.
func histogram(k *invocation) Values {
	x := k.tensor("input")
	refuseIf(k.narrow > 0, BadType, x.name, x.numeric().String())
	bins := k.int("bins", 100)
	refuseIf(!within(bins, 1, 1<<20) || count(x.shape) > maxDense, BadArgument, "bins", bins, "a small positive number")
	lo := k.float("min", 0)
	hi := k.float("max", 0)
	d := must.Get(held(x))
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
// l goes over lead, of which a batch of indices serves lead/batches in turn.
func (g *gather) source(k int64) int64 {
	l, j := k/g.perBatch, k%g.perBatch
	return (l*g.n + g.indices[l/(g.lead/g.batches)*g.perBatch+j]) * g.inner
}

func (g *gather) Range(lo int64, y, b []float64) {
	for at := int64(0); at < int64(len(y)); {
		k, i := (lo+at)/g.inner, (lo+at)%g.inner
		n := min(g.inner-i, int64(len(y))-at)
		var bounds []float64
		if b != nil {
			bounds = b[at : at+n]
		}
		g.x.Range(g.source(k)+i, y[at:at+n], bounds)
		at += n
	}
}

func (g *gather) At(idx []int64, y, b []float64) { oneByOne(g, idx, y, b) }

// buildGather: y = x[…, indices, …] along an axis, which is a recorded number
// (GatherV2), an attribute (GatherV2D) or 0.
// batch_dims leading axes are shared by x and indices; a negative one counts from the axes of indices. Prototypes:
// selection_ops.h.
func buildGather(c *Call) Values {
	in := c.operands()
	refuseIf(len(in) < 2, InputCount, len(in), 2)
	x, idx := in[0], in[1]
	a := c.attrInt("axis", 0)
	if c.attrs.Get("axis") == nil && len(in) > 2 {
		l := ints(in[2])
		refuseIf(len(l) != 1, BadAttribute, "axis", l, "one axis")
		a = l[0]
	}
	axes := axesOf("axis", []int64{a}, len(x.shape))
	refuseIf(len(axes) != 1, BadAttribute, "axis", a, "an axis of "+shapeText(x.shape))
	axis := axes[0]
	dims := c.attrInt("batch_dims", 0)
	if dims < 0 {
		dims += int64(len(idx.shape))
	}
	refuseIf(dims < 0 || dims > int64(len(idx.shape)) || dims > int64(axis) || !slices.Equal(x.shape[:dims], idx.shape[:dims]), BadAttribute, "batch_dims", dims, "axes that x and indices share")
	return c.asRecorded(gatheredIn(x, axis, int(dims), idx, c.attrBool("negative_index_support", false)), 0)
}

// formula is a tensor whose elements a function gives.
type formula struct {
	shape []int64
	f     func(i int64, at []int64) (y, b float64)
	exact bool
	cost  float64 // multiplications and additions, 0 for few
	at    []int64
}

func (v *formula) Shape() []int64 { return v.shape }
func (v *formula) Exact() bool    { return v.exact }
func (v *formula) Cost() float64  { return max(v.cost, 1) }

// f gets the number of the element and its place on each axis, in a buffer that is used again.
func (v *formula) one(i int64, y, b []float64, k int) {
	v.at = grow(v.at, len(v.shape))
	nd.PlaceIn(i, v.shape, v.at)
	value, bound := v.f(i, v.at)
	y[k] = value
	if b != nil {
		b[k] = bound
	}
}

func (v *formula) Range(lo int64, y, b []float64) {
	for i := range y {
		v.one(lo+int64(i), y, b, i)
	}
}

func (v *formula) At(idx []int64, y, b []float64) {
	for i, k := range idx {
		v.one(k, y, b, i)
	}
}

// buildPad puts a border of one value around x. paddings are two numbers an
// axis, before and behind, as an attribute or an input.
func buildPad(c *Call) Values {
	x := c.need("x", 0)
	mode := c.attrs.Get("mode").Text()
	refuseIf(mode != "" && mode != "constant" && mode != "CONSTANT", Unsupported, "mode "+mode)
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
			v := must.Get(numbers(c.slots[k]))
			refuseIf(len(v) != 1, Unsupported, name)
			value = v[0]
		}
	}
	if v := c.attrFloat("constant_values", value); c.attrs.Get("constant_values") != nil {
		value = v
	}
	refuseIf(len(list) != 2*len(x.shape), BadAttribute, "paddings", list, "two for each axis of "+shapeText(x.shape))
	return c.framed(x, list, value)
}

// Gradients of functions that move numbers or weigh them, from what the function does with
// the places of its input: each place gets the sum of the gradients of where it went.

// spreader adds gradients up by places.
type spreader struct {
	y, size, off []float64
	n            []int32
}

func newSpreader(n int64) *spreader {
	return &spreader{y: make([]float64, n), size: make([]float64, n), off: make([]float64, n), n: make([]int32, n)}
}

// add adds weight·g; the weight may be off by off.
// Of each place are kept the sum, Σ|g·weight|, what errors of the weights come to, and how many terms there are.
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
	return must.Get(numbers(g))
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

// traceBack is the gradient of a function that only moves elements: its forward of the numbers of places tells where each
// element of an output is from, and there the gradients g of the outputs are added up.
func (k *invocation) traceBack(f *function, g []Values) Values {
	x := k.tensor("input")
	n := count(x.shape)
	refuseIf(n > maxDense, TooLarge, n, maxDense)
	places := inMemory(x.name, dtype.Float64, x.shape)
	for i := range places.f64 {
		places.f64[i] = float64(i + 1) // 0 is what comes from nowhere: the border of a pad
	}
	call, other := *k.Call, *k
	// The places are whole numbers in float64, whatever the type of the input, and exact up to 2⁵³. The value of a
	// pad must not be taken for a place.
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
		from := must.Get(held(v))
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
		at := must.Get(numbers(idx))
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

func (k *invocation) unpadded() {
	refuseIf(k.bool("padded_mode", false), Unsupported, "padded_mode")
}

// byExpert is the order of tokens by their expert, and where each comes to stand in it.
func (k *invocation) byExpert(idx *operand) (order, back []int64) {
	list := must.Get(numbers(idx))
	order, back = inOrder(int64(len(list))), make([]int64, len(list))
	slices.SortStableFunc(order, func(a, b int64) int { return int(list[a]) - int(list[b]) })
	for at, i := range order {
		back[i] = int64(at)
	}
	return order, back
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

// unpermuted sums the rows of each token, weighed, in the order of its experts; one rounding (ops-transformer
// moe_token_unpermute). Rows that were dropped count nothing.
func (k *invocation) unpermuted(x, idx, probs *operand) Values {
	places, weights, per := must.Get(numbers(idx)), []float64(nil), int64(1)
	if probs != nil {
		refuseIf(len(probs.shape) != 2, ShapesDiffer, probs.shape)
		weights, per = must.Get(numbers(probs)), probs.shape[1]
	}
	for _, p := range places { // the kernel looks whether a place is below the number of rows, and reads in front of them
		refuseIf(p < 0, OutsideCache, k.shown("sorted_indices"), p, x.shape[0])
	}
	return k.addedRows(x, places, weights, per)
}

// addedRows are the sums of so many rows at places each, weighed or not.
// Element (t, e) is Σ_j x[places[t·per + j], e]·weight. A place beyond the rows is of one that was dropped; one that
// is no place at all leaves the sum open. The device sums in float32: per products, per sums.
func (k *invocation) addedRows(x Values, places, weights []float64, per int64) Values {
	s := x.Shape()
	refuseIf(len(s) != 2 || per < 1 || int64(len(places))%per != 0 || weights != nil && len(weights) != len(places), ShapesDiffer, s, []int64{int64(len(places)), per})
	rows := must.Get(held(x))
	g, width := gamma(float64(per)+2, k.sumUnit()), s[1]
	return &formula{shape: []int64{int64(len(places)) / per, width}, f: func(i int64, _ []int64) (y, b float64) {
		size := 0.0
		for j := range per {
			p := places[i/width*per+j]
			switch {
			case p >= float64(len(places)) || p < 0:
				return 0, math.Inf(1)
			case p >= float64(s[0]):
				continue
			}
			v := rows.y[int64(p)*width+i%width]
			if weights != nil {
				v *= weights[i/width*per+j]
			}
			y += v
			size += abs(v)
		}
		return y, g * size
	}}
}

// unpermutedGradients are those of the rows, which each get that of their token times its weight, and of the weights, each the product
// of both.
func unpermutedGradients(k *invocation, g []Values) gradients {
	k.unpadded()
	idx, probs, d := k.tensor("sorted_indices"), k.optional("probs"), gradient(g, 0)
	places, s := must.Get(numbers(idx)), d.Shape()
	rows := int64(len(places))
	if k.has("permuted_tokens") {
		rows = k.tensor("permuted_tokens").shape[0]
	}
	per := rows
	if len(s) == 2 && s[0] > 0 {
		per = int64(len(places)) / s[0]
	}
	refuseIf(len(s) != 2 || per < 1 || per*s[0] != int64(len(places)) || probs != nil && count(probs.shape) != int64(len(places)), ShapesDiffer, s, idx.shape)
	// The inverse of sorted_indices: every row goes to one place.
	back := make([]int64, rows) // which place each row came from
	for i, p := range places {
		refuseIf(p < 0 || p >= float64(len(places)), BadArgument, "sorted_indices", p, "a row")
		if p < float64(rows) {
			back[int(p)] = int64(i)
		}
	}
	spread := func() Values { return rowsOf(d, back, per) }
	return gradients{
		"permuted_tokens": func() Values {
			if probs == nil {
				return spread()
			}
			weight := rowsOf(reshape(probs, []int64{int64(len(places)), 1}), back, 1)
			return k.computed("g,w)=g*w", spread(), weight)
		},
		"probs": func() Values {
			k.required("probs")
			x := k.tensor("permuted_tokens")
			list := make([]int64, len(places))
			for i, p := range places {
				refuseIf(p >= float64(rows), Unsupported, "dropped rows")
				list[i] = int64(p)
			}
			mine, theirs := rowsOf(x, list, 1), rowsOf(d, inOrder(int64(len(list))), per)
			terms := k.computed("x,g)=x*g", mine, theirs)
			return &reduced{shape: probs.shape, in: terms, n: s[1], f: sumOf(k.sumUnit(), s[1], 1)}
		},
	}
}

// leaveFinished gives rows that are marked as finished the number of experts in place of one: they go to none (test of op-plugin).
func (k *invocation) leaveFinished(idx *dense, of []int64) {
	if !k.has("finished") {
		return
	}
	o := k.tensor("finished")
	done, experts := must.Get(numbers(o)), of[len(of)-1]
	refuseIf(int64(len(done)) != count(of[:len(of)-1]), ShapesDiffer, of, o.shape)
	few := idx.shape[len(idx.shape)-1]
	for i := range idx.y {
		if done[int64(i)/few] != 0 {
			idx.y[i], idx.b[i] = float64(experts), 0
		}
	}
}

// gated are the largest probabilities of each row and their places, in falling order: by probs and what is added to
// choose by, if anything is. What is nearly equal may change places.
// Of (rows, experts) come (rows, k). added is a bias that takes part in choosing and not in what is given; closed
// says which experts may not be chosen. Two keys are near where their bounds, and a rounding of each, overlap: then
// the place is open, and with a bias the value, too, as it does not follow the order.
func (k *invocation) gated(probs *dense, added []float64, closed func(r int64, i int) bool) (y, idx *dense) {
	rank := len(probs.shape)
	out := k.shape()
	refuseIf(len(out) != rank || !slices.Equal(out[:rank-1], probs.shape[:rank-1]) || out[rank-1] > probs.shape[rank-1], ShapesDiffer, probs.shape, out)
	n, few := probs.shape[rank-1], out[rank-1]
	refuseIf(count(out) > maxDense, TooLarge, count(out), maxDense)
	y, idx = bounded(out...), bounded(out...)
	for r := range count(out) / max(few, 1) {
		row, off := probs.y[r*n:][:n], probs.b[r*n:][:n]
		key := func(i int) float64 {
			if closed != nil && closed(r, i) {
				return math.Inf(-1)
			}
			if added != nil {
				return row[i] + added[i]
			}
			return row[i]
		}
		near := func(i, j int) bool {
			return abs(key(i)-key(j)) <= off[i]+off[j]+2*u32*(abs(key(i))+abs(key(j)))
		}
		order, keys := inOrder(int(n)), make([]float64, n)
		for i := range keys {
			keys[i] = key(i)
		}
		sortBy(order, keys, -1)
		for j := range few {
			i := order[j]
			at := r*few + j
			y.y[at], y.b[at], idx.y[at] = row[i], off[i], float64(i)
			if j > 0 && near(i, order[j-1]) || int(j)+1 < len(order) && near(i, order[j+1]) {
				if idx.b[at] = math.Inf(1); added != nil {
					y.b[at] = math.Inf(1)
				}
			}
		}
	}
	return y, idx
}

// groupsOf are the experts that are not in the best groups, by the largest probability of each or the sum of its two largest;
// doubt marks the rows in which another group is as good.
// A group is out of doubt where its score is 64 units above that of the best one left out, for sums of two and the
// bias.
func (k *invocation) groupsOf(probs *dense, added []float64) (closed func(r int64, i int) bool, doubt []bool) {
	groups, best, n := k.int("group_count", 1), k.int("k_group", 1), probs.shape[1]
	if groups == best {
		return nil, nil
	}
	kind := k.int("group_select_mode", 0)
	refuseIf(groups < 1 || best < 1 || best > groups || n%groups != 0 || kind != 0 && kind != 1 || n/groups < 2 && kind == 1, BadArgument, "group_count", groups, "groups of "+itoa(int(n)))
	per := n / groups
	open := make([]bool, count(probs.shape))
	doubt = make([]bool, probs.shape[0])
	score, order := make([]float64, groups), make([]int, groups)
	for r := range probs.shape[0] {
		for g := range groups {
			first, second := math.Inf(-1), math.Inf(-1)
			for i := g * per; i < (g+1)*per; i++ {
				v := probs.y[r*n+i]
				if added != nil {
					v += added[i]
				}
				if v > first {
					first, second = v, first
				} else {
					second = max(second, v)
				}
			}
			if score[g], order[g] = first, int(g); kind == 1 {
				score[g] += second
			}
		}
		sortBy(order, score, -1)
		doubt[r] = score[order[best-1]]-score[order[best]] <= 64*u32*(1+abs(score[order[best]]))
		for _, g := range order[:best] {
			for i := int64(g) * per; i < int64(g+1)*per; i++ {
				open[r*n+i] = true
			}
		}
	}
	return func(r int64, i int) bool { return !open[r*n+int64(i)] }, doubt
}

// gatingTopK: the probabilities are a softmax or sigmoids; the bias takes part in the choice alone; those of sigmoids are
// divided by their sum.
// y = p/(Σ p + eps)·routed_scaling_factor for sigmoids, p·factor for a softmax; in rows whose groups are in doubt
// nothing is judged.
func gatingTopK(k *invocation) []Reading {
	x := k.tensor("x")
	k.only(0, "renorm")
	k.unsupported("input_ids", "tid2eid")
	refuseIf(len(x.shape) != 2, ShapesDiffer, x.shape)
	a, kind := k.arith(), k.int("norm_type", 0)
	var v Values
	switch kind {
	case 0:
		v = k.softmax(x, []int{1}, false)
	case 1:
		v = k.applied(catalogue.Of("sigmoid"), x)
	default:
		panic(refusal(BadArgument, "norm_type", kind, "0 or 1"))
	}
	probs := must.Get(held(v))
	var added []float64
	if bias := k.optional("bias"); bias != nil {
		added = must.Get(numbers(bias))
		refuseIf(int64(len(added)) != x.shape[1], ShapesDiffer, shapeText(x.shape, bias.shape))
	}
	closed, doubt := k.groupsOf(probs, added)
	y, idx := k.gated(probs, added, closed)
	for at := range idx.b {
		if doubt != nil && doubt[int64(at)/y.shape[1]] {
			y.b[at], idx.b[at] = math.Inf(1), math.Inf(1)
		}
	}
	scale, eps := k.factor("routed_scaling_factor"), k.float("eps", 1e-20)
	few := y.shape[1]
	for r := range y.shape[0] {
		row := make([]num, few)
		for j := range row {
			row[j] = num{y.y[r*few+int64(j)], y.b[r*few+int64(j)]}
		}
		sum := a.add(total(row, k.sumUnit()), exactNum(eps))
		for j, p := range row {
			if kind == 1 {
				p = a.div(p, sum)
			}
			p = a.mul(p, scale)
			y.y[r*few+int64(j)], y.b[r*few+int64(j)] = p.y, p.b
		}
	}
	return outputs(y, idx, probs)
}
