package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/dump/msprobe"
	catalogue "precision/op"
)

// Activations that are more than a formula of one number (those are rows of the catalogue): gates,
// whose two halves are multiplied; softmax, along axes; lookups of embeddings; and dropouts.
//
// A dropout is random, and its mask is mostly not recorded: an element that is 0 may have been
// dropped, and of every other the value is known, x/(1 - p). Nothing is asked of how many are 0.
// Where a mask is recorded, a bit for each element, no source says which bit of a byte comes first,
// so that both orders are readings.

// softsignSteps: the last step of softsign is a quotient, of which a recorder has the gradient of
// the dividend.
func softsignSteps(quotient *function) {
	whole := quotient.backward
	quotient.nodes = [][]string{{"dividend"}}
	quotient.backward = func(k *invocation, g []Values) gradients {
		all := whole(k, g)
		all["dividend"] = func() Values {
			x := k.tensor("input")
			d := gradient(g, 0)
			return k.of("input", func(a arith, v []num) num {
				return a.div(v[1], a.add(exactNum(1), num{abs(v[0].y), v[0].b}))
			}, x, d)
		}
		return all
	}
}

func activationForms() {
	// y = x for x > 0, else w·x, with one weight or one a channel. NaN takes the second way and
	// stays NaN.
	define("prelu", function{forward: formulaFor(func(k *invocation) Values {
		x, w := k.pair("input", "weight")
		weight := reshape(w, []int64{count(w.shape)})
		if count(w.shape) > 1 && len(x.shape) > 1 {
			weight = perChannel(x, w)
		}
		a := k.arith()
		return formulaOf(func(v []num) num {
			if v[0].y > 0 {
				return v[0]
			}
			return a.mul(v[0], v[1])
		}, x, weight)
	})})
	// gated is torch.nn.functional.glu and torch_npu.npu_swiglu: act of one half of an axis times the
	// other.
	gated := func(of string, firstGates bool) func(k *invocation) []Reading {
		return formulaFor(func(k *invocation) Values {
			x := k.tensor("input")
			gate, second := k.halved(x, k.axis("dim", -1, len(x.shape)), firstGates)
			return k.times(k.between(k.applied(catalogue.Of(of), gate)), second)
		})
	}
	// The second half gates, through σ; of swiglu the first, through silu. What gates may be
	// rounded to the type of the result before the product.
	define("glu", function{forward: gated("sigmoid", false)})
	// With a the half that gates and b the other: d(silu(a)·b) = b·silu'(a)·da + silu(a)·db, silu'
	// = σ(a)·(1 + a·(1 − σ(a))).
	define("npu_swiglu", function{forward: gated("silu", true), nodes: [][]string{{"input"}}, backward: func(k *invocation, g []Values) gradients {
		return k.gatedGradients(g, []bool{true}, "a*sigmoid(a)", "sigmoid(a)*(1+a*(1-sigmoid(a)))")
	}})
	defineSoftmax()
	defineLookups()
	define("npu_clipped_swiglu", function{forward: formulaFor(clippedSwiglu)})
}

// gatedGradients are those of act(a)·b, where one half of an axis of the input is a and the other
// b, by the formulas of the activation and of its slope; left says of each reading whether a comes
// first.
func (k *invocation) gatedGradients(g []Values, left []bool, act, slope string) gradients {
	x, d, all := k.tensor("input"), k.alone(g), gradients{}
	axis := k.axis("dim", -1, len(x.shape))
	for i, first := range left {
		all["input"+other(i)] = func() Values {
			a, b := k.halved(x, axis, first)
			da, db := k.computed("g,a,b)=g*b*("+slope+")", d, a, b), k.computed("g,y)=g*y", d, k.halves(k.computed("a)="+act, a)))
			if !first {
				da, db = db, da
			}
			return joined(axis, da, db)
		}
	}
	return all
}

// halved are the halves of an axis, the first one in front or behind.
func (k *invocation) halved(x Values, axis int, first bool) (Values, Values) {
	s := x.Shape()
	refuseIf(axis < 0 || axis >= len(s) || s[axis]%2 != 0, BadArgument, "dim", axis, "an even axis of "+shapeText(s))
	n := s[axis] / 2
	if a, b := slab1(x, axis, 0, n), slab1(x, axis, n, n); first {
		return a, b
	} else {
		return b, a
	}
}

