package convert

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/layout"
)

// place is where the element n, c, d, h, w of a tensor lies in a stored one, by
// the definition of the layout. hw is height times width.
func place(f layout.Format, s []int64, n, c, h, w, hw, width int64) int64 {
	row := func(dims ...int64) int64 { // pairs of dim and index
		at := int64(0)
		for i := 0; i < len(dims); i += 2 {
			at = at*dims[i] + dims[i+1]
		}
		return at
	}
	switch f {
	case layout.NCHW:
		return row(s[0], n, s[1], c, s[2], h, s[3], w)
	case layout.NHWC:
		return row(s[0], n, s[1], h, s[2], w, s[3], c)
	case layout.HWCN:
		return row(s[0], h, s[1], w, s[2], c, s[3], n)
	case layout.NC1HWC0:
		return row(s[0], n, s[1], c/s[4], s[2], h, s[3], w, s[4], c%s[4])
	case layout.FractalZ:
		return row(s[0], c/s[3]*hw+h*width+w, s[1], n/s[2], s[2], n%s[2], s[3], c%s[3])
	}
	panic(f)
}

// order brings N, C, H, W into the order of a layout.
func order(f layout.Format, n, c, h, w int64) []int64 {
	switch f {
	case layout.NCHW:
		return []int64{n, c, h, w}
	case layout.NHWC:
		return []int64{n, h, w, c}
	case layout.HWCN:
		return []int64{h, w, c, n}
	}
	panic(f)
}

// Every pair of layouts puts every element where the definitions say and cuts
// off the padding, whatever the axis order of the original shape.
func TestLayouts(t *testing.T) {
	const N, C, H, W = 3, 20, 2, 5
	stored := map[layout.Format][]int64{
		layout.NCHW: {N, C, H, W}, layout.NHWC: {N, H, W, C}, layout.HWCN: {H, W, C, N},
		layout.NC1HWC0: {N, 2, H, W, 16}, layout.FractalZ: {2 * H * W, 1, 16, 16},
	}
	plain := []layout.Format{layout.NCHW, layout.NHWC, layout.HWCN}
	pairs := 0
	for from, shape := range stored {
		for _, to := range plain {
			for _, origin := range plain {
				for _, compat := range []bool{false, true} {
					old, _ := layout.Supported(from, to)
					if from == to || compat && !old {
						continue
					}
					orig := order(origin, N, C, H, W)
					dir := t.TempDir()
					data := numbers(count(shape))
					in := one(tensor{dtype.Int16, from, shape, orig, 0, data}).put(t, dir, "Op.x.1.1.1630000000000000")
					r := run(t, Options{Out: dir, Format: &to, Compat: compat}, in)
					if r.Code() != 0 || r.Written() != 1 {
						t.Fatalf("%s to %s, %v: %v", from, to, orig, r.Files[0].Failures)
					}
					h, got := readArray(t, r.Files[0].Written[0].Path)
					want := order(to, N, C, H, W)
					if !slices.Equal(h.Shape, want) {
						t.Fatalf("%s to %s, %v, compat %v: shape %v, want %v", from, to, orig, compat, h.Shape, want)
					}
					for n := range int64(N) {
						for c := range int64(C) {
							for y := range int64(H) {
								for x := range int64(W) {
									a := binary.LittleEndian.Uint16(data[2*place(from, shape, n, c, y, x, H*W, W):])
									b := binary.LittleEndian.Uint16(got[2*place(to, want, n, c, y, x, H*W, W):])
									if a != b {
										t.Fatalf("%s to %s: element %d,%d,%d,%d is %d, want %d", from, to, n, c, y, x, b, a)
									}
								}
							}
						}
					}
					if name := filepath.Base(r.Files[0].Written[0].Path); !strings.Contains(name, "."+join(want, "x")+".npy") {
						t.Errorf("name %s of shape %v", name, want)
					}
					pairs++
				}
			}
		}
	}
	if pairs < 50 {
		t.Errorf("only %d pairs", pairs)
	}
}

