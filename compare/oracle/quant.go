package oracle

import (
	"math"

	"precision/dump/dtype"
)

// Quantisation. Prototypes: quantize_ops.h.

func quantKernels() {
	register(single(buildQuant), "quant")
	register(single(buildAntiQuant), "antiquant")
	register(single(buildDequant), "dequant")
	// Functions of torch_npu, by the documentation of op-plugin and the roundings of open kernels (ops-nn).
	define("npu_dynamic_quant", function{forward: func(k *invocation) []Reading {
		k.unsupported("group_index")
		var x Values = k.tensor("input")
		if k.has("smooth_scales") {
			x = elementsOf(mulKernel(k.unit()), nil, false, []Values{x, k.tensor("smooth_scales")})
		}
		y, scale := k.byRowQuantised(x, 0, 1)
		return []Reading{{Out: []Values{y, scale}}}
	}})
	define("npu_quantize", function{forward: formulaFor(func(k *invocation) Values {
		x, scale := k.pair("input", "scales")
		in := []Values{x, k.alongAxis(x, scale, "axis", 1)}
		if k.has("zero_points") {
			in = append(in, k.alongAxis(x, k.tensor("zero_points"), "axis", 1))
		}
		return k.inSteps(k.outType(), in...)
	})})
	define("npu_quant_matmul", function{forward: formulaFor(func(k *invocation) Values {
		k.unsupported("x1_dtype", "x2_dtype", "pertoken_scale_dtype", "scale_dtype", "group_sizes", "y_scale")
		x, w := k.pair("x1", "x2")
		var token Values
		if k.has("pertoken_scale") {
			token = k.tensor("pertoken_scale")
		}
		return k.dequantised(k.wholeProduct(x, w), k.factorsOf(k.tensor("scale")), token, k.optional("bias"), k.optional("offset"))
	})})
	define("npu_add_rms_norm_dynamic_quant", function{forward: func(k *invocation) []Reading {
		k.unsupported("beta", "smooth_scale2", "output_mask")
		a, b := k.pair("x1", "x2")
		sum := elementsOf(addKernel(k.unit(), 1), nil, false, []Values{a, b})
		normed, _ := k.rootNorm(&rounded{sum, precisionFor(a.numeric())}, a.shape)
		if k.has("smooth_scale1") {
			normed = elementsOf(mulKernel(k.unit()), nil, false, []Values{normed, k.tensor("smooth_scale1")})
		}
		y, scale := k.byRowQuantised(normed, 0, 3)
		return []Reading{{Out: []Values{y, nil, sum, scale}}}
	}})
	define("npu_add_rms_norm_quant", function{forward: func(k *invocation) []Reading {
		k.unsupported("beta", "scales2", "zero_points2")
		a, b := k.pair("x1", "x2")
		sum := elementsOf(addKernel(k.unit(), 1), nil, false, []Values{a, b})
		p := precisionFor(a.numeric())
		normed, _ := k.rootNorm(&rounded{sum, p}, a.shape)
		in := []Values{&rounded{&rounded{normed, p}, p}, k.tensor("scales1")}
		if k.has("zero_points1") {
			in = append(in, k.tensor("zero_points1"))
		}
		return []Reading{{Out: []Values{k.inSteps(dtype.Int8, in...), nil, sum}}}
	}})
}

// buildQuant: y = clip(round(x·scale + offset), -128, 127). Where the argument
// lies within its rounding of a half, or of a whole number where that is cut,
// either neighbour is right. The square root form of the scale is left open.
func buildQuant(c *Call) Values {
	x := c.need("x", 0)
	scale := c.attrFloat("scale", math.NaN())
	refuseIf(math.IsNaN(scale), NoAttribute, "scale")
	offset := c.attrFloat("offset", 0)
	root := c.attrBool("sqrt_mode", false)
	refuseIf(root || c.outType() != dtype.Int8, Unsupported, "sqrt_mode, or another type than int8")
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
	u := precisionFor(x.typ).v // the product may be formed in float16 where x is
	return c.clippedTo(dtype.Int8, round, formulaOf(func(v []num) num {
		size := 3 * u * (abs(v[0].y*scale) + abs(offset))
		return num{v[0].y*scale + offset, size + abs(scale)*v[0].b}
	}, x))
}

