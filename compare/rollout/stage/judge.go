package stage

import (
	"cmp"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/compare/metric"
	"precision/compare/weights"
	"precision/dump/checkpoint"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/must"
	"precision/internal/order"
)

// Request is what two engines recorded.
type Request struct {
	// Train and Rollout are folders with recordings of msprobe.
	Train, Rollout string
	// TrainWeights and RolloutWeights are the checkpoints.
	TrainWeights, RolloutWeights *checkpoint.Set
	// Own tells that the rollout computes with weights of its own that give the same network: rotated, experts numbered otherwise.
	Own bool
	// Rows and Columns are the shape of the log-probs [sequence, position of the response]; TrainLog and RolloutLog are nil where there are none.
	Rows, Columns        int
	TrainLog, RolloutLog []float64
	Counts               func(i int) bool
	Answers              []int64
	// Tokens bounds how many tokens are looked at, as whole sequences.
	Tokens int
	room   int // elements of recordings that are kept, 0 for mostLoaded
}

// Finding is what is said of a stage.
type Finding string

// The findings.
const (
	Same      Finding = "same"
	Rounding  Finding = "rounding"
	Precision Finding = "precision"
	Weights   Finding = "weights"
	Formula   Finding = "formula"
	Cache     Finding = "cache"
	Harmless  Finding = "harmless"
	Unknown   Finding = "unknown"
)

// Stage is a place of the network as both sides recorded it.
type Stage struct {
	Layer   int     `json:"layer"` // -1 outside of layers
	Name    string  `json:"stage"`
	Finding Finding `json:"finding"`
	// Side is the one that a finding is about: train, rollout, or empty.
	Side string `json:"side,omitempty"`
	// Train and Rollout are the errors of both sides: of what was recorded against the trainer's function of that side's
	// own input, relative to it, in the norm of all tokens.
	Train   float64 `json:"train"`
	Rollout float64 `json:"rollout"`
	// Rows counts tokens whose input is bitwise equal on both sides, Equal those of them whose output is, too.
	Rows  int `json:"rows"`
	Equal int `json:"equal"`
	// Own is the share of elements of the rollout that the trainer's own arithmetic gives, step by step in its types; -1 where that is not known.
	Own float64 `json:"own"`
	// Share is that of the difference of the log-probs; Effect and Calm are the rms of what the errors of rollout and trainer do to them.
	// Variance is that of its variance, for shares may be below zero.
	Share    float64 `json:"share"`
	Variance float64 `json:"variance_share"`
	Effect   float64 `json:"effect"`
	Calm     float64 `json:"calm"`
	// Variant names the function that explains the side, message rollout.variant.NAME.
	Variant string `json:"variant,omitempty"`
	Args    []any  `json:"-"`
	// Unseen are the weights that a side's outputs do not fit and that are in nothing that was given of it.
	Unseen []string `json:"unseen,omitempty"`
	// Types are the element types of the output, the trainer's first.
	Types [2]dtype.Type `json:"-"`
	// Lines are the lines of source in which it was computed, where stacks were recorded; of findings alone.
	Lines [2]string `json:"lines,omitzero"`
	calls [2]string // where it was recorded
}

// Report is what was found.
type Report struct {
	Stages []Stage `json:"-"`
	// Tokens were compared, in Sequences; Left sequences of the rollout are of no row of the trainer.
	Tokens    int `json:"tokens"`
	Sequences int `json:"sequences"`
	Left      int `json:"left_out"`
	Answers   int `json:"answers"`
	// Foreign counts rows of the response whose ids are in no sequence that both sides computed.
	Foreign int `json:"foreign,omitempty"`
	// Dropped counts sequences that were not looked at, for there were more tokens than asked for.
	Dropped int `json:"dropped,omitempty"`
	// Mismatch lists sequences, by the trainer's row, whose ids differ, with how many; Front those with tokens that one side alone has ahead.
	Mismatch [][2]int `json:"mismatch,omitempty"`
	Front    [][2]int `json:"front,omitempty"`
	// Shares tells that Share and what follows are known; Sum is the sum of all shares.
	Shares bool    `json:"-"`
	Sum    float64 `json:"share_sum"`
	// Sloped tells that the rest of the network was too large to be computed behind every stage: effects are those of its slope.
	Sloped bool `json:"sloped,omitempty"`
	// Basis is the share of weights that are rounded in another basis; it is part of Sum.
	Basis    float64 `json:"basis_share,omitempty"`
	Expected float64 `json:"expected"`
	Found    float64 `json:"found"`
	// Factor is the found difference, without what other experts do, over the expected one.
	Factor float64 `json:"factor"`
	// Covered is the share of the difference in stages that were judged.
	Covered float64 `json:"covered"`
	// Bare tells that a side has statistics only. Notes say what could not be looked at.
	Bare  bool     `json:"bare,omitempty"`
	Told  []Told   `json:"told,omitempty"`
	Notes []string `json:"notes,omitempty"`
	// Routing is why other experts were chosen, by layer.
	Routing []Routing `json:"routing,omitempty"`
	// Adapter is the scale of what low-rank training adds in the trainer, as its calls show it; 0 where there is none.
	Adapter float64 `json:"adapter_scale,omitempty"`
	// Damaged counts parts of the recordings that could not be read.
	Damaged int `json:"damaged,omitempty"`
	// Wide tells that the trainer keeps residual sums in a wider type than the rollout: then all stages are rounded more coarsely.
	Wide bool `json:"wide,omitempty"`
}

// Told is a number that the calls of a stage were given, another on either side: of recordings without elements.
type Told struct {
	Stage   string  `json:"stage"` // norm: epsilon, attn: scale, rope: base
	Train   float64 `json:"train"`
	Rollout float64 `json:"rollout"`
}

// Limits of findings (docs/rollout.md): errors of one side are held against limit times those of the other, or of so many roundings.
const (
	limit      = 3
	roundings  = 1.5
	understood = 5
	invariant  = 30
	// borrowed is how far off attention may be that reads the trainer's keys in place of a cached prefix.
	borrowed = 0.1
)

