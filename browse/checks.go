package browse

import (
	"context"
	"math"
	"slices"
	"strings"

	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/report/checked"
	"precision/compare/report/patterns"
	"precision/compare/result"
	"precision/internal/msg"
	"precision/internal/sh"
	"precision/run"
)

// checkPages is a check as its pages need it.
type checkPages struct {
	lang msg.Lang
	all  []oracle.Finding
}

// checkStyles are those of what a check says of an output.
var checkStyles = map[oracle.Verdict]report.Style{oracle.Wrong: report.Bad, oracle.Suspect: report.Suspect, oracle.OK: report.Good, oracle.Unknown: report.Dim}

// openCheck reads what check -json wrote.
func openCheck(ctx context.Context, lang msg.Lang, path string) (*book, error) {
	findings, whole, err := run.OpenCheck(path)
	if err != nil {
		return nil, err
	}
	s := &checkPages{lang, findings}
	points := make([]point, len(findings))
	for i := range findings {
		points[i] = point{findings[i].Ratio, checkStyles[findings[i].Verdict]}
	}
	standing := checked.Standing(findings, whole.Coverage)
	counts := checked.Counts(findings)
	b := &book{name: path, chart: &sparkline{points: points}}
	b.page = func() (string, error) { return run.PageOf(ctx, lang, path) }
	b.head = []report.Segment{report.Word(lang, standing.Verdict), {Text: lang.T("report.colon") +
		lang.T("check.counts", counts[oracle.OK], counts[oracle.Suspect], counts[oracle.Wrong], counts[oracle.Unknown])}}
	bad := counts[oracle.Wrong] + counts[oracle.Suspect]
	b.tabs = []tab{
		{label: s.title("tab.verdict"), count: -1, make: func() page { return s.summary(checked.Summary(lang, findings, whole.Coverage)) }},
		{label: s.title("tab.outputs"), count: len(findings), page: s.outputs()},
	}
	if bad > 0 {
		b.tab = 1
	}
	return b, nil
}

func (s *checkPages) title(key string) string { return s.lang.T("browse." + key) }

// summary is what the check comes to.
func (s *checkPages) summary(lines []report.Line) page {
	var body []paragraph
	for _, l := range lines {
		body = append(body, paragraph{label: l.Label, segments: l.Segments, target: nowhere})
	}
	return newText(s.title("tab.verdict"), body)
}

// outputs lists what was recomputed.
func (s *checkPages) outputs() page {
	name := func(i int) string {
		n := report.Clean(s.all[i].Name())
		if s.all[i].Rank >= 0 {
			n = s.lang.T("check.rank", s.all[i].Rank, n)
		}
		return n
	}
	typ := func(i int) string { return report.Clean(s.all[i].Type) }
	state := func(i int) string { return checked.Verdict(s.lang, s.all[i].Verdict) }
	text := func(i int) string {
		f := &s.all[i]
		switch {
		case len(f.Patterns) > 0:
			return patterns.Kind(s.lang, string(f.Patterns[0].Kind))
		case f.Pattern != "":
			return patterns.Kind(s.lang, f.Pattern)
		case len(f.Reasons) > 0:
			return report.Clean(checked.Reason(s.lang, f.Reasons[0]))
		}
		return ""
	}
	t := s.title
	n := len(s.all)
	is := func(v ...oracle.Verdict) func(int) bool {
		return func(i int) bool {
			return slices.Contains(v, s.all[i].Verdict)
		}
	}
	return &list{
		name: t("tab.outputs"), n: n, names: name,
		columns: []column{
			{title: t("column.state"), width: widest(n, state, 5, 12)},
			{title: t("column.type"), width: widest(n, typ, 4, mostType), rank: 4},
			{title: t("column.output"), width: widest(n, name, 8, 200), name: true},
			{title: t("column.ratio"), width: numberWidth, right: true, rank: 1},
			{title: t("column.expected"), width: numberWidth, right: true, rank: 5},
			{title: t("column.found"), width: numberWidth, right: true, rank: 6},
			{title: t("column.said"), width: widest(n, text, 8, 44), rank: 3},
		},
		cells: func(i int) []report.Segment {
			f := &s.all[i]
			style := checkStyles[f.Verdict]
			return []report.Segment{{Text: state(i), Style: style}, {Text: typ(i)}, {Text: name(i), Style: style}, {Text: report.Figure(f.Ratio)}, {Text: report.Figure(f.Expected)},
				{Text: report.Figure(f.Found)}, {Text: text(i)}}
		},
		orders: []order{{name: t("sort.order")}, {name: t("sort.ratio"), number: func(i int) float64 { return -s.all[i].Ratio }},
			{name: t("sort.state"), number: func(i int) float64 { return -float64(s.all[i].Verdict) }}, {name: t("sort.name"), text: name}, {name: t("sort.type"), text: typ}},
		filters: []filter{{name: t("filter.all")}, {t("filter.notgood"), is(oracle.Wrong, oracle.Suspect)}, {t("filter.unknown"), is(oracle.Unknown)}},
		target: func(i int) target {
			return target{place: i, name: name(i), open: func() page { return s.output(i, name(i)) }, command: sh.Line("precision", "why", s.all[i].Op)}
		},
	}
}

// output is all there is to say of an output.
func (s *checkPages) output(i int, name string) page {
	f := &s.all[i]
	own := target{place: i, command: sh.Line("precision", "why", f.Op)}
	word := report.Segment{Text: checked.Verdict(s.lang, f.Verdict), Style: checkStyles[f.Verdict]}
	body := []paragraph{{label: report.Clean(f.Type), segments: []report.Segment{{Text: name + "  ", Style: report.Strong}, word}, target: own}}
	_, lines := checked.Why(s.lang, f)
	for _, l := range lines {
		text := strings.TrimLeft(l, " ")
		style := report.Plain
		if text != l { // evidence
			style = report.Dim
		}
		body = append(body, paragraph{segments: []report.Segment{{Text: report.Clean(text), Style: style}}, target: own})
	}
	number := func(key string, v float64) {
		if !math.IsNaN(v) {
			body = append(body, paragraph{label: s.title("label." + key), segments: []report.Segment{{Text: report.Figure(v)}}, target: own})
		}
	}
	number("ratio", f.Ratio)
	number("bound", f.Bound)
	number("largest", f.Largest)
	if f.Elements > 0 {
		body = append(body, paragraph{label: s.title("label.looked"), segments: []report.Segment{{Text: s.lang.T("browse.place", f.Looked, f.Elements)}}, target: own})
	}
	return newText(result.TensorName(f.Op, result.Output, f.Index), body)
}
