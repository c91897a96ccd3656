package computed

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// ids draws whole numbers.
func ids(below int, shape ...int) func(rng *rand.Rand) array {
	return func(rng *rand.Rand) array {
		a := zeros(shape...)
		for i := range a.v {
			a.v[i] = float64(rng.IntN(below))
		}
		return a
	}
}

// boolean makes the output of the last operator a flag.
func (b *builder) boolean(x string) string {
	n := b.nodes[len(b.nodes)-1]
	n.outputs[0].dtype = flag
	b.tensors[x] = n.outputs[0]
	return x
}

// lstm reads words with two layers of cells: unrolled ones, or for odd seeds the
// device's fused operator in the second layer.
func lstm(b *builder) {
	batch, steps, hidden := of(b, 4, 1, 7), of(b, 4, 2, 6), of(b, 24, 16, 20)*b.size
	words := b.data("input_ids", i32, ids(100, batch, steps))
	table := b.variable("embedding/weights", f32, 1, 0, 100, hidden)
	x := b.cast(b.gather("embedding/Gather", table, words), f16)
	var seq []string
	for t := range steps {
		y := b.slice(fmt.Sprintf("step_%d/slice", t), x, []int{0, t, 0}, []int{batch, t + 1, hidden})
		seq = append(seq, b.reshape(fmt.Sprintf("step_%d/reshape", t), y, batch, hidden))
	}
	seq = b.cells("lstm_0", seq, batch, hidden)
	if b.seed%2 == 1 {
		var rows []string
		for t, y := range seq {
			rows = append(rows, b.reshape(fmt.Sprintf("stack/expand_%d", t), y, 1, batch, hidden))
		}
		x = b.concat("stack/concat", 0, rows...)
		w := b.weight("lstm_1/kernel", f16, "ND", 1/math.Sqrt(float64(2*hidden)), 0, 2*hidden, 4*hidden)
		bias := b.weight("lstm_1/bias", f16, "ND", 0.2, 0, 4*hidden)
		out := make([]spec, 8)
		for i := range out {
			out[i] = spec{f16, "ND", []int{steps, batch, hidden}}
		}
		x = b.op("lstm_1/DynamicRNN", "DynamicRNN", []string{x, w, bias}, out, attrs{"cell_type": "LSTM", "direction": "UNIDIRECTIONAL",
			"cell_depth": 1, "use_peephole": false, "keep_prob": 1.0, "cell_clip": -1.0, "num_proj": 0, "time_major": true, "activation": "tanh",
			"forget_bias": 0.0, "gate_order": "ijfo", "is_training": true})
		x = b.slice("last/slice", x, []int{steps - 1, 0, 0}, []int{steps, batch, hidden})
		x = b.reshape("last/reshape", x, batch, hidden)
	} else {
		seq = b.cells("lstm_1", seq, batch, hidden)
		x = seq[len(seq)-1]
	}
	x = b.layout(b.dense("classifier", x, 6, true, ""), "ND")
	p := b.like("Softmax", "SoftmaxV2", attrs{"axes": []int{-1}}, b.cast(x, f32))
	b.results = []string{p}
}

// cells are the steps of one layer, from single operators.
func (b *builder) cells(scope string, seq []string, batch, hidden int) []string {
	w := b.weight(scope+"/kernel", f16, "FRACTAL_NZ", 1/math.Sqrt(float64(2*hidden)), 0, 2*hidden, 4*hidden)
	bias := b.weight(scope+"/bias", f16, "ND", 0.3, 0, 4*hidden)
	h := b.constant(scope+"/h0", f16, zeros(batch, hidden))
	c := b.constant(scope+"/c0", f16, zeros(batch, hidden))
	var out []string
	for t, x := range seq {
		s := fmt.Sprintf("%s/step_%d", scope, t)
		xh := b.layout(b.concat(s+"/concat", 1, x, h), "FRACTAL_NZ")
		y := b.add(&node{name: s + "/MatMul", kind: "MatMulV2", inputs: []string{xh, w, bias}, outputs: []spec{{f16, "FRACTAL_NZ", []int{batch, 4 * hidden}}},
			attrs: attrs{"transpose_x1": false, "transpose_x2": false, "offset_x": 0}, origin: s + "/BiasAdd", originals: []string{s + "/MatMul", s + "/BiasAdd"}})
		g := b.split(s+"/split", b.layout(y, "ND"), 1, 4)
		i, f, o := b.like(s+"/Sigmoid", "Sigmoid", attrs{}, g[0]), b.like(s+"/Sigmoid_1", "Sigmoid", attrs{}, g[2]), b.like(s+"/Sigmoid_2", "Sigmoid", attrs{}, g[3])
		j := b.like(s+"/Tanh", "Tanh", attrs{}, g[1])
		c = b.like(s+"/add", "Add", attrs{}, b.like(s+"/mul", "Mul", attrs{}, f, c), b.like(s+"/mul_1", "Mul", attrs{}, i, j))
		h = b.like(s+"/mul_2", "Mul", attrs{}, o, b.like(s+"/Tanh_1", "Tanh", attrs{}, c))
		out = append(out, h)
	}
	return out
}

