package oracle

import (
	"math"
	"slices"

	"precision/dump/dtype"
	catalogue "precision/op"
)

// Quantisation: numbers in steps, and products of what is in steps. Prototypes: quantize_ops.h;
// functions of torch_npu by the documentation and tests of op-plugin and the roundings of open
// kernels (ops-nn quant, matmul).
//
// Into steps: y = round(x/s) or round(x·s), cut off at what the type holds. A quotient has an error
// e, and where it lies within e of the middle between two steps either is right: the bound is 0 or
// one whole step ([Call.clippedTo]). So a device is never accused of a tie, and an error of two
// steps is always found. Where the step is computed from the row itself, max|x|/127, the error of
// the largest number goes into every quotient of the row.
//
// Out of steps: (x + offset)·s, exact but for the roundings of scale and product.
//
// Products of int8 are sums of whole numbers, which int32 holds exactly, so that only the scales
// round ([invocation.wholeProduct], [invocation.scaledProduct]). Scales are of channels (columns),
// of tokens (rows), of groups of rows of the weight, or of blocks of 32 along what is summed up, as
// powers of two (the OCP Microscaling Formats, v1.0, 2023). Those of channels may come as words of
// 64 bits for the fixed pipe, which holds 19 bits of a float32.

// quantKernels: steps of rows, groups and channels, and products of what is in steps.
func quantKernels() {
	register(single(buildQuant), "quant")
	register(single(buildAntiQuant), "antiquant")
	register(single(buildDequant), "dequant")
	// Functions of torch_npu, by the documentation of op-plugin and the roundings of open kernels
	// (ops-nn).
	// scale = max|x·smooth| / 127 of each row, y = round(x·smooth / scale).
	define("npu_dynamic_quant", function{forward: func(k *invocation) []Reading {
		k.only(0, "dst_type_max")
		return outputs(k.byRowQuantised(k.smoothed(), k.outputType(0), 1))
	}})
	// Blocks of each row are turned by a matrix first, which may be rounded to the type of x (test
	// of op-plugin).
	define("npu_rotate_quant", function{forward: func(k *invocation) []Reading {
		k.unsupported("alpha")
		k.only(0, "scale_alg", "dst_type_max", "transpose_y")
		x, w := k.pair("x", "rotation")
		refuseIf(k.string("round_mode", "rint") != "rint" || k.outputType(0) != dtype.Int8, Unsupported, "round_mode, dst_dtype")
		refuseIf(len(x.shape) == 0 || len(w.shape) != 2 || w.shape[0] != w.shape[1] || w.shape[0] == 0 || x.shape[len(x.shape)-1]%w.shape[0] != 0, ShapesDiffer, x.shape, w.shape)
		refuseIf(k.axis("axis", -1, len(x.shape)) != len(x.shape)-1, Unsupported, "axis")
		// x (…, n·K) times the rotation (K, K), block by block of K elements.
		v := k.product(reshape(x, []int64{count(x.shape) / w.shape[0], w.shape[0]}), w)
		v = reshape(v, x.shape)
		y, scale := k.byRowQuantised(v, k.outputType(0), 1)
		z, other := k.byRowQuantised(roundedTo(precisionFor(x.numeric()), v), k.outputType(0), 1)
		return []Reading{{Name: "unrounded", Out: []Values{y, scale}}, {Name: "rounded", Out: []Values{z, other}}}
	}})
	// torch_npu.npu_dynamic_quant_asymmetric: steps between the ends of each row, with an offset.
	define("npu_dynamic_quant_asymmetric", function{forward: func(k *invocation) []Reading {
		k.only(0, "dst_type_max")
		return k.betweenEnds(k.smoothed())
	}})
	// A step for each 128 elements of a row (col_block_size); the last block is filled up with 0,
	// which does not change its largest number.
	define("npu_dynamic_block_quant", function{forward: func(k *invocation) []Reading {
		k.only(0, "group_list_type")
		return k.tiled(k.tensor("x"), k.int("row_block_size", 1), k.int("col_block_size", 128), k.ints("group_index"))
	}})
	// y = round(x·scale[g] + offset) for the rows of group g; x is (S, H), scale (groups, H), and
	// group_index says where groups end.
	define("npu_group_quant", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("x")
		refuseIf(len(x.shape) != 2, ShapesDiffer, x.shape)
		groups := k.groupOf(x.shape[0], false)
		v := k.also("x,o)=x+o", k.computed("x,s)=x*s", x, k.perGroup(k.tensor("scale"), groups, x.shape[1])), k.ifGiven("offset"))
		return k.stepped(k.outType(), k.unwritten(v, groups))
	})})
	// y = round(x/scale + zero), or x·scale without div_mode, along an axis or for all.
	define("npu_quantize", function{forward: formulaFor(func(k *invocation) Values {
		x, scale := k.pair("input", "scales")
		refuseIf(!discrete(k.outType()) && !narrowFloat(k.outType()), BadType, "output 0", k.outType().String())
		return k.inSteps(k.outType(), x, k.alongAxis(x, scale, "axis", 1), k.alongAxis(x, k.optional("zero_points"), "axis", 1))
	})})
	// int8 or int4 products are summed exactly in int32, so that only the scales round; of float8
	// the products are summed in float32.
	define("npu_quant_matmul", function{forward: formulaFor(func(k *invocation) Values {
		k.unsupported("y_scale")
		x, w := k.pair("x1", "x2")
		scale, token := k.tensor("scale"), k.ifGiven("pertoken_scale")
		if narrowFloat(x.typ) {
			return k.narrowProduct(x, w, scale, token)
		}
		k.unsupported("group_sizes")
		return k.dequantised(k.wholeProduct(fours(x), fours(w)), k.factorsOf(scale), token, k.optional("bias"), k.optional("offset"))
	})})
	// gelu of the product before it is rounded; approximate says which.
	define("npu_quant_matmul_gelu", function{forward: formulaFor(func(k *invocation) Values {
		v := k.dequantised(k.wholeProduct(fours(k.tensor("x1")), fours(k.tensor("x2"))), k.tensor("x2_scale"), k.tensor("x1_scale"), k.optional("bias"), nil)
		how := map[string]string{"gelu_erf": "none", "gelu_tanh": "tanh"}[k.string("approximate", "gelu_erf")]
		return k.with(map[string]*argument{"approximate": textArgument(how)}).applied(catalogue.Of("gelu"), v)
	})})
	// y = Σ_b x1[b]·x2[b]·x1_scale[b, m]·x2_scale[n], with x1 (B, M, K) and x2 (B, K, N).
	define("npu_quant_matmul_reduce_sum", function{forward: formulaFor(func(k *invocation) Values {
		x, w := k.tensor("x1"), k.tensor("x2")
		refuseIf(len(x.shape) != 3 || len(w.shape) != 3, ShapesDiffer, x.shape, w.shape)
		k.required("x1_scale", "x2_scale")
		v := k.computed("p,t,c)=p*t*c", k.wholeProduct(x, w), sized(k.tensor("x1_scale"), []int64{x.shape[0], x.shape[1], 1}), k.tensor("x2_scale"))
		return k.reduction(v, []int{0}, false, false, func(c *Call, n int64) func(x, e []float64) (y, b float64) { return sumOf(c.sumUnit(), n, 1) })
	})})
	// Outputs: y1, y2, x1 + x2, scale1, scale2; the second pair is there with smooth_scale2 alone,
	// or each where output_mask says so.
	define("npu_add_rms_norm_dynamic_quant", function{forward: func(k *invocation) []Reading {
		sum, normed := k.normedSum()
		out, mask := []Values{nil, nil, sum, nil, nil}, k.ints("output_mask")
		refuseIf(len(mask) != 0 && len(mask) != 2, BadArgument, "output_mask", mask, "two truths")
		for i, name := range []string{"smooth_scale1", "smooth_scale2"} {
			v := normed
			if len(mask) > 0 && mask[i] == 0 || len(mask) == 0 && i == 1 && !k.has(name) {
				continue
			}
			if k.has(name) {
				v = k.times(normed, k.tensor(name))
			}
			out[i], out[3+i] = k.byRowQuantised(v, k.outputType(i), 3+i)
		}
		return outputs(out...)
	}})
	// The norm may be rounded to the type of x before it is quantised, or not: twice rounded gives
	// a bound that holds either way.
	define("npu_add_rms_norm_quant", function{forward: func(k *invocation) []Reading {
		sum, normed := k.normedSum()
		p := precisionFor(k.tensor("x1").numeric())
		out := []Values{nil, nil, sum}
		for i, n := range []string{"1", "2"} {
			if k.has("scales" + n) {
				out[i] = k.inSteps(k.outputType(i), &rounded{&rounded{normed, p}, p}, k.tensor("scales"+n), k.ifGiven("zero_points"+n))
			}
		}
		return outputs(out...)
	}})
	// round(rms_norm(x)/scale + offset), with the reciprocal roots.
	define("npu_rms_norm_quant_v2", function{forward: func(k *invocation) []Reading {
		x := k.tensor("x")
		p := precisionFor(x.numeric())
		_, root := k.rootNorm(x, x.shape)
		y := k.inSteps(k.outputType(0), &rounded{&rounded{k.normedRows(x, x.shape), p}, p}, k.tensor("scale"), k.ifGiven("offset"))
		return outputs(y, root)
	}})
	define("_npu_rms_norm_backward_quant", function{forward: func(k *invocation) []Reading { // test of op-plugin: the gradient, then npu_quantize
		refuseIf(k.string("quant_mode", "static") != "static", Unsupported, "quant_mode")
		x := k.tensor("input")
		all := forms["rms_norm"].backward(k, []Values{k.tensor("grad")})
		along := func(o *operand) Values {
			if o == nil {
				return nil
			}
			return reshape(o, lastOf(o, len(x.shape)))
		}
		y := k.inSteps(k.outputType(0), &rounded{all["input"](), precisionFor(x.numeric())}, along(k.tensor("scale_x")), along(k.optional("offset_x")))
		return outputs(y, k.asRecorded(all["weight"](), 1))
	}})
	// x int32 (M, N) times weight_scale (N) and activation_scale (M), and a bias, before or behind
	// as its type says.
	define("npu_dequant_bias", function{forward: formulaFor(func(k *invocation) Values {
		return k.dequantised(k.tensor("x"), k.tensor("weight_scale"), k.ifGiven("activation_scale"), k.optional("bias"), nil)
	})})
	// x by its scale in a type of eight bits, and the largest number of each group.
	define("npu_quant_max", function{forward: func(k *invocation) []Reading {
		k.unsupported("group_list")
		x := k.tensor("x")
		refuseIf(k.string("round_mode", "rint") != "rint", Unsupported, "round_mode")
		most := 0.0
		for _, v := range numbers(x) {
			most = max(most, abs(v))
		}
		return outputs(k.inSteps(k.outputType(0), x, k.tensor("scale"), nil), sized(scalar(most), []int64{1}))
	}})
	define("quantised_within", function{forward: formulaFor(quantisedWithin)})
	define("npu_kronecker_quant", function{forward: kroneckerQuant})
	define("npu_swiglu_group_quant", function{forward: swigluGroups})
	// input (groups, M, N) gets x1·x2 of each group's part of the sum over K, in blocks of 32.
	define("npu_add_quant_gmm", function{forward: formulaFor(func(k *invocation) Values {
		k.only(0, "group_list_type")
		x, w := k.pair("x1", "x2")
		s, t, ends, sum := k.tensor("x2_scale"), k.tensor("x1_scale"), k.ints("group_list"), k.tensor("input")
		refuseIf(len(x.shape) != 2 || len(w.shape) != 2 || x.shape[1] != w.shape[0] || len(ends) == 0 || count(sum.shape) != int64(len(ends))*x.shape[0]*w.shape[1], ShapesDiffer, x.shape, w.shape, sum.shape)
		refuseIf(!narrowFloat(x.typ) || !narrowFloat(w.typ) || len(s.shape) != 3 || len(t.shape) != 3, Unsupported, "scales that are not of blocks")
		a, b, from := unblocked(x, t, 1, ends...), unblocked(w, s, 0, ends...), int64(0)
		var parts []Values
		for _, end := range ends {
			part := Values(zeros(x.shape[0], w.shape[1]))
			if end > from {
				part = k.product(slab1(a, 1, from, end-from), slab1(b, 0, from, end-from))
			}
			parts, from = append(parts, part), end
		}
		return k.computed("y,p)=y+p", sum, sized(joined(0, parts...), sum.shape))
	})})
	define("swiglu_quant", function{forward: swigluQuant})
	// npu_grouped_matmul_swiglu_quant: a product for each group of rows, silu of one half times the
	// other, and steps by row or block.
	define("grouped_swiglu_quant", function{forward: func(k *invocation) []Reading {
		k.unsupported("offset", "bias", "smooth_scale", "weight_assist_matrix")
		// Modes: 0 by token and channel, 1 by group, 2 by 32 with powers of two (documentation of
		// op-plugin).
		refuseIf(k.int("dequant_mode", 0) == 1 || k.int("quant_mode", 0) == 1 || k.int("dequant_mode", 0) != k.int("quant_mode", 0), Unsupported, "dequant_mode, quant_mode")
		v := k.gatedBy(k.expertProducts(nil, k.scaledProduct), true)
		if k.int("quant_mode", 0) == 2 {
			return outputs(k.alongBlocks(v, 1, nil, 0, 1))
		}
		refuseIf(k.int("quant_mode", 0) != 0, Unsupported, "quant_mode")
		return outputs(k.byRowQuantised(v, k.outputType(0), 1))
	}})
	mxForms()
	define("npu_trans_quant_param", function{forward: formulaFor(func(k *invocation) Values { // float32 in the low half, 19 bits of it
		k.unsupported("offset")
		k.only(0, "round_mode")
		s := k.tensor("scale")
		d := held(s)
		return sized(&formula{shape: s.shape, exact: true, f: func(i int64, _ []int64) (float64, float64) {
			// Bit 46 says that there is a scale; the fixed pipe has 19 bits of a float32: sign,
			// exponent and 10 of the mantissa.
			return float64(math.Float32bits(float32(d.y[i]))&^0x1fff) + 0x1p46, 0
		}}, k.shape())
	})})
	// y = (x + offset)·scale of int8, or of int4 in words of int32.
	define("npu_anti_quant", function{forward: formulaFor(func(k *invocation) Values {
		x, scale := k.tensor("x"), k.tensor("scale")
		return k.halves(k.lessQuantised(fours(x), reshape(scale, lastOf(scale, len(x.shape))), k.ifGiven("offset")))
	})})
	// y = x·((weight + offset)·scale) + bias, the weight rounded to the type of x before it is
	// multiplied.
	define("npu_weight_quant_batchmatmul", function{forward: formulaFor(func(k *invocation) Values {
		k.unsupported("quant_scale", "quant_offset")
		x, w := k.pair("x", "weight")
		return k.plus(k.product(x, k.weightOf(fours(w), k.tensor("antiquant_scale"), k.ifGiven("antiquant_offset"), x.numeric())), k.ifGiven("bias"))
	})})
}

