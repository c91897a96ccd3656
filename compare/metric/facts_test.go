package metric

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"
)

// plainFacts are the facts by their definitions, element by element and in
// 200-bit sums.
func plainFacts(x, y []float64, within Tolerance) Facts {
	none := Element{Index: -1}
	f := Facts{Known: true, N: int64(len(x)), FirstDisagree: none, FirstDiffer: none, Worst: none}
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	xx, xy, yy, dd, sum := num(0), num(0), num(0), num(0), num(0)
	for i := range x {
		a, b := x[i], y[i]
		nanX, nanY, infX, infY := math.IsNaN(a), math.IsNaN(b), math.IsInf(a, 0), math.IsInf(b, 0)
		same := a == b || nanX && nanY
		place := func(p *Places, onX, onY bool) {
			switch {
			case onX && onY && same:
				p.Both++
				return
			case onX:
				p.X++
			}
			if onY {
				p.Y++
			}
		}
		place(&f.NaN, nanX, nanY)
		place(&f.Inf, infX, infY)
		fits := !nanX && !nanY && !infX && !infY
		switch {
		case fits:
			f.Finite++
		case same:
			f.Agree++
		default:
			if f.Disagree == 0 {
				f.FirstDisagree = Element{Index: int64(i), X: a, Y: b}
			}
			f.Disagree++
			f.Outside++
		}
		if !same {
			if f.Differ == 0 {
				f.FirstDiffer = Element{Index: int64(i), X: a, Y: b}
			}
			f.Differ++
		}
		if !fits {
			continue
		}
		e := num(0).Sub(num(a), num(b))
		sum.Add(sum, e)
		dd.Add(dd, num(0).Mul(e, e))
		xx.Add(xx, num(0).Mul(num(a), num(a)))
		xy.Add(xy, num(0).Mul(num(a), num(b)))
		yy.Add(yy, num(0).Mul(num(b), num(b)))
		d := math.Abs(a - b)
		if d > f.MaxAbs {
			f.MaxAbs, f.Worst = d, Element{Index: int64(i), X: a, Y: b}
		}
		if b != 0 {
			r := d / math.Abs(b)
			if math.IsInf(d, 0) {
				r = math.Abs(a/b - 1)
			}
			f.MaxRel = max(f.MaxRel, r)
		} else if a != 0 {
			f.NonzeroOnZero++
		}
		if d > within.Abs+within.Rel*math.Abs(b) {
			f.Outside++
		}
	}
	f.BitEqual = f.Differ == 0
	f.X, f.Y = plainSide(x), plainSide(y)
	to := func(v *big.Float) float64 { w, _ := v.Float64(); return w }
	nan := math.NaN()
	f.MeanError, f.Cosine, f.Distance, f.Scale, f.Unscaled, f.X.RMS, f.Y.RMS = nan, nan, nan, nan, nan, nan, nan
	if f.Finite == 0 {
		return f
	}
	n := num(float64(f.Finite))
	quo := func(a, b *big.Float) *big.Float { return num(0).Quo(a, b) }
	root := func(a *big.Float) *big.Float { return num(0).Sqrt(a) }
	f.MeanError = to(quo(sum, n))
	f.X.RMS, f.Y.RMS = to(root(quo(xx, n))), to(root(quo(yy, n)))
	switch {
	case xx.Sign() != 0 && yy.Sign() != 0:
		f.Cosine = to(quo(xy, num(0).Mul(root(xx), root(yy))))
	case xx.Sign() == yy.Sign():
		f.Cosine = 1
	}
	switch {
	case yy.Sign() != 0:
		f.Distance = to(root(quo(dd, yy)))
		s := quo(xy, yy)
		f.Scale = to(s)
		if f.Unscaled = math.Inf(1); s.Sign() != 0 {
			// Σ(x/s-y)² is Σx²/s² - Σy².
			left := quo(quo(xx, s), s)
			if left.Sub(left, yy); left.Sign() < 0 {
				left = num(0)
			}
			f.Unscaled = to(root(quo(left, yy)))
		}
	case dd.Sign() == 0:
		f.Distance = 0
	default:
		f.Distance = math.Inf(1)
	}
	return f
}

