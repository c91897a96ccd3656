package array

import (
	"context"
	"math"

	"precision/dump/dtype"
)

// Stats describes the elements of a tensor. Max, Min and Mean are those of the
// finite elements, NaN if there are none.
type Stats struct {
	Count          int64 // numbers, two for each element of a complex type
	NaN, Inf       int64
	Max, Min, Mean float64
	// Limit counts elements at ±65504, the largest float16, where devices that
	// saturate stop. It is counted for float16 only.
	Limit int64
}

// largestHalf is the largest float16 (IEEE 754 binary16).
const largestHalf = 65504

// partial are the statistics of a tile. finite counts what sum is the sum of.
type partial struct {
	nan, inf, limit, finite int64
	max, min, sum           float64
}

// measure are the statistics of the numbers of a tile.
func (p *partial) measure(v []float64) {
	p.max, p.min = math.Inf(-1), math.Inf(1)
	p.add(v)
}

// add takes v into the statistics. Four elements at a time have sums, largest
// and smallest of their own, so that no addition waits for the one before.
func (p *partial) add(v []float64) {
	var s0, s1, s2, s3 float64
	m0, m1, m2, m3 := p.max, p.max, p.max, p.max
	l0, l1, l2, l3 := p.min, p.min, p.min, p.min
	i := 0
	for ; i+4 <= len(v); i += 4 {
		x := v[i : i+4 : i+4]
		a, b, c, d := x[0], x[1], x[2], x[3]
		// Of something that is not finite this difference is NaN.
		if t := (a - a) + (b - b) + (c - c) + (d - d); t != 0 {
			for _, x := range x {
				p.single(x)
			}
			continue
		}
		s0, s1, s2, s3 = s0+a, s1+b, s2+c, s3+d
		if a > m0 {
			m0 = a
		}
		if b > m1 {
			m1 = b
		}
		if c > m2 {
			m2 = c
		}
		if d > m3 {
			m3 = d
		}
		if a < l0 {
			l0 = a
		}
		if b < l1 {
			l1 = b
		}
		if c < l2 {
			l2 = c
		}
		if d < l3 {
			l3 = d
		}
	}
	p.sum += (s0 + s1) + (s2 + s3)
	p.max = max(p.max, m0, m1, m2, m3)
	p.min = min(p.min, l0, l1, l2, l3)
	for _, x := range v[i:] {
		p.single(x)
	}
	p.finite = int64(len(v)) - p.nan - p.inf
	// Only tiles that reach it hold the largest float16.
	if p.max >= largestHalf || p.min <= -largestHalf {
		for _, x := range v {
			if x == largestHalf || x == -largestHalf {
				p.limit++
			}
		}
	}
}

// single takes one number into the statistics.
func (p *partial) single(x float64) {
	switch {
	case x != x:
		p.nan++
	case x-x != 0:
		p.inf++
	default:
		p.sum += x
		p.max, p.min = max(p.max, x), min(p.min, x)
	}
}

// Measure reads the tensor once. Sums are float64, tile by tile, and added in
// the order of the tiles. Elements that are shown several times are read once and count as often.
func (a *Array) Measure(ctx context.Context, workers int) (Stats, error) {
	if a.once != nil {
		b := *a.once
		b.source = a.source
		s, err := b.Measure(ctx, workers)
		s.Count, s.NaN, s.Inf, s.Limit = a.Numbers(), s.NaN*a.times, s.Inf*a.times, s.Limit*a.times
		return s, err
	}
	if err := a.tooMany(); err != nil {
		return Stats{}, err
	}
	n := a.Len()
	parts := make([]partial, (n+tile-1)/tile)
	err := tiles(ctx, n, workers, func() func(int, int64, int64) {
		c := a.cursor()
		return func(k int, first, count int64) { parts[k].measure(c.elements(first, count)) }
	})
	return a.stats(len(parts), func(i int) *partial { return &parts[i] }), err
}

// stats puts the statistics of n tiles together.
func (a *Array) stats(n int, part func(i int) *partial) Stats {
	s := Stats{Count: a.Numbers(), Max: math.Inf(-1), Min: math.Inf(1)}
	var sum float64
	var finite int64
	for i := range n {
		p := part(i)
		s.NaN += p.nan
		s.Inf += p.inf
		s.Limit += p.limit
		finite += p.finite
		s.Max, s.Min = max(s.Max, p.max), min(s.Min, p.min)
		sum += p.sum
	}
	s.Mean = sum / float64(finite)
	if finite == 0 {
		s.Max, s.Min, s.Mean = math.NaN(), math.NaN(), math.NaN()
	}
	if a.Type != dtype.Float16 {
		s.Limit = 0
	}
	return s
}
