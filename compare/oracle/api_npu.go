package oracle

import (
	"math"
	"slices"
)

// Kernels of torch_npu that are several functions in one, by their definition in its
// documentation. What they keep in between may be rounded to the type of the result.

func init() {
	define("npu_rms_norm", "input weight epsilon", function{forward: func(k *invocation) ([]Reading, error) {
		x, err := k.tensor("input")
		if err != nil {
			return nil, err
		}
		y, root, err := k.rootNorm(x, x.shape)
		if err != nil {
			return nil, err
		}
		return []Reading{{Out: []Values{y, root}}}, nil
	}})
	otherNames["gamma"] = "weight"
	// y, the reciprocal root and the sum x1 + x2.
	define("npu_add_rms_norm", "x1 x2 weight epsilon", function{forward: func(k *invocation) ([]Reading, error) {
		a, b, err := k.pair("x1", "x2")
		if err != nil {
			return nil, err
		}
		sum, err := elementsOf(addKernel(k.unit(), 1), nil, false, []Values{a, b})
		if err != nil {
			return nil, err
		}
		y, root, err := k.rootNorm(k.between(sum), a.shape)
		if err != nil {
			return nil, err
		}
		return []Reading{{Out: []Values{y, root, sum}}}, nil
	}})
	// x·r1 + rotated(x)·r2, where halves or neighbours change places.
	define("npu_rotary_mul", "input r1 r2 rotary_mode", function{forward: formulaFor(func(k *invocation) (Values, error) {
		x, err := k.tensor("input")
		if err != nil {
			return nil, err
		}
		r1, r2, err := k.pair("r1", "r2")
		if err != nil {
			return nil, err
		}
		mode, err := k.string("rotary_mode", "half")
		if err != nil {
			return nil, err
		}
		rank := len(x.shape)
		if rank == 0 || x.shape[rank-1]%2 != 0 {
			return nil, refuse(ShapesDiffer, shapeText(x.shape))
		}
		negate := func(v Values) (Values, error) {
			return elementsOf(exactly(func(x []float64) float64 { return -x[0] }), nil, true, []Values{v})
		}
		n := x.shape[rank-1]
		var turnedX Values
		switch mode {
		case "half":
			second, err := negate(slab1(x, rank-1, n/2, n/2))
			if err != nil {
				return nil, err
			}
			if turnedX, err = joined(rank-1, second, slab1(x, rank-1, 0, n/2)); err != nil {
				return nil, err
			}
		case "interleave":
			pairs := reshape(x, append(slices.Clone(x.shape[:rank-1]), n/2, 2))
			second, err := negate(slab1(pairs, rank, 1, 1))
			if err != nil {
				return nil, err
			}
			both, err := joined(rank, second, slab1(pairs, rank, 0, 1))
			if err != nil {
				return nil, err
			}
			turnedX = reshape(both, x.shape)
		default:
			return nil, refuse(BadArgument, "rotary_mode", mode, "half or interleave")
		}
		first, err := elementsOf(mulKernel(k.unit()), nil, false, []Values{x, r1})
		if err != nil {
			return nil, err
		}
		second, err := elementsOf(mulKernel(k.unit()), nil, false, []Values{turnedX, r2})
		if err != nil {
			return nil, err
		}
		return elementsOf(addKernel(k.unit(), 1), nil, false, []Values{k.between(first), k.between(second)})
	})})
	// softmax over the last axis of x·scale, where the mask is not 0 of -10000.
	define("npu_scaled_masked_softmax", "x mask scale fixed_triu_mask", function{forward: formulaFor(func(k *invocation) (Values, error) {
		x, mask, err := k.pair("x", "mask")
		if err != nil {
			return nil, err
		}
		if fixed, err := k.bool("fixed_triu_mask", false); err != nil || fixed {
			return nil, refuse(Unsupported, "fixed_triu_mask")
		}
		a, scale := k.arith(), k.factor("scale")
		v, err := formulaOf(func(v []num) num {
			if v[1].y != 0 {
				return exactNum(-10000)
			}
			return a.mul(v[0], scale)
		}, x, mask)
		if err != nil || len(x.shape) == 0 {
			return nil, refuse(ShapesDiffer, shapeText(x.shape, mask.shape))
		}
		return k.softmax(v, []int{len(x.shape) - 1}, false)
	})})
	define("npu_confusion_transpose", "input perm shape transpose_first", function{forward: formulaFor(func(k *invocation) (Values, error) {
		x, err := k.tensor("input")
		if err != nil {
			return nil, err
		}
		if err := k.required("perm", "shape", "transpose_first"); err != nil {
			return nil, err
		}
		first, err := k.bool("transpose_first", true)
		if err != nil {
			return nil, err
		}
		shape, err := k.ints("shape")
		if err != nil {
			return nil, err
		}
		if len(shape) > maxRank || slices.ContainsFunc(shape, func(d int64) bool { return !within(d, 1, 1<<40) }) || count(shape) != count(x.shape) {
			return nil, refuse(BadArgument, "shape", shapeText(shape), "as many elements as "+shapeText(x.shape))
		}
		var v Values = x
		if !first {
			v = reshape(v, shape)
		}
		perm, err := k.axes("perm", len(v.Shape()))
		if err != nil || len(perm) != len(v.Shape()) {
			return nil, refuse(BadArgument, "perm", len(perm), itoa(len(v.Shape()))+" axes")
		}
		if v = transpose(v, perm); first {
			v = reshape(v, shape)
		}
		return v, nil
	})})
}

// rootNorm is x·weight/√(mean(x²) + ε) over the axes of the weight, and the reciprocal
// root of each row.
func (k *invocation) rootNorm(x Values, shape []int64) (y, root Values, err error) {
	w, err := k.tensor("weight")
	if err != nil {
		return nil, nil, err
	}
	lead := len(shape) - len(w.shape)
	if lead < 0 || !slices.Equal(shape[lead:], w.shape) {
		return nil, nil, refuse(ShapesDiffer, shapeText(shape, w.shape))
	}
	m := &normal{n: count(w.shape), rms: true, of: func(_, i int64) int64 { return i }}
	if m.eps, err = k.float("epsilon", 1e-6); err != nil {
		return nil, nil, err
	}
	if err := k.fitting(m, m.affine(k, m.n, "weight", "")); err != nil {
		return nil, nil, err
	}
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
		return nil, nil, refuse(NoBound, m.n)
	}
	return newRows(x, m.n, m.forward(k)), root, nil
}
