package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"precision/compare/engine"
	"precision/compare/job"
	"precision/preflight"
	"precision/preflight/config"
	"precision/preflight/trainlog"
	"precision/run/explain"
)

// outcome is the exit status of a command that came to an error, to which it gave a status, and the error to print.
func outcome(ctx context.Context, code int, err error) (int, error) {
	_, said := err.(*explain.Message)
	var nothing *job.NothingError
	switch {
	case code != exitError:
	case ctx.Err() != nil && !said:
		return exitInterrupted, explain.Say("err.interrupted.plain")
	case ctx.Err() != nil:
		return exitInterrupted, err
	case errors.As(err, &nothing):
		return exitNoMatch, err
	}
	return code, withOptions(err)
}

// withOptions adds to an error of a comparison which options it is about.
func withOptions(err error) error {
	if _, named := err.(*explain.Message); named {
		return err // which names them itself
	}
	var side *engine.SideError
	var swapped *engine.SwappedError
	var graphs *engine.GraphFolderError
	var unknown *preflight.UnknownError
	var format *config.NoFormatError
	var nothing *trainlog.NothingError
	switch {
	case errors.As(err, &side):
		key := map[bool]string{false: "err.left", true: "err.right"}[side.Right]
		if len(side.Choices) > 0 {
			return explain.Say(key+".choices", side.Path, strings.Join(side.Choices, "\n  "))
		}
		return explain.Say(key, side.Err)
	case errors.As(err, &swapped):
		return explain.Say("err.swapped", err)
	case errors.As(err, &graphs) && graphs.Graphs > 0:
		return explain.Say("err.withg", err)
	case errors.As(err, &unknown):
		return explain.Say("err.preflight.unknown", unknown.Path, strconv.Quote(unknown.Begins))
	case errors.As(err, &format):
		return explain.Say("err.preflight.noformat", format.Path)
	case errors.As(err, &nothing):
		return explain.Say("err.preflight.nothing", nothing.Path, nothing.Lines)
	case errors.Is(err, engine.ErrLoneGraph):
		return explain.Say("err.lone", err)
	}
	return err
}
