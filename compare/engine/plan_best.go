package engine

import (
	"fmt"
	"iter"
	"slices"

	"precision/compare/result"
	"precision/dump/layout"
	"precision/internal/must"
	"precision/internal/nd"
)

// bestPlan prepares a tensor by what the axes mean. The golden array is the
// truth about the logical shape: the device tensor is restored to exactly that
// shape, so only block padding is cut.
func bestPlan(op string, s stored, g rightShape) plan {
	target, goldenCount := golden(op, s, g)
	want, ok := nd.Count(s.shape...)
	if !ok {
		must.Do(planFailed(result.NoShape, op, shapeText(s.shape)))
	}
	if s.elements < want {
		must.Do(planFailed(result.FewElements, op, count(s.elements), shapeText(s.shape), count(want)))
	}
	format := layout.AsStored(s.format, len(s.shape))
	if goldenCount == 1 && want > 1 && !plain(format) {
		return oneElement(op, format, s, g)
	}
	logical := g
	if format == layout.FractalNZ && otherOrder(s.origin, g.data) {
		logical.data = s.origin // blocks of a matrix are those of the turned one, too: its axes have no names
	}
	if v, ok := restore(format, target, s, logical); ok {
		p := plan{view: v, shape: v.Dims, count: goldenCount}
		if otherOrder(v.Dims, g.data) {
			p.orders = append([]layout.View{v}, turned(v, g.data)...)
		} else if !slices.Equal(nd.WithoutOnes(v.Dims), nd.WithoutOnes(g.data)) {
			// Equal counts in another shape: a reshape between the two sides.
			p.remarks = append(p.remarks, result.Because(result.StorageOrder, shapeText(v.Dims), shapeText(g.data)))
		}
		return p
	}
	if v, ok := front(format, target, s, g); ok {
		return plan{view: v, shape: v.Dims, count: goldenCount, remarks: []result.Reason{
			result.Because(result.FrontOnly, shapeText(s.shape), shapeText(g.data))}}
	}
	if _, ours := layout.Supported(format, target); !ours && !plain(format) {
		must.Do(planFailed(result.LayoutNoneFor, op, s.format.String(), shapeText(s.shape), target.String(), shapeText(g.data)))
	}
	panic(must.Failure(shapesDiffer(op, s.shape, g.data)))
}

// oneElement prepares a blocked tensor, which is padded to 16 elements or more, for a
// golden array of one: its logical shape must have one element, too. That shape is in
// the header or the graph; where neither tells, the blocks must be able to hold it.
func oneElement(op string, format layout.Format, s stored, g rightShape) plan {
	logical := s.origin
	if len(logical) == 0 {
		logical = g.rule
	}
	if n, ok := nd.Count(logical...); len(logical) > 0 && (!ok || n != 1) {
		must.Do(shapesDiffer(op, logical, g.data))
	}
	for rank := 5; rank >= 2; rank-- {
		for _, to := range guesses(format, rank) {
			v, err := layout.Restore(format, to, s.shape, slices.Repeat([]int64{1}, rank), s.group)
			if err == nil && v.Len() == 1 {
				return plan{view: v, shape: g.data, count: 1}
			}
		}
	}
	panic(must.Failure(shapesDiffer(op, s.shape, g.data)))
}

// plain tells whether a format stores its elements in logical order, without
// blocks.
func plain(f layout.Format) bool {
	return orderless(f) || f.Letters() != ""
}

// restore finds a view with exactly as many elements as the golden array.
func restore(format, target layout.Format, s stored, g rightShape) (layout.View, bool) {
	goldenCount, _ := nd.Count(g.data...)
	count, _ := nd.Count(s.shape...)
	blocked := !plain(format)
	stored := func() (layout.View, bool) {
		v, err := layout.Contiguous(s.shape)
		return v, err == nil && count == goldenCount
	}
	switch {
	case blocked && slices.Equal(s.shape, g.data), count <= 1:
		return stored() // the array was saved in the device layout, or order means nothing
	case !blocked && (format == target || orderless(format) || orderless(target)):
		return stored()
	}
	// The layout the graph names first; then, for a blocked layout of which
	// the graph says nothing useful, what the rank of the array suggests.
	into := func(shape []int64) (layout.View, bool) {
		targets := []layout.Format{target}
		if blocked {
			targets = append(targets, guesses(format, len(shape))...)
		}
		for _, to := range targets {
			if _, ours := layout.Supported(format, to); !ours || blocked && to == format {
				continue
			}
			v, err := layout.Restore(format, to, s.shape, shape, s.group)
			if err == nil && v.Len() == goldenCount {
				return v, true
			}
		}
		return layout.View{}, false
	}
	if v, ok := into(g.data); ok {
		return v, true
	}
	switch {
	case !blocked && slices.Equal(s.shape, g.data):
		return stored() // what the graph says of the axes does not hold
	case blocked && len(s.origin) > 0:
		// The framework reshapes right behind the operator, as (batch·length,
		// hidden) to (batch, length, hidden): padding goes by the shape the
		// operator itself had.
		return into(s.origin)
	}
	return layout.View{}, false
}

// orderless tells whether a format says nothing about what the axes mean.
func orderless(f layout.Format) bool { return f == layout.ND || f == layout.Reserved }

