package metric

import "math"

// The loops of Exact numerics, over one tile. Elements are float64 from here
// on; every loop is one pass of independent sums.

// tileSums are the sums over a tile that need no look ahead.
type tileSums struct {
	xy, xx, yy, dd float64 // products and squares, dd of x-y
	ad, rel        float64 // |x-y| and |x-y|/|y|
	x, y           float64
	maxAbs, maxRel float64
	loX, hiX       float64
	loY, hiY       float64
	zeroMax        float64 // largest |x| where y is 0
	zeroGolden     int64   // how many x are not 0 where y is
	zeroX, zeroY   int64   // how many are 0
	differ         int64   // how many x are not y
}

// sumTile is the tile in one go. If xx or yy comes out as NaN or infinite,
// then not all elements are finite (or their squares overflow) and nothing in
// t can be used.
func sumTile[T float32 | float64](t *tileSums, x, y []T) {
	y = y[:len(x)]
	*t = tileSums{loX: math.Inf(1), hiX: math.Inf(-1), loY: math.Inf(1), hiY: math.Inf(-1)}
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		t.xy += a * b
		t.xx += a * a
		t.yy += b * b
		t.x += a
		t.y += b
		lower(&t.loX, a)
		raise(&t.hiX, a)
		lower(&t.loY, b)
		raise(&t.hiY, b)
		if a == 0 {
			t.zeroX++
		}
		if a != b {
			t.differ++
		}
		d := math.Abs(a - b)
		t.ad += d
		t.dd += d * d
		raise(&t.maxAbs, d)
		if b != 0 {
			r := d / math.Abs(b)
			t.rel += r
			raise(&t.maxRel, r)
		} else {
			t.zeroY++
			if d != 0 {
				t.zeroGolden++
				raise(&t.zeroMax, d)
			}
		}
	}
}

// raise makes a at least b. Unlike the builtin max it does not care for NaN,
// which costs more than the rest of a loop.
func raise[T float32 | float64](a *T, b T) {
	if b > *a {
		*a = b
	}
}

// lower makes a at most b.
func lower[T float32 | float64](a *T, b T) {
	if b < *a {
		*a = b
	}
}

// sumSpread is Σ(v-mean) and Σ(v-mean)².
func sumSpread[T float32 | float64](v []T, mean float64) (s, ss float64) {
	for _, f := range v {
		d := float64(f) - mean
		s += d
		ss += d * d
	}
	return s, ss
}

// klScale scales the elements of a side to [0,1]: (v·unit - lo)·inverse. unit
// is 1, or another power of two if the spread or its inverse would overflow.
// If all elements are equal, inverse is 0.
type klScale struct {
	unit, lo, inverse float64
}

func newKLScale(lo, hi float64) klScale {
	unit := 1.0
	switch spread := hi - lo; {
	case spread == 0:
		return klScale{unit: unit, lo: lo}
	case !finite(spread):
		unit = 0.25
	case spread < 0x1p-1000:
		unit = 0x1p600
	}
	lo *= unit
	return klScale{unit, lo, 1 / (hi*unit - lo)}
}

// klSums are sums over a tile of the second pass, p and q being the scaled x
// and y, at least 2^-23.
type klSums struct {
	plogpq, p, q float64
}

func (s *klSums) add(t klSums) {
	s.plogpq += t.plogpq
	s.p += t.p
	s.q += t.q
}

// divergence of the distributions p/Σp and q/Σq: their normalisation is taken
// out of the sum.
func (s *klSums) divergence() float64 {
	kl := s.plogpq/s.p - math.Log(s.p) + math.Log(s.q)
	if kl < epsilon64 {
		return 0 // a divergence is not negative
	}
	return kl
}

func sumKL[T float32 | float64](s *klSums, kx, ky *klScale, x, y []T) {
	y = y[:len(x)]
	*s = klSums{}
	for i, v := range x {
		p := (float64(v)*kx.unit - kx.lo) * kx.inverse
		q := (float64(y[i])*ky.unit - ky.lo) * ky.inverse
		raise(&p, epsilon32)
		raise(&q, epsilon32)
		s.plogpq += p * math.Log(p/q)
		s.p += p
		s.q += q
	}
}
