package repl

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordedCalls: ls, ni and vc on recordings of calls.
func TestRecordedCalls(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	tensor := func(n string) string {
		return `{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3], "Max": ` + n + `, "Min": -1.5, "Mean": 0.25, "Norm": 3.0, "requires_grad": false}`
	}
	for side, eps := range map[string]string{"npu": "0.5", "gpu": "1e-05"} {
		folder := filepath.Join(side, "step0", "rank0")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		made := "2.5"
		if side == "gpu" {
			made = "4.25"
		}
		for name, text := range map[string]string{
			"dump.json": `{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {
				"Torch.exp.0.forward": {"input_args": [` + tensor("1.5") + `], "input_kwargs": {}, "output": [` + tensor("1.75") + `]},
				"Functional.layer_norm.0.forward": {"input_args": [` + tensor("1.75") + `, {"type": "float", "value": ` + eps + `}], "input_kwargs": {}, "output": [` + tensor(made) + `]}}}`,
			"stack.json": `{"0": [["Functional.layer_norm.0.forward"], ["File /net.py, line 12, in forward, \n h = norm(x)"]]}`,
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out, errs bytes.Buffer
	cfg := Config{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Lang: "en", ConfigDir: filepath.Join(dir, "config")}
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"ls npu", []string{"layer_norm", "exp"}},
		{"ls npu -t layer", []string{"Functional.layer_norm.0.forward", "/net.py:12: h = norm(x)", "1 call"}},
		{"ls npu -n nothing", []string{"no"}},
		{"ni layer_norm -r npu/step0", []string{"input.1", "0.5", "torch.float32", "(2, 3)", "Torch.exp.0.forward:0", "/net.py:12"}},
		{"vc -lt npu -rt gpu", []string{"the error begins at 1 operator", "input.1: 0.5 instead of 1e-05", "/net.py:12"}},
	} {
		out.Reset()
		cfg.Commands = c.command
		Run(context.Background(), cfg)
		for _, want := range c.want {
			if !strings.Contains(strings.ToLower(out.String()), strings.ToLower(want)) {
				t.Errorf("%s: %q is not in\n%s%s", c.command, want, &out, &errs)
			}
		}
	}
}
