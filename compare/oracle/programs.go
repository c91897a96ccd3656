package oracle

import (
	"maps"
	"math"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/internal/each"
	"precision/internal/nd"
)

// Programs of a tape that move, pick, scatter and reduce: what goes forward is written, the
// gradients follow (tape.go).
//
// Definitions are those of PyTorch's documentation. Where it leaves something open the code says
// what ATen does and what is granted: which of equal elements a reduction takes, in which order
// several numbers are put in one place, how extremes share their gradient. An open choice is not an
// error of a device, so that all its outcomes are within the bound: a number that may be either of
// two ([tape.unsure]), a place that may be any of several, a gradient that each of the tied
// elements may have all or nothing of.

// programForms come behind the forms whose gradients they derive.
func programForms() {
	definePlaces()
	defineScatters()
	defineIndexed()
	defineTaken()
	defineRows()
	defineMoments()
	defineChoices()
	defineSteps()
	defineSpreads()
	defineDistances()
}

// mover adds a form that moves the elements of one tensor. The function computes nothing: values
// are places on the tape, and a move keeps each with its gradient, so that the backward of a mover
// is the sum of what went to each element.
func mover(form string, f func(t *tape, x *dense) Values) {
	program(form, []string{"input"}, func(t *tape) []*dense { return []*dense{move(f(t, t.in("input")))} })
}

// lister is one of a list, which gives as many.
func lister(form string, f func(t *tape, list []*dense) []Values) {
	program(form, []string{"#"}, func(t *tape) (out []*dense) {
		for _, v := range f(t, t.all("tensors")) {
			out = append(out, move(v))
		}
		return out
	})
}

// places are the numbers of the elements of a shape, to be moved as these.
func (t *tape) places(shape []int64) *dense {
	v := t.blank(shape)
	for i := range v.y {
		v.y[i] = float64(i)
	}
	return v
}

// write puts src in the elements of x that a function of x chooses. chosen is any view: it is
// applied to the numbers of the places of x, which tells where the elements of the view lie. It
// serves slice_scatter, diagonal_scatter, select_scatter and diag_embed with the very function that
// reads these.
func (t *tape) write(x *dense, chosen func(v Values) Values, src *dense) *dense {
	to := move(chosen(t.places(x.shape)))
	from, ok := broadcast(src, to.shape)
	refuseIf(!ok, ShapesDiffer, src.shape, to.shape)
	d := move(from)
	out := &dense{shape: x.shape, y: slices.Clone(x.y), exact: true}
	for i, p := range to.y {
		out.y[int(p)] = d.y[i]
	}
	return out
}

// diagonal is a diagonal of two axes, which becomes the last one. Of (…, m, n) with offset o it has
// min(m, n−o) elements for o ≥ 0, beginning at (0, o), and min(m+o, n) below, beginning at (−o, 0);
// torch.diagonal puts it last, behind the other axes in their order.
func (k *invocation) diagonal(v Values, offset int64, first, second int) Values {
	s := v.Shape()
	refuseIf(first == second || len(s) < 2, BadArgument, "dim2", second, "another axis than dim1")
	steps, off := rowMajor(s), int64(0)
	n := min(s[first], s[second]-offset)
	if off = offset * steps[second]; offset < 0 {
		n, off = min(s[first]+offset, s[second]), -offset*steps[first]
	}
	var shape, to []int64
	for i := range s {
		if i != first && i != second {
			shape, to = append(shape, s[i]), append(to, steps[i])
		}
	}
	n = max(n, 0)
	return newStrided(v, append(shape, n), append(to, steps[first]+steps[second]), off*int64(toNumber(n > 0)))
}

// diagonalOf is the diagonal that the arguments offset, dim1 and dim2 name.
func (t *tape) diagonalOf(v Values) Values {
	return t.diagonal(v, t.int("offset", 0), t.axisOf(v.Shape(), "dim1", 0), t.axisOf(v.Shape(), "dim2", 1))
}

// square is the smallest matrix with x on a diagonal, 0 elsewhere. Its side is the length of the
// diagonal and |offset|, as torch.diag_embed says; first and second are its axes in the result, so
// that they may stand apart.
func (t *tape) square(x *dense, offset int64, first, second int) *dense {
	n := x.shape[len(x.shape)-1] + max(offset, -offset)
	shape := slices.Clone(x.shape[:len(x.shape)-1])
	for _, a := range []int{min(first, second), max(first, second)} {
		refuseIf(a > len(shape), BadArgument, "dim1", a, "an axis")
		shape = slices.Insert(shape, a, n)
	}
	return t.write(t.filled(shape, 0), func(v Values) Values { return t.diagonal(v, offset, first, second) }, x)
}

// slice is one of an axis by start, end and step.
func (t *tape) slice(v Values) Values {
	axis, step := t.axisOf(v.Shape(), "dim", 0), t.int("step", 1)
	return stepped(v, axis, [3]int64{t.int("start", 0), t.int("end", 0), step}, [3]bool{!t.has("start"), !t.has("end")})
}

// atLeast gives a tensor more axes. A vector becomes (1, n) of two and (1, n, 1) of three axes, a
// matrix (m, n, 1): torch.atleast_2d, atleast_3d.
func atLeast(s []int64, n int) []int64 {
	switch {
	case len(s) >= n:
		return s
	case len(s) == 0:
		return ones(n)
	case len(s) == 1 && n == 2:
		return []int64{1, s[0]}
	case len(s) == 1:
		return []int64{1, s[0], 1}
	}
	return []int64{s[0], s[1], 1}
}

