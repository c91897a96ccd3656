package layout

import (
	"errors"
	"fmt"
)

// The kinds of failure of this package, for errors.Is. The error returned
// carries the layouts and shapes; see [Error], [NZShapeError], [SliceError].
var (
	// ErrNoConverter: no mapping is known between the two layouts.
	ErrNoConverter = errors.New("no conversion between these layouts")
	// ErrShapeShort: a stored or wanted shape has too few (or the wrong number
	// of) dimensions for the layout.
	ErrShapeShort = errors.New("wrong number of dimensions")
	// ErrExceeds: more elements are wanted along an axis than are stored.
	ErrExceeds = errors.New("wanted shape exceeds the stored one")
	// ErrMismatch: stored and wanted shape cannot belong to one tensor.
	ErrMismatch = errors.New("shapes do not agree")
	// ErrBadDim: a dimension is negative, or zero where it divides.
	ErrBadDim = errors.New("impossible dimension")
	// ErrTooBig: the product of the dimensions overflows 63 bits.
	ErrTooBig = errors.New("shape too large")
	// ErrGrouped: the weights of several groups are packed together, which no
	// strided view can undo; use [Packing].
	ErrGrouped = errors.New("grouped FRACTAL_Z is not strided")
	// ErrElemSize: elements of this size cannot be moved one by one.
	ErrElemSize = errors.New("element size is not 1, 2, 4, 8 or 16 bytes")
	// ErrRange: a tile lies outside the tensor, or a buffer is too small.
	ErrRange = errors.New("out of range")
)

// Error is a failure to plan a conversion between two layouts.
type Error struct {
	From, To     Format
	Stored, Want []int64 // as given; Want may be empty
	Detail       string  // what was found, "" when Err says it all
	Err          error   // one of the Err values of this package
}

// Error names both layouts, both shapes and what was found.
func (e *Error) Error() string {
	s := fmt.Sprintf("layout: %v %v to %v", e.From, e.Stored, e.To)
	if len(e.Want) > 0 {
		s += fmt.Sprintf(" %v", e.Want)
	}
	s += ": " + e.Err.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the kind of the failure.
func (e *Error) Unwrap() error { return e.Err }

// NZShapeError says that a wanted shape cannot be the original shape of a
// FRACTAL_NZ tensor.
type NZShapeError struct {
	Stored []int64
	Want   []int64 // empty when no shape was given
	// Recommended is the padded shape: the largest one Stored can hold.
	Recommended []int64
	// Block holds the rows and columns of one fractal; a wanted row or column
	// count must lie less than this below the recommended one.
	Block [2]int64
}

func (e *NZShapeError) Error() string {
	if len(e.Want) == 0 {
		return fmt.Sprintf("layout: FRACTAL_NZ %v needs its original shape, at most %v", e.Stored, e.Recommended)
	}
	return fmt.Sprintf("layout: FRACTAL_NZ %v cannot hold the original shape %v: recommended %v, the last two dimensions less than %d and %d below it",
		e.Stored, e.Want, e.Recommended, e.Block[0], e.Block[1])
}

// Unwrap returns ErrShapeShort when no shape was given, else ErrMismatch.
func (e *NZShapeError) Unwrap() error {
	if len(e.Want) == 0 {
		return ErrShapeShort
	}
	return ErrMismatch
}

// SliceError says that one shape cannot be cut to another, position by
// position.
type SliceError struct {
	Have, Want []int64 // as compared, after padding with ones if that happened
}

func (e *SliceError) Error() string {
	return fmt.Sprintf("layout: cannot cut %v to %v", e.Have, e.Want)
}

// Unwrap returns ErrMismatch.
func (e *SliceError) Unwrap() error { return ErrMismatch }
