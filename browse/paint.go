package browse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"precision/compare/report"
	"precision/internal/clean"
)

// painter gives pieces of text their colours; without colour it leaves them as they are.
type painter struct{ colour bool }

// codes are what makes a terminal show the styles, in the sixteen colours that every one has.
var codes = map[report.Style]string{report.Good: "32", report.Suspect: "33", report.Bad: "31", report.Dim: "2", report.Strong: "1"}

// paint gives a piece of text its style; a chosen one is on the line of the cursor.
func (p painter) paint(style report.Style, text string, chosen bool) string {
	code := codes[style]
	if chosen {
		if style == report.Dim { // faint text on the bar of the cursor cannot be read
			code = ""
		}
		code = strings.TrimPrefix(code+";7", ";")
	}
	if !p.colour || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// line paints a line and fills it up to width columns; what is beyond is cut.
func (p painter) line(segments []report.Segment, width int, chosen bool) string {
	var b strings.Builder
	left := width
	for i, s := range segments {
		text := clean.Line(s.Text)
		w := columns(text)
		if more := i+1 < len(segments) && w == left; w > left || more && anyText(segments[i+1:]) {
			text = cutEnd(text, left)
			w = columns(text)
			b.WriteString(p.paint(s.Style, text, chosen))
			left -= w
			break
		}
		b.WriteString(p.paint(s.Style, text, chosen))
		left -= w
	}
	if left > 0 {
		b.WriteString(p.paint(report.Plain, strings.Repeat(" ", left), chosen))
	}
	return b.String()
}

func anyText(segments []report.Segment) bool {
	return slices.ContainsFunc(segments, func(s report.Segment) bool { return strings.TrimSpace(s.Text) != "" })
}

// columns is how many columns of a terminal a text takes.
func columns(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return uniseg.StringWidth(text)
		}
	}
	return len(text)
}

// ellipsis stands for what was cut.
const ellipsis = "…"

// cutEnd cuts the end of a text that is wider than width columns.
func cutEnd(text string, width int) string {
	switch {
	case columns(text) <= width:
		return text
	case width <= 0:
		return ""
	}
	return front(text, width-1) + ellipsis
}

// cutMiddle cuts the middle of a name that is wider than width columns: beginnings and ends tell names apart.
func cutMiddle(text string, width int) string {
	if columns(text) <= width || width < 3 {
		return cutEnd(text, width)
	}
	head := front(text, (width-1)/2)
	return head + ellipsis + back(text, width-1-columns(head))
}

// front is as much of the beginning of a text as fits into width columns.
func front(text string, width int) string {
	state, rest, at := -1, text, 0
	for rest != "" {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if width -= w; width < 0 {
			break
		}
		at += len(cluster)
	}
	return text[:at]
}

// back is as much of the end of a text as fits into width columns.
func back(text string, width int) string {
	over := columns(text) - width
	if over <= 0 {
		return text
	}
	state, rest := -1, text
	for rest != "" && over > 0 {
		var w int
		_, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		over -= w
	}
	return rest
}

// fit makes a cell of width columns of a text.
func fit(text string, width int, name, right bool) string {
	cut := cutEnd
	if name {
		cut = cutMiddle
	}
	text = cut(text, width)
	blanks := strings.Repeat(" ", max(0, width-columns(text)))
	if right {
		return blanks + text
	}
	return text + blanks
}

// wrap breaks a line of styled pieces into lines of at most width columns: between words, between
// characters of scripts without blanks, and a word that is wider than a line anywhere.
func wrap(segments []report.Segment, width int) (lines [][]report.Segment) {
	if width < 1 {
		width = 1
	}
	var line []report.Segment
	used := 0
	put := func(text string, style report.Style) {
		if n := len(line); n > 0 && line[n-1].Style == style {
			line[n-1].Text += text
		} else {
			line = append(line, report.Segment{Text: text, Style: style})
		}
		used += columns(text)
	}
	end := func() {
		if n := len(line); n > 0 {
			line[n-1].Text = strings.TrimRight(line[n-1].Text, " ")
		}
		lines, line, used = append(lines, line), nil, 0
	}
	for _, s := range segments {
		rest, state := clean.Line(s.Text), -1
		for rest != "" {
			var word string
			word, rest, _, state = uniseg.FirstLineSegmentInString(rest, state)
			bare := strings.TrimRight(word, " ")
			if used > 0 && used+columns(bare) > width {
				end()
			}
			for columns(bare) > width {
				part := front(bare, width)
				if part == "" {
					break
				}
				put(part, s.Style)
				end()
				bare, word = bare[len(part):], word[len(part):]
			}
			if word == bare || used+columns(word) <= width {
				put(word, s.Style)
			} else {
				put(bare, s.Style)
			}
		}
	}
	if line != nil || lines == nil {
		end()
	}
	return lines
}
