package oracle

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"precision/internal/must"
)

// Kernels that are formulas and sums of products, which their rows say step by step.

// bySteps makes the outputs of a row of steps, each a name (a number for an output), = and one of
//
//	a*b+c               a formula of what was given or made before
//	.md,nd->.mn(x,w)    sums of products by the labels of axes, a dot being all in front
//	softmax:x           a function of [madeBy]
//
// What is made under a name?given is made where that was given, or under name!given where it was not; @name=number says what an argument
// has to be. Arguments that no step takes are
// refused, but for 0.
func (k *invocation) bySteps(steps []string) []Reading {
	made, out, used := map[string]Values{}, make([]Values, len(k.outs)), map[string]bool{}
	of := func(list string) (in []Values) {
		for _, name := range strings.Split(list, ",") {
			used[name] = true
			switch v := made[name]; {
			case v != nil:
				in = append(in, v)
			case k.args[name].tensor():
				in = append(in, k.tensor(name))
			default:
				k.required(name)
				in = append(in, k.constant(k.float(name, 0)))
			}
		}
		return in
	}
	for _, step := range steps {
		name, text, _ := strings.Cut(step, "=")
		if name[0] == '@' { // is this number or refused
			k.only(must.Get(strconv.ParseFloat(text, 64)), name[1:])
			used[name[1:]] = true
			continue
		}
		if at := strings.IndexAny(name, "?!"); at > 0 {
			if used[name[at+1:]] = true; k.has(name[at+1:]) != (name[at] == '?') {
				for _, other := range namesIn(text) {
					used[other] = true
				}
				continue
			}
			name = name[:at]
		}
		if labels, rest, ok := strings.Cut(text, "->"); ok {
			to, list, _ := strings.Cut(strings.TrimSuffix(rest, ")"), "(")
			made[name] = k.labelled(strings.Split(labels, ","), to, of(list)...)
		} else if how, list, ok := strings.Cut(text, ":"); ok {
			made[name] = madeBy[how](k, of(list))
		} else {
			names := strings.Join(namesIn(text), ",")
			made[name] = k.computed(names+")="+text, of(names)...)
		}
		if i := int(name[0] - '0'); i >= 0 && i < len(out) && k.outs[i] != nil {
			out[i] = k.asRecorded(made[name], i)
		}
	}
	for name, a := range k.args {
		if x, ok := a.number(); !used[name] && !a.none() && !(ok && x == 0) {
			panic(refusal(Unsupported, k.shown(name)))
		}
	}
	return []Reading{{Out: out}}
}

// madeBy are functions of steps, most of them along the last axis.
var madeBy = map[string]func(k *invocation, in []Values) Values{
	"kept":    func(k *invocation, in []Values) Values { return &rounded{in[0], precisionFor(leaf(in[1]).numeric())} }, // as it may be rounded to the type of another
	"softmax": func(k *invocation, in []Values) Values { return k.softmax(in[0], lastOne(in[0]), false) },
	"first":   func(k *invocation, in []Values) Values { a, _ := k.halved(in[0], lastOne(in[0])[0], true); return a },
	"second":  func(k *invocation, in []Values) Values { _, b := k.halved(in[0], lastOne(in[0])[0], true); return b },
	"join":    func(k *invocation, in []Values) Values { return joined(lastOne(in[0])[0], in...) },
	"taken":   func(k *invocation, in []Values) Values { return takenAlong(in[0], in[1], lastOne(in[1])[0]) },
	"like":    func(k *invocation, in []Values) Values { return sized(in[0], in[1].Shape()) },
	// what is put in places of rows that are as long as those of another and 0 elsewhere
	"put": func(k *invocation, in []Values) Values {
		at, v, s := must.Get(numbers(in[1])), must.Get(held(in[0])), in[2].Shape()
		per, n := in[1].Shape()[lastOne(in[1])[0]], s[lastOne(in[2])[0]]
		refuseIf(len(at) != len(v.y) || int64(len(at)) != count(s)/max(n, 1)*per, ShapesDiffer, v.shape, in[1].Shape(), s)
		d := &dense{shape: s, y: make([]float64, count(s)), b: make([]float64, count(s))}
		for i, p := range at {
			refuseIf(p < 0 || p >= float64(n), OutsideCache, "indices", p, n)
			to := int64(i)/per*n + int64(p)
			if d.y[to] += v.y[i]; v.b != nil {
				d.b[to] += v.b[i]
			}
		}
		return d
	},
}

