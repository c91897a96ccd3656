package oracle

import (
	"slices"
	"strings"

	"precision/dump/dtype"
)

// Products of PyTorch: B = g(K+2)·(|a||b| + |c|), K the terms of a sum.

// product multiplies a (…, m, k) by b (…, k, n).
func (k *invocation) product(a, b Values) (Values, error) {
	if fits32(a) && fits32(b) && leaf(a) != nil && leaf(b) != nil {
		return k.newMatmul(a, b, nil)
	}
	const letters = "abcdefgh"
	sa, sb := a.Shape(), b.Shape()
	if len(sa) < 2 || len(sb) < 2 || len(sa)-2 > len(letters) || len(sb)-2 > len(letters) {
		return nil, refuse(ShapesDiffer, shapeText(sa, sb))
	}
	la, lb := letters[len(letters)-(len(sa)-2):], letters[len(letters)-(len(sb)-2):]
	lead := la
	if len(lb) > len(la) {
		lead = lb
	}
	return k.newContraction([]string{la + "mk", lb + "kn"}, lead+"mn", a, b)
}

// matmul is torch.matmul: vectors are rows or columns, whose axis goes.
func (k *invocation) matmul(a, b Values) (Values, error) {
	sa, sb := a.Shape(), b.Shape()
	if len(sa) == 0 || len(sb) == 0 {
		return nil, refuse(ShapesDiffer, shapeText(sa, sb))
	}
	if len(sa) == 1 {
		a = reshape(a, []int64{1, sa[0]})
	}
	if len(sb) == 1 {
		b = reshape(b, []int64{sb[0], 1})
	}
	v, err := k.product(a, b)
	if err != nil {
		return nil, err
	}
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
	return reshape(v, s), nil
}

// between allows for what is rounded to the type of the output before the next step.
func (k *invocation) between(v Values) Values {
	if p := precisionFor(k.outType()); p.v > u32 {
		return &rounded{v, p}
	}
	return v
}

// pair are the two factors of a product.
func (k *invocation) pair(first, second string) (a, b *operand, err error) {
	if a, err = k.tensor(first); err == nil {
		b, err = k.tensor(second)
	}
	return a, b, err
}

// productGradients: dA = dY·Bᵀ and dB = Aᵀ·dY, with repeated axes summed up.
func (k *invocation) productGradients(first, second string, g Values) (gradients, error) {
	a, b, err := k.factors(first, second)
	if err != nil {
		return nil, err
	}
	if len(a.shape) < 2 || len(b.shape) < 2 {
		return nil, refuse(Unsupported, "the gradients of a product with a vector")
	}
	return gradients{
		first: func() (Values, error) {
			v, err := k.product(g, turned(b, true))
			if err != nil {
				return nil, err
			}
			return k.reducedTo(v, first)
		},
		second: func() (Values, error) {
			v, err := k.product(turned(a, true), g)
			if err != nil {
				return nil, err
			}
			return k.reducedTo(v, second)
		},
		"grad": func() (Values, error) { return g, nil },
	}, nil
}

