package recording

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// A norm whose squares were added up one after the other in float32 on some lanes is that of its elements, whatever they are like and in
// whatever order they were read; another is not.
func TestNormOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 4))
	const n, width = 1 << 19, 1 << 8
	for _, c := range []struct {
		name  string
		next  func() float64
		least float64 // how far off the sums are, or the case tells nothing
		wrong float64
	}{
		{"normal", r.NormFloat64, 1.5e-6, 1 + 1e-3},
		{"cubes", func() float64 { x := r.NormFloat64(); return x * x * x }, 1e-5, 1 + 3e-3},
		{"many sizes", func() float64 { return math.Exp(2 * r.NormFloat64()) }, 3e-5, 1 + 3e-3},
		{"one number", func() float64 { return 0.37 }, 1e-4, 1 + 1e-2},
		{"small and wide", func() float64 { return 1e-12 * math.Exp(r.NormFloat64()) }, 2e-6, 1 + 3e-3},
	} {
		v := make([]float32, n)
		var raw []byte
		for i := range v {
			v[i] = float32(c.next())
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v[i]))
		}
		l := &leaf{form: &form{Elem: dtype.Float32, Known: true, Shape: []int64{n}}, summary: &result.Summary{}}
		side := &engine.SideTensor{Tensor: engine.Tensor{Type: dtype.Float32, Shape: []int64{n}, Count: n, Open: func() engine.Elements { return bytesElements(raw) }}}
		s, err := measure(context.Background(), side, l, &sums{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.look(context.Background(), side, msprobe.Number{Kind: msprobe.Float, F: 2 * s.norm}, l); err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for _, lanes := range []int{1, 4, 16} {
			for _, turned := range []bool{false, true} {
				sum, exact := make([]float32, lanes), 0.0
				for i := range n {
					x := v[i]
					if turned {
						x = v[i%(n/width)*width+i/(n/width)]
					}
					sum[i%lanes] += x * x
					exact += float64(x) * float64(x)
				}
				total := float32(0)
				for _, x := range sum {
					total += x
				}
				recorded := float64(float32(math.Sqrt(float64(total))))
				worst = max(worst, math.Abs(recorded/math.Sqrt(exact)-1))
				for times, want := range map[float64]bool{1: true, c.wrong: false} {
					if s.agrees(atNorm, msprobe.Number{Kind: msprobe.Float, F: recorded * times}, l) != want {
						t.Errorf("%s, %d lanes, turned %v: %g for %g, expected %v", c.name, lanes, turned, recorded*times, s.norm, want)
					}
				}
			}
		}
		if worst < c.least {
			t.Errorf("%s: the sums are %g off, which tells nothing", c.name, worst)
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
