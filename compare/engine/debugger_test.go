package engine

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump"
	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// TestDebugger: what TensorFlow's debugger dumped is a golden side, and operators have the lines of the program
// that made them; one element that is another one is found.
func TestDebugger(t *testing.T) {
	golden := "../../testdata/frameworks/made/tfdbg/full_tensor"
	folder, err := dump.Scan(golden, dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	left := t.TempDir()
	for _, op := range folder.Ops {
		r, err := op.Newest().Open()
		if err != nil {
			t.Fatal(err)
		}
		o := &r.Outputs[0]
		b := make([]byte, o.Size)
		if _, err := r.ReadAt(b, o.Offset); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if op.Key == "net_add.0" {
			b[3] ^= 0x40 // the exponent of the first element
		}
		if o.Type != dtype.Float32 {
			continue
		}
		if err := dumptest.WriteNpy(filepath.Join(left, op.Newest().Name.File), "<f4", o.Shape, b); err != nil {
			t.Fatal(err)
		}
	}
	j, table := judgedTable(t, left, golden)
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "net_add" {
		t.Errorf("%d roots", len(j.Roots))
	}
	if r := &j.Roots[0]; r.Certainty != verdict.Certain {
		t.Errorf("the root is %v, though the graph tells its inputs, and they agree", r.Certainty)
	}
	for _, op := range table.Ops {
		if !strings.HasPrefix(op.Lines, "/home/user/train.py:") {
			t.Errorf("%s was made at %q", op.Name, op.Lines)
		}
		if op.Name == "net_add" && (op.Type != "BiasAdd" || len(op.Inputs) != 2 || op.Inputs[0] != result.Port{Op: "net_mm"}) {
			t.Errorf("%s is a %s of %v", op.Name, op.Type, op.Inputs)
		}
		if op.Name == "net_add" && !strings.Contains(op.Lines, ": h = tf.nn.bias_add(") {
			t.Errorf("%s was made at %q", op.Name, op.Lines)
		}
	}
}

// TestRecorder: beside the arrays of the kit's recorder stands how their graphs were made. With that a sum whose terms
// cancel to rounding accuses nobody; a wrong number is its operator's with it, by the line of the program, and bad without.
func TestRecorder(t *testing.T) {
	recorded := "../../testdata/frameworks/made/recorder/"
	judged := func(change func(left, right string)) (*verdict.Judged, *result.Table, []string) {
		t.Helper()
		left, right := filepath.Join(t.TempDir(), "left"), filepath.Join(t.TempDir(), "right")
		for dir, name := range map[string]string{left: "onednn", right: "golden"} {
			if err := os.CopyFS(dir, os.DirFS(recorded+name)); err != nil {
				t.Fatal(err)
			}
		}
		change(left, right)
		j, table := judgedTable(t, left, right)
		return j, table, table.Meta.Warnings
	}
	one := func(dir, pattern string) string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0]
	}
	alter := func(path string, change func(b []byte) []byte) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, change(b), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	rid := func(dirs ...string) {
		for _, dir := range dirs {
			if err := os.Remove(one(dir, "precision_recorder.*")); err != nil {
				t.Fatal(err)
			}
		}
	}
	wrong := func(left string) {
		alter(one(left, "gradient_tape_net_scores_MatMul_1.*"), func(b []byte) []byte { b[len(b)-1] ^= 0x40; return b })
	}

	if j, table, _ := judged(func(_, _ string) {}); j.Verdict != verdict.Good || len(j.Premises) != 1 || j.Premises[0].Reason.Kind != result.Cancelled {
		t.Errorf("two libraries: %v, %v", j.Verdict, j.Premises)
	} else if slices.ContainsFunc(table.Ops, func(op result.Operator) bool { return strings.HasPrefix(op.Name, "precision_recorder") }) {
		t.Error("the graph is taken for an operator")
	}
	if j, _, _ := judged(func(left, _ string) { rid(left) }); j.Verdict != verdict.Good {
		t.Errorf("two libraries, one graph: %v", j.Verdict)
	}
	if j, _, _ := judged(func(left, right string) { rid(left, right) }); j.Verdict != verdict.Bad {
		t.Errorf("two libraries, no graph: %v", j.Verdict)
	}
	j, table, _ := judged(func(left, _ string) { wrong(left) })
	if j.Verdict != verdict.Bad || len(j.Roots) != 1 || j.Roots[0].Certainty != verdict.Certain {
		t.Fatalf("wrong numbers: %v, %v", j.Verdict, j.Roots)
	}
	if op := j.Operators[j.Roots[0].Operator].Op; op.Name != "gradient_tape_net_scores_MatMul_1" || op.Type != "BatchMatMulV2" || !strings.Contains(op.Lines, "/home/user/train.py:") ||
		!strings.Contains(op.Lines, ": g = tape.gradient(loss, bias)") {
		t.Errorf("wrong numbers of %s, a %s of %q in a table of %d", op.Name, op.Type, op.Lines, len(table.Ops))
	}
	if j, _, _ := judged(func(left, right string) { wrong(left); rid(left, right) }); j.Verdict != verdict.Bad {
		t.Errorf("wrong numbers, no graph: %v", j.Verdict)
	}
	for name, c := range map[string]struct {
		change func([]byte) []byte
		want   string
	}{
		"cut":     {func(b []byte) []byte { return b[:len(b)/2] }, "bytes of elements, expected"},
		"changed": {func(b []byte) []byte { b[len(b)/2] ^= 4; return b }, "the checksum of a record"},
		"other":   {func(b []byte) []byte { return bytes.Replace(b, []byte("|u1"), []byte("|i1"), 1) }, "found int8"},
		"empty":   {func([]byte) []byte { return nil }, "the file has 0 bytes"},
	} {
		path := ""
		j, _, warnings := judged(func(left, right string) {
			rid(right)
			path = one(left, "precision_recorder.*")
			alter(path, c.change)
			wrong(left)
		})
		if len(j.Damaged) != 1 || j.Damaged[0].File != path {
			t.Errorf("%s: damaged %v", name, j.Damaged)
		}
		if j.Verdict != verdict.Bad || !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, path) && strings.Contains(w, c.want) }) {
			t.Errorf("%s: %v, %q", name, j.Verdict, warnings)
		}
	}
}

// judgedTable compares two folders and judges the table.
func judgedTable(t *testing.T, left, right string) (*verdict.Judged, *result.Table) {
	t.Helper()
	s, err := Job{Left: left, Right: right}.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(out.Table, verdict.Options{}), out.Table
}
