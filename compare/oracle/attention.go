package oracle

import (
	"math"
	"slices"
	"strings"
	"sync"

	"precision/dump/dtype"
)

// Attention, forward and backward: for every query q of a head, over the keys k_c and values v_c
// that it may look at,
//
//	x_c = ((q·k_c + before)·scale) + added,  p_c = e^(x_c - max x) / Σ e^(x - max x),  y = Σ p_c·v_c
//
// All of it is one walk, [attention.row], which leaves y, the probabilities and the statistics of a
// row (the largest score, Σ and log Σ e^x) with their bounds. Everything else here says what a row
// is: which keys are hidden and what is added to the scores (masks, bands, blocks that were
// chosen), and which of the kernel's further outputs a statistic is. Where rows of queries, keys
// and values lie in memory is the business of cache.go.
//
// Three families take part. scaled_dot_product_attention and multi_head_attention_forward of
// PyTorch, by its documentation; the kernels of torch_npu, by the documentation and tests of
// op-plugin and the sources of ops-transformer; and what puts attention over parts of the keys
// together again (npu_ring_attention_update, npu_attention_update).
//
// Where devices round: products and sums are float32 in any order, so that a score is off by g(e +
// 4)·Σ|q·k| and a result by g(s + 4)·Σ|p·v|, e being the width of a head and s the number of keys.
// A fused kernel keeps scores in float32 and rounds the probabilities to the type of v before it
// multiplies; composed from single calls each step is rounded, too. Both are readings ("fused" and
// "rounded-scores"), as a recording does not tell which of the two ran.
//
// Gradients are computed from the probabilities of the same walk, see [attention.gradients]. A
// kernel that was given the statistics and the result of the forward call takes these in place of
// its own.

// attention is softmax(q·kᵀ·scale + mask)·v, row by row. Scores and probabilities may
// be rounded to the type of the result on the way (late), or stay in float32 as in
// fused kernels, but for the probabilities, which fused kernels multiply in the type of
// v, too.
type attention struct {
	shape     []int64 // of the result, whose rows have ev elements
	q, k, v   *dense  // rows of e, e and ev elements
	e, ev     int64
	most      int64 // keys of a row, at most
	at        func(r int64) attended
	key       func(a attended, c int64) int64 // the row of k and v that is the key c
	scale     num
	before    func(a attended, c int64) float64 // added to the product before it is scaled, or nil
	added     func(a attended, c int64) float64 // added behind that, or nil
	hidden    func(a attended, c int64) bool    // masked out, or nil
	doubtful  func(a attended, c int64) bool    // documents contradict each other, or nil
	sink      *dense                            // a score of each head that stands for no key, or nil
	zero      bool                              // a row with nothing in it is 0 and not NaN
	late      bool
	p         precisionOf
	a         arith
	sumUnit   float64
	held      attended
	y, b      []float64
	x, ex, pr []float64
	pb, size  []float64
	// saved are the largest score and Σ e^(score - largest) that the gradients go by, and out is
	// the result, where they were given for more keys than these are; nil for those of the row.
	saved func(a attended) (largest, sum float64)
	out   *dense
	// largest score, Σ e^(score - largest) and the logarithm of Σ e^score of the row that is held
	largest, sum, log num
}

// attended is a row of an attention: the query of a head, and how many keys it may look at.
type attended struct {
	batch, head int64
	row, l      int64 // its place among the queries of its sequence, and how many these are
	s           int64 // keys of the sequence
	q           int64 // its row in q; -1 for one that nothing is computed of
}

func (t *attention) Shape() []int64 { return t.shape }

// A row is a product of its query with most keys and of most probabilities with values, 2
// operations a term; the cost is that of one of its ev elements.
func (t *attention) Cost() float64 {
	return 2 * float64(t.most) * float64(t.e+t.ev) / float64(max(t.ev, 1))
}
func (t *attention) Align() int64 { return t.ev }

// b in the end has one rounding to the type of the result more: v of the value, with its error, and
// t for what is subnormal.
func (t *attention) rounding(y, b float64) float64 { return b + t.p.v*(abs(y)+b) + t.p.t }

// row computes one row of the result. With scores x_c, each of a bound of its own, it leaves in t:
// p_c = e^(x_c − max)/Σ and their bounds; y = Σ p_c·v_c; max, Σ and log Σe^x as the further outputs
// of kernels have them. The bound of y is Σ (what p is off)·|v| + p·(what v is off), and gamma(s +
// 4)·Σ|p·v| for the sum in any order.
func (t *attention) row(a attended) {
	if t.held == a {
		return
	}
	t.held = a
	n := int(a.s)
	if t.sink != nil {
		n++
	}
	t.x, t.ex, t.pr, t.pb = grow(t.x, n), grow(t.ex, n), grow(t.pr, n), grow(t.pb, n)
	t.y, t.b = grow(t.y, int(t.ev)), grow(t.b, int(t.ev))
	clear(t.y)
	// A row of which nothing can be said: its elements are 0 ± inf.
	unsure := func() {
		for j := range t.b {
			t.b[j] = math.Inf(1)
		}
		t.largest, t.sum, t.log = num{0, math.Inf(1)}, num{0, math.Inf(1)}, num{0, math.Inf(1)}
		for c := range t.pr {
			t.pr[c], t.pb[c] = 0, math.Inf(1)
		}
	}
	if a.q < 0 {
		unsure()
		return
	}
	q := t.q.y[a.q*t.e:][:t.e]
	// e products and their sum, and some for the scale
	g := gamma(float64(t.e)+4, t.sumUnit)
	narrow := t.p.v > u32
	open, at := 0, 0
	for c := range a.s {
		kr := t.k.y[t.key(a, c)*t.e:][:t.e]
		z := exactNum(math.Inf(-1))
		if t.hidden == nil || !t.hidden(a, c) {
			open++
			z = t.score(a, c, q, kr, g, narrow && t.late)
		}
		if t.doubtful != nil && t.doubtful(a, c) {
			unsure()
			return
		}
		if math.IsInf(z.y, -1) {
			z.b = 0
		}
		if t.x[c], t.ex[c] = z.y, z.b; z.y > t.x[at] {
			at = int(c)
		}
	}
	if open == 0 && (t.zero || a.s == 0) {
		unsure()
		clear(t.b)
		return
	}
	if t.sink != nil {
		if t.x[a.s], t.ex[a.s] = t.sink.y[a.head], 0; t.x[a.s] > t.x[at] {
			at = int(a.s)
		}
	}
	// The sink takes part in the softmax, and its probability goes nowhere.
	softmaxRow(t.a.u, t.sumUnit)(t.x, t.ex, t.pr, t.pb)
	t.largest = num{t.x[at], t.ex[at]}
	for i := range t.x { // another one may be the largest
		if t.x[i]+t.ex[i] >= t.largest.y-t.largest.b {
			t.largest.b = max(t.largest.b, t.ex[i])
		}
	}
	// The largest has p = 1/Σ, from which Σ and its error follow.
	t.sum = num{1 / t.pr[at], t.pb[at] / (t.pr[at] * max(t.pr[at]-t.pb[at], 0))}
	log := math.Log(t.sum.y)
	t.log = num{t.largest.y + log, t.largest.b + t.sum.b/max(t.sum.y-t.sum.b, 0) + t.a.ulps*(1+abs(log)+abs(t.largest.y+log))}
	// Probabilities are multiplied with v in its type, also by fused kernels.
	if narrow {
		for c := range t.pr {
			t.pb[c] += t.p.v*(t.pr[c]+t.pb[c]) + t.p.t
		}
	}
	gv := gamma(float64(a.s)+4, t.sumUnit)
	for j := range t.b {
		t.b[j] = 0
	}
	t.size = grow(t.size, int(t.ev))
	clear(t.size)
	for c := range a.s {
		p, off := t.pr[c], t.pb[c]
		if p == 0 && off == 0 {
			continue
		}
		at := t.key(a, c) * t.ev
		for j, v := range t.v.y[at:][:t.ev] {
			t.y[j] += p * v
			t.size[j] += abs(p * v)
			t.b[j] += off * abs(v)
		}
		for j, vb := range t.v.bounds(at, t.ev) {
			t.b[j] += (p + off) * vb
		}
	}
	for j, off := range t.b {
		t.b[j] = off + gv*(t.size[j]+off)
	}
}

