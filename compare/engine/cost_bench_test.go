package engine

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"precision/compare/metric"
	"precision/dump/dtype"
	"precision/dump/layout"
)

// BenchmarkStages takes the way of a tile before the kernels apart, in nanoseconds an element of one core: reading from
// the page cache, restoring layouts and widening. "of-copy" is the time that copying as many bytes
// in memory takes, as a part of it: reading and restoring move every byte at least once.
func BenchmarkStages(b *testing.B) {
	const n = metric.TileLen
	least := func(f func()) float64 {
		shortest := math.Inf(1)
		for range 30 {
			start := time.Now()
			f()
			shortest = min(shortest, time.Since(start).Seconds())
		}
		return shortest
	}
	stored := make([]byte, 64<<20)
	for i := range stored {
		stored[i] = byte(i * 7)
	}
	dst := make([]byte, 4*n)
	stage := func(name string, elements, size int, f func()) {
		b.Run(name, func(b *testing.B) {
			took, plain := math.Inf(1), math.Inf(1)
			for b.Loop() {
				took = min(took, least(f))
				plain = min(plain, least(func() {
					for at := 0; at < elements*size; at += len(dst) {
						copy(dst, stored[at:min(at+len(dst), elements*size)])
					}
				}))
			}
			b.ReportMetric(took/float64(elements)*1e9, "ns/element")
			b.ReportMetric(plain/took, "of-copy")
		})
	}
	file, err := os.Create(filepath.Join(b.TempDir(), "tensor"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(stored); err != nil {
		b.Fatal(err)
	}
	stage("read/float32", 32*n, 4, func() {
		for i := range int64(32) {
			if _, err := file.ReadAt(dst, i*4*n); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, c := range []struct {
		from, to     layout.Format
		stored, want []int64
		size         int
	}{
		{layout.NC1HWC0, layout.NCHW, []int64{1, 16, 56, 56, 16}, []int64{1, 256, 56, 56}, 2},
		{layout.NC1HWC0, layout.NCHW, []int64{1, 16, 56, 56, 16}, []int64{1, 256, 56, 56}, 4},
		{layout.NC1HWC0, layout.NHWC, []int64{1, 16, 56, 56, 16}, []int64{1, 56, 56, 256}, 2},
		{layout.FractalNZ, layout.ND, []int64{64, 64, 16, 16}, []int64{1024, 1024}, 2},
		{layout.FractalZ, layout.NCHW, []int64{16 * 9, 16, 16, 16}, []int64{256, 256, 3, 3}, 2},
		{layout.NHWC, layout.NCHW, []int64{1, 56, 56, 256}, []int64{1, 256, 56, 56}, 2},
	} {
		view, err := layout.Restore(c.from, c.to, c.stored, c.want, 0)
		if err != nil {
			b.Fatal(err)
		}
		r, err := layout.NewReader(bytes.NewReader(stored), 0, c.size, view)
		if err != nil {
			b.Fatal(err)
		}
		stage(fmt.Sprintf("restore/%v_%v/%d", c.from, c.to, 8*c.size), int(view.Len()), c.size, func() {
			for at := int64(0); at < view.Len(); at += n {
				if err := r.ReadTile(dst, at, min(n, view.Len()-at)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	wide := make([]float32, n)
	for _, t := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Int8, dtype.Int32} {
		size := int(t.Bits() / 8)
		stage("widen/"+t.String(), n, size, func() { dtype.Widen32(t, wide, stored[:n*size]) })
	}
}

// BenchmarkCost fits what a comparison costs to operators and bytes: wall time of one worker over pairs of
// 10², 10³ and 10⁴ operators, with tensors of 1 KB and of 256 KB a side (10² and 10³ only).
// "off" is by how much the worst measurement is off the fit.
func BenchmarkCost(b *testing.B) {
	type point struct {
		job              Job
		operators, bytes float64
		took             float64
	}
	var points []point
	for _, c := range []struct {
		count int
		n     int64
	}{{100, 256}, {1000, 256}, {10_000, 256}, {100, 1 << 16}, {1000, 1 << 16}} {
		job := writePair(b, b.TempDir(), c.count, c.n)
		job.Workers = 1
		points = append(points, point{job, float64(c.count), 8 * float64(c.n) * float64(c.count), math.Inf(1)})
	}
	for b.Loop() {
		for i := range points {
			p := &points[i]
			p.took = min(p.took, compareOnce(b, p.job).Seconds())
		}
	}
	// Least squares of relative errors over start + operators·a + bytes·c.
	var m [3][4]float64
	for _, p := range points {
		row := [4]float64{1 / p.took, p.operators / p.took, p.bytes / p.took, 1}
		for i := range 3 {
			for j := range 4 {
				m[i][j] += row[i] * row[j]
			}
		}
	}
	for i := range 3 {
		for j := range 3 {
			if j == i {
				continue
			}
			f := m[j][i] / m[i][i]
			for k := range 4 {
				m[j][k] -= f * m[i][k]
			}
		}
	}
	start, operator, byteCost := m[0][3]/m[0][0], m[1][3]/m[1][1], m[2][3]/m[2][2]
	off := 0.0
	for _, p := range points {
		off = max(off, math.Abs((start+operator*p.operators+byteCost*p.bytes)/p.took-1))
	}
	b.ReportMetric(start*1e3, "ms")
	b.ReportMetric(operator*1e6, "us/operator")
	b.ReportMetric(1/byteCost/1e9, "GB/s")
	b.ReportMetric(off, "off")
}
