package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/dump/dtype"
	catalogue "precision/op"
)

// Products of matrices: matmul and its relatives, linear layers, einsum, products of groups of
// rows, and those within fused kernels. (The kernels that multiply are in gemm.go, convolutions in
// conv.go, quantised products in quant.go.)
//
// A sum of K products in float32, in whatever order a device takes, is within
//
//	B = g(K+2)·(|a||b| + |c|),  g(n) = n·u/(1 - n·u)
//
// of its exact value: K multiplications and K - 1 additions, one more for a bias c and one to spare
// for a fused or split accumulator (Higham, 3.1). Two ways lead there. Recorded factors whose
// numbers float32 holds go through the tiled kernel ([Call.newMatmul]), in which |a||b| is a second
// product. Factors that were computed, and have bounds of their own, are summed up term by term
// ([Call.newContraction]).
//
// Where steps are rounded: a call that PyTorch composes of several kernels writes what lies between
// to memory in the type of the result, a fused one does not. [invocation.between] grants that
// rounding, so that one bound holds for either. Under autocast factors are rounded to the narrow
// type inside the call, which a recorder does not see: [invocation.cast] does the same.
//
// Gradients of C = A·B are products again, dA = dC·Bᵀ and dB = Aᵀ·dC, with axes that were repeated
// summed up.

// product multiplies a (…, m, k) by b (…, k, n). Two recorded float tensors take the tiled kernel;
// computed ones, whose elements have errors of their own, are contracted.
func (k *invocation) product(a, b Values) Values {
	if fits32(a) && fits32(b) && leaf(a) != nil && leaf(b) != nil {
		return k.newMatmul(a, b, nil)
	}
	const letters = "abcdefgh"
	sa, sb := a.Shape(), b.Shape()
	refuseIf(len(sa) < 2 || len(sb) < 2 || len(sa)-2 > len(letters) || len(sb)-2 > len(letters), ShapesDiffer, sa, sb)
	la, lb := letters[len(letters)-(len(sa)-2):], letters[len(letters)-(len(sb)-2):]
	lead := la
	if len(lb) > len(la) {
		lead = lb
	}
	return k.newContraction([]string{la + "mk", lb + "kn"}, lead+"mn", a, b)
}

// matmul is torch.matmul: vectors are rows or columns, whose axis goes.
// (k)·(k, n) gives (n), (m, k)·(k) gives (m), two vectors a number; leading axes are repeated to
// each other.
func (k *invocation) matmul(a, b Values) Values {
	sa, sb := a.Shape(), b.Shape()
	refuseIf(len(sa) == 0 || len(sb) == 0, ShapesDiffer, sa, sb)
	if len(sa) == 1 {
		a = reshape(a, []int64{1, sa[0]})
	}
	if len(sb) == 1 {
		b = reshape(b, []int64{sb[0], 1})
	}
	v := k.product(a, b)
	s := slices.Clone(v.Shape())
	if len(sb) == 1 {
		s = s[:len(s)-1]
	}
	if len(sa) == 1 {
		n := len(s) - 2
		if len(sb) == 1 {
			n = len(s) - 1
		}
		s = slices.Delete(s, n, n+1)
	}
	return reshape(v, s)
}

// between allows for what is rounded to the type of the output before the next step. Eager
// functions that PyTorch composes write each step to memory; fused ones do not. rounded grants one
// rounding, whichever it was.
func (k *invocation) between(v Values) Values {
	if p := k.kept(); p.v > u32 {
		return &rounded{v, p}
	}
	return v
}

// kept is the precision of the output before it is quantised: nothing else is computed in eight
// bits.
func (c *Call) kept() precisionOf {
	if narrowFloat(c.outType()) {
		return precisionFor(dtype.Float32)
	}
	return precisionFor(c.outType())
}

// pair are the two factors of a product.
func (k *invocation) pair(first, second string) (a, b *operand) {
	return k.tensor(first), k.tensor(second)
}

// productGradients: dA = dY·Bᵀ and dB = Aᵀ·dY, with repeated axes summed up.
func (k *invocation) productGradients(first, second string, g Values) gradients {
	x, z := k.factors(first, second)
	var a, b, d Values = x, z, g
	shape := slices.Clone(g.Shape())
	if len(z.shape) == 1 { // a column
		b, shape = reshape(z, []int64{z.shape[0], 1}), append(shape, 1)
	}
	if len(x.shape) == 1 { // a row
		a, shape = reshape(x, []int64{1, x.shape[0]}), slices.Insert(shape, len(shape)-1, 1)
	}
	d = reshape(g, shape)
	return gradients{
		first: func() Values {
			v := k.product(d, turned(b, true))
			return k.reducedTo(v, first)
		},
		second: func() Values {
			v := k.product(turned(a, true), d)
			if len(z.shape) == 1 {
				v = reshape(v, v.Shape()[:len(v.Shape())-1])
			}
			return k.reducedTo(v, second)
		},
		"grad": func() Values { return g },
	}
}

// flat is a tensor as a matrix, its axes in another order.
type flat struct {
	v     Values
	shape []int64
	perm  []int
}

// It is the inverse: a matrix of as many elements becomes the tensor again.
func (f flat) back(v Values) Values {
	s := make([]int64, len(f.perm))
	for i, p := range f.perm {
		s[i] = f.shape[p]
	}
	return transpose(reshape(v, s), inverse(f.perm))
}

