package main

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"

	"precision/browse"
	"precision/console"
	"precision/internal/desktop"
	"precision/run/explain"
)

// browseCommand shows a result in the terminal, to be moved through with keys.
func browseCommand(ctx context.Context, e env, args []string) (int, error) {
	set, _ := e.options("browse")
	path := e.resultOf(e.words("browse", set, args), "err.browse.files")
	out, _ := e.stdout.(*os.File)
	tty := out != nil && term.IsTerminal(int(out.Fd()))
	err := browse.Run(ctx, browse.Config{Path: path, Lang: e.language(), In: os.Stdin, Out: e.stdout, Colour: console.Coloured(tty), Show: desktop.Open})
	switch {
	case errors.Is(err, browse.ErrNoTerminal):
		return exitUsage, explain.Say("err.browse.terminal", path)
	case err != nil:
		return exitError, err
	}
	return exitOK, nil
}
