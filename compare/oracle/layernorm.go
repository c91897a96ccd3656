package oracle

import "math"

func init() {
	register(one(buildLayerNorm), "LayerNorm", "LayerNormV3", "LayerNormV4")
}

// moments are the mean and variance of a row with their bounds:
// B_mean = g(n+1)·mean|x|, and B_var = g(n+4)·(mean(x²) + mean²) +
// 2·|mean|·B_mean + B_mean², which covers both E(x-m)² and E(x²) - m².
type moments struct{ mean, variance, bMean, bVar float64 }

func momentsOf(x, e []float64, u float64) moments {
	n := float64(len(x))
	var m moments
	size, squares, off := 0.0, 0.0, 0.0
	for i, v := range x {
		m.mean += v
		size += abs(v)
		off = max(off, e[i])
	}
	m.mean /= n
	for _, v := range x {
		m.variance += (v - m.mean) * (v - m.mean)
		squares += v * v
	}
	m.variance /= n
	m.bMean = gamma(n+1, u)*size/n + off
	m.bVar = gamma(n+4, u)*(squares/n+m.mean*m.mean) + 2*abs(m.mean)*m.bMean + m.bMean*m.bMean
	if off > 0 {
		m.bVar += 4 * off * (size/n + off)
	}
	return m
}

// rstd is 1/sqrt(var + eps) and its bound, +Inf where rounding can make the
// variance anything: rstd·(0.5·(B_var + u·s)/(s - B_var) + 8u), s = var + eps.
func (m moments) rstd(eps, u float64) (r, b float64) {
	s := m.variance + eps
	r = 1 / math.Sqrt(s)
	if m.bVar >= s/2 {
		return r, math.Inf(1)
	}
	return r, r * (0.5*(m.bVar+u*s)/(s-m.bVar) + 8*u)
}

// buildLayerNorm: y = (x - mean)·rstd·gamma + beta over the axes from
// begin_norm_axis on, and the mean and variance (of V3 and V4 the rstd) beside it. With
// d = x - mean, B_d = B_mean + u·|d|:
// B_y = |gamma|·(rstd·B_d + |d|·B_rstd + B_d·B_rstd + 3u·|d|·rstd) + u·(|y| + |beta|).
// Prototypes: nn_norm_ops.h, layer_norm_v3_proto.h.
func buildLayerNorm(c *Call) []Values {
	x := c.need("x", 0)
	third, eps0 := "variance", 1e-7
	if c.Type != "LayerNorm" {
		third, eps0 = "rstd", 1e-5
	}
	var scale, shift Values
	if o := c.input("gamma", 1); o != nil {
		scale = o
	}
	if o := c.input("beta", 2); o != nil {
		shift = o
	}
	axis := c.attrInt("begin_norm_axis", 0)
	eps := c.attrFloat("epsilon", eps0)
	rank := int64(len(x.shape))
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank || eps < 0 {
		panic(refuse(BadAttribute, "begin_norm_axis, epsilon", axis, "an axis of "+itoa(int(rank))))
	}
	n := count(x.shape[axis:])
	if n == 0 || math.IsInf(gamma(float64(n+4), c.sumUnit()), 1) {
		panic(refuse(NoBound, n))
	}
	weight, bias := make([]float64, n), make([]float64, n)
	for i := range weight {
		weight[i] = 1
	}
	for _, p := range []struct {
		v   Values
		dst []float64
	}{{scale, weight}, {shift, bias}} {
		if p.v == nil {
			continue
		}
		if count(p.v.Shape()) != n {
			panic(refuse(ShapesDiffer, shapeText(x.shape, p.v.Shape())))
		}
		check(p.v.Range(0, p.dst, nil))
	}
	u, su := c.unit(), c.sumUnit()
	y := newRows(x, n, func(_ int64, x, e, y, b []float64) {
		m := momentsOf(x, e, su)
		r, br := m.rstd(eps, u)
		for i, v := range x {
			d := v - m.mean
			bd := m.bMean + e[i] + u*abs(d)
			y[i] = d*r*weight[i] + bias[i]
			b[i] = abs(weight[i])*(r*bd+abs(d)*br+bd*br+3*u*abs(d)*r) + u*(abs(y[i])+abs(bias[i]))
		}
	})
	lead := append([]int64{}, x.shape[:axis]...)
	small := func(f func(m moments) (float64, float64)) Values {
		return &reduced{shape: lead, in: x, n: n, f: func(x, e []float64) (float64, float64) { return f(momentsOf(x, e, su)) }}
	}
	out := []Values{y, small(func(m moments) (float64, float64) { return m.mean, m.bMean })}
	if third == "rstd" {
		out = append(out, small(func(m moments) (float64, float64) { return m.rstd(eps, u) }))
	} else {
		out = append(out, small(func(m moments) (float64, float64) { return m.variance, m.bVar }))
	}
	for i := range out {
		if i < len(c.outs) {
			out[i] = c.asRecorded(out[i], i)
		}
	}
	return out
}
