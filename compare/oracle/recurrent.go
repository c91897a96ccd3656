package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/dump/dtype"
)

// What goes on from token to token with a state: recurrent cells and layers, the convolution of a
// few last tokens, and the gated delta rule of linear attention.
//
// Errors go on with a state, and grow. A layer is therefore not computed from its first state
// alone: where a kernel recorded what it handed on, each step begins with what was recorded, as far
// as rounding explains that ([Call.handedOn]), so that a bound is that of one step and a wrong
// state is found in the step that made it. Where nothing of the states in between was recorded, as
// in the delta rule, the norm of the error of each row of the state is followed instead.
//
// Formulas, with σ the sigmoid, x_· and h_· the parts of a gate of input and state, and ∘ by
// element:
//
//	rnn   h' = tanh(x + h), or max(x + h, 0)
//	lstm  c' = σ(f)∘c + σ(i)∘tanh(g),  h' = σ(o)∘tanh(c')
//	gru   n = tanh(x_n + σ(r)∘h_n),  h' = (1 - σ(z))∘n + σ(z)∘h
//
// Sources: torch.nn.LSTMCell, GRUCell and RNNCell; op-plugin's LstmCellKernelNpu; TBE's
// dynamic_rnn.py and MindSpore's documentation of DynamicGRUV2 for whole layers; Yang, Kautz and
// Hatamizadeh, Gated Delta Networks, 2024, and ops-transformer for the delta rule.

// recurrentForms: cells of one step (torch.nn.LSTMCell, GRUCell, RNNCell, npu_lstm_cell), what has
// a state of several tokens, and whole layers of GE.
func recurrentForms() {
	for form, step := range map[string]func(k *invocation, x, h []Values) []Values{"lstm_cell": lstmStep, "gru_cell": gruStep, "rnn_cell": rnnStep} {
		define(form, function{forward: func(k *invocation) []Reading { return k.cell(step) }})
	}
	// A convolution over the last tokens of each channel (Mamba, Gu and Dao, 2023), which keeps
	// these in a cache.
	define("npu_fused_causal_conv1d", function{mends: []string{"conv_states"}, forward: func(k *invocation) []Reading { return outputs(stateConv(k)...) }})
	define("npu_fused_causal_conv1d_v2", function{mends: []string{"x", "conv_states"}, forward: func(k *invocation) []Reading { return outputs(stateConv(k)...) }})
	// Token by token, for decoding, and in chunks, for training: one formula with other roundings.
	define("npu_recurrent_gated_delta_rule", function{mends: []string{"state"}, forward: func(k *invocation) []Reading { return k.deltaRule(false) }})
	define("npu_chunk_gated_delta_rule", function{forward: func(k *invocation) []Reading { return k.deltaRule(true) }})
	register(one(buildDynamicRNN), "lstm")
	register(one(buildDynamicGRU), "gru")
}

// cell is a step of a recurrent network of the gates of the input and those of the state, weights
// (gates, width) of torch, or (width, gates) of npu_lstm_cell (op-plugin LstmCellKernelNpu: gate
// order ifco), whose values of gates lie in the device's own layout.
func (k *invocation) cell(step func(k *invocation, x, h []Values) []Values) []Reading {
	k.required("input", "hx", "w_ih", "w_hh")
	own := strings.HasPrefix(k.name, "npu_")
	state := k.args["hx"]
	var h *operand
	if state.tensor() {
		h = k.tensor("hx")
	} else {
		h = k.tensors("hx")[0]
	}
	gates := func(x *operand, weight, bias string) (parts []Values) {
		w := Values(k.tensor(weight))
		if !own {
			w = turned(w, true)
		}
		refuseIf(len(x.shape) != 2 || len(w.Shape()) != 2 || x.shape[1] != w.Shape()[0] || w.Shape()[1]%h.shape[len(h.shape)-1] != 0, ShapesDiffer, x.shape, w.Shape())
		v := k.also("x,b)=x+b", k.product(x, w), k.ifGiven(bias))
		for from := int64(0); from < w.Shape()[1]; from += h.shape[len(h.shape)-1] {
			parts = append(parts, slab1(k.halves(v), 1, from, h.shape[len(h.shape)-1]))
		}
		return parts
	}
	return outputs(step(k, gates(k.tensor("input"), "w_ih", "b_ih"), gates(h, "w_hh", "b_hh"))...)
}

