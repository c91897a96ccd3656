package engine

import (
	"fmt"
	"strings"

	"precision/dump"
	"precision/graph"
	"precision/internal/must"
)

// Fault is what sort of thing went wrong. A program decides what to exit with.
type Fault uint8

// The faults.
const (
	FaultOption        Fault = iota + 1 // an option that makes no sense
	FaultPath                           // a file or folder that cannot be opened or listed
	FaultNoDump                         // a side has no recording of an operator
	FaultParse                          // a file that is not of its format, or damaged
	FaultBadDump                        // a recording whose content cannot be used
	FaultRange                          // a number outside its range
	FaultType                           // an element type that cannot be read
	FaultLayout                         // layouts that cannot be brought together
	FaultShapes                         // shapes that do not fit
	FaultNames                          // datasets whose names are not those of a recording
	FaultNoCounterpart                  // an operator that stands for nothing on the other side
	FaultWrite                          // an output that cannot be written
	FaultDelete                         // an earlier output that cannot be removed
)

// Error is an error with its fault.
type Error struct {
	Fault Fault
	Text  string
	Err   error
}

func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Text
	case e.Text == "":
		return e.Err.Error()
	}
	return e.Text + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

func faultf(fault Fault, format string, args ...any) *Error {
	return &Error{Fault: fault, Text: fmt.Sprintf(format, args...)}
}

// wrong ends the work with a fault where something is bad, and faulty where there is an error, which is of that fault.
func wrong(bad bool, fault Fault, format string, args ...any) {
	if bad {
		must.Do(faultf(fault, format, args...))
	}
}

func faulty[E interface {
	comparable
	error
}](fault Fault, text string, err E) {
	var none E
	if err != none {
		must.Do(&Error{Fault: fault, Text: text, Err: err})
	}
}

// MissingError: no file of an operator was found.
type MissingError struct{ Op string }

func (e *MissingError) Error() string { return fmt.Sprintf("there is no file of operator %q", e.Op) }

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

// GraphFolderError: none of the graphs in a folder belongs to the dumps, none can be read, or there is none.
type GraphFolderError struct {
	Dir, Dumps string
	Graphs     int
	Unread     []graph.Warning // why files cannot be read
}

// Unreadable reports whether there are graphs, of which none can be read.
func (e *GraphFolderError) Unreadable() bool { return e.Graphs == 0 && len(e.Unread) > 0 }

func (e *GraphFolderError) Error() string {
	if e.Unreadable() {
		return fmt.Sprintf("%s: none of the %d graphs in it can be read, for example %s", e.Dir, len(e.Unread), e.Unread[0])
	}
	if e.Graphs == 0 {
		return e.Dir + ": no graph in this folder"
	}
	return fmt.Sprintf("%s: none of its %d graphs belongs to the dumps in %s; name the file", e.Dir, e.Graphs, e.Dumps)
}

// StrangeGraphError: a graph has next to nothing of what was dumped.
type StrangeGraphError struct {
	Graph     string
	Known, Of int // dumped operators
}

func (e *StrangeGraphError) Error() string {
	return fmt.Sprintf("%s: this graph does not belong to these dumps: %d of %d operators", e.Graph, e.Known, e.Of)
}

// ErrLoneGraph: a graph of the right side was given, and none of the left.
var ErrLoneGraph = fmt.Errorf("a graph of the right side needs the graph of the left side too")

// What a user should know that does not stop a run is told as errors, which have an
// English text, and from which faces make a text in another language.

// SideWarning is a warning about the files of a side.
type SideWarning struct {
	Right   bool
	Warning dump.Warning
}

func (w *SideWarning) Error() string { return sideName(!w.Right) + ": " + w.Warning.String() }

// GraphWarning tells what was passed over in reading the graphs of a folder.
type GraphWarning struct{ Warning graph.Warning }

func (w *GraphWarning) Error() string { return w.Warning.String() }

// StrangersWarning tells that operators of the dumps in Dir are not in the graph, or of another type there.
type StrangersWarning struct {
	Strangers, Of int // operators
	Dir, Graph    string
	Some          []string // names of the first strangers
}

// Most tells whether most operators are strangers: then the graph is hardly theirs.
func (w *StrangersWarning) Most() bool { return 2*w.Strangers > w.Of }

// First are those of the strangers that are told.
func (w *StrangersWarning) First() []string { return w.Some[:min(3, len(w.Some))] }

func (w *StrangersWarning) Error() string {
	more := ""
	first := w.First()
	if w.Strangers > len(first) {
		more = ", …"
	}
	text := fmt.Sprintf("%d of the %d operators in %s are not in the graph %s, or are of another type there (%s%s)", w.Strangers, w.Of, w.Dir, w.Graph, strings.Join(first, ", "), more)
	if w.Most() {
		text += "; is it the graph of another network or of another build?"
	}
	return text
}

// NotTakenWarning tells of a graph that lies beside the dumps and is not theirs.
type NotTakenWarning struct{ Err *StrangeGraphError }

func (w *NotTakenWarning) Error() string {
	return w.Err.Error() + "; it was found beside them and not taken"
}

// texts are the English texts of warnings.
func texts(warnings []error) (list []string) {
	for _, w := range warnings {
		list = append(list, w.Error())
	}
	return list
}

// sideName is what errors call a side.
func sideName(left bool) string {
	if left {
		return "left side"
	}
	return "right side"
}