// OtherLogits is how far log-probs may be off what the recorded logits give before they are not of these at all.
const OtherLogits = 0.05

// mostWork bounds how many products the exact shares may take; tests have less.
var mostWork = 4e10

type judge struct {
	*net
	sides [2]*side
	rec   [2][]map[string]field // by cut
	st    [2][]state            // behind each judged cut
	cutAt []int                 // judged cuts
	own   bool
	rep   *Report
	q     *Request
	logs  [2][]float64 // by side, of the answers
}

// Run reads both recordings and judges them. The error is that of a recording that cannot be read, or of the context.
func Run(ctx context.Context, q *Request) (*Report, error) {
	r := &Report{Stages: []Stage{}}
	j := &judge{rep: r, q: q, own: q.Own}
	for i, path := range []string{q.Train, q.Rollout} {
		set := q.TrainWeights
		if i == 1 {
			set = q.RolloutWeights
		}
		t, err := read(ctx, path, set)
		if err != nil {
			return nil, err
		}
		r.Bare = r.Bare || t.bare
		j.sides[i] = &side{tape: t, train: i == 0}
	}
	switch {
	case r.Bare:
		a, b := j.sides[0].told, j.sides[1].told
		for _, stage := range []string{"norm", "rope", "attn"} {
			if x, y := a[stage], b[stage]; len(x) > 0 && len(y) > 0 && !slices.ContainsFunc(x, func(x float64) bool {
				return slices.ContainsFunc(y, func(y float64) bool { return math.Abs(x-y) <= 1e-3*x })
			}) {
				r.Told = append(r.Told, Told{stage, x[0], y[0]})
			}
		}
		return r, nil
	case len(j.sides[0].passes) == 0 || len(j.sides[1].passes) == 0:
		r.Notes = append(r.Notes, "embedding")
		return r, nil
	case q.TrainWeights == nil || q.RolloutWeights == nil:
		r.Notes = append(r.Notes, "checkpoints")
		return r, nil
	}
	m := align(ctx, j.sides[0].tape, j.sides[1].tape)
	if q.Tokens > 0 && len(m.ids) > q.Tokens {
		r.Dropped = m.most(q)
	}
	if m.noPlace {
		r.Notes = append(r.Notes, "positions")
	}
	r.Left, r.Sequences, r.Tokens = m.left, len(m.seqs), len(m.ids)
	for _, s := range m.seqs {
		if s.differ > 0 {
			r.Mismatch = append(r.Mismatch, [2]int{s.row, s.differ})
		}
		if s.front != 0 {
			r.Front = append(r.Front, [2]int{s.row, s.front})
		}
	}
	if len(m.seqs) == 0 {
		r.Notes = append(r.Notes, "tokens")
		return r, nil
	}
	j.net = &net{tok: m, w: weights.Networks(q.TrainWeights, q.RolloutWeights), cache: map[string]*weights.Matrix{}, room: cmp.Or(q.room, mostLoaded)}
	j.sides[0].places, j.sides[1].places = m.train, m.rollout
	for i, s := range j.sides {
		if x := s.adapter(); x != 0 {
			j.w.Adapt(i, x)
			if i == 0 {
				r.Adapter = x
			}
		}
	}
	if !j.shape() {
		r.Notes = append(r.Notes, "network")
		return r, ctx.Err()
	}
	j.answers()
	j.build()
	j.collect()
	if len(j.cutAt) == 0 {
		r.Notes = append(r.Notes, "stages")
		return r, ctx.Err()
	}
	j.fit()
	for _, i := range j.cutAt {
		if a, b := j.rec[0][i]["h"], j.rec[1][i]["h"]; j.cuts[i].stage == "add" && unit(a.t) < unit(b.t) {
			r.Wide = true
		}
	}
	j.test(ctx)
	j.follows()
	j.shares(ctx)
	j.lines()
	for _, s := range j.sides {
		r.Damaged += len(s.faults)
		for _, err := range s.faults {
			if len(r.Notes) < 16 {
				r.Notes = append(r.Notes, "fault "+err.Error())
			}
		}
	}
	return r, ctx.Err()
}

// shape reads the sizes of the network off weights and calls.
func (j *judge) shape() bool {
	n := j.net
	n.layers = layersOf(n.w.Names())
	e := n.w.Shape(0, "model.embed_tokens.weight")
	if len(e) != 2 || n.layers == 0 {
		return false
	}
	n.hidden = int(e[1])
	q, k := n.width(prefix(0)+"self_attn.q_proj"), n.width(prefix(0)+"self_attn.k_proj")
	if wide := n.width(prefix(0) + "self_attn.kv_b_proj"); wide > 0 {
		return j.latents(wide)
	}
	if q == 0 || k == 0 {
		return false
	}
	if s := n.w.Shape(0, prefix(0)+"self_attn.q_norm.weight"); len(s) == 1 && q%int(s[0]) == 0 {
		n.dim = int(s[0])
	}
	for _, s := range j.sides {
		p := s.passes[len(s.passes)-1]
		rows := len(p.ids)
		for _, c := range n.around(p, 0) {
			for _, v := range tensors(c, msprobe.Output, msprobe.Input) {
				if d := len(v.Shape); n.dim == 0 && (d == 4 || d == 3) && (size(v) == rows*q || size(v) == rows*k) && v.Shape[d-1] > 1 && q%int(v.Shape[d-1]) == 0 && k%int(v.Shape[d-1]) == 0 && (d == 4 || int(v.Shape[0]) == rows) {
					n.dim = int(v.Shape[d-1])
				}
			}
		}
	}
	if n.dim == 0 || q%n.dim != 0 || k%n.dim != 0 {
		return false
	}
	n.heads, n.kvHeads = q/n.dim, k/n.dim
	j.rest()
	return true
}

