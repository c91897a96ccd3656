package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// Views of any strides, those of 0 and overlapping ones with them, are what
// indexing says, read at once, in tiles and from any tile on.
func TestStrided(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for round := range 600 {
		shape, stride := make([]int64, rng.IntN(5)), []int64{}
		for i := range shape {
			shape[i] = int64(1 + rng.IntN(9))
			stride = append(stride, []int64{0, 1, 1, 2, 3, 9, 40, int64(rng.IntN(3000))}[rng.IntN(8)])
		}
		v, err := Strided(shape, stride)
		if err != nil {
			t.Fatal(err)
		}
		es := []int{1, 2, 4, 8, 16}[rng.IntN(5)]
		stored := make([]byte, v.Stored()*int64(es))
		for i := range stored {
			stored[i] = byte(rng.Uint32())
		}
		want := []byte{}
		for i := range v.Len() {
			at, rest := int64(0), i
			for k := len(shape) - 1; k >= 0; k-- {
				at += rest % shape[k] * stride[k]
				rest /= shape[k]
			}
			want = append(want, stored[at*int64(es):][:es]...)
		}
		r, err := NewReader(bytes.NewReader(append([]byte("head"), stored...)), 4, es, v)
		if err != nil {
			t.Fatal(err)
		}
		if round%3 == 0 {
			r.SetWindow(int64(64 + rng.IntN(4000)))
		}
		got := make([]byte, len(want))
		step := v.Len()
		if round%2 == 0 {
			step = 1 + rng.Int64N(v.Len())
		}
		for first := int64(0); first < v.Len(); first += step {
			if err := r.ReadTile(got[first*int64(es):], first, min(step, v.Len()-first)); err != nil {
				t.Fatalf("shape %v, strides %v: %v", shape, stride, err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("shape %v, strides %v, %d bytes, tiles of %d: elements differ", shape, stride, es, step)
		}
	}
}

// A row that is shown very often takes no more memory than the window.
func TestStridedExpanded(t *testing.T) {
	v, err := Strided([]int64{1 << 40, 3}, []int64{0, 1})
	if err != nil || v.Stored() != 3 {
		t.Fatal(v.Stored(), err)
	}
	r, err := NewReader(bytes.NewReader([]byte{1, 0, 2, 0, 3, 0}), 0, 2, v)
	if err != nil {
		t.Fatal(err)
	}
	tile := make([]byte, 8)
	if err := r.ReadTile(tile, 3<<40-4, 4); err != nil || binary.LittleEndian.Uint16(tile) != 3 || tile[2] != 1 {
		t.Fatal(tile, err)
	}
}

func TestStridedErrors(t *testing.T) {
	for _, c := range []struct {
		shape, stride []int64
		err           error
	}{
		{[]int64{2}, nil, ErrShapeShort},
		{[]int64{-2}, []int64{1}, ErrBadDim},
		{[]int64{2}, []int64{-1}, ErrBadDim},
		{[]int64{math.MaxInt64, 2}, []int64{0, 0}, ErrTooBig},
		{[]int64{3}, []int64{math.MaxInt64}, ErrTooBig},
		{[]int64{2, 2}, []int64{math.MaxInt64, 1}, ErrTooBig},
		{[]int64{0, 3}, []int64{math.MaxInt64, math.MaxInt64}, nil},
		{[]int64{1, 1}, []int64{math.MaxInt64, math.MaxInt64}, nil},
	} {
		if _, err := Strided(c.shape, c.stride); !errors.Is(err, c.err) {
			t.Errorf("%v, %v: %v, want %v", c.shape, c.stride, err, c.err)
		}
	}
}
