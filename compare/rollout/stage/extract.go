package stage

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"precision/dump/checkpoint"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/must"
)

// side is what one engine recorded, by key.
type side struct {
	*tape
	places []place
	train  bool
}

// field is a part of the state at a cut, as it was recorded.
type field struct {
	m    *matrix
	t    dtype.Type
	call string
	// assumed tells what no engine recorded: that it follows a rule.
	assumed bool
}

// between are the calls of a pass behind one site and ahead of another.
func (p *pass) between(from, to *site) []*msprobe.Call {
	if from == nil || to == nil || from.at >= to.at {
		return nil
	}
	return p.calls[from.at+1 : to.at]
}

func (p *pass) first(names ...string) *site {
	for _, n := range names {
		if s := p.sites[n]; s != nil {
			return s
		}
	}
	return nil
}

func out(s *site, i int) *msprobe.Value {
	if s == nil || i >= len(s.outs) {
		return nil
	}
	return s.outs[i]
}

func in(s *site) *msprobe.Value {
	if s == nil || len(s.ins) == 0 {
		return nil
	}
	return s.ins[0]
}

// sum is the residual sum that a norm reads: what it is given, or, where it adds itself, its second result.
func sum(s *site) *msprobe.Value {
	if adds(s) {
		return out(s, 1)
	}
	return in(s)
}

// adds reports whether a norm adds the residual itself.
func adds(s *site) bool {
	return s != nil && len(s.ins) == 2 && len(s.outs) == 2 && slices.Equal(s.ins[0].Shape, s.ins[1].Shape)
}

// piece is where in a recorded tensor a field is: columns lo to hi of its rows, 0 0 for all.
type piece struct {
	v      *msprobe.Value
	lo, hi int
	heads  int
	// either tells that heads may stand behind the tokens, too.
	either bool
	call   string
}

// next is the norm that reads the residual sum behind a branch of a layer.
func (n *net) next(p *pass, layer int, behindAttention bool) *site {
	if behindAttention {
		if n.has(prefix(layer) + "pre_feedforward_layernorm") {
			return p.first(prefix(layer) + "pre_feedforward_layernorm")
		}
		return p.first(prefix(layer) + "post_attention_layernorm")
	}
	if layer+1 < n.layers {
		return p.first(prefix(layer+1) + "input_layernorm")
	}
	return p.first("model.norm")
}

// around are the calls of a layer between what makes queries, keys and values and the product behind attention.
func (n *net) around(p *pass, layer int) []*msprobe.Call {
	pre := prefix(layer)
	from := p.first(pre+"self_attn.v_proj", pre+"self_attn.k_proj", pre+"self_attn.qkv_proj")
	if s := p.sites[pre+"self_attn.q_proj"]; s != nil && from != nil && s.at > from.at {
		from = s
	}
	if n.latent {
		from = p.sites[pre+"input_layernorm"]
	}
	return p.between(from, p.sites[pre+"self_attn.o_proj"])
}

