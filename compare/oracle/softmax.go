package oracle

import "math"

func init() {
	register(single(func(c *Call) (Values, error) { return buildSoftmax(c, false) }), "SoftmaxV2", "Softmax")
	register(single(func(c *Call) (Values, error) { return buildSoftmax(c, true) }), "LogSoftmaxV2", "LogSoftmax")
	register(single(buildSoftmaxGrad), "SoftmaxGrad")
}

// buildSoftmax: y = e^(x-m)/Σ over some axes together, m the maximum, or the
// logarithm of that. Prototype: nn_norm_ops.h.
func buildSoftmax(c *Call, log bool) (Values, error) {
	x, err := c.need("x", 0)
	if err != nil {
		return nil, err
	}
	key := "axes"
	if c.attrs.Get(key) == nil && c.attrs.Get("axis") != nil {
		key = "axis"
	}
	axes, err := c.axesAttr(key, len(x.shape))
	if err != nil {
		return nil, err
	}
	if len(axes) == 0 {
		if len(x.shape) == 0 {
			return nil, refuse(ShapesDiffer, shapeText(x.shape))
		}
		axes = []int{len(x.shape) - 1}
	}
	in, kept, n := lastAxes(x, axes)
	if math.IsInf(gamma(float64(n+2), c.sumUnit()), 1) || n == 0 {
		return nil, refuse(NoBound, n)
	}
	var rowF func(x, e, y, b []float64)
	if log {
		rowF = logSoftmaxRow(c.unit(), c.sumUnit())
	} else {
		rowF = softmaxRow(c.unit(), c.sumUnit())
	}
	v := newRows(in, n, func(_ int64, x, e, y, b []float64) { rowF(x, e, y, b) })
	return c.rowsBack(v, len(x.shape), kept, axes)
}

// rowsBack gives the result of rows the axis order of the operand. Where that
// is another one the rows are kept, as one row is spread over the result.
func (c *Call) rowsBack(v Values, rank int, kept, axes []int) (Values, error) {
	back := backAxes(v, rank, kept, axes)
	if s, ok := back.(*strided); ok && !s.plain {
		d, err := held(v)
		if err != nil {
			return nil, err
		}
		return backAxes(d, rank, kept, axes), nil
	}
	return back, nil
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

// buildSoftmaxGrad: dx = (dy - Σ dy·y)·y over the last axes.
// B = |y|·(u·|dy| + g(n+2)·Σ|dy·y| + u·|dy - Σ|) + u·|dx|.
func buildSoftmaxGrad(c *Call) (Values, error) {
	s, err := c.need("softmax", 0)
	if err != nil {
		return nil, err
	}
	g, err := c.need("grad_softmax", 1)
	if err != nil {
		return nil, err
	}
	axes, err := c.axesAttr("axes", len(s.shape))
	if err != nil {
		return nil, err
	}
	if len(s.shape) == 0 || !sameShape(s.shape, g.shape) {
		return nil, refuse(ShapesDiffer, shapeText(s.shape, g.shape))
	}
	if len(axes) == 0 {
		axes = []int{len(s.shape) - 1}
	}
	probs, kept, n := lastAxes(s, axes)
	grads, _, _ := lastAxes(reshape(g, s.shape), axes)
	if math.IsInf(gamma(float64(n+2), c.sumUnit()), 1) || n > maxDense {
		return nil, refuse(NoBound, n)
	}
	u, gs := c.unit(), gamma(float64(n+2), c.sumUnit())
	p := make([]float64, n)
	var failed error
	v := newRows(grads, n, func(row int64, x, e, y, b []float64) {
		if err := probs.Range(row*n, p, nil); err != nil {
			failed = err
		}
		sum, size := 0.0, 0.0
		for i, d := range x {
			sum += d * p[i]
			size += abs(d * p[i])
		}
		for i, d := range x {
			y[i] = (d - sum) * p[i]
			b[i] = abs(p[i])*(gs*size+u*(abs(d)+abs(d-sum))) + u*abs(y[i])
		}
	})
	back, err := c.rowsBack(v, len(s.shape), kept, axes)
	if err == nil {
		err = failed
	}
	return back, err
}
