package oracle

import (
	"math"
	"slices"

	"precision/dump/msprobe"
)

// defineParts defines the functions of PyTorch that take parts of a tensor: splits, slices, items and what indices pick.
func defineParts() {
	split := func(names, params string, sizes func(k *invocation, d int64) []int64) {
		define(names, params, function{forward: func(k *invocation) []Reading {
			x := k.tensor("input")
			axis := k.axis("dim", 0, len(x.shape))
			if len(x.shape) == 0 {
				panic(refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape)))
			}
			list := sizes(k, x.shape[axis])
			var out []Values
			at := int64(0)
			for _, n := range list {
				if n < 0 || n > x.shape[axis]-at {
					panic(refuse(BadArgument, "split", shapeText(list), "parts of "+itoa(int(x.shape[axis]))))
				}
				v := slab1(x, axis, at, n)
				if names == "unbind" {
					v = reshape(v, slices.Delete(slices.Clone(v.Shape()), axis, axis+1))
				}
				out = append(out, v)
				at += n
			}
			return []Reading{{Out: out}}
		}})
	}
	equal := func(d, n int64) []int64 {
		if !within(n, 1, 1<<40) || d/n > 1<<16 {
			panic(refuse(BadArgument, "split", n, "a positive number"))
		}
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
	split("split", "input split dim", bySize)
	functions["split_with_sizes"] = functions["split"]
	otherNames["split_size_or_sections"], otherNames["split_size"], otherNames["split_sizes"] = "split", "split", "split"
	split("chunk", "input chunks dim", func(k *invocation, d int64) []int64 {
		n := k.int("chunks", 0)
		if !within(n, 1, 1<<16) {
			panic(refuse(BadArgument, "chunks", n, "a positive number"))
		}
		return equal(d, max((d+n-1)/n, 1))
	})
	split("unbind", "input dim", func(k *invocation, d int64) []int64 {
		if d > 1<<16 {
			panic(refuse(TooLarge, d, 1<<16))
		}
		return ones(int(d))
	})
	define("narrow", "input dim start length", function{forward: moved(func(k *invocation, x *operand) Values {
		k.required("dim", "start", "length")
		axis := k.axis("dim", 0, len(x.shape))
		if len(x.shape) == 0 {
			panic(refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape)))
		}
		lo := k.int("start", 0)
		n := k.int("length", 0)
		d := x.shape[axis]
		if lo < 0 {
			lo += d
		}
		if lo < 0 || n < 0 || lo > d || n > d-lo {
			panic(refuse(BadArgument, "start, length", shapeText([]int64{lo, n}), "a part of "+itoa(int(d))))
		}
		return slab1(x, axis, lo, n)
	})})
	define("select", "input dim index", function{forward: moved(func(k *invocation, x *operand) Values {
		k.required("dim", "index")
		axis := k.axis("dim", 0, len(x.shape))
		if len(x.shape) == 0 {
			panic(refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape)))
		}
		i := k.int("index", 0)
		return selected(x, axis, i)
	})})
	define("index_select", "input dim index", function{forward: moved(func(k *invocation, x *operand) Values {
		axis := k.axis("dim", 0, len(x.shape))
		if len(x.shape) == 0 {
			panic(refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape)))
		}
		return k.gathered(x, axis, "index")
	})})
	define("gather", "input dim index", function{forward: moved(func(k *invocation, x *operand) Values {
		axis := k.axis("dim", 0, len(x.shape))
		if len(x.shape) == 0 {
			panic(refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape)))
		}
		idx := k.tensor("index")
		if len(idx.shape) != len(x.shape) {
			panic(refuse(ShapesDiffer, shapeText(x.shape, idx.shape)))
		}
		for i := range idx.shape {
			if i != axis && idx.shape[i] > x.shape[i] {
				panic(refuse(ShapesDiffer, shapeText(x.shape, idx.shape)))
			}
		}
		at := must(numbers(idx))
		d := must(held(x))
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
		}}
	})})
	triangle := func(name string, keep func(row, col, diagonal int64) bool) {
		part := func(k *invocation, v Values) Values {
			diagonal := k.int("diagonal", 0)
			rank := len(v.Shape())
			if rank < 2 {
				panic(refuse(BadArgument, "diagonal", diagonal, "a matrix"))
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
		define(name, "input diagonal", function{forward: moved(func(k *invocation, x *operand) Values { return part(k, x) }),
			backward: unmoved(func(k *invocation, x *operand, g Values) Values { return part(k, g) })})
	}
	triangle("tril", func(row, col, d int64) bool { return col-row <= d })
	triangle("triu", func(row, col, d int64) bool { return col-row >= d })
	define("getitem", "input index", function{forward: moved(item)})
}

// selected is one index of an axis, without the axis.
func selected(x Values, axis int, i int64) Values {
	d := x.Shape()[axis]
	if i < 0 {
		i += d
	}
	if i < 0 || i >= d {
		panic(refuse(BadArgument, "index", i, "below "+itoa(int(d))))
	}
	v := slab1(x, axis, i, 1)
	return reshape(v, slices.Delete(slices.Clone(v.Shape()), axis, axis+1))
}

// gathered takes the slices of x along an axis that an argument of whole numbers says.
func (k *invocation) gathered(x Values, axis int, name string) Values {
	idx := k.tensor(name)
	return gatheredBy(x, axis, idx)
}

func gatheredBy(x Values, axis int, idx *operand) Values {
	if !discrete(idx.typ) || count(idx.shape) > maxDense {
		panic(refuse(BadType, idx.name, idx.typ.String()))
	}
	list := must(numbers(idx))
	s := x.Shape()
	g := &gather{x: x, lead: count(s[:axis]), n: s[axis], inner: count(s[axis+1:]), batches: 1, perBatch: int64(len(list)), indices: make([]int64, len(list))}
	for i, f := range list {
		if g.indices[i] = int64(f); f < 0 {
			g.indices[i] += g.n
		}
	}
	g.shape = slices.Concat(s[:axis], idx.shape, s[axis+1:])
	if g.perBatch == 0 || g.inner == 0 || g.lead == 0 || len(g.shape) > maxRank {
		panic(refuse(ShapesDiffer, shapeText(s, idx.shape)))
	}
	return g
}

// item is x[index] with whole numbers, slices, Ellipsis, None and one tensor of whole
// numbers.
func item(k *invocation, x *operand) Values {
	a := k.args["index"]
	if a == nil {
		panic(refuse(NoArgument, "index"))
	}
	list := []*argument{a}
	if a.v == nil {
		list = a.list
	}
	takes := 0
	for _, i := range list {
		if i == nil {
			panic(refuse(NoArgument, "index"))
		}
		if i.v == nil {
			panic(refuse(Unsupported, "an index that is a list"))
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
			panic(refuse(BadArgument, "index", itoa(len(list)), itoa(len(x.shape))+" axes"))
		}
		switch {
		case i.v.Kind == msprobe.Slice:
			cutOut := sliced(v, axis, i.v.Items)
			v = cutOut
			axis++
		case i.tensor() && i.err != nil:
			panic(i.err)
		case i.tensor() && (len(i.op.shape) > 0 || !discrete(i.op.typ)):
			if by != nil || !discrete(i.op.typ) || i.op.typ.IsBool() {
				panic(refuse(Unsupported, "an index of "+i.op.typ.String()))
			}
			by, byAxis = i.op, axis
			axis++
		default:
			n, ok := i.number()
			if !ok || n != math.Trunc(n) || i.v.Type == "bool" {
				panic(refuse(BadArgument, "index", i.text(), "whole numbers and slices"))
			}
			if by != nil {
				panic(refuse(Unsupported, "an index of tensors and numbers"))
			}
			w := selected(v, axis, int64(n))
			v = w
		}
	}
	if by != nil {
		return gatheredBy(v, byAxis, by)
	}
	return v
}

// sliced is v[start:stop:step] along an axis.
func sliced(v Values, axis int, items []msprobe.Number) Values {
	d := v.Shape()[axis]
	at := [3]int64{0, d, 1}
	for i, n := range items[:min(len(items), 3)] {
		if n.Kind == msprobe.Null || n.Kind == msprobe.Absent {
			continue
		}
		if n.Kind != msprobe.Int {
			panic(refuse(BadArgument, "slice", n.String(), "whole numbers"))
		}
		if at[i] = n.I; i < 2 && at[i] < 0 {
			at[i] += d
		}
	}
	lo, hi, step := min(max(at[0], 0), d), min(max(at[1], 0), d), at[2]
	if step < 1 {
		panic(refuse(BadArgument, "slice", step, "a positive step"))
	}
	n := max(hi-lo+step-1, 0) / step
	begin, shape, steps := make([]int64, len(v.Shape())), slices.Clone(v.Shape()), ones(len(v.Shape()))
	begin[axis], shape[axis], steps[axis] = lo, n, step
	return cut(v, begin, shape, steps)
}
