package layout

import (
	"errors"
	"slices"
	"testing"
)

func TestSliceLike(t *testing.T) {
	for _, c := range []struct{ have, want, out []int64 }{ // out nil: fails
		{[]int64{1, 16, 4, 4}, []int64{1, 3, 4, 4}, []int64{1, 3, 4, 4}},
		{[]int64{2, 20, 3, 4}, nil, []int64{2, 20, 3, 4}},
		{[]int64{2, 3, 4, 32}, []int64{2, 20, 3, 4}, nil},
		{[]int64{3, 4, 32, 2}, []int64{2, 20, 3, 4}, []int64{2, 4, 3, 2}},
		{[]int64{4, 1, 16, 16}, []int64{2, 1, 2, 2}, []int64{2, 1, 2, 2}},
		{[]int64{4}, []int64{5}, nil},
		{[]int64{6, 4}, []int64{5, 9}, []int64{5, 4, 1, 1}},
		{[]int64{32, 32}, []int64{20, 30}, []int64{20, 30, 1, 1}},
		{[]int64{20, 30}, []int64{20, 30}, []int64{20, 30}},
		{[]int64{20, 30}, []int64{1, 20, 1, 30}, []int64{20, 30}},
		{[]int64{20, 32}, []int64{1, 20, 1, 30}, nil},
		{[]int64{1, 1}, []int64{1, 1, 1}, []int64{1, 1}},
		{[]int64{1, 12, 1, 1}, []int64{3, 4}, []int64{1, 12, 1, 1}},
		{[]int64{12}, []int64{3, 4}, nil},
		{[]int64{2, 6}, []int64{3, 4}, nil},
		{[]int64{4, 3}, []int64{3, 4}, []int64{3, 3, 1, 1}},
		{[]int64{2, 2, 2, 2, 2}, []int64{1, 2, 2, 2, 2}, []int64{1, 2, 2, 2, 2}},
		{[]int64{2, 2, 2, 2, 2, 2}, []int64{1, 2, 2, 2, 2, 2}, []int64{2, 2, 2, 2, 2, 2}},
		{[]int64{2, 3}, []int64{0, 3}, []int64{0, 3, 1, 1}},
		{[]int64{2, 3}, []int64{-1, 3}, nil},
		{nil, []int64{1}, []int64{}},
	} {
		v, err := Contiguous(c.have)
		if err != nil {
			t.Fatal(err)
		}
		s, err := v.SliceLike(c.want)
		if c.out == nil {
			if e := (*SliceError)(nil); !errors.As(err, &e) || !errors.Is(err, ErrMismatch) {
				t.Errorf("%v like %v: %v, %v, want an error", c.have, c.want, s.Dims, err)
			}
			continue
		}
		if err != nil || !slices.Equal(s.Dims, c.out) {
			t.Errorf("%v like %v: %v, %v, want %v", c.have, c.want, s.Dims, err, c.out)
		}
	}
}

func TestCheckNZ(t *testing.T) {
	for _, c := range []struct {
		stored, want, recommended []int64 // recommended nil: fits
	}{
		{[]int64{2, 2, 16, 16}, []int64{20, 30}, nil},
		{[]int64{2, 2, 16, 16}, []int64{32, 32}, nil},
		{[]int64{2, 2, 16, 16}, []int64{17, 17}, nil},
		{[]int64{2, 2, 16, 16}, []int64{16, 30}, []int64{32, 32}},
		{[]int64{2, 2, 16, 16}, []int64{20, 33}, []int64{32, 32}},
		{[]int64{2, 2, 16, 16}, []int64{1, 20, 30}, []int64{32, 32}},
		{[]int64{2, 2, 16, 16}, nil, []int64{32, 32}},
		{[]int64{2, 1, 16, 16}, []int64{30}, nil},
		{[]int64{2, 2, 16, 16}, []int64{30}, []int64{32, 32}},
		{[]int64{2, 2, 16, 32}, []int64{20, 33}, nil}, // int8 may have 31 columns of padding
		{[]int64{2, 2, 16, 32}, []int64{20, 32}, []int64{32, 64}},
		{[]int64{2, 2, 16, 8}, []int64{20, 8}, []int64{32, 16}},
		{[]int64{3, 2, 2, 16, 16}, []int64{3, 20, 30}, nil},
		{[]int64{3, 2, 2, 16, 16}, []int64{2, 20, 30}, []int64{3, 32, 32}},
	} {
		err := CheckNZ(c.stored, c.want)
		e := (*NZShapeError)(nil)
		switch {
		case c.recommended == nil && err != nil:
			t.Errorf("%v in %v: %v", c.want, c.stored, err)
		case c.recommended != nil && (!errors.As(err, &e) || !slices.Equal(e.Recommended, c.recommended)):
			t.Errorf("%v in %v: %v, want %v recommended", c.want, c.stored, err, c.recommended)
		}
	}
	if err := CheckNZ([]int64{2, 16, 16}, []int64{20, 30}); !errors.Is(err, ErrShapeShort) {
		t.Errorf("rank 3: %v", err)
	}
}