// latents reads the sizes of attention with narrow keys and values: heads are told by the call of attention.
func (j *judge) latents(wide int) bool {
	n := j.net
	n.latent = true
	pre := prefix(0) + "self_attn."
	narrow, down, out := n.w.Shape(0, pre+"kv_a_layernorm.weight"), n.width(pre+"kv_a_proj_with_mqa"), n.w.Shape(0, pre+"o_proj.weight")
	p := j.sides[0].passes[0]
	for _, c := range n.around(p, 0) {
		if x := tensors(c, msprobe.Input); attends(c) && len(x) >= 3 && len(x[0].Shape) == 4 && len(narrow) == 1 && len(out) == 2 {
			n.heads, n.dim, n.turned = int(x[0].Shape[1]), int(x[0].Shape[3]), down-int(narrow[0])
		}
	}
	if n.heads == 0 || n.turned <= 0 || n.turned >= n.dim || int(out[1])%n.heads != 0 {
		return false
	}
	n.kvHeads, n.valueDim = n.heads, int(out[1])/n.heads
	if n.heads*(n.dim-n.turned+n.valueDim) != wide {
		return false
	}
	j.rest()
	return true
}

// rest reads what routers choose and how angles are.
func (j *judge) rest() {
	n := j.net
	for l := range n.layers {
		if n.has(prefix(l) + "mlp.gate") {
			n.topk = min(max(j.chosen(l), 1), max(n.width(prefix(l)+"mlp.gate"), 1))
			break
		}
	}
	n.cos, n.sin = make([]*matrix, n.layers), make([]*matrix, n.layers)
	for l := range n.layers {
		n.cos[l], n.sin[l] = j.sides[0].tables(n, l)
	}
}

// chosen is how many experts a token has.
func (j *judge) chosen(layer int) int {
	for _, s := range j.sides {
		for _, p := range s.passes {
			gate := p.sites[prefix(layer)+"mlp.gate"]
			if gate == nil {
				continue
			}
			if e := p.sites[prefix(layer)+"mlp.experts"]; e != nil {
				for _, v := range e.ins {
					if v.Known && v.Elem.IsInteger() && len(v.Shape) > 0 {
						return int(v.Shape[len(v.Shape)-1])
					}
				}
			}
			if len(gate.outs) == 3 && len(gate.outs[2].Shape) > 0 {
				return int(gate.outs[2].Shape[len(gate.outs[2].Shape)-1])
			}
			for _, c := range p.calls[gate.at:] {
				if api := strings.ToLower(c.Parsed.API); api == "topk" || strings.Contains(api, "top_k") {
					if x := tensors(c, msprobe.Output); len(x) > 1 && len(x[1].Shape) > 0 {
						return int(x[1].Shape[len(x[1].Shape)-1])
					}
				}
			}
		}
	}
	return 1
}

// answers finds the keys that log-probs are of.
func (j *judge) answers() {
	q := j.q
	if q.TrainLog == nil {
		return
	}
	keys := j.tok.answers(q.Rows, q.Columns, q.Counts, q.Answers)
	if j.rep.Dropped == 0 && q.Answers != nil {
		for r := range q.Rows {
			counts, found := false, false
			for i := r * q.Columns; i < (r+1)*q.Columns; i++ {
				counts, found = counts || q.Counts(i), found || keys[i] >= 0
			}
			if counts && !found {
				j.rep.Foreign++
			}
		}
	}
	for i, k := range keys {
		if k < 0 || j.tok.rollout[k] == cached || !q.Counts(i) || q.TrainLog[i]-q.RolloutLog[i] != q.TrainLog[i]-q.RolloutLog[i] {
			continue
		}
		j.keys = append(j.keys, k)
		id := j.tok.after[k]
		if q.Answers != nil {
			id = q.Answers[i]
		}
		j.target = append(j.target, id)
		j.logs[0], j.logs[1] = append(j.logs[0], q.TrainLog[i]), append(j.logs[1], q.RolloutLog[i])
	}
	j.rep.Answers = len(j.keys)
}

// collect loads what both sides recorded of each cut.
func (j *judge) collect() {
	for s := range 2 {
		j.rec[s] = make([]map[string]field, len(j.cuts))
	}
	for i, c := range j.cuts {
		j.trim()
		for s, x := range j.sides {
			switch {
			case c.stage == "logp" && len(j.keys) > 0:
				m := newMatrix(len(j.keys), 1)
				copy(m.v, j.logs[s])
				j.rec[s][i] = map[string]field{"l": {m: m, t: dtype.Float32}}
			case c.stage == "logp", c.stage == "lm_head" && len(j.keys) == 0:
			case c.stage == "latent_kv":
				j.rec[s][i] = j.shelve(x.read(j.net, c), func() map[string]field { return x.read(j.net, c) })
			case c.stage == "cache":
				if !x.train {
					j.rec[s][i] = j.shelve(x.read(j.net, c), func() map[string]field { return x.read(j.net, c) })
				}
			default:
				j.rec[s][i] = x.at(j.net, c)
				for name, f := range j.rec[s][i] {
					j.shelve(map[string]field{name: f}, func() map[string]field {
						g, _ := must.Of(func() field { return x.gather(j.net, c, name) })
						return map[string]field{name: g}
					})
				}
			}
		}
		// What a prefix cache held was computed elsewhere: the trainer's stands for it.
		for name, f := range j.rec[1][i] {
			g := j.rec[0][i][name]
			if !slices.Contains(j.tok.rollout, cached) || g.m == nil || g.m.w != f.m.w || f.m.n != len(j.tok.rollout) || g.m.n != f.m.n {
				continue
			}
			f.m.adjust(func(v []float64) []float64 {
				j.hold(g.m)
				for k, at := range j.tok.rollout {
					if at == cached {
						copy(v[k*f.m.w:(k+1)*f.m.w], g.m.row(k))
					}
				}
				return v
			})
		}
		if c.stage == "cache" && j.rec[1][i] != nil {
			// The trainer reads what it wrote.
			j.rec[0][i] = map[string]field{}
			for name := range j.rec[1][i] {
				for k := i - 1; k >= 0; k-- {
					if f, ok := j.rec[0][k][name]; ok {
						j.rec[0][i][name] = f
						break
					}
				}
			}
			if len(j.rec[0][i]) < 2 {
				j.rec[0][i] = nil
			}
		}
		if c.stage == "choice" {
			for s := range 2 {
				if r, ok := j.rec[s][i-1]["r"]; ok && r.m.w > 0 && j.rec[s][i] == nil {
					// An engine that keeps its choice to itself takes the highest of its scores.
					j.hold(r.m)
					j.rec[s][i] = map[string]field{"i": {m: top(j.net.scores(c.layer, r.m), j.topk), t: dtype.Int64, assumed: true}}
				}
			}
		}
		if j.rec[0][i] != nil && j.rec[1][i] != nil && alike(j.rec[0][i], j.rec[1][i]) {
			j.cutAt = append(j.cutAt, i)
		}
	}
	for s := range 2 {
		j.st[s] = j.chain(s, j.cutAt)
	}
}