// sequenceKernels adds those of recurrent networks.
func sequenceKernels() {
	// Outputs y, h, c, i, j, f, o and tanh(c) of every step; gates in the order ijfo.
	kernels["DynamicRNN"] = func(c *context, a attrs, in []array, out []spec) []array {
		x, w, bias := in[0], in[1], in[2]
		steps, batch, hidden := x.shape[0], x.shape[1], out[0].shape[2]
		ys := make([]array, len(out))
		for i := range ys {
			ys[i] = zeros(out[i].shape...)
		}
		h, cell := zeros(batch, hidden), zeros(batch, hidden)
		for t := range steps {
			now := array{[]int{batch, x.shape[2]}, x.v[t*batch*x.shape[2] : (t+1)*batch*x.shape[2]]}
			z := matmul(c, attrs{}, []array{concat([]array{now, h}, 1), w, bias}, spec{})
			for r := range batch {
				for k := range hidden {
					gate := func(n int) float64 { return z.v[r*4*hidden+n*hidden+k] }
					i, j, f, o := c.f(sigmoid(gate(0))), c.f(math.Tanh(gate(1))), c.f(sigmoid(gate(2))), c.f(sigmoid(gate(3)))
					at := r*hidden + k
					cell.v[at] = c.r(f*cell.v[at] + i*j)
					tanh := c.f(math.Tanh(cell.v[at]))
					h.v[at] = c.r(o * tanh)
					for n, v := range []float64{h.v[at], h.v[at], cell.v[at], i, j, f, o, tanh} {
						ys[n].v[t*batch*hidden+at] = v
					}
				}
			}
			h = h.clone()
			if c.device {
				h.rounded(out[0].dtype)
			}
		}
		return ys
	}
}

// lm is two blocks of a decoder: rotary positions, causal mask, gated MLP.
func lm(b *builder) {
	length, heads, head, vocab := of(b, 12, 7, 17), of(b, 2, 1, 3), of(b, 16, 8, 20)*b.size, of(b, 64, 50, 101)
	hidden := heads * head
	words := b.data("input_ids", i32, ids(vocab, length))
	table := b.variable("model/embed_tokens", f16, 1, 0, vocab, hidden)
	x := b.gather("model/Gather", table, words)
	causal, masked, turn := zeros(1, length, length), zeros(1, length, length), zeros(1, length, head)
	turned := zeros(1, length, head)
	for i := range length {
		for j := range length {
			if j > i {
				causal.v[i*length+j], masked.v[i*length+j] = b.mask, 1
			}
		}
		for k := range head {
			angle := float64(i) * math.Pow(100, -float64(k%(head/2))/float64(head/2))
			turn.v[i*head+k], turned.v[i*head+k] = math.Cos(angle), math.Sin(angle)
		}
	}
	cos, sin := b.constant("model/rope/cos", f16, turn.rounded(f16)), b.constant("model/rope/sin", f16, turned.rounded(f16))
	mask := b.constant("model/mask", f16, causal)
	drop := b.constant("model/mask_bool", flag, masked)
	low := b.constant("model/mask_value", f16, scalarOf(b.mask))
	norm := func(scope, x string) string {
		s := b.tensors[x]
		g := b.weight(scope+"/gamma", f16, "ND", 0.1, 1, hidden)
		if b.seed%3 == 0 {
			beta := b.weight(scope+"/beta", f16, "ND", 0.1, 0, hidden)
			small := spec{f16, "ND", []int{length, 1}}
			return b.op(scope+"/LayerNorm", "LayerNorm", []string{x, g, beta}, []spec{s, small, small}, attrs{"begin_norm_axis": 1, "begin_params_axis": -1, "epsilon": 1e-5})
		}
		return b.op(scope+"/RmsNorm", "RmsNorm", []string{x, g}, []spec{s, {f32, "ND", []int{length, 1}}}, attrs{"epsilon": 1e-5})
	}
	for l := range 2 {
		scope := fmt.Sprintf("model/layer_%d", l)
		in := x
		x = norm(scope+"/input", x)
		split := func(what string) string {
			y := b.layout(b.dense(scope+"/"+what, x, hidden, what != "k", ""), "ND")
			y = b.reshape(scope+"/"+what+"/heads", y, length, heads, head)
			return b.transpose(scope+"/"+what+"/transpose", y, 1, 0, 2)
		}
		rope := func(what string) string {
			y, s := split(what), scope+"/"+what+"/rope"
			parts := b.split(s+"/split", y, 2, 2)
			half := b.concat(s+"/concat", 2, b.like(s+"/Neg", "Neg", attrs{}, parts[1]), parts[0])
			return b.like(s+"/add", "Add", attrs{}, b.like(s+"/mul", "Mul", attrs{}, y, cos), b.like(s+"/mul_1", "Mul", attrs{}, half, sin))
		}
		q, k, v := rope("q"), rope("k"), split("v")
		square := spec{f16, "ND", []int{heads, length, length}}
		y := b.op(scope+"/scores", "BatchMatMul", []string{q, k}, []spec{square}, attrs{"adj_x1": false, "adj_x2": true})
		y = b.like(scope+"/scale", "Mul", attrs{}, y, b.constant(scope+"/scale/y", f16, scalarOf(half(1/math.Sqrt(float64(head))))))
		if l == 0 {
			y = b.like(scope+"/mask", "Add", attrs{}, y, mask)
		} else {
			y = b.like(scope+"/masked_fill", "MaskedFill", attrs{}, y, drop, low)
		}
		if b.seed%2 == 0 {
			y = b.cast(b.like(scope+"/Softmax", "SoftmaxV2", attrs{"axes": []int{-1}}, b.cast(y, f32)), f16)
		} else {
			y = b.like(scope+"/Softmax", "SoftmaxV2", attrs{"axes": []int{-1}}, y)
		}
		y = b.op(scope+"/context", "BatchMatMul", []string{y, v}, []spec{{f16, "ND", []int{heads, length, head}}}, attrs{"adj_x1": false, "adj_x2": false})
		y = b.reshape(scope+"/merge", b.transpose(scope+"/transpose", y, 1, 0, 2), length, hidden)
		y = b.layout(b.dense(scope+"/o", y, hidden, false, ""), "ND")
		x = b.like(scope+"/add", "Add", attrs{}, in, y)
		in = x
		x = norm(scope+"/post", x)
		gate := b.layout(b.dense(scope+"/gate", x, 2*hidden, false, ""), "ND")
		up := b.layout(b.dense(scope+"/up", x, 2*hidden, false, ""), "ND")
		y = b.like(scope+"/mul", "Mul", attrs{}, b.like(scope+"/act", []string{"Swish", "Gelu"}[b.seed%2], attrs{}, gate), up)
		y = b.layout(b.dense(scope+"/down", y, hidden, false, ""), "ND")
		x = b.like(scope+"/add_1", "Add", attrs{}, in, y)
	}
	x = norm("model/final", x)
	logits := b.cast(b.layout(b.dense("lm_head", x, vocab, false, ""), "ND"), f32)
	last := b.slice("sample/slice", logits, []int{length - 1, 0}, []int{length, vocab})
	p := b.like("sample/Softmax", "SoftmaxV2", attrs{"axes": []int{-1}}, last)
	top := b.op("sample/TopK", "TopKD", []string{p}, []spec{{f32, "ND", []int{1, 8}}, {i32, "ND", []int{1, 8}}}, attrs{"k": 8, "largest": true, "sorted": true, "dim": -1})
	next := b.op("sample/ArgMax", "ArgMaxD", []string{logits}, []spec{{i32, "ND", []int{length}}}, attrs{"dimension": 1})
	b.results = []string{logits, top, "sample/TopK:1", next}
}

