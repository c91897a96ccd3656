package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"slices"
	"strings"

	"precision/internal/must"
)

// completions are scripts that ask this program for words: completion/SHELL.
//
//go:embed completion
var completions embed.FS

// completionCommand prints the script that makes a system shell complete the words
// of this program. The script calls it back with -words and the words typed so far.
func completionCommand(_ context.Context, e env, args []string) (int, error) {
	switch {
	case len(args) == 1 && isHelp(args[0]):
		e.helpFor("completion", nil, flag.ErrHelp)
	case len(args) > 0 && args[0] == "-words":
		for _, w := range e.suggest(args[1:]) {
			fmt.Fprintf(e.stdout, "%s\t%s\n", w.Name, w.Brief)
		}
		return exitOK, nil
	case len(args) != 1:
		e.helpFor("completion", nil, nil)
	}
	script, err := completions.ReadFile("completion/" + args[0])
	misusedIf(err != nil, "cli.completion.shell", args[0])
	must.Get(e.stdout.Write(script))
	return exitOK, nil
}

// suggest are the words that can be the last one of a line. No suggestion is a file
// name, or nothing.
func (e env) suggest(words []string) (found []suggestion) {
	word := ""
	if n := len(words); n > 0 {
		word, words = words[n-1], words[:n-1]
	}
	add := func(name, brief string) {
		if strings.HasPrefix(name, word) {
			found = append(found, suggestion{Name: name, Brief: brief})
		}
	}
	if len(words) == 0 || words[0] == "help" || words[0] == "man" && !strings.HasPrefix(word, "-") {
		for _, c := range slices.Concat(commands(false), commands(true)) {
			add(c.name, c.brief(e.language()))
		}
		add("help", e.language().T("help.brief"))
		return found
	}
	if c, ok := named(words[0]); ok && c.run != nil {
		if strings.HasPrefix(word, "-") {
			e.describe = func(set *flag.FlagSet) {
				if set != nil {
					set.VisitAll(func(f *flag.Flag) {
						_, text := flag.UnquoteUsage(f)
						add("-"+f.Name, text)
					})
				}
			}
			c.do(context.Background(), e, []string{"-h"})
		} else if c.name == "completion" {
			for _, shell := range []string{"bash", "zsh", "fish"} {
				add(shell, "")
			}
		}
		return found
	}
	return shellSuggestions(e, words, word)
}