// score is that of a key before the softmax.
// z = ((q·k + before)·scale) + added. late has three roundings more: of the product, of the scaled
// one and of the sum; 2·p.v·Σ|q·k| is for kernels that scale q and k by √scale before, each
// rounded.
func (t *attention) score(a attended, c int64, q, key []float64, g float64, late bool) num {
	sum, size := 0.0, 0.0
	for i, v := range q {
		sum += v * key[i]
		size += abs(v * key[i])
	}
	// Some scale q and k by the root of the scale first, rounded.
	own := g * size
	qb := t.q.bounds(a.q*t.e, t.e)
	for i, b := range qb {
		own += b * abs(key[i])
	}
	for i, b := range t.k.bounds(t.key(a, c)*t.e, t.e) {
		if own += abs(q[i]) * b; qb != nil {
			own += qb[i] * b
		}
	}
	if late {
		own += t.p.v*abs(sum) + 2*t.p.v*size
	}
	z := num{sum, own}
	if t.before != nil {
		z = t.a.add(z, exactNum(t.before(a, c)))
	}
	z = t.a.mul(z, t.scale)
	if late {
		z.b = t.rounding(z.y, z.b)
	}
	if t.added != nil {
		if z = t.a.add(z, exactNum(t.added(a, c))); late {
			z.b = t.rounding(z.y, z.b)
		}
	}
	return z
}

func (t *attention) Range(lo int64, y, b []float64) {
	for at := 0; at < len(y); {
		r := (lo + int64(at)) / t.ev
		t.row(t.at(r))
		from := lo + int64(at) - r*t.ev
		if b != nil {
			copy(b[at:], t.b[from:])
		}
		at += copy(y[at:], t.y[from:])
	}
}

func (t *attention) At(idx []int64, y, b []float64) {
	for i, k := range idx {
		t.row(t.at(k / t.ev))
		if y[i] = t.y[k%t.ev]; b != nil {
			b[i] = t.b[k%t.ev]
		}
	}
}

// statistic is a number of each row, repeated in the last axis; at says which row an element
// belongs to. Elements of a row are computed one after the other, as it is held from the first on.
func (t *attention) statistic(shape []int64, at func(i int64) attended, of func() num) Values {
	return &formula{shape: shape, cost: 2 * float64(t.most) * float64(t.e+t.ev), f: func(i int64, _ []int64) (float64, float64) {
		t.row(at(i))
		x := of()
		return x.y, x.b
	}}
}

// blank is an attention of the type of the result, without operands.
func (k *invocation) blankAttention() *attention {
	t := &attention{a: k.arith(), sumUnit: k.sumUnit(), p: precisionFor(k.outType()), held: attended{q: -2}}
	return t
}

// hold takes the operands, whose last axes are e, e and ev. The scale is 1/√e, as a kernel has it
// in float32 (2 units: the root and the division), until scaledBy takes another.
func (t *attention) hold(q, key, value Values) {
	last := func(v Values) int64 { return v.Shape()[len(v.Shape())-1] }
	t.e, t.ev = last(q), last(value)
	refuseIf(last(key) != t.e, ShapesDiffer, q.Shape(), key.Shape(), value.Shape())
	refuseIf(t.most == 0 || t.ev == 0 || t.e == 0 || t.most > maxDense || math.IsInf(gamma(float64(max(t.most, t.e)+4), t.sumUnit), 1), NoBound, t.most)
	t.scale = num{1 / math.Sqrt(float64(t.e)), 0}
	t.scale.b = 2 * u32 * t.scale.y
	t.q, t.k, t.v = held(q), held(key), held(value)
}

// newAttention takes q (…, L, E), k (…, S, E) and v (…, S, Ev); heads of k and v may be
// fewer than those of q, each serving as many in turn.
func (k *invocation) newAttention(q, key, value Values, grouped bool) *attention {
	sq, sk, sv := q.Shape(), key.Shape(), value.Shape()
	n := len(sq)
	refuseIf(n < 2 || len(sk) != n || len(sv) != n || sq[n-1] != sk[n-1] || sk[n-2] != sv[n-2] || !slices.Equal(sk[:n-2], sv[:n-2]), ShapesDiffer, sq, sk, sv)
	t, l, s := k.blankAttention(), sq[n-2], sk[n-2]
	t.shape, t.most = append(slices.Clone(sq[:n-1]), sv[n-1]), s
	batch := batches(sk[:n-2], sq[:n-2])
	of := func(b int64) int64 { return batch[b] }
	if grouped && n >= 3 && sk[n-3] != sq[n-3] {
		refuseIf(sk[n-3] == 0 || sq[n-3]%sk[n-3] != 0 || !slices.Equal(sk[:n-3], sq[:n-3]), ShapesDiffer, sq, sk, sv)
		per, heads := sq[n-3]/sk[n-3], sq[n-3]
		of = func(b int64) int64 { return b/heads*(heads/per) + b%heads/per }
	} else if _, ok := broadcastShape(sk[:n-2], sq[:n-2]); !ok {
		panic(refusal(ShapesDiffer, shapeText(sq, sk, sv)))
	}
	t.at = func(r int64) attended { return attended{batch: r / l, row: r % l, l: l, s: s, q: r} }
	t.key = func(a attended, c int64) int64 { return of(a.batch)*s + c }
	t.hold(q, key, value)
	return t
}

// scaledBy takes the scale of a call, if it has one.
// A scale is a Python float and comes to the kernel as float32.
func (t *attention) scaledBy(k *invocation) {
	if k.has("scale") {
		x := k.float("scale", 0)
		t.scale = num{x, 2 * u32 * abs(x)}
	}
}

// masked takes a mask that is repeated to (…, L, S), beside those that it has. Of truths those that
// are out hide a key:
// scaled_dot_product_attention has true for keys that stay, multi_head_attention_forward for those
// that go. Numbers are added to the scaled scores.
func (t *attention) masked(o *operand, as []int64, out bool) {
	shape := append(slices.Clone(t.shape[:len(t.shape)-1]), t.most)
	v, ok := broadcast(reshape(o, as), shape)
	refuseIf(!ok, ShapesDiffer, o.shape, shape)
	d := held(o)
	place := func(a attended, c int64) int64 { return (a.batch*a.l+a.row)*a.s + c }
	if s, ok := v.(*strided); ok {
		plain := place
		place = func(a attended, c int64) int64 { return s.place(plain(a, c)) }
	}
	if hidden := t.hidden; o.typ == dtype.Bool {
		t.hidden = func(a attended, c int64) bool {
			return (d.y[place(a, c)] != 0) == out || hidden != nil && hidden(a, c)
		}
		return
	}
	added := t.added
	t.added = func(a attended, c int64) float64 {
		if added != nil {
			return d.y[place(a, c)] + added(a, c)
		}
		return d.y[place(a, c)]
	}
}

