package oracle

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Functions of MindSpore: those of mindspore.ops, methods of tensors, and the primitives that cells call. Most
// are a function of PyTorch under another name or with its parameters in another order. A primitive keeps its
// attributes to itself, as a module does: what is beyond every bound is not known then, and not wrong.
// mindspore.mint has PyTorch's names and parameters and is not among these.

// likewise are functions of MindSpore that are one of PyTorch, a line each: the names, of which those with a capital
// are primitives, the function, the parameters under PyTorch's names, and after a stroke the attributes that
// a primitive has and that are not recorded. Without parameters these are PyTorch's.
const likewise = `
Conv2D Conv2d = conv2d : input weight bias | stride padding dilation groups
Conv3D = conv3d : input weight bias | stride padding dilation groups
BatchNorm = Functional.batch_norm : input weight bias running_mean running_var training eps momentum data_format | training eps
LayerNorm = layer_norm : input weight bias begin_norm_axis begin_params_axis eps | eps
ReduceSum ReduceMean ReduceMax ReduceMin = sum mean amax amin : input dim keepdim skip_mode | dim keepdim
ReLU Sigmoid Tanh SiLU = relu sigmoid tanh silu : input
GeLU = gelu : input | approximate
Exp Log Sqrt Rsqrt Square Abs Neg Erf Sin Cos Floor Ceil Sign Reciprocal Erfc Expm1 Log1p = exp log sqrt rsqrt square abs neg erf sin cos floor ceil sign reciprocal erfc expm1 log1p : input
Add Sub Mul Div RealDiv Maximum Minimum = add sub mul div div maximum minimum : input other
Pow = pow : input exponent
Equal NotEqual Greater GreaterEqual Less LessEqual = eq ne gt ge lt le : input other
LogicalAnd LogicalOr = logical_and logical_or : input other
LogicalNot = logical_not : input
Softmax = Functional.softmax : input dim | dim
LogSoftmax = Functional.log_softmax : input dim | dim
Reshape = reshape : input *shape
Flatten = flatten : input *dims
ExpandDims Squeeze = unsqueeze squeeze : input *dims
Cast = to : input *rest
BroadcastTo = broadcast_to : input *sizes
AddExt SubExt = add sub : input other alpha
GatherD = gather : input dim index
TopK = topk : input k
Triu Tril = triu tril : input diagonal
Split = chunk : input dim chunks
Select = where : condition input other
MaskedFill = masked_fill : input mask value
matmul bmm = matmul bmm
add sub mul div maximum minimum = add sub mul div maximum minimum : input other
pow = pow : input exponent
clamp round argmax argsort = clamp round argmax argsort
flip = flip : input *dims
split = split : input split dim
chunk unbind = chunk unbind
select = where : condition input other
max min = max min : input dim keepdim
elu = elu : input alpha
selu softplus = selu softplus
swapaxes narrow lerp t = swapaxes narrow lerp t
clip_by_value = clamp : input min max
gather_elements = gather : input dim index
nan_to_num = nan_to_num : input nan posinf neginf
kl_div = kl_div : input target reduction
adaptive_avg_pool2d = adaptive_avg_pool2d : input output_size
max_pool2d avg_pool2d = max_pool2d avg_pool2d
topk sort logsumexp = topk sort logsumexp
all any = all any : input dim keepdim
index_select = index_select : input dim index
batch_norm = Functional.batch_norm
layer_norm = layer_norm
exp log sqrt rsqrt square abs neg erf sin cos floor ceil sign reciprocal erfc = exp log sqrt rsqrt square abs neg erf sin cos floor ceil sign reciprocal erfc : input
equal greater less ge gt le lt eq ne not_equal greater_equal less_equal = eq gt lt ge gt le lt eq ne ne ge le : input other
logical_and logical_or = logical_and logical_or : input other
logical_not isnan isfinite isinf = logical_not isnan isfinite isinf : input
relu sigmoid tanh silu mish hardswish = relu sigmoid tanh silu mish hardswish : input
gelu = gelu : input approximate
leaky_relu = leaky_relu : input negative_slope
softmax = Functional.softmax : input dim
log_softmax = Functional.log_softmax : input dim
linear dense = linear : input weight bias
reshape view = reshape : input *shape
flatten = flatten : input order start_dim end_dim
squeeze unsqueeze expand_dims = squeeze unsqueeze unsqueeze : input *dims
transpose permute = permute : input *dims
to cast astype float half = to : input *rest
broadcast_to = broadcast_to : input *sizes
tile = tile : input *dims
where = where : condition input other
Tensor.where = where : input condition other
masked_fill = masked_fill : input mask value
triu tril = triu tril : input diagonal
ones zeros ones_like zeros_like = ones zeros ones_like zeros_like
mean sum prod = mean sum prod : input dim keepdim
cumsum = cumsum : input dim
cat concat concatenate stack = cat cat cat stack : tensors dim
cross_entropy nll_loss = cross_entropy nll_loss : input target weight ignore_index reduction label_smoothing
mse_loss l1_loss = mse_loss l1_loss : input target reduction
addmm outer = addmm outer
`

