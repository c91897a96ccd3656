package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/internal/must"
	catalogue "precision/op"
)

// What moves elements and changes none: reshapes, permutations, repeats, borders, joins, slices;
// casts, which change them by one rounding; and tensors that are made of arguments alone. All of it
// is bit-exact, so that one wrong bit is found.
//
// Most are views ([strided]): an offset and a step for each axis, which is how transposes, slices,
// flips and repeats are all the same thing. A shape that an argument gives has to be the recorded
// one, as nothing is allocated because an argument says so; the type of a cast and the shape of a
// reshape are those of the recorded output.
//
// Sources: PyTorch's documentation; array_ops.h, transformation_ops.h, selection_ops.h and
// split_combination_ops.h of CANN's prototypes; TensorFlow's StridedSlice for masks.

// moved makes the forward of a function that rearranges its input.
func moved(f func(k *invocation, x *operand) Values) func(k *invocation) []Reading {
	return formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		return f(k, x)
	})
}

// toInput makes the backward of a function of one tensor: f gives its gradient from that of the
// result.
func toInput(f func(k *invocation, g Values) Values) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		return gradients{"input": func() Values { return f(k, gradient(g, 0)) }}
	}
}

// unmoved is that of one that moves: f puts gradients back to where inputs came from.
// Not for a move that drops or repeats elements: traceBack adds these up.
func unmoved(f func(k *invocation, x *operand, g Values) Values) func(k *invocation, g []Values) gradients {
	return toInput(func(k *invocation, g Values) Values { return f(k, k.tensor("input"), g) })
}

// moveForms: forms whose result holds the elements of one tensor. A backward is given where it is a
// move itself; of moves that drop or repeat elements it follows from the forward ([defineMove]).
func moveForms() {
	cast := function{local: true, forward: moved(func(k *invocation, x *operand) Values {
		k.unsupported("input_dtype", "grad_dtype") // bytes that are read as numbers of another type, as hifloat8
		return castTo(k.Call, x)
	}),
		backward: unmoved(func(k *invocation, x *operand, g Values) Values { return castTo(k.Call, g) })}
	// Tensor.to, type, half and their kin, and whatever copies: the type is that of the recorded
	// result. Its gradient is cast back.
	define("cast", cast)

	// A reshape has the elements in order; its shape is in the recorded output.
	flat := function{forward: moved(func(k *invocation, x *operand) Values {
		refuseIf(k.outType() != x.numeric(), BadType, "output 0", k.outType().String())
		return k.asRecorded(x, 0)
	}), backward: unmoved(func(k *invocation, x *operand, g Values) Values {
		refuseIf(count(g.Shape()) != count(x.shape), ShapesDiffer, x.shape, g.Shape())
		return reshape(g, x.shape)
	})}
	define("reshape", flat)

	spread := function{forward: moved(func(k *invocation, x *operand) Values {
		shape := k.shape()
		v, ok := broadcast(x, shape)
		refuseIf(!ok, ShapeComputed, x.shape, shape)
		return v
	}), backward: unmoved(func(k *invocation, x *operand, g Values) Values { return k.reducedToShape(g, x.shape) })}
	// Tensor.expand, broadcast_to: repeated axes have step 0; the gradient is summed over them.
	define("expand", spread)
	defineMove("repeat", moved(repeat))
	define("flip", function{forward: moved(func(k *invocation, x *operand) Values { return flip(k, x) }), backward: unmoved(func(k *invocation, x *operand, g Values) Values {
		refuseIf(len(g.Shape()) != len(x.shape), ShapesDiffer, x.shape, g.Shape())
		return flip(k, g)
	})})
	// torch.roll: what is at i comes to stand at i + shift, modulo the length.
	defineMove("roll", moved(roll))
	// torch.nn.functional.pad in its modes constant, reflect, replicate and circular.
	defineMove("pad", moved(padded))
	defineOrders()
	defineJoins()
	defineParts()
	defineMade()
}