// Gates stand as i, f, g, o: c' = σ(f)·c + σ(i)·tanh(g), h' = σ(o)·tanh(c'), each gate the sum of
// its input's part (x) and its state's (h). torch gives h and c as a pair hx.
func lstmStep(k *invocation, x, h []Values) []Values {
	refuseIf(len(x) != 4 || len(h) != 4, ShapesDiffer, x[0].Shape(), h[0].Shape())
	c := k.optional("c")
	if c == nil {
		list := k.tensors("hx")
		refuseIf(len(list) != 2, InputCount, len(list), 2)
		c = list[1]
	}
	next := k.computed("i,f,g,p,q,r,c)=sigmoid(f+q)*c+sigmoid(i+p)*tanh(g+r)", x[0], x[1], x[2], h[0], h[1], h[2], c)
	out := k.computed("o,p,c)=sigmoid(o+p)*tanh(c)", x[3], h[3], next)
	if strings.HasPrefix(k.name, "npu_") {
		return []Values{reshape(out, append([]int64{1}, out.Shape()...)), out, next, nil, nil, nil, nil, nil}
	}
	return []Values{out, next}
}

// r, z, n: n = tanh(x_n + σ(r)·h_n), h' = n + σ(z)·(h − n), which is (1 − z)·n + z·h.
func gruStep(k *invocation, x, h []Values) []Values {
	refuseIf(len(x) != 3 || len(h) != 3, ShapesDiffer, x[0].Shape(), h[0].Shape())
	n := k.computed("r,n,p,m)=tanh(n+sigmoid(r+p)*m)", x[0], x[2], h[0], h[2])
	return []Values{k.computed("z,p,n,h)=n+sigmoid(z+p)*(h-n)", x[1], h[1], n, k.tensor("hx"))}
}

// torch.nn.RNNCell: h' = tanh(x + h), or relu by its name; x and h are products and biases of input
// and state.
func rnnStep(k *invocation, x, h []Values) []Values {
	text := "x,h)=tanh(x+h)"
	if k.name == "rnn_relu_cell" {
		text = "x,h)=max(x+h,0)"
	}
	return []Values{k.computed(text, x[0], h[0])}
}

