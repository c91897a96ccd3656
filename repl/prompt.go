package repl

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	gprompt "github.com/c-bata/go-prompt"
	"github.com/charmbracelet/lipgloss"
	"golang.org/x/term"
)

// promptText is what stands in front of the line that is typed.
const promptText = "PrecisionTool > "

// exitSignal is the exit status of a session that a signal ended, less the
// number of the signal, as system shells have it.
const exitSignal = 128

// promptState is the terminal of an interactive session: the state it had, and
// who is to know of signals.
//
// The line editor leaves much to its caller. It changes the state of the
// terminal and does not always put it back, it panics without a terminal, and
// its main loop handles signals in ways that can hang or end the program. So
// it is asked for one line at a time, signals are handled here, and the state
// is saved before the first prompt and put back on every way out.
type promptState struct {
	in    *os.File
	saved *term.State
	// life ends with SIGTERM or SIGHUP, and with it every command and child.
	life context.Context
	// leave makes the line editor return before the line is complete.
	leave atomic.Bool
	// typed tells whether there is something on the line.
	typed atomic.Bool
	// resized makes it return to take up the new size of the terminal.
	resized atomic.Bool
	// cursor is where the cursor stands: columns of the prompt and of the text in
	// front of it.
	cursor atomic.Int64
	// signal is the number of the signal that ended the session, else 0.
	signal atomic.Int32
	worst  int
}

// restore puts the terminal into the state it had at the start.
func (p *promptState) restore() {
	if p != nil && p.saved != nil {
		term.Restore(int(p.in.Fd()), p.saved)
	}
}

// prompt is the interactive session. It returns the worst exit status.
func (s *session) prompt(ctx context.Context) (code int) {
	life, end := context.WithCancel(ctx)
	defer end()
	in := s.cfg.Stdin.(*os.File)
	saved, err := term.GetState(int(in.Fd()))
	if err != nil {
		s.warn("error", err)
		return s.script(ctx, in)
	}
	p := &promptState{in: in, saved: saved, life: life}
	s.tty = p
	defer p.restore()

	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(terminated)
	go func() {
		select {
		case sig := <-terminated:
			if n, ok := sig.(syscall.Signal); ok {
				p.signal.Store(int32(n))
			}
			p.leave.Store(true)
			end()
		case <-life.Done():
		}
	}()
	// These stop commands (see interruptible). Between commands, and from the
	// keyboard while a line is on its way to the editor, they are for nobody: the
	// default would end the program and leave the terminal raw.
	nobody := make(chan os.Signal, 1)
	signal.Notify(nobody, os.Interrupt, syscall.SIGQUIT)
	defer signal.Stop(nobody)

	defer watchSize(p)()

	s.banner()
	h := openHistory(s.historyFile())
	s.tellHistory(h)
	words := newVocabulary()
	for !s.quit && life.Err() == nil && !p.leave.Load() {
		if !s.edit(p, h, words) {
			return max(p.worst, s.script(ctx, in))
		}
	}
	p.restore()
	if n := p.signal.Load(); n != 0 {
		return exitSignal + int(n)
	}
	s.print(s.t("bye") + "\n")
	return p.worst
}

func (s *session) historyFile() string {
	if s.cfg.History != "" || s.cfg.ConfigDir == "" {
		return s.cfg.History
	}
	return filepath.Join(s.cfg.ConfigDir, "history")
}

// tellHistory says once why lines are not kept.
func (s *session) tellHistory(h *history) {
	if h.err != nil {
		s.warn("history.failed", h.err)
		h.err = nil
	}
}

