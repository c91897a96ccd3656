package oracle

import (
	"slices"
	"strings"

	"precision/dump/dtype"
)

// Products of PyTorch: B = g(K+2)·(|a||b| + |c|), K the terms of a sum.

// product multiplies a (…, m, k) by b (…, k, n).
func (k *invocation) product(a, b Values) Values {
	if fits32(a) && fits32(b) && leaf(a) != nil && leaf(b) != nil {
		return k.newMatmul(a, b, nil)
	}
	const letters = "abcdefgh"
	sa, sb := a.Shape(), b.Shape()
	if len(sa) < 2 || len(sb) < 2 || len(sa)-2 > len(letters) || len(sb)-2 > len(letters) {
		panic(refuse(ShapesDiffer, shapeText(sa, sb)))
	}
	la, lb := letters[len(letters)-(len(sa)-2):], letters[len(letters)-(len(sb)-2):]
	lead := la
	if len(lb) > len(la) {
		lead = lb
	}
	return k.newContraction([]string{la + "mk", lb + "kn"}, lead+"mn", a, b)
}

// matmul is torch.matmul: vectors are rows or columns, whose axis goes.
func (k *invocation) matmul(a, b Values) Values {
	sa, sb := a.Shape(), b.Shape()
	if len(sa) == 0 || len(sb) == 0 {
		panic(refuse(ShapesDiffer, shapeText(sa, sb)))
	}
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

// between allows for what is rounded to the type of the output before the next step.
func (k *invocation) between(v Values) Values {
	if p := precisionFor(k.outType()); p.v > u32 {
		return &rounded{v, p}
	}
	return v
}

// pair are the two factors of a product.
func (k *invocation) pair(first, second string) (a, b *operand) {
	return k.tensor(first), k.tensor(second)
}

// productGradients: dA = dY·Bᵀ and dB = Aᵀ·dY, with repeated axes summed up.
func (k *invocation) productGradients(first, second string, g Values) gradients {
	a, b := k.factors(first, second)
	if len(a.shape) < 2 || len(b.shape) < 2 {
		panic(refuse(Unsupported, "the gradients of a product with a vector"))
	}
	return gradients{
		first: func() Values {
			v := k.product(g, turned(b, true))
			return k.reducedTo(v, first)
		},
		second: func() Values {
			v := k.product(turned(a, true), g)
			return k.reducedTo(v, second)
		},
		"grad": func() Values { return g },
	}
}

func init() {
	multiply := func(names, params string) {
		p := strings.Fields(params)
		define(names, params, function{forward: formulaFor(func(k *invocation) Values {
			a, b := k.factors(p[0], p[1])
			return k.matmul(a, b)
		}), backward: func(k *invocation, g []Values) gradients {
			d := gradient(g, 0)
			return k.productGradients(p[0], p[1], d)
		}, nodes: [][]string{{"grad"}}})
	}
	multiply("matmul", "input other")
	multiply("bmm mm", "input mat2")
	multiply("mv", "input vec")
	multiply("dot inner vdot", "input other")
	otherNames["vec2"] = "vec"

	added := func(names, params string, sum bool) {
		p := strings.Fields(params)
		define(names, params, function{forward: formulaFor(func(k *invocation) Values {
			c := k.value(p[0])
			if k.factor("beta") == exactNum(0) {
				c = scalar(0) // not read, whatever it holds
			}
			a, b := k.factors(p[1], p[2])
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
			if sum {
				panic(refuse(NoGradient, k.name))
			}
			times := func(factor string, v Values) Values {
				if f := k.factor(factor); f != exactNum(1) {
					v = formulaOf(func(x []num) num { return k.arith().mul(f, x[0]) }, v)
				}
				return v
			}
			of := k.productGradients(p[1], p[2], d)
			out := gradients{p[0]: func() Values {
				return k.reducedTo(times("beta", d), p[0])
			}}
			for _, name := range p[1:3] {
				out[name] = func() Values {
					return times("alpha", of[name]())
				}
			}
			return out
		}})
	}
	added("addmm", "input mat1 mat2 beta alpha", false)
	added("addmv", "input mat vec beta alpha", false)
	added("baddbmm", "input batch1 batch2 beta alpha", false)
	added("addbmm", "input batch1 batch2 beta alpha", true)

	define("outer ger", "input vec2", function{forward: formulaFor(func(k *invocation) Values {
		a, b := k.factors("input", "vec2")
		return k.newContraction([]string{"i", "j"}, "ij", a, b)
	})})
	delete(otherNames, "vec2")
	define("linear npu_linear", "input weight bias", function{forward: formulaFor(linear), backward: linearGradients,
		nodes: [][]string{{"bias", "input", "weight'"}, {"grad"}, {"input", "weight'"}}})
	define("bilinear", "input1 input2 weight bias", function{forward: formulaFor(func(k *invocation) Values {
		a, b := k.factors("input1", "input2")
		w, bias := k.weights()
		if len(a.shape) != 2 || len(b.shape) != 2 {
			panic(refuse(Unsupported, "inputs of other than two axes"))
		}
		v := k.newContraction([]string{"ni", "nj", "oij"}, "no", a, b, w)
		if bias == nil {
			return v
		}
		return elementsOf(addKernel(k.unit(), 1), nil, false, []Values{v, bias})
	})})
	define("einsum", "equation *operands", function{forward: formulaFor(einsum)})
}

// weights are the arguments weight and bias; bias may be None.
func (k *invocation) weights() (w, bias *operand) {
	k.required("weight")
	return k.factored("weight"), k.factored("bias")
}

// linear: y = x·wᵀ + b.
func linear(k *invocation) Values {
	k.required("input")
	x := k.factored("input")
	w, bias := k.weights()
	if len(w.shape) == 1 {
		return k.matmul(x, w)
	}
	if len(w.shape) != 2 || len(x.shape) == 0 || x.shape[len(x.shape)-1] != w.shape[1] {
		panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape)))
	}
	rows := reshape(x, []int64{count(x.shape[:len(x.shape)-1]), w.shape[1]})
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), w.shape[0])
	if fits32(x) && fits32(w) && !discrete(x.typ) {
		var b Values
		if bias != nil {
			b = bias
		}
		v := k.newMatmul(rows, turned(w, true), b)
		if bias != nil && precisionFor(k.outType()).v > u32 {
			// The product may be rounded before the bias is added.
			plain := k.newMatmul(rows, turned(w, true), nil)
			v := elementsOf(addKernel(k.unit(), 1), nil, false, []Values{k.between(plain), bias})
			return reshape(v, shape)
		}
		return reshape(v, shape)
	}
	v := k.product(rows, turned(w, true))
	if bias != nil {
		v = elementsOf(addKernel(k.unit(), 1), nil, false, []Values{v, bias})
	}
	return reshape(v, shape)
}

// linearGradients: dX = dY·w, dW = dYᵀ·x, db = Σ dY.
func linearGradients(k *invocation, g []Values) gradients {
	d := gradient(g, 0)
	x, w := k.factors("input", "weight")
	if len(w.shape) != 2 || len(x.shape) == 0 || count(w.shape) == 0 || count(d.Shape())/w.shape[0] != count(x.shape)/w.shape[1] {
		panic(refuse(ShapesDiffer, shapeText(x.shape, w.shape, d.Shape())))
	}
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
func einsum(k *invocation) Values {
	equation := k.string("equation", "")
	equation = strings.ReplaceAll(equation, " ", "")
	left, result, explicit := strings.Cut(equation, "->")
	labels := strings.Split(left, ",")
	if strings.Contains(equation, ".") {
		panic(refuse(Unsupported, "einsum with ..."))
	}
	list := k.tensors("operands")
	if len(list) != len(labels) || len(list) > 8 {
		panic(refuse(BadArgument, "operands", len(list), itoa(len(labels))))
	}
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
		if in[i] = o; o.typ == dtype.Bool {
			panic(refuse(BadType, o.name, o.typ.String()))
		}
	}
	return k.newContraction(labels, result, in...)
}
