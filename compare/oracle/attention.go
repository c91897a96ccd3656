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
func (t *attention) Cost() float64 {
	return 2 * float64(t.most) * float64(t.e+t.ev) / float64(max(t.ev, 1))
}
func (t *attention) Align() int64 { return t.ev }

func (t *attention) rounding(y, b float64) float64 { return b + t.p.v*(abs(y)+b) + t.p.t }

// row computes one row of the result.
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
	unsure := func() {
		for j := range t.b {
			t.b[j] = math.Inf(1)
		}
		t.largest, t.sum, t.log = num{0, math.Inf(1)}, num{0, math.Inf(1)}, num{0, math.Inf(1)}
	}
	if a.q < 0 {
		unsure()
		return
	}
	q := t.q.y[a.q*t.e:][:t.e]
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
	softmaxRow(t.a.u, t.sumUnit)(t.x, t.ex, t.pr, t.pb)
	t.largest = num{t.x[at], t.ex[at]}
	for i := range t.x { // another one may be the largest
		if t.x[i]+t.ex[i] >= t.largest.y-t.largest.b {
			t.largest.b = max(t.largest.b, t.ex[i])
		}
	}
	t.sum = num{1 / t.pr[at], t.pb[at] / (t.pr[at] * max(t.pr[at]-t.pb[at], 0))}
	log := math.Log(t.sum.y)
	t.log = num{t.largest.y + log, t.largest.b + t.sum.b/max(t.sum.y-t.sum.b, 0) + t.a.ulps*(1+abs(log)+abs(t.largest.y+log))}
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
		for j, v := range t.v.y[t.key(a, c)*t.ev:][:t.ev] {
			t.y[j] += p * v
			t.size[j] += abs(p * v)
			t.b[j] += off * abs(v)
		}
	}
	for j, off := range t.b {
		t.b[j] = off + gv*(t.size[j]+off)
	}
}

// score is that of a key before the softmax.
func (t *attention) score(a attended, c int64, q, key []float64, g float64, late bool) num {
	sum, size := 0.0, 0.0
	for i, v := range q {
		sum += v * key[i]
		size += abs(v * key[i])
	}
	// Some scale q and k by the root of the scale first, rounded.
	own := g * size
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

func (t *attention) Range(lo int64, y, b []float64) error {
	for at := 0; at < len(y); {
		r := (lo + int64(at)) / t.ev
		t.row(t.at(r))
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
		t.row(t.at(k / t.ev))
		if y[i] = t.y[k%t.ev]; b != nil {
			b[i] = t.b[k%t.ev]
		}
	}
	return nil
}

// statistic is a number of each row, repeated in the last axis; at says which row an element belongs to.
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

// hold takes the operands, whose last axes are e, e and ev.
func (t *attention) hold(q, key, value Values) {
	last := func(v Values) int64 { return v.Shape()[len(v.Shape())-1] }
	t.e, t.ev = last(q), last(value)
	refuseIf(last(key) != t.e, ShapesDiffer, q.Shape(), key.Shape(), value.Shape())
	refuseIf(t.most == 0 || t.ev == 0 || t.e == 0 || t.most > maxDense || math.IsInf(gamma(float64(max(t.most, t.e)+4), t.sumUnit), 1), NoBound, t.most)
	t.scale = num{1 / math.Sqrt(float64(t.e)), 0}
	t.scale.b = 2 * u32 * t.scale.y
	t.q, t.k, t.v = must(held(q)), must(held(key)), must(held(value))
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
		panic(refuse(ShapesDiffer, shapeText(sq, sk, sv)))
	}
	t.at = func(r int64) attended { return attended{batch: r / l, row: r % l, l: l, s: s, q: r} }
	t.key = func(a attended, c int64) int64 { return of(a.batch)*s + c }
	t.hold(q, key, value)
	return t
}

