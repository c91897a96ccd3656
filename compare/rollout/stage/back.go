package stage

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"

	"precision/compare/weights"
	"precision/internal/must"
)

// Where the rest of a network cannot be computed anew behind every cut, its slope stands for it: one walk back, along what the trainer
// recorded, from sums of the log-probs with signs. The effect of an error at a cut is its product with the slope there. One sum has the signs of the
// difference of the log-probs, which gives shares; the other has signs by chance, whose squares are on average those of the single log-probs.

// signs is how many sums of log-probs are walked back at once. Rows of slopes are those of the first sum, then those of the second.
const signs = 2

// effect is what the errors of a cut do to the log-probs.
type effect struct {
	share, variance float64 // of the difference, times all of it; and of its square
	effect, calm    float64 // rms, of the rollout's and of the trainer's errors
}

// slopes estimates the effects of all judged cuts; it ends where a function is not known.
func (j *judge) slopes(ctx context.Context) []effect {
	n := len(j.keys)
	seeds := newMatrix(signs*n, 1)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		seeds.v[i], seeds.v[n+i] = 1, float64(1-2*r.IntN(2))
		if j.logs[1][i] < j.logs[0][i] {
			seeds.v[i] = -1
		}
	}
	g, last := state{"l": seeds}, len(j.cuts)-1
	far, end := g, last // the slopes behind the last cut of a layer
	var mixed *matrix   // the slope behind the experts of the layer
	list := make([]effect, len(j.cutAt))
	for k := len(j.cutAt) - 1; k >= 0; k-- {
		i, from := j.cutAt[k], 0
		if k > 0 {
			from = j.cutAt[k-1] + 1
		}
		// What the trainer held ahead of each cut since the last judged one.
		held := []state{j.st[0][k]}
		for x := from; x < i; x++ {
			st := j.run(x, x, held[len(held)-1])
			lacks(st == nil)
			held = append(held, st)
		}
		if c := j.cuts[i]; c.layer != j.cuts[end].layer {
			far, end = g, i
		}
		var by [2][signs][]float64
		var off [2]float64
		for s := range 2 {
			must.Do(ctx.Err())
			if j.cuts[i].stage == "choice" {
				by[s] = j.exchanged(s, k, mixed)
			} else {
				by[s], off[s] = j.effects(s, k, g, far, end)
			}
		}
		e := &list[k]
		for q := range by[0][0] {
			e.share += by[1][0][q] - by[0][0][q]
			e.effect += by[1][1][q] * by[1][1][q]
			e.calm += by[0][1][q] * by[0][1][q]
		}
		e.effect, e.calm = math.Sqrt(e.effect/float64(n)), math.Sqrt(e.calm/float64(n))
		if off[0] > 0 {
			e.effect = e.calm * math.Sqrt(off[1]/off[0]) // which is known better than from a few sums
		}
		for x := i; x >= from; x-- {
			c := j.cuts[x]
			if c.layer != j.cuts[end].layer {
				far, end = g, x
			}
			for _, name := range c.in {
				j.hold(held[x-from][name])
			}
			j.hold(held[x-from]["chosen"+itoa(c.layer)])
			if c.stage == "experts" {
				mixed = g["d"]
			}
			more := state{}
			if slices.ContainsFunc(c.out, func(name string) bool { return g[name] != nil }) && c.back != nil {
				more = c.back(j.net, c, &c.opt, held[x-from], g)
			}
			g = g.with(nil)
			for _, name := range c.out {
				delete(g, name)
			}
			for name, m := range more {
				g[name] = sumOf(g[name], m)
			}
		}
	}
	return list
}

// effects are those of a side's errors at a judged cut, by sum and sequence. A small error's is its product with the slope; that of another function is taken to the
// end of its layer first, behind which it may be none: off is how far off it is there.
func (j *judge) effects(s, k int, g, far state, end int) (by [signs][]float64, off float64) {
	i := j.cutAt[k]
	c := j.cuts[i]
	want := j.function(s, k, nil)
	lacks(want == nil)
	names, got, through := c.out, j.st[s][k+1], false
	if f := j.rep.Stages[k].Finding; f != Same && f != Rounding && f != Unknown && i < end {
		a, b := j.run(i+1, end, got), j.run(i+1, end, want)
		lacks(a == nil || b == nil)
		names, got, want, g, through = j.cuts[end].out, a, b, far, true
	}
	for x := range by {
		by[x] = make([]float64, len(j.tok.seqs))
	}
	for _, name := range names {
		slope, y, f := g[name], got[name], want[name]
		if slope == nil {
			continue
		}
		j.hold(y, f)
		w := min(y.w, f.w)
		for r := range f.n {
			key := r
			if f.n != len(j.tok.ids) || name == "z" || name == "l" {
				key = j.keys[r]
			}
			if s == 1 && j.tok.rollout[key] == cached {
				continue
			}
			q := j.sequenceOf(key)
			for e := range w {
				d := y.v[r*y.w+e] - f.v[r*f.w+e]
				for x := range by {
					by[x][q] += slope.v[(x*f.n+r)*slope.w+e] * d
				}
				if through {
					off += d * d
				}
			}
		}
	}
	return by, off
}

