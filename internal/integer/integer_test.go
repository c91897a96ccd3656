package integer

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func (l *List) big(i int) *big.Int {
	if l.Signed {
		return big.NewInt(int64(l.Bits[i]))
	}
	return new(big.Int).SetUint64(l.Bits[i])
}

func (l *List) float(i int) float64 {
	if l.Signed {
		return float64(int64(l.Bits[i]))
	}
	return float64(l.Bits[i])
}

// Differences, rests and texts are those of integers without bounds.
func TestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 64))
	edges := []uint64{0, 1, 1 << 53, 1<<53 + 1, 1<<60 + 7, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64}
	for range 20000 {
		draw := func() uint64 {
			if rng.IntN(2) == 0 {
				return edges[rng.IntN(len(edges))]
			}
			return rng.Uint64() >> rng.IntN(64)
		}
		a := List{Bits: []uint64{draw()}, Signed: rng.IntN(2) == 0}
		b := List{Bits: []uint64{draw()}, Signed: rng.IntN(2) == 0}
		d := new(big.Int).Sub(a.big(0), b.big(0))
		if want, _ := new(big.Float).SetInt(d).Float64(); a.Minus(0, &b) != want {
			t.Fatalf("%v less %v is %v, want %v", a, b, a.Minus(0, &b), want)
		}
		rest := a.Rest(0, a.float(0))
		if math.Abs(rest) > 1024 {
			t.Fatalf("%v has a rest of %v", a, rest)
		}
		if got, want := Text(a.float(0), rest), a.big(0).String(); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		if want, _ := new(big.Float).SetInt(a.big(0)).Float32(); a.Float32(0) != want {
			t.Fatalf("%v as float32 is %v, want %v", a, a.Float32(0), want)
		}
	}
}
