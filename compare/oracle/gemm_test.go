package oracle

import (
	"math"
	"testing"
)

// One Inf or NaN is seen at every place, of either sign, and nothing else.
func TestHasNonFinite(t *testing.T) {
	for n := range 40 {
		x := make([]float32, n)
		for i := range x {
			x[i] = []float32{0, -1, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32}[i%5]
		}
		if hasNonFinite(x) {
			t.Errorf("%d finite numbers", n)
		}
		for i := range x {
			for _, bits := range []uint32{0x7f800000, 0xff800000, 0x7fc00000, 0xff800001} {
				was := x[i]
				if x[i] = math.Float32frombits(bits); !hasNonFinite(x) || !hasNonFinite(x[i:]) {
					t.Errorf("%#x at %d of %d is not seen", bits, i, n)
				}
				x[i] = was
			}
		}
	}
}
