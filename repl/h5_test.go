package repl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/repl/workspace"
)

func TestH5Place(t *testing.T) {
	for path, want := range map[string][2]string{
		"/batch_norm/88/input/0":        {"88", "Input"},
		"/batch_norm/88/GRADS/7/weight": {"88", "Grads"},
		"/x/5/gradinputs/0":             {"5", "GradInputs"},
		"88":                            {"88", ""},
		"/conv2d/w":                     {"", ""},
		"":                              {"", ""},
	} {
		if id, kind := workspace.H5Place(path); id != want[0] || kind != want[1] {
			t.Errorf("%q: id %q and kind %q, want %q", path, id, kind, want)
		}
	}
}

// TestH5Array: whatever a dump calls its datasets, arrays stay in their folder.
func TestH5Array(t *testing.T) {
	for path, want := range map[string]string{
		"/batch_norm/88/input/0": "npu_h5_batch_norm_88_input_0",
		"/../../1/x.y:z":         "npu_h5_______1_x_y_z",
		`/a\b/1`:                 "npu_h5_a_b_1",
	} {
		if got := workspace.H5Array("npu", path); got != want {
			t.Errorf("%q becomes %q, want %q", path, got, want)
		}
	}
}

// TestH5Bad: a file that is no HDF5 is told of, and the other side is shown.
func TestH5Bad(t *testing.T) {
	cfg, out, errs := sampleConfig(t)
	for _, f := range []string{"pt/npu/a.h5", "pt/gpu/b.h5"} {
		path := filepath.Join("precision_data", filepath.FromSlash(f))
		data, err := os.ReadFile(filepath.Join(repoDir, "compare", "torch", "testdata", "full_gpu.h5"))
		if err != nil {
			t.Fatal(err)
		}
		if f == "pt/npu/a.h5" {
			data = data[:100]
		}
		os.MkdirAll(filepath.Dir(path), 0o700)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Commands = "ni 4; pt /Add/4/output/out"
	if code := Run(t.Context(), cfg); code != exitOK || strings.Count(errs.String(), "a.h5") != 1 || strings.Count(out.String(), "/Add/4/output/out") != 2 {
		t.Errorf("exit status %d, messages %s\n%s", code, errs, out)
	}
}
