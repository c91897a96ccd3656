package rollout

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"precision/compare/rollout/stage"
	"precision/compare/verdict"
	"precision/compare/weights"
)

// within is how many times what rounding makes of the log-probs may be found and still be rounding. That is an upper figure by itself, since
// roundings that both engines share cancel: clean pairs have .12 to 1.22.
const within = 1.3

// covered is the share of the difference between the engines that stages which were judged must hold for what rounding makes of the
// log-probs to be known: what is in the others may come from anything.
const covered = 0.8

// stages judges what both engines recorded.
func (r *Result) stages(ctx context.Context, q *Request) error {
	in := &stage.Request{Train: q.TrainCalls, Rollout: q.RolloutCalls, TrainWeights: q.Train, RolloutWeights: q.Rollout, Tokens: q.Tokens}
	if w := r.Weights; w != nil {
		in.Own = w.Count(weights.Rotated, weights.Permuted) > 0
	}
	if l := q.LogProbs; l != nil {
		in.Rows, in.Columns, in.TrainLog, in.RolloutLog, in.Counts, in.Answers = l.Rows, l.Columns, l.Train, l.Rollout, l.counts, l.Tokens
	}
	s, err := stage.Run(ctx, in)
	if err != nil {
		return err
	}
	r.Stages = s
	if s.Bare {
		r.unknown("bare")
	}
	for _, t := range s.Told {
		r.cause(Cause{Kind: Formula, Stage: t.Stage, Key: "told." + t.Stage, Args: []any{t.Rollout, t.Train}})
	}
	for _, n := range s.Notes {
		if fault, ok := strings.CutPrefix(n, "fault "); ok {
			r.unknown("fault", fault)
		} else {
			r.unknown(n)
		}
	}
	if s.Dropped > 0 {
		r.unknown("dropped", s.Dropped, s.Sequences)
	}
	if s.Wide {
		r.trap("wide")
	}
	if s.Sloped {
		r.trap("sloped")
	}
	if s.Left > 0 {
		r.trap("left", s.Left)
	}
	for _, m := range s.Mismatch {
		r.cause(Cause{Kind: Tokens, Name: fmt.Sprintf("row %d", m[0]), Key: "tokens", Args: []any{m[0], m[1]}})
	}
	for _, m := range s.Front {
		key, n := "front.train", m[1]
		if n < 0 {
			key, n = "front.rollout", -n
		}
		r.cause(Cause{Kind: Tokens, Name: fmt.Sprintf("row %d", m[0]), Key: key, Args: []any{m[0], n}})
	}
	if r.Figs != nil && s.Shares && s.Answers < r.Figs.Tokens {
		r.unknown("answers", s.Answers, r.Figs.Tokens)
	}
	if s.Foreign > 0 {
		r.unknown("foreign", s.Foreign)
	}
	r.margins(s)
	r.adapters(s.Adapter) // ahead of what the stages say of weights
	r.findings(s)
	return nil
}

// oftenTies is the share of tokens in which one pair of experts has equal scores at the border, above which these are no accidents: in bfloat16 every hundredth ties
// by chance.
const oftenTies = 0.05

// margins names experts whose recorded scores tie, where their weights did not tell that already.
func (r *Result) margins(s *stage.Report) {
	if len(s.Routing) > 0 {
		r.Unknown = slices.DeleteFunc(r.Unknown, func(n Note) bool { return n.Key == "margins" })
	}
	if slices.ContainsFunc(r.Causes, func(c Cause) bool { return c.Kind == Router }) {
		return
	}
	for _, q := range s.Routing {
		if q.Ties > 1 && float64(q.PairRows) > oftenTies*float64(q.Tokens) {
			r.cause(Cause{Kind: Router, Stage: "choice", Name: fmt.Sprintf("experts %d and %d", q.Pair[0], q.Pair[1]), Key: "ties.rows", Layers: []int{q.Layer}, Args: []any{q.Pair[0], q.Pair[1], q.PairRows, q.Tokens, q.Layer}})
		}
	}
}

// sameScale is how far scales that are one may be apart: they are read off rounded numbers, and a wrong alpha is another number altogether.
const sameScale = 0.05

