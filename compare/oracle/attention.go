package oracle

import (
	"math"
	"slices"

	"precision/dump/dtype"
)

// attention is softmax(q·kᵀ·scale + mask)·v, row by row. Scores and probabilities may
// be rounded to the type of the result on the way (late), or stay in float32 as in
// fused kernels, but for the probabilities, which fused kernels multiply in the type of
// v, too.
type attention struct {
	shape     []int64 // (…, L, Ev)
	q, k, v   *dense  // (batch, L, E), (batch of k, S, E), (batch of k, S, Ev)
	l, s, e   int64
	ev        int64
	kOf       func(batch int64) int64
	scale     num
	mask      *dense // added, or nil
	maskAt    func(batch, row, col int64) int64
	hidden    func(batch, row, col int64) bool // masked out
	zero      bool                             // a row with nothing in it is 0 and not NaN
	late      bool
	p         precisionOf
	a         arith
	sumUnit   float64
	held      int64
	y, b      []float64
	x, ex, pr []float64
	pb        []float64
}

func (t *attention) Shape() []int64 { return t.shape }
func (t *attention) Cost() float64 {
	return 2 * float64(t.s) * float64(t.e+t.ev) / float64(max(t.ev, 1))
}
func (t *attention) Align() int64 { return t.ev }

func (t *attention) rounding(y, b float64) float64 { return b + t.p.v*(abs(y)+b) + t.p.t }

// row computes one row of the result.
func (t *attention) row(r int64) {
	if t.held == r {
		return
	}
	batch, row := r/t.l, r%t.l
	kb := t.kOf(batch)
	t.x, t.ex, t.pr, t.pb = grow(t.x, int(t.s)), grow(t.ex, int(t.s)), grow(t.pr, int(t.s)), grow(t.pb, int(t.s))
	t.y, t.b = grow(t.y, int(t.ev)), grow(t.b, int(t.ev))
	q := t.q.y[(batch*t.l+row)*t.e:][:t.e]
	g := gamma(float64(t.e)+4, t.sumUnit)
	narrow := t.p.v > u32
	open := 0
	for c := range t.s {
		kr := t.k.y[(kb*t.s+c)*t.e:][:t.e]
		sum, size := 0.0, 0.0
		for i, v := range q {
			sum += v * kr[i]
			size += abs(v * kr[i])
		}
		// Some scale q and k by the root of the scale first, rounded.
		own := g * size
		if narrow && t.late {
			own += t.p.v*abs(sum) + 2*t.p.v*size
		}
		z := t.a.mul(num{sum, own}, t.scale)
		if narrow && t.late {
			z.b = t.rounding(z.y, z.b)
		}
		if t.mask != nil {
			z = t.a.add(z, exactNum(t.mask.y[t.maskAt(batch, row, c)]))
			if narrow && t.late {
				z.b = t.rounding(z.y, z.b)
			}
		}
		if t.hidden != nil && t.hidden(batch, row, c) {
			z = exactNum(math.Inf(-1))
		} else {
			open++
		}
		if math.IsInf(z.y, -1) {
			z.b = 0
		}
		t.x[c], t.ex[c] = z.y, z.b
	}
	t.held = r
	if open == 0 && t.zero {
		clear(t.y)
		clear(t.b)
		return
	}
	softmaxRow(t.a.u, t.sumUnit)(t.x, t.ex, t.pr, t.pb)
	if narrow {
		for c := range t.pr {
			t.pb[c] += t.p.v*(t.pr[c]+t.pb[c]) + t.p.t
		}
	}
	gv := gamma(float64(t.s)+4, t.sumUnit)
	for j := range t.ev {
		sum, size, off := 0.0, 0.0, 0.0
		for c := range t.s {
			v := t.v.y[(kb*t.s+c)*t.ev+j]
			sum += t.pr[c] * v
			size += abs(t.pr[c] * v)
			off += t.pb[c] * abs(v)
		}
		t.y[j], t.b[j] = sum, off+gv*(size+off)
	}
}

func (t *attention) Range(lo int64, y, b []float64) error {
	for at := 0; at < len(y); {
		r := (lo + int64(at)) / t.ev
		t.row(r)
		from := lo + int64(at) - r*t.ev
		if b != nil {
			copy(b[at:], t.b[from:])
		}
		at += copy(y[at:], t.y[from:])
	}
	return nil
}

