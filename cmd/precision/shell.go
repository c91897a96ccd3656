package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"precision/internal/build"
	"precision/internal/clean"
	"precision/internal/man"
	"precision/internal/msg"
	"precision/repl"
	"precision/run/explain"
)

// The shell is a face of its own; what the program needs of it besides is here.

// suggestion is a word of a command line, with what it stands for.
type suggestion = repl.Info

// shellSuggestions are the words that can be the last one behind those of a command of the shell.
func shellSuggestions(e env, words []string, word string) []suggestion {
	return repl.Complete(repl.Config{Stdin: strings.NewReader(""), Stdout: os.Stdout, Stderr: os.Stderr, Lang: e.lang}, words, word)
}

// shellPage is the manual page of a command of the shell.
func shellPage(name string, lang msg.Lang) (man.Page, bool) {
	m, ok := repl.Describe(name, lang.String())
	if !ok {
		return man.Page{}, false
	}
	var options []man.Item
	for _, o := range m.Options {
		options = append(options, man.Item{Term: o.Names, Text: o.Text})
	}
	return assemble(name, m.Brief, []string{"precision " + m.Usage}, m.More, options, lang), true
}

// resultOf is the result that a command is given, one at most; without one that of the data folder here, or the last one.
func (e env) resultOf(files []string, tooMany string) string {
	misusedIf(len(files) > 1, tooMany, len(files), strings.Join(files, ", "))
	if len(files) == 1 {
		return files[0]
	}
	if path := repl.NewestResult(e.data); path != "" {
		fmt.Fprintln(e.stderr, clean.Text(e.language().T("cli.last", path)))
		return path
	}
	l, err := e.last()
	misused(err)
	return l.Result
}

// shellConfig is what every way into the shell shares.
func shellConfig(e env) repl.Config {
	return repl.Config{Stdin: os.Stdin, Stdout: e.stdout, Stderr: e.stderr, Version: build.Name(), Lang: e.lang, State: e.state, More: moreCommands(e)}
}

// moreCommands are the program's own commands for the shell.
func moreCommands(e env) (list []repl.More) {
	for _, c := range commands(false) {
		if c.shell() && c.name != "browse" {
			continue
		}
		list = append(list, repl.More{
			Info: repl.Info{Name: c.name, Brief: c.brief(e.language())},
			Run: func(ctx context.Context, lang, data string, args []string) int {
				own := e
				own.lang, own.data = lang, data
				return execute(ctx, own, append([]string{c.name}, args...))
			},
			Complete: func(words []string, word string) []suggestion { return e.suggest(append(words, word)) },
		})
	}
	return list
}

// shellFlags are the options of the ways into the shell.
func shellFlags(e env, cfg *repl.Config) *flag.FlagSet {
	set, text := e.options("shell")
	set.StringVar(&cfg.Commands, "c", "", text("c"))
	set.StringVar(&cfg.Dir, "data", "", text("data"))
	return set
}

// shellCommand opens the shell, or runs the commands of -c or of a pipe.
func shellCommand(ctx context.Context, e env, args []string) (int, error) {
	cfg := shellConfig(e)
	set := shellFlags(e, &cfg)
	if err := set.Parse(args); err != nil {
		e.helpFor("shell", set, err)
	}
	if set.NArg() > 0 {
		word, flags, rest := set.Arg(0), args[:len(args)-set.NArg()], set.Args()[1:]
		for name, command := range map[string]func(context.Context, env, []string) (int, error){"data": dataCommand, "infer": inferCommand} {
			if word == name && len(rest) > 0 { // precision -c ls data DIR
				return command(ctx, e, slices.Concat(rest[:1], flags, rest[1:]))
			}
		}
		if run, ok := repl.Command(word); ok && cfg.Commands == "" {
			return run(ctx, cfg, rest), nil // precision -data DIR vcs -l 5
		}
		return exitUsage, explain.Say("err.word", word)
	}
	set.Visit(func(f *flag.Flag) {
		if f.Name == "c" && cfg.Commands == "" {
			cfg.Commands = "\n" // no commands, which is not the same as no -c
		}
	})
	return repl.Run(ctx, cfg), nil
}

// folder sees that a command that opens a folder is given one.
func (e env) folder(command string, args []string) {
	if len(args) > 0 && isHelp(args[0]) {
		e.helpFor(command, nil, flag.ErrHelp)
	}
	misusedIf(len(args) == 0 || strings.HasPrefix(args[0], "-"), "err."+command)
}

// dataCommand opens the shell on a data folder.
func dataCommand(ctx context.Context, e env, args []string) (int, error) {
	e.folder("data", args)
	return shellCommand(ctx, e, append([]string{"-data", args[0]}, args[1:]...))
}

// inferCommand takes over the output folder of msquickcmp and opens the shell on
// the data folder it makes.
func inferCommand(ctx context.Context, e env, args []string) (int, error) {
	e.folder("infer", args)
	cfg := shellConfig(e)
	set := shellFlags(e, &cfg)
	if err := set.Parse(args[1:]); err != nil {
		e.helpFor("infer", set, err)
	}
	misusedIf(set.NArg() > 0, "err.word", set.Arg(0)) // before anything is made
	if code := repl.Import(cfg, args[0]); code != 0 {
		return code, nil
	}
	return shellCommand(ctx, e, args[1:])
}

// shellWord runs one command of the shell as a sub-command of the program; ok
// is false when there is none of that name.
func shellWord(ctx context.Context, e env, name string, args []string) (code int, ok bool) {
	if name == "vector_compare" { // the word of the old shell
		name = "vc"
	}
	run, ok := repl.Command(name)
	if !ok {
		return 0, false
	}
	return run(ctx, shellConfig(e), args), true
}
