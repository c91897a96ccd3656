package metric

import "math"

// exactRun is the state of a run in Exact numerics.
type exactRun struct {
	pass   int
	n      int64 // elements folded in the first pass
	sums   exactSums
	kx, ky klScale
	kl     klSums
	wide   bool         // elements are not float32
	narrow *narrowScale // unless the second pass needs float64
	close  narrowSums   // of such a pass
	seen   seen
	within Tolerance
}

type exactPartial struct {
	n     int
	wide  bool
	sums  exactSums
	kl    klSums
	close narrowSums
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
	return exactSums{loX: inf, hiX: -inf, loY: inf, hiY: -inf, places: places{tx: newTally(), ty: newTally()}}
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
	if r.pass > 0 && r.narrow != nil {
		r.reduceNarrow(p, x, y)
		return
	}
	if r.pass > 0 {
		reduceKL(r, p, x, y, &vector32[active])
		return
	}
	var t tileSums
	p.n, p.wide = len(x), false
	vector32[active].sumTile(&t, x, y)
	if !finite(t.xx) || !finite(t.yy) {
		sumCarefully(&p.sums, x, y, r.within)
		return
	}
	fromTile(r, &p.sums, &t, x, y, &vector32[active])
}

func (r *exactRun) reduce64(p *exactPartial, x, y []float64) {
	if r.pass > 0 {
		reduceKL(r, p, x, y, &vector64[active])
		return
	}
	var t tileSums
	p.n, p.wide = len(x), true
	vector64[active].sumTile(&t, x, y)
	if !finite(t.xx) || !finite(t.yy) || !squaresFit(max(-t.loX, t.hiX)) ||
		!squaresFit(max(-t.loY, t.hiY)) || !squaresFit(t.maxAbs) || !finite(t.rel) {
		sumCarefully(&p.sums, x, y, r.within)
		return
	}
	fromTile(r, &p.sums, &t, x, y, &vector64[active])
}

// squaresFit tells whether the squares of elements of up to top neither
// overflow nor vanish all.
func squaresFit(top float64) bool { return scaleFor(top) == 0 }

// fromTile turns the sums of a finite tile into sums that can be added.
func fromTile[T float32 | float64](r *exactRun, s *exactSums, t *tileSums, x, y []T, again *kernels[T]) {
	*s = newExactSums()
	if len(x) == 0 {
		return
	}
	s.n = int64(len(x))
	s.xy.m, s.xx.m, s.yy.m, s.dd.m, s.ad.m = t.xy, t.xx, t.yy, t.dd, t.ad
	s.rel.m, s.maxAbs, s.maxRel = t.rel, t.maxAbs, t.maxRel
	s.loX, s.hiX, s.loY, s.hiY = t.loX, t.hiX, t.loY, t.hiY
	s.zeroMax, s.zeroGolden = t.zeroMax, t.zeroGolden
	s.x = tileMoments(x, t.x, t.xx, again)
	s.y = tileMoments(y, t.y, t.yy, again)
	s.tx = tally{zero: t.zeroX, lo: t.loX, hi: t.hiX}
	s.ty = tally{zero: t.zeroY, lo: t.loY, hi: t.hiY}
	s.diff.m = t.x - t.y
	s.differ = t.differ
	element := func(by float64) Element {
		i := again.firstApart(x, y, by)
		return Element{Index: int64(i), X: float64(x[i]), Y: float64(y[i])}
	}
	if t.maxAbs > r.seen.maxAbs() {
		s.worst = element(t.maxAbs)
	}
	if t.differ > 0 && r.seen.maxAbs() == 0 {
		s.firstDiffer = element(math.SmallestNonzeroFloat64)
	}
	if s.outside = t.differ; t.differ > 0 && r.within != (Tolerance{}) {
		s.outside = again.countOutside(x, y, r.within)
	}
}

// tileMoments takes the spread from the sums, unless the mean is so large
// compared to it that too many digits would cancel: then it looks at the
// elements again.
func tileMoments[T float32 | float64](v []T, sum, squares float64, again *kernels[T]) moments {
	n := float64(len(v))
	m := moments{n: int64(len(v)), mean: sum / n}
	m.m2 = squares - sum*m.mean
	if m.m2 < squares/cancelLimit {
		m.m2 = max(0, again.spreadAbout(v, m.mean))
	}
	return m
}

// cancelLimit bounds the loss of digits in a spread to five bits.
const cancelLimit = 32

func reduceKL[T float32 | float64](r *exactRun, p *exactPartial, x, y []T, k *kernels[T]) {
	p.n = len(x)
	if r.sums.agree == 0 {
		k.sumKL(&p.kl, &r.kx, &r.ky, x, y)
		return
	}
	p.kl = klSums{}
	closeRanks(x, y, func(x, y []T) {
		var t klSums
		k.sumKL(&t, &r.kx, &r.ky, x, y)
		p.kl.add(t)
	})
}

func (r *exactRun) reduceNarrow(p *exactPartial, x, y []float32) {
	p.n = len(x)
	if r.sums.agree == 0 {
		sumNarrow(&p.close, r.narrow, x, y)
		return
	}
	p.close = narrowSums{}
	closeRanks(x, y, func(x, y []float32) {
		var t narrowSums
		sumNarrow(&t, r.narrow, x, y)
		p.close.add(t)
	})
}

// closeRanks hands on the elements that are finite on both sides, some at a time.
func closeRanks[T float32 | float64](x, y []T, sum func(x, y []T)) {
	var a, b [256]T
	k := 0
	for i, v := range x {
		if !finite(v) || !finite(y[i]) {
			continue
		}
		a[k], b[k] = v, y[i]
		if k++; k == len(a) {
			sum(a[:k], b[:k])
			k = 0
		}
	}
	sum(a[:k], b[:k])
}

func (r *exactRun) fold(p *exactPartial) {
	switch {
	case r.pass > 0 && r.narrow != nil:
		r.close.add(p.close)
	case r.pass > 0:
		r.kl.add(p.kl)
	default:
		if r.n == 0 {
			r.sums = newExactSums()
		}
		r.sums.add(&p.sums, r.n)
		r.seen.bits.Store(math.Float64bits(r.sums.maxAbs))
		r.n += int64(p.n)
		r.wide = r.wide || p.wide
	}
}

// next asks for a second pass if there is a divergence to compute. There is
// none between equal tensors, nor between constant ones. A large divergence takes a third
// pass, as that in float32 lanes is not good enough for it.
func (r *exactRun) next(run *Run) bool {
	r.pass++
	s := &r.sums
	switch {
	case run.needs&sumsOfShares == 0 || s.n == 0 || s.disagree > 0 || s.maxAbs == 0:
		return false
	case r.pass > 1:
		again := r.narrow != nil && !(r.close.divergence() < wideFrom)
		if again {
			r.narrow = nil
		}
		return again
	}
	r.kx, r.ky = newKLScale(s.loX, s.hiX), newKLScale(s.loY, s.hiY)
	if r.kx.inverse == 0 && r.ky.inverse == 0 {
		return false
	}
	if k, ok := newNarrowScale(s, &r.kx, &r.ky); ok && !r.wide {
		r.narrow = &k
	}
	return true
}