// definePlaces: views and joins of PyTorch that come with gradients by moving places.
func definePlaces() {
	// torch.diagonal(offset, dim1, dim2), a view.
	mover("diagonal", func(t *tape, x *dense) Values { return t.diagonalOf(x) })
	// torch.diag: of a vector the matrix with it on a diagonal, of a matrix that diagonal.
	mover("diag", func(t *tape, x *dense) Values {
		if n := t.int("diagonal", 0); len(x.shape) != 1 {
			return t.diagonal(x, n, 0, 1)
		} else {
			return t.square(x, n, 0, 1)
		}
	})
	// torch.diag_embed puts the last axis on a diagonal of two new ones.
	mover("diag_embed", func(t *tape, x *dense) Values {
		refuseIf(len(x.shape) == 0, ShapesDiffer, x.shape)
		rank := len(x.shape) + 1
		return t.square(x, t.int("offset", 0), t.axis("dim1", -2, rank), t.axis("dim2", -1, rank))
	})
	// torch.diagflat is diag of the flattened tensor.
	mover("diagflat", func(t *tape, x *dense) Values {
		return t.square(move(reshape(x, []int64{count(x.shape)})), t.int("offset", 0), 0, 1)
	})
	mover("slice", func(t *tape, x *dense) Values { return t.slice(x) })
	for form, chosen := range map[string]func(t *tape, v Values) Values{
		"slice_scatter": (*tape).slice, "diagonal_scatter": (*tape).diagonalOf,
		"select_scatter": func(t *tape, v Values) Values { return selected(v, t.axisOf(v.Shape(), "dim", 0), t.int("index", 0)) },
	} {
		program(form, []string{"input", "src"}, func(t *tape) []*dense {
			return []*dense{t.write(t.in("input"), func(v Values) Values { return chosen(t, v) }, t.in("src"))}
		})
	}
	// torch.atleast_1d, 2d and 3d; the digit is in the name.
	mover("atleast", func(t *tape, x *dense) Values {
		n := int(t.name[len(t.name)-2] - '0')
		return reshape(x, atLeast(x.shape, n))
	})
	// torch.rot90 turns from the first axis towards the second: a transposition of the two and a
	// flip of the first, k times; a negative k is one modulo 4.
	mover("rot90", func(t *tape, x *dense) Values {
		axes, n := t.axes("dims", len(x.shape)), ((t.int("k", 1)%4)+4)%4
		if !t.has("dims") {
			axes = []int{0, 1}
		}
		refuseIf(len(axes) != 2, BadArgument, "dims", len(axes), "two axes")
		var v Values = x
		for range n {
			p := inOrder(len(x.shape))
			p[axes[0]], p[axes[1]] = axes[1], axes[0]
			v = flipped(move(transpose(v, p)), axes[:1])
		}
		return v
	})
	// torch.flipud turns the first axis around, fliplr the second.
	mover("flipside", func(t *tape, x *dense) Values {
		axis := int(toNumber(t.name == "fliplr"))
		refuseIf(axis >= len(x.shape), ShapesDiffer, x.shape)
		return flipped(x, []int{axis})
	})
	// Tensor.unfold(dim, size, step): (…, d, …) gives (…, (d−size)/step+1, …, size); windows share
	// elements, so that it is a view with a step of its own.
	mover("unfold", func(t *tape, x *dense) Values {
		axis, size, step := t.axis("dim", 0, len(x.shape)), t.int("size", 1), t.int("step", 1)
		if len(x.shape) == 0 {
			return reshape(x, []int64{1})
		}
		d := x.shape[axis]
		refuseIf(step < 1 || !within(size, 0, d), BadArgument, "size", size, "windows of "+itoa(int(d)))
		steps := rowMajor(x.shape)
		shape := append(slices.Clone(x.shape), size)
		shape[axis] = (d-size)/step + 1
		at := append(slices.Clone(steps), steps[axis])
		at[axis] *= step
		return &strided{shape: shape, steps: at, in: x}
	})
	mover("shuffle", func(t *tape, x *dense) Values { return t.shuffled(x) })
	// torch.repeat_interleave(repeats, dim): each entry so many times behind itself; without dim of
	// the flattened tensor.
	mover("repeat_interleave", func(t *tape, x *dense) Values {
		var v Values = x
		if !t.has("dim") {
			v = reshape(x, []int64{count(x.shape)})
		}
		axis, times := t.axisOf(v.Shape(), "dim", 0), t.ints("repeats")
		if len(times) == 1 {
			times = repeated(int(v.Shape()[axis]), times[0])
		}
		refuseIf(int64(len(times)) != v.Shape()[axis], ShapesDiffer, times, v.Shape())
		var list []int64
		for i, n := range times {
			refuseIf(!within(n, 0, maxDense-int64(len(list))), BadArgument, "repeats", n, "a small number")
			list = append(list, repeated(int(n), int64(i))...)
		}
		return picksOf(v, axis, list)
	})
	// torch.meshgrid: with indexing "xy" the first two axes change places.
	lister("meshgrid", func(t *tape, list []*dense) (out []Values) {
		var shape []int64
		for _, x := range list {
			shape = append(shape, count(x.shape))
		}
		for _, v := range crossed(list, shape) {
			if t.string("indexing", "ij") == "xy" && len(shape) > 1 {
				p := inOrder(len(shape))
				p[0], p[1] = 1, 0
				v = transpose(v, p)
			}
			out = append(out, v)
		}
		return out
	})
	// torch.broadcast_tensors; the gradient of each is summed over what was repeated.
	lister("broadcast_tensors", func(t *tape, list []*dense) (out []Values) {
		var shapes [][]int64
		for _, x := range list {
			shapes = append(shapes, x.shape)
		}
		shape, ok := broadcastShape(shapes...)
		refuseIf(!ok, ShapesDiffer, shapeText(shapes...))
		for _, x := range list {
			v, _ := broadcast(x, shape)
			out = append(out, v)
		}
		return out
	})
	// hstack joins vectors on axis 0 and others on 1; vstack and dstack give each 2 and 3 axes
	// first and join the first or third; column_stack makes columns of vectors.
	lister("stacks", func(t *tape, list []*dense) (out []Values) {
		axis, least := 0, 1
		switch t.name {
		case "hstack":
			axis = min(1, len(list[0].shape)-1)
		case "column_stack":
			axis = 1
		case "vstack", "row_stack":
			least = 2
		case "dstack":
			axis, least = 2, 3
		}
		var parts []Values
		for _, x := range list {
			s := atLeast(x.shape, least)
			if t.name == "column_stack" && len(s) < 2 {
				s = []int64{count(s), 1}
			}
			parts = append(parts, reshape(x, s))
		}
		return []Values{joined(max(axis, 0), parts...)}
	})
	// torch.block_diag: matrices along the diagonal, 0 elsewhere; vectors are rows.
	lister("block_diag", func(t *tape, list []*dense) (out []Values) {
		rows, width := int64(0), int64(0)
		for _, x := range list {
			refuseIf(len(x.shape) > 2, ShapesDiffer, x.shape)
			s := atLeast(x.shape, 2)
			rows, width = rows+s[0], width+s[1]
		}
		whole := t.filled([]int64{rows, width}, 0)
		at := int64(0) // where the first element of a block is
		for _, x := range list {
			s := atLeast(x.shape, 2)
			for r := range s[0] {
				copy(whole.y[at+r*width:], x.y[r*s[1]:][:s[1]])
			}
			at += s[0]*width + s[1]
		}
		return []Values{whole}
	})
	// torch.cartesian_prod: all combinations, the last vector fastest; one vector is returned as it
	// is.
	lister("cartesian_prod", func(t *tape, list []*dense) (out []Values) {
		shape, n := []int64{}, int64(1)
		for _, x := range list {
			refuseIf(len(x.shape) != 1, ShapesDiffer, x.shape)
			shape = append(shape, x.shape[0])
			n *= x.shape[0]
		}
		if len(list) == 1 {
			return []Values{list[0]}
		}
		refuseIf(n > maxDense, TooLarge, n, maxDense)
		var columns []Values
		for _, v := range crossed(list, shape) {
			columns = append(columns, reshape(v, []int64{n, 1}))
		}
		return []Values{joined(1, columns...)}
	})
	// The order is that of itertools.combinations, which torch.combinations names as its model.
	mover("combinations", func(t *tape, x *dense) Values {
		r, n := t.int("r", 2), int64(len(x.y))
		refuseIf(!within(r, 1, 4) || n > 1<<9, BadArgument, "r", r, "a small number")
		again := int64(toNumber(!t.bool("with_replacement", false)))
		var rows []float64
		var next func(from int64, row []float64)
		next = func(from int64, row []float64) {
			if int64(len(row)) == r {
				refuseIf(len(rows) > maxDense, TooLarge, len(rows), maxDense)
				rows = append(rows, row...)
				return
			}
			for i := from; i < n; i++ {
				next(i+again, append(slices.Clip(row), x.y[i]))
			}
		}
		next(0, nil)
		return &dense{shape: []int64{int64(len(rows)) / r, r}, y: rows, exact: true}
	})
	// torch.tensor_split along dim, hsplit and dsplit along the axes in their names.
	program("splits", []string{"input"}, func(t *tape) (out []*dense) {
		x := t.in("input")
		axis := map[string]int{"hsplit": min(1, len(x.shape)-1), "dsplit": 2}[t.name]
		if t.name == "tensor_split" {
			axis = t.axisOf(x.shape, "dim", 0)
		}
		refuseIf(axis < 0 || axis >= len(x.shape), ShapesDiffer, x.shape)
		d, a := x.shape[axis], t.args["sections"]
		refuseIf(a.none(), NoArgument, "sections")
		// A number of sections gives the first d%n of them one element more (torch.tensor_split); a
		// list has the places where one part ends and the next begins, which may be negative or
		// beyond the axis.
		ends := wholeNumbers("sections", a)
		if a.v != nil && !(a.tensor() && a.op != nil && len(a.op.shape) > 0) && len(ends) == 1 {
			n := ends[0]
			refuseIf(!within(n, 1, 1<<16), BadArgument, "sections", n, "a positive number")
			ends = nil
			for i, at := int64(0), int64(0); i < n-1; i++ {
				if at += d / n; i < d%n {
					at++
				}
				ends = append(ends, at)
			}
		}
		from := int64(0)
		for i := range len(ends) + 1 {
			to := d
			if i < len(ends) {
				if to = ends[i]; to < 0 {
					to += d
				}
				to = min(max(to, 0), d)
			}
			out = append(out, move(slab1(x, axis, min(from, d), max(to-from, 0))))
			from = to
		}
		return out
	})
	forms["tensor_split"] = forms["splits"]
}

