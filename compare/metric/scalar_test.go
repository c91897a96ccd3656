package metric

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestScalar holds the loop of machines without kernels against the reference.
func TestScalar(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for round := range 200 {
		x, y := randomArrays(rng, 1+rng.IntN(3000), round%2 == 1)
		var want tileSums
		sumTile(&want, x, y)
		if !finite(want.xx) || !finite(want.yy) {
			continue // there is no second pass then
		}
		kx, ky := newKLScale(want.loX, want.hiX), newKLScale(want.loY, want.hiY)
		near := func(a, b, scale float64) bool { return math.Abs(a-b) <= 1e-12*scale }
		var wantKL, gotKL klSums
		sumKL(&wantKL, &kx, &ky, x, y)
		sumKLScalar(&gotKL, &kx, &ky, x, y)
		if !near(gotKL.p, wantKL.p, wantKL.p) || !near(gotKL.q, wantKL.q, wantKL.q) || !near(gotKL.plogpq, wantKL.plogpq, 10*wantKL.p) {
			t.Fatalf("round %d: divergence %+v, want %+v", round, gotKL, wantKL)
		}
	}
}

// BenchmarkScalar relates the loop of machines without kernels to the reference.
func BenchmarkScalar(b *testing.B) {
	const n = 16 << 10
	x, y := pair(n, 1, "plain")
	k := newKLScale(-5, 5)
	var s klSums
	reference, scalar := time.Duration(1<<62), time.Duration(1<<62)
	for b.Loop() {
		reference = min(reference, best(20, func() { sumKL(&s, &k, &k, x, y) }))
		scalar = min(scalar, best(20, func() { sumKLScalar(&s, &k, &k, x, y) }))
	}
	b.ReportMetric(reference.Seconds()/scalar.Seconds(), "times-reference")
	b.ReportMetric(scalar.Seconds()/n*1e9, "ns/element")
}
