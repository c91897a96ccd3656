package array

import (
	"slices"

	"precision/dump/layout"
)

// plain are the layouts of framework tensors that a device layout can have come
// from.
var plain = []layout.Format{layout.NCHW, layout.NHWC, layout.HWCN, layout.ND, layout.NCDHW, layout.NDHWC}

// Restore undoes the layout of a device dump: from then on the elements are
// those of the framework's tensor of the wanted shape, without the padding. It
// returns the layout whose axes fit the shape, and changes nothing if there is
// none; of several that which the dump says the tensor had is taken, and
// nothing is changed if it does not say.
func (a *Array) Restore(want []int64) (to string, ok bool) {
	if a.Format == "" || a.viewed || slices.Equal(a.Shape, want) {
		return "", false
	}
	var fits []layout.Format
	var views []layout.View
	for _, f := range plain {
		v, err := layout.Restore(a.tensor.Format, f, a.tensor.Shape, want, int(a.tensor.SubFormat))
		if err == nil && slices.Equal(v.Dims, want) {
			fits, views = append(fits, f), append(views, v)
		}
	}
	i := 0
	switch {
	case len(fits) == 0:
		return "", false
	case len(fits) > 1:
		if i = slices.Index(fits, a.tensor.Original.Format); i < 0 {
			return "", false
		}
	}
	a.view, a.viewed = views[i], true
	a.Restored = fits[i].String()
	a.Shape, a.count = slices.Clone(want), views[i].Len()
	return a.Restored, true
}
