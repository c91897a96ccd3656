package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"precision/dump/dtype"
	"precision/dump/layout"
)

// BenchmarkConvert converts one large tensor, and many small ones. The copy is
// what reading the file and writing its bytes takes.
func BenchmarkConvert(b *testing.B) {
	shape := []int64{8, 16, 112, 112, 16}
	x := tensor{t: dtype.Float16, f: layout.NC1HWC0, shape: shape, orig: []int64{8, 256, 112, 112}, data: make([]byte, 2*count(shape))}
	dir := b.TempDir()
	in := one(x).put(b, dir, plainName)
	size := int64(len(x.data))
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			data, err := os.ReadFile(in)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "copy"), data, 0o600)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"npy", Options{}}, {"pt", Options{Type: PT}}, {"NCHW", Options{Format: formatOf(layout.NCHW)}}, {"NHWC", Options{Format: formatOf(layout.NHWC)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.o.Out = filepath.Join(dir, "out")
			b.SetBytes(size)
			for b.Loop() {
				if r := run(b, c.o, in); r.Written() != 1 {
					b.Fatal(r.Files[0].Failures)
				}
			}
		})
	}
	x.t = dtype.BFloat16
	bf := one(x).put(b, dir, "Op.bf.1.1.1630000000000000")
	b.Run("bf16", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			run(b, Options{Out: filepath.Join(dir, "out")}, bf)
		}
	})
	small := made{outputs: []tensor{{t: dtype.Int8, f: layout.ND, shape: []int64{4096}, data: make([]byte, 4096)}}}
	var files []string
	for i := range 1000 {
		files = append(files, small.put(b, filepath.Join(dir, "small"), fmt.Sprintf("Op.n%d.1.1.1630000000000000", i)))
	}
	b.Run("small", func(b *testing.B) {
		for b.Loop() {
			run(b, Options{Out: filepath.Join(dir, "out")}, files...)
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(files)), "µs/file")
	})
}
