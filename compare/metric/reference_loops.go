package metric

import (
	"math"

	"precision/internal/pairwise"
)

// The loops of Reference numerics, a block of at most 8192 elements each. All
// element operations are in float32 and rounded one by one: the conversions
// keep compilers from fusing a multiplication with an addition. Sums have the
// shape of [pairwise.Sum].

const (
	// epsilon64 is below which norms and golden values count as zero.
	epsilon64 = 0x1p-52
	// epsilon32 is the floor of the scaled elements of the divergence.
	epsilon32 = 0x1p-23
)

// refSums are the sums over a block in the first pass.
type refSums struct {
	xx, yy float32 // squares
	ad, dd float32 // |x-y| and (x-y)²
	rel    float32 // relative errors
	x, y   float64 // elements, in float64
}

// refExtrema are NaN if any of the values is.
type refExtrema struct {
	maxAbs, maxRel     float32
	loX, hiX, loY, hiY float32
}

func newRefExtrema() refExtrema {
	inf := float32(math.Inf(1))
	return refExtrema{loX: inf, hiX: -inf, loY: inf, hiY: -inf}
}

func (e *refExtrema) merge(f *refExtrema) {
	e.maxAbs = max(e.maxAbs, f.maxAbs)
	e.maxRel = max(e.maxRel, f.maxRel)
	e.loX, e.hiX = min(e.loX, f.loX), max(e.hiX, f.hiX)
	e.loY, e.hiY = min(e.loY, f.loY), max(e.hiY, f.hiY)
}

// mend makes extrema NaN that met one, which the loops ignore. The sums of a
// block show it: their terms are NaN for no other reason.
func (e *refExtrema) mend(s *refSums) {
	if s.ad != s.ad {
		e.maxAbs = s.ad
	}
	if s.rel != s.rel {
		e.maxRel = s.rel
	}
	if s.xx != s.xx {
		e.loX, e.hiX = s.xx, s.xx
	}
	if s.yy != s.yy {
		e.loY, e.hiY = s.yy, s.yy
	}
}

// refFirst is the first pass over a block: everything that needs no look
// ahead. The extrema are without NaN.
func refFirst(s *refSums, e *refExtrema, x, y []float32) {
	y = y[:len(x)]
	var room [pairwise.Block]float32
	var wide [pairwise.Block]float64
	t, w := room[:len(x)], wide[:len(x)]

	for i, v := range x {
		t[i] = float32(v * v)
		w[i] = float64(v)
		lower(&e.loX, v)
		raise(&e.hiX, v)
	}
	s.xx, s.x = pairwise.Sum(t, 8), pairwise.Sum(w, 8)
	for i, v := range y {
		t[i] = float32(v * v)
		w[i] = float64(v)
		lower(&e.loY, v)
		raise(&e.hiY, v)
	}
	s.yy, s.y = pairwise.Sum(t, 8), pairwise.Sum(w, 8)
	for i, v := range x {
		t[i] = abs32(v - y[i])
		raise(&e.maxAbs, t[i])
	}
	s.ad = pairwise.Sum(t, 8)
	for i, d := range t {
		t[i] = float32(d * d)
	}
	s.dd = pairwise.Sum(t, 8)
	for i, v := range x {
		t[i] = relativeError(v, y[i])
		raise(&e.maxRel, t[i])
	}
	s.rel = pairwise.Sum(t, 8)
}

func relativeError(x, y float32) float32 {
	if abs32(y) > epsilon64 {
		return abs32(float32(x/y) - 1)
	}
	return 0
}

// refScale is what the second and third pass know of a side.
type refScale struct {
	norm       float32 // of the elements
	lo, spread float32 // p is (v-lo)/spread
	sum        float32 // of p, known in the third pass
	mean       float64
}

func newRefScale(squares, lo, hi float32, mean float64) refScale {
	s := refScale{norm: sqrt32(squares), lo: lo, spread: hi - lo, mean: mean}
	if s.spread == 0 {
		s.lo, s.spread = 0, 1
	}
	return s
}

// refLanes are the scales of both sides as vector kernels take them: eight
// times each.
type refLanes struct {
	scales [8][8]float32 // norms, lo and spread of x, of y, sums
	means  [2][8]float64
}

func (l *refLanes) set(kx, ky *refScale) {
	for i, f := range [...]float32{kx.norm, ky.norm, kx.lo, kx.spread, ky.lo, ky.spread, kx.sum, ky.sum} {
		for j := range l.scales[i] {
			l.scales[i][j] = f
		}
	}
	for j := range l.means[0] {
		l.means[0][j], l.means[1][j] = kx.mean, ky.mean
	}
}

// share scales an element for the divergence; it is at least 2^-23.
func (s *refScale) share(v float32) float32 {
	p := float32(v-s.lo) / s.spread
	if p < epsilon32 {
		return epsilon32
	}
	return p
}

// alignment is the element's term of the cosine.
func alignment(kx, ky *refScale, x, y float32) float32 {
	return float32(float32(x/kx.norm) * float32(y/ky.norm))
}

// distance is the squared distance of v from the mean.
func (s *refScale) distance(v float32) float64 {
	d := float64(v) - s.mean
	return float64(d * d)
}

// surprise is the element's term of the divergence.
func surprise(kx, ky *refScale, x, y float32) float32 {
	p, q := float32(kx.share(x)/kx.sum), float32(ky.share(y)/ky.sum)
	return float32(p * log32(p/q))
}

// refMiddles are the sums over a block in the second pass.
type refMiddles struct {
	cos    float32 // (x/norm)·(y/norm)
	px, py float32 // scaled elements
	vx, vy float64 // squared distances from the mean, in float64
}

// refSecond is the second pass over a block.
func refSecond(s *refMiddles, kx, ky *refScale, x, y []float32) {
	y = y[:len(x)]
	var room [pairwise.Block]float32
	var wide [pairwise.Block]float64
	t, w := room[:len(x)], wide[:len(x)]

	for i, v := range x {
		t[i] = alignment(kx, ky, v, y[i])
	}
	s.cos = pairwise.Sum(t, 8)
	for i, v := range x {
		t[i], w[i] = kx.share(v), kx.distance(v)
	}
	s.px, s.vx = pairwise.Sum(t, 8), pairwise.Sum(w, 8)
	for i, v := range y {
		t[i], w[i] = ky.share(v), ky.distance(v)
	}
	s.py, s.vy = pairwise.Sum(t, 8), pairwise.Sum(w, 8)
}

// refThird is the third pass over a block: the divergence.
func refThird(kx, ky *refScale, x, y []float32) float32 {
	y = y[:len(x)]
	var room [pairwise.Block]float32
	t := room[:len(x)]
	for i, v := range x {
		t[i] = surprise(kx, ky, v, y[i])
	}
	return pairwise.Sum(t, 8)
}

func abs32(f float32) float32 {
	return math.Float32frombits(math.Float32bits(f) &^ (1 << 31))
}
