package metric

import (
	"fmt"
	"strconv"
)

// Text renders the note as the sentence that msaccucmp.py has for it. The files
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
