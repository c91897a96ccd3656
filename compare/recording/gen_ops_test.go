package recording_test

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// The functions of generated networks, and the networks.

func (n *network) draw(scale float64, shape ...int) *tensor {
	t := &tensor{shape: shape, needs: true, dtype: n.dtype}
	count := 1
	for _, d := range shape {
		count *= d
	}
	for range count {
		t.v = append(t.v, n.roundTo(scale*n.random.NormFloat64()))
	}
	return t
}

// weight is a drawn parameter, which may be another one than it should be.
func (n *network) weight(scale float64, shape ...int) *tensor {
	w := n.draw(scale, shape...)
	n.steps++
	for i := range w.v {
		switch n.other {
		case "weights":
			w.v[i] = n.roundTo(scale * n.noisy.NormFloat64())
		case "step":
			w.v[i] = n.roundTo(w.v[i] * (1 + 0.02*n.noisy.NormFloat64()))
		}
	}
	if n.can("weight") {
		w.v[len(w.v)/3] += 0.75
		n.wrong = w
	}
	if n.can("unloaded weight") {
		other := rand.New(rand.NewPCG(77, uint64(n.steps)))
		for i := range w.v {
			w.v[i] = n.roundTo(scale * other.NormFloat64())
		}
		n.wrong = w
	}
	return w
}

func (n *network) linear(x, w, b *tensor) *tensor {
	rows, in, outs := x.shape[0], x.shape[1], w.shape[0]
	out := &tensor{shape: []int{rows, outs}, v: make([]float64, rows*outs)}
	for i := range rows {
		for j := range outs {
			s := 0.0
			for k := range in {
				s += x.v[i*in+k] * w.v[j*in+k]
			}
			if b != nil {
				s += b.v[j]
			}
			out.v[i*outs+j] = s
		}
	}
	args := []any{x, w}
	if b != nil {
		args = append(args, b)
	}
	return n.call("Functional.linear", out, false, args, nil, func(g *tensor) []*tensor {
		dx, dw := x.like(), w.like()
		list := []*tensor{dx, dw}
		for i := range rows {
			for j := range outs {
				for k := range in {
					dx.v[i*in+k] += g.v[i*outs+j] * w.v[j*in+k]
					dw.v[j*in+k] += g.v[i*outs+j] * x.v[i*in+k]
				}
			}
		}
		if b != nil {
			db := b.like()
			for i, v := range g.v {
				db.v[i%outs] += v
			}
			list = append(list, db)
		}
		return list
	})
}

func (n *network) matmul(a, b *tensor) *tensor {
	rows, in, outs := a.shape[0], a.shape[1], b.shape[1]
	out := &tensor{shape: []int{rows, outs}, v: make([]float64, rows*outs)}
	for i := range rows {
		for j := range outs {
			for k := range in {
				out.v[i*outs+j] += a.v[i*in+k] * b.v[k*outs+j]
			}
		}
	}
	return n.call("Torch.matmul", out, false, []any{a, b}, nil, func(g *tensor) []*tensor {
		da, db := a.like(), b.like()
		for i := range rows {
			for j := range outs {
				for k := range in {
					da.v[i*in+k] += g.v[i*outs+j] * b.v[k*outs+j]
					db.v[k*outs+j] += g.v[i*outs+j] * a.v[i*in+k]
				}
			}
		}
		return []*tensor{da, db}
	})
}

// each is a function of single elements with its derivative.
func (n *network) each(api string, x *tensor, exact bool, f, d func(float64) float64, args ...any) *tensor {
	out := x.like()
	for i, v := range x.v {
		out.v[i] = f(v)
	}
	return n.call(api, out, exact, append([]any{x}, args...), nil, func(g *tensor) []*tensor {
		dx := x.like()
		for i, v := range x.v {
			dx.v[i] = g.v[i] * d(v)
		}
		return []*tensor{dx}
	})
}

