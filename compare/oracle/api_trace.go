package oracle

import (
	"maps"
	"math"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/dump/layout"
)

// Gradients of functions that move numbers or weigh them, from what the function does with
// the places of its input: each place gets the sum of the gradients of where it went.

// spreader adds gradients up by places.
type spreader struct {
	y, size, off []float64
	n            []int32
}

func newSpreader(n int64) *spreader {
	return &spreader{y: make([]float64, n), size: make([]float64, n), off: make([]float64, n), n: make([]int32, n)}
}

// add adds weight·g; the weight may be off by off.
func (s *spreader) add(place int64, g, weight, off float64) {
	s.y[place] += g * weight
	s.size[place] += abs(g * weight)
	s.off[place] += abs(g) * off
	s.n[place]++
}

// values are the sums: exact where nothing was weighed and no place got more than one.
func (s *spreader) values(shape []int64, weighed bool, unit float64) Values {
	d := &dense{shape: shape, y: s.y, exact: !weighed}
	for _, n := range s.n {
		d.exact = d.exact && n <= 1
	}
	if d.exact {
		return d
	}
	d.b = s.off
	for i, n := range s.n {
		if n > 1 || weighed {
			d.b[i] += gamma(float64(n)+2, unit) * s.size[i]
		}
	}
	return d
}

// whole is a gradient with all its elements.
func whole(g Values, n int64) []float64 {
	if count(g.Shape()) != n {
		panic(refuse(ShapesDiffer, shapeText(g.Shape(), []int64{n})))
	}
	return must(numbers(g))
}

// traced makes the backward of functions that only move elements of their input: the function
// itself, given the places of the elements for their values, says where each went.
func traced(names string) {
	for _, name := range strings.Fields(names) {
		f := functions[name]
		f.backward = func(k *invocation, g []Values) gradients {
			return gradients{"input": func() Values { return k.traceBack(f, g) }}
		}
	}
}

func (k *invocation) traceBack(f *function, g []Values) Values {
	x := k.tensor("input")
	n := count(x.shape)
	if n > maxDense {
		panic(refuse(TooLarge, n, maxDense))
	}
	places := &operand{name: x.name, typ: dtype.Float64, shape: x.shape, f64: make([]float64, n), packed: true}
	places.view = must(layout.Contiguous(x.shape))
	for i := range places.f64 {
		places.f64[i] = float64(i + 1) // 0 is what comes from nowhere: the border of a pad
	}
	call, other := *k.Call, *k
	call.outs, call.double = k.results, true
	other.Call, other.args = &call, maps.Clone(k.args)
	other.args["input"] = &argument{v: k.args["input"].v, place: k.args["input"].place, op: places}
	delete(other.args, "value")
	readings := f.forward(&other)
	sum := newSpreader(n)
	for i, d := range g {
		if d == nil {
			continue
		}
		v := readings[0].out(i)
		if v == nil {
			panic(refuse(OutputCount, len(g), len(readings[0].Out)))
		}
		from := must(held(v))
		grads := whole(d, count(v.Shape()))
		for j, p := range from.y {
			switch at := int64(p) - 1; {
			case p == 0:
			case p != math.Trunc(p) || at < 0 || at >= n:
				panic(refuse(NoGradient, k.name))
			default:
				sum.add(at, grads[j], 1, 0)
			}
		}
	}
	return sum.values(x.shape, false, k.sumUnit())
}

// picked is the backward of functions that pick elements along an axis and tell their indices
// as the second result: each gradient goes where its element was.
func picked(k *invocation, g []Values) gradients { return pickedAlong(k, g, true) }

// pickedAlong is the same for functions that keep the axis, or do not.
func pickedAlong(k *invocation, g []Values, keep bool) gradients {
	return gradients{"input": func() Values {
		x := k.tensor("input")
		idx := k.result(1)
		d := gradient(g, 0)
		axis := k.axis("dim", -1, len(x.shape))
		shape := idx.shape
		if !keep && axis <= len(shape) {
			shape = slices.Insert(slices.Clone(shape), axis, 1)
		}
		if len(x.shape) == 0 || len(shape) != len(x.shape) {
			panic(refuse(ShapesDiffer, shapeText(x.shape, idx.shape)))
		}
		n, m := count(x.shape), count(shape)
		if n > maxDense || m > maxDense {
			panic(refuse(TooLarge, max(n, m), maxDense))
		}
		at := must(numbers(idx))
		grads := whole(d, m)
		sum, steps, place := newSpreader(n), rowMajor(x.shape), make([]int64, len(x.shape))
		for i, to := range at {
			if to < 0 || to >= float64(x.shape[axis]) {
				panic(refuse(BadArgument, idx.name, to, "an index of "+shapeText(x.shape)))
			}
			unravel(int64(i), shape, place)
			place[axis] = int64(to)
			p := int64(0)
			for a := range place {
				p += place[a] * steps[a]
			}
			if p >= n {
				panic(refuse(ShapesDiffer, shapeText(x.shape, idx.shape)))
			}
			sum.add(p, grads[i], 1, 0)
		}
		return sum.values(x.shape, false, k.sumUnit())
	}}
}

// weighed is the backward of a function whose elements are sums of weighed places of its input:
// f says which, for each element of the result.
func weighed(places func(k *invocation, x *operand, out []int64) func(i int64, add func(place int64, weight, off float64))) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		return gradients{"input": func() Values {
			x := k.tensor("input")
			d := gradient(g, 0)
			n, m := count(x.shape), count(d.Shape())
			if n > maxDense || m > maxDense {
				panic(refuse(TooLarge, max(n, m), maxDense))
			}
			of := places(k, x, d.Shape())
			grads := whole(d, m)
			sum := newSpreader(n)
			for i, v := range grads {
				of(int64(i), func(place int64, weight, off float64) { sum.add(place, v, weight, off) })
			}
			return sum.values(x.shape, true, k.sumUnit())
		}, "grad": func() Values { return gradient(g, 0) }}
	}
}
