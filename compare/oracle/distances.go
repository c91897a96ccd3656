package oracle

import (
	"math"
	"slices"
	"sort"
	"strings"

	"precision/dump/dtype"
	"precision/internal/must"
	catalogue "precision/op"
)

// Distances and losses of vectors, what is sampled between places, and triangular systems: programs of a tape.

func defineDistances() {
	// x·z / (max(‖x‖, eps)·max(‖z‖, eps)): each norm has the floor, not the product of both.
	program("cosine_similarity", []string{"x1", "x2"}, func(t *tape) []*dense {
		return []*dense{t.rowsOfTwo("x1", "x2", 1, func(x, z []float64) float64 { return t.cosine(x, z, t.factor("eps", 1e-8)) })}
	})
	program("pairwise_distance", []string{"x1", "x2"}, func(t *tape) []*dense {
		return []*dense{t.rowsOfTwo("x1", "x2", -1, func(x, z []float64) float64 {
			return t.apart(x, z, t.float("p", 2), t.factor("eps", 1e-6))
		})}
	})
	program("dist", []string{"input", "other"}, func(t *tape) []*dense {
		d := t.each("x,z)=x-z", t.in("input"), t.in("other"))
		return []*dense{t.single(t.length(d.y, t.float("p", 2)))}
	})
	between := func(t *tape, x, z []float64) float64 { return t.apart(x, z, t.float("p", 2), t.Number(0)) }
	// (…, P, M) and (…, R, M) give (…, P, R). Where PyTorch computes ‖x‖² + ‖z‖² − 2·x·z, with more than 25 points or
	// on demand, what cancels there has no bound that is of use, and the call is refused.
	program("cdist", []string{"x1", "x2"}, func(t *tape) []*dense {
		a, b := t.in("x1"), t.in("x2")
		n := len(a.shape)
		refuseIf(n < 2 || len(b.shape) < 2 || a.shape[n-1] != b.shape[len(b.shape)-1], ShapesDiffer, a.shape, b.shape)
		lead, ok := broadcastShape(a.shape[:n-2], b.shape[:len(b.shape)-2])
		refuseIf(!ok, ShapesDiffer, a.shape, b.shape)
		// With many points squares are multiplied as matrices, which loses digits.
		many, of := max(a.shape[n-2], b.shape[len(b.shape)-2]) > 25, t.string("compute_mode", "use_mm_for_euclid_dist_if_necessary")
		refuseIf(t.float("p", 2) == 2 && (of == "use_mm_for_euclid_dist" || many && of != "donot_use_mm_for_euclid_dist"), Unsupported, "compute_mode")
		p, r, m := a.shape[n-2], b.shape[len(b.shape)-2], a.shape[n-1]
		x := t.spreadTo(a, append(slices.Clone(lead), p, m))
		z := t.spreadTo(b, append(slices.Clone(lead), r, m))
		out := t.blank(append(slices.Clone(lead), p, r))
		for i := range out.y {
			l := int64(i) / (p * r)
			out.y[i] = between(t, x[(l*p+int64(i)/r%p)*m:][:m], z[(l*r+int64(i)%r)*m:][:m])
		}
		return []*dense{out}
	})
	// The upper triangle of distances, row by row: n(n−1)/2 numbers.
	program("pdist", []string{"input"}, func(t *tape) []*dense {
		x := t.in("input")
		refuseIf(len(x.shape) != 2 || x.shape[0] > mostSteps>>9, ShapesDiffer, x.shape) // fewer than steps for all pairs
		out, n, m := &dense{exact: true}, x.shape[0], x.shape[1]
		for i := range n {
			for j := i + 1; j < n; j++ {
				out.y = append(out.y, between(t, x.y[i*m:][:m], x.y[j*m:][:m]))
			}
		}
		out.shape = []int64{int64(len(out.y))}
		return []*dense{out}
	})
	program("cross", []string{"input", "other"}, func(t *tape) []*dense {
		a, b := t.in("input"), t.in("other")
		shape, ok := broadcastShape(a.shape, b.shape)
		refuseIf(!ok, ShapesDiffer, a.shape, b.shape)
		// torch.cross without dim takes the first axis of three; torch.linalg.cross gives dim.
		axis := slices.Index(shape, 3)
		if t.has("dim") {
			axis = t.axisOf(shape, "dim", 0)
		}
		refuseIf(axis < 0 || shape[axis] != 3, ShapesDiffer, a.shape, b.shape)
		x := &dense{shape: shape, y: t.spreadTo(a, shape), exact: true}
		z := &dense{shape: shape, y: t.spreadTo(b, shape), exact: true}
		return []*dense{t.along2(x, z, axis, func(x, z []float64) (out []float64) {
			for i := range 3 {
				j, k := (i+1)%3, (i+2)%3
				out = append(out, t.sub(t.mul(x[j], z[k]), t.mul(x[k], z[j])))
			}
			return out
		})}
	})
	program("addr", []string{"input", "vec1", "vec2"}, func(t *tape) []*dense {
		a, b := t.in("vec1"), t.in("vec2")
		refuseIf(t.outType() == dtype.Bool, BadType, "output 0", t.outType().String())
		refuseIf(len(a.shape) != 1 || len(b.shape) != 1, ShapesDiffer, a.shape, b.shape)
		alpha, beta := t.single(t.factor("alpha", 1)), t.single(t.factor("beta", 1))
		return []*dense{t.each("c,x,z,alpha,beta)=beta*c+alpha*(x*z)", t.in("input"), move(reshape(a, []int64{a.shape[0], 1})), b, alpha, beta)}
	})
	// With a target of ±1: what is near should be near.
	loss := func(form string, operands []string, f func(t *tape) *dense) {
		program(form, operands, func(t *tape) []*dense { return []*dense{t.reducedLoss(f(t))} })
	}
	// 1 − cos for a target of 1, max(cos − margin, 0) for −1. Here eps stands within the root, added to each sum of
	// squares, and is 1e-12 whatever cosine_similarity has (EPSILON in ATen's Loss.cpp).
	loss("cosine_embedding_loss", []string{"input1", "input2"}, func(t *tape) *dense {
		margin, eps := t.factor("margin", 0), t.factor("eps", 1e-12)
		c := t.rowsOfTwo("input1", "input2", -1, func(x, z []float64) float64 {
			return t.do("p,a,b)=p/sqrt(a*b)", t.dot(x, z), t.add(t.dot(x, x), eps), t.add(t.dot(z, z), eps))
		})
		return t.each("c,y,m)=where(y==1,1-c,where(y==-1,max(c-m,0),0))", c, t.in("target"), t.single(margin))
	})
	// max(d(a, p) − d(a, n) + margin, 0); with swap the nearer of d(a, n) and d(p, n) is taken.
	loss("triplet_margin_loss", []string{"anchor", "positive", "negative"}, func(t *tape) *dense {
		p, eps, margin := t.float("p", 2), t.factor("eps", 1e-6), t.factor("margin", 1)
		apart := func(a, b string) *dense {
			return t.rowsOfTwo(a, b, -1, func(x, z []float64) float64 { return t.apart(x, z, p, eps) })
		}
		near, far := apart("anchor", "positive"), apart("anchor", "negative")
		if t.bool("swap", false) {
			far = t.each("x,z)=min(x,z)", far, apart("positive", "negative"))
		}
		return t.each("x,z,m)=max(m+x-z,0)", near, far, t.single(margin))
	})
	// Σ over the other classes of max(margin − x_y + x_i, 0)^p · w_y, divided by the number of all classes.
	loss("multi_margin_loss", []string{"input"}, func(t *tape) *dense {
		p, margin := t.float("p", 1), t.factor("margin", 1)
		refuseIf(p != 1 && p != 2, Unsupported, "p")
		return t.classRows(func(row []float64, target []int64) float64 {
			y := target[0]
			refuseIf(y < 0 || y >= int64(len(row)), BadArgument, "target", y, "a class")
			terms := t.row("x,z,m)=max(m-z+x,0)", slices.Delete(slices.Clone(row), int(y), int(y)+1), row[y], margin)
			if p == 2 {
				terms = t.row("x)=x*x", terms)
			}
			if t.has("weight") {
				w := t.in("weight")
				refuseIf(len(w.y) != len(row), ShapesDiffer, w.shape)
				terms = t.row("x,w)=x*w", terms, w.y[y])
			}
			return t.div(t.sum(terms...), t.Number(float64(len(row))))
		})
	})
	// Targets of a row end at the first −1 (torch.nn.MultiLabelMarginLoss).
	loss("multilabel_margin_loss", []string{"input"}, func(t *tape) *dense {
		return t.classRows(func(row []float64, target []int64) float64 {
			if end := slices.IndexFunc(target, func(y int64) bool { return y < 0 || y >= int64(len(row)) }); end >= 0 {
				target = target[:end]
			}
			var others, terms []float64
			for i, q := range row {
				if !slices.Contains(target, int64(i)) {
					others = append(others, q)
				}
			}
			for _, y := range target {
				terms = append(terms, t.row("x,z)=max(1-z+x,0)", others, row[y])...)
			}
			return t.div(t.sum(terms...), t.Number(float64(len(row))))
		})
	})
	// −w·(y·log σ(x) + (1−y)·log(1−σ(x))), its mean over the classes first; softplus(∓x) says both logarithms without
	// overflow.
	loss("multilabel_soft_margin_loss", []string{"input"}, func(t *tape) *dense {
		w := t.single(t.Number(1))
		if t.has("weight") {
			w = t.in("weight")
		}
		v := t.each("x,y,w)=w*(y*softplus(-x)+(1-y)*softplus(x))", t.in("input"), t.in("target"), w)
		return t.mean(v, []int{len(v.shape) - 1}, false)
	})
	// y[…, o] = Σ x₁[…, i]·W[o, i, j]·x₂[…, j] + b[o]
	derive("bilinear", []string{"input1", "input2", "weight", "bias"}, func(t *tape) []*dense {
		a, b, w := t.in("input1"), t.in("input2"), t.in("weight")
		n := len(a.shape) - 1
		refuseIf(n < 0 || len(b.shape) != n+1 || len(w.shape) != 3, ShapesDiffer, a.shape, b.shape, w.shape)
		i, j, o := a.shape[n], b.shape[n], w.shape[0]
		refuseIf(!slices.Equal(a.shape[:n], b.shape[:n]) || w.shape[1] != i || w.shape[2] != j, ShapesDiffer, a.shape, b.shape, w.shape)
		rows, bias := count(a.shape[:n]), t.blank([]int64{o})
		if t.has("bias") {
			bias = t.in("bias")
		}
		refuseIf(int64(len(bias.y)) != o, ShapesDiffer, w.shape, bias.shape)
		out := t.blank(append(slices.Clone(a.shape[:n]), o))
		for r := range rows {
			for c := range o {
				var terms []float64
				for x := range i {
					for z := range j {
						terms = append(terms, t.mul(t.mul(a.y[r*i+x], w.y[(c*i+x)*j+z]), b.y[r*j+z]))
					}
				}
				if t.has("bias") {
					terms = append(terms, bias.y[c])
				}
				out.y[r*o+c] = t.sum(terms...)
			}
		}
		return []*dense{out}
	})
}

