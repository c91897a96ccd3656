package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"precision/cmd/msaccucmp/compat"
	"precision/testdata/workshop/dumptest"
)

// -p is for PyTorch recordings, and refused for whatever else there is to
// compare.
func TestPostProcessNeedsTorch(t *testing.T) {
	dir := t.TempDir()
	array := filepath.Join(dir, "a.npy")
	if err := dumptest.WriteNpy(array, "<f4", []int64{2}, dumptest.Floats([]float32{1, 2})); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"compare", "-m", array, "-g", array, "-p", "0"},
		{"compare", "-m", dir, "-g", dir, "-p", "1"},
		{"compare", "-m", dir, "-g", dir, "-f", array, "-map", "-p", "1"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), &stdout, &stderr, args); code != compat.CodeParameter {
			t.Errorf("%q: exit %d, want %d\n%s", args, code, compat.CodeParameter, stderr.String())
		}
	}
}
