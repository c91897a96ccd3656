package python

import "strings"

// Statement is a logical line: brackets and backslashes carry it on.
type Statement struct {
	Line, Indent int
	Text         string
}

// Statements splits a program into logical lines without comments. Texts of
// several lines are kept as they are.
func Statements(text string) (list []Statement) {
	var b strings.Builder
	line, start, depth, indent, fresh := 1, 1, 0, 0, true
	end := func() {
		if s := strings.TrimSpace(b.String()); s != "" {
			list = append(list, Statement{start, indent, s})
		}
		b.Reset()
		fresh, indent = true, 0
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if fresh {
			switch c {
			case ' ':
				indent++
				continue
			case '\t':
				indent += 8
				continue
			}
			fresh, start = false, line
		}
		switch c {
		case '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
			i--
		case '"', '\'':
			n := quoteEnd(text, i)
			line += strings.Count(text[i:n], "\n")
			b.WriteString(text[i:n])
			i = n - 1
		case '\\':
			if strings.HasPrefix(text[i:], "\\\n") || strings.HasPrefix(text[i:], "\\\r\n") {
				i += strings.IndexByte(text[i:], '\n')
				line++
				b.WriteByte(' ')
				continue
			}
			b.WriteByte(c)
		case '\n':
			line++
			if depth == 0 {
				end()
			} else {
				b.WriteByte(' ')
			}
		case ';':
			if depth > 0 {
				b.WriteByte(c)
				continue
			}
			keep := indent
			end()
			fresh, indent, start = false, keep, line
		default:
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(depth-1, 0)
			}
			b.WriteByte(c)
		}
	}
	end()
	return list
}

// quoteEnd is where the text that begins at i ends: behind its last quote, or
// at the end of its line where that lacks.
func quoteEnd(text string, i int) int {
	quote := text[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[i:], triple) {
		for j := i + 3; j < len(text); j++ {
			if text[j] == '\\' {
				j++
			} else if strings.HasPrefix(text[j:], triple) {
				return j + 3
			}
		}
		return len(text)
	}
	for j := i + 1; j < len(text) && text[j] != '\n'; j++ {
		if text[j] == '\\' {
			j++
		} else if text[j] == quote[0] {
			return j + 1
		}
	}
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}