// defineOrders: tensors with their axes in another order.
func defineOrders() {
	// The backward of a permutation is its inverse.
	order := func(name string, perm func(k *invocation, rank int) []int) {
		define(name, function{forward: moved(func(k *invocation, x *operand) Values {
			p := perm(k, len(x.shape))
			return transpose(x, p)
		}), backward: unmoved(func(k *invocation, x *operand, g Values) Values {
			p := perm(k, len(x.shape))
			refuseIf(len(p) != len(g.Shape()), ShapesDiffer, x.shape, g.Shape())
			return transpose(g, inverse(p))
		})})
	}
	order("transpose", func(k *invocation, rank int) []int {
		k.required("dim0", "dim1")
		a := k.axis("dim0", 0, rank)
		b := k.axis("dim1", 0, rank)
		p := inOrder(rank)
		if rank > 0 {
			p[a], p[b] = b, a
		}
		return p
	})
	order("t", func(k *invocation, rank int) []int {
		p := inOrder(rank)
		slices.Reverse(p)
		return p
	})
	order("permute", func(k *invocation, rank int) []int {
		list := k.ints("dims")
		p := axesOf("dims", list, rank)
		refuseIf(len(p) != rank, BadArgument, "dims", list, "every axis of "+itoa(rank))
		return p
	})
	// Axes that are not named keep their order and fill the places that are left.
	order("movedim", func(k *invocation, rank int) []int {
		k.required("source", "destination")
		from := k.axes("source", rank)
		to := k.axes("destination", rank)
		refuseIf(len(from) != len(to), BadArgument, "destination", len(to), itoa(len(from))+" axes")
		p := slices.Repeat([]int{-1}, rank)
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
		return p
	})
}

// inOrder are the first n whole numbers.
func inOrder[N int | int64](n N) []N {
	p := make([]N, n)
	for i := range p {
		p[i] = N(i)
	}
	return p
}

// repeat is Tensor.repeat and torch.tile: an axis of d places becomes one of list·d, through an
// axis of step 0 in front of it. Missing axes have one place; of tile missing numbers are 1.
func repeat(k *invocation, x *operand) Values {
	list := k.ints("dims")
	in := slices.Clone(x.shape)
	for len(in) < len(list) {
		in = slices.Insert(in, 0, 1)
	}
	for len(list) < len(in) && k.name == "tile" {
		list = slices.Insert(slices.Clone(list), 0, 1)
	}
	refuseIf(len(list) != len(in) || len(in)*2 > maxRank, BadArgument, "dims", list, "one for each axis of "+shapeText(x.shape))
	out := k.shape()
	var shape, steps, whole []int64
	step := rowMajor(in)
	for i, d := range in {
		refuseIf(!within(list[i], 0, 1<<40), BadArgument, "dims", list, "small positive numbers")
		shape, steps, whole = append(shape, list[i], d), append(steps, 0, step[i]), append(whole, list[i]*d)
	}
	refuseIf(!slices.Equal(whole, out), ShapeComputed, whole, out)
	return reshape(newStrided(x, shape, steps, 0), out)
}

// flip turns axes around; of none nothing is.
func flip(k *invocation, v Values) Values {
	if len(k.ints("dims")) == 0 {
		return v
	}
	return flipped(v, k.axes("dims", len(v.Shape())))
}

// A negative step on each axis, from the last element of all.
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

// Without dims the flattened tensor is rolled.
func roll(k *invocation, x *operand) Values {
	shifts := k.ints("shifts")
	axes := k.ints("dims")
	var v Values = x
	if len(axes) == 0 {
		v, axes = reshape(x, []int64{count(x.shape)}), []int64{0}
	}
	list := axesOf("dims", axes, len(v.Shape()))
	refuseIf(len(list) != len(shifts), BadArgument, "shifts", shifts, itoa(len(axes))+" numbers")
	for i, a := range list {
		v = rolled(v, a, shifts[i])
	}
	return reshape(v, x.shape)
}

// rolled is v with what an axis has at i at i+by, around its end.
func rolled(v Values, axis int, by int64) Values {
	d := v.Shape()[axis]
	if d == 0 || by%d == 0 {
		return v
	}
	n := ((by % d) + d) % d
	return joined(axis, slab1(v, axis, d-n, n), slab1(v, axis, 0, d-n))
}

// slab1 is v from index lo of an axis on, n of it.
func slab1(v Values, axis int, lo, n int64) Values {
	begin, shape := make([]int64, len(v.Shape())), slices.Clone(v.Shape())
	begin[axis], shape[axis] = lo, n
	return cut(v, begin, shape, ones(len(shape)))
}