func attentionForms() {
	// torch.nn.functional.scaled_dot_product_attention. What its gradients go back from may be the
	// product with the gradient alone ("grad"), where a recorder looks at the last step.
	define("scaled_dot_product_attention", function{forward: func(k *invocation) []Reading {
		t := k.dotProduct()
		return t.forms(func(t *attention) []Values { return []Values{t} })
	}, backward: dotProductGradients, nodes: [][]string{{"grad"}}})
	// torch.nn.functional.multi_head_attention_forward, without biases for keys and values of their
	// own.
	define("multi_head_attention", function{forward: multiHead})
	// torch_npu.npu_fusion_attention: FlashAttentionScore of ops-transformer, for training.
	define("npu_fusion_attention", function{forward: fusionAttention, backward: fusionGradients})
	// npu_prompt_flash_attention, npu_incre_flash_attention and npu_fused_infer_attention_score are
	// one form: they differ in how long queries are (all of a prompt, one token, either), which
	// shapes say.
	define("inference_attention", function{forward: inferenceAttention})
	// torch_npu._npu_paged_attention writes its result to the argument out.
	define("paged_attention", function{forward: inferenceAttention, mends: []string{"out"}})
	// Sequences of so many tokens behind each other, which look at their own.
	define("unpadded_attention", function{mends: []string{"out"}, forward: func(k *invocation) []Reading {
		ends := &argument{}
		k.required("seq_len")
		for _, end := range endsOf(k.ints("seq_len")) {
			ends.list = append(ends.list, intArgument(end))
		}
		return inferenceAttention(k.with(map[string]*argument{"actual_seq_lengths": ends, "actual_seq_lengths_kv": ends}))
	}})
	// Parts of the keys, each with log Σe^x of its own rows (lse): lse = log Σ e^(lse_i), out = Σ
	// e^(lse_i − lse)·out_i. The weights' errors are those of the exponents, whose magnitude an
	// error in units of the last place grows with.
	define("npu_attention_update", function{forward: func(k *invocation) []Reading {
		lse, parts := k.tensors("lse"), k.tensors("local_out")
		n := len(parts)
		refuseIf(n == 0 || len(lse) != n || len(parts[0].shape) == 0, InputCount, len(lse), n)
		var in, sizes []Values
		for i, o := range parts {
			in = append(in, o)
			sizes = append(sizes, reshape(lse[i], append(slices.Clone(o.shape[:len(o.shape)-1]), 1)))
		}
		a := k.arith()
		total := func(v []num) num { // log Σ e^lse
			most := math.Inf(-1)
			for _, x := range v {
				most = max(most, x.y)
			}
			sum := num{}
			for _, x := range v {
				e := math.Exp(x.y - most)
				sum = a.add(sum, num{e, e * a.ulps})
			}
			y := most + math.Log(sum.y)
			return num{y, a.ulps*(1+abs(y)) + sum.b/sum.y}
		}
		out := formulaOf(func(v []num) num {
			all, y := total(v[n:]), num{}
			for i, x := range v[:n] {
				w := math.Exp(v[n+i].y - all.y)
				y = a.add(y, a.mul(num{w, w * (all.b + a.ulps*(1+abs(v[n+i].y)))}, x))
			}
			return y
		}, append(in, sizes...)...)
		whole := make([]Values, n)
		for i := range lse {
			whole[i] = lse[i]
		}
		all := []Values{out, formulaOf(total, whole...)}
		k.leaves(all, 1, "update_type")
		return outputs(all...)
	}})
	define("npu_ring_attention_update", function{forward: ringAttention})
	// What sparse attention chooses its keys by.
	define("npu_lightning_indexer", function{forward: lightningIndexer})
	define("npu_sparse_flash_attention", function{forward: sparseAttention})
	define("npu_sparse_flash_attention_grad", function{forward: sparseGradients})
	// The statistic beside the result is log Σe^x of each row, (T, N) or (B, N, S); with
	// inner_precise 1 float16 may be computed with throughout, so that rounded scores are a
	// reading.
	define("npu_block_sparse_attention", function{forward: func(k *invocation) []Reading {
		t, s := k.blockAttention()
		order := map[bool]string{true: "TN", false: "BNS"}[s.q.packed]
		readings := t.forms(func(t *attention) []Values {
			if k.int("softmax_lse_flag", 0) == 0 {
				return []Values{t, nil}
			}
			return []Values{t, t.perRow(k, s, order, 1, func() num { return t.log })}
		})
		if k.int("inner_precise", 1) != 1 || k.tensor("query").typ != dtype.Float16 {
			readings = readings[:1]
		}
		return readings
	}})
	// Queries, keys and values in the order of the arguments; probabilities are made anew from the
	// inputs.
	define("npu_block_sparse_attention_backward", function{forward: func(k *invocation) []Reading {
		t, _ := k.blockAttention()
		return outputs(k.attentionGradients(t)...)
	}})
}

// sparseAttention looks at the tokens of the blocks that are chosen for each query
// (npu_sparse_flash_attention.md of op-plugin): of sparse_indices (B, S, N, count) or (T, N,
// count), N being the heads of keys, as many as come before the first that is below 0. What is
// chosen may be hidden behind the query as in other attention. npu_nsa_select_attention is the
// same, without that, and gives the largest score and the sum of the row, eight times (test of
// op-plugin).
func sparseAttention(k *invocation) (all []Reading) {
	tiled := k.name == "npu_kv_quant_sparse_flash_attention"
	if tiled {
		k.only(2, "key_quant_mode", "value_quant_mode", "attention_mode")
		k.only(1, "quant_scale_repo_mode")
		k.unsupported("key_dequant_scale", "value_dequant_scale")
	}
	for n := range 1 + int64(toNumber(tiled)) { // what was in steps may be rounded to the type of the queries, or not
		t, s := k.with(map[string]*argument{"rounded": intArgument(n)}).selectedAttention()
		all = append(all, t.forms(func(t *attention) []Values {
			if k.name != "npu_nsa_select_attention" {
				return []Values{t}
			}
			return []Values{t, t.perRow(k, s, "TN", 1, func() num { return t.largest }), t.perRow(k, s, "TN", 2, func() num { return t.sum })}
		})[0])
	}
	return all
}

// selectedAttention is that attention.
func (k *invocation) selectedAttention() (t *attention, s sequences) {
	k.required("query", "sparse_indices", "scale")
	k.unsupported("mask")
	query, idx := k.pair("query", "sparse_indices")
	layout, of := k.string("layout_query", "BSND"), k.string("layout_kv", "BSND")
	paged := of == "PA_BSND"
	refuseIf(layout != "BSND" && layout != "TND" || of != layout && !paged || paged != k.has("block_table"), Unsupported, "layout_query "+layout+", layout_kv "+of)
	mode, size := k.int("sparse_mode", 3), k.int("sparse_block_size", 1)
	refuseIf(mode != 0 && mode != 3, Unsupported, "sparse_mode "+itoa(int(mode)))
	refuseIf(!within(size, 1, 1<<16), BadArgument, "sparse_block_size", size, "a positive number")
	rank := len(query.shape)
	refuseIf(rank != len(layout) || len(idx.shape) != rank || !slices.Equal(idx.shape[:rank-2], query.shape[:rank-2]), ShapesDiffer, query.shape, idx.shape)
	refuseIf(count(idx.shape) > maxDense, TooLarge, count(idx.shape), maxDense)
	t, s = k.with(map[string]*argument{"sparse_mode": intArgument(mode)}).kernelAttention(layout, query.shape[rank-2], k.int("key_value_head_num", 1), "pre_tokens", "next_tokens")
	t.p = precisionFor(query.numeric()) // that of P, whichever output a kernel has first
	width := idx.shape[rank-1]
	blocks := make([]map[int64]bool, count(idx.shape)/max(width, 1))
	last := (t.most + size - 1) / size
	refuseIf(idx.shape[rank-2] != s.k.heads, ShapesDiffer, query.shape, idx.shape)
	for i, at := range ints(idx) {
		// What stands behind the first negative entry is padding and is not looked at.
		set := &blocks[int64(i)/width]
		if *set == nil {
			*set = map[int64]bool{}
		}
		refuseIf(at >= last, OutsideCache, "sparse_indices", at, last)
		if (*set)[-1] = (*set)[-1] || at < 0; !(*set)[-1] {
			refuseIf((*set)[at], Unsupported, "a block that is chosen twice")
			(*set)[at] = true
		}
	}
	behind := t.hidden
	t.hidden = func(a attended, c int64) bool {
		row := a.batch*s.q.length + a.row
		if s.q.packed {
			row = s.starts[a.batch] + a.row
		}
		return !blocks[row*s.k.heads+a.head/(s.q.heads/s.k.heads)][c/size] || behind != nil && behind(a, c)
	}
	return t, s
}

