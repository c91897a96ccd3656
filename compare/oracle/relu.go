package oracle

import "math"

// Piecewise linear activations. Prototypes: nonlinear_fuc_ops.h.

// leaky: y = x for x > 0, else slope·x; B = B_x, and u·|y| unless the slope is
// 0. Of NaN a device makes NaN or 0; both are accepted.
func leaky(slope, u float64) kernel {
	return func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			switch {
			case v > 0 || math.IsNaN(v):
				y[i] = v
			case slope == 0:
				y[i] = 0
			default:
				y[i] = slope * v
			}
		}
		for i := range b {
			b[i] = e[0][i] * max(1, abs(slope))
			switch v := x[0][i]; {
			case math.IsNaN(v):
				b[i] = math.Inf(1)
			case v < 0 && slope != 0:
				b[i] += u * (abs(y[i]) + b[i])
			case v < 0 && slope == 0 && v+e[0][i] < 0:
				b[i] = 0
			}
		}
	}
}

func relu32(x [][]float32, y []float32) {
	for i, v := range x[0][:len(y)] {
		y[i] = max(v, 0)
	}
}

// clamp: y = min(max(x, lo), hi).
func clamp(lo, hi float64) kernel {
	return func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			y[i] = min(max(v, lo), hi)
		}
		for i := range b {
			if b[i] = e[0][i]; math.IsNaN(y[i]) {
				b[i] = math.Inf(1)
			}
		}
	}
}

func init() {
	registerPart(elementwise{operands: 1, keeps: true, build: func(c *Call, in []Values) Values {
		slope := c.attrFloat("negative_slope", 0)
		if slope == 0 {
			return elementsOf(leaky(0, 0), relu32, true, in)
		}
		return elementsOf(leaky(slope, c.unit()), nil, false, in)
	}}, "LeakyRelu")
	registerPart(elementwise{operands: 1, keeps: true, build: func(c *Call, in []Values) Values {
		return elementsOf(leaky(0, 0), relu32, true, in)
	}}, "Relu", "ReluV2")
	registerPart(elementwise{operands: 1, keeps: true, build: func(c *Call, in []Values) Values {
		return elementsOf(clamp(0, 6), nil, true, in)
	}}, "Relu6")
	register(single(buildClip), "ClipByValue", "ClipByValueV2")
	registerPart(elementwise{operands: 1, build: func(c *Call, in []Values) Values {
		alpha := c.attrFloat("alpha", 1)
		f := func(x float64) float64 {
			if x > 0 {
				return x
			}
			return alpha * math.Expm1(x)
		}
		return elementsOf(unary(f, constant(max(1, abs(alpha))), c.ulps(), max(1, abs(alpha))), nil, false, in)
	}}, "Elu")
	registerPart(elementwise{operands: 1, build: func(c *Call, in []Values) Values {
		f := func(x float64) float64 {
			const scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
			if x > 0 {
				return scale * x
			}
			return scale * alpha * math.Expm1(x)
		}
		return elementsOf(unary(f, constant(1.76), c.ulps(), 2), nil, false, in)
	}}, "Selu")
	registerPart(elementwise{operands: 1, build: func(c *Call, in []Values) Values {
		f := func(x float64) float64 {
			if math.IsInf(x, -1) {
				return 0
			}
			return x * min(max(x+3, 0), 6) / 6
		}
		return elementsOf(unary(f, constant(1.5), c.ulps(), 3), nil, false, in)
	}}, "HardSwish")
	registerPart(elementwise{operands: 1, build: func(c *Call, in []Values) Values {
		alpha := c.attrFloat("alpha", 1.0/6)
		beta := c.attrFloat("beta", 0.5)
		ulps := c.ulps()
		return elementsOf(func(x, e [][]float64, y, b []float64) {
			for i, v := range x[0] {
				y[i] = min(max(alpha*v+beta, 0), 1)
			}
			for i := range b {
				b[i] = abs(alpha)*e[0][i] + ulps*(min(abs(alpha*x[0][i]), 2+abs(beta))+abs(beta))
			}
		}, nil, false, in)
	}}, "HardSigmoid")
}

// buildClip limits x to [min, max], given as inputs or attributes.
func buildClip(c *Call) Values {
	in := c.all()
	if len(in) == 3 {
		return elementsOf(func(x, e [][]float64, y, b []float64) {
			for i := range y {
				y[i] = min(max(x[0][i], x[1][i]), x[2][i])
			}
			for i := range b {
				if b[i] = max(e[0][i], e[1][i], e[2][i]); math.IsNaN(y[i]) {
					b[i] = math.Inf(1)
				}
			}
		}, nil, true, in)
	}
	if len(in) != 1 {
		panic(refuse(InputCount, len(in), 3))
	}
	lo := c.attrFloat("min_val", -1)
	hi := c.attrFloat("max_val", 1)
	return elementsOf(clamp(lo, hi), nil, true, in)
}

// perChannel shapes a vector so that it goes along the channels of x: axis C of
// its layout, or axis 1.
func perChannel(x *operand, v Values, axes string) Values {
	at := 1
	for i := range axes {
		if axes[i] == 'C' {
			at = i
		}
	}
	if at >= len(x.shape) || count(v.Shape()) != x.shape[at] {
		panic(refuse(ShapesDiffer, shapeText(x.shape, v.Shape())))
	}
	shape := ones(len(x.shape))
	shape[at] = x.shape[at]
	return reshape(v, shape)
}