// functionsOfMindSpore are found by the name of a function, or the class of a primitive.
var functionsOfMindSpore = sync.OnceValue(func() map[string]*function {
	all := map[string]*function{}
	for _, line := range strings.Split(strings.TrimSpace(likewise), "\n") {
		left, right, _ := strings.Cut(line, " = ")
		right, hidden, _ := strings.Cut(right, " | ")
		right, params, own := strings.Cut(right, " : ")
		of := strings.Fields(right)
		for i, name := range strings.Fields(left) {
			known := functions[of[min(i, len(of)-1)]]
			if known == nil {
				continue
			}
			f := *known
			if own {
				f.params, f.rest = strings.Fields(params), false
				if n := len(f.params); f.params[n-1][0] == '*' {
					f.params[n-1], f.rest = f.params[n-1][1:], true
				}
			}
			if f.hidden = strings.Fields(hidden); own && name != strings.ToLower(name) {
				// A primitive may give the gradients of what it computes with before those of what comes in.
				f.nodes = append(slices.Clone(f.nodes), []string{"weight", "input"}, []string{"bias", "weight", "input"}, []string{"weight", "bias", "input"}, []string{"other", "input"})
			}
			all[name] = &f
		}
	}
	nodes := [][]string{{"other", "input"}, {"input", "other"}, {"other2", "input2"}, {"input2", "other2"}}
	for _, name := range []string{"MatMul", "BatchMatMul", "MatMulExt"} {
		all[name] = &function{params: []string{"input", "other", "transpose_a", "transpose_b"}, forward: primitiveProduct, backward: primitiveProductGradients, nodes: nodes}
	}
	gather := &function{params: []string{"weight", "input", "dim", "batch_dims"}, forward: formulaFor(gatherRows), backward: func(k *invocation, g []Values) gradients {
		return gradients{"weight": func() Values { return k.embeddingGradient(g) }}
	}, nodes: [][]string{{"weight"}}}
	all["Gather"], all["gather"] = gather, gather
	all["MaxPool"], all["AvgPool"] = pooled("max_pool2d"), pooled("avg_pool2d")
	all["BiasAdd"] = &function{params: []string{"input", "bias", "data_format"}, forward: formulaFor(biasAdd), backward: biasAddGradients,
		nodes: [][]string{{"bias", "input"}, {"input", "bias"}}}
	defineKernels(all)
	return all
})

// pooled is a primitive that pools: its window is that of a cell, see [invocation.window].
func pooled(of string) *function {
	f := *functions[of]
	f.hidden = []string{"kernel_size", "stride", "padding", "dilation", "ceil_mode"}
	return &f
}

// window tells the window of a pooling from shapes where nothing else does: as many elements as the result has
// fewer, without overlap. What this does not explain is unknown.
func (k *invocation) window() {
	a := k.args["input"]
	if !k.solve || k.has("kernel_size") || !slices.Contains(k.params, "kernel_size") || !a.tensor() || a.op == nil {
		return
	}
	out, ok := k.out(0)
	if len(k.results) > 0 && k.results[0] != nil {
		out, ok = k.results[0].shape, true
	}
	in := a.op.shape
	if !ok || len(out) != len(in) || len(in) < 3 {
		return
	}
	sizes := &argument{}
	for i := 2; i < len(in); i++ {
		if out[i] < 1 || in[i]%out[i] != 0 {
			return
		}
		sizes.list = append(sizes.list, intArgument(in[i]/out[i]))
	}
	k.args = maps.Clone(k.args)
	k.args["kernel_size"], k.args["stride"] = sizes, sizes
}