// flattened are the factors of a product over some axes as matrices: the last of one and the first
// of the other, or as given, or of inner the last of both. torch.tensordot: dims is a number n, the
// last n axes of one and the first of the other, or two lists of axes. shape is what is left of
// both.
func (k *invocation) flattened() (a, b flat, shape []int64) {
	x, z := k.factors(k.params[0], k.params[1])
	ra, rb := len(x.shape), len(z.shape)
	var of, with []int
	switch dims := k.args["dims"]; {
	case k.name == "inner" && (ra == 0 || rb == 0):
	case k.name == "inner":
		of, with = []int{ra - 1}, []int{rb - 1}
	case dims != nil && dims.v == nil && len(dims.list) == 2:
		of, with = axesOf("dims", wholeNumbers("dims", dims.list[0]), ra), axesOf("dims", wholeNumbers("dims", dims.list[1]), rb)
	default:
		n := int(k.int("dims", 2))
		refuseIf(n < 0 || n > ra || n > rb, BadArgument, "dims", n, "axes of both")
		of, with = inOrder(ra)[ra-n:], inOrder(n)
	}
	matrix := func(o *operand, axes []int, first bool) (f flat, rest []int64) {
		var kept []int
		for i := range o.shape {
			if !slices.Contains(axes, i) {
				kept, rest = append(kept, i), append(rest, o.shape[i])
			}
		}
		inner := count(o.shape) / max(count(rest), 1)
		f = flat{shape: o.shape, perm: slices.Concat(kept, axes)}
		s := []int64{count(rest), inner}
		if first {
			f.perm, s = slices.Concat(axes, kept), []int64{inner, count(rest)}
		}
		f.v = reshape(transpose(o, f.perm), s)
		return f, rest
	}
	a, left := matrix(x, of, false)
	b, right := matrix(z, with, true)
	refuseIf(count(x.shape) == 0 || count(z.shape) == 0 || a.v.Shape()[1] != b.v.Shape()[0], ShapesDiffer, x.shape, z.shape)
	return a, b, slices.Concat([]int64{}, left, right)
}