// front cuts a tensor that holds more of the first axis than the golden array, as
// when only one side was dumped with a batch. In any other axis a difference is no
// batch: these are two tensors, and what their fronts have in common tells nothing.
func front(format, target layout.Format, s stored, g rightShape) (layout.View, bool) {
	if len(g.data) < 2 {
		return layout.View{}, false
	}
	v, err := layout.Contiguous(s.shape)
	if !plain(format) || format != target && format != layout.ND && target != layout.ND {
		if len(g.data) == 0 || len(s.shape) == 0 {
			return v, false
		}
		want := slices.Clone(g.data)
		want[0] = s.shape[0] // the batch
		v, err = layout.Restore(format, target, s.shape, want, s.group)
	}
	if err != nil || len(v.Dims) != len(g.data) || !slices.Equal(v.Dims[1:], g.data[1:]) {
		return v, false
	}
	v, err = v.Cut(g.data)
	return v, err == nil
}

// guesses are the framework layouts a blocked tensor of that many logical axes
// may come from, the likeliest first.
func guesses(format layout.Format, rank int) []layout.Format {
	if format == layout.FractalNZ {
		return []layout.Format{layout.ND}
	}
	switch rank {
	case 4:
		return []layout.Format{layout.NCHW, layout.NHWC, layout.HWCN}
	case 5:
		return []layout.Format{layout.NCDHW, layout.NDHWC, layout.DHWCN}
	}
	// A vector kept as channels: (C) is (1, C, 1, 1).
	return []layout.Format{layout.NCHW, layout.ND}
}

// otherOrder tells whether dims are those of an array in another order of axes, and not in
// their own.
func otherOrder(dims, golden []int64) bool {
	dims = nd.WithoutOnes(dims)
	if fitsAxes(dims, golden) {
		return false
	}
	for axes := range permutations(dims) {
		if fitsAxes(permuted(dims, axes...), golden) {
			return true
		}
	}
	return false
}

// turned are the views whose axes are in an order that gives the dims of a golden array.
func turned(v layout.View, golden []int64) (list []layout.View) {
	for axes := range permutations(v.Dims) {
		if !slices.Equal(nd.WithoutOnes(permuted(v.Dims, axes...)), nd.WithoutOnes(golden)) {
			continue
		}
		if w, err := v.Transpose(axes); err == nil && len(list) < mostOrders {
			list = append(list, w)
		}
	}
	return list
}

// mostOrders bounds the orders that are tried of a tensor: all of four axes.
const mostOrders = 24

// permutations are the orders of the axes of a shape; axes of one stay where they are.
func permutations(dims []int64) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		axes := make([]int, len(dims))
		var moved []int // the axes of more than one element
		for i, d := range dims {
			axes[i] = i
			if d != 1 {
				moved = append(moved, i)
			}
		}
		var next func(k int) bool
		next = func(k int) bool {
			if k == len(moved) {
				return yield(slices.Clone(axes))
			}
			for i := k; i < len(moved); i++ {
				a, b := moved[k], moved[i]
				axes[a], axes[b] = axes[b], axes[a]
				ok := next(k + 1)
				if axes[a], axes[b] = axes[b], axes[a]; !ok {
					return false
				}
			}
			return true
		}
		if len(moved) <= mostAxes {
			next(0)
		}
	}
}

// mostAxes bounds the axes of more than one element that all orders are tried of: 720
// orders of 6.
const mostAxes = 6

// fitsAxes tells whether two shapes are the same axes in the same order, but for
// neighbours that one of them has merged, and axes of one. The same dims in another order
// are never that, though (2, 4, 8) could be cut into (8, 2, 4).
func fitsAxes(a, b []int64) bool {
	a, b = nd.WithoutOnes(a), nd.WithoutOnes(b)
	if !slices.Equal(a, b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))) {
		return false
	}
	for len(a) > 0 && len(b) > 0 {
		i, j, x, y := 1, 1, a[0], b[0]
		for x != y {
			switch {
			case x < y && j == 1 && i < len(a):
				x *= a[i]
				i++
			case y < x && i == 1 && j < len(b):
				y *= b[j]
				j++
			default:
				return false
			}
		}
		a, b = a[i:], b[j:]
	}
	return len(a) == 0 && len(b) == 0
}

// originViews are the views of two tensors of the same stored shape. In the same
// layout their elements lie alike, so both are read in one way, also when the
// framework shapes they name have other axis orders or one side names none.
func originViews(a, b stored) (left, right layout.View, err error) {
	defer must.Catch(&err)
	left, _, err = originView(a)
	must.Do(err)
	right, _, err = originView(b)
	must.Do(err)
	switch alike := a.format == b.format && a.group == b.group && slices.Equal(a.shape, b.shape); {
	case !alike:
	case len(a.origin) == 0:
		left = right
	case len(b.origin) == 0 || left.Len() == right.Len():
		right = left
	}
	return left, right, nil
}

// originView leaves out the block padding of a device tensor: its elements in
// the order of the framework layout that its original shape belongs to, which
// is returned too. Where that cannot be told the stored order is kept, padding
// included.
func originView(s stored) (layout.View, layout.Format, error) {
	count, ok := nd.Count(s.shape...)
	if !ok || s.elements < count {
		return layout.View{}, 0, fmt.Errorf("the dump holds %d elements, its shape is %s", s.elements, shapeText(s.shape))
	}
	format := layout.AsStored(s.format, len(s.shape))
	if !plain(format) && len(s.origin) > 0 {
		for _, to := range guesses(format, len(s.origin)) {
			if v, err := layout.Restore(format, to, s.shape, s.origin, s.group); err == nil {
				return v, to, nil
			}
		}
	}
	v, err := layout.Contiguous(s.shape)
	return v, s.format, err
}
