package oracle

import "math"

func init() {
	// As part of a fused kernel, where the mode is lost, an Eltwise is a sum.
	registerPart(elementwise{operands: 2, build: func(c *Call, in []Values) Values {
		return elementsOf(addKernel(c.unit(), 1), add32, false, in)
	}}, "Eltwise")
	register(single(buildEltwise), "Eltwise")
	register(single(buildAddN), "AddN", "AccumulateNV2")
	register(single(buildBiasAdd), "BiasAdd")
	parts["bias_add"] = elementwise{operands: 2, build: func(c *Call, in []Values) Values {
		bias := in[1]
		if s := in[0].Shape(); len(s) >= 4 && count(bias.Shape()) == s[1] && s[1] != s[len(s)-1] {
			shape := ones(len(s))
			shape[1] = s[1]
			bias = reshape(bias, shape)
		}
		return elementsOf(addKernel(c.unit(), 1), add32, false, []Values{in[0], bias})
	}}
}

// buildEltwise combines any number of tensors: product (mode 0), sum (1, each
// times its coeff) or maximum (2). Prototype: elewise_calculation_ops.h.
func buildEltwise(c *Call) Values {
	in := c.all()
	mode := c.attrInt("mode", 1)
	coeff := c.floatsAttr("coeff")
	if len(in) < 1 || len(in) > 1<<10 {
		panic(refuse(InputCount, len(in), 2))
	}
	if mode != 1 || len(coeff) == 0 {
		coeff = make([]float64, len(in))
		for i := range coeff {
			coeff[i] = 1
		}
	}
	if len(coeff) != len(in) {
		panic(refuse(BadAttribute, "coeff", len(coeff), itoa(len(in))))
	}
	u := c.unit()
	switch mode {
	case 0:
		v := in[0]
		for _, w := range in[1:] {
			v = elementsOf(mulKernel(u), mul32, false, []Values{v, w})
		}
		return v
	case 1:
		return weightedSum(u, coeff, in)
	case 2:
		v := in[0]
		for _, w := range in[1:] {
			v = elementsOf(pickKernel(math.Max), nil, true, []Values{v, w})
		}
		return v
	}
	panic(refuse(BadAttribute, "mode", mode, "0, 1 or 2"))
}

// weightedSum: y = Σ k·x, B = Σ|k|·B_x + g(n+1)·Σ(|k·x| + …).
func weightedSum(u float64, k []float64, in []Values) Values {
	g := gamma(float64(len(in)+1), u)
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i := range y {
			y[i] = 0
			for j := range x {
				y[i] += k[j] * x[j][i]
			}
		}
		for i := range b {
			s, size := 0.0, 0.0
			for j := range x {
				s += abs(k[j]) * e[j][i]
				size += abs(k[j] * x[j][i])
			}
			b[i] = s + g*(size+s)
		}
	}, nil, false, in)
}

// buildAddN: y = Σ x.
func buildAddN(c *Call) Values {
	in := c.all()
	if len(in) < 1 || len(in) > 1<<10 {
		panic(refuse(InputCount, len(in), 2))
	}
	k := make([]float64, len(in))
	for i := range k {
		k[i] = 1
	}
	u := c.sumUnit()
	if integers(c) {
		u = 0
	}
	return weightedSum(u, k, in)
}

// buildBiasAdd: y = x + bias along the channels: axis C of x's layout, else the
// last (data_format NHWC) or second (NCHW) axis.
func buildBiasAdd(c *Call) Values {
	x := c.need("x", 0)
	bias := c.need("bias", 1)
	axes := x.axesOr("")
	at := -1
	for i := range axes {
		if axes[i] == 'C' {
			at = i
		}
	}
	n := count(bias.shape)
	if at < 0 || at >= len(x.shape) {
		if at = len(x.shape) - 1; c.attrs.Get("data_format").Text() == "NCHW" && len(x.shape) > 1 {
			at = 1
		}
	}
	if at < 0 || x.shape[at] != n {
		panic(refuse(ShapesDiffer, shapeText(x.shape, bias.shape)))
	}
	shape := ones(len(x.shape))
	shape[at] = n
	return elementsOf(addKernel(c.unit(), 1), add32, false, []Values{x, reshape(bias, shape)})
}