// joined puts tensors behind each other along an axis, those without elements left out.
func joined(axis int, parts ...Values) Values {
	full := slices.DeleteFunc(slices.Clone(parts), func(v Values) bool { return count(v.Shape()) == 0 })
	switch len(full) {
	case 0:
		return parts[0]
	case 1:
		return full[0]
	}
	return newConcat(full, axis)
}

// defineJoins: torch.cat and torch.stack, of a list along one axis.
func defineJoins() {
	// fresh puts a new axis of one into each (stack); cat passes over vectors without elements, as
	// torch does. The gradient of each is its part.
	join := func(name string, fresh bool) {
		rankOf := func(o *operand) int {
			if fresh {
				return len(o.shape) + 1
			}
			return len(o.shape)
		}
		define(name, function{forward: formulaFor(func(k *invocation) Values {
			list := k.tensors("tensors")
			axis := k.axis("dim", 0, rankOf(list[0]))
			var parts []Values
			for _, o := range list {
				v := k.converted(o)
				if fresh {
					refuseIf(len(o.shape) != len(list[0].shape), ShapesDiffer, list[0].shape, o.shape)
					v = reshape(v, slices.Insert(slices.Clone(o.shape), axis, 1))
				} else if len(o.shape) == 1 && o.shape[0] == 0 {
					continue // an empty tensor goes with any
				}
				parts = append(parts, v)
			}
			if len(parts) == 0 || len(parts[0].Shape()) == 0 {
				panic(refusal(ShapesDiffer, shapeText(list[0].shape)))
			}
			for _, p := range parts {
				refuseIf(len(p.Shape()) != len(parts[0].Shape()), ShapesDiffer, shapeText(parts[0].Shape(), p.Shape()))
			}
			return joined(axis, parts...)
		}), nodes: [][]string{{"#"}}, backward: func(k *invocation, g []Values) gradients {
			list := k.tensors("tensors")
			axis := k.axis("dim", 0, rankOf(list[0]))
			d := gradient(g, 0)
			out, at := gradients{}, int64(0)
			for i, o := range list {
				n := int64(1)
				if !fresh {
					n = o.shape[axis]
				}
				from := at
				at += n
				refuseIf(at > d.Shape()[axis], ShapesDiffer, d.Shape(), o.shape)
				out[itoa(i)] = func() Values { return reshape(slab1(d, axis, from, n), o.shape) }
			}
			return out
		}})
	}
	join("cat", false)
	join("stack", true)
}

// Operators that move elements and change none: bit-exact. Prototypes:
// transformation_ops.h, array_ops.h, selection_ops.h, split_combination_ops.h.

// moveKernels: kernels of GE whose rows say a form of this file and no function.
func moveKernels() {
	// Operators that are the identity in the framework's layout. A reshape is
	// in row-major order of it.
	register(single(func(c *Call) Values {
		x := c.at(0)
		if c.Type == "TransData" {
			return transData(c, x)
		}
		return c.asRecorded(x, 0)
	}), "flat")
	// stride_list counts the axes of NC1HWC0, and the recorded shape tells the same.
	register(single(func(c *Call) Values { return stridedRead(c.at(0), c.shape()) }), "strided")
	register(single(func(c *Call) Values { return castTo(c, c.need("x", 0)) }), "cast")
	parts["cast"] = elementwise{operands: 1, build: func(c *Call, in []Values) Values { return castTo(c, in[0]) }}
}

// transData is the identity in the framework's layout. Where source and target
// have different ones, NCHW and NHWC, the axes are reordered.
// Formats of tiles hold the same elements as the framework's layout, which is what is read here.
func transData(c *Call, x *operand) Values {
	if len(c.outs) > 0 && c.outs[0] != nil {
		if out := c.outs[0]; x.axes != "" && out.axes != "" && x.axes != out.axes && len(x.axes) == len(out.axes) {
			v, _ := channelsFirst(x, x.axes, out.axes)
			if slices.Equal(v.Shape(), out.shape) {
				return v
			}
		}
	}
	return c.asRecorded(x, 0)
}