// buildDynamicRNN: an LSTM over x (T, B, I) with w (I + H, 4H), b (4H) and, if given, the states of
// the start: z = [x_t, h]·w + b; i, f and o are σ of their parts of z, of f with forget_bias added,
// j is tanh of its own; c' = f·c + i·j, h' = o·tanh(c'). Outputs are y and h, which are the same,
// c, i, j, f, o and tanh(c) of every step (TBE's dynamic_rnn.py, whose dynamic_rnn_np says so;
// dynamic_rnn_proto.h). What is handed on is what was recorded of h and c, as the kernel wrote it,
// where rounding explains it, else what it should be: an element that is wrong does not excuse the
// steps behind it. Gates, c and what is handed on may be rounded to the type of the outputs or not;
// tanh is (1 − e)/(1 + e) of e = e^(−2|x|), which cancels near 0.
func buildDynamicRNN(c *Call) []Values {
	k := c.plainCell()
	refuseIf(c.attrBool("use_peephole", false), Unsupported, "use_peephole")
	for i, name := range []string{"seq_length", "", "", "wci", "wcf", "wco", "mask"} {
		refuseIf(name != "" && c.input(name, 3+i) != nil, Unsupported, name)
	}
	x, w, bias := c.need("x", 0), c.need("w", 1), c.need("b", 2)
	// Products of float32 may be of fewer digits, which a state hands on.
	refuseIf(x.numeric() != dtype.Float16 || w.numeric() != dtype.Float16, BadType, x.name, x.numeric().String())
	refuseIf(len(x.shape) != 3 || len(w.shape) != 2 || w.shape[1]%4 != 0 || count(bias.shape) != w.shape[1], ShapesDiffer, x.shape, w.shape, bias.shape)
	steps, batch, in, n := x.shape[0], x.shape[1], x.shape[2], w.shape[1]/4
	refuseIf(w.shape[0] != in+n, ShapesDiffer, x.shape, w.shape, bias.shape)
	work := float64(count(x.shape[:2])) * float64(count(w.shape))
	refuseIf(work > mostMultiplied || float64(steps*batch)*float64(n) > maxDense, TooLarge, int64(work), int64(mostMultiplied))
	order := strings.ToLower(c.attrs.Get("gate_order").Text())
	places := map[string][4]int64{"": {0, 1, 2, 3}, "ijfo": {0, 1, 2, 3}, "ifjo": {0, 2, 1, 3}} // of i, j, f and o
	at, known := places[order]
	refuseIf(!known, BadAttribute, "gate_order", order, "ijfo or ifjo")

	weights := held(joined(0, w, reshape(bias, []int64{1, 4 * n})))
	one := &dense{shape: []int64{batch, 1}, y: slices.Repeat([]float64{1}, int(batch)), exact: true}
	state := [2]*dense{}
	for i, name := range []string{"init_h", "init_c"} {
		state[i] = zeros(batch, n)
		if o := c.input(name, 4+i); o != nil {
			state[i] = held(sized(o, state[i].shape))
		}
	}
	state[0] = halved(state[0])
	forget := scalar(c.attrFloat("forget_bias", 0))
	out := make([][]Values, 8)
	for t := range steps {
		z := held(k.product(joined(1, reshape(slab1(x, 0, t, 1), []int64{batch, in}), state[0], one), weights))
		part := func(g int) Values { return slab1(z, 1, at[g]*n, n) }
		sigmoid := func(g int, plus Values) Values { return held(k.computed("z,b)=sigmoid(z+b)", part(g), plus)) }
		i, j, f, o := sigmoid(0, scalar(0)), k.cancellingTanh(part(1)), sigmoid(2, forget), sigmoid(3, scalar(0))
		cell := held(k.computed("f,c,i,j)=f*c+i*j", k.between(f), state[1], k.between(i), k.between(j)))
		top := k.cancellingTanh(k.between(cell))
		h := held(k.computed("o,t)=o*t", k.between(o), k.between(top)))
		for at, v := range []Values{h, h, cell, i, j, f, o, top} {
			out[at] = append(out[at], v)
		}
		state = [2]*dense{c.handedOn(h, 1, t, dtype.Float16), c.handedOn(cell, 2, t, c.outType())}
	}
	return c.ofSteps(out, 3)
}

// plainCell refuses what is not a single layer in one direction, with the time in front.
func (c *Call) plainCell() *invocation {
	for key, only := range map[string]string{"cell_type": "LSTM", "direction": "UNIDIRECTIONAL", "activation": "tanh"} {
		v := c.attrs.Get(key).Text()
		refuseIf(v != "" && !strings.EqualFold(v, only), Unsupported, key+" "+v)
	}
	refuseIf(!c.attrBool("time_major", true), Unsupported, "time_major")
	for key, only := range map[string]float64{"cell_depth": 1, "num_proj": 0, "keep_prob": 1} {
		refuseIf(c.attrFloat(key, only) != only, Unsupported, key)
	}
	refuseIf(c.attrFloat("cell_clip", -1) > 0, Unsupported, "cell_clip")
	return &invocation{Call: c}
}

