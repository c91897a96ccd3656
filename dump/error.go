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
