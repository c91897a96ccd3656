package main

import (
	"math"
	"math/rand/v2"
)

// Outcome is what became of a run.
type Outcome struct {
	// Planned is when the last worker had its first plan, Done when everything was compared, in seconds.
	Planned, Done float64
	// Read is how many bytes were read, Again how many of them not for the first time.
	Read, Again float64
	// Failures of workers while they had work.
	Failures int
	// Busy is the share of workers that compared, on average; Disk the share of what the
	// file system can deliver.
	Busy, Disk float64
}

// worker is a machine, or a share of one, at work.
type worker struct {
	rate    float64
	fails   float64 // when it fails next
	down    float64 // until when it is not there
	looks   float64 // files still to look at, for the plan
	planned bool    // it has a plan
	seen    bool    // it had one before
	task    *task
	now     float64 // bytes or files a second
	rng     *rand.Rand
}

func (w *worker) next(c Cluster) float64 {
	if c.Between == 0 {
		return math.Inf(1)
	}
	return w.rng.ExpFloat64() * c.Between
}

// Run simulates one run: between two events every worker goes on at its rate, which is its own or an even share of what the
// file system has left. The same seed gives the same run.
func Run(l *Load, c Cluster, way Way, seed uint64) Outcome {
	var o Outcome
	queue := l.tasks(way, c.Workers)
	workers := make([]worker, c.Workers)
	for i := range workers {
		w := &workers[i]
		w.rng = rand.New(rand.NewPCG(seed, uint64(i)))
		w.rate = c.Rate
		if w.rng.Float64() < c.Slow {
			w.rate /= c.SlowBy
		}
		w.fails = w.next(c)
	}
	t := 0.0
	for {
		// Work goes to who has none. A shard is a process of its own, which makes its plan; a
		// worker that compares pieces makes one plan.
		left := false
		for i := range workers {
			w := &workers[i]
			if w.task == nil && w.down <= t && len(queue) > 0 {
				w.task, queue = queue[0], queue[1:]
				if way.Shards > 0 || !w.planned {
					w.looks = l.Files
				}
			}
			left = left || w.task != nil
		}
		if !left && len(queue) == 0 {
			o.Done = t
			o.Busy /= t * float64(c.Workers)
			o.Disk = o.Read / (t * c.Disk)
			return o
		}
		share(workers, t, c)
		// The next event: a plan or a task is done, a worker fails or is there again.
		step := math.Inf(1)
		for i := range workers {
			w := &workers[i]
			switch {
			case w.down > t:
				step = min(step, w.down-t)
			case w.task == nil:
			case w.looks > 0:
				step = min(step, w.looks/w.now, w.fails-t)
			default:
				step = min(step, w.task.left/w.now, w.fails-t)
			}
		}
		step = max(step, 0)
		end := t + step
		for i := range workers {
			w := &workers[i]
			if w.down > t || w.task == nil {
				if w.down <= t && w.fails <= end {
					w.fails = end + w.next(c) // it failed and was replaced while it waited
				}
				continue
			}
			if w.looks > 0 {
				if w.looks -= w.now * step; w.looks < 1e-6*l.Files {
					w.looks, w.planned = 0, true
					if !w.seen {
						w.seen, o.Planned = true, end
					}
				}
			} else {
				n := min(w.now*step, w.task.left)
				w.task.left -= n
				o.Read += n
				o.Busy += step
				if w.task.left < 1e-9*w.task.bytes || w.task.bytes == 0 {
					w.task = nil
				}
			}
			if w.fails > end {
				continue
			}
			w.down, w.rate, w.planned, w.looks = end+c.Restart, c.Rate, false, 0
			w.fails = w.down + w.next(c)
			if w.task != nil {
				o.Failures++
				again := w.task.bytes - w.task.left
				if way.Shards > 0 {
					again = min(again, way.Again)
				}
				w.task.left += again
				o.Again += again
				queue = append([]*task{w.task}, queue...)
				w.task = nil
			}
		}
		t = end
	}
}

// share gives every busy worker its rate.
func share(workers []worker, t float64, c Cluster) {
	level := func(total float64, of func(w *worker) (most float64, takes bool)) {
		// Those that want less than an even share leave the rest to the others.
		even, n := 0.0, -1
		for {
			rest, count := total, 0
			for i := range workers {
				if most, ok := of(&workers[i]); ok {
					if n >= 0 && most <= even {
						rest -= most
					} else {
						count++
					}
				}
			}
			if count == 0 || n >= 0 && count >= n { // rounding must not make it go on for ever
				break
			}
			even, n = rest/float64(count), count
		}
		for i := range workers {
			if most, ok := of(&workers[i]); ok {
				workers[i].now = min(most, even)
			}
		}
	}
	level(c.Looks, func(w *worker) (float64, bool) { return c.LooksOne, w.task != nil && w.down <= t && w.looks > 0 })
	level(c.Disk, func(w *worker) (float64, bool) { return w.rate, w.task != nil && w.down <= t && w.looks == 0 })
}
