package oracle

import (
	"math"

	"precision/dump/dtype"
)

// Quantisation. Prototypes: quantize_ops.h.

func quantKernels() {
	register(single(buildQuant), "AscendQuant")
	register(single(buildAntiQuant), "AscendAntiQuant")
	register(single(buildDequant), "AscendDequant")
}

// buildQuant: y = clip(round(x·scale + offset), -128, 127). Where the argument
// lies within its rounding of a half, or of a whole number where that is cut,
// either neighbour is right. The square root form of the scale is left open.
func buildQuant(c *Call) Values {
	x := c.need("x", 0)
	scale := c.attrFloat("scale", math.NaN())
	if math.IsNaN(scale) {
		panic(refuse(NoAttribute, "scale"))
	}
	offset := c.attrFloat("offset", 0)
	root := c.attrBool("sqrt_mode", false)
	if root || c.outType() != dtype.Int8 {
		panic(refuse(Unsupported, "sqrt_mode, or another type than int8"))
	}
	var round func(float64) float64
	switch mode := c.attrs.Get("round_mode").Text(); mode {
	case "", "Round":
		round = math.RoundToEven
	case "Floor":
		round = math.Floor
	case "Ceil", "Ceiling":
		round = math.Ceil
	case "Trunc":
		round = math.Trunc
	default:
		panic(refuse(BadAttribute, "round_mode", mode, "Round, Floor, Ceil or Trunc"))
	}
	// The product may be formed in float16 where x is.
	u := precisionFor(x.typ).v
	clip := func(v float64) float64 { return min(max(round(v), -128), 127) }
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			arg := v*scale + offset
			y[i] = clip(arg)
			if b == nil {
				continue
			}
			off := 3*u*(abs(v*scale)+abs(offset)) + abs(scale)*e[0][i]
			b[i] = max(abs(clip(arg+off)-y[i]), abs(clip(arg-off)-y[i]))
			if math.IsNaN(arg) {
				y[i], b[i] = 0, math.Inf(1)
			}
		}
	}, nil, true, []Values{x})
}

// buildAntiQuant: y = (x + offset)·scale.
func buildAntiQuant(c *Call) Values {
	x := c.need("x", 0)
	scale := c.attrFloat("scale", math.NaN())
	if math.IsNaN(scale) {
		panic(refuse(NoAttribute, "scale"))
	}
	offset := c.attrFloat("offset", 0)
	root := c.attrBool("sqrt_mode", false)
	if root {
		panic(refuse(Unsupported, "sqrt_mode"))
	}
	u := precisionFor(c.outType()).v
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			y[i] = (v + offset) * scale
		}
		for i := range b {
			b[i] = 2 * u * (abs(x[0][i]*scale) + abs(offset*scale))
		}
	}, nil, false, []Values{x})
}

// buildDequant: y = x·s for int32 x, s a channel's float32 in the low half of a
// uint64, or a float16; with relu_flag negative results are 0. B = (u+v)·|y|.
func buildDequant(c *Call) Values {
	x := c.need("x", 0)
	s := c.need("deq_scale", 1)
	relu := c.attrBool("relu_flag", false)
	root := c.attrBool("sqrt_mode", false)
	if root {
		panic(refuse(Unsupported, "sqrt_mode"))
	}
	n := count(s.shape)
	if n > 1<<20 {
		panic(refuse(TooLarge, n, 1<<20))
	}
	scale := &dense{shape: s.shape, y: make([]float64, n), exact: true}
	if s.typ == dtype.Uint64 || s.typ == dtype.Int64 {
		words := must(s.words())
		for i, w := range words {
			scale.y[i] = float64(math.Float32frombits(uint32(w)))
		}
	} else {
		check(s.Range(0, scale.y, nil))
	}
	var along Values = reshape(scale, []int64{n})
	if n > 1 {
		along = perChannel(x, scale, x.axesOr(""))
	}
	u := u32 + precisionFor(c.outType()).v
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			if y[i] = v * x[1][i]; relu && y[i] < 0 {
				y[i] = 0
			}
		}
		for i := range b {
			b[i] = u * abs(y[i])
		}
	}, nil, false, []Values{x, along})
}
