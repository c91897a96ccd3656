package main

import (
	"errors"
	"fmt"
	"strings"

	"precision/compare"
)

// withOptions adds to an error of a comparison which options it is about.
func withOptions(err error) error {
	var side *compare.SideError
	var swapped *compare.SwappedError
	var graphs *compare.GraphFolderError
	switch {
	case errors.As(err, &side):
		option := map[bool]string{false: "-lt", true: "-rt"}[side.Right]
		return errors.New(strings.Replace(err.Error(), side.Side()+" side", side.Side()+" side ("+option+")", 1))
	case errors.As(err, &swapped):
		return fmt.Errorf("%w; exchange -lt and -rt", err)
	case errors.As(err, &graphs):
		return fmt.Errorf("%w with -g", err)
	case errors.Is(err, compare.ErrLoneGraph):
		return fmt.Errorf("%w: -cf goes with -g", err)
	}
	return err
}
