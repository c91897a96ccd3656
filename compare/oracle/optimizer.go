package oracle

// Updates of weights. What they write over is an input, too: where both have
// one address the recorded input may be the result already, and a mismatch
// says nothing. Prototypes: nn_training_ops.h.

func init() {
	register(one(func(c *Call) []Values {
		v := c.update(5)
		nesterov := c.attrBool("use_nesterov", false)
		return buildMomentum(c.arith(), nesterov, v)
	}), "ApplyMomentum", "ApplyMomentumD")
	register(one(func(c *Call) []Values {
		v := c.update(10)
		nesterov := c.attrBool("use_nesterov", false)
		return buildAdam(c.arith(), nesterov, v)
	}), "ApplyAdam", "ApplyAdamD")
	register(single(func(c *Call) Values {
		v := c.update(3)
		a := c.arith()
		return formulaOf(func(x []num) num { return a.sub(x[0], a.mul(x[1], x[2])) }, v...)
	}), "ApplyGradientDescent")
	registerPart(elementwise{operands: 2, build: func(c *Call, in []Values) Values {
		return elementsOf(addKernel(c.unit(), 1), nil, false, in)
	}}, "AssignAdd")
	registerPart(elementwise{operands: 2, build: func(c *Call, in []Values) Values {
		return elementsOf(addKernel(c.unit(), -1), nil, false, in)
	}}, "AssignSub")
}

// update lists the n inputs of an update; those of one element go with all.
func (c *Call) update(n int) []Values {
	in := c.all()
	if len(in) != n {
		panic(refuse(InputCount, len(in), n))
	}
	for i, v := range in {
		if s := v.Shape(); i > 0 && count(s) == 1 {
			in[i] = reshape(v, []int64{})
		}
	}
	return in
}

// buildMomentum: var, accum, lr, grad, momentum. accum' = accum·momentum + grad,
// var' = var - lr·accum', or with Nesterov var - lr·(grad + momentum·accum').
func buildMomentum(a arith, nesterov bool, v []Values) []Values {
	accum := func(x []num) num { return a.add(a.mul(x[1], x[4]), x[3]) }
	weight := formulaOf(func(x []num) num {
		m := accum(x)
		if nesterov {
			m = a.add(x[3], a.mul(x[4], m))
		}
		return a.sub(x[0], a.mul(x[2], m))
	}, v...)
	sum := formulaOf(accum, v...)
	return []Values{weight, sum}
}

// buildAdam: var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
// m' = m + (1-β1)(g-m), v' = v + (1-β2)(g²-v), var' = var - lr·√(1-β2^t)/(1-β1^t)·m'/(√v' + ε);
// with Nesterov β1·m' + (1-β1)·g in place of m'. Computed as β·m + (1-β)·g the
// bound holds for either form, as it is not smaller.
func buildAdam(a arith, nesterov bool, v []Values) []Values {
	whole := exactNum(1)
	blend := func(beta, old, fresh num) num {
		r := a.add(a.mul(beta, old), a.mul(a.sub(whole, beta), fresh))
		r.b += 2 * a.u * (abs(old.y) + abs(fresh.y))
		return r
	}
	first := func(x []num) num { return blend(x[6], x[1], x[9]) }
	second := func(x []num) num { return blend(x[7], x[2], a.mul(x[9], x[9])) }
	weight := formulaOf(func(x []num) num {
		m := first(x)
		if nesterov {
			m = a.add(a.mul(x[6], m), a.mul(a.sub(whole, x[6]), x[9]))
		}
		rate := a.div(a.mul(x[5], a.sqrt(a.sub(whole, x[4]))), a.sub(whole, x[3]))
		return a.sub(x[0], a.div(a.mul(rate, m), a.add(a.sqrt(second(x)), x[8])))
	}, v...)
	m := formulaOf(first, v...)
	s := formulaOf(second, v...)
	return []Values{weight, m, s}
}