func (t *attention) At(idx []int64, y, b []float64) error {
	for i, k := range idx {
		t.row(k / t.ev)
		if y[i] = t.y[k%t.ev]; b != nil {
			b[i] = t.b[k%t.ev]
		}
	}
	return nil
}

// newAttention takes q (…, L, E), k (…, S, E) and v (…, S, Ev); heads of k and v may be
// fewer than those of q, each serving as many in turn.
func (k *invocation) newAttention(q, key, value Values, grouped bool) *attention {
	sq, sk, sv := q.Shape(), key.Shape(), value.Shape()
	n := len(sq)
	refuseIf(n < 2 || len(sk) != n || len(sv) != n || sq[n-1] != sk[n-1] || sk[n-2] != sv[n-2] || !slices.Equal(sk[:n-2], sv[:n-2]), ShapesDiffer, sq, sk, sv)
	t := &attention{l: sq[n-2], s: sk[n-2], e: sq[n-1], ev: sv[n-1], a: k.arith(), sumUnit: k.sumUnit(), p: precisionFor(k.outType()), held: -1}
	t.shape = append(slices.Clone(sq[:n-1]), t.ev)
	batch := batches(sk[:n-2], sq[:n-2])
	if grouped && n >= 3 && sk[n-3] != sq[n-3] {
		refuseIf(sk[n-3] == 0 || sq[n-3]%sk[n-3] != 0 || !slices.Equal(sk[:n-3], sq[:n-3]), ShapesDiffer, sq, sk, sv)
		per, heads := sq[n-3]/sk[n-3], sq[n-3]
		t.kOf = func(b int64) int64 { return b/heads*(heads/per) + b%heads/per }
	} else if _, ok := broadcastShape(sk[:n-2], sq[:n-2]); !ok {
		panic(refuse(ShapesDiffer, shapeText(sq, sk, sv)))
	} else {
		t.kOf = func(b int64) int64 { return batch[b] }
	}
	refuseIf(t.s == 0 || t.ev == 0 || t.e == 0 || t.s > maxDense || math.IsInf(gamma(float64(max(t.s, t.e)+4), t.sumUnit), 1), NoBound, t.s)
	t.scale = num{1 / math.Sqrt(float64(t.e)), 0}
	t.scale.b = 2 * u32 * t.scale.y
	for _, x := range []struct {
		v  Values
		to **dense
	}{{q, &t.q}, {key, &t.k}, {value, &t.v}} {
		*x.to = must(held(x.v))
	}
	return t
}

// scaledBy takes the scale of a call, if it has one.
func (t *attention) scaledBy(k *invocation, name string) {
	if k.has(name) {
		x := k.float(name, 0)
		t.scale = num{x, 2 * u32 * abs(x)}
	}
}

// sparse hides what sparse_mode 2 and 3 hide by themselves: what comes behind a row, counted from the first or from the last
// key on. It reports whether the mode is one of them; with 0 and 1 a mask says it.
func (t *attention) sparse(mode int64) bool {
	switch mode {
	case 0, 1:
		return false
	case 2:
		t.hidden = func(_, r, c int64) bool { return c > r }
	case 3:
		t.hidden = func(_, r, c int64) bool { return c > r+t.s-t.l }
	default:
		panic(refuse(Unsupported, "sparse_mode "+itoa(int(mode))))
	}
	return true
}

// masked takes a mask that is repeated to (…, L, S).
func (t *attention) masked(o *operand, out func(x float64) bool) {
	shape := append(slices.Clone(t.shape[:len(t.shape)-1]), t.s)
	v, ok := broadcast(o, shape)
	refuseIf(!ok, ShapesDiffer, o.shape, shape)
	d := must(held(o))
	place := func(b, r, c int64) int64 { return (b*t.l+r)*t.s + c }
	if s, ok := v.(*strided); ok {
		plain := place
		place = func(b, r, c int64) int64 { return s.place(plain(b, r, c)) }
	}
	if out == nil {
		t.mask, t.maskAt = d, place
		return
	}
	t.hidden = func(b, r, c int64) bool { return out(d.y[place(b, r, c)]) }
}

// forms are the attention in float32 throughout and with roundings on the way.
func (t *attention) forms(shape func(v Values) Values, rest ...Values) []Reading {
	late := *t
	late.late, late.x, late.ex, late.pr, late.pb, late.y, late.b = true, nil, nil, nil, nil, nil, nil
	out := []Reading{{Out: append([]Values{shape(t)}, rest...)}}
	if t.p.v > u32 {
		out[0].Name = "fused"
		out = append(out, Reading{Name: "rounded-scores", Out: append([]Values{shape(&late)}, rest...)})
	}
	return out
}

