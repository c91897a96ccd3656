package compare

import (
	"errors"

	"precision/dump/layout"
)

// oldPlan prepares a tensor the way msaccucmp.py does in rule mode.
func oldPlan(op string, s stored, g goldenShape) (plan, *planError) {
	target, failed := targetLayout(g, s.format)
	if failed != nil {
		return plan{}, failed
	}
	goldenCount, ok := product(g.data)
	if !ok {
		return plan{}, planFailed(ShapeDiffers, true, "[%s] the golden shape %s is no shape", op, shapeText(g.data))
	}
	golden := g.data
	scalar := oldScalarLike(s.shape)
	var v layout.View
	var err error
	if scalar || target == layout.ND && s.format != layout.FractalNZ && s.format != layout.NDC1HWC0 {
		// Nothing is converted, and both arrays stay flat.
		v, err = layout.Contiguous([]int64{s.elements})
		golden = []int64{goldenCount}
		if n, ok := product(s.shape); ok && n == 0 {
			v, err = layout.Contiguous(s.shape) // an array without elements keeps its shape
		}
	} else {
		v, failed = oldConvert(op, s, target, g)
	}
	if failed != nil {
		return plan{}, failed
	}
	if err != nil {
		return plan{}, planFailed(ShapeDiffers, true, "[%s] %v", op, err)
	}
	if s.format != layout.ND || !scalar && v.Len() != goldenCount {
		before := v.Dims
		if v, err = v.SliceLike(golden); err != nil {
			var mismatch *layout.SliceError
			if errors.As(err, &mismatch) {
				return plan{}, shapesDiffer(op, mismatch.Have, mismatch.Want)
			}
			return plan{}, shapesDiffer(op, before, golden)
		}
	}
	if v.Len() != goldenCount {
		return plan{}, shapesDiffer(op, []int64{v.Len()}, []int64{goldenCount})
	}
	return plan{view: v, shape: v.Dims, count: goldenCount}, nil
}

// oldConvert chooses between a reshape and a converter of the old table.
func oldConvert(op string, s stored, target layout.Format, g goldenShape) (layout.View, *planError) {
	reshape := func() (layout.View, *planError) {
		v, err := layout.Contiguous(s.shape)
		if err != nil || v.Len() != s.elements {
			return v, planFailed(ShapeDiffers, true, "[%s] the dump holds %d elements, its shape is %s", op, s.elements, shapeText(s.shape))
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
		return layout.View{}, planFailed(NoConverter, true, "[%s] there is no conversion from %s to %s", op, format, target)
	}
	v, err := layout.Convert(format, target, s.shape, g.rule, s.group)
	if err != nil {
		return v, planFailed(NoConverter, true, "[%s] %v", op, err)
	}
	if n, _ := product(s.shape); n != s.elements {
		return v, planFailed(NoConverter, true, "[%s] the dump holds %d elements, its shape is %s", op, s.elements, shapeText(s.shape))
	}
	return v, nil
}

func checkNZ(op string, shape, want []int64) *planError {
	err := layout.CheckNZ(shape, want)
	if err == nil {
		return nil
	}
	var bad *layout.NZShapeError
	if !errors.As(err, &bad) {
		return planFailed(ShapeDiffers, true, "[%s] %v", op, err)
	}
	if len(want) == 0 {
		return planFailed(ShapeDiffers, false, "[%s] The target shape is empty. A FRACTAL_NZ tensor needs its original shape, at most %s.",
			op, shapeText(bad.Recommended))
	}
	return planFailed(ShapeDiffers, false, "[%s] The target shape %s is invalid. The stored tensor can hold up to %s.",
		op, shapeText(want), shapeText(bad.Recommended))
}
