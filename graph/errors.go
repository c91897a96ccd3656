package graph

import (
	"fmt"
	"strconv"
	"strings"

	"precision/internal/scan"
)

// Fault says why a graph file cannot be used.
type Fault uint8

const (
	FaultContent Fault = iota // it cannot be understood, or lacks what was asked for
	FaultRead                 // reading it broke off
	FaultLimit                // it is larger or deeper than any real graph
	FaultCircle               // its graphs call each other in a circle
)

func (f Fault) String() string {
	return [...]string{"content", "read", "limit", "circle"}[min(f, FaultCircle)]
}

// Error is a graph file that cannot be used, with the place of the fault.
type Error struct {
	Path   string // file as given to Open, or the name given to Read; may be empty
	Line   int    // line from 1, 0 if unknown or the source is binary
	Offset int64  // byte offset from 0, -1 if unknown
	Fault  Fault
	Msg    Message // what was found and what was expected
}

// AtFault returns what ended a scan of the file at path.
func AtFault(path string, f *scan.Fault) *Error {
	e := &Error{Path: path, Line: f.Line, Offset: f.Offset, Msg: Messagef(f.Format, f.Args...)}
	if f.Err != nil {
		e.Fault = FaultRead
	}
	return e
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
	b.WriteString(e.Msg.Text)
	return b.String()
}

// FaultAt returns an error at a place as graphs and operators keep it.
func (m *Model) FaultAt(place int, msg Message) *Error {
	e := &Error{Path: m.Path, Offset: -1, Msg: msg}
	if m.Source == SourceBinary || m.Source == SourceOM {
		e.Offset = int64(place)
	} else {
		e.Line = place
	}
	return e
}

// Warning is something a reader passed over: the file is usable, but not everything in it was
// understood.
type Warning struct {
	Path   string
	Line   int   // line from 1, 0 if unknown
	Offset int64 // byte offset, -1 if unknown
	Msg    Message
}

func (w Warning) String() string {
	return (&Error{Path: w.Path, Line: w.Line, Offset: w.Offset, Msg: w.Msg}).Error()
}

// MaxWarnings bounds what one hostile file can make a reader remember.
const MaxWarnings = 50

// Other is what a file is that was taken for a graph.
type Other string

// What files are taken for graphs.
const (
	OtherNumpy  Other = "numpy"  // an array
	OtherHDF5   Other = "hdf5"   // a recording of PyTorch
	OtherZip    Other = "zip"    // such as a .pt or an .npz
	OtherDump   Other = "dump"   // of tensors, by a device
	OtherJSON   Other = "json"   // without a graph in it
	OtherText   Other = "text"   // without the fields of a graph
	OtherBinary Other = "binary" // anything else
)

// NotGraphError is a file that is no graph at all. Err is where reading it as one failed,
// nil if it was read and has none.
type NotGraphError struct {
	Path string
	Is   Other
	Err  error
}

func (e *NotGraphError) Error() string {
	return e.Path + ": " + e.Message().Text
}

// Message says what the file is, and not that there is an error in it.
func (e *NotGraphError) Message() Message {
	return Messagef("no GE graph, found a file of the kind %s; expected a ge_proto_*_Build.txt, its JSON, an .om or a ge_onnx_*.pbtxt", Term(e.Is))
}

func (e *NotGraphError) Unwrap() error { return e.Err }

// Message is what an error or a warning says: in English, and as what the sentence was made of. Package tell says it in
// another language, which knows it by its format.
type Message struct {
	Text   string
	Format string
	Args   []any // words that have a translation are Terms, parts of the sentence Messages
}

// Messagef makes a message as fmt.Sprintf makes a text.
func Messagef(format string, args ...any) Message {
	return Message{fmt.Sprintf(format, args...), format, args}
}

func (m Message) String() string { return m.Text }

// Term is a word of a message that other languages have another one for.
type Term = scan.Term