// cancellingTanh is tanh as (1 − e)/(1 + e) of e = e^(−2|x|).
func (k *invocation) cancellingTanh(v Values) *dense {
	d, a := held(k.computed("x)=tanh(x)", v)), k.arith()
	for i := range d.b {
		d.b[i] += a.ulps + 2*a.u
	}
	return d
}

// ofSteps are the outputs of a cell, of which those from gates on are written in training alone.
func (c *Call) ofSteps(out [][]Values, gates int) []Values {
	results := make([]Values, len(out))
	for i, parts := range out {
		if i < gates || c.attrBool("is_training", true) {
			results[i] = c.asRecorded(joined(0, parts...), i)
		}
	}
	return results
}

// buildDynamicGRU: a GRU over x (T, B, I) with weight_input (I, 3H), weight_hidden (H, 3H), a bias
// (3H) of each and the state of the start, if given: z and r are σ of the sums of their parts, n =
// tanh(x_n + r·h_n), h' = (1 − z)·n + z·h. Outputs are y and h, which are the same, z, r, n and h_n
// of every step (MindSpore's documentation of DynamicGRUV2, whose kernel it is;
// dynamic_gru_v2_proto.h). States are handed on as in [buildDynamicRNN].
func buildDynamicGRU(c *Call) []Values {
	k := c.plainCell()
	refuseIf(c.input("seq_length", 5) != nil, Unsupported, "seq_length")
	refuseIf(!c.attrBool("reset_after", true), Unsupported, "reset_after")
	x, wi, wh := c.need("x", 0), c.need("weight_input", 1), c.need("weight_hidden", 2)
	refuseIf(x.numeric() != dtype.Float16 || wi.numeric() != dtype.Float16 || wh.numeric() != dtype.Float16, BadType, x.name, x.numeric().String())
	refuseIf(len(x.shape) != 3 || len(wi.shape) != 2 || len(wh.shape) != 2 || wi.shape[0] != x.shape[2] || wh.shape[1] != 3*wh.shape[0] || wi.shape[1] != wh.shape[1],
		ShapesDiffer, x.shape, wi.shape, wh.shape)
	steps, batch, in, n := x.shape[0], x.shape[1], x.shape[2], wh.shape[0]
	work := float64(steps*batch) * float64(count(wi.shape)+count(wh.shape))
	refuseIf(work > mostMultiplied || float64(steps*batch)*float64(n) > maxDense, TooLarge, int64(work), int64(mostMultiplied))
	order := strings.ToLower(c.attrs.Get("gate_order").Text())
	at, known := map[string][2]int64{"": {0, 1}, "zrh": {0, 1}, "rzh": {1, 0}}[order] // of z and r
	refuseIf(!known, BadAttribute, "gate_order", order, "zrh or rzh")
	one := &dense{shape: []int64{batch, 1}, y: slices.Repeat([]float64{1}, int(batch)), exact: true}
	with := func(w *operand, name string, slot int) *dense {
		var b Values = zeros(1, 3*n)
		if o := c.input(name, slot); o != nil {
			b = sized(o, []int64{1, 3 * n})
		}
		return held(joined(0, w, b))
	}
	weights, recurrent := with(wi, "bias_input", 3), with(wh, "bias_hidden", 4)
	state := zeros(batch, n)
	if o := c.input("init_h", 6); o != nil {
		state = held(sized(o, state.shape))
	}
	factor := halved(state)
	out := make([][]Values, 6)
	for t := range steps {
		xs := held(k.product(joined(1, reshape(slab1(x, 0, t, 1), []int64{batch, in}), one), weights))
		hs := held(k.product(joined(1, factor, one), recurrent))
		part := func(of *dense, g int64) Values { return slab1(of, 1, g*n, n) }
		sigmoid := func(g int64) *dense {
			return held(k.computed("x,h)=sigmoid(x+h)", part(xs, g), part(hs, g)))
		}
		z, r, hn := sigmoid(at[0]), sigmoid(at[1]), held(part(hs, 2))
		fresh := k.cancellingTanh(k.computed("x,r,h)=x+r*h", part(xs, 2), k.between(r), k.between(hn)))
		h := held(k.computed("z,n,h)=(1-z)*n+z*h", k.between(z), k.between(fresh), state))
		for i, v := range []Values{h, h, z, r, fresh, hn} {
			out[i] = append(out[i], v)
		}
		factor, state = c.handedOn(h, 1, t, dtype.Float16), c.handedOn(h, 1, t, c.outType())
		if c.outType() == dtype.Float16 { // it may go on before it is rounded
			p := precisionFor(dtype.Float16)
			for i, y := range state.y {
				state.b[i] = max(state.b[i], p.v*abs(y)+p.t)
			}
		}
	}
	return c.ofSteps(out, 2)
}

