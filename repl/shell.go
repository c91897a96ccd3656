package repl

import (
	"context"
	"path/filepath"
	"strings"

	"precision/console"
	"precision/internal/plainfile"
	"precision/internal/spell"
)

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
		return s.End(s.Script(ctx, strings.NewReader(cfg.Commands), s.line))
	case s.Interactive():
		return s.prompt(ctx)
	}
	return s.End(s.Script(ctx, cfg.Stdin, s.line))
}

// prompt is an interactive session.
func (s *session) prompt(ctx context.Context) int {
	words := newVocabulary()
	comp := &completer{session: s, words: words}
	return s.Prompt(ctx, console.Handler{
		History: s.historyFile(),
		Greet:   s.banner,
		Before: func() {
			s.data.Refresh()
			words.follow(s)
		},
		Complete: comp.complete,
		Line:     s.line,
	})
}

func (s *session) historyFile() string {
	if s.cfg.History != "" || s.cfg.ConfigDir == "" {
		return s.cfg.History
	}
	return filepath.Join(s.cfg.ConfigDir, "history")
}

// banner greets, and says what there is to work with.
func (s *session) banner() {
	title := "PrecisionTool"
	if s.cfg.Version != "" {
		title += " " + s.cfg.Version
	}
	body := s.T("banner.data", s.data.Root)
	if !plainfile.IsFolder(s.data.Root) {
		body = s.T("banner.nodata", s.data.Root)
	}
	s.Print(s.Screen.Panel(s.Screen.Bold(title), console.Clean(body)))
	s.Say("intro")
}

// line runs the commands of a line and returns the worst exit status. The
// first command that is not one of the shell goes to the system shell with all
// that follows, as semicolons are part of that language.
func (s *session) line(ctx context.Context, line string) int {
	worst := exitOK
	for !s.Quit && ctx.Err() == nil {
		parts := console.Commands(line)
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
			s.Info("system.handed", word)
			code := s.system(ctx, strings.TrimSpace(line))
			if near := spell.Nearest(word, s.commandNames()); code == notFound && near != "" {
				s.Info("mean", near)
			}
			return max(worst, code)
		}
		if len(parts) == 1 {
			break
		}
		line = line[len(parts[0])+1:]
	}
	return worst
}

// notFound is the exit status of a system shell that does not find a program.
const notFound = 127

func (s *session) commandNames() []string {
	names := []string{"help", "exit"}
	for i := range s.cfg.More {
		names = append(names, s.cfg.More[i].Name)
	}
	for _, c := range listed() {
		names = append(names, c.name)
	}
	return names
}

// known reports whether a word is a command of the shell.
func (s *session) known(word string) bool {
	switch word {
	case "help", "?", "exit", "quit":
		return true
	}
	_, ok := findCommand(word)
	return ok || s.more(word) != nil
}

// builtin runs one command of the shell.
func (s *session) builtin(ctx context.Context, name, rest string) int {
	args, err := console.Words(rest)
	if err != nil {
		return s.Fail("quote", rest)
	}
	switch name {
	case "exit", "quit":
		s.Quit = true
		return exitOK
	case "help", "?":
		return s.showHelp(args)
	}
	c, own := findCommand(name)
	if more := s.more(name); more != nil && (!own || len(args) > 0 && !strings.HasPrefix(args[0], "-")) { // check DIR
		return s.Guard(name, func() int {
			defer s.Restore()
			return more.Run(ctx, s.Lang.String(), s.data.Root, args)
		})
	}
	if c.line && len(args) > 1 {
		args = []string{strings.TrimSpace(rest)} // as typed, with its quotes
	}
	return s.call(ctx, c, args)
}

func (s *session) showHelp(args []string) int {
	if len(args) == 0 {
		s.Print(s.help())
		return exitOK
	}
	switch args[0] {
	case "exit", "quit":
		s.Say("exit.brief")
		return exitOK
	case "help", "?":
		s.Say("help.brief")
		return exitOK
	}
	c, ok := findCommand(args[0])
	if more := s.more(args[0]); !ok && more != nil {
		return more.Run(context.Background(), s.Lang.String(), s.data.Root, []string{"-h"})
	}
	if !ok {
		s.Fail("help.unknown", args[0])
		if near := spell.Nearest(args[0], s.commandNames()); near != "" {
			s.Info("mean", near)
		}
		return exitError
	}
	s.Print(s.helpFor(c))
	return exitOK
}
