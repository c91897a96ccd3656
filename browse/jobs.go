package browse

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"precision/compare/job"
	"precision/compare/job/face"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/internal/sh"
	"precision/run"
)

// jobPages is the result of a job as its pages need it.
type jobPages struct {
	ctx  context.Context
	lang msg.Lang
	dir  string
	r    *job.Result
}

// openJob reads what compare -all wrote to a folder.
func openJob(ctx context.Context, lang msg.Lang, dir string) (*book, error) {
	saved, err := job.OpenJSON(filepath.Join(dir, job.ResultFile))
	if err != nil {
		return nil, err
	}
	s := &jobPages{ctx, lang, dir, saved.Result()}
	b := &book{name: dir}
	lines := face.Result(lang, s.r)
	if len(lines) > 0 {
		b.head = lines[0].Segments
	}
	t := s.title
	b.tabs = []tab{
		{label: t("tab.verdict"), count: -1, make: func() page { return s.verdict(lines) }},
		{label: t("tab.ranks"), count: -1, make: s.matrix},
		{label: t("tab.roots"), count: len(s.r.Origins), make: s.origins},
		{label: t("tab.parts"), count: len(s.r.Plan.Parts), make: s.parts},
	}
	if run.Begins(filepath.Join(dir, job.PageFile)) == '<' {
		b.page = func() (string, error) { return run.PageOf(ctx, lang, dir) }
	}
	return b, nil
}

func (s *jobPages) title(key string) string { return s.lang.T("browse." + key) }

// verdict is what the job comes to.
func (s *jobPages) verdict(lines []report.Line) page {
	var body []paragraph
	last := ""
	for i, l := range lines {
		p := paragraph{label: l.Label, segments: l.Segments, target: nowhere, head: i > 0 && l.Label != "" && l.Label != last}
		if i == 0 {
			p.draw = unlessAbove(l)
		}
		if l.Label != "" {
			last = l.Label
		}
		body = append(body, p)
	}
	return newText(s.title("tab.verdict"), body)
}

// part leads to the table of a part.
func (s *jobPages) part(i int) target {
	x, d := &s.r.Plan.Parts[i], s.r.Digests[i]
	to := target{place: -1, name: s.lang.T("browse.part", numbered(x.Step), numbered(x.Rank), face.Part(s.lang, d))}
	if d.Failed == "" && filepath.IsLocal(x.Name) {
		path := filepath.Join(s.dir, job.TableFolder, x.Name+".json")
		to.load = func() (*book, error) {
			b, err := openTable(s.ctx, s.lang, path)
			if err == nil {
				b.name = x.Name
			}
			return b, err
		}
		to.command = sh.Line("precision", "report", path)
	}
	return to
}

// numbered is a step or a rank, which folders may not tell.
func numbered(n int) string {
	if n < 0 {
		return "?"
	}
	return itoa(n)
}

// marks tell the states of parts apart without colours.
var marks = map[string]string{"good": "·", "suspect": "S", "bad": "B", "inconclusive": "?", "failed": "!"}

// stateOf is the state of a part, and its style.
func stateOf(d *job.Digest) (string, report.Style) {
	if d.Failed != "" {
		return "failed", report.Bad
	}
	return d.Verdict, report.Word(msg.English, verdict.ParseVerdict(d.Verdict)).Style
}

// gravity orders states: of several models of a rank the worst is shown.
var gravity = []string{"good", "suspect", "inconclusive", "bad", "failed"}

// matrix is the ranks in rows and the steps in columns.
func (s *jobPages) matrix() page {
	type cell struct{ rank, step int }
	at := map[cell]int{}
	hosts := map[int]string{}
	steps := map[int]bool{}
	for i := range s.r.Plan.Parts {
		x := &s.r.Plan.Parts[i]
		hosts[x.Rank], steps[x.Step] = x.Host, true
		state, _ := stateOf(s.r.Digests[i])
		if old, ok := at[cell{x.Rank, x.Step}]; ok {
			if was, _ := stateOf(s.r.Digests[old]); slices.Index(gravity, was) >= slices.Index(gravity, state) {
				continue
			}
		}
		at[cell{x.Rank, x.Step}] = i
	}
	alone := map[cell]bool{}
	for _, a := range s.r.Plan.Alone {
		if _, known := hosts[a.Rank]; !known {
			hosts[a.Rank] = ""
		}
		steps[a.Step], alone[cell{a.Rank, a.Step}] = true, true
	}
	var ranks, columnSteps []int
	for r := range hosts {
		ranks = append(ranks, r)
	}
	for n := range steps {
		columnSteps = append(columnSteps, n)
	}
	slices.Sort(ranks)
	slices.Sort(columnSteps)
	g := &grid{name: s.title("tab.ranks"), label: s.title("column.rank"), wide: 3, legend: s.title("legend")}
	for _, r := range ranks {
		g.rows = append(g.rows, strings.TrimSpace(hosts[r]+" "+numbered(r)))
	}
	for _, n := range columnSteps {
		g.cols = append(g.cols, numbered(n))
		g.wide = max(g.wide, columns(numbered(n))+1)
	}
	g.cell = func(row, col int) report.Segment {
		i, ok := at[cell{ranks[row], columnSteps[col]}]
		if !ok {
			return report.Segment{}
		}
		state, style := stateOf(s.r.Digests[i])
		return report.Segment{Text: marks[state], Style: style}
	}
	g.target = func(row, col int) target {
		c := cell{ranks[row], columnSteps[col]}
		if i, ok := at[c]; ok {
			return s.part(i)
		}
		key := "browse.part.none"
		if alone[c] {
			key = "browse.part.alone"
		}
		return target{place: -1, name: s.lang.T("browse.part", numbered(c.step), numbered(c.rank), s.lang.T(key))}
	}
	for y := range ranks { // the cursor begins at the first part that is not good
		for x := range columnSteps {
			if i, ok := at[cell{ranks[y], columnSteps[x]}]; ok && g.y.at == 0 && g.x.at == 0 {
				if state, _ := stateOf(s.r.Digests[i]); state != "good" {
					g.y.at, g.x.at = y, x
					return g
				}
			}
		}
	}
	return g
}

