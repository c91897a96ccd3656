package oracle

import (
	"math"
	"math/rand/v2"
)

// Products that are too large to recompute are summed up along their rows with
// random signs r: Σ_j C[m,j]·r_j against A[m,:]·(B·r), which takes MK + KN + MN
// operations. A row is sound within
//
//	S_m = 1.01·v·Σ_j|C[m,j]| + g(K+2)·(|A|·(|B|·1 + |b|·1))_m + N·t
//
// (operators.md, checksums). What a row cannot show, the sample has to: single
// small errors, and float16 sums.

// rowChecks counts the sums that were made and those beyond their bound, and
// lists some of the rows that these belong to, counted over all matrices.
type rowChecks struct {
	sums, beyond int64
	rows         []int64
}

// mostRows bounds the bad rows that are recomputed.
const mostRows = 8

// asMatmul is the matrix product whose elements v has in their order; nil if it
// is something else.
func asMatmul(v Values) *matmul {
	switch v := v.(type) {
	case *matmul:
		return v
	case *strided:
		if v.plain && v.off == 0 {
			return asMatmul(v.in)
		}
	}
	return nil
}

// checkRows makes the sums of all rows of what was recorded.
func (x *matmul) checkRows(rec *operand, p precisionOf) (rowChecks, error) {
	var out rowChecks
	rng := rand.New(rand.NewPCG(17, uint64(x.n)))
	signs := make([]float64, x.n)
	for i := range signs {
		signs[i] = 1 - 2*float64(rng.IntN(2))
	}
	bias, biasSize := 0.0, 0.0
	for i, b := range x.bias {
		bias += b * signs[i]
		biasSize += abs(b)
	}
	br, size := make([]float64, x.k), make([]float64, x.k)
	row, a := make([]float64, x.n), make([]float64, x.k)
	last := int64(-1)
	for g := range x.batchA {
		if x.batchB[g] != last {
			last = x.batchB[g]
			for k := range x.k {
				if err := x.b.Range((last*x.k+k)*x.n, row, nil); err != nil {
					return out, err
				}
				br[k], size[k] = 0, 0
				for j, v := range row {
					br[k] += v * signs[j]
					size[k] += abs(v)
				}
			}
		}
		for m := range x.m {
			if err := x.a.Range((x.batchA[g]*x.m+m)*x.k, a, nil); err != nil {
				return out, err
			}
			want, bound := bias, biasSize
			for k, v := range a {
				want += v * br[k]
				bound += abs(v) * size[k]
			}
			at := int64(g)*x.m + m
			if err := rec.Range(at*x.n, row, nil); err != nil {
				return out, err
			}
			got, total := 0.0, 0.0
			for j, v := range row {
				got += v * signs[j]
				total += abs(v)
			}
			bound = 1.01*p.v*total + (gamma(float64(x.k)+2, x.unit)+2*x.input)*bound + float64(x.n)*p.t
			out.sums++
			switch {
			case math.IsNaN(got-want) || math.IsInf(got-want, 0) || math.IsInf(bound, 0):
				// Inf and NaN are looked at one by one.
			case abs(got-want) > bound:
				if out.beyond++; len(out.rows) < mostRows {
					out.rows = append(out.rows, at)
				}
			}
		}
	}
	return out, nil
}

// recompute computes one row whole, and its bounds.
func (x *matmul) recompute(at int64, y, b []float64) error {
	g, m := at/x.m, at%x.m
	a, row := make([]float64, x.k), make([]float64, x.n)
	if err := x.a.Range((x.batchA[g]*x.m+m)*x.k, a, nil); err != nil {
		return err
	}
	clear(y)
	clear(b)
	for k, v := range a {
		if err := x.b.Range((x.batchB[g]*x.k+int64(k))*x.n, row, nil); err != nil {
			return err
		}
		for j, w := range row {
			t := v * w
			y[j] += t
			b[j] += abs(t)
		}
	}
	for j := range y {
		x.finish(int64(j), &y[j], b, int64(j))
	}
	return nil
}

// mostSummed bounds the numbers that are read to sum up rows.
const mostSummed = 4 << 30

// sumRows looks at a large product through sums of its rows, and at every element
// of rows that are beyond their bound.
func (c *checker) sumRows(v Values, j *judge) error {
	x := asMatmul(v)
	if x == nil || x.exact || j.p.v == 0 || !streams(x.a) || !streams(x.b) {
		return nil
	}
	batches := float64(len(x.batchA))
	if batches*(float64(x.m)*float64(x.k)+float64(x.k)*float64(x.n)+float64(x.m)*float64(x.n)) > mostSummed || x.n > maxDense || x.k > maxDense {
		return nil
	}
	found, err := x.checkRows(c.rec, j.p)
	if err != nil {
		return err
	}
	j.sums, j.sumsBeyond = found.sums, found.beyond
	y, b, got := make([]float64, x.n), make([]float64, x.n), make([]float64, x.n)
	for _, at := range found.rows {
		if err := x.recompute(at, y, b); err != nil {
			return err
		}
		if err := c.rec.Range(at*x.n, got, nil); err != nil {
			return err
		}
		for i := range y {
			j.element(at*x.n+int64(i), got[i], y[i], b[i])
		}
	}
	return nil
}

// streams reports whether v is read row after row at little cost.
func streams(v Values) bool {
	if o, ok := v.(*operand); ok {
		return o != nil
	}
	s, ok := v.(*strided)
	return ok && s.plain && streams(s.in)
}
