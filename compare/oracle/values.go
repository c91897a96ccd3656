package oracle

import "slices"

// Values is a tensor of numbers in the axis order of the framework, each with a
// bound on its error, computed on demand. Elements are counted in row-major
// order. Values are used by one goroutine at a time.
type Values interface {
	// Shape returns the dims. It must not be changed.
	Shape() []int64
	// Range computes the elements from lo on, as many as y has. If b is not nil
	// it has as many and gets their bounds.
	Range(lo int64, y, b []float64) error
	// At computes the elements at any places.
	At(idx []int64, y, b []float64) error
}

// float32er is implemented by Values that have a quick way to compute in
// float32, with an error that the bound B covers, too.
type float32er interface {
	// fast reports whether there is one for these inputs.
	fast() bool
	// Range32 is Range in float32 and without bounds.
	Range32(lo int64, y []float32) error
}

// coster is implemented by Values that take more than a few operations an
// element. Cost returns the multiplications and additions of one element.
type coster interface{ Cost() float64 }

// aligner is implemented by Values that are best computed in multiples of Align
// elements.
type aligner interface{ Align() int64 }

// exacter is implemented by Values whose elements are recorded as they are,
// without a last rounding: those that only move numbers.
type exacter interface{ Exact() bool }

func isFast(v Values) bool {
	f, ok := v.(float32er)
	return ok && f.fast()
}

func cost(v Values) float64 {
	if c, ok := v.(coster); ok {
		return c.Cost()
	}
	return 1
}

// alone is the cost of an element that is computed without its neighbours.
func alone(v Values) float64 {
	for {
		switch w := v.(type) {
		case *strided:
			v = w.in
		case *attention:
			return w.Cost() * float64(w.ev)
		default:
			return cost(v)
		}
	}
}

func align(v Values) int64 {
	if a, ok := v.(aligner); ok {
		return max(a.Align(), 1)
	}
	return 1
}

func isExact(v Values) bool {
	e, ok := v.(exacter)
	return ok && e.Exact()
}

// count multiplies dims; they are those of recorded tensors or made from them,
// and small enough.
func count(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	return n
}

// rowMajor returns the distances of neighbours on each axis.
func rowMajor(shape []int64) []int64 {
	s, n := make([]int64, len(shape)), int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// grow returns a slice of n elements, in the memory of s if that is enough.
func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n)
}

// dense is a tensor in memory; b is nil for one without errors.
type dense struct {
	shape []int64
	y, b  []float64
	exact bool
}

func (d *dense) Shape() []int64 { return d.shape }
func (d *dense) Exact() bool    { return d.exact }

func (d *dense) Range(lo int64, y, b []float64) error {
	copy(y, d.y[lo:])
	switch {
	case b == nil:
	case d.b == nil:
		clear(b)
	default:
		copy(b, d.b[lo:])
	}
	return nil
}

func (d *dense) At(idx []int64, y, b []float64) error {
	for i, k := range idx {
		y[i] = d.y[k]
		if b != nil {
			b[i] = 0
			if d.b != nil {
				b[i] = d.b[k]
			}
		}
	}
	return nil
}

// scalar returns a tensor of one element.
func scalar(x float64) Values { return &dense{y: []float64{x}, exact: true} }

// held computes all of v and keeps it.
func held(v Values) (*dense, error) {
	if d, ok := v.(*dense); ok {
		return d, nil
	}
	n := count(v.Shape())
	if n > maxDense {
		return nil, refuse(TooLarge, n, maxDense)
	}
	d := &dense{shape: v.Shape(), y: make([]float64, n), exact: isExact(v)}
	if !isExact(v) {
		d.b = make([]float64, n)
	}
	return d, v.Range(0, d.y, d.b)
}

// numbers computes all of v, which has no errors.
func numbers(v Values) ([]float64, error) {
	if !isExact(v) {
		return nil, refuse(Unsupported, "an inexact operand")
	}
	d, err := held(v)
	if err != nil {
		return nil, err
	}
	return d.y, nil
}

const (
	// maxDense bounds tensors that are kept as float64 with their bounds.
	maxDense = 8 << 20
	// maxHeld bounds operands that are kept as float32.
	maxHeld = 32 << 20
	// maxRank bounds the axes of a tensor.
	maxRank = 16
)

// sameShape reports whether two shapes are equal but for axes of one.
func sameShape(a, b []int64) bool {
	return slices.Equal(a, b) || slices.Equal(withoutOnes(a), withoutOnes(b))
}

func withoutOnes(s []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(s), func(d int64) bool { return d == 1 })
}