// productForms: factors (…, m, k) and (…, k, n), whose leading axes are repeated to each other.
// What a gradient of the last step is (nodes) are the factors, as recorders of autograd's graph
// have it.
func productForms() {
	// MatMulV2 and BatchMatMulV2: a bias is added in the accumulator, and rounded with it once.
	register(func(c *Call) []Reading { return c.matmulReading(c.need("x1", 0), c.need("x2", 1), c.input("bias", 2)) }, "matrices")
	register(single(buildFullyConnection), "dense")
	// The factors are the first two parameters, whatever a function calls them.
	define("product", function{forward: formulaFor(func(k *invocation) Values {
		a, b := k.factors(k.params[0], k.params[1])
		return k.matmul(a, b)
	}), backward: func(k *invocation, g []Values) gradients {
		d := gradient(g, 0)
		return k.productGradients(k.params[0], k.params[1], d)
	}, nodes: [][]string{{"grad"}}})

	// beta·c + alpha·(a·b): addmm, addmv, baddbmm, addbmm; sum adds the products of a batch up.
	// With beta 0 c is not read, NaN or not, as BLAS and PyTorch say.
	added := func(name string, sum bool) {
		define(name, function{forward: formulaFor(func(k *invocation) Values {
			c := k.value(k.params[0])
			if k.factor("beta") == exactNum(0) {
				c = scalar(0) // not read, whatever it holds
			}
			a, b := k.factors(k.params[1], k.params[2])
			var v Values
			if sum {
				v = k.newContraction([]string{"bmk", "bkn"}, "mn", a, b)
			} else {
				v = k.matmul(a, b)
			}
			ar := k.arith()
			return formulaOf(func(x []num) num { return ar.add(ar.mul(k.factor("beta"), x[0]), ar.mul(k.factor("alpha"), x[1])) }, c, k.between(v))
		}), backward: func(k *invocation, g []Values) gradients {
			d := gradient(g, 0)
			times := func(factor string, v Values) Values {
				if f := k.factor(factor); f != exactNum(1) {
					v = formulaOf(func(x []num) num { return k.arith().mul(f, x[0]) }, v)
				}
				return v
			}
			of := k.productGradients(k.params[1], k.params[2], d)
			if sum {
				x, z := k.factors(k.params[1], k.params[2])
				of = gradients{k.params[1]: func() Values { return k.newContraction([]string{"mn", "bkn"}, "bmk", d, z) },
					k.params[2]: func() Values { return k.newContraction([]string{"bmk", "mn"}, "bkn", x, d) }}
			}
			out := gradients{k.params[0]: func() Values {
				return k.reducedTo(times("beta", d), k.params[0])
			}}
			for _, name := range k.params[1:3] {
				out[name] = func() Values {
					return times("alpha", of[name]())
				}
			}
			return out
		}})
	}
	// aten::_addmm_activation: relu, or gelu, of beta·c + alpha·(a·b).
	define("addmm_activation", function{forward: func(k *invocation) (out []Reading) {
		v := forms["plusproduct"].forward(k)[0].Out[0]
		if !k.bool("use_gelu", false) {
			return outputs(k.computed("x)=max(x,0)", v))
		}
		for _, how := range []string{"none", "tanh"} { // on a CPU, and fused
			y := k.with(map[string]*argument{"approximate": textArgument(how)}).applied(catalogue.Of("gelu"), k.between(v))
			out = append(out, Reading{Name: "approximate " + how, Out: []Values{y}})
		}
		return out
	}})
	// torch._int_mm: int8 by int8 to int32, exactly.
	define("int_mm", function{forward: formulaFor(func(k *invocation) Values { return k.wholeProduct(k.tensor("input"), k.tensor("mat2")) })})
	added("plusproduct", false)
	added("plusproducts", true)

	// y_ij = a_i·b_j; da = g·b, db = gᵀ·a.
	define("outer", function{forward: formulaFor(func(k *invocation) Values {
		a, b := k.factors("input", "vec2")
		return k.newContraction([]string{"i", "j"}, "ij", a, b)
	}), backward: func(k *invocation, g []Values) gradients {
		a, b := k.factors("input", "vec2")
		d := gradient(g, 0)
		return gradients{"input": func() Values { return k.newContraction([]string{"ij", "j"}, "i", d, b) },
			"vec2": func() Values { return k.newContraction([]string{"i", "ij"}, "j", a, d) }}
	}})
	// C (M, N) = A (M, K)·B (K, N), of which dA = dC·Bᵀ and dB = Aᵀ·dC in the axes of before.
	define("tensordot", function{forward: formulaFor(func(k *invocation) Values {
		a, b, shape := k.flattened()
		return reshape(k.product(a.v, b.v), shape)
	}), backward: func(k *invocation, g []Values) gradients {
		a, b, _ := k.flattened()
		d := reshape(gradient(g, 0), []int64{a.v.Shape()[0], b.v.Shape()[1]})
		return gradients{k.params[0]: func() Values { return a.back(k.product(d, turned(b.v, true))) },
			k.params[1]: func() Values { return b.back(k.product(turned(a.v, true), d)) }}
	}})
	// torch.nn.functional.linear.
	define("linear", function{forward: formulaFor(linear), backward: linearGradients,
		nodes: [][]string{{"bias", "input", "weight'"}, {"grad"}, {"input", "weight'"}}})
	// torch.nn.functional.bilinear for inputs of two axes; its gradients are a program's
	// (distances.go).
	define("bilinear", function{forward: formulaFor(func(k *invocation) Values {
		a, b := k.factors("input1", "input2")
		w, bias := k.weights()
		refuseIf(len(a.shape) != 2 || len(b.shape) != 2, Unsupported, "inputs of other than two axes")
		v := k.newContraction([]string{"ni", "nj", "oij"}, "no", a, b, w)
		return k.plus(v, valuesOf(bias))
	})})
	define("einsum", function{forward: formulaFor(einsum)})
	// torch_npu.npu_bmmV2: a product whose output_sizes are the recorded shape.
	define("npu_bmmV2", function{forward: formulaFor(func(k *invocation) Values {
		a, b := k.factors("input", "mat2")
		return k.asRecorded(k.matmul(a, b), 0)
	}), nodes: [][]string{{"input", "mat2"}}, backward: func(k *invocation, g []Values) gradients {
		return k.productGradients("input", "mat2", gradient(g, 0))
	}})
	// fused_op_type says what follows within the kernel; x3 is the second operand of add and mul.
	define("npu_fused_matmul", function{forward: formulaFor(func(k *invocation) Values {
		x, w := k.factors("x1", "x2")
		v := k.plus(k.product(x, w), k.ifGiven("bias"))
		switch how := k.string("fused_op_type", ""); how {
		case "":
			return v
		case "add", "mul":
			return k.computed(map[string]string{"add": "x,y)=x+y", "mul": "x,y)=x*y"}[how], k.between(v), k.tensor("x3"))
		case "relu":
			return k.applied(catalogue.Of(how), v)
		case "gelu_erf", "gelu_tanh":
			act := map[string]string{"gelu_erf": "none", "gelu_tanh": "tanh"}[how]
			return k.with(map[string]*argument{"approximate": textArgument(act)}).applied(catalogue.Of("gelu"), k.between(v))
		default:
			panic(refusal(Unsupported, "fused_op_type "+how))
		}
	})})
	// torch_npu.npu_transpose_batchmatmul: perm_x1, perm_x2 and perm_y reorder the axes of factors
	// and result; with batch_split_factor n the batch is split into n parts, which then come first.
	define("npu_transpose_batchmatmul", function{forward: formulaFor(func(k *invocation) Values {
		k.unsupported("bias", "scale")
		a, b := k.factors("input", "weight")
		turn := func(v Values, name string, missing ...int) Values {
			if k.has(name) {
				missing = k.axes(name, len(v.Shape()))
			}
			refuseIf(len(missing) != len(v.Shape()), BadArgument, name, len(missing), itoa(len(v.Shape()))+" axes")
			return transpose(v, missing)
		}
		v := k.matmul(turn(a, "perm_x1", 0, 1, 2), turn(b, "perm_x2", 0, 1, 2))
		if n := k.int("batch_split_factor", 1); n > 1 { // (B, M, N) as (n, M, B/n·N)
			s := v.Shape()
			refuseIf(s[0]%n != 0, BadArgument, "batch_split_factor", n, "a part of "+itoa(int(s[0])))
			v = transpose(reshape(v, []int64{n, s[0] / n, s[1], s[2]}), []int{0, 2, 1, 3})
			return reshape(v, []int64{n, s[1], s[0] / n * s[2]})
		}
		return turn(v, "perm_y", 1, 0, 2)
	})})
	// LoRA adapters in a batch: each row of x has matrices of its own.
	define("npu_batch_gather_matmul", function{forward: formulaFor(gatheredProduct)})
	define("npu_grouped_matmul", function{forward: groupedMatmul})
	// Products whose terms are shared out among ranks; HCCL adds up in the type of the result.
	define("npu_mm_all_reduce_base", function{ranks: true, forward: func(k *invocation) []Reading { return k.sumOfProducts(false) }})
	define("npu_mm_reduce_scatter_base", function{ranks: true, forward: func(k *invocation) []Reading { return k.sumOfProducts(true) }})
	// The rows of all ranks, in the order of ranks, times this rank's columns; what was gathered is
	// the second output.
	define("npu_all_gather_base_mm", function{ranks: true, forward: func(k *invocation) []Reading {
		k.unsupported("x1_scale", "x2_scale")
		refuseIf(k.int("gather_index", 0) != 0, Unsupported, "gather_index")
		var rows []Values
		for _, args := range k.group {
			rows = append(rows, k.on(args).tensor("input"))
		}
		x := joined(0, rows...)
		return outputs(k.plus(k.product(x, k.tensor("x2")), k.ifGiven("bias")), x)
	}})
}