// find looks for a field of a cut in a pass.
func (n *net) find(p *pass, c *cut, f string) piece {
	pre := prefix(c.layer)
	one := func(v *msprobe.Value) piece { return piece{v: v} }
	o := p.sites[pre+"self_attn.o_proj"]
	q, k := n.heads*n.dim, n.kvHeads*n.dim
	switch c.stage {
	case "embed":
		return one(sum(p.sites[prefix(0)+"input_layernorm"]))
	case "norm":
		if s := p.sites[c.weight[0]]; s != nil {
			return piece{v: out(s, 0), call: s.call.Name}
		}
		if c.layer < 0 {
			return piece{}
		}
		if strings.HasSuffix(c.weight[0], "input_layernorm") {
			return one(in(p.first(pre+"self_attn.q_proj", pre+"self_attn.qkv_proj")))
		}
		return one(in(p.first(pre+"mlp.gate_proj", pre+"mlp.gate_up_proj", pre+"mlp.gate")))
	case "qkv":
		if s := p.sites[pre+"self_attn.qkv_proj"]; s != nil {
			at := map[string][2]int{"q": {0, q}, "k": {q, q + k}, "v": {q + k, q + 2*k}}[f]
			return piece{v: out(s, 0), lo: at[0], hi: at[1], call: s.call.Name}
		}
		if n.latent {
			return one(out(p.first(pre+"self_attn.q_b_proj", pre+"self_attn.q_proj"), 0))
		}
		return one(out(p.sites[pre+"self_attn."+f+"_proj"], 0))
	case "latent":
		return one(out(p.sites[c.weight[slices.Index(c.out, f)]], 0))
	case "latent_norm":
		return one(out(p.sites[c.weight[slices.Index(c.out, f)]], 0))
	case "qk_norm":
		name, heads := pre+"self_attn."+f+"_norm", map[string]int{"q": n.heads, "k": n.kvHeads}[f]
		return piece{v: out(p.sites[name], 0), heads: heads, either: !p.tape.ahead(name, heads)}
	case "rope":
		if n.latent {
			for _, call := range n.around(p, c.layer) {
				if x := tensors(call, msprobe.Input); attends(call) && call.Parsed.Form != msprobe.Module && len(x) >= 3 && size(x[0]) == len(p.ids)*q {
					return piece{v: x[0], heads: n.heads, call: call.Name}
				}
			}
			return piece{}
		}
		return n.rotated(p, n.around(p, c.layer), f)
	case "attn":
		if a := in(o); a != nil && (o.parts == 1 || size(a) == len(p.ids)*q) {
			found := piece{v: a, call: o.call.Name}
			for _, call := range n.around(p, c.layer) {
				if attends(call) || strings.Contains(call.Parsed.API, "matmul") {
					found.call = call.Name // attention itself, or the last product of it
				}
			}
			return found
		}
		for _, call := range slices.Backward(n.around(p, c.layer)) {
			if attends(call) {
				if x := tensors(call, msprobe.Output); len(x) > 0 {
					return piece{v: x[0], heads: n.heads, call: call.Name}
				}
			}
		}
	case "o_proj", "down", "experts":
		s := o
		if c.stage == "down" {
			s = p.sites[pre+"mlp.down_proj"]
		} else if c.stage == "experts" {
			s = p.sites[pre+"mlp"]
		}
		if s != nil && s.parts == 1 {
			return piece{v: out(s, 0), call: s.call.Name}
		}
		after := n.next(p, c.layer, c.stage == "o_proj")
		if adds(after) {
			return one(in(after))
		}
		if after != nil && c.stage == "experts" {
			for i := after.at - 1; i >= 0; i-- {
				if x := tensors(p.calls[i], msprobe.Input); p.calls[i].Parsed.API == "__add__" && len(x) == 2 && size(x[0]) == len(p.ids)*n.hidden && size(x[1]) == size(x[0]) {
					return one(x[1])
				}
			}
		}
	case "post_norm":
		return one(out(p.sites[c.weight[0]], 0))
	case "add":
		return one(sum(n.next(p, c.layer, c.branch == "o")))
	case "gate_up":
		if s := p.sites[pre+"mlp.gate_up_proj"]; s != nil {
			w := n.width(pre + "mlp.gate_proj")
			at := map[string][2]int{"g": {0, w}, "u": {w, 2 * w}}[f]
			return piece{v: out(s, 0), lo: at[0], hi: at[1]}
		}
		return one(out(p.sites[pre+"mlp."+map[string]string{"g": "gate", "u": "up"}[f]+"_proj"], 0))
	case "act":
		s := p.sites[pre+"mlp.down_proj"]
		if s != nil && s.parts > 1 {
			for i := s.at; i >= 0; i-- {
				if x := tensors(p.calls[i], msprobe.Output); len(x) > 0 && size(x[0]) == len(p.ids)*n.width(pre+"mlp.gate_proj") && p.calls[i].Parsed.API != "linear" {
					return piece{v: x[0], call: p.calls[i].Name}
				}
			}
			return piece{}
		}
		return one(in(s))
	case "router", "choice", "gate_weights":
		return n.routed(p, c, f)
	}
	return piece{}
}

// width is the number of rows of a weight of the trainer.
func (n *net) width(name string) int {
	if s := n.w.Shape(0, name+".weight"); len(s) > 0 {
		return int(s[0])
	}
	return 0
}

func attends(c *msprobe.Call) bool {
	api := strings.ToLower(c.Parsed.API)
	if c.Parsed.Form == msprobe.Module {
		return strings.HasSuffix(api, "self_attn.attn")
	}
	return strings.Contains(api, "attention")
}

