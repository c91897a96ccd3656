package stage

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"precision/compare/weights"
	"precision/dump/checkpoint"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/dump/torch"
	"precision/testdata/workshop/dumptest"
)

// A small network of two layers, hidden 16, 4 heads of 4 with 2 of keys, and two texts. The benchmark makes a larger one.
var (
	madeHidden, madeInner, madeVocab int64 = 16, 24, 24
	madeDim, madeLayers                    = 4, 2
)

var madeTexts = [][]int64{{3, 7, 11, 2, 9, 14, 5}, {8, 1, 20, 17, 4, 6, 13, 10, 19}}

// madeWeights are random, in bfloat16; moe has a router with a bias.
func madeWeights(moe bool) (all map[string]*weights.Matrix) {
	r := rand.New(rand.NewPCG(1, 2))
	all = map[string]*weights.Matrix{}
	round := dtype.BFloat16.Rounding()
	put := func(name string, scale, mean float64, shape ...int64) {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		m := &weights.Matrix{Shape: shape}
		if len(shape) == 2 {
			scale *= 4 / math.Sqrt(float64(madeHidden))
		}
		for range n {
			m.V = append(m.V, round.Round(mean+scale*r.NormFloat64()))
		}
		all[name] = m
	}
	put("model.embed_tokens.weight", 0.05, 0, madeVocab, madeHidden)
	q, kv := int64(4*madeDim), int64(2*madeDim)
	for l := range madeLayers {
		p := prefix(l)
		put(p+"input_layernorm.weight", 0.2, 1, madeHidden)
		put(p+"self_attn.q_proj.weight", 0.3, 0, q, madeHidden)
		put(p+"self_attn.k_proj.weight", 0.3, 0, kv, madeHidden)
		put(p+"self_attn.v_proj.weight", 0.3, 0, kv, madeHidden)
		put(p+"self_attn.o_proj.weight", 0.1, 0, madeHidden, q)
		put(p+"post_attention_layernorm.weight", 0.2, 1, madeHidden)
		if moe {
			put(p+"mlp.gate.weight", 0.5, 0, 4, madeHidden)
			put(p+"mlp.gate.bias", 1, 0, 4)
			for e := range 4 {
				q := fmt.Sprintf("%smlp.experts.%d.", p, e)
				put(q+"gate_proj.weight", 0.3, 0, madeInner, madeHidden)
				put(q+"up_proj.weight", 0.3, 0, madeInner, madeHidden)
				put(q+"down_proj.weight", 0.1, 0, madeHidden, madeInner)
			}
			continue
		}
		put(p+"mlp.gate_proj.weight", 0.3, 0, madeInner, madeHidden)
		put(p+"mlp.up_proj.weight", 0.3, 0, madeInner, madeHidden)
		put(p+"mlp.down_proj.weight", 0.1, 0, madeHidden, madeInner)
	}
	put("model.norm.weight", 0.2, 1, madeHidden)
	put("lm_head.weight", 0.6, 0, madeVocab, madeHidden)
	return all
}

// MadeWeights writes the weights of a pair, changed, to a file.
func MadeWeights(t testing.TB, moe bool, change func(all map[string]*weights.Matrix)) *checkpoint.Set {
	all := madeWeights(moe)
	change(all)
	return writeWeights(t, filepath.Join(t.TempDir(), "w.safetensors"), all)
}