// on is a call with the arguments that another rank gave it.
func (k *invocation) on(args map[string]*argument) *invocation {
	other := *k
	other.args = args
	return &other
}

// sumOfProducts is the sum of x1·x2 + bias + x3 of all ranks, or of its rows the part of this one.
// Products are rounded to the type of the result before they are added up, and the sums are, in any
// order (op-plugin's documentation of npu_mm_all_reduce_base and npu_mm_reduce_scatter_base).
func (k *invocation) sumOfProducts(scatter bool) []Reading {
	k.unsupported("antiquant_scale", "antiquant_offset", "comm_quant_scale_1", "comm_quant_scale_2", "x1_scale", "x2_scale")
	refuseIf(k.string("reduce_op", "sum") != "sum", Unsupported, "reduce_op")
	of := func(args map[string]*argument) Values {
		r := k.on(args)
		x, w := r.pair(k.params[0], "x2")
		var v Values
		if scale := r.optional("dequant_scale"); scale != nil {
			v = r.dequantised(r.wholeProduct(x, w), r.factorsOf(scale), r.ifGiven("pertoken_scale"), r.optional("bias"), nil)
		} else {
			v = k.plus(r.matmul(x, w), r.ifGiven("bias"))
		}
		if r.has("x3") {
			v = k.plus(k.between(v), r.tensor("x3"))
		}
		return v
	}
	var parts []Values
	for _, args := range k.group {
		parts = append(parts, k.between(of(args)))
	}
	// Each of n additions rounds in the type of the result, in which HCCL reduces.
	unit, n := max(precisionFor(k.outType()).v, u32), float64(len(parts)-1)
	v := formulaOf(func(x []num) (y num) {
		size := 0.0
		for _, t := range x {
			y.y, y.b, size = y.y+t.y, y.b+t.b, size+abs(t.y)+t.b
		}
		y.b += gamma(n, unit) * size
		return y
	}, parts...)
	if scatter {
		rows := v.Shape()[0]
		refuseIf(rows%int64(len(parts)) != 0, ShapesDiffer, v.Shape())
		// Rank r gets rows r·M/ranks and on.
		rows /= int64(len(parts))
		v = slab1(v, 0, int64(k.place)*rows, rows)
	}
	out := outputs(v)
	if k.lone {
		out = append(out, Reading{Name: "a group of one rank", Out: []Values{of(k.args)}})
	}
	return out
}

// weights are the arguments weight and bias; bias may be None.
func (k *invocation) weights() (w, bias *operand) {
	k.required("weight")
	return k.factored("weight"), k.factored("bias")
}

// linear: y = x·wᵀ + b. x (…, I), w (O, I), b (O). PyTorch computes it as addmm, the bias within
// the accumulator, or for more axes as a product that is rounded before the bias: in narrow types
// both must be right, and the second bound holds for either.
func linear(k *invocation) Values {
	k.required("input")
	x := k.factored("input")
	w, bias := k.weights()
	if len(w.shape) == 1 {
		return k.matmul(x, w)
	}
	refuseIf(len(w.shape) != 2 || len(x.shape) == 0 || x.shape[len(x.shape)-1] != w.shape[1], ShapesDiffer, x.shape, w.shape)
	rows := reshape(x, []int64{count(x.shape[:len(x.shape)-1]), w.shape[1]})
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), w.shape[0])
	if fits32(x) && fits32(w) && !discrete(x.typ) {
		v := k.newMatmul(rows, turned(w, true), valuesOf(bias))
		if bias != nil && precisionFor(k.outType()).v > u32 {
			// The product may be rounded before the bias is added.
			return reshape(k.plus(k.between(k.newMatmul(rows, turned(w, true), nil)), bias), shape)
		}
		return reshape(v, shape)
	}
	return reshape(k.plus(k.product(rows, turned(w, true)), valuesOf(bias)), shape)
}

// linearGradients: dX = dY·w, dW = dYᵀ·x, db = Σ dY.
func linearGradients(k *invocation, g []Values) gradients {
	d := gradient(g, 0)
	x, w := k.factors("input", "weight")
	refuseIf(len(w.shape) != 2 || len(x.shape) == 0 || count(w.shape) == 0 || count(d.Shape())/w.shape[0] != count(x.shape)/w.shape[1], ShapesDiffer, x.shape, w.shape, d.Shape())
	m := count(x.shape) / w.shape[1]
	rows, grads := reshape(x, []int64{m, w.shape[1]}), reshape(d, []int64{m, w.shape[0]})
	return gradients{
		"input": func() Values {
			v := k.product(grads, w)
			return reshape(v, x.shape)
		},
		"weight": func() Values { return k.product(turned(grads, true), rows) },
		"bias":   func() Values { return k.reducedToShape(grads, []int64{w.shape[0]}) },
		"grad":   func() Values { return d },
	}
}

