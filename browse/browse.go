// Package browse is the browser in the terminal: a result as lists that one moves through with keys, from the verdict to roots,
// operators and tensors, and from the ranks and steps of a job to the table of each. It shows what [run] opens and
// [report] says, and judges nothing.
//
// A book is a result with its lists, a page one of these or what a line of it leads to; the model knows keys and
// pages, and draws only what is seen, so that a key costs the same in a table of any size.
package browse

import (
	"context"
	"embed"
	"errors"
	"io"
	"os"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"

	"precision/internal/msg"
)

// Config is what the browser may touch of the outside.
type Config struct {
	// Path is a result: a table that compare saved, a check's, or the folder of a job.
	Path string
	Lang msg.Lang
	// In and Out are the terminal.
	In  io.Reader
	Out io.Writer
	// Colour allows colours.
	Colour bool
	// Show opens a page in a browser.
	Show func(path string) error
}

// ErrNoTerminal: there is nothing to draw on, or nobody to press keys.
var ErrNoTerminal = errors.New("browse needs a terminal")

// Run shows a result until the user leaves.
func Run(ctx context.Context, c Config) error {
	for _, f := range []any{c.In, c.Out} {
		if file, ok := f.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
			return ErrNoTerminal
		}
	}
	b, err := openBook(ctx, c.Lang, c.Path)
	if err != nil {
		return err
	}
	m := &model{lang: c.Lang, paint: painter{c.Colour}, books: []*book{b}, show: c.Show, copy: func(text string) { io.WriteString(c.Out, osc52.New(text).String()) }}
	_, err = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.In), tea.WithOutput(c.Out), tea.WithAltScreen(), tea.WithoutSignalHandler()).Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// texts are what this package says.
//
//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)
