package layout

import (
	"fmt"
	"math/bits"
	"slices"

	"precision/internal/must"
	"precision/internal/nd"
)

// axis is one axis of a View. Neighbours lie step stored elements apart; if
// block > 0, only within blocks of that many, and blocks lie jump apart.
type axis struct {
	dim   int64 // logical extent
	full  int64 // extent with the padding, dim ≤ full
	block int64 // 0 for a plain axis
	step  int64
	jump  int64
}

// off returns the stored distance of index i from index 0.
func (a axis) off(i int64) int64 {
	if a.block == 0 {
		return i * a.step
	}
	return i/a.block*a.jump + i%a.block*a.step
}

// last returns the greatest stored distance in the axis; dim must not be 0.
func (a axis) last() int64 {
	m := a.off(a.dim - 1)
	if a.block > 0 && a.dim > a.block {
		// The last whole block may reach further than a cut one.
		m = max(m, a.off(a.dim/a.block*a.block-1))
	}
	return m
}

// View maps a logical tensor, in row-major order of Dims, onto the elements of
// a stored one. Each logical axis is one stored axis or two (block and place in
// the block), with the padding left out. A View holds no elements. Views are
// made by [Contiguous], [Convert] and [Restore]; every element of a View lies
// inside the stored tensor. Views are values: methods return new ones.
type View struct {
	// Dims is the logical shape in output order. To be read only.
	Dims []int64

	axes   []axis
	stored int64 // elements of the stored tensor
	nest   *nest // the same mapping with the fewest axes
}

// Contiguous returns the View of a tensor stored in logical order, without
// padding. It fails on negative dimensions and when the size overflows.
func Contiguous(shape []int64) (View, error) {
	n, err := Count(shape)
	if err != nil {
		return View{}, err
	}
	return newView(plainAxes(shape), n), nil
}

// Fortran is [Contiguous] for a tensor whose first axis varies fastest.
func Fortran(shape []int64) (View, error) {
	reversed, order := slices.Clone(shape), make([]int, len(shape))
	slices.Reverse(reversed)
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	v, err := Contiguous(reversed)
	if err != nil {
		return v, err
	}
	return v.Transpose(order)
}

// plainAxes returns row-major axes of a shape that Count accepts. Zero
// dimensions count as one in the strides, so that these cannot overflow.
func plainAxes(shape []int64) []axis {
	axes := make([]axis, len(shape))
	step := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		axes[i] = axis{dim: shape[i], full: shape[i], step: step}
		step *= max(shape[i], 1)
	}
	return axes
}

func newView(axes []axis, stored int64) View {
	v := View{Dims: make([]int64, len(axes)), axes: axes, stored: stored}
	for i, a := range axes {
		v.Dims[i] = a.dim
	}
	v.nest = newNest(axes)
	return v
}

// Len returns the number of logical elements.
func (v View) Len() int64 {
	if v.nest == nil {
		return 0
	}
	return v.nest.size
}

// Stored returns the number of elements of the stored tensor, padding included.
func (v View) Stored() int64 { return v.stored }

// Extent returns how many stored elements, from the first, reading the whole
// View can touch. It is at most Stored.
func (v View) Extent() int64 {
	if v.nest == nil {
		return 0
	}
	return v.nest.extent
}

// IsContiguous reports whether logical and stored order agree, so that the
// View is the first Len stored elements.
func (v View) IsContiguous() bool {
	if v.nest == nil {
		return true
	}
	return v.nest.contiguous()
}

// Same reports whether both views read the same stored elements in the same order,
// whatever their dims.
func (v View) Same(w View) bool {
	if v.nest == nil || w.nest == nil {
		return v.nest == w.nest
	}
	return slices.EqualFunc(v.nest.axes, w.nest.axes, func(a, b axis) bool {
		a.full, b.full = 0, 0
		return a == b
	})
}

// Full returns the dims before padding was cut.
func (v View) Full() []int64 {
	full := make([]int64, len(v.axes))
	for i, a := range v.axes {
		full[i] = a.full
	}
	return full
}

// Cut keeps the front part of every axis. It fails with ErrShapeShort when
// dims has another rank and with ErrExceeds when it wants more than there is.
func (v View) Cut(dims []int64) (_ View, err error) {
	defer must.Catch(&err)
	must.Not(len(dims) != len(v.axes), "layout: cut %v to %v: %w", v.Dims, dims, ErrShapeShort)
	axes := slices.Clone(v.axes)
	for i, d := range dims {
		must.Not(d < 0, "layout: cut %v to %v: %w: %d at axis %d", v.Dims, dims, ErrBadDim, d, i)
		must.Not(d > axes[i].dim, "layout: cut %v to %v: %w: %d of %d at axis %d", v.Dims, dims, ErrExceeds, d, axes[i].dim, i)
		axes[i].dim = d
	}
	return newView(axes, v.stored), nil
}