// gatherRows takes the slices of an axis that are asked for.
func gatherRows(k *invocation) Values {
	w, x := k.pair("weight", "input")
	at := k.axis("dim", 0, len(w.shape))
	if n, ok := k.args["batch_dims"].number(); ok && n != 0 {
		panic(refuse(Unsupported, "batch_dims"))
	}
	return gatheredBy(w, at, x)
}

// flatRows is a tensor as the rows of a matrix.
func flatRows(v Values) Values {
	if s := v.Shape(); len(s) > 2 {
		return reshape(v, []int64{count(s[:len(s)-1]), s[len(s)-1]})
	}
	return v
}

// turns are whether the factors of a product were transposed: as recorded, else all that the shapes allow.
func (k *invocation) turns(name string) []bool {
	if x, ok := k.args[name].number(); ok {
		return []bool{x != 0}
	}
	return []bool{false, true}
}

// primitiveProduct multiplies by MatMul or BatchMatMul, whose attributes may not be recorded.
func primitiveProduct(k *invocation) []Reading {
	a, b := k.factors("input", "other")
	shape, ok := k.out(0)
	refuseIf(!ok, NoOutput)
	var readings []Reading
	failed := refuse(ShapesDiffer, shapeText(a.shape, b.shape))
	for _, ta := range k.turns("transpose_a") {
		for _, tb := range k.turns("transpose_b") {
			var x, y Values = a, b
			if len(b.shape) == 2 {
				x = flatRows(a)
			}
			if ta {
				x = turned(x, true)
			}
			if tb {
				y = turned(y, true)
			}
			if s, t := x.Shape(), y.Shape(); len(s) < 2 || len(t) < 2 || s[len(s)-1] != t[len(t)-2] {
				continue
			}
			v, err := attempt(func() Values { return k.matmul(x, y) })
			if err != nil {
				failed = err
				continue
			}
			if count(v.Shape()) != count(shape) || v.Shape()[len(v.Shape())-1] != shape[len(shape)-1] {
				continue
			}
			readings = append(readings, Reading{Name: "product", Out: []Values{reshape(v, shape)}})
		}
	}
	if len(readings) == 0 {
		panic(failed)
	}
	return readings
}

// primitiveProductGradients are those of a product, and, as 2, those of one with the transposed second factor.
func primitiveProductGradients(k *invocation, g []Values) gradients {
	d := gradient(g, 0)
	a, b := k.factors("input", "other")
	var x, y Values = a, b
	if len(b.shape) == 2 {
		x, d = flatRows(a), flatRows(d)
	}
	product := func(a, b Values, shape []int64) func() Values {
		return func() Values {
			s, t := a.Shape(), b.Shape()
			refuseIf(len(s) < 2 || len(t) < 2 || s[len(s)-1] != t[len(t)-2], ShapesDiffer, s, t)
			v := k.product(a, b)
			refuseIf(count(v.Shape()) != count(shape), ShapesDiffer, v.Shape(), shape)
			return reshape(v, shape)
		}
	}
	refuseIf(len(x.Shape()) < 2 || len(y.Shape()) < 2 || len(d.Shape()) < 2, Unsupported, "the gradients of a product with a vector")
	return gradients{
		"input":  product(d, turned(y, true), a.shape),
		"other":  product(turned(x, true), d, b.shape),
		"input2": product(d, y, a.shape),
		"other2": product(turned(d, true), x, b.shape),
	}
}

// channels is the shape of a bias beside a tensor: of the last axis of two, else of the second, where the channels are.
func channels(x, bias []int64) []int64 {
	at := len(x) - 1
	if len(x) > 2 && x[1] == count(bias) {
		at = 1
	}
	refuseIf(at < 0 || x[at] != count(bias), ShapesDiffer, x, bias)
	shape := make([]int64, len(x))
	for i := range shape {
		shape[i] = 1
	}
	shape[at] = x[at]
	return shape
}

func biasAdd(k *invocation) Values {
	x, b := k.pair("input", "bias")
	shape := channels(x.shape, b.shape)
	return elementsOf(addKernel(k.unit(), 1), nil, false, []Values{x, reshape(b, shape)})
}

func biasAddGradients(k *invocation, g []Values) gradients {
	d := gradient(g, 0)
	b := k.tensor("bias")
	return gradients{
		"input": func() Values { return d },
		"bias": func() Values {
			shape := channels(d.Shape(), b.shape)
			v := k.reducedToShape(d, shape)
			return reshape(v, b.shape)
		},
	}
}