// lastOne is the last axis, which there has to be.
func lastOne(v Values) []int {
	n := len(v.Shape())
	refuseIf(n == 0, ShapesDiffer, v.Shape())
	return []int{n - 1}
}

// namesIn are the names of numbers in a formula.
func namesIn(text string) (names []string) {
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' }
	seen := map[string]bool{"": true, "inf": true}
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && word(rune(text[end])) {
			end++
		}
		if name := text[at:end]; !seen[name] && !unicode.IsDigit(rune(name[0])) && (end == len(text) || text[end] != '(') {
			seen[name], names = true, append(names, name)
		}
		at = end + 1
	}
	return names
}

// labelled are sums of products by the labels of axes; a 1 of the result is an axis of one.
func (k *invocation) labelled(labels []string, to string, in ...Values) Values {
	lead := 0
	for i, x := range in {
		if rest, ok := strings.CutPrefix(labels[i], "."); ok {
			refuseIf(len(x.Shape()) < len(rest), ShapesDiffer, x.Shape())
			lead = max(lead, len(x.Shape())-len(rest))
		}
	}
	refuseIf(lead > 8, ShapesDiffer, in[0].Shape())
	front := "ABCDEFGH"[:lead]
	wide := strings.Replace(to, ".", front, 1)
	plain := strings.ReplaceAll(wide, "1", "")
	for i, x := range in {
		if rest, ok := strings.CutPrefix(labels[i], "."); ok {
			labels[i] = front[lead-(len(x.Shape())-len(rest)):] + rest
		}
	}
	v := k.asProduct(labels, plain, in)
	if v == nil {
		v = k.newContraction(labels, plain, in...)
	}
	shape, at := []int64{}, 0
	for _, l := range wide {
		n := int64(1)
		if l != '1' {
			n, at = v.Shape()[at], at+1
		}
		shape = append(shape, n)
	}
	return reshape(v, shape)
}

// asProduct is a product of matrices, those of either side turned where they have to be; nil where it is something else.
func (k *invocation) asProduct(labels []string, to string, in []Values) Values {
	if len(in) != 2 || len(to) < 2 || len(labels[0]) < 2 || len(labels[1]) < 2 {
		return nil
	}
	split := func(s string) (front, row, column string) { n := len(s); return s[:n-2], s[n-2 : n-1], s[n-1:] }
	front, m, n := split(to)
	fa, a0, a1 := split(labels[0])
	fb, b0, b1 := split(labels[1])
	turnA, turnB := a1 == m, b0 == n
	if turnA {
		a0, a1 = a1, a0
	}
	if turnB {
		b0, b1 = b1, b0
	}
	if a0 != m || b1 != n || a1 != b0 || !strings.HasSuffix(front, fa) || !strings.HasSuffix(front, fb) || fa != front && fb != front {
		return nil
	}
	return k.product(turned(in[0], turnA), turned(in[1], turnB))
}

func stepForms() {
	// What a dropout by a mask and a softmax give back to the two that were added up: the second gets what comes in (op-plugin
	// DropoutWithAddSoftmaxKernelNpu).
	define("npu_dropout_with_add_softmax_backward", function{forward: func(k *invocation) (out []Reading) {
		y, d := k.pair("softmax_out", "grad")
		p, axes := k.float("prob", 0), k.axes("dim", len(y.shape))
		kept := []Reading{{Out: []Values{d}}}
		if p != 0 {
			kept = forms["masked_dropout"].forward(k.with(map[string]*argument{"input": k.args["grad"], "p": k.args["prob"]}))
		}
		for _, r := range kept {
			v := k.computed("g,a)=g*a", k.softmaxGradient(y, k.between(r.Out[0]), axes, false), scalar(k.float("alpha", 1)))
			out = append(out, Reading{Name: r.Name, Out: []Values{v, d}})
		}
		return out
	}})
	define("npu_batch_gather_matmul", function{forward: formulaFor(gatheredProduct)})
	define("npu_fused_causal_conv1d", function{mends: []string{"conv_states"}, forward: func(k *invocation) []Reading { return []Reading{{Out: stateConv(k)}} }})
	define("npu_fused_causal_conv1d_v2", function{mends: []string{"x", "conv_states"}, forward: func(k *invocation) []Reading { return []Reading{{Out: stateConv(k)}} }})
	define("npu_fused_linear_online_max_sum", function{forward: onlineMaxSum})
	define("npu_fused_linear_cross_entropy_loss_with_max_sum_backward", function{forward: maxSumBackward})
	define("npu_mhc_pre_backward", function{forward: readStreamsBackward})
}

