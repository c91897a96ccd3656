package oracle

// Comparisons, logic and selection: bit-exact. Prototypes:
// elewise_calculation_ops.h, selection_ops.h.

func init() {
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
