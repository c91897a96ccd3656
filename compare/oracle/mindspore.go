package oracle

import (
	"maps"
	"slices"
	"strings"
	"sync"

	catalogue "precision/op"
)

// Functions of MindSpore: those of mindspore.ops, methods of tensors, and the primitives that cells call. Most
// are a function of PyTorch under another name or with its parameters in another order. A primitive keeps its
// attributes to itself, as a module does: what is beyond every bound is not known then, and not wrong.
// mindspore.mint has PyTorch's names and parameters and is not among these.

// functionsOfMindSpore are found by the name of a function, or the class of a primitive.
var functionsOfMindSpore = sync.OnceValue(func() map[string]*function {
	all := map[string]*function{}
	for _, row := range catalogue.All() {
		for space, call := range row.MindSpore {
			for _, name := range row.Names {
				key := name
				if space != "" {
					key = space + "." + name
				}
				all[key] = functionOfMindSpore(name, call)
			}
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

// functionOfMindSpore is what a row says of a function or primitive: one of PyTorch, the gradients of one, or a kernel of CANN.
func functionOfMindSpore(name string, call *catalogue.Signature) *function {
	of, outs, gradient := strings.Cut(call.Form, "'")
	switch {
	case gradient:
		return gradientKernel(of, functions()[of], call.Params, strings.Split(outs, "'"))
	case isKernel(of) && !strings.Contains(of, "."): // and not Functional.softmax
		return &function{params: call.Params, forward: func(k *invocation) []Reading {
			if of == "StridedSlice" {
				k = k.unsliced()
			}
			return k.operator(of, call.Params)
		}, local: strings.HasSuffix(name, "Grad")}
	}
	f := *functions()[of]
	if call.Params == nil {
		return &f
	}
	f.params, f.rest, f.hidden = call.Params, call.Rest, call.Hidden
	if isKernel(name) {
		// A primitive may give the gradients of what it computes with before those of what comes in.
		f.nodes = append(slices.Clone(f.nodes), []string{"weight", "input"}, []string{"bias", "weight", "input"}, []string{"weight", "bias", "input"}, []string{"other", "input"})
	}
	return &f
}

// pooled is a primitive that pools: its window is that of a cell, see [invocation.window].
func pooled(of string) *function {
	f := *functions()[of]
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
	shape := ones(len(x))
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
