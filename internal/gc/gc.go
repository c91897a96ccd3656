// Package gc tunes the garbage collector for programs that run for moments.
package gc

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// percent lets a small heap grow to nine times what is live before it is
	// collected. Of a whole-network comparison little is garbage and little is
	// live, and the collections of a heap that starts at 4 MiB were a tenth of its
	// time. The first one comes at 32 MiB.
	percent = 800
	// least is what a large heap may grow by: many times the memory of a graph of
	// a million operators is more than a machine has to spare.
	least = 30
	// room is how many bytes of garbage are no matter.
	room = 32 << 20
)

// Relax is called at the start of a program. The environment variable GOGC, if
// it is set, has the last word.
func Relax() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
		watch(percent)
	}
}

// Within has the garbage collector keep the memory of the program within a number
// of bytes, as far as what is live leaves room: it collects more often the closer it
// comes. What is live raises the number, or collections would take half of all processor time.
// The environment variable GOMEMLIMIT, if it is set, has the last word.
func Within(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		within.Store(bytes)
		debug.SetMemoryLimit(bytes)
	}
}

// within is the number of [Within], 0 without one.
var within atomic.Int64

// bound is the number of bytes to stay within: half as much as what is live is left for garbage and for the collector.
func bound(set int64, live uint64) int64 { return max(set, int64(live+live/2)) }

// watch sets, after each collection, by how much the heap may grow until the next.
func watch(set int) {
	// A finalizer runs once a collection finds its object unused.
	mark := new(struct{ self *byte })
	runtime.SetFinalizer(mark, func(any) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if want := growth(live[0].Value.Uint64()); want != set {
			set = want
			debug.SetGCPercent(set)
		}
		if w := within.Load(); w > 0 {
			if want := bound(w, live[0].Value.Uint64()); want != w {
				within.Store(want)
				debug.SetMemoryLimit(want)
			}
		}
		watch(set)
	})
}

// growth is the percentage by which a heap with so many bytes in use may grow.
func growth(live uint64) int {
	return int(min(percent, max(least, 100*room/(live+1))))
}
