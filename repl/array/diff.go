package array

import (
	"context"
	"math"
	"slices"

	"precision/dump/dtype"
	"precision/internal/integer"
	"precision/internal/must"
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
	// LeftRest and RightRest are what integers of more than 53 bits have beyond Left
	// and Right, the float64 next to them; else 0.
	LeftRest, RightRest float64
}

// Diff is the difference of |Left - Right| of a pair, NaN if it has none.
func (p Pair) Diff() float64 { return math.Abs(p.Left - p.Right + (p.LeftRest - p.RightRest)) }

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
	// LeftStats and RightStats are the statistics of each side.
	LeftStats, RightStats Stats
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
	left, right partial
	bad, nan    int64
	xy, xx, yy  float64
	errors      []Pair
}

// Compare compares two tensors element by element, in C order of each,
// whatever their shapes are.
func Compare(ctx context.Context, left, right *Array, o Options) (_ *Diff, err error) {
	defer must.Catch(&err)
	must.Do(left.tooMany())
	must.Do(right.tooMany())
	if left.Type.FitsFloat32() && right.Type.FitsFloat32() && left.Len() == right.Len() && left.Type.Parts() == 1 && right.Type.Parts() == 1 {
		return compareFast(ctx, left, right, o), nil
	}
	return compareAny(ctx, left, right, o), nil
}

// compareAny is [Compare] of any two tensors, and of those that [compareFast] takes the reference.
func compareAny(ctx context.Context, left, right *Array, o Options) *Diff {
	n := max(left.Len(), right.Len())
	parts := int64(1)
	if left.Type.Parts() == 2 || right.Type.Parts() == 2 {
		parts = 2
	}
	all := make([]sums, (n+tile-1)/tile)
	must.Do(tiles(ctx, n, o.Workers, func() func(int, int64, int64) {
		l, r := left.cursor(), right.cursor()
		var x, y []float64
		return func(k int, first, count int64) {
			t := &all[k]
			x, y = fill(l, x, first, count, parts, &t.left), fill(r, y, first, count, parts, &t.right)
			t.add(x, y, first*parts, o)
			if a, b, ok := wholeSides(l, r, first, x, y); ok {
				t.addWhole(x, y, a, b, first, o)
			}
		}
	}))
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
	d.LeftStats = left.stats(len(all), func(i int) *partial { return &all[i].left })
	d.RightStats = right.stats(len(all), func(i int) *partial { return &all[i].right })
	d.first(left, right, o.Rows, parts)
	return d
}

// fill reads a tile as pairs of numbers if parts is 2; reals then have an
// imaginary part of 0. What is behind the end is 0. The numbers that are really
// there are measured, unless p is nil.
func fill(c *cursor, buf []float64, first, count, parts int64, p *partial) (v []float64) {
	have := max(0, min(count, c.a.Len()-first))
	if have > 0 {
		v = c.elements(first, have)
	}
	if p != nil {
		p.measure(v)
	}
	if own := int64(c.a.Type.Parts()); own == parts && have == count {
		return v // the common case; buf is only for the others
	} else {
		buf = slices.Grow(buf[:0], int(count*parts))[:count*parts]
		clear(buf)
		for i, x := range v {
			buf[int64(i)/own*parts+int64(i)%own] = x
		}
	}
	return buf
}

func (s *sums) add(x, y []float64, first int64, o Options) {
	y = y[:len(x)]
	// Sums of even and odd elements, so that additions do not wait for each other.
	var xy, xx, yy, xy1, xx1, yy1 float64
	i := 0
	for ; i+2 <= len(x); i += 2 {
		a, b, a1, b1 := x[i], y[i], x[i+1], y[i+1]
		xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
		xy1, xx1, yy1 = xy1+a1*b1, xx1+a1*a1, yy1+b1*b1
		// Also false for anything that is not finite.
		if !(math.Abs(a-b) <= o.Atol+o.Rtol*math.Abs(b) && !math.IsInf(b, 0)) {
			s.differ(a, b, first+int64(i), o.Rows)
		}
		if !(math.Abs(a1-b1) <= o.Atol+o.Rtol*math.Abs(b1) && !math.IsInf(b1, 0)) {
			s.differ(a1, b1, first+int64(i)+1, o.Rows)
		}
	}
	if i < len(x) {
		a, b := x[i], y[i]
		xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
		if !(math.Abs(a-b) <= o.Atol+o.Rtol*math.Abs(b) && !math.IsInf(b, 0)) {
			s.differ(a, b, first+int64(i), o.Rows)
		}
	}
	s.xy, s.xx, s.yy = xy+xy1, xx+xx1, yy+yy1
}

// differ takes a pair that is not within the tolerances.
func (s *sums) differ(a, b float64, index int64, rows int) {
	switch {
	case a == b: // the same infinity
	case a != a && b != b:
		s.nan++
	default:
		s.bad++
		if len(s.errors) < rows {
			s.errors = append(s.errors, Pair{Index: index, Left: a, Right: b})
		}
	}
}

// wholeSides are the integers of which the tiles x and y, read last from element first
// on, are the float64 next to them. ok is false where that loses nothing, or a side has
// fractions.
func wholeSides(l, r *cursor, first int64, x, y []float64) (a, b integer.List, ok bool) {
	if !l.a.long() && !r.a.long() {
		return a, b, false
	}
	large := false
	for i := range x {
		large = large || math.Abs(x[i]) > integer.Exact || math.Abs(y[i]) > integer.Exact
	}
	if !large {
		return a, b, false
	}
	return l.integers(first, len(x)), r.integers(first, len(y)), !l.a.Type.Float() && !r.a.Type.Float()
}

// integers are the n numbers that were read last, from element first on, 0 behind the
// end.
func (c *cursor) integers(first int64, n int) integer.List {
	l := integer.List{Bits: make([]uint64, n), Signed: c.a.Type.Signed()}
	dtype.Whole(c.a.Type, l.Bits[:max(0, min(int64(n), c.a.Len()-first))], c.raw)
	return l
}

// pair is element i of two lists of integers and the float64 next to them.
func pair(index int64, i int, x, y []float64, a, b *integer.List) Pair {
	return Pair{Index: index, Left: x[i], Right: y[i], LeftRest: a.Rest(i, x[i]), RightRest: b.Rest(i, y[i])}
}

// addWhole takes the differences of integers instead of those of x and y.
func (s *sums) addWhole(x, y []float64, a, b integer.List, first int64, o Options) {
	s.bad, s.errors = 0, nil
	for i := range x {
		if d := math.Abs(a.Minus(i, &b)); d <= o.Atol+o.Rtol*math.Abs(y[i]) {
			continue
		}
		if s.bad++; len(s.errors) < o.Rows {
			s.errors = append(s.errors, pair(first+int64(i), i, x, y, &a, &b))
		}
	}
}

func (d *Diff) first(left, right *Array, rows int, parts int64) {
	n := min(int64(rows), max(left.Len(), right.Len()), tile)
	if n <= 0 {
		return
	}
	l, r := left.cursor(), right.cursor()
	x, y := fill(l, nil, 0, n, parts, nil), fill(r, nil, 0, n, parts, nil)
	a, b, whole := wholeSides(l, r, 0, x, y)
	for i := range min(len(x), rows) {
		if whole {
			d.First = append(d.First, pair(int64(i), i, x, y, &a, &b))
		} else {
			d.First = append(d.First, Pair{Index: int64(i), Left: x[i], Right: y[i]})
		}
	}
}
