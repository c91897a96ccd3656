package oracle

import (
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"precision/dump"
	"precision/graph"
	"precision/internal/must"
	catalogue "precision/op"
)

// Reductions along axes: sums and their kin, extremes and where they are, order, and softmax as a
// function of a row. Axes are those that a call names, or all; kernels of GE have them as an
// attribute or as a second input.
//
// Sums are added in float32, whatever the type, in any order, by trees, blocks or vectors: n
// numbers are within g(n + 1)·Σ|x| of their sum, plus what each is off by itself. That holds for
// the worst order and the worst signs; what long sums are off by in practice is far less, which a
// second look asks for ([Call].likely).
//
// Extremes are exact. Of equal elements any may be the one that is told, and of NaN devices make
// what they like, so that a place among equals is open and a row with NaN is, too. Places of sorted
// rows are open where neighbours are equal.

// reducing makes the forward of a reduction over dim, all axes if it is None. A reduction that is
// exact moves numbers; others take the input as it is converted to the accumulator.
func reducing(exact bool, f reducer) func(k *invocation) []Reading {
	return formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		axes, keep := k.reducedAxes(len(x.shape))
		v := Values(x)
		if !exact {
			v = k.converted(x)
		}
		return k.reduction(v, axes, keep, exact, f)
	})
}

// reducedAxes are the axes that dim names, all without, and whether keepdim leaves axes of one.
func (k *invocation) reducedAxes(rank int) (axes []int, keep bool) {
	keep = k.bool("keepdim", false)
	axes = k.axes("dim", rank)
	return axes, keep
}

// spreadBack repeats the gradient of a reduction over what was reduced.
// n is how many elements went into one.
func (k *invocation) spreadBack(g Values) (Values, int64) {
	x := k.tensor("input")
	axes, _ := k.reducedAxes(len(x.shape))
	kept, n := slices.Clone(x.shape), int64(1)
	for _, a := range axes {
		n *= kept[a]
		kept[a] = 1
	}
	refuseIf(count(kept) != count(g.Shape()), ShapesDiffer, x.shape, g.Shape())
	v, _ := broadcast(reshape(g, kept), x.shape)
	return v, n
}

// shared is the backward of a reduction to an extreme: all elements that are the extreme share its
// gradient.
func shared(k *invocation, g []Values) gradients {
	return gradients{"input": func() Values {
		x := k.tensor("input")
		y := k.result(0)
		d := gradient(g, 0)
		n, m := count(x.shape), count(y.shape)
		refuseIf(n > maxDense, TooLarge, n, maxDense)
		places := zeros(y.shape...)
		for i := range places.y {
			places.y[i] = float64(i)
		}
		of, _ := k.spreadBack(places)
		grads := whole(d, m)
		var all [3][]float64 // elements, extremes and where these are
		for i, v := range []Values{x, y, of} {
			all[i] = numbers(v)
		}
		ties := make([]float64, m)
		for i, v := range all[0] {
			if at := int(all[2][i]); v == all[1][at] {
				ties[at]++
			}
		}
		sum := newSpreader(n)
		for i, v := range all[0] {
			if at := int(all[2][i]); v == all[1][at] {
				share := 1 / ties[at]
				sum.add(int64(i), grads[at], share, u32*share*toNumber(ties[at] > 1))
			}
		}
		return sum.values(x.shape, slices.ContainsFunc(ties, func(n float64) bool { return n > 1 }), k.sumUnit())
	}}
}

