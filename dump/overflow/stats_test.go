package overflow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"strings"
	"testing"

	"precision/dump"
	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// The texts of all 65536 float16 numbers as numpy 1.24 prints them, one a
// line, by the FNV-1a hash of the whole.
func TestHalfTexts(t *testing.T) {
	h := fnv.New64a()
	for i := range 1 << 16 {
		v := float64(dtype.Half(uint16(i)))
		fmt.Fprintln(h, formatFloat(dtype.Float16, v))
		if got := rounded(dtype.Float16, v); v == v && math.Float64bits(got) != math.Float64bits(v) {
			t.Errorf("%#x: %v becomes %v", i, v, got)
		}
	}
	if got := h.Sum64(); got != 0x8fdc0cdb66537744 {
		t.Errorf("%#x", got)
	}
}

func TestRoundedHalf(t *testing.T) {
	for v, want := range map[float64]uint16{
		0: 0, math.Copysign(0, -1): 0x8000, 65519.99: 0x7bff, 65520: 0x7c00, 1e300: 0x7c00, math.Inf(-1): 0xfc00,
		0x1p-25: 0, 0x1.8p-25: 1, 0x1p-24: 1, 0x1.7p-24: 1, 0x1.8p-24: 2, 0x1.ff8p-15: 0x3ff, 0x1.ffcp-15: 0x400, 0x1.ffffp-15: 0x400,
		1 + 0x1p-11: 0x3c00, 1 + 0x1.8p-10: 0x3c02, 2 - 0x1p-12: 0x4000, -2049: 0xe800, 2051: 0x6802,
	} {
		if got := rounded(dtype.Float16, v); math.Float64bits(got) != math.Float64bits(float64(dtype.Half(want))) {
			t.Errorf("%v: %v, want %#x", v, got, want)
		}
	}
	if got := rounded(dtype.Float16, math.NaN()); got == got {
		t.Error("NaN")
	}
}

func TestFormatFloat(t *testing.T) {
	for _, c := range []struct {
		typ  dtype.Type
		v    float64
		want string
	}{
		{dtype.Float16, 65504, "65500.0"}, {dtype.Float16, 0.015625, "0.01563"}, {dtype.Float16, 0x1p-24, "6e-08"},
		{dtype.Float32, 0x1p-12, "0.00024414062"}, {dtype.Float32, float64(float32(1e-4)), "1e-04"}, {dtype.Float32, 1e16, "1e+16"},
		{dtype.Float32, 16777216, "16777216.0"}, {dtype.BFloat16, 1.5, "1.5"}, {dtype.HiFloat8, 0.1, "0.1"},
		{dtype.Float64, 1e15, "1000000000000000.0"}, {dtype.Float64, 1e-4, "0.0001"}, {dtype.Float64, 5e-324, "5e-324"},
		{dtype.Float64, math.Copysign(0, -1), "-0.0"}, {dtype.Float64, math.Inf(-1), "-inf"}, {dtype.Float32, math.NaN(), "nan"},
		{dtype.Float64, -123456789.125, "-123456789.125"},
	} {
		if got := formatFloat(c.typ, c.v); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.typ, c.v, got, c.want)
		}
	}
	for _, c := range []struct {
		re, im float64
		want   string
	}{
		{0, 0, "0j"}, {math.Copysign(0, -1), 1, "(-0+1j)"}, {0, math.Copysign(0, -1), "-0j"}, {1, math.Inf(-1), "(1-infj)"},
		{1e20, -1e-7, "(1e+20-1e-07j)"}, {math.NaN(), math.NaN(), "(nan+nanj)"}, {2.5, 3, "(2.5+3j)"},
	} {
		if got := formatComplex(dtype.Complex64, c.re, c.im); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
}