// reducedLoss is what becomes of the elements of a loss.
// The mean divides by all elements, as PyTorch does for losses without classes.
func (t *tape) reducedLoss(v *dense) *dense {
	how := t.lossReduction()
	if how == "none" {
		return v
	}
	s := t.sum(v.y...)
	if how == "mean" {
		s = t.div(s, t.Number(float64(len(v.y))))
	}
	return t.single(s)
}

// classRows gives a number for each row of the input and its targets.
// The input is (N, C) or (C), the targets N rows of one or of C numbers; of (C) a number without axes comes out.
func (t *tape) classRows(f func(row []float64, target []int64) float64) *dense {
	x, target := t.in("input"), ints(t.tensor("target"))
	s := atLeast(x.shape, 2)
	refuseIf(len(s) != 2 || s[0] == 0 || int64(len(target))%s[0] != 0 || len(target) == 0, ShapesDiffer, x.shape)
	out := t.blank(s[:1])
	per := int64(len(target)) / s[0]
	for r := range s[0] {
		out.y[r] = f(x.y[r*s[1]:][:s[1]], target[r*per:][:per])
	}
	if len(x.shape) < 2 {
		out.shape = []int64{}
	}
	return out
}

// rowsOfTwo gives a number for each two rows of an axis.
// Both are repeated to each other first; the axis is dim, or missing where dim was not given.
func (t *tape) rowsOfTwo(first, second string, missing int64, f func(x, z []float64) float64) *dense {
	a, b := t.in(first), t.in(second)
	shape, ok := broadcastShape(a.shape, b.shape)
	refuseIf(!ok || len(shape) == 0, ShapesDiffer, a.shape, b.shape)
	axis := t.axisOf(shape, "dim", missing)
	x := &dense{shape: shape, y: t.spreadTo(a, shape), exact: true}
	z := &dense{shape: shape, y: t.spreadTo(b, shape), exact: true}
	v := t.along2(x, z, axis, func(x, z []float64) []float64 { return []float64{f(x, z)} })
	if t.bool("keepdim", false) {
		v = &dense{shape: slices.Insert(slices.Clone(v.shape), axis, 1), y: v.y, exact: true}
	}
	return v
}