func attentionForms() {
	define("scaled_dot_product_attention", function{forward: func(k *invocation) []Reading {
		t := k.dotProduct()
		return t.forms(func(v Values) Values { return v })
	}, backward: dotProductGradients, nodes: [][]string{{"grad"}}})
	define("npu_fusion_attention", function{forward: fusionAttention})
	// The neighbours of each pair come to stand in two halves first, which then turn.
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
		return []Reading{{Out: []Values{out, formulaOf(total, whole...)}}}
	}})
	define("npu_prompt_flash_attention", function{forward: inferenceAttention("scale_value")})
	define("npu_fused_infer_attention_score", function{forward: inferenceAttention("scale")})
	rotaryForms()
}

// rotaryForms turn queries and keys by their places.
func rotaryForms() {
	define("npu_interleave_rope", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("x")
		rank := len(x.shape)
		refuseIf(rank == 0 || x.shape[rank-1]%2 != 0 || rank >= maxRank, ShapesDiffer, x.shape)
		pairs := reshape(x, append(slices.Clone(x.shape[:rank-1]), x.shape[rank-1]/2, 2))
		perm := inOrder(rank + 1)
		perm[rank-1], perm[rank] = rank, rank-1
		return k.rotated(reshape(transpose(pairs, perm), x.shape), k.tensor("cos"), k.tensor("sin"), false)
	})})
	define("npu_apply_rotary_pos_emb", function{forward: func(k *invocation) []Reading {
		if mode := k.string("rotary_mode", "half"); mode != "half" {
			panic(refuse(Unsupported, "rotary_mode "+mode))
		}
		cos, sin := k.pair("cos", "sin")
		return []Reading{{Out: []Values{k.rotated(k.tensor("query"), cos, sin, false), k.rotated(k.tensor("key"), cos, sin, false)}}}
	}})
}

// dotProduct is the attention of scaled_dot_product_attention.
func (k *invocation) dotProduct() *attention {
	q, key := k.factors("query", "key")
	v := k.factored("value")
	k.required("value")
	if p := k.float("dropout_p", 0); p != 0 {
		panic(refuse(Random, "dropout_p"))
	}
	grouped := k.bool("enable_gqa", false)
	t := k.newAttention(q, key, v, grouped)
	t.scaledBy(k, "scale")
	mask := k.optional("attn_mask")
	if mask != nil {
		var out func(x float64) bool
		if mask.typ == dtype.Bool {
			out = func(x float64) bool { return x == 0 }
		}
		t.masked(mask, out)
	}
	causal := k.bool("is_causal", false)
	if causal {
		t.hidden = func(_, r, c int64) bool { return c > r }
	}
	// Of a row with nothing in it kernels make NaN or 0.
	t.zero = false
	return t
}

// dotProductGradients: with P the probabilities and dP = dO·Vᵀ, dV = Pᵀ·dO,
// dS = P∘(dP - rows of Σ P∘dP), dQ = dS·K·scale and dK = dSᵀ·Q·scale. Kernels take the sum of a row
// as Σ dO∘O, of the rounded result, and round P and dS to the type of the operands.
func dotProductGradients(k *invocation, g []Values) gradients {
	t := k.dotProduct()
	d := gradient(g, 0)
	rows := count(t.shape[:len(t.shape)-1])
	refuseIf(!sameCount(d.Shape(), t.shape) || float64(rows)*float64(t.s)*float64(t.e+t.ev) > mostMultiplied, ShapesDiffer, d.Shape(), t.shape)
	t.p, t.late = precisionFor(k.working()), k.loose != strict
	var dq, dk, dv *dense
	all := func() {
		if dq == nil {
			do := must(held(d))
			dq, dk, dv = t.gradients(do.y, rows)
		}
	}
	of := func(get func() *dense) func() Values {
		return func() Values {
			all()
			return get()
		}
	}
	return gradients{"query": of(func() *dense { return dq }), "key": of(func() *dense { return dk }), "value": of(func() *dense { return dv }),
		"grad": func() Values { return d }}
}

