package computed

import (
	"math"
	"slices"
	"sort"
)

// Operators that choose: their results jump where two scores are nearly equal.

// ordered are the places of x from the largest on; of equal ones the first.
func ordered(x []float64) []int {
	at := make([]int, len(x))
	for i := range at {
		at[i] = i
	}
	sort.SliceStable(at, func(i, j int) bool { return x[at[i]] > x[at[j]] })
	return at
}

// discreteKernels adds those that choose.
func discreteKernels() {
	kernels["TopKD"] = func(c *context, a attrs, in []array, out []spec) []array {
		v, at := zeros(out[0].shape...), zeros(out[1].shape...)
		k := out[0].shape[len(out[0].shape)-1]
		rows(in[0], []int{-1}, func(row int, x []float64, _ []int) {
			for i, p := range ordered(x)[:k] {
				if c.is("shift") {
					p = (p + 1) % len(x)
				}
				v.v[row*k+i], at.v[row*k+i] = x[p], float64(p)
			}
		})
		return []array{v, at}
	}
	kernels["Sort"] = func(c *context, a attrs, in []array, out []spec) []array {
		v, at := zeros(out[0].shape...), zeros(out[1].shape...)
		rows(in[0], []int{-1}, func(row int, x []float64, places []int) {
			order := ordered(x)
			if !a.yes("descending") {
				order = ordered(zip([]array{{[]int{len(x)}, x}}, func(x []float64) float64 { return -x[0] }).v)
			}
			for i, p := range order {
				v.v[places[i]], at.v[places[i]] = x[p], float64(p)
			}
		})
		return []array{v, at}
	}
	kernels["ArgMaxD"] = one(func(_ *context, a attrs, in []array, out spec) array {
		y := zeros(out.shape...)
		rows(in[0], []int{a.int("dimension")}, func(row int, x []float64, _ []int) { y.v[row] = float64(ordered(x)[0]) })
		return y
	})
	kernels["OneHotD"] = one(func(_ *context, a attrs, in []array, out spec) array {
		y := zeros(out.shape...)
		depth := a.int("depth")
		for i, v := range in[0].v {
			for k := range depth {
				if y.v[i*depth+k] = in[2].v[0]; int(v) == k {
					y.v[i*depth+k] = in[1].v[0]
				}
			}
		}
		return y
	})
	// Boxes (boxes, 4) with scores (1, boxes): indices (batch, class, box) of those
	// that are kept, -1 behind the last.
	kernels["NonMaxSuppressionV6"] = one(func(_ *context, a attrs, in []array, out spec) array {
		y := zeros(out.shape...)
		for i := range y.v {
			y.v[i] = -1
		}
		area := func(b []float64) float64 { return max(b[2]-b[0], 0) * max(b[3]-b[1], 0) }
		var kept []int
		for _, p := range ordered(in[1].v) {
			b, free := in[0].v[p*4:p*4+4], in[1].v[p] > a.num("score_threshold")
			for _, q := range kept {
				o := in[0].v[q*4 : q*4+4]
				both := area([]float64{max(b[0], o[0]), max(b[1], o[1]), min(b[2], o[2]), min(b[3], o[3])})
				free = free && both <= a.num("iou_threshold")*(area(b)+area(o)-both)
			}
			if free && len(kept) < out.shape[0] {
				y.v[len(kept)*3], y.v[len(kept)*3+1], y.v[len(kept)*3+2] = 0, 0, float64(p)
				kept = append(kept, p)
			}
		}
		return y
	})
	kernels["MaxPoolGrad"] = one(func(_ *context, a attrs, in []array, _ spec) array {
		y := zeros(in[0].shape...)
		pool(in[0], a, in[1].shape, func(i int, x []float64, at []int) {
			best := slices.Max(x)
			k := slices.IndexFunc(x, func(v float64) bool { return v == best || v != v })
			y.v[at[k]] += in[2].v[i]
		})
		return y
	})
	kernels["AscendQuant"] = one(func(c *context, a attrs, in []array, _ spec) array {
		return zip(in, func(x []float64) float64 {
			return min(max(math.RoundToEven(c.r(c.r(x[0]*a.num("scale"))+a.num("offset"))), -128), 127)
		})
	})
	kernels["Quantize"] = one(func(c *context, a attrs, in []array, _ spec) array {
		return zip(in, func(x []float64) float64 {
			return min(max(math.RoundToEven(c.r(x[0]/x[1]))+x[2], -128), 127)
		})
	})
	dequant := one(func(c *context, a attrs, in []array, _ spec) array {
		scale := in[1]
		if len(scale.v) > 1 && len(in[0].shape) == 4 {
			scale = scale.as(1, len(scale.v), 1, 1)
		}
		return zip([]array{in[0], scale}, func(x []float64) float64 {
			y := c.r(x[0] * x[1])
			if a.yes("relu_flag") && !c.is("dropped") {
				y = max(y, 0)
			}
			return y
		})
	})
	kernels["AscendDequant"], kernels["Dequantize"] = dequant, dequant
}
