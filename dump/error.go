package dump

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Exit codes of msaccucmp.py for what can be wrong with recordings.
const (
	CodePath      = 3  // no such path, not readable, of the wrong kind
	CodeInvalid   = 11 // a file is not what its kind demands
	CodeFolder    = 18 // no dumps in a folder, or dumps of different kinds
	CodeType      = 21 // the element type cannot be read
	CodeTaskType  = 37 // a task type in a file name that is not known
	CodeSize      = 39 // a file too small for a dump, or a compact dump of the wrong size
	CodeShape     = 40 // the elements do not fill the shape
	CodeSlices    = 42 // thread slices that do not match the tensors
	CodeMalformed = 47 // a compact dump whose blocks do not parse
)

// Error tells what is wrong with a file, a folder or a tensor.
type Error struct {
	// Path is the file or folder.
	Path string
	// Code is the exit code msaccucmp.py uses for the like.
	Code int
	// Offset is the place in the file in bytes, -1 when it has none.
	Offset int64
	// Text says what was found and what was expected.
	Text string
	// Err is the cause, if there is one.
	Err error
	// Format and Args are what Text was made of, for those who say it in other words.
	Format string
	Args   []any
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, ": offset %d", e.Offset)
	}
	if e.Text != "" {
		b.WriteString(": " + e.Text)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Pos is where it was found out, for those who name what is damaged.
func (e *Error) Pos() (string, int64) { return e.Path, e.Offset }

// Code returns the exit code in err, and 1 for an error that has none.
func Code(err error) int {
	var e *Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.Code
	}
	return 1
}

func errorf(path string, code int, offset int64, format string, args ...any) *Error {
	return &Error{Path: path, Code: code, Offset: offset, Text: fmt.Sprintf(format, args...), Format: format, Args: args}
}

// readError is for bytes that ought to be there.
func readError(path string, offset int64, n, want int, err error) *Error {
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &Error{Path: path, Code: CodeInvalid, Offset: offset, Text: fmt.Sprintf("read %d bytes, expected %d", n, want), Err: err}
}

// Warning tells of something that was passed over or repaired.
type Warning struct {
	// Path is the file it is about.
	Path string
	// Code is the exit code msaccucmp.py would have ended with, 0 when it
	// would have gone on.
	Code int
	// Text says what was found and what was done.
	Text string
	// Format and Args are what Text is made of, for those who say it in another language;
	// Format is empty where it is not made so.
	Format string
	Args   []any

	more int // how many it stands for, of a list that has enough
}

// Warnf makes a warning about a file.
func Warnf(path string, code int, format string, args ...any) Warning {
	return Warning{Path: path, Code: code, Text: fmt.Sprintf(format, args...), Format: format, Args: args}
}

func (w Warning) String() string { return w.Path + ": " + w.Text }

// Error is String: a warning can be told as an error is.
func (w Warning) Error() string { return w.String() }

// MostWarnings is how many warnings a list holds; one more counts the others.
// A damaged file can have one on each of a million lines.
const MostWarnings = 100

// Warn appends a warning to a list, or where that has enough counts it in the last
// one, which keeps the first exit code of those it stands for.
func Warn(list []Warning, w Warning) []Warning {
	if len(list) < MostWarnings {
		return append(list, w)
	}
	if len(list) == MostWarnings || list[MostWarnings].more == 0 {
		list = append(list[:MostWarnings:MostWarnings], append([]Warning{{Path: w.Path}}, list[MostWarnings:]...)...)
	}
	last := &list[MostWarnings]
	last.more++
	if last.Code == 0 {
		last.Code = w.Code
	}
	last.Format, last.Args = "%d more warnings like these", []any{last.more}
	last.Text = fmt.Sprintf(last.Format, last.Args...)
	return list
}