// gatheredProduct adds the product of each row with matrices of its own, a pair or the second alone, times a number, to some columns of it
// (ops-nn's aclnnAddLora, test of npu_batch_gather_matmul).
func gatheredProduct(k *invocation) Values {
	y, x := k.pair("input", "x")
	at, layer := k.ints("indices"), k.int("layer_idx", 0)
	refuseIf(len(y.shape) != 2 || len(x.shape) != 2 || len(at) == 0 || int64(len(at)) != y.shape[0] || x.shape[0] != y.shape[0], ShapesDiffer, y.shape, x.shape)
	pick := func(name string) Values { // (rows, out, in)
		w := k.tensor(name)
		refuseIf(len(w.shape) != 4 || layer < 0 || layer >= w.shape[1], ShapesDiffer, w.shape)
		for _, i := range at {
			refuseIf(i < 0 || i >= w.shape[0], OutsideCache, "indices", i, w.shape[0])
		}
		v := reshape(slab1(w, 1, layer, 1), []int64{w.shape[0], w.shape[2] * w.shape[3]})
		return reshape(rowsOf(v, at, 1), []int64{int64(len(at)), w.shape[2], w.shape[3]})
	}
	var v Values = x
	if k.has("weight_a") {
		v = k.between(k.newContraction([]string{"bh", "brh"}, "br", v, pick("weight_a")))
	}
	v = k.newContraction([]string{"br", "bor"}, "bo", v, pick("weight_b"))
	from, n := k.int("y_offset", 0), k.int("y_slice_size", -1)
	if n < 0 {
		n = y.shape[1]
	}
	refuseIf(!within(from, 0, y.shape[1]) || from+n > y.shape[1] || n != v.Shape()[1], ShapesDiffer, y.shape, v.Shape())
	sum := k.computed("y,v,s)=y+v*s", slab1(y, 1, from, n), v, scalar(k.float("scale", 1e-3)))
	return joined(1, slab1(y, 1, 0, from), sum, slab1(y, 1, from+n, y.shape[1]-from-n))
}