// halved is a state of the start as it goes into products of float16.
func halved(d *dense) *dense {
	h := &dense{shape: d.shape, y: slices.Clone(d.y), b: make([]float64, len(d.y))}
	for i, y := range d.y {
		h.y[i] = precisionFor(dtype.Float16).Round(y)
		h.b[i] = abs(h.y[i] - y)
	}
	return h
}

// handedOn is a state behind step t, which output i has. Its numbers are those that were recorded
// where v explains them; they may have been handed on rounded to kept, or before they were rounded
// to it.
func (c *Call) handedOn(v *dense, i int, t int64, kept dtype.Type) *dense {
	n, p := int64(len(v.y)), precisionFor(kept)
	d := &dense{shape: v.shape, y: slices.Clone(v.y), b: make([]float64, n)}
	found, recorded := make([]float64, n), false
	exact := kept == dtype.Float16
	if i < len(c.outs) && c.outs[i] != nil && count(c.outs[i].shape) >= (t+1)*n {
		c.outs[i].Range(t*n, found, nil)
		recorded, exact = true, exact && c.outs[i].numeric() == kept && i == 1
		p.v = max(p.v, precisionFor(c.outs[i].numeric()).v)
	}
	for at, y := range v.y {
		own := 0.0
		if v.b != nil {
			own = v.b[at]
		}
		rounding := p.v*(abs(y)+own) + p.t
		d.b[at] = own + rounding
		if recorded && abs(found[at]-y) <= own+rounding {
			if d.y[at], d.b[at] = found[at], rounding; exact {
				d.b[at] = 0
			}
		}
	}
	return d
}

