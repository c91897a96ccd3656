//go:build amd64 && !noasm

package metric

import (
	"golang.org/x/sys/cpu"

	"precision/internal/kernel"
)

// levels are the kernels that this machine can run, best last.
var levels = func() []level {
	l := []level{levelGo}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		l = append(l, levelAVX2)
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL {
			l = append(l, levelAVX512)
		}
	}
	return l
}()

// The kernels of each level.
var vector32 = [...]kernels[float32]{
	levelAVX2: {
		tile:    func(x, y *float32, n int) (out [kernel.SumSlots]float64) { sumTile32AVX2(&out, x, y, n); return out },
		kl:      func(k [4]float64, x, y *float32, n int) (out [3]float64) { sumKL32AVX2(&out, &k, x, y, n); return out },
		spread:  func(v *float32, mean float64, n int) (out [2]float64) { sumSpread32AVX2(&out, v, mean, n); return out },
		apart:   func(x, y *float32, n int, by float64) int { return firstApart32AVX2(x, y, n, below(by)) },
		outside: outside32AVX2,
	},
	levelAVX512: {
		tile: func(x, y *float32, n int) (out [kernel.SumSlots]float64) { sumTile32AVX512(&out, x, y, n); return out },
		kl: func(k [4]float64, x, y *float32, n int) (out [3]float64) {
			sumKL32AVX512(&out, &k, x, y, n)
			return out
		},
		spread: func(v *float32, mean float64, n int) (out [2]float64) {
			sumSpread32AVX512(&out, v, mean, n)
			return out
		},
		apart:   func(x, y *float32, n int, by float64) int { return firstApart32AVX512(x, y, n, below(by)) },
		outside: outside32AVX512,
	},
}

var vector64 = [...]kernels[float64]{
	levelAVX2: {
		tile:    func(x, y *float64, n int) (out [kernel.SumSlots]float64) { sumTile64AVX2(&out, x, y, n); return out },
		kl:      func(k [4]float64, x, y *float64, n int) (out [3]float64) { sumKL64AVX2(&out, &k, x, y, n); return out },
		spread:  func(v *float64, mean float64, n int) (out [2]float64) { sumSpread64AVX2(&out, v, mean, n); return out },
		apart:   firstApart64AVX2,
		outside: outside64AVX2,
	},
	levelAVX512: {
		tile: func(x, y *float64, n int) (out [kernel.SumSlots]float64) { sumTile64AVX512(&out, x, y, n); return out },
		kl: func(k [4]float64, x, y *float64, n int) (out [3]float64) {
			sumKL64AVX512(&out, &k, x, y, n)
			return out
		},
		spread: func(v *float64, mean float64, n int) (out [2]float64) {
			sumSpread64AVX512(&out, v, mean, n)
			return out
		},
		apart:   firstApart64AVX512,
		outside: outside64AVX512,
	},
}

func narrowKernel(out *narrowLanes, k *narrowScale, x, y *float32, n int) {
	if active == levelAVX512 {
		sumNarrowAVX512((*[3][8]float64)(out), (*[6][16]float32)(k), x, y, n)
	} else {
		sumNarrowAVX2((*[3][8]float64)(out), (*[6][16]float32)(k), x, y, n)
	}
}

// leaves fills the rows of the leaves of a block.
func (r *referenceRun) leaves(work *leafRows, ext *[6][8]float32, x, y []float32, plan *leafPlan) {
	wide := active == levelAVX512
	switch {
	case r.pass == 0 && wide:
		refFirstAVX512(&work.rows, &work.doubles, ext, &x[0], &y[0], &plan.groups, plan.n)
	case r.pass == 0:
		refFirstAVX2(&work.rows, &work.doubles, ext, &x[0], &y[0], &plan.groups, plan.n)
	case r.pass == 1 && wide:
		refSecondAVX512(&work.rows, &work.doubles, &r.lanes.scales, &r.lanes.means, &x[0], &y[0], &plan.groups, plan.n)
	case r.pass == 1:
		refSecondAVX2(&work.rows, &work.doubles, &r.lanes.scales, &r.lanes.means, &x[0], &y[0], &plan.groups, plan.n)
	case wide:
		refThirdAVX512(&work.rows, &work.doubles, &r.lanes.scales, &x[0], &y[0], &plan.groups, plan.n)
	default:
		refThirdAVX2(&work.rows, &work.doubles, &r.lanes.scales, &x[0], &y[0], &plan.groups, plan.n)
	}
}
