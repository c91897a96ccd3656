package dtype

import (
	"math/rand/v2"
	"testing"

	"precision/testdata/workshop/guard"
)

// Kernels neither read nor write beyond the elements.
func TestVectorsStayInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, typ := range []Type{Float16, BFloat16, Int8, Uint8} {
		for n := 1; n < 200; n++ {
			src := guard.Bytes(t, int(typ.Bytes(int64(n))))
			for i := range src {
				src[i] = byte(rng.Uint32())
			}
			dst, want := guard.Slice(t, make([]float32, n)), make([]float64, n)
			Widen32(typ, dst, src)
			Widen64(typ, want, src) // loops
			for i := range want {
				if !same(float64(dst[i]), want[i]) {
					t.Fatalf("%s, %d elements: element %d is %v, want %v", typ, n, i, dst[i], want[i])
				}
			}
		}
	}
}