func init() {
	multiply := func(names, params string) {
		p := strings.Fields(params)
		define(names, params, function{forward: formulaFor(func(k *invocation) (Values, error) {
			a, b, err := k.factors(p[0], p[1])
			if err != nil {
				return nil, err
			}
			return k.matmul(a, b)
		}), backward: func(k *invocation, g []Values) (gradients, error) {
			d, err := gradient(g, 0)
			if err != nil {
				return nil, err
			}
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
		define(names, params, function{forward: formulaFor(func(k *invocation) (Values, error) {
			c, err := k.value(p[0])
			if err != nil {
				return nil, err
			}
			if k.factor("beta") == exactNum(0) {
				c = scalar(0) // not read, whatever it holds
			}
			a, b, err := k.factors(p[1], p[2])
			if err != nil {
				return nil, err
			}
			var v Values
			if sum {
				v, err = k.newContraction([]string{"bmk", "bkn"}, "mn", a, b)
			} else {
				v, err = k.matmul(a, b)
			}
			if err != nil {
				return nil, err
			}
			ar := k.arith()
			return formulaOf(func(x []num) num { return ar.add(ar.mul(k.factor("beta"), x[0]), ar.mul(k.factor("alpha"), x[1])) }, c, k.between(v))
		}), backward: func(k *invocation, g []Values) (gradients, error) {
			d, err := gradient(g, 0)
			if err != nil || sum {
				return nil, refuse(NoGradient, k.name)
			}
			times := func(factor string, v Values, err error) (Values, error) {
				if f := k.factor(factor); err == nil && f != exactNum(1) {
					v, err = formulaOf(func(x []num) num { return k.arith().mul(f, x[0]) }, v)
				}
				return v, err
			}
			of, err := k.productGradients(p[1], p[2], d)
			if err != nil {
				return nil, err
			}
			out := gradients{p[0]: func() (Values, error) {
				v, err := times("beta", d, nil)
				if err != nil {
					return nil, err
				}
				return k.reducedTo(v, p[0])
			}}
			for _, name := range p[1:3] {
				out[name] = func() (Values, error) {
					v, err := of[name]()
					return times("alpha", v, err)
				}
			}
			return out, nil
		}})
	}
	added("addmm", "input mat1 mat2 beta alpha", false)
	added("addmv", "input mat vec beta alpha", false)
	added("baddbmm", "input batch1 batch2 beta alpha", false)
	added("addbmm", "input batch1 batch2 beta alpha", true)

	define("outer ger", "input vec2", function{forward: formulaFor(func(k *invocation) (Values, error) {
		a, b, err := k.factors("input", "vec2")
		if err != nil {
			return nil, err
		}
		return k.newContraction([]string{"i", "j"}, "ij", a, b)
	})})
	delete(otherNames, "vec2")
	define("linear npu_linear", "input weight bias", function{forward: formulaFor(linear), backward: linearGradients,
		nodes: [][]string{{"bias", "input", "weight'"}, {"grad"}, {"input", "weight'"}}})
	define("bilinear", "input1 input2 weight bias", function{forward: formulaFor(func(k *invocation) (Values, error) {
		a, b, err := k.factors("input1", "input2")
		if err != nil {
			return nil, err
		}
		w, bias, err := k.weights()
		if err != nil || len(a.shape) != 2 || len(b.shape) != 2 {
			return nil, refuse(Unsupported, "inputs of other than two axes")
		}
		v, err := k.newContraction([]string{"ni", "nj", "oij"}, "no", a, b, w)
		if err != nil || bias == nil {
			return v, err
		}
		return elementsOf(addKernel(k.unit(), 1), nil, false, []Values{v, bias})
	})})
	define("einsum", "equation *operands", function{forward: formulaFor(einsum)})
}

// weights are the arguments weight and bias; bias may be None.
func (k *invocation) weights() (w, bias *operand, err error) {
	if err = k.required("weight"); err == nil {
		w, err = k.factored("weight")
	}
	if err == nil {
		bias, err = k.factored("bias")
	}
	return w, bias, err
}

// linear: y = x·wᵀ + b.
func linear(k *invocation) (Values, error) {
	if err := k.required("input"); err != nil {
		return nil, err
	}
	x, err := k.factored("input")
	if err != nil {
		return nil, err
	}
	w, bias, err := k.weights()
	if err != nil {
		return nil, err
	}
	if len(w.shape) == 1 {
		return k.matmul(x, w)
	}
	if len(w.shape) != 2 || len(x.shape) == 0 || x.shape[len(x.shape)-1] != w.shape[1] {
		return nil, refuse(ShapesDiffer, shapeText(x.shape, w.shape))
	}
	rows := reshape(x, []int64{count(x.shape[:len(x.shape)-1]), w.shape[1]})
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), w.shape[0])
	if fits32(x) && fits32(w) && !discrete(x.typ) {
		var b Values
		if bias != nil {
			b = bias
		}
		v, err := k.newMatmul(rows, turned(w, true), b)
		if err != nil {
			return nil, err
		}
		if bias != nil && precisionFor(k.outType()).v > u32 {
			// The product may be rounded before the bias is added.
			plain, err := k.newMatmul(rows, turned(w, true), nil)
			if err != nil {
				return nil, err
			}
			v, err := elementsOf(addKernel(k.unit(), 1), nil, false, []Values{k.between(plain), bias})
			return reshape(v, shape), err
		}
		return reshape(v, shape), nil
	}
	v, err := k.product(rows, turned(w, true))
	if err != nil {
		return nil, err
	}
	if bias != nil {
		if v, err = elementsOf(addKernel(k.unit(), 1), nil, false, []Values{v, bias}); err != nil {
			return nil, err
		}
	}
	return reshape(v, shape), nil
}

// linearGradients: dX = dY·w, dW = dYᵀ·x, db = Σ dY.
func linearGradients(k *invocation, g []Values) (gradients, error) {
	d, err := gradient(g, 0)
	if err != nil {
		return nil, err
	}
	x, w, err := k.factors("input", "weight")
	if err != nil {
		return nil, err
	}
	if len(w.shape) != 2 || len(x.shape) == 0 || count(w.shape) == 0 || count(d.Shape())/w.shape[0] != count(x.shape)/w.shape[1] {
		return nil, refuse(ShapesDiffer, shapeText(x.shape, w.shape, d.Shape()))
	}
	m := count(x.shape) / w.shape[1]
	rows, grads := reshape(x, []int64{m, w.shape[1]}), reshape(d, []int64{m, w.shape[0]})
	return gradients{
		"input": func() (Values, error) {
			v, err := k.product(grads, w)
			if err != nil {
				return nil, err
			}
			return reshape(v, x.shape), nil
		},
		"weight": func() (Values, error) { return k.product(turned(grads, true), rows) },
		"bias":   func() (Values, error) { return k.reducedToShape(grads, []int64{w.shape[0]}) },
		"grad":   func() (Values, error) { return d, nil },
	}, nil
}

// einsum sums products over the labels that the result does not have; without ->
// it has those that come once, in the order of the alphabet.
func einsum(k *invocation) (Values, error) {
	equation, err := k.string("equation", "")
	if err != nil {
		return nil, err
	}
	equation = strings.ReplaceAll(equation, " ", "")
	left, result, explicit := strings.Cut(equation, "->")
	labels := strings.Split(left, ",")
	if strings.Contains(equation, ".") {
		return nil, refuse(Unsupported, "einsum with ...")
	}
	list, err := k.tensors("operands")
	if err != nil || len(list) != len(labels) || len(list) > 8 {
		return nil, refuse(BadArgument, "operands", len(list), itoa(len(labels)))
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
			return nil, refuse(BadType, o.name, o.typ.String())
		}
	}
	return k.newContraction(labels, result, in...)
}
