package dtype

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Vector kernels must give the very bits of the loops, at every length and
// alignment, and for every code there is.
func TestVectorsEqualLoops(t *testing.T) {
	if !vectors {
		t.Skip("no vector instructions here")
	}
	defer func() { vectors = true }()
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]byte, 1<<17+64)
	for i := range 1 << 16 {
		all[2*i], all[2*i+1] = byte(i), byte(i>>8)
	}
	check := func(typ Type, n int, src []byte) {
		t.Helper()
		loops, kernels := make([]float32, n), make([]float32, n+1)
		vectors = false
		Widen32(typ, loops, src)
		vectors = true
		Widen32(typ, kernels[:n], src)
		for i := range loops {
			a, b := math.Float32bits(loops[i]), math.Float32bits(kernels[i])
			// Hardware makes signalling NaN quiet.
			if a != b && !(loops[i] != loops[i] && kernels[i] != kernels[i]) {
				t.Fatalf("%s, %d elements: element %d is %v, want %v", typ, n, i, kernels[i], loops[i])
			}
		}
		if kernels[n] != 0 {
			t.Fatalf("%s: wrote behind %d elements", typ, n)
		}
		wide := make([]float64, n+1)
		Widen64(typ, wide[:n], src)
		for i, v := range wide {
			if i == n && v != 0 || i < n && math.Float64bits(v) != math.Float64bits(float64(kernels[i])) {
				t.Fatalf("%s, %d elements: element %d of float64 is %v", typ, n, i, v)
			}
		}
	}
	for _, typ := range []Type{Float16, BFloat16, Int8, Uint8, Undefined} {
		check(typ, 1<<16, all)
		for n := range 300 {
			check(typ, n, all[rng.IntN(64):])
		}
	}
}