// reduceForms: x over dim, one axis, several or all, with keepdim or not.
func reduceForms() {
	define("sum", function{forward: reducing(false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		return sumOf(c.reduceUnit(), n, 1)
	}), backward: toInput(func(k *invocation, d Values) Values {
		v, _ := k.spreadBack(d)
		return v
	})})
	// dx = g/n, one division.
	define("mean", function{forward: reducing(false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		return sumOf(c.sumUnit(), n, float64(n))
	}), backward: toInput(func(k *invocation, d Values) Values {
		v, n := k.spreadBack(d)
		return k.of("input", func(a arith, x []num) num { return a.div(x[0], exactNum(float64(n))) }, v)
	})})
	// Relative errors add up: g(n) of the roundings and e/|x| of each element, with a tenth for
	// their products.
	define("prod", function{forward: reducing(false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		g := gamma(float64(n), c.reduceUnit())
		return func(x, e []float64) (float64, float64) {
			y, rel := 1.0, g
			for i, v := range x {
				y *= v
				if e[i] > 0 {
					rel += 1.1 * e[i] / abs(v)
				}
			}
			return y, rel * abs(y)
		}
	})})
	spread := func(name string, root bool) {
		define(name, function{forward: formulaFor(func(k *invocation) Values { return k.variance(root) })})
	}
	spread("var", false)
	spread("std", true)
	// torch.logsumexp, with the largest number of a row taken out.
	define("logsumexp", function{forward: reducing(false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		return func(x, e []float64) (float64, float64) { return logSum(x, e, c.unit(), c.sumUnit()) }
	})})
	norm := function{forward: formulaFor(norms)}
	define("norm", norm)
	defineExtremes()
	defineTruths()
	defineOrdered()
}

// defineExtremes: the largest and the smallest element, and where they are.
func defineExtremes() {
	// NaN may win or lose on devices, so that a row with one is open.
	pick := func(f func(a, b float64) float64, start float64) reducer {
		return ofNumbers(func(x []float64) (float64, float64) {
			y := start
			for _, v := range x {
				y = f(y, v)
			}
			if math.IsNaN(y) {
				return y, math.Inf(1)
			}
			return y, 0
		})
	}
	largest, smallest := pick(math.Max, math.Inf(-1)), pick(math.Min, math.Inf(1))
	// torch.amax and amin: exact, over several axes, and in their gradients equal elements share.
	define("amax", function{forward: reducing(true, largest), backward: shared})
	define("amin", function{forward: reducing(true, smallest), backward: shared})
	// max(x) is a number, max(x, dim) a pair of values and places, max(x, other) the larger
	// elements: three functions under one name.
	extremum := func(name string, f reducer, two func(a, b float64) float64, index reducer) {
		define(name, function{forward: func(k *invocation) []Reading {
			x := k.tensor("input")
			other := "dim"
			if k.has("other") {
				other = "other"
			}
			if k.args[other].tensor() { // of two tensors
				k.args["other"] = k.args[other]
				return outputs(k.picked(two))
			}
			axes, keep := k.reducedAxes(len(x.shape))
			first := k.reduction(x, axes, keep, true, f)
			if !k.has("dim") {
				return outputs(first)
			}
			in, _, n := lastAxes(x, axes)
			second := &reduced{shape: first.Shape(), in: in, n: n, f: index(k.Call, n), exact: true}
			return outputs(first, second)
		}, backward: func(k *invocation, g []Values) gradients {
			keep := k.bool("keepdim", false)
			switch {
			case k.has("other") || k.args["dim"].tensor():
				if !k.has("other") {
					k = k.with(map[string]*argument{"other": k.args["dim"]})
				}
				all := k.formulaGradients(catalogue.Of(name+"imum"), gradient(g, 0))
				all["dim"] = all["other"]
				return all
			case !k.has("dim"):
				return shared(k, g)
			}
			return pickedAlong(k, g, keep)
		}})
	}
	most, least := indexOf(math.Inf(-1), func(a, b float64) bool { return a > b }), indexOf(math.Inf(1), func(a, b float64) bool { return a < b })
	extremum("max", largest, math.Max, most)
	extremum("min", smallest, math.Min, least)
	// torch.argmax and argmin: a place in the axis, or in the flattened tensor.
	define("argmax", function{forward: reducing(true, most)})
	define("argmin", function{forward: reducing(true, least)})
}

