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

// hang is how far the continuations of a line are indented: as far as the
// blanks and tree marks it begins with.
func hang(line []glyph, width int) int {
	n := 0
	for n < len(line) && n < 8 && strings.Contains(" ├└─-", line[n].text) {
		n++
	}
	if width < hangFrom {
		return 0
	}
	return n
}

// foldLine breaks a line with colours into lines of at most width columns: at
// blanks, and within words that are long, such as paths. Colours end with a
// line and go on in the next.
func foldLine(line string, width int) []string {
	rest := glyphs(line)
	indent := hang(rest, width)
	var out []string
	for {
		n, used, blank := 0, 0, -1
		margin := "" // of the lines behind the first
		if len(out) > 0 {
			used, margin = indent, strings.Repeat(" ", indent)
		}
		start := used
		for n < len(rest) && used+rest[n].width <= width {
			if rest[n].text == " " && (len(out) > 0 || n >= indent) {
				blank = n
			}
			used += rest[n].width
			n++
		}
		if n == len(rest) {
			return append(out, margin+paint(rest))
		}
		n = max(n, 1) // a character wider than the line
		if blank > 0 && rest[n].text != " " {
			word := 0 // columns of the word that does not fit
			for i := blank + 1; i < len(rest) && rest[i].text != " "; i++ {
				word += rest[i].width
			}
			if word <= width-max(start, indent) {
				n = blank
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
