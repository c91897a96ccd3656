package console

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"precision/compare/report"
	"precision/internal/clean"
	"precision/internal/each"
)

// Screen renders panels and tables for one output: with colours on a terminal
// that has them, as plain text elsewhere. Widths are display columns, so texts
// with CJK characters stay aligned.
type Screen struct {
	// Width is the number of columns to fit into; 0 folds nothing but boxes of more
	// than widest columns, so that lines of a pipe can be searched.
	Width int
	limit int // of boxes where Width is 0
	style *lipgloss.Renderer
}

// widest is how many columns a box has at most where the width is not known.
const widest = 250

// box is the number of columns that boxes fit into.
func (s *Screen) box() int {
	if s.Width > 0 {
		return s.Width
	}
	return s.limit
}

// Wrap breaks text that is not in a box into lines for the width, between words only: a
// path can be copied whole.
func (s *Screen) Wrap(text string) string {
	if s.Width == 0 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		out.WriteString(strings.Join(breakLine(bare, s.Width, false), "\n"))
		out.WriteString(line[len(bare):])
	}
	return out.String()
}

// Hang is Wrap for lines with a label of indent columns in front: what does not fit
// goes on below the text and not below the label.
func (s *Screen) Hang(text string, indent int) string {
	if s.Width == 0 || s.Width <= 2*indent {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		if lipgloss.Width(bare) <= s.Width || len(bare) < indent {
			out.WriteString(line)
			continue
		}
		label, body := cutColumns(bare, indent)
		out.WriteString(label + strings.Join(breakLine(body, s.Width-indent, false), "\n"+strings.Repeat(" ", indent)) + line[len(bare):])
	}
	return out.String()
}

// cutColumns cuts a line behind a number of columns, which begin with text without
// escape codes.
func cutColumns(line string, columns int) (front, back string) {
	for i := range line {
		if lipgloss.Width(line[:i]) >= columns {
			return line[:i], line[i:]
		}
	}
	return line, ""
}

// NewScreen makes a screen for w. Without colour no escape code is written.
func NewScreen(w io.Writer, width int, colour bool) *Screen {
	r := lipgloss.NewRenderer(w)
	if !colour {
		r.SetColorProfile(termenv.Ascii)
	} else if r.ColorProfile() == termenv.Ascii {
		r.SetColorProfile(termenv.ANSI)
	}
	return &Screen{Width: width, limit: widest, style: r}
}

// Clean takes out of names from files what would steer a terminal.
func Clean(s string) string { return clean.Text(s) }

// Green and its like are the colours of the shell: green for what a thing is and for good values, red
// for bad ones, yellow for properties and for values that are missing, blue
// for ranges.
func (s *Screen) Green(text string) string  { return s.colour(text, "2") }
func (s *Screen) Red(text string) string    { return s.colour(text, "1") }
func (s *Screen) Yellow(text string) string { return s.colour(text, "3") }
func (s *Screen) Blue(text string) string   { return s.colour(text, "4") }

func (s *Screen) colour(text, ansi string) string {
	text = Clean(text)
	if text == "" || s.style.ColorProfile() == termenv.Ascii {
		return text
	}
	return s.style.NewStyle().Foreground(lipgloss.Color(ansi)).Render(text)
}

// Bold is for heads.
func (s *Screen) Bold(text string) string {
	if text = Clean(text); s.style.ColorProfile() == termenv.Ascii {
		return text
	}
	return s.style.NewStyle().Bold(true).Render(text)
}

// Italic is for titles of tables.
func (s *Screen) Italic(text string) string {
	if text = Clean(text); s.style.ColorProfile() == termenv.Ascii {
		return text
	}
	return s.style.NewStyle().Italic(true).Render(text)
}

// Fold breaks text into lines of at most width columns. A width of 0 breaks
// nothing.
func (s *Screen) Fold(text string, width int) (lines []string) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\t", "    "), "\n")
	for _, line := range strings.Split(text, "\n") {
		if width > 0 && lipgloss.Width(line) > width {
			lines = append(lines, foldLine(line, width)...)
		} else {
			lines = append(lines, line)
		}
	}
	return lines
}

// Inside is a screen as wide as the inside of a panel, for tables in it.
func (s *Screen) Inside() *Screen {
	in := *s
	if in.limit = max(8, s.limit-4); s.Width > 0 {
		in.Width = max(8, s.Width-4)
	}
	return &in
}

// Pad fills a line up to width columns.
func Pad(line string, width int) string {
	return line + strings.Repeat(" ", max(0, width-lipgloss.Width(line)))
}

// centre puts text in the middle of width columns filled with fill.
func centre(text string, width int, fill string) string {
	room := max(0, width-lipgloss.Width(text))
	return strings.Repeat(fill, room/2) + text + strings.Repeat(fill, room-room/2)
}

// Panel is a rounded box around body, as wide as its content, with the title
// in the middle of its upper edge.
func (s *Screen) Panel(title, body string) string {
	room := max(8, s.box()-4)
	lines := s.Fold(body, room)
	if title != "" {
		title = " " + title + " "
	}
	wide := max(0, lipgloss.Width(title)-2)
	for _, l := range lines {
		wide = max(wide, lipgloss.Width(l))
	}
	if wide > room { // a title longer than the terminal
		title, wide = " "+s.Fold(title[1:], room)[0]+" ", room
	}
	var b strings.Builder
	b.WriteString("╭" + centre(title, wide+2, "─") + "╮\n")
	for _, l := range lines {
		b.WriteString("│ " + Pad(l, wide) + " │\n")
	}
	b.WriteString("╰" + strings.Repeat("─", wide+2) + "╯\n")
	return b.String()
}

