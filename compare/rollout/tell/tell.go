// Package tell says to people and to programs what package rollout found.
package tell

import (
	"embed"
	"encoding/json"
	"io"
	"slices"

	"precision/compare/report"
	"precision/compare/rollout"
	"precision/compare/verdict"
	"precision/compare/weights"
	"precision/internal/msg"
)

//go:embed en.txt zh.txt
var texts embed.FS

func init() { msg.Register(texts) }

// Sentence is what a cause is.
func Sentence(lang msg.Lang, c *rollout.Cause) string {
	return lang.T("rollout.cause."+c.Key, c.Args...)
}

func note(lang msg.Lang, n rollout.Note) string { return lang.T("rollout.note."+n.Key, n.Args...) }

var styles = map[verdict.Verdict]report.Style{verdict.Good: report.Good, verdict.Bad: report.Bad, verdict.Inconclusive: report.Suspect}

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
	case "few":
		why = lang.T("rollout.why.few", r.Figs.Tokens)
	default:
		why = lang.T("rollout.why." + r.Why)
	}
	lines = append(lines, report.Line{Label: label("verdict"), Segments: []report.Segment{
		{Text: lang.T("rollout.verdict." + r.Verdict.String()), Style: styles[r.Verdict]}, {Text: why}}})
	if f := r.Figs; f != nil {
		add(label("logp"), report.Plain, lang.T("rollout.logp", f.Tokens, f.MeanAbs, f.MaxAbs, f.Worst[0], f.Worst[1], f.MultProbError, f.K3, 100*f.Over, rollout.Tau))
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
		add(label("cause", i+1), report.Plain, lang.T("rollout.cause."+string(c.Kind))+"  "+Sentence(lang, c))
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
	for _, n := range r.Traps {
		add(label("trap"), report.Dim, note(lang, n))
	}
	for i, n := range r.Unknown {
		if i == most {
			add(label("unknown"), report.Dim, lang.T("rollout.more", len(r.Unknown)-i))
			break
		}
		add(label("unknown"), report.Dim, note(lang, n))
	}
	return lines
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
	Detail string       `json:"detail"`
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
	out := struct {
		Schema  string           `json:"schema"`
		Verdict string           `json:"verdict"`
		Figs    *rollout.Figures `json:"dlogp,omitempty"`
		Causes  []cause          `json:"causes"`
		Weights *checked         `json:"weights,omitempty"`
		Routers *rollout.Routers `json:"router,omitempty"`
		Traps   []string         `json:"traps"`
		Unknown []string         `json:"unknown"`
	}{Schema: "precision/rollout/1", Verdict: r.Verdict.String(), Figs: r.Figs, Routers: r.Routers, Causes: []cause{}, Traps: []string{}, Unknown: []string{}}
	for i := range r.Causes {
		c := &r.Causes[i]
		side := "rollout"
		if c.Kind == rollout.Arrays {
			side = "" // which of two arrays is the wrong one they do not say
		}
		out.Causes = append(out.Causes, cause{c.Kind, c.Stage, c.Layers, c.Name, side, Sentence(msg.English, c)})
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
		out.Traps = append(out.Traps, note(msg.English, n))
	}
	for _, n := range r.Unknown {
		out.Unknown = append(out.Unknown, note(msg.English, n))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(out)
}