func TestPermuteDims(t *testing.T) {
	for _, c := range []struct {
		from, to  Format
		dims, out []int64
	}{
		{NCHW, NHWC, []int64{1, 2, 3, 4}, []int64{1, 3, 4, 2}},
		{NHWC, NCHW, []int64{1, 2, 3, 4}, []int64{1, 4, 2, 3}},
		{NCHW, HWCN, []int64{1, 2, 3, 4}, []int64{3, 4, 2, 1}},
		{DHWCN, NCDHW, []int64{1, 2, 3, 4, 5}, []int64{5, 4, 1, 2, 3}},
		{NCHW, NCHW, []int64{1, 2, 3, 4}, []int64{1, 2, 3, 4}},
		{NC, CN, []int64{1, 2}, []int64{2, 1}},
		{NCHW, NCDHW, []int64{1, 2, 3, 4}, nil},
		{NCHW, NHWC, []int64{1, 2, 3}, nil},
		{NCHW, ND, []int64{1, 2, 3, 4}, nil},
		{ND, ND, nil, nil},
	} {
		out, err := PermuteDims(c.dims, c.from, c.to)
		if (err != nil) != (c.out == nil) || !slices.Equal(out, c.out) {
			t.Errorf("%v %v to %v: %v, %v", c.from, c.dims, c.to, out, err)
		}
	}
}

func TestViewMethods(t *testing.T) {
	v, err := Restore(NC1HWC0, NCHW, []int64{2, 1, 3, 4, 16}, []int64{2, 5, 3, 4}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Full(), []int64{2, 16, 3, 4}) {
		t.Errorf("full %v", v.Full())
	}
	if _, err := v.Cut([]int64{2, 6, 3, 4}); !errors.Is(err, ErrExceeds) {
		t.Errorf("cut beyond: %v", err)
	}
	if _, err := v.Cut([]int64{2, 5}); !errors.Is(err, ErrShapeShort) {
		t.Errorf("cut to rank 2: %v", err)
	}
	if _, err := v.Cut([]int64{2, -5, 3, 4}); !errors.Is(err, ErrBadDim) {
		t.Errorf("cut to -5: %v", err)
	}
	w, err := v.Transpose([]int{0, 2, 3, 1})
	if err != nil {
		t.Fatal(err)
	}
	nhwc, err := Restore(NC1HWC0, NHWC, []int64{2, 1, 3, 4, 16}, []int64{2, 3, 4, 5}, 0)
	if err != nil || !slices.Equal(offsets(t, w), offsets(t, nhwc)) {
		t.Errorf("transposed view is not the NHWC view: %v", err)
	}
	for _, order := range [][]int{{0, 1, 2}, {0, 1, 1, 2}, {0, 1, 2, 4}, {-1, 0, 1, 2}} {
		if _, err := v.Transpose(order); err == nil {
			t.Errorf("transposed by %v", order)
		}
	}
	var zero View
	if zero.Len() != 0 || zero.Extent() != 0 || zero.Gather(nil, nil, 4, 0, 0) != nil {
		t.Error("the zero View is not empty")
	}
	if _, err := v.Offset(v.Len()); !errors.Is(err, ErrRange) {
		t.Errorf("offset past the end: %v", err)
	}
}
