package oracle

import (
	"math"
)

func init() {
	register(single(buildScale), "Scale")
	withNumber := func(f func(a arith, x, k num) num, types ...string) {
		register(single(func(c *Call) Values {
			x := c.at(0)
			k := c.attrFloat("value", math.NaN())
			if math.IsNaN(k) {
				panic(refuse(NoAttribute, "value"))
			}
			a, u := c.arith(), precisionFor(x.typ).v
			// The number may be rounded to the type of x first.
			n := num{k, u * abs(k)}
			if precisionFor(x.typ).round(k) == k {
				n.b = 0
			}
			return formulaOf(func(v []num) num { return f(a, v[0], n) }, x)
		}), types...)
	}
	withNumber(func(a arith, x, k num) num { return a.mul(x, k) }, "Muls")
	withNumber(func(a arith, x, k num) num { return a.add(x, k) }, "Adds")
	register(one(buildLayerNormGrad), "LayerNormGrad")
}

// buildScale: y = x·scale + bias along the channels.
func buildScale(c *Call) Values {
	x := c.need("x", 0)
	slots := []*operand{c.input("scale", 1)}
	if b := c.input("bias", 2); b != nil {
		slots = append(slots, b)
	}
	in := []Values{x}
	for _, o := range slots {
		if o == nil {
			panic(refuse(NoInput, "scale"))
		}
		if sameShape(o.shape, x.shape) {
			in = append(in, reshape(o, x.shape))
			continue
		}
		v := perChannel(x, o, x.axesOr(""))
		in = append(in, v)
	}
	a := c.arith()
	return formulaOf(func(v []num) num {
		y := a.mul(v[0], v[1])
		if len(v) > 2 {
			y = a.add(y, v[2])
		}
		return y
	}, in...)
}

// buildLayerNormGrad: dy, x, variance, mean, gamma give, with x̂ = (x - mean)/√(variance + ε)
// and h = dy·gamma: dx = (h - mean(h) - x̂·mean(h·x̂))/√(variance + ε), Σ dy·x̂ and
// Σ dy over the rows.
func buildLayerNormGrad(c *Call) []Values {
	var in [5]*operand
	for i, name := range []string{"dy", "x", "variance", "mean", "gamma"} {
		o := c.need(name, i)
		in[i] = o
	}
	eps := c.attrFloat("epsilon", 1e-7)
	x, n := in[1], count(in[4].shape)
	total := count(x.shape)
	if n == 0 || n > maxDense || total%n != 0 || count(in[0].shape) != total || count(in[2].shape) != total/n || count(in[3].shape) != total/n {
		panic(refuse(ShapesDiffer, shapeText(in[0].shape, x.shape, in[2].shape, in[3].shape, in[4].shape)))
	}
	rows := total / n
	flat := []int64{rows, n}
	column := []int64{rows, 1}
	a := c.arith()
	hat := func(v []num) num { // x, variance, mean
		r := a.rsqrt(a.add(v[1], exactNum(eps)))
		return a.mul(a.sub(v[0], v[2]), r)
	}
	xs, dys := reshape(x, flat), reshape(in[0], flat)
	vs, ms, gs := reshape(in[2], column), reshape(in[3], column), reshape(in[4], []int64{1, n})
	normal := formulaOf(hat, xs, vs, ms)
	h := formulaOf(func(v []num) num { return a.mul(v[0], v[1]) }, dys, gs)
	both := formulaOf(func(v []num) num { return a.mul(v[0], v[1]) }, h, normal)
	mean := func(v Values) Values {
		return must(held(&reduced{shape: column, in: v, n: n, f: sumOf(c.sumUnit(), n, float64(n))}))
	}
	first := mean(h)
	second := mean(both)
	dx := formulaOf(func(v []num) num {
		r := a.rsqrt(a.add(v[4], exactNum(eps)))
		return a.mul(a.sub(a.sub(v[0], v[1]), a.mul(v[2], v[3])), r)
	}, h, first, normal, second, vs)
	scale := formulaOf(func(v []num) num { return a.mul(v[0], v[1]) }, dys, normal)
	out := []Values{dx}
	for _, v := range []Values{scale, dys} {
		moved, _, k := lastAxes(v, []int{0})
		out = append(out, &reduced{shape: []int64{n}, in: moved, n: k, f: sumOf(c.sumUnit(), k, 1)})
	}
	for i := range out {
		if i < len(c.outs) {
			out[i] = c.asRecorded(out[i], i)
		}
	}
	return out
}