// smoothed is the input times its scales, those of the group of each row where there are groups.
func (k *invocation) smoothed() Values {
	x := k.tensor("input")
	mode := k.string("quant_mode", "pertoken") // a number stands for none
	switch {
	case k.has("group_index"):
		refuseIf(len(x.shape) < 2 || count(x.shape) == 0, Unsupported, "group_index")
		width := x.shape[len(x.shape)-1]
		rows := []int64{count(x.shape) / width, width}
		groups := k.groupOf(rows[0], false)
		y := k.times(reshape(x, rows), k.perGroup(k.tensor("smooth_scales"), groups, width))
		return reshape(k.unwritten(y, groups), x.shape)
	case k.has("smooth_scales"):
		s := k.tensor("smooth_scales")
		var of Values = s
		if mode == "perchannel" && len(s.shape) == 1 { // one for each row of a channel
			of = reshape(s, []int64{s.shape[0], 1})
		}
		return k.times(x, of)
	}
	return x
}

// quantisedWithin is a product whose first factor is rounded to steps inside, of each row or by
// x_scale, with the whole numbers of the other (N, K), of groups of rows each its own (ops-nn
// matmul/quant_matmul_dequant).
func quantisedWithin(k *invocation) Values {
	k.unsupported("x_offset")
	x, w := k.pair("x", "weight")
	scale := k.tensor("weight_scale")
	refuseIf(count(x.shape) == 0 || count(w.shape) == 0, ShapesDiffer, x.shape, w.shape)
	refuseIf(len(x.shape) != 2 || len(w.shape) < 2 || w.typ != dtype.Int8 || scale.typ.Bits() == 64, Unsupported, "weights "+shapeText(w.shape)+", weight_scale")
	v := k.also("x,s)=x*s", x, k.ifGiven("smooth_scale"))
	var steps Values
	if k.has("x_scale") {
		steps = reshape(k.tensor("x_scale"), []int64{count(k.tensor("x_scale").shape), 1})
		v = k.clippedTo(dtype.Int8, math.RoundToEven, k.computed("x,s)=x/s", v, steps))
	} else {
		v, steps = k.byRowQuantised(v, dtype.Int8, -1)
		steps = reshape(steps, []int64{count(steps.Shape()), 1})
	}
	v = &rounded{v, precisionFor(dtype.Float64)} // of whole numbers that may be either of two the products may be as well
	at, groups, ends := int64(0), int64(1), x.shape[:1]
	if len(w.shape) == 3 {
		ends, groups = k.ints("group_list"), w.shape[0]
		refuseIf(int64(len(ends)) != groups, ShapesDiffer, w.shape, ends)
	}
	var parts []Values
	for g, end := range ends {
		refuseIf(end < at || end > x.shape[0], BadArgument, "group_list", end, "rows of "+shapeText(x.shape))
		if end == at {
			continue
		}
		part := func(o *operand) Values {
			refuseIf(count(o.shape) == 0 || count(o.shape)%groups != 0, ShapesDiffer, o.shape, w.shape)
			return slab1(reshape(o, []int64{groups, count(o.shape) / groups}), 0, int64(g), 1)
		}
		m := turned(w, true)
		if len(w.shape) == 3 {
			m = reshape(slab1(m, 0, int64(g), 1), m.Shape()[1:])
		}
		y := k.product(slab1(v, 0, at, end-at), m)
		if bias := k.optional("bias"); bias != nil {
			y = k.computed("y,b)=y+b", y, part(bias))
		}
		s := steps
		if count(s.Shape()) > 1 {
			s = slab1(s, 0, at, end-at)
		}
		parts = append(parts, k.computed("y,w,s)=y*w*s", y, part(scale), s))
		at = end
	}
	refuseIf(at != x.shape[0], Unsupported, "rows behind the last group")
	return joined(0, parts...)
}