// packed computes FRACTAL_Z of a weight in NCHW by the definition: e groups
// side by side in a pack.
func packedWeight(src []byte, n, c, h, w, g, e int64) ([]int64, []byte) {
	up := func(a, b int64) int64 { return (a + b - 1) / b }
	ng := n / g
	c1, n1 := up(e*c, 16), up(e*ng, 16)
	shape := []int64{up(g, e) * c1 * h * w, n1, 16, 16}
	dst := make([]byte, 2*count(shape))
	for k := range g {
		for i := range ng {
			for j := range c {
				for y := range h {
					for x := range w {
						dc, dn := k%e*c+j, k%e*ng+i
						row := k/e*c1*h*w + dc/16*h*w + y*w + x
						to := ((row*n1+dn/16)*16+dn%16)*16 + dc%16
						from := (((k*ng+i)*c+j)*h+y)*w + x
						copy(dst[2*to:2*to+2], src[2*from:])
					}
				}
			}
		}
	}
	return shape, dst
}

// Weights of several groups do not overwrite each other, and come back.
func TestGroups(t *testing.T) {
	for _, c := range []struct{ n, c, h, w, g, e int64 }{
		{4, 3, 2, 2, 1, 1}, {4, 3, 2, 2, 2, 2}, {64, 16, 1, 2, 4, 1}, {24, 8, 2, 1, 3, 2},
	} {
		for _, compat := range []bool{false, true} {
			dir := t.TempDir()
			shape := []int64{c.n, c.c, c.h, c.w}
			src := numbers(count(shape))
			in := one(tensor{dtype.Float16, layout.NCHW, shape, shape, int(c.g), src}).put(t, dir, "Op.x.1.1.1630000000000000")
			r := run(t, Options{Out: dir, Format: formatOf(layout.FractalZ), Compat: compat}, in)
			if r.Code() != 0 || r.Written() != 1 {
				t.Fatalf("%+v: %v", c, r.Files[0].Failures)
			}
			h, got := readArray(t, r.Files[0].Written[0].Path)
			wantShape, want := packedWeight(src, c.n, c.c, c.h, c.w, c.g, c.e)
			if !slices.Equal(h.Shape, wantShape) || string(got) != string(want) {
				t.Errorf("%+v: shape %v, want %v, or other elements", c, h.Shape, wantShape)
			}
			back := one(tensor{dtype.Float16, layout.FractalZ, wantShape, shape, int(c.g), want}).put(t, dir, "Op.back.1.1.1630000000000000")
			r = run(t, Options{Out: dir, Format: formatOf(layout.NCHW), Compat: compat}, back)
			if compat && c.g > 1 {
				if fmt.Sprint(codes(r)) != "[26]" {
					t.Errorf("%+v: codes %v", c, codes(r))
				}
				continue
			}
			if r.Code() != 0 || r.Written() != 1 {
				t.Fatalf("%+v back: %v", c, r.Files[0].Failures)
			}
			if h, got := readArray(t, r.Files[0].Written[0].Path); !slices.Equal(h.Shape, shape) || string(got) != string(src) {
				t.Errorf("%+v back: shape %v, want %v, or other elements", c, h.Shape, shape)
			}
		}
	}
}

