package repl

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"precision/console"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/repl/workspace"
	"precision/run"
)

// action is a command with its options. define says which options there are,
// run does the work with the words that are no options and returns an exit
// status, or ends with an error by package must.
type action interface {
	define(o *options)
	run(ctx context.Context, s *session, words []string) int
}

// command is an entry of the registry: all that the shell, its help and its
// completion know about a command.
type command struct {
	name string
	// named: its first word is the value of -n.
	named bool
	// line: it takes a command line of the system shell, whose options are not its own.
	line bool
	// old: it works and is not listed; what it does is an option of a capture script now.
	old bool
	// takes is how many words it takes that are the value of no option, and words completes them.
	takes int
	words completion
	// make gives a command with the defaults of a session.
	make func(s *session) action
}

// commands is the registry, in the order of help.
var commands = []*command{
	acCommand, vcCommand, vcsCommand, adviseCommand, checkCommand, lsCommand, niCommand, ptCommand, cpCommand, dcCommand,
	trainCommand, tfDumpCommand, kitCommand, runCommand, npuDumpCommand, npuOverflowCommand,
}

// listed are the commands that help shows.
func listed() []*command {
	return slices.DeleteFunc(slices.Clone(commands), func(c *command) bool { return c.old })
}

func findCommand(name string) (*command, bool) {
	for _, c := range commands {
		if c.name == name {
			return c, true
		}
	}
	return nil, false
}

// usage is how the command is written, brief what it does.
func (c *command) usage(l msg.Lang) string { return l.T("shell." + c.name + ".usage") }
func (c *command) brief(l msg.Lang) string { return l.T("shell." + c.name) }

// more is what else the help of the command says, if anything.
func (c *command) more(l msg.Lang) string {
	if key := "shell." + c.name + ".more"; l.Has(key) {
		return l.T(key)
	}
	return ""
}

// implyName puts -n in front of the words of a command that wants a name,
// unless they begin with an option or ask for help.
func (c *command) implyName(args []string) []string {
	if !c.named || len(args) == 0 || strings.HasPrefix(args[0], "-") && len(args[0]) > 1 {
		return args
	}
	for _, a := range args {
		if a == "-h" || a == "--help" {
			return args
		}
	}
	return append([]string{"-n"}, args...)
}

// option is an option of a command, for help and completion.
type option struct {
	short, long string
	value       bool       // it takes a value
	def         string     // its default, "" for none
	help        string     // key of what it does
	complete    completion // of its value, nil for none
}

// options collects the options of a command: each has a short and a long name.
type options struct {
	set  *flag.FlagSet
	list []option
}

func newOptions(command string) *options {
	o := &options{set: flag.NewFlagSet(command, flag.ContinueOnError)}
	o.set.SetOutput(io.Discard)
	o.set.Usage = func() {}
	return o
}

// add declares an option under both its names, each by a call of set.
func (o *options) add(op option, set func(name string), complete []completion) {
	op.help = "shell." + o.set.Name() + "." + op.short
	if set(op.short); op.long != op.short {
		set(op.long)
	}
	if len(complete) > 0 {
		op.complete = complete[0]
	}
	o.list = append(o.list, op)
}

// text, on, count, number and size declare an option: where its value goes, which is
// the default now, its names, and what completes its value. The errors of values are keys of messages, see [run.WrongOption].
func (o *options) text(to *string, short, long string, complete ...completion) {
	o.add(option{short: short, long: long, value: true, def: *to}, func(name string) { o.set.StringVar(to, name, *to, "") }, complete)
}

func (o *options) on(to *bool, short, long string) {
	o.add(option{short: short, long: long}, func(name string) { o.set.BoolVar(to, name, *to, "") }, nil)
}

func (o *options) gate(to *run.Gate) {
	o.add(option{short: "gate", long: "gate"}, func(name string) { o.set.Var(to, name, "") }, nil)
}

func (o *options) count(to *int, short, long string) {
	parsed(o, to, option{short: short, long: long, def: strconv.Itoa(*to)}, "usage.count", func(text string) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= 0
	})
}

func (o *options) number(to *float64, short, long string) {
	parsed(o, to, option{short: short, long: long, def: strconv.FormatFloat(*to, 'g', -1, 64)}, "usage.number", func(text string) (float64, bool) {
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil && f == f
	})
}

func (o *options) size(to *int64, short, long string) {
	parsed(o, to, option{short: short, long: long}, "usage.size", parseSize)
}

// parsed declares an option whose value is read by a function; wrong is the message for what it does not take.
func parsed[T any](o *options, to *T, op option, wrong string, parse func(text string) (T, bool)) {
	op.value = true
	o.add(op, func(name string) {
		o.set.Func(name, "", func(text string) error {
			v, ok := parse(text)
			if !ok {
				return errors.New(wrong)
			}
			*to = v
			return nil
		})
	}, nil)
}

// parse reads options before, between and behind the other words, which it
// returns. Words behind "--" are never options.
func (o *options) parse(args []string) (words []string, err error) {
	for {
		if err := o.set.Parse(args); err != nil {
			return nil, err
		}
		rest := o.set.Args()
		if used := len(args) - len(rest); used > 0 && args[used-1] == "--" {
			return append(words, rest...), nil
		}
		if len(rest) == 0 {
			return words, nil
		}
		words, args = append(words, rest[0]), rest[1:]
	}
}