// shelve lets fields be put away, and read again.
func (j *judge) shelve(fields map[string]field, read func() map[string]field) map[string]field {
	for name, f := range fields {
		f.m.load = func() []float64 {
			if g := read()[name]; g.m != nil {
				return g.m.v
			}
			return nil
		}
		j.keep(f.m)
	}
	return fields
}

// chain is what a side holds behind each of some cuts.
func (j *judge) chain(s int, cuts []int) []state {
	st := state{}
	for i, c := range j.cuts {
		if f, ok := j.rec[0][i]["i"]; ok && c.stage == "choice" {
			st["chosen"+itoa(c.layer)] = f.m
		}
	}
	list := []state{st}
	from := 0
	for _, i := range cuts {
		st = st.with(nil)
		// A residual sum that was not recorded is made of what was.
		for ; from < i; from++ {
			c := j.cuts[from]
			if c.stage != "embed" && c.stage != "add" {
				continue
			}
			j.trim()
			before, at := st.with(nil), from
			make := func() *matrix {
				was, side := c.opt, j.side
				defer func() { c.opt, j.side = was, side }()
				c.opt.factor, j.side = 1, 0
				return j.run(at, at, before)["h"]
			}
			if st["h"] = make(); st["h"] != nil {
				st["h"].load = func() []float64 {
					if m := make(); m != nil {
						return m.v
					}
					return nil // what it is made of cannot be read any more
				}
				j.keep(st["h"])
			}
		}
		from = i + 1
		for name, f := range j.rec[s][i] {
			st[name] = f.m
		}
		list = append(list, st)
	}
	return list
}

func alike(a, b map[string]field) bool {
	for name, f := range a {
		g, ok := b[name]
		if !ok || f.m.n != g.m.n {
			return false
		}
		if f.m.w != g.m.w {
			if name != "z" {
				return false
			}
			// A padded vocabulary.
			w := min(f.m.w, g.m.w)
			for _, m := range []*matrix{f.m, g.m} {
				if wide := m.w; wide > w {
					m.w = w
					m.adjust(func(v []float64) []float64 {
						return columns(&matrix{n: m.n, w: wide, v: v}, 0, w).v
					})
				}
			}
		}
	}
	return true
}

// function computes what a side should have recorded of judged cut k from what it recorded before.
func (j *judge) function(s, k int, o *options) state {
	j.trim()
	from := 0
	if k > 0 {
		from = j.cutAt[k-1] + 1
	}
	c := j.cuts[j.cutAt[k]]
	was := c.opt
	if o != nil {
		c.opt = *o
	}
	st := j.run(from, j.cutAt[k], j.st[s][k])
	c.opt = was
	return st
}

// away is the largest error of the parts of a cut against a function, relative to it.
func (j *judge) away(s, k int, st state) float64 {
	worst := 0.0
	i := j.cutAt[k]
	for _, name := range j.cuts[i].out {
		y, ok := j.rec[s][i][name]
		f := st[name]
		if !ok || f == nil || f.n != y.m.n || f.w != y.m.w && name != "z" {
			return math.NaN()
		}
		j.hold(y.m, f)
		w := min(f.w, y.m.w)
		diff, norm := 0.0, 0.0
		for r := range f.n {
			if s == 1 && f.n == len(j.tok.rollout) && j.tok.rollout[r] == cached {
				continue // borrowed from the trainer
			}
			for x := range w {
				d := y.m.v[r*y.m.w+x] - f.v[r*f.w+x]
				diff += d * d
				norm += f.v[r*f.w+x] * f.v[r*f.w+x]
			}
		}
		e := math.Sqrt(diff / norm)
		if norm == 0 {
			e = math.Sqrt(diff)
		}
		if j.cuts[i].stage == "logp" {
			e = math.Sqrt(diff / float64(max(f.n, 1)))
		}
		if e != e {
			return e
		}
		worst = max(worst, e)
	}
	return worst
}

// fit finds the options that no weight tells, on the trainer. Stages of one name share them, but for attention, whose windows alternate.
func (j *judge) fit() {
	// The trainer may have recorded more than the rollout.
	both, states := j.cutAt, j.st[0]
	defer func() { j.cutAt, j.st[0] = both, states }()
	j.cutAt = nil
	for i := range j.cuts {
		if j.rec[0][i] != nil {
			j.cutAt = append(j.cutAt, i)
		}
	}
	j.st[0] = j.chain(0, j.cutAt)
	for _, c := range j.cuts {
		c.opt = options{eps: 1e-6, scale: 1 / math.Sqrt(float64(j.dim)), act: "silu", factor: 1, renorm: true}
		if (c.stage == "rope" || c.stage == "latent_kv") && j.cos[c.layer] == nil {
			c.opt.theta = 1e4
		}
	}
	group := func(c *cut) string {
		if c.stage == "attn" || c.stage == "rope" || c.stage == "latent_kv" {
			return c.stage + itoa(c.layer)
		}
		return c.stage
	}
	done := map[string]bool{}
	for _, i := range j.cutAt {
		c := j.cuts[i]
		if done[group(c)] {
			continue
		}
		done[group(c)] = true
		var mates []int
		for m, x := range j.cutAt {
			if group(j.cuts[x]) == group(c) && len(mates) < 8 {
				mates = append(mates, m)
			}
		}
		score := func(o *options) (sum float64) {
			for _, m := range mates {
				st := j.function(0, m, o)
				if st == nil {
					return math.Inf(1)
				}
				e := j.away(0, m, st)
				if e != e {
					return math.Inf(1)
				}
				sum += e * e
			}
			return sum
		}
		best, at := c.opt, score(&c.opt)
		// Options may have to change together, as scale and window do.
		for range 2 {
			was := at
			for _, o := range append(j.variants(c, j.sides[0], best), j.temperatures(0, mates[0], best)...) {
				if x := score(&o); x < 0.9*at {
					best, at = o, x
				}
			}
			if at == was {
				break
			}
		}
		best.name, best.args = "", nil
		for x := range j.cuts {
			if group(j.cuts[x]) == group(c) {
				j.cuts[x].opt = best
			}
		}
	}
}