// crossed are vectors, each along an axis of its own, repeated along those of the others. Of
// vectors of lengths n₀ … nₖ each result is (n₀, …, nₖ): meshgrid with indexing "ij", and the
// columns of cartesian_prod.
func crossed(list []*dense, shape []int64) (out []Values) {
	refuseIf(len(shape) > maxRank, TooLarge, len(shape), maxRank)
	for i, x := range list {
		one := ones(len(shape))
		one[i] = shape[i]
		v, _ := broadcast(reshape(x, one), shape)
		out = append(out, v)
	}
	return out
}

// picksOf takes entries of an axis.
// (lead, n, inner) becomes (lead, len(list), inner). Nothing is computed, and an empty list gives
// an empty tensor.
func picksOf(v Values, axis int, list []int64) Values {
	s, n := v.Shape(), int64(len(list))
	g := &gather{x: v, lead: count(s[:axis]), n: s[axis], inner: count(s[axis+1:]), batches: 1, perBatch: n, indices: list, shape: slices.Clone(s)}
	if g.shape[axis] = n; count(g.shape) == 0 {
		return &dense{shape: g.shape, exact: true}
	}
	return g
}

// shuffled are the shuffles of pixels and channels: reshapes with the axes in another order.
// channel_shuffle: (N, g·c, …) → (N, g, c, …) → (N, c, g, …). pixel_shuffle: (…, c·r², H, W) → (…,
// c, H·r, W·r), the two r of a channel becoming steps within a row and a column; pixel_unshuffle is
// its inverse.
func (t *tape) shuffled(x *dense) Values {
	n := len(x.shape)
	if t.name == "channel_shuffle" {
		groups := t.int("groups", 1)
		refuseIf(n < 2 || groups < 1 || x.shape[1]%groups != 0, BadArgument, "groups", groups, "a divisor of the channels")
		v := reshape(x, []int64{x.shape[0], groups, x.shape[1] / groups, count(x.shape[2:])})
		return reshape(move(transpose(v, []int{0, 2, 1, 3})), x.shape)
	}
	r := t.int(t.params[len(t.params)-1], 1)
	refuseIf(n < 3 || r < 1, BadArgument, "factor", r, "a positive number")
	b, c, h, w := count(x.shape[:n-3]), x.shape[n-3], x.shape[n-2], x.shape[n-1]
	lead := x.shape[:n-3]
	if t.name == "pixel_shuffle" {
		refuseIf(c%(r*r) != 0, ShapesDiffer, x.shape)
		v := reshape(x, []int64{b, c / r / r, r, r, h, w})
		return reshape(move(transpose(v, []int{0, 1, 4, 2, 5, 3})), append(slices.Clone(lead), c/r/r, h*r, w*r))
	}
	refuseIf(h%r != 0 || w%r != 0, ShapesDiffer, x.shape)
	v := reshape(x, []int64{b, c, h / r, r, w / r, r})
	return reshape(move(transpose(v, []int{0, 1, 3, 5, 2, 4})), append(slices.Clone(lead), c*r*r, h/r, w/r))
}

// unsure is a number that may be anything: which of several is left in a place is not said, and all
// get its gradient. Its error is infinite, so that no value is accused; list are the numbers that
// it may be.
func (t *tape) unsure(list ...float64) float64 {
	return t.push(taped{v: num{0, math.Inf(1)}, all: list})
}

// mute refuses gradients that PyTorch computes another way than by the rules, with other errors.
// Of products it divides the result by each element, of logcumsumexp it goes back in logarithms.
func (t *tape) mute(other bool) { refuseIf(t.backwards && other, NoGradient, t.name) }

// together puts several numbers in one place together. how is the reduce of scatter_reduce and
// index_reduce ("sum", "prod", "mean", "amax", "amin") and of the older scatter ("add", "multiply",
// of ScatterElements of GE "add", "mul"). A sum of booleans is "or". The mean of integers is
// rounded down, as floor division in ATen is.
func (t *tape) together(how string, list []float64) float64 {
	fold := func(op string) float64 {
		p := list[0]
		for _, q := range list[1:] {
			p = t.Combine(op, p, q)
		}
		return p
	}
	if op, ok := strings.CutPrefix(how, "a"); ok && len(op) == 3 {
		return t.extreme(list, op)
	}
	switch how {
	case "sum", "add":
		if t.outType() == dtype.Bool {
			return t.extreme(list, "max")
		}
		return t.sum(list...)
	case "mean":
		y := t.div(t.sum(list...), t.Number(float64(len(list))))
		if integers(t.Call) {
			y = t.do("x)=floor(x)", y)
		}
		return y
	case "prod", "multiply", "mul":
		t.mute(true)
		return fold("*")
	}
	panic(refusal(BadArgument, "reduce", how, "a reduction"))
}

// extreme is the largest or smallest number, all of which have the same share in it; of those that
// may be it, by their errors, each may have all or nothing. ATen shares the gradient of amax and
// amin evenly among equal elements (evenly_distribute_backward), with n of them 1/n each, one
// division in float32. Where errors of the elements make it unsure which is the largest, the share
// is 0.5 ± 0.5. NaN wins, whatever it stands beside.
func (t *tape) extreme(list []float64, op string) float64 {
	refuseIf(len(list) == 0, NoInput, "elements")
	best := t.at(list[0])
	for _, p := range list {
		if best = t.a.Combine(op, best, t.at(p)); math.IsNaN(best.y) {
			return t.unsure()
		}
	}
	same := slices.DeleteFunc(slices.Clone(list), func(p float64) bool { return abs(t.at(p).y-best.y) > t.at(p).b+best.b })
	share := num{1 / float64(len(same)), 2 * u32}
	if best.b > 0 {
		share = num{0.5, 0.5}
	}
	return t.sharedBy(same, best, share)
}

// sharedBy is a number that several are, each with a share in it: a chain of steps, in each of
// which one takes its share. A node of the tape has two sources at most: of n equal numbers n−1
// nodes pass on what is left of the first with a slope of 1.
func (t *tape) sharedBy(same []float64, v, share num) float64 {
	p, rest := same[0], share
	for _, q := range same[1:] {
		p, rest = t.push(taped{v: v, from: [2]int{int(p), int(q)}, slopes: [2]num{rest, share}}), exactNum(1)
	}
	return p
}

// tied is a number of a row, and how many of the row are equal to it: which of these a device takes
// is not said, so that each may get all of its gradient or nothing.
func (t *tape) tied(row []float64, p float64) (float64, int) {
	x := t.at(p)
	same := slices.DeleteFunc(slices.Clone(row), func(q float64) bool {
		z := t.at(q).y
		return z != x.y && (z == z || x.y == x.y)
	})
	return t.sharedBy(same, x, num{0.5, 0.5}), len(same)
}

