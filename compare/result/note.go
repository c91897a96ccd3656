package result

import (
	"strconv"

	"precision/compare/metric"
)

// NoteReason turns what the metric core has to say of a pair into a reason.
// left and right are the names of the two tensors, which notes about one of
// them name.
func NoteReason(n metric.Note, left, right string) Reason {
	side := left
	if n.Side == metric.Golden {
		side = right
	}
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	switch n.Kind {
	case metric.NoteScalar:
		if n.Numerics == metric.Reference {
			return Because(NoteScalarOld)
		}
		return Because(NoteScalar)
	case metric.NoteAllZero:
		return Because(NoteAllZero, side)
	case metric.NoteInfinite:
		return Because(NoteInfinite, side)
	case metric.NoteBoolean:
		return Because(NoteBoolean, n.Metric.String())
	case metric.NoteBooleanDifference:
		return Because(NoteDifference, n.Metric.String())
	case metric.NoteNoMaximum:
		return Because(NoteNoMaximum, n.Metric.String())
	case metric.NoteEmpty:
		return Because(NoteEmpty)
	case metric.NoteNothingFinite:
		return Because(NoteNotFinite, count(n.Count))
	case metric.NoteDisagree:
		return Because(NoteDisagree, count(n.Count), count(n.Of), count(n.Index), short(n.X), short(n.Y))
	case metric.NoteZeroGolden:
		return Because(NoteZeroGolden, count(n.Count), count(n.Of), short(n.Largest))
	case metric.NoteRounded:
		return Because(NoteRounded, count(n.Count), count(n.Of))
	}
	return Because(Text, "note "+strconv.Itoa(int(n.Kind))+" about "+n.Metric.String())
}

// short writes v with as many digits as float32 values need to be told apart.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