func plainSide(v []float64) SideFacts {
	f := SideFacts{Lo: math.Inf(1), Hi: math.Inf(-1)}
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	n, sum := 0, num(0)
	for _, a := range v {
		switch {
		case math.IsNaN(a):
			f.NaN++
			continue
		case math.IsInf(a, 0):
			f.Inf++
			continue
		case a == 0:
			f.Zero++
		}
		n++
		f.Lo, f.Hi = min(f.Lo, a), max(f.Hi, a)
		sum.Add(sum, num(a))
	}
	if n == 0 {
		nan := math.NaN()
		f.Lo, f.Hi, f.Mean, f.Deviation = nan, nan, nan, nan
		return f
	}
	mean := sum.Quo(sum, num(float64(n)))
	squares := num(0)
	for _, a := range v {
		if finite(a) {
			d := num(0).Sub(num(a), mean)
			squares.Add(squares, d.Mul(d, d))
		}
	}
	f.Mean, _ = mean.Float64()
	f.Deviation, _ = num(0).Sqrt(squares.Quo(squares, num(float64(n)))).Float64()
	return f
}

// factsDiffer tells in what got is not want: counts, places and extrema are
// exact, what is made of sums is good to 1e-12 of what was summed.
func factsDiffer(got, want Facts) string {
	size := want.X.Deviation + want.Y.Deviation + math.Abs(want.X.Mean) + math.Abs(want.Y.Mean)
	if math.Abs(want.Cosine) < 1e-6 {
		// All digits of the scale may have cancelled.
		got.Unscaled, want.Unscaled = 0, 0
	}
	for _, v := range []struct {
		name      string
		got, want *float64
		scale     float64
	}{
		{"MaxRel", &got.MaxRel, &want.MaxRel, 0},
		{"MeanError", &got.MeanError, &want.MeanError, size},
		{"Cosine", &got.Cosine, &want.Cosine, 1},
		{"Distance", &got.Distance, &want.Distance, 0},
		{"Scale", &got.Scale, &want.Scale, want.X.RMS / want.Y.RMS}, // Σ|xy|/Σy² at most
		{"Unscaled", &got.Unscaled, &want.Unscaled, 1e5 * (1 + want.Distance) / min(1, math.Abs(want.Scale))},
		{"X.Mean", &got.X.Mean, &want.X.Mean, want.X.Deviation},
		{"Y.Mean", &got.Y.Mean, &want.Y.Mean, want.Y.Deviation},
		{"X.Deviation", &got.X.Deviation, &want.X.Deviation, math.Abs(want.X.Mean)},
		{"Y.Deviation", &got.Y.Deviation, &want.Y.Deviation, math.Abs(want.Y.Mean)},
		{"X.RMS", &got.X.RMS, &want.X.RMS, 0},
		{"Y.RMS", &got.Y.RMS, &want.Y.RMS, 0},
	} {
		if !sameFloat(*v.got, *v.want) && !near(*v.got, *v.want, 1e-12, v.scale) {
			return fmt.Sprintf("%s is %v, want %v", v.name, *v.got, *v.want)
		}
		*v.got, *v.want = 0, 0
	}
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		// The text takes NaN for equal.
		a, b := fmt.Sprintf("%+v", g.Field(i)), fmt.Sprintf("%+v", w.Field(i))
		if a != b {
			return fmt.Sprintf("%s is %s, want %s", g.Type().Field(i).Name, a, b)
		}
	}
	return ""
}

func TestFactsMatchDefinitions(t *testing.T) {
	tolerances := []Tolerance{{}, {0x1p-10, 0x1p-10}, {Rel: 1e-3}, {Abs: 0.5}}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(21, 22))
		rounds := 200
		if testing.Short() {
			rounds = 60
		}
		for round := range rounds {
			n := rng.IntN(300)
			if round%50 == 49 {
				n = TileLen + rng.IntN(TileLen)
			}
			x, y := randomArrays(rng, n, round%2 == 1)
			switch round % 7 {
			case 1:
				copy(x, y)
			case 2: // few places differ
				copy(x, y)
				for range 2 {
					if n > 0 {
						x[rng.IntN(n)] += 1
					}
				}
			case 3:
				clear([][]float32{x, y}[round/7%2])
			case 4: // a wrong scale, and nothing else
				for i := range x {
					x[i] = y[i] * 4
				}
			}
			within := tolerances[round%len(tolerances)]
			want := plainFacts(widened(x), widened(y), within)
			for _, numerics := range []Numerics{Exact, Reference} {
				cfg := Config{Numerics: numerics, Tolerance: within}
				if why := factsDiffer(Compute32(cfg, x, y).Facts, want); why != "" {
					t.Fatalf("%s, round %d, %d elements: %s", numerics, round, n, why)
				}
				if why := factsDiffer(Compute64(cfg, widened(x), widened(y)).Facts, want); why != "" {
					t.Fatalf("%s float64, round %d, %d elements: %s", numerics, round, n, why)
				}
			}
		}
	})
}

