package metric

import "math"

// tally counts the elements of one side, and has the extrema of the finite ones.
type tally struct {
	nan, inf, zero int64
	lo, hi         float64
}

func newTally() tally { return tally{lo: math.Inf(1), hi: math.Inf(-1)} }

func (t *tally) add(u *tally) {
	t.nan += u.nan
	t.inf += u.inf
	t.zero += u.zero
	t.lo, t.hi = min(t.lo, u.lo), max(t.hi, u.hi)
}

// count takes an element into account.
func (t *tally) count(v float64) {
	switch {
	case v != v:
		t.nan++
	case !finite(v):
		t.inf++
	default:
		if v == 0 {
			t.zero++
		}
		lower(&t.lo, v)
		raise(&t.hi, v)
	}
}

// places are what a tile adds to the facts besides sums.
type places struct {
	tx, ty      tally
	diff        scaled // Σ(x-y)
	bothNaN     int64
	differ      int64 // finite elements that are not equal
	outside     int64 // finite elements outside of the tolerance
	rounded     int64 // integers that float64 does not hold, beside fractions
	firstDiffer Element
	worst       Element // the first whose error is the largest
}

// add appends t, which begins at the element start of the tensor. worse: its
// largest error is larger than all before.
func (p *places) add(t *places, start int64, worse bool) {
	p.tx.add(&t.tx)
	p.ty.add(&t.ty)
	p.diff.add(t.diff)
	p.bothNaN += t.bothNaN
	p.outside += t.outside
	p.rounded += t.rounded
	if p.differ == 0 && t.differ > 0 {
		p.firstDiffer = t.firstDiffer
		p.firstDiffer.Index += start
	}
	p.differ += t.differ
	if worse {
		p.worst = t.worst
		p.worst.Index += start
	}
}

// facts are made from the sums of the first pass.
func (r *exactRun) facts() Facts {
	s := &r.sums
	sameInf := s.agree - s.bothNaN
	f := Facts{
		Known:         true,
		N:             r.n,
		Finite:        s.n,
		X:             s.tx.facts(s.x, s.xx, s.n),
		Y:             s.ty.facts(s.y, s.yy, s.n),
		NaN:           Places{X: s.tx.nan - s.bothNaN, Y: s.ty.nan - s.bothNaN, Both: s.bothNaN},
		Inf:           Places{X: s.tx.inf - sameInf, Y: s.ty.inf - sameInf, Both: sameInf},
		Disagree:      s.disagree,
		Agree:         s.agree,
		FirstDisagree: Element{Index: -1},
		Differ:        s.differ + s.disagree,
		FirstDiffer:   Element{Index: -1},
		BitEqual:      s.differ+s.disagree+s.rounded == 0,
		MaxAbs:        s.maxAbs,
		Worst:         Element{Index: -1},
		MaxRel:        s.maxRel,
		NonzeroOnZero: s.zeroGolden,
		MeanError:     s.diff.mean(s.n).float(),
		Cosine:        s.cosine(),
		Distance:      s.distance(),
		Outside:       s.outside + s.disagree,
		Rounded:       s.rounded,
	}
	f.Scale, f.Unscaled = s.scale()
	if s.differ > 0 {
		f.FirstDiffer = s.firstDiffer
	}
	if s.disagree > 0 {
		f.FirstDisagree = s.first
		if s.differ == 0 || s.first.Index < s.firstDiffer.Index {
			f.FirstDiffer = s.first
		}
	}
	if s.maxAbs > 0 {
		f.Worst = s.worst
	}
	return f
}

// facts of a side: m are its moments, squares is the sum over n elements.
func (t *tally) facts(m moments, squares scaled, n int64) SideFacts {
	// Of zeros of both signs the kernels and the workers' tiles find one or the other
	// first; the sum with zero has no sign.
	f := SideFacts{NaN: t.nan, Inf: t.inf, Zero: t.zero, Lo: t.lo + 0, Hi: t.hi + 0, RMS: squares.mean(n).sqrt().float()}
	f.Mean, f.Deviation = m.meanDeviation()
	if m.n == 0 {
		f.Lo, f.Hi = math.NaN(), math.NaN()
	}
	return f
}

// cosine of the finite elements: 1 between zero tensors, NaN if one is.
func (s *exactSums) cosine() float64 {
	switch zeroX, zeroY := s.xx.m == 0, s.yy.m == 0; {
	case s.n == 0 || zeroX != zeroY:
		return math.NaN()
	case zeroX:
		return 1
	}
	nx, ny := s.xx.sqrt(), s.yy.sqrt()
	c := s.xy.over(nx).over(ny).float()
	return min(1, max(-1, c))
}

// distance is the relative Euclidean distance of the finite elements.
func (s *exactSums) distance() float64 {
	switch {
	case s.n == 0:
		return math.NaN()
	case s.dd.m == 0:
		return 0
	case s.yy.m == 0:
		return math.Inf(1)
	}
	return s.dd.over(s.yy).sqrt().float()
}

// scale is s = Σxy/Σy² and √(Σ(x/s-y)²/Σy²). For s near 1 the latter comes from
// Σ(x-s·y)² = Σ(x-y)² - (s-1)²·Σy², where little cancels.
func (s *exactSums) scale() (scale, left float64) {
	if s.n == 0 || s.yy.m == 0 {
		return math.NaN(), math.NaN()
	}
	scale = s.xy.over(s.yy).float()
	if scale == 0 {
		return scale, math.Inf(1)
	}
	beyond := s.yy // (s-1)·Σy²
	beyond.m = -beyond.m
	beyond.add(s.xy)
	d, b := s.distance(), beyond.over(s.yy).float()
	if left = d*d - b*b; finite(left) && finite(scale) {
		return scale, math.Sqrt(max(0, left)) / math.Abs(scale)
	}
	c := s.cosine()
	return scale, math.Sqrt(max(0, 1-c*c)) / math.Abs(c)
}