// rotated finds queries or keys behind their rotation.
func (n *net) rotated(p *pass, calls []*msprobe.Call, f string) piece {
	q, k := len(p.ids)*n.heads*n.dim, len(p.ids)*n.kvHeads*n.dim
	want, heads := q, n.heads
	if f == "k" {
		want, heads = k, n.kvHeads
	}
	var fused, added []*msprobe.Value
	var name string
	for _, c := range calls {
		outs := tensors(c, msprobe.Output)
		if strings.HasSuffix(strings.Trim(c.Parsed.API, "_"), "matmul") && len(added) >= 2 {
			break // scores, to which a mask is added, may be as many as queries
		}
		switch {
		case c.Parsed.API == "npu_rotary_mul" && len(outs) > 0:
			fused = append(fused, outs[0])
			name = c.Name
		case c.Parsed.Form == msprobe.Module && strings.Contains(c.Parsed.API, "rotary_emb") && len(outs) == 2 && size(outs[0]) == q && size(outs[1]) == k,
			strings.Contains(c.Parsed.API, "rotary_pos_emb") && len(outs) == 2 && size(outs[0]) == q && size(outs[1]) == k:
			fused = outs
			name = c.Name
		case (c.Parsed.API == "__add__" || c.Parsed.API == "add") && len(outs) > 0 && (size(outs[0]) == q || size(outs[0]) == k) && len(outs[0].Shape) == 4:
			added = append(added, outs[0])
		case attends(c):
			if len(fused) == 0 && len(added) == 0 {
				continue
			}
		}
	}
	pick := func(list []*msprobe.Value) *msprobe.Value {
		if len(list) != 2 {
			return nil
		}
		v := list[0]
		if f == "k" {
			v = list[1]
		}
		if size(v) != want {
			return nil
		}
		return v
	}
	if v := pick(fused); v != nil {
		return piece{v: v, call: name}
	}
	return piece{v: pick(added), heads: heads}
}

// ahead reports whether heads stand ahead of tokens in what a site gives, by a pass that has not as many tokens as heads: the others have the same order.
func (t *tape) ahead(name string, heads int) bool {
	return slices.ContainsFunc(t.passes, func(p *pass) bool {
		v := out(p.sites[name], 0)
		return v != nil && len(v.Shape) == 4 && int(v.Shape[1]) == heads && int(v.Shape[2]) != heads
	})
}

// routed finds scores, choices and weights of a router.
func (n *net) routed(p *pass, c *cut, f string) piece {
	gate := p.sites[prefix(c.layer)+"mlp.gate"]
	if gate == nil {
		return piece{}
	}
	tokens := len(p.ids)
	if e := p.sites[prefix(c.layer)+"mlp.experts"]; e != nil && f != "r" {
		for _, v := range e.ins {
			if size(v) == tokens*n.topk && v.Known && v.Elem.IsInteger() == (f == "i") {
				return piece{v: v, call: e.call.Name}
			}
		}
	}
	if f == "r" {
		return piece{v: out(gate, 0), call: gate.call.Name}
	}
	if len(gate.outs) == 3 {
		return piece{v: out(gate, map[string]int{"p": 1, "i": 2}[f])}
	}
	end := len(p.calls)
	if s := n.next(p, c.layer, false); s != nil {
		end = s.at
	}
	var got *msprobe.Value
	for _, call := range p.calls[min(gate.at+1, end):end] {
		api := strings.ToLower(call.Parsed.API)
		outs := tensors(call, msprobe.Output)
		switch {
		case f == "i" && (api == "topk" || strings.Contains(api, "top_k")) && len(outs) >= 2 && size(outs[1]) == tokens*n.topk:
			return piece{v: outs[1], call: call.Name}
		case f == "p" && (api == "topk" || strings.Contains(api, "top_k") || api == "softmax" || api == "exp" || api == "__truediv__" || api == "div") && len(outs) >= 1 && size(outs[0]) == tokens*n.topk:
			got = outs[0] // the softmax of the chosen scores is that of all, divided by their sum
		case strings.Contains(api, "experts") && call.Parsed.Form != msprobe.Module:
			for _, v := range tensors(call, msprobe.Input, msprobe.Kwargs) {
				if size(v) == tokens*n.topk && v.Known && v.Elem.IsInteger() == (f == "i") {
					return piece{v: v, call: call.Name}
				}
			}
		case call.Parsed.API == "linear" && f == "p" && got != nil:
			return piece{v: got}
		}
	}
	return piece{v: got}
}

