package dtype

import (
	"encoding/binary"
	"math"
	"testing"
)

// Types that fit float32 give the same numbers either way, whatever the bytes.
func TestWidthsAgree(t *testing.T) {
	src := make([]byte, 1<<17)
	for i := range 1 << 16 {
		binary.LittleEndian.PutUint16(src[2*i:], uint16(i))
	}
	narrow, wide := make([]float32, 1<<18), make([]float64, 1<<18)
	for _, typ := range All() {
		if !typ.Readable() || !typ.FitsFloat32() {
			continue
		}
		n := Widen32(typ, narrow, src)
		if m := Widen64(typ, wide, src); m != n || n == 0 {
			t.Fatalf("%s: %d and %d numbers", typ, n, m)
		}
		for i := range n {
			if !same(float64(narrow[i]), wide[i]) {
				t.Fatalf("%s: number %d is %v and %v", typ, i, narrow[i], wide[i])
			}
		}
	}
}

// A float8_e5m2 is the upper byte of a float16.
func TestE5M2IsHalfOfHalf(t *testing.T) {
	for c := range 256 {
		want := float64(Half(uint16(c) << 8))
		if got := float64(float8E5M2[c]); !same(got, want) {
			t.Errorf("%#02x: %v, want %v", c, got, want)
		}
	}
}

func TestIntegersRoundOnce(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		bits uint64
		want float32
	}{
		{Int32, 1<<24 + 1, 1 << 24},
		{Uint32, math.MaxUint32, 1 << 32},
		{QInt32, 0xffffffff, -1},
		{Int64, math.MaxUint64, -1},
		{Int64, 1 << 63, -1 << 63},
		{Resource, 7, 7},
		// Both would be ties, and go down, after rounding to float64.
		{Int64, 1<<62 + 1<<38 + 1, 1<<62 + 1<<39},
		{Uint64, 1<<63 + 1<<39 + 1, 1<<63 + 1<<40},
		{Uint64, math.MaxUint64, 1 << 64},
		{Int16, 0x8000, -1 << 15},
		{QUint16, 0xffff, 1<<16 - 1},
	} {
		src := binary.LittleEndian.AppendUint64(nil, c.bits)
		if got := one(t, c.typ, src[:c.typ.Bytes(1)]...); got != c.want {
			t.Errorf("%s %#x: %v, want %v", c.typ, c.bits, got, c.want)
		}
	}
}

func TestDoublesRoundToFloat32(t *testing.T) {
	for _, v := range []float64{1 + 1e-9, 1e300, -1e300, 1e-50, math.Inf(-1)} {
		src := binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
		if got := one(t, Float64, src...); got != float32(v) {
			t.Errorf("%v: %v, want %v", v, got, float32(v))
		}
		var wide [1]float64
		if Widen64(Float64, wide[:], src); wide[0] != v {
			t.Errorf("%v became %v", v, wide[0])
		}
	}
}

func TestComplexFillsWholeElements(t *testing.T) {
	src := binary.LittleEndian.AppendUint32(nil, math.Float32bits(3))
	src = binary.LittleEndian.AppendUint32(src, math.Float32bits(-4))
	dst := []float64{9, 9, 9}
	if n := Widen64(Complex64, dst, append(src, src...)); n != 2 || dst[0] != 3 || dst[1] != -4 || dst[2] != 9 {
		t.Errorf("%d numbers %v, want 2 and the third untouched", n, dst)
	}
}

func TestUnreadableGivesNothing(t *testing.T) {
	for _, typ := range []Type{String, Variant, Float6E2M3, HiFloat4, -1, Type(len(table)), 99} {
		if n := Widen32(typ, make([]float32, 4), make([]byte, 16)); n != 0 {
			t.Errorf("%s: %d numbers", typ, n)
		}
	}
}

func TestSizesNearTheLimit(t *testing.T) {
	for _, c := range []struct {
		typ     Type
		n, want int64
	}{
		{Int8, math.MaxInt64, math.MaxInt64}, {Uint1, math.MaxInt64, 1 << 60}, {Int4, math.MaxInt64, 1 << 62},
		{Float16, math.MaxInt64/2 + 1, -1}, {Complex128, 1 << 59, -1}, {Complex128, 1<<59 - 1, 1<<63 - 16},
		{Complex128, math.MaxInt64, -1},
	} {
		if got := c.typ.Bytes(c.n); got != c.want {
			t.Errorf("%d x %s: %d bytes, want %d", c.n, c.typ, got, c.want)
		}
	}
	if got := Uint1.Count(math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("Count saturates at %d", got)
	}
}

func TestParse(t *testing.T) {
	for name, want := range map[string]Type{"int8": Int8, "int64": Int64, "float8_e4m3fn": Float8E4M3FN, "uint1": Uint1} {
		if got, ok := Parse(name); !ok || got != want {
			t.Errorf("%s: %s %v, want %s", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "float", "type99", "FLOAT"} {
		if got, ok := Parse(name); ok {
			t.Errorf("%q is read as %s", name, got)
		}
	}
}
