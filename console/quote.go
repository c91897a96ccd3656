package console

import (
	"path/filepath"
	"strings"

	gprompt "github.com/c-bata/go-prompt"
)

// The characters that mean something on a command line, and to the system
// shell.
const (
	LineSpecial   = ` "';\`
	SystemSpecial = LineSpecial + "$`&|<>()*?[]{}#~!"
)

// LastWord takes a line apart into the word at its end, as typed so far with
// its quotes, and what is in front of it.
func LastWord(line string) (before, typed string) {
	start := 0
	for i := range unquoted(line, " \t") {
		start = i + 1
	}
	return line[:start], line[start:]
}

// PlainWord is what a word means that may still lack its closing quote.
func PlainWord(typed string) string {
	for _, end := range []string{"", `"`, "'"} {
		if words, err := Words(typed + end); err == nil {
			return strings.Join(words, " ")
		}
	}
	return typed
}

// Quoted writes suggestions for a word so that the line means them: within the
// quotes the word begins with, else with a backslash in front of what is
// special. The editor replaces what is typed behind the last blank, so of each
// it gets no more than stands there.
func Quoted(list []gprompt.Suggest, typed, special string) (found []gprompt.Suggest) {
	quote := ""
	if typed != "" && (typed[0] == '"' || typed[0] == '\'') {
		quote = typed[:1]
	}
	kept := typed[:strings.LastIndexByte(typed, ' ')+1]
	for _, s := range list {
		text, ok := strings.CutPrefix(inQuotes(s.Text, quote, special), kept)
		if ok {
			s.Text = text
			found = append(found, s)
		}
	}
	return found
}

// inQuotes writes a word in quotes, which it closes unless the word is a
// folder, or with backslashes.
func inQuotes(word, quote, special string) string {
	end := quote
	if strings.HasSuffix(word, "/") {
		end = ""
	}
	switch {
	case quote == "'":
		return quote + strings.ReplaceAll(word, "'", `'\''`) + end
	case quote == `"` && special == SystemSpecial:
		special = "\"\\$`"
	case quote == `"`:
		special = `"\`
	}
	var b strings.Builder
	for _, r := range word {
		if strings.ContainsRune(special, r) && (r != '\\' || filepath.Separator == '/') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return quote + b.String() + end
}
