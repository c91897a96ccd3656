//go:build arm64 && !noasm

package metric

import "precision/internal/kernel"

// levels are the kernels of arm64, all of which has vectors.
var levels = []level{levelGo, levelNEON}

// The kernels of each level.
var vector32 = [...]kernels[float32]{levelNEON: {
	tile:    func(x, y *float32, n int) (out [kernel.SumSlots]float64) { tileKernel32(&out, x, y, n); return out },
	kl:      func(k [4]float64, x, y *float32, n int) (out [3]float64) { klKernel32(&out, &k, x, y, n); return out },
	spread:  func(v *float32, mean float64, n int) (out [2]float64) { spreadKernel32(&out, v, mean, n); return out },
	apart:   func(x, y *float32, n int, by float64) int { return apartKernel32(x, y, n, below(by)) },
	outside: outsideKernel32,
}}

var vector64 = [...]kernels[float64]{levelNEON: {
	tile:    func(x, y *float64, n int) (out [kernel.SumSlots]float64) { tileKernel64(&out, x, y, n); return out },
	kl:      func(k [4]float64, x, y *float64, n int) (out [3]float64) { klKernel64(&out, &k, x, y, n); return out },
	spread:  func(v *float64, mean float64, n int) (out [2]float64) { spreadKernel64(&out, v, mean, n); return out },
	apart:   apartKernel64,
	outside: outsideKernel64,
}}

// tileKernel32 is sumTile over n elements, a multiple of 4 and not 0.
//
//go:noescape
func tileKernel32(out *[kernel.SumSlots]float64, x, y *float32, n int)

// klKernel32 is sumKL over n elements, a multiple of 4 and not 0. k holds lo and inverse of x
// and of y.
//
//go:noescape
func klKernel32(out *[3]float64, k *[4]float64, x, y *float32, n int)

// narrowKernel is sumNarrowGo over n elements, a multiple of 16 and not 0.
//
//go:noescape
func narrowKernel(out *narrowLanes, k *narrowScale, x, y *float32, n int)

// spreadKernel32 is the sums of v-mean and of its square over n elements, a multiple of 4 and not 0.
//
//go:noescape
func spreadKernel32(out *[2]float64, v *float32, mean float64, n int)

// tileKernel64 is sumTile over n elements, a multiple of 4 and not 0.
//
//go:noescape
func tileKernel64(out *[kernel.SumSlots]float64, x, y *float64, n int)

// klKernel64 is sumKL over n elements, a multiple of 4 and not 0. k holds lo and inverse of x
// and of y.
//
//go:noescape
func klKernel64(out *[3]float64, k *[4]float64, x, y *float64, n int)

// spreadKernel64 is the sums of v-mean and of its square over n elements, a multiple of 4 and not 0.
//
//go:noescape
func spreadKernel64(out *[2]float64, v *float64, mean float64, n int)

// refFirstNEON is refFirst over leaves of groups of 8 elements.
//
//go:noescape
func refFirstNEON(rows *[128][8]float32, doubles *[128][2]float64, ext *[6][8]float32, x, y *float32, groups *[128]uint8, leaves int)

// refSecondNEON is refSecond over leaves of groups of 8 elements.
//
//go:noescape
func refSecondNEON(rows *[128][8]float32, doubles *[128][2]float64, k *[8][8]float32, means *[2][8]float64, x, y *float32, groups *[128]uint8, leaves int)

// refThirdNEON is refThird over leaves of groups of 8 elements.
//
//go:noescape
func refThirdNEON(rows *[128][8]float32, doubles *[128][2]float64, k *[8][8]float32, x, y *float32, groups *[128]uint8, leaves int)

// apartKernel32 is the number of elements before the first sixteen, out of n
// elements, a multiple of 16 and not 0, in which |x-y|, rounded to float32, reaches by:
// n if there are none.
//
//go:noescape
func apartKernel32(x, y *float32, n int, by float32) int

// apartKernel64 is apartKernel32 for float64.
//
//go:noescape
func apartKernel64(x, y *float64, n int, by float64) int

// outsideKernel32 is outside over n elements, a multiple of 4 and not 0.
//
//go:noescape
func outsideKernel32(x, y *float32, n int, abs, rel float64) int

// outsideKernel64 is outside over n elements, a multiple of 4 and not 0.
//
//go:noescape
func outsideKernel64(x, y *float64, n int, abs, rel float64) int

// leaves fills the rows of the leaves of a block.
func (r *referenceRun) leaves(work *leafRows, ext *[6][8]float32, x, y []float32, plan *leafPlan) {
	switch r.pass {
	case 0:
		refFirstNEON(&work.rows, &work.doubles, ext, &x[0], &y[0], &plan.groups, plan.n)
	case 1:
		refSecondNEON(&work.rows, &work.doubles, &r.lanes.scales, &r.lanes.means, &x[0], &y[0], &plan.groups, plan.n)
	default:
		refThirdNEON(&work.rows, &work.doubles, &r.lanes.scales, &x[0], &y[0], &plan.groups, plan.n)
	}
}

// addTree adds rows 0 to 63 pairwise into row 126.
func addTree(rows *[128][8]float32, doubles *[128][2]float64) {
	for i := range 63 {
		a, b, to := &rows[2*i], &rows[2*i+1], &rows[64+i]
		for j := range to {
			to[j] = a[j] + b[j]
		}
		c, d := &doubles[2*i], &doubles[2*i+1]
		doubles[64+i] = [2]float64{c[0] + d[0], c[1] + d[1]}
	}
}