// exchanged are the effects of other experts than the trainer's, in the tokens that have others; slope is that of what experts add up to.
func (j *judge) exchanged(s, k int, slope *matrix) (by [signs][]float64) {
	for x := range by {
		by[x] = make([]float64, len(j.tok.seqs))
	}
	i := j.cutAt[k]
	ids, was, scores, x := j.rec[s][i]["i"].m, j.rec[0][i]["i"].m, j.rec[s][i-1]["r"].m, j.input(s, i-1)
	if s == 0 || slope == nil || scores == nil || x == nil || ids.w != was.w {
		return by
	}
	j.hold(ids, was, scores, x)
	var rows []int
	for r := range ids.n {
		if j.tok.rollout[r] != cached && len(without(ids.row(r), was.row(r))) > 0 {
			rows = append(rows, r)
		}
	}
	pick := func(m *matrix) *matrix {
		some := newMatrix(len(rows), m.w)
		for at, r := range rows {
			copy(some.row(at), m.row(r))
		}
		return some
	}
	weigh, mix := j.cuts[i+1], j.cuts[i+2]
	var made [2]*matrix
	for at, chosen := range []*matrix{was, ids} {
		st := state{"n": pick(x), "r": pick(scores), "i": pick(chosen)}
		var err error
		if made[at], err = must.Of(func() *matrix {
			return j.experts(j.cuts[i].layer, st["n"], st["i"], weigh.f(j.net, weigh, &weigh.opt, st)["p"], &mix.opt)
		}); err != nil {
			return by
		}
	}
	for at, r := range rows {
		for y := range by {
			row := slope.row(y*ids.n + r)
			by[y][j.sequenceOf(r)] += dot(made[1].row(at), row) - dot(made[0].row(at), row)
		}
	}
	return by
}

func sumOf(a, b *matrix) *matrix {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	out := newMatrix(a.n, a.w)
	for i := range out.v {
		out.v[i] = a.v[i] + b.v[i]
	}
	return out
}

// linearBack is g·w.
func linearBack(g *matrix, w *weights.Matrix) *matrix {
	lacks(w == nil || len(w.Shape) != 2 || int(w.Shape[0]) != g.w)
	out := newMatrix(g.n, int(w.Shape[1]))
	w.Rows(func(first int, v []float64) {
		blasgonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, g.n, out.w, len(v)/out.w, 1, g.v[first:], g.w, v, out.w, 1, out.v, out.w)
	})
	return out
}

// normBack: y = x·r·w with r = (mean x² + eps)^-½ has the slope r·(g·w − x·r²·mean(g·w·x)).
func normBack(g, x *matrix, w *weights.Matrix, o *options) *matrix {
	width := x.w
	if w != nil {
		width = len(w.V)
	}
	out, scaled := newMatrix(g.n, g.w), make([]float64, width)
	for at := 0; at < len(g.v); at += width {
		in := x.v[at%len(x.v):][:width]
		copy(scaled, g.v[at:at+width])
		for e := range scaled {
			if w != nil && !o.noWeight {
				if o.plusOne {
					scaled[e] *= 1 + w.V[e]
				} else {
					scaled[e] *= w.V[e]
				}
			}
		}
		r := 1 / math.Sqrt(dot(in, in)/float64(width)+o.eps)
		mean := dot(scaled, in) / float64(width) * r * r
		for e := range scaled {
			out.v[at+e] = r * (scaled[e] - in[e]*mean)
		}
	}
	return out
}

// gatedBack is the slope of an activation of one matrix times the other.
func gatedBack(kind string, g, a, b *matrix) (ga, gb *matrix) {
	of := activation(kind)
	ga, gb = newMatrix(g.n, g.w), newMatrix(g.n, g.w)
	for i, d := range g.v {
		at := i % len(a.v)
		y, slope := of(a.v[at])
		ga.v[i], gb.v[i] = d*slope*b.v[at], d*y
	}
	return ga, gb
}