// defineTruths: what is so of all elements, of any, of how many.
func defineTruths() {
	truth := func(want bool) reducer {
		return ofNumbers(func(x []float64) (float64, float64) {
			other := slices.ContainsFunc(x, func(v float64) bool { return (v != 0) != want })
			return toNumber(want != other), 0
		})
	}
	// torch.all and any, and how many elements are not 0.
	define("all", function{forward: reducing(true, truth(true))})
	define("any", function{forward: reducing(true, truth(false))})
	define("count_nonzero", function{forward: reducing(true, ofNumbers(func(x []float64) (y, b float64) {
		for _, v := range x {
			y += toNumber(v != 0)
		}
		return y, 0
	}))})
}

// defineOrdered: elements one behind another.
func defineOrdered() {
	// dx[i] = Σ of g from i on, which is a running sum from the other end.
	define("cumsum", function{forward: moved(func(k *invocation, x *operand) Values { return k.running(k.converted(x)) }),
		backward: unmoved(func(k *invocation, _ *operand, g Values) Values {
			back := []int{k.axis("dim", 0, len(g.Shape()))}[:min(len(g.Shape()), 1)]
			return flipped(held(k.running(flipped(g, back))), back)
		})})
	// torch.topk, sort and argsort. Gradients go to the places that were recorded, whichever of
	// equal ones a device took.
	define("topk", function{forward: ordered, backward: picked})
	define("sort", function{forward: ordered, backward: picked})
	define("argsort", function{forward: ordered})
}

// running are the sums of all elements of an axis up to each.
// B_i = g(i+1)·Σ|x| + Σe + v·Σ|partial sums|: a kernel that keeps the running sum in a narrow type
// rounds it at each element.
func (k *invocation) running(x Values) Values {
	axis, u := k.axis("dim", 0, len(x.Shape())), k.reduceUnit()
	if len(x.Shape()) == 0 {
		return x
	}
	// Kept in the type of the result from one element to the next, or not.
	v := precisionFor(k.outType()).v
	if u == 0 || v <= u32 {
		v = 0
	}
	return k.alongAxes(x, []int{axis}, func(_ int64, x, e, y, b []float64) {
		sum, size, off, rounded := 0.0, 0.0, 0.0, 0.0
		for i := range x {
			sum += x[i]
			size += abs(x[i])
			off += e[i]
			y[i] = sum
			b[i] = gamma(float64(i+1), u)*size + off + rounded
			rounded += v * abs(sum)
		}
	})
}

// indexOf is where the largest or smallest element is; of equal ones any.
func indexOf(start float64, better func(a, b float64) bool) reducer {
	return ofNumbers(func(x []float64) (float64, float64) {
		best, at, b := start, 0, 0.0
		for i, v := range x {
			switch {
			case math.IsNaN(v):
				return 0, math.Inf(1)
			case v == best:
				b = math.Inf(1)
			case better(v, best):
				best, at, b = v, i, 0
			}
		}
		return float64(at), b
	})
}

// alongAxes computes rows along some axes of x and puts them back.
func (k *invocation) alongAxes(x Values, axes []int, f func(row int64, x, e, y, b []float64)) Values {
	in, kept, n := lastAxes(x, axes)
	refuseIf(n == 0 || math.IsInf(gamma(float64(n+4), k.sumUnit()), 1), NoBound, n)
	return k.rowsBack(newRows(in, n, f), len(x.Shape()), kept, axes)
}

// variance: Σ(x - mean)²/(n - correction), or the root of it. The device may take Σx²/n − mean²
// instead, which the moments' bound covers, with a division and a product behind it.
func (k *invocation) variance(root bool) Values {
	x := k.tensor("input")
	// var(x, unbiased) has the flag where the axes are else.
	if a := k.args["dim"]; a != nil && a.v != nil && a.v.Type == "bool" {
		k.args["unbiased"] = a
		delete(k.args, "dim")
	}
	unbiased := k.bool("unbiased", true)
	correction := k.float("correction", toNumber(unbiased))
	axes, keep := k.reducedAxes(len(x.shape))
	return k.reduction(k.converted(x), axes, keep, false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		a, over := c.arith(), float64(n)-correction
		return func(x, e []float64) (float64, float64) {
			m := momentsOf(x, e, c.sumUnit())
			v := num{m.variance * float64(n) / over, m.bVar * float64(n) / over}
			v.b += 2 * a.u * abs(v.y)
			if root {
				v = a.sqrt(v)
			}
			return v.y, v.b
		}
	})
}

