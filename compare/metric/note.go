package metric

import (
	"fmt"
	"strconv"
)

// Side tells the two tensors of a pair apart.
type Side uint8

const (
	Mine   Side = iota // x, the left side
	Golden             // y, the ground truth
)

// NoteKind is what a note is about.
type NoteKind uint8

const (
	// NoteScalar: the tensor is a scalar, of which a cosine says nothing.
	NoteScalar NoteKind = iota
	// NoteAllZero: Side has no element but 0, so there is no cosine.
	NoteAllZero
	// NoteInfinite: the divergence is infinite (Reference numerics).
	NoteInfinite
	// NoteBoolean: Metric is not defined for booleans (Reference numerics).
	NoteBoolean
	// NoteBooleanDifference: the distance of booleans needs differences, and
	// there are none (Reference numerics).
	NoteBooleanDifference
	// NoteNoMaximum: the maximum of no elements (Reference numerics).
	NoteNoMaximum
	// NoteEmpty: the tensors have no elements (Exact numerics).
	NoteEmpty
	// NoteNothingFinite: all Count elements are not finite, and agree (Exact
	// numerics).
	NoteNothingFinite
	// NoteDisagree: Count elements of Of are not finite on one side at least,
	// and do not agree; the first is number Index, with the values X and Y
	// (Exact numerics).
	NoteDisagree
	// NoteZeroGolden: Count elements differ where golden is 0, by up to
	// Largest, and have no relative error (Exact numerics).
	NoteZeroGolden
	// NoteRounded: Count integers of more than 53 bits were compared as the float64
	// next to them, since the other side has fractions (Exact numerics).
	NoteRounded
)

// Note is something to know about the values of a pair: a warning, as data.
type Note struct {
	Kind     NoteKind
	Numerics Numerics
	// Metric is the (first selected) metric that the note is about.
	Metric Metric
	Side   Side // NoteAllZero
	// Count is a number of elements, out of Of.
	Count, Of int64
	Index     int64
	X         float64 `column:"left"`
	Y         float64 `column:"right"`
	Largest   float64
}

// Text renders the note as the sentence that result tables show. The files
// are named by notes about one of them.
func (n Note) Text(mineFile, goldenFile string) string {
	file := mineFile
	if n.Side == Golden {
		file = goldenFile
	}
	switch n.Kind {
	case NoteScalar:
		if n.Numerics == Reference {
			return "This tensor is scalar."
		}
		return "This tensor is scalar. Its relative error tells more than a cosine."
	case NoteAllZero:
		return "Cannot compare by Cosine Similarity. All the data is zero in " + file + "."
	case NoteInfinite:
		return "Cannot compare by KL Divergence. The data contains 0 in " + file + "."
	case NoteBoolean:
		return "Algorithm " + n.Metric.String() + " does not support Boolean types."
	case NoteBooleanDifference:
		return n.failed("numpy boolean subtract, the `-` operator, is not supported, " +
			"use the bitwise_xor, the `^` operator, or the logical_xor function instead.")
	case NoteNoMaximum:
		return n.failed("zero-size array to reduction operation maximum which has no identity")
	case NoteEmpty:
		return "The tensor has no elements."
	case NoteNothingFinite:
		return fmt.Sprintf("None of the %d elements is finite. They agree on both sides.", n.Count)
	case NoteDisagree:
		return fmt.Sprintf("%d of %d elements disagree in NaN or Inf. The first is element %d: %s instead of %s.",
			n.Count, n.Of, n.Index, short(n.X), short(n.Y))
	case NoteZeroGolden:
		return fmt.Sprintf("%d of %d elements differ where the ground truth is 0 and have no relative error. "+
			"Their largest absolute error is %s.", n.Count, n.Of, short(n.Largest))
	case NoteRounded:
		return fmt.Sprintf("%d of %d elements are integers of more than 53 bits and were rounded to be compared with fractions.", n.Count, n.Of)
	}
	return fmt.Sprintf("note %d about %s", n.Kind, n.Metric)
}

func (n Note) failed(why string) string {
	return "Failed to execute 'compare' in '" + n.Metric.String() + "'. " + why
}

// short writes v with as many digits as float32 values need to be told apart.
func short(v float64) string {
	return strconv.FormatFloat(v, 'g', 9, 64)
}