// box is the part of x of a size, -1 for all that is left of an axis, from a place on.
// Offsets and size are as many as x has axes, and must lie inside.
func (c *Call) box(x Values, begin, size []int64) Values {
	s := x.Shape()
	refuseIf(len(begin) != len(s) || len(size) != len(s), BadAttribute, "offsets, size", shapeText(begin, size), "one for each axis of "+shapeText(s))
	size = slices.Clone(size)
	for i, d := range s {
		if size[i] == -1 {
			size[i] = d - begin[i]
		}
		refuseIf(begin[i] < 0 || size[i] < 0 || begin[i] > d || size[i] > d-begin[i], BadAttribute, "offsets, size", shapeText(begin, size), "inside "+shapeText(s))
	}
	return cut(x, begin, size, ones(len(size)))
}

// defineMade: tensors that are made of numbers alone, or from them and another one.
func defineMade() {
	// Of bool and integers the number is cast as the output is.
	filled := func(form, name string, missing float64) {
		define(form, function{local: true, forward: formulaFor(func(k *invocation) Values {
			shape := k.shape()
			x := missing
			if name != "" {
				k.required(name)
				x = k.float(name, missing)
			}
			v, _ := broadcast(k.whole(k.constant(x)), shape)
			return v
		})})
	}
	filled("full", "fill_value", 0)
	filled("fill", "value", 0)
	filled("zeros", "", 0)
	filled("ones", "", 1)
	// src is repeated to self and cast to its type, rounding as a cast does.
	define("copy", function{local: true, forward: formulaFor(func(k *invocation) Values {
		src := k.tensor("src")
		shape := k.shape()
		v, ok := broadcast(src, shape)
		refuseIf(!ok, ShapesDiffer, src.shape, shape)
		return castTo(k.Call, v)
	})})
	define("arange", function{forward: formulaFor(func(k *invocation) Values {
		shape := k.shape()
		a := k.args["numbers"]
		refuseIf(a == nil || len(shape) != 1, NoArgument, "end")
		list := a.list
		if a.v != nil {
			list = []*argument{a}
		}
		at := []float64{0, 0, 1}
		for i, x := range list {
			n, ok := x.number()
			refuseIf(!ok || i > 2, BadArgument, "end", x.text(), "a number")
			if at[i] = n; len(list) == 1 {
				at[0], at[1] = 0, n
			}
		}
		// torch.arange: ⌈(end − start)/step⌉ numbers start + i·step, of floats in one
		// multiplication and one addition.
		n := math.Ceil((at[1] - at[0]) / at[2])
		refuseIf(n != float64(shape[0]), ShapeComputed, n, shapeText(shape))
		whole := discrete(k.outType())
		refuseIf(whole && slices.ContainsFunc(at, func(x float64) bool { return x != math.Trunc(x) }), Unsupported, "whole numbers between others")
		return &formula{shape: shape, exact: whole, f: func(i int64, _ []int64) (float64, float64) {
			y := at[0] + float64(i)*at[2]
			if whole {
				return y, 0
			}
			return y, 2 * k.unit() * (abs(at[0]) + abs(float64(i)*at[2]))
		}}
	})})
	// torch.eye.
	define("eye", function{forward: formulaFor(func(k *invocation) Values {
		shape := k.shape()
		refuseIf(len(shape) != 2, ShapesDiffer, shape)
		return &formula{shape: shape, exact: true, f: func(_ int64, at []int64) (float64, float64) { return toNumber(at[0] == at[1]), 0 }}
	})})
	// torch.nn.functional.one_hot and OneHot of GE.
	define("one_hot", function{forward: moved(oneHot)})
	// edge is the last column of a row in the lower triangle, or the first in the upper one: r +
	// offset.
	define("triangle_indices", function{forward: formulaFor(func(k *invocation) Values { // rows, then columns
		rows, cols, offset := k.count("row"), k.count("col"), k.int("offset", 0)
		var list [2][]int64
		for r := range rows {
			lo, hi := int64(0), cols
			if edge := r + min(max(offset, -rows), cols); k.name == "tril_indices" {
				hi = min(max(edge+1, 0), cols)
			} else {
				lo = min(max(edge, 0), cols)
			}
			refuseIf(int64(len(list[0]))+hi-lo > maxDense, TooLarge, int64(len(list[0]))+hi-lo, maxDense)
			for c := lo; c < hi; c++ {
				list[0], list[1] = append(list[0], r), append(list[1], c)
			}
		}
		return wholes(append(list[0], list[1]...), []int64{2, int64(len(list[0]))})
	})})
	// The gradient of the same, of the shape of what went in, with the order of the two steps
	// turned round.
	define("npu_confusion_transpose_backward", function{forward: formulaFor(func(k *invocation) Values {
		g, shape := k.tensor("grad"), slices.Clone(k.ints("shape"))
		perm := k.axes("perm", len(k.ints("perm")))
		back := make([]int, len(perm))
		for i, p := range perm {
			back[p] = i
		}
		refuseIf(slices.ContainsFunc(shape, func(d int64) bool { return d < 0 }) || count(shape) != count(g.shape), ShapesDiffer, g.shape, shape)
		if k.bool("transpose_first", true) {
			refuseIf(len(perm) != len(g.shape), ShapesDiffer, g.shape, shape)
			return reshape(transpose(g, back), shape)
		}
		refuseIf(len(perm) != len(shape), ShapesDiffer, g.shape, shape)
		there := make([]int64, len(shape))
		for i, p := range perm {
			there[i] = shape[p]
		}
		return transpose(reshape(g, there), back)
	})})
	defineMove("npu_confusion_transpose", formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		k.required("perm", "shape", "transpose_first")
		first := k.bool("transpose_first", true)
		shape := k.ints("shape")
		refuseIf(len(shape) > maxRank || slices.ContainsFunc(shape, func(d int64) bool { return !within(d, 1, 1<<40) }) || count(shape) != count(x.shape),
			BadArgument, "shape", shapeText(shape), "as many elements as "+shapeText(x.shape))
		var v Values = x
		if !first {
			v = reshape(v, shape)
		}
		perm := k.axes("perm", len(v.Shape()))
		refuseIf(len(perm) != len(v.Shape()), BadArgument, "perm", len(perm), itoa(len(v.Shape()))+" axes")
		if v = transpose(v, perm); first {
			v = reshape(v, shape)
		}
		return v
	}))
	// Parts and borders by the names of torch_npu, which are Slice, StridedSlice and Pad of GE.
	define("npu_slice", function{forward: moved(func(k *invocation, x *operand) Values {
		return k.asRecorded(k.box(x, k.ints("offsets"), k.ints("size")), 0)
	})})
	// torch_npu.npu_indexing and StridedSlice of GE.
	define("npu_indexing", function{forward: moved(steppedBox)})
	// A border of one number: so many before and behind on each axis, the first one first. Pad of GE
	// has them as a matrix.
	define("npu_pad", function{forward: moved(func(k *invocation, x *operand) Values {
		mode := k.string("mode", "constant")
		refuseIf(mode != "" && !strings.EqualFold(mode, "constant"), Unsupported, "mode "+mode)
		k.required("paddings")
		var list []int64
		if k.args["paddings"].tensor() {
			list = ints(k.tensor("paddings"))
		} else {
			list = k.ints("paddings")
		}
		refuseIf(len(list) > 2*len(x.shape) || len(list)%2 != 0, BadArgument, k.shown("paddings"), list, "two for each axis of "+shapeText(x.shape))
		shape, before := slices.Clone(x.shape), make([]int64, len(x.shape))
		for i, n := range list {
			refuseIf(!within(n, 0, 1<<40), BadArgument, k.shown("paddings"), n, "a small number")
			if shape[i/2] += n; i%2 == 0 {
				before[i/2] = n
			}
		}
		refuseIf(!slices.Equal(k.shape(), shape), ShapeComputed, shape, k.shape())
		return bordered(x, before, shape, "constant", exactNum(k.float("value", 0)))
	})})
}

