package verdict

import (
	"precision/internal/order"
)

// Kind names a cause. Its text is its name in profiles, JSON and messages.
type Kind string

const (
	// NaN and Inf: elements that are NaN or infinite on one side, and not the
	// same on the other. They have no limit but the share they may have.
	NaN Kind = "nan"
	Inf Kind = "inf"
	// Cosine: the cosine similarity is below its limit.
	Cosine Kind = "cosine"
	// Distance: the relative Euclidean distance is above its limit.
	Distance Kind = "distance"
	// Zeros: one side is all zero, the other is not.
	Zeros Kind = "zeros"
	// Scalar: the relative error of a single element, or of a tensor whose
	// golden elements are all the same, is above its limit.
	Scalar Kind = "scalar"
	// Integers: integers, booleans or indices differ.
	Integers Kind = "integers"
	// Tolerance: more elements than allowed are outside |x-y| <= atol +
	// rtol·|y|.
	Tolerance Kind = "tolerance"
	// Form: a tensor against something else, another shape, or another sort of
	// numbers.
	Form Kind = "form"
	// Argument: an argument of a call is another.
	Argument Kind = "argument"
	// Alone: one side alone makes a call, which makes what it feeds differ.
	Alone Kind = "alone"
	// Given: an input of the network, or a weight, that the operator takes is another.
	Given Kind = "given"
	// Statistics: the statistics of two recordings are further apart than their
	// limit, relative to the size of the golden tensor.
	Statistics Kind = "statistics"
	// Imaginary: one side is complex and the other is not, so that imaginary
	// parts that are not all 0 were left out.
	Imaginary Kind = "imaginary"
	// Unexplained: recomputing the operator from its own inputs gives
	// something else, beyond any rounding. The value is error over bound.
	Unexplained Kind = "unexplained"
	// JumpDistance and JumpLargest: the distance, or the largest error over
	// the golden root mean square, is that many times what the inputs'
	// errors explain.
	JumpDistance Kind = "jump-distance"
	JumpLargest  Kind = "jump-largest"
	// Law: the output breaks a law that no error of the inputs excuses, as an
	// operator that only moves data and has other data behind it. The value
	// is in unit roundoffs.
	Law Kind = "law"
	// Saturated: golden values lie beyond the range of the left dtype, whose
	// end the left side holds there.
	Saturated Kind = "saturated"
	// Differs: both sides had the same to compute with, and do not have the same
	// result, however small the difference; or what was given to the network differs by so
	// little that all limits are met.
	Differs Kind = "differs"
	// NotFinite: NaN on both sides.
	NotFinite Kind = "not-finite"
	// Underflow: all golden values are below the smallest normal number of
	// the coarser dtype.
	Underflow Kind = "underflow"

	// Missing is no cause of a verdict: a waiver of it takes an output out of what
	// -gate=strict wants compared.
	Missing Kind = "uncompared"
)

// kinds lists the causes from the gravest to the lightest. A suspect kind does
// not make a tensor bad.
var kinds = []struct {
	kind    Kind
	suspect bool
	limits  [2]float64 // smallest and largest limit that makes sense
	initial float64    // limit in a profile without a rule for it; negative is off
}{
	{Unexplained, false, [2]float64{1, 1e6}, 1},
	{NaN, false, [2]float64{0, 1}, 0},
	{Inf, false, [2]float64{0, 1}, 0},
	{Form, false, [2]float64{0, 1}, 0},
	{Argument, false, [2]float64{0, 1}, 0},
	{Alone, false, [2]float64{0, 1}, 0},
	{Given, false, [2]float64{0, 1}, 0},
	{Zeros, false, [2]float64{0, 1}, 0},
	{Integers, false, [2]float64{0, 1}, 0.01},
	{Scalar, false, [2]float64{0, 1e6}, 0.02},
	{Cosine, false, [2]float64{-1, 1}, 0.98},
	{Distance, false, [2]float64{0, 1e6}, 0.2},
	{Statistics, false, [2]float64{0, 1e6}, 0.05},
	{Tolerance, false, [2]float64{0, 1}, off},
	{Imaginary, false, [2]float64{0, 1}, 0},
	{Law, true, [2]float64{1, 1e9}, 8},
	{JumpDistance, true, [2]float64{1, 1e9}, 3},
	{JumpLargest, true, [2]float64{1, 1e9}, 4},
	{Differs, true, [2]float64{0, 1}, 0},
	{NotFinite, true, [2]float64{0, 1}, 0},
	{Saturated, true, [2]float64{0, 1}, 0},
	{Underflow, true, [2]float64{0, 1}, 0},
}

// off is the limit of a cause that is not looked for.
const off = -2

// Kinds lists all causes, the gravest first.
func Kinds() []Kind {
	list := make([]Kind, len(kinds))
	for i := range kinds {
		list[i] = kinds[i].kind
	}
	return list
}

// Place is where a kind stands among kinds, -1 if it is not known.
func (k Kind) Place() int {
	for i := range kinds {
		if kinds[i].kind == k {
			return i
		}
	}
	return -1
}

// Suspicion tells whether the cause makes a tensor suspect rather than bad.
func (k Kind) Suspicion() bool { i := k.Place(); return i >= 0 && kinds[i].suspect }

// Jump tells whether the cause speaks of an error that its inputs do not
// explain.
func (k Kind) Jump() bool { return k == JumpDistance || k == JumpLargest || k == Law }

// sortCauses puts the gravest first; of equal ones the order stays.
func sortCauses(list []Cause) {
	order.Stable(list, func(a, b Cause) int { return a.Kind.Place() - b.Kind.Place() })
}
