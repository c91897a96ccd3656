package dump

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/npy"
)

const made = "../testdata/frameworks/made"

// TestDebugger: what TensorFlow's debugger dumped is what its own reader reads, with the lines of the program.
func TestDebugger(t *testing.T) {
	var expected struct{ Debugger map[string][][]float64 }
	text, err := os.ReadFile(made + "/expected.json")
	if err == nil {
		err = json.Unmarshal(text, &expected)
	}
	if err != nil {
		t.Fatal(err)
	}
	found, _, err := Resolve(made + "/tfdbg/full_tensor")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Scan(found, Options{})
	if err != nil || !f.Numpy || f.Device() {
		t.Fatal(err)
	}
	if len(f.Ops) != len(expected.Debugger) {
		t.Errorf("%d outputs, want %d", len(f.Ops), len(expected.Debugger))
	}
	for output, runs := range expected.Debugger {
		i := strings.LastIndexByte(output, ':')
		op := f.Output(output[:i], int(output[i+1]-'0'))
		if op == nil || len(op.Files) != len(runs) {
			t.Errorf("%s: %v, want %d files", output, op, len(runs))
			continue
		}
		for k := range op.Files {
			r, err := op.Files[k].Open()
			if err != nil {
				t.Error(err)
				continue
			}
			o := &r.Outputs[0]
			b := make([]byte, o.Size)
			if _, err := r.ReadAt(b, o.Offset); err != nil {
				t.Error(err)
			}
			got := make([]float64, o.Elements())
			dtype.Widen64(o.Type, got, b)
			r.Close()
			for j, v := range got {
				if len(got) != len(runs[k]) || math.Float64bits(v) != math.Float64bits(runs[k][j]) {
					t.Errorf("%s, run %d: %v, want %v", output, k, got, runs[k])
					break
				}
			}
		}
	}
	lines := f.Lines("net_mm") // as names of dumps are spelt, too
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "/home/user/train.py:") || !strings.Contains(lines[0], "tf.matmul(x, w") {
		t.Errorf("net/mm was made at %q", lines)
	}
	if f.Lines("no/such") != nil {
		t.Error("an operator that is not there has lines")
	}
}

// TestRecorded: what the recorder says of graphs is known of runs in a loop, too, and past operators that hand on what
// they get; the arrays are what they are without it.
func TestRecorded(t *testing.T) {
	dir := t.TempDir()
	var events []byte
	for _, end := range []string{".source_files", ".stack_frames", ".graphs"} {
		b, err := os.ReadFile(made + "/tfdbg/full_tensor/tfdbg_events.1700000000.host" + end)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, b...)
	}
	write := func(name string, typ dtype.Type, shape []int64, b []byte) {
		t.Helper()
		var out bytes.Buffer
		err := npy.Write(&out, typ, shape, b)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("precision_recorder.0.1700000000000000.npy", dtype.Uint8, []int64{int64(len(events))}, events)
	for i, name := range []string{"net_mm", "net_add", "while_mul--body-0", "while_Sum--body-0", "while_mul"} {
		write(fmt.Sprintf("%s.0.170000000000000%d.npy", name, i), dtype.Float32, []int64{1}, make([]byte, 4))
	}
	f, err := Scan(dir, Options{})
	if err != nil || len(f.Ops) != 5 || len(f.Warnings) > 0 {
		t.Fatal(f, err)
	}
	debugged, err := Scan(made+"/tfdbg/full_tensor", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"net_mm", "net_add"} {
		typ, inputs := f.Made(op)
		if want, from := debugged.Made(op); typ != want || typ == "" || !slices.Equal(inputs, from) || !slices.Equal(f.Lines(op), debugged.Lines(op)) || len(f.Lines(op)) == 0 {
			t.Errorf("%s is a %s of %v, made at %q", op, typ, inputs, f.Lines(op))
		}
	}
	for op, want := range map[string]string{"while_mul--body-0": "Mul [{while_Sum--body-0 0} {while_Cast--body-0 0}]", "while_mul": "Mul [{while_Sum 0} {while_Cast 0}]", "none--body-0": " []"} {
		if typ, inputs := f.Made(op); fmt.Sprint(typ, " ", inputs) != want {
			t.Errorf("%s is a %s of %v, expected %s", op, typ, inputs, want)
		}
	}
}

// TestDebuggerCounts: modes without values tell where NaN begins.
func TestDebuggerCounts(t *testing.T) {
	var expected struct {
		Counts [2]int `json:"not_finite"`
	}
	text, err := os.ReadFile(made + "/expected.json")
	if err == nil {
		err = json.Unmarshal(text, &expected)
	}
	if err != nil || expected.Counts[0] == 0 || expected.Counts[1] == 0 {
		t.Fatal(err, expected)
	}
	counts := fmt.Sprintf("%d NaN and %d infinities", expected.Counts[0], expected.Counts[1])
	for mode, want := range map[string]string{"full_health": "first net/log:0 with " + counts + " (/home/user/train.py:", "curt_health": "first net/log:0 (/home/user/train.py:"} {
		_, err := Scan(filepath.Join(made, "tfdbg", mode), Options{})
		if err == nil || !strings.Contains(err.Error(), strings.ToUpper(mode)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// TestFirstDebugger: what the debugger of TensorFlow 1 wrote is told as that, with what reads it.
func TestFirstDebugger(t *testing.T) {
	root := filepath.Join(t.TempDir(), "[x]")
	run := filepath.Join(root, "run_1700000000000000_140")
	device := filepath.Join(run, "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0", "net")
	if err := os.MkdirAll(device, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(device, "mm_0_DebugIdentity_1700000000000000"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(made, "tfdbg1") // by TensorFlow 1.15.0
	for _, dir := range []string{root, run, real, filepath.Join(real, "run_1700000000000000_0")} {
		if _, _, err := Resolve(dir); err == nil || !strings.Contains(err.Error(), "precision tf_dump") || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, _, err := Resolve(device); err == nil || strings.Contains(err.Error(), "tf_dump") {
		t.Errorf("%v", err)
	}
}

// TestDebuggerDamaged: a file that was cut is read up to there, and the place is named.
func TestDebuggerDamaged(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(made+"/tfdbg/full_tensor")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "tfdbg_events.1700000000.host.graph_execution_traces")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	full, err := Scan(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"changed": func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
	} {
		if err := os.WriteFile(path, change(append([]byte(nil), whole...)), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Scan(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		told := false
		for _, w := range f.Warnings {
			told = told || w.Path == path && strings.Contains(w.String(), "offset ")
		}
		if len(f.Ops) >= len(full.Ops) || len(f.Ops) < 5 || !told {
			t.Errorf("%s: %d of %d outputs, %v", name, len(f.Ops), len(full.Ops), f.Warnings)
		}
	}
}
