package python

import (
	"strings"

	"precision/internal/lazy"
)

// Statement is a logical line: brackets and backslashes carry it on.
type Statement struct {
	Line, Indent int
	Text         string
}

const text = `"""(?:\\.|[^\\])*?(?:"""|\z)|'''(?:\\.|[^\\])*?(?:'''|\z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`

var (
	// quotes is a text in quotes; one that has no end is that of its line, or of three quotes all there is.
	quotes = lazy.Regexp(`(?s)^(?:` + text + `)`)
	// A text, a comment, the end of a line that goes on, anything else.
	token = lazy.Regexp(`(?s)` + text + `|#[^\n]*|\\\r?\n|[^"'#\\\n;()\[\]{}]+|.`)
)

// Statements splits a program into logical lines without comments. Texts of
// several lines are kept as they are.
func Statements(program string) (list []Statement) {
	var b strings.Builder
	line, depth, s := 1, 0, Statement{Line: 1}
	// end ends a statement; the next one has at least this indentation.
	end := func(indent int) {
		text := b.String()
		b.Reset()
		if s.Text = strings.TrimSpace(text); s.Text != "" {
			blanks := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
			s.Indent += len(blanks) + 7*strings.Count(blanks, "\t")
			list = append(list, s)
		}
		s = Statement{Line: line, Indent: indent}
	}
	for len(program) > 0 {
		t := program[:token().FindStringIndex(program)[1]]
		program = program[len(t):]
		line += strings.Count(t, "\n")
		switch c := t[0]; {
		case c == '#':
		case c == '\n' && depth == 0:
			end(0)
		case c == ';' && depth == 0:
			end(s.Indent)
		case c == '\n', c == '\\' && len(t) > 1:
			b.WriteByte(' ')
		default:
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(depth-1, 0)
			}
			b.WriteString(t)
		}
	}
	end(0)
	return list
}

// quoteEnd is where the text in quotes that begins at i ends.
func quoteEnd(text string, i int) int { return i + quotes().FindStringIndex(text[i:])[1] }