// adapters judges the scales with which weights were merged: against the one that the trainer's calls show, and against each other where they
// show none, which proves no scale right.
func (r *Result) adapters(shown float64) {
	if r.Weights == nil {
		return
	}
	byRank := map[int][]float64{}
	var merged []*weights.Tensor
	for i := range r.Weights.Tensors {
		if t := &r.Weights.Tensors[i]; t.Kind == weights.Merged {
			merged = append(merged, t)
			if t.Spread < sameScale*math.Abs(t.Value) {
				byRank[t.Rank] = append(byRank[t.Rank], t.Value)
			}
		}
	}
	same := func(x, y float64) bool { return math.Abs(x-y) <= sameScale*math.Abs(y) }
	middles, anyShown := map[int]float64{}, false
	for rank, all := range byRank {
		slices.Sort(all)
		middles[rank] = all[len(all)/2]
		anyShown = anyShown || same(middles[rank], shown)
	}
	apart := func(t *weights.Tensor, scale float64) bool {
		return math.Abs(t.Value-scale) > sameScale*math.Abs(scale)+t.Spread
	}
	causes, unsure := 0, 0
	for _, t := range merged {
		// Alpha is divided by the rank, and so a scale is that of a rank: what the calls of one show is not that of others. One that most others do not
		// have may be meant.
		middle, all := middles[t.Rank], byRank[t.Rank]
		known := shown != 0 && shown-shown == 0 && (!anyShown || len(all) == 0 || same(middle, shown))
		alike := 0
		for _, x := range all {
			if same(x, middle) {
				alike++
			}
		}
		key, args := "", []any{t.Name, t.Value}
		switch {
		case known && apart(t, shown):
			key, args = "adapter", append(args, shown)
		case !known && t.Value+t.Spread <= 0:
			key = "adapter.sign"
		case !known && 2*alike > len(all) && apart(t, middle):
			key, args = "adapter.others", append(args, middle)
		}
		if key != "" {
			r.cause(Cause{Kind: Weights, Name: t.Name, Key: key, Args: args})
			causes++
		} else if !known || !(t.Spread < math.Abs(shown)) {
			unsure++
		}
	}
	if unsure > 0 {
		r.unknown("scale", unsure)
	}
	if len(merged) > 0 && causes+unsure == 0 {
		r.trap("merged", len(merged))
	}
}

// findings makes a cause of each finding of a stage, for all its layers.
func (r *Result) findings(s *stage.Report) {
	known := map[stage.Finding]Kind{stage.Cache: Cache, stage.Precision: Precision, stage.Formula: Formula, stage.Weights: Weights, stage.Harmless: Harmless}
	named := false
	for i := range r.Causes {
		named = named || r.Causes[i].Kind == Weights
	}
	for _, g := range s.Groups(func(x *stage.Stage) bool { return known[x.Finding] != "" }) {
		if n := len(g.Unseen); n > 0 {
			c := Cause{Kind: Weights, Stage: g.Name, Name: g.Unseen[0], Layers: g.Layers, Side: g.Side, Share: g.Share, Lines: g.Lines, Key: "unseen", Args: []any{g.Name, 100 * g.Rollout, 100 * g.Train, strings.Join(g.Unseen[:min(n, 3)], ", ")}}
			if n > 1 {
				c.Name = "*"
			}
			r.cause(c)
			continue
		}
		if g.Finding == stage.Weights && named {
			continue // said by name already
		}
		if off := max(g.Train, g.Rollout); g.Name == "logp" && g.Finding == stage.Formula && g.Variant == "" && off > stage.OtherLogits {
			r.cause(Cause{Kind: Arrays, Stage: g.Name, Name: g.Side, Side: g.Side, Share: g.Share, Lines: g.Lines, Key: "logits", Args: []any{g.Side, 100 * off}})
			continue
		}
		c := Cause{Kind: known[g.Finding], Stage: g.Name, Layers: g.Layers, Side: g.Side, Share: g.Share, Lines: g.Lines, Key: string(g.Finding), Args: []any{g.Name, g.Side, 100 * g.Rollout, 100 * g.Train}}
		if g.Name == "choice" {
			c.Key = "against"
		}
		if g.Side == "train" {
			c.Args[2], c.Args[3] = c.Args[3], c.Args[2]
		}
		if g.Variant != "" {
			c.Key, c.Args = "variant", []any{g.Name, g.Side, Note{"variant." + g.Variant, g.Args}}
		}
		r.cause(c)
	}
	for _, g := range s.Groups(func(x *stage.Stage) bool {
		return x.Finding == stage.Rounding && (x.Rows > x.Equal || x.Own >= 0 && x.Own < 0.97 || kept(x))
	}) {
		if kept(&g.Stage) && g.Rows == g.Equal {
			r.cause(Cause{Kind: Rounding, Stage: g.Name, Layers: g.Layers, Side: "rollout", Share: g.Share, Lines: g.Lines, Key: "rounding.type", Args: []any{g.Name, g.Types[0].String(), g.Types[1].String()}})
			continue
		}
		r.cause(Cause{Kind: Rounding, Stage: g.Name, Layers: g.Layers, Side: "rollout", Share: g.Share, Lines: g.Lines, Key: "rounding", Args: []any{g.Name, g.Rows - g.Equal, g.Rows}})
	}
	for _, g := range s.Groups(func(x *stage.Stage) bool { return x.Finding == stage.Unknown }) {
		places := max(len(g.Layers), 1) // one outside of layers
		if g.Train > 0 && g.Rollout > 0 {
			r.unknown("stage", g.Name, places, 100*g.Train, 100*g.Rollout)
		} else {
			r.unknown("stage.none", g.Name, places)
		}
	}
}