// writeWeights writes a safetensors file of float32.
func writeWeights(t testing.TB, path string, all map[string]*weights.Matrix) *checkpoint.Set {
	t.Helper()
	head, data := map[string]any{}, []byte{}
	for _, n := range slices.Sorted(maps.Keys(all)) {
		at := len(data)
		for _, x := range all[n].V {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
		}
		head[n] = map[string]any{"dtype": "F32", "shape": all[n].Shape, "data_offsets": []int{at, len(data)}}
	}
	text, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	raw := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	if err := os.WriteFile(path, append(raw, data...), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set
}

// lowRank has peft's matrices of low-rank training beside the weights that make queries and keys, and the products of these.
func lowRank(all map[string]*weights.Matrix) (parts, products map[string]*weights.Matrix) {
	const rank = 2
	r := rand.New(rand.NewPCG(3, 4))
	parts, products = map[string]*weights.Matrix{}, map[string]*weights.Matrix{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, path := all[name], "base_model.model."+strings.TrimSuffix(name, ".weight")
		if !strings.HasSuffix(path, "q_proj") && !strings.HasSuffix(path, "k_proj") {
			parts["base_model.model."+name] = m
			continue
		}
		up, down, product := newMatrix(int(m.Shape[0]), rank), newMatrix(rank, int(m.Shape[1])), &weights.Matrix{Shape: m.Shape}
		for _, v := range [][]float64{up.v, down.v} {
			for i := range v {
				v[i] = dtype.BFloat16.Rounding().Round(0.3 * r.NormFloat64())
			}
		}
		for i := range up.n {
			for j := range down.w {
				sum := 0.0
				for k, u := range up.row(i) {
					sum += u * down.row(k)[j]
				}
				product.V = append(product.V, sum)
			}
		}
		products[name] = product
		parts[path+".base_layer.weight"] = m
		parts[path+".lora_A.default.weight"] = &weights.Matrix{Shape: []int64{rank, m.Shape[1]}, V: down.v}
		parts[path+".lora_B.default.weight"] = &weights.Matrix{Shape: []int64{m.Shape[0], rank}, V: up.v}
	}
	return parts, products
}

// sums are weights with what is added to them.
func sums(all, added map[string]*weights.Matrix, scale func(name string) float64) map[string]*weights.Matrix {
	whole := maps.Clone(all)
	for name, x := range added {
		m := &weights.Matrix{Shape: x.Shape, V: slices.Clone(all[name].V)}
		for i := range m.V {
			m.V[i] += scale(name) * x.V[i]
		}
		whole[name] = m
	}
	return whole
}

// recorder writes calls as msprobe does.
type recorder struct {
	t     testing.TB
	dir   string
	names []string
	data  map[string]any
	count int
}

func newRecorder(t testing.TB, dir string) *recorder {
	r := &recorder{t: t, dir: filepath.Join(dir, "rank0"), data: map[string]any{}}
	if err := os.MkdirAll(filepath.Join(r.dir, "dump_tensor_data"), 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

// tensor writes elements, rounded to the type, and describes them.
func (r *recorder) tensor(v []float64, typ dtype.Type, shape ...int) map[string]any {
	name := fmt.Sprintf("%d.pt", r.count)
	r.count++
	raw, wide := []byte{}, make([]int64, len(shape))
	for i, d := range shape {
		wide[i] = int64(d)
	}
	for _, x := range v {
		switch typ {
		case dtype.Int64:
			raw = binary.LittleEndian.AppendUint64(raw, uint64(int64(x)))
		case dtype.BFloat16:
			raw = binary.LittleEndian.AppendUint16(raw, uint16(math.Float32bits(float32(typ.Rounding().Round(x)))>>16))
		case dtype.Float16:
			raw = append(raw, dumptest.Halves([]float32{float32(x)})...)
		default:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		}
	}
	f, err := os.Create(filepath.Join(r.dir, "dump_tensor_data", name))
	if err == nil {
		err = torch.Write(f, typ, wide, bytes.NewReader(raw))
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return map[string]any{"type": "torch.Tensor", "dtype": map[dtype.Type]string{dtype.Int64: "torch.int64", dtype.BFloat16: "torch.bfloat16", dtype.Float16: "torch.float16", dtype.Float32: "torch.float32"}[typ], "shape": shape, "data_name": name}
}

func (r *recorder) call(name string, in, out []any) {
	r.names = append(r.names, name)
	r.data[name] = map[string]any{"input_args": in, "input_kwargs": map[string]any{}, "output": out}
}

func (r *recorder) close() {
	var b strings.Builder
	b.WriteString(`{"task": "tensor", "level": "mix", "framework": "pytorch", "dump_data_dir": "", "data": {`)
	for i, n := range r.names {
		text, err := json.Marshal(r.data[n])
		if err != nil {
			r.t.Fatal(err)
		}
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n%q: %s", n, text)
	}
	b.WriteString("}}\n")
	if err := os.WriteFile(filepath.Join(r.dir, "dump.json"), []byte(b.String()), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// madePair records a pair. change alters the functions of the rollout by stage, types the type in which it keeps a stage's output,
// after what it computed.
type madePair struct {
	moe    bool
	base   func(c *cut)
	change func(c *cut)
	types  map[string]dtype.Type
	after  func(c *cut, st state)
	// before changes what both sides computed.
	before func(c *cut, st state)
	// single gives the rollout one pass a text; padded has the trainer pad on the left.
	single, padded bool
	// packed has the trainer put all texts into one row, with positions that begin again.
	packed bool
	// prefix is how many tokens of every text the rollout had in its cache before.
	prefix int
	// ids and given change what trainer and rollout are given.
	ids, given func(texts [][]int64) [][]int64
	// spoil changes what the trainer recorded, by cut.
	spoil func(list []state)
	// silent has the trainer keep its choice of experts, and the parts of what it adds, to itself.
	silent bool
	// late has the rollout choose among scores, and make weights of those chosen.
	late bool
	// turned has the rollout record the cosines and sines that it rotates by.
	turned bool
	// kept is the type in which both sides keep what they compute, bfloat16 if 0.
	kept dtype.Type
	// without names weights that the rollout's checkpoint lacks, and others what it computes with in place of those of the trainer.
	without string
	others  func(all map[string]*weights.Matrix)
	// merged has the trainer add to some weights what low-rank training learned, with scale 2, and the rollout merge that with a scale of its own.
	merged func(name string) (scale float64)
	// shown has the rollout record what attention reads; each text has a pass of its own then.
	shown bool
	// logs changes the log-probs that are given.
	logs func(q *Request)
	// tokens bounds how many are looked at.
	tokens int
	// numbers are what both sides divide their logits by, as a cap and a temperature, in calls of their own.
	numbers []float64
	// capped has a tanh follow: they are caps.
	capped bool
	// dir is where the recordings go, a new folder if empty.
	dir string
}

func (p *madePair) typ() dtype.Type {
	return cmp.Or(p.kept, dtype.BFloat16)
}

func (p *madePair) run(t *testing.T) *Report {
	t.Helper()
	r, err := Run(t.Context(), p.write(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// MadeFault writes a pair of [faults] or [elsewhere].
func MadeFault(t testing.TB, name string) *Request {
	t.Helper()
	for _, x := range slices.Concat(faults(), elsewhere()) {
		if x.name == name {
			return x.pair.write(t)
		}
	}
	t.Fatalf("no pair is called %q", name)
	return nil
}

// Larger makes pairs of networks that are wider by a factor, with more layers and random texts; what it returns undoes that.
func Larger(factor int64, layers, texts, tokens int, r *rand.Rand) (undo func()) {
	hidden, inner, vocab, dim, was, old := madeHidden, madeInner, madeVocab, madeDim, madeLayers, madeTexts
	madeHidden, madeInner, madeVocab, madeDim, madeLayers, madeTexts = factor*hidden, factor*inner, factor*vocab, int(factor)*dim, layers, nil
	for range texts {
		text := make([]int64, tokens)
		for i := range text {
			text[i] = r.Int64N(madeVocab)
		}
		madeTexts = append(madeTexts, text)
	}
	return func() {
		madeHidden, madeInner, madeVocab, madeDim, madeLayers, madeTexts = hidden, inner, vocab, dim, was, old
	}
}

// Sloped has every network be too large for exact shares, until that is undone.
func Sloped() (undo func()) {
	was := mostWork
	mostWork = 1
	return func() { mostWork = was }
}

// Made writes a pair with experts; wrong attends with another scale in the rollout.
func Made(t testing.TB, dir string, wrong bool) *Request {
	p := &madePair{moe: true, dir: dir}
	if wrong {
		p.change = func(c *cut) {
			if c.stage == "attn" {
				c.opt.scale = 0.1
			}
		}
	}
	return p.write(t)
}

// write records the pair, and returns the request to judge it.
func (p *madePair) write(t testing.TB) *Request {
	t.Helper()
	dir := p.dir
	if dir == "" {
		dir = t.TempDir()
	}
	all := madeWeights(p.moe)
	set := writeWeights(t, filepath.Join(dir, "w.safetensors"), all)
	own, held, given := set, set, set // what the trainer and the rollout compute with, and what the rollout's checkpoint has
	added := map[string]*weights.Matrix{}
	if p.merged != nil {
		var parts map[string]*weights.Matrix
		parts, added = lowRank(all)
		set = writeWeights(t, filepath.Join(dir, "parts.safetensors"), parts)
		own = writeWeights(t, filepath.Join(dir, "sum.safetensors"), sums(all, added, func(string) float64 { return 2 }))
		held = writeWeights(t, filepath.Join(dir, "merged.safetensors"), sums(all, added, p.merged))
		given = held
	}
	if p.without != "" || p.others != nil {
		all := madeWeights(p.moe)
		if p.others != nil {
			p.others(all)
		}
		held = writeWeights(t, filepath.Join(dir, "held.safetensors"), all)
		maps.DeleteFunc(all, func(n string, _ *weights.Matrix) bool { return p.without != "" && strings.Contains(n, p.without) })
		given = writeWeights(t, filepath.Join(dir, "given.safetensors"), all)
	}
	engine := func(texts [][]int64, set *checkpoint.Set) *net {
		m := &tokens{}
		for i, x := range texts {
			m.seqs = append(m.seqs, sequence{lo: len(m.ids), hi: len(m.ids) + len(x) - 1, row: i})
			m.ids = append(m.ids, x[:len(x)-1]...)
			m.after = append(m.after, x[1:]...)
		}
		n := &net{tok: m, w: weights.Networks(set, set), cache: map[string]*weights.Matrix{}, hidden: int(madeHidden), dim: madeDim, heads: 4, kvHeads: 2, layers: madeLayers, topk: 2}
		n.cos, n.sin = make([]*matrix, madeLayers), make([]*matrix, madeLayers)
		for k, id := range m.after {
			n.keys, n.target = append(n.keys, k), append(n.target, id)
		}
		n.build()
		for _, c := range n.cuts {
			c.opt = options{eps: 1e-6, scale: 1 / math.Sqrt(float64(madeDim)), act: "silu", factor: 1, renorm: true, theta: 1e4}
			if p.base != nil {
				p.base(c)
			}
		}
		return n
	}
	compute := func(n *net, types map[string]dtype.Type, after func(c *cut, st state)) (list []state) {
		st := state{}
		for i, c := range n.cuts {
			st = n.run(i, i, st)
			for _, change := range []func(c *cut, st state){p.before, after} {
				if change != nil {
					change(c, st)
				}
			}
			typ, ok := types[c.stage]
			if !ok {
				typ = p.typ()
			}
			if c.stage == "logp" || c.stage == "choice" || c.stage == "router" && !ok || c.stage == "gate_weights" && !ok {
				typ = dtype.Float32
			}
			r := typ.Rounding()
			for _, name := range c.out {
				for k := range st[name].v {
					st[name].v[k] = r.Round(st[name].v[k])
				}
			}
			list = append(list, st)
		}
		return list
	}
	texts := func(change func(texts [][]int64) [][]int64) (texts [][]int64) {
		for i := range madeTexts {
			texts = append(texts, slices.Clone(madeTexts[i]))
		}
		if change != nil {
			texts = change(texts)
		}
		return texts
	}
	p.single = p.single || p.shown
	a, b := engine(texts(p.ids), own), engine(texts(p.given), held)
	for _, c := range b.cuts {
		if p.change != nil {
			p.change(c)
		}
	}
	x, y := compute(a, nil, nil), compute(b, p.types, p.after)
	if p.spoil != nil {
		p.spoil(x)
	}
	p.trainer(t, a, x, added, filepath.Join(dir, "train", "step0"))
	p.engine(t, b, y, filepath.Join(dir, "rollout", "step0"))
	columns := 0
	for _, x := range madeTexts {
		columns = max(columns, len(x)-1)
	}
	q := &Request{Train: filepath.Join(dir, "train"), Rollout: filepath.Join(dir, "rollout"), TrainWeights: set, RolloutWeights: given,
		Tokens: p.tokens, Rows: len(madeTexts), Columns: columns, Counts: func(i int) bool { return i%columns < len(madeTexts[i/columns])-1 }}
	n := q.Rows * columns
	q.TrainLog, q.RolloutLog, q.Answers = make([]float64, n), make([]float64, n), make([]int64, n)
	for s, n := range a.tok.seqs {
		for k := n.lo; k < n.hi; k++ {
			first := n.hi - len(madeTexts[s]) + 1 // what is ahead of the text has no answer
			if k < first {
				continue
			}
			at := s*columns + k - first
			q.TrainLog[at], q.RolloutLog[at], q.Answers[at] = x[len(x)-1]["l"].v[k], y[len(y)-1]["l"].v[b.tok.seqs[s].hi-n.hi+k], madeTexts[s][k-first+1]
		}
	}
	if p.logs != nil {
		p.logs(q)
	}
	return q
}

// trainer records rows with padding, in the style of transformers.
func (p *madePair) trainer(t testing.TB, n *net, list []state, added map[string]*weights.Matrix, dir string) {
	r := newRecorder(t, dir)
	batch, s := len(n.tok.seqs), 0
	for _, q := range n.tok.seqs {
		s = max(s, q.hi-q.lo+1)
	}
	if p.packed {
		batch, s = 1, len(n.tok.ids)+len(n.tok.seqs)
	}
	place := func(key int) int {
		q := n.sequenceOf(key)
		if p.packed {
			return key + q // a text has one token more than keys
		}
		at := key - n.tok.seqs[q].lo
		if p.padded {
			at += s - (n.tok.seqs[q].hi - n.tok.seqs[q].lo) - 1
		}
		return q*s + at
	}
	spread := func(m *matrix, heads int) []float64 {
		v, d := make([]float64, batch*s*m.w), m.w/max(heads, 1)
		for k := range m.n {
			at := place(k)
			for j, x := range m.row(k) {
				if heads > 0 {
					v[((at/s*heads+j/d)*s+at%s)*d+j%d] = x
				} else {
					v[at*m.w+j] = x
				}
			}
		}
		return v
	}
	tensor := func(m *matrix, typ dtype.Type) any { return r.tensor(spread(m, 0), typ, batch, s, m.w) }
	heads := func(m *matrix, h int) any { return r.tensor(spread(m, h), p.typ(), batch, h, s, m.w/h) }
	ids, mask := make([]float64, batch*s), make([]float64, batch*s)
	for k, id := range n.tok.ids {
		ids[place(k)], mask[place(k)] = float64(id), 1
		ids[place(k)+1], mask[place(k)+1] = float64(n.tok.after[k]), 1
		if at := k - n.tok.seqs[n.sequenceOf(k)].lo; p.packed { // positions
			mask[place(k)], mask[place(k)+1] = float64(at), float64(at+1)
		}
	}
	r.call("Module.model.embed_tokens.Embedding.forward.0", []any{r.tensor(ids, dtype.Int64, batch, s)}, []any{tensor(list[0]["h"], p.typ())})
	p.layers(r, n, list, func(c *cut, before, st state) {
		pre := "Module." + prefix(c.layer)
		bf := p.typ()
		switch c.stage {
		case "qkv":
			for i, f := range c.out {
				if m := added[c.weight[i]+".weight"]; m != nil && !p.silent {
					x := linear(before["n"], m, nil)
					base := newMatrix(x.n, x.w)
					for i := range x.v {
						base.v[i] = st[f].v[i] - 2*x.v[i]
					}
					r.call(pre+"self_attn."+f+"_proj.base_layer.Linear.forward.0", []any{tensor(before["n"], bf)}, []any{tensor(base, dtype.Float32)})
					r.call(pre+"self_attn."+f+"_proj.lora_B.default.Linear.forward.0", []any{tensor(before["n"], bf)}, []any{tensor(x, dtype.Float32)})
				}
				r.call(pre+"self_attn."+f+"_proj.Linear.forward.0", []any{tensor(before["n"], bf)}, []any{tensor(st[f], bf)})
			}
		case "rope":
			turns := turns(n, c)
			for i, f := range []string{"q", "k"} {
				h := []int{4, 2}[i]
				for j, m := range turns {
					r.call(fmt.Sprintf("Tensor.__mul__.%d.forward", 4*c.layer+2*i+j), []any{heads(before[f], h), r.tensor(spread(m, 1), dtype.Float32, batch, 1, s, madeDim)}, []any{heads(before[f], h)})
				}
				r.call(fmt.Sprintf("Tensor.__add__.%d.forward", 2*c.layer+i), []any{heads(before[f], h), heads(before[f], h)}, []any{heads(st[f], h)})
			}
		case "o_proj":
			r.call(pre+"self_attn.o_proj.Linear.forward.0", []any{tensor(before["a"], bf)}, []any{tensor(st["o"], bf)})
		case "gate_up":
			r.call(pre+"mlp.gate_proj.Linear.forward.0", []any{tensor(before["n"], bf)}, []any{tensor(st["g"], bf)})
			r.call(pre+"mlp.up_proj.Linear.forward.0", []any{tensor(before["n"], bf)}, []any{tensor(st["u"], bf)})
		case "down":
			r.call(pre+"mlp.down_proj.Linear.forward.0", []any{tensor(before["m"], bf)}, []any{tensor(st["d"], bf)})
		case "norm":
			r.call(strings.TrimSuffix("Module."+c.weight[0], ".")+".RMSNorm.forward.0", []any{tensor(before["h"], bf)}, []any{tensor(st["n"], bf)})
		case "lm_head":
			r.call("Module.lm_head.Linear.forward.0", []any{tensor(before["n"], bf)}, []any{tensor(st["z"], bf)})
			p.divided(r, tensor(st["z"], bf))
		default:
			p.routing(r, c, before, st, func(m *matrix, typ dtype.Type) any { return r.tensor(spread(m, 0), typ, batch*s, m.w) })
		}
	})
	r.call("Module.model.Model.forward.0", []any{r.tensor(ids, dtype.Int64, batch, s), r.tensor(mask, dtype.Int64, batch, s)}, nil)
	r.close()
}

// turns are the cosines and sines that a side rotates by.
func turns(n *net, c *cut) (list [2]*matrix) {
	for i := range list {
		list[i] = newMatrix(len(n.tok.ids), madeDim)
	}
	for i := range n.tok.ids {
		cos, sin := n.angles(i, c.layer, &c.opt)
		copy(list[0].row(i), cos)
		copy(list[1].row(i), sin)
	}
	return list
}

// divided records what logits are divided by.
func (p *madePair) divided(r *recorder, logits any) {
	for i, x := range p.numbers {
		r.call(fmt.Sprintf("Tensor.__truediv__.%d.forward", i), []any{logits, map[string]any{"type": "float", "value": x}}, []any{logits})
		if p.capped {
			r.call(fmt.Sprintf("Torch.tanh.%d.forward", i), []any{logits}, []any{logits})
		}
	}
}

// routing records a router and its experts.
func (p *madePair) routing(r *recorder, c *cut, before, st state, tensor func(m *matrix, typ dtype.Type) any) {
	pre := "Module." + prefix(c.layer) + "mlp."
	typ := dtype.Float32
	if p.types["router"] != 0 && !strings.Contains(r.dir, "train") {
		typ = p.types["router"]
	}
	switch c.stage {
	case "router":
		r.call(pre+"gate.Linear.forward.0", []any{tensor(before["n"], p.typ())}, []any{tensor(st["r"], typ)})
	case "gate_weights":
		if p.silent && strings.Contains(r.dir, "train") {
			return
		}
		chosen := st["p"]
		if p.late && !strings.Contains(r.dir, "train") {
			chosen = newMatrix(chosen.n, chosen.w)
			for k, e := range st["i"].v {
				chosen.v[k] = before["r"].row(k / chosen.w)[int(e)]
			}
		}
		r.call(fmt.Sprintf("Torch.topk.%d.forward", c.layer), []any{tensor(before["r"], dtype.Float32)}, []any{tensor(chosen, dtype.Float32), tensor(st["i"], dtype.Int64)})
		if chosen != st["p"] {
			r.call(fmt.Sprintf("Tensor.exp.%d.forward", c.layer), []any{tensor(chosen, dtype.Float32)}, []any{tensor(st["p"], dtype.Float32)})
		}
	case "experts":
		r.call(pre[:len(pre)-1]+".MoE.forward.0", []any{tensor(before["n"], p.typ())}, []any{tensor(st["d"], p.typ())})
	}
}

func (p *madePair) layers(r *recorder, n *net, list []state, record func(c *cut, before, st state)) {
	for i, c := range n.cuts[1:] {
		record(c, list[i], list[i+1])
	}
}

// engine records packed tokens with fused products and sums, in the style of vLLM.
func (p *madePair) engine(t testing.TB, n *net, list []state, dir string) {
	passes := [][]int{nil}
	for s := len(n.tok.seqs) - 1; s >= 0; s-- { // the second text first
		if p.single && len(passes[len(passes)-1]) > 0 {
			passes = append(passes, nil)
		}
		for k := n.tok.seqs[s].lo + p.prefix; k < n.tok.seqs[s].hi; k++ {
			passes[len(passes)-1] = append(passes[len(passes)-1], k)
		}
	}
	for step, keys := range passes {
		r := newRecorder(t, strings.TrimSuffix(dir, "0")+itoa(step))
		packed := func(typ dtype.Type, parts ...*matrix) any {
			var v []float64
			w := 0
			for _, k := range keys {
				w = 0
				for _, m := range parts {
					v = append(v, m.row(k)...)
					w += m.w
				}
			}
			return r.tensor(v, typ, len(keys), w)
		}
		bf := p.typ()
		ids, pos := make([]float64, len(keys)), make([]float64, len(keys))
		for i, k := range keys {
			ids[i], pos[i] = float64(n.tok.ids[k]), float64(k-n.tok.seqs[n.sequenceOf(k)].lo)
		}
		r.call("Module.model.embed_tokens.VocabParallelEmbedding.forward.0", []any{r.tensor(ids, dtype.Int64, len(keys))}, []any{packed(bf, list[0]["h"])})
		residual := state(nil)
		p.layers(r, n, list, func(c *cut, before, st state) {
			pre := "Module." + prefix(c.layer)
			switch c.stage {
			case "qkv":
				r.call(pre+"self_attn.qkv_proj.QKVParallelLinear.forward.0", []any{packed(bf, before["n"])}, []any{packed(bf, st["q"], st["k"], st["v"])})
			case "rope":
				if p.turned {
					for i, m := range turns(n, c) {
						r.call(fmt.Sprintf("Tensor.__mul__.%d.forward", 2*c.layer+i), []any{packed(bf, before["q"]), packed(dtype.Float32, m)}, []any{packed(bf, before["q"])})
					}
				}
				r.call(pre+"self_attn.rotary_emb.RotaryEmbedding.forward.0", []any{r.tensor(pos, dtype.Int64, len(keys)), packed(bf, before["q"]), packed(bf, before["k"])}, []any{packed(bf, st["q"]), packed(bf, st["k"])})
			case "attn":
				if p.shown {
					heads := func(m *matrix, h int) any {
						var v []float64
						for at := range h {
							for _, k := range keys {
								v = append(v, m.row(k)[at*madeDim:(at+1)*madeDim]...)
							}
						}
						return r.tensor(v, bf, 1, h, len(keys), madeDim)
					}
					r.call(fmt.Sprintf("Functional.scaled_dot_product_attention.%d.forward", c.layer), []any{heads(before["q"], 4), heads(before["k"], 2), heads(before["v"], 2)}, []any{heads(st["a"], 4)})
				}
			case "o_proj":
				r.call(pre+"self_attn.o_proj.RowParallelLinear.forward.0", []any{packed(bf, before["a"])}, []any{packed(bf, st["o"])})
			case "gate_up":
				r.call(pre+"mlp.gate_up_proj.MergedColumnParallelLinear.forward.0", []any{packed(bf, before["n"])}, []any{packed(bf, st["g"], st["u"])})
			case "down":
				r.call(pre+"mlp.down_proj.RowParallelLinear.forward.0", []any{packed(bf, before["m"])}, []any{packed(bf, st["d"])})
			case "add":
				residual = before
			case "norm":
				in, out := []any{packed(bf, before["h"])}, []any{packed(bf, st["n"])}
				if residual != nil {
					branch := residual["o"]
					if strings.HasSuffix(c.weight[0], "input_layernorm") || c.layer < 0 {
						branch = residual["d"]
					}
					in, out = []any{packed(bf, branch), packed(bf, residual["h"])}, append(out, packed(bf, before["h"]))
				}
				r.call("Module."+c.weight[0]+".RMSNorm.forward.0", in, out)
			case "lm_head":
				typ := bf
				if p.types["lm_head"] != 0 {
					typ = p.types["lm_head"]
				}
				r.call("Module.lm_head.ParallelLMHead.forward.0", []any{packed(bf, before["n"])}, []any{packed(typ, st["z"])})
				p.divided(r, packed(typ, st["z"]))
			default:
				p.routing(r, c, before, st, func(m *matrix, typ dtype.Type) any { return packed(typ, m) })
			}
		})
		r.close()
	}
}

// fault is a pair with one thing of the rollout changed, and what is to be found.
type fault struct {
	name           string
	pair           madePair
	finding        Finding
	stage, variant string
}

func faults() []fault {
	at := func(stage string, change func(o *options)) func(c *cut) {
		return func(c *cut) {
			if c.stage == stage {
				change(&c.opt)
			}
		}
	}
	return []fault{
		{"nothing", madePair{}, "", "", ""},
		{"nothing, rounded otherwise", madePair{after: func(c *cut, st state) {
			if c.stage == "down" {
				for i := range st["d"].v {
					st["d"].v[i] *= 1 + 1.5e-3*math.Sin(float64(7*i))
				}
			}
		}}, "", "", ""},
		{"nothing, padded on the left", madePair{padded: true}, "", "", ""},
		{"nothing, a pass each", madePair{single: true}, "", "", ""},
		{"nothing, a prefix in the cache", madePair{padded: true, prefix: 2}, "", "", ""},
		{"scale, a prefix in the cache", madePair{padded: true, prefix: 2, change: at("attn", func(o *options) { o.scale = 0.25 })}, Formula, "attn", "scale"},
		{"nothing, texts packed in one row", madePair{packed: true}, "", "", ""},
		{"scale, texts packed in one row", madePair{packed: true, change: at("attn", func(o *options) { o.scale = 0.25 })}, Formula, "attn", "scale"},
		{"nothing, experts", madePair{moe: true}, "", "", ""},
		{"against the scores", madePair{moe: true, after: func(c *cut, st state) {
			if c.stage == "choice" {
				for i := range st["i"].n {
					worst := top(&matrix{n: 1, w: 4, v: st["r"].row(i)}, 4).v[3]
					st["i"].row(i)[0] = worst
				}
			}
		}}, Formula, "choice", ""},
		{"nothing, float16", madePair{kept: dtype.Float16}, "", "", ""},
		{"scale, float16", madePair{kept: dtype.Float16, change: at("attn", func(o *options) { o.scale = 0.25 })}, Formula, "attn", "scale"},
		{"nothing, attention shown", madePair{shown: true}, "", "", ""},
		{"a slot of the cache", madePair{shown: true, after: func(c *cut, st state) {
			if c.stage == "cache" {
				for _, f := range []string{"k", "v"} {
					m := newMatrix(st[f].n, st[f].w)
					copy(m.v, st[f].v)
					copy(m.row(2), m.row(1))
					st[f] = m
				}
			}
		}}, Cache, "cache", ""},
		{"output layer in bfloat16, float16", madePair{kept: dtype.Float16, types: map[string]dtype.Type{"lm_head": dtype.BFloat16}}, Precision, "lm_head", ""},
		{"router in bfloat16, float16", madePair{kept: dtype.Float16, moe: true, types: map[string]dtype.Type{"router": dtype.BFloat16}}, Precision, "router", ""},
		{"epsilon", madePair{change: at("norm", func(o *options) { o.eps = 1e-3 })}, Formula, "norm", "eps"},
		{"epsilon, a prefix in the cache", madePair{padded: true, prefix: 2, change: at("norm", func(o *options) { o.eps = 1e-3 })}, Formula, "norm", "eps"},
		{"one plus weight", madePair{change: at("norm", func(o *options) { o.plusOne = true })}, Formula, "norm", "plus"},
		{"no weight", madePair{change: at("norm", func(o *options) { o.noWeight = true })}, Formula, "norm", "weightless"},
		{"base", madePair{change: at("rope", func(o *options) { o.theta = 1e6 })}, Formula, "rope", "theta"},
		{"interleaved", madePair{change: at("rope", func(o *options) { o.interleaved = true })}, Formula, "rope", "interleaved"},
		{"scale", madePair{change: at("attn", func(o *options) { o.scale = 0.25 })}, Formula, "attn", "scale"},
		{"mask", madePair{change: at("attn", func(o *options) { o.ahead = 1 })}, Formula, "attn", "mask"},
		{"window", madePair{change: at("attn", func(o *options) { o.window = 4 })}, Formula, "attn", "window"},
		{"tiled", madePair{change: at("attn", func(o *options) { o.tiled = true })}, Formula, "attn", "tiled"},
		{"cache", madePair{change: at("attn", func(o *options) { o.kv = dtype.Float8E4M3FN })}, Precision, "attn", "cache"},
		{"cache, some tokens read ahead of it", madePair{kept: dtype.Float16, change: func(c *cut) {
			if whole := c.f; c.stage == "attn" {
				c.f = func(n *net, c *cut, o *options, st state) state {
					plain, narrow := whole(n, c, o, st), *o
					narrow.kv = dtype.Float8E4M3FN
					out := whole(n, c, &narrow, st)
					copy(out["a"].row(13), plain["a"].row(13))
					return out
				}
			}
		}}, Precision, "attn", "cache"},
		{"activation", madePair{change: at("act", func(o *options) { o.act = "gelu" })}, Formula, "act", "act"},
		{"lost", madePair{after: func(c *cut, st state) {
			if c.stage == "o_proj" {
				all := madeWeights(false)
				a := newMatrix(st["a"].n, st["a"].w)
				copy(a.v, st["a"].v)
				for i := range a.n {
					clear(a.row(i)[8:])
				}
				st["o"] = linear(a, all[prefix(c.layer)+"self_attn.o_proj.weight"], nil)
			}
		}}, Formula, "o_proj", "lost"},
		{"no bias of the router", madePair{moe: true, change: at("router", func(o *options) { o.noBias = true })}, Formula, "router", "nobias"},
		{"router in bfloat16", madePair{moe: true, types: map[string]dtype.Type{"router": dtype.BFloat16}}, Precision, "router", ""},
		{"weights of experts in bfloat16", madePair{moe: true, types: map[string]dtype.Type{"gate_weights": dtype.BFloat16}}, Precision, "gate_weights", ""},
		{"nothing, weights of experts in bfloat16 as their scores are", madePair{moe: true, types: map[string]dtype.Type{"gate_weights": dtype.BFloat16}, before: func(c *cut, st state) {
			if c.stage == "router" {
				for i, x := range st["r"].v {
					st["r"].v[i] = dtype.BFloat16.Rounding().Round(x)
				}
			}
		}}, "", "", ""},
		{"not divided by the sum", madePair{moe: true, change: at("gate_weights", func(o *options) { o.renorm = false })}, Formula, "gate_weights", "weights.plain"},
		{"not divided by the sum, made behind the choice", madePair{moe: true, late: true, change: at("gate_weights", func(o *options) { o.renorm = false })}, Formula, "gate_weights", "weights.plain"},
		{"a factor of the embedding", madePair{change: at("embed", func(o *options) { o.factor = 4 })}, Formula, "embed", "factor"},
		{"base, interleaved", madePair{change: at("rope", func(o *options) { o.theta, o.interleaved = 1e6, true })}, Formula, "rope", "theta.interleaved"},
		{"no window", madePair{base: at("attn", func(o *options) { o.window = 4 }), change: at("attn", func(o *options) { o.window = 0 })}, Formula, "attn", "nowindow"},
		{"divided by the sum", madePair{moe: true, base: at("gate_weights", func(o *options) { o.renorm = false }), change: at("gate_weights", func(o *options) { o.renorm = true })}, Formula, "gate_weights", "weights.renorm"},
		{"a soft cap", madePair{numbers: []float64{2}, change: at("logp", func(o *options) { o.softcap = 2 })}, Formula, "logp", "softcap"},
		{"no soft cap", madePair{numbers: []float64{2}, base: at("logp", func(o *options) { o.softcap = 2 }), change: at("logp", func(o *options) { o.softcap = 0 })}, Formula, "logp", "nosoftcap"},
		{"a temperature", madePair{numbers: []float64{0.7}, change: at("logp", func(o *options) { o.temp = 0.7 })}, Formula, "logp", "temperature"},
		{"a temperature that no call shows", madePair{change: at("logp", func(o *options) { o.temp = 0.7 })}, Formula, "logp", "temperature"},
		{"no temperature, that no call shows", madePair{base: at("logp", func(o *options) { o.temp = 1.3 }), change: at("logp", func(o *options) { o.temp = 0 })}, Formula, "logp", "notemperature"},
		{"nothing, a temperature that no call shows", madePair{base: at("logp", func(o *options) { o.temp = 0.7 })}, "", "", ""},
		{"no temperature, that no call shows, behind a cap", madePair{capped: true, numbers: []float64{8}, base: at("logp", func(o *options) { o.softcap, o.temp = 8, 0.7 }), change: at("logp", func(o *options) { o.temp = 0 })}, Formula, "logp", "notemperature"},
		{"no temperature", madePair{numbers: []float64{0.7}, base: at("logp", func(o *options) { o.temp = 0.7 }), change: at("logp", func(o *options) { o.temp = 0 })}, Formula, "logp", "notemperature"},
	}
}

// TestStoredScores: where one side stores scores and weights of attention in bfloat16, these are off by many roundoffs of long texts, and it is
// neither that side's fault nor does it hide what the other one has.
func TestStoredScores(t *testing.T) {
	defer Larger(2, 2, 2, 120, rand.New(rand.NewPCG(5, 6)))()
	attention := func(kept dtype.Type, ahead int) func(c *cut) {
		return func(c *cut) {
			switch c.stage {
			case "norm":
				c.opt.plusOne = true // numbers are larger, and so are scores
			case "attn":
				c.opt.scale, c.opt.scores, c.opt.ahead = 1, kept, ahead
			}
		}
	}
	for _, c := range []struct {
		name           string
		train, rollout func(c *cut)
		far            float64 // the error of the worst side without a fault, at least
		want           Finding
	}{
		{"the trainer stores them", attention(dtype.BFloat16, 0), attention(0, 0), 0.009, Rounding},
		{"the rollout stores them", attention(0, 0), attention(dtype.BFloat16, 0), 0.009, Rounding},
		{"both store them", attention(dtype.BFloat16, 0), attention(dtype.BFloat16, 0), 0.009, Rounding},
		{"the trainer stores them, the rollout's mask is another", attention(dtype.BFloat16, 0), attention(0, 1), 0.009, Formula},
	} {
		p := madePair{numbers: []float64{1}, base: c.train, change: c.rollout}
		seen := 0
		for _, s := range p.run(t).Stages {
			if s.Name != "attn" {
				continue
			}
			if seen++; s.Finding != c.want && !(c.want == Rounding && s.Finding == Same) || max(s.Train, s.Rollout) < c.far || c.want == Formula && (s.Side != "rollout" || s.Variant != "mask") {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if seen != madeLayers {
			t.Errorf("%s: %d stages of attention", c.name, seen)
		}
	}
}

// each changes the weights whose names have a part.
func each(part string, change func(m *weights.Matrix)) func(all map[string]*weights.Matrix) {
	return func(all map[string]*weights.Matrix) {
		for name, m := range all {
			if strings.Contains(name, part) {
				change(m)
			}
		}
	}
}

// rotated turns the hidden states by a reflection, with the norms in the next products.
func rotated(all map[string]*weights.Matrix) {
	h := int(madeHidden)
	r := func(i, j int) float64 { // 1 − 2 u uᵀ, where all of u are alike
		if i == j {
			return 1 - 2/float64(h)
		}
		return -2 / float64(h)
	}
	times := func(m *weights.Matrix, g []float64) { // by row
		for row := range slices.Chunk(m.V, h) {
			was := slices.Clone(row)
			for j := range row {
				row[j] = 0
				for i, x := range was {
					if g != nil {
						x *= g[i]
					}
					row[j] += x * r(i, j)
				}
			}
		}
	}
	times(all["model.embed_tokens.weight"], nil)
	times(all["lm_head.weight"], all["model.norm.weight"].V)
	for l := range madeLayers {
		p := prefix(l)
		for _, f := range []string{"self_attn.q", "self_attn.k", "self_attn.v"} {
			times(all[p+f+"_proj.weight"], all[p+"input_layernorm.weight"].V)
		}
		for _, f := range []string{"mlp.gate", "mlp.up"} {
			times(all[p+f+"_proj.weight"], all[p+"post_attention_layernorm.weight"].V)
		}
		for _, f := range []string{"self_attn.o", "mlp.down"} { // by column
			m := all[p+f+"_proj.weight"]
			w := len(m.V) / h
			was := slices.Clone(m.V)
			for i := range m.V {
				m.V[i] = 0
				for k := range h {
					m.V[i] += r(i/w, k) * was[k*w+i%w]
				}
			}
		}
	}
	each("norm", func(m *weights.Matrix) {
		for i := range m.V {
			m.V[i] = 1
		}
	})(all)
}

// elsewhere are pairs whose fault is not a stage's.
func elsewhere() []fault {
	changed := func(part string, change func(i int, x, most float64) float64) madePair { // most is the largest of the row
		return madePair{others: each(part, func(m *weights.Matrix) {
			for row := range slices.Chunk(m.V, int(m.Shape[len(m.Shape)-1])) {
				most := max(slices.Max(row), -slices.Min(row))
				for i, x := range row {
					row[i] = change(i, x, most)
				}
			}
		})}
	}
	down := prefix(1) + "mlp.down_proj"
	by := func(scale, last float64) func(name string) float64 { // the last weight by another scale
		return func(name string) float64 {
			if strings.HasPrefix(name, prefix(madeLayers-1)+"self_attn.q_proj") {
				return last
			}
			return scale
		}
	}
	scaled := func(stage, part string, by func(i int) float64) func(c *cut, st state) {
		return func(c *cut, st state) {
			if c.stage == stage {
				for i := range st[part].v {
					st[part].v[i] *= by(i)
				}
			}
		}
	}
	otherwise := scaled("down", "d", func(i int) float64 { return 1 + 1.5e-3*math.Sin(float64(7*i)) })
	strange := scaled("act", "m", func(i int) float64 { return 1 + 0.2*math.Sin(float64(i)) })
	coarse := func(c *cut) {
		if c.stage == "rope" {
			c.opt.kv = dtype.BFloat16
		}
	}
	forward := func(n int) func(c *cut, st state) { // positions, as n further
		return func(c *cut, st state) {
			if c.stage != "rope" {
				return
			}
			for _, f := range []string{"q", "k"} {
				for at := 0; at < len(st[f].v); at += madeDim {
					for j := range madeDim / 2 {
						sin, cos := math.Sincos(float64(n) * math.Pow(1e4, -2*float64(j)/float64(madeDim)))
						u, v := &st[f].v[at+j], &st[f].v[at+j+madeDim/2]
						*u, *v = *u*cos-*v*sin, *v*cos+*u*sin
					}
				}
			}
		}
	}
	ties := func(c *cut, st state) {
		if c.stage == "router" {
			for i := range st["r"].n {
				copy(st["r"].row(i), []float64{2, 1, 1, 0})
			}
		}
	}
	return []fault{
		{name: "another token", pair: madePair{ids: func(texts [][]int64) [][]int64 { texts[1][1] = 2; return texts }}},
		{name: "tokens ahead of a text", pair: madePair{ids: func(texts [][]int64) [][]int64 { texts[1] = append([]int64{2}, texts[1]...); return texts }}},
		{name: "a weight that is another's", pair: madePair{others: func(all map[string]*weights.Matrix) {
			all[prefix(1)+"mlp.up_proj.weight"] = all[prefix(1)+"mlp.gate_proj.weight"]
		}}},
		{name: "a weight with its axes exchanged", pair: madePair{others: each(prefix(1)+"self_attn.o_proj", func(m *weights.Matrix) {
			n, v := int(m.Shape[0]), slices.Clone(m.V)
			for i := range v {
				m.V[i] = v[i%n*n+i/n]
			}
		})}},
		{name: "positions three further", pair: madePair{after: forward(3)}},
		{name: "positions one further", pair: madePair{after: forward(1)}},
		{name: "angles in bfloat16, float32", pair: madePair{kept: dtype.Float32, change: coarse}},
		{name: "angles in bfloat16", pair: madePair{turned: true, change: coarse}},
		{name: "a function that nobody knows", pair: madePair{after: strange}},
		{name: "attention that nobody knows", pair: madePair{after: scaled("attn", "a", func(i int) float64 { return 1 + 0.2*math.Sin(float64(i)) })}},
		{name: "a function that nobody knows, in both", pair: madePair{before: strange, after: otherwise}},
		{name: "padding ahead of a text", pair: madePair{padded: true, given: func(texts [][]int64) [][]int64 { texts[0] = append([]int64{0, 0}, texts[0]...); return texts }}},
		{name: "nothing, another text to warm up", pair: madePair{given: func(texts [][]int64) [][]int64 { return append(texts, []int64{21, 22, 23, 15, 16}) }}},
		{name: "one token to warm up", pair: madePair{single: true, given: func(texts [][]int64) [][]int64 { return append(texts, []int64{21, 22}) }}},
		{name: "other texts", pair: madePair{ids: func(texts [][]int64) [][]int64 {
			for _, x := range texts {
				for i := range x {
					x[i] = (x[i] + 11) % madeVocab
				}
			}
			return texts
		}}},
		{name: "logits in float32", pair: madePair{types: map[string]dtype.Type{"lm_head": dtype.Float32}}},
		{name: "logits kept in float32", pair: madePair{types: map[string]dtype.Type{"lm_head": dtype.Float32}, after: scaled("o_proj", "o", func(i int) float64 { return 1 + 1e-3*math.Sin(float64(7*i)) })}},
		{name: "sums in bfloat16, float32", pair: madePair{kept: dtype.Float32, types: map[string]dtype.Type{"add": dtype.BFloat16}}},
		{name: "a number that is none", pair: madePair{after: otherwise, spoil: func(list []state) { list[2]["v"].v[5] = math.NaN() }}},
		{name: "nothing, weights merged", pair: madePair{merged: by(2, 2)}},
		{name: "merged with another scale", pair: madePair{merged: by(2, 4)}},
		{name: "merged with another scale, not shown", pair: madePair{silent: true, merged: by(2, 4)}},
		{name: "taken away where it should be added, not shown", pair: madePair{silent: true, merged: by(-2, -2)}},
		{name: "not merged", pair: madePair{merged: by(2, 0)}},
		{name: "nothing, weights merged, not shown", pair: madePair{silent: true, after: otherwise, merged: by(2, 2)}},
		{name: "a bias that the trainer has not", pair: madePair{others: func(all map[string]*weights.Matrix) {
			all[down+".bias"] = &weights.Matrix{Shape: []int64{madeHidden}, V: slices.Repeat([]float64{0.05}, int(madeHidden))}
		}}},
		{name: "weights that are not shown", pair: madePair{without: "self_attn", after: otherwise}},
		{name: "another weight, not shown", pair: madePair{without: "self_attn", others: each(prefix(1)+"self_attn.o_proj", func(m *weights.Matrix) {
			for i := range m.V {
				m.V[i] *= 1 + 0.1*math.Sin(float64(i))
			}
		})}},
		{name: "nothing, hidden states rotated", pair: madePair{others: rotated}},
		{name: "nothing, experts renumbered", pair: madePair{moe: true, others: func(all map[string]*weights.Matrix) {
			for l := range madeLayers {
				p := prefix(l) + "mlp."
				for _, f := range []string{"gate", "up", "down"} {
					x, y := p+"experts.0."+f+"_proj.weight", p+"experts.1."+f+"_proj.weight"
					all[x], all[y] = all[y], all[x]
				}
				for _, f := range []string{"weight", "bias"} {
					v := all[p+"gate."+f].V
					w := len(v) / 4
					exchanged := slices.Concat(v[w:2*w], v[:w], v[2*w:])
					copy(v, exchanged)
				}
			}
		}}},
		{name: "a weight of something else", pair: changed(down, func(i int, _, most float64) float64 { return most * math.Sin(float64(i*i)) })},
		{name: "a weight that is missing", pair: madePair{without: down}},
		{name: "all weights of another step", pair: changed("", func(i int, x, _ float64) float64 { return x + 1e-4*float64(1-i%2*2) })},
		{name: "all weights 2 % off", pair: changed("", func(i int, x, _ float64) float64 { return x * (1 + 0.02*math.Sin(float64(i))) })},
		{name: "all weights in 8 bits", pair: changed("proj", func(_ int, x, most float64) float64 { return math.Round(x/most*127) * most / 127 })},
		{name: "log-probs of other logits", pair: madePair{logs: func(q *Request) {
			for i := range q.TrainLog {
				q.TrainLog[i] *= 1 + 0.3*float64(i%3)
			}
		}}},
		{name: "a weight of another step", pair: changed(down, func(i int, x, _ float64) float64 { return x + 1e-4*float64(1-i%2*2) })},
		{name: "a weight that is 2 % off", pair: changed(down, func(i int, x, _ float64) float64 { return x * (1 + 0.02*math.Sin(float64(i))) })},
		{name: "a weight in 4 bits", pair: changed(down, func(_ int, x, most float64) float64 { return math.Round(x/most*7) * most / 7 })},
		{name: "a weight that was never loaded", pair: changed("model.norm", func(int, float64, float64) float64 { return 1 })},
		{name: "equal scores of experts", pair: madePair{moe: true, before: ties, after: func(c *cut, st state) {
			if c.stage == "choice" {
				for i := range st["i"].n {
					copy(st["i"].row(i), []float64{0, 2})
				}
			}
		}}},
		{name: "log-probs a token late", pair: madePair{logs: func(q *Request) { copy(q.RolloutLog[9:16], slices.Clone(q.RolloutLog[8:15])) }}},
		{name: "a log-prob that is no number", pair: madePair{logs: func(q *Request) { q.TrainLog[3] = math.NaN() }}},
	}
}

// TestFaults changes one thing of the rollout at a time: it has to be found at its stage, said in the right words, and be all that is
// found; and nothing is found where nothing was changed.
func TestFaults(t *testing.T) {
	for _, x := range faults() {
		t.Run(x.name, func(t *testing.T) {
			r := x.pair.run(t)
			groups := r.Groups(func(s *Stage) bool {
				return s.Finding != Same && s.Finding != Rounding && !(s.Finding == Unknown && x.pair.prefix > 0)
			})
			if x.finding == "" {
				if len(groups) > 0 || !r.Shares || r.Covered < 0.99 || r.Tokens != 14 {
					t.Fatalf("found %+v; %d tokens, covered %v", groups, r.Tokens, r.Covered)
				}
				return
			}
			if len(groups) != 1 || groups[0].Finding != x.finding || groups[0].Name != x.stage || groups[0].Variant != x.variant || groups[0].Side != "rollout" {
				t.Fatalf("found %+v\n%+v", groups, r.Notes)
			}
			if math.Abs(r.Sum-1) > 1e-9 {
				t.Errorf("shares add up to %v", r.Sum)
			}
		})
	}
}

// TestUnseenChoice has a rollout choose against its scores, and a trainer that does not tell whether it does the same, as a choice by groups is: no side is accused.
func TestUnseenChoice(t *testing.T) {
	for _, x := range faults() {
		if x.name != "against the scores" {
			continue
		}
		x.pair.silent = true
		r := x.pair.run(t)
		found := r.Groups(func(s *Stage) bool { return s.Name == "choice" })
		if len(found) != 1 || found[0].Finding != Unknown {
			t.Errorf("found %+v", found)
		}
		return
	}
	t.Error("no such pair")
}

// TestRouting has other experts chosen for each of the reasons: between equal scores, within the rounding of the router's product, and where scores differ by more.
func TestRouting(t *testing.T) {
	exchange := func(c *cut, st state) {
		if c.stage != "choice" {
			return
		}
		for i := range st["i"].n {
			order := top(&matrix{n: 1, w: 4, v: st["r"].row(i)}, 4).v
			copy(st["i"].row(i), []float64{order[0], order[2]}) // the one behind the border
		}
	}
	for name, x := range map[string]struct {
		scores func(r *matrix)
		reason func(q *Routing) int
	}{
		"ties": {func(r *matrix) {
			for i := range r.n {
				copy(r.row(i), []float64{2, 1, 1, 0})
			}
		}, func(q *Routing) int { return q.Ties }},
		"rounding": {func(r *matrix) {
			for i := range r.n {
				copy(r.row(i), []float64{2, 1 + 1e-7, 1, 0})
			}
		}, func(q *Routing) int { return q.Rounding }},
		"more": {func(*matrix) {}, func(q *Routing) int { return q.Inherited }},
	} {
		p := &madePair{moe: true, after: exchange}
		both := func(c *cut, st state) {
			if c.stage == "router" {
				x.scores(st["r"])
			}
		}
		p.before = both
		r := p.run(t)
		if len(r.Routing) != 2 {
			t.Fatalf("%s: %d layers", name, len(r.Routing))
		}
		for _, q := range r.Routing {
			if q.Differ == 0 || x.reason(&q) != q.Differ {
				t.Errorf("%s: %+v", name, q)
			}
			if (q.PairRows == q.Tokens) != (name == "ties") {
				t.Errorf("%s: experts %v tie for %d of %d tokens", name, q.Pair, q.PairRows, q.Tokens)
			}
		}
	}
	if r := (&madePair{moe: true}).run(t); len(r.Routing) != 2 || r.Routing[0].Tokens != r.Tokens || r.Routing[0].Against != [2]int{} {
		t.Errorf("nothing: %+v", r.Routing)
	}
}

// TestUnseen computes with other weights in the rollout, whose checkpoint has them or has them not: a product that fits no other function is
// said to have other weights, and which nobody saw is said, too.
func TestUnseen(t *testing.T) {
	other := func(part string) func(all map[string]*weights.Matrix) {
		return each(part, func(m *weights.Matrix) {
			for i := range m.V {
				m.V[i] *= 1 + 0.1*math.Sin(float64(i))
			}
		})
	}
	one := prefix(1)
	for name, x := range map[string]struct {
		pair  madePair
		stage string
		want  []string
	}{
		"not given":     {madePair{without: "o_proj", others: other(one + "self_attn.o_proj")}, "o_proj", []string{one + "self_attn.o_proj.weight"}},
		"given":         {madePair{without: "k_proj", others: other(one + "self_attn.o_proj")}, "o_proj", nil},
		"one of three":  {madePair{without: "self_attn", others: other(one + "self_attn.k_proj")}, "qkv", []string{one + "self_attn.k_proj.weight"}},
		"the same":      {madePair{without: "o_proj"}, "", nil},
		"another scale": {madePair{without: "o_proj", change: func(c *cut) { c.opt.scale = 0.25 }}, "attn", nil},
		"a part is lost": {madePair{without: "o_proj", others: each("o_proj", func(m *weights.Matrix) {
			for i := range m.V {
				if i%16 >= 8 {
					m.V[i] = 0
				}
			}
		})}, "o_proj", nil},
	} {
		r := x.pair.run(t)
		groups := r.Groups(func(s *Stage) bool { return s.Finding != Same && s.Finding != Rounding })
		switch {
		case x.stage == "" && len(groups) > 0:
			t.Errorf("%s: found %+v", name, groups)
		case x.stage == "":
		case len(groups) != 1 || groups[0].Name != x.stage || !slices.Equal(groups[0].Unseen, x.want):
			t.Errorf("%s: found %+v", name, groups)
		case (groups[0].Finding == Weights) != (name == "given" || x.want != nil):
			t.Errorf("%s: it is %s", name, groups[0].Finding)
		}
	}
}

// TestRoom keeps next to nothing of the recordings in memory: what is read again gives the same report, where a prefix was borrowed and sums were not recorded, too.
func TestRoom(t *testing.T) {
	for name, p := range map[string]*madePair{"plain": {}, "experts": {moe: true, single: true}, "prefix": {padded: true, prefix: 2, change: func(c *cut) { c.opt.scale = 0.25 }}} {
		q := p.write(t)
		want, err := Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.room = 1
		got, err := Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
	}
}

// TestFewTokens looks at the sequence that is farther off.
func TestFewTokens(t *testing.T) {
	if r := (&madePair{tokens: 13}).run(t); r.Dropped != 1 { // both have 14
		t.Errorf("%d tokens, where 13 were asked for", r.Tokens)
	}
	r := (&madePair{tokens: 3}).run(t)
	if r.Dropped != 1 || r.Sequences != 1 || r.Answers != r.Tokens || math.Abs(r.Sum-1) > 1e-9 {
		t.Errorf("found %d of %d sequences, %d tokens, %d answers, shares %v", r.Dropped, r.Sequences, r.Tokens, r.Answers, r.Sum)
	}
}

// TestNotFinite has a NaN in what the trainer recorded: what rounding makes is not known then.
func TestNotFinite(t *testing.T) {
	r := (&madePair{spoil: func(list []state) { list[2]["v"].v[5] = math.NaN() }}).run(t)
	if r.Shares || !slices.Contains(r.Notes, "finite") {
		t.Errorf("shares are known: %v; notes %v, expected %v", r.Shares, r.Notes, r.Expected)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// TestTop asks for more experts than there are.
func TestTop(t *testing.T) {
	if m := top(newMatrix(2, 3), 5); m.w != 3 {
		t.Errorf("%d chosen of 3", m.w)
	}
}

// TestOtherTokens gives the trainer another prompt: it is said of the row.
func TestOtherTokens(t *testing.T) {
	r := (&madePair{ids: func(texts [][]int64) [][]int64 { texts[1][1] = 2; return texts }}).run(t)
	if len(r.Mismatch) != 1 || r.Mismatch[0] != [2]int{1, 1} {
		t.Errorf("found %v", r.Mismatch)
	}
}

// TestAhead has heads ahead of tokens and behind them, of which there are as many in one pass.
func TestAhead(t *testing.T) {
	for _, x := range []struct {
		shapes [][]int64
		want   bool
	}{
		{[][]int64{{1, 4, 4, 8}}, false},
		{[][]int64{{1, 4, 4, 8}, {1, 4, 1, 8}}, true},
		{[][]int64{{1, 4, 4, 8}, {1, 1, 4, 8}}, false},
		{[][]int64{{4, 4, 8}, {1, 4, 8}}, false},
	} {
		tp := &tape{}
		for _, s := range x.shapes {
			tp.passes = append(tp.passes, &pass{sites: map[string]*site{"norm": {outs: []*msprobe.Value{{Shape: s}}}}})
		}
		tp.passes = append(tp.passes, &pass{})
		if got := tp.ahead("norm", 4); got != x.want {
			t.Errorf("%v: found %v", x.shapes, got)
		}
	}
}

// TestNarrowed has one scale of 8 bits for each head, whatever its width.
func TestNarrowed(t *testing.T) {
	x := &matrix{n: 1, w: 6, v: []float64{127, 0.6, 1.27, 0.6, 12.7, 6}}
	for width, want := range map[int][]float64{2: {127, 1, 1.27, 0.6, 12.7, 6}, 3: {127, 1, 1, 0.6, 12.7, 6}} {
		for i, v := range narrowed(x, width, dtype.Int8).v {
			if math.Abs(v-want[i]) > 0.05*want[i] {
				t.Errorf("%d wide: element %d is %v, want %v", width, i, v, want[i])
			}
		}
	}
}

// TestPacked has all texts of the trainer in one row, and an engine whose rows go on with padding after they ended.
func TestPacked(t *testing.T) {
	root := t.TempDir()
	record := func(name string, rows int, ids, at []float64) *tape {
		r := newRecorder(t, filepath.Join(root, name, "step0"))
		w := len(ids) / rows
		r.call("Module.model.embed_tokens.Embedding.forward.0", []any{r.tensor(ids, dtype.Int64, rows, w)}, nil)
		r.call("Module.model.Model.forward.0", []any{r.tensor(ids, dtype.Int64, rows, w), r.tensor(at, dtype.Int64, rows, w)}, nil)
		r.close()
		tp, err := read(t.Context(), filepath.Join(root, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		return tp
	}
	var packed, at, padded, places []float64
	for _, x := range madeTexts {
		for i := range 12 {
			if i < len(x) {
				packed, at = append(packed, float64(x[i])), append(at, float64(i))
				padded = append(padded, float64(x[i]))
			} else {
				padded = append(padded, 0)
			}
			places = append(places, float64(i))
		}
	}
	m := align(t.Context(), record("train", 1, packed, at), record("rollout", len(madeTexts), padded, places))
	if len(m.seqs) != len(madeTexts) || m.left > 0 {
		t.Fatalf("found %+v, %d left out", m.seqs, m.left)
	}
	for i, q := range m.seqs {
		if q.differ > 0 || q.row != i || q.hi-q.lo != len(madeTexts[i]) {
			t.Errorf("sequence %d is %+v", i, q)
		}
	}
}

// TestIndex looks for texts in many rows: a text that one row has is sought at few places, however many rows there are.
func TestIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var rows []*trainRow
	for range 300 {
		x := &trainRow{used: make([]bool, 200)}
		for range 200 {
			x.ids = append(x.ids, r.Int64N(1000))
		}
		rows = append(rows, x)
	}
	x := indexed(rows)
	for i, row := range rows {
		visited, hit := 0, false
		x.every(row.ids[7:150], func(s spot) bool {
			visited++
			hit = hit || s == spot{row, 7}
			return hit
		})
		if !hit || visited > 4 {
			t.Fatalf("row %d: looked at %d places, found %v", i, visited, hit)
		}
		if y := (&text{ids: row.ids[:100]}); !x.continues(y, row.ids[100]) || x.continues(&text{ids: row.ids[1:100]}, -1) {
			t.Fatalf("row %d is not gone on with", i)
		}
	}
	// Every second id is another one: no four in a row.
	ids := slices.Clone(rows[3].ids)
	for i := range ids {
		if i%2 == 0 {
			ids[i] = -1
		}
	}
	hit := false
	x.every(ids, func(s spot) bool { hit = hit || s == spot{rows[3], 0}; return hit })
	if !hit {
		t.Error("a text with half of the ids is not sought")
	}
}
