package oracle

import (
	"math"
	"slices"
)

// defineMade: tensors that are made of numbers alone, or from them and another one.
func defineMade() {
	filled := func(names, params, name string, missing float64) {
		define(names, params, function{local: true, forward: formulaFor(func(k *invocation) Values {
			shape := k.shape()
			x := missing
			if name != "" {
				k.required(name)
				x = k.float(name, missing)
			}
			v, _ := broadcast(k.constant(x), shape)
			return v
		})})
	}
	filled("full new_full full_like", "input fill_value", "fill_value", 0)
	functions["full"] = &function{params: []string{"size", "fill_value"}, local: true, forward: functions["full"].forward}
	functions["new_full"] = &function{params: []string{"input", "size", "fill_value"}, local: true, forward: functions["full"].forward}
	filled("fill", "input value", "value", 0)
	filled("zeros zeros_like new_zeros zero", "*input", "", 0)
	filled("ones ones_like new_ones", "*input", "", 1)
	define("copy", "input src", function{local: true, forward: formulaFor(func(k *invocation) Values {
		src := k.tensor("src")
		shape := k.shape()
		v, ok := broadcast(src, shape)
		if !ok {
			panic(refuse(ShapesDiffer, shapeText(src.shape, shape)))
		}
		return castTo(k.Call, v)
	})})
	define("arange", "*numbers", function{forward: formulaFor(func(k *invocation) Values {
		shape := k.shape()
		a := k.args["numbers"]
		if a == nil || len(shape) != 1 {
			panic(refuse(NoArgument, "end"))
		}
		list := a.list
		if a.v != nil {
			list = []*argument{a}
		}
		at := []float64{0, 0, 1}
		for i, x := range list {
			n, ok := x.number()
			if !ok || i > 2 {
				panic(refuse(BadArgument, "end", x.text(), "a number"))
			}
			if at[i] = n; len(list) == 1 {
				at[0], at[1] = 0, n
			}
		}
		if n := math.Ceil((at[1] - at[0]) / at[2]); n != float64(shape[0]) {
			panic(refuse(ShapeComputed, n, shapeText(shape)))
		}
		whole := discrete(k.outType())
		return &formula{shape: shape, exact: whole, f: func(i int64, _ []int64) (float64, float64) {
			y := at[0] + float64(i)*at[2]
			if whole {
				return y, 0
			}
			return y, 2 * k.unit() * (abs(at[0]) + abs(float64(i)*at[2]))
		}}
	})})
	define("one_hot", "input num_classes", function{forward: moved(func(k *invocation, x *operand) Values {
		shape := k.shape()
		rank := len(shape)
		if rank != len(x.shape)+1 || !slices.Equal(shape[:rank-1], x.shape) {
			panic(refuse(ShapesDiffer, shapeText(x.shape, shape)))
		}
		idx := must(numbers(x))
		n := shape[rank-1]
		return &formula{shape: shape, exact: true, f: func(i int64, at []int64) (float64, float64) {
			return toNumber(idx[i/n] == float64(i%n)), 0
		}}
	})})
	define("pad constant_pad_nd", "input pad mode value", function{forward: moved(padded)})
}

// padded puts a border around x, of a number or of x itself; pad counts the last
// axis first.
func padded(k *invocation, x *operand) Values {
	k.required("pad")
	list := k.ints("pad")
	mode := k.string("mode", "constant")
	value := k.float("value", 0)
	rank := len(x.shape)
	if len(list)%2 != 0 || len(list) > 2*rank {
		panic(refuse(BadArgument, "pad", shapeText(list), "two for each axis of "+shapeText(x.shape)))
	}
	shape, before := slices.Clone(x.shape), make([]int64, rank)
	for i := 0; i < len(list); i += 2 {
		a := rank - 1 - i/2
		if !within(list[i], -x.shape[a], 1<<40) || !within(list[i+1], -x.shape[a], 1<<40) {
			panic(refuse(BadArgument, "pad", shapeText(list), "small numbers"))
		}
		before[a], shape[a] = list[i], max(shape[a]+list[i]+list[i+1], 0)
	}
	d := must(held(x))
	if out := k.shape(); !slices.Equal(out, shape) {
		panic(refuse(ShapeComputed, shapeText(shape), shapeText(out)))
	}
	n := k.rounding(value)
	steps := rowMajor(x.shape)
	return &formula{shape: shape, exact: n.b == 0, f: func(_ int64, at []int64) (float64, float64) {
		j := int64(0)
		for i, p := range at {
			p -= before[i]
			size := x.shape[i]
			if p < 0 || p >= size {
				switch mode {
				case "constant":
					return n.y, n.b
				case "reflect":
					if p < 0 {
						p = -p
					}
					if p >= size {
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
