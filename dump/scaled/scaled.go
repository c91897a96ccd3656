// Package scaled knows which scale each number of a quantised tensor belongs to: neither says what the other does not, and the value
// is their product.
package scaled

import (
	"fmt"
	"math"
	"slices"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// block is how many numbers share a scale that is a power of two (OCP Microscaling Formats 1.0).
const block = 32

// Numbers tells whether a type is one of numbers in steps.
func Numbers(t dtype.Type) bool {
	return t.Bits() <= 8 && (t.IsFloat() || t.Bits() < 8 || t == dtype.Int8) && t != dtype.Float8E8M0 && t != dtype.Bool
}

// Packed is the type of the numbers of four bits that an element of a wider type may hold, and how many: two of float4 in a byte, eight whole
// ones in 32 bits, as kernels of torch_npu take them. For other types it is one of their own.
func Packed(t dtype.Type) (dtype.Type, int64) {
	switch t {
	case dtype.Uint8:
		return dtype.Float4E2M1, 2
	case dtype.Int32:
		return dtype.Int4, 8
	}
	return t, 1
}

// Powers tells whether scales are powers of two: those of a type that has no others, or their exponents in bytes beside numbers of few
// bits.
func Powers(numbers, scales dtype.Type) bool {
	return scales == dtype.Float8E8M0 || scales == dtype.Uint8 && numbers.IsFloat()
}

// Value is a scale as a number.
func Value(scales dtype.Type, x float64) float64 {
	if scales == dtype.Uint8 {
		return math.Exp2(x - 127)
	}
	return x
}

// Places gives the scale of each number by the shapes of both: one for all, for each token (the leading axes), for each channel (the
// last axis), for blocks along any axes or along rows, and for blocks of 32 whose scales stand in pairs (…, pairs, …, 2). Where tokens
// and channels are as many it is tokens. An error tells of shapes that are none of these.
func Places(numbers, scales []int64, powers bool) (func(i int64) int64, error) {
	n, k, rank := nd.Size(numbers), nd.Size(scales), len(numbers)
	none := fmt.Errorf("no scales of shape %v belong to numbers of shape %v", scales, numbers)
	if n == 0 || k == 0 || rank == 0 {
		return nil, none
	}
	last := numbers[rank-1]
	rows := n / last
	blocked := func(size, have int64) (per int64, ok bool) { // along an axis
		if per = (size + have - 1) / have; powers && have != size && have != 1 {
			per = block
			return per, have >= (size+block-1)/block && have <= (size+2*block-1)/(2*block)*2
		}
		return per, size%have == 0 || per%8 == 0 && (size+per-1)/per == have // the last block may be short
	}
	switch {
	case k == 1:
		return func(int64) int64 { return 0 }, nil
	case len(scales) == rank+1 && scales[rank] == 2:
		for axis := rank - 1; axis >= 0; axis-- {
			pairs := (numbers[axis] + 2*block - 1) / (2 * block)
			want := append(slices.Clone(numbers), 2)
			if want[axis] = pairs; slices.Equal(want, scales) {
				inner := nd.Size(numbers[axis+1:])
				return func(i int64) int64 {
					at := i / inner % numbers[axis]
					return ((i/inner/numbers[axis]*pairs+at/(2*block))*inner+i%inner)*2 + at/block%2
				}, nil
			}
		}
	case len(scales) == rank:
		per, steps := make([]int64, rank), nd.Strides(scales)
		for a := range per {
			var ok bool
			if per[a], ok = blocked(numbers[a], scales[a]); !ok {
				return nil, none
			}
		}
		return func(i int64) int64 {
			at := int64(0)
			for a := rank - 1; a >= 0; a-- {
				at += i % numbers[a] / per[a] * steps[a]
				i /= numbers[a]
			}
			return at
		}, nil
	}
	switch each := k / rows; {
	case len(scales) < rank && slices.Equal(scales, numbers[:len(scales)]):
		return func(i int64) int64 { return i / (n / k) }, nil
	case k == rows:
		return func(i int64) int64 { return i / last }, nil
	case len(scales) == 1 && k == last:
		return func(i int64) int64 { return i % last }, nil
	case each > 1 && each*rows == k:
		if per, ok := blocked(last, each); ok {
			return func(i int64) int64 { return i/last*each + i%last/per }, nil
		}
	}
	return nil, none
}