// Transpose reorders the axes: axis i of the result is axis order[i].
func (v View) Transpose(order []int) (View, error) {
	if len(order) != len(v.axes) {
		return View{}, fmt.Errorf("layout: transpose %v by %v: %w", v.Dims, order, ErrShapeShort)
	}
	axes, seen := make([]axis, len(order)), make([]bool, len(order))
	for i, k := range order {
		if k < 0 || k >= len(order) || seen[k] {
			return View{}, fmt.Errorf("layout: transpose %v by %v: %w: not a permutation", v.Dims, order, ErrRange)
		}
		axes[i], seen[k] = v.axes[k], true
	}
	return newView(axes, v.stored), nil
}

// Offset returns the position of logical element i among the stored ones.
func (v View) Offset(i int64) (int64, error) {
	if i < 0 || i >= v.Len() {
		return 0, fmt.Errorf("layout: element %d of %d: %w", i, v.Len(), ErrRange)
	}
	o := int64(0)
	for k := len(v.axes) - 1; k >= 0; k-- {
		a := v.axes[k]
		o += a.off(i % a.dim)
		i /= a.dim
	}
	return o, nil
}

// Strided returns the View of a tensor whose neighbours along axis k lie
// stride[k] stored elements apart: a view as frameworks keep it, transposed, cut
// or expanded (a stride of 0 shows one element many times). The first element is
// the first stored one. It fails with ErrShapeShort when shape and stride differ
// in length, with ErrBadDim on negative numbers, and with ErrTooBig when the
// number of elements or their extent overflows.
func Strided(shape, stride []int64) (_ View, err error) {
	defer must.Catch(&err)
	must.Not(len(shape) != len(stride), "layout: %d dims and %d strides: %w", len(shape), len(stride), ErrShapeShort)
	n := must.Get(Count(shape))
	extent := uint64(1)
	axes := make([]axis, len(shape))
	for k, dim := range shape {
		must.Not(stride[k] < 0, "layout: strides %v: %w", stride, ErrBadDim)
		axes[k] = axis{dim: dim, full: dim, step: stride[k]}
		if n == 0 || dim == 1 {
			axes[k].step = 1 // never taken, and may be beyond all bounds
			continue
		}
		hi, lo := bits.Mul64(uint64(dim-1), uint64(stride[k]))
		extent += lo
		must.Not(hi != 0 || lo >= 1<<63 || extent >= 1<<63, "layout: shape %v with strides %v: %w", shape, stride, ErrTooBig)
	}
	if n == 0 {
		extent = 0
	}
	return newView(axes, int64(extent)), nil
}

// SliceLike cuts the front part of the View to the wanted shape the way
// msaccucmp.py does, position by position whatever the axes mean:
//
//   - a View of lower rank than want passes unchanged if both agree but for
//     ones, and fails otherwise;
//   - else both are padded with trailing ones, the View to four dims at least;
//   - equal counts with at most one dim of the View not 1 pass unchanged;
//   - the first position that differs decides: smaller than wanted fails, larger
//     cuts; then every axis is cut to at most the wanted dim, and the padded
//     rank stays. Ranks above 5 are never cut, so the result may still differ
//     from want.
//
// The error is a [*SliceError]. An empty want leaves the View as it is.
func (v View) SliceLike(want []int64) (View, error) {
	if len(want) == 0 {
		return v, nil
	}
	if slices.Min(want) < 0 {
		return View{}, &SliceError{Have: v.Dims, Want: want}
	}
	if len(v.axes) < len(want) {
		if !slices.Equal(nd.WithoutOnes(v.Dims), nd.WithoutOnes(want)) {
			return View{}, &SliceError{Have: v.Dims, Want: want}
		}
		return v, nil
	}
	have := nd.WithOnes(v.Dims, 4)
	want = nd.WithOnes(want, len(have))
	if sameCount(have, want) && len(nd.WithoutOnes(v.Dims)) <= 1 {
		return v, nil
	}
	for i, h := range have {
		if h < want[i] {
			return View{}, &SliceError{Have: have, Want: want}
		}
		if h > want[i] {
			if len(have) > 5 {
				return v, nil
			}
			return v.front(want), nil
		}
	}
	return v, nil
}

// front pads the View with axes of one and cuts each to at most dims.
func (v View) front(dims []int64) View {
	axes := slices.Clone(v.axes)
	for len(axes) < len(dims) {
		axes = append(axes, axis{dim: 1, full: 1, step: 1})
	}
	for i := range axes {
		axes[i].dim = min(axes[i].dim, dims[i])
	}
	return newView(axes, v.stored)
}

func sameCount(a, b []int64) bool {
	m, err := Count(a)
	n, err2 := Count(b)
	return err == nil && err2 == nil && m == n
}
