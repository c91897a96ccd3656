package recording

import (
	"math"
	"math/rand/v2"
	"testing"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// A norm whose squares were added up one after the other in float32, on eight lanes, is that of its elements; another is not.
func TestNormOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 4))
	const n = 1 << 19
	var lanes [8]float32
	exact := 0.0
	for i := range n {
		x := float32(r.NormFloat64())
		lanes[i%len(lanes)] += x * x
		exact += float64(x) * float64(x)
	}
	sum := float32(0)
	for _, x := range lanes {
		sum += x
	}
	recorded := float64(float32(math.Sqrt(float64(sum))))
	s := sums{n: n, norm: math.Sqrt(exact)}
	s.stats[atNorm] = msprobe.Number{Kind: msprobe.Float, F: s.norm}
	l := &leaf{form: &form{Elem: dtype.Float32, Known: true, Shape: []int64{n}}, summary: &result.Summary{}}
	if off := math.Abs(recorded/s.norm - 1); off < 1.5e-6 {
		t.Fatalf("the sums are %g off, which tells nothing", off)
	}
	for times, want := range map[float64]bool{1: true, 1 + 1e-4: false} {
		if s.agrees(atNorm, msprobe.Number{Kind: msprobe.Float, F: recorded * times}, l) != want {
			t.Errorf("%g for %g, expected %v", recorded*times, s.norm, want)
		}
	}
}

// Of narrow types no more is allowed for it: half of a million bfloat16 numbers that are 0 are not what was recorded.
func TestNormOfManyNarrow(t *testing.T) {
	s := sums{n: 1 << 20, norm: 1024}
	s.stats[atNorm] = msprobe.Number{Kind: msprobe.Float, F: s.norm}
	l := &leaf{form: &form{Elem: dtype.BFloat16, Known: true, Shape: []int64{s.n}}, summary: &result.Summary{}}
	for recorded, want := range map[float64]bool{1020: true, 1024 * math.Sqrt2: false} {
		if s.agrees(atNorm, msprobe.Number{Kind: msprobe.Float, F: recorded}, l) != want {
			t.Errorf("%g for %g, expected %v", recorded, s.norm, want)
		}
	}
}