func defineSoftmax() {
	soft := func(name string, log bool) {
		define(name, function{forward: formulaFor(func(k *invocation) Values {
			x := k.tensor("input")
			axes := k.softmaxAxes(x)
			return k.softmax(k.converted(x), axes, log)
		}), backward: toInput(func(k *invocation, d Values) Values {
			y := k.result(0)
			return k.softmaxGradient(y, d, k.softmaxAxes(y), log)
		})})
	}
	soft("softmax", false)
	soft("log_softmax", true)
	// torch.nn.functional.softmin is the softmax of −x; the signs of both steps cancel in the
	// gradient but for one.
	define("softmin", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		return k.softmax(formulaOf(func(v []num) num { return minus(v[0]) }, x), k.softmaxAxes(x), false)
	}), backward: toInput(func(k *invocation, d Values) Values {
		y := k.result(0)
		return formulaOf(func(x []num) num { return minus(x[0]) }, k.softmaxGradient(y, d, k.softmaxAxes(y), false))
	})})
}

// softmaxAxes are the axes that are taken together: one of PyTorch's functions, one or more of a
// kernel.
func (k *invocation) softmaxAxes(x *operand) []int {
	k.required("dim")
	refuseIf(len(x.shape) == 0, ShapesDiffer, x.shape)
	return k.axes("dim", len(x.shape))
}

// softmax is e^(x−m)/Σ e^(x−m) along axes, or with log its logarithm, m being the largest number of
// a row.
// A looser call is granted that many times the units of the exponential, which is where devices
// save digits.
func (k *invocation) softmax(x Values, axes []int, log bool) Values {
	u := k.unit() * k.loose.times()
	f := softmaxRow(u, k.sumUnit())
	if log {
		f = logSoftmaxRow(u, k.sumUnit())
	}
	return k.alongAxes(x, axes, func(_ int64, x, e, y, b []float64) { f(x, e, y, b) })
}

// softmaxGradient: (g - Σ g·y)·y from the recorded result, or g - e^y·Σ g.
func (k *invocation) softmaxGradient(y *operand, g Values, axes []int, log bool) Values {
	refuseIf(count(g.Shape()) != count(y.shape), ShapesDiffer, y.shape, g.Shape())
	rows, kept, n := lastAxes(y, axes)
	grads, _, _ := lastAxes(reshape(g, y.shape), axes)
	refuseIf(n == 0 || n > maxDense, NoBound, n)
	a, su := k.arith(), k.sumUnit()
	d := make([]float64, n)
	v := newRows(rows, n, func(row int64, x, e, y, b []float64) {
		grads.Range(row*n, d, nil)
		terms := make([]num, n)
		for i := range terms {
			if terms[i] = exactNum(d[i]); !log {
				terms[i] = a.mul(terms[i], exactNum(x[i]))
			}
		}
		sum := total(terms, su)
		for i := range y {
			var z num
			if log {
				p := math.Exp(x[i])
				z = a.sub(exactNum(d[i]), a.mul(num{p, a.ulps * p}, sum))
			} else {
				z = a.mul(a.sub(exactNum(d[i]), sum), exactNum(x[i]))
				// g·y - y·Σ has two products that may cancel.
				z.b += 2 * a.u * abs(x[i]) * (abs(d[i]) + abs(sum.y))
			}
			y[i], b[i] = z.y, z.b
		}
	})
	return k.rowsBack(v, len(y.shape), kept, axes)
}

