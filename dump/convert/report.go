package convert

import (
	"cmp"
	"fmt"
	"strconv"

	"precision/dump"
)

// Group is a list of parts in a recording.
type Group uint8

const (
	Whole Group = iota // the recording itself
	Input              // its tensors
	Output
	Buffer // its bytes
	Space
)

// Part is one part of a recording.
type Part struct {
	Group Group
	Index int
}

// String is the part as the list of failures names it, such as "input:0"; it is
// empty for a whole recording.
func (p Part) String() string {
	if p.Group == Whole {
		return ""
	}
	return p.Group.String() + ":" + strconv.Itoa(p.Index)
}

func (g Group) String() string {
	return [...]string{Whole: "file", Input: "input", Output: "output", Buffer: "buffer", Space: "space"}[g]
}

// Written is a file that was written.
type Written struct {
	// Path is where it is. Name is the name it was to have; they differ if that
	// was too long.
	Path, Name string
}

// Failure is a part that was not written.
type Failure struct {
	Part Part
	// Code is the exit code it means. With [Options.Compat] it is that of
	// msaccucmp.py, which is 0 for some failures.
	Code int
	Err  error
}

// FileReport tells what became of one recording.
type FileReport struct {
	Path string
	// Written and Failures are in the order inputs, outputs, buffers, spaces.
	Written  []Written
	Failures []Failure
	// Warnings tell what was repaired, or done otherwise than one may expect.
	Warnings []dump.Warning
	// Code is the exit code of this file.
	Code int
}

// Report tells what became of all recordings.
type Report struct {
	// Files are in the order in which they were given, without those that were
	// not begun when the run was interrupted.
	Files []*FileReport
	// Errors tell what is wrong with the list of failures and the mapping of long names.
	Errors []*dump.Error
}

// Code is the exit code of the run: that of the first file that has one.
func (r *Report) Code() int {
	for _, f := range r.Files {
		if f.Code != 0 {
			return f.Code
		}
	}
	if len(r.Errors) > 0 {
		return r.Errors[0].Code
	}
	return 0
}

// Failed counts the recordings of which something could not be written, and
// all parts that were not.
func (r *Report) Failed() (files, parts int) {
	for _, f := range r.Files {
		if len(f.Failures) > 0 {
			files++
		}
		parts += len(f.Failures)
	}
	return files, parts
}

func (f *FileReport) warnf(format string, args ...any) {
	f.Warnings = dump.Warn(f.Warnings, dump.Warning{Path: f.Path, Text: fmt.Sprintf(format, args...)})
}

// fail records what is wrong with a part; its exit code is code.
func (f *FileReport) fail(p Part, code int, err error) {
	f.Failures = append(f.Failures, Failure{p, code, err})
}

// settle decides the exit code. A type that msaccucmp.py cannot read ends the
// conversion before all else. After that, with a layout, the last failed
// output counts, or else the last failed input; without, the first failure.
func (f *FileReport) settle(formatted bool) {
	var first, input, output, other int
	for _, x := range f.Failures {
		switch {
		case x.Code == 0:
			continue
		case x.Code == dump.CodeType:
			f.Code = dump.CodeType
			return
		case x.Part.Group == Input:
			input = x.Code
		case x.Part.Group == Output:
			output = x.Code
		default:
			other = x.Code
		}
		first = cmp.Or(first, x.Code)
	}
	f.Code = first
	if formatted {
		for _, code := range []int{input, output, other} {
			if code != 0 {
				f.Code = code
			}
		}
	}
}
