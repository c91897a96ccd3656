package html

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"precision/compare/advice"
	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/report/patterns"
	_ "precision/compare/report/steps" // the texts of steps
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/internal/msg"
)

// pageData is the member "page": what the page shows beside the table. Lists named
// by a plural are columns.
type pageData struct {
	Lang    string            `json:"lang"`
	Title   string            `json:"title"`
	Edges   bool              `json:"edges"`
	Counts  []int             `json:"counts"` // operators by state
	DTypes  map[int]string    `json:"dtypes"`
	Metrics []string          `json:"metrics"`
	Say     map[string]spoken `json:"say"`
	Roots   []rootData        `json:"roots"`
	Bits    []int             `json:"bits,omitempty"` // operators that differ first
	Rows    rowData           `json:"rows"`
	Ops     opData            `json:"ops"`
	Records []string          `json:"records,omitempty"`
	Advice  adviceData        `json:"advice"`
	NoLooks string            `json:"no_looks,omitempty"`
}

// adviceData is what to try for kinds of wrong, and the lines to paste.
type adviceData struct {
	Remedies map[string][]advice.Step      `json:"remedies"`
	Lines    map[advice.Step][]advice.Line `json:"lines"`
}

// Spoken is what every page says in one language: texts of the scripts, the verdict, and what it rests on.
type Spoken struct {
	Texts    map[string]string `json:"texts"`
	Headline []Segment         `json:"headline"`
	Lines    []Line            `json:"lines"`
}

// Say says it in both languages.
func Say[S any](in func(msg.Lang) S) map[string]S {
	return map[string]S{msg.English.String(): in(msg.English), msg.Chinese.String(): in(msg.Chinese)}
}

// spoken is what the page of a comparison says.
type spoken struct {
	Spoken
	Cards []report.Card `json:"cards"`
	// Evidence is what kinds of wrong rest on, by the kind and its evidence as the table has them.
	Evidence map[string]string `json:"evidence,omitempty"`
}

// Segment is a piece of a text and its style, Line a labelled text, as the scripts read them.
type Segment struct {
	Text  string `json:"t"`
	Style string `json:"s,omitempty"`
}

// Line is a labelled text.
type Line struct {
	Label    string    `json:"label"`
	Segments []Segment `json:"text"`
}

// Lines makes of lines for people what the scripts read.
func Lines(list []report.Line) []Line {
	out := make([]Line, 0, len(list))
	for _, l := range list {
		out = append(out, Line{l.Label, Segments(l.Segments)})
	}
	return out
}

// rootData is a root: places of the operator and of its worst row.
type rootData struct {
	Op        int      `json:"op"`
	Row       int      `json:"row"`
	Certainty string   `json:"certainty"`
	Causes    []string `json:"causes"`
	Region    []string `json:"region,omitempty"`
	Reaches   []string `json:"reaches,omitempty"`
	Noise     bool     `json:"noise,omitempty"`
}

// rowData is the verdict of rows: a letter for each, and the causes of those that
// have some.
type rowData struct {
	Verdicts string          `json:"verdicts"`
	Row      []int           `json:"row"`
	Kind     []string        `json:"kind"`
	Value    []result.Number `json:"value"`
	Limit    []result.Number `json:"limit"`
	Count    []int64         `json:"count"`
	Of       []int64         `json:"of"`
	First    []int64         `json:"first"`
	Waived   []int           `json:"waived"` // places in these lists
}

// opData is the state of operators, in execution order.
type opData struct {
	// At is the place in the table's operators; -1-r where row r names one that
	// the table does not list.
	At     []int                 `json:"at"`
	States string                `json:"states"`
	From   map[int][]int         `json:"from"`
	Factor map[int]result.Number `json:"factor"`
}

// letters are the first letters of verdicts and states, as the page reads them.
const (
	verdictLetters = "ugsb-d" // no tensor is inconclusive
	stateLetters   = "ugsibd"
)

// late are the columns of rows that the page carries for programs alone: facts for the judge. A browser unpacks them only when asked.
var late = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(`elements finite disagree agree differ bit_equal nonzero_on_zero mean_error scale unscaled outside rounded n metrics_first_disagree
		first_disagree first_differ first_differ_left first_differ_right nan_left_only nan_right_only nan_both inf_left_only inf_right_only inf_both
		left_nan left_inf left_zero left_lo left_hi left_mean left_deviation left_rms right_nan right_inf right_zero right_lo right_hi right_mean right_deviation right_rms`) {
		m[name] = true
	}
	return m
}()

