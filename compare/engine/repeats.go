package engine

import (
	"context"
	"hash/maphash"
	"sync"

	"precision/compare/metric"
	"precision/dump/dtype"
	"precision/dump/layout"
)

// Repeats
//
// What an operator takes is mostly what another gave, recorded once more: half of the bytes of a network. A pair of the
// bytes and the golden tensor of one before has its result. Bytes are the same if two hashes of 64 bits are, with keys that
// are drawn when the program starts: of a million tensors two that differ are taken for one in one of 10^26 runs, and nobody
// can make such a pair who does not know the keys.

const (
	// leastRepeated is the smallest tensor that is looked for: less is compared as fast as it is found.
	leastRepeated = 16 << 10
	// mostHeld is how large a tensor may be to be held as it is stored. A reader of a layout has a window of this size
	// otherwise.
	mostHeld = layout.DefaultWindow
	// mostRepeats is how many results are remembered, the newest: consumers follow soon.
	mostRepeats = 1024
)

var repeatSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// repeatKey tells pairs apart by the bytes of the left tensor, where the golden one is, and what both are.
type repeatKey struct {
	sum               [2]uint64
	bytes             int64
	golden            string
	at                int64
	left, right       dtype.Type
	leftBig, rightBig bool
	count             int64
	scalar, boolean   bool
	tolerance         metric.Tolerance
}

// repeat is what came of a pair.
type repeat struct {
	key         repeatKey
	left, right layout.View
	outcome
}

// repeats remembers the pairs of a run.
type repeats struct {
	mu   sync.Mutex
	list [mostRepeats]*repeat
	of   map[repeatKey]*repeat
	next int
	// computed has the pairs that a worker is busy with: one that comes to the same waits for it.
	computed map[repeatKey]chan struct{}
}

func newRepeats() *repeats {
	return &repeats{of: map[repeatKey]*repeat{}, computed: map[repeatKey]chan struct{}{}}
}

// find is the pair that was the same. It is nil if there was none: who asks computes it, and calls done behind that.
func (r *repeats) find(ctx context.Context, key repeatKey, left, right layout.View) (p *repeat, done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for busy := r.computed[key]; busy != nil; busy = r.computed[key] {
		r.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			r.mu.Lock()
			return nil, func() {}
		}
		r.mu.Lock()
	}
	if p := r.of[key]; p != nil && p.left.Same(left) && p.right.Same(right) {
		return p, func() {}
	}
	busy := make(chan struct{})
	r.computed[key] = busy
	return nil, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.computed, key)
		close(busy)
	}
}

// add remembers a pair in the place of the oldest.
func (r *repeats) add(p *repeat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := &r.list[r.next%mostRepeats]
	if old := *slot; old != nil && r.of[old.key] == old {
		delete(r.of, old.key)
	}
	r.next++
	*slot, r.of[p.key] = p, p
}