// sheet is a recorded tensor as a row a token. Only rows that are asked for are read: of a large batch few are looked at.
type sheet struct {
	*checkpoint.Numbers
	set  *checkpoint.Set
	p    *pass
	w    int
	head [3]int // heads, their rows and their width, of a tensor whose heads stand ahead of its tokens
}

// sheet opens a tensor of so many tokens, or of as many as its pass has.
func (p *pass) sheet(x piece, tokens int) *sheet {
	n := size(x.v)
	lacks(tokens <= 0 || n <= 0 || n%tokens != 0)
	t := &sheet{p: p, w: n / tokens}
	if d := x.v.Shape; len(d) == 4 && x.heads > 0 && int(d[1]) == x.heads && int(d[0]*d[2]) == tokens && !(x.either && d[2] == int64(x.heads)) {
		t.head = [3]int{int(d[1]), int(d[2]), int(d[3])}
	}
	set, v, err := p.open(x.v)
	if err == nil {
		if t.Numbers, err = v.Numbers(); err != nil {
			set.Close()
		}
	}
	if t.set = set; err != nil {
		p.fault(err)
		must.Do(err)
	}
	return t
}

// read reads columns from lo on of rows of tokens, as many as there is room for rows of w.
func (t *sheet) read(to []float64, w, row, lo int) bool {
	var err error
	h, l, d := t.head[0], t.head[1], t.head[2]
	switch {
	case h > 0:
		for at := 0; at < len(to) && err == nil; at += d {
			i := row + at/t.w
			err = t.Read(to[at:at+d], int64(((i/l*h+at%t.w/d)*l+i%l)*d))
		}
	case w == t.w:
		err = t.Read(to, int64(row*w))
	default:
		for at := 0; at < len(to) && err == nil; at += w {
			err = t.Read(to[at:at+w], int64((row+at/w)*t.w+lo))
		}
	}
	if err != nil {
		t.p.fault(err)
	}
	return err == nil
}

// at is what a side recorded of a cut; nil where a part is missing.
func (s *side) at(n *net, c *cut) map[string]field {
	all, _ := must.Of(func() map[string]field {
		got := map[string]field{}
		for _, f := range c.out {
			got[f] = s.gather(n, c, f)
		}
		return got
	})
	return all
}

// gather reads a part of what a side recorded of a cut; it ends where that is missing.
func (s *side) gather(n *net, c *cut, f string) (got field) {
	if c.stage == "lm_head" {
		return s.logits(n)
	}
	passes := map[int]bool{}
	for _, first := range s.places {
		if first == cached || passes[first.pass] {
			continue
		}
		passes[first.pass] = true
		p := s.passes[first.pass]
		x := n.find(p, c, f)
		lacks(x.v == nil || !x.v.Known)
		t := p.sheet(x, len(p.ids))
		w := t.w
		if x.hi > 0 {
			w = x.hi - x.lo
		}
		if got.m == nil {
			got.m = newMatrix(len(s.places), w)
		}
		got.t, got.call = x.v.Elem, cmp.Or(got.call, x.call)
		ok := w == got.m.w && x.hi <= t.w
		for key := 0; key < len(s.places) && ok; {
			at, run := s.places[key], 1
			if at.pass != first.pass {
				key++
				continue
			}
			for key+run < len(s.places) && s.places[key+run] == (place{at.pass, at.row + run}) {
				run++
			}
			ok = at.row+run <= len(p.ids) && t.read(got.m.v[key*w:(key+run)*w], w, at.row, x.lo)
			key += run
		}
		t.set.Close()
		lacks(!ok)
	}
	lacks(got.m == nil)
	if got.t == dtype.Float32 && c.stage != "logp" {
		got.t = narrowest(got.m)
	}
	return got
}

// narrowest is bfloat16 if all numbers are of that type: what was widened ahead of the call that recorded it.
func narrowest(m *matrix) dtype.Type {
	for _, x := range m.v {
		if math.Float32bits(float32(x))&0xffff != 0 && x == x {
			return dtype.Float32
		}
	}
	return dtype.BFloat16
}