// gradients are those of q, k and v from that of the result.
func (t *attention) gradients(do []float64, rows int64) (dq, dk, dv *dense) {
	like := func(x *dense) *dense {
		return &dense{shape: x.shape, y: make([]float64, len(x.y)), b: make([]float64, len(x.y))}
	}
	dq, dk, dv = like(t.q), like(t.k), like(t.v)
	sizeK, sizeV, terms := make([]float64, len(dk.y)), make([]float64, len(dv.y)), make([]float64, len(t.k.y)/int(t.s*t.e))
	narrow := 0.0
	if t.p.v > u32 {
		narrow = t.p.v
	}
	dp := make([]num, t.s)
	sizeQ := make([]float64, t.e)
	for r := range rows {
		batch := r / t.l
		kb := t.kOf(batch)
		terms[kb]++
		t.row(r)
		g, o := do[r*t.ev:][:t.ev], t.y
		sum, size := num{}, 0.0
		for c := range t.s {
			v, abss := 0.0, 0.0
			for j, x := range g {
				w := t.v.y[(kb*t.s+c)*t.ev+int64(j)]
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
		sum.b += gamma(float64(t.s+t.ev)+4, t.sumUnit) * size
		for j, x := range g {
			sum.b += abs(x) * (narrow*abs(o[j]) + t.b[j])
		}
		row := dq.y[r*t.e:][:t.e]
		clear(sizeQ)
		for c := range t.s {
			p := num{t.pr[c], t.pb[c]}
			ds := t.a.mul(p, t.a.sub(dp[c], sum))
			ds.b += narrow * (abs(ds.y) + ds.b)
			ds = t.a.mul(ds, t.scale)
			if t.late {
				ds.b += narrow * (abs(ds.y) + ds.b)
			}
			key := (kb*t.s + c)
			for i := range t.e {
				x, q := t.k.y[key*t.e+i], t.q.y[r*t.e+i]
				row[i] += ds.y * x
				dq.b[r*t.e+i] += ds.b * abs(x)
				sizeQ[i] += abs(ds.y*x) + ds.b*abs(x)
				dk.y[key*t.e+i] += ds.y * q
				dk.b[key*t.e+i] += ds.b * abs(q)
				sizeK[key*t.e+i] += abs(ds.y*q) + ds.b*abs(q)
			}
			for j, x := range g {
				at := key*t.ev + int64(j)
				dv.y[at] += p.y * x
				dv.b[at] += p.b * abs(x)
				sizeV[at] += abs(p.y*x) + p.b*abs(x)
			}
		}
		for i := range t.e {
			dq.b[r*t.e+i] += gamma(float64(t.s)+4, t.sumUnit) * sizeQ[i]
		}
	}
	for i := range dk.b {
		dk.b[i] += gamma(terms[i/int(t.s*t.e)]+4, t.sumUnit) * sizeK[i]
	}
	for i := range dv.b {
		dv.b[i] += gamma(terms[i/int(t.s*t.ev)]+4, t.sumUnit) * sizeV[i]
	}
	return dq, dk, dv
}

// kernelAttention is attention over the layouts of headsFirst, with so many heads of q and few of keys and values, or with few 0
// as many of these as their shapes say, if heads lie in one axis, else as of q; of atten_mask
// what is not 0 is left out. Without a mask sparse_mode 0 does not look at the tokens before and after (documentation of
// npu_fusion_attention and npu_prompt_flash_attention); the window that these cut out beside a mask is not computed.
func (k *invocation) kernelAttention(layout string, heads, few int64, scale, before, after string) (t *attention, q *operand, back func(v Values) Values) {
	q, key := k.factors("query", "key")
	v := k.factored("value")
	k.required("value")
	qs, back := headsFirst(q, layout, heads)
	width := qs.Shape()[3]
	less := func(o *operand) int64 {
		switch {
		case few > 0:
			return few
		case len(o.shape) == 3 && width > 0:
			return o.shape[2] / width
		}
		return heads
	}
	ks, _ := headsFirst(key, layout, less(key))
	vs, _ := headsFirst(v, layout, less(v))
	t = k.newAttention(qs, ks, vs, true)
	t.scale, t.zero = exactNum(1), true
	t.scaledBy(k, scale)
	mode, mask := k.int("sparse_mode", 0), k.optional("atten_mask")
	if !t.sparse(mode) && mask != nil {
		refuseIf(mode == 0 && (k.int(before, math.MaxInt32) < t.l || k.int(after, math.MaxInt32) < t.s), Unsupported, before+", "+after)
		t.masked(mask, func(x float64) bool { return x != 0 })
	}
	return t, q, back
}

// fusionAttention is npu_fusion_attention (torch_npu). The further outputs are not computed.
func fusionAttention(k *invocation) []Reading {
	keep := k.float("keep_prob", 1)
	refuseIf(keep != 1, Random, "keep_prob")
	k.unsupported("pse", "padding_mask", "prefix", "actual_seq_qlen", "actual_seq_kvlen")
	k.required("head_num", "input_layout")
	t, _, back := k.kernelAttention(k.string("input_layout", ""), k.int("head_num", 0), 0, "scale", "pre_tockens", "next_tockens")
	return t.forms(back)
}

// headsFirst gives a tensor of some layout the axes (B, N, S, D); back undoes it.
func headsFirst(o *operand, layout string, heads int64) (v Values, back func(v Values) Values) {
	s := o.shape
	bad := func() (Values, func(v Values) Values) {
		panic(refuse(ShapesDiffer, layout+" "+shapeText(s)))
	}
	split := func(perm []int) (Values, func(v Values) Values) {
		if len(s) != 3 || heads < 1 || s[2]%heads != 0 {
			return bad()
		}
		wide := reshape(o, []int64{s[0], s[1], heads, s[2] / heads})
		return transpose(wide, perm), func(v Values) Values {
			t := transpose(v, inverse(perm))
			w := t.Shape()
			return reshape(t, []int64{w[0], w[1], w[2] * w[3]})
		}
	}
	switch layout {
	case "BSH":
		return split([]int{0, 2, 1, 3})
	case "SBH":
		return split([]int{1, 2, 0, 3})
	case "BNSD", "BSND":
		if len(s) != 4 {
			return bad()
		}
		if layout == "BNSD" {
			return o, func(v Values) Values { return v }
		}
		perm := []int{0, 2, 1, 3}
		return transpose(o, perm), func(v Values) Values { return transpose(v, perm) }
	}
	panic(refuse(Unsupported, "input_layout "+layout))
}

// rotated is x·cos + turned(x)·sin over the last axis (rotary position embedding): where the halves change places, or with
// interleaved the neighbours of each pair, the new first gets the other sign. Products and sum may be rounded to the type
// of the result (in float16 kernels compute in that). Sources: op-plugin's documentation of npu_rotary_mul, npu_interleave_rope
// and npu_apply_rotary_pos_emb; ops-transformer posembedding.
func (k *invocation) rotated(x Values, cos, sin *operand, interleaved bool) Values {
	s := x.Shape()
	rank := len(s)
	refuseIf(rank == 0 || s[rank-1]%2 != 0 || rank >= maxRank, ShapesDiffer, s)
	half, axis, parts, width := s[rank-1]/2, rank-1, x, s[rank-1]/2
	if interleaved {
		parts, axis, width = reshape(x, append(slices.Clone(s[:rank-1]), half, 2)), rank, 1
	}
	second := elementsOf(exactly(func(x []float64) float64 { return -x[0] }), nil, true, []Values{slab1(parts, axis, width, width)})
	turned := reshape(joined(axis, second, slab1(parts, axis, 0, width)), s)
	p, q := newPointwise(mulKernel(k.unit()), x, cos), newPointwise(mulKernel(k.unit()), turned, sin)
	refuseIf(!slices.Equal(p.shape, s) || !slices.Equal(q.shape, s), ShapesDiffer, s, cos.shape)
	return elementsOf(addKernel(k.unit(), 1), nil, false, []Values{k.between(p), k.between(q)})
}

// inferenceAttention is attention without gradients, over the layouts of headsFirst. Scores and softmax are float32 and
// the probabilities are rounded to the type of the keys; with inner_precise 1 float16 is used throughout, and a mode that
// was not recorded may be either. Keys in pages are not read yet.
func inferenceAttention(scale string) func(k *invocation) []Reading {
	return func(k *invocation) []Reading {
		k.unsupported("pse_shift", "padding_mask", "actual_seq_lengths", "actual_seq_lengths_kv", "block_table")
		refuseIf(k.bool("softmax_lse_flag", false), Unsupported, "softmax_lse_flag")
		heads, few := k.int("num_heads", 1), k.int("num_key_value_heads", 0)
		if few == 0 {
			few = heads
		}
		refuseIf(few < 1, BadArgument, "num_key_value_heads", few, "a positive number")
		t, q, back := k.kernelAttention(k.string("input_layout", "BSH"), heads, few, scale, "pre_tokens", "next_tokens")
		readings := t.forms(back)
		if q.typ != dtype.Float16 || k.has("inner_precise") && k.int("inner_precise", 1) != 1 {
			readings = readings[:1] // only float16 is computed with throughout
		}
		return readings
	}
}
