package array

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/npy"
)

// Numbers of eight bits by the scales of tokens and of channels are the numbers that were quantised; what is no pair is told.
func TestScaled(t *testing.T) {
	whole := func(shape []int64, v ...int8) *Array {
		raw := make([]byte, len(v))
		for i, x := range v {
			raw[i] = byte(x)
		}
		var b bytes.Buffer
		if err := npy.Write(&b, dtype.Int8, shape, raw); err != nil {
			t.Fatal(err)
		}
		return file(t, b.Bytes())
	}
	for _, c := range []struct {
		scales *Array
		want   string
	}{
		{array(t, []int64{2}, 0.5, 2), "0.5 -1 1.5 8 10 -254"},
		{array(t, []int64{3}, 1, 2, 0.25), "1 -4 0.75 4 10 -31.75"},
		{array(t, []int64{2, 3}, 1, 1, 1, 2, 2, 2), "1 -2 3 8 10 -254"},
		{array(t, []int64{4}, 1, 2, 3, 4), ""},
	} {
		a, err := Scaled(whole([]int64{2, 3}, 1, -2, 3, 4, 5, -127), c.scales)
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), "[4]") {
				t.Errorf("scales that belong to nothing: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := a.FirstText(10)
		if got := strings.Join(text, " "); err != nil || got != c.want {
			t.Errorf("%q, %v, expected %q", got, err, c.want)
		}
	}
	raw := func(typ dtype.Type, shape []int64, v ...byte) *Array {
		var b bytes.Buffer
		if err := npy.Write(&b, typ, shape, v); err != nil {
			t.Fatal(err)
		}
		return file(t, b.Bytes())
	}
	for _, c := range []struct { // numbers of four bits: float4 by blocks of 16 (NVFP4), whole ones by channel
		numbers, scales *Array
		want            string
	}{
		{raw(dtype.Uint8, []int64{1, 16}, 0x21, 0x7f, 0, 0, 0, 0, 0, 0, 0x98, 1, 0, 0, 0, 0, 0, 0), array(t, []int64{1, 2}, 2, 10), "1 2 -12 12 0 0 0 0 0 0 0 0 0 0 0 0 -0 -5 5 0"},
		{raw(dtype.Int32, []int64{2, 1}, 0x10, 0x32, 0x54, 0x76, 0xf8, 0, 0, 0x80), array(t, []int64{8}, 1, 2, 1, 1, 1, 1, 1, 4), "0 2 2 3 4 5 6 28 -8 -2 0 0 0 0 0 -32"},
	} {
		a, err := Scaled(c.numbers, c.scales)
		if err != nil {
			t.Fatal(err)
		}
		text, err := a.FirstText(20)
		if got := strings.Join(text, " "); err != nil || got != c.want {
			t.Errorf("%q, %v, expected %q", got, err, c.want)
		}
	}
	many := make([]int8, 3*tile+5)
	for i := range many {
		many[i] = int8(i % 251)
	}
	n := int64(len(many))
	left, err := Scaled(whole([]int64{n}, many...), array(t, []int64{1}, 0.5))
	right, other := Scaled(whole([]int64{n}, many...), array(t, []int64{1}, 0.75))
	if err != nil || other != nil {
		t.Fatal(err, other)
	}
	d, err := Compare(context.Background(), left, right, Options{Rows: 3, Workers: 2, Atol: 1e-3, Rtol: 1e-3})
	if err != nil || d.Bad != n-(n+250)/251 || d.LeftStats.Max != 63.5 || d.RightStats.Max != 95.25 {
		t.Errorf("%+v, %v", d, err)
	}
}