// apart is the p-norm of x - z + eps.
// eps is added to each difference before its magnitude is taken, as torch.nn.functional.pairwise_distance does.
func (t *tape) apart(x, z []float64, p, eps float64) float64 {
	d := make([]float64, len(x))
	for i := range x {
		d[i] = t.add(t.sub(x[i], z[i]), eps)
	}
	return t.length(d, p)
}

// cosine is the product of two directions, each of which is at least eps long.
func (t *tape) cosine(x, z []float64, eps float64) float64 {
	least := func(row []float64) float64 { return t.Combine("max", t.length(row, 2), eps) }
	return t.div(t.div(t.dot(x, z), least(x)), least(z))
}

// boxForms: how much boxes have of each other, and what detectors make of them (documentation and tests of op-plugin).
func boxForms() {
	// The second half of a cross entropy whose vocabulary ranks share (documentation of op-plugin).
	// loss = log Σe^(x−max) − x_target, where the sum and the target's logit, less max, are of all ranks; of the probabilities a
	// rank has its own columns (N, V/ranks).
	define("npu_fused_cross_entropy_loss_with_max_sum", function{forward: func(k *invocation) []Reading {
		k.unsupported("input", "weight")
		k.only(0, "label_smoothing")
		most, sum := k.pair("logits_max", "sum_exp_logits")
		out := []Values{k.computed("s,p)=log(s)-p", sum, k.tensor("predicted_logits")), nil}
		if logits := k.optional("vocab_parallel_logits"); logits != nil {
			refuseIf(len(logits.shape) != 2 || count(most.shape) != logits.shape[0] || count(sum.shape) != logits.shape[0], ShapesDiffer, logits.shape, most.shape, sum.shape)
			column := []int64{logits.shape[0], 1}
			out[1] = k.computed("x,m,s)=exp(x-m)/s", logits, reshape(most, column), reshape(sum, column))
		}
		return outputs(out...)
	}})
	for form, eps := range map[string]float64{"npu_giou": 1e-16, "npu_diou": 1e-9, "npu_ciou": 1e-9} {
		prepared := func(k *invocation) (v []Values) {
			k.only(0, "mode", "is_cross")
			v = append(append(k.corners("input"), k.corners("gtboxes")...), scalar(eps))
			if form == "npu_ciou" { // a factor that has no gradient
				v = append(v, k.computed(boxes("v/(1+t-i/u+v)"), v...))
			}
			return v
		}
		text := map[string]string{"npu_giou": "i/u-(o-u)/o", "npu_diou": "i/u-p", "npu_ciou": "i/u-p-v*z"}[form]
		define(form, function{forward: formulaFor(func(k *invocation) Values {
			return k.asRecorded(k.computed(boxes(text), prepared(k)...), 0)
		}), nodes: [][]string{{"input", "gtboxes"}}, backward: func(k *invocation, g []Values) gradients {
			v := prepared(k)
			d, all := reshape(k.alone(g), v[0].Shape()), gradients{}
			for i, name := range []string{"input", "gtboxes"} {
				all[name] = func() Values {
					var parts []Values
					for j := range 4 {
						parts = append(parts, k.slopeIn(boxes(text), 4*i+j, d, v...))
					}
					if k.bool("trans", false) { // of the centres and sizes
						parts = []Values{k.computed("a,b)=a+b", parts[0], parts[2]), k.computed("a,b)=a+b", parts[1], parts[3]),
							k.computed("a,b)=(b-a)/2", parts[0], parts[2]), k.computed("a,b)=(b-a)/2", parts[1], parts[3])}
					}
					for j := range parts {
						parts[j] = reshape(parts[j], append([]int64{1}, parts[j].Shape()...))
					}
					return joined(0, parts...)
				}
			}
			return all
		}})
	}
	// Boxes (N, 4) are moved by deltas, scaled by stds and shifted by means, with sides that count both ends (hence +
	// 1 and ± 0.5); changes of size are clipped to |log wh_ratio_clip|, corners to the image of max_shape (height,
	// width).
	define("npu_bounding_box_decode", function{forward: formulaFor(func(k *invocation) Values {
		a, d := k.tensor("rois"), k.tensor("deltas")
		size := k.each("max_shape", 2, 0)
		refuseIf(len(a.shape) != 2 || a.shape[1] != 4 || !slices.Equal(a.shape, d.shape), ShapesDiffer, a.shape, d.shape)
		out, most := make([]Values, 4), abs(math.Log(k.float("wh_ratio_clip", 0.016)))
		for i := range int64(2) {
			number := func(name string, at int64, missing float64) Values {
				return scalar(k.float(name+itoa(int(at)), missing))
			}
			lo, hi := slab1(a, 1, i, 1), slab1(a, 1, i+2, 1)
			centre := k.computed("a,c,d,m,s)=(a+c)/2+(c-a+1)*(d*s+m)", lo, hi, slab1(d, 1, i, 1), number("means", i, 0), number("stds", i, 1))
			width := k.computed("a,c,d,m,s,r)=(c-a+1)*exp(min(max(d*s+m,-r),r))", lo, hi, slab1(d, 1, i+2, 1), number("means", i+2, 0), number("stds", i+2, 1), scalar(most))
			side := scalar(float64(size[1-i] - 1))
			out[i], out[i+2] = k.computed("c,w,n)=min(max(c-w/2+0.5,0),n)", centre, width, side), k.computed("c,w,n)=min(max(c+w/2-0.5,0),n)", centre, width, side)
		}
		return joined(1, out...)
	})})
	// Boxes (B, 5, N) with an angle in degrees, whose tangents are what is encoded.
	for form, second := range map[string]string{"npu_rotated_box_encode": "gt_bboxes", "npu_rotated_box_decode": "deltas"} {
		define(form, function{forward: formulaFor(func(k *invocation) Values {
			a, b := k.tensor("input"), k.tensor(second)
			refuseIf(len(a.shape) != 3 || a.shape[1] != 5 || !slices.Equal(a.shape, b.shape), ShapesDiffer, a.shape, b.shape)
			refuseIf(slices.ContainsFunc(must.Get(numbers(k.tensor("weight"))), func(w float64) bool { return w != 1 }), Unsupported, "weight")
			at := func(o *operand, i int64) Values { return slab1(o, 1, i, 1) }
			texts := []string{"a,c,g,h)=((g+h)/2-(a+c)/2)/(c-a)", "a,c,g,h)=log((h-g)/(c-a))", "a,g)=tan(g*0.017453292519943295)-tan(a*0.017453292519943295)"}
			if form == "npu_rotated_box_decode" {
				texts = []string{"a,c,g,h)=(a+c)/2+g*(c-a)-(c-a)*exp(h)/2", "a,c,g,h)=(a+c)/2+g*(c-a)+(c-a)*exp(h)/2", "a,g)=atan(tan(a*0.017453292519943295)+g)*57.29577951308232"}
			}
			var out []Values
			for _, text := range texts[:2] {
				for i := range int64(2) {
					out = append(out, k.computed(text, at(a, i), at(a, i+2), at(b, i), at(b, i+2)))
				}
			}
			return joined(1, append(out, k.computed(texts[2], at(a, 4), at(b, 4)))...)
		})})
	}
	// The centre within its cell, clipped to 1e-6 … 1 − 1e-6, and the logarithm of the ratio of sides.
	define("npu_yolo_boxes_encode", function{forward: formulaFor(func(k *invocation) Values {
		refuseIf(k.bool("performance_mode", false), Unsupported, "performance_mode")
		a, b := k.tensor("input"), k.tensor("gt_bboxes")
		refuseIf(len(a.shape) != 2 || a.shape[1] != 4 || !slices.Equal(a.shape, b.shape), ShapesDiffer, a.shape, b.shape)
		stride := sized(k.tensor("stride"), []int64{a.shape[0], 1})
		var out []Values
		for _, text := range []string{"a,c,g,h,s)=min(max(((g+h)/2-(a+c)/2)/s+0.5,1e-6),0.999999)", "a,c,g,h,s)=log(max((h-g)/(c-a),1e-6))"} {
			for i := range int64(2) {
				out = append(out, k.computed(text, slab1(a, 1, i, 1), slab1(a, 1, i+2, 1), slab1(b, 1, i, 1), slab1(b, 1, i+2, 1), stride))
			}
		}
		return joined(1, out...)
	})})
	// A cell of the map is set, for each of its anchors, where a centre of a box falls into it. Where rounding of the
	// centre, 4 units in the last place, may put it into a neighbour, all that it may be in are in doubt and may be 0
	// or 1.
	define("npu_anchor_response_flags", function{forward: formulaFor(func(k *invocation) Values {
		boxes, size, stride, n := k.tensor("input"), k.each("featmap_size", 2, 0), k.each("stride", 2, 0), k.count("num_base_anchors")
		refuseIf(len(boxes.shape) != 2 || boxes.shape[1] != 4 || !within(size[0], 1, 1<<16) || !within(size[1], 1, 1<<16) || stride[0] == 0 || stride[1] == 0, ShapesDiffer, boxes.shape, size, stride)
		shape := []int64{size[0] * size[1] * n}
		refuseIf(shape[0] > maxDense || !slices.Equal(k.shape(), shape), ShapeComputed, shape, k.shape())
		x, u := must.Get(held(boxes)).y, precisionFor(boxes.numeric()).v
		flags, doubt := make([]bool, size[0]*size[1]), make([]bool, size[0]*size[1])
		for i := 0; i < len(x); i += 4 {
			var lo, hi [2]int64 // the first and last cell that the centre may be in, by column and row
			for d := range 2 {
				at := (x[i+d] + x[i+d+2]) / 2 / float64(stride[d])
				off := 4 * u * abs(at)
				refuseIf(!(at-off > -1) || !(at+off < float64(size[1-d])), BadArgument, "input", at, "inside "+shapeText(size))
				lo[d], hi[d] = int64(max(math.Floor(at-off), 0)), int64(math.Floor(at+off))
			}
			cells := (hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1)
			refuseIf(cells > 64, NoBound, cells)
			for row := lo[1]; row <= hi[1]; row++ {
				for col := lo[0]; col <= hi[0]; col++ {
					if cell := row*size[1] + col; lo == hi {
						flags[cell] = true
					} else {
						doubt[cell] = true
					}
				}
			}
		}
		return &formula{shape: shape, exact: true, f: func(i int64, _ []int64) (float64, float64) {
			if cell := i / n; flags[cell] || !doubt[cell] {
				return toNumber(flags[cell]), 0
			}
			return 0, 1
		}}
	})})
}

