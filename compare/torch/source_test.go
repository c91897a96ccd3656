package torch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"precision/dump/layout"
)

// gather is what strides mean, as slow as can be.
func gather(data []int32, stride, shape []int64) []int32 {
	out := []int32{}
	if len(shape) == 0 {
		return append(out, data[0])
	}
	for i := range shape[0] {
		out = append(out, gather(data[i*stride[0]:], stride[1:], shape[1:])...)
	}
	return out
}

func TestStrides(t *testing.T) {
	for _, c := range []struct {
		stride, shape []int64
		reorders      bool
	}{
		{[]int64{3, 1}, []int64{2, 3}, false},
		{[]int64{1, 2}, []int64{2, 3}, true},
		{[]int64{}, []int64{}, false},
		{[]int64{9}, []int64{1}, false},
		{[]int64{1}, []int64{3, 2}, false},
		{[]int64{-1, 3}, []int64{3, 2}, false},
		{[]int64{1 << 62, 1}, []int64{3, 2}, false},
		{[]int64{4, 1}, []int64{2, 3}, false}, // ends behind the data
		{[]int64{0, 1}, []int64{2, 3}, true},
		{[]int64{0, 2}, []int64{2, 3}, true},
		{[]int64{1, 1}, []int64{300, 500}, true},
		{[]int64{12, 1, 6, 2}, []int64{5, 2, 2, 3}, true}, // channels last
		{[]int64{7, 1, 1, 7}, []int64{1, 7, 1, 40}, true},
		{[]int64{1, 700}, []int64{700, 800}, true},
	} {
		t.Run(fmt.Sprint(c.stride, c.shape), func(t *testing.T) {
			n, _ := layout.Count(c.shape)
			data := make([]int32, n)
			for i := range data {
				data[i] = int32(i * 7)
			}
			stored, err := layout.Contiguous(c.shape)
			if err != nil {
				t.Fatal(err)
			}
			v := reordered(stored, c.stride)
			if got := !v.IsContiguous(); got != c.reorders {
				t.Fatalf("reorders is %v", got)
			}
			if !c.reorders {
				return
			}
			raw, _ := binary.Append(nil, binary.LittleEndian, data)
			want := gather(data, c.stride, c.shape)
			inMemory, err := layout.NewBytesReader(raw, 4, v)
			if err != nil {
				t.Fatal(err)
			}
			inFile, err := layout.NewReader(bytes.NewReader(raw), 0, 4, v)
			if err != nil {
				t.Fatal(err)
			}
			for name, e := range map[string]*layout.Reader{"memory": inMemory, "file": inFile} {
				for _, tile := range []int64{n, 5} {
					for first := int64(0); first < min(n, 40*tile); first += tile {
						k := min(tile, n-first)
						b := make([]byte, 4*k)
						if err := e.ReadTile(b, first, k); err != nil {
							t.Fatal(err)
						}
						got := make([]int32, k)
						binary.Decode(b, binary.LittleEndian, got)
						for i, v := range got {
							if v != want[first+int64(i)] {
								t.Fatalf("%s: element %d is %d, want %d", name, first+int64(i), v, want[first+int64(i)])
							}
						}
					}
				}
			}
		})
	}
}

func TestMissingElements(t *testing.T) {
	for _, stride := range []int64{1, 2} {
		v, err := layout.Strided([]int64{3}, []int64{stride})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := layout.NewBytesReader(make([]byte, 8), 4, v); err == nil {
			t.Errorf("stride %d: no error in memory", stride)
		}
		r, err := layout.NewReader(bytes.NewReader(make([]byte, 8)), 0, 4, v)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.ReadTile(make([]byte, 12), 0, 3); err == nil {
			t.Errorf("stride %d: no error", stride)
		}
	}
}
