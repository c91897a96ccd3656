package oracle

import (
	"math"
	"slices"
	"strings"

	"precision/dump/dtype"
	catalogue "precision/op"
)

// Distances of vectors and boxes, and losses.
//
// Distances and the losses that are made of them are programs of a tape
// (torch.nn.functional.cosine_similarity, pairwise_distance, triplet_margin_loss and their kin): ε
// stands where PyTorch has it, under a root, beside it, or in each difference, which is where
// implementations differ.
//
// Losses over classes, cross entropy and nll_loss, are a type of their own, [classes], as their
// tensors are large: rows of logits, of which only the target's logarithm and a sum are needed.
// npu_cross_entropy_loss and the halves of a cross entropy over a vocabulary that ranks share
// (op-plugin) are made of the same parts.
//
// Overlaps of boxes are one formula in the sides of both, from which value and gradients follow
// ([boxes]). Zheng et al., Distance-IoU Loss, 2020, has the terms of diou and ciou, Rezatofighi et
// al., Generalized Intersection over Union, 2019, those of giou; which ε is added where follows
// op-plugin's documentation and tests.

// defineDistances: x and z are rows of an axis, of n numbers each; a p-norm is [tape.length].
func defineDistances() {
	// x·z / (max(‖x‖, eps)·max(‖z‖, eps)): each norm has the floor, not the product of both.
	program("cosine_similarity", []string{"x1", "x2"}, func(t *tape) []*dense {
		return []*dense{t.rowsOfTwo("x1", "x2", 1, func(x, z []float64) float64 { return t.cosine(x, z, t.factor("eps", 1e-8)) })}
	})
	// ‖x₁ − x₂ + eps‖_p along the last axis (torch.nn.functional.pairwise_distance), 1e-6 being the
	// ε that PyTorch has.
	program("pairwise_distance", []string{"x1", "x2"}, func(t *tape) []*dense {
		return []*dense{t.rowsOfTwo("x1", "x2", -1, func(x, z []float64) float64 {
			return t.apart(x, z, t.float("p", 2), t.factor("eps", 1e-6))
		})}
	})
	// torch.dist: the p-norm of all of input − other, one number.
	program("dist", []string{"input", "other"}, func(t *tape) []*dense {
		d := t.each("x,z)=x-z", t.in("input"), t.in("other"))
		return []*dense{t.single(t.length(d.y, t.float("p", 2)))}
	})
	between := func(t *tape, x, z []float64) float64 { return t.apart(x, z, t.float("p", 2), t.Number(0)) }
	// (…, P, M) and (…, R, M) give (…, P, R). Where PyTorch computes ‖x‖² + ‖z‖² − 2·x·z, with more
	// than 25 points or on demand, what cancels there has no bound that is of use, and the call is
	// refused.
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
	// (a × b)_i = a_{i+1}·b_{i+2} − a_{i+2}·b_{i+1}, indices modulo 3.
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
	// torch.addr: beta·input + alpha·(vec1 ⊗ vec2).
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
	// 1 − cos for a target of 1, max(cos − margin, 0) for −1. Here eps stands within the root,
	// added to each sum of squares, and is 1e-12 whatever cosine_similarity has (EPSILON in ATen's
	// Loss.cpp).
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
	// Σ over the other classes of max(margin − x_y + x_i, 0)^p · w_y, divided by the number of all
	// classes.
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
	// −w·(y·log σ(x) + (1−y)·log(1−σ(x))), its mean over the classes first; softplus(∓x) says both
	// logarithms without overflow.
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

// classRows gives a number for each row of the input and its targets. The input is (N, C) or (C),
// the targets N rows of one or of C numbers; of (C) a number without axes comes out.
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

// apart is the p-norm of x - z + eps. eps is added to each difference before its magnitude is
// taken, as torch.nn.functional.pairwise_distance does.
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

// boxForms: how much boxes have of each other, and what detectors make of them (documentation and
// tests of op-plugin).
func boxForms() {
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
	// Boxes (N, 4) are moved by deltas, scaled by stds and shifted by means, with sides that count
	// both ends (hence + 1 and ± 0.5); changes of size are clipped to |log wh_ratio_clip|, corners
	// to the image of max_shape (height, width).
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
			refuseIf(slices.ContainsFunc(numbers(k.tensor("weight")), func(w float64) bool { return w != 1 }), Unsupported, "weight")
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
	// The centre within its cell, clipped to 1e-6 … 1 − 1e-6, and the logarithm of the ratio of
	// sides.
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
	// A cell of the map is set, for each of its anchors, where a centre of a box falls into it.
	// Where rounding of the centre, 4 units in the last place, may put it into a neighbour, all
	// that it may be in are in doubt and may be 0 or 1.
	define("npu_anchor_response_flags", function{forward: formulaFor(func(k *invocation) Values {
		boxes, size, stride, n := k.tensor("input"), k.each("featmap_size", 2, 0), k.each("stride", 2, 0), k.count("num_base_anchors")
		refuseIf(len(boxes.shape) != 2 || boxes.shape[1] != 4 || !within(size[0], 1, 1<<16) || !within(size[1], 1, 1<<16) || stride[0] == 0 || stride[1] == 0, ShapesDiffer, boxes.shape, size, stride)
		shape := []int64{size[0] * size[1] * n}
		refuseIf(shape[0] > maxDense || !slices.Equal(k.shape(), shape), ShapeComputed, shape, k.shape())
		x, u := held(boxes).y, precisionFor(boxes.numeric()).v
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

// boxes is a formula of the sides a, b, c, d and e, f, g, h of two boxes, a small t and z: of what
// both have (i), either has (u) and lies around them (o), how far they are apart (p) and how
// different their shapes are (v). Those with corners alone have no t in their sides.
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

// corners are the sides of boxes (4, N): left, top, right, bottom; or what is given are the
// centres, widths and heights.
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

// lossGradients are those of a formula whose elements are reduced: of its operands, and of the
// elements, for a recorder that looks at the last step.
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
	// A cross entropy over a vocabulary that is split among ranks: each computes its logits x·wᵀ
	// and what the others need of them (op-plugin). The backward has the softmax, or makes it again
	// from the maxima and sums of all ranks.
	define("npu_fused_linear_online_max_sum", function{forward: onlineMaxSum})
	define("npu_fused_linear_cross_entropy_loss_with_max_sum_backward", function{forward: maxSumBackward})
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
	// It is given the logarithms of the probabilities in place of the scores, so that no softmax is
	// computed again.
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
	logs       Values  // log p, classes last
	how        string
	over       num
	perElement bool

	weigh func(row int64) // makes q of a row
	q     []num
}

// classes prepares a loss over classes: input is (C) or (N, C, …) and target has its shape without
// C, or all of it for probabilities. With soft the losses are of the logarithm of softmax, which
// may have been rounded to the input's type before.
func (k *invocation) classes(soft bool) *classes {
	how := k.lossReduction()
	x, t := k.pair("input", "target")
	c := &classes{k: k, shape: x.shape, axis: min(1, len(x.shape)-1), how: how}
	switch n := count(x.shape); {
	case len(x.shape) == 0 || n == 0:
		panic(refusal(ShapesDiffer, shapeText(x.shape, t.shape)))
	case n > mostMultiplied/4: // an exponential and some products each
		panic(refusal(TooLarge, n, int64(mostMultiplied/4)))
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
	c.logs = logs
	c.targets(t, soft)
	return c
}

// targets makes q and what a mean divides by. A target equal to ignore_index has q = 0 and no part
// in the mean; one outside of the classes is refused. keep and even are 1−ε and ε/C as the kernel
// rounds them, with 2 units for the two operations.
func (c *classes) targets(t *operand, soft bool) {
	k, a := c.k, c.k.arith()
	weight := make([]float64, c.n)
	for i := range weight {
		weight[i] = 1
	}
	w := k.optional("weight")
	if w != nil {
		refuseIf(count(w.shape) != c.n, ShapesDiffer, c.shape, w.shape)
		weight = numbers(w)
	}
	smoothing := 0.0
	if soft {
		smoothing = k.float("label_smoothing", 0)
	}
	ignored := k.int("ignore_index", -100)
	list := numbers(t)
	rows := count(c.rows)
	c.q = make([]num, c.n)
	sum, terms := 0.0, 0.0
	keep, even := k.rounding(1-smoothing), k.rounding(smoothing/float64(c.n))
	keep.b += 2 * u32 * abs(keep.y)
	even.b += 2 * u32 * abs(even.y)
	probabilities := slices.Equal(t.shape, c.shape) && !discrete(t.typ)
	if probabilities {
		moved, _, _ := lastAxes(t, []int{c.axis})
		list = numbers(moved)
	} else if int64(len(list)) != rows || !discrete(t.typ) {
		panic(refusal(ShapesDiffer, shapeText(c.shape, t.shape)))
	}
	for r := int64(0); r < rows && !probabilities; r++ {
		at := int64(list[r])
		if at == ignored {
			continue
		}
		if at < 0 || at >= c.n {
			panic(refusal(BadArgument, "target", at, "below "+itoa(int(c.n))))
		}
		sum += weight[at]
		terms++
	}
	c.weigh = func(r int64) {
		for i := range c.n {
			var p float64
			switch {
			case probabilities:
				p = list[r*c.n+i]
			case int64(list[r]) == ignored:
				c.q[i] = num{}
				continue
			default:
				p = toNumber(i == int64(list[r]))
			}
			q := a.mul(exactNum(p), exactNum(weight[i]))
			if smoothing != 0 {
				q = a.add(a.mul(keep, q), a.mul(even, exactNum(weight[i])))
			}
			c.q[i] = q
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

// element is the loss of a row with the logarithms y, which are off by b. Classes of weight 0 are
// left out: 0·log p is 0 also where p is 0.
func (c *classes) element(r int64, y, b []float64) num {
	a := c.k.arith()
	c.weigh(r)
	var terms []num
	for i, q := range c.q {
		if q.y != 0 || q.b != 0 {
			terms = append(terms, a.mul(q, minus(num{y[i], b[i]})))
		}
	}
	return total(terms, c.k.sumUnit())
}

// A mean divides the sum over all rows once.
func (c *classes) loss() Values {
	rows := count(c.rows)
	all := make([]num, rows)
	y, b := make([]float64, c.n), make([]float64, c.n)
	for r := range all {
		c.logs.Range(int64(r)*c.n, y, b)
		all[r] = c.element(int64(r), y, b)
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
	d := held(g)
	rows := count(c.rows)
	n := int64(len(d.y))
	refuseIf(n != 1 && n != rows, ShapesDiffer, shapeText(c.shape, g.Shape()))
	v := newRows(reshape(c.logs, append(slices.Clone(c.rows), c.n)), c.n, func(r int64, x, e, y, b []float64) {
		at := exactNum(d.y[min(r, n-1)])
		if c.how == "mean" {
			at = a.div(at, c.over)
		}
		c.weigh(r)
		sum := total(c.q, c.k.sumUnit())
		for i, q := range c.q {
			z := minus(q)
			if soft {
				p := math.Exp(x[i])
				z = a.sub(a.mul(num{p, 1.1 * p * (e[i] + a.ulps)}, sum), q)
			}
			z = a.mul(z, at)
			// Products with g one by one.
			z.b += 4 * a.u * abs(at.y) * (abs(q.y) + abs(sum.y))
			y[i], b[i] = z.y, z.b
		}
	})
	kept := slices.Delete(inOrder(len(c.shape)), c.axis, c.axis+1)
	return backAxes(v, len(c.shape), kept, []int{c.axis})
}

// onlineMaxSum: of the logits of a rank's part of a vocabulary the largest of each row, Σ e^(logit
// - largest), what the target has beside the largest, or 0 where it is another rank's, a bit for
// that, and its place here (documentation of op-plugin).
func onlineMaxSum(k *invocation) []Reading {
	x, w := k.pair("input", "weight")
	refuseIf(len(x.shape) != 2 || len(w.shape) != 2, ShapesDiffer, x.shape, w.shape)
	lo, hi, to := k.int("vocab_start_index", 0), k.int("vocab_end_index", 0), k.ints("target")
	rows, n := x.shape[0], w.shape[0]
	refuseIf(int64(len(to)) != rows || n == 0, ShapesDiffer, x.shape, []int64{int64(len(to))})
	var logits Values = &rounded{k.product(x, turned(w, true)), precisionFor(x.numeric())}
	if rows*n <= maxDense {
		logits = held(logits) // four outputs ask for them
	}
	most := func(x, e []float64) (float64, float64) { return slices.Max(x), slices.Max(e) }
	per := func(f func(x, e []float64) (float64, float64)) Values {
		return &reduced{shape: []int64{rows}, in: logits, n: n, f: f}
	}
	sum := per(func(x, e []float64) (y, b float64) {
		m, off := most(x, e)
		for i, v := range x {
			t := math.Exp(v - m)
			y, b = y+t, b+t*(math.Expm1(e[i]+off)+k.ulps())
		}
		return y, b + gamma(float64(n)+1, k.sumUnit())*y
	})
	mask, place := make([]float64, (rows+7)/8*8), make([]int64, rows)
	for i := range mask {
		if mask[i] = 1; int64(i) < rows {
			if mask[i] = toNumber(to[i] < lo || to[i] > hi); mask[i] == 0 {
				place[i] = to[i] - lo
				refuseIf(place[i] >= n, OutsideCache, "target", to[i], lo+n)
			}
		}
	}
	hit := newRows(logits, n, func(r int64, x, e, y, b []float64) { // in the first column
		clear(y)
		if m, off := most(x, e); mask[r] == 0 {
			y[0], b[0] = x[place[r]]-m, e[place[r]]+off+k.unit()*(abs(x[place[r]])+abs(m))
		}
	})
	bytes := func(high bool) Values {
		out := make([]int64, len(mask)/8)
		for i, bit := range mask {
			at := i % 8
			if high {
				at = 7 - at
			}
			out[i/8] |= int64(bit) << at
		}
		return wholes(out, []int64{int64(len(out))})
	}
	var all Values = logits
	if !k.bool("return_logits", false) {
		all = nil
	}
	of := func(name string, high bool) Reading {
		return Reading{Name: name, Out: []Values{per(most), sum, reshape(slab1(hit, 1, 0, 1), []int64{rows}), bytes(high), wholes(place, []int64{rows}), all}}
	}
	return []Reading{of("high-bit-first", true), of("low-bit-first", false)}
}

// maxSumBackward are the gradients of its factors: softmax less 1 at the target, if that is of this
// rank, times the gradient.
func maxSumBackward(k *invocation) (out []Reading) {
	k.only(0, "label_smoothing")
	x, w := k.pair("input", "weight")
	place, grad := k.ints("masked_target"), k.tensor("grad")
	refuseIf(len(x.shape) != 2 || len(w.shape) != 2 || int64(len(place)) != x.shape[0] || count(grad.shape) != x.shape[0], ShapesDiffer, x.shape, w.shape, grad.shape)
	column := []int64{x.shape[0], 1}
	p := Values(k.optional("softmax"))
	if !k.has("softmax") {
		k.required("logits_max", "sum_exp_logits")
		p = k.computed("x,m,s)=exp(x-m)/s", k.product(x, turned(w, true)), reshape(k.tensor("logits_max"), column), reshape(k.tensor("sum_exp_logits"), column))
	}
	refuseIf(count(p.Shape()) != x.shape[0]*w.shape[0], ShapesDiffer, p.Shape(), w.shape)
	hot := &formula{shape: []int64{x.shape[0], w.shape[0]}, exact: true, f: func(_ int64, at []int64) (float64, float64) {
		return toNumber(place[at[0]] == at[1]), 0
	}}
	for _, high := range []bool{true, false} {
		s := k.computed("p,h,m,g)=(p-h*(1-m))*g", reshape(p, hot.shape), hot, bitsOf(k.tensor("target_mask"), x.shape[0], high), reshape(grad, column))
		v := held(&rounded{s, precisionFor(x.numeric())})
		out = append(out, Reading{Name: []string{"high-bit-first", "low-bit-first"}[len(out)], Out: []Values{k.product(v, w), k.product(turned(v, true), x)}})
	}
	return out
}
