package engine

import (
	"errors"
	"fmt"

	"precision/compare/result"
	"precision/dump/layout"
	"precision/internal/nd"
)

// oldPlan prepares a tensor the way msaccucmp.py does in rule mode.
func oldPlan(op string, s stored, g rightShape) (plan, *PairError) {
	target, goldenCount, failed := golden(op, s, g)
	if failed != nil {
		return plan{}, failed
	}
	right := g.data
	var v layout.View
	var err error
	if oldScalarLike(s.shape) || target == layout.ND && s.format != layout.FractalNZ && s.format != layout.NDC1HWC0 {
		// Nothing is converted, and both arrays stay flat.
		v, err = layout.Contiguous([]int64{s.elements})
		right = []int64{goldenCount}
		if n, ok := nd.Count(s.shape...); ok && n == 0 {
			v, err = layout.Contiguous(s.shape) // an array without elements keeps its shape
		}
	} else {
		v, failed = oldConvert(op, s, target, g)
	}
	if failed != nil {
		return plan{}, failed
	}
	if err != nil {
		return plan{}, planFailed(result.BadView, op, err.Error())
	}
	v, failed = oldSlice(op, s, v, right, goldenCount)
	if failed == nil && v.Len() != goldenCount {
		failed = shapesDiffer(op, []int64{v.Len()}, []int64{goldenCount})
	}
	if failed != nil {
		return plan{}, failed
	}
	return plan{view: v, shape: v.Dims, count: goldenCount}, nil
}

// oldSlice cuts what was stored to the shape of the golden array, place by place, where its layout or the number of elements asks for that.
func oldSlice(op string, s stored, v layout.View, golden []int64, count int64) (layout.View, *PairError) {
	if s.format == layout.ND && (oldScalarLike(s.shape) || v.Len() == count) {
		return v, nil
	}
	cut, err := v.SliceLike(numbered(golden))
	if mismatch, ok := errors.AsType[*layout.SliceError](err); ok {
		return v, shapesDiffer(op, mismatch.Have, mismatch.Want)
	} else if err != nil {
		return v, shapesDiffer(op, v.Dims, golden)
	}
	return cut, nil
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
func oldConvert(op string, s stored, target layout.Format, g rightShape) (layout.View, *PairError) {
	reshape := func() (layout.View, *PairError) {
		v, err := layout.Contiguous(s.shape)
		if err != nil || v.Len() != s.elements {
			return v, planFailed(result.ElementsOfShape, op, count(s.elements), shapeText(s.shape))
		}
		return v, nil
	}
	format := layout.AsStored(s.format, len(s.shape))
	if format == layout.ND || s.format == target {
		return reshape()
	}
	if format == layout.FractalNZ {
		if target == layout.ND && len(g.rule) > 2 && !layout.BatchFitsNZ(s.shape, g.rule) {
			return reshape()
		}
		if failed := checkNZ(op, s.shape, g.rule); failed != nil {
			return layout.View{}, failed
		}
	}
	if old, _ := layout.Supported(format, target); !old || s.group >= 2 {
		return layout.View{}, planFailed(result.LayoutNone, op, format.String(), target.String())
	}
	v, err := layout.Convert(format, target, s.shape, g.rule, s.group)
	if err != nil {
		return v, planFailed(result.LayoutFailed, op, err.Error())
	}
	if n, _ := nd.Count(s.shape...); n != s.elements {
		return v, planFailed(result.LayoutFailed, op, fmt.Sprintf("the dump holds %d elements, its shape is %s", s.elements, shapeText(s.shape)))
	}
	return v, nil
}

func checkNZ(op string, shape, want []int64) *PairError {
	err := layout.CheckNZ(shape, want)
	if err == nil {
		return nil
	}
	var bad *layout.NZShapeError
	if !errors.As(err, &bad) {
		return planFailed(result.BadView, op, err.Error())
	}
	if len(want) == 0 {
		return planFailed(result.NZNoShape, op, shapeText(bad.Recommended))
	}
	return planFailed(result.NZShape, op, shapeText(want), shapeText(bad.Recommended))
}