// einsum sums products over the labels that the result does not have; without ->
// it has those that come once, in the order of the alphabet.
// A label that a term has twice takes its diagonal; an ellipsis is refused.
func einsum(k *invocation) Values {
	equation := k.string("equation", "")
	equation = strings.ReplaceAll(equation, " ", "")
	left, result, explicit := strings.Cut(equation, "->")
	labels := strings.Split(left, ",")
	refuseIf(strings.Contains(equation, "."), Unsupported, "einsum with ...")
	list := k.tensors("operands")
	refuseIf(len(list) != len(labels) || len(list) > 8, BadArgument, "operands", len(list), itoa(len(labels)))
	if !explicit {
		var once []string
		for _, l := range strings.Split(strings.ReplaceAll(left, ",", ""), "") {
			if strings.Count(left, l) == 1 {
				once = append(once, l)
			}
		}
		slices.Sort(once)
		result = strings.Join(once, "")
	}
	in := make([]Values, len(list))
	for i, o := range list {
		in[i] = o
		refuseIf(o.typ == dtype.Bool, BadType, o.name, o.typ.String())
	}
	return k.newContraction(labels, result, in...)
}

// matmulReading is MatMulV2 by its attributes: which factor is transposed goes by three names.
func (c *Call) matmulReading(x1, x2 *operand, bias *operand) []Reading {
	refuseIf(c.input("offset_w", 3) != nil, Unsupported, "offset_w")
	flag := func(keys ...string) bool {
		for _, key := range keys {
			if b := c.attrBool(key, false); b {
				return b
			}
		}
		return false
	}
	// The same attribute under the names of MatMulV2, BatchMatMul and MatMul.
	t1 := flag("transpose_x1", "adj_x1", "transpose_a")
	t2 := flag("transpose_x2", "adj_x2", "transpose_b")
	return outputs(c.newMatmul(turned(x1, t1), turned(x2, t2), valuesOf(bias)))
}

// turned swaps the last two axes if asked to.
func turned(v Values, yes bool) Values {
	n := len(v.Shape())
	if !yes || n < 2 {
		return v
	}
	perm := inOrder(n)
	perm[n-1], perm[n-2] = n-2, n-1
	return transpose(v, perm)
}

// newMatmul is a·b + bias over the last two axes, (…, m, k) and (…, k, n), leading ones broadcast.
//
// Formula and bound: y = Σ a·b + c, B = g(K+2)·(|a||b| + |c|), K the inner
// dimension. Prototypes: matrix_calculation_ops.h (MatMulV2, BatchMatMul,
// FullyConnection).
func (c *Call) newMatmul(a, b, bias Values) *product {
	sa, sb := a.Shape(), b.Shape()
	refuseIf(len(sa) < 2 || len(sb) < 2 || sa[len(sa)-1] != sb[len(sb)-2], ShapesDiffer, sa, sb)
	lead, ok := broadcastShape(sa[:len(sa)-2], sb[:len(sb)-2])
	refuseIf(!ok, ShapesDiffer, sa, sb)
	m, k, n := sa[len(sa)-2], sa[len(sa)-1], sb[len(sb)-1]
	x := c.newProduct(k, a, b, bias, n)
	x.along, x.shape, x.rows, x.cols = true, append(append([]int64{}, lead...), m, n), m, n
	refuseIf(count(lead) > 1<<20, TooLarge, count(lead), 1<<20)
	x.lefts, x.rights = batches(sa[:len(sa)-2], lead), batches(sb[:len(sb)-2], lead)
	return x
}

// batches lists, for every matrix of a result, which one of an operand it is made of. The operand's
// leading axes are repeated to those of the result; the list holds one entry a matrix.
func batches(in, out []int64) []int64 {
	v, _ := broadcast(&dense{shape: in}, out)
	idx := make([]int64, count(out))
	switch s := v.(type) {
	case *strided:
		s.places(0, idx)
	default:
		for i := range idx {
			idx[i] = int64(i)
		}
	}
	return idx
}

// buildFullyConnection flattens x from an axis on and multiplies it by filters
// of shape (N, C, H, W), or of (C·H·W, N) when told to.
func buildFullyConnection(c *Call) Values {
	x := c.need("x", 0)
	w := c.need("w", 1)
	axis := c.attrInt("axis", 1)
	flip := c.attrBool("transpose", false)
	if axis < 0 {
		axis += int64(len(x.shape))
	}
	refuseIf(axis < 1 || axis > int64(len(x.shape)) || len(w.shape) < 1 || c.input("offset_w", 3) != nil, BadAttribute, "axis", axis, "an axis of x")
	if x.typ == dtype.Int8 {
		off := c.attrInt("offset_x", 0)
		refuseIf(off != 0, Unsupported, "offset_x")
	}
	m, k := count(x.shape[:axis]), count(x.shape[axis:])
	n := count(w.shape) / max(k, 1)
	refuseIf(n*k != count(w.shape) || k == 0, ShapesDiffer, x.shape, w.shape)
	second := turned(reshape(w, []int64{n, k}), true)
	if flip {
		second = reshape(w, []int64{k, n})
	}
	v := c.newMatmul(reshape(x, []int64{m, k}), second, valuesOf(c.input("b", 2)))
	return c.asRecorded(v, 0)
}

// asRecorded gives v the shape that an output was recorded with, which has as
// many elements.
func (c *Call) asRecorded(v Values, i int) Values {
	shape, ok := c.out(i)
	if !ok {
		return v
	}
	refuseIf(count(shape) != count(v.Shape()), ShapeComputed, v.Shape(), shape)
	return reshape(v, shape)
}

