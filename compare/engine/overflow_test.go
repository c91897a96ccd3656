package engine

import (
	"context"
	"path/filepath"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump"
	"precision/testdata/workshop/dumptest"
)

// Whether a tensor overflows is told of every float16 tensor of the left side,
// also when there is nothing to compare it with.
func TestOverflowWithoutGolden(t *testing.T) {
	dir := t.TempDir()
	npu, golden := filepath.Join(dir, "npu"), filepath.Join(dir, "golden")
	half := func(v ...float32) dumptest.Tensor {
		return dumptest.Tensor{Type: dumptest.Float16, Format: dumptest.ND, Shape: shape(int64(len(v))), Data: dumptest.Halves(v)}
	}
	for name, d := range map[string]dumptest.Dump{
		"Op.a.1.1.1630000000000001": {Inputs: []dumptest.Tensor{half(1, 70000)}, Outputs: []dumptest.Tensor{half(1, 65504)}},
		"Op.b.1.1.1630000000000002": {Outputs: []dumptest.Tensor{half(1, 65472), floats(shape(1), 70000)}},
	} {
		if err := d.Write(filepath.Join(npu, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := dumptest.WriteNpy(filepath.Join(golden, "other.0.1630000000000001.npy"), "<f4", shape(1), dumptest.Floats([]float32{1})); err != nil {
		t.Fatal(err)
	}
	rules := openGraph(t, graphOp{"a", "Op", nil, "ND", shape(2)}, graphOp{"b", "Op", nil, "ND", shape(2)})
	for _, numerics := range []metric.Numerics{metric.Exact, metric.Reference} {
		opt := Folders{Rules: rules, Options: Options{Numerics: numerics, Overflow: true}}
		var err error
		if opt.Left, err = dump.Scan(npu, dump.Options{Rules: true}); err != nil {
			t.Fatal(err)
		}
		if opt.Right, err = dump.Scan(golden, dump.Options{Rules: true}); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"a:input:0": "YES", "a:output:0": "YES", "b:output:0": "NO", "b:output:1": "NaN"}
		if _, err := Run(context.Background(), &opt, opt.Options, func(r *result.Row) error {
			if r.Compared || r.Overflow != want[r.Tensor()] {
				t.Errorf("%s, %s: compared %t, overflow %s, want %s", numerics, r.Tensor(), r.Compared, r.Overflow, want[r.Tensor()])
			}
			delete(want, r.Tensor())
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 {
			t.Errorf("%s: no rows of %v", numerics, want)
		}
	}
}
