package oracle

import (
	"math"
	"slices"
)

// Kernels of torch_npu that are several functions in one, by their definition in its
// documentation. What they keep in between may be rounded to the type of the result.

func init() {
	define("npu_rms_norm", "input weight epsilon", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		y, root := k.rootNorm(x, x.shape)
		return []Reading{{Out: []Values{y, root}}}
	}})
	otherNames["gamma"] = "weight"
	// y, the reciprocal root and the sum x1 + x2.
	define("npu_add_rms_norm", "x1 x2 weight epsilon", function{forward: func(k *invocation) []Reading {
		a, b := k.pair("x1", "x2")
		sum := elementsOf(addKernel(k.unit(), 1), nil, false, []Values{a, b})
		y, root := k.rootNorm(k.between(sum), a.shape)
		return []Reading{{Out: []Values{y, root, sum}}}
	}})
	// x·r1 + rotated(x)·r2, where halves or neighbours change places.
	define("npu_rotary_mul", "input r1 r2 rotary_mode", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		r1, r2 := k.pair("r1", "r2")
		mode := k.string("rotary_mode", "half")
		rank := len(x.shape)
		if rank == 0 || x.shape[rank-1]%2 != 0 {
			panic(refuse(ShapesDiffer, shapeText(x.shape)))
		}
		negate := func(v Values) Values {
			return elementsOf(exactly(func(x []float64) float64 { return -x[0] }), nil, true, []Values{v})
		}
		n := x.shape[rank-1]
		var turnedX Values
		switch mode {
		case "half":
			second := negate(slab1(x, rank-1, n/2, n/2))
			turnedX = joined(rank-1, second, slab1(x, rank-1, 0, n/2))
		case "interleave":
			pairs := reshape(x, append(slices.Clone(x.shape[:rank-1]), n/2, 2))
			second := negate(slab1(pairs, rank, 1, 1))
			both := joined(rank, second, slab1(pairs, rank, 0, 1))
			turnedX = reshape(both, x.shape)
		default:
			panic(refuse(BadArgument, "rotary_mode", mode, "half or interleave"))
		}
		first := elementsOf(mulKernel(k.unit()), nil, false, []Values{x, r1})
		second := elementsOf(mulKernel(k.unit()), nil, false, []Values{turnedX, r2})
		return elementsOf(addKernel(k.unit(), 1), nil, false, []Values{k.between(first), k.between(second)})
	})})
	// softmax over the last axis of x·scale, where the mask is not 0 of -10000.
	define("npu_scaled_masked_softmax", "x mask scale fixed_triu_mask", function{forward: formulaFor(func(k *invocation) Values {
		x, mask := k.pair("x", "mask")
		if fixed := k.bool("fixed_triu_mask", false); fixed {
			panic(refuse(Unsupported, "fixed_triu_mask"))
		}
		a, scale := k.arith(), k.factor("scale")
		v := formulaOf(func(v []num) num {
			if v[1].y != 0 {
				return exactNum(-10000)
			}
			return a.mul(v[0], scale)
		}, x, mask)
		if len(x.shape) == 0 {
			panic(refuse(ShapesDiffer, shapeText(x.shape, mask.shape)))
		}
		return k.softmax(v, []int{len(x.shape) - 1}, false)
	})})
	define("npu_confusion_transpose", "input perm shape transpose_first", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		k.required("perm", "shape", "transpose_first")
		first := k.bool("transpose_first", true)
		shape := k.ints("shape")
		if len(shape) > maxRank || slices.ContainsFunc(shape, func(d int64) bool { return !within(d, 1, 1<<40) }) || count(shape) != count(x.shape) {
			panic(refuse(BadArgument, "shape", shapeText(shape), "as many elements as "+shapeText(x.shape)))
		}
		var v Values = x
		if !first {
			v = reshape(v, shape)
		}
		perm := k.axes("perm", len(v.Shape()))
		if len(perm) != len(v.Shape()) {
			panic(refuse(BadArgument, "perm", len(perm), itoa(len(v.Shape()))+" axes"))
		}
		if v = transpose(v, perm); first {
			v = reshape(v, shape)
		}
		return v
	})})
}

// rootNorm is x·weight/√(mean(x²) + ε) over the axes of the weight, and the reciprocal
// root of each row.
func (k *invocation) rootNorm(x Values, shape []int64) (y, root Values) {
	w := k.tensor("weight")
	lead := len(shape) - len(w.shape)
	if lead < 0 || !slices.Equal(shape[lead:], w.shape) {
		panic(refuse(ShapesDiffer, shapeText(shape, w.shape)))
	}
	m := &normal{n: count(w.shape), rms: true, of: func(_, i int64) int64 { return i }}
	m.eps = k.float("epsilon", 1e-6)
	m.affine(k, m.n, "weight", "")
	k.fitting(m)
	a, su := k.arith(), k.sumUnit()
	flat := &reduced{shape: append(slices.Clone(shape[:lead]), ones(len(w.shape))...), in: x, n: m.n, f: func(x, e []float64) (float64, float64) {
		_, r := m.statistics(x, e, a, su)
		return r.y, r.b
	}}
	root = flat
	if s, ok := k.out(1); ok && count(s) == count(flat.shape) {
		root = reshape(flat, s)
	}
	if math.IsInf(gamma(float64(m.n), su), 1) {
		panic(refuse(NoBound, m.n))
	}
	return newRows(x, m.n, m.forward(k)), root
}
