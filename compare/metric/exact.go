package metric

import "math"

// exactRun is the state of a run in Exact numerics.
type exactRun struct {
	pass   int
	n      int64 // elements folded in the first pass
	sums   exactSums
	kx, ky klScale
	kl     klSums
	seen   seen
	within Tolerance
}

type exactPartial struct {
	n    int
	sums exactSums
	kl   klSums
}

// exactSums are the sums over any stretch of the tensors that need no look
// ahead, over the elements that are finite on both sides.
type exactSums struct {
	n                  int64
	xy, xx, yy, dd, ad scaled
	rel                scaled
	maxAbs, maxRel     float64
	loX, hiX, loY, hiY float64
	x, y               moments // over the finite elements of either side
	zeroMax            float64
	zeroGolden         int64
	agree, disagree    int64
	first              Element // that disagrees
	places
}

func newExactSums() exactSums {
	inf := math.Inf(1)
	return exactSums{loX: inf, hiX: -inf, loY: inf, hiY: -inf, places: newPlaces()}
}

// add appends t, which begins at the element start of the tensor.
func (s *exactSums) add(t *exactSums, start int64) {
	s.places.add(&t.places, start, t.maxAbs > s.maxAbs)
	s.n += t.n
	s.xy.add(t.xy)
	s.xx.add(t.xx)
	s.yy.add(t.yy)
	s.dd.add(t.dd)
	s.ad.add(t.ad)
	s.rel.add(t.rel)
	s.maxAbs = max(s.maxAbs, t.maxAbs)
	s.maxRel = max(s.maxRel, t.maxRel)
	s.loX, s.hiX = min(s.loX, t.loX), max(s.hiX, t.hiX)
	s.loY, s.hiY = min(s.loY, t.loY), max(s.hiY, t.hiY)
	s.x.add(t.x)
	s.y.add(t.y)
	s.zeroMax = max(s.zeroMax, t.zeroMax)
	s.zeroGolden += t.zeroGolden
	s.agree += t.agree
	if s.disagree == 0 && t.disagree > 0 {
		s.first = t.first
		s.first.Index += start
	}
	s.disagree += t.disagree
}

func (r *exactRun) reduce32(p *exactPartial, x, y []float32) {
	if r.pass > 0 {
		reduceKL(r, p, x, y, sumKL32)
		return
	}
	var t tileSums
	p.n = len(x)
	sumTile32(&t, x, y)
	if !finite(t.xx) || !finite(t.yy) {
		sumCarefully(&p.sums, x, y, r.within)
		return
	}
	fromTile(r, &p.sums, &t, x, y, &loops32)
}

func (r *exactRun) reduce64(p *exactPartial, x, y []float64) {
	if r.pass > 0 {
		reduceKL(r, p, x, y, sumKL64)
		return
	}
	var t tileSums
	p.n = len(x)
	sumTile64(&t, x, y)
	if !finite(t.xx) || !finite(t.yy) || !squaresFit(max(-t.loX, t.hiX)) ||
		!squaresFit(max(-t.loY, t.hiY)) || !squaresFit(t.maxAbs) || !finite(t.rel) {
		sumCarefully(&p.sums, x, y, r.within)
		return
	}
	fromTile(r, &p.sums, &t, x, y, &loops64)
}

// squaresFit tells whether the squares of elements of up to top neither
// overflow nor vanish all.
func squaresFit(top float64) bool { return scaleFor(top) == 0 }

// loops are those that take a second look at a tile, with vector kernels if there
// are any.
type loops[T float32 | float64] struct {
	spread     func(v []T, mean float64) float64
	firstApart func(x, y []T, by float64) int
	outside    func(x, y []T, within Tolerance) int64
}

var (
	loops32 = loops[float32]{spreadAbout32, firstApart32, outside32}
	loops64 = loops[float64]{spreadAbout64, firstApart64, outside64}
)

