package oracle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestProduct32 holds the vector kernel against sums in float64, at all edges of
// its tiles.
func TestProduct32(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n int) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(r.NormFloat64())
		}
		return s
	}
	var p product32
	for _, vector := range []bool{true, false} {
		was := vectors
		vectors = vectors && vector
		for _, size := range [][3]int{{1, 1, 1}, {6, 16, 384}, {7, 17, 385}, {2, 16, 3}, {13, 100, 800}, {64, 49, 130}, {5, 33, 0}} {
			m, n, k := size[0], size[1], size[2]
			a, b := matrix{random(m*k + 5), k + 1}, matrix{random(k*(n+3) + 1), n + 3}
			a.data = random(m * (k + 1))
			c := matrix{random(m * (n + 2)), n + 2}
			before := append([]float32{}, c.data...)
			p.multiply(m, n, k, a, b, c)
			for i := range m {
				for j := range n + 2 {
					if j >= n {
						if c.data[i*c.ld+j] != before[i*c.ld+j] {
							t.Fatalf("%v: wrote beyond column %d", size, n)
						}
						continue
					}
					sum, bound := 0.0, 0.0
					for l := range k {
						x := float64(a.data[i*a.ld+l]) * float64(b.data[l*b.ld+j])
						sum += x
						bound += math.Abs(x)
					}
					if off := math.Abs(float64(c.data[i*c.ld+j]) - sum); off > gamma(float64(k+2), u32)*bound {
						t.Fatalf("%v, vectors %v: (%d,%d) off by %g, bound %g", size, vectors, i, j, off, gamma(float64(k+2), u32)*bound)
					}
				}
			}
		}
		vectors = was
	}
}

func BenchmarkProduct32(b *testing.B) {
	for _, size := range [][3]int{{64, 3136, 576}, {512, 49, 4608}, {256, 3136, 64}} {
		m, n, k := size[0], size[1], size[2]
		x, y, z := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
		for _, vector := range []bool{true, false} {
			b.Run(fmt.Sprintf("%dx%dx%d/vectors=%v", m, n, k, vector), func(b *testing.B) {
				was := vectors
				defer func() { vectors = was }()
				vectors = vectors && vector
				var p product32
				for i := range x {
					x[i] = 1
				}
				for b.Loop() {
					p.multiply(m, n, k, matrix{x, k}, matrix{y, n}, matrix{z, n})
				}
				b.ReportMetric(float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
			})
		}
	}
}
