package pattern

import (
	"math"
	"math/bits"
)

// CoarseType are numbers that would fit into a narrower type than the one they are recorded in.
const CoarseType Kind = "coarse-type"

// Coarse belongs to CoarseType.
type Coarse struct {
	Digits int    `json:"digits"` // significant binary digits that the recorded numbers need
	Of     int    `json:"of"`     // that their type has
	Type   string `json:"type"`   // the narrowest usual type with as many: bfloat16 (8), float16 or HF32 (11); "" for others
}

// coarseType counts significant binary digits. All recorded numbers, at least 64 of them,
// lack three digits or more that the expected ones use. What the narrower type explains of an
// error is one unit in its last place.
func coarseType(l *look) []Finding {
	if !l.num.float {
		return nil
	}
	digits, n, finer := 0, 0, 0
	for p := range l.errors(l.pick) {
		if l.got[p] != 0 && l.Want[p] != 0 {
			n++
			digits = max(digits, significant(l.got[p]))
		}
	}
	if n < 64 || digits > l.num.digits-3 {
		return nil
	}
	for p := range l.errors(l.pick) {
		if l.got[p] != 0 && l.Want[p] != 0 && significant(l.num.round(l.Want[p])) > digits {
			finer++
		}
	}
	if 2*finer < n {
		return nil
	}
	f := l.judge(func(p int) float64 {
		e := l.got[p] - l.Want[p]
		u := math.Ldexp(1, math.Ilogb(l.got[p])-digits+1)
		if l.got[p] == 0 {
			u = 0
		}
		return l.Want[p] + math.Copysign(min(math.Abs(e), u), e)
	})
	args := Coarse{Digits: digits, Of: l.num.digits}
	switch {
	case digits <= 8:
		args.Type = "bfloat16"
	case digits <= 11:
		args.Type = "float16"
	}
	return l.told(f.explained >= 0.5, CoarseType, args, f)
}

// significant is the number of binary digits that a finite number other than 0 needs.
func significant(v float64) int {
	m := math.Float64bits(v)&(1<<52-1) | 1<<52
	return 53 - bits.TrailingZeros64(m)
}
