package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/cmd/msaccucmp/compat"
	"precision/dump/convert"
	"precision/testdata/workshop/dumptest"
)

const (
	uint8Type  = 4
	recordName = "Opdebug.Node_OpDebug.1.1.1630000000000005"
	opName     = "Mul.a.3.4.1630000000000000"
)

// putOverflow writes a record about task 3 on stream 4 and the dump of that
// operator.
func putOverflow(t *testing.T, dir, op string) {
	t.Helper()
	payload := make([]byte, 2048)
	binary.LittleEndian.PutUint64(payload[256+8:], 4)
	binary.LittleEndian.PutUint64(payload[256+16:], 3)
	binary.LittleEndian.PutUint64(payload[1024+16:], 0x20)
	record := dumptest.Dump{OpName: "Node_OpDebug", Outputs: []dumptest.Tensor{{Type: uint8Type, Format: dumptest.ND, Shape: []int64{2048}, Data: payload}}}
	tensor := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: []int64{2}, Data: dumptest.Floats([]float32{1, 2})}
	dump := dumptest.Dump{OpName: op, Inputs: []dumptest.Tensor{tensor}, Outputs: []dumptest.Tensor{tensor}}
	for name, d := range map[string]dumptest.Dump{recordName: record, opName: dump} {
		if err := d.Write(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// overflows runs the sub-command and returns its exit code, its log and the
// summary, if there is one.
func overflows(t *testing.T, dir, out string) (code int, log, summary string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), &stdout, &stderr, []string{"overflow", "-d", dir, "-out", out, "-n", "5"})
	files, _ := filepath.Glob(filepath.Join(out, "overflow_summary_*.txt"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		summary = string(text)
	}
	return code, stderr.String(), summary
}

// What cannot be written is told by the exit code, and ends neither the other
// files nor the summary.
func TestOverflowUnwritable(t *testing.T) {
	for _, blocked := range []string{recordName + ".output.0.json", opName + ".input.0.npy"} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		putOverflow(t, in, "scope/a")
		if err := os.MkdirAll(filepath.Join(out, blocked), 0o755); err != nil {
			t.Fatal(err)
		}
		code, log, summary := overflows(t, in, out)
		if code != convert.CodeWrite || !strings.Contains(summary, "[Mul] scope/a") {
			t.Errorf("%s: exit %d, summary %q\n%s", blocked, code, summary, log)
		}
		for _, name := range []string{recordName + ".output.0.json", opName + ".input.0.npy", opName + ".output.0.npy"} {
			if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.IsDir() != (name == blocked) {
				t.Errorf("%s: %s: %v", blocked, name, err)
			}
		}
	}
	dir := t.TempDir()
	putOverflow(t, dir, "scope/a")
	if code, log, _ := overflows(t, dir, filepath.Join(dir, opName)); code != compat.CodePath {
		t.Errorf("a file for a folder: exit %d\n%s", code, log)
	}
}

// Files of the same name in the folders of two devices keep apart.
func TestOverflowSameNames(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	putOverflow(t, filepath.Join(in, "0"), "first")
	putOverflow(t, filepath.Join(in, "1"), "second")
	code, log, summary := overflows(t, in, out)
	if code != convert.CodeExists || strings.Count(log, "would overwrite the results of") != 2 {
		t.Errorf("exit %d\n%s", code, log)
	}
	if !strings.Contains(summary, "[Mul] first") || !strings.Contains(summary, "[Mul] second") {
		t.Errorf("summary %q", summary)
	}
}