// edit runs the line editor until the session is to end, or until the editor
// fails, which is a bug of it: the session goes on with a new one. It returns
// false if there is no terminal to edit on.
func (s *session) edit(p *promptState, h *history, words *vocabulary) (ok bool) {
	ok = true
	started := false
	var parser *lineParser
	defer func() {
		if e := recover(); e != nil {
			if parser != nil {
				parser.close()
			}
			p.restore()
			s.fail("panic", "prompt", e)
			s.log("", shortStack(), nil)
			ok = started
		}
	}()
	comp := &completer{session: s, words: words}
	options := []gprompt.Option{
		gprompt.OptionPrefix(promptText),
		gprompt.OptionTitle("PrecisionTool"),
		gprompt.OptionHistory(h.lines),
		gprompt.OptionCompletionWordSeparator(" "),
		gprompt.OptionWriter(&lineWriter{gprompt.NewStdoutWriter(), p}),
		gprompt.OptionMaxSuggestion(8),
		gprompt.OptionSetExitCheckerOnInput(func(string, bool) bool { return p.leave.Load() || p.resized.Load() }),
	}
	if os.Getenv("NO_COLOR") != "" {
		options = append(options, plainColours()...)
	}
	parser = newLineParser(p)
	defer parser.close()
	options = append(options, gprompt.OptionParser(parser))
	execute := func(line string) {
		p.restore()
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' { // from a script that was pasted
			return
		}
		h.add(line)
		s.tellHistory(h)
		p.worst = max(p.worst, s.interruptible(p, line))
		p.restore() // a child may have died without doing so
	}
	editor := gprompt.New(nil, func(d gprompt.Document) []gprompt.Suggest {
		p.typed.Store(d.Text != "")
		if !p.resized.Load() { // else the editor only resets its list
			p.cursor.Store(int64(lipgloss.Width(promptText + d.TextBeforeCursor())))
		}
		return comp.complete(d.TextBeforeCursor())
	}, options...)
	started = true
	for {
		p.typed.Store(false)
		s.refresh()
		words.follow(s)
		line := editor.Input()
		switch {
		case p.leave.Load():
			return true
		case p.resized.Swap(false):
			// The editor goes on with the same line, which the terminal has wrapped
			// anew.
			s.print("\r")
			if up := p.cursor.Load() / int64(parser.GetWinSize().Col); up > 0 {
				s.print(fmt.Sprintf("\x1b[%dA", up))
			}
			s.print("\x1b[J")
		case !parser.entered(): // Ctrl-D
			s.quit = true
			return true
		default:
			execute(line)
		}
		if s.quit || p.leave.Load() {
			return true
		}
	}
}

// lineWriter is what the line editor writes to. When the size of the terminal
// has changed the editor does not know where it is; what it writes then, to
// finish the line, is dropped.
type lineWriter struct {
	gprompt.ConsoleWriter
	p *promptState
}

func (w *lineWriter) Flush() error {
	if w.p.resized.Load() {
		w.ConsoleWriter = gprompt.NewStdoutWriter() // whose buffer is empty
		return nil
	}
	return w.ConsoleWriter.Flush()
}

// interruptible runs a line so that Ctrl-C and Ctrl-\ stop it and not the
// session.
func (s *session) interruptible(p *promptState, line string) int {
	ctx, stop := signal.NotifyContext(p.life, os.Interrupt, syscall.SIGQUIT)
	defer stop()
	code := s.line(ctx, line)
	if ctx.Err() == nil {
		return code
	}
	s.print("\n") // behind the ^C that the terminal wrote
	return max(code, exitInterrupted)
}

func plainColours() []gprompt.Option {
	c := gprompt.DefaultColor
	return []gprompt.Option{
		gprompt.OptionPrefixTextColor(c), gprompt.OptionPreviewSuggestionTextColor(c),
		gprompt.OptionSuggestionTextColor(c), gprompt.OptionSuggestionBGColor(c),
		gprompt.OptionSelectedSuggestionTextColor(c), gprompt.OptionSelectedSuggestionBGColor(c),
		gprompt.OptionDescriptionTextColor(c), gprompt.OptionDescriptionBGColor(c),
		gprompt.OptionSelectedDescriptionTextColor(c), gprompt.OptionSelectedDescriptionBGColor(c),
		gprompt.OptionScrollbarThumbColor(c), gprompt.OptionScrollbarBGColor(c),
	}
}

// banner greets, and says what there is to work with.
func (s *session) banner() {
	title := "PrecisionTool"
	if s.cfg.Version != "" {
		title += " " + s.cfg.Version
	}
	body := s.t("banner.data", s.data.root)
	if !isDir(s.data.root) {
		body = s.t("banner.nodata", s.data.root)
	}
	s.print(s.scr.panel(s.scr.bold(title), clean(body)))
	s.say("intro")
}
