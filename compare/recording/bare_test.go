package recording

import (
	"os"
	"path/filepath"
	"testing"
)

// A tree of dumps is known not to be a recording by one walk; a file or folder of any format in it, however deep, is reason to look.
func TestBare(t *testing.T) {
	const dump = "20260101000000/0/net/1/0/Conv2D.conv1.3.2.1700000000000000"
	for path, want := range map[string]bool{
		"": true,
		"20260101000000/0/net/1/0/Relu.relu.4.2.1700000000000001":                      true,
		"20260101000000/0/net/1/0/mapping.csv":                                         true,
		"golden/conv1.0.1700000000000000.npy":                                          true,
		"step0/rank0/dump.json":                                                        false,
		"step0/rank0/debug.json":                                                       false,
		"step0/rank0/dump_tensor_data/add.1.input.0.pt":                                false,
		"20260101000000/0/net/1/0/Conv2D.conv1.3.2.1700000000000000.csv":               false,
		"rank_0/Net/0/1/Conv2D.conv1.3.2.17.output.0.NCHW.npy":                         false,
		"rank_0/Net/0/1/statistic.csv":                                                 false,
		"0_1234/0/1_Linear/after/outtensor0.bin":                                       false,
		"a/before/intensor0.bin":                                                       false,
		"data/after/outtensor0":                                                        false,
		"worldsize1_global_rank0/gm/mm-aten.mm.default.OUTPUT.0.20250101000000000.npy": false,
	} {
		dir := t.TempDir()
		for _, file := range []string{dump, path} {
			if file == "" {
				continue
			}
			file = filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := bare(dir); got != want {
			t.Errorf("%s: %t, expected %t", path, got, want)
		}
	}
	if bare(t.TempDir()) || bare(filepath.Join(t.TempDir(), "none")) {
		t.Error("an empty folder, or none, tells nothing")
	}
}
