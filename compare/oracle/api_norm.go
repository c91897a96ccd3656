package oracle

import (
	"math"
	"slices"
)

// Normalisations of PyTorch: y = (x - mean)/√(variance + ε)·weight + bias over rows,
// which are the last axes (layer_norm, rms_norm), groups of channels (group_norm) or
// channels (batch_norm). The bound is that of layer norms; as y may be computed as
// x·(w·rstd) + (bias - mean·w·rstd), the rounding of these products is granted.

// normal is a normalisation of rows of n elements.
type normal struct {
	n            int64
	eps          float64
	rms          bool // without the mean
	weight, bias []float64
	// of gives the place of the weight of an element.
	of func(row, i int64) int64
}

func (m *normal) scale(row, i int64) float64 {
	if m.weight == nil {
		return 1
	}
	return m.weight[m.of(row, i)]
}

func (m *normal) shift(row, i int64) float64 {
	if m.bias == nil {
		return 0
	}
	return m.bias[m.of(row, i)]
}

// statistics are the mean and reciprocal root of a row.
func (m *normal) statistics(x, e []float64, a arith, sumUnit float64) (mean, r num) {
	if m.rms {
		s, off := 0.0, 0.0
		for i, v := range x {
			s += v * v
			off += 2*abs(v)*e[i] + e[i]*e[i]
		}
		n := float64(len(x))
		return exactNum(0), a.rsqrt(a.add(num{s / n, (gamma(n+2, sumUnit)*s + off) / n}, exactNum(m.eps)))
	}
	t := momentsOf(x, e, sumUnit)
	y, b := t.rstd(m.eps, a.u)
	if a.u > u32 {
		t.bMean += a.u * abs(t.mean) // kept in the narrow type
	}
	return num{t.mean, t.bMean}, num{y, b}
}

// forward computes the rows of x.
func (m *normal) forward(k *invocation) func(row int64, x, e, y, b []float64) {
	a, su := k.arith(), k.sumUnit()
	narrow := precisionFor(k.outType()).v
	if narrow <= u32 {
		narrow = 0
	}
	return func(row int64, x, e, y, b []float64) {
		mean, r := m.statistics(x, e, a, su)
		for i, v := range x {
			w, s := m.scale(row, int64(i)), m.shift(row, int64(i))
			z := a.mul(a.sub(num{v, e[i]}, mean), r)
			z.b += narrow * abs(z.y) * toNumber(m.rms) // rounded before the weight, as some do
			z = a.mul(z, exactNum(w))
			z.b += 3 * a.u * abs(w*r.y) * (abs(v) + abs(mean.y))
			z = a.add(z, exactNum(s))
			y[i], b[i] = z.y, z.b
		}
	}
}

// total sums numbers with bounds.
func total(x []num, u float64) num {
	y, size, off := 0.0, 0.0, 0.0
	for _, v := range x {
		y += v.y
		size += abs(v.y)
		off += v.b
	}
	g := gamma(float64(len(x)+1), u)
	return num{y, g*size + off*(1+g)}
}