// sparseGradients are those of queries, keys and values, and of what of the first two is turned, of
// selected attention.
func sparseGradients(k *invocation) []Reading {
	c := k
	if k.has("layout") {
		c = k.with(map[string]*argument{"layout_query": k.args["layout"], "layout_kv": k.args["layout"]})
	}
	t, _ := c.selectedAttention()
	return outputs(k.attentionGradients(t)...)
}

// attentionGradients are the outputs of a kernel that are the gradients of attention.
func (k *invocation) attentionGradients(t *attention) (out []Values) {
	t.p = precisionFor(k.tensor("query").numeric())
	t.gave(k.optional("attention_in"))
	of, ropes := t.backOf(k.tensor("grad")), []Values(nil)
	for i, name := range []string{"query", "key", "value"} {
		v, o := of(i)(), k.tensor(name)
		if r := k.optional(name + "_rope"); r != nil {
			last, n := len(v.Shape())-1, o.shape[len(o.shape)-1]
			ropes = append(ropes, sized(slab1(v, last, n, v.Shape()[last]-n), r.shape))
			v = slab1(v, last, 0, n)
		}
		out = append(out, sized(v, o.shape))
	}
	return append(out, ropes...)
}

// blockAttention looks from blocks of queries at those blocks of keys that a mask (B, N, blocks,
// blocks) lets it see (documentation of npu_block_sparse_attention).
func (k *invocation) blockAttention() (*attention, sequences) {
	layout, size, mask := k.string("layout_query", "TND"), k.ints("block_shape"), k.tensor("block_sparse_mask")
	query := k.tensor("query")
	k.required("scale")
	refuseIf(layout != k.string("layout_kv", "TND") || layout != "TND" && layout != "BNSD" || len(query.shape) != len(layout), Unsupported, "q_input_layout "+layout)
	t, s := k.kernelAttention(layout, query.shape[1], k.int("num_key_value_heads", 1), "", "")
	rows := slices.Max(append(slices.Clone(s.queues), 0))
	refuseIf(len(size) < 2 || size[0] < 1 || size[1] < 1 || len(mask.shape) != 4 || mask.shape[0] != s.q.batches || mask.shape[1] != s.q.heads ||
		mask.shape[2]*size[0] < rows || mask.shape[3]*size[1] < t.most, ShapesDiffer, mask.shape, size)
	d := held(mask)
	t.hidden = func(a attended, c int64) bool {
		return d.y[((a.batch*s.q.heads+a.head)*mask.shape[2]+a.row/size[0])*mask.shape[3]+c/size[1]] == 0
	}
	return t, s
}

// ringAttention puts together what the same queries give on two parts of the keys: of each row of
// scores the largest is m and the sum of exponentials s, so that a part counts s·exp(m - M) with M
// the larger m (MindSpeed's docs/ops/npu_ring_attention_update.md). The numbers of a row stand
// eight times in its last axis.
func ringAttention(k *invocation) []Reading {
	out, next := k.pair("prev_attn_out", "cur_attn_out")
	m, n := k.pair("prev_softmax_max", "cur_softmax_max")
	s, t := k.pair("prev_softmax_sum", "cur_softmax_sum")
	for _, o := range []*operand{n, s, t} {
		refuseIf(!slices.Equal(o.shape, m.shape), ShapesDiffer, m.shape, o.shape)
	}
	refuseIf(!slices.Equal(out.shape, next.shape) || len(out.shape) != 3 || slices.Contains(m.shape, 0), ShapesDiffer, out.shape, next.shape)
	const first, second = "s*exp(m-max(m,n))", "t*exp(n-max(m,n))"
	const sum = first + "+" + second
	rows := []Values{m, n, s, t} // with an axis of one number for each row
	last := len(m.shape) - 1
	for i, v := range rows {
		rows[i] = slab1(v, last, 0, 1)
	}
	var heads []int64
	layout := k.string("input_layout", "SBH")
	if of := k.string("input_softmax_layout", ""); of != "" && of != layout {
		panic(refusal(Unsupported, "input_softmax_layout "+of))
	}
	switch {
	case layout == "SBH" && last == 3: // (b, n, s, 8)
		b, n, s := m.shape[0], m.shape[1], m.shape[2]
		refuseIf(out.shape[0] != s || out.shape[1] != b || out.shape[2]%n != 0, ShapesDiffer, out.shape, m.shape)
		heads = []int64{s, b, n, out.shape[2] / n}
		for i, v := range rows {
			rows[i] = transpose(v, []int{2, 0, 1, 3})
		}
	case layout == "TND" && last == 2: // (t, n, 8)
		refuseIf(!slices.Equal(out.shape[:2], m.shape[:2]), ShapesDiffer, out.shape, m.shape)
		heads = out.shape
	default:
		panic(refusal(Unsupported, "layout "+layout))
	}
	y := k.computed("o,p,m,n,s,t)=o*("+first+"/("+sum+"))+p*("+second+"/("+sum+"))", append([]Values{reshape(out, heads), reshape(next, heads)}, rows...)...)
	return outputs(reshape(y, out.shape), k.computed("m,n)=max(m,n)", m, n), k.computed("m,n,s,t)="+sum, m, n, s, t))
}

// dotProduct is the attention of scaled_dot_product_attention.
// torch.nn.functional.scaled_dot_product_attention: query (…, L, E), key (…, S, E), value (…, S,
// Ev); with enable_gqa a head of keys serves Hq/H heads of queries. is_causal hides keys behind the
// place of the query, both counted from the first.
func (k *invocation) dotProduct() *attention {
	q, key := k.factors("query", "key")
	v := k.factored("value")
	k.required("value")
	p := k.float("dropout_p", 0)
	refuseIf(p != 0, Random, "dropout_p")
	grouped := k.bool("enable_gqa", false)
	t := k.newAttention(q, key, v, grouped)
	t.scaledBy(k)
	if mask := k.optional("attn_mask"); mask != nil {
		t.masked(mask, mask.shape, false)
	}
	if k.bool("is_causal", false) {
		t.hidden = func(a attended, c int64) bool { return c > a.row }
	}
	// Of a row with nothing in it kernels make NaN or 0.
	t.zero = false
	return t
}

