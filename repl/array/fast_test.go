package array

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The kernels find what the loop finds, whatever the tensors hold and wherever they differ.
func TestFastComparesAlike(t *testing.T) {
	odd := []float32{0, float32(math.Copysign(0, -1)), nan, inf, -inf, 1e-45, 3e38, largestHalf} // sums of -3e38, too, lose what else there is in the loop
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := []int{1, 7, tile, tile + 3, 3*tile + 11}[r.IntN(5)]
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
			y[i] = x[i]
		}
		for range []int{0, 1, 5, 40}[r.IntN(4)] {
			x[r.IntN(n)] += []float32{1e-5, 0.01, 100}[r.IntN(3)]
		}
		for range []int{0, 0, 3}[r.IntN(3)] {
			x[r.IntN(n)], y[r.IntN(n)] = odd[r.IntN(len(odd))], odd[r.IntN(len(odd))]
		}
		if seed%9 == 0 {
			clear(y)
		}
		o := Options{Atol: []float64{0, 1e-3}[r.IntN(2)], Rtol: []float64{0, 1e-3}[r.IntN(2)], Rows: r.IntN(8), Workers: 1 + r.IntN(3)}
		a, b := array(t, []int64{int64(n)}, x...), array(t, []int64{int64(n)}, y...)
		got, want := compareFast(t.Context(), a, b, o), compareAny(t.Context(), a, b, o)
		near := func(v, w float64) bool {
			return v == w || v != v && w != w || math.Abs(v-w) <= 1e-12*max(math.Abs(v), math.Abs(w), 1)
		}
		if !near(got.Cosine, want.Cosine) || !near(got.LeftStats.Mean, want.LeftStats.Mean) || !near(got.RightStats.Mean, want.RightStats.Mean) {
			t.Errorf("seed %d: %+v, want %+v", seed, got, want)
		}
		got.Cosine, got.LeftStats.Mean, got.RightStats.Mean = want.Cosine, want.LeftStats.Mean, want.RightStats.Mean
		for _, d := range []*Diff{got, want} { // NaN is not equal to itself
			for _, list := range [][]Pair{d.Errors, d.First} {
				for i := range list {
					list[i].LeftRest, list[i].RightRest = float64(math.Float32bits(float32(list[i].Left))), float64(math.Float32bits(float32(list[i].Right)))
					list[i].Left, list[i].Right = 0, 0
				}
			}
			for _, s := range []*Stats{&d.LeftStats, &d.RightStats} {
				if s.Max != s.Max {
					s.Max, s.Min, s.Mean = 0, 0, 0
				}
			}
			if d.Cosine != d.Cosine {
				d.Cosine = 0
			}
		}
		if len(got.Errors) != len(want.Errors) || len(got.Errors) > 0 && !reflect.DeepEqual(got.Errors, want.Errors) {
			t.Errorf("seed %d: errors %+v, want %+v", seed, got.Errors, want.Errors)
		}
		got.Errors, want.Errors = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: %+v, want %+v", seed, got, want)
		}
	}
}

// A file that ends early is an error that names it.
func TestFastReadsAll(t *testing.T) {
	a, b := array(t, []int64{tile * 2}, make([]float32, 2*tile)...), array(t, []int64{tile * 2}, make([]float32, 2*tile)...)
	path := filepath.Join(t.TempDir(), "short.npy")
	whole, err := os.ReadFile(b.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	list, _, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(whole))-100); err != nil {
		t.Fatal(err)
	}
	if _, err := Compare(t.Context(), a, list[0], Options{}); err == nil || !strings.Contains(err.Error(), "short.npy") {
		t.Errorf("%v, want an error that names the file", err)
	}
}
