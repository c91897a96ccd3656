package main

import (
	"errors"
	"strings"

	"precision/compare"
	"precision/run/explain"
)

// withOptions adds to an error of a comparison which options it is about.
func withOptions(err error) error {
	if _, named := err.(*explain.Said); named {
		return err // which names them itself
	}
	var side *compare.SideError
	var swapped *compare.SwappedError
	var graphs *compare.GraphFolderError
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
	case errors.Is(err, compare.ErrLoneGraph):
		return explain.Say("err.lone", err)
	}
	return err
}
