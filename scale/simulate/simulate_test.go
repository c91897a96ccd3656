package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

func load(seed uint64, files float64) *Load {
	return Skewed(rand.New(rand.NewPCG(seed, 0)), 200, 2, 100*gb, 0.5, 0.05, 10, files)
}

func some(n int) Cluster {
	return Cluster{Workers: n, Rate: 3 * gb, Slow: 0.1, SlowBy: 3, Disk: 100 * gb, Looks: 500e3, LooksOne: 20e3, Between: 20 * 3600, Restart: 300}
}

// What holds of every run: all bytes are read, what is read twice is told, nothing is faster than
// the file system, the workers or the largest piece of work allow, and a seed gives one run.
func TestRun(t *testing.T) {
	for seed := range uint64(5) {
		for _, files := range []float64{0, 3000} {
			l := load(seed, files)
			for _, w := range ways() {
				for n := 4; n <= 256; n *= 4 {
					c := some(n)
					o := Run(l, c, w, seed)
					if math.Abs(o.Read-o.Again-l.Bytes()) > 1e-6*l.Bytes() {
						t.Errorf("%s, %d workers: %g bytes read and %g again of %g", w.Name, n, o.Read, o.Again, l.Bytes())
					}
					largest := 0.0
					for _, x := range l.tasks(w, n) {
						largest = max(largest, x.bytes)
					}
					for _, least := range []float64{l.Bytes() / c.Disk, l.Bytes() / (float64(n) * c.Rate), largest / c.Rate, o.Planned,
						l.Files / c.LooksOne, l.Files * float64(n) / c.Looks} {
						if o.Done < least*(1-1e-9) {
							t.Errorf("%s, %d workers: done after %g s, which is less than %g", w.Name, n, o.Done, least)
						}
					}
					if o.Busy <= 0 || o.Busy > 1+1e-9 || o.Disk <= 0 || o.Disk > 1+1e-9 || (files > 0) != (o.Planned > 0) || o.Failures == 0 && o.Again > 0 {
						t.Errorf("%s, %d workers: %+v", w.Name, n, o)
					}
					if again := Run(l, c, w, seed); again != o {
						t.Errorf("%s, %d workers: %+v and %+v", w.Name, n, o, again)
					}
				}
			}
		}
	}
}

// One worker that never fails takes what can be said without a simulation.
func TestOne(t *testing.T) {
	l := &Load{Parts: []float64{30 * gb, 60 * gb}, Meetings: []float64{10 * gb}, Files: 1000}
	for _, w := range ways() {
		c := Cluster{Workers: 1, Rate: 2 * gb, Disk: 1 * gb, Looks: 500, LooksOne: 100}
		plans := 10.0
		if w.Shards > 1 {
			plans = 10 * float64(w.Shards)
		}
		if o := Run(l, c, w, 1); math.Abs(o.Done-100-plans) > 1e-3 || o.Failures != 0 || o.Again != 0 {
			t.Errorf("%s: %+v, want %g s", w.Name, o, 100+plans)
		}
	}
	// Two that share the disk: 90 GB by 1 GB/s, and 10 GB of one that is alone in the end, too.
	if o := Run(l, Cluster{Workers: 2, Rate: 2 * gb, Disk: 1 * gb, Looks: 1, LooksOne: 1}, Way{Shards: 1}, 1); math.Abs(o.Planned-2000) > 1e-6 || math.Abs(o.Done-2100) > 1e-3 {
		t.Errorf("%+v", o)
	}
}

// More workers take no longer, but for the luck of who is slow and who fails; slow
// workers, failures and skew take no less.
func TestTrends(t *testing.T) {
	mean := func(l func(seed uint64) *Load, c Cluster, w Way) (sum float64) {
		for seed := range uint64(8) {
			sum += Run(l(seed), c, w, seed).Done / 8
		}
		return sum
	}
	skewed := func(seed uint64) *Load { return load(seed, 0) }
	for _, w := range ways() {
		last := math.Inf(1)
		for n := 4; n <= 64; n *= 2 { // beyond it there are less than six units for a worker
			took := mean(skewed, some(n), w)
			if took > 1.05*last {
				t.Errorf("%s: %d workers take %g s, half of them %g s", w.Name, n, took, last)
			}
			last = took
		}
		healthy := some(32)
		healthy.Slow, healthy.Between = 0, 0
		slow, failing := healthy, healthy
		slow.Slow, failing.Between = 0.2, 3600
		base := mean(skewed, healthy, w)
		if got := mean(skewed, slow, w); got < 1.02*base {
			t.Errorf("%s: slow workers take %g s, healthy ones %g s", w.Name, got, base)
		}
		if got := mean(skewed, failing, w); got < base {
			t.Errorf("%s: failing workers take %g s, healthy ones %g s", w.Name, got, base)
		}
	}
}
