package stage

import (
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/weights"
	"precision/dump/dtype"
)

// A small network with attention as in DeepSeek: queries through a narrow row of 6, keys and values through one of 5 with 4 turned elements, 4 heads
// of 3 + 4 for queries and keys and of 2 for values. It is computed here by loops over the tokens of a text, and by nothing of the package.
const (
	latentHidden, latentHeads, latentPlain, latentTurned, latentValue = 16, 4, 3, 4, 2
	latentQ, latentKV, latentInner                                    = 6, 5, 24
)

// latentNet computes it; what one side does otherwise are its fields.
type latentNet struct {
	w                 map[string]*weights.Matrix
	narrow            bool // queries are made of a narrow row
	eps, scale, theta float64
	late              int                 // positions are so many further
	slot              bool                // the cache has a token's keys and values in the place of the next
	kept              *dtype.Type         // type of the narrow row as the cache keeps it
	noise             func(i int) float64 // a factor for what is computed, by element
}

func latentWeights(narrow bool) map[string]*weights.Matrix {
	r := rand.New(rand.NewPCG(11, 12))
	all := map[string]*weights.Matrix{}
	put := func(name string, mean, scale float64, shape ...int64) {
		n := shape[0]
		if len(shape) == 2 {
			n *= shape[1]
			scale /= math.Sqrt(float64(shape[1]))
		}
		m := &weights.Matrix{Shape: shape}
		for range n {
			m.V = append(m.V, dtype.BFloat16.Rounding().Round(mean+scale*r.NormFloat64()))
		}
		all[name] = m
	}
	put("model.embed_tokens.weight", 0, 1, madeVocab, latentHidden)
	for l := range madeLayers {
		p := prefix(l)
		put(p+"input_layernorm.weight", 1, 0.2, latentHidden)
		from, name := int64(latentHidden), "q_proj"
		if narrow {
			put(p+"self_attn.q_a_proj.weight", 0, 1, latentQ, latentHidden)
			put(p+"self_attn.q_a_layernorm.weight", 1, 0.2, latentQ)
			from, name = latentQ, "q_b_proj"
		}
		put(p+"self_attn."+name+".weight", 0, 2, latentHeads*(latentPlain+latentTurned), from)
		put(p+"self_attn.kv_a_proj_with_mqa.weight", 0, 1, latentKV+latentTurned, latentHidden)
		put(p+"self_attn.kv_a_layernorm.weight", 1, 0.2, latentKV)
		put(p+"self_attn.kv_b_proj.weight", 0, 1, latentHeads*(latentPlain+latentValue), latentKV)
		put(p+"self_attn.o_proj.weight", 0, 1, latentHidden, latentHeads*latentValue)
		put(p+"post_attention_layernorm.weight", 1, 0.2, latentHidden)
		put(p+"mlp.gate_proj.weight", 0, 1, latentInner, latentHidden)
		put(p+"mlp.up_proj.weight", 0, 1, latentInner, latentHidden)
		put(p+"mlp.down_proj.weight", 0, 1, latentHidden, latentInner)
	}
	put("model.norm.weight", 1, 0.2, latentHidden)
	put("lm_head.weight", 0, 2, madeVocab, latentHidden)
	return all
}

// tokens of a text by name of what is computed, each a row.
type latentRows map[string][][]float64

// product is a row times a weight, rounded to the type that a side keeps.
func (n *latentNet) product(name string, x []float64) []float64 {
	w := n.w[name+".weight"]
	out := make([]float64, w.Shape[0])
	for i := range out {
		for j, v := range x {
			out[i] += w.V[i*len(x)+j] * v
		}
	}
	return n.round(out)
}

func (n *latentNet) round(x []float64) []float64 {
	for i := range x {
		x[i] = dtype.BFloat16.Rounding().Round(x[i] * n.noise(i))
	}
	return x
}

func (n *latentNet) norm(name string, x []float64) []float64 {
	square, out := 0.0, make([]float64, len(x))
	for _, v := range x {
		square += v * v / float64(len(x))
	}
	eps := 1e-6
	if strings.Contains(name, "self_attn") {
		eps = n.eps
	}
	for i, v := range x {
		out[i] = v / math.Sqrt(square+eps) * n.w[name+".weight"].V[i]
	}
	return n.round(out)
}

