package metric

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"precision/internal/integer"
)

// wholeSide makes elements of one side of a tile: x are the float64 next to them.
func wholeSide(signed bool, v ...uint64) (x []float64, of integer.List) {
	of = integer.List{Bits: v, Signed: signed}
	for _, b := range v {
		if signed {
			x = append(x, float64(int64(b)))
		} else {
			x = append(x, float64(b))
		}
	}
	return x, of
}

func bigOf(v *integer.List, i int) *big.Int {
	if v.Signed {
		return big.NewInt(int64(v.Bits[i]))
	}
	return new(big.Int).SetUint64(v.Bits[i])
}

// reduceWhole runs all tiles of two sides of integers, or of integers and fractions.
func reduceWhole(cfg Config, x, y []float64, ix, iy integer.List) Result {
	part := func(v integer.List, lo, hi int) integer.List {
		if v.Bits != nil {
			v.Bits = v.Bits[lo:hi]
		}
		return v
	}
	run, p := NewRun(cfg), Partial{}
	for {
		for lo := 0; lo < len(x); lo += TileLen {
			hi := min(lo+TileLen, len(x))
			run.ReduceWide(&p, x[lo:hi], y[lo:hi], part(ix, lo, hi), part(iy, lo, hi))
			run.Fold(&p)
		}
		if !run.Next() {
			return run.Result()
		}
	}
}

// Ids near 2^60 of which one is off by 7 differ, by 7, at their place, in either numerics.
func TestIdsDiffer(t *testing.T) {
	ids := func() []uint64 {
		v := make([]uint64, TileLen+100)
		for i := range v {
			v[i] = 1<<60 + uint64(i)*1000
		}
		return v
	}
	other := ids()
	at := TileLen + 41
	other[at] += 7
	for _, numerics := range []Numerics{Exact, Reference} {
		x, ix := wholeSide(true, other...)
		y, iy := wholeSide(true, ids()...)
		r := reduceWhole(Config{Numerics: numerics}, x, y, ix, iy)
		f := r.Facts
		if f.BitEqual || f.Differ != 1 || f.MaxAbs != 7 || f.Worst.Index != int64(at) || f.FirstDiffer != f.Worst || f.Outside != 1 || f.Rounded != 0 || f.MeanError != 7/float64(len(x)) {
			t.Errorf("%v: %+v", numerics, f)
		}
		if got, want := integer.Text(f.Worst.X, f.Worst.XRest), new(big.Int).SetUint64(other[at]).String(); got != want {
			t.Errorf("%v: worst is %s, want %s", numerics, got, want)
		}
		if numerics == Exact {
			for m, want := range map[Metric]string{MaxAbsoluteError: "7.000000", CosineSimilarity: "1.000000"} {
				if got := r.Text(m); got != want {
					t.Errorf("%v: %s, want %s", m, got, want)
				}
			}
		}
		if f = reduceWhole(Config{Numerics: numerics}, x, x, ix, ix).Facts; !f.BitEqual || f.Differ != 0 || f.MaxAbs != 0 || f.Worst.Index != -1 {
			t.Errorf("%v: equal ids: %+v", numerics, f)
		}
	}
}

