package computed

import (
	"math"
	"math/rand/v2"
)

// array holds numbers in the framework's order, whatever their type.
type array struct {
	shape []int
	v     []float64
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func zeros(shape ...int) array { return array{shape, make([]float64, product(shape))} }

func scalarOf(v float64) array { return array{nil, []float64{v}} }

func (a array) clone() array { return array{a.shape, append([]float64(nil), a.v...)} }

func (a array) as(shape ...int) array { return array{shape, a.v} }

// normal draws numbers around shift.
func normal(rng *rand.Rand, scale, shift float64, shape ...int) array {
	a := zeros(shape...)
	for i := range a.v {
		a.v[i] = shift + scale*rng.NormFloat64()
	}
	return a
}

// rounded is the array in a type.
func (a array) rounded(dtype string) array {
	for i, v := range a.v {
		a.v[i] = round(dtype, v)
	}
	return a
}

func round(dtype string, v float64) float64 {
	if v != v && (dtype == i8 || dtype == i32 || dtype == i64) {
		return 0 // what reads the tensor gets what it can hold
	}
	switch dtype {
	case f16:
		return half(v)
	case b16: // rounded to float32 before, by the device alone
		return narrowed(v, 8, -133, 0x1.fep127)
	case f32:
		return float64(float32(v))
	case f8:
		return narrowed(min(max(v, -448), 448), 4, -9, 448)
	case e8:
		if !(v <= 0x1p127) { // there is a NaN and no Inf
			return math.NaN()
		}
		return math.Exp2(math.Round(math.Log2(v)))
	case i8:
		return min(max(math.Trunc(v), -128), 127)
	case i32, i64:
		return math.Trunc(v)
	case flag:
		return truth(v != 0)
	}
	return v
}

// half rounds to float16.
func half(v float64) float64 { return narrowed(v, 11, -24, 65504) }

// narrowed rounds to so many bits, the last of them no less than 2^least.
func narrowed(v float64, bits, least int, most float64) float64 {
	if v == 0 || v != v || math.IsInf(v, 0) {
		return v
	}
	_, e := math.Frexp(v)
	e = max(e-bits, least)
	q := math.Ldexp(math.RoundToEven(math.Ldexp(v, -e)), e)
	if math.Abs(q) > most {
		return math.Inf(int(math.Copysign(1, v)))
	}
	return q
}

// context is who computes: a device in float32, or the framework in float64.
type context struct {
	device, fused16 bool
	fault           *fault
}

// stored is the type in which a tensor of the graph is kept.
func (c *context) stored(dtype string) string {
	if !c.device && narrow(dtype) {
		return f32
	}
	return dtype
}

// between is the type in which fused parts hand results on.
func (c *context) between(dtype string) string {
	switch {
	case !c.device:
		return ""
	case c.fused16:
		return dtype
	}
	return f32
}

// r rounds the result of one operation.
func (c *context) r(v float64) float64 {
	if c.device {
		return float64(float32(v))
	}
	return v
}

// f rounds the result of a function, which a device seldom gets to the last bit.
func (c *context) f(v float64) float64 {
	if c.device {
		return float64(float32(float64(float32(v)) * (1 + 0x1p-23*math.Sin(12345*v))))
	}
	return v
}

// sum adds in float64 in order, or on the device in float32: blocks of 16, the
// last block first.
func (c *context) sum(terms []float64) float64 {
	if !c.device {
		s := 0.0
		for _, t := range terms {
			s += t
		}
		return s
	}
	if c.is("acc16") {
		s := 0.0
		for i := 0; i < len(terms); i += 16 {
			var block float32
			for _, t := range terms[i:min(i+16, len(terms))] {
				block += float32(t)
			}
			s = half(s + float64(block))
		}
		return s
	}
	var s float32
	for hi := len(terms); hi > 0; {
		lo := (hi - 1) / 16 * 16
		var block float32
		for _, t := range terms[lo:hi] {
			block += float32(t)
		}
		s += block
		hi = lo
	}
	return float64(s)
}

// is tells whether the kernel has a fault of a kind.
func (c *context) is(kind string) bool { return c.fault != nil && c.fault.kind == kind }

// strides are those of a shape, 0 where it is broadcast to another.
func strides(shape, to []int) []int {
	out := make([]int, len(to))
	s := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if k := i + len(to) - len(shape); shape[i] != 1 {
			out[k] = s
		}
		s *= shape[i]
	}
	return out
}

func broadcast(shapes ...[]int) []int {
	var out []int
	for _, s := range shapes {
		for len(out) < len(s) {
			out = append([]int{1}, out...)
		}
		for i, d := range s {
			if k := i + len(out) - len(s); d != 1 {
				out[k] = d
			}
		}
	}
	return out
}

// each calls f with the place in the result and the places in operands that are
// broadcast to it.
func each(to []int, in []array, f func(i int, at []int)) {
	steps := make([][]int, len(in))
	for k := range in {
		steps[k] = strides(in[k].shape, to)
	}
	at, idx := make([]int, len(in)), make([]int, len(to))
	for i := range product(to) {
		f(i, at)
		for d := len(to) - 1; d >= 0; d-- {
			idx[d]++
			for k := range at {
				at[k] += steps[k][d]
			}
			if idx[d] < to[d] {
				break
			}
			for k := range at {
				at[k] -= steps[k][d] * to[d]
			}
			idx[d] = 0
		}
	}
}

// zip computes element by element with broadcasting.
func zip(in []array, f func(x []float64) float64) array {
	shapes := make([][]int, len(in))
	for i := range in {
		shapes[i] = in[i].shape
	}
	out := zeros(broadcast(shapes...)...)
	x := make([]float64, len(in))
	each(out.shape, in, func(i int, at []int) {
		for k := range in {
			x[k] = in[k].v[at[k]]
		}
		out.v[i] = f(x)
	})
	return out
}

// transposed permutes axes.
func transposed(a array, perm ...int) array {
	shape := make([]int, len(perm))
	own := strides(a.shape, a.shape)
	step := make([]int, len(perm))
	for i, p := range perm {
		shape[i], step[i] = a.shape[p], own[p]
	}
	out := zeros(shape...)
	idx, at := make([]int, len(perm)), 0
	for i := range out.v {
		out.v[i] = a.v[at]
		for d := len(perm) - 1; d >= 0; d-- {
			idx[d]++
			at += step[d]
			if idx[d] < shape[d] {
				break
			}
			at -= step[d] * shape[d]
			idx[d] = 0
		}
	}
	return out
}

// rows calls f with every row along the axes, which are gathered, and its place
// in the result without them.
func rows(a array, axes []int, f func(row int, x []float64, at []int)) {
	drop := make([]bool, len(a.shape))
	for _, d := range axes {
		drop[(d+len(a.shape))%len(a.shape)] = true
	}
	own := strides(a.shape, a.shape)
	list := func(in bool) []int {
		out := []int{0}
		for d, n := range a.shape {
			if drop[d] != in {
				continue
			}
			var next []int
			for _, o := range out {
				for i := range n {
					next = append(next, o+i*own[d])
				}
			}
			out = next
		}
		return out
	}
	inner := list(true)
	x, at := make([]float64, len(inner)), make([]int, len(inner))
	for row, base := range list(false) {
		for i, o := range inner {
			at[i] = base + o
			x[i] = a.v[base+o]
		}
		f(row, x, at)
	}
}