// buildAntiQuant: y = (x + offset)·scale.
func buildAntiQuant(c *Call) Values {
	x := c.need("x", 0)
	scale := c.attrFloat("scale", math.NaN())
	refuseIf(math.IsNaN(scale), NoAttribute, "scale")
	offset := c.attrFloat("offset", 0)
	root := c.attrBool("sqrt_mode", false)
	refuseIf(root, Unsupported, "sqrt_mode")
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
	refuseIf(root, Unsupported, "sqrt_mode")
	n := count(s.shape)
	refuseIf(n > 1<<20, TooLarge, n, 1<<20)
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
		along = perChannel(x, scale)
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

// inSteps is x by its scale, or times it without div_mode, and a zero point.
func (k *invocation) inSteps(t dtype.Type, in ...Values) Values {
	divide, a := k.bool("div_mode", true), k.arith()
	return k.clippedTo(t, math.RoundToEven, formulaOf(func(v []num) num {
		y := v[0]
		if divide {
			y = a.div(y, v[1])
		} else {
			y = a.mul(y, v[1])
		}
		if len(v) > 2 {
			y = a.add(y, v[2])
		}
		return y
	}, in...))
}

// clippedTo rounds to a type of whole numbers, and cuts off what it does not hold. Where a number lies within its error of
// a half, or of a whole number where round cuts, either neighbour is right.
func (c *Call) clippedTo(t dtype.Type, round func(x float64) float64, v Values) Values {
	refuseIf(!discrete(t) || t == dtype.Bool || t.Bits() > 32, BadType, "output 0", t.String())
	lo, hi := integerRange(t)
	clip := func(v float64) float64 { return min(max(round(v), lo), hi) }
	w := newPointwise(func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			if y[i] = clip(v); b == nil {
				continue
			}
			b[i] = max(abs(clip(v+e[0][i])-y[i]), abs(clip(v-e[0][i])-y[i]))
			if math.IsNaN(v) || math.IsNaN(b[i]) {
				y[i], b[i] = 0, math.Inf(1)
			}
		}
	}, v)
	w.exact = true // whole numbers are recorded as they are
	return w
}

// byRowQuantised are the rows of the last axis in 127 steps to each side, and the step of each: numbers are multiplied by
// 127/max|x| and not divided by the step (ops-nn quant/dynamic_quant).
func (k *invocation) byRowQuantised(x Values, output, step int) (y, scale Values) {
	s := x.Shape()
	refuseIf(len(s) == 0 || k.outputType(output) != dtype.Int8, Unsupported, "another type than int8")
	n := s[len(s)-1]
	refuseIf(n == 0 || n > maxDense, NoBound, n)
	u := k.unit()
	largest := func(x, e []float64) (most, off float64) {
		for i, v := range x {
			if a := abs(v); a > most || math.IsNaN(a) {
				most = a
			}
			off = max(off, e[i])
		}
		return most, off
	}
	quotients := newRows(x, n, func(_ int64, x, e, y, b []float64) {
		most, off := largest(x, e)
		for i, v := range x {
			y[i] = v * 127 / most
			b[i] = 6*u*abs(y[i]) + (e[i]*127+abs(y[i])*off)/most
			if most == 0 {
				y[i], b[i] = 0, math.Inf(1) // 0/0
			}
		}
	})
	var steps Values = &reduced{shape: s[:len(s)-1], in: x, n: n, f: func(x, e []float64) (float64, float64) {
		most, off := largest(x, e)
		return most / 127, (4*u*most + off) / 127
	}}
	if have, ok := k.out(step); ok && count(have) == count(steps.Shape()) {
		steps = reshape(steps, have)
	}
	return k.clippedTo(dtype.Int8, math.RoundToEven, quotients), steps
}

