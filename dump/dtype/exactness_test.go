package dtype

import (
	"math"
	"testing"
)

// TestRound: every number of a type stays, the middle of two goes to the even one, and what lies beyond to the nearer.
func TestRound(t *testing.T) {
	for _, typ := range []Type{Float16, BFloat16, Float8E5M2, Float8E4M3FN} {
		size := typ.Bits() / 8
		var last float64
		lastEven := true
		for code := range 1 << (8*size - 1) { // the positive ones, in ascending order
			b := []byte{byte(code), byte(code >> 8)}
			var v [1]float64
			Widen64(typ, v[:], b[:size])
			if v[0]-v[0] != 0 {
				break
			}
			even := code%2 == 0
			if got := typ.Rounding().Round(v[0]); got != v[0] {
				t.Fatalf("%s: %g becomes %g", typ, v[0], got)
			}
			if code > 0 {
				middle := (last + v[0]) / 2
				want := v[0]
				if lastEven {
					want = last
				}
				if got := typ.Rounding().Round(middle); got != want || typ.Rounding().Round(-middle) != -want {
					t.Fatalf("%s: %g, between %g and %g, becomes %g, want %g", typ, middle, last, v[0], got, want)
				}
				if got := typ.Rounding().Round(math.Nextafter(middle, 0)); got != last {
					t.Fatalf("%s: below %g comes %g, want %g", typ, middle, got, last)
				}
			}
			last, lastEven = v[0], even
		}
		if got := typ.Rounding().Round(2 * typ.Max()); !math.IsInf(got, 1) {
			t.Errorf("%s: twice the largest becomes %g", typ, got)
		}
	}
	if Float32.Rounding().Round(0.1) != float64(float32(0.1)) || Float64.Rounding().Round(0.1) != 0.1 || Int8.Rounding().Round(0.1) != 0.1 {
		t.Error("types that do not round do")
	}
}