// kroneckerQuant: each matrix between two others, its numbers in 15 steps, of which eight are kept
// in a word (ops-nn quant/flat_quant). A word is right if each of its numbers may be.
func kroneckerQuant(k *invocation) []Reading {
	k.only(0, "dst_type_max")
	x, left, right := k.tensor("x"), k.tensor("kronecker_p1"), k.tensor("kronecker_p2")
	refuseIf(len(x.shape) != 3 || len(left.shape) != 2 || len(right.shape) != 2 || k.outputType(0) != dtype.Int32, ShapesDiffer, x.shape, left.shape, right.shape)
	p := precisionFor(x.numeric())
	v := &rounded{k.product(left, &rounded{k.product(x, right), p}), p}
	clip := k.float("clip_ratio", 1)
	refuseIf(!(clip > 0 && clip <= 1), BadArgument, "clip_ratio", clip, "0 to 1")
	q, scale := k.rowsBy(reshape(v, []int64{x.shape[0], x.shape[1] * x.shape[2]}), 7*clip, 1)
	half := precisionFor(dtype.Float16)
	d, out := held(&rounded{q, half}), k.outs[0]
	refuseIf(count(out.shape)*8 != int64(len(d.y)), ShapesDiffer, out.shape, x.shape)
	words := numbers(out)
	for i, word := range words {
		whole := uint32(0)
		for j := range 8 {
			y, b := d.y[8*i+j], 0.0
			if d.b != nil {
				b = d.b[8*i+j]
			}
			y, b = half.Round(y), b+half.v*abs(y)
			was := float64(int32(uint32(int32(word))<<(28-4*j)) >> 28)
			if !(was >= math.RoundToEven(y-b) && was <= math.RoundToEven(y+b)) && !math.IsInf(b, 0) {
				was = math.RoundToEven(y)
			}
			whole |= uint32(int32(was)) & 15 << (4 * j)
		}
		words[i] = float64(int32(whole))
	}
	return outputs(&dense{shape: out.shape, y: words, exact: true}, scale)
}

// swigluGroups is silu of one half of each row, cut off, times the other one and a weight, in steps
// of blocks of 128 (0) or in blocks of 32 with powers of two (1), and as it was; rows behind those
// of all groups are not written (ops-nn activation/swiglu_group_quant).
func swigluGroups(k *invocation) []Reading {
	k.unsupported("scale")
	k.only(0, "round_scale", "block_size")
	x := k.tensor("x")
	r := len(x.shape)
	a, b := k.halved(x, r-1, true)
	if c := k.float("clamp_limit", -1); c > 0 {
		a, b = k.computed("x,c)=min(x,c)", a, scalar(c)), k.computed("x,c)=max(min(x,c),-c)", b, scalar(c))
	}
	v := k.computed("a,b)=a*sigmoid(a)*b", a, b)
	wide := v.Shape()[r-1]
	rows := count(v.Shape()) / max(wide, 1)
	v = k.also("v,w)=v*w", reshape(v, []int64{rows, wide}), sized(k.ifGiven("weight"), []int64{rows, 1}))
	if k.has("group_index") {
		live := make([]int64, rows)
		for _, n := range k.ints("group_index") {
			rows -= n
		}
		for i := len(live) - int(max(rows, 0)); i < len(live); i++ {
			live[max(i, 0)] = -1
		}
		v = k.unwritten(v, live)
	}
	shape := x.shape[:r-1]
	out := make([]Values, 3)
	switch mode := k.int("quant_mode", 0); {
	case mode == 0 && wide%128 == 0:
		y, scale := k.byRowQuantised(reshape(v, []int64{v.Shape()[0], wide / 128, 128}), k.outputType(0), 1)
		out[0], out[1] = reshape(y, append(slices.Clone(shape), wide)), scale
	case mode == 1 && !k.has("group_index"):
		out[0], out[1] = k.alongBlocks(reshape(v, append(slices.Clone(shape), wide)), r-1, nil, 0, 1)
	default:
		panic(refusal(Unsupported, "quant_mode "+itoa(int(mode))+", group_index, rows of "+itoa(int(wide))))
	}
	if k.bool("output_origin", false) {
		out[2] = reshape(v, append(slices.Clone(shape), wide))
	}
	return outputs(out...)
}