// logits are those of the answers. An engine computes them for the rows that it samples from; they are found by their hidden state.
func (s *side) logits(n *net) (got field) {
	passes := map[int]bool{}
	for _, key := range n.keys {
		at := s.places[key].pass
		if passes[at] {
			continue
		}
		passes[at] = true
		p := s.passes[at]
		head := p.first("lm_head", "logits_processor")
		lacks(head == nil || len(head.ins) == 0 || len(head.outs) == 0 || n.hidden == 0)
		hidden := head.ins[len(head.ins)-1]
		if head.call.Parsed.Form != msprobe.Module || len(head.ins) == 1 {
			hidden = head.ins[0]
		}
		count := size(hidden) / n.hidden
		rows := map[int]int{} // of logits, by that of the pass
		for i := range p.ids {
			rows[i] = i
		}
		if count != len(p.ids) {
			x, y := must.Get(p.load(hidden)), must.Get(p.load(out(p.sites["model.norm"], 0)))
			lacks(len(x) != count*n.hidden || len(y) != len(p.ids)*n.hidden)
			clear(rows)
			for r := range count {
				for i := range p.ids {
					if _, used := rows[i]; !used && slices.Equal(x[r*n.hidden:(r+1)*n.hidden], y[i*n.hidden:(i+1)*n.hidden]) {
						rows[i] = r
						break
					}
				}
			}
		}
		z, ok := p.sheet(piece{v: head.outs[0]}, count), true
		got.t, got.call = head.outs[0].Elem, head.call.Name
		if got.m == nil {
			got.m = newMatrix(len(n.keys), z.w)
		}
		w := min(got.m.w, z.w)
		for a, key := range n.keys {
			if s.places[key].pass == at && ok {
				r, found := rows[s.places[key].row]
				ok = found && z.read(got.m.row(a)[:w], w, r, 0)
			}
		}
		z.set.Close()
		lacks(!ok)
	}
	lacks(got.m == nil)
	return got
}

// tables are the angles' cosines and sines by key, as the layer of the trainer multiplies with them; nil where they are in no call.
func (s *side) tables(n *net, layer int) (cos, sin *matrix) {
	done := map[int]bool{}
	for _, at := range s.places {
		if at == cached || done[at.pass] {
			continue
		}
		done[at.pass] = true
		p := s.passes[at.pass]
		tokens := len(p.ids)
		var found []*msprobe.Value
		for _, c := range n.around(p, layer) {
			x := tensors(c, msprobe.Input)
			switch {
			case c.Parsed.API == "npu_rotary_mul" && len(x) >= 3:
				found = append(found, x[1], x[2])
			case (c.Parsed.API == "__mul__" || c.Parsed.API == "mul") && len(x) == 2 && size(x[0]) == tokens*n.heads*n.dim && size(x[1]) > 0 && size(x[1]) < size(x[0]) && len(x[1].Shape) > 0 && x[1].Shape[len(x[1].Shape)-1] > 1:
				found = append(found, x[1])
			}
			if len(found) >= 2 {
				break
			}
		}
		if len(found) < 2 {
			shared := p.first("model.rotary_emb")
			if shared == nil || len(shared.outs) != 2 {
				return nil, nil
			}
			found = shared.outs
		}
		for i, to := range []**matrix{&cos, &sin} {
			data, err := p.load(found[i])
			if err != nil || len(found[i].Shape) == 0 {
				return nil, nil
			}
			w := int(found[i].Shape[len(found[i].Shape)-1])
			if w < 2 || w%2 != 0 || w > n.dim || 2*w < n.turned || len(data) == 0 || len(data)%w != 0 || tokens%(len(data)/w) != 0 {
				return nil, nil
			}
			if *to == nil {
				*to = newMatrix(len(s.places), w)
			}
			if (*to).w != w || cos.w != w {
				return nil, nil
			}
			for k, pl := range s.places {
				if pl.pass == at.pass {
					copy((*to).row(k), data[(pl.row%(len(data)/w))*w:])
				}
			}
		}
	}
	return cos, sin
}