// sequence makes the elements that testdata/numpy.txt is about: a linear
// congruential generator, scaled.
func sequence(t dtype.Type, n int) []byte {
	var b []byte
	le := binary.LittleEndian
	x := uint32(1)
	for range n * t.Parts() {
		x = x*1664525 + 1013904223
		i := int32(x)
		v := float64(i) / (1 << 20)
		switch t {
		case dtype.Float16:
			b = append(b, dumptest.Halves([]float32{float32(rounded(t, v))})...)
		case dtype.Float32, dtype.Complex64:
			b = le.AppendUint32(b, math.Float32bits(float32(v)))
		case dtype.Float64, dtype.Complex128:
			b = le.AppendUint64(b, math.Float64bits(v))
		case dtype.Int8:
			b = append(b, byte(int64(v)))
		case dtype.Uint16:
			b = le.AppendUint16(b, uint16(int64(v)))
		case dtype.Int32:
			b = le.AppendUint32(b, uint32(int64(v)))
		case dtype.Int64, dtype.Uint64:
			b = le.AppendUint64(b, uint64(int64(i)<<31))
		case dtype.Bool:
			if v > 0 {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	}
	return b
}

// testdata/numpy.txt has lines "type length max min mean", what numpy 1.24
// prints for the sequence.
func TestMeasureAsNumpy(t *testing.T) {
	text, err := os.ReadFile("testdata/numpy.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for l := range strings.Lines(string(text)) {
		var name string
		var n int64
		var want Stats
		if _, err := fmt.Sscan(l, &name, &n, &want.Max, &want.Min, &want.Mean); err != nil {
			t.Fatal(err)
		}
		typ, ok := dtype.Parse(name)
		if !ok {
			t.Fatal(name)
		}
		data := append([]byte{1, 2, 3}, sequence(typ, int(n))...)
		got, err := Measure(bytes.NewReader(data), &dump.Tensor{Type: typ, Shape: []int64{n}, Size: uint64(len(data) - 3), Offset: 3})
		if err != nil {
			t.Fatal(err)
		}
		if want.Extreme = false; got != want {
			t.Errorf("%s, %d elements: %+v, want %+v", name, n, got, want)
		}
		lines++
	}
	if lines != 55 {
		t.Errorf("%d lines", lines)
	}
}

func TestMeasure(t *testing.T) {
	le := binary.LittleEndian
	f32 := func(v ...float64) (b []byte) {
		for _, x := range v {
			b = le.AppendUint32(b, math.Float32bits(float32(x)))
		}
		return b
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name  string
		typ   dtype.Type
		shape []int64
		data  []byte
		want  Stats
	}{
		{"nan", dtype.Float32, []int64{3}, f32(1, nan, 2), Stats{"nan", "nan", "nan", true}},
		{"inf", dtype.Float32, []int64{2}, f32(1, inf), Stats{"inf", "1.0", "inf", true}},
		{"both inf", dtype.Float32, []int64{2}, f32(-inf, inf), Stats{"inf", "-inf", "nan", true}},
		{"scalar", dtype.Float32, nil, f32(7), Stats{"7.0", "7.0", "7.0", false}},
		{"empty", dtype.Float32, []int64{0, 3}, nil, Stats{}},
		{"saturated", dtype.Float16, []int64{2}, []byte{0xff, 0xfb, 0, 0}, Stats{"0.0", "-65500.0", "-32750.0", true}},
		{"large, not saturated", dtype.Float32, []int64{1}, f32(65504), Stats{"65504.0", "65504.0", "65504.0", false}},
		{"bfloat16", dtype.BFloat16, []int64{2}, []byte{0x80, 0x3f, 0x81, 0x3f}, Stats{"1.0078125", "1.0", "1.0039062", false}},
		{"bool", dtype.Bool, []int64{3}, []byte{0, 1, 1}, Stats{"True", "False", "0.6666666666666666", false}},
		{"int64", dtype.Int64, []int64{2}, le.AppendUint64(le.AppendUint64(nil, 1<<63), 1<<63-1),
			Stats{"9223372036854775807", "-9223372036854775808", "0.0", false}},
		{"uint64", dtype.Uint64, []int64{1}, le.AppendUint64(nil, math.MaxUint64), Stats{"18446744073709551615", "18446744073709551615", "1.8446744073709552e+19", false}},
		{"complex with nan", dtype.Complex64, []int64{2}, f32(9, 9, 3, nan), Stats{"(3+nanj)", "(3+nanj)", "(nan+nanj)", true}},
		{"padding", dtype.Int8, []int64{2}, []byte{1, 2, 99}, Stats{"2", "1", "1.5", false}},
	} {
		got, err := Measure(bytes.NewReader(c.data), &dump.Tensor{Type: c.typ, Shape: c.shape, Size: uint64(len(c.data))})
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func TestMeasureErrors(t *testing.T) {
	cause := errors.New("cut")
	for _, c := range []struct {
		name   string
		tensor dump.Tensor
		code   int
	}{
		{"the dump's own", dump.Tensor{Type: dtype.Int8, Shape: []int64{1}, Err: cause}, 1},
		{"type", dump.Tensor{Type: dtype.String, Shape: []int64{1}}, dump.CodeType},
		{"end of file", dump.Tensor{Type: dtype.Int8, Shape: []int64{9}}, dump.CodeInvalid},
		{"big-endian", dump.Tensor{Type: dtype.Int16, Shape: []int64{1}, BigEndian: true}, dump.CodeType},
	} {
		if _, err := Measure(bytes.NewReader(make([]byte, 8)), &c.tensor); err == nil || dump.Code(err) != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
