package console

import (
	"errors"
	"iter"
	"strings"
)

// ErrQuote is an unfinished quotation on a command line.
var ErrQuote = errors.New("unfinished quotation")

// Words splits a command line at blanks. Single and double quotes keep
// blanks together; within double quotes, and outside quotes, a backslash in
// front of a quote, a blank, a semicolon or a backslash takes it literally.
// Other backslashes stand for themselves, as in paths of Windows.
func Words(line string) (words []string, err error) {
	var word strings.Builder
	open, quote := false, rune(0)
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\\' && quote != '\'' && i+1 < len(runes) && strings.ContainsRune(LineSpecial, runes[i+1]):
			i++
			word.WriteRune(runes[i])
			open = true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ' || r == '\t' || r == '\r' || r == '\n':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, ErrQuote
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// Commands splits a line at semicolons that are not quoted.
func Commands(line string) []string {
	var out []string
	start := 0
	for i := range unquoted(line, ";") {
		out = append(out, line[start:i])
		start = i + 1
	}
	return append(out, line[start:])
}

// unquoted yields where a line has one of the characters set, which are ASCII,
// neither quoted nor behind a backslash.
func unquoted(line, set string) iter.Seq[int] {
	return func(yield func(int) bool) {
		quote := byte(0)
		for i := 0; i < len(line); i++ {
			switch c := line[i]; {
			case c == '\\' && quote != '\'' && i+1 < len(line) && strings.IndexByte(LineSpecial, line[i+1]) >= 0:
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case strings.IndexByte(set, c) >= 0:
				if !yield(i) {
					return
				}
			}
		}
	}
}