// gradients of a normalisation, with x̂ = (x - mean)·r and h = g·w:
// dx = r·(h - mean(h) - x̂·mean(h·x̂)), dw = Σ g·x̂, db = Σ g.
func (m *normal) gradients(k *invocation, x, g Values) (dx, terms Values) {
	a, su := k.arith(), k.sumUnit()
	if count(x.Shape()) != count(g.Shape()) {
		panic(refuse(ShapesDiffer, shapeText(x.Shape(), g.Shape())))
	}
	grads := make([]float64, m.n)
	row := func(row int64, x, e []float64) (hat, h []num, r num) {
		if g.Range(row*m.n, grads, nil) != nil {
			for i := range grads {
				grads[i] = math.NaN() // explains nothing
			}
		}
		mean, r := m.statistics(x, e, a, su)
		hat, h = make([]num, len(x)), make([]num, len(x))
		for i, v := range x {
			hat[i] = a.mul(a.sub(num{v, e[i]}, mean), r)
			hat[i].b += 2 * a.u * r.y * (abs(v) + abs(mean.y))
			h[i] = a.mul(exactNum(grads[i]), exactNum(m.scale(row, int64(i))))
		}
		return hat, h, r
	}
	dx = newRows(x, m.n, func(at int64, x, e, y, b []float64) {
		hat, h, r := row(at, x, e)
		both := make([]num, len(x))
		for i := range both {
			both[i] = a.mul(h[i], hat[i])
		}
		n := exactNum(float64(len(x)))
		first, second := a.div(total(h, su), n), a.div(total(both, su), n)
		if m.rms {
			first = exactNum(0)
		}
		for i := range y {
			z := a.mul(a.sub(a.sub(h[i], first), a.mul(hat[i], second)), r)
			// The same in another order has products with the mean by itself.
			z.b += 3 * a.u * r.y * r.y * abs(second.y) * (abs(x[i]) + abs(x[i]-hat[i].y/r.y))
			y[i], b[i] = z.y, z.b
		}
	})
	terms = newRows(x, m.n, func(at int64, x, e, y, b []float64) {
		hat, _, _ := row(at, x, e)
		for i := range y {
			z := a.mul(exactNum(grads[i]), hat[i])
			y[i], b[i] = z.y, z.b
		}
	})
	return dx, terms
}

// affine reads weight and bias.
func (m *normal) affine(k *invocation, n int64, weight, bias string) {
	for _, p := range []struct {
		name string
		to   *[]float64
	}{{weight, &m.weight}, {bias, &m.bias}} {
		o := k.optional(p.name)
		if o == nil {
			continue
		}
		if count(o.shape) != n {
			panic(refuse(ShapesDiffer, shapeText([]int64{n}, o.shape)))
		}
		*p.to = must(numbers(o))
	}
	return
}

// lastNormal is a normalisation of the last axes of x.
func (k *invocation) lastNormal(x *operand, rms bool, missing float64) *normal {
	shape := k.ints("normalized_shape")
	if shape == nil && k.has("weight") { // a module has it as the shape of its weight
		w := k.tensor("weight")
		shape = w.shape
	}
	lead := len(x.shape) - len(shape)
	if len(shape) == 0 || lead < 0 || !slices.Equal(x.shape[lead:], shape) {
		panic(refuse(ShapesDiffer, shapeText(x.shape, shape)))
	}
	m := &normal{n: count(shape), rms: rms, of: func(_, i int64) int64 { return i }}
	m.eps = k.float("eps", missing)
	m.affine(k, m.n, "weight", "bias")
	return k.fitting(m)
}

// fitting refuses rows that nothing can be said of.
func (k *invocation) fitting(m *normal) *normal {
	if m.n == 0 || m.n > maxDense || math.IsInf(gamma(float64(m.n)+4, k.sumUnit()), 1) {
		panic(refuse(NoBound, m.n))
	}
	return m
}

