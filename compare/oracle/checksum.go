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
// (operators.md, checksums), and of long sums in practice within 6·v·√(Σ_j C[m,j]²) in place of the first term, as signs are
// random, and g(6·√K) in the second ([Call.summed]). What a row cannot show, the sample has to: single
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
func asMatmul(v Values) *product {
	switch v := v.(type) {
	case *product:
		if v.conv == nil {
			return v
		}
	case *strided:
		if v.plain && v.off == 0 {
			return asMatmul(v.in)
		}
	}
	return nil
}

// checkRows makes the sums of all rows of what was recorded; practice holds them to what is likely.
func (x *product) checkRows(rec *operand, p precisionOf, practice bool) (rowChecks, error) {
	var out rowChecks
	rng := rand.New(rand.NewPCG(17, uint64(x.cols)))
	signs := make([]float64, x.cols)
	for i := range signs {
		signs[i] = 1 - 2*float64(rng.IntN(2))
	}
	bias, biasSize := 0.0, 0.0
	for i, b := range x.bias {
		bias += b * signs[i]
		biasSize += abs(b)
	}
	br, size := make([]float64, x.k), make([]float64, x.k)
	row, a := make([]float64, x.cols), make([]float64, x.k)
	last := int64(-1)
	for g := range x.lefts {
		if x.rights[g] != last {
			last = x.rights[g]
			for k := range x.k {
				if err := x.right.Range((last*x.k+k)*x.cols, row, nil); err != nil {
					return out, err
				}
				br[k], size[k] = 0, 0
				for j, v := range row {
					br[k] += v * signs[j]
					size[k] += abs(v)
				}
			}
		}
		for m := range x.rows {
			if err := x.left.Range((x.lefts[g]*x.rows+m)*x.k, a, nil); err != nil {
				return out, err
			}
			want, bound := bias, biasSize
			for k, v := range a {
				want += v * br[k]
				bound += abs(v) * size[k]
			}
			at := int64(g)*x.rows + m
			if err := rec.Range(at*x.cols, row, nil); err != nil {
				return out, err
			}
			got, total, squares := 0.0, 0.0, 0.0
			for j, v := range row {
				got += v * signs[j]
				total += abs(v)
				squares += v * v
			}
			g, rounding := x.g, 1.01*p.v*total
			if practice {
				g, rounding = gamma(6*math.Sqrt(float64(x.k)), u32), min(rounding, 6*p.v*math.Sqrt(squares))
			}
			bound = rounding + (g+2*x.input)*bound + float64(x.cols)*p.t
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

// recompute computes some rows of one matrix whole, and their bounds, in one
// pass over the second operand. Rows are counted over all matrices; y and b hold
// them one behind the other.
func (x *product) recompute(rows []int64, y, b []float64) error {
	a, row := make([]float64, int64(len(rows))*x.k), make([]float64, x.cols)
	g := rows[0] / x.rows
	for i, at := range rows {
		if err := x.left.Range((x.lefts[g]*x.rows+at%x.rows)*x.k, a[int64(i)*x.k:][:x.k], nil); err != nil {
			return err
		}
	}
	clear(y)
	clear(b)
	for k := range x.k {
		if err := x.right.Range((x.rights[g]*x.k+k)*x.cols, row, nil); err != nil {
			return err
		}
		for i := range rows {
			v := a[int64(i)*x.k+k]
			sum, size := y[int64(i)*x.cols:][:x.cols], b[int64(i)*x.cols:][:x.cols]
			for j, w := range row {
				t := v * w
				sum[j] += t
				size[j] += abs(t)
			}
		}
	}
	for i := range rows {
		x.finish(0, 0, y[int64(i)*x.cols:][:x.cols], b[int64(i)*x.cols:][:x.cols])
	}
	return nil
}

// judgeRows judges all elements of some rows.
func (c *checker) judgeRows(x *product, rows []int64, j *judge) error {
	most := int(max(maxDense/4/x.cols, 1))
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && n < most && rows[n]/x.rows == rows[0]/x.rows {
			n++
		}
		size := int64(n) * x.cols
		y, b, got := make([]float64, size), make([]float64, size), make([]float64, x.cols)
		if err := x.recompute(rows[:n], y, b); err != nil {
			return err
		}
		for i, at := range rows[:n] {
			if err := c.rec.Range(at*x.cols, got, nil); err != nil {
				return err
			}
			for k, f := range got {
				p := int64(i)*x.cols + int64(k)
				j.element(at*x.cols+int64(k), f, y[p], b[p])
			}
		}
		rows = rows[n:]
	}
	return nil
}

// sampledRows are the rows that are looked at of a product whose operands are too
// large to hold, where a row costs one pass over the second operand and further
// ones little more: those of the extreme numbers, the first and the last, and
// some at random.
func (c *checker) sampledRows(x *product) []int64 {
	var rows []int64
	for _, i := range c.ext.places() {
		rows = append(rows, i/x.cols)
	}
	total := int64(len(x.lefts)) * x.rows
	rng := rand.New(rand.NewPCG(23, uint64(total)))
	rows = thinned(sortedUnique(rows), min(len(rows), mostRows))
	rows = append(rows, 0, total-1)
	for range mostRows {
		rows = append(rows, rng.Int64N(total))
	}
	return sortedUnique(rows)
}

// mostSummed bounds the numbers that are read to sum up rows.
const mostSummed = 4 << 30

// sumRows looks at a large product through sums of its rows, and at every element
// of rows that are beyond their bound.
func (c *checker) sumRows(v Values, j *judge) error {
	x := asMatmul(v)
	if x == nil || x.exact || j.p.v == 0 || !streams(x.left) || !streams(x.right) {
		return nil
	}
	batches := float64(len(x.lefts))
	if batches*(float64(x.rows)*float64(x.k)+float64(x.k)*float64(x.cols)+float64(x.rows)*float64(x.cols)) > mostSummed || x.cols > maxDense || x.k > maxDense {
		return nil
	}
	found, err := x.checkRows(c.rec, j.p, j.unlikely > 0 && !x.single)
	if err != nil {
		return err
	}
	j.sums, j.sumsBeyond = found.sums, found.beyond
	return c.judgeRows(x, found.rows, j)
}

// streams reports whether v is read row after row at little cost.
func streams(v Values) bool {
	if o, ok := v.(*operand); ok {
		return o != nil
	}
	s, ok := v.(*strided)
	return ok && s.plain && streams(s.in)
}
