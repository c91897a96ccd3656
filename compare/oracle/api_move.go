package oracle

import (
	"math"
	"slices"

	"precision/dump/msprobe"
)

// Functions of PyTorch that move numbers, cast or make them: bit-exact. The type of
// a cast and the shape of a reshape are those of the recorded output.

// moved makes the forward of a function that rearranges its input.
func moved(f func(k *invocation, x *operand) (Values, error)) func(k *invocation) ([]Reading, error) {
	return formulaFor(func(k *invocation) (Values, error) {
		x, err := k.tensor("input")
		if err != nil {
			return nil, err
		}
		return f(k, x)
	})
}

// unmoved makes the backward of one: f puts gradients back to where inputs came from.
func unmoved(f func(k *invocation, x *operand, g Values) (Values, error)) func(k *invocation, g []Values) (gradients, error) {
	return func(k *invocation, g []Values) (gradients, error) {
		return gradients{"input": func() (Values, error) {
			x, err := k.tensor("input")
			if err != nil {
				return nil, err
			}
			d, err := gradient(g, 0)
			if err != nil {
				return nil, err
			}
			return f(k, x, d)
		}}, nil
	}
}

func init() {
	cast := function{local: true, moving: true, forward: moved(func(k *invocation, x *operand) (Values, error) { return castTo(k.Call, x) }),
		backward: unmoved(func(k *invocation, x *operand, g Values) (Values, error) { return castTo(k.Call, g) })}
	define("to type type_as npu_dtype_cast npu_format_cast npu_format_cast_like _to_copy", "input *rest", cast)
	define("clone contiguous detach cpu npu cuda half float double bfloat16 int long short char byte bool requires_grad alias lift_fresh", "input *rest", cast)

	// A reshape has the elements in order; its shape is in the recorded output.
	flat := function{moving: true, forward: moved(func(k *invocation, x *operand) (Values, error) {
		if k.outType() != x.numeric() {
			return nil, refuse(BadType, "output 0", k.outType().String())
		}
		return k.asRecorded(x, 0)
	}), backward: unmoved(func(k *invocation, x *operand, g Values) (Values, error) {
		if count(g.Shape()) != count(x.shape) {
			return nil, refuse(ShapesDiffer, shapeText(x.shape, g.Shape()))
		}
		return reshape(g, x.shape), nil
	})}
	define("reshape view reshape_as view_as _unsafe_view unsafe_view", "input *shape", flat)
	define("flatten ravel squeeze unsqueeze unflatten", "input *dims", flat)

	order := func(names, params string, perm func(k *invocation, rank int) ([]int, error)) {
		define(names, params, function{moving: true, forward: moved(func(k *invocation, x *operand) (Values, error) {
			p, err := perm(k, len(x.shape))
			if err != nil {
				return nil, err
			}
			return transpose(x, p), nil
		}), backward: unmoved(func(k *invocation, x *operand, g Values) (Values, error) {
			p, err := perm(k, len(x.shape))
			if err != nil || len(p) != len(g.Shape()) {
				return nil, refuse(ShapesDiffer, shapeText(x.shape, g.Shape()))
			}
			return transpose(g, inverse(p)), nil
		})})
	}
	order("transpose swapaxes swapdims", "input dim0 dim1", func(k *invocation, rank int) ([]int, error) {
		if err := k.required("dim0", "dim1"); err != nil {
			return nil, err
		}
		a, err := k.axis("dim0", 0, rank)
		if err != nil {
			return nil, err
		}
		b, err := k.axis("dim1", 0, rank)
		if err != nil {
			return nil, err
		}
		p := inOrder(rank)
		if rank > 0 {
			p[a], p[b] = b, a
		}
		return p, nil
	})
	order("t numpy_T", "input", func(k *invocation, rank int) ([]int, error) {
		p := inOrder(rank)
		slices.Reverse(p)
		return p, nil
	})
	order("permute", "input *dims", func(k *invocation, rank int) ([]int, error) {
		list, err := k.ints("dims")
		if err != nil {
			return nil, err
		}
		p, err := axesOf("dims", list, rank)
		if err == nil && len(p) != rank {
			err = refuse(BadArgument, "dims", shapeText(list), "every axis of "+itoa(rank))
		}
		return p, err
	})
	order("movedim moveaxis", "input source destination", func(k *invocation, rank int) ([]int, error) {
		if err := k.required("source", "destination"); err != nil {
			return nil, err
		}
		from, err := k.axes("source", rank)
		if err != nil {
			return nil, err
		}
		to, err := k.axes("destination", rank)
		if err != nil {
			return nil, err
		}
		if len(from) != len(to) {
			return nil, refuse(BadArgument, "destination", len(to), itoa(len(from))+" axes")
		}
		p := repeatedInts(rank, -1)
		for i := range to {
			p[to[i]] = from[i]
		}
		next := 0
		for i := range p {
			if p[i] >= 0 {
				continue
			}
			for slices.Contains(from, next) {
				next++
			}
			p[i] = next
			next++
		}
		return p, nil
	})

	spread := function{moving: true, forward: moved(func(k *invocation, x *operand) (Values, error) {
		shape, err := k.shape()
		if err != nil {
			return nil, err
		}
		v, ok := broadcast(x, shape)
		if !ok {
			return nil, refuse(ShapeComputed, shapeText(x.shape), shapeText(shape))
		}
		return v, nil
	}), backward: unmoved(func(k *invocation, x *operand, g Values) (Values, error) { return k.reducedToShape(g, x.shape) })}
	define("expand expand_as broadcast_to", "input *sizes", spread)
	define("repeat tile", "input *dims", function{moving: true, forward: moved(repeat)})
	define("flip", "input *dims", function{moving: true, forward: moved(flip), backward: unmoved(func(k *invocation, x *operand, g Values) (Values, error) {
		axes, err := k.axes("dims", len(x.shape))
		if err != nil || len(g.Shape()) != len(x.shape) {
			return nil, refuse(ShapesDiffer, shapeText(x.shape, g.Shape()))
		}
		return flipped(g, axes), nil
	})})
	define("roll", "input shifts dims", function{moving: true, forward: moved(roll)})
	defineJoins()
	defineParts()
	defineMade()
}