// logOfSum is the largest number m of a row and its error, and log Σ e^(x-m) with what Σ is off as
// a share of it. An error of a term goes into the logarithm by its share of the sum.
func logOfSum(x, e []float64, u, sumUnit float64) (m, em, log, off float64) {
	m = math.Inf(-1)
	for i, v := range x {
		m, em = math.Max(m, v), max(em, e[i])
	}
	sum := 0.0
	for i, v := range x {
		p := math.Exp(v - m)
		sum += p
		if p > 0 {
			off += p * (8*u + u*(m-v) + e[i])
		}
	}
	return m, em, math.Log(sum), 1.02*off/sum + gamma(float64(len(x)+2), sumUnit)
}

// logSum: m + log Σ e^(x-m). The logarithm has 8u of its own, also where it is 0, and the last sum
// is rounded once.
func logSum(x, e []float64, u, sumUnit float64) (y, b float64) {
	m, em, log, off := logOfSum(x, e, u, sumUnit)
	return m + log, em + off + 8*u*(log+1) + u*abs(m+log)
}

// norms: the root of the sum of squares, the sum of absolute values, or the largest.
func norms(k *invocation) Values {
	x := k.tensor("input")
	key := "p"
	if slices.Contains(k.params, "ord") {
		key = "ord"
	}
	p := 2.0
	if !k.args[key].isText() || k.string(key, "") != "fro" {
		p = k.float(key, 2)
	}
	axes, keep := k.reducedAxes(len(x.shape))
	refuseIf(p != 1 && p != 2 && !math.IsInf(p, 1), Unsupported, "p other than 1, 2 and inf")
	return k.reduction(k.converted(x), axes, keep, false, func(c *Call, n int64) func(x, e []float64) (float64, float64) {
		a := c.arith()
		g := gamma(float64(n+2), c.sumUnit())
		return func(x, e []float64) (float64, float64) {
			s, off := 0.0, 0.0
			for i, v := range x {
				switch v = abs(v); p {
				case 1:
					s, off = s+v, off+e[i]
				case 2:
					s, off = s+v*v, off+2*v*e[i]+e[i]*e[i]
				default:
					s, off = math.Max(s, v), max(off, e[i])
				}
			}
			switch p {
			case 2:
				r := a.sqrt(num{s, g*s + off})
				return r.y, r.b
			case 1:
				return s, g*s + off
			}
			return s, off
		}
	})
}

// ordered: the elements of an axis in order, and where they are; of equal ones any may come first.
// sort, argsort and topk: values are exact in any order of equal ones, and places of equal ones are
// open.
func ordered(k *invocation) []Reading {
	x := k.tensor("input")
	rank := len(x.shape)
	axis := k.axis("dim", -1, rank)
	refuseIf(rank == 0, BadArgument, "dim", axis, "an axis of "+shapeText(x.shape))
	down := k.bool("descending", false)
	n := x.shape[axis]
	if slices.Contains(k.params, "k") { // topk
		down = k.bool("largest", true)
		refuseIf(!k.bool("sorted", true), Unsupported, "sorted false")
		n = k.int("k", -1)
		refuseIf(!within(n, 0, x.shape[axis]), BadArgument, "k", n, "at most "+itoa(int(x.shape[axis])))
	}
	nan := &atomic.Bool{}
	doubt := func(x []float64) float64 { // where NaN goes is each device's own affair, and it moves the others
		if slices.ContainsFunc(x, math.IsNaN) {
			nan.Store(true)
			return math.Inf(1)
		}
		return 0
	}
	less := func(a, b float64) bool { return a < b || math.IsNaN(b) && !math.IsNaN(a) }
	places := func(x []float64) []int {
		idx := inOrder(len(x))
		sort.SliceStable(idx, func(a, b int) bool {
			if down {
				return less(x[idx[b]], x[idx[a]])
			}
			return less(x[idx[a]], x[idx[b]])
		})
		return idx
	}
	order := k.alongAxes(x, []int{axis}, func(_ int64, x, e, y, b []float64) {
		idx := places(x)
		same := func(p, q int) bool { return x[p] == x[q] || math.IsNaN(x[p]) && math.IsNaN(x[q]) }
		open := doubt(x)
		for i, p := range idx {
			y[i], b[i] = float64(p), open
			if i > 0 && same(idx[i-1], p) || i+1 < len(idx) && same(idx[i+1], p) {
				b[i] = math.Inf(1)
			}
		}
	})
	values := k.alongAxes(x, []int{axis}, func(_ int64, x, e, y, b []float64) {
		open := doubt(x)
		for i, p := range places(x) {
			y[i], b[i] = x[p], open
		}
	})
	if k.name == "argsort" {
		return []Reading{{Out: []Values{order}, NaN: nan}}
	}
	return []Reading{{Out: []Values{slab1(values, axis, 0, n), slab1(order, axis, 0, n)}, NaN: nan}}
}