// stateConv convolves each channel of sequences with what a cache holds of their last tokens in front, which it then has of these
// (documentation of npu_fused_causal_conv1d).
func stateConv(k *invocation) []Values {
	k.unsupported("block_idx_first_scheduled_token", "block_idx_last_scheduled_token", "initial_state_idx")
	refuseIf(k.string("conv_mode", "default") != "default", Unsupported, "conv_mode")
	x, w := k.pair("x", "weight")
	states, r := k.tensor("conv_states"), len(x.shape)
	refuseIf(r < 2 || r > 3 || len(w.shape) != 2 || len(states.shape) != 3 || w.shape[0] < 1 || w.shape[1] != x.shape[r-1] || states.shape[2] != w.shape[1] || states.shape[1] < w.shape[0]-1, ShapesDiffer, x.shape, w.shape, states.shape)
	n, width, size := w.shape[1], w.shape[0], states.shape[1]
	starts := k.ints("query_start_loc")
	if starts == nil {
		refuseIf(r != 3, NoArgument, "query_start_loc")
		for b := range x.shape[0] + 1 {
			starts = append(starts, b*x.shape[1])
		}
	}
	batches := max(len(starts)-1, 0)
	list := func(name string) []int64 {
		v := k.ints(name)
		refuseIf(v != nil && len(v) < batches, ShapesDiffer, starts, v)
		return v
	}
	lines, accepted, computed := list("cache_indices"), list("num_accepted_tokens"), list("num_computed_tokens")
	d, old, f, a := must.Get(held(x)), must.Get(held(states)), must.Get(held(w)), k.arith()
	refuseIf(int64(len(d.y)) > maxDense/4, TooLarge, len(d.y), maxDense/4)
	y := &dense{shape: x.shape, y: make([]float64, len(d.y)), b: slices.Repeat([]float64{math.Inf(1)}, len(d.y))}
	left := &dense{shape: states.shape, y: slices.Clone(old.y), exact: true}
	for b := range batches {
		from, to, line := starts[b], starts[b+1], int64(b)
		if lines != nil {
			line = lines[b]
		}
		if line == k.int("pad_slot_id", -1) {
			continue
		}
		refuseIf(from < 0 || to < from || to*n > int64(len(d.y)), BadArgument, "query_start_loc", starts, "tokens in order")
		refuseIf(line < 0 || line >= states.shape[0], OutsideCache, "cache_indices", line, states.shape[0])
		skip := size - (width - 1)
		if accepted != nil {
			skip = accepted[b] - 1
		}
		front := make([]float64, (width-1)*n)
		if computed != nil && computed[b] == 0 {
			skip = 0
		} else {
			refuseIf(skip < 0 || skip+width-1 > size, BadArgument, "num_accepted_tokens", skip+1, "tokens of the cache")
			front = old.y[line*size*n:][:(skip+width-1)*n]
		}
		all := slices.Concat(front, d.y[from*n:to*n])
		keep := min(size*n, int64(len(all)))
		copy(left.y[(line+1)*size*n-keep:], all[int64(len(all))-keep:])
		all = all[skip*n:]
		for i := range (to - from) * n {
			terms := make([]num, 0, width+1)
			for j := range width {
				terms = append(terms, a.mul(exactNum(all[i+j*n]), exactNum(f.y[j*n+i%n])))
			}
			if k.int("residual_connection", 0) != 0 {
				terms = append(terms, exactNum(d.y[from*n+i]))
			}
			s := total(terms, k.sumUnit())
			y.y[from*n+i], y.b[from*n+i] = s.y, s.b
		}
	}
	return []Values{k.between(y), left}
}

// bitsOf are the bits of bytes as numbers, the first of each byte being its highest or its lowest.
func bitsOf(o *operand, n int64, high bool) *dense {
	bytes := must.Get(numbers(o))
	refuseIf(int64(len(bytes))*8 < n, ShapesDiffer, o.shape, []int64{n})
	d := &dense{shape: []int64{n, 1}, y: make([]float64, n), exact: true}
	for i := range d.y {
		at := i % 8
		if high {
			at = 7 - at
		}
		d.y[i] = float64(int64(bytes[i/8]) >> at & 1)
	}
	return d
}

// onlineMaxSum: of the logits of a rank's part of a vocabulary the largest of each row, Σ e^(logit - largest), what the target has beside
// the largest, or 0 where it is another rank's, a bit for that, and its place here (documentation of op-plugin).
func onlineMaxSum(k *invocation) []Reading {
	x, w := k.pair("input", "weight")
	refuseIf(len(x.shape) != 2 || len(w.shape) != 2, ShapesDiffer, x.shape, w.shape)
	lo, hi, to := k.int("vocab_start_index", 0), k.int("vocab_end_index", 0), k.ints("target")
	rows, n := x.shape[0], w.shape[0]
	refuseIf(int64(len(to)) != rows || n == 0, ShapesDiffer, x.shape, []int64{int64(len(to))})
	logits := &rounded{k.product(x, turned(w, true)), precisionFor(x.numeric())}
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

// maxSumBackward are the gradients of its factors: softmax less 1 at the target, if that is of this rank, times the gradient.
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
		v := must.Get(held(&rounded{s, precisionFor(x.numeric())}))
		out = append(out, Reading{Name: []string{"high-bit-first", "low-bit-first"}[len(out)], Out: []Values{k.product(v, w), k.product(turned(v, true), x)}})
	}
	return out
}

