package stage

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"

	"precision/compare/weights"
	"precision/dump/dtype"
	"precision/internal/must"
	"precision/op"
)

// matrix is a row a token, in float64. What was recorded may be put away, and is read again where it is used.
type matrix struct {
	n, w int
	v    []float64
	load func() []float64 // nil for what is kept
}

func newMatrix(n, w int) *matrix { return &matrix{n: n, w: w, v: make([]float64, n*w)} }

func (m *matrix) row(i int) []float64 { return m.v[i*m.w : (i+1)*m.w] }

// What is kept of recordings and of weights, in elements: a large network is read layer by layer.
const (
	mostLoaded = 20 << 20
	mostCached = 20 << 20
)

// hold brings what was put away back. It stays until the next trim.
func (n *net) hold(list ...*matrix) {
	for _, m := range list {
		if m == nil || m.v != nil || m.load == nil {
			continue
		}
		if m.v = m.load(); len(m.v) != m.n*m.w {
			m.v = slices.Repeat([]float64{math.NaN()}, m.n*m.w) // the file is another one by now
		}
		n.keep(m)
	}
}

// keep counts what is in memory and can be read again.
func (n *net) keep(m *matrix) {
	n.loaded = append(n.loaded, m)
	n.size += len(m.v)
}

// trim puts the oldest away if more is in memory than should be. Nobody may hold elements over it.
func (n *net) trim() {
	if n.size <= n.room {
		return
	}
	i := 0
	for ; i < len(n.loaded) && n.size > n.room/2; i++ {
		n.size -= len(n.loaded[i].v)
		n.loaded[i].v = nil
	}
	n.loaded = slices.Delete(n.loaded, 0, i)
}

// adjust changes elements, now and whenever they are read again.
func (m *matrix) adjust(change func(v []float64) []float64) {
	m.v = change(m.v)
	if load := m.load; load != nil {
		m.load = func() []float64 {
			if v := load(); v != nil {
				return change(v)
			}
			return nil
		}
	}
}

// state is what a network holds at a cut, by the names of its parts: h the residual sum, n a norm's output, q k v, a what attention
// returned, o and d what is added, g u m of the feed-forward, r the router's scores, i and p chosen experts and their weights, z
// logits and l log-probs of the answers.
type state map[string]*matrix

func (s state) with(t state) state {
	c := state{}
	maps.Copy(c, s)
	maps.Copy(c, t)
	return c
}

// options are what no weight tells of a stage. They are fitted on the trainer, and changed to find what another function a rollout has.
type options struct {
	eps                  float64
	plusOne, noWeight    bool
	scale, softcap, temp float64
	window, ahead        int
	tiled                bool
	act                  string
	sigmoid, renorm      bool
	factor               float64
	interleaved, apart   bool // pairs are neighbours; and the rotated ones stand apart, as halves
	shift                int
	theta                float64
	noBias               bool
	kv                   dtype.Type // what keys and values are rounded to, 0 for nothing
	scores               dtype.Type // what scores of attention and their softmax are stored in, 0 for nothing
	name                 string     // of a variant, for people: message rollout.variant.NAME
	args                 []any
}

// cut is a place of the network where both sides may have recorded something.
type cut struct {
	layer int // -1 outside of layers
	stage string
	out   []string
	in    []string // parts of the state that f reads
	opt   options
	f     func(n *net, c *cut, o *options, st state) state
	// back makes slopes of what the stage reads of those of what it gives (back.go); nil where it has none.
	back func(n *net, c *cut, o *options, st, g state) state
	// weight are the parameters of the stage; branch is what a sum adds.
	weight []string
	branch string
	// product tells that outputs are inputs times one weight each, and nothing else.
	product bool
}

// net is the trainer's network. side tells whose weights it computes with.
type net struct {
	cuts                []*cut
	layers              int
	heads, kvHeads, dim int
	hidden              int
	tok                 *tokens
	cos, sin            []*matrix // by layer, of every key, as the trainer rounds them
	keys                []int     // the answers' keys
	target              []int64
	w                   *weights.Network
	side                int
	cache               map[string]*weights.Matrix
	cached              int // elements
	loaded              []*matrix
	size, room          int // of what is loaded, and may be
	// latent tells of keys and values that are made of a narrow row a token (DeepSeek's attention): then only the last turned
	// elements of a head's queries and keys are rotated, and a value has valueDim.
	latent           bool
	turned, valueDim int
	topk             int
}