// boxes is a formula of the sides a, b, c, d and e, f, g, h of two boxes, a small t and z: of what both have (i), either has (u) and lies
// around them (o), how far they are apart (p) and how different their shapes are (v). Those with corners alone have no t in their sides.
func boxes(text string) string {
	t := "+t"
	if strings.Contains(text, "o") {
		t = ""
	}
	params := "a,b,c,d,e,f,g,h,t"
	if strings.Contains(text, "z") {
		params += ",z"
	}
	i := "(max(min(c,g)-max(a,e),0)*max(min(d,h)-max(b,f),0))"
	return params + ")=" + strings.NewReplacer("i", i, "u", "((c-a)*(d-b"+t+")+(g-e)*(h-f"+t+")-"+i+"+t)", "o", "((max(c,g)-min(a,e))*(max(d,h)-min(b,f)))",
		"p", "(((e+g-a-c)^2+(f+h-b-d)^2)/4/((max(c,g)-min(a,e))^2+(max(d,h)-min(b,f))^2+t))",
		"v", "(0.4052847345693511*(atan((g-e)/(h-f+t))-atan((c-a)/(d-b+t)))^2)").Replace(text)
}

// corners are the sides of boxes (4, N): left, top, right, bottom; or what is given are the centres, widths and heights.
func (k *invocation) corners(name string) (list []Values) {
	o := k.tensor(name)
	refuseIf(len(o.shape) != 2 || o.shape[0] != 4, ShapesDiffer, o.shape)
	for i := range int64(4) {
		v := selected(o, 0, i)
		if k.bool("trans", false) {
			v = k.computed([]string{"c,w)=c-w/2", "c,w)=c+w/2"}[i/2], selected(o, 0, i%2), selected(o, 0, i%2+2))
		}
		list = append(list, v)
	}
	return list
}

