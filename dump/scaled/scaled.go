// Package scaled knows which scale each number of a quantised tensor belongs to: neither says what the other does not, and the value
// is their product.
package scaled

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// block is how many numbers share a scale that is a power of two (OCP Microscaling Formats 1.0).
const block = 32

// most is how many values have room as float32 where bytes are counted in 64 bits.
const most = math.MaxInt64 / 4

// uncounted tells of shapes that a damaged header claims.
func uncounted(numbers, scales []int64) error {
	return fmt.Errorf("numbers of shape %v and scales of shape %v: no tensor has one of these shapes", numbers, scales)
}

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

// Tensor is what pairs are told by.
type Tensor struct {
	Type  dtype.Type
	Shape []int64
}

// factor tells whether a type is one of scales: of numbers of 4 bits those of 8 are, too (NVFP4).
func factor(t dtype.Type, narrow bool) bool {
	return t == dtype.Float32 || t == dtype.Float8E8M0 || t == dtype.Uint8 || narrow && t == dtype.Float8E4M3FN
}

// Pair finds the numbers and the scales that tensor i belongs to, one of them being i: of the outputs of a quantiser the first numbers
// have the first scales, and so on; those that bytes or words hold several of stand before theirs. What a kernel takes stands in
// any order, and pairs are told where shapes and types leave no choice.
func Pair(tensors []Tensor, outputs bool, i int) (numbers, scales int, ok bool) {
	narrow := slices.ContainsFunc(tensors, func(t Tensor) bool { return Numbers(t.Type) && t.Type.Bits() < 8 })
	var lists [2][]int
	for k, t := range tensors {
		switch {
		case factor(t.Type, narrow):
			lists[1] = append(lists[1], k)
		case Numbers(t.Type):
			lists[0] = append(lists[0], k)
		}
	}
	fits := func(n, s int) bool {
		if own, of := tensors[n].Shape, tensors[s].Shape; !outputs && len(own) > 0 && len(of) == 1 && of[0] != 1 && of[0] != own[len(own)-1] && of[0] != nd.Size(own[:len(own)-1]) {
			return false // a row for all blocks of all tokens would fit too many
		}
		_, err := Of(tensors[n], tensors[s], nil, true)
		return err == nil
	}
	if outputs {
		for k := range min(len(lists[0]), len(lists[1])) {
			if n, s := lists[0][k], lists[1][k]; (n == i || s == i) && fits(n, s) {
				return n, s, true
			}
		}
		return packed(tensors, i)
	}
	// Of hundreds of experts a kernel may take a tensor each: no more is looked at than what goes with the one that is asked for.
	switch {
	case slices.Contains(lists[0], i):
		numbers, scales = i, single(lists[1], func(s int) bool { return fits(i, s) })
		return numbers, scales, scales >= 0 && single(lists[0], func(n int) bool { return fits(n, scales) }) == i
	case slices.Contains(lists[1], i):
		numbers, scales = single(lists[0], func(n int) bool { return fits(n, i) }), i
		return numbers, scales, numbers >= 0 && single(lists[1], func(s int) bool { return fits(numbers, s) }) == i
	}
	return 0, 0, false
}

