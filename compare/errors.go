package compare

import (
	"fmt"
	"strings"
)

// Errors of a job are data: which side, which folder, what was found. They name
// no option; a program that has options adds them.

// SideError is what is wrong with one of the two sides.
type SideError struct {
	// Right tells which side it is.
	Right bool
	// Path is what was named; Choices are the data folders below it where there
	// are several, and Err what else is wrong.
	Path    string
	Choices []string
	Err     error
}

func (e *SideError) Error() string {
	if len(e.Choices) > 0 {
		return fmt.Sprintf("%s side: %s holds several data folders, choose one:\n  %s", e.Side(), e.Path, strings.Join(e.Choices, "\n  "))
	}
	return fmt.Sprintf("%s side: %v", e.Side(), e.Err)
}

func (e *SideError) Unwrap() error { return e.Err }

// Side is the name of the side: left or right.
func (e *SideError) Side() string {
	if e.Right {
		return "right"
	}
	return "left"
}

// SwappedError: the left side holds golden arrays and the right one device dumps.
type SwappedError struct{ Arrays, Dumps string }

func (e *SwappedError) Error() string {
	return fmt.Sprintf("the sides are swapped: the left one, %s, holds golden arrays and the right one, %s, NPU dumps", e.Arrays, e.Dumps)
}

// GraphFolderError: none of the graphs in a folder belongs to the dumps.
type GraphFolderError struct {
	Dir, Dumps string
	Graphs     int
}

func (e *GraphFolderError) Error() string {
	return fmt.Sprintf("%s: none of its %d graphs belongs to the dumps in %s; name the file", e.Dir, e.Graphs, e.Dumps)
}

// ErrLoneGraph: a graph of the right side was given, and none of the left.
var ErrLoneGraph = fmt.Errorf("a graph of the right side needs the graph of the left side too")