// get is a weight, kept.
func (n *net) get(name string) *weights.Matrix {
	key := strconv.Itoa(n.side) + name
	if m, ok := n.cache[key]; ok {
		return m
	}
	m := n.w.Get(n.side, name)
	if m == nil && name == "lm_head.weight" {
		m = n.w.Get(n.side, "model.embed_tokens.weight")
	}
	if m != nil {
		if n.cached += len(m.V); n.cached > mostCached {
			clear(n.cache)
			n.cached = len(m.V)
		}
	}
	n.cache[key] = m
	return m
}

var errLacks = errors.New("something that is needed is not there, or of another shape")

// lacks ends the computing of a stage, or the reading of a field, where something is not there that it needs. Its borders are
// [net.run], and who else asks with [must.Of].
func lacks(is bool) {
	if is {
		must.Do(errLacks)
	}
}

// linear is x·wᵀ + b.
func linear(x *matrix, w, b *weights.Matrix) *matrix {
	lacks(w == nil || len(w.Shape) != 2 || int(w.Shape[1]) != x.w || b != nil && len(b.V) != int(w.Shape[0]))
	out := newMatrix(x.n, int(w.Shape[0]))
	if x.n == 0 || x.w == 0 || out.w == 0 {
		return out
	}
	for i := range x.n {
		if b != nil {
			copy(out.row(i), b.V)
		}
	}
	w.Rows(func(first int, v []float64) {
		blasgonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, x.n, len(v)/x.w, x.w, 1, x.v, x.w, v, x.w, 1, out.v[first:], out.w)
	})
	return out
}