// contraction is a sum of products of any tensors, which may be computed ones with
// bounds of their own:
//
//	y[out] = factor · Σ over the summed labels of the product of the operands
//
// With |x|+e for an operand that is off by e, B = Σ(Π(|x|+e) - Π|x|) + g(K+r)·ΣΠ(|x|+e),
// K terms and r operands (Higham, 3.1).
type contraction struct {
	sums  []int64 // sizes of the labels that are summed over
	in    []*dense
	out   [][]int64 // steps of each operand along the axes of the result
	along [][]int64 // and along the summed labels
	g     float64   // how far a sum may be off
	exact bool
	k     int64
	s     []int64 // where in the sums
}

// newContraction takes operands and the labels of their axes; a label with size 1 is
// repeated.
func (c *Call) newContraction(labels []string, result string, in ...Values) Values {
	size := map[rune]int64{}
	v := &contraction{k: 1, exact: true}
	for i, x := range in {
		s := x.Shape()
		refuseIf(len(s) != len([]rune(labels[i])), ShapesDiffer, s)
		for a, l := range []rune(labels[i]) {
			if have, ok := size[l]; !ok || have == 1 {
				size[l] = s[a]
			} else if s[a] != have && s[a] != 1 {
				panic(refusal(ShapesDiffer, shapeText(s)))
			}
		}
		d := held(x)
		o := leaf(x)
		v.exact = v.exact && o != nil && discrete(o.typ)
		v.in = append(v.in, d)
	}
	var summed []rune
	shape := []int64{}
	for _, l := range result {
		d, ok := size[l]
		refuseIf(!ok, Unsupported, "a result with the axis "+string(l))
		shape = append(shape, d)
	}
	for _, list := range labels {
		for _, l := range list {
			if !strings.ContainsRune(result, l) && !slices.Contains(summed, l) {
				summed = append(summed, l)
				v.sums = append(v.sums, size[l])
				v.k *= size[l]
			}
		}
	}
	for i, x := range in {
		step := map[rune]int64{}
		for a, l := range []rune(labels[i]) {
			if x.Shape()[a] != 1 {
				step[l] += rowMajor(x.Shape())[a]
			}
		}
		var out, along []int64
		for _, l := range result {
			out = append(out, step[l])
		}
		for _, l := range summed {
			along = append(along, step[l])
		}
		v.out, v.along = append(v.out, out), append(v.along, along)
	}
	v.g = c.summed(float64(v.k) + float64(len(in)))
	refuseIf(math.IsInf(v.g, 1), NoBound, v.k)
	v.s = make([]int64, len(v.sums))
	return &formula{shape: shape, f: v.one, exact: v.exact, cost: 4 * float64(v.k) * float64(len(v.in))}
}

// one is the element at p.
func (v *contraction) one(_ int64, p []int64) (y, b float64) {
	s := v.s
	var place [8]int64
	from := place[:len(v.in)]
	for o := range v.in {
		from[o] = 0
		for a, k := range p {
			from[o] += k * v.out[o][a]
		}
	}
	clear(s)
	size, off := 0.0, 0.0
	for range v.k {
		t, most, least := 1.0, 1.0, 1.0
		for o, d := range v.in {
			x := d.y[from[o]]
			t *= x
			// Π|x|; most has the errors in it, so that their difference is what the operands'
			// errors come to.
			least *= abs(x)
			if d.b != nil {
				most *= abs(x) + d.b[from[o]]
			} else {
				most *= abs(x)
			}
		}
		y += t
		size += most
		off += most - least
		// The next place of the sums, the last label fastest; from follows by steps and goes back
		// where a label ends.
		for a := len(s) - 1; a >= 0; a-- {
			s[a]++
			for o := range from {
				from[o] += v.along[o][a]
			}
			if s[a] < v.sums[a] {
				break
			}
			for o := range from {
				from[o] -= v.along[o][a] * v.sums[a]
			}
			s[a] = 0
		}
	}
	if v.exact {
		return y, 0
	}
	return y, off + v.g*size
}

// Under autocast PyTorch rounds the factors of products to float16 or bfloat16 within the
// call: they are recorded as they were given, and only the type of the result tells.

// working is the type that a product is computed in: the narrowest of the forward
// call's result, of the gradients and of the output.
func (k *invocation) working() dtype.Type {
	t := k.outType()
	for _, o := range append(k.results, k.gradients...) {
		if o != nil && !discrete(o.typ) && precisionFor(o.numeric()).v > precisionFor(t).v {
			t = o.numeric()
		}
	}
	return t
}

// cast is a factor of a product, rounded to the type that this is computed in if that is narrower
// than its own. Rounded once, half to even, to float16 or bfloat16; a float32 holds either, so that
// the copy is float32.
func (k *invocation) cast(o *operand) *operand {
	if o == nil || discrete(o.typ) || discrete(k.outType()) {
		return o
	}
	p := precisionFor(k.working())
	if p.v <= precisionFor(o.numeric()).v {
		return o
	}
	n := count(o.shape)
	refuseIf(n > maxHeld, TooLarge, n, maxHeld)
	w := inMemory(o.name, k.working(), o.shape)
	buf := make([]float64, min(n, batch))
	for lo := int64(0); lo < n; lo += batch {
		part := buf[:min(batch, n-lo)]
		o.Range(lo, part, nil)
		for i, x := range part {
			w.f32[lo+int64(i)] = float32(p.Round(x))
		}
	}
	return w
}

// factors are the two tensors of a product, as it takes them.
func (k *invocation) factors(first, second string) (a, b *operand) {
	a, b = k.pair(first, second)
	return k.cast(a), k.cast(b)
}

// factored is one tensor of a product, nil if it is None.
func (k *invocation) factored(name string) *operand {
	o := k.optional(name)
	return k.cast(o)
}