// window is one of the windows of signals by its name: of N places, or of the first N of N+1 that are symmetric where it is periodic.
// hann, hamming and blackman are sums of cosines of 2πi/parts, bartlett 1 − |2x − 1|, kaiser I₀(β·√(1 −
// (2x−1)²))/I₀(β) (torch.signal, torch.hann_window …). The bound of a sum has 8 units a cosine for its argument,
// which grows with the harmonic.
func window(k *invocation) Values {
	n := k.count("window_length")
	kind, a, parts := strings.TrimSuffix(k.name, "_window"), k.arith(), float64(n)
	if !k.bool("periodic", true) {
		parts--
	}
	terms := map[string][]float64{"hann": {0.5, 0.5}, "hamming": {k.float("alpha", 0.54), k.float("beta", 0.46)}, "blackman": {0.42, 0.5, 0.08}}[kind]
	f, err := catalogue.Read("x)=i0(x)")
	must.Do(err)
	bessel := catalogue.Compile[num](f, a)
	return &formula{shape: []int64{n}, f: func(i int64, _ []int64) (float64, float64) {
		x := float64(i) / parts
		switch {
		case n == 1:
			return 1, 0
		case kind == "bartlett":
			return 1 - abs(2*x-1), 4 * k.unit()
		case kind == "kaiser":
			beta := exactNum(k.float("beta", 12))
			side := a.sub(a.div(exactNum(float64(2*i)), exactNum(parts)), exactNum(1))
			root := a.sqrt(a.sub(exactNum(1), a.mul(side, side)))
			root.y = max(root.y, 0)
			v := a.div(bessel([]num{a.mul(beta, root)}), bessel([]num{beta}))
			return v.y, v.b
		}
		y, size := 0.0, 0.0
		for j, c := range terms { // their signs alternate
			y += math.Copysign(c, float64(1-j%2*2)) * math.Cos(2*math.Pi*x*float64(j))
			size += abs(c) * float64(1+j*8)
		}
		return y, 8 * k.unit() * size
	}}
}

// affineGrid are the places of an image that each place of another comes from, by a matrix (N, d, d+1): between -1 and 1, the last
// axis first.
// Without align_corners places are the centres of pixels, (2i + 1)/n − 1, with it the ends are −1 and 1; an axis of
// one pixel is 0.
func affineGrid(k *invocation) Values {
	theta, size := k.tensor("theta"), k.ints("size")
	d := len(size) - 2
	refuseIf(d < 2 || slices.Min(size) < 0 || len(theta.shape) != 3 || theta.shape[0] != size[0] || theta.shape[1] != int64(d) || theta.shape[2] != int64(d+1), ShapesDiffer, theta.shape, size)
	m, corners := must.Get(held(theta)).y, k.bool("align_corners", false)
	shape := append(append([]int64{size[0]}, size[2:]...), int64(d))
	return &formula{shape: shape, f: func(_ int64, at []int64) (float64, float64) {
		row := m[(at[0]*int64(d)+at[d+1])*int64(d+1):]
		y, reach := row[d], abs(row[d])
		for i := range d {
			n := float64(size[d+1-i])
			x := 2*float64(at[d-i])/max(n-1, 1) - 1
			if n == 1 {
				x = 0
			} else if !corners {
				x *= (n - 1) / n
			}
			y += row[i] * x
			reach += abs(row[i])
		}
		return y, 8 * k.unit() * reach
	}}
}