func dot(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	for len(x) >= 4 {
		a += x[0] * y[0]
		b += x[1] * y[1]
		c += x[2] * y[2]
		d += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for i := range x {
		a += x[i] * y[i]
	}
	return a + b + (c + d)
}

// norm is x over its root mean square, times the weight; over rows of the width of the weight.
func norm(x *matrix, w *weights.Matrix, o *options) *matrix {
	lacks(x == nil)
	width := x.w
	if w != nil {
		width = len(w.V)
	}
	lacks(width == 0 || x.w%width != 0)
	out := newMatrix(x.n, x.w)
	for at := 0; at < len(x.v); at += width {
		in := x.v[at : at+width]
		r := 1 / math.Sqrt(dot(in, in)/float64(width)+o.eps)
		for j, v := range in {
			g := 1.0
			if w != nil && !o.noWeight {
				g = w.V[j]
				if o.plusOne {
					g++
				}
			}
			out.v[at+j] = v * r * g
		}
	}
	return out
}

// activation is a function of the catalogue with its slope: gelu by its tanh, too, and the square of relu.
func activation(kind string) func(x float64) (y, slope float64) {
	name, approximate := strings.CutSuffix(kind, "_tanh")
	name, squared := strings.CutSuffix(name, "2")
	f := op.Of(name).Formula
	fixed := make([]float64, len(f.Params))
	for i, p := range f.Params {
		if fixed[i] = p.Default; approximate && p.Name == "approximate" {
			fixed[i] = 1
		}
	}
	of := f.Slope(fixed)
	if !squared {
		return of
	}
	return func(x float64) (float64, float64) {
		y, slope := of(x)
		return y * y, 2 * y * slope
	}
}

// gated is the activation of one matrix times the other.
func gated(kind string, g, u *matrix) *matrix {
	lacks(g.w != u.w)
	of, m := activation(kind), newMatrix(g.n, g.w)
	for i, x := range g.v {
		y, _ := of(x)
		m.v[i] = y * u.v[i]
	}
	return m
}

// rotate turns the pairs of every head by the angles of its token; back makes slopes in x of those in what it gives.
func (n *net) rotate(x *matrix, layer int, o *options, back bool) *matrix {
	if x == nil {
		return nil
	}
	out := newMatrix(x.n, x.w)
	copy(out.v, x.v)
	for row := range x.n {
		var cos, sin []float64
		i := row % len(n.tok.ids)
		if o.theta > 0 || n.cos[layer] == nil {
			cos, sin = n.angles(i, layer, o)
		} else {
			cos, sin = n.cos[layer].row(i), n.sin[layer].row(i)
			if o.shift != 0 {
				cos, sin = n.shifted(i, layer, o.shift)
			}
		}
		d := len(cos)
		width, begin := n.dim, 0
		if n.latent {
			begin = n.dim - n.turned
			if x.w == n.turned {
				width, begin = n.turned, 0
			}
			d = n.turned
		}
		for at := row*x.w + begin; at+d <= (row+1)*x.w; at += width {
			for j := range d / 2 {
				a, b := at+j, at+j+d/2
				ca, cb := j, (j+d/2)%len(cos)
				if o.interleaved {
					a, b = at+2*j, at+2*j+1
					cb = j
				}
				to, and := a, b
				if o.apart {
					to, and = at+j, at+j+d/2
				}
				if back {
					u, v := x.v[to], x.v[and]
					out.v[a], out.v[b] = u*cos[ca]+v*sin[cb], v*cos[cb]-u*sin[ca]
					continue
				}
				u, v := x.v[a], x.v[b]
				out.v[to], out.v[and] = u*cos[ca]-v*sin[ca], v*cos[cb]+u*sin[cb]
			}
		}
	}
	return out
}

// angles are those of a key with another base.
func (n *net) angles(i, layer int, o *options) (cos, sin []float64) {
	q := n.sequenceOf(i)
	p := float64(i - n.tok.seqs[q].lo)
	d := n.dim
	if n.latent {
		d = n.turned
	} else if n.cos[layer] != nil {
		d = n.cos[layer].w
	}
	cos, sin = make([]float64, d), make([]float64, d)
	for j := range d / 2 {
		f := math.Pow(o.theta, -2*float64(j)/float64(d))
		a := p * f
		if o.kv == dtype.BFloat16 { // angles in a narrow type
			r := o.kv.Rounding()
			a = r.Round(r.Round(p) * r.Round(f))
		}
		c, s := math.Cos(a), math.Sin(a)
		cos[j], cos[j+d/2], sin[j], sin[j+d/2] = c, c, s, s
	}
	return cos, sin
}

// shifted are the angles of a key whose position is off by a number: turned on by as much as the first two keys of its sequence are apart.
func (n *net) shifted(i, layer, by int) (cos, sin []float64) {
	q := n.tok.seqs[n.sequenceOf(i)]
	cos, sin = slices.Clone(n.cos[layer].row(i)), slices.Clone(n.sin[layer].row(i))
	if q.lo+1 >= q.hi {
		return cos, sin
	}
	c0, s0, c1, s1 := n.cos[layer].row(q.lo), n.sin[layer].row(q.lo), n.cos[layer].row(q.lo+1), n.sin[layer].row(q.lo+1)
	for j := range cos {
		size := c0[j]*c0[j] + s0[j]*s0[j] // some embeddings scale both
		c, s := (c1[j]*c0[j]+s1[j]*s0[j])/size, (s1[j]*c0[j]-c1[j]*s0[j])/size
		for range max(by, -by) {
			if by > 0 {
				cos[j], sin[j] = cos[j]*c-sin[j]*s, sin[j]*c+cos[j]*s
			} else {
				cos[j], sin[j] = cos[j]*c+sin[j]*s, sin[j]*c-cos[j]*s
			}
		}
	}
	return cos, sin
}

func (n *net) sequenceOf(key int) int {
	q, _ := slices.BinarySearchFunc(n.tok.seqs, key, func(s sequence, k int) int {
		if k < s.lo {
			return 1
		} else if k >= s.hi {
			return -1
		}
		return 0
	})
	return q
}

// attend is causal attention within each sequence.
func (n *net) attend(q, k, v *matrix, o *options) *matrix {
	lacks(n.dim == 0 || k.w%n.dim != 0 || q.w%n.dim != 0 || k.w == 0)
	heads, kv := q.w/n.dim, k.w/n.dim
	lacks(heads%kv != 0 || v.w%kv != 0)
	vd := v.w / kv
	if o.kv != 0 {
		k, v = narrowed(k, n.dim, o.kv), narrowed(v, vd, o.kv)
	}
	out := newMatrix(q.n, heads*vd)
	var s attended
	for i := range q.n {
		for h := range heads {
			n.weigh(&s, q, k, i, h, o)
			y := out.row(i)[h*vd : (h+1)*vd]
			for j, p := range s.p {
				for e, z := range v.row(s.first + j)[s.group*vd : (s.group+1)*vd] {
					y[e] += p * z
				}
			}
		}
	}
	return out
}

// attended is what a token attends to with one head: weights of keys from the first on, and the slopes of a cap on their scores.
type attended struct {
	first, group int // of heads of keys
	p, cap       []float64
}

// weigh computes the weights of the keys that token i attends to with head h.
func (n *net) weigh(s *attended, q, k *matrix, i, h int, o *options) {
	heads, kv := q.w/n.dim, k.w/n.dim
	if s.group = h / (heads / kv); o.tiled {
		s.group = h % kv
	}
	t := n.tok.seqs[n.sequenceOf(i)]
	last := min(i+o.ahead, t.hi-1)
	if s.first = t.lo; o.window > 0 {
		s.first = max(s.first, i+o.ahead-o.window+1)
	}
	s.p, s.cap = s.p[:0], s.cap[:0]
	stored := func(x float64) float64 { return x }
	if o.scores != 0 {
		stored = o.scores.Rounding().Round
	}
	x, most, sum := q.row(i)[h*n.dim:(h+1)*n.dim], math.Inf(-1), 0.0
	for j := s.first; j <= last; j++ {
		z, slope := stored(stored(dot(x, k.row(j)[s.group*n.dim:(s.group+1)*n.dim]))*o.scale), 1.0
		if o.softcap > 0 {
			z = math.Tanh(z / o.softcap)
			z, slope = z*o.softcap, 1-z*z
		}
		s.p, s.cap = append(s.p, z), append(s.cap, slope)
		most = max(most, z)
	}
	for j := range s.p {
		s.p[j] = math.Exp(s.p[j] - most)
		sum += s.p[j]
	}
	for j := range s.p {
		s.p[j] = stored(s.p[j] / sum)
	}
}

// narrowed rounds the elements of heads of a width: to int8 with one scale a token and head, to 8-bit floats with and without one.
func narrowed(x *matrix, width int, t dtype.Type) *matrix {
	out := newMatrix(x.n, x.w)
	r := t.Rounding()
	for at := 0; at < len(x.v); at += width {
		in := x.v[at:min(at+width, len(x.v))]
		if t != dtype.Int8 {
			for j, v := range in {
				out.v[at+j] = r.Round(v)
			}
			continue
		}
		most := 0.0
		for _, v := range in {
			most = max(most, math.Abs(v))
		}
		for j, v := range in {
			if most > 0 {
				out.v[at+j] = math.RoundToEven(v/(most/127)) * (most / 127)
			}
		}
	}
	return out
}

func prefix(layer int) string { return "model.layers." + strconv.Itoa(layer) + "." }

// experts adds what the chosen experts make of each token.
func (n *net) experts(layer int, x, ids, p *matrix, o *options) *matrix {
	out := newMatrix(x.n, x.w)
	chosen := map[int][]int{} // places in ids, by expert
	for at, e := range ids.v {
		chosen[int(e)] = append(chosen[int(e)], at)
	}
	for _, e := range slices.Sorted(maps.Keys(chosen)) {
		in := newMatrix(len(chosen[e]), x.w)
		for i, at := range chosen[e] {
			copy(in.row(i), x.row(at/ids.w))
		}
		y := n.feed(prefix(layer)+"mlp.experts."+strconv.Itoa(e)+".", in, o)
		for i, at := range chosen[e] {
			for k, v := range y.row(i) {
				out.row(at / ids.w)[k] += p.v[at] * v
			}
		}
	}
	for _, name := range []string{"mlp.shared_experts.", "mlp.shared_expert."} {
		if n.get(prefix(layer)+name+"gate_proj.weight") == nil {
			continue
		}
		y := n.feed(prefix(layer)+name, x, o)
		for i := range x.n {
			factor := 1.0
			if g := n.get(prefix(layer) + "mlp.shared_expert_gate.weight"); g != nil {
				factor = 1 / (1 + math.Exp(-dot(x.row(i), g.V)))
			}
			for k, v := range y.row(i) {
				out.row(i)[k] += factor * v
			}
		}
	}
	return out
}

// feed is a gated feed-forward of the weights below a name.
func (n *net) feed(name string, x *matrix, o *options) *matrix {
	g, u := linear(x, n.get(name+"gate_proj.weight"), nil), linear(x, n.get(name+"up_proj.weight"), nil)
	return linear(gated(o.act, g, u), n.get(name+"down_proj.weight"), nil)
}

// has reports whether the trainer's network has a weight.
func (n *net) has(name string) bool {
	return n.w.Has(0, name+".weight")
}

// build lists the cuts of the network that the weights tell.
func (n *net) build() {
	add := func(c *cut) { n.cuts = append(n.cuts, c) }
	lin := func(layer int, stage string, from string, to []string, names ...string) {
		add(&cut{layer: layer, stage: stage, in: []string{from}, out: to, weight: names, product: true, f: func(n *net, c *cut, o *options, st state) state {
			res := state{}
			for i, name := range names {
				b := n.get(name + ".bias")
				if o.noBias {
					b = nil
				}
				res[to[i]] = linear(st[from], n.get(name+".weight"), b)
			}
			return res
		}, back: func(n *net, c *cut, o *options, st, g state) state {
			var sum *matrix
			for i, name := range names {
				if g[to[i]] != nil {
					sum = sumOf(sum, linearBack(g[to[i]], n.get(name+".weight")))
				}
			}
			return state{from: sum}
		}})
	}
	nrm := func(layer int, stage string, from, to []string, names ...string) {
		add(&cut{layer: layer, stage: stage, in: from, out: to, weight: names, f: func(n *net, c *cut, o *options, st state) state {
			res := state{}
			for i, name := range names {
				res[to[i]] = norm(st[from[i]], n.get(name+".weight"), o)
			}
			return res
		}, back: func(n *net, c *cut, o *options, st, g state) state {
			res := state{}
			for i, name := range names {
				if g[to[i]] != nil {
					res[from[i]] = normBack(g[to[i]], st[from[i]], n.get(name+".weight"), o)
				}
			}
			return res
		}})
	}
	sum := func(layer int, branch string) {
		add(&cut{layer: layer, stage: "add", branch: branch, in: []string{"h", branch}, out: []string{"h"}, f: func(n *net, c *cut, o *options, st state) state {
			lacks(st["h"].w != st[branch].w)
			return state{"h": sumOf(st["h"], st[branch])}
		}, back: func(n *net, c *cut, o *options, st, g state) state {
			return state{"h": g["h"], branch: g["h"]}
		}})
	}
	add(&cut{layer: -1, stage: "embed", out: []string{"h"}, weight: []string{"model.embed_tokens"}, f: func(n *net, c *cut, o *options, st state) state {
		w := n.get("model.embed_tokens.weight")
		lacks(w == nil || len(w.Shape) != 2)
		width := int(w.Shape[1])
		out := newMatrix(len(n.tok.ids), width)
		for i, id := range n.tok.ids {
			w.Row(out.row(i), id)
			for j := range width {
				out.v[i*width+j] *= o.factor
			}
		}
		return state{"h": out}
	}})
	for l := range n.layers {
		p := prefix(l)
		nrm(l, "norm", []string{"h"}, []string{"n"}, p+"input_layernorm")
		if n.latent {
			n.latents(l, lin)
		} else {
			lin(l, "qkv", "n", []string{"q", "k", "v"}, p+"self_attn.q_proj", p+"self_attn.k_proj", p+"self_attn.v_proj")
		}
		if n.has(p + "self_attn.q_norm") {
			nrm(l, "qk_norm", []string{"q", "k"}, []string{"q", "k"}, p+"self_attn.q_norm", p+"self_attn.k_norm")
		}
		if !n.latent {
			add(&cut{layer: l, stage: "rope", in: []string{"q", "k"}, out: []string{"q", "k"}, f: func(n *net, c *cut, o *options, st state) state {
				return state{"q": n.rotate(st["q"], c.layer, o, false), "k": n.rotate(st["k"], c.layer, o, false)}
			}, back: func(n *net, c *cut, o *options, st, g state) state {
				return state{"q": n.rotate(g["q"], c.layer, o, true), "k": n.rotate(g["k"], c.layer, o, true)}
			}})
			add(&cut{layer: l, stage: "cache", in: []string{"k", "v"}, out: []string{"k", "v"}, f: func(n *net, c *cut, o *options, st state) state {
				return state{"k": st["k"], "v": st["v"]}
			}, back: func(n *net, c *cut, o *options, st, g state) state {
				return state{"k": g["k"], "v": g["v"]}
			}})
		}
		add(&cut{layer: l, stage: "attn", in: []string{"q", "k", "v"}, out: []string{"a"}, f: func(n *net, c *cut, o *options, st state) state {
			return state{"a": n.attend(st["q"], st["k"], st["v"], o)}
		}, back: func(n *net, c *cut, o *options, st, g state) state {
			q, k, v := n.attendBack(g["a"], st["q"], st["k"], st["v"], o)
			return state{"q": q, "k": k, "v": v}
		}})
		lin(l, "o_proj", "a", []string{"o"}, p+"self_attn.o_proj")
		ahead, gemma := p+"post_attention_layernorm", n.has(p+"pre_feedforward_layernorm")
		if gemma {
			nrm(l, "post_norm", []string{"o"}, []string{"o"}, ahead)
			ahead = p + "pre_feedforward_layernorm"
		}
		sum(l, "o")
		nrm(l, "norm", []string{"h"}, []string{"n"}, ahead)
		if n.has(p + "mlp.gate") {
			n.mixture(l, lin)
		} else {
			lin(l, "gate_up", "n", []string{"g", "u"}, p+"mlp.gate_proj", p+"mlp.up_proj")
			add(&cut{layer: l, stage: "act", in: []string{"g", "u"}, out: []string{"m"}, f: func(n *net, c *cut, o *options, st state) state {
				return state{"m": gated(o.act, st["g"], st["u"])}
			}, back: func(n *net, c *cut, o *options, st, g state) state {
				a, b := gatedBack(o.act, g["m"], st["g"], st["u"])
				return state{"g": a, "u": b}
			}})
			lin(l, "down", "m", []string{"d"}, p+"mlp.down_proj")
		}
		if gemma {
			nrm(l, "post_norm", []string{"d"}, []string{"d"}, p+"post_feedforward_layernorm")
		}
		sum(l, "d")
	}
	nrm(-1, "norm", []string{"h"}, []string{"n"}, "model.norm")
	add(&cut{layer: -1, stage: "lm_head", in: []string{"n"}, out: []string{"z"}, weight: []string{"lm_head"}, product: true, f: func(n *net, c *cut, o *options, st state) state {
		x := newMatrix(len(n.keys), st["n"].w)
		for i, k := range n.keys {
			copy(x.row(i), st["n"].row(k))
		}
		return state{"z": linear(x, n.get("lm_head.weight"), n.get("lm_head.bias"))}
	}, back: func(n *net, c *cut, o *options, st, g state) state {
		x := linearBack(g["z"], n.get("lm_head.weight"))
		out := newMatrix(signs*st["n"].n, x.w)
		for i := range x.n {
			to := out.row(i/len(n.keys)*st["n"].n + n.keys[i%len(n.keys)])
			for e, v := range x.row(i) { // a token may have two answers
				to[e] += v
			}
		}
		return state{"n": out}
	}})
	add(&cut{layer: -1, stage: "logp", in: []string{"z"}, out: []string{"l"}, f: func(n *net, c *cut, o *options, st state) state {
		z := st["z"]
		out := newMatrix(z.n, 1)
		for i := range z.n {
			row := z.row(i)
			t := n.target[i]
			lacks(t < 0 || int(t) >= z.w)
			most, sum := math.Inf(-1), 0.0
			for _, x := range row {
				most = max(most, o.scored(x))
			}
			for _, x := range row {
				sum += math.Exp(o.scored(x) - most)
			}
			out.v[i] = o.scored(row[t]) - most - math.Log(sum)
		}
		return state{"l": out}
	}, back: func(n *net, c *cut, o *options, st, g state) state {
		z, l := st["z"], c.f(n, c, o, st)["l"]
		out := newMatrix(g["l"].n, z.w)
		for r := range out.n {
			i, d := r%z.n, g["l"].v[r]
			row, t := z.row(i), n.target[i]
			of := o.scored(row[t]) - l.v[i] // the logarithm of the sum
			for e, x := range row {
				v := -math.Exp(o.scored(x) - of)
				if e == int(t) {
					v++
				}
				if o.softcap > 0 {
					y := math.Tanh(x / o.softcap)
					v *= 1 - y*y
				}
				if o.temp > 0 {
					v /= o.temp
				}
				out.row(r)[e] = d * v
			}
		}
		return state{"z": out}
	}})
}

// scored is a logit behind its cap and temperature.
func (o *options) scored(x float64) float64 {
	if o.softcap > 0 {
		x = math.Tanh(x/o.softcap) * o.softcap
	}
	if o.temp > 0 {
		x /= o.temp
	}
	return x
}

// latents adds the stages of attention whose keys and values are made of a narrow row.
func (n *net) latents(l int, lin func(layer int, stage, from string, to []string, names ...string)) {
	p := prefix(l) + "self_attn."
	narrow := n.has(p + "q_a_proj")
	norms, rows := []string{p + "kv_a_layernorm"}, []string{"c"}
	if narrow {
		lin(l, "latent", "n", []string{"x", "y"}, p+"q_a_proj", p+"kv_a_proj_with_mqa")
		norms, rows = append([]string{p + "q_a_layernorm"}, norms...), []string{"x", "c"}
	} else {
		lin(l, "latent", "n", []string{"y"}, p+"kv_a_proj_with_mqa")
	}
	n.cuts = append(n.cuts, &cut{layer: l, stage: "latent_norm", in: []string{"y"}, out: rows, weight: norms, f: func(n *net, c *cut, o *options, st state) state {
		res := state{}
		for i, name := range rows {
			w := n.get(norms[i] + ".weight")
			x := st[name]
			if name == "c" {
				lacks(w == nil || len(w.V) > st["y"].w)
				x = columns(st["y"], 0, len(w.V))
			}
			res[name] = norm(x, w, o)
		}
		return res
	}, back: func(n *net, c *cut, o *options, st, g state) state {
		res := state{}
		for i, name := range rows {
			w := n.get(norms[i] + ".weight")
			switch {
			case g[name] == nil:
			case name == "c" && w != nil:
				d := normBack(g[name], columns(st["y"], 0, len(w.V)), w, o)
				wide := newMatrix(d.n, st["y"].w)
				for r := range d.n {
					copy(wide.row(r), d.row(r))
				}
				res["y"] = wide
			default:
				res[name] = normBack(g[name], st[name], w, o)
			}
		}
		return res
	}})
	if narrow {
		lin(l, "qkv", "x", []string{"q"}, p+"q_b_proj")
	} else {
		lin(l, "qkv", "n", []string{"q"}, p+"q_proj")
	}
	n.cuts = append(n.cuts,
		&cut{layer: l, stage: "rope", in: []string{"q"}, out: []string{"q"}, f: func(n *net, c *cut, o *options, st state) state {
			return state{"q": n.rotate(st["q"], c.layer, o, false)}
		}, back: func(n *net, c *cut, o *options, st, g state) state {
			return state{"q": n.rotate(g["q"], c.layer, o, true)}
		}},
		// Keys and values as attention reads them.
		&cut{layer: l, stage: "latent_kv", in: []string{"c", "y"}, out: []string{"k", "v"}, weight: []string{p + "kv_b_proj"}, f: func(n *net, c *cut, o *options, st state) state {
			made := st["c"]
			cached := o.kv != 0 && o.kv != dtype.BFloat16 // which is of angles
			if cached {
				made = narrowed(made, made.w, o.kv)
			}
			kv := linear(made, n.get(p+"kv_b_proj.weight"), nil)
			lacks(kv.w != n.heads*(n.dim-n.turned+n.valueDim) || st["y"].w < n.turned)
			turned := n.rotate(columns(st["y"], st["y"].w-n.turned, st["y"].w), c.layer, o, false)
			if cached {
				turned = narrowed(turned, n.turned, o.kv)
			}
			plain := n.dim - n.turned
			k, v := newMatrix(kv.n, n.heads*n.dim), newMatrix(kv.n, n.heads*n.valueDim)
			each := plain + n.valueDim
			for i := range kv.n {
				for h := range n.heads {
					to := k.row(i)[h*n.dim : (h+1)*n.dim]
					copy(to, kv.row(i)[h*each:h*each+plain])
					copy(to[plain:], turned.row(i))
					copy(v.row(i)[h*n.valueDim:(h+1)*n.valueDim], kv.row(i)[h*each+plain:])
				}
			}
			return state{"k": k, "v": v}
		}, back: func(n *net, c *cut, o *options, st, g state) state {
			plain := n.dim - n.turned
			each := plain + n.valueDim
			kv, turned, wide := newMatrix(g["k"].n, n.heads*each), newMatrix(g["k"].n, n.turned), newMatrix(g["k"].n, st["y"].w)
			for i := range kv.n {
				for h := range n.heads {
					from := g["k"].row(i)[h*n.dim : (h+1)*n.dim]
					copy(kv.row(i)[h*each:], from[:plain])
					copy(kv.row(i)[h*each+plain:], g["v"].row(i)[h*n.valueDim:(h+1)*n.valueDim])
					for e, x := range from[plain:] {
						turned.row(i)[e] += x
					}
				}
			}
			turned = n.rotate(turned, c.layer, o, true)
			for i := range wide.n {
				copy(wide.row(i)[wide.w-n.turned:], turned.row(i))
			}
			return state{"c": linearBack(kv, n.get(p+"kv_b_proj.weight")), "y": wide}
		}})
}

// columns are some of all rows.
func columns(m *matrix, lo, hi int) *matrix {
	out := newMatrix(m.n, hi-lo)
	for i := range m.n {
		copy(out.row(i), m.row(i)[lo:hi])
	}
	return out
}

// mixture adds the stages of a router and its experts.
func (n *net) mixture(l int, lin func(layer int, stage, from string, to []string, names ...string)) {
	p := prefix(l)
	lin(l, "router", "n", []string{"r"}, p+"mlp.gate")
	n.cuts = append(n.cuts,
		// Which experts are chosen is no function of real numbers: behind it the experts are those that a side recorded.
		&cut{layer: l, stage: "choice", in: []string{"r"}, out: []string{"i"}, f: func(n *net, c *cut, o *options, st state) state {
			if ids := st["chosen"+strconv.Itoa(l)]; ids != nil {
				return state{"i": ids}
			}
			lacks(st["r"].w == 0)
			return state{"i": top(n.scores(l, st["r"]), n.topk)}
		}},
		&cut{layer: l, stage: "gate_weights", in: []string{"r", "i"}, out: []string{"p"}, f: func(n *net, c *cut, o *options, st state) state {
			r, ids := st["r"], st["i"]
			lacks(r.w == 0)
			out := newMatrix(r.n, ids.w)
			for i := range r.n {
				row := r.row(i)
				most, sum := slices.Max(row), 0.0
				for _, x := range row {
					sum += math.Exp(x - most)
				}
				total := 0.0
				for j := range ids.w {
					e := int(ids.row(i)[j])
					lacks(e < 0 || e >= r.w)
					v := math.Exp(row[e]-most) / sum
					if o.sigmoid {
						v = 1 / (1 + math.Exp(-row[e]))
					}
					out.row(i)[j] = v
					total += v
				}
				for j := range ids.w {
					if o.renorm {
						out.row(i)[j] /= total
					}
					out.row(i)[j] *= o.factor
				}
			}
			return state{"p": out}
		}, back: func(n *net, c *cut, o *options, st, g state) state {
			r, ids, plain := st["r"], st["i"], *o
			plain.renorm, plain.factor = false, 1
			made := c.f(n, c, &plain, st)
			out := newMatrix(g["p"].n, r.w)
			for at := range out.n {
				i := at % r.n
				v, d := made["p"].row(i), slices.Clone(g["p"].row(at))
				total, mean := 0.0, 0.0
				for _, x := range v {
					total += x
				}
				if o.renorm {
					for j := range d {
						mean += d[j] * v[j] / total
					}
					for j := range d {
						d[j] = (d[j] - mean) / total
					}
				}
				mean = 0
				for j := range d {
					d[j] *= o.factor
					mean += d[j] * v[j]
				}
				to := out.row(at)
				for j, e := range ids.row(i) {
					if o.sigmoid {
						to[int(e)] += d[j] * v[j] * (1 - v[j])
					} else {
						to[int(e)] += d[j] * v[j]
					}
				}
				if !o.sigmoid {
					row, most, sum := r.row(i), slices.Max(r.row(i)), 0.0
					for _, x := range row {
						sum += math.Exp(x - most)
					}
					for e, x := range row {
						to[e] -= mean * math.Exp(x-most) / sum
					}
				}
			}
			return state{"r": out}
		}},
		&cut{layer: l, stage: "experts", in: []string{"n", "i", "p"}, out: []string{"d"}, weight: []string{p + "mlp.experts"}, f: func(n *net, c *cut, o *options, st state) state {
			return state{"d": n.experts(l, st["n"], st["i"], st["p"], o)}
		}, back: func(n *net, c *cut, o *options, st, g state) state {
			x, p := n.expertsBack(l, g["d"], st["n"], st["i"], st["p"], o)
			return state{"n": x, "p": p}
		}})
}

// scores are what experts are chosen by: those of the router, or with a bias that is for choosing only.
func (n *net) scores(layer int, r *matrix) *matrix {
	b := n.get(prefix(layer) + "mlp.gate.e_score_correction_bias")
	if b == nil || len(b.V) != r.w {
		return r
	}
	out := newMatrix(r.n, r.w)
	for i, x := range r.v {
		out.v[i] = 1/(1+math.Exp(-x)) + b.V[i%r.w]
	}
	return out
}

// top are the numbers of the k highest scores of every row, of all where there are fewer.
func top(r *matrix, k int) *matrix {
	k = min(k, r.w)
	out := newMatrix(r.n, k)
	for i := range r.n {
		row := r.row(i)
		order := make([]int, len(row))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[b], row[a]) })
		for j := range k {
			out.row(i)[j] = float64(order[j])
		}
	}
	return out
}

// run applies the functions of cuts from one to another, both counted; nil where one lacks something.
func (n *net) run(from, to int, st state) state {
	st, _ = must.Of(func() state {
		st := st.with(nil)
		for _, c := range n.cuts[from : to+1] {
			for _, name := range c.in {
				lacks(st[name] == nil)
				n.hold(st[name])
			}
			n.hold(st["chosen"+itoa(c.layer)])
			maps.Copy(st, c.f(n, c, &c.opt, st))
		}
		return st
	})
	return st
}

// layersOf counts the layers that weights are named of.
func layersOf(names []string) (n int) {
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, "model.layers."); ok {
			at, _, _ := strings.Cut(rest, ".")
			if i, err := strconv.Atoi(at); err == nil && i < 1<<12 {
				n = max(n, i+1)
			}
		}
	}
	return n
}

func itoa(i int) string { return strconv.Itoa(i) }
