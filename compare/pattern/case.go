package pattern

import (
	"fmt"
	"iter"
	"math"

	"precision/dump/dtype"
)

// Case is one output of an operator: what was recorded and what it should be.
// Slices are read, never changed or kept.
type Case struct {
	// Got and Want hold the recorded and the expected numbers in the row-major
	// order of Shape, in the logical (origin) layout without block padding.
	Got, Want []float64
	// At is nil when every element is known. Else Want[i] (and Bound[i]) belongs
	// to the element with the flat index At[i], ascending; Got then is either
	// of the length of At or, which lets more hypotheses be tried, whole.
	At []int64
	// Bound is how far each element of Got may be from Want by rounding alone;
	// nil where that is unknown, as against a golden run. NaN and Inf mean that
	// nothing can be said of an element.
	Bound []float64
	// Half is how far each element would be from Want at most if the operator had computed in half precision;
	// nil where that is unknown. Only within it an error looks like lower precision.
	Half []float64
	// Shape is the logical shape; empty stands for one axis.
	Shape []int64
	// Axes names the axes, as "NCHW"; may be empty.
	Axes string
	// Block is the size of the device layout's blocks along each axis of Shape, 0
	// or 1 for none: 0,16,0,0 for NC1HWC0, 16,16 for FRACTAL_NZ; may be empty.
	Block []int64
	// DType is the type Got was recorded in. Unknown types count as float32.
	DType dtype.Type
	// Other yields further tensors of the dump in the order they are worth
	// looking at (the operator's inputs, outputs of earlier operators): what
	// stale data may come from. May be nil. The package stops at MaxOther numbers.
	Other iter.Seq[Tensor]
	// Operands are the operator's inputs, for the causes of NaN and Inf. Those
	// that have as many numbers as Want, or one, are used.
	Operands []Tensor
	// Alternatives are expectations under other readings of the operator.
	Alternatives []Alternative
}

// Tensor is a named list of numbers in row-major order.
type Tensor struct {
	Name   string
	Values []float64
	// Input: it is an input of the operator itself.
	Input bool
	// Earlier: it is this very tensor in an earlier recording, as of the step before.
	Earlier bool
}

// Alternative is what the output would be if the operator had computed something
// else: without its bias, with sums in float16, with another epsilon. Its Kind
// and Args become those of the finding if it explains what was recorded.
type Alternative struct {
	Kind Kind
	Args any
	Want []float64 // of the length and order of Case.Want
	// Bound is how far rounding may take the recorded numbers from this Want; nil for that of the case.
	Bound []float64
}

// MaxOther bounds how many numbers of Case.Other are looked through.
const MaxOther = 1 << 28

// A CaseError tells which part of a [Case] does not fit the others.
type CaseError struct {
	Part       string // field of Case
	Found      int64  // its length or value
	Expected   int64
	Index      int // of Alternatives or At; else -1
	Impossible bool
}

func (e *CaseError) Error() string {
	part := e.Part
	if e.Index >= 0 {
		part = fmt.Sprintf("%s[%d]", part, e.Index)
	}
	if e.Impossible {
		return fmt.Sprintf("pattern: %s is %d, which no tensor has", part, e.Found)
	}
	return fmt.Sprintf("pattern: %s has %d elements, expected %d", part, e.Found, e.Expected)
}

// check returns the number of elements of the tensor.
func (c *Case) check() (int64, error) {
	total := int64(len(c.Got))
	if len(c.Shape) > 0 {
		total = 1
		for i, d := range c.Shape {
			if d < 0 || d > 0 && total > math.MaxInt64/d {
				return 0, &CaseError{Part: "Shape", Found: d, Index: i, Impossible: true}
			}
			total *= d
		}
	}
	n := int64(len(c.Want))
	switch {
	case c.At == nil && n != total:
		return 0, &CaseError{Part: "Want", Found: n, Expected: total, Index: -1}
	case c.At != nil && int64(len(c.At)) != n:
		return 0, &CaseError{Part: "At", Found: int64(len(c.At)), Expected: n, Index: -1}
	case int64(len(c.Got)) != total && (c.At == nil || int64(len(c.Got)) != n):
		return 0, &CaseError{Part: "Got", Found: int64(len(c.Got)), Expected: total, Index: -1}
	case c.Bound != nil && int64(len(c.Bound)) != n:
		return 0, &CaseError{Part: "Bound", Found: int64(len(c.Bound)), Expected: n, Index: -1}
	case c.Half != nil && int64(len(c.Half)) != n:
		return 0, &CaseError{Part: "Half", Found: int64(len(c.Half)), Expected: n, Index: -1}
	}
	last := int64(-1)
	for i, at := range c.At {
		if at <= last || at >= total {
			return 0, &CaseError{Part: "At", Found: at, Index: i, Impossible: true}
		}
		last = at
	}
	for i, a := range c.Alternatives {
		for _, v := range [][]float64{a.Want, a.Bound} {
			if int64(len(v)) != n && v != nil || a.Want == nil && n > 0 {
				return 0, &CaseError{Part: "Alternatives", Found: int64(len(v)), Expected: n, Index: i}
			}
		}
	}
	return total, nil
}
