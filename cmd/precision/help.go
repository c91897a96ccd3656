package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"precision/internal/msg"
	"precision/repl"
	"precision/repl/explain"
)

// language is what -lang before the command asks for, or else the environment.
func (e env) language() msg.Lang {
	if l, ok := msg.ParseLang(e.lang); ok {
		return l
	}
	return msg.FromEnv(os.Getenv)
}

// warn prints a warning.
func (e env) warn(text string) { fmt.Fprintln(e.stderr, e.language().T("cli.warning", text)) }

// optionText gives the help of the options of a command.
func (e env) optionText(command string) func(name string) string {
	lang := e.language()
	return func(name string) string { return lang.T("cli." + command + "." + name) }
}

// helpOr ends a command whose words were not parsed: with its help, when that is
// what err says was asked for, else with a hint at it. set is nil for a command
// without options.
func helpOr(e env, command string, set *flag.FlagSet, err error) (int, error) {
	if errors.Is(err, flag.ErrHelp) && e.describe != nil {
		e.describe(set)
		return exitOK, err
	}
	if errors.Is(err, flag.ErrHelp) {
		printHelp(e.stdout, e.language(), command, set)
		return exitOK, err
	}
	// Package flag has printed nothing: the sets of options discard that.
	if err == nil {
		return exitUsage, explain.Say("err.usage", command)
	}
	return exitUsage, explain.Say("err.see", repl.WrongOption(e.language(), err), command)
}

// printHelp prints how a command is used, and its options.
func printHelp(w io.Writer, lang msg.Lang, command string, set *flag.FlagSet) {
	fmt.Fprintln(w, lang.T("cli."+command+".usage"))
	if key := "cli." + command + ".more"; lang.Has(key) {
		fmt.Fprintf(w, "\n%s\n", lang.T(key))
	}
	if set == nil {
		return
	}
	fmt.Fprintln(w)
	set.VisitAll(func(f *flag.Flag) {
		value, text := flagText(f, lang)
		if value != "" {
			value = " " + value
		}
		fmt.Fprintf(w, "  -%s%s\n        %s\n", f.Name, value, text)
	})
}

// flagText is what an option takes, "" for nothing, and what it does, with its default.
func flagText(f *flag.Flag, lang msg.Lang) (value, text string) {
	value, text = flag.UnquoteUsage(f)
	if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" {
		text += lang.T("help.default", f.DefValue)
	}
	return value, text
}