// multiHead is multi_head_attention_forward: what goes in and comes out is projected, each step
// rounded to the type of the result, and beside it the probabilities are handed out, each or their
// mean over the heads. Rows are (length, batch, width).
func multiHead(k *invocation) []Reading {
	k.unsupported("bias_k", "bias_v", "static_k", "static_v")
	refuseIf(k.bool("add_zero_attn", false), Unsupported, "add_zero_attn")
	refuseIf(k.bool("training", true) && k.float("dropout_p", 0) != 0, Random, "dropout_p")
	// x·wᵀ + bias, rounded to the type of the result
	linear := func(x, w, bias Values) Values {
		s, of := x.Shape(), w.Shape()
		n := len(s) - 1
		refuseIf(len(of) != 2 || s[n] != of[1] || s[n] == 0, ShapesDiffer, s, of)
		v := k.product(reshape(x, []int64{count(s) / s[n], s[n]}), turned(w, true))
		return held(reshape(k.between(k.plus(v, bias)), append(slices.Clone(s[:n]), of[0])))
	}
	heads, batched := k.int("num_heads", 1), true
	var width int64
	// (L, B, E) → (B, heads, L, E/heads), by the i-th third of in_proj_weight (3E, E) or a weight
	// of its own.
	project := func(i int64, name string) Values {
		var x, w, bias Values = k.tensor(name), nil, k.ifGiven("in_proj_bias")
		if batched = len(x.Shape()) == 3; !batched {
			refuseIf(len(x.Shape()) != 2, ShapesDiffer, x.Shape())
			x = reshape(x, []int64{x.Shape()[0], 1, x.Shape()[1]})
		}
		if i == 0 {
			width = x.Shape()[2]
		}
		if k.bool("use_separate_proj_weight", false) {
			w = k.tensor([]string{"q_proj_weight", "k_proj_weight", "v_proj_weight"}[i])
		} else {
			all := k.tensor("in_proj_weight")
			refuseIf(len(all.shape) != 2 || all.shape[0] != 3*width, ShapesDiffer, all.shape, x.Shape())
			w = slab1(all, 0, i*width, width)
		}
		if bias != nil {
			refuseIf(len(bias.Shape()) != 1 || bias.Shape()[0] != 3*width, ShapesDiffer, bias.Shape())
			bias = slab1(bias, 0, i*width, width)
		}
		v := linear(x, w, bias)
		s := v.Shape()
		refuseIf(heads <= 0 || s[2]%heads != 0, BadArgument, "num_heads", heads, "a part of "+itoa(int(s[2])))
		return transpose(reshape(v, []int64{s[0], s[1], heads, s[2] / heads}), []int{1, 2, 0, 3})
	}
	t := k.newAttention(project(0, "query"), project(1, "key"), project(2, "value"), false)
	batch, rows := t.shape[0], t.shape[2]
	refuseIf(float64(count(t.shape))*float64(t.most) > mostMultiplied, TooLarge, count(t.shape)*t.most, int64(mostMultiplied))
	for _, name := range []string{"attn_mask", "key_padding_mask"} {
		o := k.optional(name)
		if o == nil {
			continue
		}
		// key_padding_mask is (B, S), attn_mask (L, S) or (B·heads, L, S).
		as := []int64{batch, heads, rows, t.most}
		if name == "key_padding_mask" {
			as[1], as[2] = 1, 1
		} else if len(o.shape) == 2 {
			as = as[2:]
		}
		n := len(o.shape)
		refuseIf(count(o.shape) != count(as) || name == "attn_mask" && (n < 2 || n > 3 || o.shape[n-2] != rows), ShapesDiffer, o.shape, t.shape)
		t.masked(o, as, true)
	}
	each := !k.bool("average_attn_weights", true)
	return t.forms(func(t *attention) []Values {
		y := linear(reshape(transpose(held(k.between(t)), []int{2, 0, 1, 3}), []int64{rows, batch, heads * t.ev}), k.tensor("out_proj_weight"), k.ifGiven("out_proj_bias"))
		// Each head's probabilities, or their mean: a sum of as many terms as heads, of which each
		// is within its own bound.
		shape := []int64{batch, heads, rows, t.most}
		if !each {
			shape = []int64{batch, rows, t.most}
		}
		p := bounded(shape...)
		for r := range batch * heads * rows {
			a := t.at(r)
			t.row(a)
			to, share := r*t.most, 1.0
			if !each {
				to, share = (a.batch/heads*rows+a.row)*t.most, 1/float64(heads)
			}
			for c, v := range t.pr[:t.most] {
				p.y[to+int64(c)] += v * share
				p.b[to+int64(c)] += (t.pb[c] + gamma(float64(heads)+1, t.sumUnit)*v) * share
			}
		}
		if !batched {
			y, p.shape = reshape(y, []int64{rows, y.Shape()[2]}), shape[1:]
		}
		return []Values{y, k.between(p)}
	})
}

// dotProductGradients: with P the probabilities and dP = dO·Vᵀ, dV = Pᵀ·dO,
// dS = P∘(dP - rows of Σ P∘dP), dQ = dS·K·scale and dK = dSᵀ·Q·scale. Kernels take the sum of a row
// as Σ dO∘O, of the rounded result, and round P and dS to the type of the operands.
func dotProductGradients(k *invocation, g []Values) gradients {
	t, d := k.dotProduct(), gradient(g, 0)
	t.p, t.late = precisionFor(k.working()), k.loose != strict
	of := t.backOf(d)
	return gradients{"query": of(0), "key": of(1), "value": of(2), "grad": func() Values { return d }}
}

// gave tells the result that the gradients go by, where one was kept.
func (t *attention) gave(o *operand) {
	if o != nil {
		refuseIf(!sameCount(o.shape, t.shape), ShapesDiffer, o.shape, t.shape)
		t.out = held(o)
	}
}

// backOf gives the gradients of q, k and v from that of the result. They are computed together, in
// one walk over the rows, which is refused where these look at too many keys.
func (t *attention) backOf(d Values) func(i int) func() Values {
	refuseIf(!sameCount(d.Shape(), t.shape), ShapesDiffer, d.Shape(), t.shape)
	rows, work := count(t.shape)/max(t.ev, 1), int64(0)
	for r := range rows {
		work += t.at(r).s * (t.e + t.ev)
	}
	refuseIf(float64(work) > mostMultiplied, TooLarge, work, int64(mostMultiplied))
	all := sync.OnceValue(func() [3]*dense {
		dq, dk, dv := t.gradients(held(d).y, rows)
		return [3]*dense{dq, dk, dv}
	})
	return func(i int) func() Values { return func() Values { return all()[i] } }
}

