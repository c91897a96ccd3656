package layout

import (
	"fmt"
	"math/bits"
)

// Strided returns the View of a tensor whose neighbours along axis k lie
// stride[k] stored elements apart: a view as frameworks keep it, transposed, cut
// or expanded (a stride of 0 shows one element many times). The first element is
// the first stored one. It fails with ErrShapeShort when shape and stride differ
// in length, with ErrBadDim on negative numbers, and with ErrTooBig when the
// number of elements or their extent overflows.
func Strided(shape, stride []int64) (View, error) {
	if len(shape) != len(stride) {
		return View{}, fmt.Errorf("layout: %d dims and %d strides: %w", len(shape), len(stride), ErrShapeShort)
	}
	n, err := Count(shape)
	if err != nil {
		return View{}, err
	}
	extent := uint64(1)
	axes := make([]axis, len(shape))
	for k, dim := range shape {
		if stride[k] < 0 {
			return View{}, fmt.Errorf("layout: strides %v: %w", stride, ErrBadDim)
		}
		axes[k] = axis{dim: dim, full: dim, step: stride[k]}
		if n == 0 || dim == 1 {
			axes[k].step = 1 // never taken, and may be beyond all bounds
			continue
		}
		hi, lo := bits.Mul64(uint64(dim-1), uint64(stride[k]))
		if extent += lo; hi != 0 || lo >= 1<<63 || extent >= 1<<63 {
			return View{}, fmt.Errorf("layout: shape %v with strides %v: %w", shape, stride, ErrTooBig)
		}
	}
	if n == 0 {
		extent = 0
	}
	return newView(axes, int64(extent)), nil
}
