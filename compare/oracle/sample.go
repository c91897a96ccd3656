package oracle

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// sampler chooses the elements of an output that are looked at when not all
// are. Faults of kernels sit in tails and borders, so that places are chosen by
// strata: of every block of 16 along every axis, its first and last index,
// somewhere on the other axes; then the corners, the extreme and the
// non-finite numbers that were recorded, and more at random. The seed is fixed.
type sampler struct {
	shape []int64
	rng   *rand.Rand
	idx   []int64
}

const (
	// mostStrata bounds the indices that are tried on one axis.
	mostStrata = 512
	// extremes is how many of the largest and the smallest recorded numbers
	// are looked at, and how many non-finite ones.
	extremes = 32
	// randomPlaces is how many places are chosen anywhere.
	randomPlaces = 1024
)

func samples(shape []int64, extra []int64) []int64 {
	n := count(shape)
	s := &sampler{shape: shape, rng: rand.New(rand.NewPCG(uint64(n), 12))}
	at := make([]int64, len(shape))
	for a, d := range shape {
		for _, i := range strata(d) {
			for range 2 {
				for k, d := range shape {
					at[k] = s.rng.Int64N(d)
				}
				at[a] = i
				s.add(at)
			}
		}
	}
	for corner := range 1 << min(len(shape), 6) {
		for k, d := range shape {
			at[k] = 0
			if k < 6 && corner>>k&1 == 1 {
				at[k] = d - 1
			}
		}
		s.add(at)
	}
	for range randomPlaces {
		s.idx = append(s.idx, s.rng.Int64N(n))
	}
	s.idx = append(s.idx, extra...)
	return sortedUnique(s.idx)
}

func sortedUnique(idx []int64) []int64 {
	slices.Sort(idx)
	return slices.Compact(idx)
}

func (s *sampler) add(at []int64) {
	i := int64(0)
	for k, d := range s.shape {
		i = i*d + at[k]
	}
	s.idx = append(s.idx, i)
}

// strata are the borders of the blocks of 16 of an axis, evenly thinned.
func strata(d int64) []int64 {
	var all []int64
	step := int64(16)
	for d/step*2 > mostStrata {
		step *= 2
	}
	for i := int64(0); i < d; i += step {
		all = append(all, i)
		if last := min(i+step, d) - 1; last > i {
			all = append(all, last)
		}
	}
	return all
}

// extreme collects the places of the largest and of non-finite numbers in one
// pass.
type extreme struct {
	top  []place
	odd  []int64
	seen int64 // non-finite ones
	rng  *rand.Rand
}

type place struct {
	i int64
	x float64
}

func (e *extreme) add(lo int64, x []float64) {
	if e.rng == nil {
		e.rng = rand.New(rand.NewPCG(1, 2))
	}
	limit := -1.0
	if len(e.top) >= extremes {
		limit = e.top[extremes-1].x
	}
	for k, v := range x {
		a := math.Abs(v)
		if a <= limit {
			continue
		}
		if !(a < math.Inf(1)) {
			// An even choice of all that there are.
			if e.seen++; len(e.odd) < extremes {
				e.odd = append(e.odd, lo+int64(k))
			} else if r := e.rng.Int64N(e.seen); r < extremes {
				e.odd[r] = lo + int64(k)
			}
			continue
		}
		e.top = append(e.top, place{lo + int64(k), a})
		if len(e.top) >= 4*extremes {
			e.trim()
			limit = e.top[extremes-1].x
		}
	}
}

func (e *extreme) trim() {
	slices.SortFunc(e.top, func(a, b place) int { return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(a.i, b.i)) })
	e.top = e.top[:min(len(e.top), extremes)]
}

func (e *extreme) places() []int64 {
	e.trim()
	out := slices.Clone(e.odd)
	for _, p := range e.top {
		out = append(out, p.i)
	}
	return out
}