// fromTile turns the sums of a finite tile into sums that can be added.
func fromTile[T float32 | float64](r *exactRun, s *exactSums, t *tileSums, x, y []T, again *loops[T]) {
	*s = newExactSums()
	if len(x) == 0 {
		return
	}
	s.n = int64(len(x))
	s.xy.m, s.xx.m, s.yy.m, s.dd.m, s.ad.m = t.xy, t.xx, t.yy, t.dd, t.ad
	s.rel.m, s.maxAbs, s.maxRel = t.rel, t.maxAbs, t.maxRel
	s.loX, s.hiX, s.loY, s.hiY = t.loX, t.hiX, t.loY, t.hiY
	s.zeroMax, s.zeroGolden = t.zeroMax, t.zeroGolden
	s.x = tileMoments(x, t.x, t.xx, again.spread)
	s.y = tileMoments(y, t.y, t.yy, again.spread)
	s.tx = tally{zero: t.zeroX, lo: t.loX, hi: t.hiX}
	s.ty = tally{zero: t.zeroY, lo: t.loY, hi: t.hiY}
	s.diff.m = t.x - t.y
	s.differ = t.differ
	element := func(by float64) Element {
		i := again.firstApart(x, y, by)
		return Element{int64(i), float64(x[i]), float64(y[i])}
	}
	if t.maxAbs > r.seen.maxAbs() {
		s.worst = element(t.maxAbs)
	}
	if t.differ > 0 && r.seen.maxAbs() == 0 {
		s.firstDiffer = element(math.SmallestNonzeroFloat64)
	}
	if s.outside = t.differ; t.differ > 0 && r.within != (Tolerance{}) {
		s.outside = again.outside(x, y, r.within)
	}
}

// tileMoments takes the spread from the sums, unless the mean is so large
// compared to it that too many digits would cancel: then it looks at the
// elements again.
func tileMoments[T float32 | float64](v []T, sum, squares float64, spread func([]T, float64) float64) moments {
	n := float64(len(v))
	m := moments{n: int64(len(v)), mean: sum / n}
	m.m2 = squares - sum*m.mean
	if m.m2 < squares/cancelLimit {
		m.m2 = max(0, spread(v, m.mean))
	}
	return m
}

// cancelLimit bounds the loss of digits in a spread to five bits.
const cancelLimit = 32

func reduceKL[T float32 | float64](r *exactRun, p *exactPartial, x, y []T, sum func(*klSums, *klScale, *klScale, []T, []T)) {
	p.n = len(x)
	if r.sums.agree == 0 {
		sum(&p.kl, &r.kx, &r.ky, x, y)
		return
	}
	// Elements that are not finite are left out: the others close ranks.
	var a, b [256]T
	p.kl = klSums{}
	k := 0
	flush := func() {
		var t klSums
		sum(&t, &r.kx, &r.ky, a[:k], b[:k])
		p.kl.add(t)
		k = 0
	}
	for i, v := range x {
		if !finite(v) || !finite(y[i]) {
			continue
		}
		a[k], b[k] = v, y[i]
		if k++; k == len(a) {
			flush()
		}
	}
	flush()
}

func (r *exactRun) fold(p *exactPartial) {
	if r.pass > 0 {
		r.kl.add(p.kl)
		return
	}
	if r.n == 0 {
		r.sums = newExactSums()
	}
	r.sums.add(&p.sums, r.n)
	r.seen.note(r.sums.maxAbs)
	r.n += int64(p.n)
}

// next asks for a second pass if there is a divergence to compute. There is
// none between equal tensors, nor between constant ones.
func (r *exactRun) next(run *Run) bool {
	r.pass++
	s := &r.sums
	if r.pass > 1 || run.needs&sumsOfShares == 0 || s.n == 0 || s.disagree > 0 || s.maxAbs == 0 {
		return false
	}
	r.kx, r.ky = newKLScale(s.loX, s.hiX), newKLScale(s.loY, s.hiY)
	return r.kx.inverse != 0 || r.ky.inverse != 0
}
