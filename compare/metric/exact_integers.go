package metric

import (
	"math"

	"precision/internal/integer"
)

// Integers of 64 bits
//
// A float64 has 53 bits: 2^60+7 becomes 2^60, and two ids that differ are equal. So
// what a difference decides (equality, counts, places, errors) is computed in integers
// where a tile has elements that large. Everywhere else float64 is exact, and the
// vector kernels do the work; means, similarities and the divergence are float64
// throughout, which is good to 16 digits of them.

// ReduceWide is Reduce64 for tensors of which a side has integers of more than 53
// bits: ix and iy are the elements of x and y as they are stored, and x and y the
// float64 next to them. Where both sides are integers, differences are exact. Where
// one is of fractions they are those of float64, and elements that it does not hold
// are counted for a note.
func (r *Run) ReduceWide(p *Partial, x, y []float64, ix, iy integer.List) {
	y = y[:len(x)]
	if r.cfg.Numerics == Reference {
		r.ref.reduce(&p.ref, narrowWhole(&p.ref.x, x, ix), narrowWhole(&p.ref.y, y, iy))
	}
	if !r.sumsExactly() {
		return
	}
	r.exact.reduce64(&p.exact, x, y)
	if s := &p.exact.sums; r.exact.pass == 0 && len(x) > 0 && max(-s.loX, s.hiX, -s.loY, s.hiY) > integer.Exact {
		if ix.Bits != nil && iy.Bits != nil {
			s.integers(x, y, ix, iy, r.exact.within)
		} else {
			s.rounded = rounded(x, ix) + rounded(y, iy)
		}
	}
}

// narrowWhole rounds elements to float32 once.
func narrowWhole(buf *[]float32, f []float64, l integer.List) []float32 {
	b := narrow(buf, f)
	if l.Bits != nil {
		for i := range b {
			b[i] = l.Float32(i)
		}
	}
	return b
}

// rounded counts the integers that are not the float64 next to them.
func rounded(f []float64, l integer.List) (n int64) {
	for i := range l.Bits {
		if math.Abs(f[i]) >= 0x1p53 && l.Rest(i, f[i]) != 0 {
			n++
		}
	}
	return n
}

// integers puts the sums of differences right: those of integers instead of those of
// the float64 next to them.
func (s *exactSums) integers(x, y []float64, ix, iy integer.List, within Tolerance) {
	s.differ, s.outside, s.maxAbs, s.maxRel, s.zeroMax, s.zeroGolden = 0, 0, 0, 0, 0, 0
	s.ad, s.dd, s.rel, s.diff = scaled{}, scaled{}, scaled{}, scaled{}
	for i, a := range x {
		e := ix.Minus(i, &iy)
		if e == 0 {
			continue
		}
		b, d := y[i], math.Abs(e)
		element := func() Element {
			return Element{Index: int64(i), X: a, Y: b, XRest: ix.Rest(i, a), YRest: iy.Rest(i, b)}
		}
		if s.differ == 0 {
			s.firstDiffer = element()
		}
		s.differ++
		if d > s.maxAbs {
			s.maxAbs, s.worst = d, element()
		}
		if d > within.Abs+float64(within.Rel*math.Abs(b)) {
			s.outside++
		}
		s.ad.m += d
		s.dd.m += d * d
		s.diff.m += e
		if b != 0 {
			rel := d / math.Abs(b)
			s.rel.m += rel
			raise(&s.maxRel, rel)
		} else {
			s.zeroGolden++
			raise(&s.zeroMax, d)
		}
	}
}