// Elements that share a byte are packed one by one.
func TestPackedElementsToFractalZ(t *testing.T) {
	shape := []int64{2, 3, 1, 2}
	for _, c := range []struct {
		typ    dtype.Type
		compat bool
		data   []byte
		want   []int8 // in the order of shape
	}{
		{dtype.Uint1, true, []byte{0b1011_0010, 0b0110_0000}, []int8{1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0}},
		{dtype.Uint1, false, []byte{0b1011_0010, 0b0110_0000}, []int8{1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0}},
		{dtype.Int4, false, []byte{0x21, 0x43, 0x65, 0x87, 0xa9, 0xcb}, []int8{1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4}},
	} {
		dir := t.TempDir()
		in := one(tensor{c.typ, layout.NCHW, shape, nil, 0, c.data}).put(t, dir, "Op.x.1.1.1630000000000000")
		r := run(t, Options{Out: dir, Format: formatOf(layout.FractalZ), Compat: c.compat}, in)
		if r.Code() != 0 || r.Written() != 1 {
			t.Fatalf("%s, compat %v: %v", c.typ, c.compat, r.Files[0].Failures)
		}
		h, got := readArray(t, r.Files[0].Written[0].Path)
		if !slices.Equal(h.Shape, []int64{2, 1, 16, 16}) {
			t.Fatalf("%s, compat %v: shape %v", c.typ, c.compat, h.Shape)
		}
		for i, want := range c.want {
			w, ch, n := i%2, i/2%3, i/6
			if at := (w*16+n)*16 + ch; int8(got[at]) != want {
				t.Errorf("%s, compat %v: element %d is %d, want %d", c.typ, c.compat, i, int8(got[at]), want)
			}
		}
	}
}