func (n *network) activation(kind int, x *tensor) *tensor {
	n.steps++
	gelu := func(v float64) float64 { return v * 0.5 * (1 + math.Erf(v/math.Sqrt2)) }
	dgelu := func(v float64) float64 {
		return 0.5*(1+math.Erf(v/math.Sqrt2)) + v*math.Exp(-v*v/2)/math.Sqrt(2*math.Pi)
	}
	switch kind {
	case 0:
		if n.can("definition") {
			gelu = func(v float64) float64 { return v / (1 + math.Exp(-1.702*v)) }
		}
		return n.each("Functional.gelu", x, false, gelu, dgelu)
	case 1:
		return n.each("Functional.relu", x, true, func(v float64) float64 { return max(v, 0) }, func(v float64) float64 {
			if v > 0 {
				return 1
			}
			return 0
		})
	case 2:
		return n.each("Torch.tanh", x, false, math.Tanh, func(v float64) float64 { t := math.Tanh(v); return 1 - t*t })
	}
	silu := func(v float64) float64 { return v / (1 + math.Exp(-v)) }
	if n.can("definition") {
		return n.each("Functional.silu", x, false, func(v float64) float64 { return v * min(1, max(0, v/6+0.5)) }, func(v float64) float64 { s := 1 / (1 + math.Exp(-v)); return s + v*s*(1-s) })
	}
	return n.each("Functional.silu", x, false, silu, func(v float64) float64 { s := 1 / (1 + math.Exp(-v)); return s + v*s*(1-s) })
}

func (n *network) plus(x, y *tensor) *tensor {
	out := x.like()
	for i := range out.v {
		out.v[i] = x.v[i] + y.v[i]
	}
	return n.call("Tensor.__add__", out, true, []any{x, y}, nil, func(g *tensor) []*tensor {
		return []*tensor{{shape: g.shape, v: append([]float64(nil), g.v...)}, {shape: g.shape, v: append([]float64(nil), g.v...)}}
	})
}

func (n *network) times(x, y *tensor) *tensor {
	out := x.like()
	for i := range out.v {
		out.v[i] = x.v[i] * y.v[i]
	}
	return n.call("Tensor.__mul__", out, true, []any{x, y}, nil, func(g *tensor) []*tensor {
		dx, dy := x.like(), y.like()
		for i, v := range g.v {
			dx.v[i], dy.v[i] = v*y.v[i], v*x.v[i]
		}
		return []*tensor{dx, dy}
	})
}

func (n *network) scale(x *tensor, by float64) *tensor {
	n.steps++
	if n.can("factor") {
		by *= 1.25
	}
	return n.each("Tensor.__mul__", x, true, func(v float64) float64 { return v * by }, func(float64) float64 { return by }, by)
}

func (n *network) norm(x *tensor, w *tensor) *tensor {
	n.steps++
	eps := 1e-5
	if n.can("eps") {
		eps = 0.1
	}
	width := x.shape[len(x.shape)-1]
	out, unit, inv := x.like(), x.like(), make([]float64, len(x.v)/width)
	for i := 0; i < len(x.v); i += width {
		m, s := 0.0, 0.0
		for _, v := range x.v[i : i+width] {
			m += v / float64(width)
		}
		for _, v := range x.v[i : i+width] {
			s += (v - m) * (v - m) / float64(width)
		}
		inv[i/width] = 1 / math.Sqrt(s+eps)
		for k := range width {
			unit.v[i+k] = (x.v[i+k] - m) * inv[i/width]
			out.v[i+k] = unit.v[i+k] * w.v[k]
		}
	}
	return n.call("Functional.layer_norm", out, false, []any{x, w, eps}, nil, func(g *tensor) []*tensor {
		dx, dw := x.like(), w.like()
		for i := 0; i < len(x.v); i += width {
			a, b := 0.0, 0.0
			for k := range width {
				u := g.v[i+k] * w.v[k]
				a += u / float64(width)
				b += u * unit.v[i+k] / float64(width)
				dw.v[k] += g.v[i+k] * unit.v[i+k]
			}
			for k := range width {
				dx.v[i+k] = inv[i/width] * (g.v[i+k]*w.v[k] - a - unit.v[i+k]*b)
			}
		}
		return []*tensor{dx, dw}
	})
}

