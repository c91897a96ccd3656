package compare

import (
	"bytes"
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
	all := &repeats{of: map[repeatKey]*repeat{}}
	s := &Worker{opt: &Options{repeats: all}}
	look := func(data []byte, v layout.View, golden string, at int, scalar bool) *repeat {
		if s.hold(0, bytes.NewReader(data), 0, dtype.Float32, false, v) == nil {
			t.Fatal("a tensor of", len(data), "bytes is not held")
		}
		right := &rightTensor{file: &dumpFile{Reader: &dump.Reader{File: &dump.File{Path: golden}}}, tensor: &dump.Tensor{Type: dtype.Float32, Offset: int64(at)}, view: view}
		return s.repeatOf(&dump.Tensor{Type: dtype.Float32}, right, &pairing{count: n, cfg: metric.Config{Scalar: scalar}}, v)
	}
	known := func(r *repeat) bool { return all.find(r.key, r.left, r.right) != nil }
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