// kept reports whether logits are kept in another type in the rollout than in the trainer.
func kept(x *stage.Stage) bool { return x.Name == "lm_head" && x.Types[0] != x.Types[1] }

// explained is how many times the expected difference was found; NaN where that is not known.
func (r *Result) explained() float64 {
	if r.Stages == nil || !r.Stages.Shares || !(r.Stages.Expected > 0) {
		return math.NaN()
	}
	return r.Stages.Factor
}

func (r *Result) decide() {
	faults, certain := 0, false
	for i := range r.Causes {
		if c := &r.Causes[i]; c.Fault() {
			faults++
			certain = certain || c.Kind == Arrays || c.Kind == Tokens || c.Kind == Router
		}
	}
	f := r.explained()
	s := r.Stages
	judged := s != nil && s.Shares
	switch {
	case faults > 0 && (certain || !judged || s.Damaged > 0 || !(s.Covered >= covered) || !(f <= within)): // what rounding makes is not known from recordings with holes
		r.Verdict, r.Why = verdict.Bad, "cause"
	case r.Figs == nil && s == nil && (r.Weights == nil || len(r.Unknown) > 0):
		r.Verdict, r.Why = verdict.Inconclusive, "unknown"
	case r.Figs == nil && s == nil:
		r.Verdict, r.Why = verdict.Good, "weights"
	case r.Figs == nil:
		r.Verdict, r.Why = verdict.Inconclusive, "unknown"
	case r.Figs.Tokens < fewTokens:
		r.Verdict, r.Why = verdict.Inconclusive, "few"
	case slices.ContainsFunc(r.Causes, func(c Cause) bool { return c.Key == otherModel }):
		// With other weights nothing is within rounding: these are not what the rollout computed with.
		r.Verdict, r.Why = verdict.Inconclusive, "model"
	case faults > 0:
		r.Verdict, r.Why = verdict.Suspect, "within"
	case slices.ContainsFunc(r.Unknown, func(n Note) bool { return n.Key == "unread" || n.Key == "unreadable" }):
		r.Verdict, r.Why = verdict.Inconclusive, "unknown" // what could not be read may hold a cause
	case r.Figs.MaxAbs == 0:
		r.Verdict, r.Why = verdict.Good, "identical"
	case !judged:
		r.Verdict, r.Why = verdict.Inconclusive, "stages"
	case !(s.Covered >= covered) || f-f != 0:
		r.Verdict, r.Why = verdict.Inconclusive, "covered"
	case f > within && s.Damaged > 0:
		// The cause may be in what is damaged.
		r.Verdict, r.Why = verdict.Inconclusive, "damaged"
	case f > within && s.Wide:
		r.Verdict, r.Why = verdict.Suspect, "wide"
	case f > within:
		r.Verdict, r.Why = verdict.Suspect, "unexplained"
	case slices.ContainsFunc(r.Unknown, func(n Note) bool { return n.Key == "scale" }):
		r.Verdict, r.Why = verdict.Inconclusive, "unknown"
	case s.Answers < r.Figs.Tokens && !(r.Figs.MeanAbs <= within*s.Expected):
		// What no recording covers may be off for another reason.
		r.Verdict, r.Why = verdict.Inconclusive, "unknown"
	default:
		r.Verdict, r.Why = verdict.Good, "rounding"
	}
}
