package main

import (
	"fmt"
	"io"
	"math"
	"sort"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"precision/compare"
	"precision/compare/report"
	"precision/compare/result"
	"precision/graph"
	"precision/internal/msg"
	"precision/repl"
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
	fmt.Fprintf(t.w, "%s%s%s\n", label, strings.Repeat(" ", max(1, labelWidth-lipgloss.Width(label))), text)
}

func (t summaryText) sentence(key string, args ...any) { fmt.Fprintln(t.w, t.lang.T(key, args...)) }

// graph says which graph of a folder was taken.
func (t summaryText) graph(path string, how graph.MatchHow) {
	t.line(t.lang.T("batch.graph"), t.lang.T("batch.found", path, t.lang.T(repl.HowKey(how))))
}

// notes tell, as warnings, what to know of how pairs were found.
func (t summaryText) notes(w io.Writer, notes []result.Reason) {
	for _, n := range notes {
		fmt.Fprintf(w, "warning: %s\n", report.Sentence(t.lang, n))
		if n.Kind == result.OtherRecordings {
			fmt.Fprintf(w, "         %s\n", t.lang.T("batch.times"))
		}
	}
}

// summary says in a few lines what a user asks first.
func (t summaryText) summary(s *compare.Summary, groups int, path string) {
	tr := t.lang.T
	t.line(tr("batch.compared"), tr("batch.tensors", t.count(s.Compared, "tensor"), s.Rows, t.count(groups, "group")))
	if !s.Unjudged && s.Compared > 0 {
		t.line(tr("batch.below", s.Threshold), t.count(s.Below, "tensor"))
	}
	if missed := s.Rows - s.Compared; missed > 0 {
		var kinds []result.Class
		for k := range s.Missed {
			kinds = append(kinds, k)
		}
		sort.Slice(kinds, func(i, j int) bool {
			a, b := kinds[i], kinds[j]
			return s.Missed[a] > s.Missed[b] || s.Missed[a] == s.Missed[b] && a < b
		})
		var parts []string
		for _, k := range kinds {
			parts = append(parts, tr("batch.kind", report.ClassText(t.lang, k), s.Missed[k]))
		}
		t.line(tr("batch.missed"), tr("batch.kinds", missed, strings.Join(parts, tr("vcs.and"))))
	}
	switch {
	case s.Compared == 0:
		t.sentence("batch.nothing")
	case s.Unjudged:
		t.sentence("batch.unjudged")
	case s.First == nil && s.Below > 0:
		t.line(tr("batch.first"), tr("batch.nofirst"))
	case s.First == nil:
		t.line(tr("batch.first"), tr("batch.good"))
	default:
		t.line(tr("batch.first"), t.finding(s.First))
	}
	if s.FirstInserted != nil {
		t.line(tr("batch.inserted"), tr("batch.insertedof", t.finding(s.FirstInserted)))
	}
	t.line(tr("batch.result"), path)
}

func (t summaryText) finding(f *compare.Finding) string {
	tr := t.lang.T
	r := f.Row
	value := tr("batch.cosine", f.Cosine)
	switch {
	case f.Scalar && !math.IsNaN(f.Error): // its cosine, if any, says nothing
		value = tr("batch.error", f.Error)
	case math.IsNaN(f.Cosine):
		value = tr("batch.nan")
		if reason := report.Sentences(t.lang, r.Reasons); reason != "" {
			value = tr("batch.why", reason)
		}
	}
	name := r.Op
	if r.Type != "" {
		name = r.Type + " " + name
	}
	return tr("batch.at", name, r.Index, r.Tensor(), value)
}

func (t summaryText) count(n int, what string) string { return t.lang.T("batch."+what, n) }
