package verdict_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"precision/compare/pattern"
	"precision/compare/verdict"
	"precision/dump/dtype"
)

// TestMixed: a recording most of whose outputs do not follow from their inputs is one
// finding, and what is wrong otherwise stands out of it; a kernel that is wrong wherever it
// runs is none.
func TestMixed(t *testing.T) {
	types := []string{"Conv2D", "Relu", "Add", "TransData", "MatMulV2", "SoftmaxV2", "Reshape"}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 12 + rng.IntN(100)
		var all, one []verdict.Recomputed
		for i := range n {
			typ := types[i%len(types)]
			all = append(all, verdict.Recomputed{Type: typ, DType: dtype.Float16, Wrong: i != n/2, Ratio: 1e3 * (1 + rng.Float64())})
			// Every output but those that move, and many of those that move.
			one = append(one, verdict.Recomputed{Type: typ, DType: dtype.Float16, Wrong: typ != "TransData" && typ != "Reshape", Ratio: 1e3 * (1 + rng.Float64())})
		}
		p, apart, mixed := verdict.Mixed(all)
		if !mixed || len(apart) > 0 || p.Tensors != n-1 || !p.Broken || p.Kind != verdict.PremiseConsistent {
			t.Fatalf("seed %d: %v, apart %v, %v of %d", seed, mixed, apart, p, n)
		}
		all[1].Pattern, all[1].Explained = string(pattern.Scale), 0.92
		if _, apart, mixed := verdict.Mixed(all); !mixed || len(apart) > 0 {
			t.Fatalf("seed %d: %v, apart %v, though a twelfth of the error is something else", seed, mixed, apart)
		}
		all[1].Explained = 1
		if _, apart, mixed := verdict.Mixed(all); n >= 20 && (!mixed || !slices.Equal(apart, []int{1})) {
			t.Fatalf("seed %d: %v, apart %v, expected the second", seed, mixed, apart)
		}
		for typ, says := range map[string]bool{"Conv2D": true, "DynamicMxQuant": false} {
			all[1].Pattern, all[1].Type = string(pattern.WrongAttribute), typ
			if _, apart, mixed := verdict.Mixed(all); n >= 20 && (!mixed || (len(apart) > 0) != says) {
				t.Fatalf("seed %d: %v, apart %v, of another attribute of %s", seed, mixed, apart, typ)
			}
		}
		if _, _, mixed := verdict.Mixed(one); mixed {
			t.Fatalf("seed %d: kernels that compute are wrong, and the recording is called mixed", seed)
		}
		few := slices.Clone(all)
		for i := range few {
			few[i].Wrong = few[i].Wrong && rng.IntN(2) == 0
		}
		if _, _, mixed := verdict.Mixed(few); mixed && n > 40 {
			t.Fatalf("seed %d: half of the outputs are wrong, and the recording is called mixed", seed)
		}
	}
}
