package engine

import (
	"math"
	"slices"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// A complex golden array against a real dump, and a complex dump against a real golden
// array: the row says that imaginary parts were left out wherever one is not 0, and
// only then.
func TestImaginaryPartsLeftOut(t *testing.T) {
	const n = 2*metric.TileLen + 5
	real := make([]float32, n)
	for i := range real {
		real[i] = float32(i%7) + 1
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		name  string
		left  dtype.Type
		place int // of the imaginary part
		value float32
		want  bool
	}{
		{"none", dtype.Float32, 0, 0, false}, {"first", dtype.Float32, 0, 1, true}, {"second tile", dtype.Float32, metric.TileLen, -1e-30, true},
		{"last", dtype.Float32, n - 1, 1, true}, {"NaN", dtype.Float32, n - 1, nan, true}, {"both complex", dtype.Complex64, n - 1, 1, false},
	} {
		pairs := make([]float32, 2*n)
		for i, v := range real {
			pairs[2*i] = v
		}
		left := dumptest.Tensor{Type: int(c.left), Format: dumptest.ND, Shape: []int64{n}, Data: dumptest.Floats(real)}
		if c.left == dtype.Complex64 {
			left.Data = dumptest.Floats(pairs)
		}
		pairs[2*c.place+1] = c.value
		right := dumptest.Tensor{Type: int(dtype.Complex64), Format: dumptest.ND, Shape: []int64{n}, Data: dumptest.Floats(pairs)}
		for _, numerics := range []metric.Numerics{metric.Exact, metric.Reference} {
			for _, way := range []struct {
				kind        result.Kind
				left, right dumptest.Tensor
			}{{result.RealPartOnly, left, right}, {result.LeftRealPartOnly, right, left}} {
				rows, _ := directOutcome(t, numerics, dumptest.Dump{Outputs: []dumptest.Tensor{way.left}}, dumptest.Dump{Outputs: []dumptest.Tensor{way.right}})
				if len(rows) != 1 || !rows[0].Compared {
					t.Fatalf("%s, %v: %+v", c.name, numerics, rows)
				}
				if got := slices.ContainsFunc(rows[0].Reasons, func(r result.Reason) bool { return r.Kind == way.kind }); got != c.want {
					t.Errorf("%s, %v: told %s: %v, want %v: %v", c.name, numerics, way.kind, got, c.want, rows[0].Reasons)
				}
			}
		}
	}
}
