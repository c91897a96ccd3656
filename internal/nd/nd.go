// Package nd counts the elements of shapes: lists of how many places each axis has.
package nd

import (
	"math"
	"slices"
	"strconv"
)

// Size multiplies dims that are known to fit; 1 for none.
func Size(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// Count multiplies dims that a file claims: 1 for none, 0 where one is 0. It is false where one is negative
// or the product does not fit.
func Count(dims ...int64) (n int64, ok bool) {
	if slices.Contains(dims, 0) {
		return 0, true
	}
	n = 1
	for _, d := range dims {
		if d < 0 || n > math.MaxInt64/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// Text are numbers with something between them.
func Text[T int | int64](numbers []T, between string) string {
	var b []byte
	for i, n := range numbers {
		if i > 0 {
			b = append(b, between...)
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}

// Tuple writes a shape as Python does: (2, 3), (3,), ().
func Tuple(shape []int64) string {
	if len(shape) == 1 {
		return "(" + Text(shape, "") + ",)"
	}
	return "(" + Text(shape, ", ") + ")"
}

// Strides are the distances of neighbours on each axis, in elements, of a tensor in row-major order.
func Strides(dims []int64) []int64 {
	s, n := make([]int64, len(dims)), int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= dims[i]
	}
	return s
}

// Place is where along each axis the element of a number stands, counted in row-major order; 0 along axes without places.
func Place(i int64, dims []int64) []int64 {
	at := make([]int64, len(dims))
	PlaceIn(i, dims, at)
	return at
}

// PlaceIn is [Place], written to at.
func PlaceIn(i int64, dims, at []int64) {
	for k := len(dims) - 1; k >= 0; k-- {
		if dims[k] > 0 {
			at[k], i = i%dims[k], i/dims[k]
		}
	}
}

// Restep is the sum of the coordinates of element i along each axis, counted in row-major order, times other strides.
func Restep(i int64, dims, strides []int64) (j int64) {
	for k := len(dims) - 1; k > 0; k-- {
		q := i / dims[k]
		j += (i - q*dims[k]) * strides[k]
		i = q
	}
	if len(dims) > 0 {
		j += i * strides[0]
	}
	return j
}

// Number is the number of the element at a place, by the strides of its tensor.
func Number(at, strides []int64) (i int64) {
	for k, x := range at {
		i += x * strides[k]
	}
	return i
}

// Single tells whether every axis has one place, as a scalar has none.
func Single(dims []int64) bool {
	return !slices.ContainsFunc(dims, func(d int64) bool { return d != 1 })
}

// WithoutOnes leaves out axes of one place.
func WithoutOnes(dims []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(dims), func(d int64) bool { return d == 1 })
}

// WithOnes adds axes of one place behind, to as many axes.
func WithOnes(dims []int64, rank int) []int64 {
	return append(slices.Clone(dims), slices.Repeat([]int64{1}, max(rank-len(dims), 0))...)
}
