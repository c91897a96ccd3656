package repl

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/console"
	"precision/internal/must"
	"precision/internal/whole"
)

// vcsCmd is the command vcs: it says the verdict of comparison results and lists
// the operators that are not good.
type vcsCmd struct {
	file, typ, sort, json string
	threshold             float64
	boxes                 int
	inputs                bool
}

var vcsCommand = &command{
	name: "vcs",
	make: func(s *session) action { return &vcsCmd{threshold: s.set.CosSim, sort: "order"} },
}

func (v *vcsCmd) define(o *options) {
	o.text(&v.file, "f", "file", paths)
	o.number(&v.threshold, "c", "cos_sim")
	o.text(&v.typ, "t", "type")
	o.text(&v.sort, "sort", "sort", oneOf(report.Sorts()...))
	o.on(&v.inputs, "i", "inputs")
	o.count(&v.boxes, "l", "limit")
	o.text(&v.json, "json", "json", paths)
}

func (v *vcsCmd) run(ctx context.Context, s *session, _ []string) int {
	if !slices.Contains(report.Sorts(), v.sort) {
		return s.Fail("error", &report.SortError{By: v.sort})
	}
	path, ok := s.resultPath(v.file)
	if !ok {
		return exitNothing
	}
	tables, err := s.readResults(path, v.threshold)
	if len(tables) == 0 {
		if err == nil {
			return s.Lack("vcs.empty", path)
		}
		return exitError
	}
	var b strings.Builder
	for _, t := range tables {
		b.WriteString(s.tableHead(t) + s.verdictText(t, s.set.Limit))
		if v.boxes > 0 {
			b.WriteString(v.panels(s, t))
		} else {
			b.WriteString(v.list(s, t))
		}
	}
	s.Page(b.String())
	if v.json != "" {
		if len(tables) > 1 {
			return s.Fail("vcs.onejson", len(tables))
		}
		must.Do(whole.Apart([]string{v.json}, tables[0].path))
		must.Do(whole.Fill(v.json, 0o600, func(w io.Writer) error { return report.WriteJSON(w, tables[0].Judged) }))
		s.Say("wrote", v.json)
	}
	if err != nil {
		return exitError
	}
	return exitOK
}

// tableHead says which table it is.
func (s *session) tableHead(t *judged) string {
	text := s.Screen.Bold(s.T("vcs.table", console.Clean(t.path)))
	if against := s.against(&t.Table.Meta); against != "" {
		text += console.Clean(against)
	}
	return text + "\n"
}

// labelColumns is how wide the labels of a verdict are at least.
const labelColumns = 12

// verdictText is the verdict on a table in lines; most bounds the roots that are
// told.
func (s *session) verdictText(t *judged, most int) string {
	return s.verdictLines(report.Text{Lang: s.Lang, Most: most}.Verdict(t.Judged))
}

// verdictLines are lines with their labels, folded to the width of the screen.
func (s *session) verdictLines(lines []report.Line) string {
	wide := labelColumns
	for _, l := range lines {
		wide = max(wide, report.Width(l.Label)+2)
	}
	return s.Screen.Hang(report.Render(lines, wide, s.Screen.Paint), wide)
}

// chosen are the operators to show: those that are not good, or that only have an
// input that is not.
func (v *vcsCmd) chosen(t *judged) []report.OperatorLine {
	lines := slices.DeleteFunc(report.OperatorLines(t.Judged), func(l report.OperatorLine) bool {
		op := l.Operator
		if v.typ != "" && op.Op.Type != v.typ {
			return true
		}
		if v.inputs && slices.ContainsFunc(op.Inputs, func(in verdict.Tensor) bool { return in.Verdict == verdict.Bad || in.Verdict == verdict.Suspect }) {
			return false
		}
		return op.State == verdict.StateGood || op.State == verdict.StateUncompared
	})
	report.SortOperators(lines, v.sort)
	return lines
}

// list is a line an operator.
func (v *vcsCmd) list(s *session, t *judged) string {
	lines := v.chosen(t)
	if len(lines) == 0 {
		return ""
	}
	rows := make([][]string, len(lines))
	for i := range lines {
		for _, c := range lines[i].Cells(s.Lang) {
			rows[i] = append(rows[i], s.Screen.Paint(c.Style, c.Text))
		}
	}
	return s.Screen.Table("", report.OperatorHeader(s.Lang), rows)
}

// panels is a box an operator with all its tensors.
func (v *vcsCmd) panels(s *session, t *judged) string {
	var b strings.Builder
	lines := v.chosen(t)
	for i := range lines[:min(len(lines), v.boxes)] {
		b.WriteString(v.panel(s, t, lines[i].Operator))
	}
	if more := len(lines) - v.boxes; more > 0 {
		b.WriteString(s.T("vcs.cut", more, len(lines)) + "\n")
	}
	return b.String()
}

func (v *vcsCmd) panel(s *session, t *judged, op *verdict.Operator) string {
	var b strings.Builder
	var names result.Row
	for _, list := range [][]verdict.Tensor{op.Outputs, op.Inputs} {
		if len(list) > 0 && names.Left.Names == "" {
			names = *t.Row(&list[0])
		}
	}
	left, right := s.T("vcs.left"), s.T("vcs.right")
	wide := max(lipgloss.Width(left), lipgloss.Width(right))
	fmt.Fprintf(&b, "%s [%s]\n%s [%s]\n", console.Pad(left, wide), console.Clean(names.Left.Names), console.Pad(right, wide), console.Clean(names.Right.Names))
	if op.Op.Inserted || names.Right.Names == "*" {
		b.WriteString(s.Screen.Yellow(s.T("vcs.inserted")) + "\n")
	}
	say := report.Text{Lang: s.Lang}
	for _, side := range []struct {
		key  string
		list []verdict.Tensor
	}{{"vcs.input", op.Inputs}, {"vcs.output", op.Outputs}} {
		b.WriteString(s.T(side.key) + "\n")
		for i := range side.list {
			tensor := &side.list[i]
			fmt.Fprintf(&b, " - [%d] %s\n", t.Row(tensor).Slot, s.tensorText(say, t, tensor))
		}
	}
	return s.Screen.Panel(console.Clean(fmt.Sprintf("[%d] %s", op.Op.Index, op.Op.Name)), b.String())
}

// tensorText is a tensor of a table in a line: its cosine similarity, coloured by
// its verdict, and what is wrong with it or why it has no values.
func (s *session) tensorText(say report.Text, t *judged, tensor *verdict.Tensor) string {
	r := t.Row(tensor)
	style := map[verdict.Verdict]report.Style{verdict.Good: report.Good, verdict.Suspect: report.Suspect, verdict.Bad: report.Bad, verdict.Uncompared: report.Suspect, verdict.Damaged: report.Suspect}[tensor.Verdict]
	text := s.Screen.Paint(style, cosineText(r))
	if tensor.Verdict == verdict.Bad || tensor.Verdict == verdict.Suspect {
		line := say.Tensor(t.Judged, tensor)
		text += "  " + console.Clean(line.Text())
	}
	if why := report.Sentences(s.Lang, r.Reasons); why != "" {
		text += "  " + console.Clean(why)
	}
	return text
}

// cosineText is the cosine similarity of a row in six decimals, nan where there is
// none.
func cosineText(r *result.Row) string {
	if v := cosineOf(r); !math.IsNaN(v) {
		return fmt.Sprintf("%.6f", v)
	}
	return "nan"
}
