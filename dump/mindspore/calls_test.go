package mindspore

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/dump/npy"
)

// array writes an array of floats whose header has another type than its bytes, if wanted.
func array(t *testing.T, path string, header dtype.Type, shape []int64, values ...float32) {
	t.Helper()
	b, err := npy.AppendHeader(nil, header, shape)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCalls: what an optimizer updates is its output, in place of the buffer that nobody fills; a parameter
// comes behind; attributes are numbers; a kernel without its first input is marked; a float16 file that
// holds float32 is read so.
func TestCalls(t *testing.T) {
	dir := t.TempDir() + "/rank_0/Net/0/0/"
	two := []int64{2}
	array(t, dir+"Parameter.w.0.0.1.output.0.DefaultFormat.Float32.npy", dtype.Float32, two, 1, 2)
	array(t, dir+"Adam.opt-op0.0.0.20.input.0.DefaultFormat.Float32.npy", dtype.Float32, two, 1, 2)
	array(t, dir+"Adam.opt-op0.0.0.21.input.1.DefaultFormat.Float32.npy", dtype.Float32, two, 3, 4)
	array(t, dir+"Adam.opt-op0.0.0.22.input.5.DefaultFormat.Float32.npy", dtype.Float32, nil, 0.25)
	array(t, dir+"Adam.opt-op0.0.0.23.output.0.DefaultFormat.Float32.npy", dtype.Float32, two, 7e30, 8)
	array(t, dir+"Add.a-op0.0.0.10.input.1.DefaultFormat.Float16.npy", dtype.Float16, two, 5, 6)
	array(t, dir+"Add.a-op0.0.0.11.output.0.DefaultFormat.Float32.npy", dtype.Float32, two, 5, 6)
	all, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	it, err := Load(all[0])
	if err != nil {
		t.Fatal(err)
	}
	c := it.Calls()
	if len(it.Remarks) > 0 || len(c.Calls) != 3 {
		t.Fatalf("%d calls, %v", len(c.Calls), it.Remarks)
	}
	if add, adam, w := c.Calls[0], c.Calls[1], c.Calls[2]; add.Parsed.Class != "Add" || adam.Parsed.Class != "Adam" || w.Parsed.Class != State {
		t.Fatalf("order %s, %s, %s", add.Name, adam.Name, w.Name)
	}
	if c.Widened != 1 || c.Calls[0].Values[0].Elem != dtype.Float32 || !c.Gaps[0] {
		t.Errorf("%d widened, %+v, gaps %v", c.Widened, c.Calls[0].Values[0], c.Gaps)
	}
	adam := c.Calls[1]
	out := slices.IndexFunc(adam.Values, func(v msprobe.Value) bool { return v.Section == msprobe.Output })
	if out < 0 || c.Files[adam.Values[out].DataName] != dir+"Adam.opt-op0.0.0.20.input.0.DefaultFormat.Float32.npy" {
		t.Errorf("output %+v of %v", adam.Values, c.Files)
	}
	for _, v := range adam.Values {
		if v.Section == msprobe.Input && v.Path == "0" {
			t.Error("what the kernel got is told by what it left there")
		}
		if v.Section == msprobe.Input && v.Path == "5" && v.Max.F != 0.25 {
			t.Errorf("attribute %+v", v)
		}
	}
}
