package oracle

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"precision/dump/dtype"
	"precision/dump/layout"
)

// TestTurned: a matrix is turned wherever it is kept: in a file as it is, or in another shape, or in memory, as golden operands are.
func TestTurned(t *testing.T) {
	stored := func(typ dtype.Type, shape, origin []int64) *operand {
		raw := make([]byte, typ.Bytes(count(shape)))
		for i := range count(shape) {
			raw[i*int64(typ.Bits())/8] = byte(i)
		}
		o := &operand{name: "w", typ: typ, shape: origin, src: bytes.NewReader(raw)}
		o.view, _ = layout.Contiguous(shape)
		o.rd, _ = layout.NewReader(o.src, 0, typ.Bits()/8, o.view)
		return o
	}
	memory := func(typ dtype.Type, shape ...int64) *operand {
		o := inMemory("w", typ, shape)
		for i := range count(shape) {
			if o.f64 != nil {
				o.f64[i] = float64(i)
			} else {
				o.f32[i] = float32(i)
			}
		}
		return o
	}
	kept := stored(dtype.Int8, []int64{2, 3}, []int64{2, 3})
	kept.hold()
	for name, o := range map[string]*operand{
		"file":              stored(dtype.Int8, []int64{2, 3}, []int64{2, 3}),
		"file that is kept": kept,
		"other rank":        stored(dtype.Int8, []int64{6}, []int64{2, 3}),
		"other shape":       stored(dtype.Int32, []int64{3, 2}, []int64{2, 3}),
		"memory":            memory(dtype.Int8, 2, 3),
		"integers":          memory(dtype.Int32, 2, 3),
	} {
		turned := o.turned()
		got, want := make([]float64, 6), []float64{0, 3, 1, 4, 2, 5}
		turned.Range(0, got, nil)
		if !slices.Equal(turned.shape, []int64{3, 2}) || !slices.Equal(got, want) || turned.typ != o.typ {
			t.Errorf("%s: %v %v, expected %v", name, turned.shape, got, want)
		}
	}
	scales := memory(dtype.Float8E8M0, 1, 3, 2).turned()
	if got := fmt.Sprint(scales.shape, scales.f32); got != "[3 1 2] [0 1 2 3 4 5]" {
		t.Errorf("scales in pairs: %s", got)
	}
}
