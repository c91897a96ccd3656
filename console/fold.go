package console

import (
	"strings"

	"github.com/rivo/uniseg"
)

// glyph is a character on the screen with the escape codes that are in force.
type glyph struct {
	text  string
	style string
	width int
}

// glyphs takes a line of text with colours apart.
func glyphs(line string) []glyph {
	list := make([]glyph, 0, len(line))
	style := ""
	state := -1
	for line != "" {
		if strings.HasPrefix(line, "\x1b[") {
			if end := strings.IndexByte(line, 'm'); end > 0 {
				code := line[:end+1]
				if line = line[end+1:]; code == "\x1b[0m" || code == "\x1b[m" {
					style = ""
				} else {
					style += code
				}
				state = -1 // it knew what would come next
				continue
			}
		}
		var cluster string
		var width int
		cluster, line, width, state = uniseg.FirstGraphemeClusterInString(line, state)
		list = append(list, glyph{cluster, style, width})
	}
	return list
}

// hangFrom is the width of lines from which on their continuations are indented.
const hangFrom = 40

// deepest is how far continuations are indented at most: the labels of a verdict take as
// many columns.
const deepest = 12

// hang is how far the continuations of a line are indented: as far as the
// blanks and tree marks it begins with.
func hang(line []glyph, width int) int {
	n := 0
	for n < len(line) && n < deepest && strings.Contains(" ├└─-", line[n].text) {
		n++
	}
	if width < hangFrom || len(line) == 0 || line[0].text == "-" { // a number
		return 0
	}
	return n
}

// foldLine breaks a line with colours into lines of at most width columns: at
// blanks, between characters of languages that have none, and within words that
// are longer than a line, such as paths.
func foldLine(line string, width int) []string { return breakLine(line, width, true) }

// breakLine is foldLine; without cut a word that is longer than a line stays whole, on a
// line of its own that is too long.
func breakLine(line string, width int, cut bool) (out []string) {
	rest := glyphs(line)
	indent := hang(rest, width)
	for {
		n, used, last := 0, 0, -1 // last is the last place to break at
		outside, depth := -1, 0   // the last one that is not in brackets
		margin := ""              // of the lines behind the first
		if len(out) > 0 {
			used, margin = indent, strings.Repeat(" ", indent)
		}
		for n < len(rest) && used+rest[n].width <= width {
			if (len(out) > 0 || n >= indent) && canBreak(rest, n) {
				if last = n; depth == 0 {
					outside = n
				}
			}
			switch rest[n].text {
			case "[":
				depth++
			case "]":
				depth--
			}
			used += rest[n].width
			n++
		}
		if n == len(rest) {
			return append(out, margin+paint(rest))
		}
		if canBreak(rest, n) {
			if last = n; depth == 0 {
				outside = n
			}
		}
		if 2*outside > n { // "[Min: -1]" stays together
			last = outside
		}
		whole := 0 // columns of the word that does not fit
		for i := max(last, 0); i < len(rest); i++ {
			if i > last && canBreak(rest, i) && whole > 0 {
				break
			}
			if whole > 0 || rest[i].text != " " {
				whole += rest[i].width
			}
		}
		n = max(n, 1) // a character wider than the line
		switch {
		case last > 0 && (!cut || whole <= width-indent):
			n = last
		case !cut:
			for n < len(rest) && !canBreak(rest, n) {
				n++
			}
		}
		end := n
		for end > 1 && rest[end-1].text == " " {
			end--
		}
		out = append(out, margin+paint(rest[:end]))
		rest = rest[n:]
		for len(rest) > 0 && rest[0].text == " " {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return out
		}
	}
}

// canBreak reports whether a line may end in front of the n-th glyph: it is a blank,
// or one of two characters of a language without blanks, but for punctuation that
// belongs to the one before or behind it.
func canBreak(line []glyph, n int) bool {
	if n == 0 || n >= len(line) {
		return false
	}
	before, at := line[n-1], line[n]
	if at.text == " " || before.text == " " {
		return at.text == " "
	}
	return (before.width > 1 || at.width > 1) &&
		!strings.Contains("，。；：、！？）」』”’》…,.;:!?)]}%", at.text) && !strings.Contains("（「『“‘《([{", before.text)
}

// paint puts glyphs together again.
func paint(list []glyph) string {
	var b strings.Builder
	style := ""
	for _, g := range list {
		if g.style != style {
			if style != "" {
				b.WriteString("\x1b[0m")
			}
			b.WriteString(g.style)
			style = g.style
		}
		b.WriteString(g.text)
	}
	if style != "" {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}
