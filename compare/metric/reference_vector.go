//go:build (amd64 || arm64) && !noasm

package metric

import "precision/internal/pairwise"

// leafRows are the sums of the leaves of a block, and then of larger and
// larger parts of it.
type leafRows struct {
	rows    [128][8]float32
	doubles [128][2]float64
}

// leafPlan cuts a block into the leaves of [pairwise.Sum].
type leafPlan struct {
	groups [128]uint8 // of eight elements, by leaf
	n      int        // leaves
}

func (p *leafPlan) cut(n int) {
	if n > pairwise.Leaf {
		h := pairwise.Halve(n, 8)
		p.cut(h)
		p.cut(n - h)
		return
	}
	p.groups[p.n] = uint8(n / 8)
	p.n++
}

var fullPlan = func() (p leafPlan) {
	p.cut(pairwise.Block)
	return p
}()

// sum adds the leaves of a block of n elements; the first leaf is in row i. It
// returns the row of the sum and of the leaf behind.
func (r *leafRows) sum(n, i int) (at, next int) {
	if n <= pairwise.Leaf {
		return i, i + 1
	}
	h := pairwise.Halve(n, 8)
	a, next := r.sum(h, i)
	b, next := r.sum(n-h, next)
	for j := range r.rows[a] {
		r.rows[a][j] += r.rows[b][j]
	}
	for j := range r.doubles[a] {
		r.doubles[a][j] += r.doubles[b][j]
	}
	return a, next
}

// reduceVector is reduce with vector kernels. It returns false if there are
// none, or if the values are out of their range.
func (r *referenceRun) reduceVector(p *referencePartial, x, y []float32) bool {
	if active == levelGo || r.pass == 2 && !(ordinary(r.kx.sum) && ordinary(r.ky.sum)) {
		return false
	}
	var work leafRows
	var ext [6][8]float32
	start := newRefExtrema()
	for i := range 8 {
		start.lane(&ext, i)
	}
	for b := 0; b*pairwise.Block < len(x); b++ {
		lo, hi := b*pairwise.Block, min((b+1)*pairwise.Block, len(x))
		r.vectorBlock(p, b, &work, &ext, x[lo:hi], y[lo:hi])
	}
	if r.pass == 0 {
		p.extrema.gather(&ext)
	}
	return true
}

// ordinary tells whether quotients of scaled elements by sum, and quotients of
// those, are normal numbers.
func ordinary(sum float32) bool { return sum >= epsilon32 && sum <= 0x1p40 }

func (r *referenceRun) vectorBlock(p *referencePartial, b int, work *leafRows, ext *[6][8]float32, x, y []float32) {
	var short leafPlan
	plan := &fullPlan
	if len(x) < pairwise.Block {
		plan = &short
		plan.cut(len(x))
	}
	if len(x) < 8 {
		work.rows[0], work.doubles[0] = [8]float32{}, [2]float64{}
	} else {
		r.leaves(work, ext, x, y, plan)
	}
	row := 126
	if plan == &fullPlan {
		addTree(&work.rows, &work.doubles)
	} else {
		// What is left of the last leaf.
		last, e := plan.n-1, &p.extrema
		for i := len(x) &^ 7; i < len(x); i++ {
			r.addTerms(&work.rows[last], &work.doubles[last], e, x[i], y[i])
		}
		row, _ = work.sum(len(x), 0)
	}
	v, d := &work.rows[row], &work.doubles[row]
	switch r.pass {
	case 0:
		p.first[b] = refSums{xx: v[0], yy: v[1], ad: v[2], dd: v[3], rel: v[4], x: d[0], y: d[1]}
	case 1:
		p.second[b] = refMiddles{cos: v[0], px: v[1], py: v[2], vx: d[0], vy: d[1]}
	case 2:
		p.third[b] = v[0]
	}
}

// addTerms adds one element to the sums of a leaf.
func (r *referenceRun) addTerms(v *[8]float32, d *[2]float64, e *refExtrema, x, y float32) {
	kx, ky := &r.kx, &r.ky
	switch r.pass {
	case 0:
		ad, rel := abs32(x-y), relativeError(x, y)
		v[0] += float32(x * x)
		v[1] += float32(y * y)
		v[2] += ad
		v[3] += float32(ad * ad)
		v[4] += rel
		d[0] += float64(x)
		d[1] += float64(y)
		e.merge(&refExtrema{ad, rel, x, x, y, y})
	case 1:
		v[0] += alignment(kx, ky, x, y)
		v[1] += kx.share(x)
		v[2] += ky.share(y)
		d[0] += kx.distance(x)
		d[1] += ky.distance(y)
	case 2:
		v[0] += surprise(kx, ky, x, y)
	}
}

// lane puts e into lane i of the extrema of the kernels.
func (e *refExtrema) lane(ext *[6][8]float32, i int) {
	ext[0][i], ext[1][i] = e.maxAbs, e.maxRel
	ext[2][i], ext[3][i], ext[4][i], ext[5][i] = e.loX, e.hiX, e.loY, e.hiY
}

// gather takes the extrema from the lanes.
func (e *refExtrema) gather(ext *[6][8]float32) {
	for i := range 8 {
		e.merge(&refExtrema{ext[0][i], ext[1][i], ext[2][i], ext[3][i], ext[4][i], ext[5][i]})
	}
}
