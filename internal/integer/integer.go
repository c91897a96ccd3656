// Package integer knows integers of 64 bits as numbers of which nothing is lost: a
// float64 has 53 bits, and of two ids near 2^60 it may not tell one from the other.
package integer

import (
	"math"
	"math/big"
	"math/bits"
)

// List are integers as they are stored: 64 bits each, narrower types extended. The
// zero value stands for numbers that are no integers.
type List struct {
	Bits   []uint64
	Signed bool
}

// Exact is how large the integers of two lists may be for their differences to be exact
// in float64: half of 2^53.
const Exact = 1 << 52

// at is element i as a number of 128 bits in two's complement.
func (l *List) at(i int) (hi, lo uint64) {
	lo = l.Bits[i]
	if l.Signed {
		hi = uint64(int64(lo) >> 63)
	}
	return hi, lo
}

// Float32 is element i rounded once.
func (l *List) Float32(i int) float32 {
	if l.Signed {
		return float32(int64(l.Bits[i]))
	}
	return float32(l.Bits[i])
}

// Rest is what element i has beyond f, the float64 next to it.
func (l *List) Rest(i int, f float64) float64 {
	hi, lo := l.at(i)
	fhi, flo := ofFloat(f)
	return minus(hi, lo, fhi, flo)
}

// Minus is element i less element i of another list, rounded once: 0 only if they are
// equal.
func (l *List) Minus(i int, other *List) float64 {
	ahi, alo := l.at(i)
	bhi, blo := other.at(i)
	return minus(ahi, alo, bhi, blo)
}

// ofFloat is a whole number of magnitude 2^64 at most in 128 bits.
func ofFloat(f float64) (hi, lo uint64) {
	if m := math.Abs(f); m == 0x1p64 {
		hi = 1
	} else {
		lo = uint64(m)
	}
	if f < 0 {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	return hi, lo
}

// minus is a-b of numbers of 65 bits and a sign at most.
func minus(ahi, alo, bhi, blo uint64) float64 {
	lo, borrow := bits.Sub64(alo, blo, 0)
	hi, _ := bits.Sub64(ahi, bhi, borrow)
	negative := int64(hi) < 0
	if negative {
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	d := float64(lo)
	if hi != 0 {
		// Of two types a difference may have 65 bits: the last becomes part of the one
		// before it, so that rounding is still that of the whole.
		d = 2 * float64(hi<<63|lo>>1|lo&1)
	}
	if negative {
		return -d
	}
	return d
}

// Text is a whole number, given as the float64 next to it and the rest, in all its
// digits.
func Text(f, rest float64) string {
	whole, _ := big.NewFloat(f).Int(nil)
	more, _ := big.NewFloat(rest).Int(nil)
	return whole.Add(whole, more).String()
}