func defineLookups() {
	// Slices of an axis, the first one but of kernels. batch_dims leading axes are shared by weight and
	// input, a negative one counting from the axes of input. max_norm changes the weight while it
	// looks up, and is refused; padding_idx matters to gradients alone.
	define("embedding", function{forward: formulaFor(func(k *invocation) Values {
		x, w := k.pair("input", "weight")
		k.unsupported("max_norm")
		axis, dims := k.axisOf(w.shape, "dim", 0), k.int("batch_dims", 0)
		if dims < 0 {
			dims += int64(len(x.shape))
		}
		refuseIf(!within(dims, 0, min(int64(len(x.shape)), int64(axis))) || !slices.Equal(w.shape[:dims], x.shape[:dims]), BadArgument, "batch_dims", dims, "axes that both share")
		return k.asRecorded(gatheredIn(w, axis, int(dims), x, k.bool("negative", k.called == nil)), 0)
	}), backward: func(k *invocation, g []Values) gradients {
		return gradients{"weight": func() Values { return k.embeddingGradient(g) }}
	}, nodes: [][]string{{"weight"}}})

	define("embedding_bag", function{forward: formulaFor(embeddingBag)})
	// npu_dropout_do_mask and npu_dropout_backward of torch_npu: x·bit/(1 − p), with two units for
	// 1 − p and the division. The mask comes out again.
	define("masked_dropout", function{forward: func(k *invocation) []Reading {
		x, mask := k.pair("input", "mask")
		return k.maskedDropout(x, mask, num{k.keeping(), 2 * u32})
	}})
	// The kernel multiplies by 1/keep_prob, of its own type (TBE's drop_out_do_mask.py).
	register(func(c *Call) []Reading {
		k := &invocation{Call: c}
		x, mask, keep := c.need("x", 0), c.need("mask", 1), numbers(c.need("keep_prob", 2))
		refuseIf(len(keep) != 1 || !(keep[0] > 0 && keep[0] <= 1), BadArgument, "keep_prob", keep, "a number above 0 and up to 1")
		readings := k.maskedDropout(x, mask, num{keep[0], max(precisionFor(x.numeric()).v, u32) * keep[0]})
		for i := range readings {
			readings[i].Out = readings[i].Out[:1]
		}
		return readings
	}, "maskeddropout")

	// What a dropout by a mask and a softmax give back to the two that were added up: the second
	// gets what comes in (op-plugin DropoutWithAddSoftmaxKernelNpu).
	define("npu_dropout_with_add_softmax_backward", function{forward: func(k *invocation) (out []Reading) {
		y, d := k.pair("softmax_out", "grad")
		p, axes := k.float("prob", 0), k.axes("dim", len(y.shape))
		kept := outputs(d)
		if p != 0 {
			kept = forms["masked_dropout"].forward(k.with(map[string]*argument{"input": k.args["grad"], "p": k.args["prob"]}))
		}
		for _, r := range kept {
			v := k.computed("g,a)=g*a", k.softmaxGradient(y, k.between(r.Out[0]), axes, false), scalar(k.float("alpha", 1)))
			out = append(out, Reading{Name: r.Name, Out: []Values{v, d}})
		}
		return out
	}})
	// A dropout sets elements to 0 at random, which the recording does not tell; the
	// others are divided by 1 - p. Nothing is asked of how many are 0.
	drop := function{local: true, forward: func(k *invocation) []Reading {
		x := k.value("input")
		keep := k.keeping()
		all := Reading{Name: "nothing-dropped", Out: []Values{x}}
		if keep == 1 {
			return []Reading{all}
		}
		refuseIf(len(k.outs) == 0 || k.outs[0] == nil, NoOutput)
		a := k.arith()
		some := formulaOf(func(v []num) num {
			if v[1].y == 0 {
				return exactNum(0)
			}
			return a.div(v[0], num{keep, 2 * u32})
		}, x, k.outs[0])
		// Recorders switch dropouts off behind the arguments (seed_all of msprobe).
		return []Reading{{Out: []Values{some}}, all}
	}, backward: func(k *invocation, g []Values) gradients {
		return gradients{"input~1": func() Values { return gradient(g, 0) }, "input": func() Values {
			x := k.tensor("input")
			d := gradient(g, 0)
			keep := k.keeping()
			if keep == 1 {
				return d
			}
			y := k.result(0)
			return k.of("input", func(a arith, v []num) num {
				z := a.div(v[2], num{keep, 2 * u32})
				switch {
				case v[0].y == 0: // kept or not, it was 0
					return num{z.y / 2, abs(z.y)/2 + z.b}
				case v[1].y == 0:
					return exactNum(0)
				}
				return z
			}, x, y, d)
		}}
	}}
	// torch.nn.functional.dropout (x, p, training): the gradient of an element that was kept is
	// g/(1 − p), of a dropped one 0; which it was the recorded result tells, unless x itself is 0.
	define("dropout", drop)
}