// gradients are those of q, k and v from that of the result. do has rows of ev elements. dv[c] +=
// p_c·do; dp_c = do·v_c; ds_c = p_c·(dp_c − Σ p·dp)·scale; dq += ds_c·k_c; dk[c] += ds_c·q. Beside
// each sum go the magnitudes of its terms (sizeQ, sizeK, sizeV) and, for keys, their number, which
// gamma needs: a key of grouped heads has the rows of several.
func (t *attention) gradients(do []float64, rows int64) (dq, dk, dv *dense) {
	dq, dk, dv = bounded(t.q.shape...), bounded(t.k.shape...), bounded(t.v.shape...)
	sizeK, sizeV, terms := make([]float64, len(dk.y)), make([]float64, len(dv.y)), make([]float64, len(t.k.y)/int(t.e))
	narrow := 0.0
	if t.p.v > u32 {
		narrow = t.p.v
	}
	dp := make([]num, t.most)
	sizeQ := make([]float64, t.e)
	for r := range rows {
		at := t.at(r)
		if at.q < 0 {
			continue
		}
		t.row(at)
		g, o := do[r*t.ev:][:t.ev], t.y
		sum, size := num{}, 0.0
		if t.saved != nil {
			// p by the statistics of more keys: e^(x − largest)/all is p times Σ·e^(max −
			// largest)/all.
			largest, all := t.saved(at)
			f := t.sum.y * math.Exp(t.largest.y-largest) / all
			part := num{f, f * (t.largest.b + t.sum.b/t.sum.y + t.a.ulps*(2+abs(largest)))}
			for c := range t.pr {
				p := t.a.mul(num{t.pr[c], t.pb[c]}, part)
				t.pr[c], t.pb[c] = p.y, p.b
			}
			t.held = attended{q: -1}
		}
		for c := range at.s {
			v, abss := 0.0, 0.0
			key := t.key(at, c)
			terms[key]++
			for j, x := range g {
				w := t.v.y[key*t.ev+int64(j)]
				v += x * w
				abss += abs(x * w)
			}
			dp[c] = num{v, gamma(float64(t.ev)+2, t.sumUnit) * abss}
			if t.late {
				dp[c].b += narrow * abs(v)
			}
			sum.y += t.pr[c] * v
			sum.b += t.pb[c]*abs(v) + (t.pr[c]+t.pb[c])*dp[c].b
			size += abs(t.pr[c] * v)
		}
		// Σ p·dp = do·o, with o of all keys.
		if t.out != nil {
			sum, size = num{}, 0
			for j, x := range g {
				sum.y += x * t.out.y[r*t.ev+int64(j)]
				size += abs(x * t.out.y[r*t.ev+int64(j)])
			}
		}
		sum.b += gamma(float64(t.most+t.ev)+4, t.sumUnit) * size
		for j, x := range g {
			if t.out == nil {
				sum.b += abs(x) * (narrow*abs(o[j]) + t.b[j])
			}
		}
		row := dq.y[at.q*t.e:][:t.e]
		clear(sizeQ)
		for c := range at.s {
			p := num{t.pr[c], t.pb[c]}
			ds := t.a.mul(p, t.a.sub(dp[c], sum))
			ds.b += narrow * (abs(ds.y) + ds.b)
			ds = t.a.mul(ds, t.scale)
			if t.late {
				ds.b += narrow * (abs(ds.y) + ds.b)
			}
			key := t.key(at, c)
			for i := range t.e {
				x, q := t.k.y[key*t.e+i], t.q.y[at.q*t.e+i]
				row[i] += ds.y * x
				dq.b[at.q*t.e+i] += ds.b * abs(x)
				sizeQ[i] += abs(ds.y*x) + ds.b*abs(x)
				dk.y[key*t.e+i] += ds.y * q
				dk.b[key*t.e+i] += ds.b * abs(q)
				sizeK[key*t.e+i] += abs(ds.y*q) + ds.b*abs(q)
			}
			for j, x := range g {
				to := key*t.ev + int64(j)
				dv.y[to] += p.y * x
				dv.b[to] += p.b * abs(x)
				sizeV[to] += abs(p.y*x) + p.b*abs(x)
			}
		}
		for i := range t.e {
			dq.b[at.q*t.e+i] += gamma(float64(t.most)+4, t.sumUnit) * sizeQ[i]
		}
	}
	for i := range dk.b {
		dk.b[i] += gamma(terms[i/int(t.e)]+4, t.sumUnit) * sizeK[i]
	}
	for i := range dv.b {
		dv.b[i] += gamma(terms[i/int(t.ev)]+4, t.sumUnit) * sizeV[i]
	}
	for _, v := range []*dense{dq, dk, dv} { // of 0 times what is not known
		for i, b := range v.b {
			if math.IsNaN(b) {
				v.b[i] = math.Inf(1)
			}
		}
	}
	return dq, dk, dv
}

// forms are the attention in float32 throughout and with roundings on the way.
func (t *attention) forms(of func(t *attention) []Values) []Reading {
	late := *t
	late.late, late.x, late.ex, late.pr, late.pb, late.y, late.b, late.size = true, nil, nil, nil, nil, nil, nil, nil
	out := outputs(of(t)...)
	if t.p.v > u32 {
		out[0].Name = "fused"
		out = append(out, Reading{Name: "rounded-scores", Out: of(&late)})
	}
	return out
}

// Attention of fused kernels, over all layouts: which row of a tensor is the query, key or value of
// a head at a place (documentation of npu_fusion_attention, npu_fused_infer_attention_score,
// npu_prompt_flash_attention and npu_incre_flash_attention in op-plugin).

// kernelAttention is attention over the layouts of headsOf, with so many heads of q and few of keys
// and values, or with few 0 as many of these as their shapes say, if heads lie in one axis, else as
// of q; of atten_mask what is not 0 is left out. Without a mask sparse_mode 0 does not look at the
// tokens before and after. A scale that is not given is 1, as op-plugin documents it. before and
// after are the names of pre_tokens and next_tokens, which the kernels spell in two ways. A row
// with no key is 0.
func (k *invocation) kernelAttention(layout string, heads, few int64, before, after string) (t *attention, s sequences) {
	s = k.sequencesOf(layout, heads, few)
	t = k.blankAttention()
	t.shape = s.out.v.Shape()
	t.most = slices.Max(append(slices.Clone(s.keys), 0))
	t.hold(s.q.v, s.k.v, s.v.v)
	t.scale, t.zero = exactNum(1), true
	t.scaledBy(k)
	// places of the result's rows, by their number
	places := s.placesOf(s.out)
	t.at = func(r int64) attended { return s.rowOf(places(r)) }
	per := heads / s.k.heads
	t.key = func(a attended, c int64) int64 {
		if s.k.packed {
			return s.k.row(0, a.head/per, s.from[a.batch]+c)
		}
		return s.k.row(a.batch, a.head/per, c)
	}
	if sink := k.optional("sink"); sink != nil {
		refuseIf(count(sink.shape) != heads, ShapesDiffer, sink.shape, []int64{heads})
		t.sink = held(sink)
	}
	k.hide(t, s, before, after)
	return t, s
}

// hide takes the mask and the modes that hide by themselves: 2 what comes behind a row counted from
// the first key on, 3 from the last one, 4 what lies beyond a band around the latter. pre and next
// are how many keys before and behind are seen, counted from the query's own place, in mode 4 from
// the place that its last key gives it. In modes 2 to 4 the mask is a triangle of 2048 rows that
// kernels move: its corner must say so.
func (k *invocation) hide(t *attention, s sequences, before, after string) {
	const far = math.MaxInt32
	mode, mask := k.int("sparse_mode", 0), k.optional("atten_mask")
	reach := func(name string) int64 { // which sparse kernels have as 2^63-1 for all
		if x, ok := k.args[name].number(); ok && x > far {
			return far
		}
		return k.int(name, far)
	}
	pre, next := reach(before), reach(after)
	behind := func(a attended, c int64) bool { return c > a.row+next || c < a.row-pre }
	switch {
	case mode < 0 || mode > 4:
		panic(refusal(Unsupported, "sparse_mode "+itoa(int(mode))))
	case mode >= 2:
		if mask != nil { // a triangle, which the kernels move over the scores
			n := len(mask.shape)
			refuseIf(n < 2 || count(mask.shape) == 0, ShapesDiffer, mask.shape)
			var corner [2]float64
			w := mask.shape[n-1]
			mask.At([]int64{0, min(1, w-1)}, corner[:], nil)
			refuseIf(corner[0] != 0 || w > 1 && corner[1] == 0, Unsupported, "a mask of sparse_mode "+itoa(int(mode))+" that is no upper triangle")
		}
		switch mode {
		case 2:
			t.hidden = func(a attended, c int64) bool { return c > a.row }
		case 3:
			t.hidden = func(a attended, c int64) bool { return c > a.row+a.s-a.l }
		case 4:
			t.hidden = func(a attended, c int64) bool { return c > a.row+a.s-a.l+next || c < a.row+a.s-a.l-pre }
		}
	case mask != nil:
		at, d := maskPlaces(mask, s, t.most), held(mask)
		t.hidden = func(a attended, c int64) bool { return d.y[at(a, c)] != 0 }
		if mode == 0 && (pre < s.q.length || next < t.most) { // the mask has to say so, too
			t.doubtful = func(a attended, c int64) bool { return behind(a, c) && !t.hidden(a, c) }
		}
	}
}

