package repl

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"precision/compare/report"
	"precision/repl/console"
	"precision/repl/workspace"
)

// vcsCmd is the command vcs: it lists the operators of comparison results that
// are bad or became NaN.
type vcsCmd struct {
	file      string
	threshold float64
	limit     int
	inputs    bool
}

var vcsCommand = &command{
	name: "vcs",
	usage: both("vcs [-f CSV or FOLDER] [-c COSINE] [-l COUNT] [-i]",
		"vcs [-f CSV文件或目录] [-c 余弦相似度] [-l 个数] [-i]"),
	brief: both("summary of comparison results: operators that are bad or became NaN",
		"汇总比对结果：列出精度不达标或变成 NaN 的算子"),
	make: func(s *session) action { return &vcsCmd{threshold: s.set.CosSim, limit: s.set.Limit} },
}

func (v *vcsCmd) define(o *options) {
	o.text(&v.file, "f", "file", both("a result table, or a folder with result_<time>.csv files; without it the newest",
		"结果表，或含有 result_<时间>.csv 的目录；不指定则取最新的"), paths)
	o.number(&v.threshold, "c", "cos_sim", both("cosine similarity at or below which an output is bad",
		"余弦相似度阈值，输出不大于该值即为不达标"))
	o.count(&v.limit, "l", "limit", both("how many operators to show",
		"显示的算子个数"))
	o.on(&v.inputs, "i", "inputs", both("also operators of which only an input is bad",
		"同时列出仅输入不达标的算子"))
}

func (v *vcsCmd) run(ctx context.Context, s *session, words []string) int {
	if len(words) > 0 {
		return s.tooMany("vcs", words)
	}
	path := v.file
	if path == "" {
		dir, n := workspace.NewestResult(s.data.ResultsDir())
		if n == 0 {
			s.Fail("vcs.none", dir)
			return exitNothing
		}
		path = dir
	}
	tables, err := s.readResults(path)
	if len(tables) == 0 {
		if err == nil {
			s.Fail("vcs.empty", path)
			return exitNothing
		}
		return exitError
	}
	text, _ := v.show(s, tables)
	s.Page(text)
	if err != nil {
		return exitError
	}
	return exitOK
}

// suspect is an operator with something wrong.
type suspect struct {
	table *resultTable
	op    *opResult
	at    *cell
	input bool // at is an input
}

// suspects finds bad operators in execution order, table by table. With
// inputs an operator of which only an input is bad is one, too.
func suspects(tables []*resultTable, threshold float64, inputs bool) []suspect {
	var list []suspect
	for _, t := range tables {
		for _, o := range t.ops {
			at, input := o.worst(threshold), false
			for i := range o.inputs {
				if c := &o.inputs[i]; inputs && at == nil && (c.diverged() || c.bad(threshold)) {
					at, input = c, true
				}
			}
			if at != nil {
				list = append(list, suspect{t, o, at, input})
			}
		}
	}
	return list
}

// show renders the first bad operators, as a panel each, then what became NaN
// and what could not be compared. It returns the first bad operator, nil if
// there is none.
func (v *vcsCmd) show(s *session, tables []*resultTable) (text string, first *suspect) {
	var b strings.Builder
	list := suspects(tables, v.threshold, v.inputs)
	shown := list[:min(len(list), v.limit)]
	for _, t := range tables {
		n := 0
		for _, sus := range list {
			if sus.table == t {
				n++
			}
		}
		b.WriteString(s.T("vcs.found", n, len(t.ops), v.threshold, console.Clean(t.path)) + "\n")
	}
	for _, sus := range shown {
		b.WriteString(v.panel(s, sus.op))
	}
	if more := len(list) - len(shown); more > 0 {
		b.WriteString(s.T("vcs.cut", more, len(list)) + "\n")
	}
	v.nans(s, &b, tables)
	if len(list) > 0 {
		first = &list[0]
	}
	return b.String(), first
}

