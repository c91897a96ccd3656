package array

import (
	"context"
	"math"
	"slices"
)

// Options of Compare.
type Options struct {
	// Atol and Rtol are the tolerances: elements agree when
	// |left-right| <= Atol + Rtol·|right|, as in numpy.allclose.
	Atol, Rtol float64
	// Rows is how many pairs to return.
	Rows int
	// Workers is the number of goroutines, 0 for one a core.
	Workers int
}

// Pair is an element of both sides. Index is its number in C order.
type Pair struct {
	Index       int64
	Left, Right float64
}

// Diff is the difference of |Left - Right| of a pair, NaN if it has none.
func (p Pair) Diff() float64 { return math.Abs(p.Left - p.Right) }

// Diff is how two tensors differ. Right is the reference.
type Diff struct {
	// Count is the number of pairs: of elements of the longer side; the shorter
	// one is filled up with zeros.
	Count int64
	// Bad counts pairs beyond the tolerances, and BothNaN pairs of NaN, which
	// are not bad.
	Bad, BothNaN int64
	// Cosine is the cosine similarity, with sums in float64; NaN if a side is
	// all zero or something is not finite.
	Cosine float64
	// Errors are the first bad pairs, First the first of all.
	Errors, First []Pair
}

// AllClose reports whether no pair is bad.
func (d *Diff) AllClose() bool { return d.Bad == 0 }

// Share is the part of the pairs that is bad, 0 without any.
func (d *Diff) Share() float64 {
	if d.Count == 0 {
		return 0
	}
	return float64(d.Bad) / float64(d.Count)
}

// sums are those of a tile.
type sums struct {
	bad, nan   int64
	xy, xx, yy float64
	errors     []Pair
}

// Compare compares two tensors element by element, in C order of each,
// whatever their shapes are.
func Compare(ctx context.Context, left, right *Array, o Options) (*Diff, error) {
	n := max(left.Len(), right.Len())
	parts := int64(1)
	if left.Type.Parts() == 2 || right.Type.Parts() == 2 {
		parts = 2
	}
	all := make([]sums, (n+tile-1)/tile)
	err := tiles(ctx, n, o.Workers, func() (func(int, int64, int64) error, error) {
		l, err := left.cursor()
		if err != nil {
			return nil, err
		}
		r, err := right.cursor()
		if err != nil {
			return nil, err
		}
		var x, y []float64
		return func(k int, first, count int64) (err error) {
			if x, err = fill(l, x, first, count, parts); err != nil {
				return err
			}
			if y, err = fill(r, y, first, count, parts); err != nil {
				return err
			}
			all[k].add(x, y, first*parts, o)
			return nil
		}, nil
	})
	if err != nil {
		return nil, err
	}
	d := &Diff{Count: n * parts}
	var total sums
	for i := range all {
		s := &all[i]
		total.bad += s.bad
		total.nan += s.nan
		total.xy += s.xy
		total.xx += s.xx
		total.yy += s.yy
		d.Errors = append(d.Errors, s.errors[:min(len(s.errors), o.Rows-len(d.Errors))]...)
	}
	d.Bad, d.BothNaN = total.bad, total.nan
	d.Cosine = total.xy / (math.Sqrt(total.xx) * math.Sqrt(total.yy))
	if math.IsInf(d.Cosine, 0) {
		d.Cosine = math.NaN()
	}
	return d, d.first(left, right, o.Rows, parts)
}

// fill reads a tile as pairs of numbers if parts is 2; reals then have an
// imaginary part of 0. What is behind the end is 0.
func fill(c *cursor, buf []float64, first, count, parts int64) ([]float64, error) {
	have := max(0, min(count, c.a.Len()-first))
	var v []float64
	if have > 0 {
		var err error
		if v, err = c.elements(first, have); err != nil {
			return buf, err
		}
	}
	if own := int64(c.a.Type.Parts()); own == parts && have == count {
		return v, nil // the common case; buf is only for the others
	} else {
		buf = slices.Grow(buf[:0], int(count*parts))[:count*parts]
		clear(buf)
		for i, x := range v {
			buf[int64(i)/own*parts+int64(i)%own] = x
		}
	}
	return buf, nil
}

func (s *sums) add(x, y []float64, first int64, o Options) {
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		s.xy += a * b
		s.xx += a * a
		s.yy += b * b
		// Also false for anything that is not finite.
		if math.Abs(a-b) <= o.Atol+o.Rtol*math.Abs(b) && !math.IsInf(b, 0) {
			continue
		}
		if a == b { // the same infinity
			continue
		}
		if a != a && b != b {
			s.nan++
			continue
		}
		s.bad++
		if len(s.errors) < o.Rows {
			s.errors = append(s.errors, Pair{first + int64(i), a, b})
		}
	}
}

func (d *Diff) first(left, right *Array, rows int, parts int64) error {
	n := min(int64(rows), max(left.Len(), right.Len()), tile)
	if n <= 0 {
		return nil
	}
	l, err := left.cursor()
	if err != nil {
		return err
	}
	r, err := right.cursor()
	if err != nil {
		return err
	}
	x, err := fill(l, nil, 0, n, parts)
	if err != nil {
		return err
	}
	y, err := fill(r, nil, 0, n, parts)
	if err != nil {
		return err
	}
	for i := range min(len(x), rows) {
		d.First = append(d.First, Pair{int64(i), x[i], y[i]})
	}
	return nil
}
