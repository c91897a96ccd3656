// Package console is the face of the shell: how lines come in and how answers go
// out. It knows the terminal, not what commands do.
//
//   - Console writes messages and answers, Page shows long ones.
//   - Screen renders boxes and tables for the width there is.
//   - Console.Prompt edits lines at a terminal, Console.Script reads them from a
//     file or a pipe; both hand them to a Handler.
//   - Words, Commands and Quoted are the language of a command line.
package console

import (
	"context"
	"embed"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"precision/internal/msg"
	"precision/internal/progress"
)

//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Exit statuses of commands; that of a session is the worst.
const (
	OK          = 0
	Error       = 1 // also wrong options
	Nothing     = 2 // no data to answer from
	Below       = 3 // a gate does not let it pass
	Interrupted = 130
)

// Console is where a session reads its lines and shows its answers.
type Console struct {
	// Stdin gives lines, and is the terminal of an interactive session; Stdout
	// gets what commands show, Stderr messages.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Lang is the language of messages.
	Lang msg.Lang
	// Screen renders boxes and tables for Stdout.
	Screen *Screen
	// Unattended: commands follow by themselves, so that an answer does not stop at the end
	// of a page.
	Unattended bool
	// Explain says an error in the language of the session; nil takes its own text.
	Explain func(msg.Lang, error) string
	// Quit ends the session behind the line that set it.
	Quit bool

	fixed bool // the width was given
	// folded: messages are folded to the width, as it is that of the error output, too.
	folded bool
	// terminal: a person reads the output, so that long lists stop at the end
	// of a page and work shows its progress.
	terminal bool
	lost     error   // why an answer could not be written
	prompt   *prompt // of an interactive session, else nil
}

// New makes a console. Answers fit into width columns; 0 takes that of the
// terminal, and folds nothing in a pipe or a file. See Coloured for colours.
func New(stdin io.Reader, stdout, stderr io.Writer, width int, lang msg.Lang) *Console {
	c := &Console{Stdin: stdin, Stdout: stdout, Stderr: stderr, Lang: lang, fixed: width > 0}
	out, isFile := stdout.(*os.File)
	c.terminal = isFile && term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"
	c.Screen = NewScreen(stdout, width, Coloured(c.terminal))
	errs, isFile := stderr.(*os.File)
	c.folded = c.fixed || isFile && term.IsTerminal(int(errs.Fd()))
	c.Resize()
	return c
}

// Coloured reports whether to write colours: to a terminal, and with CLICOLOR_FORCE
// elsewhere, too; never with NO_COLOR, nor to a terminal that is dumb.
func Coloured(terminal bool) bool {
	force := os.Getenv("CLICOLOR_FORCE")
	return os.Getenv("NO_COLOR") == "" && (terminal && os.Getenv("TERM") != "dumb" || force != "" && force != "0")
}

// Resize takes over the width of the terminal, which may have changed.
func (c *Console) Resize() {
	if c.fixed || !c.terminal {
		return
	}
	if w := Columns(); w > 0 {
		c.Screen.Width = max(w, 20)
		return
	}
	if w, _, err := term.GetSize(int(c.Stdout.(*os.File).Fd())); err == nil && w > 0 {
		c.Screen.Width = max(w, 20)
	}
}

// Columns is the width that the user asks for in COLUMNS, 0 for none: it goes before that of the terminal.
func Columns() int {
	w, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil {
		return 0
	}
	return max(w, 0)
}

// Interactive reports whether a person sits at both ends.
func (c *Console) Interactive() bool {
	in, ok := c.Stdin.(*os.File)
	return ok && c.terminal && term.IsTerminal(int(in.Fd()))
}

// T is a message in the language of the session.
func (c *Console) T(key string, args ...any) string {
	for i, a := range args {
		if err, ok := a.(error); ok && c.Explain != nil {
			args = slices.Clone(args)
			args[i] = c.Explain(c.Lang, err)
		}
	}
	return c.Lang.T(key, args...)
}

// Print writes to the output of the session. What is wider than it is wrapped.
func (c *Console) Print(text string) { c.PrintWhole(c.Screen.Wrap(text)) }

// PrintWhole writes lines that are not wrapped, such as commands to be copied.
func (c *Console) PrintWhole(text string) {
	if _, err := io.WriteString(c.Stdout, text); err != nil && c.lost == nil {
		c.lost = err
	}
}

// End is the exit status of a session whose commands had the status code: an
// answer that could not be written is an error.
func (c *Console) End(code int) int {
	if c.lost == nil {
		return code
	}
	c.Fail("error", c.lost)
	return max(code, Error)
}

// Say writes a message as an answer on the output; Info, Warn and Fail write it
// with its level to the error output. Fail is the exit status of an error, Lack that of having
// nothing to answer from.
func (c *Console) Say(key string, args ...any)  { c.Print(Clean(c.T(key, args...)) + "\n") }
func (c *Console) Info(key string, args ...any) { c.Log("[INFO] ", c.T(key, args...)) }
func (c *Console) Warn(key string, args ...any) { c.Log("[WARNING] ", c.T(key, args...)) }
func (c *Console) Fail(key string, args ...any) int {
	c.Log("[ERROR] ", c.T(key, args...))
	return Error
}
func (c *Console) Lack(key string, args ...any) int { c.Fail(key, args...); return Nothing }

// Log writes a text with its level to the error output.
func (c *Console) Log(level, text string) {
	text = level + strings.TrimRight(Clean(text), "\n")
	if c.folded {
		text = c.Screen.Wrap(text)
	}
	io.WriteString(c.Stderr, text+"\n")
}

// Failed tells of an error and is the exit status it means.
func (c *Console) Failed(ctx context.Context, err error) int {
	if ctx.Err() != nil {
		c.Fail("interrupted")
		return Interrupted
	}
	return c.Fail("error", err)
}

// Bar is a progress bar on the error output, nil if that is no terminal.
func (c *Console) Bar(label string) *progress.Bar {
	if f, ok := c.Stderr.(*os.File); ok {
		return progress.New(f, label)
	}
	return nil
}

// recovered tells of a panic in what is named.
func (c *Console) recovered(what string, p any) {
	c.Fail("panic", what, p)
	c.Log("", shortStack())
}

// Guard runs a command so that a panic in it is an error of that command only.
func (c *Console) Guard(name string, run func() int) (code int) {
	defer func() {
		if p := recover(); p != nil {
			c.recovered(name, p)
			code = Error
		}
	}()
	return run()
}

// shortStack is where a panic came from: the innermost places of this module.
func shortStack() string {
	var places []string
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "precision/") && !strings.HasSuffix(f.File, "recover.go") {
			places = append(places, "  "+f.Function+" ("+filepath.Base(f.File)+":"+strconv.Itoa(f.Line)+")")
		}
		if !more || len(places) == 8 {
			return strings.Join(places, "\n")
		}
	}
}
