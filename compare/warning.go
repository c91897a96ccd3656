package compare

import (
	"fmt"
	"strings"

	"precision/dump"
	"precision/graph"
)

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

func (w *StrangersWarning) Error() string {
	more := ""
	if w.Strangers > len(w.Some) {
		more = ", …"
	}
	text := fmt.Sprintf("%d of the %d operators in %s are not in the graph %s, or are of another type there (%s%s)", w.Strangers, w.Of, w.Dir, w.Graph, strings.Join(w.Some, ", "), more)
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
func texts(warnings []error) []string {
	var list []string
	for _, w := range warnings {
		list = append(list, w.Error())
	}
	return list
}
