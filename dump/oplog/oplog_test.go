package oplog

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzTake: no line stops the reading otherwise than by an error, and a call that is read has a name.
func FuzzTake(f *testing.F) {
	f.Add("  aten::native_layer_norm(t: f32[3, 16], [16], t: f32[16], 1e-05)  ->  ('t: f32[3, 16]', 't$2: f32[3, 1]')  # {'input_hash': ((24.6, [None], 16.0, None), {}), 'hash': (40.2, nan)}")
	f.Add("[layers.0.attention.wq/op_0_mm]\n  Shape: torch.Size([4, 8]), Dtype: torch.float32\n  Output hash: 1.5e+00, 7\n  Phase: backward")
	f.Add("torch.add(dt$0: f32[8, 8]| S(0), other=t: i64[], alpha='a,)')")
	f.Add("[triton] k(a=[t: f32[1], t: f32[2]], f=<function f at 0x7f>)((((")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "x.log")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		calls, _ := Read(path)
		for _, c := range calls {
			if c.Name == "" {
				t.Errorf("%q: %+v", text, c)
			}
		}
	})
}

// TestValues: what a line says of arguments and results comes out where it stood.
func TestValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	text := "[nn.Mod] Net.a\n  aten::cat([t: f32[2, 3], t$1: bf16[]], 1, out=dt$0: i64[4]| S(0), f=<f at 0x7fab>)  ->  t: f32[4, 3]  # {'input_hash': (([1.5, 12], None), {'out': 2.5, 'f': None}), 'hash': 7.25}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	calls, err := Read(path)
	if err != nil || len(calls) != 1 || calls[0].Name != "aten::cat" || calls[0].Module != "Net.a" {
		t.Fatalf("%+v, %v", calls, err)
	}
	type want struct {
		path, keyword, text, hash string
		dims                      int
		norm                      float64
	}
	for i, w := range []want{{"0.0", "", "", "", 2, 1.5}, {"0.1", "", "", "12", 0, 0}, {"1", "", "1", "", 0, 0}, {"", "out", "", "", 1, 2.5}, {"", "f", "<f>", "", 0, 0}, {"0", "", "", "", 2, 7.25}} {
		v := calls[0].Values[i]
		if got := (want{v.Path, v.Keyword, v.Text, v.Hash, len(v.Shape), v.Norm}); got != w || v.Tensor != (w.text == "") || v.Output != (i == 5) {
			t.Errorf("value %d: %+v, expected %+v", i, v, w)
		}
	}
}
