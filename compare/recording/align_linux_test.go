package recording

import (
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"precision/internal/gc"
)

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAlign pairs the calls of two recordings, and tells the processor time of that.
func BenchmarkAlign(b *testing.B) {
	type sides func(r *rand.Rand) (a, b []step)
	same := func(share float64) sides {
		return func(r *rand.Rand) (a, b []step) {
			a = program(r, 80_000)
			return edited(r, a, share/2), edited(r, a, share/2)
		}
	}
	for _, c := range []struct {
		name string
		off  float64
		make sides
	}{
		{"80000/the same", 0, same(0)},
		{"80000/a hundredth edited", 0, same(0.01)},
		{"80000/a tenth edited", 0, same(0.1)},
		{"80000/half edited", 0, same(0.5)},
		{"80000/all off", 1e-3, same(0.01)},
		{"80000/all off, a tenth edited", 1e-3, same(0.1)},
		{"80000/other programs", 1, func(r *rand.Rand) (a, b []step) { return edited(r, program(r, 80_000), 0.9), program(r, 80_000) }},
		{"20000 against 28", 0, func(r *rand.Rand) (a, b []step) { return program(r, 20_000), program(r, 28) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 7))
			gc.Relax() // as in the program
			left, right := c.make(r)
			used := time.Duration(0)
			for b.Loop() {
				x, y := runOf(left, c.off, c.off, r), runOf(right, 0, 0, r)
				runtime.GC()
				before := cpuTime()
				align(x, y, nil, nil)
				used += cpuTime() - before
			}
			b.ReportMetric(used.Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}
