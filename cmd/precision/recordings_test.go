package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// recordCalls writes a recording of three calls whose second has the argument eps.
func recordCalls(t *testing.T, eps float64, off float64) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "step0", "proc7")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	tensor := func(v float64) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 4], "Max": %v, "Min": %v, "Mean": %v, "Norm": %v, "requires_grad": false}`, v, -v/2, v/8, 2*v)
	}
	call := func(name, in, out string) string {
		return fmt.Sprintf(`%q: {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, in, out)
	}
	calls := strings.Join([]string{
		call("Functional.linear.0.forward", tensor(1.5), tensor(2.25)),
		call("Functional.layer_norm.0.forward", tensor(2.25)+fmt.Sprintf(`, {"type": "float", "value": %v}`, eps), tensor(1.125+off)),
		call("Functional.gelu.0.forward", tensor(1.125+off), tensor(0.75+off)),
	}, ",\n")
	files := map[string]string{
		"dump.json":  `{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {` + calls + "}}",
		"stack.json": `{"0": [["Functional.layer_norm.0.forward"], ["File /train/net.py, line 7, in forward, \n x = self.norm(x)", "File /usr/lib/python3/site-packages/torch/module.py, line 3, in call, \n forward()", "File /train/main.py, line 30, in step, \n y = net(x)"]]}`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRecordings: recordings are known by their content; the summary, the table and
// the JSON name the call, the argument and the line of the program.
func TestRecordings(t *testing.T) {
	left, right, out := recordCalls(t, 0.5, 0.25), recordCalls(t, 1e-5, 0), t.TempDir()
	file := filepath.Join(out, "verdict.json")
	status, stdout, stderr := precision(t, "compare", "-lt", left, "-rt", filepath.Join(right, "step0", "proc7"), "-out", out, "-json", file, "-lang", "en")
	if status != exitOK {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"layer_norm Functional.layer_norm.0.forward, output 0", "argument input.1: 0.5 instead of 1e-05", "called at /train/net.py:7: x = self.norm(x)", "from /train/main.py:30: y = net(x)"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the summary does not say %q:\n%s", want, stdout)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var root struct{ Roots []struct{ Stack []string } }
	if err := json.Unmarshal(text, &root); err != nil || len(root.Roots) != 1 || len(root.Roots[0].Stack) != 2 {
		t.Errorf("the stack in the JSON is %v, %v", root, err)
	}
	var saved struct {
		Roots []struct {
			Op     string
			Source string
			Begins struct{ Place, Left, Right string }
		}
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatal(err)
	}
	if len(saved.Roots) != 1 || saved.Roots[0].Op != "Functional.layer_norm.0.forward" || saved.Roots[0].Begins.Place != "input.1" || saved.Roots[0].Source == "" {
		t.Errorf("roots %+v", saved.Roots)
	}
	tables, _ := filepath.Glob(filepath.Join(out, "result_*.csv"))
	if len(tables) != 1 {
		t.Fatalf("tables %v", tables)
	}
	table, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{",Place,Paired,LeftMax,", "Functional.layer_norm.0.forward:input:1", ",0.5,1e-05,"} {
		if !strings.Contains(string(table), want) {
			t.Errorf("the table has no %q", want)
		}
	}
	status, _, stderr = precision(t, "compare", "-lt", left, "-rt", out)
	if status != exitError || !strings.Contains(stderr, "dump.json") {
		t.Errorf("one recording: status %d, %s", status, stderr)
	}
	status, _, stderr = precision(t, "compare", "-lt", left, "-rt", right, "-g", "graph.txt")
	if status != exitUsage || !strings.Contains(stderr, "-g") {
		t.Errorf("with a graph: status %d, %s", status, stderr)
	}
}

// TestRecordingsMapped: -map takes a mapping file of msprobe; a bad one, and one for what
// is no recording, are errors.
func TestRecordingsMapped(t *testing.T) {
	left, right, _, _ := renamed(t, 0)
	out := t.TempDir()
	file := filepath.Join(out, "map.yaml")
	for content, want := range map[string]string{
		"- {ms_api: Mint.norm, pt_api: Functional.layer_norm}\n":                                      "good",
		"- {ms_api: Mint.norm, pt_api: Functional.layer_norm}\n- {ms_api: Mint.x, pt_api: Torch.x}\n": "1 of the 2 entries of " + file + " are unused: nothing on both sides matches Mint.x: Torch.x",
		"- {ms_api: Mint.norm}\n": file + ": line 1: found no ms_api or no pt_api",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stdout, stderr := precision(t, "compare", "-lt", left, "-rt", right, "-map", file, "-out", out, "-lang", "en")
		if !strings.Contains(strings.Join(strings.Fields(stdout+stderr), " "), want) {
			t.Errorf("%s gives no %q:\n%s%s", content, want, stdout, stderr)
		}
	}
	tables, err := filepath.Glob(filepath.Join(out, "result_*.csv"))
	if err != nil || len(tables) == 0 {
		t.Fatal("no table")
	}
	table, err := os.ReadFile(tables[0])
	if err != nil || !strings.Contains(string(table), "mapping") {
		t.Errorf("the table does not say mapping, %v", err)
	}
	if status, _, stderr := precision(t, "compare", "-lt", out, "-rt", out, "-map", file, "-out", out, "-lang", "en"); status != exitUsage || !strings.Contains(stderr, "needs recordings of calls, or named tensors, on both sides") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// renamed is a pair of recordings of which the left one has another name for a function, with a profile and a
// mapping file that say so.
func renamed(t *testing.T, off float64) (left, right, profile, mapping string) {
	t.Helper()
	left, right = recordCalls(t, 1e-5, off), recordCalls(t, 1e-5, 0)
	dump := filepath.Join(left, "step0", "proc7", "dump.json")
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	profile, mapping = filepath.Join(dir, "own.toml"), filepath.Join(dir, "map.yaml")
	for path, text := range map[string]string{
		dump:    strings.ReplaceAll(string(text), "Functional.layer_norm", "Mint.norm"),
		profile: "name = \"own\"\n[[map]]\nleft = \"Mint.norm\"\nright = \"Functional.layer_norm\"\n",
		mapping: "- {ms_api: Mint.norm, pt_api: Functional.layer_norm}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return left, right, profile, mapping
}

// TestJobMapped: a whole job pairs calls as a comparison of two recordings does, by a profile and by a mapping file.
func TestJobMapped(t *testing.T) {
	left, right, profile, mapping := renamed(t, 0)
	for _, args := range [][]string{{"-profile", profile}, {"-map", mapping}} {
		out := t.TempDir()
		code, _, stderr := precision(t, append([]string{"compare", left, right, "-all", "-out", out}, args...)...)
		tables, _ := filepath.Glob(filepath.Join(out, "tables", "*.csv"))
		if code != exitOK || len(tables) != 1 {
			t.Fatalf("%q: status %d, tables %q: %s", args, code, tables, stderr)
		}
		if table, err := os.ReadFile(tables[0]); err != nil || !strings.Contains(string(table), "mapping") {
			t.Errorf("%q: %v: the calls are not paired by a mapping:\n%s", args, err, table)
		}
	}
}

// TestShellRecordings: the shell compares recordings as the program does: with the calls that a profile says are
// the same, within the same memory, and with the same result saved.
func TestShellRecordings(t *testing.T) {
	left, right, profile, _ := renamed(t, 0.25)
	dir := t.TempDir()
	t.Chdir(dir)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 50))
	code, _, stderr := precision(t, "vc", "-lt", left, "-rt", right, "-profile", profile)
	if code != exitOK || debug.SetMemoryLimit(-1) == 1<<50 {
		t.Fatalf("vc ends with %d, the memory is bounded by %d: %s", code, debug.SetMemoryLimit(-1), stderr)
	}
	if code, _, stderr = precision(t, "compare", left, right, "-profile", profile, "-json", "own.json", "-out", dir); code != exitOK {
		t.Fatalf("compare ends with %d: %s", code, stderr)
	}
	saved, _ := filepath.Glob("precision_data/temp/vector_compare/*/result_*.json")
	if len(saved) != 1 {
		t.Fatalf("vc saved %q", saved)
	}
	var both [2]string
	for i, path := range append(saved, "own.json") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		both[i] = regexp.MustCompile(`"(?:time|crc32)": *"[^"]*"`).ReplaceAllString(string(text), "")
	}
	if both[0] != both[1] || !strings.Contains(both[0], "Mint.norm") {
		t.Errorf("vc saves\n%s, compare\n%s", both[0], both[1])
	}
}
