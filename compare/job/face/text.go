// Package face renders the plan of a job and what became of it: in lines of text, and as one page to look at: where errors begin, what
// is wrong, and a matrix of ranks and steps whose cells open the page of their part in place. The page is opened by a double click and
// fetches nothing but the pages of parts that lie beside it.
package face

import (
	"embed"
	"strconv"

	"precision/compare/job"
	"precision/compare/report"
	"precision/internal/msg"
)

//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Note says a note of a run.
func Note(lang msg.Lang, n job.Note) string {
	args := make([]any, len(n.Args))
	for i, a := range n.Args {
		if k, err := strconv.Atoi(a); err == nil {
			args[i] = k // for the forms of words behind numbers
		} else {
			args[i] = a
		}
	}
	return lang.T("job.note."+n.Kind, args...)
}

// speaker collects lines.
type speaker struct {
	lang  msg.Lang
	lines []report.Line
	last  string
}

func (s *speaker) say(key string, args ...any) string { return s.lang.T("job."+key, args...) }

// add adds a line under a label, which is not repeated.
func (s *speaker) add(label string, segments ...report.Segment) {
	l := report.Line{Label: s.say("label." + label)}
	if label == s.last || label == "" {
		l.Label = ""
	}
	s.last = label
	for _, x := range segments {
		l.Segments = append(l.Segments, report.Segment{Text: report.Clean(x.Text), Style: x.Style})
	}
	s.lines = append(s.lines, l)
}

func plain(text string) report.Segment { return report.Segment{Text: text} }

// numberText is a rank or a step that may not be known.
func (s *speaker) numberText(n int) string {
	if n < 0 {
		return s.say("unknown")
	}
	return strconv.Itoa(n)
}