func (v *vcsCmd) panel(s *session, o *opResult) string {
	var b strings.Builder
	names := func(list []string) string { return console.Clean("[" + strings.Join(list, ", ") + "]") }
	left, right := s.T("vcs.left"), s.T("vcs.right")
	wide := max(lipgloss.Width(left), lipgloss.Width(right))
	fmt.Fprintf(&b, "%s %s\n%s %s\n", console.Pad(left, wide), names(o.left), console.Pad(right, wide), names(o.right))
	if o.inserted() {
		b.WriteString(s.Screen.Yellow(s.T("vcs.inserted")) + "\n")
	}
	b.WriteString(s.T("vcs.input") + "\n" + v.cells(s, o.inputs) + s.T("vcs.output") + "\n" + v.cells(s, o.outputs))
	for _, list := range [][]cell{o.inputs, o.outputs} {
		for i := range list {
			if c := &list[i]; math.IsNaN(c.cosine) && len(c.reasons) > 0 {
				b.WriteString(s.Screen.Yellow(console.Clean(s.reasonsOf(c))) + "\n")
			}
		}
	}
	return s.Screen.Panel(console.Clean("["+o.index+"] "+o.op), b.String())
}

func (v *vcsCmd) cells(s *session, cells []cell) string {
	if len(cells) == 0 {
		return ""
	}
	parts := make([]string, len(cells))
	for i := range cells {
		c := &cells[i]
		parts[i] = fmt.Sprintf(" - [%d]%s", c.slot, s.cosine(c, v.threshold))
	}
	return strings.Join(parts, "  ") + "\n"
}

// cosine renders the cosine of a tensor: red when it is bad, green when it is
// good, yellow where there is none.
func (s *session) cosine(c *cell, threshold float64) string {
	switch {
	case c.diverged():
		return s.Screen.Red("nan")
	case math.IsNaN(c.cosine) && c.bad(threshold):
		return s.Screen.Red("nan " + s.T("vcs.rel", c.maxRel))
	case math.IsNaN(c.cosine) && !math.IsNaN(c.maxRel):
		return s.Screen.Green("nan " + s.T("vcs.rel", c.maxRel))
	case math.IsNaN(c.cosine):
		return s.Screen.Yellow("nan")
	case c.bad(threshold):
		return s.Screen.Red(fmt.Sprintf("%.6f", c.cosine))
	}
	return s.Screen.Green(fmt.Sprintf("%.6f", c.cosine))
}

// nans lists the first outputs whose values became NaN or infinite on one side
// only, and counts the tensors that could not be compared.
func (v *vcsCmd) nans(s *session, b *strings.Builder, tables []*resultTable) {
	var lines []string
	missing := 0
	for _, t := range tables {
		missing += len(t.missing)
		for _, o := range t.ops {
			for i := range o.outputs {
				if c := &o.outputs[i]; c.diverged() {
					lines = append(lines, fmt.Sprintf("[%s] %s:output:%d %s", o.index, o.op, c.slot, s.reasonsOf(c)))
				}
			}
		}
	}
	if len(lines) > 0 {
		shown := lines[:min(len(lines), v.limit)]
		body := s.Screen.Red(strings.Join(shown, "\n")) + "\n"
		if more := len(lines) - len(shown); more > 0 {
			body += s.T("vcs.cut", more, len(lines)) + "\n"
		}
		b.WriteString(s.Screen.Panel(s.T("vcs.nan"), body))
	}
	if missing > 0 {
		b.WriteString(s.T("vcs.missing", missing, s.whyMissing(tables)) + "\n")
	}
}

// whyMissing counts the tensors without values by what was the matter, the most
// frequent first.
func (s *session) whyMissing(tables []*resultTable) string {
	count := map[string]int{}
	for _, t := range tables {
		for _, reasons := range t.missing {
			count[report.MissingText(s.Lang, reasons)]++
		}
	}
	kinds := slices.SortedFunc(maps.Keys(count), func(x, y string) int {
		return cmp.Or(cmp.Compare(count[y], count[x]), strings.Compare(x, y))
	})
	for i, k := range kinds {
		kinds[i] = s.T("vcs.kind", count[k], k)
	}
	return strings.Join(kinds, s.T("vcs.and"))
}
