package pattern

import (
	"cmp"
	"math"
	"slices"
)

// BitFlip is one wrong bit in one or a few elements.
const BitFlip Kind = "bit-flip"

// Flip belongs to BitFlip.
type Flip struct {
	Bit   int       `json:"bit"`   // 0 is the lowest; -1 when elements differ in it
	Part  string    `json:"part"`  // "sign", "exponent", "fraction" or "integer" of the first
	Flips []OneFlip `json:"flips"` // at most 8 of them
	// Elements is how many there are.
	Elements int64 `json:"elements"`
}

// OneFlip is an element whose recorded number becomes the expected one by turning one bit.
type OneFlip struct {
	At    []int64 `json:"at"`
	Bit   int     `json:"bit"`
	Got   float64 `json:"got"`
	Want  float64 `json:"want"`
	Fixed float64 `json:"fixed"` // the recorded number with the bit turned
}

const (
	flipsMost   = 64 // more elements are no accident
	flipsListed = 8
	standsOut   = 8 // times as large as all other errors: no tail of noise reaches that far
)

// bitFlip turns every bit of each element beyond. A flip holds when what comes out
// is within 0.6 of what is allowed without a bound (4 standard deviations), with one within it,
// and when that would be rare by chance: two of the bits change a number by about the error, and
// hit a window of twice that width with a probability of 4·width / |error|. That is 0.15 at most
// for one element, and 0.08 for all together.
//
// Against a golden run the tail of its noise may be beyond, too. Elements whose errors are far above all
// others are looked at alone, within 0.4 of it (2.7 standard deviations), as it is large there.
func bitFlip(l *look) []Finding {
	if found := l.flips(0, l.beyond, 0.99, 0.6); found != nil {
		return found
	}
	if least, n := l.outliers(); n > 0 {
		return l.flips(least, n, 0.9, 0.4)
	}
	return nil
}

// flips turns bits of the elements beyond whose errors are least or more, which are so many. They must make up the
// given share of the squared error.
func (l *look) flips(least float64, beyond int64, share, within float64) []Finding {
	if beyond == 0 || beyond > flipsMost || beyond*16 > int64(len(l.Want)) && beyond > 1 {
		return nil
	}
	var args Flip
	count, in, left, chance := int64(0), 0.0, 0.0, 1.0
	l.eachBeyond(func(p int, e float64, at []int64) {
		if math.Abs(e) < least {
			left = max(left, math.Abs(e)/l.allowed(p))
			return
		}
		flip, p1, ok := l.flipped(p, e, within)
		if !ok {
			left = max(left, math.Abs(e)/l.allowed(p))
			return
		}
		in += e * e
		chance *= p1
		left = max(left, math.Abs(flip.Fixed-l.Want[p])/l.allowed(p))
		if count == 0 {
			args.Bit, args.Part = flip.Bit, l.num.part(flip.Bit)
		} else if args.Bit != flip.Bit {
			args.Bit = -1
		}
		if count++; len(args.Flips) < flipsListed {
			flip.At = append([]int64(nil), at...)
			args.Flips = append(args.Flips, flip)
		}
	})
	if 2*count < beyond || !(in > share*l.sumBeyond) || chance > 0.08 {
		return nil
	}
	args.Elements = count
	return []Finding{{Kind: BitFlip, Args: args, Explained: in / l.sumBeyond, Left: left, Elements: count}}
}

// outliers are the few elements whose errors stand out from all others: how large these are at least, and
// how many; 0 where none do.
func (l *look) outliers() (least float64, n int64) {
	if l.Bound != nil {
		return 0, 0
	}
	var top []float64 // the largest errors, descending
	l.eachBeyond(func(_ int, e float64, _ []int64) {
		e = math.Abs(e)
		i, _ := slices.BinarySearchFunc(top, e, func(a, b float64) int { return cmp.Compare(b, a) })
		if i <= flipsListed {
			top = slices.Insert(top, i, e)
			top = top[:min(len(top), flipsListed+1)]
		}
	})
	for i := 1; i < len(top); i++ {
		if top[i-1] >= standsOut*top[i] {
			return top[i-1], int64(i)
		}
	}
	return 0, 0
}

// flipped finds the bit of element p that makes it right, and how likely that is by chance.
func (l *look) flipped(p int, e, within float64) (OneFlip, float64, bool) {
	g, w, allowed := l.got[p], l.Want[p], l.allowed(p)
	if l.Bound == nil {
		allowed = max(within*allowed, l.rounding(p))
	}
	bits, ok := l.num.encode(g)
	chance := 4 * allowed / math.Abs(e)
	if !ok || chance > 0.15 {
		return OneFlip{}, 1, false
	}
	bestOff := allowed
	flip := OneFlip{Bit: -1, Got: g, Want: w}
	for b := range l.num.bits {
		v := l.num.decode(bits ^ 1<<b)
		if off := math.Abs(v - w); off <= bestOff {
			bestOff, flip.Bit, flip.Fixed = off, b, v
		}
	}
	return flip, chance, flip.Bit >= 0
}

// part names what a bit of the type is for.
func (f number) part(bit int) string {
	switch {
	case !f.float:
		return "integer"
	case bit == f.bits-1:
		return "sign"
	case bit >= f.digits-1:
		return "exponent"
	}
	return "fraction"
}
