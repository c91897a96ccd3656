package convert

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/npy"
	"precision/dump/torch"
)

// TestNamedTensors: the tensors of a file of them are written each, bfloat16 as float32 with the same numbers; a pickle that holds none
// is told as what it is.
func TestNamedTensors(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	var pt bytes.Buffer
	if err := torch.Write(&pt, dtype.BFloat16, []int64{2}, bytes.NewReader([]byte{0x80, 0x3f, 0, 0xc0})); err != nil { // 1, -2
		t.Fatal(err)
	}
	safe := `{"a/b":{"dtype":"I16","shape":[3],"data_offsets":[0,6]},"a:b":{"dtype":"F32","shape":[],"data_offsets":[6,10]}}`
	for name, content := range map[string]string{
		"x.pt":          pt.String(),
		"y.safetensors": string(append([]byte{byte(len(safe)), 0, 0, 0, 0, 0, 0, 0}, safe...)) + "\x01\x00\x02\x00\x03\x00\x00\x00\x80\x3f",
		"z.pkl":         "\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00cos\nsystem\n.",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Convert(context.Background(), []string{filepath.Join(dir, "x.pt"), filepath.Join(dir, "y.safetensors"), filepath.Join(dir, "z.pkl")}, Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		typ   dtype.Type
		shape []int64
		data  string
	}{
		"x.pt.x.npy":                 {dtype.Float32, []int64{2}, "\x00\x00\x80\x3f\x00\x00\x00\xc0"},
		"y.safetensors.a_b.npy":      {dtype.Int16, []int64{3}, "\x01\x00\x02\x00\x03\x00"},
		"y.safetensors.tensor.1.npy": {dtype.Float32, []int64{}, "\x00\x00\x80\x3f"}, // a:b would have the same name
	} {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Error(err)
			continue
		}
		h, err := npy.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil || h.Type != want.typ || !slices.Equal(h.Shape, want.shape) || string(b[h.Offset:]) != want.data {
			t.Errorf("%s: %+v, %x, %v", name, h, b[h.Offset:], err)
		}
	}
	if f := r.Files[2]; len(f.Failures) != 1 || !strings.Contains(f.Failures[0].Err.Error(), "a pickle of Python") || len(f.Written) > 0 {
		t.Errorf("a pickle: %+v", f)
	}
}
