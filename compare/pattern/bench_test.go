package pattern

import (
	"fmt"
	"testing"

	"precision/dump/dtype"
)

// BenchmarkFind gives the time per element of right data, of noise, of a fault that the first
// hypotheses explain, and of one that none does.
func BenchmarkFind(b *testing.B) {
	for _, shape := range [][]int64{{1, 64, 56, 56}, {16, 64, 64, 256}} {
		for name, do := range map[string]func(s *sample){
			"right": func(*sample) {},
			"noise": func(s *sample) {
				s.change(func(_ int, x float64) float64 { return x * (1 + 0.01*s.rng.NormFloat64()) })
			},
			"scale":       func(s *sample) { s.change(func(_ int, x float64) float64 { return 2 * x }) },
			"tail":        func(s *sample) { clear(s.Got[len(s.Got)*3/4:]) },
			"unexplained": func(s *sample) { s.change(func(_ int, x float64) float64 { return s.rng.NormFloat64() }) },
		} {
			s := newSample(shape, dtype.Float16, "normal", "none", 1)
			do(s)
			b.Run(fmt.Sprintf("%s/%d", name, len(s.Got)), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Find(s.Case); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.Got)), "ns/element")
			})
		}
	}
}