// embeddingBag sums the rows of each bag, takes their mean or the largest numbers of each column.
// The input is (B, L), or (L) with offsets where bags begin; rows of padding_idx take no part, also not in what a
// mean divides by. An empty bag is 0.
func embeddingBag(k *invocation) Values {
	k.unsupported("max_norm")
	idx, w := k.tensor("input"), k.tensor("weight")
	refuseIf(len(w.shape) != 2 || len(idx.shape) == 0 || len(idx.shape) > 2, ShapesDiffer, idx.shape, w.shape)
	list, n, d := ints(idx), w.shape[1], must.Get(held(w)).y
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
		weights = must.Get(numbers(k.tensor("per_sample_weights")))
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

// mode is one of some texts, or the number of one among them.
func (k *invocation) mode(name, missing string, words ...string) string {
	if x, ok := k.args[name].number(); ok && x >= 0 && x < float64(len(words)) {
		return words[int(x)]
	}
	word := k.string(name, missing)
	refuseIf(!slices.Contains(words, word), BadArgument, name, word, strings.Join(words, ", "))
	return word
}

func defineSamples() {
	define("window", function{forward: formulaFor(window)})
	define("affine_grid", function{forward: formulaFor(affineGrid)})
	define("embedding_bag", function{forward: formulaFor(embeddingBag)})
	program("grid_sample", []string{"input", "grid"}, func(t *tape) []*dense { return []*dense{t.gridSample()} })
	// x / (k + alpha·s)^beta, s the mean of squares over size channels around, of which those outside count as 0:
	// there are size//2 before and (size−1)//2 behind.
	program("local_response_norm", []string{"input"}, func(t *tape) []*dense {
		x, n := t.in("input"), t.int("size", 1)
		refuseIf(len(x.shape) < 3 || n < 1, ShapesDiffer, x.shape)
		refuseIf(t.narrow > 0 || discrete(t.tensor("input").typ), BadType, "input", t.tensor("input").numeric().String())
		alpha, beta, k := t.factor("alpha", 1e-4), t.factor("beta", 0.75), t.factor("k", 1)
		run := t.formulaOf("x,s,alpha,beta,k)=x/(k+alpha*s)^beta")
		return []*dense{t.along(x, []int{1}, true, func(row []float64) (out []float64) {
			for i := range row {
				lo, hi := max(i-int(n/2), 0), min(i+int((n-1)/2)+1, len(row))
				s := t.div(t.dot(row[lo:hi], row[lo:hi]), t.Number(float64(n)))
				out = append(out, run([]float64{row[i], s, alpha, beta, k}))
			}
			return out
		})}
	})
	// cholesky_solve is two triangular systems, by L and by its transpose.
	for form, params := range map[string][]string{"triangular_solve": {"b", "A"}, "cholesky_solve": {"B", "L"}} {
		program(form, params, func(t *tape) []*dense {
			b, a := t.in(params[0]), t.in(params[1])
			if form == "triangular_solve" {
				x := t.solved(a, b, t.bool("upper", true), t.bool("transpose", false), t.bool("unitriangular", false))
				return []*dense{x, a}
			}
			upper := t.bool("upper", false)
			delete(t.given, "L") // PyTorch gives its gradient as that of a full matrix
			return []*dense{t.solved(a, t.solved(a, b, upper, upper, false), upper, !upper, false)}
		})
	}
}

// solved is the solution of a triangular system A·X = B, row by row.
// x_i = (b_i − Σ a_ij·x_j)/a_ii, substituted from the first row on for a lower matrix, from the last for an upper
// one, the other way round for the transpose; with unit the diagonal counts as 1 and is not looked at. Leading axes
// are repeated to each other. Errors go along on the tape, so that they grow as the condition of the system lets
// them.
func (t *tape) solved(a, b *dense, upper, turn, unit bool) *dense {
	n := len(a.shape)
	refuseIf(n < 2 || len(b.shape) < 2, ShapesDiffer, a.shape, b.shape)
	lead, ok := broadcastShape(a.shape[:n-2], b.shape[:len(b.shape)-2])
	m, c := a.shape[n-1], b.shape[len(b.shape)-1]
	refuseIf(!ok || a.shape[n-2] != m || b.shape[len(b.shape)-2] != m, ShapesDiffer, a.shape, b.shape)
	x := t.spreadTo(a, append(slices.Clone(lead), m, m))
	out := &dense{shape: append(slices.Clone(lead), m, c), exact: true}
	out.y = slices.Clone(t.spreadTo(b, out.shape))
	down := upper == turn // from the first row on
	for l := range count(lead) {
		at := func(i, j int64) float64 {
			if turn {
				i, j = j, i
			}
			return x[(l*m+i)*m+j]
		}
		for s := range m {
			i := s
			if !down {
				i = m - 1 - s
			}
			for col := range c {
				terms := []float64{out.y[(l*m+i)*c+col]}
				for r := range s {
					j := r
					if !down {
						j = m - 1 - r
					}
					terms = append(terms, t.sub(t.Number(0), t.mul(at(i, j), out.y[(l*m+j)*c+col])))
				}
				v := t.sum(terms...)
				if !unit {
					v = t.div(v, at(i, i))
				}
				out.y[(l*m+i)*c+col] = v
			}
		}
	}
	return out
}

// gridSample takes an image between its places: linear or nearest, with a border of 0, the nearest or the mirrored image.
func (t *tape) gridSample() *dense {
	x, grid := t.in("input"), t.in("grid")
	t.mute(t.narrow > 0)
	n := len(x.shape) - 2
	mode, padding := t.mode("mode", "bilinear", "bilinear", "nearest", "bicubic"), t.mode("padding_mode", "zeros", "zeros", "border", "reflection")
	refuseIf(n < 2 || len(grid.shape) != n+2 || grid.shape[n+1] != int64(n) || grid.shape[0] != x.shape[0], ShapesDiffer, x.shape, grid.shape)
	refuseIf(mode == "bicubic", Unsupported, "mode bicubic")
	corners := t.bool("align_corners", false)
	size, out := x.shape[2:], t.blank(append([]int64{x.shape[0], x.shape[1]}, grid.shape[1:n+1]...))
	plane, places := count(size), count(grid.shape[1:n+1])
	steps := rowMajor(size)
	unscale := t.formulaOf("g,s)=((g+1)*s-1)/2")
	if corners {
		unscale = t.formulaOf("g,s)=(g+1)/2*(s-1)")
	}
	one := t.Number(1)
	for b := range x.shape[0] {
		for p := range places {
			at, lo := make([]float64, n), make([]int64, n)
			for d := range n { // the last axis comes first
				s := float64(size[d])
				v := unscale([]float64{grid.y[(b*places+p)*int64(n)+int64(n-1-d)], t.Number(s)})
				at[d] = t.inside(v, s, padding, corners)
				if lo[d] = int64(math.Floor(t.at(at[d]).y)); mode == "nearest" {
					lo[d] = int64(math.RoundToEven(t.at(at[d]).y))
				}
				near := t.at(at[d])
				// A place so near to a pixel that rounding may put it on either side has the same value from both,
				// but a slope of its own from each; of the nearest one it is the middle between pixels, where the
				// value itself is open.
				edge := abs(near.y - math.Round(near.y))
				if mode == "nearest" {
					edge = abs(abs(near.y-math.Floor(near.y)) - 0.5)
				}
				if edge <= near.b+4*t.a.u*s { // either side of a place
					at[d] = t.push(taped{v: num{near.y, near.b}, from: [2]int{int(at[d]), int(at[d])}, slopes: [2]num{{1, math.Inf(1)}}})
				}
			}
			for c := range x.shape[1] {
				var terms []float64
				for corner := range 1 << n {
					weight, place, there := one, int64(0), true
					for d := range n {
						i := lo[d]
						w := t.sub(at[d], t.Number(float64(i)))
						if high := corner>>d&1 == 1; high {
							i++
						} else {
							w = t.sub(one, w)
						}
						if mode == "nearest" {
							w = one
							there = there && corner == 0
						}
						there = there && i >= 0 && i < size[d]
						place += i * steps[d]
						weight = t.mul(weight, w)
					}
					if there {
						terms = append(terms, t.mul(x.y[(b*x.shape[1]+c)*plane+place], weight))
					}
				}
				v := t.sum(terms...)
				if mode == "nearest" && slices.ContainsFunc(at, func(p float64) bool { return int(p) >= 0 && math.IsInf(t.steps[int(p)].slopes[0].b, 1) }) {
					v = t.unsure()
				}
				out.y[(b*x.shape[1]+c)*places+p] = v
			}
		}
	}
	return out
}

// inside is a place brought inside an axis.
// border clamps to 0 … s−1. reflection mirrors at −½ and s−½, or with align_corners at the first and last pixel: the
// number of turns says whether the image is seen backwards. zeros leaves the place outside.
func (t *tape) inside(v, s float64, padding string, corners bool) float64 {
	x := t.at(v).y
	refuseIf(math.IsNaN(x) || abs(x) > 1<<40, Unsupported, "places that are no numbers")
	switch padding {
	case "border":
		return t.Combine("min", t.Combine("max", v, t.Number(0)), t.Number(s-1))
	case "reflection":
		lo, span := -0.5, s
		if corners {
			lo, span = 0, s-1
		}
		if span <= 0 {
			return t.Number(0)
		}
		turns := math.Floor((x - lo) / span)
		if off := (x - lo) / span; abs(off-math.Round(off)) < 1e-6 {
			v = t.push(taped{v: t.at(v), from: [2]int{int(v), int(v)}, slopes: [2]num{{1, math.Inf(1)}}})
		}
		y := t.sub(v, t.Number(lo+turns*span))
		if math.Mod(turns, 2) != 0 {
			y = t.sub(t.Number(span), y)
		}
		y = t.add(y, t.Number(lo))
		return t.Combine("min", t.Combine("max", y, t.Number(0)), t.Number(s-1))
	}
	return v
}

// orderForms look for numbers among others.
// searchsorted and bucketize give the first place whose edge is not less, or with right is greater; NaN stands behind
// all numbers. What is compared was recorded, so that the result is exact.
func orderForms() {
	search := func(edges []float64, x float64, right bool) float64 {
		return float64(sort.Search(len(edges), func(i int) bool {
			if right {
				return edges[i] > x || math.IsNaN(edges[i]) && !math.IsNaN(x)
			}
			return edges[i] >= x || math.IsNaN(edges[i])
		}))
	}
	define("searchsorted", function{forward: formulaFor(func(k *invocation) Values {
		k.unsupported("sorter")
		edges, right := k.tensor("sorted_sequence"), k.bool("right", false) || k.string("side", "left") == "right"
		v := k.value("input")
		s := v.Shape()
		n := len(edges.shape)
		refuseIf(n == 0 || n > 1 && (len(s) != n || !slices.Equal(s[:n-1], edges.shape[:n-1])), ShapesDiffer, s, edges.shape)
		list, width := must.Get(numbers(edges)), edges.shape[n-1]
		per := int64(1)
		if len(s) > 0 {
			per = s[len(s)-1]
		}
		in := must.Get(held(v))
		return &formula{shape: s, exact: true, f: func(i int64, _ []int64) (float64, float64) {
			row := list[:width]
			if n > 1 {
				row = list[i/per*width:][:width]
			}
			return search(row, in.y[i], right), 0
		}}
	})})
	define("bucketize", function{forward: formulaFor(func(k *invocation) Values {
		v, edges := must.Get(held(k.value("input"))), must.Get(numbers(k.tensor("boundaries")))
		right := k.bool("right", false)
		return &formula{shape: v.shape, exact: true, f: func(i int64, _ []int64) (float64, float64) { return search(edges, v.y[i], right), 0 }}
	})})
	define("isin", function{forward: formulaFor(func(k *invocation) Values {
		v, in, invert := must.Get(held(k.value("elements"))), map[float64]bool{}, k.bool("invert", false)
		for _, x := range must.Get(held(k.value("test_elements"))).y {
			in[x] = true
		}
		return &formula{shape: v.shape, exact: true, f: func(i int64, _ []int64) (float64, float64) { return toNumber(in[v.y[i]] != invert), 0 }}
	})})
	// unique sorts; unique_consecutive only joins neighbours. inverse says for each element which value it is.
	define("unique", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		k.unsupported("dim")
		values, to, times := distinct(x, !strings.HasSuffix(k.name, "consecutive"))
		out := []Values{values}
		if k.bool("return_inverse", false) {
			out = append(out, to)
		}
		if k.bool("return_counts", false) {
			out = append(out, times)
		}
		return outputs(out...)
	}})
	// In the order of their first places, as TensorFlow's (array_ops.h).
	register(one(func(c *Call) []Values {
		values, to, times := distinct(c.need("x", 0), true)
		place, y, n := make([]float64, len(values.y)), slices.Clone(values.y), slices.Clone(times.y)
		next := 0
		for i, g := range to.y {
			if at := int(g); n[at] != 0 { // not seen yet
				place[at], n[at] = float64(next), 0
				next++
			}
			to.y[i] = place[int(g)]
		}
		for g, v := range values.y {
			y[int(place[g])], n[int(place[g])] = v, times.y[g]
		}
		return []Values{&dense{shape: values.shape, y: y, exact: true}, to, &dense{shape: times.shape, y: n, exact: true}}
	}), "distinct")
	// start + i/(n−1)·(end − start): kernels count from both ends or multiply by a rounded step, which is within 4
	// units of the larger end. Integers are cut, and may be either neighbour where the bound reaches over.
	spaced := func(form string, of func(k *invocation) func(x num) num) {
		define(form, function{forward: formulaFor(func(k *invocation) Values {
			shape := k.shape()
			lo, hi := k.float("start", 0), k.float("end", 0)
			k.required("start", "end")
			n, run := float64(count(shape)), of(k)
			whole := discrete(k.outType())
			refuseIf(whole && (lo != math.Trunc(lo) || hi != math.Trunc(hi)), Unsupported, "whole numbers between others")
			return &formula{shape: shape, exact: false, f: func(i int64, _ []int64) (float64, float64) {
				x := num{lo, 0}
				if n > 1 {
					x.y = lo + float64(i)/(n-1)*(hi-lo)
				}
				x.b = 4 * k.unit() * (abs(lo) + abs(hi))
				if x = run(x); whole {
					y := math.Trunc(x.y)
					return y, toNumber(math.Trunc(x.y-x.b) != y || math.Trunc(x.y+x.b) != y)
				}
				return x.y, x.b
			}}
		})})
	}
	spaced("linspace", func(k *invocation) func(x num) num { return func(x num) num { return x } })
	spaced("logspace", func(k *invocation) func(x num) num {
		base, a := exactNum(k.float("base", 10)), k.arith()
		return func(x num) num { return a.pow(base, x) }
	})
	define("softmin", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		return k.softmax(formulaOf(func(v []num) num { return minus(v[0]) }, x), k.softmaxAxes(x), false)
	}), backward: func(k *invocation, g []Values) gradients {
		return gradients{"input": func() Values {
			y := k.result(0)
			v := k.softmaxGradient(y, gradient(g, 0), k.softmaxAxes(y), false)
			return formulaOf(func(x []num) num { return minus(x[0]) }, v)
		}}
	}})
	define("eye", function{forward: formulaFor(func(k *invocation) Values {
		shape := k.shape()
		refuseIf(len(shape) != 2, ShapesDiffer, shape)
		return &formula{shape: shape, exact: true, f: func(_ int64, at []int64) (float64, float64) { return toNumber(at[0] == at[1]), 0 }}
	})})
}