// single is the one of a list that fits; -1 where none does, or several.
func single(list []int, fits func(i int) bool) int {
	found := -1
	for _, i := range list {
		if fits(i) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// packed is Pair of outputs whose numbers are held by bytes or words, at least eight of which have a scale in common.
func packed(tensors []Tensor, i int) (numbers, scales int, ok bool) {
	taken := make([]bool, len(tensors))
	for n, t := range tensors[:i+1] { // numbers stand before their scales
		if _, per := Packed(t.Type); per == 1 || taken[n] {
			continue
		}
		for s := n + 1; s < len(tensors); s++ {
			if taken[s] || !factor(tensors[s].Type, true) || nd.Size(tensors[s].Shape) > nd.Size(t.Shape)/2 {
				continue
			}
			if _, err := Of(t, tensors[s], nil, true); err != nil {
				continue
			}
			if taken[s] = true; n == i || s == i {
				return n, s, true
			}
			break
		}
	}
	return 0, 0, false
}

// Product is the values that quantised numbers stand for: each times its scale.
type Product struct {
	Shape []int64
	// Type is that of the numbers. Bare tells that elements say little as they are: they hold several numbers, or exponents of scales,
	// the least change of which is a factor of two.
	Type dtype.Type
	Bare bool
	per  int64 // numbers that an element of the tensor holds
	by   []float64
	at   func(i int64) int64
}

// Of is the product of numbers and scales; factors are the elements of the scales. Words of 32 bits hold eight numbers if a quantiser
// gave them, else where shapes do not fit otherwise. An error tells of tensors that are no pair.
func Of(numbers, scales Tensor, factors []float64, given bool) (*Product, error) {
	p := &Product{Shape: slices.Clone(numbers.Shape), Type: numbers.Type, per: 1, by: factors}
	var err error
	p.at, err = Places(p.Shape, scales.Shape, Powers(p.Type, scales.Type))
	if unpacked, n := Packed(p.Type); (err != nil || p.Type == dtype.Uint8 || given) && n > 1 && len(p.Shape) > 0 {
		last, ok := &p.Shape[len(p.Shape)-1], false
		if *last, ok = nd.Count(*last, n); !ok {
			return nil, uncounted(numbers.Shape, scales.Shape)
		}
		p.Type, p.per = unpacked, n
		p.at, err = Places(p.Shape, scales.Shape, Powers(p.Type, scales.Type))
	}
	if err != nil {
		return nil, err
	}
	p.Bare = p.per > 1 || Powers(p.Type, scales.Type)
	if scales.Type == dtype.Uint8 {
		if !Powers(p.Type, scales.Type) { // bytes beside whole numbers are no exponents
			return nil, fmt.Errorf("scales of type %s do not belong to numbers of type %s", scales.Type, p.Type)
		}
		for i, x := range factors {
			p.by[i] = math.Exp2(x - 127)
		}
	}
	return p, nil
}

// Len is how many values there are.
func (p *Product) Len() int64 { return nd.Size(p.Shape) }

// Read fills dst with values from one on, as float32 with the low byte first; read fills a buffer with elements that hold numbers.
func (p *Product) Read(dst []byte, first int64, read func(raw []byte, first, n int64) error) error {
	n := int64(len(dst)) / 4
	skip := first % (8 * p.per) // elements of less than a byte are read from a whole one on
	elements := (skip + n + p.per - 1) / p.per
	raw := make([]byte, (elements*p.per*int64(p.Type.Bits())+7)/8)
	if err := read(raw, (first-skip)/p.per, elements); err != nil {
		return err
	}
	v := make([]float64, len(raw)*max(1, 8/p.Type.Bits()))
	for i, x := range v[:dtype.Widen64(p.Type, v, raw)][skip : skip+n] {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(x*p.by[p.at(first+int64(i))])))
	}
	return nil
}

// Powers tells whether scales are powers of two: those of a type that has no others, or their exponents in bytes beside numbers of few
// bits.
func Powers(numbers, scales dtype.Type) bool {
	return scales == dtype.Float8E8M0 || scales == dtype.Uint8 && numbers.IsFloat()
}

// Places gives the scale of each number by the shapes of both: one for all, for each token (the leading axes), for each channel (the
// last axis), for blocks along any axes or along rows, and for blocks of 32 whose scales stand in pairs (…, pairs, …, 2). Where tokens
// and channels are as many it is tokens. An error tells of shapes that are none of these.
func Places(numbers, scales []int64, powers bool) (func(i int64) int64, error) {
	rank := len(numbers)
	n, fit := nd.Count(numbers...)
	k, fits := nd.Count(scales...)
	if !fit || !fits || max(n, k) > most {
		return nil, uncounted(numbers, scales)
	}
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
