package metric

import (
	"math"

	"precision/internal/pairwise"
)

const tileBlocks = TileLen / pairwise.Block

// referenceRun is the state of a run in Reference numerics. The float32 sums
// depend on the order of their terms, which is that of package pairwise.
type referenceRun struct {
	pass int
	n    int64

	// Of the first pass. Every total is rounded after every block.
	sums    refSums
	extrema refExtrema
	// differ is Σ(x-y)² without rounding, which counts the different
	// elements of boolean tensors.
	differ float64

	kx, ky  refScale
	lanes   refLanes
	middles refMiddles // of the second pass
	kl      float32    // of the third
	wantsKL bool
}

// referencePartial holds the sums of each block of a tile.
type referencePartial struct {
	n       int
	first   [tileBlocks]refSums
	extrema refExtrema
	second  [tileBlocks]refMiddles
	third   [tileBlocks]float32
	x, y    []float32 // room for rounding float64 elements
}

func (r *referenceRun) reduce(p *referencePartial, x, y []float32) {
	p.n = len(x)
	p.extrema = newRefExtrema()
	if !r.reduceVector(p, x, y) {
		for b := 0; b*pairwise.Block < len(x); b++ {
			lo, hi := b*pairwise.Block, min((b+1)*pairwise.Block, len(x))
			r.reduceBlock(p, b, x[lo:hi], y[lo:hi])
		}
	}
	if r.pass == 0 {
		for b := 0; b*pairwise.Block < len(x); b++ {
			p.extrema.mend(&p.first[b])
		}
	}
}

func (r *referenceRun) reduceBlock(p *referencePartial, b int, x, y []float32) {
	switch r.pass {
	case 0:
		refFirst(&p.first[b], &p.extrema, x, y)
	case 1:
		refSecond(&p.second[b], &r.kx, &r.ky, x, y)
	case 2:
		p.third[b] = refThird(&r.kx, &r.ky, x, y)
	}
}

func (r *referenceRun) fold(p *referencePartial) {
	if r.n == 0 && r.pass == 0 {
		r.extrema = newRefExtrema()
	}
	for b := range (p.n + pairwise.Block - 1) / pairwise.Block {
		switch r.pass {
		case 0:
			s, t := &r.sums, &p.first[b]
			s.xx += t.xx
			s.yy += t.yy
			s.ad += t.ad
			s.dd += t.dd
			s.rel += t.rel
			s.x += t.x
			s.y += t.y
			r.differ += float64(t.dd)
		case 1:
			s, t := &r.middles, &p.second[b]
			s.cos += t.cos
			s.px += t.px
			s.py += t.py
			s.vx += t.vx
			s.vy += t.vy
		case 2:
			r.kl += p.third[b]
		}
	}
	if r.pass == 0 {
		r.n += int64(p.n)
		r.extrema.merge(&p.extrema)
	}
}

// next decides whether the selected metrics need another pass.
func (r *referenceRun) next(run *Run) bool {
	pass := r.pass
	r.pass++
	if pass == 0 {
		n := float64(r.n)
		e := &r.extrema
		r.kx = newRefScale(r.sums.xx, e.loX, e.hiX, r.sums.x/n)
		r.ky = newRefScale(r.sums.yy, e.loY, e.hiY, r.sums.y/n)
		r.lanes.set(&r.kx, &r.ky)
		r.wantsKL = run.needs&sumsOfShares != 0 && finite(r.kx.spread) && finite(r.ky.spread)
	}
	switch {
	case r.n == 0 || run.cfg.Boolean:
		return false
	case pass == 0:
		return r.wantsKL || run.needs&sumsOfCentered != 0
	case pass == 1:
		r.kx.sum, r.ky.sum = r.middles.px, r.middles.py
		r.lanes.set(&r.kx, &r.ky)
		return r.wantsKL
	}
	return false
}

func (r *Run) referenceResult() Result {
	result := Result{N: r.ref.n}
	if !r.cfg.TableOnly {
		result.Facts = r.exact.facts()
	}
	for _, m := range r.metrics {
		note := func(kind NoteKind, side Side) {
			result.Notes = append(result.Notes, Note{Kind: kind, Numerics: Reference, Metric: m, Side: side})
		}
		d := table[m]
		if r.cfg.Boolean && !d.boolean {
			note(NoteBoolean, Mine)
			continue
		}
		result.Values[m] = d.reference(&r.ref, &r.cfg, note)
	}
	return result
}

// mean divides as numpy does: in float64, then rounded.
func (r *referenceRun) mean(sum float32) float32 {
	return float32(float64(sum) / float64(r.n))
}

func sqrt32(f float32) float32 { return float32(math.Sqrt(float64(f))) }

func finite[T float32 | float64](f T) bool { return f-f == 0 }
