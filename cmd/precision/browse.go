package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"golang.org/x/term"

	"precision/browse"
	"precision/console"
	"precision/internal/desktop"
	"precision/run/explain"
)

// browseCommand shows a result in the terminal, to be moved through with keys.
func browseCommand(ctx context.Context, e env, args []string) (int, error) {
	set, _ := e.options("browse")
	files, err := parseMixed(set, args)
	switch {
	case err != nil:
		return helpOr(e, "browse", set, err)
	case len(files) > 1:
		return exitUsage, explain.Say("err.browse.files", len(files), strings.Join(files, ", "))
	case len(files) == 0:
		found, err := e.result()
		misused(err)
		files = []string{found}
	}
	out, _ := e.stdout.(*os.File)
	tty := out != nil && term.IsTerminal(int(out.Fd()))
	err = browse.Run(ctx, browse.Config{Path: files[0], Lang: e.language(), In: os.Stdin, Out: e.stdout, Colour: console.Coloured(tty), Show: desktop.Open})
	switch {
	case errors.Is(err, browse.ErrNoTerminal):
		return exitUsage, explain.Say("err.browse.terminal", files[0])
	case err != nil:
		return exitError, err
	}
	return exitOK, nil
}
