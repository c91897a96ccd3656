package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"precision/testdata/workshop/computed"
)

// BenchmarkKept: how much more processor time a small comparison takes because its result is kept for commands that
// are given none, as the median of pairs of runs. Target: at most 2 %.
func BenchmarkKept(b *testing.B) {
	for _, arch := range []string{"lm", "training"} {
		b.Run(arch, func(b *testing.B) {
			n, err := computed.New(computed.Options{Arch: arch, Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			dir := b.TempDir()
			if _, err := n.Write(dir); err != nil {
				b.Fatal(err)
			}
			program := filepath.Join(dir, "precision")
			if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			compare := func(env ...string) float64 {
				c := exec.Command(program, "compare", "-lt", filepath.Join(dir, filepath.FromSlash(computed.DumpDir)), "-rt", filepath.Join(dir, computed.GoldenDir),
					"-g", filepath.Join(dir, computed.GraphFile), "-out", filepath.Join(dir, "out"))
				if c.Env = env; len(env) == 0 {
					c.Env = []string{"LANG=C"} // no place to keep anything
				}
				if out, err := c.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				return float64(c.ProcessState.UserTime()+c.ProcessState.SystemTime()) / float64(time.Millisecond)
			}
			var without, more []float64
			for i := 0; b.Loop(); i++ {
				var used [2]float64
				for k := range used { // one before the other, and the other way round
					if which := (i + k) % 2; which == 0 {
						used[0] = compare()
					} else {
						used[1] = compare("LANG=C", "XDG_STATE_HOME="+filepath.Join(dir, "state"))
					}
				}
				without, more = append(without, used[0]), append(more, used[1]-used[0])
			}
			median := func(list []float64) float64 { slices.Sort(list); return list[len(list)/2] }
			b.ReportMetric(median(without), "cpu-ms/comparison")
			b.ReportMetric(100*median(more)/median(without), "kept-%")
		})
	}
}