// tiled are tiles of so many rows and columns in steps of their own: x·max/largest and largest/max,
// max being the largest number of the type. Groups end at rows, each with a row of tiles to itself
// (documentation of npu_dynamic_block_quant and its grouped form).
func (k *invocation) tiled(x *operand, high, wide int64, ends []int64) []Reading {
	k.only(0, "min_scale", "dst_type_max")
	r, t := len(x.shape), k.outputType(0)
	refuseIf(r < 2 || count(x.shape) == 0 || !within(high, 1, 1<<12) || !within(wide, 1, 1<<12), ShapesDiffer, x.shape)
	refuseIf(k.string("round_mode", "rint") != "rint", Unsupported, "round_mode")
	m, n, top, u := x.shape[r-2], x.shape[r-1], stepsOf(t), k.unit()
	rows, across := (m+high-1)/high, (n+wide-1)/wide
	if ends != nil {
		rows = m/high + int64(len(ends))
	}
	at := make([]int64, m) // the row of tiles of each row
	for start, g, i := int64(0), int64(0), int64(0); i < m; i++ {
		for ; ends != nil && g < int64(len(ends)) && i >= ends[g]; g++ {
			refuseIf(ends[g] < start, BadArgument, k.shown("group_index"), ends[g], "rows in order")
			start = ends[g]
		}
		refuseIf(ends != nil && g == int64(len(ends)), Unsupported, "rows behind the last group")
		at[i] = start/high + g + (i-start)/high
	}
	of := func(i int64) int64 { return (i/(m*n)*rows+at[i/n%m])*across + i%n/wide }
	d := held(x)
	scale := &dense{shape: []int64{count(x.shape[:r-2]) * rows * across}}
	scale.y, scale.b = make([]float64, scale.shape[0]), slices.Repeat([]float64{math.Inf(1)}, int(scale.shape[0]))
	for i, v := range d.y {
		refuseIf(math.IsNaN(v) || math.IsInf(v, 0), Unsupported, "blocks without a largest number")
		b := of(int64(i))
		scale.y[b], scale.b[b] = max(scale.y[b], abs(v)/top), 0
	}
	for b := range scale.b {
		scale.b[b] += 4 * u * scale.y[b]
	}
	y := &formula{shape: x.shape, f: func(i int64, _ []int64) (float64, float64) {
		s := scale.y[of(i)]
		if s == 0 {
			return 0, math.Inf(1) // 0/0
		}
		return d.y[i] / s, 6 * u * abs(d.y[i]/s)
	}}
	return outputs(k.stepped(t, y), k.asRecorded(scale, 1))
}

// betweenEnds are the rows of the last axis in 255 steps from the least to the largest number of
// each, with the step and what is added to make the largest number 127 (documentation of
// npu_dynamic_quant_asymmetric).
// step = (max − min)/255, offset = 127 − max/step, y = round(x/step + offset). Of a row that is
// constant nothing is said: 0/0. slack has 8 units for the divisions and the sum, and for the
// inputs' errors (2·off of max − min) what they move the quotient by.
func (k *invocation) betweenEnds(x Values) []Reading {
	refuseIf(len(x.Shape()) < 2, ShapesDiffer, x.Shape())
	refuseIf(k.outputType(0) != dtype.Int8, Unsupported, "another type than int8")
	x, back := k.lined(x)
	s := x.Shape()
	n, u := s[len(s)-1], k.unit()
	refuseIf(n == 0, NoBound, n)
	row := func(x, e []float64) (hi, step, off float64) {
		hi = slices.Max(x)
		return hi, (hi - slices.Min(x)) / 255, slices.Max(e)
	}
	// What x/step + 127 - hi/step is off, with a step that is off by its own rounding and by both
	// ends of the row.
	slack := func(x, hi, step, off float64) float64 {
		return 8*u*(abs(x)+abs(hi)+127*step)/step + (2*off+(abs(x)+abs(hi))*2*off/(255*step))/step
	}
	part := func(f func(hi, step, off float64) (y, b float64)) Values {
		return &reduced{shape: s[:len(s)-1], in: x, n: n, f: func(x, e []float64) (float64, float64) { return f(row(x, e)) }}
	}
	y := newRows(x, n, func(_ int64, x, e, y, b []float64) {
		hi, step, off := row(x, e)
		for i, v := range x {
			if y[i], b[i] = v/step+127-hi/step, slack(v, hi, step, off); step == 0 {
				y[i], b[i] = 0, math.Inf(1) // 0/0
			}
		}
	})
	return outputs(k.stepped(dtype.Int8, back(y)),
		part(func(hi, step, off float64) (float64, float64) { return step, 4*u*(step+abs(hi)/255) + 2*off/255 }),
		part(func(hi, step, off float64) (float64, float64) { return 127 - hi/step, slack(0, hi, step, off) }))
}

// normedSum is x1 + x2, and its norm with weight and beta; the sum may be rounded to its type
// before.
// (x1 + x2)/√(mean((x1 + x2)²) + eps)·weight + beta
func (k *invocation) normedSum() (sum, normed Values) {
	a, b := k.pair("x1", "x2")
	sum = k.plus(a, b)
	return sum, k.normedRows(&rounded{sum, precisionFor(a.numeric())}, a.shape)
}

// normedRows is a norm with weight and beta.
func (k *invocation) normedRows(x Values, shape []int64) Values {
	normed, _ := k.rootNorm(x, shape)
	return k.plus(normed, k.ifGiven("beta"))
}

// sized is a tensor in a shape of as many elements; none is none.
func sized(v Values, shape []int64) Values {
	if v == nil {
		return nil
	}
	refuseIf(count(v.Shape()) != count(shape), ShapesDiffer, v.Shape(), shape)
	return reshape(v, shape)
}

// fours unpacks whole numbers of four bits, eight of which are kept in one of 32.
func fours(o *operand) Values {
	if o.typ != dtype.Int32 || len(o.shape) == 0 {
		return o
	}
	shape := slices.Clone(o.shape)
	shape[len(shape)-1] *= 8
	refuseIf(count(shape) > maxDense, TooLarge, count(shape), maxDense)
	words := numbers(o)
	d := zeros(shape...)
	for i := range d.y {
		// The lowest four bits come first; shifting left and then right extends the sign.
		d.y[i] = float64(int32(uint32(int32(words[i/8]))<<(28-4*(i%8))) >> 28)
	}
	return d
}

// lessQuantised is (x + offset)·scale.
// Two operations in the working arithmetic; x is a whole number and exact.
func (k *invocation) lessQuantised(x, scale, offset Values) Values {
	return k.computed("x,s)=x*s", k.also("x,o)=x+o", x, sized(offset, scale.Shape())), scale)
}

