package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"precision/dump/dtype"
	"precision/dump/npy"
	"precision/testdata/workshop/dumptest"
)

// BenchmarkCp: cp of two arrays of 64 MB against compare of the same two, processor time. Target: at most 1.2.
func BenchmarkCp(b *testing.B) {
	dir := b.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	v := make([]float32, 16<<20)
	for i := range v {
		v[i] = r.Float32()
	}
	var path [2]string
	for i, side := range []string{"left", "right"} {
		path[i] = filepath.Join(dir, side, "a.0.1630000000000000.npy")
		if err := os.MkdirAll(filepath.Dir(path[i]), 0o755); err != nil {
			b.Fatal(err)
		}
		f, err := os.Create(path[i])
		if err != nil {
			b.Fatal(err)
		}
		if err := npy.Write(f, dtype.Float32, []int64{int64(len(v))}, dumptest.Floats(v)); err != nil {
			b.Fatal(err)
		}
		f.Close()
		v[5] += 1
	}
	program := filepath.Join(dir, "precision")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var cpu [2]time.Duration
	for b.Loop() {
		for i, c := range []*exec.Cmd{
			exec.Command(program, "cp", path[0], path[1]),
			exec.Command(program, "compare", "-lt", filepath.Dir(path[0]), "-rt", filepath.Dir(path[1]), "-out", b.TempDir()),
		} {
			if out, err := c.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			cpu[i] += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		}
	}
	b.ReportMetric(cpu[0].Seconds()/cpu[1].Seconds(), "times_compare_cpu")
}
