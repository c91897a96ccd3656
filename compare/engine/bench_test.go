package engine

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"precision/compare/metric"
	"precision/testdata/workshop/dumptest"
)

// The benchmarks here print ratios of two measurements made in the same run:
// machines are shared, and only ratios can be compared. docs/performance.md
// has the figures and their targets.

// writePair makes count operators with one float32 output of n elements each
// and their golden arrays.
func writePair(tb testing.TB, dir string, count int, n int64) Job {
	tb.Helper()
	return writePairOf(tb, dir, count, n, dumptest.Float32)
}

// writePairOf is writePair for float32 or float16 on both sides.
func writePairOf(tb testing.TB, dir string, count int, n int64, typ int) Job {
	tb.Helper()
	size, descr, encode := int64(4), "<f4", dumptest.Floats
	if typ == dumptest.Float16 {
		size, descr, encode = 2, "<f2", dumptest.Halves
	}
	npu, golden := filepath.Join(dir, "npu"), filepath.Join(dir, "golden")
	for _, d := range []string{npu, golden} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	block := min(n, 1<<20)
	y, x := make([]float32, block), make([]float32, block)
	for i := range y {
		y[i] = float32(rng.NormFloat64())
		x[i] = y[i] * (1 + 1e-3*float32(rng.NormFloat64()))
	}
	mine, gold := encode(x), encode(y)
	fill := func(path string, head, data []byte) {
		f, err := os.Create(path)
		if err != nil {
			tb.Fatal(err)
		}
		defer f.Close()
		w := bufio.NewWriterSize(f, 1<<20)
		w.Write(head)
		for left := size * n; left > 0; left -= int64(len(data)) {
			w.Write(data[:min(left, int64(len(data)))])
		}
		if err := w.Flush(); err != nil {
			tb.Fatal(err)
		}
	}
	for i := range count {
		d := dumptest.Dump{OpName: fmt.Sprintf("op_%d", i), Outputs: []dumptest.Tensor{{Type: typ, Format: dumptest.ND,
			Shape: []int64{n}, Claim: uint64(size * n)}}}
		fill(filepath.Join(npu, fmt.Sprintf("Op.op_%d.%d.1.%d", i, i, 1630000000000000+i)), d.Bytes(), mine)
		path := filepath.Join(golden, fmt.Sprintf("op_%d.0.%d.npy", i, 1630000000000000+i))
		if err := dumptest.WriteNpy(path, descr, []int64{n}, nil); err != nil {
			tb.Fatal(err)
		}
		head, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		fill(path, head, gold)
	}
	return Job{Left: npu, Right: golden}
}

// compareOnce runs a job and returns how long it took, opening included.
func compareOnce(tb testing.TB, job Job) time.Duration {
	tb.Helper()
	start := time.Now()
	s, err := job.Open(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	out, err := s.Run(context.Background())
	if n := out.Table.Compared(); err != nil || n == 0 || n != len(out.Table.Rows) {
		tb.Fatalf("%d of %d rows compared, %v", n, len(out.Table.Rows), err)
	}
	return time.Since(start)
}

// ratio alternates two measurements and compares their best times, so that
// what else the machine does falls on both.
func ratio(b *testing.B, name string, top, bottom func() time.Duration) {
	best := [2]time.Duration{1 << 62, 1 << 62}
	for b.Loop() {
		best[0], best[1] = min(best[0], top()), min(best[1], bottom())
	}
	b.ReportMetric(float64(best[0])/float64(best[1]), name)
}

// BenchmarkWorkers: one worker against two, for one giant pair and for many
// small ones. Target: 1.85 each, on two free cores.
func BenchmarkWorkers(b *testing.B) {
	for _, c := range []struct {
		name  string
		count int
		n     int64
	}{{"one_1GB", 1, 1 << 28}, {"1000_small", 1000, 1 << 16}} {
		for _, numerics := range []metric.Numerics{metric.Exact, metric.Reference} {
			b.Run(c.name+"/"+numerics.String(), func(b *testing.B) {
				job := writePair(b, b.TempDir(), c.count, c.n)
				job.Numerics = numerics
				with := func(workers int) func() time.Duration {
					j := job
					j.Workers = workers
					return func() time.Duration { return compareOnce(b, j) }
				}
				ratio(b, "speedup", with(1), with(2))
			})
		}
	}
}

// BenchmarkManyFiles: the time a pair takes among 100 000 files a side against
// among 1 000. Target: at most 1.3.
func BenchmarkManyFiles(b *testing.B) {
	few := writePair(b, b.TempDir(), 1000, 256)
	many := writePair(b, b.TempDir(), 100_000, 256)
	ratio(b, "slowdown", func() time.Duration { return compareOnce(b, many) / 100 }, func() time.Duration { return compareOnce(b, few) })
}

// BenchmarkFloat16: a float16 pair against a float32 pair of as many elements,
// one worker: the rate of the widened data. Target: at least 0.8.
func BenchmarkFloat16(b *testing.B) {
	const n = 1 << 26
	halves := writePairOf(b, b.TempDir(), 1, n, dumptest.Float16)
	floats := writePairOf(b, b.TempDir(), 1, n, dumptest.Float32)
	for _, numerics := range []metric.Numerics{metric.Exact, metric.Reference} {
		b.Run(numerics.String(), func(b *testing.B) {
			with := func(j Job) func() time.Duration {
				j.Numerics, j.Workers = numerics, 1
				return func() time.Duration { return compareOnce(b, j) }
			}
			ratio(b, "of_float32_rate", with(floats), with(halves))
		})
	}
}