// weightOf is a quantised weight (K, N) as it goes into a product: (w + offset)·scale, rounded to
// the type of the other factor; scales are those of channels, of all, or of as many rows each
// (ops-nn matmul/weight_quant_batch_matmul_v2).
func (k *invocation) weightOf(w Values, scale, offset Values, t dtype.Type) Values {
	s := w.Shape()
	rank := len(s)
	refuseIf(rank < 2, ShapesDiffer, s)
	shaped := func(v Values) Values {
		n := v.Shape()
		// Scales (K/size, N) of groups of size rows are repeated to (K, N).
		if rows := int64(1); len(n) == 2 && n[0] > 1 && n[1] == s[rank-1] {
			rows = n[0]
			refuseIf(s[rank-2]%rows != 0, ShapesDiffer, s, n)
			wide := newStrided(v, []int64{rows, s[rank-2] / rows, n[1]}, []int64{n[1], 0, 1}, 0)
			return reshape(held(wide), []int64{s[rank-2], n[1]})
		}
		return reshape(v, lastOf(v, rank))
	}
	scale = shaped(scale)
	if offset != nil {
		offset = shaped(offset)
	}
	return &rounded{k.lessQuantised(w, scale, offset), precisionFor(t)}
}

// narrowProduct is a product of numbers of eight bits with the scales of channels and tokens, or of
// blocks of 32 along what is summed up: (K/64, N, 2) and (M, K/64, 2), powers of two.
func (k *invocation) narrowProduct(x, w, scale *operand, token Values) Values {
	if t, is := token.(*operand); is && len(t.shape) == 3 && len(scale.shape) == 3 {
		refuseIf(len(x.shape) != 2 || len(w.shape) != 2, ShapesDiffer, x.shape, w.shape)
		return k.product(unblocked(x, t, 1), unblocked(w, scale, 0))
	}
	k.unsupported("group_sizes")
	bias := k.optional("bias")
	return k.scaledProduct(k.product(x, w), scale, token, valuesOf(bias), false, nil)
}

// unblocked are numbers with blocks of 32 along an axis, times the powers of two of these, which
// stand in pairs: (…, pairs, …, 2); groups that end at some places have pairs of their own.
func unblocked(x, scale *operand, axis int, ends ...int64) Values {
	return unblockedBy(x, scale, scale.typ == dtype.Uint8, axis, ends...)
}

// unblockedBy is unblocked with scales that are exponents where bytes is set.
func unblockedBy(x, scale Values, bytes bool, axis int, ends ...int64) Values {
	shape := x.Shape()
	n, inner := shape[axis], count(shape[axis+1:])
	pairs, start, base := pairsOf(n, ends)
	refuseIf(count(scale.Shape()) != count(shape[:axis])*pairs*inner*2, ShapesDiffer, shape, scale.Shape())
	d, s := held(x), held(scale)
	y := make([]float64, len(d.y))
	for i, v := range d.y {
		i := int64(i)
		at := i / inner % n
		row := at - start[at]
		e := s.y[((i/inner/n*pairs+base[at]+row/64)*inner+i%inner)*2+row/32%2]
		if bytes {
			e = math.Exp2(e - 127)
		}
		y[i] = v * e
	}
	return &dense{shape: shape, y: y, exact: true}
}

// pairsOf are the pairs of blocks of 32 along n places, and where the group of each place starts
// and which pair is the first of it.
func pairsOf(n int64, ends []int64) (pairs int64, start, base []int64) {
	start, base = make([]int64, n), make([]int64, n)
	if len(ends) == 0 {
		return (n + 63) / 64, start, base
	}
	from := int64(0)
	for g, end := range ends {
		refuseIf(end < from || end > n, BadArgument, "group_index", end, "rows of "+itoa(int(n)))
		for ; from < end; from++ {
			if g > 0 {
				start[from] = ends[g-1]
			}
			base[from] = start[from]/64 + int64(g)
		}
	}
	refuseIf(from < n, Unsupported, "rows behind the last group")
	return n/64 + int64(len(ends)), start, base
}

// gatedBy is silu of one half of the last axis times the other one.
func (k *invocation) gatedBy(x Values, left bool) Values {
	gate, second := k.halved(x, len(x.Shape())-1, left)
	return k.times(k.applied(catalogue.Of("silu"), gate), second)
}

// gatedIn is gatedBy as it may be rounded to the type of what is gated.
func (k *invocation) gatedIn(name string, left bool) Values {
	x := k.tensor(name)
	return &rounded{k.gatedBy(x, k.bool("activate_left", left)), precisionFor(x.numeric())}
}

// groupOf is the group of each row, by how many rows each has or where each ends; -1 behind the
// last one.
func (k *invocation) groupOf(rows int64, counts bool) []int64 {
	out := make([]int64, rows)
	at := int64(0)
	for g, n := range k.ints("group_index") {
		end := n
		if counts {
			end += at
		}
		refuseIf(end < at || end > rows, BadArgument, "group_index", n, "rows of "+itoa(int(rows)))
		for ; at < end; at++ {
			out[at] = int64(g)
		}
	}
	for ; at < rows; at++ {
		if out[at] = -1; !k.has("group_index") {
			out[at] = 0
		}
	}
	return out
}

// perGroup are the rows of a table (groups, width) or (groups) for the rows of a matrix. A table
// without groups, of a row or a number, goes with all rows. Rows of no group take those of the
// first, and are made unknown by unwritten.
func (k *invocation) perGroup(o *operand, groups []int64, width int64) Values {
	wide := count(o.shape) / max(slices.Max(append(slices.Clone(groups), 0))+1, 1)
	if len(o.shape) < 2 && (wide == width || !k.has("group_index")) {
		return reshape(o, lastOf(o, 2))
	}
	n := o.shape[0]
	inner := count(o.shape) / max(n, 1)
	refuseIf(inner != width && inner != 1, ShapesDiffer, o.shape, []int64{width})
	at := slices.Clone(groups)
	for i := range at {
		at[i] = max(at[i], 0)
		refuseIf(at[i] >= n, ShapesDiffer, o.shape, []int64{at[i]})
	}
	return rowsOf(reshape(o, []int64{n, inner}), at, 1)
}

// swigluQuant is npu_swiglu_quant and npu_dequant_swiglu_quant: whole numbers are scaled by channel
// and token first; then one half of the columns gates the other, times or by the scales of groups,
// and is rounded to steps (documentation and test of op-plugin).
func swigluQuant(k *invocation) []Reading {
	x := k.tensor("x")
	refuseIf(len(x.shape) == 0, ShapesDiffer, x.shape)
	k.only(0, "swiglu_mode", "round_mode")
	width := x.shape[len(x.shape)-1]
	rows := count(x.shape) / max(width, 1)
	refuseIf(k.has("group_index") && len(x.shape) != 2 || k.has("activate_dim") && k.axis("activate_dim", -1, len(x.shape)) != len(x.shape)-1, Unsupported, "group_index, activate_dim")
	dequant := k.name == "npu_dequant_swiglu_quant"
	groups := k.groupOf(rows, dequant || k.int("group_list_type", 0) == 1)
	v := reshape(x, []int64{rows, width})
	if x.typ == dtype.Int32 {
		k.unsupported("bias")
		k.required("weight_scale")
		v = formulaOf(func(x []num) num { return num{x[0].y, k.unit() * abs(x[0].y)} }, v)
		v = k.computed("x,s)=x*s", v, k.perGroup(k.tensor("weight_scale"), groups, width))
		v = k.also("x,t)=x*t", v, sized(k.ifGiven("activation_scale"), []int64{rows, 1}))
	}
	v = k.gatedBy(v, k.bool("activate_left", false))
	smooth, offset := "smooth_scales", "offsets"
	if dequant {
		smooth, offset = "quant_scale", "quant_offset"
	}
	mode := int64(0)
	if a := k.args["quant_mode"]; !a.none() && a.isText() { // as GE has it
		mode = int64(slices.Index([]string{"static", "dynamic"}, k.string("quant_mode", "")))
	} else {
		mode = k.int("quant_mode", 0)
	}
	refuseIf(mode != 0 && mode != 1, Unsupported, "quant_mode")
	if k.has(smooth) {
		text := "x,s)=x*s"
		if dequant && mode == 0 {
			text = "x,s)=x/s"
		}
		v = k.computed(text, v, k.perGroup(k.tensor(smooth), groups, width/2))
	}
	if k.has(offset) && mode == 0 {
		v = k.plus(v, k.perGroup(k.tensor(offset), groups, width/2))
	}
	v = k.unwritten(v, groups)
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), width/2)
	if mode == 0 {
		return outputs(k.stepped(k.outputType(0), reshape(v, shape)), nil)
	}
	return outputs(k.byRowQuantised(reshape(v, shape), k.outputType(0), 1))
}

