package oracle

import (
	"math"
	"strings"

	"precision/dump/msprobe"
)

// Piecewise linear activations. Prototypes: nonlinear_fuc_ops.h.

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
	register(single(buildClip), "ClipByValue", "ClipByValueV2")
	// The header of Gelu states erf, devices compute tanh (aclnnGelu.md of ops-nn).
	register(func(c *Call) (list []Reading) {
		x := c.need("x", 0)
		for _, form := range []string{"tanh", "none"} {
			k := &invocation{Call: c, name: "gelu", args: map[string]*argument{"input": {v: &msprobe.Value{Kind: msprobe.Tensor}, op: x}, "approximate": textArgument(form)}}
			list = append(list, Reading{Name: "gelu-" + strings.Replace(form, "none", "erf", 1), Out: functions["gelu"].forward(k)[0].Out})
		}
		return list
	}, "Gelu")
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
