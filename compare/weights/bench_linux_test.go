package weights

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"precision/dump/checkpoint"
)

// BenchmarkCompare relates two checkpoints of 256 MB each, in tensors of 16 MB as a large model's products: all equal, all of another step, all of another model. It tells how
// many bytes are read for one that there is, and the most memory.
func BenchmarkCompare(b *testing.B) {
	const tensors, rows, width = 16, 2048, 4096
	write := func(change func(x uint16, i int) uint16, seed uint64) *checkpoint.Set {
		head, r := map[string]any{}, rand.New(rand.NewPCG(seed, 1))
		for i := range tensors {
			at := 2 * i * rows * width
			head[fmt.Sprintf("model.layers.%d.mlp.up_proj.weight", i)] = map[string]any{"dtype": "BF16", "shape": []int{rows, width}, "data_offsets": []int{at, at + 2*rows*width}}
		}
		text, err := json.Marshal(head)
		if err != nil {
			b.Fatal(err)
		}
		file := filepath.Join(b.TempDir(), "model.safetensors")
		f, err := os.Create(file)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)); err != nil {
			b.Fatal(err)
		}
		buf := make([]byte, 0, 2*rows*width)
		for range tensors {
			buf = buf[:0]
			for i := range rows * width {
				x := uint16(math.Float32bits(float32(r.Float64()-0.5)) >> 16)
				buf = binary.LittleEndian.AppendUint16(buf, change(x, i))
			}
			if _, err := f.Write(buf); err != nil {
				b.Fatal(err)
			}
		}
		s, err := checkpoint.Open(file)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		return s
	}
	keep := func(x uint16, _ int) uint16 { return x }
	left := write(keep, 1)
	for _, x := range []struct {
		name string
		to   *checkpoint.Set
		want Kind
	}{
		{"same", write(keep, 1), Same},
		{"step", write(func(x uint16, i int) uint16 { return x + uint16(i%64/63) }, 1), Step},
		{"unlike", write(keep, 2), Unlike},
	} {
		b.Run(x.name, func(b *testing.B) {
			read := func() (n int64, cpu float64, most float64) {
				io, err := os.ReadFile("/proc/self/io")
				if err == nil {
					_, err = fmt.Sscanf(string(io), "rchar: %d", &n)
				}
				var u syscall.Rusage
				if err == nil {
					err = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
				}
				if err != nil {
					b.Fatal(err)
				}
				return n, float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6, float64(u.Maxrss) / 1024
			}
			n, cpu, _ := read()
			for b.Loop() {
				r, err := Compare(b.Context(), left, x.to, 2, nil)
				if err != nil || r.Count(x.want) != tensors {
					b.Fatalf("%v: %d of %d are %s", err, r.Count(x.want), tensors, x.want)
				}
			}
			m, after, most := read()
			size := float64(2 * 2 * tensors * rows * width * b.N)
			b.ReportMetric(float64(m-n)/size, "bytes_read/byte")
			b.ReportMetric((after-cpu)/size*1e9, "cpu-s/GB")
			b.ReportMetric(most, "MB-most")
		})
	}
}
