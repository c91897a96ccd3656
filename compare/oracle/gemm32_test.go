package oracle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// at makes products with every set of kernels that this processor has.
func (l *tileLevel) at(do func()) {
	was := level
	defer func() { level = was }()
	level = *l
	do()
}

// TestProducts holds the vector kernels against sums in the order of the rows, at all edges of
// their tiles.
func TestProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n int) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(r.NormFloat64())
		}
		return s
	}
	for i := range levels {
		for _, at := range [][3]int{{1, 1, 1}, {6, 16, 256}, {7, 17, 257}, {2, 16, 3}, {13, 100, 800}, {64, 49, 130}, {5, 33, 0}, {6, 32, 8}, {391, 5, 20}, {12, 65, 513}} {
			m, n, k := at[0], at[1], at[2]
			a, b := matrix{random(m * (k + 1)), k + 1}, matrix{random(k*(n+3) + 1), n + 3}
			ld := n + 2
			c, y, size := random(m*ld), make([]float64, m*ld), make([]float64, m*ld)
			before := append([]float32{}, c...)
			for i := range y {
				y[i], size[i] = float64(c[i]), float64(c[i])
			}
			levels[i].at(func() {
				multiply32(m, n, k, a, b, matrix{c, ld})
				multiply64(m, n, k, a, b, y, size, ld)
			})
			for at, was := range before {
				i, j := at/ld, at%ld
				if j >= n {
					if c[at] != was || y[at] != float64(was) || size[at] != float64(was) {
						t.Fatalf("%dx%dx%d: wrote beyond column %d", m, n, k, n)
					}
					continue
				}
				sum, bound := 0.0, 0.0
				for l := range k {
					x := float64(a.data[i*a.ld+l]) * float64(b.data[l*b.ld+j])
					sum += x
					bound += math.Abs(x)
				}
				terms := float64(k + 2)
				for _, one := range []struct {
					what              string
					found, want, most float64
				}{
					{"float32", float64(c[at]), sum, gamma(terms, u32) * bound},
					{"float64", y[at], sum, 2 * gamma(terms, 0x1p-53) * bound},
					{"sizes", size[at], bound, 2 * gamma(terms, 0x1p-53) * bound},
				} {
					if off := math.Abs(one.found - one.want); !(off <= one.most) {
						t.Fatalf("%dx%dx%d, %s, %s: (%d,%d) off by %g, bound %g", m, n, k, levels[i].name, one.what, i, j, off, one.most)
					}
				}
			}
		}
	}
}

// Products of infinities are left out nowhere, and what fills up tiles gets nowhere.
func TestProductsOfInfinities(t *testing.T) {
	const m, n, k = 7, 21, 40
	a, b := make([]float32, m*k), make([]float32, k*n)
	a[3*k+5], b[5*n+20] = float32(math.Inf(1)), float32(math.NaN())
	for i := range levels {
		levels[i].at(func() {
			y := make([]float64, m*n)
			multiply64(m, n, k, matrix{a, k}, matrix{b, n}, y, nil, n)
			for i, v := range y {
				if nan := i/n == 3 || i%n == 20; nan != math.IsNaN(v) {
					t.Errorf("%s: (%d,%d) is %g", level.name, i/n, i%n, v)
				}
			}
		})
	}
}

func BenchmarkProducts(b *testing.B) {
	for _, size := range [][3]int{{64, 3136, 576}, {512, 49, 4608}, {256, 3136, 64}} {
		m, n, k := size[0], size[1], size[2]
		x, y, z, wide := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n), make([]float64, m*n)
		for i := range x {
			x[i] = 1
		}
		for i := range levels {
			for name, do := range map[string]func(){
				"float32": func() { multiply32(m, n, k, matrix{x, k}, matrix{y, n}, matrix{z, n}) },
				"float64": func() { multiply64(m, n, k, matrix{x, k}, matrix{y, n}, wide, nil, n) },
			} {
				b.Run(fmt.Sprintf("%dx%dx%d/%s/%s", m, n, k, levels[i].name, name), func(b *testing.B) {
					levels[i].at(func() {
						for b.Loop() {
							do()
						}
					})
					b.ReportMetric(float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
				})
			}
		}
	}
}
