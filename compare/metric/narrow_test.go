package metric

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// Every kernel gives the bits of the Go loop, at any length and offset.
func TestNarrowKernelsMatchGo(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if active == levelGo {
			t.Skip("the Go loop is what kernels are held against")
		}
		rng := rand.New(rand.NewPCG(21, 22))
		for i, n := range lengths() {
			skew := rng.IntN(9)
			x, y := narrowArrays(rng, n+skew, i%narrowKinds)
			x, y = x[skew:], y[:n]
			k, ok := scaleOf(x, y)
			if !ok {
				continue
			}
			var got, want narrowSums
			sumNarrow(&got, k, x, y)
			withLevel(levelGo, func() { sumNarrow(&want, k, x, y) })
			if got != want {
				t.Fatalf("%d elements: %v, Go %v", n, got, want)
			}
		}
	})
}

// scaleOf is the scale that a run takes for x and y, if float32 lanes are for them.
func scaleOf(x, y []float32) (*narrowScale, bool) {
	r := NewRun(Config{})
	var p Partial
	r.Reduce32(&p, x, y)
	r.Fold(&p)
	return r.exact.narrow, r.Next() && r.exact.narrow != nil
}

const narrowKinds = 8

// narrowArrays are pairs that divergences are taken of: near each other and not, with the
// shares of a softmax, with many elements at the floor, far from 0, of few values.
func narrowArrays(rng *rand.Rand, n, kind int) (x, y []float32) {
	x, y = make([]float32, n), make([]float32, n)
	for i := range x {
		v := rng.NormFloat64()
		w := v * (1 + 1e-3*rng.NormFloat64())
		switch kind {
		case 1:
			w = v + 1e-6*rng.NormFloat64()
		case 2:
			v, w = math.Exp(4*v), math.Exp(4*v+0.1*rng.NormFloat64())
		case 3:
			v, w = max(v, 0), max(w+0.05, 0)
		case 4:
			v, w = v+1000, w+1000
		case 5:
			v, w = float64(rng.IntN(3)), float64(rng.IntN(3))
		case 6:
			v, w = 1e-30*v, 1e-30*(w+0.2)
		case 7:
			w = v + 0.3*rng.NormFloat64()
		}
		x[i], y[i] = float32(v), float32(w)
	}
	return x, y
}

