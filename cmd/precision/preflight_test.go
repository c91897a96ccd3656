package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"precision/testdata/workshop/dumptest"
)

// runIn runs the program and returns what it printed, errors included, and its status.
func runIn(args ...string) (string, int) {
	var out bytes.Buffer
	code := execute(context.Background(), env{stdout: &out, stderr: &out}, args)
	return out.String(), code
}

func writeAll(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPreflight(t *testing.T) {
	t.Chdir(t.TempDir())
	var gpu, npu strings.Builder
	for i := range 100 {
		v := 1 + 4*math.Exp(-float64(i)/20)
		fmt.Fprintf(&gpu, "step %d, loss %.4f\n", i, v)
		if i > 30 {
			v *= 1.5
		}
		fmt.Fprintf(&npu, "step %d, loss %.4f\n", i, v)
	}
	writeAll(t, map[string]string{
		"a/x": "1", "a/y": "2", "b/x": "1", "b/y": "3", "gpu.log": gpu.String(), "npu.log": npu.String(),
		"gpu.yaml": "lr: 1e-3\n", "npu.sh": "python t.py --learning-rate 0.001\n", "odd.txt": "nothing\n", "none.md5": "",
		"both.log": regexp.MustCompile(`, loss (\S+)`).ReplaceAllString(gpu.String(), ", loss $1, grad_norm $1"), "norm.log": strings.ReplaceAll(gpu.String(), "loss", "grad_norm"), "zero.log": "step 1, loss 0\nstep 2, loss 0\n",
		"hole.log": strings.Join(slices.Delete(strings.SplitAfter(gpu.String(), "\n"), 40, 70), ""),
		"cut.log":  gpu.String()[:gpu.Len()-9], "end.log": gpu.String()[:gpu.Len()-len("step 99, loss 1.0284\n")],
	})
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"manifest a -out a.txt", "2 files, 2 bytes", exitOK},
		{"manifest b -out b.txt -hash md5,sha256", "2 files, 2 bytes", exitOK},
		{"diff a.txt b.txt", "On both sides, with different content:\n  y  1 byte", exitBelow},
		{"diff a.txt a.txt -json -", `"differs": false`, exitOK},
		{"diff gpu.yaml npu.sh", "the same: 1 key ", exitOK},
		{"diff gpu.log npu.log -html c.html -json c.json", "diverges at step 31", exitBelow},
		{"diff gpu.log gpu.log", "together", exitOK},
		{"diff gpu.log gpu.log -gate=strict", "together", exitOK},
		{"diff gpu.log cut.log", "its last line has no end (step 99, los", exitOK},
		{"diff gpu.log cut.log -gate=strict", "Gate             fails", exitBelow},
		{"diff gpu.log end.log -gate", "together", exitOK},
		{"diff gpu.log end.log -gate=strict", "Gate             fails", exitBelow},
		{"diff gpu.log npu.log -pattern loss=nothing(x)", "found none of loss", exitError},
		{"diff gpu.log npu.sh", "say what they are with -as", exitUsage},
		{"diff odd.txt odd.txt", "odd.txt: begins with \"nothing\\n\", expected a manifest", exitUsage},
		{"diff a.txt b.txt -html c.html", "On both sides, with different content", exitBelow},
		{"diff gpu.yaml npu.sh -html c.html", "the same: 1 key ", exitOK},
		{"diff gpu.yaml npu.sh -html gpu.yaml", "is an input too", exitUsage},
		{"diff gpu.yaml npu.sh -json gpu.yaml", "is an input too", exitUsage},
		{"diff gpu.yaml npu.sh -format xml", "expected one of", exitUsage},
		{"diff gpu.yaml gpu.yaml -ignore *", "nothing to compare: no value", exitBelow},
		{"diff none.md5 none.md5 -as manifest", "not proven to be the same: 0 of 0", exitBelow},
		{"diff both.log norm.log", "inconclusive: loss is in one of the two logs only", exitBelow},
		{"diff zero.log zero.log", "inconclusive: what the logs have in common", exitBelow},
		{"diff gpu.log hole.log", "inconclusive: loss is in both logs over 70 of 100 steps", exitBelow},
		{"diff gpu.yaml", "expected two files", exitUsage},
		{"manifest", "expected one folder", exitUsage},
		{"manifest gpu.log", "expected a folder", exitError},
		{"other", "expected manifest or diff", exitUsage},
		{"", "choose one", exitUsage},
	} {
		if got, code := runIn(append([]string{"-lang", "en", "preflight"}, strings.Fields(c.args)...)...); code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%s: exit %d, want %d with %q\n%s", c.args, code, c.code, c.want, got)
		}
	}
	for _, name := range []string{"a.txt.journal", "b.txt.journal"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is left behind", name)
		}
	}
}

// TestPreflightWeights: two checkpoints are compared as compare does; they differ if they are not the same.
func TestPreflightWeights(t *testing.T) {
	whole := map[string][]float32{"a": {1, 2}, "b": {3, 4}, "c": {5, 6}}
	less, nought := maps.Clone(whole), map[string][]float32{"a": {0, 0}, "b": {0, 0}, "c": {0, 0}}
	delete(less, "b")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name+".safetensors") }
	for name, of := range map[string]map[string][]float32{"whole": whole, "less": less, "zero": nought, "zeros": nought} {
		writeSafetensors(t, at(name), of)
	}
	a, b := filepath.Join("..", "..", "examples", "rollout", "train.safetensors"), filepath.Join("..", "..", "examples", "rollout", "rollout.safetensors")
	trained := filepath.Join("..", "..", "dump", "checkpoint", "testdata", "trained", "dcp")
	for _, c := range []struct {
		left, right string
		code        int
		want        string
	}{{a, b, exitBelow, "model.layers.0.mlp.gate_proj.weight"}, {trained, filepath.Join(trained, "whole.pt"), exitOK, "3 of 3 tensors"},
		{at("whole"), at("less"), exitBelow, "not recorded or without a verdict: b:output:0"}, {at("less"), at("whole"), exitBelow, "not recorded or without a verdict: b:output:0"},
		{at("zero"), at("zeros"), exitBelow, "inconclusive"}} {
		code, out, errs := precision(t, "preflight", "diff", c.left, c.right)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d\n%s%s", c.left, code, out, errs)
		}
	}
}

// writeSafetensors writes tensors of float32, each of one axis.
func writeSafetensors(t *testing.T, path string, tensors map[string][]float32) {
	t.Helper()
	header := map[string]any{}
	var data []byte
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		from := len(data)
		data = append(data, dumptest.Floats(tensors[name])...)
		header[name] = map[string]any{"dtype": "F32", "shape": []int{len(tensors[name])}, "data_offsets": []int{from, len(data)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, data), 0o600); err != nil {
		t.Fatal(err)
	}
}