// turn rotates neighbours against each other and has the first of all pairs stand ahead of the second ones.
func (n *latentNet) turn(x []float64, place int) []float64 {
	out, half := make([]float64, len(x)), len(x)/2
	for j := range half {
		sin, cos := math.Sincos(float64(place+n.late) * math.Pow(n.theta, -float64(j)/float64(half)))
		out[j], out[half+j] = x[2*j]*cos-x[2*j+1]*sin, x[2*j+1]*cos+x[2*j]*sin
	}
	return out
}

// text computes a text, the answers' log-probs as "l".
func (n *latentNet) text(ids []int64) latentRows {
	st := latentRows{}
	put := func(name string, row []float64) []float64 {
		st[name] = append(st[name], row)
		return row
	}
	hidden := make([][]float64, len(ids))
	for t := range hidden {
		hidden[t] = n.w["model.embed_tokens.weight"].V[ids[t]*latentHidden:][:latentHidden]
	}
	st["h"] = append(st["h"], hidden...)
	plus := func(a, b []float64) []float64 {
		out := make([]float64, len(a))
		for i := range a {
			out[i] = a[i] + b[i]
		}
		return n.round(out)
	}
	for l := range madeLayers {
		p := prefix(l)
		at := p + "self_attn."
		var queries, keys, values [][][]float64 // by token and head
		for t, h := range hidden {
			x := put(p+"n", n.norm(p+"input_layernorm", append([]float64(nil), h...)))
			put(p+"h", h)
			var q []float64
			if n.narrow {
				x := put(p+"x", n.product(at+"q_a_proj", x))
				q = n.product(at+"q_b_proj", put(p+"xn", n.norm(at+"q_a_layernorm", x)))
			} else {
				q = n.product(at+"q_proj", x)
			}
			y := put(p+"y", n.product(at+"kv_a_proj_with_mqa", x))
			c := put(p+"c", n.norm(at+"kv_a_layernorm", y[:latentKV]))
			if n.kept != nil {
				c = append([]float64(nil), c...)
				for i := range c {
					c[i] = n.kept.Rounding().Round(c[i])
				}
			}
			put(p+"q", q)
			kv, turned := put(p+"kv", n.product(at+"kv_b_proj", c)), n.turn(y[latentKV:], t)
			if n.kept == nil {
				n.round(turned)
			} else { // a kernel that rotates and writes the cache rounds once
				for i := range turned {
					turned[i] = n.kept.Rounding().Round(turned[i])
				}
			}
			var qs, ks, vs [][]float64
			for h := range latentHeads {
				one := q[h*(latentPlain+latentTurned):][:latentPlain+latentTurned]
				qs = append(qs, append(append([]float64(nil), one[:latentPlain]...), n.round(n.turn(one[latentPlain:], t))...))
				two := kv[h*(latentPlain+latentValue):][:latentPlain+latentValue]
				ks = append(ks, append(append([]float64(nil), two[:latentPlain]...), turned...))
				vs = append(vs, two[latentPlain:])
			}
			queries, keys, values = append(queries, qs), append(keys, ks), append(values, vs)
		}
		if n.slot {
			keys[2], values[2] = keys[1], values[1]
		}
		for t := range hidden {
			var a, qs, ks, vs []float64
			for h := range latentHeads {
				p, sum := make([]float64, t+1), 0.0
				for s := range p {
					for e, x := range queries[t][h] {
						p[s] += x * keys[s][h][e] * n.scale
					}
					p[s] = math.Exp(p[s])
					sum += p[s]
				}
				for e := range latentValue {
					v := 0.0
					for s := range p {
						v += p[s] / sum * values[s][h][e]
					}
					a = append(a, v)
				}
				qs, ks, vs = append(qs, queries[t][h]...), append(ks, keys[t][h]...), append(vs, values[t][h]...)
			}
			put(p+"Q", qs)
			put(p+"K", ks)
			put(p+"V", vs)
			o := put(p+"o", n.product(at+"o_proj", put(p+"a", n.round(a))))
			mid := put(p+"h2", plus(hidden[t], o))
			x := put(p+"n2", n.norm(p+"post_attention_layernorm", mid))
			g, u := put(p+"g", n.product(p+"mlp.gate_proj", x)), put(p+"u", n.product(p+"mlp.up_proj", x))
			m := make([]float64, len(g))
			for i := range m {
				m[i] = g[i] / (1 + math.Exp(-g[i])) * u[i]
			}
			hidden[t] = plus(mid, put(p+"d", n.product(p+"mlp.down_proj", put(p+"m", n.round(m)))))
		}
	}
	for t, h := range hidden {
		z := put("z", n.product("lm_head", put("n", n.norm("model.norm", put("last", h)))))
		sum := 0.0
		for _, x := range z {
			sum += math.Exp(x)
		}
		if t+1 < len(ids) {
			put("l", []float64{z[ids[t+1]] - math.Log(sum)})
		}
	}
	return st
}

