package engine

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"precision/compare/metric"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
)

// TestRepeats: a pair is known again by every byte, the golden tensor, how both are read and what is computed; the oldest
// are forgotten.
func TestRepeats(t *testing.T) {
	const n = leastRepeated / 4
	view, err := layout.Contiguous([]int64{n / 64, 64})
	if err != nil {
		t.Fatal(err)
	}
	turned, err := view.Transpose([]int{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 4*n)
	all := newRepeats()
	s := &Worker{opt: &Options{repeats: all}}
	look := func(data []byte, v layout.View, golden string, at int, scalar bool) *repeat {
		if s.hold(0, bytes.NewReader(data), 0, dtype.Float32, false, v) == nil {
			t.Fatal("a tensor of", len(data), "bytes is not held")
		}
		right := &rightTensor{file: &dumpFile{Reader: &dump.Reader{File: &dump.File{Path: golden}}}, tensor: &dump.Tensor{Type: dtype.Float32, Offset: int64(at)}, view: view}
		return s.repeatOf(&dump.Tensor{Type: dtype.Float32}, right, &pairing{count: n, cfg: metric.Config{Scalar: scalar}}, v)
	}
	known := func(r *repeat) bool {
		p, done := all.find(t.Context(), r.key, r.left, r.right)
		done()
		return p != nil
	}
	first := look(data, view, "golden", 128, false)
	if known(first) {
		t.Fatal("a pair is known before it was computed")
	}
	all.add(first)
	if !known(look(data, view, "golden", 128, false)) {
		t.Error("the same pair is not known again")
	}
	for i := range data {
		if i%97 == 0 || i == len(data)-1 {
			data[i] ^= 1
			if known(look(data, view, "golden", 128, false)) {
				t.Errorf("byte %d differs, and the pair is taken for the other", i)
			}
			data[i] ^= 1
		}
	}
	for name, r := range map[string]*repeat{
		"a turned view": look(data, turned, "golden", 128, false), "another file": look(data, view, "gold", 128, false),
		"another offset": look(data, view, "golden", 256, false), "a scalar": look(data, view, "golden", 128, true),
	} {
		if known(r) {
			t.Errorf("%s is taken for the pair", name)
		}
	}
	for i := range mostRepeats {
		all.add(look(data, view, "golden", 1000+i, false))
	}
	if known(first) || len(all.of) != mostRepeats {
		t.Errorf("%d pairs are remembered, expected the newest %d", len(all.of), mostRepeats)
	}
	if s.hold(0, bytes.NewReader(data[:len(data)-1]), 0, dtype.Float32, false, view) != nil {
		t.Error("a tensor that ends early is held")
	}
}

// TestRepeatsWait: of workers that come to the same pair at once one computes it, and the others have its result; where it
// fails, the next computes it; a run that is interrupted waits for none.
func TestRepeatsWait(t *testing.T) {
	all := newRepeats()
	pair := &repeat{key: repeatKey{golden: "golden"}}
	var computed atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			p, done := all.find(t.Context(), pair.key, pair.left, pair.right)
			defer done()
			if p == nil && computed.Add(1) > 3 { // the first three fail
				all.add(pair)
			}
		})
	}
	group.Wait()
	if n := computed.Load(); n != 4 {
		t.Errorf("computed %d times, expected three that fail and one", n)
	}
	other := repeatKey{golden: "other"}
	_, done := all.find(t.Context(), other, pair.left, pair.right)
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if p, _ := all.find(interrupted, other, pair.left, pair.right); p != nil {
		t.Error("a pair that nobody computed is found")
	}
	done()
	if len(all.computed) > 0 {
		t.Errorf("%d pairs are still waited for", len(all.computed))
	}
}
