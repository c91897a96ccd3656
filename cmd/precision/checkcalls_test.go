package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/torch"
)

// recordTensors writes a recording with tensors of y = relu(x·w) whose product has its
// second number off.
func recordTensors(t *testing.T, off float32) string {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "step0", "rank0", "dump_tensor_data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	save := func(name string, x ...float32) {
		var raw, file bytes.Buffer
		for _, v := range x {
			raw.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
		}
		if err := torch.Write(&file, dtype.Float32, []int64{2, 2}, &raw); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, name), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("x.pt", 1, 2, 3, -4)
	save("w.pt", 1, 0, 2, 1)
	save("y.pt", 5, 2+off, -5, -4)
	save("z.pt", 5, 2+off, 0, 0)
	tensor := func(name string) string {
		return `{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 2], "Max": 1, "Min": 0, "Mean": 0, "Norm": 0, "data_name": "` + name + `"}`
	}
	text := `{"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {
		"Torch.matmul.0.forward": {"input_args": [` + tensor("x.pt") + "," + tensor("w.pt") + `], "input_kwargs": {}, "output": [` + tensor("y.pt") + `]},
		"Functional.relu.0.forward": {"input_args": [` + tensor("y.pt") + `], "input_kwargs": {}, "output": [` + tensor("z.pt") + `]}}}`
	if err := os.WriteFile(filepath.Join(dir, "step0", "rank0", "dump.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// withoutTensors is a recording with the statistics of another one alone, which no input rules out.
func withoutTensors(t *testing.T, from string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rank0")
	text, err := os.ReadFile(filepath.Join(from, "step0", "rank0", "dump.json"))
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		text = regexp.MustCompile(`"Norm": 0, "data_name": "..pt"`).ReplaceAll(text, []byte(`"Norm": 1`))
		err = os.WriteFile(filepath.Join(dir, "dump.json"), bytes.Replace(text, []byte(`"tensor"`), []byte(`"statistics"`), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestCheckCalls: a recording is checked without a graph, the wrong call is named and
// not what it feeds; why tells of one call.
func TestCheckCalls(t *testing.T) {
	t.Setenv("LANG", "en_US.UTF-8")
	good, bad, out := recordTensors(t, 0), recordTensors(t, 0.5), t.TempDir()
	few, more := recordTensors(t, 0), strings.Builder{} // most functions of which are not known
	dump := filepath.Join(few, "step0", "rank0", "dump.json")
	recorded, err := os.ReadFile(dump)
	if err == nil {
		for i := range 165 {
			fmt.Fprintf(&more, `"Torch.unheard_of.%d.forward": {"input_args": [], "input_kwargs": {}, "output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 2], "Max": 1, "Min": 0, "Mean": 0, "Norm": 0, "data_name": "y.pt"}]},`, i)
		}
		err = os.WriteFile(dump, bytes.Replace(recorded, []byte(`"Torch.matmul`), []byte(more.String()+`"Torch.matmul`), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		want   []string
	}{
		{[]string{"check", good, "-out", out, "-gate"}, exitOK, []string{"2 of 2", "2 ok"}},
		{[]string{"check", few, "-out", out}, exitOK, []string{"2 of 167", "2 ok"}},
		{[]string{"check", few, "-out", out, "-gate"}, exitBelow, []string{"2 of 167", "2 ok"}},
		{[]string{"check", "-out", out, "-gate", bad}, exitBelow, []string{"1 ok, 0 suspect, 1 wrong", "Torch.matmul.0.forward:output:0", "expected 2, found 2.5"}},
		{[]string{"check", "-lt", bad, "-out", out, "-json", filepath.Join(out, "check.json")}, exitOK, []string{"1 wrong"}},
		{[]string{"why", "Torch.matmul.0.forward", "-lt", bad}, exitOK, []string{"wrong", "expected 2, found 2.5"}},
		{[]string{"why", "Torch.matmul.7.forward", "-lt", bad}, exitNoMatch, nil},
		{[]string{"check", withoutTensors(t, good), "-out", out}, exitNoMatch, []string{"only statistics were recorded"}},
		{[]string{"check", out}, exitUsage, nil},
		{[]string{"check", good, "-rt", good}, exitUsage, nil},
		{[]string{"check", good, "-lt", bad}, exitUsage, nil},
	} {
		status, stdout, stderr := precision(t, c.args...)
		if status != c.status {
			t.Errorf("%v: status %d, expected %d: %s%s", c.args, status, c.status, stdout, stderr)
		}
		for _, w := range c.want {
			if !strings.Contains(stdout, w) {
				t.Errorf("%v does not say %q:\n%s", c.args, w, stdout)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(out, "check.json"))
	if err != nil || !strings.Contains(string(text), `"op": "Torch.matmul.0.forward"`) || !strings.Contains(string(text), `"verdict": "wrong"`) {
		t.Errorf("the JSON does not name the call: %s, %v", text, err)
	}
	// What is wrong has its pictures: the elements as they are and as they should be.
	compact := strings.Join(strings.Fields(string(text)), "")
	for _, want := range []string{`"dtype":"float32","shape":[2,2]`, `"looks":{"tensor":["Torch.matmul.0.forward:output:0"]`, `"largest":{"row":[0],"index":[1],"index_left":[2.5],"index_right":[2]}`} {
		if !strings.Contains(compact, want) {
			t.Errorf("the JSON lacks %s:\n%s", want, text)
		}
	}
}