// call runs a command. A panic in it is an error of that command only.
func (s *session) call(ctx context.Context, c *command, args []string) int {
	return s.Guard(c.name, func() int { return s.callUnguarded(ctx, c, args) })
}

func (s *session) callUnguarded(ctx context.Context, c *command, args []string) int {
	s.Resize()
	s.data.Refresh()
	act := c.make(s)
	o := newOptions(c.name)
	act.define(o)
	words, err := args, error(nil)
	if !c.line {
		words, err = o.parse(c.implyName(args))
		if n := o.set.Lookup("n"); err == nil && c.named && n.Value.String() == "" && len(words) > 0 {
			err, words = n.Value.Set(words[0]), words[1:] // the name stands behind the options
		}
	} else if len(args) == 1 && (args[0] == "-h" || args[0] == "--help") {
		err = flag.ErrHelp
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		s.Print(s.helpFor(c))
		return exitOK
	case err != nil:
		s.Fail("usage", c.name, run.WrongOption(s.Lang, err, o.set))
		s.tellUsage(c)
		return exitError
	case c.takes == 0 && !c.line && len(words) > 0:
		return s.tooMany(c.name, words)
	case c.takes == 0 && c.named && o.set.Lookup("n").Value.String() == "":
		return s.Fail("need.name", c.name, c.usage(s.Lang))
	}
	code, err := must.Of(func() int { return act.run(ctx, s, words) })
	if err != nil {
		return s.Failed(ctx, err)
	}
	return code
}

// tooMany tells of words that are the value of no option.
func (s *session) tooMany(name string, words []string) int {
	s.Fail("usage", name, s.T("usage.word", words[0]))
	if c, ok := findCommand(name); ok {
		s.tellUsage(c)
	}
	return exitError
}

// tellUsage shows how a command is written.
func (s *session) tellUsage(c *command) {
	s.Log("", s.T("usage.line", c.usage(s.Lang), c.name))
}

// help is the list of commands.
func (s *session) help() string {
	var b strings.Builder
	b.WriteString(s.T("help.head") + "\n\n")
	wide := 7
	for i := range s.cfg.More {
		wide = max(wide, len(s.cfg.More[i].Name))
	}
	for _, c := range listed() {
		b.WriteString(s.Screen.Entry(c.name, wide, c.brief(s.Lang)))
	}
	for i := range s.cfg.More {
		if _, own := findCommand(s.cfg.More[i].Name); !own {
			b.WriteString(s.Screen.Entry(s.cfg.More[i].Name, wide, s.cfg.More[i].Brief))
		}
	}
	b.WriteString(s.Screen.Entry("help", wide, s.T("help.brief")) + s.Screen.Entry("exit", wide, s.T("exit.brief")) + "\n" + s.T("help.foot") + "\n")
	return b.String()
}

// helpFor is the help of one command with its options.
func (s *session) helpFor(c *command) string {
	m := s.manual(c)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", s.T("help.usage", m.Usage), m.Brief)
	wide := 0
	for _, op := range m.Options {
		wide = max(wide, len(op.Names))
	}
	if len(m.Options) > 0 {
		b.WriteString("\n")
	}
	for _, op := range m.Options {
		b.WriteString(s.Screen.Entry(op.Names, wide, op.Text))
	}
	if m.More != "" {
		b.WriteString("\n" + m.More + "\n")
	}
	return b.String()
}

// Manual is what the help of a command says.
type Manual struct {
	Usage, Brief, More string
	Options            []Option
}

// Option is an option as help shows it: its names, joined by a comma, and what it does.
type Option struct{ Names, Text string }

// manual reads the entry of a command. Defaults are those of the session.
func (s *session) manual(c *command) Manual {
	o := newOptions(c.name)
	c.make(s).define(o)
	m := Manual{Usage: c.usage(s.Lang), Brief: c.brief(s.Lang), More: c.more(s.Lang)}
	for _, op := range o.list {
		names, text := "-"+op.short, s.T(op.help)
		if op.long != op.short {
			names += ", --" + op.long
		}
		if op.value && op.def != "" {
			text += s.T("help.default", op.def)
		}
		m.Options = append(m.Options, Option{names, text})
	}
	return m
}

// Describe is the manual of a command of the shell in a language ("" is English), with the
// defaults of the program, whatever the user has set.
func Describe(name, lang string) (Manual, bool) {
	c, ok := findCommand(name)
	if !ok {
		return Manual{}, false
	}
	l, _ := msg.ParseLang(lang)
	s := &session{Console: &console.Console{Lang: l}, set: workspace.Defaults()}
	return s.manual(c), true
}

// Info describes a command.
type Info struct{ Name, Brief string }

// Command returns a command of the shell as a function, false if there is none
// of that name. args are the words behind the name. The result is an exit
// status: 0, 1 for an error or wrong options, 2 when there was nothing to
// answer from, 130 when ctx was cancelled.
func Command(name string) (run func(ctx context.Context, cfg Config, args []string) int, ok bool) {
	c, ok := findCommand(name)
	if !ok {
		return nil, false
	}
	return func(ctx context.Context, cfg Config, args []string) int {
		s := open(cfg)
		return s.End(s.call(ctx, c, slices.Clone(args)))
	}, true
}
