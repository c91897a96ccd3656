package browse

import (
	"strings"

	"precision/compare/report"
	"precision/internal/msg"
)

// paragraph is a line of a text before it is broken to a width.
type paragraph struct {
	label string
	// segments are what is said. draw, if set, draws lines for a width in their place.
	segments []report.Segment
	draw     func(width, height int) [][]report.Segment
	target   target
	// head: it begins a section, with an empty line before it. flat: it has no label, and its lines begin at the left.
	head, flat bool
}

// text is a page of paragraphs with links: the cursor goes from line to line.
type text struct {
	name  string
	body  []paragraph
	label int // columns of labels
	window
	// broken are the lines for the width and height at hand, of each its paragraph.
	broken        [][]report.Segment
	of            []int
	width, height int
}

// newText makes a page. Its cursor begins at the first line that leads somewhere.
func newText(name string, body []paragraph) *text {
	t := &text{name: name, body: body}
	for _, p := range body {
		t.label = max(t.label, columns(p.label)+2)
	}
	return t
}

func (t *text) title() string { return t.name }

// narrowLabels is the width below which labels stand above what they are about.
const narrowLabels = 50

// lay breaks the paragraphs for a width.
func (t *text) lay(width, height int) {
	if width == t.width && height == t.height {
		return
	}
	first := t.width == 0
	place := 0
	if len(t.of) > 0 {
		place = t.of[max(0, min(t.at, len(t.of)-1))]
	}
	t.width, t.height, t.broken, t.of = width, height, nil, nil
	label := t.label
	if width < narrowLabels {
		label = min(label, 2)
	}
	for i, p := range t.body {
		if p.head && len(t.broken) > 0 {
			t.broken, t.of = append(t.broken, nil), append(t.of, i)
		}
		label := label
		if p.flat {
			label = 0
		}
		var lines [][]report.Segment
		if p.draw != nil {
			lines = p.draw(width-label, height)
		} else {
			lines = wrap(p.segments, width-label)
		}
		if label < t.label && !p.flat && p.label != "" && lines != nil {
			t.broken, t.of = append(t.broken, []report.Segment{{Text: p.label, Style: report.Dim}}), append(t.of, i)
		}
		for k, l := range lines {
			front := ""
			if k == 0 && label == t.label && !p.flat {
				front = p.label
			}
			if label > 0 {
				l = append([]report.Segment{{Text: fit(front, label, false, false), Style: report.Dim}}, l...)
			}
			t.broken, t.of = append(t.broken, l), append(t.of, i)
		}
	}
	for i, of := range t.of {
		if t.broken[i] != nil && (first && leads(t.body[of].target) || !first && of == place) {
			t.at = i
			break
		}
	}
}

// The marks in front of lines: of the one with the cursor, which nothing else shows without colours, and of those
// that lead somewhere.
const (
	cursor = "> "
	link   = "▸ "
)

func leads(x target) bool { return x.open != nil || x.load != nil }

func (t *text) press(key string, height int) { t.window.press(key, len(t.of), height) }

func (t *text) render(p painter, _ msg.Lang, width, height int) (lines []string) {
	t.lay(width-2, height)
	t.show(len(t.of), height)
	for i := t.top; i < min(len(t.of), t.top+height); i++ {
		mark := "  "
		switch x := &t.body[t.of[i]]; {
		case i == t.at:
			mark = cursor
		case leads(x.target) && x.label != "" && (i == 0 || t.of[i-1] != t.of[i] || t.broken[i-1] == nil) && t.broken[i] != nil:
			mark = link
		}
		lines = append(lines, p.line(append([]report.Segment{{Text: mark, Style: report.Strong}}, t.broken[i]...), width, i == t.at))
	}
	return lines
}

func (t *text) status(lang msg.Lang) string {
	if len(t.of) <= t.height {
		return ""
	}
	return lang.T("browse.line", t.at+1, len(t.of))
}

func (t *text) chosen() target {
	if len(t.of) == 0 { // not drawn yet
		for i := range t.body {
			if leads(t.body[i].target) {
				return t.body[i].target
			}
		}
		return nowhere
	}
	return t.body[t.of[max(0, min(t.at, len(t.of)-1))]].target
}

// helpText is what the keys do.
func helpText(lang msg.Lang) *text {
	var body []paragraph
	for line := range strings.Lines(lang.T("browse.help")) {
		keys, what, _ := strings.Cut(strings.TrimSpace(line), "|")
		body = append(body, paragraph{label: strings.TrimSpace(keys), segments: []report.Segment{{Text: strings.TrimSpace(what)}}, target: nowhere})
	}
	return newText("?", body)
}
