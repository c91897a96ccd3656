package oracle

import "math"

// Functions of one number. B = sup|f'|·B_x + 8u·(|y| + floor·min(|x|, 1)): the
// device does not round them correctly, and is granted eight units; near a zero
// of the function the error goes with the argument, which is what floor says.
// Prototypes: elewise_calculation_ops.h, nonlinear_fuc_ops.h, math_ops.h.

// registerFunction adds a function; slope is the most an error of x grows.
func registerFunction(f func(x float64) float64, slope func(x, y float64) float64, floor float64, types ...string) {
	registerPart(elementwise{operands: 1, build: func(c *Call, in []Values) Values {
		return elementsOf(unary(f, slope, c.ulps(), floor), nil, false, in)
	}}, types...)
}

func constant(k float64) func(x, y float64) float64 { return func(x, y float64) float64 { return k } }

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// softplus is log(1 + e^x) without overflow.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-abs(x))) }

// geluTanh is the form with tanh, of which devices compute Gelu (aclnnGelu.md of
// ops-nn); geluErf is the one the header of the operator states.
func geluTanh(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func geluErf(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return x / 2 * math.Erfc(-x/math.Sqrt2)
}

// fastGelu is x·σ(1.702x), as e^(0.851(x-|x|))/(1 + e^(-1.702|x|)).
func fastGelu(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return x * math.Exp(0.851*(x-abs(x))) / (1 + math.Exp(-1.702*abs(x)))
}

func init() {
	registerFunction(math.Erf, constant(1.13), 1, "Erf")
	registerFunction(math.Erfc, constant(1.13), 0, "Erfc")
	registerFunction(math.Tanh, constant(1), 1, "Tanh")
	registerFunction(sigmoid, constant(0.25), 1, "Sigmoid")
	registerFunction(math.Sqrt, func(x, y float64) float64 { return 0.6 / max(y, 1e-30) }, 0, "Sqrt")
	registerFunction(func(x float64) float64 { return 1 / math.Sqrt(x) }, func(x, y float64) float64 { return 0.6 * y * y * y }, 0, "Rsqrt")
	registerFunction(func(x float64) float64 { return 1 / x }, func(x, y float64) float64 { return 1.1 * y * y }, 0, "Reciprocal", "Inv")
	registerFunction(softplus, constant(1), 1, "Softplus")
	registerFunction(func(x float64) float64 { return x / (1 + abs(x)) }, constant(1), 1, "Softsign")
	registerFunction(math.Expm1, func(x, y float64) float64 { return 1.1 * (y + 1) }, 1, "Expm1")
	registerFunction(math.Log1p, func(x, y float64) float64 { return 1.1 / max(1+x, 1e-30) }, 1, "Log1p")
	registerFunction(math.Sin, constant(1), 2, "Sin")
	registerFunction(math.Cos, constant(1), 2, "Cos")
	registerFunction(func(x float64) float64 { return x * math.Tanh(softplus(x)) }, constant(1.1), 4, "Mish")
	registerFunction(fastGelu, constant(1.2), 4, "FastGelu", "FastGeluV2")
	registerFunction(func(x float64) float64 { return x * sigmoid(x) }, constant(1.1), 4, "Silu")

	registerPart(elementwise{operands: 1, build: func(c *Call, in []Values) Values {
		scale := c.attrFloat("scale", 1)
		return elementsOf(unary(func(x float64) float64 { return x * sigmoid(scale*x) }, constant(1.1), c.ulps(), 4*max(1, abs(scale))), nil, false, in)
	}}, "Swish")

	// Gelu: either form. The bound of x: |f'| <= 1.13.
	gelu := func(c *Call, form func(float64) float64, in Values) Values {
		return elementsOf(unary(form, constant(1.13), c.ulps(), 4), nil, false, []Values{in})
	}
	register(func(c *Call) []Reading {
		x := c.need("x", 0)
		tanh := gelu(c, geluTanh, x)
		erf := gelu(c, geluErf, x)
		return []Reading{{Name: "gelu-tanh", Out: []Values{tanh}}, {Name: "gelu-erf", Out: []Values{erf}}}
	}, "Gelu")

	registerPart(elementwise{operands: 1, build: buildExp}, "Exp")
	registerPart(elementwise{operands: 1, build: buildLog}, "Log")

	// Exact functions: no rounding at all.
	exact := func(f func(x float64) float64, keeps bool, f32 func(x [][]float32, y []float32), types ...string) {
		registerPart(elementwise{operands: 1, keeps: keeps, build: func(c *Call, in []Values) Values {
			return elementsOf(unary(f, constant(1), 0, 0), f32, true, in)
		}}, types...)
	}
	exact(func(x float64) float64 { return -x }, true, nil, "Neg")
	exact(math.Abs, true, nil, "Abs")
	exact(func(x float64) float64 { return x }, true, nil, "Identity", "StopGradient", "PreventGradient")
	exact(sign, true, nil, "Sign")
	rounding := func(f func(x float64) float64, types ...string) {
		registerPart(elementwise{operands: 1, build: func(c *Call, in []Values) Values {
			return elementsOf(stepKernel(f), nil, true, in)
		}}, types...)
	}
	rounding(math.Floor, "Floor")
	rounding(math.Ceil, "Ceil")
	rounding(math.RoundToEven, "Round", "Rint")
	rounding(math.Trunc, "Trunc")

	registerPart(elementwise{operands: 1, build: func(c *Call, in []Values) Values {
		if integers(c) {
			return elementsOf(wrapping(squareKernel(0), c.outType()), nil, true, in)
		}
		return elementsOf(squareKernel(c.unit()), nil, false, in)
	}}, "Square")
}

// stepKernel is rounding to whole numbers. What is off by B may land on the
// other side of a step.
func stepKernel(f func(x float64) float64) kernel {
	return func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			if y[i] = f(v); b == nil {
				continue
			}
			b[i] = 0
			if d := e[0][i]; d != 0 {
				b[i] = max(abs(f(v+d)-y[i]), abs(f(v-d)-y[i]))
			}
		}
	}
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// squareKernel: y = x², B = 2|x|·B_x + B_x² + u·y.
func squareKernel(u float64) kernel {
	return func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			y[i] = v * v
		}
		for i := range b {
			s := 0.0
			if e[0][i] != 0 {
				s = 2*abs(x[0][i])*e[0][i] + e[0][i]*e[0][i]
			}
			b[i] = s + u*(y[i]+s)
		}
	}
}

