package engine

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"precision/testdata/workshop/dumptest"
)

// TestPlainArrays compares two folders of arrays that a program saved under names
// of its own, with and without an index.
func TestPlainArrays(t *testing.T) {
	dir := t.TempDir()
	for side, images := range map[string]float32{"a": 1, "b": 2} {
		for name, v := range map[string]float32{"images.npy": images, "labels.npy": 5, "layer.conv1.0.npy": 3, "layer.conv1.1.npy": images, "only_" + side + ".npy": 1} {
			path := filepath.Join(dir, side, name)
			if err := dumptest.WriteNpy(path, "<f4", []int64{4}, dumptest.Floats([]float32{v, 1, 2, 3})); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "notes.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	run, err := Job{Left: filepath.Join(dir, "a"), Right: filepath.Join(dir, "b")}.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	equal := map[string]bool{}
	for i := range out.Table.Rows {
		if r := &out.Table.Rows[i]; r.Compared {
			equal[r.Tensor()] = r.Result().Facts.BitEqual
		}
	}
	want := map[string]bool{"images:output:0": false, "labels:output:0": true, "layer_conv1:output:0": true, "layer_conv1:output:1": false}
	if !maps.Equal(equal, want) {
		t.Errorf("compared %v, want %v", equal, want)
	}
}
