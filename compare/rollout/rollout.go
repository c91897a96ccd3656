// Package rollout asks why the engine that trains and the engine that samples give other log-probabilities for the same
// tokens. Neither side is golden. What is looked at here needs no recording of operators: the log-probs themselves, the weights on both
// sides of the synchronisation, and the experts that the routers chose.
//
// What rounding alone explains is known only from the stages of the network, which package stage judges from recordings of
// both engines. Without them, where log-probs differ and neither arrays nor weights nor routers give a cause, the verdict
// is inconclusive, never good.
package rollout

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"precision/compare/rollout/stage"
	"precision/compare/verdict"
	"precision/compare/weights"
	"precision/dump/checkpoint"
	"precision/internal/order"
)

// Request is what there is of a trainer and a rollout. Every part may be missing; one must be there.
type Request struct {
	LogProbs *LogProbs
	// Train and Rollout are the weights of both sides.
	Train, Rollout *checkpoint.Set
	Routers        *Routers
	// TrainCalls and RolloutCalls are folders with recordings of both engines, empty where there are none. Tokens bounds how many tokens of them are
	// looked at.
	TrainCalls, RolloutCalls string
	Tokens                   int
	// Unread are errors of what was given and could not be read.
	Unread   []error
	Workers  int
	Progress func(done, total int)
}

// Kind is what a cause is about, by the order in which causes are named.
type Kind string

// The kinds of causes.
const (
	Arrays    Kind = "arrays"    // the log-probs themselves are not those of the same tokens
	Tokens    Kind = "tokens"    // the engines were given other tokens
	Weights   Kind = "weights"   // the engines have other weights
	Cache     Kind = "cache"     // attention reads other keys and values than were written
	Precision Kind = "precision" // the same function in a coarser type
	Formula   Kind = "formula"   // another function of the same inputs and weights
	Router    Kind = "router"    // other experts, where scores are equal
	Rounding  Kind = "rounding"  // the same function, rounded otherwise: no fault
	Harmless  Kind = "harmless"  // another function without effect on the log-probs
)

// Cause is something that makes log-probs differ.
type Cause struct {
	Kind Kind
	// Stage is the place in the network: choice; empty for arrays and weights. Name is the parameter, "row 3", "experts 2 and 5".
	Stage, Name string
	// Key and Args are the sentence of it: message rollout.cause.KEY.
	Key  string
	Args []any
	// Layers are those it is in, nil where layers are not the matter.
	Layers []int
	// Side is the engine it is about, train or rollout; empty where that is not known.
	Side string
	// Share is that of the difference of the log-probs, NaN where that is not known.
	Share float64
	// Lines are those of source, the trainer's first, of a stage whose stacks were recorded.
	Lines [2]string
}

// Fault reports whether a cause is one that has to be mended.
func (c *Cause) Fault() bool { return c.Kind != Rounding && c.Kind != Harmless }

// Result is the answer.
type Result struct {
	Verdict verdict.Verdict
	// Why says what the verdict rests on: message rollout.why.KEY.
	Why  string
	Figs *Figures
	// Logs are the log-probs that Figs are of.
	Logs   *LogProbs
	Causes []Cause
	// Weights and Routers are nil where there were none.
	Weights *weights.Report
	Routers *Routers
	// Stages is nil where no recordings were given.
	Stages *stage.Report
	// Traps are facts that look like causes and are none, Unknown what could not be looked at: messages rollout.note.KEY.
	Traps, Unknown []Note
}

// Note is a sentence by its key.
type Note struct {
	Key  string
	Args []any
}

// otherModel is the key of a cause: weights of another model.
const otherModel = "all.unlike"

// fewTokens is how many tokens a verdict needs at least.
const fewTokens = 4

// Run looks at all there is. The error is that of the context.
func Run(ctx context.Context, q *Request) (*Result, error) {
	r := &Result{Routers: q.Routers}
	for _, err := range q.Unread {
		r.unknown("unread", err.Error())
	}
	if q.LogProbs != nil {
		r.arrays(q.LogProbs)
	}
	if q.Train != nil && q.Rollout != nil {
		w, err := weights.Compare(ctx, q.Train, q.Rollout, q.Workers, q.Progress)
		if err != nil {
			return nil, err
		}
		r.Weights = w
		r.judgeWeights()
	}
	if q.Routers != nil {
		r.routers(q)
	}
	if q.TrainCalls != "" {
		if err := r.stages(ctx, q); err != nil {
			return nil, err
		}
	} else {
		r.adapters(0)
	}
	named := []Kind{Arrays, Tokens, Weights, Cache, Precision, Formula, Router, Rounding, Harmless}
	order.Stable(r.Causes, func(x, y Cause) int { return slices.Index(named, x.Kind) - slices.Index(named, y.Kind) })
	r.decide()
	return r, ctx.Err()
}

func (r *Result) cause(c Cause) {
	if c.Share == 0 {
		c.Share = math.NaN()
	}
	if c.Side == "" && c.Kind != Arrays && c.Kind != Tokens { // which of two arrays is the wrong one they do not say
		c.Side = "rollout"
	}
	r.Causes = append(r.Causes, c)
}

func (r *Result) trap(key string, args ...any) { r.Traps = append(r.Traps, Note{key, args}) }

func (r *Result) unknown(key string, args ...any) { r.Unknown = append(r.Unknown, Note{key, args}) }

