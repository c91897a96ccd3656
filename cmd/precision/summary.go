package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"golang.org/x/term"

	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/console"
	"precision/graph"
	"precision/graph/describe"
	"precision/internal/clean"
	"precision/internal/msg"
)

// summaryText writes the summary of a comparison in a language.
type summaryText struct {
	w    io.Writer
	lang msg.Lang
}

// labelWidth is how many columns the labels of the summary take.
const labelWidth = 17

// line writes a line: a label and what there is to say.
func (t summaryText) line(label, text string) {
	fmt.Fprintf(t.w, "%s%s%s\n", label, strings.Repeat(" ", max(1, labelWidth-lipgloss.Width(label))), clean.Text(text))
}

// graph says which graph of a folder was taken.
func (t summaryText) graph(path string, how graph.MatchHow) {
	t.line(t.lang.T("batch.graph"), t.lang.T("batch.found", path, describe.How(t.lang, how)))
}

// notes tell, as warnings, what to know of how pairs were found.
func (t summaryText) notes(w io.Writer, notes []result.Reason) {
	for _, n := range notes {
		fmt.Fprintln(w, t.lang.T("cli.warning", report.Sentence(t.lang, n)))
		if n.Kind == result.OtherRecordings {
			fmt.Fprintf(w, "         %s\n", t.lang.T("batch.times"))
		}
	}
}

// judged says what became of a comparison: the verdict, what a gate stopped at,
// and where the table is.
func (t summaryText) judged(say report.Text, j *verdict.Judged, trips []verdict.Trip, path string) {
	lines := append(say.Verdict(j), say.Trips(j, trips)...)
	if path != "" {
		lines = append(lines, report.Line{Label: t.lang.T("batch.result"), Segments: []report.Segment{{Text: path}}})
	}
	t.write(lines)
}

// write writes lines with their labels. What a terminal is too narrow for goes on below
// its text.
func (t summaryText) write(lines []report.Line) {
	s := t.screen()
	io.WriteString(t.w, s.Hang(report.Render(lines, labelWidth, s.Paint), labelWidth))
}

// folded gathers what a command prints; flush prints it, cleaned, and on a terminal broken
// between words.
func folded(e env) (out io.Writer, flush func()) {
	var text strings.Builder
	return clean.NewWriter(&text), func() {
		io.WriteString(e.stdout, summaryText{e.stdout, e.language()}.screen().Wrap(text.String()))
	}
}

// screen paints for the terminal the summary goes to, if it is one, and knows its width.
func (t summaryText) screen() *console.Screen {
	out, width := terminal(t.w), 0
	tty := out != nil && term.IsTerminal(int(out.Fd()))
	if width = console.Columns(); tty && width == 0 {
		if w, _, err := term.GetSize(int(out.Fd())); err == nil {
			width = max(w, 0)
		}
	}
	return console.NewScreen(t.w, width, console.Coloured(tty))
}