// Integers of any size and sign against those of another type, by the definitions in
// integers without bounds.
func TestIntegersAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 63))
	draw := func(signed bool) uint64 {
		v := rng.Uint64() >> rng.IntN(64)
		if signed && rng.IntN(2) == 0 {
			return -v
		}
		return v
	}
	eachLevel(t, func(t *testing.T) {
		for round := range 300 {
			n := 1 + rng.IntN(40)
			signedX, signedY := round%2 == 0, round%3 == 0
			bx, by := make([]uint64, n), make([]uint64, n)
			for i := range bx {
				bx[i] = draw(signedX)
				switch by[i] = bx[i]; rng.IntN(4) {
				case 0:
					by[i] = draw(signedY)
				case 1:
					by[i] += uint64(rng.IntN(5)) - 2
				case 2:
					bx[i], by[i] = math.MaxUint64, 1<<63
				}
			}
			x, ix := wholeSide(signedX, bx...)
			y, iy := wholeSide(signedY, by...)
			within := Tolerance{Abs: float64(round % 4)}
			f := reduceWhole(Config{Tolerance: within}, x, y, ix, iy).Facts
			differ, outside, first, worst := int64(0), int64(0), int64(-1), int64(-1)
			most, sum, onZero := new(big.Int), new(big.Int), int64(0)
			for i := range bx {
				d := new(big.Int).Sub(bigOf(&ix, i), bigOf(&iy, i))
				if d.Sign() == 0 {
					continue
				}
				if differ++; first < 0 {
					first = int64(i)
				}
				if bigOf(&iy, i).Sign() == 0 {
					onZero++
				}
				sum.Add(sum, d)
				d.Abs(d)
				if d.CmpAbs(big.NewInt(int64(within.Abs))) > 0 {
					outside++
				}
				if worst < 0 || d.Cmp(most) > 0 {
					most, worst = d, int64(i)
				}
			}
			maxAbs, _ := new(big.Float).SetInt(most).Float64()
			mean, _ := new(big.Float).SetInt(sum).Float64()
			// Of differences that float64 does not tell apart any may be the largest.
			if f.Worst.Index >= 0 && worst >= 0 {
				d := new(big.Int).Sub(bigOf(&ix, int(f.Worst.Index)), bigOf(&iy, int(f.Worst.Index)))
				if got, _ := new(big.Float).SetInt(d.Abs(d)).Float64(); got == maxAbs {
					worst = f.Worst.Index
				}
			}
			if f.Differ != differ || f.BitEqual != (differ == 0) || f.Outside != outside || f.FirstDiffer.Index != first || f.Worst.Index != worst ||
				f.MaxAbs != maxAbs || f.NonzeroOnZero != onZero || !near(f.MeanError, mean/float64(n), 1e-12, maxAbs) {
				t.Fatalf("round %d of %v: %+v, want %d differ, %d outside, first %d, worst %d by %v, mean %v", round, bx, f, differ, outside, first, worst, maxAbs, mean/float64(n))
			}
			if w := f.Worst; worst >= 0 && (integer.Text(w.X, w.XRest) != bigOf(&ix, int(worst)).String() ||
				integer.Text(w.Y, w.YRest) != bigOf(&iy, int(worst)).String()) {
				t.Fatalf("%s and %s, want %v and %v", integer.Text(w.X, w.XRest), integer.Text(w.Y, w.YRest), bigOf(&ix, int(worst)), bigOf(&iy, int(worst)))
			}
		}
	})
}

// Beside fractions an integer is the float64 next to it, which a note tells where that
// is another number.
func TestRoundedIsTold(t *testing.T) {
	x, ix := wholeSide(true, 1<<60+7, 1<<60, 5, 1<<53+1)
	y := []float64{1 << 60, 1 << 60, 5, 1 << 53}
	for _, swap := range []bool{false, true} {
		a, b, ia, ib := x, y, ix, integer.List{}
		if swap {
			a, b, ia, ib = y, x, integer.List{}, ix
		}
		r := reduceWhole(Config{}, a, b, ia, ib)
		if r.Facts.BitEqual || r.Facts.Differ != 0 || r.Facts.Rounded != 2 || len(r.Notes) != 1 || r.Notes[0].Kind != NoteRounded || r.Notes[0].Count != 2 || r.Notes[0].Of != 4 {
			t.Errorf("%+v %+v", r.Facts, r.Notes)
		}
	}
}

func BenchmarkIntegers(b *testing.B) {
	for _, c := range []struct {
		name string
		from uint64
	}{{"small", 0}, {"ids", 1 << 60}} {
		b.Run(c.name, func(b *testing.B) {
			v := make([]uint64, TileLen)
			for i := range v {
				v[i] = c.from + uint64(i)
			}
			x, ix := wholeSide(true, v...)
			b.SetBytes(16 * TileLen)
			for b.Loop() {
				reduceWhole(Config{}, x, x, ix, ix)
			}
		})
	}
}