// unwritten lets the rows that belong to no group be anything.
func (k *invocation) unwritten(v Values, groups []int64) Values {
	if !slices.Contains(groups, -1) {
		return v
	}
	rows := int64(len(groups))
	return formulaOf(func(v []num) num {
		if v[1].y < 0 {
			return num{0, math.Inf(1)}
		}
		return v[0]
	}, v, newStrided(wholes(groups, []int64{rows}), []int64{rows, v.Shape()[1]}, []int64{1, 0}, 0))
}

// Blocks with a scale that is a power of two (documentation of op-plugin and ops-nn
// quant/dynamic_mx_quant, grouped_dynamic_mx_quant, dynamic_block_mx_quant): that of the largest
// number less what the type holds (scale_alg 0), or that of the largest number by the largest that
// the type holds, rounded up (1). Of recorded numbers all of it is exact; where a computed one may
// be on either side of a power of two, either scale is right.

// blockScales are the exponents of blocks: the largest and the least that each may have, which
// nothing is in if used is not set.
type blockScales struct {
	hi, lo []int
	used   []bool
}

// inBlocks rounds numbers to the type of an output by blocks, whose number of gives for each place,
// below n. In scale_alg 0 the exponent is ⌊log₂ max|x|⌋ − top with top 8 for e4m3 and 15 for e5m2,
// the largest exponent of the type, in 1 it is ⌈log₂(max|x|/largest)⌉; −127 at least, what E8M0
// holds. x·2^−e is rounded to the type, and what exceeds it becomes its largest number. Where
// max|x| with its error reaches over a power of two both exponents are tried.
func (k *invocation) inBlocks(v Values, output int, n int64, of func(i int64) int64) (Values, *blockScales) {
	t := k.outputType(output)
	k.only(0, "dst_type_max", "max_low_bound", "max_dtype_value")
	refuseIf(t != dtype.Float8E4M3FN && t != dtype.Float8E5M2 || k.string("round_mode", "rint") != "rint", Unsupported, "another type, round_mode")
	top, alg := map[dtype.Type]int{dtype.Float8E4M3FN: 8, dtype.Float8E5M2: 15}[t], k.int("scale_alg", 0)
	refuseIf(alg != 0 && alg != 1, Unsupported, "scale_alg")
	refuseIf(!within(n, 1, maxDense), TooLarge, n, maxDense)
	d := held(v)
	bound := func(i int64) float64 {
		if d.b == nil {
			return 0
		}
		return d.b[i]
	}
	s := &blockScales{make([]int, n), make([]int, n), make([]bool, n)}
	most, least := make([]float64, n), make([]float64, n)
	for i, x := range d.y {
		b := of(int64(i))
		off := bound(int64(i))
		refuseIf(math.IsNaN(x) || math.IsInf(x, 0), Unsupported, "blocks without a largest number")
		s.used[b], most[b], least[b] = true, max(most[b], abs(x)+off), max(least[b], abs(x)-off)
	}
	exponent := func(most float64) int {
		if most <= 0 {
			return -127
		}
		if alg == 1 {
			// f is ½ for a power of two, which is its own ceiling.
			f, e := math.Frexp(most / t.Max())
			if f == 0.5 {
				e--
			}
			return max(e, -127)
		}
		_, e := math.Frexp(most)
		return max(e-1-top, -127)
	}
	for b := range most {
		s.hi[b], s.lo[b] = exponent(most[b]), exponent(least[b])
	}
	round := func(x float64, e int) float64 {
		if x = t.Rounding().Round(math.Ldexp(x, -e)); abs(x) > t.Max() {
			x = math.Copysign(t.Max(), x)
		}
		return x
	}
	return &formula{shape: v.Shape(), exact: true, f: func(i int64, _ []int64) (y, b float64) {
		x, off, at := d.y[i], bound(i), of(i)
		y = round(x, s.hi[at])
		if off > 0 || s.hi[at] != s.lo[at] {
			for _, e := range []int{s.hi[at], s.lo[at]} {
				b = max(b, abs(round(x-off, e)-y), abs(round(x+off, e)-y))
			}
		}
		return y, b
	}}, s
}

// blockScales are those of blocks as an output, whose places at gives the numbers of; nil where it
// has another size than n.
func (k *invocation) blockScales(s *blockScales, output int, n int64, at func(i int64) int64) Values {
	shape, ok := k.out(output)
	if !ok || count(shape) != n {
		return nil
	}
	whole := k.outputType(output) == dtype.Uint8
	value := func(e int) float64 {
		if whole {
			return float64(e + 127)
		}
		return math.Exp2(float64(e))
	}
	return &formula{shape: shape, exact: true, f: func(i int64, _ []int64) (float64, float64) {
		b := at(i)
		if b < 0 || !s.used[b] {
			return 0, math.Inf(1) // fills up
		}
		return value(s.hi[b]), value(s.hi[b]) - value(s.lo[b])
	}}
}

// alongBlocks are the blocks of 32 along an axis of v as output y, their scales in pairs as output
// scale: (…, pairs, …, 2). Groups end at rows of that axis, each with a pair to itself. A pair
// covers 64 rows. With groups the pairs of group g begin at start/64 + g, as kernels lay them out
// without a look at the other groups.
func (k *invocation) alongBlocks(v Values, axis int, ends []int64, y, scale int) (Values, Values) {
	s := v.Shape()
	n, inner := s[axis], count(s[axis+1:])
	pairs, start, base := pairsOf(n, ends)
	of := func(i int64) int64 {
		at := i / inner % n
		row := at - start[at]
		return ((i/inner/n*pairs+base[at]+row/64)*inner+i%inner)*2 + row/32%2
	}
	blocks := count(s[:axis]) * pairs * inner * 2
	q, scales := k.inBlocks(v, y, blocks, of)
	return q, k.blockScales(scales, scale, blocks, func(i int64) int64 { return i })
}

