package metric

import (
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestExactSpecialInput(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name        string
		x, y        []float32
		cfg         Config
		want, notes string
	}{
		{name: "signs", x: f32s(1, 2, -3, -100), y: f32s(1, 2, -3, 100),
			want: "-0.997204 200.000000 2.000000 1.998601 6.262334 (-25.000;43.342),(25.000;43.342) 50.000000 100.000000 2.000000 0.500000"},
		{name: "both zero", x: repeat(0, 4), y: repeat(0, 4),
			want: "1.000000 0.000000 0.000000 0.000000 0.000000 (0.000;0.000),(0.000;0.000) 0.000000 0.000000 0.000000 0.000000"},
		{name: "mine zero", x: repeat(0, 4), y: repeat(1, 4),
			want:  "NaN 1.000000 4.000000 1.000000 0.000000 (0.000;0.000),(1.000;0.000) 1.000000 1.000000 1.000000 1.000000",
			notes: "Cannot compare by Cosine Similarity. All the data is zero in L."},
		{name: "golden zero", x: repeat(-1, 4), y: repeat(0, 4),
			want: "NaN 1.000000 0.000000 inf 0.000000 (-1.000;0.000),(0.000;0.000) 1.000000 1.000000 0.000000 0.000000",
			notes: "Cannot compare by Cosine Similarity. All the data is zero in G.," +
				"4 of 4 elements differ where the ground truth is 0 and have no relative error. Their largest absolute error is 1."},
		{name: "golden zero in places", x: f32s(0, 0.5, -2, 3), y: f32s(0, 0, 0, 2), cfg: Config{Metrics: []Metric{9, 8, 2, 0}},
			want:  "0.824163 NaN 0.500000 NaN NaN NaN NaN NaN 0.500000 0.125000",
			notes: "2 of 4 elements differ where the ground truth is 0 and have no relative error. Their largest absolute error is 2."},
		{name: "all agree in NaN and Inf", x: f32s(nan, inf, -inf, 1, 3), y: f32s(nan, inf, -inf, 1, 1),
			want: "0.894427 2.000000 2.000000 1.414214 0.693145 (2.000;1.000),(1.000;0.000) 1.000000 1.414214 2.000000 1.000000"},
		{name: "nothing finite", x: f32s(nan, inf), y: f32s(nan, inf),
			want:  "NaN NaN NaN NaN NaN NaN NaN NaN NaN NaN",
			notes: "None of the 2 elements is finite. They agree on both sides."},
		{name: "some disagree", x: f32s(nan, 1, -inf, 2, 2), y: f32s(nan, 1, inf, nan, 4),
			want:  "NaN inf inf NaN NaN (1.667;0.471),(2.500;1.500) inf inf inf inf",
			notes: "2 of 5 elements disagree in NaN or Inf. The first is element 2: -Inf instead of +Inf."},
		{name: "all disagree", x: f32s(nan, nan), y: f32s(1, 1),
			want:  "NaN inf inf NaN NaN (nan;nan),(1.000;0.000) inf inf inf inf",
			notes: "2 of 2 elements disagree in NaN or Inf. The first is element 0: NaN instead of 1."},
		{name: "scalar", x: f32s(3), y: f32s(4), cfg: Config{Scalar: true},
			want:  "NaN 1.000000 0.250000 0.250000 0.000000 (3.000;0.000),(4.000;0.000) 1.000000 1.000000 0.250000 0.250000",
			notes: "This tensor is scalar. Its relative error tells more than a cosine."},
		{name: "empty", cfg: Config{Scalar: true},
			want:  "NaN NaN NaN NaN NaN NaN NaN NaN NaN NaN",
			notes: "The tensor has no elements."},
		{name: "nothing selected", x: f32s(nan), y: f32s(1), cfg: Config{Metrics: []Metric{}},
			want: "NaN NaN NaN NaN NaN NaN NaN NaN NaN NaN"},
		{name: "float32 squares that overflow", x: f32s(3e38, -3e38), y: f32s(3e38, 3e38), cfg: Config{Metrics: []Metric{0, 3, 2}},
			want: "0.000000 NaN 2.000000 1.414214 NaN NaN NaN NaN NaN NaN"},
		{name: "float32 squares that vanish", x: f32s(1e-45, 1e-40), y: f32s(1e-45, 1e-40), cfg: Config{Metrics: []Metric{0, 3, 2}},
			want: "1.000000 NaN 0.000000 0.000000 NaN NaN NaN NaN NaN NaN"},
	} {
		eachLevel(t, func(t *testing.T) {
			wide := func(v []float32) []float64 {
				w := make([]float64, len(v))
				for i, f := range v {
					w[i] = float64(f)
				}
				return w
			}
			for _, r := range []Result{Compute32(c.cfg, c.x, c.y), Compute64(c.cfg, wide(c.x), wide(c.y))} {
				if got := cells(r); got != c.want {
					t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
				}
				if got := noteTexts(r); got != c.notes {
					t.Errorf("%s: notes %q, want %q", c.name, got, c.notes)
				}
			}
		})
	}
}