func inOrder(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func repeatedInts(n, x int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = x
	}
	return s
}

func repeat(k *invocation, x *operand) (Values, error) {
	list, err := k.ints("dims")
	if err != nil {
		return nil, err
	}
	in := slices.Clone(x.shape)
	for len(in) < len(list) {
		in = slices.Insert(in, 0, 1)
	}
	for len(list) < len(in) && k.name == "tile" {
		list = slices.Insert(slices.Clone(list), 0, 1)
	}
	if len(list) != len(in) || len(in)*2 > maxRank {
		return nil, refuse(BadArgument, "dims", shapeText(list), "one for each axis of "+shapeText(x.shape))
	}
	out, err := k.shape()
	if err != nil {
		return nil, err
	}
	var shape, steps, whole []int64
	step := rowMajor(in)
	for i, d := range in {
		if !within(list[i], 0, 1<<40) {
			return nil, refuse(BadArgument, "dims", shapeText(list), "small positive numbers")
		}
		shape, steps, whole = append(shape, list[i], d), append(steps, 0, step[i]), append(whole, list[i]*d)
	}
	if !slices.Equal(whole, out) {
		return nil, refuse(ShapeComputed, shapeText(whole), shapeText(out))
	}
	return reshape(newStrided(x, shape, steps, 0), out), nil
}

func flip(k *invocation, x *operand) (Values, error) {
	if err := k.required("dims"); err != nil {
		return nil, err
	}
	axes, err := k.axes("dims", len(x.shape))
	if err != nil {
		return nil, err
	}
	return flipped(x, axes), nil
}

func flipped(v Values, axes []int) Values {
	steps, off := rowMajor(v.Shape()), int64(0)
	for _, a := range axes {
		off += (v.Shape()[a] - 1) * steps[a]
		steps[a] = -steps[a]
	}
	if count(v.Shape()) == 0 {
		return v
	}
	return newStrided(v, v.Shape(), steps, off)
}

func roll(k *invocation, x *operand) (Values, error) {
	shifts, err := k.ints("shifts")
	if err != nil {
		return nil, err
	}
	axes, err := k.ints("dims")
	if err != nil {
		return nil, err
	}
	var v Values = x
	if len(axes) == 0 {
		v, axes = reshape(x, []int64{count(x.shape)}), []int64{0}
	}
	list, err := axesOf("dims", axes, len(v.Shape()))
	if err != nil || len(list) != len(shifts) {
		return nil, refuse(BadArgument, "shifts", shapeText(shifts), itoa(len(axes))+" numbers")
	}
	for i, a := range list {
		d := v.Shape()[a]
		if d == 0 {
			continue
		}
		n := ((shifts[i] % d) + d) % d
		if n == 0 {
			continue
		}
		first, err := joined(a, slab1(v, a, d-n, n), slab1(v, a, 0, d-n))
		if err != nil {
			return nil, err
		}
		v = first
	}
	return reshape(v, x.shape), nil
}

