package repl

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"precision/internal/msg"
)

func parseLang(name string) (msg.Lang, bool) { return msg.ParseLang(name) }

// Run is the shell. With Commands it runs these; with a terminal as input and
// output it prompts; else it runs the lines of the input. It returns the worst
// exit status of the commands, and 130 when ctx was cancelled.
//
// Ctrl-C during a command of an interactive session stops that command only,
// whatever ctx is made of; SIGTERM and SIGHUP end the session. Other sessions end when
// ctx is cancelled.
func Run(ctx context.Context, cfg Config) int {
	s := open(cfg)
	switch {
	case cfg.Commands != "":
		return s.end(s.script(ctx, strings.NewReader(cfg.Commands)))
	case !cfg.Batch && s.interactive():
		return s.prompt(context.WithoutCancel(ctx))
	}
	return s.end(s.script(ctx, cfg.Stdin))
}

// interactive reports whether a person sits at both ends.
func (s *session) interactive() bool {
	in, ok := s.cfg.Stdin.(*os.File)
	return ok && s.terminal && term.IsTerminal(int(in.Fd()))
}

// maxLine bounds a line of a script in bytes.
const maxLine = 1 << 20

// script runs the lines of r. Lines that begin with # are comments.
func (s *session) script(ctx context.Context, r io.Reader) int {
	worst := exitOK
	asked := false // a person types without a terminal that could edit lines
	if in, ok := r.(*os.File); ok && !s.cfg.Batch && term.IsTerminal(int(in.Fd())) {
		asked = true
	}
	ask := func() bool {
		if asked {
			io.WriteString(s.cfg.Stderr, promptText)
		}
		return true
	}
	ask()
	input := bufio.NewReader(r)
	if !within(ctx, func() bool { input.Peek(1); return true }) { // waits for what comes first
		return exitInterrupted
	}
	if start, _ := input.Peek(input.Buffered()); bytes.IndexByte(start, 0) >= 0 {
		s.fail("script.binary") // what is unknown would go to the system shell
		return exitError
	}
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, maxLine)
	for first := true; !s.quit && (first || ask()) && within(ctx, lines.Scan); first = false {
		if ctx.Err() != nil {
			return exitInterrupted
		}
		line := lines.Text()
		if first {
			line = strings.TrimPrefix(line, "\ufeff") // editors of Windows begin files with it
		}
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		worst = max(worst, s.line(ctx, line))
	}
	if ctx.Err() != nil { // maybe while it reads
		return exitInterrupted
	}
	if err := lines.Err(); err != nil && !s.quit {
		if errors.Is(err, bufio.ErrTooLong) {
			s.fail("script.long", maxLine)
		} else {
			s.fail("error", err)
		}
		worst = max(worst, exitError)
	}
	return worst
}

// within returns what f does, which may wait for input, or false when ctx ends
// before; f goes on then.
func within(ctx context.Context, f func() bool) bool {
	done := make(chan bool, 1)
	go func() { done <- f() }()
	select {
	case ok := <-done:
		return ok
	case <-ctx.Done():
		return false
	}
}

// line runs the commands of a line and returns the worst exit status. The
// first command that is not one of the shell goes to the system shell with all
// that follows, as semicolons are part of that language.
func (s *session) line(ctx context.Context, line string) int {
	worst := exitOK
	for !s.quit && ctx.Err() == nil {
		parts := splitCommands(line)
		first := strings.TrimSpace(parts[0])
		word, rest := first, ""
		if n := strings.IndexAny(first, " \t"); n > 0 {
			word, rest = first[:n], first[n+1:]
		}
		switch {
		case first == "":
		case word == "run":
			return max(worst, s.system(ctx, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "run"))))
		case s.known(word):
			worst = max(worst, s.builtin(ctx, word, rest))
		default:
			s.info("system.handed", word)
			return max(worst, s.system(ctx, strings.TrimSpace(line)))
		}
		if len(parts) == 1 {
			break
		}
		line = line[len(parts[0])+1:]
	}
	return worst
}

// known reports whether a word is a command of the shell.
func (s *session) known(word string) bool {
	switch word {
	case "help", "?", "exit", "quit":
		return true
	}
	_, ok := findCommand(word)
	return ok
}

// builtin runs one command of the shell.
func (s *session) builtin(ctx context.Context, name, rest string) int {
	args, err := splitWords(rest)
	if err != nil {
		s.fail("quote", rest)
		return exitError
	}
	switch name {
	case "exit", "quit":
		s.quit = true
		return exitOK
	case "help", "?":
		return s.showHelp(args)
	}
	if lineCommands[name] && len(args) > 1 {
		args = []string{strings.TrimSpace(rest)} // as typed, with its quotes
	}
	c, _ := findCommand(name)
	return s.call(ctx, c, args)
}

func (s *session) showHelp(args []string) int {
	if len(args) == 0 {
		s.print(s.help())
		return exitOK
	}
	switch args[0] {
	case "exit", "quit":
		s.say("exit.brief")
		return exitOK
	case "help", "?":
		s.say("help.brief")
		return exitOK
	}
	c, ok := findCommand(args[0])
	if !ok {
		s.fail("help.unknown", args[0])
		return exitError
	}
	s.print(s.helpFor(c))
	return exitOK
}
