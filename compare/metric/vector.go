package metric

import "precision/internal/kernel"

// kernels are the vector loops of an instruction set for elements of a type. They
// take whole vectors, whose length divides 16 elements; what is left, and all where
// there are none, goes through the Go loops.
type kernels[T float32 | float64] struct {
	tile    func(x, y *T, n int) [kernel.SumSlots]float64
	kl      func(scales [4]float64, x, y *T, n int) [3]float64
	spread  func(v *T, mean float64, n int) [2]float64
	apart   func(x, y *T, n int, by float64) int
	outside func(x, y *T, n int, abs, rel float64) int
}

// whole is how many of n elements kernels take that come by so many.
func (k *kernels[T]) whole(n, by int) int {
	if k.tile == nil {
		return 0
	}
	return n &^ (by - 1)
}

func (k *kernels[T]) sumTile(t *tileSums, x, y []T) {
	n := k.whole(len(x), 16)
	if n == 0 {
		sumTile(t, x, y)
		return
	}
	out := k.tile(&x[0], &y[0], n)
	t.set(&out, n)
	if n < len(x) {
		var rest tileSums
		sumTile(&rest, x[n:], y[n:])
		t.add(&rest)
	}
}

// set takes what a kernel put out about n elements.
func (t *tileSums) set(v *[kernel.SumSlots]float64, n int) {
	*t = tileSums{
		xy: v[kernel.SlotXY], xx: v[kernel.SlotXX], yy: v[kernel.SlotYY],
		dd: v[kernel.SlotDD], ad: v[kernel.SlotAD], rel: v[kernel.SlotRel],
		x: v[kernel.SlotX], y: v[kernel.SlotY],
		maxAbs: v[kernel.SlotMaxAbs], maxRel: v[kernel.SlotMaxRel],
		loX: v[kernel.SlotLoX], hiX: v[kernel.SlotHiX], loY: v[kernel.SlotLoY], hiY: v[kernel.SlotHiY],
		zeroMax: v[kernel.SlotZeroMax], zeroGolden: int64(v[kernel.SlotZeroGolden]),
		zeroX: int64(n) - int64(v[kernel.SlotNonzeroX]), zeroY: int64(n) - int64(v[kernel.SlotNonzeroY]),
		differ: int64(v[kernel.SlotDiffer]),
	}
}

func (t *tileSums) add(s *tileSums) {
	t.xy += s.xy
	t.xx += s.xx
	t.yy += s.yy
	t.dd += s.dd
	t.ad += s.ad
	t.rel += s.rel
	t.x += s.x
	t.y += s.y
	t.maxAbs, t.maxRel = max(t.maxAbs, s.maxAbs), max(t.maxRel, s.maxRel)
	t.loX, t.hiX = min(t.loX, s.loX), max(t.hiX, s.hiX)
	t.loY, t.hiY = min(t.loY, s.loY), max(t.hiY, s.hiY)
	t.zeroMax = max(t.zeroMax, s.zeroMax)
	t.zeroGolden += s.zeroGolden
	t.zeroX += s.zeroX
	t.zeroY += s.zeroY
	t.differ += s.differ
}

func (k *kernels[T]) sumKL(s *klSums, kx, ky *klScale, x, y []T) {
	n := k.whole(len(x), 8)
	switch {
	case k.kl == nil:
		plainKL(s, kx, ky, x, y)
	case n == 0 || kx.unit != 1 || ky.unit != 1:
		sumKL(s, kx, ky, x, y)
	default:
		out := k.kl([4]float64{kx.lo, kx.inverse, ky.lo, ky.inverse}, &x[0], &y[0], n)
		sumKL(s, kx, ky, x[n:], y[n:])
		s.add(klSums{out[0], out[1], out[2]})
	}
}

// spreadAbout is Σ(v-mean)² for a mean that is right but for rounding.
func (k *kernels[T]) spreadAbout(v []T, mean float64) float64 {
	n := k.whole(len(v), 16)
	s, ss := sumSpread(v[n:], mean)
	if n > 0 {
		out := k.spread(&v[0], mean, n)
		s, ss = s+out[0], ss+out[1]
	}
	return ss - s*s/float64(len(v))
}

// firstApart is that of the Go loop, with a kernel that finds sixteen elements to
// look at.
func (k *kernels[T]) firstApart(x, y []T, by float64) int {
	n := k.whole(len(x), 16)
	for at := 0; at < n; at += 16 {
		at += k.apart(&x[at], &y[at], n-at, by)
		if at == n {
			break
		}
		if i := firstApart(x[at:at+16], y[at:at+16], by); i < 16 {
			return at + i
		}
	}
	return n + firstApart(x[n:], y[n:], by)
}

func (k *kernels[T]) countOutside(x, y []T, within Tolerance) int64 {
	n, count := k.whole(len(x), 16), 0
	if n > 0 {
		count = k.outside(&x[0], &y[0], n, within.Abs, within.Rel)
	}
	return int64(count) + outside(x[n:], y[n:], within)
}