// slab1 is v from index lo of an axis on, n of it.
func slab1(v Values, axis int, lo, n int64) Values {
	begin, shape := make([]int64, len(v.Shape())), slices.Clone(v.Shape())
	begin[axis], shape[axis] = lo, n
	return cut(v, begin, shape, ones(len(shape)))
}

// joined puts tensors behind each other along an axis, those without elements left out.
func joined(axis int, parts ...Values) (Values, error) {
	full := slices.DeleteFunc(slices.Clone(parts), func(v Values) bool { return count(v.Shape()) == 0 })
	if len(full) == 0 {
		return parts[0], nil
	}
	return newConcat(full, axis)
}

func defineJoins() {
	join := func(names string, fresh bool) {
		rankOf := func(o *operand) int {
			if fresh {
				return len(o.shape) + 1
			}
			return len(o.shape)
		}
		define(names, "tensors dim", function{moving: true, forward: formulaFor(func(k *invocation) (Values, error) {
			list, err := k.tensors("tensors")
			if err != nil {
				return nil, err
			}
			axis, err := k.axis("dim", 0, rankOf(list[0]))
			if err != nil {
				return nil, err
			}
			var parts []Values
			for _, o := range list {
				v := k.converted(o)
				if fresh {
					v = reshape(v, slices.Insert(slices.Clone(o.shape), axis, 1))
				} else if len(o.shape) == 1 && o.shape[0] == 0 {
					continue // an empty tensor goes with any
				}
				parts = append(parts, v)
			}
			if len(parts) == 0 || len(parts[0].Shape()) == 0 {
				return nil, refuse(ShapesDiffer, shapeText(list[0].shape))
			}
			for _, p := range parts {
				if len(p.Shape()) != len(parts[0].Shape()) {
					return nil, refuse(ShapesDiffer, shapeText(parts[0].Shape(), p.Shape()))
				}
			}
			return joined(axis, parts...)
		}), nodes: [][]string{{"#"}}, backward: func(k *invocation, g []Values) (gradients, error) {
			list, err := k.tensors("tensors")
			if err != nil {
				return nil, err
			}
			axis, err := k.axis("dim", 0, rankOf(list[0]))
			if err != nil {
				return nil, err
			}
			d, err := gradient(g, 0)
			if err != nil {
				return nil, err
			}
			out, at := gradients{}, int64(0)
			for i, o := range list {
				n := int64(1)
				if !fresh {
					n = o.shape[axis]
				}
				from := at
				at += n
				if at > d.Shape()[axis] {
					return nil, refuse(ShapesDiffer, shapeText(d.Shape(), o.shape))
				}
				out[itoa(i)] = func() (Values, error) { return reshape(slab1(d, axis, from, n), o.shape), nil }
			}
			return out, nil
		}})
	}
	join("cat concat concatenate", false)
	join("stack", true)
}