// attendBack is the slope of attention.
func (n *net) attendBack(g, q, k, v *matrix, o *options) (gq, gk, gv *matrix) {
	heads, vd := q.w/n.dim, v.w/(k.w/n.dim)
	var w attended
	gq, gk, gv = newMatrix(g.n, q.w), newMatrix(g.n, k.w), newMatrix(g.n, v.w)
	for i := range q.n {
		for h := range heads {
			n.weigh(&w, q, k, i, h, o)
			p, first, group := w.p, w.first, w.group
			for s := range signs {
				at := s * q.n
				ga := g.row(at + i)[h*vd : (h+1)*vd]
				mean, dp := 0.0, make([]float64, len(p))
				for t := range p {
					dp[t] = dot(ga, v.row(first + t)[group*vd:(group+1)*vd])
					mean += p[t] * dp[t]
				}
				to := gq.row(at + i)[h*n.dim : (h+1)*n.dim]
				for t := range p {
					d := p[t] * (dp[t] - mean) * o.scale * w.cap[t]
					key, gkey := k.row(first + t)[group*n.dim:], gk.row(at + first + t)[group*n.dim:]
					for e := range to {
						to[e] += d * key[e]
						gkey[e] += d * q.row(i)[h*n.dim+e]
					}
					for e, x := range ga {
						gv.row(at + first + t)[group*vd+e] += p[t] * x
					}
				}
			}
		}
	}
	return gq, gk, gv
}

// expertsBack are the slopes of what experts add up to, in their input and in their weights.
func (n *net) expertsBack(layer int, g, x, ids, p *matrix, o *options) (gx, gp *matrix) {
	gx, gp = newMatrix(g.n, x.w), newMatrix(g.n, p.w)
	chosen := map[int][]int{}
	for at, e := range ids.v {
		chosen[int(e)] = append(chosen[int(e)], at)
	}
	for _, e := range slices.Sorted(maps.Keys(chosen)) {
		places := chosen[e]
		in, down := newMatrix(len(places), x.w), newMatrix(signs*len(places), g.w)
		for i, at := range places {
			copy(in.row(i), x.row(at/ids.w))
			for s := range signs {
				copy(down.row(s*len(places)+i), g.row(s*x.n+at/ids.w))
			}
		}
		name := prefix(layer) + "mlp.experts." + strconv.Itoa(e) + "."
		y := n.feed(name, in, o)
		for i, at := range places {
			for s := range signs {
				row := down.row(s*len(places) + i)
				gp.row(s*x.n + at/ids.w)[at%ids.w] += dot(row, y.row(i))
				for d := range row {
					row[d] *= p.v[at]
				}
			}
		}
		up := n.feedBack(name, down, in, o)
		for i, at := range places {
			for s := range signs {
				to := gx.row(s*x.n + at/ids.w)
				for d, v := range up.row(s*len(places) + i) {
					to[d] += v
				}
			}
		}
	}
	for _, name := range []string{"mlp.shared_experts.", "mlp.shared_expert."} {
		if n.get(prefix(layer)+name+"gate_proj.weight") == nil {
			continue
		}
		down, gate := g, n.get(prefix(layer)+"mlp.shared_expert_gate.weight")
		if gate != nil {
			y := n.feed(prefix(layer)+name, x, o)
			down = newMatrix(g.n, g.w)
			for r := range g.n {
				factor := 1 / (1 + math.Exp(-dot(x.row(r%x.n), gate.V)))
				d := dot(g.row(r), y.row(r%x.n)) * factor * (1 - factor)
				for e, v := range g.row(r) {
					down.row(r)[e] = factor * v
				}
				for e, v := range gate.V {
					gx.row(r)[e] += d * v
				}
			}
		}
		gx = sumOf(gx, n.feedBack(prefix(layer)+name, down, x, o))
	}
	return gx, gp
}

// feedBack is the slope of a gated feed-forward.
func (n *net) feedBack(name string, g, x *matrix, o *options) *matrix {
	gate, up := n.get(name+"gate_proj.weight"), n.get(name+"up_proj.weight")
	a, b, m := linear(x, gate, nil), linear(x, up, nil), linearBack(g, n.get(name+"down_proj.weight"))
	lacks(m.w != a.w)
	ga, gb := gatedBack(o.act, m, a, b)
	return sumOf(linearBack(ga, gate), linearBack(gb, up))
}
