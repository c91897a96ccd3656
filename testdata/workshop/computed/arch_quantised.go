package computed

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// quantised computes in int8 with int32 sums: a quantiser, a convolution or a
// product, a dequantiser. The framework simulates the same. Networks that GE
// quantised have AscendQuant and AscendDequant, by the names of its tools or of
// others; imported ones (even seeds) Quantize and Dequantize.
func quantised(b *builder) {
	b.bfloat = false // dequantisers give float16
	w := of(b, 16, 12, 40) * b.size
	x := b.image("input", 1, 3, 12, 12)
	x = b.conv("stem", x, w, 3, 1, "Relu")
	for i := range 3 {
		scope := fmt.Sprintf("block_%d", i)
		in := x
		y := b.quantConv(scope+"/conv1", x, w, 3, 1, true)
		y = b.quantConv(scope+"/conv2", y, w, 1+2*(i%2), 1, false)
		x = b.like(scope+"/Relu", "Relu", attrs{}, b.like(scope+"/add", "Add", attrs{}, y, in))
	}
	s := b.tensors[x]
	s.shape = []int{1, w, 6, 6}
	x = b.op("pool/AvgPool", "AvgPool", []string{x}, []spec{s}, attrs{"ksize": []int{1, 1, 2, 2}, "strides": []int{1, 1, 2, 2}, "padding": "VALID", "data_format": "NCHW"})
	x = b.reshape("flatten/Reshape", b.layout(x, "NCHW"), 4, w*9)
	b.nodes[len(b.nodes)-1].outputs[0].layout = "ND"
	b.tensors[x] = b.nodes[len(b.nodes)-1].outputs[0]
	x = b.quantDense("fc1", x, 32, true)
	x = b.quantDense("fc2", x, 10, false)
	p := b.like("Softmax", "SoftmaxV2", attrs{"axes": []int{-1}}, x)
	b.results = []string{p, b.op("ArgMax", "ArgMaxD", []string{p}, []spec{{i32, "ND", []int{4}}}, attrs{"dimension": 1})}
}

// whole draws whole numbers of about scale.
func whole(scale float64, shape ...int) func(rng *rand.Rand) array {
	return func(rng *rand.Rand) array {
		a := normal(rng, scale, 0, shape...)
		for i, v := range a.v {
			a.v[i] = min(max(math.RoundToEven(v), -127), 127)
		}
		return a
	}
}

// quant is x as int8.
func (b *builder) quant(scope, x string, scale, offset float64) string {
	s := b.tensors[x]
	s.dtype = i8
	if b.seed%2 == 0 {
		scales := b.constant(scope+"/scale", f32, array{[]int{1}, []float64{1 / scale}}.rounded(f32))
		zero := b.constant(scope+"/zero_point", i32, array{[]int{1}, []float64{offset}})
		return b.op(scope+"/quantize", "Quantize", []string{x, scales, zero}, []spec{s}, attrs{"dtype": "DT_QINT8", "axis": 1})
	}
	return b.op(scope+b.quantName("quant"), "AscendQuant", []string{x}, []spec{s}, attrs{"scale": scale, "offset": offset, "sqrt_mode": false, "round_mode": "Round", "dst_type": 2})
}

// quantName is how quantisers are named: /AscendQuant by GE's own tool.
func (b *builder) quantName(what string) string {
	if b.seed%4 == 1 {
		return "/" + map[string]string{"quant": "AscendQuant", "dequant": "AscendDequant"}[what]
	}
	return "/" + what
}

// dequant is y as numbers again.
func (b *builder) dequant(scope, y, scales string, s spec, relu bool) string {
	if b.seed%2 == 0 {
		z := b.op(scope+"/dequantize", "Dequantize", []string{y, scales}, []spec{s}, attrs{})
		if relu {
			z = b.like(scope+"/relu", "Relu", attrs{}, z)
		}
		return z
	}
	return b.op(scope+b.quantName("dequant"), "AscendDequant", []string{y, scales}, []spec{s}, attrs{"relu_flag": relu, "sqrt_mode": false, "dtype": 1})
}

// scales of dequantisation, a channel each, so that the results are of size one.
func (b *builder) scales(scope string, n int, fan, step float64) string {
	dtype := u64
	if b.seed%2 == 0 {
		dtype = f32
	}
	return b.source(scope+"/deq_scale", "Const", dtype, "ND", func(rng *rand.Rand) array {
		a := normal(rng, 0.1, 1, n)
		for i := range a.v {
			a.v[i] = float64(float32(math.Abs(a.v[i]) / (step * 40 * math.Sqrt(fan))))
		}
		return a
	})
}

func (b *builder) quantConv(scope, x string, out, kernel, stride int, relu bool) string {
	s := b.tensors[x]
	fan, pad := float64(s.shape[1]*kernel*kernel), kernel/2
	offset := float64(0)
	if b.seed%2 == 0 && kernel == 1 { // an asymmetric zero point, where no padding would have to know it
		offset = -20
	}
	const step = 24 // quants in one
	q := b.quant(scope, x, step, offset)
	kernels := b.source(scope+"/kernel", "Const", i8, "FRACTAL_Z", whole(40, out, s.shape[1], kernel, kernel))
	bias := b.source(scope+"/bias", "Const", i32, "ND", whole(100, out))
	s.dtype, s.shape = i32, []int{s.shape[0], out, s.shape[2], s.shape[3]}
	y := b.add(&node{name: scope + "/Conv2D", kind: "Conv2D", inputs: []string{q, kernels, bias}, outputs: []spec{s}, attrs: attrs{"strides": []int{1, 1, stride, stride},
		"pads": []int{pad, pad, pad, pad}, "dilations": []int{1, 1, 1, 1}, "groups": 1, "data_format": "NCHW", "offset_x": 0}, origin: scope + "/Conv2D", originals: []string{scope + "/Conv2D"}})
	s.dtype = f16
	return b.dequant(scope, y, b.scales(scope, out, fan, step), s, relu)
}

func (b *builder) quantDense(scope, x string, out int, relu bool) string {
	s := b.tensors[x]
	k := s.shape[1]
	const step = 30
	q := b.layout(b.quant(scope, x, step, 0), "FRACTAL_NZ")
	kernel := b.source(scope+"/kernel", "Const", i8, "FRACTAL_NZ", whole(40, k, out))
	y := b.op(scope+"/MatMul", "MatMulV2", []string{q, kernel}, []spec{{i32, "FRACTAL_NZ", []int{s.shape[0], out}}}, attrs{"transpose_x1": false, "transpose_x2": false, "offset_x": 0})
	y = b.layout(y, "ND")
	return b.dequant(scope, y, b.scales(scope, out, float64(k), step), spec{f16, "ND", []int{s.shape[0], out}}, relu)
}