// origins are the roots of all ranks together.
func (s *jobPages) origins() page {
	begun := s.r.Origins
	name := func(row int) string {
		return report.Clean(result.TensorName(begun[row].Op, result.Output, begun[row].Output))
	}
	typ := func(row int) string { return report.Clean(begun[row].Type) }
	cause := func(row int) string {
		o := &begun[row]
		if o.Cause == "" {
			return ""
		}
		return report.CauseSize(s.lang, verdict.Kind(o.Cause), float64(o.Value))
	}
	t := s.title
	return &list{
		name: t("tab.roots"), n: len(begun), names: name,
		columns: []column{
			{title: t("column.step"), width: 5, right: true, rank: 2},
			{title: t("column.ranks"), width: widest(len(begun), func(i int) string { return begun[i].Ranks }, 5, 16), rank: 0},
			{title: t("column.type"), width: widest(len(begun), typ, 4, mostType), rank: 3},
			{title: t("column.operator"), width: widest(len(begun), name, 8, 200), name: true},
			{title: t("column.cause"), width: widest(len(begun), cause, 5, mostCause), rank: 1},
		},
		cells: func(row int) []report.Segment {
			o := &begun[row]
			style := report.Word(s.lang, verdict.ParseVerdict(o.Verdict)).Style
			return []report.Segment{{Text: numbered(o.First)}, {Text: o.Ranks}, {Text: typ(row), Style: style}, {Text: name(row), Style: style}, {Text: cause(row)}}
		},
		target: func(row int) target {
			o := &begun[row]
			for i := range s.r.Plan.Parts { // the table of the first rank that has it
				x := &s.r.Plan.Parts[i]
				if x.Step == o.First && slices.ContainsFunc(s.r.Digests[i].Roots, func(r job.Root) bool { return r.Op == o.Op }) {
					return s.part(i)
				}
			}
			return target{place: -1, name: name(row)}
		},
	}
}

// parts lists the parts, one below the other.
func (s *jobPages) parts() page {
	name := func(i int) string {
		x := &s.r.Plan.Parts[i]
		if x.Name != "" {
			return x.Name
		}
		return fmt.Sprintf("step%s_rank%s", numbered(x.Step), numbered(x.Rank))
	}
	t := s.title
	state := func(i int) string {
		n, _ := stateOf(s.r.Digests[i])
		return s.lang.T("job.verdict." + n)
	}
	return &list{
		name: t("tab.parts"), n: len(s.r.Plan.Parts), names: name,
		columns: []column{
			{title: t("column.state"), width: widest(len(s.r.Plan.Parts), state, 5, 16)},
			{title: t("column.part"), width: widest(len(s.r.Plan.Parts), name, 8, 60), name: true},
			{title: t("column.compared"), width: 14, right: true, rank: 1},
			{title: t("column.first"), width: 40, rank: 2},
		},
		cells: func(i int) []report.Segment {
			d := s.r.Digests[i]
			_, style := stateOf(d)
			first := d.Failed
			if len(d.Roots) > 0 {
				first = strings.TrimSpace(d.Roots[0].Type + " " + d.Roots[0].Op)
			}
			return []report.Segment{{Text: state(i), Style: style}, {Text: name(i), Style: style}, {Text: fmt.Sprintf("%d/%d", d.Compared, d.Expected)}, {Text: first}}
		},
		orders: []order{{name: t("sort.order")}, {name: t("sort.state"), number: func(i int) float64 {
			n, _ := stateOf(s.r.Digests[i])
			return -float64(slices.Index(gravity, n))
		}}, {name: t("sort.name"), text: name}},
		filters: []filter{{name: t("filter.all")}, {t("filter.notgood"), func(i int) bool {
			n, _ := stateOf(s.r.Digests[i])
			return n != "good"
		}}},
		target: s.part,
	}
}
