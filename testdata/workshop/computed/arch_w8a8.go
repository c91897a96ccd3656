package computed

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// w8a8 is three gated MLPs of a decoder whose products are of quantised numbers: two of int8 with a scale for each token, one
// of float8 with a power of two for each 32.
func w8a8(b *builder) {
	b.bfloat = b.bfloat || b.seed%2 == 1
	length, hidden := of(b, 12, 7, 17), of(b, 64, 128)*b.size
	words := b.data("input_ids", i32, ids(50, length))
	x := b.gather("model/Gather", b.variable("model/embed_tokens", f16, 1, 0, 50, hidden), words)
	for l := range 3 {
		scope := fmt.Sprintf("model/layer_%d", l)
		in, product := x, b.perToken
		if l == 2 {
			product = b.microscaled
		}
		x = b.op(scope+"/norm/RmsNorm", "RmsNorm", []string{x, b.weight(scope+"/norm/gamma", f16, "ND", 0.1, 1, hidden)}, []spec{b.tensors[x], {f32, "ND", []int{length, 1}}}, attrs{"epsilon": 1e-5})
		gate, up := product(scope+"/gate", x, 2*hidden), product(scope+"/up", x, 2*hidden)
		y := b.like(scope+"/mul", "Mul", attrs{}, b.like(scope+"/act", "Swish", attrs{}, gate), up)
		x = b.like(scope+"/add", "Add", attrs{}, in, product(scope+"/down", y, hidden))
	}
	b.results = []string{b.cast(x, f32)}
}

// perToken is a product of int8, whose left factors are quantised as they come.
func (b *builder) perToken(scope, x string, out int) string {
	rows, k := b.shape(x)[0], b.shape(x)[1]
	q := b.op(scope+"/DynamicQuant", "DynamicQuant", []string{x}, []spec{{i8, "ND", []int{rows, k}}, {f32, "ND", []int{rows}}}, attrs{"dst_type": 2, ".powers": b.powers})
	w := b.source(scope+"/kernel", "Const", i8, "ND", whole(40, k, out))
	scales := b.source(scope+"/scale", "Const", f32, "ND", func(rng *rand.Rand) array {
		a := normal(rng, 0.1, 1, out)
		for i := range a.v {
			a.v[i] = math.Abs(a.v[i]) / (40 * math.Sqrt(float64(k)))
		}
		return a
	})
	return b.op(scope+"/QuantBatchMatmulV3", "QuantBatchMatmulV3", []string{q, w, scales, scope + "/DynamicQuant:1"}, []spec{{f16, "ND", []int{rows, out}}},
		attrs{"dtype": codes[b.half()], "transpose_x1": false, "transpose_x2": false})
}

// microscaled is one of float8, 32 of which have a power of two in common.
func (b *builder) microscaled(scope, x string, out int) string {
	rows, k := b.shape(x)[0], b.shape(x)[1]
	q := b.op(scope+"/DynamicMxQuant", "DynamicMxQuant", []string{x}, []spec{{f8, "ND", []int{rows, k}}, {e8, "ND", []int{rows, k / 64, 2}}},
		attrs{"axis": -1, "round_mode": "rint", "dst_type": 36, "blocksize": 32, "scale_alg": 0, ".powers": b.powers})
	w := b.weight(scope+"/kernel", f8, "ND", 1, 0, k, out)
	scales := b.source(scope+"/scale", "Const", e8, "ND", func(rng *rand.Rand) array {
		a := zeros(k/64, out, 2)
		for i := range a.v {
			a.v[i] = math.Exp2(math.Round(-math.Log2(math.Sqrt(float64(k))) + rng.Float64()))
		}
		return a
	})
	return b.op(scope+"/QuantBatchMatmulV3", "QuantBatchMatmulV3", []string{q, w, scales, scope + "/DynamicMxQuant:1"}, []spec{{f16, "ND", []int{rows, out}}},
		attrs{"dtype": codes[b.half()], "transpose_x1": false, "transpose_x2": false})
}

func dynamicKernels() {
	kernels["DynamicQuant"] = func(c *context, a attrs, in []array, out []spec) []array {
		y, scale := zeros(out[0].shape...), zeros(out[1].shape...)
		k := len(y.v) / len(scale.v)
		for row := range scale.v {
			x, most := in[0].v[row*k:row*k+k], 0.0
			for _, v := range x {
				most = max(most, math.Abs(v))
			}
			s := c.f(most / 127)
			if !c.device && a.yes(".powers") {
				s = math.Exp2(math.Ceil(math.Log2(s)))
			}
			scale.v[row] = s
			for i, v := range x {
				if s > 0 {
					y.v[row*k+i] = math.RoundToEven(c.r(v / s))
				}
			}
		}
		return []array{y, scale}
	}
	kernels["DynamicMxQuant"] = func(c *context, a attrs, in []array, out []spec) []array {
		y, scale := zeros(out[0].shape...), zeros(out[1].shape...)
		for block := range scale.v {
			x, most := in[0].v[block*32:block*32+32], 0.0
			for _, v := range x {
				most = max(most, math.Abs(v))
			}
			s := math.Exp2(max(math.Floor(math.Log2(most))-8, -127))
			if !c.device && a.yes(".powers") {
				s *= 4
			}
			scale.v[block] = s
			for i, v := range x {
				y.v[block*32+i] = v / s
			}
		}
		return []array{y, scale}
	}
	kernels["QuantBatchMatmulV3"] = one(func(c *context, a attrs, in []array, out spec) array {
		x, w := in[0], in[1]
		n := out.shape[1]
		if len(in[2].shape) == 3 { // a power of two for each 32 along the sum
			x, w = x.clone(), w.clone()
			for i := range x.v {
				x.v[i] *= in[3].v[i/32]
			}
			for i := range w.v {
				at := i / n
				w.v[i] *= in[2].v[(at/64*n+i%n)*2+at/32%2]
			}
			return matmul(c, a, []array{x, w}, out)
		}
		y := matmul(c, a, []array{x, w}, out)
		for i := range y.v {
			y.v[i] = c.r(c.r(y.v[i]*in[2].v[i%n]) * in[3].v[i/n])
		}
		return y
	})
}