// Reductions. Axes come as an attribute (…D) or as the second input; without
// any, all axes. Prototypes: reduce_ops.h.
//
// Sum: B = g(n+1)·Σ|x| + ΣB_x. Mean: the same over n. Product: B = g(n)·|y|.
// Max and min move numbers. All and any are exact.

type reducer func(c *Call, n int64) func(x, e []float64) (y, b float64)

// ofNumbers is a reducer that asks for the numbers alone, as those that are exact do.
func ofNumbers(f func(x []float64) (y, b float64)) reducer {
	return func(*Call, int64) func(x, e []float64) (float64, float64) {
		return func(x, _ []float64) (float64, float64) { return f(x) }
	}
}

// reduction is a reduction as the first output, in the shape that was recorded.
func (c *Call) reduction(x Values, axes []int, keep, exact bool, f reducer) Values {
	return c.asRecorded(c.reduced(x, axes, keep, exact, f), 0)
}

// reduced is a reduction that is no result yet.
// keep leaves an axis of one element in place of each that is gone.
func (c *Call) reduced(x Values, axes []int, keep, exact bool, f reducer) Values {
	in, kept, n := lastAxes(x, axes)
	shape := []int64{}
	for i, d := range x.Shape() {
		switch {
		case slices.Contains(kept, i):
			shape = append(shape, d)
		case keep:
			shape = append(shape, 1)
		}
	}
	refuseIf(n == 0, ShapesDiffer, x.Shape())
	return &reduced{shape: shape, in: in, n: n, f: f(c, n), exact: exact && isExact(x)}
}

// sumOf is Σx/over.
func sumOf(u float64, n int64, over float64) func(x, e []float64) (y, b float64) {
	g := gamma(float64(n+1), u)
	return func(x, e []float64) (float64, float64) {
		sum, size, off := 0.0, 0.0, 0.0
		for i, v := range x {
			sum += v
			size += abs(v)
			off += e[i]
		}
		return sum / over, (g*size + off*(1+g)) / over
	}
}

// sumOfRounded is Σx of what may have been rounded to a type before, as the gradient of an operand that was repeated: PyTorch makes a
// tensor of the type of the result of it and sums that up. Errors of roundings are in no relation to one another: 4 times the root of
// the sum of their squares, each at its largest, is more than 7 standard deviations of their sum.
func sumOfRounded(u float64, n int64, p precisionOf) func(x, e []float64) (y, b float64) {
	sum := sumOf(u, n, 1)
	return func(x, e []float64) (float64, float64) {
		y, b := sum(x, e)
		most, squares := 0.0, 0.0
		for _, v := range x {
			off := p.v*abs(v) + p.t
			most += off
			squares += off * off
		}
		return y, b + min(most, 4*math.Sqrt(squares))
	}
}

// Sums of integers are exact, modulo what their type holds.
func (c *Call) reduceUnit() float64 {
	if integers(c) {
		return 0
	}
	return c.sumUnit()
}

