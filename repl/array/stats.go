package array

import (
	"context"
	"math"
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

func (p *partial) add(v []float64) {
	p.max, p.min = math.Inf(-1), math.Inf(1)
	for _, x := range v {
		if x-x != 0 { // NaN or infinite
			if x != x {
				p.nan++
			} else {
				p.inf++
			}
			continue
		}
		if x > p.max {
			p.max = x
		}
		if x < p.min {
			p.min = x
		}
		p.sum += x
		if x == largestHalf || x == -largestHalf {
			p.limit++
		}
	}
	p.finite = int64(len(v)) - p.nan - p.inf
}

// Measure reads the tensor once. Sums are float64, tile by tile, and added in
// the order of the tiles.
func (a *Array) Measure(ctx context.Context, workers int) (Stats, error) {
	n := a.Len()
	parts := make([]partial, (n+tile-1)/tile)
	err := tiles(ctx, n, workers, func() (func(int, int64, int64) error, error) {
		c, err := a.cursor()
		return func(k int, first, count int64) error {
			v, err := c.elements(first, count)
			parts[k].add(v)
			return err
		}, err
	})
	s := Stats{Count: a.Numbers(), Max: math.Inf(-1), Min: math.Inf(1)}
	var sum float64
	var finite int64
	for i := range parts {
		p := &parts[i]
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
	if a.Type.String() != "float16" {
		s.Limit = 0
	}
	return s, err
}