// seriesForms: tensors that are computed of arguments alone.
func seriesForms() {
	// torch.hann_window and its kin, of a length alone.
	define("window", function{forward: formulaFor(window)})
	// start + i/(n−1)·(end − start): kernels count from both ends or multiply by a rounded step,
	// which is within 4 units of the larger end. Integers are cut, and may be either neighbour
	// where the bound reaches over.
	spaced := func(form string, of func(k *invocation) func(x num) num) {
		define(form, function{forward: formulaFor(func(k *invocation) Values {
			shape := k.shape()
			lo, hi := k.float("start", 0), k.float("end", 0)
			k.required("start", "end")
			n, run := float64(count(shape)), of(k)
			whole := discrete(k.outType())
			refuseIf(whole && (lo != math.Trunc(lo) || hi != math.Trunc(hi)), Unsupported, "whole numbers between others")
			return &formula{shape: shape, exact: false, f: func(i int64, _ []int64) (float64, float64) {
				x := num{lo, 0}
				if n > 1 {
					x.y = lo + float64(i)/(n-1)*(hi-lo)
				}
				x.b = 4 * k.unit() * (abs(lo) + abs(hi))
				if x = run(x); whole {
					y := math.Trunc(x.y)
					return y, toNumber(math.Trunc(x.y-x.b) != y || math.Trunc(x.y+x.b) != y)
				}
				return x.y, x.b
			}}
		})})
	}
	spaced("linspace", func(k *invocation) func(x num) num { return func(x num) num { return x } })
	spaced("logspace", func(k *invocation) func(x num) num {
		base, a := exactNum(k.float("base", 10)), k.arith()
		return func(x num) num { return a.pow(base, x) }
	})
}