func init() {
	rows := func(rms bool, missing func(x *operand) float64) function {
		return function{forward: formulaFor(func(k *invocation) Values {
			x := k.tensor("input")
			m := k.lastNormal(x, rms, missing(x))
			return newRows(x, m.n, m.forward(k))
		}), backward: func(k *invocation, g []Values) gradients {
			x := k.tensor("input")
			d := gradient(g, 0)
			m := k.lastNormal(x, rms, missing(x))
			dx, terms := m.gradients(k, x, d)
			return gradients{
				"input":  func() Values { return dx },
				"weight": func() Values { return k.reducedTo(terms, "weight") },
				"bias":   func() Values { return k.reducedTo(d, "bias") },
			}
		}, nodes: [][]string{{"input", "weight", "bias"}}}
	}
	fixed := func(*operand) float64 { return 1e-5 }
	define("Functional.layer_norm layer_norm native_layer_norm", "input normalized_shape weight bias eps cudnn_enable", rows(false, fixed))
	define("rms_norm", "input normalized_shape weight eps", rows(true, func(x *operand) float64 { return 2 * precisionFor(x.numeric()).v }))
	define("group_norm", "input num_groups weight bias eps cudnn_enabled", scaledByChannel((*invocation).grouped, "input", "weight", "bias"))
	batch := function{forward: formulaFor(batchNorm), backward: batchNormGradients, nodes: [][]string{{"input", "weight", "bias"}}}
	define("Functional.batch_norm", "input running_mean running_var weight bias training momentum eps", batch)
	define("batch_norm", "input weight bias running_mean running_var training momentum eps cudnn_enabled", batch)
	define("instance_norm", "input running_mean running_var weight bias use_input_stats momentum eps", scaledByChannel((*invocation).byInstance, "grad"))
	define("normalize", "input p dim eps", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		p := k.float("p", 2)
		if p != 2 {
			panic(refuse(Unsupported, "p other than 2"))
		}
		axis := k.axis("dim", 1, len(x.shape))
		if len(x.shape) == 0 {
			panic(refuse(BadArgument, "dim", axis, "an axis of "+shapeText(x.shape)))
		}
		eps := k.float("eps", 1e-12)
		a, g := k.arith(), gamma(float64(x.shape[axis])+2, k.sumUnit())
		v := precisionFor(k.outType()).v
		return k.alongAxes(x, []int{axis}, func(_ int64, x, e, y, b []float64) {
			s := 0.0
			for _, v := range x {
				s += v * v
			}
			r := a.sqrt(num{s, g * s})
			if r.y < eps {
				r = num{eps, r.b}
			}
			r.b += v * r.y // the norm is a tensor of its own
			for i, v := range x {
				z := a.div(exactNum(v), r)
				y[i], b[i] = z.y, z.b
			}
		})
	})})
}

// scaledByChannel is a function that normalizes the rows that split finds and then scales channels. The
// last step of it takes the gradients named.
func scaledByChannel(split func(*invocation) (*operand, *normal), node ...string) function {
	return function{forward: formulaFor(func(k *invocation) Values {
		x, m := split(k)
		return newRows(x, m.n, m.forward(k))
	}), backward: func(k *invocation, g []Values) gradients {
		x, m := split(k)
		d := gradient(g, 0)
		dx, terms := m.gradients(k, x, d)
		return gradients{
			"input":  func() Values { return dx },
			"weight": func() Values { return k.channelSum(terms) },
			"bias":   func() Values { return k.channelSum(d) },
			"grad":   func() Values { return d },
		}
	}, nodes: [][]string{node}}
}

// grouped is the normalisation of groups of channels.
func (k *invocation) grouped() (*operand, *normal) {
	x := k.tensor("input")
	groups := k.int("num_groups", 0)
	if len(x.shape) < 2 || groups < 1 || x.shape[1]%groups != 0 {
		panic(refuse(BadArgument, "num_groups", groups, "a part of the channels of "+shapeText(x.shape)))
	}
	channels, plane := x.shape[1], count(x.shape[2:])
	per := channels / groups
	m := &normal{n: per * plane, of: func(row, i int64) int64 { return row%groups*per + i/plane }}
	m.eps = k.float("eps", 1e-5)
	m.affine(k, channels, "weight", "bias")
	return x, k.fitting(m)
}

// byInstance is the normalisation of every channel of every image by itself.
func (k *invocation) byInstance() (*operand, *normal) {
	x := k.tensor("input")
	if own := k.bool("use_input_stats", true); !own {
		panic(refuse(Unsupported, "statistics that are not those of the input"))
	}
	if len(x.shape) < 3 {
		panic(refuse(ShapesDiffer, shapeText(x.shape)))
	}
	channels := x.shape[1]
	m := &normal{n: count(x.shape[2:]), of: func(row, _ int64) int64 { return row % channels }}
	m.eps = k.float("eps", 1e-5)
	m.affine(k, channels, "weight", "bias")
	return x, k.fitting(m)
}