// column is where a row of a pass stands among all tokens of its row of the batch, those of earlier passes and padding counted.
func (p *pass) column(row int) int {
	s := len(p.ids) / max(p.batch, 1)
	for _, c := range p.calls {
		for i := range c.Values {
			if v := &c.Values[i]; v.Kind == msprobe.Tensor && v.Section == msprobe.Kwargs && v.Path == "attention_mask" && len(v.Shape) == 2 && int(v.Shape[0]) == p.batch && int(v.Shape[1]) >= s {
				return int(v.Shape[1]) - s + row%s
			}
		}
	}
	return row % s
}

// read is what attention reads of keys and values, by key, where a call shows the whole cache.
func (s *side) read(n *net, c *cut) map[string]field {
	wide := n.dim // of a value
	if n.latent {
		wide = n.valueDim
	}
	k, v := newMatrix(len(s.places), n.kvHeads*n.dim), newMatrix(len(s.places), n.kvHeads*wide)
	var t dtype.Type
	one := func(q sequence) {
		lacks(s.places[q.lo] == cached) // the prefix stands where nothing tells
		last := s.places[q.hi-1]
		p := s.passes[last.pass]
		var call *msprobe.Call
		for _, x := range n.around(p, c.layer) {
			if attends(x) && x.Parsed.Form != msprobe.Module {
				call = x
			}
		}
		lacks(call == nil)
		x := tensors(call, msprobe.Input)
		lacks(len(x) < 3 || !x[1].Known)
		t = x[1].Elem
		at := n.slots(p, call, x[1], s, q)
		keys := p.sheet(piece{v: x[1]}, 1)
		defer keys.set.Close()
		values := p.sheet(piece{v: x[2]}, 1)
		defer values.set.Close()
		for i, from := range at {
			for h := range n.kvHeads {
				f := from(h)
				g := f / n.dim * wide
				lacks(f < 0 || f+n.dim > keys.w || g+wide > values.w ||
					!keys.read(k.row(q.lo + i)[h*n.dim:(h+1)*n.dim], n.dim, 0, f) || !values.read(v.row(q.lo + i)[h*wide:(h+1)*wide], wide, 0, g))
			}
		}
	}
	if must.Try(func() {
		for _, q := range n.tok.seqs {
			one(q)
		}
	}) != nil {
		return nil
	}
	return map[string]field{"k": {m: k, t: t}, "v": {m: v, t: t}}
}

// slots are the places, in the keys of an attention call, of the tokens of a sequence, by head.
func (n *net) slots(p *pass, call *msprobe.Call, keys *msprobe.Value, s *side, q sequence) (list []func(h int) int) {
	length := q.hi - q.lo
	last := s.places[q.hi-1]
	var table *msprobe.Value
	for i := range call.Values {
		if v := &call.Values[i]; v.Section == msprobe.Kwargs && v.Path == "block_table" && v.Kind == msprobe.Tensor {
			table = v
		}
	}
	if table != nil && len(keys.Shape) == 4 && len(table.Shape) == 2 && keys.Shape[1] > 0 {
		blocks := must.Get(p.load(table))
		size, kv := int(keys.Shape[1]), int(keys.Shape[2])
		row := 0
		for ; ; row++ {
			end, ok := scalar(call, msprobe.Kwargs, "actual_seq_lengths."+itoa(row))
			lacks(!ok)
			if int(end) > last.row {
				break
			}
		}
		width := int(table.Shape[1])
		for i := range length {
			at := row*width + i/size
			lacks(i/size >= width || at >= len(blocks))
			slot := int(blocks[at])*size + i%size
			list = append(list, func(h int) int { return (slot*kv + h) * n.dim })
		}
		return list
	}
	lacks(table != nil || q.prefix > 0 || len(keys.Shape) != 4 || int(keys.Shape[0]) != p.batch || int(keys.Shape[3]) != n.dim)
	heads, total, rows := int(keys.Shape[1]), int(keys.Shape[2]), len(p.ids)/p.batch
	lacks(heads%n.kvHeads != 0)
	first := s.places[q.lo]
	pad := s.passes[first.pass].column(first.row)
	batch := last.row / rows
	lacks(pad+length > total) // a window slides
	for i := range length {
		list = append(list, func(h int) int { return ((batch*heads+h*(heads/n.kvHeads))*total + pad + i) * n.dim })
	}
	return list
}
