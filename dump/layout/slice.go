package layout

import "precision/internal/nd"

import "slices"

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