// readStreamsBackward are the gradients of npu_mhc_pre by what it kept (test of op-plugin, where all is float32).
func readStreamsBackward(k *invocation) []Reading {
	x, phi := k.tensor("x"), k.tensor("phi")
	r := len(x.shape)
	refuseIf(r < 3 || len(phi.shape) != 2, ShapesDiffer, x.shape, phi.shape)
	n, d := x.shape[r-2], x.shape[r-1]
	rows, wide := count(x.shape[:r-2]), n*d
	refuseIf(phi.shape[0] != n*n+2*n || phi.shape[1] != wide, ShapesDiffer, x.shape, phi.shape)
	as := func(name string, shape ...int64) Values {
		return sized(k.tensor(name), append([]int64{rows}, shape...))
	}
	flat, dr := reshape(x, []int64{rows, wide}), as("grad_h_res", n*n)
	cube := reshape(x, []int64{rows, n, d})
	in, root, mix, pre, alpha := as("grad_h_in", d), as("inv_rms", 1), as("h_mix", n*n+2*n), as("h_pre", n), k.tensor("alpha")
	refuseIf(count(alpha.shape) != 3, ShapesDiffer, alpha.shape)
	p := k.computed("g,h,e)=g*(h-e)*(1-h+e)", k.newContraction([]string{"rd", "rnd"}, "rn", in, cube), pre, scalar(k.float("hc_eps", 1e-6)))
	q := k.computed("g,h)=g*h*(1-h/2)", as("grad_h_post", n), as("h_post", n))
	before := joined(1, p, q, dr) // of what alpha multiplied
	by := make([]int64, 0, n*n+2*n)
	for i := range n*n + 2*n {
		by = append(by, min(i/n, 2))
	}
	at := picksOf(reshape(alpha, []int64{1, 3}), 1, floats(by))
	after := k.computed("g,a)=g*a", before, at)
	mixed := must.Get(held(k.computed("g,r)=g*r", after, root)))
	weighed := flat
	if k.has("gamma") {
		weighed = k.computed("x,g)=x*g", flat, sized(k.tensor("gamma"), []int64{1, wide}))
	}
	back := must.Get(held(k.product(mixed, phi)))
	share := k.computed("s,r)=s*r*r*r", k.newContraction([]string{"rm", "rm"}, "r", after, mix), reshape(root, []int64{rows}))
	dx := k.computed("g,s,n,x)=g-s/n*x", back, reshape(share, []int64{rows, 1}), scalar(float64(wide)), flat)
	if k.has("gamma") {
		dx = k.computed("g,w,s,n,x)=g*w-s/n*x", back, sized(k.tensor("gamma"), []int64{1, wide}), reshape(share, []int64{rows, 1}), scalar(float64(wide)), flat)
	}
	dx = k.computed("a,h,g)=a+h*g", reshape(dx, []int64{rows, n, d}), reshape(pre, []int64{rows, n, 1}), reshape(in, []int64{rows, 1, d}))
	if k.has("grad_x_post") {
		dx = k.computed("a,g)=a+g", dx, as("grad_x_post", n, d))
	}
	sums := k.newContraction([]string{"rm", "rm", "r"}, "m", before, mix, reshape(root, []int64{rows}))
	groups := &formula{shape: []int64{3, n*n + 2*n}, exact: true, f: func(_ int64, at []int64) (float64, float64) { return toNumber(by[at[1]] == at[0]), 0 }}
	out := []Values{dx, k.product(turned(mixed, true), weighed), k.newContraction([]string{"am", "m"}, "a", groups, sums), k.newContraction([]string{"rm"}, "m", before), nil}
	if k.has("gamma") {
		out[4] = k.newContraction([]string{"rw", "rw"}, "w", flat, back)
	}
	for i, v := range out {
		if _, ok := k.out(i); ok && v != nil {
			out[i] = k.asRecorded(v, i)
		} else {
			out[i] = nil
		}
	}
	return []Reading{{Out: out}}
}

func floats(list []int64) (out []float64) {
	for _, n := range list {
		out = append(out, float64(n))
	}
	return out
}
