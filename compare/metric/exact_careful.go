package metric

import "math"

// sumCarefully reduces a tile with elements that are not finite, or whose
// squares overflow or vanish. It leaves out elements that agree in not being
// finite, counts those that disagree, and scales what needs it.
func sumCarefully[T float32 | float64](s *exactSums, x, y []T, within Tolerance) {
	y = y[:len(x)]
	*s = newExactSums()
	var topX, topY float64 // largest magnitudes of the finite elements
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		fa, fb := finite(a), finite(b)
		s.tx.count(a)
		s.ty.count(b)
		if fa {
			raise(&topX, math.Abs(a))
		}
		if fb {
			raise(&topY, math.Abs(b))
		}
		switch {
		case fa && fb:
			s.n++
			if a != b {
				if s.differ == 0 {
					s.firstDiffer = Element{Index: int64(i), X: a, Y: b}
				}
				s.differ++
				if d := math.Abs(a - b); d > s.maxAbs {
					s.maxAbs, s.worst = d, Element{Index: int64(i), X: a, Y: b}
				}
				if !within.holds(a, b) {
					s.outside++
				}
			}
			lower(&s.loX, a)
			raise(&s.hiX, a)
			lower(&s.loY, b)
			raise(&s.hiY, b)
		case a == b || a != a && b != b:
			s.agree++
			if a != a {
				s.bothNaN++
			}
		default:
			if s.disagree == 0 {
				s.first = Element{Index: int64(i), X: a, Y: b}
			}
			s.disagree++
		}
	}
	ex, ey, ed := scaleFor(topX), scaleFor(topY), 0
	fd, gd := 1.0, 1.0
	if finite(s.maxAbs) {
		// By the differences alone: next to large elements they may be small.
		ed = scaleFor(s.maxAbs)
		gd = math.Ldexp(1, -ed)
	} else {
		ed = scaleFor(max(topX, topY))
		fd = math.Ldexp(1, -ed)
	}
	s.xx.e, s.yy.e, s.xy.e, s.dd.e, s.ad.e, s.diff.e = 2*ex, 2*ey, ex+ey, 2*ed, ed, ed
	var rel, small float64 // small is 2^-64 of rel, should that overflow
	fx, fy := math.Ldexp(1, -ex), math.Ldexp(1, -ey)
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		if !finite(a) || !finite(b) {
			continue
		}
		s.xx.m += (a * fx) * (a * fx)
		s.yy.m += (b * fy) * (b * fy)
		s.xy.m += (a * fx) * (b * fy)
		e := (a*fd - b*fd) * gd
		s.diff.m += e
		d := math.Abs(e)
		s.ad.m += d
		s.dd.m += d * d
		switch d := math.Abs(a - b); {
		case b != 0:
			r := d / math.Abs(b)
			if !finite(d) {
				r = math.Abs(a/b - 1)
			}
			rel += r
			small += r * 0x1p-64
			raise(&s.maxRel, r)
		case d != 0:
			s.zeroGolden++
			raise(&s.zeroMax, d)
		}
	}
	if s.rel.m = rel; !finite(rel) {
		s.rel = scaled{small, 64}
	}
	s.x, s.y = momentsOf(x, fx, ex), momentsOf(y, fy, ey)
}

const (
	// Squares of magnitudes between these two are safe, and so are their sums.
	topPlain    = 0x1p480
	bottomPlain = 0x1p-480
)

// scaleFor is the exponent by which elements of magnitude top are scaled down
// before they are squared.
func scaleFor(top float64) int {
	if top == 0 || top >= bottomPlain && top <= topPlain {
		return 0
	}
	_, e := math.Frexp(top)
	return max(e, -1000)
}

// momentsOf are the moments of v over its finite elements. f is 2^-e.
func momentsOf[T float32 | float64](v []T, f float64, e int) moments {
	m := moments{e: e}
	var sum float64
	for _, a := range v {
		if finite(a) {
			m.n++
			sum += float64(a) * f
		}
	}
	if m.n == 0 {
		return m
	}
	m.mean = sum / float64(m.n)
	var s, ss float64
	for _, a := range v {
		if finite(a) {
			d := float64(a)*f - m.mean
			s += d
			ss += d * d
		}
	}
	m.m2 = ss - s*s/float64(m.n)
	return m
}
