// Package rollouts renders why a trainer and an inference engine differ: in words, as JSON, and as one page to look at: causes and what
// to align, stages by layers, tokens, weights and routers. The page is opened by a double click and fetches nothing.
package rollouts

import (
	"embed"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"precision/compare/report"
	"precision/compare/rollout"
	"precision/compare/rollout/stage"
	"precision/compare/verdict"
	"precision/compare/weights"
	"precision/internal/msg"
)

//go:embed en.txt zh.txt
var texts embed.FS

func init() { msg.Register(texts) }

// Sentence is what a cause is.
func Sentence(lang msg.Lang, c *rollout.Cause) string {
	args := slices.Clone(c.Args)
	for i, a := range args {
		if n, ok := a.(rollout.Note); ok {
			args[i] = Remark(lang, n)
		} else if a == "train" || a == "rollout" {
			args[i] = lang.T("rollout.side." + a.(string))
		}
	}
	return lang.T("rollout.cause."+c.Key, args...)
}

// where says in which layers a cause is, and how much of the difference it makes.
func where(lang msg.Lang, c *rollout.Cause) (text string) {
	if n := len(c.Layers); n > 0 && c.Kind != rollout.Router {
		text = lang.T("rollout.layer", c.Layers[0])
		if n > 1 {
			text = lang.T("rollout.layers", n, c.Layers[0], c.Layers[n-1])
		}
	}
	if c.Share == c.Share {
		text += lang.T("rollout.share", 100*c.Share)
	}
	if a, b := c.Lines[0], c.Lines[1]; a+b != "" {
		text += "; " + strings.Trim(b+" | "+a, " |")
	}
	return text
}

// Remark is what a note is.
func Remark(lang msg.Lang, n rollout.Note) string { return lang.T("rollout.note."+n.Key, n.Args...) }

var styles = map[verdict.Verdict]report.Style{verdict.Good: report.Good, verdict.Bad: report.Bad, verdict.Suspect: report.Suspect, verdict.Inconclusive: report.Suspect}

// Lines says the result, with at most so many causes, and so many notes of a kind.
func Lines(lang msg.Lang, r *rollout.Result, most int) (lines []report.Line) {
	add := func(label string, style report.Style, text string) {
		if len(lines) > 0 && slices.ContainsFunc(lines, func(l report.Line) bool { return l.Label == label }) {
			label = ""
		}
		lines = append(lines, report.Line{Label: label, Segments: []report.Segment{{Text: text, Style: style}}})
	}
	label := func(name string, args ...any) string { return lang.T("rollout.label."+name, args...) }
	why := ""
	switch r.Why {
	case "cause":
		why = lang.T("rollout.why.cause", Sentence(lang, &r.Causes[0]))
	case "weights":
		why = lang.T("rollout.why.weights", len(r.Weights.Tensors))
		if n := r.Weights.Count(weights.Same); n < len(r.Weights.Tensors) {
			why = lang.T("rollout.why.same", n, len(r.Weights.Tensors))
		}
	case "identical":
		why = lang.T("rollout.why.identical", r.Figs.Tokens)
	case "within":
		why = lang.T("rollout.why.within", Sentence(lang, &r.Causes[0]), r.Stages.Factor)
	case "unexplained":
		why = lang.T("rollout.why.unexplained", r.Stages.Factor)
	case "damaged":
		why = lang.T("rollout.why.damaged", r.Stages.Factor, r.Stages.Damaged)
	case "rounding":
		why = lang.T("rollout.why.rounding", r.Stages.Found, r.Stages.Expected)
		if exchanged(r.Stages).Differ > 0 {
			why = lang.T("rollout.why.experts", r.Stages.Factor*r.Stages.Expected, r.Stages.Expected)
		}
	case "covered":
		why = lang.T("rollout.why.covered", 100*max(r.Stages.Covered, 0))
	case "few":
		why = lang.T("rollout.why.few", r.Figs.Tokens)
	default:
		why = lang.T("rollout.why." + r.Why)
	}
	lines = append(lines, report.Line{Label: label("verdict"), Segments: []report.Segment{
		{Text: lang.T("rollout.verdict." + r.Verdict.String()), Style: styles[r.Verdict]}, {Text: why}}})
	if f := r.Figs; f != nil {
		add(label("logp"), report.Plain, lang.T("rollout.logp", f.Tokens, f.MeanAbs, f.MaxAbs, f.Worst[0], f.Worst[1], f.MultProbError, f.K3, 100*f.Over, rollout.Tau))
		if s := r.Stages; s != nil && s.Shares {
			add(label("logp"), report.Plain, lang.T("rollout.logp.expected", s.Expected, s.Factor, 100*s.Sum))
		}
		if f.Growth > 2 {
			add(label("logp"), report.Plain, lang.T("rollout.logp.growth", f.Growth))
		}
		if row, others := apart(f.Sequences); row >= 0 {
			add(label("logp"), report.Plain, lang.T("rollout.logp.sequence", row, f.Sequences[row], others))
		}
	}
	for i := range r.Causes {
		if i == most {
			add("", report.Dim, lang.T("rollout.more", len(r.Causes)-i))
			break
		}
		c := &r.Causes[i]
		add(label("cause", i+1), report.Plain, lang.T("rollout.kind."+string(c.Kind))+"  "+Sentence(lang, c)+where(lang, c))
	}
	if w := r.Weights; w != nil {
		text := lang.T("rollout.weights", w.Count(weights.Same), len(w.Tensors))
		if n := len(w.Differ()); n > 0 {
			text += lang.T("rollout.weights.differ", n)
		}
		add(label("weights"), report.Plain, text)
	}
	if x := r.Routers; x != nil {
		add(label("router"), report.Plain, lang.T("rollout.router", 100*x.All, 100*x.Any))
	}
	if s := r.Stages; s != nil {
		if q := exchanged(s); q.Differ > 0 {
			add(label("router"), report.Plain, lang.T("rollout.router.margins", q.Differ, q.Tokens, q.Ties, q.Rounding, q.Inherited))
		}
		add(label("stages"), report.Plain, lang.T("rollout.stages", len(s.Stages), s.Tokens, s.Sequences))
	}
	for _, n := range r.Traps {
		add(label("trap"), report.Dim, Remark(lang, n))
	}
	for i, n := range r.Unknown {
		if i == most {
			add(label("unknown"), report.Dim, lang.T("rollout.more", len(r.Unknown)-i))
			break
		}
		add(label("unknown"), report.Dim, Remark(lang, n))
	}
	return lines
}