// mxForms are what quantises by blocks what it computes or takes.
func mxForms() {
	// torch_npu.npu_dynamic_mx_quant: blocks of 32 along an axis, each with a power of two as
	// scale.
	define("npu_dynamic_mx_quant", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		axis := k.axisOf(x.shape, "axis", -1)
		refuseIf(k.int("block_size", 32) != 32, Unsupported, "block_size")
		return outputs(k.alongBlocks(x, axis, nil, 0, 1))
	}})
	both := func(k *invocation, v Values, ends []int64) []Reading {
		rank := len(v.Shape())
		refuseIf(rank < 2, ShapesDiffer, v.Shape())
		a, first := k.alongBlocks(v, rank-1, nil, 0, 1)
		b, second := k.alongBlocks(v, rank-2, ends, 2, 3)
		return outputs(a, first, b, second)
	}
	// Both directions at once, for a product and the gradient of it.
	define("npu_dynamic_mx_quant_with_dual_axis", function{forward: func(k *invocation) []Reading {
		return both(k, k.tensor("input"), nil)
	}})
	// The gradient of swiglu, rounded to the type of x, in blocks along both axes.
	define("_npu_swiglu_backward_mx_quant_with_dual_axis", function{forward: func(k *invocation) []Reading {
		c := k.with(map[string]*argument{"input": k.args["x"], "dim": nil})
		v := forms["npu_swiglu"].backward(c, []Values{k.tensor("grad")})["input"]
		refuseIf(!k.bool("activate_left", true), Unsupported, "activate_left")
		return both(k, &rounded{v(), precisionFor(k.tensor("x").numeric())}, k.ints("group_index"))
	}})
	define("npu_swiglu_mx_quant_with_dual_axis", function{forward: func(k *invocation) []Reading {
		return both(k, k.gatedIn("x", true), k.ints("group_index"))
	}})
	// swiglu in blocks; which half gates is activate_left, by default the second.
	define("npu_swiglu_mx_quant", function{forward: func(k *invocation) []Reading {
		k.unsupported("group_index")
		k.only(0, "swiglu_mode", "group_mode")
		k.only(-1, "activate_dim")
		v := k.gatedIn("x", false)
		return outputs(k.alongBlocks(v, k.axisOf(v.Shape(), "axis", -1), nil, 0, 1))
	}})
	// Blocks along the rows, of which each group begins new ones.
	define("npu_grouped_dynamic_mx_quant", function{forward: func(k *invocation) []Reading {
		x := k.tensor("x")
		refuseIf(len(x.shape) != 2 || k.int("blocksize", 32) != 32, ShapesDiffer, x.shape)
		return outputs(k.alongBlocks(x, 0, k.ints("group_index"), 0, 1))
	}})
	// Tiles of 32 by 32, whose scales are as those of blocks along either axis.
	define("npu_dynamic_block_mx_quant", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		r := len(x.shape)
		refuseIf(r < 2 || count(x.shape) == 0, ShapesDiffer, x.shape)
		m, n, lead := x.shape[r-2], x.shape[r-1], count(x.shape[:r-2])
		high, wide := (m+31)/32, (n+31)/32
		tile := func(b, i, j int64) int64 {
			if i >= high || j >= wide {
				return -1
			}
			return (b*high+i)*wide + j
		}
		y, s := k.inBlocks(x, 0, lead*high*wide, func(i int64) int64 { return tile(i/(m*n), i/n%m/32, i%n/32) })
		// Both scales repeat that of a tile: (…, M, wide) and (…, high/2, N, 2), filled up to
		// pairs.
		across, down := (wide+1)/2*2, (high+1)/2
		return outputs(y,
			k.blockScales(s, 1, lead*m*across, func(i int64) int64 { return tile(i/(m*across), i/across%m/32, i%across) }),
			k.blockScales(s, 2, lead*down*n*2, func(i int64) int64 { return tile(i/(down*n*2), i/(n*2)%down*2+i%2, i/2%n/32) }))
	}})
	// Norms that are quantised behind, and the reciprocal root; of a sum this, too.
	define("npu_rms_norm_dynamic_mx_quant", function{forward: func(k *invocation) []Reading {
		x := k.tensor("x")
		_, root := k.rootNorm(x, x.shape)
		y, scale := k.alongBlocks(&rounded{k.normedRows(x, x.shape), precisionFor(x.numeric())}, len(x.shape)-1, nil, 0, 1)
		return outputs(y, scale, root)
	}})
	define("npu_add_rms_norm_dynamic_mx_quant", function{forward: func(k *invocation) []Reading {
		p := precisionFor(k.tensor("x1").numeric())
		sum, normed := k.normedSum()
		_, root := k.rootNorm(&rounded{sum, p}, sum.Shape())
		y, scale := k.alongBlocks(&rounded{normed, p}, len(sum.Shape())-1, nil, 0, 2)
		return outputs(y, sum, scale, root)
	}})
	define("npu_add_quant_matmul", function{forward: formulaFor(func(k *invocation) Values { // what is added to is float32
		x, w := k.pair("x1", "x2")
		refuseIf(!narrowFloat(x.typ) || !narrowFloat(w.typ), BadType, x.name, x.typ.String())
		k.required("x1_scale", "x2_scale")
		return k.computed("y,p)=y+p", k.tensor("input"), k.narrowProduct(x, w, k.tensor("x2_scale"), k.tensor("x1_scale")))
	})})
	// (m, b, k) by (b, k, n), with scales of blocks along k, or of tokens and channels.
	define("npu_transpose_quant_batchmatmul", function{forward: formulaFor(func(k *invocation) Values {
		k.unsupported("bias")
		k.only(1, "batch_split_factor")
		x, w := k.pair("x1", "x2")
		scale, token, turn := k.tensor("x2_scale"), k.optional("x1_scale"), []int{0, 1, 2}
		refuseIf(!narrowFloat(x.typ) || len(x.shape) != 3 || len(w.shape) != 3, ShapesDiffer, x.shape, w.shape)
		if k.has("perm_x2") {
			turn = k.axes("perm_x2", 3)
		}
		refuseIf(len(turn) != 3 || turn[0] != 0 || k.has("perm_x1") && !slices.Equal(k.ints("perm_x1"), []int64{1, 0, 2}) || k.has("perm_y") && !slices.Equal(k.ints("perm_y"), []int64{1, 0, 2}), Unsupported, "perm_x1, perm_x2, perm_y")
		var a, b, by Values = x, w, nil
		if len(scale.shape) == 4 {
			refuseIf(token == nil, NoArgument, "x1_scale")
			a, b = unblocked(x, token, 2), unblocked(w, scale, turn[1])
		} else if by = scale; token != nil {
			by = k.computed("s,t)=s*t", scale, reshape(token, []int64{count(token.shape), 1}))
		}
		v := k.product(transpose(a, []int{1, 0, 2}), transpose(b, turn))
		if by != nil {
			v = k.computed("x,s)=x*s", v, by)
		}
		return transpose(v, []int{1, 0, 2})
	})})
	// Back: each number times the power of two of its block, exact.
	define("npu_anti_mx_quant", function{forward: formulaFor(func(k *invocation) Values {
		x, scale := k.pair("x", "mxscale")
		refuseIf(!narrowFloat(x.typ), BadType, x.name, x.typ.String())
		return unblocked(x, scale, k.axisOf(x.shape, "axis", -1))
	})})
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
		panic(refusal(BadAttribute, "round_mode", mode, "Round, Floor, Ceil or Trunc"))
	}
	u := precisionFor(x.typ).v // the product may be formed in float16 where x is
	return c.clippedTo(dtype.Int8, round, formulaOf(func(v []num) num {
		// The product, the sum and their rounding to the type in which they are formed.
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
			// A sum and a product; what cancels in x + offset is bounded by both, not by the sum.
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
	scale := zeros(s.shape...)
	if s.typ == dtype.Uint64 || s.typ == dtype.Int64 {
		words := s.words()
		for i, w := range words {
			scale.y[i] = float64(math.Float32frombits(uint32(w)))
		}
	} else {
		s.Range(0, scale.y, nil)
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

// inSteps is x by its scale, or times it without div_mode, and a zero point, if there is one, in
// steps of a type.
func (k *invocation) inSteps(t dtype.Type, x, scale, zero Values) Values {
	text := "x,s)=x/s"
	if !k.bool("div_mode", true) {
		text = "x,s)=x*s"
	}
	return k.stepped(t, k.also("y,z)=y+z", k.computed(text, x, scale), zero))
}

// clippedTo rounds to a type of whole numbers, and cuts off what it does not hold. Where a number
// lies within its error of a half, or of a whole number where round cuts, either neighbour is
// right.
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
	// A bound of 0 where no neighbour may be right, of 1 step where one may.
	w.exact = true // whole numbers are recorded as they are
	return w
}

// stepsOf is how many steps to each side a type has: whole numbers, or the largest it holds.
// So many steps are what the largest number of a row is quantised to.
func stepsOf(t dtype.Type) float64 {
	switch {
	case t == dtype.Int8:
		return 127
	case narrowFloat(t) && t != dtype.Float8E8M0 && t != dtype.HiFloat8:
		return t.Max()
	}
	panic(refusal(Unsupported, "quantised to "+t.String()))
}

// roundedTo rounds to a type; what its error brings over a tie is off by as much.
func roundedTo(p precisionOf, v Values) Values {
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i, v := range x[0] {
			if y[i] = p.Round(v); b != nil {
				b[i] = max(abs(p.Round(v+e[0][i])-y[i]), abs(p.Round(v-e[0][i])-y[i]))
			}
		}
	}, nil, false, []Values{v})
}

// stepped rounds to a quantised type, and cuts off what it does not hold. Whole numbers are rounded
// half to even; a float8 is rounded when it is judged, as a bound in its places is.
func (k *invocation) stepped(t dtype.Type, v Values) Values {
	if t.IsFloat() {
		most := t.Max()
		return formulaOf(func(v []num) num { return num{min(max(v[0].y, -most), most), v[0].b} }, v)
	}
	return k.clippedTo(t, math.RoundToEven, v)
}

// lined are the numbers that have a step in common as rows of the last axis, and the way back, by
// quant_mode: a token's, a channel's, which lie in the last axis but one, or all (documentation and
// tests of op-plugin).
func (k *invocation) lined(x Values) (rows Values, back func(Values) Values) {
	s := x.Shape()
	refuseIf(len(s) == 0, ShapesDiffer, s)
	mode := "pertoken"
	if k.args["quant_mode"].isText() {
		mode = k.string("quant_mode", mode)
	}
	switch mode {
	case "pertoken":
		return x, func(v Values) Values { return v }
	case "pertensor":
		return reshape(x, []int64{1, count(s)}), func(v Values) Values { return reshape(v, s) }
	case "perchannel":
		refuseIf(len(s) < 2, ShapesDiffer, s)
		return turned(x, true), func(v Values) Values { return turned(v, true) }
	}
	panic(refusal(Unsupported, "quant_mode "+mode))
}

// byRowQuantised are the rows of the last axis in so many steps to each side as a type has, and the
// step of each row, an output, or of all: numbers are multiplied by 127/max|x| and not divided by
// the step (ops-nn quant/dynamic_quant).
func (k *invocation) byRowQuantised(x Values, t dtype.Type, step int) (y, scale Values) {
	y, scale = k.rowsBy(x, stepsOf(t), step)
	return k.stepped(t, y), scale
}

// rowsBy are the rows divided by their steps, of which there are top to each side, and these.
func (k *invocation) rowsBy(x Values, top float64, step int) (y, scale Values) {
	x, back := k.lined(x)
	s := x.Shape()
	n, lead := s[len(s)-1], s[:len(s)-1]
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
			y[i] = v * top / most
			b[i] = 6*u*abs(y[i]) + (e[i]*top+abs(y[i])*off)/most
			if most == 0 {
				y[i], b[i] = 0, math.Inf(1) // 0/0
			}
		}
	})
	var steps Values = &reduced{shape: lead, in: x, n: n, f: func(x, e []float64) (float64, float64) {
		most, off := largest(x, e)
		return most / top, (4*u*most + off) / top
	}}
	if have, ok := k.out(max(step, 0)); ok && step >= 0 && count(have) == count(steps.Shape()) {
		steps = reshape(steps, have)
	}
	return back(quotients), steps
}

