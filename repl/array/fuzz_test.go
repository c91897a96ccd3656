package array

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"precision/testdata/workshop/dumptest"
)

// fuzzNames are names that decide how a file is read.
var fuzzNames = [...]string{"a.0.1.npy", "Add.a.1.1.1630000000000000", "x.pt", "x.bin"}

// Whatever a file holds, its tensors are shown, measured and written, or refused.
func FuzzOpen(f *testing.F) {
	for i, d := range []dumptest.Tensor{
		{Type: dumptest.Float16, Format: dumptest.NCHW, Shape: []int64{2, 2}, Data: make([]byte, 8)},
		{Type: dumptest.Int8, Format: dumptest.ND, Shape: nil, Data: []byte{1}},
	} {
		f.Add(dumptest.Dump{OpName: "a", Inputs: []dumptest.Tensor{d}, Outputs: []dumptest.Tensor{d}}.Bytes(), uint8(i+1))
	}
	for i, pattern := range []string{"../../dump/npy/testdata/*.npy", "", "../../dump/torch/testdata/read/*.pt"} {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			if b, err := os.ReadFile(p); err == nil && len(b) < 4096 {
				f.Add(b, uint8(i))
			}
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, name uint8) {
		path := filepath.Join(dir, fuzzNames[int(name)%len(fuzzNames)])
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		list, _, err := Open(path)
		if err != nil {
			return
		}
		for _, a := range list {
			if a.Len() < 1<<12 {
				if _, err := a.Measure(context.Background(), 1); err != nil {
					t.Error(err)
				}
				if _, err := Compare(context.Background(), a, a, Options{}); err != nil {
					t.Error(err)
				}
				if err := a.WriteText(context.Background(), io.Discard); err != nil {
					t.Error(err)
				}
				a.WriteNpy(context.Background(), io.Discard)
				a.FirstText(10)
			}
			a.Close()
		}
	})
}