// record writes texts as rows of one batch, padded behind, or each as a pass of its own.
func (n *latentNet) record(t testing.TB, dir string, texts [][]int64, list []latentRows) {
	r := newRecorder(t, dir)
	s := 0
	for _, x := range texts {
		s = max(s, len(x))
	}
	tensor := func(name string, heads int) any {
		w := len(list[0][name][0])
		v, d := make([]float64, len(texts)*s*w), w/heads
		for b := range texts {
			for i, row := range list[b][name] {
				for e, x := range row {
					v[((b*heads+e/d)*s+i)*d+e%d] = x
				}
			}
		}
		if heads == 1 {
			return r.tensor(v, dtype.BFloat16, len(texts), s, w)
		}
		return r.tensor(v, dtype.BFloat16, len(texts), heads, s, d)
	}
	ids, places, angles := make([]float64, len(texts)*s), make([]float64, len(texts)*s), [2][]float64{}
	for b, x := range texts {
		for i := range s {
			places[b*s+i] = float64(i)
			if i < len(x) {
				ids[b*s+i] = float64(x[i])
			}
			for j := range latentTurned {
				sin, cos := math.Sincos(float64(i+n.late) * math.Pow(n.theta, -2*float64(j%(latentTurned/2))/latentTurned))
				angles[0], angles[1] = append(angles[0], cos), append(angles[1], sin)
			}
		}
	}
	one := func(name string, in, out string) {
		r.call("Module."+name+".forward.0", []any{tensor(in, 1)}, []any{tensor(out, 1)})
	}
	r.call("Module.model.embed_tokens.Embedding.forward.0", []any{r.tensor(ids, dtype.Int64, len(texts), s)}, []any{tensor("h", 1)})
	r.call("Module.model.rotary_emb.RotaryEmbedding.forward.0", []any{tensor("h", 1), r.tensor(places, dtype.Int64, len(texts), s)},
		[]any{r.tensor(angles[0], dtype.Float32, len(texts), s, latentTurned), r.tensor(angles[1], dtype.Float32, len(texts), s, latentTurned)})
	for l := range madeLayers {
		p := prefix(l)
		at := p + "self_attn."
		one(p+"input_layernorm.RMSNorm", p+"h", p+"n")
		if n.narrow {
			one(at+"q_a_proj.Linear", p+"n", p+"x")
			one(at+"q_a_layernorm.RMSNorm", p+"x", p+"xn")
			one(at+"q_b_proj.Linear", p+"xn", p+"q")
		} else {
			one(at+"q_proj.Linear", p+"n", p+"q")
		}
		one(at+"kv_a_proj_with_mqa.Linear", p+"n", p+"y")
		one(at+"kv_a_layernorm.RMSNorm", p+"c", p+"c")
		one(at+"kv_b_proj.Linear", p+"c", p+"kv")
		r.call("Functional.scaled_dot_product_attention."+itoa(l)+".forward", []any{tensor(p+"Q", latentHeads), tensor(p+"K", latentHeads), tensor(p+"V", latentHeads)}, []any{tensor(p+"a", latentHeads)})
		one(at+"o_proj.Linear", p+"a", p+"o")
		one(p+"post_attention_layernorm.RMSNorm", p+"h2", p+"n2")
		one(p+"mlp.gate_proj.Linear", p+"n2", p+"g")
		one(p+"mlp.up_proj.Linear", p+"n2", p+"u")
		one(p+"mlp.down_proj.Linear", p+"m", p+"d")
	}
	one("model.norm.RMSNorm", "last", "n")
	one("lm_head.Linear", "n", "z")
	r.call("Module.model.Model.forward.0", []any{r.tensor(ids, dtype.Int64, len(texts), s), r.tensor(places, dtype.Int64, len(texts), s)}, nil)
	r.close()
}

