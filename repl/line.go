package repl

import (
	"errors"
	"iter"
	"strings"
)

// errQuote is an unfinished quotation on a command line.
var errQuote = errors.New("unfinished quotation")

// splitWords splits a command line at blanks. Single and double quotes keep
// blanks together; within double quotes, and outside quotes, a backslash in
// front of a quote, a blank, a semicolon or a backslash takes it literally.
// Other backslashes stand for themselves, as in paths of Windows.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	open, quote := false, rune(0)
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\\' && quote != '\'' && i+1 < len(runes) && strings.ContainsRune(lineSpecial, runes[i+1]):
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
		return nil, errQuote
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// splitCommands splits a line at semicolons that are not quoted.
func splitCommands(line string) []string {
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
			case c == '\\' && quote != '\'' && i+1 < len(line) && strings.IndexByte(lineSpecial, line[i+1]) >= 0:
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

// impliedName are the commands whose first word is the value of -n.
var impliedName = map[string]bool{"ni": true, "dc": true, "pt": true, "cp": true}

// implyName puts -n in front of the words of a command that wants a name,
// unless they begin with an option or ask for help.
func implyName(command string, args []string) []string {
	if !impliedName[command] || len(args) == 0 || strings.HasPrefix(args[0], "-") && len(args[0]) > 1 {
		return args
	}
	for _, a := range args {
		if a == "-h" || a == "--help" {
			return args
		}
	}
	return append([]string{"-n"}, args...)
}
