package metric

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// best is the shortest time of f, out of a few runs.
func best(runs int, f func()) time.Duration {
	shortest := time.Duration(1 << 62)
	for range runs {
		start := time.Now()
		f()
		shortest = min(shortest, time.Since(start))
	}
	return shortest
}

func withLevel(l level, f func()) {
	was := active
	active = l
	defer func() { active = was }()
	f()
}

var sink uint64

// firstPass is the first pass over whole arrays, by one goroutine.
func firstPass(cfg Config, x, y []float32) {
	run := NewRun(cfg)
	var p Partial
	for lo := 0; lo < len(x); lo += TileLen {
		hi := min(lo+TileLen, len(x))
		run.Reduce32(&p, x[lo:hi], y[lo:hi])
		run.Fold(&p)
	}
}

// BenchmarkFusedInMemory relates the first pass of Exact numerics over 2 × 256
// MB to only reading the same arrays ("of-read"; the goal is 0.7).
func BenchmarkFusedInMemory(b *testing.B) {
	const n = 64 << 20
	x, y := pair(n, 1, "plain")
	for _, l := range levels[1:] {
		b.Run(l.String(), func(b *testing.B) {
			withLevel(l, func() {
				read, fused := time.Duration(1<<62), time.Duration(1<<62)
				for b.Loop() {
					read = min(read, best(3, func() { sink += readStreams(&x[0], &y[0], n) }))
					fused = min(fused, best(3, func() { firstPass(Config{}, x, y) }))
				}
				b.ReportMetric(read.Seconds()/fused.Seconds(), "of-read")
				b.ReportMetric(8*n/read.Seconds()/1e9, "read-GB/s")
				b.ReportMetric(8*n/fused.Seconds()/1e9, "fused-GB/s")
			})
		})
	}
}

// BenchmarkFusedInCache relates the kernels to the Go loop over 2 × 256 KB
// ("times-go"; the goal is 10).
func BenchmarkFusedInCache(b *testing.B) {
	const n = 64 << 10
	x, y := pair(n, 1, "plain")
	for _, l := range levels[1:] {
		b.Run(l.String(), func(b *testing.B) {
			var plain, fused time.Duration = 1 << 62, 1 << 62
			for b.Loop() {
				withLevel(levelGo, func() {
					plain = min(plain, best(20, func() { firstPass(Config{}, x, y) }))
				})
				withLevel(l, func() {
					fused = min(fused, best(20, func() { firstPass(Config{}, x, y) }))
				})
			}
			b.ReportMetric(plain.Seconds()/fused.Seconds(), "times-go")
			b.ReportMetric(fused.Seconds()/n*1e9, "ns/element")
		})
	}
}

// numpyTime is how long numpy takes for all metrics of n elements, one by one.
// PYTHON names an interpreter that has numpy, if python3 does not.
func numpyTime(b *testing.B, n int) time.Duration {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	out, err := exec.Command(python, "-B", "testdata/yardstick.py", strconv.Itoa(n)).Output()
	if err != nil {
		b.Skipf("no numpy: %s: %v", python, err)
	}
	ms, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// BenchmarkAllMetrics relates all ten metrics over 2 × 256 MB, by one
// goroutine, to numpy ("times-numpy"; the goals are 14 for Exact and 12 for
// Reference numerics).
func BenchmarkAllMetrics(b *testing.B) {
	const n = 64 << 20
	numpy := numpyTime(b, n)
	x, y := pair(n, 1, "plain")
	for _, numerics := range []Numerics{Exact, Reference} {
		for _, l := range levels[1:] {
			b.Run(fmt.Sprintf("%s/%s", numerics, l), func(b *testing.B) {
				withLevel(l, func() {
					shortest := time.Duration(1 << 62)
					for b.Loop() {
						shortest = min(shortest, best(1, func() { Compute32(Config{Numerics: numerics}, x, y) }))
					}
					b.ReportMetric(numpy.Seconds()/shortest.Seconds(), "times-numpy")
					b.ReportMetric(8*n/shortest.Seconds()/1e9, "GB/s")
				})
			})
		}
	}
}
