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
func whole(g Values, n int64) ([]float64, error) {
	if count(g.Shape()) != n {
		return nil, refuse(ShapesDiffer, shapeText(g.Shape(), []int64{n}))
	}
	return numbers(g)
}

// traced makes the backward of functions that only move elements of their input: the function
// itself, given the places of the elements for their values, says where each went.
func traced(names string) {
	for _, name := range strings.Fields(names) {
		f := functions[name]
		f.backward = func(k *invocation, g []Values) (gradients, error) {
			return gradients{"input": func() (Values, error) { return k.traceBack(f, g) }}, nil
		}
	}
}

func (k *invocation) traceBack(f *function, g []Values) (Values, error) {
	x, err := k.tensor("input")
	if err != nil {
		return nil, err
	}
	n := count(x.shape)
	if n > maxDense {
		return nil, refuse(TooLarge, n, maxDense)
	}
	places := &operand{name: x.name, typ: dtype.Float64, shape: x.shape, f64: make([]float64, n), packed: true}
	if places.view, err = layout.Contiguous(x.shape); err != nil {
		return nil, refuse(BadLayout, x.name, err)
	}
	for i := range places.f64 {
		places.f64[i] = float64(i + 1) // 0 is what comes from nowhere: the border of a pad
	}
	call, other := *k.Call, *k
	call.outs, call.double = k.results, true
	other.Call, other.args = &call, maps.Clone(k.args)
	other.args["input"] = &argument{v: k.args["input"].v, place: k.args["input"].place, op: places}
	delete(other.args, "value")
	readings, err := f.forward(&other)
	if err != nil {
		return nil, err
	}
	sum := newSpreader(n)
	for i, d := range g {
		if d == nil {
			continue
		}
		v := readings[0].out(i)
		if v == nil {
			return nil, refuse(OutputCount, len(g), len(readings[0].Out))
		}
		from, err := held(v)
		if err != nil {
			return nil, err
		}
		grads, err := whole(d, count(v.Shape()))
		if err != nil {
			return nil, err
		}
		for j, p := range from.y {
			switch at := int64(p) - 1; {
			case p == 0:
			case p != math.Trunc(p) || at < 0 || at >= n:
				return nil, refuse(NoGradient, k.name)
			default:
				sum.add(at, grads[j], 1, 0)
			}
		}
	}
	return sum.values(x.shape, false, k.sumUnit()), nil
}

// picked is the backward of functions that pick elements along an axis and tell their indices
// as the second result: each gradient goes where its element was.
func picked(k *invocation, g []Values) (gradients, error) { return pickedAlong(k, g, true) }

// pickedAlong is the same for functions that keep the axis, or do not.
func pickedAlong(k *invocation, g []Values, keep bool) (gradients, error) {
	return gradients{"input": func() (Values, error) {
		x, err := k.tensor("input")
		if err != nil {
			return nil, err
		}
		idx, err := k.result(1)
		if err != nil {
			return nil, err
		}
		d, err := gradient(g, 0)
		if err != nil {
			return nil, err
		}
		axis, err := k.axis("dim", -1, len(x.shape))
		shape := idx.shape
		if !keep && err == nil && axis <= len(shape) {
			shape = slices.Insert(slices.Clone(shape), axis, 1)
		}
		if err != nil || len(x.shape) == 0 || len(shape) != len(x.shape) {
			return nil, refuse(ShapesDiffer, shapeText(x.shape, idx.shape))
		}
		n, m := count(x.shape), count(shape)
		if n > maxDense || m > maxDense {
			return nil, refuse(TooLarge, max(n, m), maxDense)
		}
		at, err := numbers(idx)
		if err != nil {
			return nil, err
		}
		grads, err := whole(d, m)
		if err != nil {
			return nil, err
		}
		sum, steps, place := newSpreader(n), rowMajor(x.shape), make([]int64, len(x.shape))
		for i, to := range at {
			if to < 0 || to >= float64(x.shape[axis]) {
				return nil, refuse(BadArgument, idx.name, to, "an index of "+shapeText(x.shape))
			}
			unravel(int64(i), shape, place)
			place[axis] = int64(to)
			p := int64(0)
			for a := range place {
				p += place[a] * steps[a]
			}
			if p >= n {
				return nil, refuse(ShapesDiffer, shapeText(x.shape, idx.shape))
			}
			sum.add(p, grads[i], 1, 0)
		}
		return sum.values(x.shape, false, k.sumUnit()), nil
	}}, nil
}

// weighed is the backward of a function whose elements are sums of weighed places of its input:
// f says which, for each element of the result.
func weighed(places func(k *invocation, x *operand, out []int64) (func(i int64, add func(place int64, weight, off float64)), error)) func(k *invocation, g []Values) (gradients, error) {
	return func(k *invocation, g []Values) (gradients, error) {
		return gradients{"input": func() (Values, error) {
			x, err := k.tensor("input")
			if err != nil {
				return nil, err
			}
			d, err := gradient(g, 0)
			if err != nil {
				return nil, err
			}
			n, m := count(x.shape), count(d.Shape())
			if n > maxDense || m > maxDense {
				return nil, refuse(TooLarge, max(n, m), maxDense)
			}
			of, err := places(k, x, d.Shape())
			if err != nil {
				return nil, err
			}
			grads, err := whole(d, m)
			if err != nil {
				return nil, err
			}
			sum := newSpreader(n)
			for i, v := range grads {
				of(int64(i), func(place int64, weight, off float64) { sum.add(place, v, weight, off) })
			}
			return sum.values(x.shape, true, k.sumUnit()), nil
		}, "grad": func() (Values, error) { return gradient(g, 0) }}, nil
	}
}