// stateConv convolves each channel of sequences with what a cache holds of their last tokens in
// front, which it then has of these (documentation of npu_fused_causal_conv1d). Where prefixes are
// cached, a sequence has a line of the cache for each block of tokens, reads one, writes another,
// and leaves in those between what stands in front of the end of their blocks.
func stateConv(k *invocation) []Values {
	mode, prefixed := k.string("conv_mode", "default"), k.has("initial_state_idx")
	refuseIf(mode != "default" && mode != "pangu", Unsupported, "conv_mode "+mode)
	if prefixed {
		k.required("cache_indices", "num_computed_tokens", "block_idx_first_scheduled_token", "block_idx_last_scheduled_token")
	} else {
		k.unsupported("block_idx_first_scheduled_token", "block_idx_last_scheduled_token")
	}
	x, w := k.pair("x", "weight")
	states, r := k.tensor("conv_states"), len(x.shape)
	refuseIf(r < 2 || r > 3 || len(w.shape) != 2 || len(states.shape) != 3 || w.shape[0] < 1 || w.shape[1] != x.shape[r-1] || states.shape[2] != w.shape[1] || states.shape[1] < w.shape[0]-1, ShapesDiffer, x.shape, w.shape, states.shape)
	n, width, size := w.shape[1], w.shape[0], states.shape[1]
	starts := k.ints("query_start_loc")
	if starts == nil {
		refuseIf(r != 3, NoArgument, "query_start_loc")
		for b := range x.shape[0] + 1 {
			starts = append(starts, b*x.shape[1])
		}
	}
	batches := max(len(starts)-1, 0)
	list := func(name string) []int64 {
		v := k.ints(name)
		refuseIf(v != nil && len(v) < batches, ShapesDiffer, starts, v)
		return v
	}
	accepted, computed := list("num_accepted_tokens"), list("num_computed_tokens")
	refuseIf(mode == "pangu" && computed == nil, NoArgument, "num_computed_tokens")
	var lines, read, last, first []int64
	blocks := int64(0)
	if prefixed {
		o := k.tensor("cache_indices")
		refuseIf(len(o.shape) != 2 || o.shape[0] < int64(batches), ShapesDiffer, o.shape, starts)
		lines, blocks = ints(o), o.shape[1]
		read, first, last = list("initial_state_idx"), list("block_idx_first_scheduled_token"), list("block_idx_last_scheduled_token")
	} else {
		lines = list("cache_indices")
	}
	lineOf := func(b int, block int64) int64 {
		refuseIf(block < 0 || block >= blocks, OutsideCache, "cache_indices", block, blocks)
		line := lines[int64(b)*blocks+block]
		refuseIf(line < 0 || line >= states.shape[0], OutsideCache, "cache_indices", line, states.shape[0])
		return line
	}
	d, old, f, a := held(x), held(states), held(w), k.arith()
	refuseIf(int64(len(d.y)) > maxDense/4, TooLarge, len(d.y), maxDense/4)
	y := &dense{shape: x.shape, y: make([]float64, len(d.y)), b: slices.Repeat([]float64{math.Inf(1)}, len(d.y))}
	left := &dense{shape: states.shape, y: slices.Clone(old.y), exact: true}
	for b := range batches {
		from, to, line := starts[b], starts[b+1], int64(b)
		switch {
		case prefixed:
			refuseIf(read[b] < 0 || read[b] >= blocks, OutsideCache, "initial_state_idx", read[b], blocks)
			line = lines[int64(b)*blocks+read[b]]
		case lines != nil:
			line = lines[b]
		}
		if line == k.int("pad_slot_id", -1) {
			continue
		}
		refuseIf(from < 0 || to < from || to*n > int64(len(d.y)), BadArgument, "query_start_loc", starts, "tokens in order")
		refuseIf(line < 0 || line >= states.shape[0], OutsideCache, "cache_indices", line, states.shape[0])
		skip := size - (width - 1)
		if accepted != nil {
			skip = accepted[b] - 1
		}
		front := make([]float64, (width-1)*n)
		if computed != nil && computed[b] == 0 {
			skip = 0
		} else {
			refuseIf(skip < 0 || skip+width-1 > size, BadArgument, "num_accepted_tokens", skip+1, "tokens of the cache")
			front = old.y[line*size*n:][:(skip+width-1)*n]
		}
		all := slices.Concat(front, d.y[from*n:to*n])
		keep, to1 := min(size*n, int64(len(all))), line
		if prefixed {
			to1 = lineOf(b, last[b])
		}
		copy(left.y[(to1+1)*size*n-keep:], all[int64(len(all))-keep:])
		all = all[skip*n:]
		tokens := to - from
		if prefixed && last[b] > first[b] {
			block := k.int("block_size", 128)
			refuseIf(block < 1, BadArgument, "block_size", block, "a positive number")
			over := ((tokens-(block-computed[b]%block))%block + block) % block // tokens behind the last full block
			end := tokens - over
			if over == 0 {
				end -= block
			}
			for c := first[b]; c < last[b]; c++ {
				at := end - (last[b]-c-1)*block
				refuseIf(at < 0 || at+width-1 > int64(len(all))/n, BadArgument, "block_idx_first_scheduled_token", first[b], "a block of the tokens")
				copy(left.y[(lineOf(b, c)+1)*size*n-(width-1)*n:], all[at*n:(at+width-1)*n])
			}
		}
		reset := int64(0)
		if mode == "pangu" {
			reset = min(max(width-1-computed[b], 0), tokens)
		}
		for i := range (to - from) * n {
			terms := make([]num, 0, width+1)
			for j := range width {
				if i/n < reset {
					break // what has too few tokens in front is 0
				}
				terms = append(terms, a.mul(exactNum(all[i+j*n]), exactNum(f.y[j*n+i%n])))
			}
			if k.int("residual_connection", 0) != 0 {
				terms = append(terms, exactNum(d.y[from*n+i]))
			}
			s := total(terms, k.sumUnit())
			y.y[from*n+i], y.b[from*n+i] = s.y, s.b
		}
	}
	return []Values{k.between(y), left}
}

