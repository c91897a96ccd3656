package console

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	gprompt "github.com/c-bata/go-prompt"
	"github.com/charmbracelet/lipgloss"
	"golang.org/x/term"
)

// exitSignal is the exit status of a session that a signal ended, less the
// number of the signal, as system shells have it.
const exitSignal = 128

// prompt is the terminal of an interactive session: the state it had, and
// who is to know of signals.
//
// The line editor leaves much to its caller. It changes the state of the
// terminal and does not always put it back, it panics without a terminal, and
// its main loop handles signals in ways that can hang or end the program. So
// it is asked for one line at a time, signals are handled here, and the state
// is saved before the first prompt and put back on every way out.
type prompt struct {
	in    *os.File
	saved *term.State
	// life ends with SIGTERM or SIGHUP, and with it every command and child.
	life context.Context
	// leave makes the line editor return before the line is complete.
	leave atomic.Bool
	// typed tells whether there was something on the line before the key that the editor is at:
	// it belongs to the editor, which reads keys ahead.
	typed bool
	// resized makes it return to take up the new size of the terminal: another than it was
	// drawn for.
	resized atomic.Bool
	drawn   atomic.Pointer[gprompt.WinSize]
	// searching makes it return to look for a line in the history.
	searching atomic.Bool
	// cursor is where the cursor stands: columns of the prompt and of the text in
	// front of it.
	cursor atomic.Int64
	// signal is the number of the signal that ended the session, else 0.
	signal atomic.Int32
	worst  int
}

// away reports whether the line editor is to return and go on with the same line later.
func (p *prompt) away() bool { return p.resized.Load() || p.searching.Load() }

// size is the size of the terminal, 80 by 24 if it does not tell.
func (p *prompt) size() gprompt.WinSize {
	w, h, err := term.GetSize(int(p.in.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		w, h = 80, 24
	}
	return gprompt.WinSize{Row: uint16(h), Col: uint16(w)}
}

// changed reports whether the terminal has another size than the editor draws for. It is asked before
// every key: the signal of a change may come to a busy program after the next key.
func (p *prompt) changed() bool {
	if drawn := p.drawn.Load(); drawn != nil && *drawn != p.size() {
		p.resized.Store(true)
	}
	return p.resized.Load()
}

// restore puts the terminal into the state it had at the start.
func (p *prompt) restore() {
	if p != nil && p.saved != nil {
		term.Restore(int(p.in.Fd()), p.saved)
	}
}

// Handler is what an interactive session does with its lines.
type Handler struct {
	// History is the file that keeps the lines typed, "" for none.
	History string
	// Greet is called once before the first prompt, Before in front of every one.
	Greet, Before func()
	// Complete suggests what can come next behind the text before the cursor.
	Complete func(before string) []Suggestion
	// Line runs a line and returns its exit status. Ctrl-C cancels ctx.
	Line func(ctx context.Context, line string) int
}

// Suggestion is a word that can stand where the cursor is, and what it is.
type Suggestion = gprompt.Suggest

// Prompt is an interactive session. It ends with Quit, Ctrl-D, SIGTERM and SIGHUP,
// whatever ctx is made of, and returns the worst exit status of its lines.
func (c *Console) Prompt(ctx context.Context, h Handler) (code int) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	in := c.Stdin.(*os.File)
	saved, err := term.GetState(int(in.Fd()))
	if err != nil {
		c.Warn("error", err)
		return c.Script(life, in, h.Line)
	}
	p := &prompt{in: in, saved: saved, life: life}
	c.prompt = p
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

	h.Greet()
	lines := OpenHistory(h.History)
	c.tellHistory(lines)
	for !c.Quit && life.Err() == nil && !p.leave.Load() {
		if !c.edit(p, lines, &h) {
			return max(p.worst, c.Script(life, in, h.Line))
		}
	}
	p.restore()
	if n := p.signal.Load(); n != 0 {
		return exitSignal + int(n)
	}
	c.Print(c.T("bye") + "\n")
	return p.worst
}

// ForChild is the context for a program that has the terminal: in an interactive
// session Ctrl-C reaches it by itself, and what it does then is its own affair.
func (c *Console) ForChild(ctx context.Context) context.Context {
	if c.prompt == nil {
		return ctx
	}
	return c.prompt.life
}

// Restore puts the terminal of an interactive session into the state it had at
// the start.
func (c *Console) Restore() { c.prompt.restore() }