// recommender ranks candidates from looked up ids and numbers of a user.
func recommender(b *builder) {
	n, dim := of(b, 32, 21, 50), of(b, 16, 8, 10)*b.size
	var parts []string
	for i, size := range []int{200, 50, 20} {
		scope := fmt.Sprintf("feature_%d", i)
		words := b.data(scope+"/ids", i32, ids(size, n))
		parts = append(parts, b.gather(scope+"/Gather", b.variable(scope+"/table", f32, 0.7, 0, size, dim), words))
	}
	numbers := b.data("numbers", f32, func(rng *rand.Rand) array { return normal(rng, 1, 0, n, 8) })
	parts = append(parts, numbers)
	x := b.cast(b.concat("concat", 1, parts...), f16)
	wide := b.cast(b.layout(b.dense("wide", x, 1, true, ""), "ND"), f32)
	x = b.dense("mlp_0", x, 4*dim, true, "Relu")
	x = b.dense("mlp_1", x, 2*dim, true, "")
	x = b.like("mlp_1/Relu", "Relu", attrs{}, x)
	x = b.cast(b.layout(b.dense("mlp_2", x, 1, true, ""), "ND"), f32)
	x = b.like("add", "Add", attrs{}, x, wide)
	if b.other != nil {
		x = b.awkward("scores", x)
	}
	p := b.reshape("reshape", b.like("Sigmoid", "Sigmoid", attrs{}, x), 1, n)
	top := b.op("TopK", "TopKD", []string{p}, []spec{{f32, "ND", []int{1, 10}}, {i32, "ND", []int{1, 10}}}, attrs{"k": 10, "largest": true, "sorted": true, "dim": -1})
	order := b.reshape("order", "TopK:1", 10)
	chosen := b.gather("chosen/Gather", b.byTable("feature_0/Gather:0"), order)
	score := b.reduce("chosen/Mean", "ReduceMeanD", chosen, false, 0)
	b.results = []string{p, top, "TopK:1", score}
}

// byTable is a tensor by name that must exist.
func (b *builder) byTable(name string) string {
	if _, ok := b.tensors[name]; !ok {
		panic("no tensor " + name)
	}
	return name
}
