package metric

import (
	"math"
	"sync/atomic"
)

// Facts are what a judge needs to know of a pair of tensors besides the metrics
// of the table. They depend neither on which metrics were selected nor, for
// elements that fit a float32, on the numerics: they are sums and extrema in
// float64 of the first pass, which has them anyway.
//
// Where an element is NaN or infinite on either side, it takes part in the counts
// only: sums, errors and what is made of them are over the Finite elements.
type Facts struct {
	// Known is false if no facts were taken ([Config.TableOnly]) and all that
	// follows is void.
	Known bool `column:"facts"`
	// N is the number of elements of each side, Finite of those that are finite
	// on both.
	N      int64 `column:"elements"`
	Finite int64
	// Disagree is the number of elements that are not finite on one side or both,
	// and do not agree; Agree of those that are NaN on both sides or the same
	// infinity.
	Disagree, Agree int64
	// Differ is the number of elements whose values are not equal. Signed zeros
	// are equal, and so is what agrees in NaN or infinity.
	Differ int64
	// BitEqual: no element differs or was rounded, so that the sides are equal bit by bit but
	// for the signs of zeros and the payloads of NaN. Integers of 64 bits are
	// compared as integers with integers, and with fractions as the float64 next to
	// them (see Rounded).
	BitEqual bool
	// MaxAbs is the largest |x-y|.
	MaxAbs float64
	// MaxRel is the largest |x-y|/|y| over y ≠ 0; NonzeroOnZero is the number of
	// elements where y is 0 and x is not, which have no relative error.
	MaxRel        float64
	NonzeroOnZero int64
	// MeanError is Σ(x-y)/n, the offset of x.
	MeanError float64
	// Cosine is Σxy / (√Σx²·√Σy²): 1 if both sides are zero, NaN if one is.
	Cosine float64
	// Distance is √(Σ(x-y)²/Σy²), the relative Euclidean distance; infinite if
	// only golden is zero.
	Distance float64
	// Scale is Σxy/Σy², the s for which s·y is closest to x. It is NaN if golden
	// is zero.
	Scale float64
	// Unscaled is the distance that is left when x is divided by Scale,
	// √(Σ(x/s-y)²/Σy²): small if a factor is all that is wrong with x. Rounding makes
	// it up to 1e-6 of Distance/Scale. It is infinite if Scale is 0 and NaN if golden
	// is zero.
	Unscaled float64
	// Outside is the number of elements with |x-y| > Abs + Rel·|y| for the
	// tolerance of [Config.Tolerance], and of those that disagree. Without a
	// tolerance it is Differ.
	Outside int64
	// Rounded is the number of integers of more than 53 bits that are not what they
	// were compared as, the float64 next to them, since the other side has fractions.
	Rounded int64
	// FirstDisagree is the first of the Disagree elements, FirstDiffer of the Differ; Worst is the
	// first element whose error is MaxAbs. The Index is -1 if there is none.
	FirstDisagree, FirstDiffer, Worst Element
	// NaN tells where NaN were met. Inf tells the same of infinities: elements
	// that are infinite on both sides, with opposite signs, count in X and in Y.
	NaN Places `column:"nan"`
	Inf Places
	// X is mine, Y is golden.
	X SideFacts `column:"left"`
	Y SideFacts `column:"right"`
}

// SideFacts are facts of one side alone, whatever the other side is.
type SideFacts struct {
	// NaN, Inf and Zero are numbers of elements.
	NaN       int64 `column:"nan"`
	Inf, Zero int64
	// Lo and Hi are the smallest and the largest finite element, Mean and
	// Deviation (of the population) are over the finite elements. All are NaN if
	// there are none.
	Lo, Hi, Mean, Deviation float64
	// RMS is √(Σv²/n) over the elements that are finite on both sides, the
	// yardstick of errors; NaN if there are none.
	RMS float64
}

// MaxMagnitude is the largest |v| of the finite elements, NaN if there are none.
func (s *SideFacts) MaxMagnitude() float64 { return max(-s.Lo, s.Hi) }

// Constant tells whether all elements are the same finite number.
func (s *SideFacts) Constant() bool { return s.NaN == 0 && s.Inf == 0 && s.Lo == s.Hi }

// Places counts elements by the sides on which something was met.
type Places struct {
	X    int64 `column:"left_only"`
	Y    int64 `column:"right_only"`
	Both int64
}

// Tolerance allows elements to be off by Abs + Rel·|y|, which is how acceptance
// standards of operators are written.
type Tolerance struct{ Abs, Rel float64 }

// seen is the largest error of the tiles that were folded so far. Reducing a tile
// looks for the place of its largest error only if that is larger: since tiles are
// folded in order, the places that are left out cannot be the first of the
// tensor. So few tiles are searched, the logarithm of their number if errors come in
// any order, and the result does not depend on how far the fold was.
type seen struct{ bits atomic.Uint64 }

func (s *seen) maxAbs() float64 { return math.Float64frombits(s.bits.Load()) }

// firstApart is the first i with |x[i]-y[i]| >= by, and len(x) if there is none.
func firstApart[T float32 | float64](x, y []T, by float64) int {
	y = y[:len(x)]
	for i, v := range x {
		if math.Abs(float64(v)-float64(y[i])) >= by {
			return i
		}
	}
	return len(x)
}

// outside counts the elements with |x-y| > Abs + Rel·|y|.
func outside[T float32 | float64](x, y []T, within Tolerance) int64 {
	y = y[:len(x)]
	n := 0
	for i, v := range x {
		if !within.holds(float64(v), float64(y[i])) {
			n++
		}
	}
	return int64(n)
}

// holds tells whether finite x and y are within the tolerance.
func (t *Tolerance) holds(x, y float64) bool {
	return math.Abs(x-y) <= t.Abs+float64(t.Rel*math.Abs(y))
}