// outputType is the type of a recorded output.
func (k *invocation) outputType(i int) dtype.Type {
	if i < len(k.outs) && k.outs[i] != nil {
		return k.outs[i].numeric()
	}
	return dtype.Undefined
}

// alongAxis shapes a vector so that it goes along an axis of x; a lone number goes with all.
func (k *invocation) alongAxis(x, v *operand, name string, missing int64) Values {
	n := count(v.shape)
	if n == 1 {
		return reshape(v, []int64{})
	}
	axis := k.axis(name, missing, len(x.shape))
	refuseIf(len(x.shape) == 0 || x.shape[axis] != n, ShapesDiffer, x.shape, v.shape)
	shape := ones(len(x.shape))
	shape[axis] = n
	return reshape(v, shape)
}

// wholeProduct is a product of int8 matrices, whose sums are exact.
func (k *invocation) wholeProduct(x, w Values) Values {
	for _, v := range []Values{x, w} {
		if o, is := v.(*operand); is && o.typ != dtype.Int8 {
			panic(refuse(BadType, o.name, o.typ.String()))
		}
	}
	p := newPointwise(func(x, _ [][]float64, y, b []float64) { copy(y, x[0]); clear(b) }, k.product(x, w))
	p.exact = true
	return p
}

// factorsOf are the scales of channels: numbers, or the fields of 64 bits that the fixed pipe takes, which holds 19 bits of
// a float32.
func (k *invocation) factorsOf(s *operand) Values {
	if s.typ != dtype.Int64 && s.typ != dtype.Uint64 {
		return s
	}
	words := must(s.words())
	d := &dense{shape: s.shape, y: make([]float64, len(words)), b: make([]float64, len(words))}
	for i, w := range words {
		cut := float64(math.Float32frombits(uint32(w) &^ 0x1fff))
		d.y[i], d.b[i] = cut, abs(float64(math.Float32frombits(uint32(w)))-cut)
	}
	return d
}

// dequantised is a product of whole numbers (…, M, N) by the scales of channels and tokens. A bias of whole numbers comes
// before the scales, another one behind; with whole results the offset is added last.
func (k *invocation) dequantised(v, scale, token Values, bias, offset *operand) Values {
	if k.outType() == dtype.Int32 {
		return v
	}
	s := v.Shape()
	in := []Values{v, reshape(scale, lastOf(scale, len(s)))}
	a := k.arith()
	before, after, tokens := -1, -1, -1
	if bias != nil {
		shaped := reshape(bias, lastOf(bias, len(s)))
		if len(bias.shape) > 1 {
			shaped = bias
		}
		if in = append(in, shaped); discrete(bias.typ) {
			before = len(in) - 1
		} else {
			after = len(in) - 1
		}
	}
	if token != nil {
		in, tokens = append(in, reshape(token, []int64{count(token.Shape()), 1})), len(in)
	}
	if offset != nil {
		in = append(in, reshape(offset, lastOf(offset, len(s))))
	}
	all := formulaOf(func(x []num) num {
		y := x[0]
		if before >= 0 {
			y.y += x[before].y
		}
		y = a.mul(num{y.y, k.unit() * abs(y.y)}, x[1])
		if tokens >= 0 {
			y = a.mul(y, x[tokens])
		}
		if after >= 0 {
			y = a.add(y, x[after])
		}
		if offset != nil {
			y = a.add(y, x[len(x)-1])
		}
		return y
	}, in...)
	if discrete(k.outType()) {
		return k.clippedTo(k.outType(), math.RoundToEven, all)
	}
	refuseIf(offset != nil, Unsupported, "offset")
	return all
}

// lastOf is the shape of a vector along the last of some axes.
func lastOf(v Values, rank int) []int64 {
	shape := ones(rank)
	if rank > 0 {
		shape[rank-1] = count(v.Shape())
	}
	return shape
}