// What a wanted shape does to conversions without a matching one.
func TestShapes(t *testing.T) {
	nz := []int64{2, 3, 2, 2, 16, 16} // 2×3 matrices of 32×32
	for _, c := range []struct {
		name         string
		from, to     layout.Format
		shape, orig  []int64
		option       []int64
		compat       bool
		want         []int64
		code, warned int
	}{
		{"no original", layout.NC1HWC0, layout.NCHW, []int64{1, 2, 2, 2, 16}, nil, nil, true, []int64{1, 32, 2, 2}, 0, 0},
		{"fits nowhere", layout.NC1HWC0, layout.NCHW, []int64{1, 2, 2, 2, 16}, []int64{1, 7, 2, 2}, nil, true, []int64{1, 32, 2, 2}, 0, 1},
		{"fits nowhere, ours", layout.NC1HWC0, layout.NCHW, []int64{1, 2, 2, 2, 16}, []int64{1, 7, 2, 2}, nil, false, []int64{1, 32, 2, 2}, 0, 1},
		{"asked for less", layout.NC1HWC0, layout.NCHW, []int64{1, 2, 2, 2, 16}, nil, []int64{1, 7, 2, 2}, true, []int64{1, 7, 2, 2}, 0, 0},
		{"fewer dims", layout.NC1HWC0, layout.NCHW, []int64{2, 2, 1, 1, 16}, []int64{2, 20}, nil, true, []int64{2, 20, 1, 1}, 0, 0},
		{"8-bit blocks", layout.NC1HWC0, layout.NCHW, []int64{1, 1, 2, 2, 32}, []int64{1, 3, 2, 2}, nil, true, []int64{1, 3, 2, 2}, 0, 0},
		{"plain, cut", layout.NCHW, layout.NHWC, []int64{1, 4, 2, 2}, nil, []int64{1, 2, 2, 3}, true, []int64{1, 2, 2, 3}, 0, 0},
		{"other rank", layout.NHWC, layout.ND, []int64{2, 3, 4}, nil, nil, true, []int64{2, 3, 4}, 0, 1},
		{"batches", layout.FractalNZ, layout.ND, nz, []int64{2, 3, 20, 30}, nil, true, []int64{2, 3, 20, 30}, 0, 0},
		{"batches, ours", layout.FractalNZ, layout.ND, nz, []int64{2, 3, 20, 30}, nil, false, []int64{2, 3, 20, 30}, 0, 0},
		{"8-bit columns", layout.FractalNZ, layout.ND, []int64{1, 1, 16, 32}, []int64{16, 3}, nil, true, []int64{16, 3}, 0, 0},
		{"one dim", layout.FractalNZ, layout.ND, []int64{2, 1, 16, 16}, []int64{30}, nil, true, []int64{30}, 0, 0},
		{"too many columns", layout.FractalNZ, layout.ND, []int64{2, 1, 16, 16}, []int64{33}, nil, true, nil, CodeParameter, 0},
		{"one row", layout.FractalNZ, layout.ND, []int64{2, 1, 1, 16}, []int64{30}, nil, true, []int64{30}, 0, 0},
		{"weight without", layout.FractalZ, layout.NCHW, []int64{4, 1, 16, 16}, nil, nil, true, nil, CodeConvert, 0},
		{"weight, other", layout.FractalZ, layout.NCHW, []int64{4, 1, 16, 16}, []int64{5, 5, 5, 5}, nil, false, nil, CodeConvert, 0},
		{"weight, smaller", layout.FractalZ, layout.NCHW, []int64{4, 2, 16, 16}, []int64{3, 3, 1, 2}, nil, true, []int64{3, 3, 1, 2}, 0, 1},
		{"weight, smaller, ours", layout.FractalZ, layout.NCHW, []int64{4, 2, 16, 16}, []int64{3, 3, 1, 2}, nil, false, nil, CodeConvert, 0},
		{"weight, larger", layout.FractalZ, layout.NCHW, []int64{4, 1, 16, 16}, []int64{17, 3, 2, 2}, nil, true, nil, CodeConvert, 0},
		{"volume without", layout.NDC1HWC0, layout.NCDHW, []int64{1, 2, 1, 2, 2, 16}, nil, nil, true, nil, CodeConvert, 0},
		{"volume without, ours", layout.NDC1HWC0, layout.NCDHW, []int64{1, 2, 1, 2, 2, 16}, nil, nil, false, []int64{1, 16, 2, 2, 2}, 0, 0},
		{"volume of other order", layout.NDC1HWC0, layout.NCDHW, []int64{1, 2, 1, 3, 3, 16}, []int64{1, 2, 3, 3, 5}, nil, true, []int64{1, 5, 2, 3, 3}, 0, 0},
		{"volume to ND", layout.NDC1HWC0, layout.ND, []int64{1, 2, 1, 3, 3, 16}, []int64{1, 5, 2, 3, 3}, nil, true, []int64{1, 5, 2, 3, 3}, 0, 0},
		{"volume to ND, four dims", layout.NDC1HWC0, layout.ND, []int64{1, 2, 1, 3, 3, 16}, []int64{1, 5, 6, 3}, nil, true, []int64{1, 16, 2, 3, 3}, 0, 1},
		{"no pair", layout.NCHW, layout.HWCN, []int64{1, 4, 2, 2}, nil, nil, true, nil, CodeFormat, 0},
		{"pair of ours", layout.NCHW, layout.HWCN, []int64{1, 4, 2, 2}, nil, nil, false, []int64{2, 2, 4, 1}, 0, 0},
		{"no name", layout.NCL, layout.NCL, []int64{4}, nil, nil, true, nil, CodeFormat, 0},
		{"blocks of 32", layout.NCHW, layout.FractalZ, []int64{16, 32, 1, 1}, nil, nil, false, []int64{1, 1, 16, 32}, 0, 0},
		{"blocks of 16", layout.NCHW, layout.FractalZ, []int64{16, 32, 1, 1}, nil, nil, true, []int64{2, 1, 16, 16}, 0, 0},
	} {
		dir := t.TempDir()
		in := one(tensor{dtype.Int8, c.from, c.shape, c.orig, 0, numbers(count(c.shape))[:count(c.shape)]}).put(t, dir, "Op.x.1.1.1630000000000000")
		r := run(t, Options{Out: dir, Format: &c.to, Compat: c.compat, Shape: c.option, Single: true}, in)
		f := r.Files[0]
		if r.Code() != c.code || len(f.Warnings) != c.warned {
			t.Errorf("%s: code %d (%v), want %d; warnings %v", c.name, r.Code(), f.Failures, c.code, f.Warnings)
			continue
		}
		if c.code != 0 {
			continue
		}
		if h, _ := readArray(t, f.Written[0].Path); len(f.Written) != 1 || !slices.Equal(h.Shape, c.want) {
			t.Errorf("%s: written %+v of %v, want %v", c.name, f.Written, h.Shape, c.want)
		}
	}
}
