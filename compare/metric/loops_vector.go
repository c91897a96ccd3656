//go:build (amd64 || arm64) && !noasm

package metric

import (
	"math"

	"precision/internal/kernel"
)

// The kernels take whole vectors, whose length divides 16 elements; what is left
// goes through the Go loops. The kernels themselves are in the file of each
// processor.

func sumTile32(t *tileSums, x, y []float32) {
	var out [kernel.SumSlots]float64
	n := len(x) &^ 15
	if active == levelGo || n == 0 {
		sumTile(t, x, y)
		return
	}
	tileKernel32(&out, &x[0], &y[0], n)
	t.set(&out, n)
	if n < len(x) {
		var rest tileSums
		sumTile(&rest, x[n:], y[n:])
		t.add(&rest)
	}
}

func sumTile64(t *tileSums, x, y []float64) {
	var out [kernel.SumSlots]float64
	n := len(x) &^ 15
	if active == levelGo || n == 0 {
		sumTile(t, x, y)
		return
	}
	tileKernel64(&out, &x[0], &y[0], n)
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

func sumKL32(s *klSums, kx, ky *klScale, x, y []float32) {
	n := len(x) &^ 7
	if active == levelGo || n == 0 || kx.unit != 1 || ky.unit != 1 {
		sumKL(s, kx, ky, x, y)
		return
	}
	var out [3]float64
	k := [4]float64{kx.lo, kx.inverse, ky.lo, ky.inverse}
	klKernel32(&out, &k, &x[0], &y[0], n)
	sumKL(s, kx, ky, x[n:], y[n:])
	s.add(klSums{out[0], out[1], out[2]})
}

func sumKL64(s *klSums, kx, ky *klScale, x, y []float64) {
	n := len(x) &^ 7
	if active == levelGo || n == 0 || kx.unit != 1 || ky.unit != 1 {
		sumKL(s, kx, ky, x, y)
		return
	}
	var out [3]float64
	k := [4]float64{kx.lo, kx.inverse, ky.lo, ky.inverse}
	klKernel64(&out, &k, &x[0], &y[0], n)
	sumKL(s, kx, ky, x[n:], y[n:])
	s.add(klSums{out[0], out[1], out[2]})
}

func spreadAbout32(v []float32, mean float64) float64 {
	n := len(v) &^ 15
	if active == levelGo || n == 0 {
		return spreadAbout(v, mean)
	}
	var out [2]float64
	spreadKernel32(&out, &v[0], mean, n)
	s, ss := sumSpread(v[n:], mean)
	s, ss = s+out[0], ss+out[1]
	return ss - s*s/float64(len(v))
}

func spreadAbout64(v []float64, mean float64) float64 {
	n := len(v) &^ 15
	if active == levelGo || n == 0 {
		return spreadAbout(v, mean)
	}
	var out [2]float64
	spreadKernel64(&out, &v[0], mean, n)
	s, ss := sumSpread(v[n:], mean)
	s, ss = s+out[0], ss+out[1]
	return ss - s*s/float64(len(v))
}

func firstApart32(x, y []float32, by float64) int {
	// The kernel rounds differences to float32, so that it looks for what is
	// one step below. No difference rounds to 0.
	low := max(math.Nextafter32(float32(by), 0), math.SmallestNonzeroFloat32)
	return findApart(x, y, by, func(x, y []float32) int { return apartKernel32(&x[0], &y[0], len(x), low) })
}

func firstApart64(x, y []float64, by float64) int {
	return findApart(x, y, by, func(x, y []float64) int { return apartKernel64(&x[0], &y[0], len(x), by) })
}

// findApart is firstApart with a kernel that finds sixteen elements to look at.
func findApart[T float32 | float64](x, y []T, by float64, find func(x, y []T) int) int {
	n := len(x) &^ 15
	if active == levelGo {
		n = 0
	}
	for at := 0; at < n; at += 16 {
		at += find(x[at:n], y[at:n])
		if at == n {
			break
		}
		if i := firstApart(x[at:at+16], y[at:at+16], by); i < 16 {
			return at + i
		}
	}
	return n + firstApart(x[n:], y[n:], by)
}

func outside32(x, y []float32, within Tolerance) int64 {
	n := len(x) &^ 15
	if active == levelGo || n == 0 {
		return outside(x, y, within)
	}
	return int64(outsideKernel32(&x[0], &y[0], n, within.Abs, within.Rel)) + outside(x[n:], y[n:], within)
}

func outside64(x, y []float64, within Tolerance) int64 {
	n := len(x) &^ 15
	if active == levelGo || n == 0 {
		return outside(x, y, within)
	}
	return int64(outsideKernel64(&x[0], &y[0], n, within.Abs, within.Rel)) + outside(x[n:], y[n:], within)
}