// byChannels is x with its channels first, a row each.
func (k *invocation) byChannels(x Values) (in Values, kept, axes []int, n int64) {
	if len(x.Shape()) < 2 {
		panic(refuse(ShapesDiffer, shapeText(x.Shape())))
	}
	axes = append([]int{0}, inOrder(len(x.Shape()))[2:]...)
	in, kept, n = lastAxes(x, axes)
	return in, kept, axes, n
}

// channelNormal is a batch norm with the statistics of x itself.
func (k *invocation) channelNormal(x *operand) (*normal, Values, func(v Values) Values) {
	in, kept, axes, n := k.byChannels(x)
	m := &normal{n: n, of: func(row, _ int64) int64 { return row }}
	m.eps = k.float("eps", 1e-5)
	back := func(v Values) Values { return k.rowsBack(v, len(x.shape), kept, axes) }
	m.affine(k, x.shape[1], "weight", "bias")
	return k.fitting(m), in, back
}

// fixedStatistics are those of a batch norm that is not training, as factors of x:
// the mean and the reciprocal root of each channel.
func (k *invocation) fixedStatistics(x *operand) (mean, root, weight, bias Values) {
	if len(x.shape) < 2 {
		panic(refuse(ShapesDiffer, shapeText(x.shape)))
	}
	eps := k.float("eps", 1e-5)
	list := [4]Values{nil, nil, scalar(1), scalar(0)}
	for i, name := range []string{"running_mean", "running_var", "weight", "bias"} {
		o := k.optional(name)
		switch {
		case o == nil && i < 2:
			panic(refuse(NoInput, name))
		case o == nil:
			continue
		}
		list[i] = perChannel(x, o, "")
	}
	a := k.arith()
	root = formulaOf(func(v []num) num { return a.rsqrt(a.add(v[0], exactNum(eps))) }, list[1])
	return list[0], root, list[2], list[3]
}

func batchNorm(k *invocation) Values {
	x := k.tensor("input")
	training := k.bool("training", k.solve)
	if training || !k.has("running_mean") {
		m, in, back := k.channelNormal(x)
		return back(newRows(in, m.n, m.forward(k)))
	}
	mean, root, weight, bias := k.fixedStatistics(x)
	a := k.arith()
	return formulaOf(func(v []num) num {
		y := a.add(a.mul(a.mul(a.sub(v[0], v[1]), v[2]), v[3]), v[4])
		y.b += 3 * (a.u + a.ulps) * abs(v[3].y*v[2].y) * (abs(v[0].y) + abs(v[1].y))
		return y
	}, x, mean, root, weight, bias)
}

func batchNormGradients(k *invocation, g []Values) gradients {
	x := k.tensor("input")
	d := gradient(g, 0)
	if !slices.Equal(d.Shape(), x.shape) {
		panic(refuse(ShapesDiffer, shapeText(x.shape, d.Shape())))
	}
	training := k.bool("training", k.solve)
	out := gradients{"bias": func() Values { return k.channelSum(d) }}
	if training || !k.has("running_mean") {
		m, in, back := k.channelNormal(x)
		grads, _, _, _ := k.byChannels(d)
		dx, terms := m.gradients(k, in, grads)
		out["input"] = func() Values { return back(dx) }
		out["weight"] = func() Values {
			return &reduced{shape: []int64{x.shape[1]}, in: terms, n: m.n, f: sumOf(k.sumUnit(), m.n, 1)}
		}
		return out
	}
	mean, root, weight, _ := k.fixedStatistics(x)
	a := k.arith()
	out["input"] = func() Values {
		return formulaOf(func(v []num) num { return a.mul(v[0], a.mul(v[1], v[2])) }, d, root, weight)
	}
	out["weight"] = func() Values {
		terms := formulaOf(func(v []num) num {
			y := a.mul(v[3], a.mul(a.sub(v[0], v[1]), v[2]))
			y.b += 3 * a.u * abs(v[3].y*v[2].y) * (abs(v[0].y) + abs(v[1].y))
			return y
		}, x, mean, root, d)
		return k.channelSum(terms)
	}
	return out
}