// maskedDropout divides by keep what a mask of a bit for each element lets through. Which bit of a
// byte comes first no source says.
func (k *invocation) maskedDropout(x, mask *operand, keep num) []Reading {
	refuseIf(mask.typ != dtype.Uint8, BadType, mask.name, mask.typ.String())
	a := k.arith()
	of := func(name string, high bool) Reading {
		return Reading{Name: name, Out: []Values{formulaOf(func(v []num) num {
			if v[1].y == 0 {
				return exactNum(0)
			}
			return a.div(v[0], keep)
		}, x, reshape(bitsOf(mask, count(x.shape), high), x.shape)), mask}}
	}
	return []Reading{of("low-bit-first", false), of("high-bit-first", true)}
}

// keeping is the share of elements that a dropout keeps, 1 if it does nothing.
func (k *invocation) keeping() float64 {
	refuseIf(k.solve, NotRecorded, "p, training")
	p := k.float("p", 0.5)
	training := k.bool("training", true)
	switch {
	case !training || p == 0:
		return 1
	case !(p > 0 && p < 1):
		panic(refusal(BadArgument, "p", p, "0 to 1"))
	}
	return 1 - p
}

// embeddingGradient adds the gradients of equal indexes up. The row of padding_idx stays 0. Equal
// indices add up in any order; scale_grad_by_freq would divide by how often each comes.
func (k *invocation) embeddingGradient(g []Values) Values {
	x, w := k.pair("input", "weight")
	d := gradient(g, 0)
	refuseIf(k.bool("scale_grad_by_freq", false), Unsupported, "scale_grad_by_freq")
	padding := int64(-1)
	if k.has("padding_idx") {
		padding = k.int("padding_idx", -1)
		if padding < 0 && len(w.shape) > 0 {
			padding += w.shape[0]
		}
	}
	refuseIf(len(w.shape) != 2 || count(d.Shape()) != count(x.shape)*w.shape[1], ShapesDiffer, x.shape, w.shape, d.Shape())
	idx := numbers(x)
	of := map[int64][]int64{} // the places of each index
	exact := true
	for i, f := range idx {
		at := int64(f)
		if at == padding {
			continue
		}
		refuseIf(at < 0 || at >= w.shape[0], BadArgument, "input", at, "below "+itoa(int(w.shape[0])))
		of[at] = append(of[at], int64(i))
		exact = exact && len(of[at]) == 1
	}
	n := w.shape[1]
	zeros, _ := broadcast(scalar(0), w.shape)
	v := newRows(zeros, n, func(at int64, x, _, y, b []float64) {
		clear(y)
		clear(b)
		for _, i := range of[at] {
			d.Range(i*n, x, nil)
			for j, g := range x {
				y[j] += g
				b[j] += abs(g)
			}
		}
		g := gamma(float64(len(of[at])+2), k.sumUnit())
		for j := range b {
			b[j] *= g * toNumber(len(of[at]) > 1)
		}
	})
	v.exact = exact
	return v
}

// clipForms: kernels that say less of themselves than the function that they compute.
func clipForms() {
	// The header of Gelu states erf, devices compute tanh (aclnnGelu.md of ops-nn).
	register(func(c *Call) (list []Reading) {
		x := c.need("x", 0)
		for _, form := range []string{"tanh", "none"} {
			k := &invocation{Call: c, name: "gelu", args: map[string]*argument{"input": {v: &msprobe.Value{Kind: msprobe.Tensor}, op: x}, "approximate": textArgument(form)}}
			list = append(list, Reading{Name: "gelu-" + strings.Replace(form, "none", "erf", 1), Out: functions()["gelu"].forward(k)[0].Out})
		}
		return list
	}, "gelu")
}

// channel is the axis of the channels: C of the framework's layout, or the second where it has no
// letters.
func (o *operand) channel() int {
	if at := strings.IndexByte(o.axes, 'C'); at >= 0 && len(o.axes) == len(o.shape) {
		return at
	}
	return 1
}

// perChannel shapes a vector so that it goes along the channels of x.
func perChannel(x *operand, v Values) Values {
	at := x.channel()
	refuseIf(at >= len(x.shape) || count(v.Shape()) != x.shape[at], ShapesDiffer, x.shape, v.Shape())
	shape := ones(len(x.shape))
	shape[at] = x.shape[at]
	return reshape(v, shape)
}