func (n *network) softmax(x *tensor) *tensor {
	width := x.shape[1]
	out := x.like()
	for i := 0; i < len(x.v); i += width {
		m, s := math.Inf(-1), 0.0
		for _, v := range x.v[i : i+width] {
			m = max(m, v)
		}
		for k := range width {
			out.v[i+k] = math.Exp(x.v[i+k] - m)
			s += out.v[i+k]
		}
		for k := range width {
			out.v[i+k] /= s
		}
	}
	return n.call("Functional.softmax", out, false, []any{x}, map[string]any{"dim": -1}, func(g *tensor) []*tensor {
		dx := x.like()
		for i := 0; i < len(x.v); i += width {
			s := 0.0
			for k := range width {
				s += g.v[i+k] * out.v[i+k]
			}
			for k := range width {
				dx.v[i+k] = out.v[i+k] * (g.v[i+k] - s)
			}
		}
		return []*tensor{dx}
	})
}

func (n *network) dropout(x *tensor) *tensor {
	n.steps++
	on := n.can("dropout")
	keep := x.like()
	other := rand.New(rand.NewPCG(5, uint64(n.steps)))
	for i := range keep.v {
		if keep.v[i] = 1; on {
			keep.v[i] = 1.25
			if other.IntN(5) == 0 {
				keep.v[i] = 0
			}
		}
	}
	out := x.like()
	for i := range out.v {
		out.v[i] = x.v[i] * keep.v[i]
	}
	return n.call("Functional.dropout", out, true, []any{x, 0.2, on}, nil, func(g *tensor) []*tensor {
		dx := x.like()
		for i := range dx.v {
			dx.v[i] = g.v[i] * keep.v[i]
		}
		return []*tensor{dx}
	})
}

func (n *network) embedding(ids, w *tensor) *tensor {
	width := w.shape[1]
	out := &tensor{shape: []int{len(ids.v), width}, v: make([]float64, len(ids.v)*width)}
	for i, id := range ids.v {
		copy(out.v[i*width:], w.v[int(id)*width:int(id+1)*width])
	}
	return n.call("Functional.embedding", out, true, []any{ids, w}, nil, func(g *tensor) []*tensor {
		dw := w.like()
		for i, id := range ids.v {
			for k := range width {
				dw.v[int(id)*width+k] += g.v[i*width+k]
			}
		}
		return []*tensor{nil, dw}
	})
}

// transpose is not recorded.
func (n *network) transpose(x *tensor) *tensor {
	r, c := x.shape[0], x.shape[1]
	n.steps++
	wrong := n.can("view")
	return n.view(x, []int{c, r}, func(i int) int {
		if wrong {
			return i
		}
		return i%r*c + i/r
	})
}

func (n *network) ids(count, of int) *tensor {
	t := &tensor{shape: []int{count}, ints: true}
	n.steps++
	for range count {
		t.v = append(t.v, float64(n.random.IntN(of)))
		if n.other == "data" {
			t.v[len(t.v)-1] = float64(n.noisy.IntN(of))
		}
	}
	if n.can("token") {
		t.v[count/2] = float64((int(t.v[count/2]) + 1) % of)
		n.wrong = t
	}
	return t
}

