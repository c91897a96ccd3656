package engine

import (
	"fmt"
	"testing"
	"time"

	"precision/testdata/workshop/slowdisk"
)

// BenchmarkDisk compares pairs whose files are on storage that takes its time (package slowdisk): many small files and few
// large ones, with and without files of the next operators being asked for. "of-disk" is
// the time that the bandwidth alone makes of the bytes, as a part of it.
func BenchmarkDisk(b *testing.B) {
	for _, d := range []struct {
		name string
		disk slowdisk.Disk
	}{
		{"100us_500MB", slowdisk.Disk{Latency: 100 * time.Microsecond, Bandwidth: 500e6, Depth: 32}},
		{"5ms_150MB", slowdisk.Disk{Latency: 5 * time.Millisecond, Bandwidth: 150e6, Depth: 32}},
	} {
		for _, c := range []struct {
			name  string
			count int
			n     int64 // float32 a side
		}{{"500x2x16KB", 500, 4 << 10}, {"100x2x256KB", 100, 64 << 10}, {"4x2x16MB", 4, 4 << 20}} {
			job := writePair(b, b.TempDir(), c.count, c.n)
			job.Workers = 2
			for _, ahead := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/%s/ahead=%t", d.name, c.name, ahead), func(b *testing.B) {
					took, bytes := time.Duration(0), int64(0)
					for b.Loop() {
						bytes += d.disk.Run(ahead, func() { took += compareOnce(b, job) })
					}
					b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/run")
					b.ReportMetric(float64(bytes)/d.disk.Bandwidth/took.Seconds(), "of-disk")
				})
			}
		}
	}
}