func toNumber(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// rowsBack gives the result of rows the axis order of the operand. Where that
// is another one the rows are kept, as one row is spread over the result.
func (c *Call) rowsBack(v Values, rank int, kept, axes []int) Values {
	back := backAxes(v, rank, kept, axes)
	if s, ok := back.(*strided); ok && !s.plain {
		d := held(v)
		return backAxes(d, rank, kept, axes)
	}
	return back
}

// softmaxRow: the relative error of e^(x-m) is the absolute one of x-m, ρ = u·(m-x) + 8u + B_x +
// B_m; the sum adds g(n+2) + Σ y·ρ, and B = 1.02·y·(ρ + sum + 3u): 3u are the quotient, or a
// reciprocal and a product, and 1.02 is for products of these errors, which are small wherever B
// says anything. Not subtracting m changes nothing. A row of -Inf is NaN. What is below 2^-126, the
// smallest normal number, may be 0 on a device.
func softmaxRow(u, sumUnit float64) func(x, e, y, b []float64) {
	return func(x, e, y, b []float64) {
		m, em := math.Inf(-1), 0.0
		for i, v := range x {
			m, em = math.Max(m, v), max(em, e[i])
		}
		sum := 0.0
		for i, v := range x {
			y[i] = math.Exp(v - m)
			sum += y[i]
		}
		shared := 0.0
		for i, v := range x {
			y[i] /= sum
			b[i] = 8*u + e[i] + em
			if y[i] > 0 {
				b[i] += u * (m - v)
			}
			shared += y[i] * b[i]
		}
		shared += gamma(float64(len(x)+2), sumUnit)
		for i := range b {
			b[i] = 1.02*y[i]*(b[i]+shared+3*u) + 0x1p-126
		}
	}
}

// logSoftmaxRow: y = x - m - log Σ; B = u·(|x-m| + |log Σ| + |y|) + the error of
// the sum + 8u·(|log Σ| + 1).
func logSoftmaxRow(u, sumUnit float64) func(x, e, y, b []float64) {
	return func(x, e, y, b []float64) {
		m, em, log, off := logOfSum(x, e, u, sumUnit)
		for i, v := range x {
			y[i] = v - m - log
			b[i] = e[i] + 2.02*em + off + u*(abs(v-m)+abs(y[i])) + 8*u*(log+1)
		}
	}
}

// castagnoli is made when it is first needed: it takes as long as a hundredth of a small
// comparison.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// InputSums hashes the elements of recorded inputs of an operator, by their places among those that
// were recorded, in the axis order of the framework: what fills up a layout is left out. A tensor
// that cannot be read has an empty sum.
func InputSums(op *graph.Op, r *dump.Reader, recorded []int) []string {
	sums := make([]string, len(recorded))
	slots := connectedSlots(op)
	for i, k := range recorded {
		if k < 0 || k >= len(r.Inputs) || k >= len(slots) {
			continue
		}
		if o, err := openOperand(r, &r.Inputs[k], descAt(op.InputDesc, slots[k])); err == nil {
			sums[i], _ = must.Of(o.sum)
		}
	}
	return sums
}

// connectedSlots are the data inputs of an operator that have a tensor.
// Places count data inputs alone, as descriptions of inputs do.
func connectedSlots(op *graph.Op) (slots []int) {
	slot := 0
	for _, e := range op.Inputs {
		if e.IsControl() {
			continue
		}
		if !e.IsEmpty() {
			slots = append(slots, slot)
		}
		slot++
	}
	return slots
}

// sum hashes all elements, their bits as they are stored.
func (o *operand) sum() string {
	refuseIf(o.packed, BadLayout, o.name, "grouped")
	// Two sums of 32 bits, both of which processors compute as fast as they read.
	var a, b uint32
	n := o.view.Len()
	o.read(0, n, func(_ int64, raw []byte, _ int64) {
		a, b = crc32.Update(a, castagnoli(), raw), crc32.Update(b, crc32.IEEETable, raw)
	})
	return fmt.Sprintf("%d-%08x%08x", n, a, b)
}