// maskPlaces finds the elements of a mask (S, Skv), (B or 1, S, Skv), (B or 1, N or 1, S, Skv), or
// of one query (B, Skv).
func maskPlaces(mask *operand, s sequences, most int64) func(a attended, c int64) int64 {
	shape := slices.Clone(mask.shape)
	if n := len(shape); n == 2 && s.q.length == 1 && shape[0] == s.q.batches && s.q.batches > 1 {
		shape = []int64{shape[0], 1, 1, shape[1]}
	} else if n == 3 {
		shape = []int64{shape[0], 1, shape[1], shape[2]}
	}
	for len(shape) < 4 {
		shape = append([]int64{1}, shape...)
	}
	rows := slices.Max(append(slices.Clone(s.queues), 0))
	refuseIf(len(shape) > 4 || shape[0] != 1 && shape[0] < s.q.batches || shape[1] != 1 && shape[1] != s.q.heads ||
		shape[2] != 1 && shape[2] < rows || shape[2] == 1 && rows > 1 || shape[3] < most, ShapesDiffer, mask.shape)
	steps := rowMajor(shape)
	for i, n := range shape {
		if n == 1 {
			steps[i] = 0
		}
	}
	return func(a attended, c int64) int64 {
		return a.batch*steps[0] + a.head*steps[1] + a.row*steps[2] + c*steps[3]
	}
}

// biased takes what is added to the scores of all (B or 1, N, S, Skv) places.
// Positional encodings of packed sequences are of other shapes and refused.
func (k *invocation) biased(name string, s sequences, most int64) func(a attended, c int64) float64 {
	o := k.optional(name)
	if o == nil {
		return nil
	}
	refuseIf(len(o.shape) != 4 || s.q.packed, Unsupported, k.shown(name)+" "+shapeText(o.shape))
	at, d := maskPlaces(o, s, most), held(o)
	return func(a attended, c int64) float64 { return d.y[at(a, c)] }
}

// fusionAttention is npu_fusion_attention (torch_npu): softmax and scores are float32 and the
// probabilities are rounded to the type of the inputs (ops-transformer
// attention/flash_attention_score). Its further outputs are the largest score of each row and the
// sum of the exponentials, eight times each; of packed sequences the heads come first in these, if
// nothing else is said.
func fusionAttention(k *invocation) (out []Reading) {
	t, s, orders := k.fusedAttention()
	for _, order := range orders {
		r := Reading{Name: order, Out: []Values{t}}
		for i, of := range []func() num{func() num { return t.largest }, func() num { return t.sum }} {
			r.Out = append(r.Out, t.perRow(k, s, order, i+1, of))
		}
		out = append(out, r)
	}
	return out
}

// fusedAttention is the attention with the orders that its statistics may have. pse is added to
// q·kᵀ before the scale (pse_type 1). Of packed sequences documents leave open whether statistics
// are (N, T) or (T, N), so that both are readings, unless softmax_layout says it.
func (k *invocation) fusedAttention() (t *attention, s sequences, orders []string) {
	refuseIf(k.float("keep_prob", 1) != 1, Random, "keep_prob")
	k.unsupported("padding_mask", "prefix")
	refuseIf(k.has("pse") && k.int("pse_type", 1) != 1, Unsupported, "pse_type") // 0 adds it behind the scale, 2 and 3 make it of slopes
	k.required("head_num", "input_layout")
	t, s = k.kernelAttention(k.string("input_layout", ""), k.int("head_num", 0), 0, "pre_tockens", "next_tockens")
	t.before = k.biased("pse", s, t.most)
	switch {
	case !s.q.packed:
		return t, s, []string{"BNS"}
	case k.string("softmax_layout", "") == "TND":
		return t, s, []string{"TN"}
	}
	return t, s, []string{"NT", "TN"}
}

// fusionGradients are those of queries, keys and values. npu_fusion_attention_grad may be given the
// statistics and the result, which in a ring of ranks are of more keys than its own: the
// probabilities are by these, then (MindSpeed's ring attention).
func fusionGradients(k *invocation, g []Values) gradients {
	whole, s, orders := k.fusedAttention()
	whole.p = precisionFor(k.tensor("key").numeric())
	d, all := gradient(g, 0), gradients{}
	for i, order := range orders {
		t := *whole
		if k.has("softmax_max") {
			largest, sum := k.pair("softmax_max", "softmax_sum")
			h := s.statistics(order)
			per := count(largest.shape) / max(h.heads*h.length*h.batches, 1)
			refuseIf(per < 1 || per*h.heads*h.length*h.batches != count(largest.shape) || !sameCount(largest.shape, sum.shape), ShapesDiffer, largest.shape, sum.shape)
			m, n := numbers(largest), numbers(sum)
			t.saved = func(a attended) (float64, float64) {
				i := a.row
				if h.packed {
					i += s.starts[a.batch]
				}
				at := h.row(a.batch, a.head, i) * per
				return m[at], n[at]
			}
			t.gave(k.optional("attention_in"))
		} else if i > 0 {
			break
		} else if len(k.results) > 0 { // what was kept for going backward
			t.gave(k.result(0))
		}
		of := t.backOf(d)
		for i, name := range []string{"query", "key", "value"} {
			shape := k.tensor(name).shape
			all[name+other(len(all)/3)] = func() Values { v := of(i)(); return sized(v, shape) }
		}
	}
	return all
}

// perRow is a statistic of every row in an order of axes, as often as the recorded output has it;
// nil where that has another size.
func (t *attention) perRow(k *invocation, s sequences, order string, output int, of func() num) Values {
	shape, ok := k.out(output)
	h := s.statistics(order)
	rows := h.heads * h.length * h.batches
	if !ok || rows == 0 || count(shape) == 0 || count(shape)%rows != 0 {
		return nil
	}
	times := count(shape) / rows
	places := s.placesOf(h)
	return t.statistic(shape, func(i int64) attended { return s.rowOf(places(i / times)) }, of)
}

// inferenceAttention is attention without gradients. Scores and softmax are float32 and the
// probabilities are rounded to the type of the keys; with inner_precise 1 scores and softmax may be
// float16 (ops-transformer attention/prompt_flash_attention).
func inferenceAttention(k *invocation) (readings []Reading) {
	k.unsupported("padding_mask")
	k.only(0, "antiquant_mode", "query_quant_mode")
	heads, few := k.int("num_heads", 1), k.int("num_key_value_heads", 0)
	if few == 0 {
		few = heads
	}
	refuseIf(few < 1, BadArgument, "num_key_value_heads", few, "a positive number")
	layout := "BSH"
	if k.name == "_npu_paged_attention" || k.name == "npu_paged_attention" {
		layout = "TND"
	}
	t, s := k.kernelAttention(k.string("input_layout", layout), heads, few, "pre_tokens", "next_tokens")
	if t.added = k.biased("pse_shift", s, t.most); k.has("mask") { // added to the scores of each sequence (test of _npu_flash_attention)
		mask := k.tensor("mask")
		refuseIf(len(mask.shape) != 2 || mask.shape[0] < slices.Max(append(slices.Clone(s.queues), 0)) || mask.shape[1] < t.most, ShapesDiffer, mask.shape, s.queues)
		d, wide := held(mask), mask.shape[1]
		t.added = func(a attended, c int64) float64 { return d.y[a.row*wide+c] }
	}
	of := func(t *attention) []Values {
		out := []Values{t, nil}
		if shape, ok := k.out(1); ok && count(shape) == 1 && !k.bool("softmax_lse_flag", false) {
			out[1] = reshape(scalar(0), shape)
		} else if k.bool("softmax_lse_flag", false) && t.sink == nil {
			order := "BNS"
			if s.q.packed {
				order = "TN"
			}
			out[1] = t.perRow(k, s, order, 1, func() num { return t.log })
		}
		return out
	}
	missing := int64(1) // of npu_incre_flash_attention; npu_prompt_flash_attention does not say it
	if strings.HasPrefix(k.name, "npu_fused_infer") {
		missing = 0
	}
	all := []*attention{t}
	if k.has("key_antiquant_scale") || k.has("value_antiquant_scale") { // what was in steps may be rounded to the type of the queries, or not
		u, p := *t, precisionFor(k.tensor("query").numeric())
		u.k, u.v = held(roundedTo(p, t.k)), held(roundedTo(p, t.v))
		all = append(all, &u)
	}
	for _, t := range all {
		forms := t.forms(of)
		if k.tensor("query").typ != dtype.Float16 || k.int("inner_precise", missing) != 1 {
			forms = forms[:1] // only float16 is computed with throughout
		}
		readings = append(readings, forms...)
	}
	return readings
}