// oneHot is on at the places along an axis that x says, and off elsewhere.
// The axis is one that x has not; an index outside is on nowhere.
func oneHot(k *invocation, x *operand) Values {
	shape := k.shape()
	axis := k.axis("axis", -1, len(shape))
	refuseIf(len(shape) == 0 || !slices.Equal(without(shape, axis), x.shape), ShapesDiffer, x.shape, shape)
	idx, on, off := numbers(x), k.float("on_value", 1), k.float("off_value", 0)
	n, inner := shape[axis], count(shape[axis+1:])
	return &formula{shape: shape, exact: true, f: func(i int64, at []int64) (float64, float64) {
		if idx[i/(n*inner)*inner+i%inner] == float64(at[axis]) {
			return on, 0
		}
		return off, 0
	}}
}

// without is a shape without one of its axes.
func without(shape []int64, axis int) []int64 {
	return slices.Delete(slices.Clone(shape), axis, axis+1)
}

// padded puts a border around x, of a number or of x itself; pad counts the last
// axis first.
// A negative number cuts.
func padded(k *invocation, x *operand) Values {
	k.required("pad")
	list := k.ints("pad")
	mode := k.string("mode", "constant")
	value := k.float("value", 0)
	if k.outType() == dtype.Bool {
		value = toNumber(value != 0)
	}
	rank := len(x.shape)
	refuseIf(len(list)%2 != 0 || len(list) > 2*rank, BadArgument, "pad", list, "two for each axis of "+shapeText(x.shape))
	shape, before := slices.Clone(x.shape), make([]int64, rank)
	for i := 0; i < len(list); i += 2 {
		a := rank - 1 - i/2
		refuseIf(!within(list[i], -x.shape[a], 1<<40) || !within(list[i+1], -x.shape[a], 1<<40), BadArgument, "pad", list, "small numbers")
		before[a], shape[a] = list[i], max(shape[a]+list[i]+list[i+1], 0)
	}
	refuseIf(!slices.Equal(k.shape(), shape), ShapeComputed, shape, k.shape())
	return bordered(x, before, shape, mode, k.rounding(value))
}

// bordered is x with a border to give it a shape, before elements of it in front on each axis: of a
// number (mode constant), of x mirrored at its first and last elements (reflect), of these elements
// (replicate), or of x begun again (circular).
func bordered(x *operand, before, shape []int64, mode string, n num) Values {
	d, steps := held(x), rowMajor(x.shape)
	return &formula{shape: shape, exact: n.b == 0, f: func(_ int64, at []int64) (float64, float64) {
		j := int64(0)
		for i, p := range at {
			p -= before[i]
			if size := x.shape[i]; p < 0 || p >= size {
				switch mode {
				case "constant":
					return n.y, n.b
				case "reflect":
					if p = max(p, -p); p >= size {
						p = 2*size - 2 - p
					}
				case "replicate":
					p = min(max(p, 0), size-1)
				case "circular":
					p = ((p % size) + size) % size
				}
				if p < 0 || p >= size || mode != "reflect" && mode != "replicate" && mode != "circular" {
					return 0, math.Inf(1)
				}
			}
			j += p * steps[i]
		}
		return d.y[j], 0
	}}
}

