package dtype

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

func one(t *testing.T, typ Type, src ...byte) float32 {
	t.Helper()
	var v [1]float32
	if n := Widen32(typ, v[:], src); n != 1 {
		t.Fatalf("%s: %d elements from % x", typ, n, src)
	}
	return v[0]
}

func same(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b
}

// Check values of the HiFloat8 definition.
func TestHiFloat8(t *testing.T) {
	for code, want := range map[uint8]float64{
		0x00: 0, 0x01: math.Ldexp(1, -22), 0x07: math.Ldexp(1, -16), 0x08: 1, 0x0f: 1.875, 0x10: 2, 0x17: 3.75, 0x18: 0.5,
		0x1f: 0.9375, 0x20: 4, 0x3f: 0.234375, 0x40: 16, 0x5f: 0.013671875, 0x60: 256, 0x6e: 32768, 0x70: 0.00390625,
		0x7e: math.Ldexp(1, -15), 0x7f: 1.5 * math.Ldexp(1, -15), 0x80: math.NaN(), 0x6f: math.Inf(1), 0xef: math.Inf(-1),
		0x88: -1, 0x98: -0.5,
	} {
		if got := one(t, HiFloat8, code); !same(float64(got), want) {
			t.Errorf("%#02x: %v, want %v", code, got, want)
		}
	}
	seen := map[float32]uint8{}
	for c := range 256 {
		v := hiFloat8[c]
		if other, twice := seen[v]; twice {
			t.Errorf("%#02x and %#02x are both %v", other, c, v)
		}
		seen[v] = uint8(c)
		if neg := hiFloat8[c^0x80]; c&0x7f != 0 && neg != -v {
			t.Errorf("%#02x is %v, its negative %v", c, v, neg)
		}
	}
}

func TestFloat8(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		typ  Type
		code uint8
		want float64
	}{
		{Float8E4M3FN, 0x7f, nan}, {Float8E4M3FN, 0xff, nan}, {Float8E4M3FN, 0x7e, 448}, {Float8E4M3FN, 0x38, 1},
		{Float8E4M3FN, 0x01, math.Ldexp(1, -9)}, {Float8E4M3FN, 0x80, math.Copysign(0, -1)},
		{Float8E5M2, 0x7c, inf}, {Float8E5M2, 0xfc, -inf}, {Float8E5M2, 0x7d, nan}, {Float8E5M2, 0x3c, 1},
		{Float8E5M2, 0x7b, 57344}, {Float8E5M2, 0x01, math.Ldexp(1, -16)},
		{Float8E8M0, 127, 1}, {Float8E8M0, 0, math.Ldexp(1, -127)}, {Float8E8M0, 255, nan},
	} {
		if got := one(t, c.typ, c.code); !same(float64(got), c.want) {
			t.Errorf("%s %#02x: %v, want %v", c.typ, c.code, got, c.want)
		}
	}
}

// Every float16 code against the definition in float64.
func TestHalf(t *testing.T) {
	for c := range 1 << 16 {
		e, m := c>>10&31, float64(c&1023)
		want := math.Ldexp(m/1024, -14)
		switch {
		case e == 31 && m == 0:
			want = math.Inf(1)
		case e == 31:
			want = math.NaN()
		case e > 0:
			want = math.Ldexp(1+m/1024, e-15)
		}
		if c>>15 == 1 {
			want = -want
		}
		if got := float64(Half(uint16(c))); !same(got, want) {
			t.Fatalf("%#04x: %v, want %v", c, got, want)
		}
	}
}