// arrays judges the log-probs by themselves.
func (r *Result) arrays(l *LogProbs) {
	r.Logs, r.Figs = l, l.Figures()
	if n := r.Figs.NotFinite; n > 0 {
		r.cause(Cause{Kind: Arrays, Name: "not finite", Key: "finite", Args: []any{n, r.Figs.Tokens + n}})
	}
	for _, s := range l.Shifts() {
		r.cause(Cause{Kind: Arrays, Name: "row " + strconv.Itoa(s.Row), Key: "shifted", Args: []any{s.Row, s.By, s.Here, s.There}})
	}
	beyond := l.Beyond()
	for _, row := range slices.Sorted(maps.Keys(beyond)) {
		r.cause(Cause{Kind: Arrays, Name: "row " + strconv.Itoa(row), Key: "beyond", Args: []any{row, beyond[row]}})
	}
	// The trainer writes float32; what it computed in bfloat16 and subtracted before it was widened is off by more.
	if worst, at := l.DiffWrong(); worst > 1e-2 {
		r.cause(Cause{Kind: Arrays, Name: "row " + strconv.Itoa(at[0]), Key: "diff", Args: []any{at[0], at[1], worst}})
	}
}

// judgeWeights makes one cause of all weights that differ in one way for one reason.
func (r *Result) judgeWeights() {
	w := r.Weights
	if n := w.Count(weights.Rotated); n > 0 {
		r.trap("rotated", n)
	}
	if n := w.Count(weights.Permuted); n > 0 {
		r.trap("permuted", n)
	}
	common := len(w.Tensors) - w.Count(weights.Extra, weights.MissingHere)
	var bad []*weights.Tensor
	var alone [2][]string
	for _, t := range w.Differ() {
		switch t.Kind {
		case weights.Unreadable:
			r.unknown("unreadable", t.Name, t.Err.Error())
		case weights.MissingHere:
			// Where most tensors have a partner the names are understood, and one without is missing; where
			// they are not, it may be there under a name that no rule knows.
			if 5*common < 4*len(w.Tensors) {
				alone[0] = append(alone[0], t.Name)
			} else {
				bad = append(bad, t)
			}
		case weights.Extra:
			alone[1] = append(alone[1], t.Name)
		default:
			bad = append(bad, t)
		}
	}
	for i, key := range []string{"alone.left", "alone.right"} {
		if n := len(alone[i]); n > 0 {
			r.unknown(key, n, alone[i][0])
		}
	}
	if common == 0 {
		r.unknown("names")
		return
	}
	// One finding for all weights in the same state, each by itself where they are few.
	for _, kind := range []weights.Kind{weights.Step, weights.Near, weights.Quantised} {
		if list := of(bad, kind); len(list) > 4 && 2*len(list) > common {
			sum, even := 0.0, true
			for _, t := range list {
				sum += t.Rel
				even = even && t.Even > 0.8
			}
			key := "all." + string(kind)
			if even && kind != weights.Quantised {
				key = "all.step"
			}
			r.cause(Cause{Kind: Weights, Name: "*", Key: key, Args: []any{len(list), common, 100 * sum / float64(len(list)), list[0].Name}})
			bad = slices.DeleteFunc(bad, func(t *weights.Tensor) bool { return t.Kind == kind })
		}
	}
	// Where most weights have nothing to do with each other, this is one fact.
	if list := of(bad, weights.Unlike); len(list) > 4 && 2*len(list) > common {
		r.cause(Cause{Kind: Weights, Name: "*", Key: otherModel, Args: []any{len(list), common, list[0].Name}})
		bad = slices.DeleteFunc(bad, func(t *weights.Tensor) bool { return t.Kind == weights.Unlike })
	}
	for _, t := range bad {
		c := Cause{Kind: Weights, Name: t.Name, Key: string(t.Kind)}
		switch t.Kind {
		case weights.Elsewhere:
			c.Args = []any{t.Name, t.Of}
		case weights.Constant:
			c.Args = []any{t.Name, t.Value}
		case weights.Shape:
			c.Args = []any{t.Name, fmt.Sprint(t.Shapes[0]), fmt.Sprint(t.Shapes[1])}
		case weights.Quantised:
			c.Args = []any{t.Name, t.Levels}
		case weights.Step, weights.Near:
			c.Args = []any{t.Name, 100 * t.Rel, 100 * t.Equal}
		default:
			c.Args = []any{t.Name}
		}
		r.cause(c)
	}
}

func of(list []*weights.Tensor, kind weights.Kind) (some []*weights.Tensor) {
	for _, t := range list {
		if t.Kind == kind {
			some = append(some, t)
		}
	}
	return some
}

// routers names experts whose rows of the router's weight are equal: their scores tie, and each engine breaks the tie in its way.
func (r *Result) routers(q *Request) {
	if q.Train == nil {
		if r.Routers.Any > 0 {
			r.unknown("margins")
		}
		return
	}
	ties := weights.EqualRows(q.Train, len(r.Routers.Layers))
	found := map[[2]int]*Cause{}
	var order [][2]int
	for layer, exchanges := range r.Routers.Pairs {
		for _, x := range exchanges {
			pair := [2]int{min(x.Train, x.Rollout), max(x.Train, x.Rollout)}
			if !slices.Contains(ties[layer], pair) {
				continue
			}
			c := found[pair]
			if c == nil {
				c = &Cause{Kind: Router, Stage: "choice", Name: fmt.Sprintf("experts %d and %d", pair[0], pair[1]), Key: "ties"}
				found[pair] = c
				order = append(order, pair)
			}
			if !slices.Contains(c.Layers, layer) {
				c.Layers = append(c.Layers, layer)
			}
		}
	}
	for _, pair := range order {
		c := found[pair]
		c.Args = []any{pair[0], pair[1], len(c.Layers), len(r.Routers.Layers)}
		r.cause(*c)
	}
	if len(order) == 0 && r.Routers.Any > 0 {
		r.unknown("margins")
	}
}
