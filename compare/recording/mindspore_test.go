package recording_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"testing"

	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/dump/npy"
)

// wrote writes the tensors of a kernel of MindSpore as its own recorder does, input by input and
// output by output; a nil one was not recorded.
func wrote(t *testing.T, dir, typ, name string, time int, inputs, outputs [][]float32) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for side, list := range [][][]float32{inputs, outputs} {
		for i, values := range list {
			if values == nil {
				continue
			}
			b, err := npy.AppendHeader(nil, dtype.Float32, []int64{int64(len(values))})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
			}
			file := fmt.Sprintf("%s/%s.%s.0.0.%d.%s.%d.DefaultFormat.Float32.npy", dir, typ, name, time+10*side+i, []string{"input", "output"}[side], i)
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestStates: a step of training with its parameters. What an optimizer left and what the parameters hold
// behind it follows from a wrong product, whatever was in buffers that nobody fills; a kernel whose first
// input was not recorded follows, too, and a parameter that nothing else tells of is a root.
func TestStates(t *testing.T) {
	step := func(dir string, scale, frozen, garbage float32) string {
		dir += "/rank_0/Net/0/0"
		x, w := []float32{1, 2, 3, 4, 5}, []float32{2, 1, 4, 3, 7}
		y, g, after := make([]float32, 5), make([]float32, 5), make([]float32, 5)
		for i := range x {
			y[i] = scale * x[i] * w[i]
			g[i] = y[i] * 0.5
			after[i] = w[i] - 0.1*g[i]
		}
		wrote(t, dir, "Mul", "Default_Mul-op0", 1000, [][]float32{x, w}, [][]float32{y})
		wrote(t, dir, "Scale", "Gradients_Scale-op0", 2000, [][]float32{nil, {0.5}}, [][]float32{g})
		wrote(t, dir, "Momentum", "Default_opt-op0", 3000, [][]float32{after, nil, nil, g}, [][]float32{{garbage, 2, garbage, 4, 1}})
		wrote(t, dir, "Parameter", "model_w", 100, nil, [][]float32{after})
		wrote(t, dir, "Parameter", "model_frozen", 110, nil, [][]float32{{1, frozen, 2, 3, 9}})
		return dir
	}
	golden := step(t.TempDir(), 1, 4, 0.25)
	j := judged(t, step(t.TempDir(), 1, 4, 7e30), golden)
	if len(j.Roots) > 0 || j.Verdict != verdict.Good {
		t.Errorf("clean: %s, %+v", j.Verdict, j.Roots)
	}
	j = judged(t, step(t.TempDir(), 1.5, 5, 7e30), golden)
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "Default_Mul-op0" {
		t.Errorf("product: %s, %+v", j.Verdict, j.Roots)
	}
	j = judged(t, step(t.TempDir(), 1, 5, 0.25), golden)
	if len(j.Roots) != 1 || j.Operators[j.Roots[0].Operator].Op.Name != "model_frozen" {
		t.Errorf("parameter: %s, %+v", j.Verdict, j.Roots)
	}
}
