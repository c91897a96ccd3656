package metric

import "math"

// The loops of Reference numerics, a block of at most 8192 elements each. All
// element operations are in float32 and rounded one by one: the conversions
// keep compilers from fusing a multiplication with an addition. Sums have the
// shape of [pairwise].

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

// refFirst is the first pass over a block: everything that needs no look
// ahead.
func refFirst(s *refSums, e *refExtrema, x, y []float32) {
	y = y[:len(x)]
	var room [sumBlock]float32
	var wide [sumBlock]float64
	t, w := room[:len(x)], wide[:len(x)]

	for i, v := range x {
		t[i] = float32(v * v)
		w[i] = float64(v)
		e.loX, e.hiX = min(e.loX, v), max(e.hiX, v)
	}
	s.xx, s.x = pairwise(t), pairwise(w)
	for i, v := range y {
		t[i] = float32(v * v)
		w[i] = float64(v)
		e.loY, e.hiY = min(e.loY, v), max(e.hiY, v)
	}
	s.yy, s.y = pairwise(t), pairwise(w)
	for i, v := range x {
		t[i] = abs32(v - y[i])
		e.maxAbs = max(e.maxAbs, t[i])
	}
	s.ad = pairwise(t)
	for i, d := range t {
		t[i] = float32(d * d)
	}
	s.dd = pairwise(t)
	for i, v := range x {
		t[i] = 0
		if float64(abs32(y[i])) > epsilon64 {
			t[i] = abs32(float32(v/y[i]) - 1)
		}
		e.maxRel = max(e.maxRel, t[i])
	}
	s.rel = pairwise(t)
}

// refScale is what the second and third pass know of a side.
type refScale struct {
	norm   float32 // of the elements
	lo     float32 // p is (v-lo)/spread, or v if spread is 0
	spread float32
	sum    float32 // of p, known in the third pass
	mean   float64
}

// share scales an element for the divergence; it is at least 2^-23.
func (s *refScale) share(v float32) float32 {
	if s.spread != 0 {
		v = float32(v-s.lo) / s.spread
	}
	return max(v, epsilon32)
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
	var room [sumBlock]float32
	var wide [sumBlock]float64
	t, w := room[:len(x)], wide[:len(x)]

	for i, v := range x {
		t[i] = float32(float32(v/kx.norm) * float32(y[i]/ky.norm))
	}
	s.cos = pairwise(t)
	for i, v := range x {
		t[i] = kx.share(v)
		d := float64(v) - kx.mean
		w[i] = float64(d * d)
	}
	s.px, s.vx = pairwise(t), pairwise(w)
	for i, v := range y {
		t[i] = ky.share(v)
		d := float64(v) - ky.mean
		w[i] = float64(d * d)
	}
	s.py, s.vy = pairwise(t), pairwise(w)
}

// refThird is the third pass over a block: the divergence.
func refThird(kx, ky *refScale, x, y []float32) float32 {
	y = y[:len(x)]
	var room [sumBlock]float32
	t := room[:len(x)]
	for i, v := range x {
		p := kx.share(v) / kx.sum
		q := ky.share(y[i]) / ky.sum
		t[i] = float32(p * log32(p/q))
	}
	return pairwise(t)
}

func abs32(f float32) float32 {
	return math.Float32frombits(math.Float32bits(f) &^ (1 << 31))
}