// loss is cross entropy over rows.
func (n *network) loss(x, target *tensor) *tensor {
	width := x.shape[1]
	p := x.like()
	total := 0.0
	for i := range target.v {
		row := x.v[i*width : (i+1)*width]
		m, s := math.Inf(-1), 0.0
		for _, v := range row {
			m = max(m, v)
		}
		for k, v := range row {
			p.v[i*width+k] = math.Exp(v - m)
			s += p.v[i*width+k]
		}
		for k := range row {
			p.v[i*width+k] /= s
		}
		total += math.Log(s) + m - row[int(target.v[i])]
	}
	out := &tensor{shape: nil, v: []float64{total / float64(len(target.v))}}
	return n.call("Functional.cross_entropy", out, false, []any{x, target}, nil, func(g *tensor) []*tensor {
		dx := x.like()
		for i := range dx.v {
			dx.v[i] = p.v[i]
			if int(target.v[i/width]) == i%width {
				dx.v[i]--
			}
			dx.v[i] *= g.v[0] / float64(len(target.v))
		}
		return []*tensor{dx, nil}
	})
}

const seq, wide, vocab = 6, 12, 17

func (n *network) fc(path string, x *tensor, outs int, bias bool) *tensor {
	w := n.weight(1/math.Sqrt(float64(x.shape[1])), outs, x.shape[1])
	params := map[string]*tensor{"weight": w}
	var b *tensor
	if bias {
		b = n.weight(0.1, outs)
		params["bias"] = b
	}
	return n.module(path, "Linear", x, params, func(x *tensor) *tensor { return n.linear(x, w, b) })
}

func (n *network) layerNorm(path string, x *tensor) *tensor {
	w := n.weight(0.1, wide)
	for i := range w.v {
		w.v[i] = n.roundTo(1 + w.v[i])
	}
	return n.module(path, "LayerNorm", x, map[string]*tensor{"weight": w}, func(x *tensor) *tensor { return n.norm(x, w) })
}

func (n *network) attention(path string, x *tensor, mask bool) *tensor {
	return n.module(path, "Attention", x, nil, func(x *tensor) *tensor {
		var q, k *tensor
		if n.steps++; n.can("reorder") {
			w := n.random
			seed1, seed2 := w.Uint64(), w.Uint64()
			n.random = rand.New(rand.NewPCG(seed2, 1))
			k = n.fc(path+".k", x, wide, false)
			n.random = rand.New(rand.NewPCG(seed1, 1))
			q = n.fc(path+".q", x, wide, false)
			n.random = w
		} else {
			w := n.random
			seed1, seed2 := w.Uint64(), w.Uint64()
			n.random = rand.New(rand.NewPCG(seed1, 1))
			q = n.fc(path+".q", x, wide, false)
			n.random = rand.New(rand.NewPCG(seed2, 1))
			k = n.fc(path+".k", x, wide, false)
			n.random = w
		}
		v := n.fc(path+".v", x, wide, false)
		s := n.scale(n.matmul(q, n.transpose(k)), 1/math.Sqrt(wide))
		if mask {
			m := &tensor{shape: s.shape, v: make([]float64, seq*seq), dtype: n.dtype}
			n.steps++
			wrong := n.can("mask")
			for i := range m.v {
				if i%seq > i/seq && !wrong {
					m.v[i] = n.roundTo(-10000)
				}
			}
			if !n.can("missing mask") {
				s = n.plus(s, m)
			}
		}
		p := n.dropout(n.softmax(s))
		return n.fc(path+".o", n.matmul(p, v), wide, true)
	})
}