func TestPacked(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		src  []byte
		want []float32
	}{
		{Uint1, []byte{0b10100000, 0b11000000}, []float32{1, 0, 1, 0, 0, 0, 0, 0, 1, 1}},
		{Int4, []byte{0x8f, 0x07}, []float32{-1, -8, 7}},
		{Int2, []byte{0b11100100}, []float32{0, 1, -2, -1}},
		{Uint2, []byte{0b11100100}, []float32{0, 1, 2, 3}},
		{Float4E2M1, []byte{0x7f, 0x12}, []float32{-6, 6, 1, 0.5}},
		{Bool, []byte{0, 1, 7}, []float32{0, 1, 1}},
		{Undefined, []byte{0xff}, []float32{-1}},
		{Complex32, []byte{0, 0x3c, 0, 0xc0}, []float32{1, -2}},
		{BFloat16, []byte{0x80, 0x3f, 0xc0, 0x7f}, []float32{1, float32(math.NaN())}},
	} {
		got := make([]float32, len(c.want))
		if n := Widen32(c.typ, got, c.src); n != len(got) {
			t.Errorf("%s: %d elements", c.typ, n)
		}
		for i := range got {
			if !same(float64(got[i]), float64(c.want[i])) {
				t.Errorf("%s: %v, want %v", c.typ, got, c.want)
				break
			}
		}
		wide := make([]float64, len(c.want))
		Widen64(c.typ, wide, c.src)
		for i := range wide {
			if !same(wide[i], float64(c.want[i])) {
				t.Errorf("%s to float64: %v, want %v", c.typ, wide, c.want)
				break
			}
		}
	}
}

func TestIntegersKeepTheirDigits(t *testing.T) {
	src := binary.LittleEndian.AppendUint64(nil, 1<<53-1)
	var wide [1]float64
	Widen64(Int64, wide[:], src)
	if wide[0] != 1<<53-1 {
		t.Errorf("int64 %v", wide[0])
	}
	// Rounded once: through float64 this would be a tie and round down.
	v := int64(1)<<62 + 1<<38 + 1
	if got, want := one(t, Int64, binary.LittleEndian.AppendUint64(nil, uint64(v))...), float32(v); got != want {
		t.Errorf("int64 to float32: %v, want %v", got, want)
	}
}

func TestShortSource(t *testing.T) {
	for _, typ := range All() {
		var dst [9]float32
		var wide [9]float64
		for n := range 20 {
			src := make([]byte, n)
			a, b := Widen32(typ, dst[:], src), Widen64(typ, wide[:], src)
			if a != b || int64(a) > typ.Count(int64(n))*int64(typ.Parts()) {
				t.Fatalf("%s: %d and %d elements from %d bytes", typ, a, b, n)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, typ := range All() {
		if got, ok := FromWire(typ.Wire()); !ok || got != typ {
			t.Errorf("%d %s reads as %d", typ, typ.Wire(), got)
		}
		if d := typ.Numpy(); d != "" {
			if got, big, ok := FromNumpy(d); !ok || big || got != typ {
				t.Errorf("%s reads as %s", d, got)
			}
		}
	}
	if got, big, ok := FromNumpy(">f4"); got != Float32 || !big || !ok {
		t.Errorf(">f4: %s %v %v", got, big, ok)
	}
	for n, want := range map[int64]Type{0: Float32, 1: Float16, 3: Int32, 9: Int64, 12: Bool, 23: Resource, 27: BFloat16,
		28: Undefined, 29: Int4, 30: Uint1, 34: HiFloat8, 42: HiFloat4} {
		if got, ok := FromGE(n); !ok || got != want {
			t.Errorf("GE %d: %s %v, want %s", n, got, ok, want)
		}
	}
	if _, ok := FromGE(5); ok {
		t.Error("GE has no type 5")
	}
	if got := Type(99).String(); got != "type99" {
		t.Error(got)
	}
}

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		n    int64
		want int64
	}{{Float16, 3, 6}, {Int4, 3, 2}, {Uint1, 9, 2}, {String, 1, -1}, {Float64, 1 << 61, -1}, {Float32, -1, -1}, {Uint1, 0, 0}} {
		if got := c.typ.Bytes(c.n); got != c.want {
			t.Errorf("%s x %d: %d bytes, want %d", c.typ, c.n, got, c.want)
		}
	}
}

func BenchmarkWiden64(b *testing.B) {
	const n = 32768
	src, dst := make([]byte, Float16.Bytes(n)), make([]float64, n)
	b.SetBytes(8 * n)
	for b.Loop() {
		Widen64(Float16, dst, src)
	}
}

func BenchmarkWiden32(b *testing.B) {
	const n = 32768
	for _, typ := range []Type{Float32, Float16, BFloat16, Int8, Float8E4M3FN, Int32} {
		b.Run(fmt.Sprint(typ), func(b *testing.B) {
			src, dst := make([]byte, typ.Bytes(n)), make([]float32, n)
			b.SetBytes(4 * n)
			for b.Loop() {
				Widen32(typ, dst, src)
			}
		})
	}
}
