package result

import (
	"encoding/binary"
	"hash/fnv"
	"math"

	"precision/dump/dtype"
)

// Recorded is what recordings of calls say of a pair beside its elements:
// statistics, a checksum, or the value of an argument.
type Recorded struct {
	// Place is where the value stands in its call: input.0, kwargs.mask,
	// parameters.weight, output.1.
	Place string
	// Parameter is what the value is called in the program, layers.1.down.weight, if it is one of a
	// module's.
	Parameter string
	// How tells how the two calls were brought together.
	How How
	// Argument tells a value that is no tensor: a number, a text, a slice, None.
	Argument bool
	// Both is how many of the statistics, checksums and values both sides have,
	// Same how many of these are the same.
	Both, Same int32
	// Hashed tells that both sides have a checksum over the same bytes, and
	// HashSame that it is the same: then the elements are.
	Hashed, HashSame bool
	// NormRoom is how far the norms may be apart by the order in which the sides add up squares; 0 where they do so alike.
	NormRoom float64
	// Golden is what feeds the right side's tensor, under the name that the
	// operator has on the left side if it has a partner there.
	Golden Port
	// Before is the first earlier input with the same content as this one on the
	// left side.
	Before Port `column:"before,before_input"`
	// Through are the calls of one side alone between what feeds the tensor on either side and this call,
	// one in a line of text, where the sides are of two frameworks.
	Through string
	// Source is the line of the user's program that made the call.
	Source string
	// Stack are the lines from there outwards, one in a line of text, without those
	// of installed libraries.
	Stack string
	// Left and Right are what the sides say, never nil. They may be those of the
	// recording in memory, which are not changed.
	Left, Right *Summary
}

// Summary is what a recording says of one value.
type Summary struct {
	// Class is what the value is: torch.Tensor, int, slice, None.
	Class string
	// Value is an argument as Python writes it.
	Value string
	// Sum is the checksum.
	Sum string
	// Known tells which of the statistics are known, a bit each, in the order of
	// Stats.
	Known int32
	// Stats are the largest and smallest element, the mean and the Euclidean
	// norm.
	Stats Stats `column:""`
	// Summed is the type that Mean and Norm were summed in; Undefined for that of the
	// tensor. Grain is what the last digit of the statistics is worth, 0 for all
	// digits of their type: two that differ by no more may be the same. Digits is
	// how many significant digits were written, 0 for all.
	Summed dtype.Type
	Digits int32
	Grain  float64
}

// Stats are the statistics of a tensor: the largest and smallest element, the
// mean and the Euclidean norm.
type Stats struct{ Max, Min, Mean, Norm float64 }

// The bits of Said.Known.
const (
	KnownMax int32 = 1 << iota
	KnownMin
	KnownMean
	KnownNorm
)

// Statistic is one of the four.
type Statistic struct {
	Name string
	Bit  int32 // in Known
	Of   func(*Stats) float64
}

// Statistics are the four, in the order of their bits.
var Statistics = [...]Statistic{
	{"Max", KnownMax, func(s *Stats) float64 { return s.Max }}, {"Min", KnownMin, func(s *Stats) float64 { return s.Min }},
	{"Mean", KnownMean, func(s *Stats) float64 { return s.Mean }}, {"Norm", KnownNorm, func(s *Stats) float64 { return s.Norm }},
}

// In is the statistic of a tensor.
func (x *Statistic) In(s *Summary) (v float64, known bool) { return x.Of(&s.Stats), s.Has(x.Bit) }

// Step is what the last digit of a statistic of the size v is worth, 0 where it has
// all digits.
func (s *Summary) Step(v float64) float64 {
	step := s.Grain
	if v = math.Abs(v); s.Digits > 0 && v > 0 && !math.IsInf(v, 0) {
		step = max(step, math.Pow(10, math.Floor(math.Log10(v))+1-float64(s.Digits)))
	}
	return step
}

// Print tells tensors by what is said of them; 0 where nothing is. Checksums count only where
// there is nothing else: they may be those of what a tensor held later.
func (s *Summary) Print(shape []int64) int64 {
	h := fnv.New64a()
	add := func(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	n := uint64(1)
	for _, d := range shape {
		n *= uint64(d)
	}
	add(n)
	switch {
	case s.Known != 0:
		add(uint64(s.Known))
		for _, x := range Statistics {
			add(math.Float64bits(x.Of(&s.Stats)))
		}
	case s.Sum != "":
		h.Write([]byte(s.Sum))
	default:
		return 0
	}
	return int64(h.Sum64())
}

// Has tells whether statistics are known.
func (s *Summary) Has(bits int32) bool { return s.Known&bits == bits }

// Half tells that one of the extremes is known and the other is not, which recorders know together.
func (s *Summary) Half() bool {
	return s.Known&(KnownMax|KnownMin) != 0 && !s.Has(KnownMax|KnownMin)
}

// NotFinite tells whether elements are NaN or infinite: by the extremes that are known, and by a mean or a norm
// that is no number, as a device's maximum may pass over NaN.
func (s *Summary) NotFinite() (nan, inf bool) {
	if x := &s.Stats; (x.Max-x.Max)+(x.Min-x.Min)+(x.Mean-x.Mean)+(x.Norm-x.Norm) == 0 {
		return false, false
	}
	for i, x := range Statistics {
		v, known := x.In(s)
		switch {
		case !known:
		case i < 2:
			nan, inf = nan || math.IsNaN(v), inf || math.IsInf(v, 0)
		default:
			nan = nan || math.IsNaN(v) && !inf // of infinities of both signs the mean is NaN
		}
	}
	return nan, inf
}

// Agrees tells whether all that both recordings say is the same, and whether
// they say anything.
func (r *Recorded) Agrees() (same, known bool) {
	if r.Hashed {
		return r.HashSame, true
	}
	return r.Same == r.Both, r.Both > 0
}