// scaledBy takes the scale of a call, if it has one.
func (t *attention) scaledBy(k *invocation, name string) {
	if k.has(name) {
		x := k.float(name, 0)
		t.scale = num{x, 2 * u32 * abs(x)}
	}
}

// masked takes a mask that is repeated to (…, L, S).
func (t *attention) masked(o *operand, out func(x float64) bool) {
	shape := append(slices.Clone(t.shape[:len(t.shape)-1]), t.most)
	v, ok := broadcast(o, shape)
	refuseIf(!ok, ShapesDiffer, o.shape, shape)
	d := must(held(o))
	place := func(a attended, c int64) int64 { return (a.batch*a.l+a.row)*a.s + c }
	if s, ok := v.(*strided); ok {
		plain := place
		place = func(a attended, c int64) int64 { return s.place(plain(a, c)) }
	}
	if out == nil {
		t.added = func(a attended, c int64) float64 { return d.y[place(a, c)] }
		return
	}
	t.hidden = func(a attended, c int64) bool { return out(d.y[place(a, c)]) }
}

func attentionForms() {
	define("scaled_dot_product_attention", function{forward: func(k *invocation) []Reading {
		t := k.dotProduct()
		return t.forms(func(t *attention) []Values { return []Values{t} })
	}, backward: dotProductGradients, nodes: [][]string{{"grad"}}})
	define("npu_fusion_attention", function{forward: fusionAttention})
	define("inference_attention", function{forward: inferenceAttention})
	define("paged_attention", function{forward: inferenceAttention, mends: []string{"out"}})
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
		t.hidden = func(a attended, c int64) bool { return c > a.row }
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
	refuseIf(!sameCount(d.Shape(), t.shape) || float64(rows)*float64(t.most)*float64(t.e+t.ev) > mostMultiplied, ShapesDiffer, d.Shape(), t.shape)
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
	sizeK, sizeV, terms := make([]float64, len(dk.y)), make([]float64, len(dv.y)), make([]float64, len(t.k.y)/int(t.e))
	narrow := 0.0
	if t.p.v > u32 {
		narrow = t.p.v
	}
	dp := make([]num, t.most)
	sizeQ := make([]float64, t.e)
	for r := range rows {
		at := t.at(r)
		t.row(at)
		g, o := do[r*t.ev:][:t.ev], t.y
		sum, size := num{}, 0.0
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
		sum.b += gamma(float64(t.most+t.ev)+4, t.sumUnit) * size
		for j, x := range g {
			sum.b += abs(x) * (narrow*abs(o[j]) + t.b[j])
		}
		row := dq.y[r*t.e:][:t.e]
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
			dq.b[r*t.e+i] += gamma(float64(t.most)+4, t.sumUnit) * sizeQ[i]
		}
	}
	for i := range dk.b {
		dk.b[i] += gamma(terms[i/int(t.e)]+4, t.sumUnit) * sizeK[i]
	}
	for i := range dv.b {
		dv.b[i] += gamma(terms[i/int(t.ev)]+4, t.sumUnit) * sizeV[i]
	}
	return dq, dk, dv
}

// forms are the attention in float32 throughout and with roundings on the way.
func (t *attention) forms(of func(t *attention) []Values) []Reading {
	late := *t
	late.late, late.x, late.ex, late.pr, late.pb, late.y, late.b, late.size = true, nil, nil, nil, nil, nil, nil, nil
	out := []Reading{{Out: of(t)}}
	if t.p.v > u32 {
		out[0].Name = "fused"
		out = append(out, Reading{Name: "rounded-scores", Out: of(&late)})
	}
	return out
}

// halves allows for what is rounded to float16 on the way, in which kernels compute what is float16; on a CPU that may be bfloat16, too.
func (k *invocation) halves(v Values) Values {
	if k.outType() == dtype.BFloat16 && k.narrow == 0 {
		return v
	}
	return k.between(v)
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
	return elementsOf(addKernel(k.unit(), 1), nil, false, []Values{k.halves(p), k.halves(q)})
}
