package oracle

import "math"

// Comparisons, logic and selection: bit-exact. Prototypes:
// elewise_calculation_ops.h, selection_ops.h.

func init() {
	test := func(f func(a, b float64) bool, types ...string) {
		registerPart(elementwise{operands: 2, build: func(c *Call, in []Values) Values {
			return elementsOf(exactly(func(x []float64) float64 { return toNumber(f(x[0], x[1])) }), nil, true, in)
		}}, types...)
	}
	test(func(a, b float64) bool { return a > b }, "Greater")
	test(func(a, b float64) bool { return a >= b }, "GreaterEqual")
	test(func(a, b float64) bool { return a < b }, "Less")
	test(func(a, b float64) bool { return a <= b }, "LessEqual")
	test(func(a, b float64) bool { return a == b }, "Equal")
	test(func(a, b float64) bool { return a != b }, "NotEqual")
	test(func(a, b float64) bool { return a != 0 && b != 0 }, "LogicalAnd")
	test(func(a, b float64) bool { return a != 0 || b != 0 }, "LogicalOr")
	ask := func(f func(x float64) bool, types ...string) {
		registerPart(elementwise{operands: 1, build: func(c *Call, in []Values) Values {
			return elementsOf(exactly(func(x []float64) float64 { return toNumber(f(x[0])) }), nil, true, in)
		}}, types...)
	}
	ask(func(x float64) bool { return x == 0 }, "LogicalNot")
	ask(math.IsNaN, "IsNan")
	ask(func(x float64) bool { return math.IsInf(x, 0) }, "IsInf")
	ask(func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }, "IsFinite")
	register(single(buildSelect), "Select", "SelectV2")
}

// buildSelect: y = condition ? x1 : x2, broadcast; a condition with one axis may
// choose along the first axis.
func buildSelect(c *Call) Values {
	in := c.all()
	if len(in) != 3 {
		panic(refuse(InputCount, len(in), 3))
	}
	if s, x := in[0].Shape(), in[1].Shape(); c.Type == "Select" && len(s) == 1 && len(x) > 1 && s[0] == x[0] {
		shape := ones(len(x))
		shape[0] = s[0]
		in[0] = reshape(in[0], shape)
	}
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i := range y {
			if y[i] = x[2][i]; x[0][i] != 0 {
				y[i] = x[1][i]
			}
		}
		clear(b)
	}, nil, true, in)
}
