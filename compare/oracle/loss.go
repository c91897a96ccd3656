package oracle

import (
	"math"
	"slices"

	catalogue "precision/op"
)

// Losses of PyTorch, and their gradients. reduction is mean, sum or none.

// reduction is what becomes of the elements of a loss.
func (k *invocation) lossReduction() string {
	for _, old := range []string{"size_average", "reduce"} {
		refuseIf(k.has(old), Unsupported, old)
	}
	how := k.string("reduction", "mean")
	refuseIf(!slices.Contains([]string{"mean", "sum", "none", "batchmean"}, how), BadArgument, "reduction", how, "mean, sum or none")
	return how
}

func (k *invocation) reducedLoss(v Values, how string) Values {
	n := count(v.Shape())
	if how == "none" {
		return v
	}
	refuseIf(n == 0 || math.IsInf(gamma(float64(n)+1, k.sumUnit()), 1), NoBound, n)
	return &reduced{shape: []int64{}, in: v, n: n, f: sumOf(k.sumUnit(), n, k.lossOver(v.Shape(), how))}
}

// lossGradients are those of a formula whose elements are reduced: of its operands, and of the elements, for a recorder that looks at the
// last step.
func (k *invocation) lossGradients(row *catalogue.Row, g Values) gradients {
	var in []Values
	for _, at := range row.Formula.Operands {
		in = append(in, k.operandOf(&row.Formula.Params[at]))
	}
	shape, how := newPointwise(nil, in...).shape, k.lossReduction()
	if over := k.lossOver(shape, how); over != 1 {
		g = formulaOf(func(x []num) num { return k.arith().div(x[0], exactNum(over)) }, g)
	}
	all := k.formulaGradients(row, g)
	if how != "none" {
		all["elements"] = func() Values {
			v, ok := broadcast(g, shape)
			refuseIf(!ok, ShapesDiffer, g.Shape(), shape)
			return v
		}
	}
	return all
}

// lossOver is what the sum of the elements of a loss is divided by.
func (k *invocation) lossOver(shape []int64, how string) float64 {
	switch {
	case how == "mean":
		return float64(count(shape))
	case how == "batchmean" && len(shape) > 0 && shape[0] > 0:
		return float64(shape[0])
	}
	return 1
}

// lossForms: of probabilities or scores of classes.
func lossForms() {
	for _, soft := range []bool{true, false} {
		name, nodes := "nll_loss", [][]string{{"input"}}
		if soft {
			name, nodes = "cross_entropy", [][]string{{"logits"}, {"grad", "grad"}, {"share"}}
		}
		define(name, function{nodes: nodes, forward: formulaFor(func(k *invocation) Values {
			c := k.classes(soft)
			return c.loss()
		}), backward: func(k *invocation, g []Values) gradients {
			c := k.classes(soft)
			d := gradient(g, 0)
			return gradients{
				"input":  func() Values { return c.gradient(d, soft) },
				"logits": func() Values { return c.gradient(d, false) },
				"grad":   func() Values { return d },
				// The last step with probabilities divides by their number.
				"share": func() Values {
					return formulaOf(func(x []num) num { return k.arith().div(x[0], c.over) }, d)
				},
			}
		}})
	}
}

// classes is a loss over classes, which are axis 1 of the input (0 of a vector). With
// q the weight of each class in a target, w_t·[c = t] of a number or w_c·t_c of
// probabilities, smoothed to (1-ε)·q + ε/C·w: loss = -Σ_c q_c·log p_c. The mean divides by
// the weights of the targets, or by their number where these are probabilities.
type classes struct {
	k          *invocation
	shape      []int64 // of the input
	axis       int
	n          int64   // classes
	rows       []int64 // shape without classes
	logs       *dense  // log p, classes last
	q          []num
	how        string
	over       num
	perElement bool
}

func (k *invocation) classes(soft bool) *classes {
	how := k.lossReduction()
	x, t := k.pair("input", "target")
	c := &classes{k: k, shape: x.shape, axis: min(1, len(x.shape)-1), how: how}
	switch n := count(x.shape); {
	case len(x.shape) == 0 || n == 0:
		panic(refuse(ShapesDiffer, shapeText(x.shape, t.shape)))
	case n > maxDense/4: // several numbers are kept of each
		panic(refuse(TooLarge, n, maxDense/4))
	}
	c.n = x.shape[c.axis]
	c.rows = without(x.shape, c.axis)
	moved, _, _ := lastAxes(x, []int{c.axis})
	var logs Values = moved
	if soft {
		f := logSoftmaxRow(k.unit(), k.sumUnit())
		logs = newRows(moved, c.n, func(_ int64, x, e, y, b []float64) { f(x, e, y, b) })
		// They are a tensor of their own, which may have been rounded.
		if p := precisionFor(x.numeric()); p.v > u32 {
			logs = &rounded{logs, p}
		}
	}
	c.logs = must(held(logs))
	c.targets(t, soft)
	return c
}