// scattered is x with numbers put in places of it, together with what else comes there if how says
// in which way. self says whether what stood there takes part (include_self). Without a way only
// one number can be left in a place, and put says which are unsure.
func (t *tape) scattered(x *dense, places []int64, src []float64, how string, self bool) *dense {
	if how == "" || how == "none" {
		return t.put(x, places, src)
	}
	out := &dense{shape: x.shape, y: slices.Clone(x.y), exact: true}
	at := map[int64][]float64{}
	for i, p := range places {
		refuseIf(p < 0 || p >= int64(len(x.y)), OutsideCache, "index", p, len(x.y))
		if at[p] == nil && self {
			at[p] = []float64{x.y[p]}
		}
		at[p] = append(at[p], src[i])
	}
	for _, p := range slices.Sorted(maps.Keys(at)) {
		out.y[p] = t.together(how, at[p])
	}
	return out
}

// alongIndex are the places in x that an index of its rank names on an axis, one for each of its
// elements. index has the rank of x, and its element at (i, j, k) names (index, j, k) for axis 0;
// its other axes may be shorter than those of x (torch.scatter, torch.gather).
func (t *tape) alongIndex(shape []int64, axis int, name string) (places, where []int64) {
	idx := t.tensor(name)
	s := idx.shape
	if len(s) != len(shape) {
		s = atLeast(s, len(shape))
	}
	refuseIf(len(s) != len(shape), ShapesDiffer, shape, idx.shape)
	return placesAlong(shape, axis, ints(idx), s, true, name), s
}

// placesAlong are the places in a tensor of a shape that an index of the shape where names on an
// axis. Negative entries count from the end if they may; one outside is refused as one of a cache
// is: the device would have read or written elsewhere.
func placesAlong[N int64 | float64](shape []int64, axis int, index []N, where []int64, negative bool, name string) []int64 {
	at, steps, places := make([]int64, len(where)), rowMajor(shape), make([]int64, len(index))
	for i, p := range index {
		nd.PlaceIn(int64(i), where, at)
		if at[axis] = int64(p); p < 0 && negative {
			at[axis] += shape[axis]
		}
		for a := range at {
			refuseIf(at[a] < 0 || at[a] >= shape[a], OutsideCache, name, at[a], shape[a])
		}
		places[i] = nd.Number(at, steps)
	}
	return places
}

// placesOn are those on one axis of n places.
func placesOn(n int64, index []int64, name string) []int64 {
	return placesAlong([]int64{n}, 0, index, []int64{int64(len(index))}, true, name)
}

// slicesAt are the places of slices of an axis, one for each entry of a list. Of (…, n, …) and m
// entries the places are (…, m, …), in row-major order: index_copy, index_add, index_fill and
// index_reduce.
func (t *tape) slicesAt(shape []int64, axis int, name string) (places []int64, where []int64) {
	list := ints(t.tensor(name))
	where = slices.Clone(shape)
	where[axis] = int64(len(list))
	list = placesOn(shape[axis], list, name)
	for _, p := range move(picksOf(t.places(shape), axis, list)).y {
		places = append(places, int64(p))
	}
	return places, where
}

// spreadTo repeats a tensor of places to a shape.
func (t *tape) spreadTo(v *dense, shape []int64) []float64 {
	w, ok := broadcast(v, shape)
	refuseIf(!ok, ShapesDiffer, v.shape, shape)
	return move(w).y
}

// lined is a tensor with an axis at least, and which of its axes dim names.
func (t *tape) lined(name string) (x *dense, axis int) {
	x = t.in(name)
	return &dense{shape: atLeast(x.shape, 1), y: x.y, exact: true}, t.axis("dim", 0, len(x.shape))
}

// defineScatters: what is put in places that an index of the tensor's rank names.
func defineScatters() {
	// Tensor.scatter, scatter_add and scatter_reduce: x[index[i][j]][j] = src[i][j] on axis 0, or
	// reduced with what stands there.
	program("scatter", []string{"input", "src"}, func(t *tape) []*dense {
		t.required("dim", "index", "src")
		x, axis := t.lined("input")
		places, s := t.alongIndex(x.shape, axis, "index")
		src := t.in("src")
		from := src
		if t.args["src"].tensor() && len(src.shape) > 0 {
			refuseIf(len(src.shape) != len(s), ShapesDiffer, src.shape, s)
			for i, n := range s {
				refuseIf(n > src.shape[i], ShapesDiffer, src.shape, s)
			}
			from = move(cut(src, make([]int64, len(s)), s, ones(len(s))))
		}
		// src may be larger than index; only its first elements on each axis are taken, which is
		// why it was cut above.
		how, self := t.string("reduce", ""), t.bool("include_self", true)
		if t.name == "scatter_add" {
			how = "sum"
		}
		if t.called != nil && !discrete(t.outType()) {
			t.sums = max(t.sums, precisionFor(t.outType()).v) // a kernel adds each in the tensor itself
		}
		out := t.scattered(x, places, t.spreadTo(from, s), how, self)
		out.shape = t.in("input").shape
		return []*dense{out}
	})
}

// defineIndexed: what is put in slices and places.
func defineIndexed() {
	for form, from := range map[string]string{"index_copy": "source", "index_reduce": "source", "index_fill": "value"} {
		program(form, []string{"input", from}, func(t *tape) []*dense {
			t.required("dim", "index", from)
			x, axis := t.lined("input")
			places, s := t.slicesAt(x.shape, axis, "index")
			list := t.in(from).y
			if from == "value" {
				list = t.spreadTo(t.in(from), s)
			}
			refuseIf(int64(len(list)) != count(s), ShapesDiffer, t.in(from).shape, s)
			out := t.scattered(x, places, list, t.string("reduce", ""), t.bool("include_self", true))
			out.shape = t.in("input").shape
			return []*dense{out}
		})
	}
	// Places are of the flattened tensor. With accumulate what stands there takes part in the sum.
	program("put", []string{"input", "source"}, func(t *tape) []*dense {
		x, src := t.in("input"), t.in("source")
		list := placesOn(int64(len(x.y)), ints(t.tensor("index")), "index")
		refuseIf(len(src.y) != len(list), ShapesDiffer, src.shape, []int64{int64(len(list))})
		return []*dense{t.scattered(x, list, src.y, map[bool]string{true: "sum"}[t.bool("accumulate", false)], true)}
	})
	// Entries of indices are what stands between brackets in Python; the places
	// they choose come from the reader of Tensor.__getitem__, applied to the numbers of the places.
	program("index_put", []string{"input", "values"}, func(t *tape) []*dense {
		x, a := t.in("input"), t.args["indices"]
		refuseIf(a.none() || a.v != nil || len(a.list) == 0, NoInput, "indices")
		item := &argument{list: a.list}
		if len(a.list) == 1 {
			item = a.list[0]
		}
		other := t.with(map[string]*argument{"index": item})
		to := move(items(other, t.places(x.shape)))
		var places []int64
		for _, p := range to.y {
			places = append(places, int64(p))
		}
		return []*dense{t.scattered(x, places, t.spreadTo(t.in("values"), to.shape), map[bool]string{true: "sum"}[t.bool("accumulate", false)], true)}
	})
}