// deltaRule is the gated delta rule, token by token: the state (values × keys) fades by e^g, beta
// times what the key does not yet give of the value is added to it, and the query reads it. An
// error of the state does not grow where beta·|k|² is at most 2, so that its norm is followed for
// each row. The recurrent kernel keeps the running state in float32 (ops-transformer
// attention/recurrent_gated_delta_rule), the chunked one multiplies in bfloat16, of which its test
// allows several units. S ← e^g·S; S ← S + β·(v − S·k)·kᵀ; o = scale·S·q, with S of (values, keys)
// for each head, and heads of keys repeated to those of values. ssm_state_indices says where the
// state of each token is kept, and, with num_accepted_tokens, from which a sequence goes on:
// speculative decoding keeps one for each token.
func (k *invocation) deltaRule(chunked bool) []Reading {
	query, key := k.pair("query", "key")
	value := k.tensor("value")
	k.unsupported("gk")
	refuseIf(len(query.shape) != 3 || !slices.Equal(query.shape, key.shape) || len(value.shape) != 3 || value.shape[0] != query.shape[0] || query.shape[1] == 0 || value.shape[1]%query.shape[1] != 0, ShapesDiffer, query.shape, key.shape, value.shape)
	tokens, heads, dk, dv := query.shape[0], value.shape[1], query.shape[2], value.shape[2]
	per := heads / query.shape[1]
	name := "state"
	if chunked {
		name = "initial_state"
	}
	state := k.optional(name)
	lengths := k.ints("actual_seq_lengths")
	if lengths == nil {
		lengths = []int64{tokens}
	}
	refuseIf(state == nil && !chunked || dk == 0 || dv == 0, NoInput, name)
	var s *dense
	if state != nil {
		refuseIf(len(state.shape) != 4 || state.shape[1] != heads || state.shape[2] != dv || state.shape[3] != dk, ShapesDiffer, state.shape, value.shape)
		s = held(state)
	} else {
		shape := []int64{int64(len(lengths)), heads, dv, dk}
		n := float64(len(lengths)) * float64(heads) * float64(dv) * float64(dk)
		refuseIf(n > maxDense, TooLarge, n, maxDense)
		s = &dense{shape: shape, y: make([]float64, count(shape))}
	}
	g, beta := k.listOf("g", tokens*heads), k.listOf("beta", tokens*heads)
	refuseIf(float64(tokens)*float64(heads*dv*dk)*4 > mostMultiplied, TooLarge, tokens, int64(mostMultiplied))
	index, accepted := k.ints("ssm_state_indices"), k.ints("num_accepted_tokens")
	refuseIf(!chunked && int64(len(index)) < tokens, NoArgument, "ssm_state_indices")
	scale := k.float("scale", 1/math.Sqrt(float64(dk)))
	q, kk, v := held(query), held(key), held(value)
	slots := s.shape[0]
	out := &dense{shape: value.shape, y: make([]float64, len(v.y)), b: make([]float64, len(v.y))}
	for i := range out.b {
		out.b[i] = math.Inf(1) // of no sequence
	}
	after := &dense{shape: s.shape, y: slices.Clone(s.y), b: make([]float64, len(s.y)), exact: true}
	u := k.sumUnit()
	p := precisionFor(value.numeric())
	if state != nil {
		p = precisionFor(state.numeric())
	}
	unit := u
	if chunked {
		unit = max(u, precisionFor(value.numeric()).v)
	}
	rounding := gamma(float64(dk)+8, u)
	if chunked {
		rounding = 2 * unit
	}
	size := heads * dv * dk
	from := int64(0)
	for n, l := range lengths {
		refuseIf(l < 0 || from+l > tokens, BadArgument, "actual_seq_lengths", lengths, "tokens of "+shapeText(query.shape))
		if l == 0 {
			continue
		}
		first := int64(n)
		if !chunked {
			at := from
			if accepted != nil {
				refuseIf(n >= len(accepted) || accepted[n] < 1 || accepted[n] > l, BadArgument, "num_accepted_tokens", accepted, "tokens of each sequence")
				at += accepted[n] - 1
			}
			first = index[at]
		}
		refuseIf(first < 0 || first >= slots, OutsideCache, "ssm_state_indices", first, slots)
		running := slices.Clone(s.y[first*size:][:size])
		off := make([]float64, heads*dv) // norm of the error of each row
		for t := from; t < from+l; t++ {
			for h := range heads {
				kr, qr := kk.y[(t*query.shape[1]+h/per)*dk:][:dk], q.y[(t*query.shape[1]+h/per)*dk:][:dk]
				norm, reach := 0.0, 0.0
				for i := range kr {
					norm += kr[i] * kr[i]
					reach += qr[i] * qr[i]
				}
				fade, b := 1.0, 1.0
				if g != nil {
					fade = math.Exp(g[t*heads+h])
				}
				if beta != nil {
					b = beta[t*heads+h]
				}
				// An error δ of a row becomes δ·(1 − β·k·kᵀ), whose norm grows by no more than
				// this.
				grow := max(1, abs(1-b*norm))
				for r := range dv {
					row := running[(h*dv+r)*dk:][:dk]
					x, whole, length := 0.0, 0.0, 0.0
					for i, z := range row {
						row[i] = z * fade
						x += row[i] * kr[i]
						whole += abs(row[i] * kr[i])
						length += row[i] * row[i]
					}
					y := (v.y[(t*heads+h)*dv+r] - x) * b
					length = math.Sqrt(length)
					// What this token adds: rounding of S·k and of v − S·k, times |k|; fading of
					// the row; and the product with k.
					local := abs(b)*(rounding*whole+4*unit*(abs(v.y[(t*heads+h)*dv+r])+abs(x)))*math.Sqrt(norm) + 12*u*length + 4*unit*abs(y)*math.Sqrt(norm)
					off[h*dv+r] = fade*grow*off[h*dv+r] + local
					o, terms := 0.0, 0.0
					for i := range row {
						row[i] += y * kr[i]
						o += row[i] * qr[i]
						terms += abs(row[i] * qr[i])
					}
					at := (t*heads+h)*dv + r
					out.y[at] = o * scale
					out.b[at] = abs(scale) * (off[h*dv+r]*math.Sqrt(reach) + (rounding+4*unit)*terms)
				}
			}
			if !chunked {
				to := index[t]
				refuseIf(to >= slots, OutsideCache, "ssm_state_indices", to, slots)
				if to >= 0 {
					keep(after, to*size, running, off, dk, p)
				}
			}
		}
		if chunked {
			keep(after, first*size, running, off, dk, p)
		}
		from += l
	}
	return outputs(out, after)
}

// keep writes a state with the error of its rows, rounded to its type.
func keep(s *dense, at int64, y, off []float64, width int64, p precisionOf) {
	for i, x := range y {
		b := off[int64(i)/width]
		s.y[at+int64(i)], s.b[at+int64(i)] = x, b+p.v*(abs(x)+b)+p.t
	}
}
