package layout

import "precision/internal/must"

// maxFitRank bounds the search for axes of one; tensors have at most 8 or so.
const maxFitRank = 16

// fits reports whether the logical extent d is the axis less its padding.
func (a axis) fits(d int64) bool {
	return d == a.full || a.block > 0 && d < a.full && d > a.full-a.block
}

// fit cuts the padding of v to the wanted shape, where needed dropping or
// adding axes of one.
func (p plan) fit(v View) View {
	if len(p.want) == len(v.axes) {
		axes := make([]axis, len(v.axes))
		for i, a := range v.axes {
			d := p.want[i]
			p.needs(d <= a.full, ErrExceeds, "%d of %d at axis %d", d, a.full, i)
			p.needs(a.fits(d), ErrMismatch, "%d of %d at axis %d", d, a.full, i)
			axes[i] = a
			axes[i].dim = p.want[i]
		}
		return newView(axes, v.stored)
	}
	if len(p.want) <= maxFitRank {
		if axes, ok := matchAxes(v.axes, p.want); ok {
			return newView(axes, v.stored)
		}
	}
	panic(must.Failure(p.fail(ErrMismatch, "%v with padding", v.Full())))
}

// matchAxes pairs axes with dims from the front; an axis that may be one can be
// dropped, a dim of one added.
func matchAxes(have []axis, want []int64) ([]axis, bool) {
	if len(have) == 0 && len(want) == 0 {
		return nil, true
	}
	if len(have) > 0 && len(want) > 0 && have[0].fits(want[0]) {
		if rest, ok := matchAxes(have[1:], want[1:]); ok {
			a := have[0]
			a.dim = want[0]
			return append([]axis{a}, rest...), true
		}
	}
	if len(have) > 0 && have[0].fits(1) {
		if rest, ok := matchAxes(have[1:], want); ok {
			return rest, true
		}
	}
	if len(want) > 0 && want[0] == 1 {
		if rest, ok := matchAxes(have, want[1:]); ok {
			return append([]axis{{dim: 1, full: 1, step: 1}}, rest...), true
		}
	}
	return nil, false
}

// FitOriginal finds the axis order of an original shape of unknown layout and
// returns it in the order of to, ready for [Restore]. The order of to itself is
// tried first, then the other plain formats with the same axes (NCHW, NHWC,
// HWCN; NCDHW, NDHWC, DHWCN). It reports false if the shape fits in no order, or
// to is no plain format; then the padding cannot be told and the caller should
// keep it and say so. origin is the order that fitted.
func FitOriginal(from, to Format, stored, original []int64, group int) (want []int64, origin Format, ok bool) {
	for _, f := range []Format{to, NCHW, NHWC, HWCN, NCDHW, NDHWC, DHWCN} {
		want, err := PermuteDims(original, f, to)
		if err != nil {
			continue
		}
		if _, err := Restore(from, to, stored, want, group); err == nil {
			return want, f, true
		}
	}
	return nil, 0, false
}