// defineTaken: what is taken by places and masks.
func defineTaken() {
	// torch.take: places of the flattened tensor.
	mover("take", func(t *tape, x *dense) Values {
		idx := t.tensor("index")
		return takenFrom(x, placesOn(int64(len(x.y)), ints(idx), "index"), idx.shape)
	})
	// torch.take_along_dim; without dim both are flattened.
	mover("take_along_dim", func(t *tape, x *dense) Values {
		idx := t.tensor("index")
		v := Values(x)
		if !t.has("dim") {
			v = reshape(x, []int64{count(x.shape)})
			refuseIf(count(idx.shape) > maxDense, TooLarge, count(idx.shape), maxDense)
			return takenAlong(v, reshape(idx, []int64{count(idx.shape)}), 0)
		}
		return takenAlong(v, idx, t.axisOf(x.shape, "dim", 0))
	})
	// The length follows from the mask, whose elements must therefore have been recorded.
	mover("masked_select", func(t *tape, x *dense) Values {
		mask := t.tensor("mask")
		shape, ok := broadcastShape(x.shape, mask.shape)
		refuseIf(!ok, ShapesDiffer, x.shape, mask.shape)
		from, on := t.spreadTo(x, shape), t.spreadTo(held(mask), shape)
		out := &dense{exact: true}
		for i, p := range from {
			if on[i] != 0 {
				out.y = append(out.y, p)
			}
		}
		out.shape = []int64{int64(len(out.y))}
		return out
	})
	// Tensor.masked_scatter: the elements of source in their order, where the mask is set.
	program("masked_scatter", []string{"input", "source"}, func(t *tape) []*dense {
		x, src, mask := t.in("input"), t.in("source"), t.tensor("mask")
		shape, ok := broadcastShape(x.shape, mask.shape)
		refuseIf(!ok, ShapesDiffer, x.shape, mask.shape)
		out := &dense{shape: shape, y: slices.Clone(t.spreadTo(x, shape)), exact: true}
		next := 0
		for i, on := range t.spreadTo(held(mask), shape) {
			if on != 0 {
				refuseIf(next >= len(src.y), ShapesDiffer, src.shape, mask.shape)
				out.y[i] = src.y[next]
				next++
			}
		}
		return []*dense{out}
	})
	// An index is a place within its own plane (H·W of one channel), as max_pool returns it; the
	// output has the recorded shape, since output_size need not have been given.
	program("max_unpool", []string{"input"}, func(t *tape) []*dense {
		x, idx := t.in("input"), ints(t.tensor("indices"))
		shape := t.shape()
		axes := int(t.name[len(t.name)-2] - '0')
		refuseIf(len(idx) != len(x.y) || len(shape) <= axes || len(shape) != len(x.shape), ShapesDiffer, x.shape, shape)
		in, plane := count(x.shape[len(x.shape)-axes:]), count(shape[len(shape)-axes:])
		var places []int64
		for i, p := range idx {
			refuseIf(p < 0 || p >= plane, OutsideCache, "indices", p, plane)
			places = append(places, int64(i)/max(in, 1)*plane+p)
		}
		return []*dense{t.put(t.filled(shape, 0), places, x.y)}
	})
	// torch.nn.functional.unfold, whose gradient is fold: windows that overlap are added up.
	mover("im2col", func(t *tape, x *dense) Values { return t.columns(x) })
}

// put writes numbers in places; which of several for one place is left is not said unless they are
// the same. The order in which threads of a device write is open: of two numbers that differ either
// may be left, and neither is accused.
func (t *tape) put(x *dense, places []int64, src []float64) *dense {
	out := &dense{shape: x.shape, y: slices.Clone(x.y), exact: true}
	written := map[int64]bool{}
	for i, p := range places {
		refuseIf(p < 0 || p >= int64(len(x.y)), OutsideCache, "index", p, len(x.y))
		if written[p] && out.y[p] != src[i] {
			out.y[p] = t.unsure(out.y[p], src[i])
			continue
		}
		written[p], out.y[p] = true, src[i]
	}
	return out
}

// takenAlong is x at the places that an index of its rank names on an axis, both repeated to the
// other axes. Unlike gather, take_along_dim repeats both to each other on all axes but the one that
// is indexed.
func takenAlong(x, idx Values, axis int) Values {
	s := slices.Clone(x.Shape())
	w := idx.Shape()
	refuseIf(len(s) != len(w), ShapesDiffer, s, w)
	for i := range s {
		if i != axis {
			refuseIf(s[i] != w[i] && s[i] != 1 && w[i] != 1, ShapesDiffer, s, w)
			s[i] = max(s[i], w[i])
		}
	}
	to := slices.Clone(s)
	to[axis] = w[axis]
	from, _ := broadcast(x, s)
	by, _ := broadcast(idx, to)
	return takenFrom(move(from), placesAlong(s, axis, numbers(by), to, true, "indices"), to)
}

// takenFrom are the numbers of d in places, in a shape.
func takenFrom(d *dense, places, shape []int64) Values {
	return &dense{shape: shape, y: each.Of(places, func(p int64) float64 { return d.y[p] }), exact: true}
}

// columns are the windows of an image as columns.
// (N, C, H, W) becomes (N, C·kH·kW, L) with L = outH·outW, out = (in + 2·pad − dilation·(k−1) −
// 1)/stride + 1 (torch.nn.Unfold). The border of zeros is written out, the windows are a view of
// it.
func (t *tape) columns(x *dense) Values {
	n := len(x.shape)
	refuseIf(n != 3 && n != 4, ShapesDiffer, x.shape)
	size, dilation, pad, stride := t.each2("kernel_size", 1), t.each2("dilation", 1), t.each2("padding", 0), t.each2("stride", 1)
	b, c := count(x.shape[:n-3]), x.shape[n-3]
	var out [2]int64
	for i := range out {
		refuseIf(!within(size[i], 1, 1<<20) || !within(dilation[i], 1, 1<<20) || !within(stride[i], 1, 1<<20) || !within(pad[i], 0, 1<<20), BadArgument, "kernel_size", size, "small numbers")
		out[i] = (x.shape[n-2+i]+2*pad[i]-dilation[i]*(size[i]-1)-1)/stride[i] + 1
		refuseIf(out[i] < 1, ShapesDiffer, x.shape, size)
	}
	h, w := x.shape[n-2], x.shape[n-1]
	wide := w + 2*pad[1]
	framed := t.filled([]int64{b * c, h + 2*pad[0], wide}, 0)
	for i := range b * c * h {
		copy(framed.y[(i/h*framed.shape[1]+i%h+pad[0])*wide+pad[1]:], x.y[i*w:][:w])
	}
	v := newStrided(framed, []int64{b * c, size[0], size[1], out[0], out[1]},
		[]int64{framed.shape[1] * wide, dilation[0] * wide, dilation[1], stride[0] * wide, stride[1]}, 0)
	return reshape(move(v), append(slices.Clone(x.shape[:n-3]), c*size[0]*size[1], out[0]*out[1]))
}

func (t *tape) each2(name string, missing int64) []int64 { return t.invocation.each(name, 2, missing) }

// ofRows is a program that gives a number for each row of what is reduced.
func ofRows(f func(t *tape, row []float64) float64) func(t *tape) []*dense {
	return func(t *tape) []*dense {
		x := t.in("input")
		axes, keep := t.reducedAxes(len(x.shape))
		return []*dense{t.along(x, axes, keep, func(row []float64) []float64 { return []float64{f(t, row)} })}
	}
}

// realsOf are the numbers of a row that are numbers.
// nansum, nanmean, nanmedian and nanquantile leave NaN out before they compute.
func realsOf(t *tape, row []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(row), func(p float64) bool { return math.IsNaN(t.at(p).y) })
}

// scanRows adds a form that gives a number for each place of a row, and where it was found.
func scanRows(form string, f func(t *tape, row []float64) (out, places []float64)) {
	program(form, []string{"input"}, func(t *tape) []*dense {
		x := t.in("input")
		t.required("dim")
		if len(x.shape) == 0 {
			x = &dense{shape: []int64{1}, y: x.y, exact: true}
		}
		axis := []int{t.axisOf(x.shape, "dim", 0)}
		all := func(which int) *dense {
			v := t.along(x, axis, true, func(row []float64) []float64 {
				out, at := f(t, row)
				if which == 1 {
					return at
				}
				return out
			})
			return &dense{shape: t.in("input").shape, y: v.y, exact: true}
		}
		out := []*dense{all(0)}
		if strings.HasPrefix(form, "cum") && form != "cumprod" {
			out = append(out, all(1))
		}
		return out
	})
}