// Table has a heavy head and a light body. Cells are folded when it is wider
// than the terminal, the widest column first. A terminal too narrow for all
// columns gets the rows below each other.
func (s *Screen) Table(title string, head []string, rows [][]string) string {
	wide := widths(head, rows)
	if !s.squeeze(wide) {
		return s.records(title, head, rows)
	}
	rule := func(left, line, mid, right string) string {
		parts := each.Of(wide, func(w int) string { return strings.Repeat(line, w+2) })
		return left + strings.Join(parts, mid) + right
	}
	var b strings.Builder
	top := rule("┏", "━", "┳", "┓")
	if title != "" {
		b.WriteString(strings.TrimRight(centre(s.Italic(title), lipgloss.Width(top), " "), " ") + "\n")
	}
	b.WriteString(top + "\n")
	bold := each.Of(head, s.Bold)
	s.row(&b, bold, wide, "┃")
	b.WriteString(rule("┡", "━", "╇", "┩") + "\n")
	for _, row := range rows {
		s.row(&b, row, wide, "│")
	}
	b.WriteString(rule("└", "─", "┴", "┘") + "\n")
	return b.String()
}

// narrowest is the width below which a column is not squeezed: names cut into
// shorter pieces cannot be read.
const narrowest = 16

// Entry is a line of a list of names, each padded to wide columns, with what they
// mean. Its continuations begin below that text.
func (s *Screen) Entry(name string, wide int, text string) string {
	room := 0
	if indent := wide + 4; s.Width > indent+20 {
		room = s.Width - indent
	}
	lines := s.Fold(text, room)
	return "  " + Pad(name, wide) + "  " + strings.Join(lines, "\n"+strings.Repeat(" ", wide+4)) + "\n"
}

// Fits reports whether a table fits without folding a cell.
func (s *Screen) Fits(head []string, rows [][]string) bool {
	return total(widths(head, rows)) <= s.box()
}

// widths are how many columns the cells of a table take, total what all of it takes.
func widths(head []string, rows [][]string) []int {
	wide := each.Of(head, lipgloss.Width)
	for _, row := range rows {
		for i, c := range row {
			wide[i] = max(wide[i], lipgloss.Width(c))
		}
	}
	return wide
}

func total(wide []int) int {
	n := 1
	for _, w := range wide {
		n += w + 3
	}
	return n
}

// squeeze narrows columns until the table fits, and tells whether it does.
func (s *Screen) squeeze(wide []int) bool {
	for total(wide) > s.box() {
		widest := 0
		for i, w := range wide {
			if w > wide[widest] {
				widest = i
			}
		}
		if wide[widest] <= narrowest {
			return false
		}
		wide[widest]--
	}
	return true
}

// records shows the rows of a table below each other, a line for every cell.
func (s *Screen) records(title string, head []string, rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteString("\n")
		}
		for j, c := range row {
			b.WriteString(s.Bold(head[j]) + ": " + c + "\n")
		}
	}
	return s.Panel(s.Italic(title), b.String())
}

func (s *Screen) row(b *strings.Builder, cells []string, wide []int, border string) {
	folded := make([][]string, len(wide))
	height := 1
	for i := range wide {
		if i < len(cells) {
			folded[i] = s.Fold(cells[i], wide[i])
		}
		height = max(height, len(folded[i]))
	}
	for y := range height {
		for i, w := range wide {
			cell := ""
			if y < len(folded[i]) {
				cell = folded[i][y]
			}
			b.WriteString(border + " " + Pad(cell, w) + " ")
		}
		b.WriteString(border + "\n")
	}
}

// Columns puts blocks side by side as far as the terminal is wide enough, and
// the rest below. Without a width all are stacked.
func (s *Screen) Columns(blocks ...string) string {
	var out strings.Builder
	var line []string
	used := 0
	flush := func() {
		if len(line) > 0 {
			out.WriteString(join(line))
		}
		line, used = nil, 0
	}
	for _, b := range blocks {
		if b == "" {
			continue
		}
		w := lipgloss.Width(b)
		if used > 0 && used+1+w > s.Width {
			flush()
		}
		line = append(line, b)
		used += w + 1
	}
	flush()
	return out.String()
}

// join puts blocks next to each other, one blank between them.
func join(blocks []string) string {
	var parts []string
	for _, b := range blocks {
		parts = append(parts, strings.TrimRight(b, "\n"), " ")
	}
	var out strings.Builder
	for line := range strings.Lines(lipgloss.JoinHorizontal(lipgloss.Top, parts...)) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
}

// Paint gives a piece of a verdict its colour.
func (s *Screen) Paint(style report.Style, text string) string {
	switch style {
	case report.Good:
		return s.Green(text)
	case report.Suspect:
		return s.Yellow(text)
	case report.Bad:
		return s.Red(text)
	case report.Strong:
		return s.Bold(text)
	}
	return text
}
