// Precision finds out where a network on Ascend NPUs goes wrong: it compares
// the tensors an NPU recorded with golden arrays of a CPU or GPU run, operator
// by operator, and names the first one that differs.
//
// Without a command it is the PrecisionTool shell. precision help lists the commands, and precision help COMMAND says what
// one takes; exit statuses are in the table [statuses] and in precision(1). docs has a page for each subject.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"precision/internal/build"
	"precision/internal/clean"
	"precision/internal/gc"
	"precision/internal/interrupt"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/spell"
	"precision/run"
	"precision/run/explain"
)

// Exit statuses.
const (
	exitOK          = 0
	exitError       = 1
	exitNoMatch     = 2
	exitBelow       = 3
	exitUsage       = 1
	exitInterrupted = 130
)

// env is what a command may touch of the outside.
type env struct {
	stdout, stderr io.Writer
	lang           string // of -lang
	events         bool   // stdout is for the events of a run, a line of JSON each
	state          string // folder of the last result, "" for none
	data           string // data folder of the shell that the command was given in, else ""
	all            bool   // help lists all options
	// describe, if set, gets the options of a command in place of its help; nil are none.
	describe func(*flag.FlagSet)
}

// command is a sub-command: its name, the work, which returns an exit status and an error to print, if any, an example, and the
// options that people use of those that have many; -h all lists the rest. Without work it is one of the shell's. Its line of help is
// the message cli.NAME, or shell.NAME of those.
type command struct {
	name             string
	run              func(ctx context.Context, e env, args []string) (int, error)
	example, options string
}

// do runs it, wherever it ends.
func (c command) do(ctx context.Context, e env, args []string) (code int, err error) {
	if ended := must.Try(func() { code, err = c.run(ctx, e, args) }); ended != nil {
		code, err = exitError, ended
		if wrong, ok := errors.AsType[*misuse](ended); ok {
			code, err = exitUsage, wrong.error
		}
	}
	return code, err
}

// shell reports whether the command has the terminal itself.
func (c command) shell() bool {
	return c.name == "shell" || c.name == "data" || c.name == "infer" || c.name == "browse"
}

// group are commands by what a person wants, as help lists them: some with a line each, others by their names.
type group struct {
	name         string
	listed, also []command
}

// groups are all commands of the program and of its shell.
func groups() []group {
	return []group{
		{"find", []command{
			{"compare", compareCommand, "precision compare npu_dump golden -g graphs -html report.html", "g html json check gate all out"},
			{"check", checkCommand, "precision check npu_dump -g graphs", "g rt full json gate"},
			{"preflight", preflightCommand, "", ""},
			{"rollout", rolloutCommand, "precision rollout -logp dumps -weights trainer,engine", "logp weights train rollout json html"},
		}, []command{{name: "ac"}, {name: "vc"}, {name: "vcs"}}},
		{"look", []command{
			{"browse", browseCommand, "precision browse result.json", ""},
			{"why", whyCommand, "precision why layer1/conv1", ""},
			{"report", reportCommand, "precision report result.json -n 20 -sort cosine", "n sort html profile gate"},
			{"view", viewCommand, "precision view report.html", ""},
			{"graph", graphCommand, "precision graph ge_proto_00000001_graph_1_Build.txt -op conv1", "ls op diff svg json"},
		}, []command{{name: "ls"}, {name: "ni"}, {name: "pt"}, {name: "cp"}}},
		{"change", []command{{name: "advise"}, {name: "kit"}}, []command{{name: "train"}, {name: "profile", run: profileCommand}}},
		{"jobs", []command{{"merge", mergeCommand, "precision merge shard0 shard1 -out job", ""}}, nil},
		{"files", nil, []command{{name: "dc"}, {name: "tf_dump"}, {name: "atc", run: atcCommand}, {name: "schema", run: schemaCommand}}},
		{"program", []command{
			{"shell", shellCommand, "precision -c 'vc; vcs -l 5'", ""},
			{"mcp", mcpCommand, "precision mcp results -out answers", ""},
		}, []command{{name: "data", run: dataCommand}, {name: "infer", run: inferCommand}, {name: "run"}, {name: "completion", run: completionCommand},
			{name: "man", run: manCommand}, {name: "version", run: versionCommand}}},
	}
}

// commands are those of the program, or those of the shell that it has no word of its own for.
func commands(shell bool) (list []command) {
	for _, g := range groups() {
		for _, c := range slices.Concat(g.listed, g.also) {
			if (c.run == nil) == shell {
				list = append(list, c)
			}
		}
	}
	return list
}

// brief is what the command does, in a line.
func (c command) brief(lang msg.Lang) string {
	return lang.T(map[bool]string{false: "cli.", true: "shell."}[c.run == nil] + c.name)
}