// chooseOfRow adds a form that takes one number of each row, and tells its place. median and
// nanmedian of a whole tensor give one number; with dim, and always for kthvalue and mode, which
// take the last axis where none is named, the place in the row comes, too.
func chooseOfRow(form string, f func(t *tape, row []float64) (p, place float64)) {
	program(form, []string{"input"}, func(t *tape) []*dense {
		x := t.in("input")
		axes, keep := t.axes("dim", len(x.shape)), t.bool("keepdim", false)
		one := t.has("dim") || form == "kthvalue" || form == "mode"
		if !t.has("dim") && one && len(x.shape) > 0 {
			axes = []int{len(x.shape) - 1}
		}
		var places []float64
		values := t.along(x, axes, keep && one, func(row []float64) []float64 {
			refuseIf(len(row) == 0, ShapesDiffer, x.shape)
			p, at := f(t, row)
			places = append(places, at)
			return []float64{p}
		})
		if !one {
			return []*dense{values}
		}
		return []*dense{values, {shape: values.shape, y: places, exact: true}}
	})
}

// nthOfRow is the number in a place of an ordered row; which of equal ones is taken is not said.
// Where several are equal the value is sure, its place is not: sorting on devices is not stable.
func nthOfRow(t *tape, row, list []float64, n int) (p, at float64) {
	p, same := t.tied(row, list[n])
	if same > 1 {
		return p, t.unsure()
	}
	return p, t.Number(float64(slices.Index(row, p)))
}

// quantiles adds a form that takes quantiles, of all numbers or but those that are none.
// q may be a number or a vector; a vector becomes the first axis of the result.
func quantiles(form string, skip bool) {
	program(form, []string{"input", "q"}, func(t *tape) []*dense {
		x, q := t.in("input"), t.in("q")
		axes, keep := t.reducedAxes(len(x.shape))
		how := t.string("interpolation", "linear")
		var parts []Values
		for _, p := range q.y {
			v := t.along(x, axes, keep, func(row []float64) []float64 {
				if skip {
					row = realsOf(t, row)
				}
				return []float64{t.quantileOf(t.ordered(row), p, how)}
			})
			if len(q.shape) == 0 {
				return []*dense{v}
			}
			parts = append(parts, reshape(v, append([]int64{1}, v.shape...)))
		}
		refuseIf(len(parts) == 0, NoInput, "q")
		return []*dense{move(joined(0, parts...))}
	})
}

// defineRows: what is computed along axes.
func defineRows() {
	one := []string{"input"}
	// torch.nansum and nanmean leave NaN out, of the count, too.
	program("nansum", one, ofRows(func(t *tape, row []float64) float64 { return t.sum(realsOf(t, row)...) }))
	program("nanmean", one, ofRows(func(t *tape, row []float64) float64 {
		list := realsOf(t, row)
		return t.div(t.sum(list...), t.Number(float64(len(list))))
	}))
	// Where a form has a forward of its own (formula.go, reduce.go), what it computes forward
	// stays, and the tape gives the gradients alone.
	derive("prod", one, ofRows((*tape).product))
	derive("logsumexp", one, ofRows((*tape).logSum))
	// torch.norm and torch.linalg.vector_norm.
	derive("norm", one, ofRows(func(t *tape, row []float64) float64 { return t.length(row, t.power()) }))
	// One weight, or one for each channel; at 0 the slope is the weight, as in ATen.
	derive("prelu", []string{"input", "weight"}, func(t *tape) []*dense {
		x, w := t.in("input"), t.in("weight")
		if len(w.y) > 1 && len(x.shape) > 1 {
			w = move(perChannel(t.tensor("input"), w))
		}
		return []*dense{t.each("x,w)=where(x>0,x,w*x)", x, w)}
	})
	// glu(a, b) = a·σ(b) for the first and second half of the axis.
	derive("glu", []string{"input"}, func(t *tape) []*dense {
		x := t.in("input")
		axis := t.axisOf(x.shape, "dim", -1)
		n := x.shape[axis] / 2
		return []*dense{t.each("x,z)=x*sigmoid(z)", move(slab1(x, axis, 0, n)), move(slab1(x, axis, n, n)))}
	})
}

// defineMoments: moments, and what goes on from number to number.
func defineMoments() {
	for _, form := range []string{"var", "std"} {
		derive(form, []string{"input"}, func(t *tape) []*dense { return t.spread(form == "std")[:1] })
	}
	// torch.var_mean and std_mean.
	program("moments", []string{"input"}, func(t *tape) []*dense { return t.spread(strings.HasPrefix(t.name, "std")) })
	// Gradients are muted: ATen finds those of cumprod by reversed sums over the result divided by
	// the input, and has another way for zeros.
	scanRows("cumprod", func(t *tape, row []float64) (out, _ []float64) {
		t.mute(true)
		p := t.Number(1)
		for _, q := range row {
			p = t.mul(p, q)
			out = append(out, p)
		}
		return out, nil
	})
	// torch.logcumsumexp: log Σ e^x of all numbers up to each.
	scanRows("logcumsumexp", func(t *tape, row []float64) (out, _ []float64) {
		t.mute(true)
		for i := range row {
			out = append(out, t.logSum(row[:i+1]))
		}
		return out, nil
	})
	// Of equal numbers the last one is kept (>= and <= in ATen's cummax_helper), and a NaN stays
	// for the rest of the row, with the place of the last.
	for form, better := range map[string]func(x, z float64) bool{"cummax": func(x, z float64) bool { return x >= z }, "cummin": func(x, z float64) bool { return x <= z }} {
		scanRows(form, func(t *tape, row []float64) (out, places []float64) {
			best := 0
			for i, p := range row {
				if x := t.at(p).y; better(x, t.at(row[best]).y) || math.IsNaN(x) {
					best = i
				}
				out, places = append(out, row[best]), append(places, t.Number(float64(best)))
			}
			return out, places
		})
	}
}

// defineChoices: what is taken of ordered rows.
func defineChoices() {
	// torch.kthvalue: the k-th smallest, counted from 1.
	chooseOfRow("kthvalue", func(t *tape, row []float64) (float64, float64) {
		n := t.int("k", 1)
		refuseIf(!within(n, 1, int64(len(row))), BadArgument, "k", n, "a place of "+itoa(len(row)))
		return nthOfRow(t, row, t.ordered(row), int(n)-1)
	})
	// torch.median takes the lower of two middle numbers, place (n−1)/2 of the ordered row; NaN
	// anywhere makes it NaN.
	chooseOfRow("median", func(t *tape, row []float64) (float64, float64) {
		list := t.ordered(row)
		if math.IsNaN(t.at(list[len(list)-1]).y) {
			return t.Number(math.NaN()), t.unsure()
		}
		return nthOfRow(t, row, list, (len(list)-1)/2)
	})
	// torch.nanmedian is that of the numbers that are some; of none it is NaN.
	chooseOfRow("nanmedian", func(t *tape, row []float64) (float64, float64) {
		list := t.ordered(realsOf(t, row))
		if len(list) == 0 {
			return t.Number(math.NaN()), t.unsure()
		}
		return nthOfRow(t, row, list, (len(list)-1)/2)
	})
	// Of values that are as frequent ATen's loop over the sorted row keeps the smallest.
	chooseOfRow("mode", func(t *tape, row []float64) (float64, float64) {
		list := t.ordered(row)
		best, times, n := 0, 0, 0
		for i := range list {
			if i > 0 && t.at(list[i]).y == t.at(list[i-1]).y {
				n++
			} else {
				n = 1
			}
			if n > times {
				best, times = i, n
			}
		}
		return nthOfRow(t, row, list, best)
	})
	// torch.quantile and nanquantile.
	quantiles("quantile", false)
	quantiles("nanquantile", true)
}