// tellHistory says once why lines are not kept.
func (c *Console) tellHistory(h *History) {
	if h.err != nil {
		c.Warn("history.failed", h.err)
		h.err = nil
	}
}

// edit runs the line editor until the session is to end, or until the editor
// fails, which is a bug of it: the session goes on with a new one. It returns
// false if there is no terminal to edit on.
func (c *Console) edit(p *prompt, lines *History, h *Handler) (ok bool) {
	ok = true
	started := false
	var parser *lineParser
	defer func() {
		if e := recover(); e != nil {
			if parser != nil {
				parser.close()
			}
			p.restore()
			c.recovered("prompt", e)
			ok = started
		}
	}()
	options := []gprompt.Option{
		gprompt.OptionPrefix(PromptText),
		gprompt.OptionTitle("PrecisionTool"),
		gprompt.OptionHistory(lines.lines),
		gprompt.OptionCompletionWordSeparator(" "),
		gprompt.OptionWriter(&lineWriter{gprompt.NewStdoutWriter(), p}),
		gprompt.OptionMaxSuggestion(8),
		// Ctrl-C leaves from an empty line, and drops one that is not.
		gprompt.OptionAddKeyBind(gprompt.KeyBind{Key: gprompt.ControlC, Fn: func(*gprompt.Buffer) {
			if !p.typed {
				p.leave.Store(true)
			}
		}}),
		gprompt.OptionSetExitCheckerOnInput(func(text string, _ bool) bool {
			if p.typed = text != ""; !p.typed && !p.away() {
				p.cursor.Store(promptWidth)
			}
			return p.leave.Load() || p.away()
		}),
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
		lines.add(line)
		c.tellHistory(lines)
		p.worst = max(p.worst, c.interruptible(p, h, line))
		p.restore() // a child may have died without doing so
	}
	editor := gprompt.New(nil, func(d gprompt.Document) []gprompt.Suggest {
		// The editor also asks with an empty text, before it looks at a key.
		if d.Text != "" {
			p.typed = true
			if !p.away() { // else the editor only resets its list
				p.cursor.Store(int64(lipgloss.Width(PromptText + d.TextBeforeCursor())))
			}
		}
		return h.Complete(d.TextBeforeCursor())
	}, options...)
	started = true
	p.typed = false
	p.cursor.Store(promptWidth)
	for {
		h.Before()
		line := editor.Input()
		switch {
		case p.leave.Load():
			return true
		case p.resized.Swap(false):
			// The editor goes on with the same line, which the terminal has wrapped
			// anew.
			c.wipe(p, parser)
		case p.searching.Swap(false):
			c.wipe(p, parser)
			k := &keys{c: c, typed: parser.take()}
			parser.give(c.searchHistory(lines.lines, k) + k.typed)
		case !parser.entered(): // Ctrl-D
			c.Quit = true
			return true
		default:
			execute(line)
			p.typed = false
			p.cursor.Store(promptWidth)
		}
		if c.Quit || p.leave.Load() {
			return true
		}
	}
}

// wipe takes the line of the editor off the screen.
func (c *Console) wipe(p *prompt, parser *lineParser) {
	c.PrintWhole("\r")
	if up := p.cursor.Load() / int64(parser.GetWinSize().Col); up > 0 {
		c.PrintWhole(fmt.Sprintf("\x1b[%dA", up))
	}
	c.PrintWhole("\x1b[J")
}

// lineWriter is what the line editor writes to. When the size of the terminal
// has changed the editor does not know where it is, and when the history is searched the
// line is wiped; what the editor writes then, to finish the line, is dropped.
type lineWriter struct {
	gprompt.ConsoleWriter
	p *prompt
}

func (w *lineWriter) Flush() error {
	if w.p.away() {
		w.ConsoleWriter = gprompt.NewStdoutWriter() // whose buffer is empty
		return nil
	}
	return w.ConsoleWriter.Flush()
}

// interruptible runs a line so that Ctrl-C and Ctrl-\ stop it and not the
// session.
func (c *Console) interruptible(p *prompt, h *Handler, line string) int {
	ctx, stop := signal.NotifyContext(p.life, os.Interrupt, syscall.SIGQUIT)
	defer stop()
	code := h.Line(ctx, line)
	if ctx.Err() == nil {
		return code
	}
	c.Print("\n") // behind the ^C that the terminal wrote
	return max(code, Interrupted)
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
