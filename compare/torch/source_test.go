package torch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"precision/dump/layout"
)

// file hides that a tensor is in memory.
type file struct{ io.ReaderAt }

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
		permutes      bool
	}{
		{[]int64{3, 1}, []int64{2, 3}, false, true},
		{[]int64{1, 2}, []int64{2, 3}, true, true},
		{[]int64{}, []int64{}, false, true},
		{[]int64{9}, []int64{1}, false, true},
		{[]int64{1}, []int64{3, 2}, false, false},
		{[]int64{-1, 3}, []int64{3, 2}, false, false},
		{[]int64{1 << 62, 1}, []int64{3, 2}, false, false},
		{[]int64{4, 1}, []int64{2, 3}, false, false}, // ends behind the data
		{[]int64{0, 1}, []int64{2, 3}, true, false},
		{[]int64{0, 2}, []int64{2, 3}, true, false},
		{[]int64{1, 1}, []int64{300, 500}, true, false},
		{[]int64{12, 1, 6, 2}, []int64{5, 2, 2, 3}, true, true}, // channels last
		{[]int64{7, 1, 1, 7}, []int64{1, 7, 1, 40}, true, true},
		{[]int64{1, 700}, []int64{700, 800}, true, true},
	} {
		t.Run(fmt.Sprint(c.stride, c.shape), func(t *testing.T) {
			n, _ := layout.Count(c.shape)
			data := make([]int32, n)
			for i := range data {
				data[i] = int32(i * 7)
			}
			if got := reorders(c.stride, c.shape, n); got != c.reorders {
				t.Fatalf("reorders is %v", got)
			}
			if !c.reorders {
				return
			}
			if _, got := permutation(c.stride, c.shape); got != c.permutes {
				t.Errorf("permutation is %v", got)
			}
			raw, _ := binary.Append(nil, binary.LittleEndian, data)
			want := gather(data, c.stride, c.shape)
			for name, r := range map[string]io.ReaderAt{"memory": memory(raw), "file": file{bytes.NewReader(raw)}} {
				fresh, err := newStrided(r, 4, c.stride, c.shape)
				if err != nil {
					t.Fatal(err)
				}
				e := fresh()
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
	for _, r := range []io.ReaderAt{memory(make([]byte, 8)), file{bytes.NewReader(make([]byte, 8))}} {
		s := &strided{r: r, size: 4, stride: []int64{2}, shape: []int64{2}}
		if err := s.ReadTile(make([]byte, 8), 0, 2); err == nil {
			t.Errorf("%T: no error", r)
		}
		if err := (plain{r, 4}).ReadTile(make([]byte, 12), 0, 3); err == nil {
			t.Errorf("%T: no error", r)
		}
	}
}