// concat joins tensors along an axis.
type concat struct {
	shape []int64
	parts []Values
	inner int64   // elements of a step along the axis
	ends  []int64 // of the parts, in elements of one row
	row   int64   // elements of all parts together, in one row
}

// A row are all axes from axis on of all parts; within one the parts stand one behind the other.
func newConcat(parts []Values, axis int) *concat {
	shape := slices.Clone(parts[0].Shape())
	c := &concat{shape: shape, parts: parts, inner: count(shape[axis+1:])}
	shape[axis] = 0
	for _, p := range parts {
		s := p.Shape()
		refuseIf(len(s) != len(shape), ShapesDiffer, shape, s)
		for i := range s {
			refuseIf(i != axis && s[i] != shape[i], ShapesDiffer, shape, s)
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

// It goes from part to part, each of which is read in one go.
func (c *concat) Range(lo int64, y, b []float64) {
	for at := int64(0); at < int64(len(y)); {
		r, i := (lo+at)/c.row, (lo+at)%c.row
		part, off, width := c.find(i)
		n := min(width-off, int64(len(y))-at)
		var bounds []float64
		if b != nil {
			bounds = b[at : at+n]
		}
		c.parts[part].Range(r*width+off, y[at:at+n], bounds)
		at += n
	}
}

func (c *concat) At(idx []int64, y, b []float64) {
	for i, k := range idx {
		part, off, width := c.find(k % c.row)
		var bounds []float64
		if b != nil {
			bounds = b[i : i+1]
		}
		c.parts[part].At([]int64{k/c.row*width + off}, y[i:i+1], bounds)
	}
}

// maskBit is bit i of a mask.
func maskBit(mask int64, i int) bool { return i < 63 && mask>>i&1 == 1 }

// steppedBox is x[begin:end:strides] by the rules of TensorFlow's StridedSlice (array_ops.h): entry
// i of the lists is for one axis, but an ellipsis stands for as many as are missing, a new axis for
// none, and a shrunk one is dropped. Bit i of a mask is for entry i. Without strides they are 1.
func steppedBox(k *invocation, x *operand) Values {
	begin, end, strides := k.ints("begin"), k.ints("end"), k.ints("strides")
	if strides == nil {
		strides = ones(len(begin))
	}
	var mask [5]int64
	for i, key := range []string{"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"} {
		mask[i] = k.int(key, 0)
	}
	rank := len(x.shape)
	refuseIf(len(begin) != len(end) || len(begin) != len(strides) || len(begin) > maxRank, BadAttribute, "begin, end, strides", shapeText(begin, end, strides), "lists of one length")
	b, shape, step := make([]int64, rank), append([]int64{}, x.shape...), ones(rank)
	axis, used := 0, 0
	for i := range begin { // axes that entries name
		if !maskBit(mask[3], i) && !maskBit(mask[2], i) {
			used++
		}
	}
	for i := range begin {
		switch {
		case maskBit(mask[2], i):
			axis += max(rank-used, 0)
			continue
		case maskBit(mask[3], i):
			continue
		case axis >= rank:
			panic(refusal(BadAttribute, "begin", shapeText(begin), "at most one for each axis of "+shapeText(x.shape)))
		}
		b[axis], shape[axis] = sliceOf(begin[i], end[i], strides[i], x.shape[axis], maskBit(mask[0], i), maskBit(mask[1], i),
			maskBit(mask[4], i))
		step[axis] = strides[i]
		axis++
	}
	// Dropped and new axes have one element: the recorded shape says where.
	return k.asRecorded(cut(x, b, shape, step), 0)
}

// sliceOf is where a slice of an axis of d elements begins and how many it has. Python's rules: a
// negative place counts from the end, beyond the ends it is cut, and a negative stride goes from
// begin down to before end.
func sliceOf(begin, end, stride, d int64, openBegin, openEnd, shrink bool) (from, n int64) {
	refuseIf(stride == 0 || !within(stride, -1<<31, 1<<31) || !within(begin, -1<<40, 1<<40), BadAttribute, "strides", stride, "not 0")
	norm := func(i int64) int64 {
		if i < 0 {
			i += d
		}
		if stride > 0 {
			return min(max(i, 0), d)
		}
		return min(max(i, -1), d-1)
	}
	if shrink {
		if begin < 0 {
			begin += d
		}
		refuseIf(begin < 0 || begin >= d, BadAttribute, "begin", begin, "inside "+itoa(int(d)))
		return begin, 1
	}
	from, to := norm(begin), norm(end)
	if openBegin {
		if from = 0; stride < 0 {
			from = d - 1
		}
	}
	if openEnd {
		if to = d; stride < 0 {
			to = -1
		}
	}
	if stride > 0 {
		return from, max((to-from+stride-1)/stride, 0)
	}
	return from, max((from-to-stride-1)/-stride, 0)
}

// castTo: to floating point to nearest even, which is the last rounding; to
// integers toward zero; to bool, whether it is not zero. The type is the
// recorded one: dst_type says the same. What the integer type cannot hold is
// left to the device. A float32 may go to integers through float16 (header of
// the operator). Prototype: elewise_calculation_ops.h.
func castTo(c *Call, x Values) Values {
	to := c.outType()
	from := leaf(x)
	if !discrete(to) {
		widening := from != nil && (from.typ.FitsFloat32() && precisionFor(to).v <= u32 || from.typ == to)
		return elementsOf(func(x, e [][]float64, y, b []float64) {
			copy(y, x[0])
			if b != nil {
				copy(b, e[0])
			}
		}, func(x [][]float32, y []float32) { copy(y, x[0]) }, widening, []Values{x})
	}
	lo, hi := integerRange(to)
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			if to == dtype.Bool {
				y[i] = toNumber(v != 0)
			} else {
				y[i] = math.Trunc(v)
			}
			if b == nil {
				continue
			}
			b[i] = 0
			switch {
			case to == dtype.Bool && !(abs(v) > e[0][i]) && e[0][i] > 0:
				b[i] = 1
			case to == dtype.Bool:
			case math.IsNaN(v), y[i] < lo, y[i] > hi:
				y[i], b[i] = 0, math.Inf(1)
			case e[0][i] > 0:
				b[i] = max(abs(math.Trunc(v+e[0][i])-y[i]), abs(math.Trunc(v-e[0][i])-y[i]))
			case c.loose != strict && from != nil && from.typ == dtype.Float32 && abs(v) < 65504:
				b[i] = abs(math.Trunc(precisionFor(dtype.Float16).Round(v)) - y[i])
			}
		}
	}, nil, true, []Values{x})
}

