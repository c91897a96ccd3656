package compare

import (
	"context"
	"path/filepath"
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
	golden := "../testdata/frameworks/made/tfdbg/full_tensor"
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
	s, err := Job{Left: left, Right: golden}.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	j := verdict.Judge(out.Table, verdict.Options{})
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "net_add" {
		t.Errorf("%d roots", len(j.Roots))
	}
	if r := &j.Roots[0]; r.Certainty != verdict.Certain {
		t.Errorf("the root is %v, though the graph tells its inputs, and they agree", r.Certainty)
	}
	for _, op := range out.Table.Ops {
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
