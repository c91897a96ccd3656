package metric

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"precision/internal/pairwise"
)

// lengths are all short ones and those around the borders of vectors, leaves,
// blocks and tiles.
func lengths() (n []int) {
	for i := range 301 {
		n = append(n, i)
	}
	for _, border := range []int{512, 1024, 4096, pairwise.Block, 2 * pairwise.Block, TileLen, TileLen + pairwise.Block} {
		for d := -9; d <= 9; d++ {
			n = append(n, border+d)
		}
	}
	return append(n, 8191-64, 4104, 5003, TileLen-8191, 3*TileLen+4321)
}

// alike tells whether two results of Exact numerics differ by no more than
// the order of their sums.
func alike(a, b Result) bool {
	if a.N != b.N || a.AgreeNonFinite != b.AgreeNonFinite || a.Disagree != b.Disagree || a.ZeroGolden != b.ZeroGolden ||
		a.ZeroGoldenMax != b.ZeroGoldenMax || a.FirstDisagree.Index != b.FirstDisagree.Index || len(a.Notes) != len(b.Notes) ||
		factsDiffer(a.Facts, b.Facts) != "" {
		return false
	}
	for m := range Metric(Count) {
		v, w := a.Values[m], b.Values[m]
		if v.form != w.form {
			return false
		}
		scale := 0.0
		if m == CosineSimilarity || m == KullbackLeiblerDivergence {
			scale = 1
		}
		for i := range v.v {
			if m == StandardDeviation {
				scale = 1e3 * (math.Abs(v.v[i|1]) + 1e-4*math.Abs(v.v[i&^1]))
			}
			if !sameFloat(v.v[i], w.v[i]) && !near(v.v[i], w.v[i], 1e-12, scale) {
				return false
			}
		}
	}
	return true
}

func widened(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, f := range v {
		w[i] = float64(f)
	}
	return w
}

// withGo runs f with the Go loops.
func withGo(f func() Result) (r Result) {
	withLevel(levelGo, func() { r = f() })
	return r
}

// Every kernel agrees with the Go loops: in Reference numerics to the last
// bit, in Exact numerics but for the order of sums. Arrays of every length
// begin at every offset.
func TestKernelsMatchGo(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if active == levelGo {
			t.Skip("the Go loops are what kernels are held against")
		}
		rng := rand.New(rand.NewPCG(9, 10))
		rounds := 1 // lengths are many
		if os.Getenv("SEEDS") != "" {
			rounds = 3
		}
		for i, n := range lengths() {
			for round := range rounds {
				round = (round + i) % 3
				skew := rng.IntN(9)
				x, y := randomArrays(rng, n+skew, round > 0)
				x, y = x[skew:], y[:n]
				cfg := Config{Numerics: Reference}
				got, want := Compute32(cfg, x, y), withGo(func() Result { return Compute32(cfg, x, y) })
				if !sameBits(got, want) {
					t.Fatalf("reference, %d elements at %d: %v, Go %v", n, skew, cells(got), cells(want))
				}
				got, want = Compute32(Config{}, x, y), withGo(func() Result { return Compute32(Config{}, x, y) })
				if !alike(got, want) {
					t.Fatalf("exact, %d elements at %d:\n%+v, Go\n%+v", n, skew, got, want)
				}
				wx, wy := widened(x), widened(y)
				if round == 2 && n > 0 {
					wx[rng.IntN(n)] *= 1e250
					wy[rng.IntN(n)] *= 1e-250
				}
				got, want = Compute64(Config{}, wx, wy), withGo(func() Result { return Compute64(Config{}, wx, wy) })
				if !alike(got, want) {
					t.Fatalf("exact float64, %d elements at %d:\n%+v, Go\n%+v", n, skew, got, want)
				}
			}
		}
	})
}

// halves are the values of all float16 codes.
func halves() []float32 {
	v := make([]float32, 1<<16)
	for c := range v {
		sign, e, m := c>>15, c>>10&31, c&1023
		f := math.Ldexp(float64(m), -24)
		switch {
		case e == 31 && m == 0:
			f = math.Inf(1)
		case e == 31:
			f = math.NaN()
		case e > 0:
			f = math.Ldexp(float64(m+1024), e-25)
		}
		if sign == 1 {
			f = -f
		}
		v[c] = float32(f)
	}
	return v
}