// lightningIndexer: the places of the largest Σ w·relu(q·k) over the heads, for each query
// (ops-transformer attention/ lightning_indexer). In which order they stand is not held against it,
// nor which of near equals was taken.
func lightningIndexer(k *invocation) []Reading {
	query, weights := k.pair("query", "weights")
	mode := k.int("sparse_mode", 3)
	refuseIf(mode != 0 && mode != 3, Unsupported, "sparse_mode")
	layout, of := k.string("layout_query", "BSND"), k.string("layout_key", "BSND")
	q := headsOf(query, layout, 0)
	s := sequences{q: q}
	s.lengths = k.lengthsOf("actual_seq_lengths_query", q.packed)
	keys := k.lengthsOf("actual_seq_lengths_key", of == "TND")
	if q.packed {
		k.required("actual_seq_lengths_query")
		s.q.batches = int64(len(s.lengths))
	} else if s.lengths == nil {
		s.lengths = repeated(int(q.batches), q.length)
	}
	refuseIf(int64(len(s.lengths)) != s.q.batches, ShapesDiffer, query.shape, s.lengths)
	var key headed
	if table := k.optional("block_table"); table != nil {
		k.required("actual_seq_lengths_key")
		refuseIf(int64(len(keys)) != s.q.batches, ShapesDiffer, query.shape, keys)
		o := k.tensor("key")
		refuseIf(len(o.shape) != 4, ShapesDiffer, o.shape)
		key = k.pagesOf(o, table, o.shape[2], o.shape[1], keys)
	} else {
		refuseIf(of != "BSND" && of != "TND", Unsupported, "layout_key "+of)
		key = headsOf(k.tensor("key"), of, 1)
		if keys == nil {
			keys = repeated(int(s.q.batches), key.length)
		}
	}
	refuseIf(int64(len(keys)) != s.q.batches || key.heads != 1, ShapesDiffer, query.shape, keys)
	s.keys = keys
	s.starts = make([]int64, s.q.batches)
	from := make([]int64, s.q.batches)
	for b := 1; b < len(s.starts); b++ {
		s.starts[b], from[b] = s.starts[b-1]+s.lengths[b-1], from[b-1]+keys[b-1]
	}
	dq, dk := held(q.v), held(key.v)
	e := dq.shape[len(dq.shape)-1]
	refuseIf(dk.shape[len(dk.shape)-1] != e || e == 0, ShapesDiffer, dq.shape, dk.shape)
	refuseIf(count(weights.shape) != count(query.shape)/e, ShapesDiffer, weights.shape, query.shape)
	w := slices.Clone(numbers(weights))
	loose, scales := 0.0, []float64(nil) // of queries and keys in steps, whose scores kernels round to float16 on the way
	if k.has("query_dequant_scale") {
		k.only(0, "query_quant_mode", "key_quant_mode")
		o := k.tensor("key_dequant_scale")
		by := numbers(k.tensor("query_dequant_scale"))
		refuseIf(len(by) != len(w) || count(o.shape) != count(k.tensor("key").shape)/e, ShapesDiffer, weights.shape, o.shape)
		for i, x := range by {
			w[i] *= x
		}
		if loose = 0x1p-9; k.has("block_table") {
			shape := slices.Clone(k.tensor("key").shape)
			shape[3] = 1
			scales = numbers(k.pagesOf(o.shaped(shape), k.tensor("block_table"), 1, shape[1], keys).v)
		} else {
			scales = numbers(o)
		}
	}
	for b, n := range keys {
		refuseIf(n < 0 || key.packed && from[b]+n > key.length || !key.packed && n > key.length && k.optional("block_table") == nil, BadArgument, "actual_seq_lengths_key", n, "keys")
		refuseIf(!q.packed && s.lengths[b] > q.length || q.packed && s.starts[b]+s.lengths[b] > q.length, BadArgument, "actual_seq_lengths_query", s.lengths[b], "queries")
	}
	shape := k.shape()
	rows := count(query.shape) / e / max(q.heads, 1)
	refuseIf(rows == 0 || count(shape)%rows != 0 || len(k.outs) == 0 || k.outs[0] == nil, ShapesDiffer, shape, query.shape)
	most := count(shape) / rows
	found := numbers(k.outs[0])
	// A dot product of e terms, the relu, a weight, and a sum over the heads.
	g := gamma(float64(e+q.heads)+6, k.sumUnit())
	want := &dense{shape: shape, y: slices.Clone(found), b: make([]float64, len(found)), exact: true}
	refuseIf(float64(rows)*float64(slices.Max(append(slices.Clone(keys), 0)))*float64(e*q.heads) > mostMultiplied, TooLarge, rows, int64(mostMultiplied))
	places := func(r int64) (b, i int64) {
		if q.packed {
			return 0, r
		}
		return r / q.length, r % q.length
	}
	for r := range rows {
		b, i := places(r)
		a := s.rowOf(b, 0, i)
		out, was, off := want.y[r*most:][:most], found[r*most:][:most], want.b[r*most:][:most]
		if a.q < 0 {
			for j := range off {
				off[j] = math.Inf(1)
			}
			continue
		}
		seen := a.s
		// Causal from the right: query i of l sees the first s − l + i + 1 of s keys.
		if mode == 3 {
			seen = min(a.s, max(a.row+a.s-a.l+1, 0))
		}
		score, slack := make([]float64, seen), make([]float64, seen)
		for c := range seen {
			kr := key.row(a.batch, 0, c)
			if key.packed {
				kr = key.row(0, 0, from[a.batch]+c)
			}
			for h := range q.heads {
				qr := q.row(a.batch, h, a.row)
				if q.packed {
					qr = q.row(0, h, s.starts[a.batch]+a.row)
				}
				sum, size := 0.0, 0.0
				for x := range e {
					p := dq.y[qr*e+x] * dk.y[kr*e+x]
					sum += p
					size += abs(p)
				}
				weight := w[qr]
				score[c] += weight * max(sum, 0)
				slack[c] += abs(weight) * (g*size + loose*abs(sum))
			}
			if scales != nil {
				score[c] *= scales[kr]
				slack[c] = slack[c]*abs(scales[kr]) + loose*abs(score[c])
			}
		}
		order := inOrder(int(seen))
		sortBy(order, score, -1)
		take := int(min(most, seen))
		taken := map[float64]bool{}
		free := 0 // the next of the order that is not among what was taken
		all := map[float64]bool{}
		for _, x := range was[:take] {
			all[x] = true
		}
		for j := range out {
			if j >= take {
				if out[j] = -1; int64(j) < a.s { // what a query must not see may stand there
					off[j] = math.Inf(1)
				}
				continue
			}
			x := was[j]
			ok := x == math.Trunc(x) && x >= 0 && x < float64(seen) && !taken[x]
			if ok {
				last := order[take-1]
				// What was taken stands if it may be among the best, given what both scores may be
				// off.
				ok = score[int(x)]+slack[int(x)] >= score[last]-slack[last]
			}
			if taken[x] = true; ok {
				continue
			}
			for free < take-1 && all[float64(order[free])] {
				free++
			}
			out[j] = float64(order[free])
			if out[j] == x { // it was taken twice
				out[j] = -1
			}
			free = min(free+1, take-1)
		}
	}
	return outputs(want, nil)
}