// buildExp: y = base^(scale·x + shift), e for a base of -1. The argument is
// rounded in float32, and its error is relative in the result.
func buildExp(c *Call, in []Values) Values {
	base := c.attrFloat("base", -1)
	scale := c.attrFloat("scale", 1)
	shift := c.attrFloat("shift", 0)
	log := 1.0
	if base != -1 {
		if base <= 0 {
			panic(refuse(BadAttribute, "base", base, "-1 or more than 0"))
		}
		log = math.Log(base)
	}
	u, ulps := c.unit(), c.ulps()
	plain := base == -1 && scale == 1 && shift == 0
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			y[i] = math.Exp(log * (scale*v + shift))
		}
		for i := range b {
			s := abs(scale*log) * e[0][i]
			if !plain {
				s += 3 * u * abs(log) * (abs(scale*x[0][i]) + abs(shift))
			}
			b[i] = y[i] * (ulps + 1.1*s)
			if s > 0.1 {
				b[i] = y[i] * (ulps + math.Expm1(s))
			}
		}
	}, nil, false, in)
}

// buildLog: y = log(scale·x + shift)/log(base), e for a base of -1. Near an
// argument of 1 the error is that of the argument.
func buildLog(c *Call, in []Values) Values {
	base := c.attrFloat("base", -1)
	scale := c.attrFloat("scale", 1)
	shift := c.attrFloat("shift", 0)
	log := 1.0
	if base != -1 {
		if base <= 0 || base == 1 {
			panic(refuse(BadAttribute, "base", base, "-1 or more than 0"))
		}
		log = math.Log(base)
	}
	u, ulps := c.unit(), c.ulps()
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			y[i] = math.Log(scale*v+shift) / log
		}
		for i := range b {
			v := scale*x[0][i] + shift
			s := abs(scale) * e[0][i]
			if scale != 1 || shift != 0 {
				s += 2 * u * (abs(scale*x[0][i]) + abs(shift))
			}
			b[i] = ulps * (abs(y[i]) + 1)
			if s != 0 {
				b[i] += 1.1 * s / max(abs(v)-s, 0) / abs(log)
			}
		}
	}, nil, false, in)
}