// test judges each cut.
func (j *judge) test(ctx context.Context) {
	for k, i := range j.cutAt {
		if ctx.Err() != nil {
			return
		}
		c := j.cuts[i]
		s := Stage{Layer: c.layer, Name: j.name(k), Finding: Unknown, Own: -1}
		for name := range j.rec[0][i] {
			for x := range 2 {
				s.Types[x] = j.rec[x][i][name].t
				s.calls[x] = cmp.Or(s.calls[x], j.rec[x][i][name].call)
			}
		}
		if c.stage == "choice" {
			s.Finding = Same
			j.routing(i, &s)
			j.rep.Stages = append(j.rep.Stages, s)
			continue
		}
		f := [2]state{}
		for x := range 2 {
			j.as(x)
			f[x] = j.function(x, k, nil)
		}
		j.side = 0
		if f[0] != nil && f[1] != nil {
			s.Train, s.Rollout = j.away(0, k, f[0]), j.away(1, k, f[1])
			j.equal(k, &s)
			j.arithmetic(k, &s, f)
			j.find(k, &s)
			j.angles(k, &s)
		}
		for _, e := range []*float64{&s.Train, &s.Rollout} {
			if *e != *e || math.IsInf(*e, 0) {
				*e = -1
			}
		}
		j.rep.Stages = append(j.rep.Stages, s)
	}
}

// follows takes back what attention is accused of for a prefix whose keys and values are the trainer's: where another stage of the engine is at fault, its own were others.
func (j *judge) follows() {
	if !slices.Contains(j.tok.rollout, cached) {
		return
	}
	read := func(s *Stage) bool { return s.Name == "attn" && s.Finding == Formula && s.Variant == "" }
	if slices.ContainsFunc(j.rep.Stages, func(s Stage) bool {
		return s.Side == "rollout" && s.Finding != Harmless && !read(&s)
	}) {
		for i := range j.rep.Stages {
			if s := &j.rep.Stages[i]; read(s) && s.Side == "rollout" {
				s.Finding, s.Side = Unknown, ""
			}
		}
	}
}

// lines finds where in their programs the stages of findings are.
func (j *judge) lines() {
	for x, side := range j.sides {
		p := side.passes[0]
		var stack *msprobe.Stack
		for i := range j.rep.Stages {
			s := &j.rep.Stages[i]
			if s.Finding == Same || s.Finding == Rounding || s.Finding == Unknown || s.calls[x] == "" {
				continue
			}
			if stack == nil {
				f, err := os.Open(p.rec.Stack)
				if err != nil {
					break // none was recorded
				}
				stack, err = msprobe.ReadStack(f, p.rec.Stack)
				if f.Close(); err != nil {
					j.sides[x].faults = append(j.sides[x].faults, err)
					break
				}
			}
			for f := range stack.Of(s.calls[x]) {
				if !f.Installed() && f.Line > 0 {
					s.Lines[x] = filepath.Base(f.File) + ":" + itoa(f.Line)
					break
				}
			}
		}
	}
}

