package uniq

import (
	"fmt"
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	for _, different := range []int{0, 1, short - 1, short, short + 1, 1000} {
		var n Names
		var want []string
		for i := range different {
			name := fmt.Sprint("op", i)
			want = append(want, name)
			n.Add(name)
			n.Add(want[i/2])
		}
		if !slices.Equal(n.List, want) {
			t.Errorf("%d names: %v", different, n.List)
		}
	}
}

// BenchmarkMany grows with the number of names, not with its square.
func BenchmarkMany(b *testing.B) {
	for _, count := range []int{1000, 100000} {
		names := make([]string, count)
		for i := range names {
			names[i] = fmt.Sprint("op", i)
		}
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			for b.Loop() {
				var n Names
				for _, s := range names {
					n.Add(s)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/name")
		})
	}
}