// defineSteps: steps between neighbours, and rows with each other.
func defineSteps() {
	// torch.aminmax: the smallest and the largest of each row.
	program("aminmax", []string{"input"}, func(t *tape) (out []*dense) {
		for _, op := range []string{"min", "max"} {
			out = append(out, ofRows(func(t *tape, row []float64) float64 { return t.extreme(row, op) })(t)...)
		}
		return out
	})
	// Σ (yᵢ + yᵢ₋₁)/2 · (xᵢ − xᵢ₋₁), or · dx where no x is given; cumulative_trapezoid has the n−1
	// partial sums.
	program("trapezoid", []string{"input", "x"}, func(t *tape) []*dense {
		y := t.in("input")
		axis := t.axis("dim", -1, len(y.shape))
		refuseIf(len(y.shape) == 0 || y.shape[axis] == 0, ShapesDiffer, y.shape)
		var steps *dense
		if t.has("x") {
			x := t.in("x")
			if len(x.shape) == 1 && len(y.shape) > 1 {
				s := ones(len(y.shape))
				refuseIf(x.shape[0] != y.shape[axis], ShapesDiffer, x.shape, y.shape)
				s[axis] = x.shape[0]
				x = move(reshape(x, s))
			}
			w, ok := broadcast(x, y.shape)
			refuseIf(!ok, ShapesDiffer, x.shape, y.shape)
			steps = move(w)
		}
		dx := t.factor("dx", 1)
		out := t.along2(y, steps, axis, func(y, x []float64) []float64 {
			var terms []float64
			for i := 1; i < len(y); i++ {
				w := dx
				if x != nil {
					w = t.sub(x[i], x[i-1])
				}
				terms = append(terms, t.mul(t.div(t.add(y[i], y[i-1]), t.Number(2)), w))
			}
			if t.name != "cumulative_trapezoid" {
				return []float64{t.sum(terms...)}
			}
			sums := make([]float64, len(terms))
			for i := range terms {
				sums[i] = t.sum(terms[:i+1]...)
			}
			return sums
		})
		return []*dense{out}
	})
	// torch.gradient with steps of 1 and edge_order 1: (f[i+1] − f[i−1])/2, at the ends the
	// difference to the one neighbour. Other spacings are refused.
	program("gradient", []string{"input"}, func(t *tape) (out []*dense) {
		x := t.in("input")
		t.unsupported("spacing", "edge_order")
		for _, axis := range t.axes("dim", len(x.shape)) {
			refuseIf(x.shape[axis] < 2, ShapesDiffer, x.shape)
			out = append(out, t.along(x, []int{axis}, true, func(row []float64) (list []float64) {
				for i := range row {
					lo, hi := max(i-1, 0), min(i+1, len(row)-1)
					list = append(list, t.div(t.sub(row[hi], row[lo]), t.Number(float64(hi-lo))))
				}
				return list
			}))
		}
		return out
	})
	// torch.trace: the sum of the diagonal of a matrix.
	mover("trace", func(t *tape, x *dense) Values {
		refuseIf(len(x.shape) != 2, ShapesDiffer, x.shape)
		return t.single(t.sum(move(t.diagonal(x, 0, 0, 1)).y...))
	})
}

// defineSpreads: rows with each other.
func defineSpreads() {
	// Each slice of the axis whose p-norm exceeds maxnorm is multiplied by maxnorm/(norm + 1e-7);
	// the 1e-7 is that of ATen's renorm_scale_factor. Slices below are returned to the bit.
	program("renorm", []string{"input"}, func(t *tape) []*dense {
		x, p, most := t.in("input"), t.float("p", 2), t.factor("maxnorm", 1)
		axis := t.axisOf(x.shape, "dim", 0)
		rest := slices.Delete(inOrder(len(x.shape)), axis, axis+1)
		small := t.Number(1e-7)
		return []*dense{t.along(x, rest, true, func(row []float64) (out []float64) {
			n := t.length(row, p)
			if t.at(n).y <= t.at(most).y {
				return row
			}
			f := t.div(most, t.add(n, small))
			for _, q := range row {
				out = append(out, t.mul(q, f))
			}
			return out
		})}
	})
	// Each channel of a sequence (S, B, H) by its own weights (W, H), from places before on; what
	// is masked (B, S) is 0.
	program("npu_masked_causal_conv1d", []string{"input", "weight"}, func(t *tape) []*dense {
		x, w := t.in("input"), t.in("weight")
		refuseIf(len(x.shape) != 3 || len(w.shape) != 2 || w.shape[1] != x.shape[2], ShapesDiffer, x.shape, w.shape)
		mask, out, wide, width := []float64(nil), t.blank(x.shape), x.shape[1]*x.shape[2], x.shape[2]
		if o := t.optional("mask"); o != nil {
			refuseIf(len(o.shape) != 2 || o.shape[0] != x.shape[1] || o.shape[1] != x.shape[0], ShapesDiffer, x.shape, o.shape)
			mask = numbers(o)
		}
		for i := range out.y {
			at, b := int64(i)/wide, int64(i)%wide/width
			var terms []float64
			for j := range w.shape[0] {
				if from := at - w.shape[0] + 1 + j; from >= 0 && (mask == nil || mask[b*x.shape[0]+at] != 0) {
					terms = append(terms, t.mul(x.y[from*wide+int64(i)%wide], w.y[j*width+int64(i)%width]))
				}
			}
			out.y[i] = t.sum(terms...)
		}
		return []*dense{out}
	})
	// Blocks of tokens (T, N, D) of each sequence, every so many tokens, weighed by place and head
	// (W, N) (test of npu_nsa_compress).
	program("npu_nsa_compress", []string{"input", "weight"}, func(t *tape) []*dense {
		x, w := t.in("input"), t.in("weight")
		refuseIf(len(x.shape) != 3 || len(w.shape) != 2 || w.shape[1] != x.shape[1], ShapesDiffer, x.shape, w.shape)
		size, stride, ends := t.int("compress_block_size", 0), t.int("compress_stride", 0), t.ints("actual_seq_len")
		refuseIf(size != w.shape[0] || stride < 1, BadArgument, "compress_block_size, compress_stride", []int64{size, stride}, shapeText(w.shape))
		if ends == nil {
			ends = x.shape[:1]
		}
		each := x.shape[1] * x.shape[2]
		out, from := &dense{shape: []int64{0, x.shape[1], x.shape[2]}}, int64(0)
		for _, end := range ends {
			refuseIf(end < from || end > x.shape[0], OutsideCache, "actual_seq_len", end, x.shape[0])
			for ; from+size <= end; from += stride {
				for e := range each {
					var terms []float64
					for j := range size {
						terms = append(terms, t.mul(x.y[(from+j)*each+e], w.y[j*x.shape[1]+e/x.shape[2]]))
					}
					out.y = append(out.y, t.sum(terms...))
				}
				out.shape[0]++
			}
			from = end
		}
		return []*dense{out}
	})
	// cov(i, j) = Σ (xᵢ−x̄ᵢ)(xⱼ−x̄ⱼ) / max(m − correction, 0) of rows of variables and m columns of
	// observations. corrcoef divides it by both deviations, for which its own divisor does not
	// matter, and clips to ±1. Weights of observations are refused.
	program("cov", []string{"input"}, func(t *tape) []*dense {
		x := t.in("input")
		t.unsupported("fweights", "aweights")
		refuseIf(len(x.shape) > 2, ShapesDiffer, x.shape)
		s := atLeast(x.shape, 2)
		n, m := s[0], s[1]
		over := t.Number(max(float64(m)-t.float("correction", 1), 0))
		if t.name == "corrcoef" {
			over = t.Number(1)
		}
		var rows [][]float64
		for i := range n {
			row := x.y[i*m:][:m]
			mean := t.div(t.sum(row...), t.Number(float64(m)))
			var off []float64
			for _, p := range row {
				off = append(off, t.sub(p, mean))
			}
			rows = append(rows, off)
		}
		shape := []int64{n, n}
		if len(x.shape) < 2 {
			shape = []int64{}
		}
		out := t.blank(shape)
		for i := range n {
			for j := range n {
				out.y[i*n+j] = t.div(t.dot(rows[i], rows[j]), over)
			}
		}
		if t.name == "corrcoef" {
			all := slices.Clone(out.y)
			for i := range n {
				for j := range n {
					c := t.do("x,z,w)=x/sqrt(z)/sqrt(w)", all[i*n+j], all[i*n+i], all[j*n+j])
					out.y[i*n+j] = t.do("x)=min(max(x,-1),1)", c)
				}
			}
		}
		return []*dense{out}
	})
}