// Small differences between elements whose squares overflow are not lost.
func TestExactSmallBesideLarge(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want string // of MeanAbsoluteError, RootMeanSquareError
	}{
		{[]float64{1e200, 1}, []float64{1e200, 2}, "0.500000 0.707107"},
		{[]float64{-1e308, 1e308, 0}, []float64{-1e308, 1e308, 1}, "0.333333 0.577350"},
		{[]float64{1e300, 5e-200}, []float64{1e300, 4e-200}, "0.000000 0.000000"},
		{[]float64{1e308, -1e308}, []float64{-1e308, 1e308}, "inf inf"},
	} {
		eachLevel(t, func(t *testing.T) {
			r := Compute64(Config{Metrics: []Metric{MeanAbsoluteError, RootMeanSquareError}}, c.x, c.y)
			if got := r.Text(MeanAbsoluteError) + " " + r.Text(RootMeanSquareError); got != c.want {
				t.Errorf("%g, %g: %s, want %s", c.x, c.y, got, c.want)
			}
		})
	}
}

// The first element that disagrees is told by its index in the tensor, not in
// its tile.
func TestExactFirstDisagree(t *testing.T) {
	x, y := pair(3*TileLen+5, 1, "plain")
	at := 2*TileLen + 77
	x[at], x[at+1] = float32(math.NaN()), float32(math.Inf(-1))
	x[5], y[5] = float32(math.NaN()), float32(math.NaN())
	eachLevel(t, func(t *testing.T) {
		r := Compute32(Config{}, x, y)
		want := Element{Index: int64(at), X: r.FirstDisagree.X, Y: float64(y[at])}
		if r.Disagree != 2 || r.AgreeNonFinite != 1 || r.FirstDisagree.Index != want.Index || r.FirstDisagree.Y != want.Y || r.FirstDisagree.X == r.FirstDisagree.X {
			t.Errorf("%+v", r)
		}
	})
}

// truth computes the metrics of finite float64 arrays in 200-bit arithmetic,
// except for the divergence.
func truth(x, y []float64) (v [Count]float64, moments [4]float64) {
	num := func(f float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(f) }
	var xy, xx, yy, ad, dd, rel, maxAbs, maxRel, sx, sy = num(0), num(0), num(0), num(0), num(0), num(0), num(0), num(0), num(0), num(0)
	mul := func(a, b *big.Float) *big.Float { return num(0).Mul(a, b) }
	for i := range x {
		a, b := num(x[i]), num(y[i])
		xy.Add(xy, mul(a, b))
		xx.Add(xx, mul(a, a))
		yy.Add(yy, mul(b, b))
		sx.Add(sx, a)
		sy.Add(sy, b)
		d := num(0).Sub(a, b)
		d.Abs(d)
		ad.Add(ad, d)
		dd.Add(dd, mul(d, d))
		if d.Cmp(maxAbs) > 0 {
			maxAbs = d
		}
		if b.Sign() != 0 {
			q := num(0).Quo(d, num(0).Abs(b))
			rel.Add(rel, q)
			if q.Cmp(maxRel) > 0 {
				maxRel = q
			}
		}
	}
	n := num(float64(len(x)))
	to := func(f *big.Float) float64 { g, _ := f.Float64(); return g }
	root := func(f *big.Float) *big.Float { return num(0).Sqrt(f) }
	quo := func(a, b *big.Float) *big.Float { return num(0).Quo(a, b) }
	if xx.Sign() != 0 && yy.Sign() != 0 {
		v[CosineSimilarity] = to(quo(xy, mul(root(xx), root(yy))))
	}
	if yy.Sign() != 0 {
		v[RelativeEuclideanDistance] = to(root(quo(dd, yy)))
	}
	v[MaxAbsoluteError], v[AccumulatedRelativeError] = to(maxAbs), to(rel)
	v[MeanAbsoluteError], v[RootMeanSquareError] = to(quo(ad, n)), to(root(quo(dd, n)))
	v[MaxRelativeError], v[MeanRelativeError] = to(maxRel), to(quo(rel, n))
	for i, side := range [][]float64{x, y} {
		mean := quo([]*big.Float{sx, sy}[i], n)
		m2 := num(0)
		for _, f := range side {
			d := num(0).Sub(num(f), mean)
			m2.Add(m2, mul(d, d))
		}
		moments[2*i], moments[2*i+1] = to(mean), to(root(quo(m2, n)))
	}
	return v, moments
}

// near tells whether got is want, within rel of want or of scale.
func near(got, want, rel, scale float64) bool {
	return got == want || math.Abs(got-want) <= rel*max(math.Abs(want), scale)
}

