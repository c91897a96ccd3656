package engine

import (
	"math"
	"math/rand/v2"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/testdata/workshop/dumptest"
)

// pairOf compares one tensor of float32 or float16 with a float32 array.
func pairOf(t *testing.T, typ int, mine, golden []float32) result.Row {
	t.Helper()
	encode := dumptest.Floats
	if typ == dumptest.Float16 {
		encode = dumptest.Halves
	}
	tensor := func(typ int, data []byte) dumptest.Dump {
		return dumptest.Dump{Outputs: []dumptest.Tensor{{Type: typ, Format: dumptest.ND, Shape: shape(int64(len(mine))), Data: data}}}
	}
	rows := directRows(t, metric.Exact, tensor(typ, encode(mine)), tensor(dumptest.Float32, dumptest.Floats(golden)))
	if len(rows) != 1 || !rows[0].Compared {
		t.Fatalf("%+v", rows)
	}
	return rows[0]
}

// Elements that saturated are left out of a second look, and only those: of the
// same sign, at the end of the range, with golden beyond it.
func TestSecondLook(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		name         string
		mine, golden []float32
		count        int64
		largest      float64 // error of the others
	}{
		{"a mask", []float32{1, -65504, 2, -inf}, []float32{1, -1e9, 2.5, -1e9}, 2, 0.5},
		{"within the range", []float32{1, -65504}, []float32{1, -65519}, -1, 0},
		{"rounds to the end", []float32{1, -65504}, []float32{1, -65520}, 1, 0},
		{"the other sign", []float32{1, 65504}, []float32{1, -1e9}, -1, 0},
		{"not at the end", []float32{1, 60000}, []float32{1, 1e9}, -1, 0},
		{"infinite on both sides", []float32{1, inf, 65504}, []float32{3, inf, 1e9}, 1, 2},
		{"infinite here only", []float32{1, inf}, []float32{1, 5}, -1, 0},
	} {
		row := pairOf(t, dumptest.Float16, c.mine, c.golden)
		if c.count < 0 {
			if row.Saturated != nil {
				t.Errorf("%s: %+v", c.name, row.Saturated)
			}
			continue
		}
		if row.Saturated == nil || row.Saturated.Count != c.count {
			t.Errorf("%s: %+v", c.name, row.Saturated)
			continue
		}
		if got := row.Saturated.Result.Facts.MaxAbs; got != c.largest {
			t.Errorf("%s: largest error of the others %g, want %g", c.name, got, c.largest)
		}
	}
	if row := pairOf(t, dumptest.Float32, []float32{1, -65504}, []float32{1, -1e9}); row.Saturated != nil {
		t.Errorf("float32 has room for 1e9: %+v", row.Saturated)
	}
}

// A tensor that is split among workers has the same second look.
func TestSecondLookOfLargeTensors(t *testing.T) {
	const n = splitChunks*chunkTiles*metric.TileLen + 1234
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float32, n), make([]float32, n)
	masked := int64(0)
	for i := range y {
		y[i] = float32(rng.NormFloat64())
		x[i] = y[i]
		if i%3 == 0 {
			x[i], y[i] = -65504, -1e9
			masked++
		}
	}
	row := pairOf(t, dumptest.Float16, x, y)
	if row.Saturated == nil || row.Saturated.Count != masked {
		t.Fatalf("%+v, want %d", row.Saturated, masked)
	}
	if cosine := row.Saturated.Result.Values[metric.CosineSimilarity].Float(); cosine < 0.9999 {
		t.Errorf("cosine %g", cosine)
	}
	if first := row.Result().Facts.Distance; first < 0.9 {
		t.Errorf("the first look: distance %g", first)
	}
}