// name is that of a judged cut; stages that were not recorded are part of the next.
func (j *judge) name(k int) string {
	from := 0
	if k > 0 {
		from = j.cutAt[k-1] + 1
	}
	var parts []string
	for i := from; i <= j.cutAt[k]; i++ {
		if s := j.cuts[i].stage; s != "cache" || i == j.cutAt[k] {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "+")
}

// as has a side computed by what follows: the rollout with weights of its own, where these give the same network in another basis.
func (j *judge) as(side int) {
	if j.side = 0; side == 1 && j.own {
		j.side = 1
	}
}

// units is the error of one rounding of a cut's output.
func (s *Stage) units() (train, rollout float64) {
	return unit(s.Types[0]), unit(s.Types[1])
}

// find decides what the errors of a stage mean.
func (j *judge) find(k int, s *Stage) {
	c := j.cuts[j.cutAt[k]]
	if s.Train != s.Train || s.Rollout != s.Rollout {
		return
	}
	ut, ur := s.units()
	u := ut
	if c.stage == "logp" {
		// Log-probs are kept in float32; what the logits are rounded to is behind them.
		ut, u = 1e-4, 1e-4
		if z, ok := j.rec[0][j.cutAt[k]-1]["z"]; ok && c.opt.softcap > 0 {
			// A cap is computed in the type of the logits, and its results are of its size.
			u = max(u, unit(z.t)*c.opt.softcap)
			ut = u
		}
	}
	if j.rep.Wide {
		u = max(ut, ur)
	}
	floor := roundings * u
	known := understood * u
	if ut < 1e-6 {
		known = max(known, 2e-6)
	}
	train, rollout := s.Train, s.Rollout
	for side, e := range []*float64{&train, &rollout} {
		if c.stage == "attn" && *e > limit*floor {
			if stored := j.eager(side, k, s.Types[side]); stored < *e {
				*e = stored
			}
		}
	}
	switch {
	case c.stage == "cache":
		// What is read is what was written, bit by bit.
		s.Finding = Same
		if s.Rollout > 0 {
			s.Side, s.Finding = "rollout", Cache
		}
		if s.Rollout > 0 && s.Rollout < 0.2 {
			s.Finding = Precision
		}
		return
	case rollout <= limit*max(train, floor) && train <= max(limit*max(rollout, floor), known):
		s.Finding = Rounding
		if s.Rows > 0 && s.Rows == s.Equal {
			s.Finding = Same
		}
		if train > known && rollout > known {
			s.Finding = Unknown
		}
		return
	case train > known && rollout <= limit*max(u, ur)*roundings:
		s.Side, s.Finding = "train", Formula
		j.explain(0, k, s)
		return
	case train > known:
		s.Finding = Unknown
		return
	}
	s.Side = "rollout"
	switch {
	case rollout <= limit*roundings*ur && ur > ut:
		if s.Finding = Precision; !c.product && ur <= j.reads(j.cutAt[k]) {
			s.Finding, s.Side = Rounding, "" // what the trainer keeps more finely is no better known than what it reads
		}
		return
	}
	if !j.own {
		j.side = 1
		if st := j.function(1, k, nil); st != nil {
			if e := j.away(1, k, st); e <= limit*max(s.Train, floor) {
				s.Finding = Weights
				j.side = 0
				return
			}
		}
		j.side = 0
	}
	s.Finding = Formula
	if c.stage == "attn" && slices.Contains(j.tok.rollout, cached) && s.Rollout < borrowed {
		s.Finding, s.Side = Unknown, "" // the trainer's keys and values of a prefix are the engine's within all its rounding only
		return
	}
	j.explain(1, k, s)
	if s.Finding == Formula && s.Variant == "" {
		j.unseen(k, s)
	}
}

// eager is the error of a side's attention as one call after the other computes it: scores, their multiples of the scale and weights are stored in
// the type of what comes out. The error grows with scores and with the number of keys, to many times that of a kernel that keeps them in float32.
func (j *judge) eager(side, k int, t dtype.Type) float64 {
	o := j.cuts[j.cutAt[k]].opt
	o.scores = t
	j.as(side)
	defer j.as(0)
	return j.away(side, k, j.function(side, k, &o))
}

// reads is the error of one rounding in the coarsest type that the trainer reads at a cut.
func (j *judge) reads(i int) (u float64) {
	for _, name := range j.cuts[i].in {
		for k := i - 1; k >= 0; k-- {
			if f, ok := j.rec[0][k][name]; ok {
				u = max(u, unit(f.t))
				break
			}
		}
	}
	return u
}

// unseen makes weights of an error in a product that no other function explains: a product has nothing else, and whether the weights are the
// trainer's nobody could see.
func (j *judge) unseen(k int, s *Stage) {
	i := j.cutAt[k]
	c := j.cuts[i]
	if s.Name != c.stage || !c.product {
		return
	}
	whole := c.out
	defer func() { c.out = whole }()
	ut, _ := s.units()
	st := j.function(1, k, nil)
	for at, name := range c.weight {
		if j.w.Has(1, name+".weight") || len(c.weight) != len(whole) {
			continue
		}
		c.out = whole[at : at+1]
		if j.away(1, k, st) > limit*max(s.Train, roundings*ut) {
			s.Unseen = append(s.Unseen, name+".weight")
		}
	}
	if len(s.Unseen) > 0 {
		s.Finding = Weights
	}
}

// angles holds what both sides multiply with for rotation against each other: angles that were rounded ahead of their cosine are off by more
// than any product shows.
func (j *judge) angles(k int, s *Stage) {
	c := j.cuts[j.cutAt[k]]
	if slices.Contains(j.tok.rollout, cached) {
		return
	}
	if c.stage != "rope" || s.Finding != Same && s.Finding != Rounding || j.cos[c.layer] == nil {
		return
	}
	cos, sin := j.sides[1].tables(j.net, c.layer)
	other, all := 0, 0
	for i, m := range []*matrix{cos, sin} {
		t := []*matrix{j.cos[c.layer], j.sin[c.layer]}[i]
		if m == nil || len(m.v) != len(t.v) {
			return
		}
		r := dtype.Coarser(narrowest(m), narrowest(t)).Rounding()
		for x := range m.v {
			if all++; r.Round(m.v[x]) != r.Round(t.v[x]) {
				other++
			}
		}
	}
	// Two ways to compute float32 angles differ in few elements once these are rounded.
	if share := float64(other) / float64(max(all, 1)); share > 0.05 {
		s.Finding, s.Side, s.Variant, s.Args = Formula, "rollout", "angles", []any{100 * share}
	}
}

// explain names the function that fits a side.
func (j *judge) explain(side, k int, s *Stage) {
	c := j.cuts[j.cutAt[k]]
	ut, ur := s.units()
	u := max(ut, ur)
	other := s.Train
	here := s.Rollout
	if side == 0 {
		other, here = s.Rollout, s.Train
	}
	j.as(side)
	defer j.as(0)
	best, where := math.Inf(1), ""
	from := 0
	if k > 0 {
		from = j.cutAt[k-1] + 1
	}
	// Stages that were not recorded by themselves may be the ones that compute something else.
	for i := from; i <= j.cutAt[k]; i++ {
		x := j.cuts[i]
		list := j.variants(x, j.sides[side], x.opt)
		if i == j.cutAt[k] {
			list = append(list, j.temperatures(side, k, x.opt)...)
		}
		if (x.stage == "attn" || x.stage == "latent_kv") && side == 1 {
			for _, t := range []dtype.Type{dtype.Float8E4M3FN, dtype.Float8E5M2, dtype.Int8} {
				o := x.opt
				o.kv, o.name, o.args = t, "cache", []any{t.String()}
				list = append(list, o)
			}
		}
		was := x.opt
		for _, o := range list {
			x.opt = o
			st := j.function(side, k, nil)
			if st == nil {
				continue
			}
			if e := j.away(side, k, st); e < 0.9*best { // of two that fit alike the plainer one, which comes first
				best, where = e, x.stage
				s.Variant, s.Args = o.name, o.args
			}
		}
		x.opt = was
	}
	if c.stage == "o_proj" || c.stage == "down" {
		if tp, rank, e := j.lost(side, k); e < best {
			best, s.Variant, s.Args = e, "lost", []any{rank, tp}
		}
	}
	enough := max(limit*max(other, roundings*u), explained*here)
	if s.Variant == "cache" {
		// Errors that are not those of this rounding would grow by it. A step's own keys are read ahead of the cache in some engines, and these it does not explain.
		enough = max(enough, here/2)
	}
	if best > enough {
		s.Variant, s.Args = "", nil
		return
	}
	if where != "" && s.Variant != "lost" {
		s.Name = where
	}
	if s.Variant == "cache" {
		s.Finding = Precision
	}
}

// lost tries whether a part of a product's inner axis is missing, as when the sum over ranks is.
func (j *judge) lost(side, k int) (tp, rank int, best float64) {
	best = math.Inf(1)
	in := "a"
	if j.cuts[j.cutAt[k]].stage == "down" {
		in = "m"
	}
	st := j.st[side][k]
	x := st[in]
	if x == nil {
		return 0, 0, best
	}
	for _, parts := range []int{2, 4, 8} {
		if x.w%parts != 0 {
			continue
		}
		for r := range parts {
			y := newMatrix(x.n, x.w)
			j.hold(x)
			copy(y.v, x.v)
			for i := range y.n {
				clear(y.row(i)[r*x.w/parts : (r+1)*x.w/parts])
			}
			j.st[side][k] = st.with(state{in: y})
			if f := j.function(side, k, nil); f != nil {
				if e := j.away(side, k, f); e < best {
					tp, rank, best = parts, r, e
				}
			}
		}
	}
	j.st[side][k] = st
	return tp, rank, best
}

// needs are the parts of the state that a row of a stage depends on; of seen, all rows of its sequence so far.
var (
	needs = map[string][]string{"norm": {"h"}, "post_norm": nil, "qkv": {"n"}, "qk_norm": {"q", "k"}, "rope": {"q", "k"}, "attn": {"q"}, "o_proj": {"a"}, "gate_up": {"n"}, "act": {"g", "u"}, "down": {"m"}, "router": {"n"}, "gate_weights": {"r", "i"}, "experts": {"n", "i", "p"}, "lm_head": {"n"}}
	seen  = map[string][]string{"attn": {"k", "v"}}
)

// equal counts rows with equal inputs and with equal outputs.
func (j *judge) equal(k int, s *Stage) {
	c := j.cuts[j.cutAt[k]]
	in := needs[c.stage]
	if in == nil || j.name(k) != c.stage {
		return
	}
	same := func(at int, name string, r int) bool {
		x, y := j.st[0][at][name], j.st[1][at][name]
		j.hold(x, y)
		return x != nil && y != nil && x.w == y.w && slices.Equal(x.row(r), y.row(r))
	}
	count := func(r, out int, ok bool) {
		for _, name := range in {
			ok = ok && same(k, name, r)
		}
		if !ok {
			return
		}
		s.Rows++
		for _, name := range c.out {
			ok = ok && same(k+1, name, out)
		}
		if ok {
			s.Equal++
		}
	}
	if c.stage == "lm_head" {
		for i, r := range j.keys {
			count(r, i, true)
		}
		return
	}
	for _, q := range j.tok.seqs {
		ok := true
		for r := q.lo; r < q.hi; r++ {
			for _, name := range seen[c.stage] {
				ok = ok && same(k, name, r)
			}
			count(r, r, ok)
		}
	}
}

// arithmetic counts the elements of the rollout that the trainer's own steps give, in its types: norms round before they multiply
// with the weight, activations before they multiply, and one rounding else.
func (j *judge) arithmetic(k int, s *Stage, f [2]state) {
	c := j.cuts[j.cutAt[k]]
	if j.name(k) != c.stage || c.stage == "logp" || c.stage == "lm_head" || c.stage == "attn" || c.stage == "cache" || c.stage == "latent_kv" {
		return
	}
	share := func(x int) float64 {
		hit, all := 0, 0
		for _, name := range c.out {
			y, z := j.rec[x][j.cutAt[k]][name], f[x][name]
			if z == nil || z.w != y.m.w || z.n != y.m.n {
				return -1
			}
			j.hold(y.m, z)
			r := s.Types[0].Rounding()
			steps := j.steps(c, j.st[x][k], s.Types[0])
			for i := range y.m.v {
				want := r.Round(z.v[i])
				if steps != nil {
					want = steps(i)
				}
				if all++; want == y.m.v[i] {
					hit++
				}
			}
		}
		return float64(hit) / float64(max(all, 1))
	}
	if share(0) < 0.97 {
		return // the trainer's steps are others
	}
	s.Own = share(1)
}

// steps is the trainer's arithmetic of an element, nil where it is one rounding.
func (j *judge) steps(c *cut, st state, t dtype.Type) func(i int) float64 {
	r := t.Rounding()
	j.hold(st["h"], st["g"], st["u"])
	switch c.stage {
	case "norm":
		x, w := st["h"], j.get(c.weight[0]+".weight")
		if c.out[0] != "n" || w == nil || c.opt.plusOne || len(w.V) != x.w {
			return nil
		}
		plain := norm(x, nil, &c.opt)
		return func(i int) float64 { return r.Round(r.Round(plain.v[i]) * w.V[i%x.w]) }
	case "act":
		g, u := st["g"], st["u"]
		of := activation(c.opt.act)
		return func(i int) float64 {
			y, _ := of(g.v[i])
			return r.Round(r.Round(y) * u.v[i])
		}
	}
	return nil
}

// shares computes what the errors of each stage do to the log-probs.
func (j *judge) shares(ctx context.Context) {
	if len(j.keys) == 0 || len(j.cutAt) == 0 || j.cuts[j.cutAt[len(j.cutAt)-1]].stage != "logp" {
		return
	}
	work := 0.0
	for _, name := range j.w.Names() {
		s := j.w.Shape(0, name)
		p := 1.0
		for _, d := range s {
			p *= float64(d)
		}
		if strings.Contains(name, ".experts.") {
			p *= float64(j.topk) / float64(max(j.expertCount(), 1))
		}
		work += p
	}
	n := len(j.keys)
	var list []effect
	base := 0.0 // of weights in another basis
	switch {
	case work*float64(len(j.tok.ids))*float64(len(j.cutAt)) <= mostWork:
		_ = must.Try(func() { list, base = j.tails(ctx) })
	case j.own:
		j.rep.Notes = append(j.rep.Notes, "large") // a slope is of one basis
		return
	default:
		_ = must.Try(func() { list = j.slopes(ctx) })
		j.rep.Sloped = true
	}
	if list == nil || ctx.Err() != nil {
		return
	}
	for _, e := range list {
		if x := e.share + e.effect + e.calm; x-x != 0 {
			j.rep.Notes = append(j.rep.Notes, "finite")
			return
		}
	}
	total, squares := 0.0, 0.0
	for i := range n {
		squares += (j.logs[1][i] - j.logs[0][i]) * (j.logs[1][i] - j.logs[0][i])
		total += math.Abs(j.logs[1][i] - j.logs[0][i])
	}
	r := j.rep
	r.Found = total / float64(n)
	r.Shares = true
	if total > 0 {
		r.Basis = base / total
	}
	r.Sum = r.Basis
	choice, unknown, square := 0.0, 0.0, 0.0
	apart := map[string][2]float64{} // squares of what stages of one name do that are far off: single ones are as chance has it
	far := func(s *Stage) bool {
		u, _ := s.units()
		return s.Finding == Formula && s.Side == "rollout" && s.Rollout > invariant*u
	}
	for k := range j.cutAt {
		s := &r.Stages[k]
		s.Effect, s.Calm = list[k].effect, list[k].calm
		if total > 0 {
			s.Share, s.Variance = list[k].share/total, list[k].variance/squares
		}
		if s.Share != s.Share {
			s.Share = 0
		}
		r.Sum += s.Share
		stage := j.cuts[j.cutAt[k]].stage
		switch {
		case stage == "choice" && s.Finding != Formula:
			choice += s.Share
		case s.Finding == Unknown:
			unknown += math.Abs(s.Share)
		case s.Finding == Same || s.Finding == Rounding:
			square += s.Calm * s.Calm
		}
		if far(s) {
			x := apart[s.Name+s.Variant]
			apart[s.Name+s.Variant] = [2]float64{x[0] + s.Effect*s.Effect, x[1] + s.Calm*s.Calm}
		}
	}
	// Far off without effect is a property of the network, as that attention knows distances only. What is a little off without much effect is a fault
	// all the same, and so is a mask that shows a token the next one: how much that does hangs on the tokens.
	for k := range j.cutAt {
		s := &r.Stages[k]
		if x := apart[s.Name+s.Variant]; far(s) && s.Variant != "mask" && x[0] <= limit*limit*x[1] {
			s.Finding = Harmless
		}
	}
	if total == 0 {
		r.Sum = 1
	}
	r.Expected = math.Sqrt(2/math.Pi) * math.Sqrt(2*square)
	r.Covered = 1 - unknown
	if r.Expected > 0 {
		r.Factor = r.Found * (1 - min(max(choice, 0), 1)) / r.Expected
	}
}

// tails computes the rest of the network behind every judged cut, for both sides: what the log-probs become by its errors is exact. base is what weights in another basis do, for
// those are rounded otherwise, all of them.
func (j *judge) tails(ctx context.Context) (list []effect, base float64) {
	last, n := len(j.cuts)-1, len(j.keys)
	list = make([]effect, len(j.cutAt))
	for s := range 2 {
		j.as(s)
		st := j.run(0, last, j.st[s][0])
		lacks(st == nil)
		before, sign := st["l"].v, float64(2*s-1)
		if j.own {
			for i, x := range before {
				base += sign * math.Copysign(1, j.logs[1][i]-j.logs[0][i]) * x
			}
		}
		for k := range j.cutAt {
			must.Do(ctx.Err())
			j.trim()
			h := j.logs[s]
			if k < len(j.cutAt)-1 {
				st := j.run(j.cutAt[k]+1, last, j.st[s][k+1])
				lacks(st == nil)
				h = st["l"].v
			}
			by := make([]float64, n)
			for i := range by {
				by[i] = h[i] - before[i]
				d := j.logs[1][i] - j.logs[0][i]
				list[k].share += sign * math.Copysign(1, d) * by[i]
				list[k].variance += sign * d * by[i]
			}
			if s == 0 {
				list[k].calm = metric.RMS(by)
			} else {
				list[k].effect = metric.RMS(by)
			}
			before = h
		}
	}
	j.side = 0
	return list, base
}

func (j *judge) expertCount() int {
	if s := j.w.Shape(0, prefix(j.layers-1)+"mlp.gate.weight"); len(s) > 0 {
		return int(s[0])
	}
	return 1
}

// Group is the same finding in some layers.
type Group struct {
	Stage
	Layers []int
}

// Groups joins stages of one name and finding, the largest share first.
func (r *Report) Groups(keep func(s *Stage) bool) (list []Group) {
	for i := range r.Stages {
		s := &r.Stages[i]
		if !keep(s) {
			continue
		}
		at := slices.IndexFunc(list, func(g Group) bool {
			return g.Name == s.Name && g.Finding == s.Finding && g.Side == s.Side
		})
		if at < 0 {
			list = append(list, Group{Stage: *s})
			at = len(list) - 1
		} else {
			list[at].Share += s.Share
			list[at].Unseen = slices.Concat(list[at].Unseen, s.Unseen)
			if list[at].Variant == "" {
				list[at].Variant, list[at].Args = s.Variant, s.Args
			}
			list[at].Rollout, list[at].Train = max(list[at].Rollout, s.Rollout), max(list[at].Train, s.Train)
		}
		if s.Layer >= 0 {
			list[at].Layers = append(list[at].Layers, s.Layer)
		}
	}
	order.Stable(list, func(a, b Group) int { return cmp.Compare(b.Share, a.Share) })
	return list
}
