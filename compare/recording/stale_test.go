package recording_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
)

func staleOf(t *testing.T, left, right string) (list []string) {
	j := judged(t, left, right)
	for i := range j.Table.Rows {
		for _, w := range j.Table.Rows[i].Reasons {
			if w.Kind == result.StaleFile || w.Kind == result.StaleValue {
				list = append(list, fmt.Sprint(w.Args))
			}
		}
	}
	return list
}

// TestStaleNone: no file of any recording contradicts what was recorded of it.
func TestStaleNone(t *testing.T) {
	dirs, _ := filepath.Glob(real + "*/golden")
	for _, dir := range dirs {
		for _, side := range []string{dir, filepath.Dir(dir) + "/target"} {
			if _, err := os.Stat(side); err != nil || strings.Contains(side, "pt_layouts") {
				continue
			}
			if list := staleOf(t, side, side); len(list) > 0 {
				t.Errorf("%s: %d, first %s", side, len(list), list[0])
			}
		}
	}
	if len(dirs) == 0 {
		t.Skip("no recordings here")
	}
}

// TestStale: files with the recorded extremes and another Mean, Norm or checksum are told.
func TestStale(t *testing.T) {
	write := func(dtype string, mean, norm float64, sum string) string {
		leaf := map[string]any{"type": "torch.Tensor", "dtype": dtype, "shape": []int{4}, "Max": 4, "Min": 1, "Mean": mean, "Norm": norm, "data_name": "Functional.gelu.0.forward.output.0.npy"}
		if sum != "" {
			leaf["md5"] = sum
		}
		text, err := json.Marshal(leaf)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		from := arrays(t, map[string][]float32{"Functional.gelu.0.forward.output.0": {1, 2, 3, 4}})
		if err := os.Rename(from, filepath.Join(dir, "dump_tensor_data")); err != nil {
			t.Fatal(err)
		}
		dump := `{"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {"Functional.gelu.0.forward": {"input_args": [], "input_kwargs": {}, "output": [` + string(text) + "]}}}"
		if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(dump), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	right := write("torch.float32", 2.5, 5.477225575, "")
	for dtype, damaged := range map[string]int{"torch.float32": 0, "torch.bfloat16": 0, "torch.float64": 1} { // a file may be wider, not narrower
		if j := judged(t, write(dtype, 2.5, 5.4772258, ""), right); len(j.Damaged) != damaged {
			t.Errorf("%s recorded, a file of float32: damaged %+v", dtype, j.Damaged)
		}
	}
	for _, c := range []struct {
		mean, norm float64
		sum        string
		want       []string
	}{
		{2.5, 5.4772258, "", nil},
		{2.5, 5.5, "", []string{"Norm"}},
		{2.51, 5.4772258, "", []string{"Mean"}},
		{2.5, 5.4772258, "00000001", []string{"md5"}},
	} {
		var got []string
		for _, s := range staleOf(t, write("torch.float32", c.mean, c.norm, c.sum), right) {
			got = append(got, strings.Fields(s)[1])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("Mean %v, Norm %v, md5 %s: found %v, expected %v", c.mean, c.norm, c.sum, got, c.want)
		}
	}
}