func TestExactMatchesTruth(t *testing.T) {
	var rng *rand.Rand
	gen := map[string]func() (x, y float64){
		"normal": func() (float64, float64) { y := rng.NormFloat64(); return y + 1e-3*rng.NormFloat64(), y },
		"offset": func() (float64, float64) { return 1e6 + rng.Float64(), 1e6 + rng.Float64() },
		"huge":   func() (float64, float64) { return 1e307 * rng.NormFloat64(), 1e307 * rng.NormFloat64() },
		"tiny":   func() (float64, float64) { return 1e-310 * rng.NormFloat64(), 1e-310 * rng.NormFloat64() },
		"mixed scales": func() (float64, float64) {
			return math.Ldexp(rng.NormFloat64(), rng.IntN(1200)-300), math.Ldexp(rng.NormFloat64(), rng.IntN(1200)-900)
		},
		"huge against tiny": func() (float64, float64) { return 1e300 * rng.NormFloat64(), 1e-300 },
		"zeros": func() (float64, float64) {
			return float64(rng.IntN(3)-1) * rng.Float64(), float64(rng.IntN(3)-1) * rng.Float64()
		},
		// The sums of relative errors overflow, the means need not.
		"vast relative errors": func() (float64, float64) { return 1e300 * (1 + rng.Float64()/2), 1e-8 },
		"vast relative errors of few": func() (float64, float64) {
			return 1e144 * (1 + rng.Float64()), []float64{1, 1e-163}[rng.IntN(2)]
		},
		"large integers": func() (float64, float64) {
			y := float64(rng.IntN(1 << 53))
			return y + float64(rng.IntN(3)), y
		},
	}
	for i, name := range slices.Sorted(maps.Keys(gen)) {
		g := gen[name]
		rng = rand.New(rand.NewPCG(1, uint64(i)))
		for _, n := range []int{1, 2, 7, 100, 1025, TileLen + 100} {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = g()
			}
			want, moments := truth(x, y)
			eachLevel(t, func(t *testing.T) {
				r := Compute64(Config{}, x, y)
				for m := range Metric(Count) {
					got, tolerance := r.Values[m].Float(), 1e-12
					if m == StandardDeviation || m == KullbackLeiblerDivergence {
						continue
					}
					zeroX, zeroY := moments[0] == 0 && moments[1] == 0, moments[2] == 0 && moments[3] == 0
					if zeroY && (m == CosineSimilarity || m == RelativeEuclideanDistance) || zeroX && m == CosineSimilarity {
						continue
					}
					if math.IsInf(want[m], 0) || math.IsInf(got, 0) {
						// Beyond float64, or rounded there.
						if math.Abs(want[m]) < 1.7e308 {
							t.Errorf("%s, %d elements: %s is %v, want %v", name, n, m, got, want[m])
						}
						continue
					}
					scale := 0.0
					if m == CosineSimilarity {
						scale = 1
					}
					if !near(got, want[m], tolerance, scale) {
						t.Errorf("%s, %d elements: %s is %v, want %v", name, n, m, got, want[m])
					}
				}
				var s [4]float64
				s[0], s[1] = r.Values[StandardDeviation].Moments(Mine)
				s[2], s[3] = r.Values[StandardDeviation].Moments(Golden)
				for i := range s {
					if !near(s[i], moments[i], 1e-11, max(1e-2*math.Abs(moments[i&^1]), moments[i|1])) {
						t.Errorf("%s, %d elements: moment %d is %v, want %v", name, n, i, s[i], moments[i])
					}
				}
			})
		}
	}
}

// divergence is the definition, in float64.
func divergence(x, y []float64) float64 {
	share := func(v []float64) []float64 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, f := range v {
			lo, hi = min(lo, f), max(hi, f)
		}
		p, sum := make([]float64, len(v)), 0.0
		for i, f := range v {
			p[i] = 1
			if hi != lo {
				p[i] = max((f-lo)/(hi-lo), 0x1p-23)
			}
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	p, q := share(x), share(y)
	var kl float64
	for i := range p {
		kl += p[i] * math.Log(p[i]/q[i])
	}
	return kl
}

func TestExactDivergence(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, scale := range []float64{1, 1e-40, 1e30, 1e-300, 1e-318, 1e307} {
		for _, n := range []int{2, 9, 1000, TileLen + 9} {
			x, y := make([]float64, n), make([]float64, n)
			x32, y32 := make([]float32, n), make([]float32, n)
			for i := range x {
				x[i], y[i] = scale*rng.NormFloat64(), scale*rng.NormFloat64()
				x32[i], y32[i] = float32(x[i]), float32(y[i])
			}
			eachLevel(t, func(t *testing.T) {
				if scale > 1e-45 && scale < 1e38 {
					for i := range x {
						x[i], y[i] = float64(x32[i]), float64(y32[i])
					}
					got := Compute32(Config{}, x32, y32).Values[KullbackLeiblerDivergence].Float()
					if want := divergence(x, y); !near(got, want, 1e-7, 1e-9) {
						t.Errorf("float32, %d elements around %g: KL %v, want %v", n, scale, got, want)
					}
				}
				got := Compute64(Config{}, x, y).Values[KullbackLeiblerDivergence].Float()
				if scale > 1e300 {
					for i := range x {
						x[i], y[i] = x[i]/4, y[i]/4
					}
				}
				if want := divergence(x, y); !near(got, want, 1e-9, 1e-9) {
					t.Errorf("float64, %d elements around %g: KL %v, want %v", n, scale, got, want)
				}
			})
		}
	}
}
