package graph

import (
	"fmt"
	"strconv"
	"strings"
)

// CodeRuleFile is the exit code that comparison tools of this family use for a graph or rule file
// that cannot be understood.
const CodeRuleFile = 13

// Error is a graph file that cannot be used, with the place of the fault.
type Error struct {
	Path   string // file as given to Open, or the name given to Read; may be empty
	Line   int    // line from 1, 0 if unknown or the source is binary
	Offset int64  // byte offset from 0, -1 if unknown
	Code   int    // exit code, CodeRuleFile for every fault of content
	Msg    string // what was found and what was expected
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteByte(':')
	}
	switch {
	case e.Line > 0:
		b.WriteString(strconv.Itoa(e.Line))
		b.WriteString(": ")
	case e.Offset >= 0:
		fmt.Fprintf(&b, "offset %d: ", e.Offset)
	case b.Len() > 0:
		b.WriteByte(' ')
	default:
		b.WriteString("graph: ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

// Warning is something a reader passed over: the file is usable, but not everything in it was
// understood.
type Warning struct {
	Path   string
	Line   int   // line from 1, 0 if unknown
	Offset int64 // byte offset, -1 if unknown
	Msg    string
}

func (w Warning) String() string {
	return (&Error{Path: w.Path, Line: w.Line, Offset: w.Offset, Msg: w.Msg}).Error()
}

// maxWarnings bounds what one hostile file can make a reader remember.
const maxWarnings = 50