// plain is no noise.
func plain(int) float64 { return 1 }

// latentPair records both sides and asks for them to be judged.
func latentPair(t *testing.T, narrow bool, change func(n *latentNet)) *Request {
	dir := t.TempDir()
	all := latentWeights(narrow)
	set := writeWeights(t, filepath.Join(dir, "w.safetensors"), all)
	columns := len(madeTexts[1]) - 1
	q := &Request{Train: filepath.Join(dir, "train"), Rollout: filepath.Join(dir, "rollout"), TrainWeights: set, RolloutWeights: set, Rows: len(madeTexts), Columns: columns,
		Counts: func(i int) bool { return i%columns < len(madeTexts[i/columns])-1 }}
	q.TrainLog, q.RolloutLog, q.Answers = make([]float64, q.Rows*columns), make([]float64, q.Rows*columns), make([]int64, q.Rows*columns)
	for side := range 2 {
		n := &latentNet{w: all, narrow: narrow, eps: 1e-6, scale: 1 / math.Sqrt(latentPlain+latentTurned), theta: 1e4, noise: plain}
		if side == 1 {
			n.noise = func(i int) float64 { return 1 + 1e-3*math.Sin(float64(7*i)) }
			change(n)
		}
		var list []latentRows
		for b, x := range madeTexts {
			st := n.text(x)
			list = append(list, st)
			for i, l := range st["l"] {
				[]([]float64){q.TrainLog, q.RolloutLog}[side][b*columns+i], q.Answers[b*columns+i] = l[0], x[i+1]
			}
			if side == 1 {
				n.record(t, filepath.Join(q.Rollout, "step"+itoa(b)), [][]int64{x}, []latentRows{st})
			}
		}
		if side == 0 {
			n.record(t, filepath.Join(q.Train, "step0"), madeTexts, list)
		}
	}
	return q
}

// TestLatent: attention with narrow keys and values, computed by loops, is the stages' functions; what one side does otherwise is found at its stage, and
// the slope of every stage tells of the log-probs what computing the rest of the network behind it does.
func TestLatent(t *testing.T) {
	kept := dtype.Float8E4M3FN
	for _, narrow := range []bool{false, true} {
		for _, c := range []struct {
			name    string
			change  func(n *latentNet)
			finding Finding
			variant string
			stages  []string // by name, of every layer
		}{
			{"nothing", func(*latentNet) {}, "", "", nil},
			{"scale", func(n *latentNet) { n.scale /= 2 }, Formula, "scale", []string{"attn"}},
			{"base", func(n *latentNet) { n.theta = 1e6 }, Formula, "theta", []string{"rope", "latent_kv"}},
			{"positions one further", func(n *latentNet) { n.late = 1 }, Formula, "shift", []string{"rope", "latent_kv"}},
			{"epsilon of the narrow rows", func(n *latentNet) { n.eps = 0.03 }, Formula, "", []string{"latent_norm"}},
			{"a slot of the cache", func(n *latentNet) { n.slot = true }, Formula, "", []string{"latent_kv"}},
			{"narrow rows in 8 bits", func(n *latentNet) { n.kept, n.noise = &kept, plain }, Precision, "cache", []string{"latent_kv"}},
		} {
			name := c.name + map[bool]string{true: ", narrow queries"}[narrow]
			q := latentPair(t, narrow, c.change)
			r, err := Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Shares || r.Covered < 0.99 || math.Abs(r.Sum-1) > 1e-9 {
				t.Errorf("%s: covered %v, shares add up to %v, notes %v", name, r.Covered, r.Sum, r.Notes)
			}
			found := map[string]int{}
			for _, s := range r.Stages {
				if s.Finding != Same && s.Finding != Rounding {
					found[s.Name]++
					if s.Finding != c.finding || s.Variant != c.variant || s.Side != "rollout" {
						t.Errorf("%s: %+v", name, s)
					}
				}
			}
			want := map[string]int{}
			for _, s := range c.stages {
				want[s] = madeLayers
			}
			if !maps.Equal(found, want) {
				t.Errorf("%s: found %v, want %v", name, found, want)
			}
			slope(t, name, q, c.finding == "")
		}
	}
}