// exchanged sums the layers up.
func exchanged(s *stage.Report) (q stage.Routing) {
	for _, x := range s.Routing {
		q.Tokens, q.Differ, q.Ties, q.Rounding, q.Inherited = q.Tokens+x.Tokens, q.Differ+x.Differ, q.Ties+x.Ties, q.Rounding+x.Rounding, q.Inherited+x.Inherited
	}
	return q
}

// apart is the sequence that is more than ten times as far off as the others on average, -1 for none.
func apart(means []float64) (row int, others float64) {
	if len(means) < 2 {
		return -1, 0
	}
	sum, at := 0.0, 0
	for i, m := range means {
		sum += m
		if m > means[at] {
			at = i
		}
	}
	if others = (sum - means[at]) / float64(len(means)-1); means[at] > 10*others && others > 0 {
		return at, others
	}
	return -1, 0
}

type cause struct {
	Kind   rollout.Kind `json:"kind"`
	Stage  string       `json:"stage,omitempty"`
	Layers []int        `json:"layers,omitempty"`
	Name   string       `json:"name,omitempty"`
	Side   string       `json:"side"`
	Share  *float64     `json:"share,omitempty"`
	Detail string       `json:"detail"`
	Lines  []string     `json:"lines,omitempty"` // of source, the trainer's first
	Align  []string     `json:"align,omitempty"` // options that set it
}

type figures struct {
	*rollout.Figures
	Expected *float64 `json:"expected,omitempty"`
	Factor   *float64 `json:"factor,omitempty"`
	ShareSum *float64 `json:"share_sum,omitempty"`
}

type weight struct {
	Name  string       `json:"name"`
	Kind  weights.Kind `json:"kind"`
	Equal float64      `json:"equal"`
	Rel   *float64     `json:"rel"`
	Of    string       `json:"of,omitempty"`
}

type checked struct {
	Tensors int      `json:"tensors"`
	Same    int      `json:"same"`
	Differ  []weight `json:"differ"`
}

// WriteJSON writes the result for programs, its sentences in English.
func WriteJSON(w io.Writer, r *rollout.Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(Document(r))
}

// Document is what [WriteJSON] writes.
func Document(r *rollout.Result) any {
	out := struct {
		Schema  string           `json:"schema"`
		Verdict string           `json:"verdict"`
		Figs    *figures         `json:"dlogp,omitempty"`
		Causes  []cause          `json:"causes"`
		Weights *checked         `json:"weights,omitempty"`
		Routers *rollout.Routers `json:"router,omitempty"`
		Calls   *stage.Report    `json:"recordings,omitempty"`
		Stages  []stage.Stage    `json:"stages,omitempty"`
		Traps   []string         `json:"traps"`
		Unknown []string         `json:"unknown"`
	}{Schema: "precision/rollout/1", Verdict: r.Verdict.String(), Routers: r.Routers, Calls: r.Stages, Causes: []cause{}, Traps: []string{}, Unknown: []string{}}
	if r.Stages != nil {
		out.Stages = r.Stages.Stages
	}
	if r.Figs != nil {
		out.Figs = &figures{Figures: r.Figs}
		if s := r.Stages; s != nil && s.Shares {
			out.Figs.Expected, out.Figs.Factor, out.Figs.ShareSum = &s.Expected, &s.Factor, &s.Sum
		}
	}
	for i := range r.Causes {
		c := &r.Causes[i]
		one := cause{Kind: c.Kind, Stage: c.Stage, Layers: c.Layers, Name: c.Name, Side: c.Side, Detail: Sentence(msg.English, c), Align: Advice(msg.English, c).Lines}
		if share := c.Share; share == share {
			one.Share = &share
		}
		if c.Lines != [2]string{} {
			one.Lines = c.Lines[:]
		}
		out.Causes = append(out.Causes, one)
	}
	if x := r.Weights; x != nil {
		out.Weights = &checked{len(x.Tensors), x.Count(weights.Same), []weight{}}
		for _, t := range x.Differ() {
			one := weight{Name: t.Name, Kind: t.Kind, Equal: t.Equal, Of: t.Of}
			if rel := t.Rel; rel-rel == 0 {
				one.Rel = &rel
			}
			out.Weights.Differ = append(out.Weights.Differ, one)
		}
	}
	for _, n := range r.Traps {
		out.Traps = append(out.Traps, Remark(msg.English, n))
	}
	for _, n := range r.Unknown {
		out.Unknown = append(out.Unknown, Remark(msg.English, n))
	}
	return out
}