// Losses of PyTorch, and their gradients. reduction is mean, sum or none.

// reduction is what becomes of the elements of a loss.
func (k *invocation) lossReduction() string {
	for _, old := range []string{"size_average", "reduce"} {
		refuseIf(k.has(old), Unsupported, old)
	}
	if n, ok := k.args["reduction"].number(); ok && (n == 0 || n == 1 || n == 2) { // as aten has it
		return []string{"none", "mean", "sum"}[int(n)]
	}
	how := k.string("reduction", "mean")
	refuseIf(!slices.Contains([]string{"mean", "sum", "none", "batchmean"}, how), BadArgument, "reduction", how, "mean, sum or none")
	return how
}

// n elements, summed in the accumulator and divided once.
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
	define("nll_loss_forward", function{forward: func(k *invocation) []Reading { // and the weights of its targets together
		c := k.classes(false)
		loss := c.loss()
		var weights Values
		switch c.how {
		case "none":
			weights = scalar(0)
		case "mean":
			weights = &dense{shape: []int64{}, y: []float64{c.over.y}, b: []float64{c.over.b}}
		}
		return outputs(loss, weights)
	}})
	// The logarithms of the probabilities, too.
	define("npu_cross_entropy_loss", function{forward: func(k *invocation) []Reading {
		k.only(0, "lse_square_scale_for_zloss", "return_zloss")
		c := k.classes(true)
		return outputs(k.asRecorded(c.loss(), 0), c.logs, nil, nil)
	}})
	define("npu_cross_entropy_loss_backward", function{forward: formulaFor(func(k *invocation) Values {
		k.only(0, "lse_square_scale_for_zloss")
		return k.classes(true).gradient(k.tensor("grad"), true)
	})})
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

