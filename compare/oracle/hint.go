package oracle

import (
	"math"

	"precision/dump/dtype"
)

// isProduct reports whether the elements of v are sums of products.
func isProduct(v Values) bool {
	switch v := v.(type) {
	case *conv, *matmul:
		return true
	case *strided:
		return isProduct(v.in)
	case *rounded:
		return isProduct(v.Values)
	case *pointwise:
		for _, in := range v.in {
			if isProduct(in) {
				return true
			}
		}
	}
	return false
}

// lowAccumulation reports whether the misses are what sums in float16 give: none
// is larger than rounding every partial sum to float16 allows, which is the
// bound B with the unit of float16 in place of float32's; many elements are off, to
// both sides, and not in proportion to their values.
func lowAccumulation(j *judge) bool {
	half := halfOver(dtype.Float16)
	if len(j.misses) < 8 {
		return false
	}
	up, same, squares, cross := 0, 0.0, 0.0, 0.0
	for _, m := range j.misses {
		off := m.found - m.y
		if math.IsNaN(off) || math.IsInf(off, 0) || abs(off) > half*m.before/4 {
			return false
		}
		if off > 0 {
			up++
		}
		same += m.y * m.y
		squares += off * off
		cross += m.y * off
	}
	share := float64(up) / float64(len(j.misses))
	return share > 0.1 && share < 0.9 && abs(cross) < 0.7*math.Sqrt(same*squares)
}

// halfOver is how much coarser half precision rounds than the float32 of bounds: bfloat16 where numbers are
// recorded in it, else float16, which is what kernels fall back to.
func halfOver(t dtype.Type) float64 {
	if t == dtype.BFloat16 {
		return 0x1p-8 / u32
	}
	return 0x1p-11 / u32
}
