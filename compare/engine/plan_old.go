package engine

import (
	"errors"
	"fmt"

	"precision/compare/result"
	"precision/dump/layout"
	"precision/internal/must"
	"precision/internal/nd"
)

// oldPlan prepares a tensor the way msaccucmp.py does in rule mode.
func oldPlan(op string, s stored, g rightShape) plan {
	target, goldenCount := golden(op, s, g)
	right := g.data
	var v layout.View
	if oldScalarLike(s.shape) || target == layout.ND && s.format != layout.FractalNZ && s.format != layout.NDC1HWC0 {
		// Nothing is converted, and both arrays stay flat.
		flat := []int64{s.elements}
		if n, ok := nd.Count(s.shape...); ok && n == 0 {
			flat = s.shape // an array without elements keeps its shape
		}
		v, right = viewed(op)(layout.Contiguous(flat)), []int64{goldenCount}
	} else {
		v = oldConvert(op, s, target, g)
	}
	v = oldSlice(op, s, v, right, goldenCount)
	if v.Len() != goldenCount {
		must.Do(shapesDiffer(op, []int64{v.Len()}, []int64{goldenCount}))
	}
	return plan{view: v, shape: v.Dims, count: goldenCount}
}

// oldSlice cuts what was stored to the shape of the golden array, place by place, where its layout or the number of elements asks for that.
func oldSlice(op string, s stored, v layout.View, golden []int64, count int64) layout.View {
	if s.format == layout.ND && (oldScalarLike(s.shape) || v.Len() == count) {
		return v
	}
	cut, err := v.SliceLike(numbered(golden))
	if mismatch, ok := errors.AsType[*layout.SliceError](err); ok {
		must.Do(shapesDiffer(op, mismatch.Have, mismatch.Want))
	} else if err != nil {
		must.Do(shapesDiffer(op, v.Dims, golden))
	}
	return cut
}

// numbered is a shape as slicing takes it: a single number, whose shape is (), is one of one axis. To
// [layout.View.SliceLike] no axes mean that nothing is known.
func numbered(shape []int64) []int64 {
	if len(shape) == 0 {
		return []int64{1}
	}
	return shape
}

// oldConvert chooses between a reshape and a converter of the old table.
func oldConvert(op string, s stored, target layout.Format, g rightShape) layout.View {
	reshape := func() layout.View {
		v, err := layout.Contiguous(s.shape)
		if err != nil || v.Len() != s.elements {
			must.Do(planFailed(result.ElementsOfShape, op, count(s.elements), shapeText(s.shape)))
		}
		return v
	}
	format := layout.AsStored(s.format, len(s.shape))
	if format == layout.ND || s.format == target {
		return reshape()
	}
	if format == layout.FractalNZ {
		if target == layout.ND && len(g.rule) > 2 && !layout.BatchFitsNZ(s.shape, g.rule) {
			return reshape()
		}
		checkNZ(op, s.shape, g.rule)
	}
	if old, _ := layout.Supported(format, target); !old || s.group >= 2 {
		must.Do(planFailed(result.LayoutNone, op, format.String(), target.String()))
	}
	v, err := layout.Convert(format, target, s.shape, g.rule, s.group)
	if n, _ := nd.Count(s.shape...); err == nil && n != s.elements {
		err = fmt.Errorf("the dump holds %d elements, its shape is %s", s.elements, shapeText(s.shape))
	}
	if err != nil {
		must.Do(planFailed(result.LayoutFailed, op, err.Error()))
	}
	return v
}

func checkNZ(op string, shape, want []int64) {
	err := layout.CheckNZ(shape, want)
	bad, ok := errors.AsType[*layout.NZShapeError](err)
	switch {
	case err == nil:
	case !ok:
		must.Do(planFailed(result.BadView, op, err.Error()))
	case len(want) == 0:
		must.Do(planFailed(result.NZNoShape, op, shapeText(bad.Recommended)))
	default:
		must.Do(planFailed(result.NZShape, op, shapeText(want), shapeText(bad.Recommended)))
	}
}