// targets makes q and what a mean divides by.
func (c *classes) targets(t *operand, soft bool) {
	k, a := c.k, c.k.arith()
	weight := make([]float64, c.n)
	for i := range weight {
		weight[i] = 1
	}
	w := k.optional("weight")
	if w != nil {
		refuseIf(count(w.shape) != c.n, ShapesDiffer, c.shape, w.shape)
		weight = must(numbers(w))
	}
	smoothing := 0.0
	if soft {
		smoothing = k.float("label_smoothing", 0)
	}
	ignored := k.int("ignore_index", -100)
	list := must(numbers(t))
	rows := count(c.rows)
	c.q = make([]num, rows*c.n)
	sum, terms := 0.0, 0.0
	keep, even := k.rounding(1-smoothing), k.rounding(smoothing/float64(c.n))
	keep.b += 2 * u32 * abs(keep.y)
	even.b += 2 * u32 * abs(even.y)
	probabilities := slices.Equal(t.shape, c.shape) && !discrete(t.typ)
	if probabilities {
		moved, _, _ := lastAxes(t, []int{c.axis})
		list = must(numbers(moved))
	} else if int64(len(list)) != rows || !discrete(t.typ) {
		panic(refuse(ShapesDiffer, shapeText(c.shape, t.shape)))
	}
	for r := range rows {
		at := int64(-1)
		if !probabilities {
			if at = int64(list[r]); at == ignored {
				continue
			}
			if at < 0 || at >= c.n {
				panic(refuse(BadArgument, "target", at, "below "+itoa(int(c.n))))
			}
			sum += weight[at]
			terms++
		}
		for i := range c.n {
			p := toNumber(i == at)
			if probabilities {
				p = list[r*c.n+i]
			}
			q := a.mul(exactNum(p), exactNum(weight[i]))
			if smoothing != 0 {
				q = a.add(a.mul(keep, q), a.mul(even, exactNum(weight[i])))
			}
			c.q[r*c.n+i] = q
		}
	}
	if probabilities {
		sum, terms = float64(rows), float64(rows)
	}
	switch c.over = exactNum(1); c.how {
	case "mean":
		c.over = num{sum, gamma(terms+1, k.sumUnit()) * sum}
	case "none":
		c.perElement = true
	}
}

// element is the loss of one row.
func (c *classes) element(r int64) num {
	a := c.k.arith()
	terms := make([]num, 0, c.n)
	for i := range c.n {
		q := c.q[r*c.n+i]
		if q.y == 0 && q.b == 0 {
			continue
		}
		terms = append(terms, a.mul(q, minus(num{c.logs.y[r*c.n+i], c.bound(r*c.n + i)})))
	}
	return total(terms, c.k.sumUnit())
}

func (c *classes) bound(i int64) float64 {
	if c.logs.b == nil {
		return 0
	}
	return c.logs.b[i]
}

func (c *classes) loss() Values {
	rows := count(c.rows)
	all := make([]num, rows)
	for r := range all {
		all[r] = c.element(int64(r))
	}
	if c.perElement {
		v := &dense{shape: c.rows, y: make([]float64, rows), b: make([]float64, rows)}
		for r, x := range all {
			v.y[r], v.b[r] = x.y, x.b
		}
		return v
	}
	sum := total(all, c.k.sumUnit())
	if c.how == "mean" {
		sum = c.k.arith().div(sum, c.over)
	}
	return &dense{shape: []int64{}, y: []float64{sum.y}, b: []float64{sum.b}}
}

// gradient is that of the input, (p·Σq - q)·g/over, or, of log p itself, -q·g/over.
func (c *classes) gradient(g Values, soft bool) Values {
	a := c.k.arith()
	d := must(held(g))
	rows := count(c.rows)
	if n := int64(len(d.y)); n != 1 && n != rows {
		panic(refuse(ShapesDiffer, shapeText(c.shape, g.Shape())))
	}
	v := &dense{shape: append(slices.Clone(c.rows), c.n), y: make([]float64, rows*c.n), b: make([]float64, rows*c.n)}
	for r := range rows {
		at := exactNum(d.y[min(r, int64(len(d.y))-1)])
		if c.how == "mean" {
			at = a.div(at, c.over)
		}
		q := c.q[r*c.n : (r+1)*c.n]
		sum := total(q, c.k.sumUnit())
		for i := range c.n {
			z := minus(q[i])
			if soft {
				p := math.Exp(c.logs.y[r*c.n+i])
				off := c.bound(r*c.n+i) + a.ulps
				z = a.sub(a.mul(num{p, 1.1 * p * off}, sum), q[i])
			}
			z = a.mul(z, at)
			// Products with g one by one.
			z.b += 4 * a.u * abs(at.y) * (abs(q[i].y) + abs(sum.y))
			v.y[r*c.n+i], v.b[r*c.n+i] = z.y, z.b
		}
	}
	kept := slices.Delete(inOrder(len(c.shape)), c.axis, c.axis+1)
	return backAxes(v, len(c.shape), kept, []int{c.axis})
}
