package layout

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// hostileDims turns bytes into a shape: small numbers, zeros, negatives and
// numbers whose products overflow.
func hostileDims(b []byte) []int64 {
	var dims []int64
	for _, x := range b {
		d := int64(x & 0x3f)
		switch x >> 6 {
		case 1:
			d -= 8
		case 2:
			d = 1 << (x & 0x3f)
		case 3:
			d = math.MaxInt64 - d
		}
		dims = append(dims, d)
	}
	return dims
}

// checkView fails on a View that reaches outside its tensor.
func checkView(t *testing.T, v View) {
	t.Helper()
	if v.Len() < 0 || v.Len() > v.Stored() || v.Extent() < 0 || v.Len() > 0 && (v.Extent() > v.Stored() || v.Len() > v.Extent()) {
		t.Fatalf("%v of %v: %d elements, extent %d of %d", v.Dims, v.Full(), v.Len(), v.Extent(), v.Stored())
	}
	if n, err := Count(v.Dims); err == nil && n != v.Len() || err != nil && v.Len() != 0 {
		t.Fatalf("%v: %d elements, %v", v.Dims, v.Len(), err)
	}
	for _, i := range []int64{0, 1, v.Len() / 3, v.Len() / 2, v.Len() - 1} {
		if o, err := v.Offset(i); err == nil && (o < 0 || o >= v.Extent()) {
			t.Fatalf("%v of %v: element %d at %d, extent %d", v.Dims, v.Full(), i, o, v.Extent())
		} else if (err == nil) != (i >= 0 && i < v.Len()) {
			t.Fatalf("%v: element %d: %v", v.Dims, i, err)
		}
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(byte(3), byte(0), []byte{1, 2, 3, 4, 16}, []byte{1, 20, 3, 4}, byte(0))
	f.Add(byte(4), byte(16), []byte{36, 2, 16, 16}, []byte{3, 3, 20, 18}, byte(0))
	f.Add(byte(29), byte(2), []byte{3, 2, 2, 16, 16}, []byte{3, 20, 30}, byte(1))
	f.Add(byte(32), byte(2), []byte{1, 2, 2, 3, 3, 16}, []byte{1, 20, 2, 3, 3}, byte(4))
	f.Add(byte(25), byte(16), []byte{2, 3, 3, 1, 4, 4}, []byte{3, 3, 7, 1}, byte(0))
	f.Add(byte(29), byte(2), []byte{0, 0xbe, 0xbe, 1, 1, 16, 16}, []byte{0xbe, 0, 1, 1}, byte(0))
	f.Add(byte(33), byte(27), []byte{0xa0, 0x9f, 0xc0, 0}, []byte{0x80, 0x41, 0xff, 1, 1}, byte(0))
	f.Fuzz(func(t *testing.T, from, to byte, stored, want []byte, group byte) {
		if len(stored) > 12 || len(want) > 12 {
			return
		}
		s, w := hostileDims(stored), hostileDims(want)
		src, dst := Format(from), Format(to)
		_, ours := Supported(src, dst)
		if v, err := Restore(src, dst, s, w, int(group)); err == nil {
			if !ours || src != dst && len(w) > 0 && !slices.Equal(v.Dims, w) {
				t.Fatalf("%v %v to %v %v: %v", src, s, dst, w, v.Dims)
			}
			checkView(t, v)
			checkTiles(t, v)
		}
		if v, err := Convert(src, dst, s, w, int(group)); err == nil {
			checkView(t, v)
			if c, err := v.SliceLike(w); err == nil {
				checkView(t, c)
			}
			if c, err := v.Cut(w); err == nil {
				checkView(t, c)
			}
		}
		FitOriginal(src, dst, s, w, int(group))
		CheckNZ(s, w)
		BatchFitsNZ(s, w)
		if p, err := NewPacking(src, s, int(group), 16, 16); err == nil {
			if o := p.Offset(p.n-1, p.c-1, p.h-1, p.w-1); o < 0 || o >= p.Stored() {
				t.Fatalf("%v %v: last element at %d of %d", src, s, o, p.Stored())
			}
		}
	})
}

// checkTiles compares tiles read through a small window with Offset.
func checkTiles(t *testing.T, v View) {
	if v.Extent() > 1<<12 || v.Len() == 0 {
		return
	}
	data := make([]byte, v.Extent()*2)
	for i := range v.Extent() {
		binary.LittleEndian.PutUint16(data[i*2:], uint16(i))
	}
	r, err := NewReader(bytes.NewReader(data), 0, 2, v)
	if err != nil {
		t.Fatal(err)
	}
	r.SetWindow(200)
	dst := make([]byte, 60)
	for at := int64(0); at < v.Len(); at += 30 {
		n := min(30, v.Len()-at)
		if err := r.ReadTile(dst, at, n); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			o, err := v.Offset(at + i)
			if err != nil || uint16(o) != binary.LittleEndian.Uint16(dst[i*2:]) {
				t.Fatalf("%v of %v: element %d is not the one at %d, %v", v.Dims, v.Full(), at+i, o, err)
			}
		}
	}
}

func FuzzParseFormat(f *testing.F) {
	for _, s := range []string{"NCHW", "FORMAT_ND", "FRACTAL_Z:4", "FORMAT_200", ":", "FORMAT_-1:0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if format, sub, ok := ParseSub(s); ok {
			if g, ok := Parse(format.String()); !ok || g != format || sub < 0 {
				t.Fatalf("%q is %v, sub %d, which is %v", s, format, sub, g)
			}
		}
	})
}