// groupedMatmul multiplies groups of rows, one behind the other, by a matrix each; rows behind the
// last group are never written. split_item 0 and 1 give a tensor each group, 2 and 3 one for all;
// the list of arguments decides here. Of weights (E, K, N), or of a list of them, each group takes
// its own; group_type 0 cuts the rows, −1 nothing. Of several x each is a group, whose rows a
// group_list counts once more (ops-transformer's aclnnGroupedMatmulV4.md). Quantised:
// int8·int8·scale[n]·token[m], or weights of int8 and int4 with antiquant_scale.
func groupedMatmul(k *invocation) []Reading {
	k.unsupported("offset", "activation_input", "activation_quant_scale", "activation_quant_offset")
	refuseIf(k.int("act_type", 0) != 0, Unsupported, "act_type")
	split := k.int("split_item", 0)
	refuseIf(split < 0 || split > 3, Unsupported, "split_item "+itoa(int(split)))
	var all []Values
	v := k.expertProducts(&all, func(v, scale, token, bias Values, early bool, _ Values) Values {
		if v = k.scaledProduct(v, scale, token, bias, early, nil); discrete(k.outType()) {
			return k.clippedTo(k.outType(), math.RoundToEven, v)
		}
		return v
	})
	if v == nil && split > 1 {
		v = joined(0, all...)
	}
	switch from := int64(0); {
	case v != nil && split < 2 && len(k.outs) > 1:
		for _, end := range k.groupEnds() {
			all = append(all, slab1(v, 0, from, end-from))
			from = end
		}
	case v != nil:
		all = []Values{v}
	}
	return outputs(all...)
}

// groupEnds are where groups end, of which group_list may tell the lengths.
func (k *invocation) groupEnds() []int64 {
	ends, kind := k.ints("group_list"), k.int("group_list_type", 0)
	refuseIf(kind != 0 && kind != 1, Unsupported, "group_list_type")
	if kind == 1 {
		endsOf(ends)
	}
	return ends
}

// expertProducts are the products of groups of rows with a matrix each, which finish scales, behind
// each other; nil where each group is a tensor of its own, which apart gets.
func (k *invocation) expertProducts(apart *[]Values, finish func(v, scale, token, bias Values, early bool, offset Values) Values) Values {
	list := func(name string) []*operand {
		switch a := k.args[name]; {
		case a.none() || a.v == nil && len(a.list) == 0:
			return nil
		case a.tensor():
			if o := k.tensor(name); count(o.shape) > 0 || name == "x" || name == "weight" {
				return []*operand{o}
			}
			return nil // what a graph has in place of none
		}
		return k.tensors(name)
	}
	xs, weights, biases, scales, tokens := list("x"), list("weight"), list("bias"), list("scale"), list("per_token_scale")
	anti, shift := list("antiquant_scale"), list("antiquant_offset")
	// One tensor an expert, one with a leading axis of experts, or one for a lone expert.
	part := func(from []*operand, e int) Values { // of an expert
		switch {
		case len(from) == 0:
			return nil
		case len(from) > 1 && e < len(from):
			return from[e]
		case len(from) == 1 && len(weights) == 1 && len(from[0].shape) > 0 && int64(e) < from[0].shape[0]:
			return reshape(slab1(from[0], 0, int64(e), 1), from[0].shape[1:])
		case len(from) == 1 && len(weights) > 1 && e == 0:
			return from[0]
		}
		panic(refusal(InputCount, len(from), e+1))
	}
	unpacked := map[*operand]Values{} // once for all experts
	matrix := func(e int) Values {
		if len(weights) == 1 || e < len(weights) {
			// Unpacked words have eight times as many columns.
			w := weights[min(e, len(weights)-1)]
			if w.typ == dtype.Int32 { // four bits each
				v := unpacked[w]
				if v == nil {
					v = fours(w)
					unpacked[w] = v
				}
				if len(weights) > 1 {
					return v
				}
				refuseIf(len(v.Shape()) != 3 || int64(e) >= v.Shape()[0], ShapesDiffer, v.Shape())
				return reshape(slab1(v, 0, int64(e), 1), v.Shape()[1:])
			}
		}
		return part(weights, e)
	}
	blocks := false // 32 along the sum have a power of two in common
	one := func(x Values, e int, token Values) Values {
		w, scale, bias := matrix(e), part(scales, e), part(biases, e)
		refuseIf(len(x.Shape()) != 2 || len(w.Shape()) != 2, ShapesDiffer, x.Shape(), w.Shape())
		early := bias != nil && discrete(biases[0].typ)
		switch typ := xs[0].numeric(); {
		case typ == dtype.Int8:
			refuseIf(scale == nil, NoArgument, "scale")
			if o, is := scale.(*operand); is {
				scale = k.factorsOf(o)
			} else if scales[0].typ.Bits() == 64 {
				panic(refusal(BadType, k.shown("scale"), scales[0].typ.String()))
			}
			return finish(k.wholeProduct(x, w), scale, token, bias, early, nil)
		case narrowFloat(typ):
			if blocks { // x is multiplied by its scales
				w, scale = unblockedBy(w, scale, scales[0].typ == dtype.Uint8, 0), nil
			}
			refuseIf(scale != nil && len(scale.Shape()) > 1, Unsupported, "scales of blocks")
			return finish(k.product(x, w), scale, token, bias, early, nil)
		case anti != nil:
			// For few rows x is split into planes of int8, which is off by 2^-15 of the row's
			// largest number.
			return k.planes(x, k.weightOf(w, part(anti, e), part(shift, e), typ), bias)
		case scale != nil || token != nil:
			panic(refusal(Unsupported, "scale of numbers that are not quantised"))
		}
		return k.plus(k.product(x, w), bias)
	}
	refuseIf(len(xs) == 0 || len(weights) == 0, NoInput, "x, weight")
	ends := k.groupEnds()
	if len(xs) > 1 && len(xs) == len(weights) && apart != nil {
		rows := int64(0)
		for e, x := range xs {
			rows += x.shape[0]
			refuseIf(k.has("group_list") && (len(ends) != len(xs) || ends[e] != rows), BadArgument, "group_list", ends, "rows of every x")
			*apart = append(*apart, one(x, e, part(tokens, e)))
		}
		return nil
	}
	kind := k.int("group_type", 0)
	refuseIf(len(xs) != 1 || len(xs[0].shape) != 2 || kind != 0 && !(kind == -1 && len(weights) > 1), Unsupported, "group_type "+itoa(int(kind)))
	k.required("group_list")
	refuseIf(len(weights) > 1 && len(ends) != len(weights), InputCount, len(weights), len(ends))
	x, from := xs[0], int64(0)
	var values Values = x
	if blocks = narrowFloat(x.numeric()) && len(tokens) == 1 && len(tokens[0].shape) == 3 && len(scales) > 0; blocks {
		values, tokens = unblocked(x, tokens[0], 1), nil
	}
	var parts []Values
	for e, end := range ends {
		refuseIf(end > x.shape[0], OutsideCache, k.shown("group_list"), end, x.shape[0])
		refuseIf(end < from, BadArgument, "group_list", ends, "rows of "+shapeText(x.shape))
		if end > from {
			var token Values
			if tokens != nil {
				refuseIf(count(tokens[0].shape) != x.shape[0], ShapesDiffer, x.shape, tokens[0].shape)
				token = slab1(reshape(tokens[0], []int64{count(tokens[0].shape)}), 0, from, end-from)
			}
			parts = append(parts, one(slab1(values, 0, from, end-from), e, token))
		}
		from = end
	}
	refuseIf(len(parts) == 0, BadArgument, "group_list", ends, "a group")
	if from < x.shape[0] {
		parts = append(parts, &formula{shape: []int64{x.shape[0] - from, parts[0].Shape()[1]}, f: func(int64, []int64) (float64, float64) { return 0, math.Inf(1) }})
	}
	return joined(0, parts...)
}