// outputType is the type of a recorded output.
func (k *invocation) outputType(i int) dtype.Type {
	if i < len(k.outs) && k.outs[i] != nil {
		return k.outs[i].numeric()
	}
	return dtype.Undefined
}

// alongAxis shapes a vector so that it goes along an axis of x; a lone number goes with all, and
// none is none.
func (k *invocation) alongAxis(x, v *operand, name string, missing int64) Values {
	if v == nil {
		return nil
	}
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
		o, is := v.(*operand)
		if is && o.typ != dtype.Int8 {
			panic(refusal(BadType, o.name, o.typ.String()))
		}
	}
	p := newPointwise(func(x, _ [][]float64, y, b []float64) { copy(y, x[0]); clear(b) }, k.product(x, w))
	p.exact = true
	return p
}

// factorsOf are the scales of channels: numbers, or the fields of 64 bits that the fixed pipe
// takes, which holds 19 bits of a float32. Whether a kernel cuts the scale or takes all of it is
// not said: the difference is the bound.
func (k *invocation) factorsOf(s *operand) Values {
	if s.typ != dtype.Int64 && s.typ != dtype.Uint64 {
		return s
	}
	words := s.words()
	d := bounded(s.shape...)
	for i, w := range words {
		cut := float64(math.Float32frombits(uint32(w) &^ 0x1fff))
		d.y[i], d.b[i] = cut, abs(float64(math.Float32frombits(uint32(w)))-cut)
	}
	return d
}

// dequantised is a product of whole numbers (…, M, N) by the scales of channels and tokens. A bias
// of whole numbers comes before the scales, another one behind; with whole results the offset is
// added last.
func (k *invocation) dequantised(v, scale, token Values, bias, offset *operand) Values {
	if k.outType() == dtype.Int32 {
		return v
	}
	all := k.scaledProduct(v, scale, token, valuesOf(bias), bias != nil && discrete(bias.typ), valuesOf(offset))
	if discrete(k.outType()) {
		return k.clippedTo(k.outType(), math.RoundToEven, all)
	}
	refuseIf(offset != nil, Unsupported, "offset")
	return all
}

// scaledProduct makes a product of quantised tensors, (…, M, N) whole numbers, real: times scale
// (one or N) and token (one or M), with bias added before the scales where early, else behind them,
// and offset (one or N) last. The number that is scaled is granted one rounding, as a kernel may
// keep it in float32.
func (k *invocation) scaledProduct(v, scale, token, bias Values, early bool, offset Values) Values {
	a, in, steps, rank := k.arith(), []Values{v}, []func(y, x num) num{}, len(v.Shape())
	with := func(v Values, by func(y, x num) num) {
		if v != nil {
			in, steps = append(in, v), append(steps, by)
		}
	}
	last := func(v Values) Values {
		if v == nil {
			return nil
		}
		return reshape(v, lastOf(v, rank))
	}
	if bias != nil && len(bias.Shape()) < 2 {
		bias = last(bias)
	}
	if token != nil {
		shape := []int64{count(token.Shape()), 1}
		if count(token.Shape()) == 1 {
			shape = nil
		}
		token = reshape(token, shape)
	}
	if early {
		in, bias = append(in, bias), nil
	}
	with(last(scale), a.mul)
	with(token, a.mul)
	with(bias, a.add)
	with(last(offset), a.add)
	return formulaOf(func(x []num) num {
		y := x[0]
		if early {
			y.y += x[1].y
		}
		y.b += k.unit() * abs(y.y)
		for i, by := range steps {
			y = by(y, x[len(x)-len(steps)+i])
		}
		return y
	}, in...)
}

// lastOf is the shape of a vector along the last of some axes.
func lastOf(v Values, rank int) []int64 {
	shape := ones(rank)
	if rank > 0 {
		shape[rank-1] = count(v.Shape())
	}
	return shape
}