// classes prepares a loss over classes: input is (C) or (N, C, …) and target has its shape without C, or all of it for probabilities.
// With soft the losses are of the logarithm of softmax, which may have been rounded to the input's type before.
func (k *invocation) classes(soft bool) *classes {
	how := k.lossReduction()
	x, t := k.pair("input", "target")
	c := &classes{k: k, shape: x.shape, axis: min(1, len(x.shape)-1), how: how}
	switch n := count(x.shape); {
	case len(x.shape) == 0 || n == 0:
		panic(refusal(ShapesDiffer, shapeText(x.shape, t.shape)))
	case n > maxDense/4: // several numbers are kept of each
		panic(refusal(TooLarge, n, maxDense/4))
	}
	c.n = x.shape[c.axis]
	c.rows = without(x.shape, c.axis)
	moved, _, _ := lastAxes(x, []int{c.axis})
	var logs Values = moved
	if soft && k.name != "npu_cross_entropy_loss_backward" { // which is given them
		f := logSoftmaxRow(k.unit(), k.sumUnit())
		logs = newRows(moved, c.n, func(_ int64, x, e, y, b []float64) { f(x, e, y, b) })
		// They are a tensor of their own, which may have been rounded.
		if p := precisionFor(x.numeric()); p.v > u32 {
			logs = &rounded{logs, p}
		}
	}
	c.logs = must.Get(held(logs))
	c.targets(t, soft)
	return c
}

// targets makes q and what a mean divides by.
// A target equal to ignore_index has q = 0 and no part in the mean; one outside of the classes is refused. keep and
// even are 1−ε and ε/C as the kernel rounds them, with 2 units for the two operations.
func (c *classes) targets(t *operand, soft bool) {
	k, a := c.k, c.k.arith()
	weight := make([]float64, c.n)
	for i := range weight {
		weight[i] = 1
	}
	w := k.optional("weight")
	if w != nil {
		refuseIf(count(w.shape) != c.n, ShapesDiffer, c.shape, w.shape)
		weight = must.Get(numbers(w))
	}
	smoothing := 0.0
	if soft {
		smoothing = k.float("label_smoothing", 0)
	}
	ignored := k.int("ignore_index", -100)
	list := must.Get(numbers(t))
	rows := count(c.rows)
	c.q = make([]num, rows*c.n)
	sum, terms := 0.0, 0.0
	keep, even := k.rounding(1-smoothing), k.rounding(smoothing/float64(c.n))
	keep.b += 2 * u32 * abs(keep.y)
	even.b += 2 * u32 * abs(even.y)
	probabilities := slices.Equal(t.shape, c.shape) && !discrete(t.typ)
	if probabilities {
		moved, _, _ := lastAxes(t, []int{c.axis})
		list = must.Get(numbers(moved))
	} else if int64(len(list)) != rows || !discrete(t.typ) {
		panic(refusal(ShapesDiffer, shapeText(c.shape, t.shape)))
	}
	for r := range rows {
		at := int64(-1)
		if !probabilities {
			if at = int64(list[r]); at == ignored {
				continue
			}
			if at < 0 || at >= c.n {
				panic(refusal(BadArgument, "target", at, "below "+itoa(int(c.n))))
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
// Classes of weight 0 are left out: 0·log p is 0 also where p is 0.
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

// A mean divides the sum over all rows once.
func (c *classes) loss() Values {
	rows := count(c.rows)
	all := make([]num, rows)
	for r := range all {
		all[r] = c.element(int64(r))
	}
	if c.perElement {
		v := bounded(c.rows...)
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
	d := must.Get(held(g))
	rows := count(c.rows)
	n := int64(len(d.y))
	refuseIf(n != 1 && n != rows, ShapesDiffer, shapeText(c.shape, g.Shape()))
	v := bounded(append(slices.Clone(c.rows), c.n)...)
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

// distinct are the numbers of x that differ, in order where sorted, else from one run of equal ones to the next; which of them each is, and
// how often each is there.
func distinct(x *operand, sorted bool) (values, to, times *dense) {
	list := must.Get(numbers(x))
	order := inOrder(len(list))
	if sorted {
		sortBy(order, list, 1)
	}
	var different, often []float64
	which := make([]float64, len(list))
	for i, p := range order {
		if i == 0 || list[p] != list[order[i-1]] {
			different, often = append(different, list[p]), append(often, 0)
		}
		often[len(often)-1]++
		which[p] = float64(len(different) - 1)
	}
	one := func(y []float64) *dense { return &dense{shape: []int64{int64(len(y))}, y: y, exact: true} }
	return one(different), &dense{shape: x.shape, y: which, exact: true}, one(often)
}
