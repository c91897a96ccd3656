package oracle

import "math"

// rowsBack gives the result of rows the axis order of the operand. Where that
// is another one the rows are kept, as one row is spread over the result.
func (c *Call) rowsBack(v Values, rank int, kept, axes []int) Values {
	back := backAxes(v, rank, kept, axes)
	if s, ok := back.(*strided); ok && !s.plain {
		d := must(held(v))
		return backAxes(d, rank, kept, axes)
	}
	return back
}

// softmaxRow: the relative error of e^(x-m) is the absolute one of x-m,
// ρ = u·(m-x) + 8u + B_x + B_m; the sum adds g(n+2) + Σ y·ρ, and
// B = 1.02·y·(ρ + sum + 3u). Not subtracting m changes nothing. A row of -Inf is
// NaN.
func softmaxRow(u, sumUnit float64) func(x, e, y, b []float64) {
	return func(x, e, y, b []float64) {
		m, em := math.Inf(-1), 0.0
		for i, v := range x {
			m, em = math.Max(m, v), max(em, e[i])
		}
		sum := 0.0
		for i, v := range x {
			y[i] = math.Exp(v - m)
			sum += y[i]
		}
		shared := 0.0
		for i, v := range x {
			y[i] /= sum
			b[i] = 8*u + e[i] + em
			if y[i] > 0 {
				b[i] += u * (m - v)
			}
			shared += y[i] * b[i]
		}
		shared += gamma(float64(len(x)+2), sumUnit)
		for i := range b {
			b[i] = 1.02*y[i]*(b[i]+shared+3*u) + 0x1p-126
		}
	}
}

// logSoftmaxRow: y = x - m - log Σ; B = u·(|x-m| + |log Σ| + |y|) + the error of
// the sum + 8u·(|log Σ| + 1).
func logSoftmaxRow(u, sumUnit float64) func(x, e, y, b []float64) {
	return func(x, e, y, b []float64) {
		m, em := math.Inf(-1), 0.0
		for i, v := range x {
			m, em = math.Max(m, v), max(em, e[i])
		}
		sum, off := 0.0, 0.0
		for i, v := range x {
			p := math.Exp(v - m)
			sum += p
			if p > 0 {
				off += p * (8*u + u*(m-v) + e[i] + em)
			}
		}
		off = 1.02*off/sum + gamma(float64(len(x)+2), sumUnit)
		log := math.Log(sum)
		for i, v := range x {
			y[i] = v - m - log
			b[i] = e[i] + em + off + u*(abs(v-m)+abs(y[i])) + 8*u*(log+1)
		}
	}
}
