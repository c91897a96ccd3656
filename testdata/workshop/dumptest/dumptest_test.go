package dumptest

import (
	"reflect"
	"testing"
)

func TestHalf(t *testing.T) {
	for v, want := range map[float32]uint16{
		0: 0, 1: 0x3c00, -2: 0xc000, 65504: 0x7bff, 65519: 0x7bff, 65520: 0x7c00, 0.5: 0x3800,
		1.0 / (1 << 24): 1, 1.0 / (1 << 14): 0x0400, 1.9998: 0x4000,
	} {
		if got := half(v); got != want {
			t.Errorf("half(%v) = %#x, want %#x", v, got, want)
		}
	}
}

// The worked example of the dump format: 49 bytes with one float16 output.
func TestBytes(t *testing.T) {
	d := Dump{OpName: "a/b", Time: 1671234567123456, Outputs: []Tensor{{
		Type: Float16, Format: ND, Shape: []int64{2}, Origin: []int64{2}, Data: Halves([]float32{1, -2})}}}
	want := []byte("\x25\x00\x00\x00\x00\x00\x00\x00\x0a\x032.0\x10\x80\xe4\xd6\xf5\xa9\xff\xfb\x02\x1a\x10" +
		"\x08\x02\x10\x02\x1a\x03\x0a\x01\x02\x30\x04\x3a\x03\x0a\x01\x02\x32\x03a/b\x00\x3c\x00\xc0")
	if got := d.Bytes(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  % x\nwant % x", got, want)
	}
}

func TestTranspose(t *testing.T) {
	got, dims := Transpose([]float32{1, 2, 3, 4, 5, 6}, []int64{2, 3}, 1, 0)
	if !reflect.DeepEqual(got, []float32{1, 4, 2, 5, 3, 6}) || !reflect.DeepEqual(dims, []int64{3, 2}) {
		t.Errorf("%v %v", got, dims)
	}
}