// clippedSwiglu: with a cut off above and b to both sides, a·σ(alpha·a)·(b + bias); a and b
// alternate, or are halves.
func clippedSwiglu(k *invocation) Values {
	k.unsupported("group_index")
	x := k.tensor("x")
	rank := len(x.shape)
	axis := k.axis("dim", -1, rank)
	refuseIf(rank == 0 || axis != rank-1 || x.shape[axis]%2 != 0, BadArgument, "dim", axis, "the last axis of "+shapeText(x.shape))
	alpha, limit, bias := k.float("alpha", 1.702), k.float("limit", 7), k.float("bias", 1)
	// Interleaved, a has the even places and b the odd ones.
	first, second := k.halved(x, axis, true)
	if k.bool("interleaved", true) {
		half := append(slices.Clone(x.shape[:axis]), x.shape[axis]/2)
		pairs := reshape(x, append(slices.Clone(half), 2))
		first, second = reshape(slab1(pairs, rank, 0, 1), half), reshape(slab1(pairs, rank, 1, 1), half)
	}
	return k.computed("a,b,alpha,limit,bias)=min(a,limit)*sigmoid(alpha*min(a,limit))*(max(min(b,limit),-limit)+bias)",
		first, second, scalar(alpha), scalar(limit), scalar(bias))
}

// bitsOf are the bits of bytes as numbers, the first of each byte being its highest or its lowest.
func bitsOf(o *operand, n int64, high bool) *dense {
	bytes := numbers(o)
	refuseIf(int64(len(bytes))*8 < n, ShapesDiffer, o.shape, []int64{n})
	d := zeros(n, 1)
	for i := range d.y {
		at := i % 8
		if high {
			at = 7 - at
		}
		d.y[i] = float64(int64(bytes[i/8]) >> at & 1)
	}
	return d
}

// embeddingBag sums the rows of each bag, takes their mean or the largest numbers of each column.
// The input is (B, L), or (L) with offsets where bags begin; rows of padding_idx take no part, also
// not in what a mean divides by. An empty bag is 0.
func embeddingBag(k *invocation) Values {
	k.unsupported("max_norm")
	idx, w := k.tensor("input"), k.tensor("weight")
	refuseIf(len(w.shape) != 2 || len(idx.shape) == 0 || len(idx.shape) > 2, ShapesDiffer, idx.shape, w.shape)
	list, n, d := ints(idx), w.shape[1], held(w).y
	var starts []int64
	if len(idx.shape) == 2 {
		for b := range idx.shape[0] {
			starts = append(starts, b*idx.shape[1])
		}
	} else if starts = slices.Clone(k.ints("offsets")); k.bool("include_last_offset", false) {
		starts = starts[:max(len(starts)-1, 0)]
	}
	how := k.mode("mode", "mean", "sum", "mean", "max")
	skipped := k.int("padding_idx", -1<<40)
	if skipped < 0 {
		skipped += w.shape[0]
	}
	weights := slices.Repeat([]float64{1}, len(list))
	if k.has("per_sample_weights") {
		refuseIf(how != "sum", Unsupported, "per_sample_weights")
		weights = numbers(k.tensor("per_sample_weights"))
	}
	refuseIf(len(weights) != len(list) || !slices.IsSorted(starts) || len(starts) > 0 && (starts[0] != 0 || starts[len(starts)-1] > int64(len(list))), BadArgument, "offsets", starts, "places in order")
	for _, p := range list {
		refuseIf(p < 0 || p >= w.shape[0], OutsideCache, k.shown("input"), p, w.shape[0])
	}
	u := k.sumUnit()
	return &formula{shape: []int64{int64(len(starts)), n}, exact: how == "max", f: func(i int64, _ []int64) (y, b float64) {
		from, to := starts[i/n], int64(len(list))
		if next := i/n + 1; next < int64(len(starts)) {
			to = starts[next]
		}
		size, terms, most := 0.0, 0.0, math.Inf(-1)
		for j := from; j < to; j++ {
			if p := list[j]; p != skipped {
				v := d[p*n+i%n] * weights[j]
				y, size, terms, most = y+v, size+abs(v), terms+1, max(most, v)
			}
		}
		switch {
		case terms == 0:
			return 0, 0
		case how == "max":
			return most, 0
		case how == "mean":
			return y / terms, gamma(terms+2, u) * size / terms
		}
		return y, gamma(terms+1, u) * size
	}}
}
