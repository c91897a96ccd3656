package report

import (
	"strings"

	"github.com/rivo/uniseg"

	"precision/internal/clean"
)

// Style is what a piece of text is, for a face to colour.
type Style uint8

// The styles.
const (
	Plain Style = iota
	Good
	Suspect
	Bad
	Dim    // beside the point
	Strong // a name to look for
)

// Segment is a piece of text of one style.
type Segment struct {
	Text  string
	Style Style
}

// Line is a line of text: what it is about, and what there is to say. A line
// without a label goes on from the one before.
type Line struct {
	Label    string
	Segments []Segment
}

// Text is the line without its label and styles.
func (l *Line) Text() string {
	var b strings.Builder
	for _, s := range l.Segments {
		b.WriteString(s.Text)
	}
	return b.String()
}

// add appends a piece of text.
func (l *Line) add(style Style, text string) {
	l.Segments = append(l.Segments, Segment{clean.Line(text), style})
}

// Render writes lines with their labels in a column of at least width columns of
// the terminal. What would steer it is hidden; see [clean.Line]. paint gives a piece
// of text its style; nil leaves all plain.
func Render(lines []Line, width int, paint func(Style, string) string) string {
	if paint == nil {
		paint = func(_ Style, text string) string { return text }
	}
	for _, l := range lines {
		width = max(width, Width(l.Label)+2)
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Label)
		b.WriteString(strings.Repeat(" ", width-Width(l.Label)))
		for _, s := range l.Segments {
			b.WriteString(paint(s.Style, clean.Line(s.Text)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Width is how many columns of a terminal a text takes.
func Width(text string) int { return uniseg.StringWidth(text) }

// Clean makes visible what a terminal or a viewer would obey; see [clean.Line].
func Clean(text string) string { return clean.Line(text) }