// along2 is along for two tensors of one shape, the second of which may be nil, and one axis, which
// has as many numbers as f gives or, where that is one and the name does not say otherwise, goes.
// The axis is moved last, so that a row is contiguous; cumulative_trapezoid keeps it, with one
// number fewer.
func (t *tape) along2(x, z *dense, axis int, f func(x, z []float64) []float64) *dense {
	in, _, n := lastAxes(x, []int{axis})
	d, w := move(in), []float64(nil)
	if z != nil {
		moved, _, _ := lastAxes(z, []int{axis})
		w = move(moved).y
	}
	var out []float64
	rows := count(x.shape) / max(n, 1)
	for r := range rows {
		var second []float64
		if w != nil {
			second = w[r*n:][:n]
		}
		out = append(out, f(d.y[r*n:][:n], second)...)
	}
	kept := without(x.shape, axis)
	if rows == 0 || int64(len(out)) == rows && t.name != "cumulative_trapezoid" {
		return &dense{shape: kept, y: out, exact: true}
	}
	last := &dense{shape: append(slices.Clone(kept), int64(len(out))/rows), y: out, exact: true}
	p := slices.Insert(inOrder(len(kept)), axis, len(kept))
	return move(transpose(last, p))
}

// derive gives a form that there is the gradients of a program.
func derive(form string, operands []string, run func(t *tape) []*dense) {
	was := *forms[form]
	program(form, operands, run)
	was.backward, was.nodes = forms[form].backward, forms[form].nodes
	define(form, was)
}

// product is that of all.
func (t *tape) product(row []float64) float64 {
	p := t.Number(1)
	for _, q := range row {
		p = t.mul(p, q)
	}
	return p
}

// dot is Σ x·z: products of one rounding each, summed in any order.
func (t *tape) dot(x, z []float64) float64 {
	terms := make([]float64, len(x))
	for i := range x {
		terms[i] = t.mul(x[i], z[i])
	}
	return t.sum(terms...)
}

// logSum is log Σ e^x, the largest taken out. m + log Σ e^(x−m), for which no term overflows and
// one at least is 1. A row of −inf, or an empty one, gives −inf.
func (t *tape) logSum(row []float64) float64 {
	most := math.Inf(-1)
	for _, p := range row {
		most = math.Max(most, t.at(p).y)
	}
	if math.IsInf(most, -1) {
		return t.Number(most)
	}
	m := t.Number(most)
	return t.do("x,m)=log(x)+m", t.sum(t.row("x,m)=exp(x-m)", row, m)...), m)
}

// power is the p of a norm.
func (t *tape) power() float64 {
	for _, key := range []string{"ord", "p"} {
		if !slices.Contains(t.params, key) {
			continue
		}
		if t.args[key].isText() && t.string(key, "") == "fro" {
			return 2
		}
		return t.float(key, 2)
	}
	return 2
}

// length is the p-norm of numbers.
// (Σ |x|ᵖ)^(1/p); p = 0 counts what is not zero, ±inf takes the largest or smallest magnitude
// (torch.linalg.vector_norm). Of zeros the norm is a constant 0: the slope of the root there is
// infinite, and PyTorch defines the gradient as 0.
func (t *tape) length(row []float64, p float64) float64 {
	n := t.give(t.constant(p)).y[0]
	switch {
	case p == 1:
		return t.sum(t.row("x)=abs(x)", row)...)
	case p == 0:
		return t.sum(t.row("x)=x!=0", row)...)
	case math.IsInf(p, 0):
		return t.extreme(t.row("x)=abs(x)", row), map[bool]string{true: "max", false: "min"}[p > 0])
	}
	each, root := "x,p)=abs(x)^p", "x,p)=x^(1/p)"
	if p == 2 {
		each, root = "x,p)=x*x", "x,p)=sqrt(x)"
	}
	s := t.sum(t.row(each, row, n)...)
	if t.at(s).y == 0 {
		return t.Number(0)
	}
	return t.do(root, s, n)
}

// spread is the variance, or its root, and the mean. Σ (x−x̄)² / max(n − correction, 0). correction
// is 1 unless unbiased is false; var(x, False) gives the flag in the place of dim. Two passes: that
// the device may compute it in one (Welford) is within the bound of the sums.
func (t *tape) spread(root bool) []*dense {
	if a := t.args["dim"]; a != nil && a.v != nil && a.v.Type == "bool" {
		other := t.with(map[string]*argument{"unbiased": a, "dim": nil})
		t.invocation = other
	}
	x := t.in("input")
	correction := t.float("correction", toNumber(t.bool("unbiased", true)))
	axes, keep := t.reducedAxes(len(x.shape))
	mean := t.mean(x, axes, keep)
	v := t.along(x, axes, keep, func(row []float64) []float64 {
		n := float64(len(row))
		m := t.div(t.sum(row...), t.Number(n))
		s := t.div(t.sum(t.row("x,m)=(x-m)*(x-m)", row, m)...), t.Number(math.Max(n-correction, 0)))
		if root {
			s = t.do("x)=sqrt(x)", s)
		}
		return []float64{s}
	})
	return []*dense{v, mean}
}

// quantileOf is between two of ordered numbers. Place q·(n−1) of the ordered numbers, between lo
// and hi: linear a + w·(b−a) with the fraction w, midpoint w = ½, else one of the two. Where the
// place is a whole number but for rounding (1e-5), lower, higher and nearest take that one. The
// weight depends on q with slope n−1, so that q has a gradient; 4 ulp of n bound how the device
// rounds the place.
func (t *tape) quantileOf(list []float64, place float64, how string) float64 {
	q := t.at(place).y
	if len(list) == 0 || math.IsNaN(t.at(list[len(list)-1]).y) {
		return t.Number(math.NaN())
	}
	at := q * float64(len(list)-1)
	lo, hi := int(math.Floor(at)), int(math.Ceil(at))
	refuseIf(lo < 0 || hi >= len(list), BadArgument, "q", q, "0 to 1")
	if math.Abs(at-math.Round(at)) < 1e-5 && how != "linear" && how != "midpoint" {
		lo = int(math.Round(at))
		hi = lo
	}
	switch how {
	case "lower":
		hi = lo
	case "higher":
	case "nearest":
		hi = int(math.RoundToEven(at))
	case "midpoint", "linear":
		w := at - float64(lo)
		if how == "midpoint" {
			w = 0.5 * toNumber(lo != hi)
		}
		slope := exactNum(float64(len(list)-1) * toNumber(how == "linear"))
		p := t.push(taped{v: num{w, 4 * u32 * float64(len(list))}, from: [2]int{int(place), int(place)}, slopes: [2]num{slope}})
		low, _ := t.tied(list, list[lo])
		high, _ := t.tied(list, list[hi])
		return t.do("a,b,w)=a+w*(b-a)", low, high, p)
	default:
		panic(refusal(BadArgument, "interpolation", how, "linear"))
	}
	one, _ := t.tied(list, list[hi])
	return one
}
