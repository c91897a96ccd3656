package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"precision/console"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/run"
	"precision/run/explain"
)

// language is what -lang before the command asks for, or else the environment.
func (e env) language() msg.Lang {
	if l, ok := msg.ParseLang(e.lang); ok {
		return l
	}
	return msg.FromEnv(os.Getenv)
}

// last is the last result, which it names in a line.
func (e env) last() (*run.Last, error) {
	l, err := run.OpenLast(e.state)
	if err == nil {
		text := l.Result
		if l.Left != "" {
			text = strings.Join(slices.DeleteFunc([]string{l.Left, l.Right}, func(s string) bool { return s == "" }), " | ")
		}
		fmt.Fprintln(e.stderr, clean.Text(e.language().T("cli.last", text+", "+l.Time.Format(time.DateTime))))
	}
	return l, err
}

// warn prints a warning.
func (e env) warn(text string) { fmt.Fprintln(e.stderr, e.language().T("cli.warning", text)) }

// options is an empty set of options for a command, with -lang, which dispatch has
// read already, and the texts of the command's other options.
func (e env) options(command string) (set *flag.FlagSet, text func(name string) string) {
	set = flag.NewFlagSet("precision "+command, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	set.String("lang", "", e.language().T("cli.lang"))
	first, _, _ := strings.Cut(command, " ")
	return set, e.optionText(first)
}

// optionText gives the help of the options of a command.
func (e env) optionText(command string) func(name string) string {
	lang := e.language()
	return func(name string) string { return lang.T("cli." + command + "." + name) }
}

// words parses options that stand before, between and behind other words, which it returns.
func (e env) words(command string, set *flag.FlagSet, args []string) (words []string) {
	for {
		if err := set.Parse(args); err != nil {
			e.helpFor(command, set, err)
		}
		if args = set.Args(); len(args) == 0 {
			return words
		}
		words, args = append(words, args[0]), args[1:]
	}
}

// plain are the words of a command without options, so many at most.
func (e env) plain(command string, args []string, most int) []string {
	if len(args) == 1 && isHelp(args[0]) {
		e.helpFor(command, nil, flag.ErrHelp)
	}
	for _, word := range args[min(most, len(args)):] {
		misusedIf(true, "cli.unexpected", word)
	}
	return args
}

// none refuses words that a command does not take.
func none(words []string) {
	for _, word := range words {
		misusedIf(true, "err.argument", word)
	}
}

// helpFor ends a command whose words were not parsed: with its help, when that is
// what err says was asked for, else with a hint at it. set is nil for a command
// without options.
func (e env) helpFor(command string, set *flag.FlagSet, err error) {
	switch words := strings.ReplaceAll(command, ".", " "); {
	case errors.Is(err, flag.ErrHelp) && e.describe != nil:
		e.describe(set)
	case errors.Is(err, flag.ErrHelp):
		e.printHelp(command, set)
	case err == nil:
		err = explain.Say("err.usage", words)
	default: // package flag has printed nothing: the sets of options discard that
		err = explain.Say("err.see", run.WrongOption(e.language(), err, set), words)
	}
	misused(err)
}

const (
	// widestHelp is how many columns help takes: longer lines are hard to read.
	widestHelp = 100
	// optionIndent is how far what an option does stands below its name.
	optionIndent = 8
)

// helpWidth is the width of help: that of the terminal, in a pipe the widest.
func helpWidth(w io.Writer, lang msg.Lang) int {
	if width := (summaryText{w, lang}).screen().Width; width > 0 {
		return min(width, widestHelp)
	}
	return widestHelp
}

// usage is the help of the program, on one screen.
func usage(w io.Writer, lang msg.Lang) {
	page := console.NewScreen(w, helpWidth(w, lang), false)
	fmt.Fprintf(w, "%s\n\n", page.Wrap(lang.T("cli.intro")))
	const name = 11
	for _, g := range groups() {
		title, also := lang.T("cli.group."+g.name), []string(nil)
		for _, c := range g.also {
			also = append(also, c.name)
		}
		if also != nil {
			title = lang.T("cli.group.also", title, strings.Join(also, ", "))
		}
		fmt.Fprintln(w, title)
		for _, c := range g.listed {
			fmt.Fprint(w, page.Hang(fmt.Sprintf("  %-*s%s\n", name, c.name, c.brief(lang)), name+2))
		}
	}
	fmt.Fprint(w, page.Wrap(lang.T("cli.foot")+"\n"))
}

// shownOptions is how many options help lists of a command before it chooses.
const shownOptions = 7

// printHelp prints how a command is used, with an example, and its options: those that people use, or all.
func (e env) printHelp(command string, set *flag.FlagSet) {
	w, lang := e.stdout, e.language()
	fmt.Fprintln(w, lang.T("cli."+command+".usage"))
	page := console.NewScreen(w, helpWidth(w, lang), false)
	help, _ := named(command)
	if help.example != "" {
		fmt.Fprint(w, lang.T("help.example", help.example)+"\n")
	}
	if key := "cli." + command + ".more"; lang.Has(key) {
		fmt.Fprintf(w, "\n%s", page.Wrap(lang.T(key)+"\n"))
	}
	if set == nil {
		return
	}
	fmt.Fprintln(w)
	count := 0
	set.VisitAll(func(*flag.Flag) { count++ })
	some := !e.all && help.options != "" && count > shownOptions
	set.VisitAll(func(f *flag.Flag) {
		if some && !slices.Contains(strings.Fields(help.options), f.Name) {
			return
		}
		value, text := flagText(f, lang)
		if value != "" {
			value = " " + value
		}
		fmt.Fprintf(w, "  -%s%s\n%s", f.Name, value, page.Hang(strings.Repeat(" ", optionIndent)+text+"\n", optionIndent))
	})
	if some {
		fmt.Fprintf(w, "\n%s", page.Wrap(lang.T("help.all", strings.ReplaceAll(command, ".", " "), count)+"\n"))
	}
}

// flagText is what an option takes, "" for nothing, and what it does, with its default.
func flagText(f *flag.Flag, lang msg.Lang) (value, text string) {
	value, text = flag.UnquoteUsage(f)
	if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" {
		text += lang.T("help.default", f.DefValue)
	}
	return value, text
}