// Neither the selected metrics nor their numerics touch the facts, and they are
// left out where they cost.
func TestFactsOfAnySelection(t *testing.T) {
	x, y := pair(TileLen+99, 5, "zeros")
	want := Compute32(Config{}, x, y).Facts
	for _, cfg := range []Config{{Metrics: []Metric{}}, {Metrics: []Metric{MaxAbsoluteError}}, {Scalar: true}, {TableOnly: true},
		{Numerics: Reference}, {Numerics: Reference, Metrics: []Metric{StandardDeviation}}, {Numerics: Reference, Boolean: true}} {
		if got := Compute32(cfg, x, y).Facts; got != want {
			t.Errorf("%+v: %+v, want %+v", cfg, got, want)
		}
	}
	if got := Compute32(Config{Numerics: Reference, TableOnly: true}, x, y).Facts; got != (Facts{}) {
		t.Errorf("with TableOnly: %+v", got)
	}
}

// The first of the largest errors and the first difference are found wherever
// they are, in whatever order tiles are reduced.
func TestFactsFindPlaces(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(23, 24))
		n := 6*TileLen + 777
		y := series(n, 3)
		for range 20 {
			x := append([]float32{}, y...)
			for range 1 + rng.IntN(6) {
				x[rng.IntN(n)] += float32(1 + rng.IntN(2))
			}
			var want Facts
			for i := range x {
				a, b := float64(x[i]), float64(y[i])
				if a != b {
					if want.Differ++; want.Differ == 1 {
						want.FirstDiffer = Element{Index: int64(i), X: a, Y: b}
					}
					if d := math.Abs(a - b); d > want.MaxAbs {
						want.MaxAbs, want.Worst = d, Element{Index: int64(i), X: a, Y: b}
					}
				}
			}
			run := NewRun(Config{Metrics: []Metric{MaxAbsoluteError}})
			partials := make([]Partial, (n+TileLen-1)/TileLen)
			// Some tiles are reduced before, some after the fold of those before.
			ahead := rng.IntN(len(partials))
			reduce := func(i int) {
				lo, hi := i*TileLen, min((i+1)*TileLen, n)
				run.Reduce32(&partials[i], x[lo:hi], y[lo:hi])
			}
			for _, i := range rng.Perm(ahead) {
				reduce(i)
			}
			for i := range partials {
				if i >= ahead {
					reduce(i)
				}
				run.Fold(&partials[i])
			}
			run.Next()
			got := run.Result().Facts
			if got.Worst != want.Worst || got.FirstDiffer != want.FirstDiffer || got.Differ != want.Differ {
				t.Errorf("worst %+v, first %+v of %d; want %+v, %+v of %d", got.Worst, got.FirstDiffer, got.Differ, want.Worst, want.FirstDiffer, want.Differ)
			}
		}
	})
}

// Examples that a judge must see through.
func TestFactsTell(t *testing.T) {
	y := series(1000, 1)
	scaled, shifted := make([]float32, len(y)), make([]float32, len(y))
	for i, v := range y {
		scaled[i], shifted[i] = 4*v, v+2
	}
	f := Compute32(Config{}, scaled, y).Facts
	if f.Scale != 4 || f.Unscaled > 1e-6 || !near(f.Cosine, 1, 1e-14, 1) || math.Abs(f.Distance-3) > 1e-12 {
		t.Errorf("golden × 4: %+v", f)
	}
	if f = Compute32(Config{}, shifted, y).Facts; math.Abs(f.MeanError-2) > 1e-6 {
		t.Errorf("golden + 2: mean error %v", f.MeanError)
	}
	negative := float32(math.Copysign(0, -1))
	if f = Compute32(Config{}, f32s(0, negative, 1), f32s(negative, 0, 1)).Facts; !f.BitEqual || f.X.Zero != 2 {
		t.Errorf("signed zeros: %+v", f)
	}
	if f = Compute32(Config{}, repeat(3, 40), repeat(0, 40)).Facts; !f.X.Constant() || f.Y.Zero != 40 || f.Y.MaxMagnitude() != 0 || f.X.MaxMagnitude() != 3 {
		t.Errorf("against zeros: %+v", f)
	}
}