// Hint is what to align for a cause, and the options of trainers and engines that set it.
type Hint struct {
	Text  string   `json:"text"`
	Lines []string `json:"lines"`
}

// options are the names that verl, vLLM and Megatron document for what makes a stage another function, by stage, variant, or the kind of a cause. A line
// begins with whose it is; values are those of the trainer's configuration.
// A + is for what verl has no entry of its own for; router_replay moved below megatron in later versions of it.
var options = map[string][]string{
	"norm":      {"Megatron: --norm-epsilon", "vLLM: --hf-overrides '{\"rms_norm_eps\": …}'"},
	"rope":      {"Megatron: --rotary-base, --rotary-percent, --rotary-interleaved", "vLLM: --hf-overrides '{\"rope_parameters\": …}'"},
	"attn":      {"verl: +actor_rollout_ref.model.override_config.attn_implementation=…", "Megatron: --attention-backend", "vLLM: --attention-backend"},
	"window":    {"Megatron: --window-size", "vLLM: --hf-overrides '{\"sliding_window\": …}', --disable-sliding-window"},
	"cache":     {"vLLM: --kv-cache-dtype auto", "verl: +actor_rollout_ref.rollout.engine_kwargs.vllm.kv_cache_dtype=auto"},
	"slots":     {"vLLM: --no-enable-prefix-caching", "verl: actor_rollout_ref.rollout.enable_prefix_caching=False"},
	"logp":      {"verl: actor_rollout_ref.rollout.temperature, actor_rollout_ref.rollout.logprobs_mode=processed_logprobs", "vLLM: --logprobs-mode processed_logprobs"},
	"router":    {"Megatron: --moe-router-dtype fp32", "verl: +actor_rollout_ref.actor.megatron.override_transformer_config.moe_router_dtype=fp32"},
	"choice":    {"verl: actor_rollout_ref.actor.router_replay.mode=R3, actor_rollout_ref.actor.megatron.router_replay.mode=R3", "verl: actor_rollout_ref.rollout.enable_rollout_routing_replay=True"},
	"weights":   {"verl: actor_rollout_ref.rollout.load_format, actor_rollout_ref.rollout.quantization", "vLLM: --quantization"},
	"tokens":    {"verl: actor_rollout_ref.rollout.multi_turn.tokenization_sanity_check_mode=strict"},
	"rounding":  {"verl: algorithm.rollout_correction.rollout_is=token", "vLLM: VLLM_BATCH_INVARIANT=1"},
	"act":       {"Megatron: --swiglu", "vLLM: --hf-overrides '{\"hidden_act\": …}'"},
	"precision": {"verl: actor_rollout_ref.rollout.dtype, actor_rollout_ref.actor.fsdp_config.dtype", "Megatron: --bf16, --fp16", "vLLM: --dtype"},
}

// groups are stages that other stages' options set.
var groups = map[string]string{"qk_norm": "norm", "post_norm": "norm", "latent_norm": "norm", "latent_kv": "rope", "gate_weights": "router"}

// Advice is what to align for a cause; its text is empty where nothing is known to set it.
func Advice(lang msg.Lang, c *rollout.Cause) (h Hint) {
	keys := []string{string(c.Kind)}
	switch c.Kind {
	case rollout.Cache:
		keys = []string{"slots"}
	case rollout.Formula, rollout.Precision, rollout.Router:
		keys = []string{c.Stage, groups[c.Stage], string(c.Kind)}
		if c.Key == "variant" {
			if n, ok := c.Args[len(c.Args)-1].(rollout.Note); ok {
				_, v, _ := strings.Cut(n.Key, ".")
				keys = append([]string{v}, keys...)
			}
		}
	}
	h.Lines = []string{}
	for _, k := range keys {
		if list := options[k]; len(list) > 0 {
			return Hint{lang.T("rollout.advice"), list}
		}
	}
	return h
}