// named is the command of a name, or of a word behind it: preflight.diff.
func named(name string) (c command, ok bool) {
	switch name {
	case "preflight.diff":
		return command{name, nil, "precision preflight diff npu.log gpu.log -html curves.html", "json html gate format ignore"}, true
	case "preflight.manifest":
		return command{name, nil, "precision preflight manifest data -out data.manifest", ""}, true
	}
	list := slices.Concat(commands(false), commands(true))
	i := slices.IndexFunc(list, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return list[i], true
}

func main() {
	gc.Relax()
	os.Exit(execute(interrupt.Context(), env{stdout: os.Stdout, stderr: os.Stderr, state: run.StateFolder(os.Getenv)}, os.Args[1:]))
}

// execute does what the words of the command line ask for and returns the exit status.
// An answer that could not be written is no success.
func execute(ctx context.Context, e env, args []string) int {
	out := &output{w: e.stdout}
	code := dispatch(ctx, e, out, args)
	if out.err != nil && code == exitOK {
		fmt.Fprintf(e.stderr, "precision: standard output: %v\n", out.err)
		return exitError
	}
	return code
}

// dispatch runs a sub-command. The shell gets the terminal as it is; what the
// other commands print goes to out.
func dispatch(ctx context.Context, e env, out *output, args []string) int {
	name := "shell"
	speak := func(ahead bool) bool {
		lang, rest, ok := cutLanguage(args, ahead)
		if !ok {
			return true
		}
		if _, known := msg.ParseLang(lang); !known {
			fmt.Fprintf(e.stderr, "precision: %s\n", e.language().T("err.lang", lang))
			return false
		}
		e.lang, args = lang, rest
		return true
	}
	if !speak(true) {
		return exitUsage
	}
	if len(args) > 0 && (!strings.HasPrefix(args[0], "-") || isHelp(args[0])) {
		name, args = args[0], args[1:]
	}
	if name == "shell" && len(args) == 1 && (args[0] == "-version" || args[0] == "--version") {
		name, args = "version", nil
	}
	if c, ok := named(name); (ok && c.run != nil || name == "help" || isHelp(name)) && !speak(false) {
		return exitUsage
	}
	if name == "help" || isHelp(name) {
		if len(args) == 0 || args[0] == "help" || isHelp(args[0]) {
			usage(out, e.language())
			return exitOK
		}
		name, args = args[0], append([]string{"-h"}, args[1:]...)
	}
	if i := slices.IndexFunc(args, isHelp); i >= 0 && i+1 < len(args) && args[i+1] == "all" {
		e.all, args = true, slices.Delete(slices.Clone(args), i+1, i+2)
	}
	if name == "b" {
		name = "browse"
	}
	if c, ok := named(name); ok && c.run != nil {
		own := e
		if !c.shell() {
			own.stdout, own.stderr = out, clean.NewWriter(e.stderr)
		}
		code, err := c.do(ctx, own, args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			return exitOK
		case err != nil:
			code, err = outcome(ctx, code, err)
			fmt.Fprintf(e.stderr, "precision %s: %s\n", c.name, clean.Text(explain.Error(e.language(), err)))
		}
		return code
	}
	if code, ok := shellWord(ctx, e, name, args); ok {
		return code
	}
	text := e.language().T("cli.unknown", name)
	names := []string{"help"}
	for _, c := range slices.Concat(commands(false), commands(true)) {
		names = append(names, c.name)
	}
	if near := spell.Nearest(name, names); near != "" {
		text = e.language().T("cli.mean", name, near)
	}
	fmt.Fprintf(e.stderr, "precision: %s\n", text)
	return exitUsage
}

// misuse is an error in how a command was called.
type misuse struct{ error }

// misused ends a command that was called in a way that gives an error, and misusedIf one that was called in another way than it
// can be.
func misused(err error) {
	if err != nil {
		must.Do(&misuse{err})
	}
}

func misusedIf(bad bool, key string, args ...any) {
	if bad {
		misused(explain.Say(key, args...))
	}
}

// cutLanguage cuts -lang LANG out of the words: ahead of a command only, or wherever
// it is. One without a value is left to the command's options, which say so.
func cutLanguage(args []string, ahead bool) (lang string, rest []string, ok bool) {
	for i, word := range args {
		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case name == "lang" && word[0] == '-' && joined:
			return value, slices.Delete(slices.Clone(args), i, i+1), true
		case name == "lang" && word[0] == '-' && i+1 < len(args):
			return args[i+1], slices.Delete(slices.Clone(args), i, i+2), true
		case ahead || word == "--":
			return "", args, false
		}
	}
	return "", args, false
}

func isHelp(word string) bool { return word == "-h" || word == "-help" || word == "--help" }

// texts are what this package says.
//
//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

func versionCommand(_ context.Context, e env, args []string) (int, error) {
	e.plain("version", args, 0)
	info, _ := debug.ReadBuildInfo()
	fmt.Fprintf(e.stdout, "precision %s\n", build.Describe(info))
	return exitOK, nil
}

// output is standard output of a command. It remembers that something could not
// be written, which few who print ask for.
type output struct {
	w   io.Writer
	err error // the first one
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// terminal is the file a writer leads to, or nil.
func terminal(w io.Writer) *os.File {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, _ := w.(*os.File)
	return f
}