// All float16 codes against themselves, against all others in a shuffle, and
// the finite ones alone.
func TestKernelsOnAllHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	x := halves()
	y := make([]float32, len(x))
	for i, j := range rng.Perm(len(x)) {
		y[i] = x[j]
	}
	near := append([]float32{}, x...)
	for i, f := range near {
		near[i] = f + f/512
	}
	var fx, fy []float32
	for i := range x {
		if finite(x[i]) && finite(y[i]) {
			fx, fy = append(fx, x[i]), append(fy, y[i])
		}
	}
	eachLevel(t, func(t *testing.T) {
		for _, p := range [][2][]float32{{x, x}, {x, y}, {near, x}, {fx, fy}} {
			for _, numerics := range []Numerics{Exact, Reference} {
				cfg := Config{Numerics: numerics}
				got, want := Compute32(cfg, p[0], p[1]), withGo(func() Result { return Compute32(cfg, p[0], p[1]) })
				if numerics == Exact && !alike(got, want) || numerics == Reference && !sameBits(got, want) {
					t.Errorf("%s: %v, Go %v", numerics, got, want)
				}
			}
		}
	})
}

// inTiles computes over tiles of the given lengths, again and again.
func inTiles(cfg Config, x, y []float32, tiles func() int) Result {
	run := NewRun(cfg)
	var p Partial
	for {
		for lo := 0; lo < len(x); {
			hi := min(lo+tiles(), len(x))
			run.Reduce32(&p, x[lo:hi], y[lo:hi])
			run.Fold(&p)
			lo = hi
		}
		if !run.Next() {
			return run.Result()
		}
	}
}

// However the tensor is cut into tiles, the result is that of the whole: to
// the last bit in Reference numerics, where tiles are whole blocks, and within
// 1e-12 in Exact numerics, where tiles are anything.
func TestTilesMergeToTheWhole(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(13, 14))
		rounds := 24
		if testing.Short() {
			rounds = 4
		}
		for round := range rounds {
			x, y := randomArrays(rng, 2*TileLen+rng.IntN(TileLen), round%2 == 1)
			cfg := Config{Numerics: Reference}
			whole := Compute32(cfg, x, y)
			split := inTiles(cfg, x, y, func() int { return pairwise.Block * (1 + rng.IntN(tileBlocks)) })
			if !sameBits(split, whole) {
				t.Errorf("reference: split %v, whole %v", split, whole)
			}
			whole = Compute32(Config{}, x, y)
			split = inTiles(Config{}, x, y, func() int { return 1 + rng.IntN(TileLen) })
			if !alike(split, whole) {
				t.Errorf("exact: split %v, whole %v", split, whole)
			}
		}
	})
}

// The logarithm of the kernels is good to 1e-9 of the sum of magnitudes; in
// truth to 1e-14.
func TestKernelLogarithm(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	eachLevel(t, func(t *testing.T) {
		for round := range 200 {
			x, y := make([]float64, 1000), make([]float64, 1000)
			var want, scale, sum float64
			for i := range x {
				x[i], y[i] = math.Exp2(-23*rng.Float64()), math.Exp2(-23*rng.Float64())
				switch round % 4 {
				case 1:
					y[i] = x[i] * (1 + 1e-6*rng.NormFloat64())
				case 2:
					x[i] = math.Ldexp(math.Sqrt2*(1+1e-9*rng.NormFloat64()), -rng.IntN(20)-1)
					y[i] = math.Ldexp(1, -rng.IntN(20))
				case 3:
					x[i], y[i] = float64(rng.IntN(2)), float64(rng.IntN(2))
				}
				x[i], y[i] = max(x[i], epsilon32), max(y[i], epsilon32)
				// Close to 1 the quotient has lost what the logarithm is made of.
				term := x[i] * math.Log1p((x[i]-y[i])/y[i])
				want += term
				scale += math.Abs(term)
				sum += x[i]
			}
			unit := klScale{unit: 1, lo: 0, inverse: 1}
			var s klSums
			vector64[active].sumKL(&s, &unit, &unit, x, y)
			// The Go loop takes the logarithm of the quotient.
			if math.Abs(s.plogpq-want) > 1e-13*scale+0x1p-52*sum {
				t.Fatalf("round %d: %v, want %v, of %v", round, s.plogpq, want, scale)
			}
		}
	})
}