// run computes a random network.
func (n *network) run() {
	r := n.random
	ids := n.ids(seq, vocab)
	table := n.weight(1, vocab, wide)
	x := n.module("embed", "Embedding", ids, map[string]*tensor{"weight": table}, func(x *tensor) *tensor { return n.embedding(x, table) })
	blocks := 1 + r.IntN(4)
	mask := r.IntN(2) == 0
	for i := range blocks {
		path := fmt.Sprintf("layers.%d", i)
		kind, act := r.IntN(4), r.IntN(4)
		n.steps++
		again, first := n.level == "L1" && n.can("recompute"), len(n.names)
		if n.steps++; n.level == "L1" && n.can("repeated") && first > 0 {
			n.recompute(first-1, first)
			n.again = nil
		}
		x = n.module(path, "Block", x, nil, func(x *tensor) *tensor {
			switch kind {
			case 0, 1:
				h := n.attention(path+".attn", n.layerNorm(path+".norm1", x), mask)
				n.steps++
				if n.can("missing residual") {
					x = h
				} else {
					x = n.plus(x, h)
				}
				h = n.fc(path+".up", n.layerNorm(path+".norm2", x), 2*wide, true)
				n.steps++
				if !n.can("missing activation") {
					h = n.activation(act, h)
				}
				if n.steps++; n.can("extra harmless") {
					n.each("Torch.abs", h, true, math.Abs, func(v float64) float64 { return 1 })
				}
				return n.plus(x, n.fc(path+".down", h, wide, true))
			case 2: // gated
				h := n.layerNorm(path+".norm", x)
				a := n.activation(act, n.fc(path+".gate", h, 2*wide, false))
				if n.steps++; n.can("extra") {
					n.hit = false
					a = n.each("Functional.hardtanh", a, true, func(v float64) float64 { return max(-0.3, min(0.3, v)) }, func(v float64) float64 { return 1 })
					n.hit, n.wrong = true, a
				}
				b := n.fc(path+".up", h, 2*wide, false)
				return n.plus(x, n.fc(path+".down", n.times(a, b), wide, false))
			}
			// recurrent: the same weights again and again
			w, u := n.weight(0.25, wide, wide), n.weight(0.25, wide, wide)
			h := x
			for range 3 {
				a, b := n.linear(x, w, nil), n.linear(h, u, nil)
				h = n.activation(2, n.plus(a, b))
			}
			n.own("", "w", w)
			n.own("", "u", u)
			return n.plus(x, n.dropout(h))
		})
		if last := len(n.names); again {
			n.tape = append(n.tape, func() { n.recompute(first, last) })
		}
	}
	x = n.layerNorm("norm", x)
	logits := n.fc("head", x, vocab, true)
	best := &tensor{shape: []int{seq}, ints: true, v: make([]float64, seq)}
	for i := range seq {
		for k := range vocab {
			if logits.v[i*vocab+k] > logits.v[i*vocab+int(best.v[i])] {
				best.v[i] = float64(k)
			}
		}
	}
	n.call("Torch.argmax", best, true, []any{logits}, map[string]any{"dim": -1}, nil)
	loss := n.loss(logits, n.ids(seq, vocab))
	loss.grad = []float64{1}
	if n.steps++; n.can("loss scale") {
		loss.grad[0] = 2
		n.back = true
	}
	for i := len(n.tape) - 1; i >= 0; i-- {
		n.tape[i]()
	}
	n.update()
}

// update records the gradients of parameters and the step of the optimizer.
func (n *network) update() {
	for _, p := range n.owner {
		if p.module != "" && p.t.grad != nil {
			name := p.module + ".parameters_grad.0"
			text := fmt.Sprintf("%q: [%s]", p.name, n.text(&tensor{shape: p.t.shape, v: p.t.grad, dtype: n.dtype}))
			last := len(n.entries) - 1
			if len(n.names) > 0 && n.names[len(n.names)-1] == name {
				n.entries[last] = n.entries[last][:len(n.entries[last])-1] + ", " + text + "}"
				continue
			}
			n.entries = append(n.entries, fmt.Sprintf("%q: {%s}", name, text))
			n.names = append(n.names, name)
		}
	}
	if n.functions() {
		for _, p := range n.owner {
			if p.t.grad == nil {
				continue
			}
			n.steps++
			rate := -0.1
			if n.can("rate") {
				rate = -0.2
			}
			g := &tensor{shape: p.t.shape, v: p.t.grad, dtype: n.dtype}
			out := p.t.like()
			for i := range out.v {
				out.v[i] = p.t.v[i] + rate*g.v[i]
			}
			n.call("Tensor.add_", out, true, []any{p.t, g}, map[string]any{"alpha": rate}, nil)
		}
	}
}
