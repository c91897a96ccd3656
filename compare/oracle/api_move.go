package oracle

import "slices"

// Functions of PyTorch that move numbers, cast or make them: bit-exact. The type of
// a cast and the shape of a reshape are those of the recorded output.

// moved makes the forward of a function that rearranges its input.
func moved(f func(k *invocation, x *operand) Values) func(k *invocation) []Reading {
	return formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		return f(k, x)
	})
}

// unmoved makes the backward of one: f puts gradients back to where inputs came from.
func unmoved(f func(k *invocation, x *operand, g Values) Values) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		return gradients{"input": func() Values {
			x := k.tensor("input")
			d := gradient(g, 0)
			return f(k, x, d)
		}}
	}
}

func init() {
	cast := function{local: true, forward: moved(func(k *invocation, x *operand) Values { return castTo(k.Call, x) }),
		backward: unmoved(func(k *invocation, x *operand, g Values) Values { return castTo(k.Call, g) })}
	define("to type type_as npu_dtype_cast npu_format_cast npu_format_cast_like _to_copy", "input *rest", cast)
	define("clone contiguous detach cpu npu cuda half float double bfloat16 int long short char byte bool requires_grad alias lift_fresh", "input *rest", cast)

	// A reshape has the elements in order; its shape is in the recorded output.
	flat := function{forward: moved(func(k *invocation, x *operand) Values {
		if k.outType() != x.numeric() {
			panic(refuse(BadType, "output 0", k.outType().String()))
		}
		return k.asRecorded(x, 0)
	}), backward: unmoved(func(k *invocation, x *operand, g Values) Values {
		if count(g.Shape()) != count(x.shape) {
			panic(refuse(ShapesDiffer, shapeText(x.shape, g.Shape())))
		}
		return reshape(g, x.shape)
	})}
	define("reshape view reshape_as view_as _unsafe_view unsafe_view", "input *shape", flat)
	define("flatten ravel squeeze unsqueeze unflatten", "input *dims", flat)

	order := func(names, params string, perm func(k *invocation, rank int) []int) {
		define(names, params, function{forward: moved(func(k *invocation, x *operand) Values {
			p := perm(k, len(x.shape))
			return transpose(x, p)
		}), backward: unmoved(func(k *invocation, x *operand, g Values) Values {
			p := perm(k, len(x.shape))
			if len(p) != len(g.Shape()) {
				panic(refuse(ShapesDiffer, shapeText(x.shape, g.Shape())))
			}
			return transpose(g, inverse(p))
		})})
	}
	order("transpose swapaxes swapdims", "input dim0 dim1", func(k *invocation, rank int) []int {
		k.required("dim0", "dim1")
		a := k.axis("dim0", 0, rank)
		b := k.axis("dim1", 0, rank)
		p := inOrder(rank)
		if rank > 0 {
			p[a], p[b] = b, a
		}
		return p
	})
	order("t numpy_T", "input", func(k *invocation, rank int) []int {
		p := inOrder(rank)
		slices.Reverse(p)
		return p
	})
	order("permute", "input *dims", func(k *invocation, rank int) []int {
		list := k.ints("dims")
		p := axesOf("dims", list, rank)
		if len(p) != rank {
			panic(refuse(BadArgument, "dims", shapeText(list), "every axis of "+itoa(rank)))
		}
		return p
	})
	order("movedim moveaxis", "input source destination", func(k *invocation, rank int) []int {
		k.required("source", "destination")
		from := k.axes("source", rank)
		to := k.axes("destination", rank)
		if len(from) != len(to) {
			panic(refuse(BadArgument, "destination", len(to), itoa(len(from))+" axes"))
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
		return p
	})

	spread := function{forward: moved(func(k *invocation, x *operand) Values {
		shape := k.shape()
		v, ok := broadcast(x, shape)
		if !ok {
			panic(refuse(ShapeComputed, shapeText(x.shape), shapeText(shape)))
		}
		return v
	}), backward: unmoved(func(k *invocation, x *operand, g Values) Values { return k.reducedToShape(g, x.shape) })}
	define("expand expand_as broadcast_to", "input *sizes", spread)
	define("repeat tile", "input *dims", function{forward: moved(repeat)})
	define("flip", "input *dims", function{forward: moved(flip), backward: unmoved(func(k *invocation, x *operand, g Values) Values {
		axes := k.axes("dims", len(x.shape))
		if len(g.Shape()) != len(x.shape) {
			panic(refuse(ShapesDiffer, shapeText(x.shape, g.Shape())))
		}
		return flipped(g, axes)
	})})
	define("roll", "input shifts dims", function{forward: moved(roll)})
	defineJoins()
	defineParts()
	defineMade()
	traced("roll repeat narrow select index_select gather getitem split chunk unbind pad")
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

func repeat(k *invocation, x *operand) Values {
	list := k.ints("dims")
	in := slices.Clone(x.shape)
	for len(in) < len(list) {
		in = slices.Insert(in, 0, 1)
	}
	for len(list) < len(in) && k.name == "tile" {
		list = slices.Insert(slices.Clone(list), 0, 1)
	}
	if len(list) != len(in) || len(in)*2 > maxRank {
		panic(refuse(BadArgument, "dims", shapeText(list), "one for each axis of "+shapeText(x.shape)))
	}
	out := k.shape()
	var shape, steps, whole []int64
	step := rowMajor(in)
	for i, d := range in {
		if !within(list[i], 0, 1<<40) {
			panic(refuse(BadArgument, "dims", shapeText(list), "small positive numbers"))
		}
		shape, steps, whole = append(shape, list[i], d), append(steps, 0, step[i]), append(whole, list[i]*d)
	}
	if !slices.Equal(whole, out) {
		panic(refuse(ShapeComputed, shapeText(whole), shapeText(out)))
	}
	return reshape(newStrided(x, shape, steps, 0), out)
}

func flip(k *invocation, x *operand) Values {
	k.required("dims")
	axes := k.axes("dims", len(x.shape))
	return flipped(x, axes)
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

func roll(k *invocation, x *operand) Values {
	shifts := k.ints("shifts")
	axes := k.ints("dims")
	var v Values = x
	if len(axes) == 0 {
		v, axes = reshape(x, []int64{count(x.shape)}), []int64{0}
	}
	list := axesOf("dims", axes, len(v.Shape()))
	if len(list) != len(shifts) {
		panic(refuse(BadArgument, "shifts", shapeText(shifts), itoa(len(axes))+" numbers"))
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
		first := joined(a, slab1(v, a, d-n, n), slab1(v, a, 0, d-n))
		v = first
	}
	return reshape(v, x.shape)
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
	if len(full) == 0 {
		return parts[0]
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
		define(names, "tensors dim", function{forward: formulaFor(func(k *invocation) Values {
			list := k.tensors("tensors")
			axis := k.axis("dim", 0, rankOf(list[0]))
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
				panic(refuse(ShapesDiffer, shapeText(list[0].shape)))
			}
			for _, p := range parts {
				if len(p.Shape()) != len(parts[0].Shape()) {
					panic(refuse(ShapesDiffer, shapeText(parts[0].Shape(), p.Shape())))
				}
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
				if at > d.Shape()[axis] {
					panic(refuse(ShapesDiffer, shapeText(d.Shape(), o.shape)))
				}
				out[itoa(i)] = func() Values { return reshape(slab1(d, axis, from, n), o.shape) }
			}
			return out
		}})
	}
	join("cat concat concatenate", false)
	join("stack", true)
}
