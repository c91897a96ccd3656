package oracle_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// formSide is what one side computes of sum = x·w + r, in one kernel of the device whose attributes fusion
// lost, act = Gelu of that and out = Relu of that.
type formSide struct{ turned, alone, erf, relu bool }

const formSize = 24

func (s formSide) compute(x, w, r []float32) map[string][]float32 {
	out := map[string][]float32{"x": x, "w": w, "r": r}
	each := func(f func(i int) float64) []float32 {
		y := make([]float32, formSize*formSize)
		for i := range y {
			y[i] = float32(f(i))
		}
		return y
	}
	out["sum"] = each(func(i int) float64 {
		row, column, sum := i/formSize, i%formSize, 0.0
		for k := range formSize {
			at := k*formSize + column
			if s.turned {
				at = column*formSize + k
			}
			sum += float64(x[row*formSize+k]) * float64(w[at])
		}
		if !s.alone {
			sum += float64(r[i])
		}
		return sum
	})
	out["act"] = each(func(i int) float64 {
		v := float64(out["sum"][i])
		switch {
		case s.relu:
			return max(v, 0)
		case s.erf:
			return v / 2 * (1 + math.Erf(v/math.Sqrt2))
		}
		return v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
	})
	out["out"] = each(func(i int) float64 { return max(float64(out["act"][i]), 0) })
	return out
}

// What golden follows from is named where it is another form of the operator, or the operator without its
// second operand, and is not where the framework computed another function.
func TestGoldenForms(t *testing.T) {
	for name, c := range map[string]struct {
		device, golden formSide
		root           string
		kind           result.Kind // what is said, none of the two otherwise
		args           []string
	}{
		"erf":               {formSide{}, formSide{erf: true}, "act", result.GoldenForm, []string{"gelu-tanh", "gelu-erf"}},
		"tanh":              {formSide{erf: true}, formSide{}, "act", result.GoldenForm, []string{"gelu-erf", "gelu-tanh"}},
		"turned":            {formSide{}, formSide{turned: true}, "sum", result.GoldenForm, []string{"transposed -", "transposed x2"}},
		"without residual":  {formSide{}, formSide{alone: true}, "sum", result.GoldenAlone, nil},
		"another function":  {formSide{}, formSide{relu: true}, "act", "", nil},
		"the same function": {formSide{erf: true}, formSide{erf: true}, "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rng := rand.New(rand.NewPCG(5, 1))
			draw := func() []float32 {
				v := make([]float32, formSize*formSize)
				for i := range v {
					v[i] = float32(rng.NormFloat64() / 2)
				}
				return v
			}
			x, w, r := draw(), draw(), draw()
			shape := []int64{formSize, formSize}
			var b strings.Builder
			b.WriteString("graph { name: \"net\"\n")
			device := c.device.compute(x, w, r)
			desc := fmt.Sprintf("dtype: DT_FLOAT layout: \"ND\" shape { dim: %d dim: %d }", formSize, formSize)
			for id, o := range [][]string{{"x", "Data"}, {"w", "Const"}, {"r", "Data"}, {"sum", "MatMulV2", "x", "w", "r"}, {"act", "Gelu", "sum"}, {"out", "Relu", "act"}} {
				fmt.Fprintf(&b, " op { name: %q type: %q id: %d\n", o[0], o[1], id)
				if o[0] == "sum" {
					b.WriteString("  attr { key: \"sum_kernelname\" value { s: \"te_fused_op_mat_mul_add_0123456789abcdef_0__kernel0\" } }\n")
				}
				rec := dumptest.Dump{OpName: o[0], Time: 1}
				tensor := func(name string) dumptest.Tensor {
					return dumptest.Tensor{Type: int(dtype.Float32), Format: dumptest.ND, Shape: shape, Origin: shape, Data: dumptest.Floats(device[name])}
				}
				for _, in := range o[2:] {
					fmt.Fprintf(&b, "  input: %q input_desc { %s }\n", in+":0", desc)
					rec.Inputs = append(rec.Inputs, tensor(in))
				}
				fmt.Fprintf(&b, "  output_desc { %s attr { key: \"_datadump_origin_name\" value { s: %q } } } }\n", desc, o[0])
				rec.Outputs = append(rec.Outputs, tensor(o[0]))
				if len(o) > 2 {
					if err := rec.Write(filepath.Join(dir, "npu", fmt.Sprintf("%s.%s.%d.7.16147172617855%02d", o[1], o[0], id, id))); err != nil {
						t.Fatal(err)
					}
				}
			}
			b.WriteString("}\n")
			graph := filepath.Join(dir, "graph.txt")
			if err := os.WriteFile(graph, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			for name, v := range c.golden.compute(x, w, r) {
				if err := dumptest.WriteNpy(filepath.Join(dir, "golden", name+".0.1614717261785500.npy"), "<f4", shape, dumptest.Floats(v)); err != nil {
					t.Fatal(err)
				}
			}
			_, with := comparedIn(t, filepath.Join(dir, "npu"), filepath.Join(dir, "golden"), graph)
			if c.root == "" {
				if with.Verdict != verdict.Good {
					t.Errorf("%s, %d roots", with.Verdict, len(with.Roots))
				}
				return
			}
			kind, root := kindOf(with, c.root)
			if kind != verdict.RootDiffers || len(with.Roots) != 1 {
				t.Fatalf("%s is %q, %d roots", c.root, kind, len(with.Roots))
			}
			named := 0
			for _, why := range with.Why(root) {
				if why.Kind == c.kind && slices.Equal(why.Args, c.args) {
					named++
				} else if why.Kind == result.GoldenForm || why.Kind == result.GoldenAlone {
					t.Errorf("said: %v", why)
				}
			}
			if c.kind != "" && named != 1 {
				t.Errorf("%s is said %d times: %v", c.kind, named, with.Why(root))
			}
		})
	}
}
