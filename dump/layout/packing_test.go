package layout

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPackingUngrouped ties packing to the view that undoes it.
func TestPackingUngrouped(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, f := range []Format{NCHW, NHWC, HWCN, CHWN} {
		for range 20 {
			dims := []int64{1 + r.Int64N(20), 1 + r.Int64N(20), 1 + r.Int64N(20), 1 + r.Int64N(20)}
			c0 := []int64{8, 16, 32}[r.IntN(3)]
			p, err := NewPacking(f, dims, 0, 16, c0)
			if err != nil {
				t.Fatal(err)
			}
			v, err := Restore(FractalZ, f, p.Shape(), dims, 0)
			if err != nil {
				t.Fatal(err)
			}
			src := fill(r, p.Len()*2)
			packed := fill(r, p.Stored()*2)
			if err := p.Pack(packed, src, 2); err != nil {
				t.Fatal(err)
			}
			back := make([]byte, len(src))
			if err := v.Gather(back, packed, 2, 0, v.Len()); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(back, src) {
				t.Fatalf("%v %v: view does not undo packing", f, dims)
			}
			if nonzero(packed) > nonzero(src) {
				t.Fatalf("%v %v: padding is not zero", f, dims)
			}
		}
	}
}

func nonzero(b []byte) (n int) {
	for i := 0; i < len(b); i += 2 {
		if b[i] != 0 || b[i+1] != 0 {
			n++
		}
	}
	return n
}

// TestPackingGroups checks that no two elements share a place, which is where
// the simplified row formula of older tools fails, and that packing round-trips.
func TestPackingGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, c := range []struct {
		dims  []int64
		group int
		shape []int64
	}{
		{[]int64{64, 16, 1, 2}, 4, []int64{8, 1, 16, 16}},
		{[]int64{64, 1, 3, 3}, 64, []int64{36, 1, 16, 16}}, // depthwise
		{[]int64{6, 1, 2, 2}, 6, []int64{4, 1, 16, 16}},
		{[]int64{4, 3, 2, 2}, 2, []int64{4, 1, 16, 16}},
		{[]int64{96, 24, 1, 1}, 4, []int64{6, 3, 16, 16}},
		{[]int64{40, 5, 2, 1}, 5, nil},
		{[]int64{34, 3, 1, 3}, 17, nil},
	} {
		p, err := NewPacking(NCHW, c.dims, c.group, 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		if c.shape != nil && !slices.Equal(p.Shape(), c.shape) {
			t.Errorf("%v in %d groups: shape %v, want %v", c.dims, c.group, p.Shape(), c.shape)
		}
		if mustCount(p.Shape()) != p.Stored() {
			t.Errorf("%v in %d groups: %d stored, shape %v", c.dims, c.group, p.Stored(), p.Shape())
		}
		seen := map[int64]bool{}
		p.each(1, func(_, stored int64) {
			if stored < 0 || stored >= p.Stored() || seen[stored] {
				t.Fatalf("%v in %d groups: place %d taken or outside", c.dims, c.group, stored)
			}
			seen[stored] = true
		})
		src := fill(r, p.Len()*4)
		packed, back := make([]byte, p.Stored()*4), make([]byte, len(src))
		if err := p.Pack(packed, src, 4); err != nil {
			t.Fatal(err)
		}
		if err := p.Unpack(back, packed, 4); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(back, src) {
			t.Errorf("%v in %d groups: does not round-trip", c.dims, c.group)
		}
	}
}

func TestPackingErrors(t *testing.T) {
	for _, c := range []struct {
		f     Format
		dims  []int64
		group int
		c0    int64
		err   error
	}{
		{NCDHW, []int64{1, 1, 1, 1, 1}, 0, 16, ErrNoConverter},
		{ND, []int64{1, 1, 1, 1}, 0, 16, ErrNoConverter},
		{NCHW, []int64{1, 1, 1}, 0, 16, ErrShapeShort},
		{NCHW, []int64{1, 1, 0, 1}, 0, 16, ErrBadDim},
		{NCHW, []int64{1, -1, 1, 1}, 0, 16, ErrBadDim},
		{NCHW, []int64{1, 1, 1, 1}, 0, 0, ErrBadDim},
		{NCHW, []int64{5, 1, 1, 1}, 2, 16, ErrMismatch},
		{NCHW, []int64{5, 1, 1, 1}, 1 << 30, 16, ErrMismatch},
		{NCHW, []int64{1 << 31, 1 << 31, 1, 1}, 0, 16, nil},
		{NCHW, []int64{1 << 31, 1 << 31, 2, 1}, 0, 16, ErrTooBig},
		{NCHW, []int64{1, 1, 1 << 31, 1 << 31}, 0, 16, ErrTooBig},
	} {
		p, err := NewPacking(c.f, c.dims, c.group, 16, c.c0)
		if !errors.Is(err, c.err) {
			t.Errorf("%v %v: %v, want %v", c.f, c.dims, err, c.err)
		}
		if err == nil {
			if err := p.Pack(make([]byte, 10), make([]byte, 10), 2); !errors.Is(err, ErrRange) {
				t.Errorf("%v %v: packed into 10 bytes: %v", c.f, c.dims, err)
			}
		}
	}
}
