package h5

import (
	"errors"
	"fmt"
)

// ErrNotFound is wrapped by the errors for a name that a group or an object's
// attributes do not have.
var ErrNotFound = errors.New("not found")

// ErrCycle is wrapped by the error Walk passes on for a group that contains
// itself.
var ErrCycle = errors.New("group contains itself")

// ErrLimit is wrapped by errors for a file that is nested too deeply, holds
// too many objects, or states sizes its bytes cannot back.
var ErrLimit = errors.New("limit exceeded")

// FormatError tells where the bytes of a file differ from the HDF5 format.
type FormatError struct {
	Offset   int64  // absolute, in bytes from the start of the file
	What     string // the structure or field being read
	Found    string
	Expected string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("hdf5: offset %#x: %s: found %s, expected %s", e.Offset, e.What, e.Found, e.Expected)
}

// Pos is where it was found out; the file is not known here.
func (e *FormatError) Pos() (string, int64) { return "", e.Offset }

// UnsupportedError tells of a part of the HDF5 format that is valid, or may be,
// and that this package does not read.
type UnsupportedError struct {
	Offset  int64 // absolute, in bytes from the start of the file
	Feature string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("hdf5: offset %#x: %s: not supported", e.Offset, e.Feature)
}

// bad builds a FormatError for the structure at addr, relative to the base address.
func (s *source) bad(addr uint64, what, found, expected string) error {
	return &FormatError{Offset: s.abs(addr), What: what, Found: found, Expected: expected}
}
