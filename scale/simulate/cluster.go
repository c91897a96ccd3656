package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Load is what there is to compare.
type Load struct {
	// Parts are the bytes of each rank and step, device and golden side together; Meetings those
	// of each operator that ranks run together, which is never cut.
	Parts, Meetings []float64
	// Files is how many files a plan looks at.
	Files float64
}

// Cluster is where it is compared.
type Cluster struct {
	Workers int
	// Rate is what a worker compares, in bytes a second; Slow workers of them, from 0 to 1, are
	// SlowBy times slower.
	Rate, Slow, SlowBy float64
	// Disk is what the shared file system delivers to all of them together, in bytes a second.
	Disk float64
	// Looks is how many files the file system looks up a second, LooksOne for one worker.
	Looks, LooksOne float64
	// Between is the mean time between failures of a worker, Restart what it takes until there is another
	// in its place, in seconds. Zero is never.
	Between, Restart float64
}

// Way is how the work is given out.
type Way struct {
	Name string
	// Shards is the number of shards for each worker; 0 is pieces of Piece bytes that go to whoever is free.
	Shards int
	Piece  float64
	// Again is how many bytes of a shard are compared again after a failure, at most: what is not
	// in its journal yet. A piece is compared again from its beginning.
	Again float64
}

// task is what a worker takes at a time.
type task struct{ bytes, left float64 }

// tasks cuts the load. Shards take units as precision compare -shard does: the largest
// unit goes to the shard that has least.
func (l *Load) tasks(w Way, workers int) []*task {
	var list []*task
	if w.Shards == 0 {
		for _, u := range l.Meetings {
			list = append(list, &task{u, u})
		}
		for _, u := range l.Parts {
			n := min(math.Max(1, math.Ceil(u/w.Piece)), 64)
			for range int(n) {
				list = append(list, &task{u / n, u / n})
			}
		}
		slices.SortStableFunc(list, func(a, b *task) int { return cmp.Compare(b.bytes, a.bytes) })
		return list
	}
	for range w.Shards * workers {
		list = append(list, &task{})
	}
	units := slices.Concat(l.Parts, l.Meetings)
	slices.SortFunc(units, func(a, b float64) int { return cmp.Compare(b, a) })
	heap := slices.Clone(list) // by bytes, least first
	for _, u := range units {
		heap[0].bytes += u
		for i := 0; ; {
			least := i
			for _, k := range []int{2*i + 1, 2*i + 2} {
				if k < len(heap) && heap[k].bytes < heap[least].bytes {
					least = k
				}
			}
			if least == i {
				break
			}
			heap[i], heap[least] = heap[least], heap[i]
			i = least
		}
	}
	for _, t := range list {
		t.left = t.bytes
	}
	return list
}

// Skewed is the load of a job: the recordings of ranks and steps have sizes spread log-normally
// about the mean, and a share of the bytes is read once more for the operators that ranks run together.
func Skewed(rng *rand.Rand, ranks, steps int, mean, spread, share float64, together int, files float64) *Load {
	l := &Load{Files: files * float64(ranks) * float64(steps)}
	total := 0.0
	for range ranks * steps {
		u := mean * math.Exp(spread*rng.NormFloat64()-spread*spread/2)
		l.Parts = append(l.Parts, u)
		total += u
	}
	for range together * steps {
		l.Meetings = append(l.Meetings, total*share/float64(together*steps))
	}
	return l
}

// Bytes is all of it.
func (l *Load) Bytes() (n float64) {
	for _, u := range slices.Concat(l.Parts, l.Meetings) {
		n += u
	}
	return n
}