// planes is a product whose first factor may be split into planes: it is off by 2^-15 of the
// largest number of a row times the sum of a column (ops-transformer gmm/grouped_matmul,
// grouped_matmul_antiquant_a16w8_msd.h). The error of an element is 2⁻¹⁵·max|x[m, :]|·Σ_k|w[k, n]|;
// for rows enough the kernel multiplies as usual, which is within it, too.
func (k *invocation) planes(x, w, bias Values) Values {
	d, m := held(x), held(w)
	rows, inner, n := d.shape[0], d.shape[1], m.shape[1]
	largest, size := make([]float64, rows), make([]float64, n)
	for i, v := range d.y {
		largest[int64(i)/inner] = max(largest[int64(i)/inner], abs(v))
	}
	for i, v := range m.y {
		size[int64(i)%n] += abs(v)
	}
	y := formulaOf(func(v []num) num { return num{v[0].y, v[0].b + 0x1p-15*v[1].y*v[2].y} },
		k.product(x, w), newStrided(&dense{shape: []int64{rows}, y: largest, exact: true}, []int64{rows, n}, []int64{1, 0}, 0), &dense{shape: []int64{n}, y: size, exact: true})
	return k.also("y,b)=y+b", y, bias)
}

// gatheredProduct adds the product of each row with matrices of its own, a pair or the second
// alone, times a number, to some columns of it (ops-nn's aclnnAddLora, test of
// npu_batch_gather_matmul).
func gatheredProduct(k *invocation) Values {
	y, x := k.pair("input", "x")
	at, layer := k.ints("indices"), k.int("layer_idx", 0)
	refuseIf(len(y.shape) != 2 || len(x.shape) != 2 || len(at) == 0 || int64(len(at)) != y.shape[0] || x.shape[0] != y.shape[0], ShapesDiffer, y.shape, x.shape)
	pick := func(name string) Values { // (rows, out, in)
		w := k.tensor(name)
		refuseIf(len(w.shape) != 4 || layer < 0 || layer >= w.shape[1], ShapesDiffer, w.shape)
		for _, i := range at {
			refuseIf(i < 0 || i >= w.shape[0], OutsideCache, "indices", i, w.shape[0])
		}
		v := reshape(slab1(w, 1, layer, 1), []int64{w.shape[0], w.shape[2] * w.shape[3]})
		return reshape(rowsOf(v, at, 1), []int64{int64(len(at)), w.shape[2], w.shape[3]})
	}
	var v Values = x
	if k.has("weight_a") {
		v = k.between(k.newContraction([]string{"bh", "brh"}, "br", v, pick("weight_a")))
	}
	v = k.newContraction([]string{"br", "bor"}, "bo", v, pick("weight_b"))
	from, n := k.int("y_offset", 0), k.int("y_slice_size", -1)
	if n < 0 {
		n = y.shape[1]
	}
	refuseIf(!within(from, 0, y.shape[1]) || from+n > y.shape[1] || n != v.Shape()[1], ShapesDiffer, y.shape, v.Shape())
	sum := k.computed("y,v,s)=y+v*s", slab1(y, 1, from, n), v, scalar(k.float("scale", 1e-3)))
	return joined(1, slab1(y, 1, 0, from), sum, slab1(y, 1, from+n, y.shape[1]-from-n))
}