// The divergence in float32 lanes is that of 200 bits, within one unit of the sixth decimal, and
// in truth within a tenth of it where divergences are small.
func TestNarrowDivergence(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	worst := 0.0
	seen := 0
	for round := range 64 {
		for _, n := range []int{2, 3, 17, 300} {
			x, y := narrowArrays(rng, n, round%narrowKinds)
			if round/narrowKinds == 1 && n > 2 {
				// One side has a spike, all else is at the floor there.
				x[n/2], y[n/2] = 3e4, 3e4
			}
			k, ok := scaleOf(x, y)
			if !ok {
				continue
			}
			seen++
			var s narrowSums
			sumNarrow(&s, k, x, y)
			want := preciseDivergence(x, y)
			got := s.divergence()
			if got >= wideFrom {
				got = Compute32(Config{}, x, y).Values[KullbackLeiblerDivergence].Float()
			}
			worst = max(worst, math.Abs(got-want))
			if math.Abs(got-want) > 3e-7 {
				t.Errorf("round %d, %d elements: %.9f, %.9f in 200 bits", round, n, got, want)
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d pairs were for float32", seen)
	}
	t.Logf("worst error %.3g", worst)
}

// A divergence next to 0 keeps its digits: float32 costs it a few of the last ones, where sums that cancel
// would leave none.
func TestNarrowDivergenceNearZero(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for _, by := range []float64{1e-2, 1e-3, 1e-4, 1e-5} {
		x, y := make([]float32, 1024), make([]float32, 1024)
		for i := range x {
			y[i] = float32(rng.Float64())
			x[i] = float32(float64(y[i]) * (1 + by*rng.NormFloat64()))
		}
		got, want := Compute32(Config{}, x, y).Values[KullbackLeiblerDivergence].Float(), preciseDivergence(x, y)
		if math.Abs(got-want) > 2e-3*want {
			t.Errorf("errors of %g: divergence %g, %g in 200 bits", by, got, want)
		}
	}
}

// preciseDivergence is the divergence of metrics.md in 200 bits.
func preciseDivergence(x, y []float32) float64 {
	shares := func(v []float32) ([]*big.Float, *big.Float) {
		lo, hi := v[0], v[0]
		for _, f := range v {
			lo, hi = min(lo, f), max(hi, f)
		}
		at := func(f float32) *big.Float { return wide().SetFloat64(float64(f)) }
		spread := wide().Sub(at(hi), at(lo))
		p, sum := make([]*big.Float, len(v)), wide()
		for i, f := range v {
			p[i] = wide().Sub(at(f), at(lo))
			if spread.Sign() > 0 {
				p[i].Quo(p[i], spread)
			}
			if floor := wide().SetFloat64(epsilon32); p[i].Cmp(floor) < 0 {
				p[i] = floor
			}
			sum.Add(sum, p[i])
		}
		return p, sum
	}
	p, sumP := shares(x)
	q, sumQ := shares(y)
	kl := wide()
	for i := range p {
		a, b := wide().Quo(p[i], sumP), wide().Quo(q[i], sumQ)
		kl.Add(kl, a.Mul(a, preciseLog(wide().Quo(a, b))))
	}
	f, _ := kl.Float64()
	return f
}

func wide() *big.Float { return new(big.Float).SetPrec(200) }

var preciseLn2 = func() *big.Float { return preciseSeries(wide().SetRat(big.NewRat(1, 3))) }()

// preciseLog is ln(v): the exponent times ln 2, and the series of 2·atanh for the rest.
func preciseLog(v *big.Float) *big.Float {
	m := wide()
	e := v.MantExp(m) // m in [1/2, 1)
	one := wide().SetInt64(1)
	s := wide().Quo(wide().Sub(m, one), wide().Add(m, one))
	log := preciseSeries(s)
	return log.Add(log, wide().Mul(preciseLn2, wide().SetInt64(int64(e))))
}

// preciseSeries is 2·atanh(s), |s| being up to 1/3.
func preciseSeries(s *big.Float) *big.Float {
	sum, power, square := wide(), wide().Set(s), wide().Mul(s, s)
	for i := int64(1); i < 140; i += 2 {
		sum.Add(sum, wide().Quo(power, wide().SetInt64(i)))
		power.Mul(power, square)
	}
	return sum.Mul(sum, wide().SetInt64(2))
}

// fma32 is rounded once, also where float64 in between would round to the wrong side.
func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 28))
	check := func(a, b, c float32) {
		t.Helper()
		exact := new(big.Float).SetPrec(1000).SetFloat64(float64(a) * float64(b))
		exact.Add(exact, new(big.Float).SetFloat64(float64(c)))
		want, _ := exact.Float32()
		if got := fma32(a, b, c); got != want {
			t.Errorf("%x·%x + %x = %x, want %x", a, b, c, got, want)
		}
	}
	for range 20000 {
		a, b, c := float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())
		check(a, b, c)
		check(a, b, float32(math.Ldexp(float64(c), -rng.IntN(60))))
		check(a, b, -a*b)
	}
	check(1+0x1p-23, 1, 0x1p-24)
	check(1+0x1p-23, 1+0x1p-23, -0x1p-60)
	check(1, 1+0x1p-23, 0x1p-24+0x1p-47)
	check(1, 1, 0x1p-24+0x1p-47)
	check(1, 1, 0x1p-24-0x1p-48)
}

// BenchmarkDivergence is the second pass over 2 × 128 KB in cache: in float32 lanes, and its
// time as a part of that in float64.
func BenchmarkDivergence(b *testing.B) {
	const n = TileLen
	x, y := pair(n, 1, "plain")
	k, ok := scaleOf(x, y)
	if !ok {
		b.Fatal("not for float32")
	}
	kx, ky := newKLScale(-1.75, 2.25), newKLScale(-1.75, 2.25)
	for _, l := range levels[1:] {
		b.Run(l.String(), func(b *testing.B) {
			withLevel(l, func() {
				var close narrowSums
				var far klSums
				var slim, wide time.Duration = 1 << 62, 1 << 62
				for b.Loop() {
					slim = min(slim, best(20, func() { sumNarrow(&close, k, x, y) }))
					wide = min(wide, best(20, func() { vector32[active].sumKL(&far, &kx, &ky, x, y) }))
				}
				b.ReportMetric(slim.Seconds()/wide.Seconds(), "of-float64")
				b.ReportMetric(slim.Seconds()/n*1e9, "ns/element")
			})
		})
	}
}
