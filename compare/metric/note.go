package metric

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
