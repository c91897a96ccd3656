package stage_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"precision/compare/rollout"
	"precision/compare/rollout/stage"
	"precision/compare/verdict"
)

// spent is what this process has used of the processor, in seconds, and the most memory that it had, in MB.
func spent(b *testing.B) (cpu, most float64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(u.Utime) + seconds(u.Stime), float64(u.Maxrss) / 1024
}

// BenchmarkPair judges a recorded pair of some 40 MB, which may take five seconds of the processor.
func BenchmarkPair(b *testing.B) {
	defer stage.Larger(4, 4, 24, 64, rand.New(rand.NewPCG(1, 1)))()
	dir := b.TempDir()
	q := asked(stage.Made(b, dir, true))
	q.Tokens = 256 // as the command has it
	size := 0.0
	for _, path := range []string{q.TrainCalls, q.RolloutCalls} {
		err := filepath.WalkDir(path, func(_ string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				info, _ := e.Info()
				size += float64(info.Size()) / 1e6
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	before, _ := spent(b)
	for b.Loop() {
		if r, err := rollout.Run(b.Context(), q); err != nil || len(r.Causes) == 0 {
			b.Fatal(err)
		}
	}
	after, most := spent(b)
	b.ReportMetric(size, "MB")
	b.ReportMetric((after-before)/float64(b.N), "cpu-s/op")
	b.ReportMetric(most, "MB-most")
}

// BenchmarkLarge judges networks of which four and eight layers were recorded, by the slope of what is behind a stage, and tells what is in memory at once, what waits for the
// collector included. It grows until as much is kept of recordings and weights as may be (mostLoaded, mostCached), and goes by the tokens and the widest product then.
func BenchmarkLarge(b *testing.B) {
	for _, layers := range []int{4, 8} {
		b.Run(strconv.Itoa(layers), func(b *testing.B) {
			defer stage.Larger(32, layers, 4, 50, rand.New(rand.NewPCG(1, 1)))()
			q := asked(stage.MadeFault(b, "nothing, rounded otherwise"))
			var most, now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&most)
			base, peak := most.HeapAlloc, uint64(0)
			done := make(chan bool)
			go func() {
				for {
					select {
					case <-done:
						close(done)
						return
					case <-time.After(20 * time.Millisecond):
						runtime.ReadMemStats(&now)
						peak = max(peak, now.HeapAlloc-min(base, now.HeapAlloc))
					}
				}
			}()
			before, _ := spent(b)
			for b.Loop() {
				r, err := rollout.Run(b.Context(), q)
				if err != nil || !r.Stages.Sloped || r.Verdict != verdict.Good {
					b.Fatalf("%v, %+v", err, r)
				}
			}
			after, _ := spent(b)
			done <- true
			<-done
			b.ReportMetric((after-before)/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(peak)/1e6, "MB-most")
		})
	}
}