// window is one of the windows of signals by its name: of N places, or of the first N of N+1 that
// are symmetric where it is periodic. hann, hamming and blackman are sums of cosines of 2πi/parts,
// bartlett 1 − |2x − 1|, kaiser I₀(β·√(1 − (2x−1)²))/I₀(β) (torch.signal, torch.hann_window …). The
// bound of a sum has 8 units a cosine for its argument, which grows with the harmonic.
func window(k *invocation) Values {
	n := k.count("window_length")
	kind, a, parts := strings.TrimSuffix(k.name, "_window"), k.arith(), float64(n)
	if !k.bool("periodic", true) {
		parts--
	}
	terms := map[string][]float64{"hann": {0.5, 0.5}, "hamming": {k.float("alpha", 0.54), k.float("beta", 0.46)}, "blackman": {0.42, 0.5, 0.08}}[kind]
	f, err := catalogue.Read("x)=i0(x)")
	must.Do(err)
	bessel := catalogue.Compile[num](f, a)
	return &formula{shape: []int64{n}, f: func(i int64, _ []int64) (float64, float64) {
		x := float64(i) / parts
		switch {
		case n == 1:
			return 1, 0
		case kind == "bartlett":
			return 1 - abs(2*x-1), 4 * k.unit()
		case kind == "kaiser":
			beta := exactNum(k.float("beta", 12))
			side := a.sub(a.div(exactNum(float64(2*i)), exactNum(parts)), exactNum(1))
			root := a.sqrt(a.sub(exactNum(1), a.mul(side, side)))
			root.y = max(root.y, 0)
			v := a.div(bessel([]num{a.mul(beta, root)}), bessel([]num{beta}))
			return v.y, v.b
		}
		y, size := 0.0, 0.0
		for j, c := range terms { // their signs alternate
			y += math.Copysign(c, float64(1-j%2*2)) * math.Cos(2*math.Pi*x*float64(j))
			size += abs(c) * float64(1+j*8)
		}
		return y, 8 * k.unit() * size
	}}
}