// page makes the member.
func page(j *verdict.Judged, o Options, title string) ([]byte, error) {
	p := &pageData{Lang: o.Lang.String(), Title: report.Clean(title), Edges: j.Edges, Counts: j.Counts[:], Metrics: metrics(j.Table),
		DTypes: map[int]string{}, Say: Say(func(l msg.Lang) spoken { return speak(j, l) }), Records: o.Records, NoLooks: o.NoLooks, Advice: adviceData{advice.Remedies, advice.LinesFor(j)}}
	for i := range j.Table.Rows {
		r := &j.Table.Rows[i]
		for _, t := range []dtype.Type{r.Left.DType, r.Right.DType} {
			p.DTypes[int(t)] = cmp.Or(p.DTypes[int(t)], t.String())
		}
	}
	for i := range j.Roots {
		r := &j.Roots[i]
		out := j.Worst(r)
		d := rootData{Op: r.Operator, Row: out.Row, Certainty: r.Certainty.String(), Region: r.Region, Reaches: r.Reaches, Noise: r.Noise}
		for _, c := range r.Causes {
			d.Causes = append(d.Causes, string(c.Kind))
		}
		p.Roots = append(p.Roots, d)
	}
	if j.Bits != nil {
		p.Bits = j.Bits.First
	}
	p.Ops = operators(j)
	p.Rows = rows(j)
	return json.Marshal(p)
}

// metrics are the columns of metrics: those that were asked for, all where arrays were compared and nobody was asked,
// as of recorded calls.
func metrics(t *result.Table) (all []string) {
	if len(t.Meta.Metrics) > 0 || !slices.ContainsFunc(t.Rows, func(r result.Row) bool { return r.Compared }) {
		return t.Meta.Metrics
	}
	for m := range metric.Metric(metric.Count) {
		all = append(all, m.String())
	}
	return all
}

// speak says in a language what is not put together in the page.
func speak(j *verdict.Judged, lang msg.Lang) spoken {
	t := report.Text{Lang: lang, Most: 20}
	s := spoken{Spoken: Spoken{lang.Under("html.", "advice.", "reason.", "report.word.", "report.short.", "pattern."), Segments(t.Headline(j).Segments), Lines(t.Ground(j))}, Evidence: evidence(j, lang)}
	for i := range j.Roots[:min(len(j.Roots), mostCards)] {
		s.Cards = append(s.Cards, t.Card(j, &j.Roots[i]))
	}
	return s
}

// evidence says what the kinds of wrong rest on that a look at the elements found.
func evidence(j *verdict.Judged, lang msg.Lang) map[string]string {
	said := map[string]string{}
	for i := range j.Table.Looks {
		for _, p := range j.Table.Looks[i].Patterns {
			if text := patterns.Saved(lang, p.Kind, p.Evidence); text != "" {
				said[p.Kind+" "+p.Evidence] = text
			}
		}
	}
	return said
}

// mostCards is how many roots have a card with their words; of a network with
// more one reads the first ones, and the table has all.
const mostCards = 200

var styleNames = [...]string{report.Plain: "", report.Good: "good", report.Suspect: "suspect", report.Bad: "bad", report.Dim: "dim", report.Strong: "strong"}

// Segments makes of pieces of a text what the scripts read.
func Segments(list []report.Segment) []Segment {
	out := make([]Segment, 0, len(list))
	for _, s := range list {
		out = append(out, Segment{report.Clean(s.Text), styleNames[s.Style]})
	}
	return out
}

func operators(j *verdict.Judged) opData {
	d := opData{From: map[int][]int{}, Factor: map[int]result.Number{}}
	at := make(map[string]int, len(j.Table.Ops))
	for i := range j.Table.Ops {
		if _, twice := at[j.Table.Ops[i].Name]; !twice {
			at[j.Table.Ops[i].Name] = i
		}
	}
	var states strings.Builder
	for i := range j.Operators {
		op := &j.Operators[i]
		place, listed := at[op.Op.Name]
		if !listed {
			place = -1 - anyRow(op)
		}
		d.At = append(d.At, place)
		states.WriteByte(stateLetters[op.State])
		if len(op.From) > 0 {
			d.From[i] = op.From
		}
		if op.Sensitive > 0 {
			d.Factor[i] = result.Number(op.Sensitive)
		}
	}
	d.States = states.String()
	return d
}

// anyRow is a row of an operator that has some.
func anyRow(op *verdict.Operator) int {
	for _, list := range [][]verdict.Tensor{op.Outputs, op.Inputs} {
		if len(list) > 0 {
			return list[0].Row
		}
	}
	return op.Whole[0]
}

func rows(j *verdict.Judged) (d rowData) {
	verdicts := []byte(strings.Repeat(verdictLetters[:1], len(j.Table.Rows)))
	for i := range j.Operators {
		for _, list := range [][]verdict.Tensor{j.Operators[i].Inputs, j.Operators[i].Outputs} {
			for k := range list {
				verdicts[list[k].Row] = verdictLetters[list[k].Verdict]
				for _, c := range list[k].Causes {
					d.cause(list[k].Row, &c)
				}
			}
		}
	}
	d.Verdicts = string(verdicts)
	return d
}

func (d *rowData) cause(row int, c *verdict.Cause) {
	if c.Waived {
		d.Waived = append(d.Waived, len(d.Row))
	}
	value, limit := result.Number(c.Value), result.Number(c.Limit)
	d.Row = append(d.Row, row)
	d.Kind = append(d.Kind, string(c.Kind))
	d.Value, d.Limit = append(d.Value, value), append(d.Limit, limit)
	d.Count, d.Of, d.First = append(d.Count, c.Count), append(d.Of, c.Of), append(d.First, c.First)
}
