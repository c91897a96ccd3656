package metric

import (
	"math"
	"math/rand/v2"
	"testing"

	"precision/internal/pairwise"
	"precision/testdata/workshop/guard"
)

// Kernels stay inside of their arrays, whatever the length, and take signalling
// NaN as the Go loops do.
func TestKernelsStayInside(t *testing.T) {
	signalling := math.Float32frombits(0x7fa00000)
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(17, 18))
		for _, n := range append([]int{511, 513, 1031, 4095, pairwise.Block - 1, pairwise.Block + 5}, lengths()[1:200]...) {
			x, y := randomArrays(rng, n, n%3 == 1)
			switch n % 5 {
			case 2:
				x[rng.IntN(n)] = signalling
			case 3:
				y[rng.IntN(n)] = signalling
			}
			wx, wy := guard.Slice(t, widened(x)), guard.Slice(t, widened(y))
			x, y = guard.Slice(t, x), guard.Slice(t, y)
			cfg := Config{Numerics: Reference}
			if got, want := Compute32(cfg, x, y), withGo(func() Result { return Compute32(cfg, x, y) }); !sameBits(got, want) {
				t.Errorf("reference, %d elements: %v, Go %v", n, cells(got), cells(want))
			}
			if got, want := Compute32(Config{}, x, y), withGo(func() Result { return Compute32(Config{}, x, y) }); !alike(got, want) {
				t.Errorf("exact, %d elements: %v, Go %v", n, cells(got), cells(want))
			}
			if got, want := Compute64(Config{}, wx, wy), withGo(func() Result { return Compute64(Config{}, wx, wy) }); !alike(got, want) {
				t.Errorf("exact float64, %d elements: %v, Go %v", n, cells(got), cells(want))
			}
		}
	})
}