func defineParts() {
	split := func(names, params string, sizes func(k *invocation, d int64) ([]int64, error)) {
		define(names, params, function{moving: true, forward: func(k *invocation) ([]Reading, error) {
			x, err := k.tensor("input")
			if err != nil {
				return nil, err
			}
			axis, err := k.axis("dim", 0, len(x.shape))
			if err != nil || len(x.shape) == 0 {
				return nil, refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape))
			}
			list, err := sizes(k, x.shape[axis])
			if err != nil {
				return nil, err
			}
			var out []Values
			at := int64(0)
			for _, n := range list {
				if n < 0 || n > x.shape[axis]-at {
					return nil, refuse(BadArgument, "split", shapeText(list), "parts of "+itoa(int(x.shape[axis])))
				}
				v := slab1(x, axis, at, n)
				if names == "unbind" {
					v = reshape(v, slices.Delete(slices.Clone(v.Shape()), axis, axis+1))
				}
				out = append(out, v)
				at += n
			}
			return []Reading{{Out: out}}, nil
		}})
	}
	equal := func(d, n int64) ([]int64, error) {
		if !within(n, 1, 1<<40) || d/n > 1<<16 {
			return nil, refuse(BadArgument, "split", n, "a positive number")
		}
		var out []int64
		for at := int64(0); at < d || at == 0; at += n {
			out = append(out, min(n, d-at))
		}
		return out, nil
	}
	bySize := func(k *invocation, d int64) ([]int64, error) {
		if err := k.required("split"); err != nil {
			return nil, err
		}
		list, err := k.ints("split")
		if err != nil {
			return nil, err
		}
		if k.args["split"].v != nil && len(list) == 1 {
			return equal(d, list[0])
		}
		return list, nil
	}
	split("split", "input split dim", bySize)
	functions["split_with_sizes"] = functions["split"]
	otherNames["split_size_or_sections"], otherNames["split_size"], otherNames["split_sizes"] = "split", "split", "split"
	split("chunk", "input chunks dim", func(k *invocation, d int64) ([]int64, error) {
		n, err := k.int("chunks", 0)
		if err != nil || !within(n, 1, 1<<16) {
			return nil, refuse(BadArgument, "chunks", n, "a positive number")
		}
		return equal(d, max((d+n-1)/n, 1))
	})
	split("unbind", "input dim", func(k *invocation, d int64) ([]int64, error) {
		if d > 1<<16 {
			return nil, refuse(TooLarge, d, 1<<16)
		}
		return ones(int(d)), nil
	})
	define("narrow", "input dim start length", function{moving: true, forward: moved(func(k *invocation, x *operand) (Values, error) {
		if err := k.required("dim", "start", "length"); err != nil {
			return nil, err
		}
		axis, err := k.axis("dim", 0, len(x.shape))
		if err != nil || len(x.shape) == 0 {
			return nil, refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape))
		}
		lo, err := k.int("start", 0)
		if err != nil {
			return nil, err
		}
		n, err := k.int("length", 0)
		if err != nil {
			return nil, err
		}
		d := x.shape[axis]
		if lo < 0 {
			lo += d
		}
		if lo < 0 || n < 0 || lo > d || n > d-lo {
			return nil, refuse(BadArgument, "start, length", shapeText([]int64{lo, n}), "a part of "+itoa(int(d)))
		}
		return slab1(x, axis, lo, n), nil
	})})
	define("select", "input dim index", function{moving: true, forward: moved(func(k *invocation, x *operand) (Values, error) {
		if err := k.required("dim", "index"); err != nil {
			return nil, err
		}
		axis, err := k.axis("dim", 0, len(x.shape))
		if err != nil || len(x.shape) == 0 {
			return nil, refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape))
		}
		i, err := k.int("index", 0)
		if err != nil {
			return nil, err
		}
		return selected(x, axis, i)
	})})
	define("index_select", "input dim index", function{moving: true, forward: moved(func(k *invocation, x *operand) (Values, error) {
		axis, err := k.axis("dim", 0, len(x.shape))
		if err != nil || len(x.shape) == 0 {
			return nil, refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape))
		}
		return k.gathered(x, axis, "index")
	})})
	define("gather", "input dim index", function{moving: true, forward: moved(func(k *invocation, x *operand) (Values, error) {
		axis, err := k.axis("dim", 0, len(x.shape))
		if err != nil || len(x.shape) == 0 {
			return nil, refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape))
		}
		idx, err := k.tensor("index")
		if err != nil {
			return nil, err
		}
		if len(idx.shape) != len(x.shape) {
			return nil, refuse(ShapesDiffer, shapeText(x.shape, idx.shape))
		}
		for i := range idx.shape {
			if i != axis && idx.shape[i] > x.shape[i] {
				return nil, refuse(ShapesDiffer, shapeText(x.shape, idx.shape))
			}
		}
		at, err := numbers(idx)
		if err != nil {
			return nil, err
		}
		d, err := held(x)
		if err != nil {
			return nil, err
		}
		steps := rowMajor(x.shape)
		return &formula{shape: idx.shape, exact: true, f: func(i int64, p []int64) (float64, float64) {
			j := int64(at[i])
			if j < 0 || j >= x.shape[axis] {
				return 0, math.Inf(1)
			}
			k := j * steps[axis]
			for a := range p {
				if a != axis {
					k += p[a] * steps[a]
				}
			}
			return d.y[k], 0
		}}, nil
	})})
	triangle := func(name string, keep func(row, col, diagonal int64) bool) {
		part := func(k *invocation, v Values) (Values, error) {
			diagonal, err := k.int("diagonal", 0)
			rank := len(v.Shape())
			if err != nil || rank < 2 {
				return nil, refuse(BadArgument, "diagonal", diagonal, "a matrix")
			}
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
		define(name, "input diagonal", function{moving: true, forward: moved(func(k *invocation, x *operand) (Values, error) { return part(k, x) }),
			backward: unmoved(func(k *invocation, x *operand, g Values) (Values, error) { return part(k, g) })})
	}
	triangle("tril", func(row, col, d int64) bool { return col-row <= d })
	triangle("triu", func(row, col, d int64) bool { return col-row >= d })
	define("getitem", "input index", function{moving: true, forward: moved(item)})
}

