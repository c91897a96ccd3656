package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/dump"
	"precision/internal/nd"
	"precision/testdata/workshop/dumptest"
)

// ruleDetail writes the detail of the only operator of a graph and returns the
// lines of its elements.
func ruleDetail(t *testing.T, op graphOp, mine dumptest.Tensor, write func(dir string) error) (lines []string, err error) {
	t.Helper()
	dir := t.TempDir()
	npu, golden, out := filepath.Join(dir, "npu"), filepath.Join(dir, "golden"), filepath.Join(dir, "out")
	d := dumptest.Dump{OpName: op.name, Outputs: []dumptest.Tensor{mine}}
	if err := d.Write(filepath.Join(npu, op.typ+"."+op.name+".1.2.1630000000000001")); err != nil {
		t.Fatal(err)
	}
	if err := write(golden); err != nil {
		t.Fatal(err)
	}
	opt := Folders{Rules: openGraph(t, op), Options: Options{Numerics: metric.Reference}}
	if opt.Left, err = dump.Scan(npu, dump.Options{Rules: true}); err != nil {
		t.Fatal(err)
	}
	if opt.Right, err = dump.Scan(golden, dump.Options{Rules: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := Detail(context.Background(), opt, DetailOptions{Op: op.name, TopN: 1, MaxLine: 10000}, out); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(out, op.name+"_output_0_0.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}

// Whatever order golden was saved in, both sides are in the order of the
// header, and equal tensors have no error.
func TestDetailRuleOrders(t *testing.T) {
	dims := shape(1, 3, 2, 4)
	values := ramp(24, 1)
	blocks, stored := dumptest.ToNC1HWC0(values, dims, 16)
	device := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.NC1HWC0, Shape: stored, Origin: dims, Data: dumptest.Floats(blocks)}
	nhwc, nhwcDims := dumptest.Transpose(values, dims, 0, 2, 3, 1)
	filter, filterDims := dumptest.ToFractalZ(values, dims, 16)
	hwcn, hwcnDims := dumptest.Transpose(values, dims, 2, 3, 1, 0)
	npy := func(shape []int64, v []float32) func(string) error {
		return func(dir string) error {
			return dumptest.WriteNpy(filepath.Join(dir, "op.0.1630000000000009.npy"), "<f4", shape, dumptest.Floats(v))
		}
	}
	for _, c := range []struct {
		name   string
		op     graphOp
		mine   dumptest.Tensor
		golden func(string) error
		axes   string
	}{
		{"NCHW", graphOp{"op", "Conv2D", nil, "NCHW", dims}, device, npy(dims, values), "N C H W"},
		{"NHWC", graphOp{"op", "Conv2D", nil, "NHWC", nhwcDims}, device, npy(nhwcDims, nhwc), "N C H W"},
		{"NHWC by the graph, NCHW by the data", graphOp{"op", "Conv2D", nil, "NHWC", nhwcDims}, device, npy(dims, values), "N C H W"},
		{"filter", graphOp{"op", "Conv2D", nil, "HWCN", hwcnDims},
			dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.FractalZ, Shape: filterDims, Origin: hwcnDims, Data: dumptest.Floats(filter)},
			npy(hwcnDims, hwcn), "H W C N"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, err := ruleDetail(t, c.op, c.mine, c.golden)
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) != 25 || !strings.HasPrefix(lines[0], "Index,"+c.axes+",") {
				t.Fatalf("%d lines, header %q", len(lines), lines[0])
			}
			for _, line := range lines[1:] {
				if !strings.HasSuffix(line, ",0.000000\t,0.000000\t") {
					t.Errorf("%q", line)
				}
			}
		})
	}
}

func TestDetailRuleShapes(t *testing.T) {
	mine := floats(shape(2, 3), 1, 2, 3, 4, 5, 6)
	for name, c := range map[string]struct {
		layout string
		shape  []int64
		code   Fault
	}{
		"fits":            {"ND", shape(2, 3), 0},
		"other elements":  {"ND", shape(2, 4), FaultShapes},
		"unknown layout":  {"NCWH", shape(2, 3), FaultLayout},
		"too few in mine": {"ND", shape(3, 3), FaultShapes},
	} {
		n, _ := nd.Count(c.shape...)
		_, err := ruleDetail(t, graphOp{"op", "Relu", nil, c.layout, c.shape}, mine, func(dir string) error {
			return dumptest.WriteNpy(filepath.Join(dir, "op.0.1630000000000009.npy"), "<f4", c.shape, dumptest.Floats(ramp(int(n), 1)))
		})
		if faultOf(err) != c.code {
			t.Errorf("%s: %v, want fault %d", name, err, c.code)
		}
	}
}

// Both sides can be arrays, of which the quantised one may be stored with its
// first axis fastest.
func TestDetailRuleQuantisedArrays(t *testing.T) {
	dir := t.TempDir()
	mine, golden, out := filepath.Join(dir, "mine"), filepath.Join(dir, "golden"), filepath.Join(dir, "out")
	name := "op.0.1630000000000009.npy"
	for _, side := range []string{mine, golden} {
		if err := dumptest.WriteNpy(filepath.Join(side, name), "<f4", shape(2, 3), dumptest.Floats(ramp(6, 1))); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(filepath.Join(mine, name))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(content), "'fortran_order': False,", "'fortran_order': True, ", 1)
	text = text[:len(text)-24] + string(dumptest.Floats([]float32{1, 4, 2, 5, 3, 6}))
	if err := os.WriteFile(filepath.Join(mine, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := Folders{Rules: openGraph(t, graphOp{"op", "Relu", nil, "NHWC", shape(2, 3)}), Options: Options{Numerics: metric.Reference}}
	if opt.Left, err = dump.Scan(mine, dump.Options{Rules: true}); err != nil {
		t.Fatal(err)
	}
	opt.Left.SetQuantised(true)
	if opt.Right, err = dump.Scan(golden, dump.Options{Rules: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := Detail(context.Background(), opt, DetailOptions{Op: "op", TopN: 1, MaxLine: 10000}, out); err != nil {
		t.Fatal(err)
	}
	summary, err := os.ReadFile(filepath.Join(out, "op_output_0_summary.txt"))
	if err != nil || !strings.Contains(string(summary), "TotalCount:6\n") || !strings.Contains(string(summary), "MaxAbsoluteError:0.000000\n") {
		t.Errorf("%s, %v", summary, err)
	}
}