// selected is one index of an axis, without the axis.
func selected(x Values, axis int, i int64) (Values, error) {
	d := x.Shape()[axis]
	if i < 0 {
		i += d
	}
	if i < 0 || i >= d {
		return nil, refuse(BadArgument, "index", i, "below "+itoa(int(d)))
	}
	v := slab1(x, axis, i, 1)
	return reshape(v, slices.Delete(slices.Clone(v.Shape()), axis, axis+1)), nil
}

// gathered takes the slices of x along an axis that an argument of whole numbers says.
func (k *invocation) gathered(x Values, axis int, name string) (Values, error) {
	idx, err := k.tensor(name)
	if err != nil {
		return nil, err
	}
	return gatheredBy(x, axis, idx)
}

func gatheredBy(x Values, axis int, idx *operand) (Values, error) {
	if !discrete(idx.typ) || count(idx.shape) > maxDense {
		return nil, refuse(BadType, idx.name, idx.typ.String())
	}
	list, err := numbers(idx)
	if err != nil {
		return nil, err
	}
	s := x.Shape()
	g := &gather{x: x, lead: count(s[:axis]), n: s[axis], inner: count(s[axis+1:]), batches: 1, perBatch: int64(len(list)), indices: make([]int64, len(list))}
	for i, f := range list {
		if g.indices[i] = int64(f); f < 0 {
			g.indices[i] += g.n
		}
	}
	g.shape = slices.Concat(s[:axis], idx.shape, s[axis+1:])
	if g.perBatch == 0 || g.inner == 0 || g.lead == 0 || len(g.shape) > maxRank {
		return nil, refuse(ShapesDiffer, shapeText(s, idx.shape))
	}
	return g, nil
}

// item is x[index] with whole numbers, slices, Ellipsis, None and one tensor of whole
// numbers.
func item(k *invocation, x *operand) (Values, error) {
	a := k.args["index"]
	if a == nil {
		return nil, refuse(NoArgument, "index")
	}
	list := []*argument{a}
	if a.v == nil {
		list = a.list
	}
	takes := 0
	for _, i := range list {
		if i == nil {
			return nil, refuse(NoArgument, "index")
		}
		if i.v == nil {
			return nil, refuse(Unsupported, "an index that is a list")
		}
		if i.v.Kind != msprobe.Ellipsis && i.v.Kind != msprobe.None {
			takes++
		}
	}
	var v Values = x
	axis := 0
	var by *operand
	byAxis := 0
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
		if rest < 1 {
			return nil, refuse(BadArgument, "index", itoa(len(list)), itoa(len(x.shape))+" axes")
		}
		switch {
		case i.v.Kind == msprobe.Slice:
			cutOut, err := sliced(v, axis, i.v.Items)
			if err != nil {
				return nil, err
			}
			v = cutOut
			axis++
		case i.tensor() && i.err != nil:
			return nil, i.err
		case i.tensor() && (len(i.op.shape) > 0 || !discrete(i.op.typ)):
			if by != nil || !discrete(i.op.typ) || i.op.typ.IsBool() {
				return nil, refuse(Unsupported, "an index of "+i.op.typ.String())
			}
			by, byAxis = i.op, axis
			axis++
		default:
			n, ok := i.number()
			if !ok || n != math.Trunc(n) || i.v.Type == "bool" {
				return nil, refuse(BadArgument, "index", i.text(), "whole numbers and slices")
			}
			if by != nil {
				return nil, refuse(Unsupported, "an index of tensors and numbers")
			}
			w, err := selected(v, axis, int64(n))
			if err != nil {
				return nil, err
			}
			v = w
		}
	}
	if by != nil {
		return gatheredBy(v, byAxis, by)
	}
	return v, nil
}

// sliced is v[start:stop:step] along an axis.
func sliced(v Values, axis int, items []msprobe.Number) (Values, error) {
	d := v.Shape()[axis]
	at := [3]int64{0, d, 1}
	for i, n := range items[:min(len(items), 3)] {
		if n.Kind == msprobe.Null || n.Kind == msprobe.Absent {
			continue
		}
		if n.Kind != msprobe.Int {
			return nil, refuse(BadArgument, "slice", n.String(), "whole numbers")
		}
		if at[i] = n.I; i < 2 && at[i] < 0 {
			at[i] += d
		}
	}
	lo, hi, step := min(max(at[0], 0), d), min(max(at[1], 0), d), at[2]
	if step < 1 {
		return nil, refuse(BadArgument, "slice", step, "a positive step")
	}
	n := max(hi-lo+step-1, 0) / step
	begin, shape, steps := make([]int64, len(v.Shape())), slices.Clone(v.Shape()), ones(len(v.Shape()))
	begin[axis], shape[axis], steps[axis] = lo, n, step
	return cut(v, begin, shape, steps), nil
}
