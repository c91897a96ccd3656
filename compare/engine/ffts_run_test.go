package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump"
	"precision/graph/fusion"
	"precision/graph/read"
	"precision/testdata/workshop/dumptest"
)

// graphOp is an operator of a small graph: one output, named like the operator
// in the framework.
type graphOp struct {
	name, typ string
	inputs    []string
	layout    string
	shape     []int64
}

// openGraph writes a graph and reads its rules.
func openGraph(t *testing.T, ops ...graphOp) *fusion.Rules {
	t.Helper()
	type object = map[string]any
	var list []object
	for i, op := range ops {
		attr := func(key string, value object) object { return object{"key": key, "value": value} }
		list = append(list, object{
			"name": op.name, "type": op.typ, "id": i, "input": append([]string{}, op.inputs...),
			"attr": []object{attr("_datadump_original_op_names", object{"list": object{"s": []string{op.name}, "val_type": "VT_LIST_STRING"}})},
			"output_desc": []object{{"dtype": "DT_FLOAT", "layout": op.layout, "shape": object{"dim": op.shape}, "attr": []object{
				attr("_datadump_origin_name", object{"s": op.name}),
				attr("_datadump_origin_output_index", object{"i": 0}),
				attr("_datadump_origin_format", object{"s": op.layout}),
				attr("origin_format", object{"s": op.layout}),
				attr("origin_shape", object{"list": object{"i": op.shape, "val_type": "VT_LIST_INT"}}),
			}}},
		})
	}
	text, err := json.Marshal(object{"name": "model", "graph": []object{{"name": "net", "op": list}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "graph.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := openRules(path)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// sliceBytes is a dump whose header says that the output was cut.
func sliceBytes(d dumptest.Dump, count, axis int) []byte {
	cut := []int64{1, 1}
	cut[axis] = int64(count)
	value, _ := json.Marshal(map[string]any{"threadMode": false, "slice_instance_num": count, "outputCutList": [][]int64{cut}})
	d.Attr = string(value)
	return d.Bytes()
}

func ramp(n int, scale float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = scale * float32(1+i)
	}
	return v
}

// Two operators run in slices, the second fed by the first and by a weight.
func TestRunLendsToSlicedOperators(t *testing.T) {
	dir := t.TempDir()
	npu, golden := filepath.Join(dir, "npu"), filepath.Join(dir, "golden")
	if err := os.MkdirAll(npu, 0o755); err != nil {
		t.Fatal(err)
	}
	whole := ramp(8, 1) // (2, 4), cut on its last axis
	halves := [][]float32{{1, 2, 5, 6}, {3, 4, 7, 8}}
	for i, half := range halves {
		part := floats([]int64{2, 2}, half...)
		weight := floats([]int64{2, 4}, whole...)
		first := floats([]int64{2, 2}, halves[0]...)
		for name, d := range map[string]dumptest.Dump{
			"Relu.p": {OpName: "p", Inputs: []dumptest.Tensor{weight}, Outputs: []dumptest.Tensor{part}},
			"Mul.q":  {OpName: "q", Inputs: []dumptest.Tensor{first, weight}, Outputs: []dumptest.Tensor{part}},
		} {
			path := filepath.Join(npu, fmt.Sprintf("%s_lxslice%d.5.1.163000000000000%d.4.33.0.0", name, i, i))
			if err := os.WriteFile(path, sliceBytes(d, 2, 1), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, scale := range map[string]float32{"w": 1, "p": 2, "q": 1} {
		path := filepath.Join(golden, name+".0.1630000000000009.npy")
		if err := dumptest.WriteNpy(path, "<f4", []int64{2, 4}, dumptest.Floats(ramp(8, scale))); err != nil {
			t.Fatal(err)
		}
	}
	rules := openGraph(t,
		graphOp{"w", "Data", nil, "ND", shape(2, 4)},
		graphOp{"p", "Relu", []string{"w:0"}, "ND", shape(2, 4)},
		graphOp{"q", "Mul", []string{"p:0", "w:0"}, "ND", shape(2, 4)})
	for _, columns := range []bool{false, true} { // no place in the table may matter
		opt := Folders{Rules: rules, Sequence: columns, Options: Options{Numerics: metric.Reference, Overflow: columns}}
		var err error
		if opt.Left, err = dump.Scan(npu, dump.Options{Rules: true}); err != nil {
			t.Fatal(err)
		}
		if opt.Right, err = dump.Scan(golden, dump.Options{Rules: true}); err != nil {
			t.Fatal(err)
		}
		rows := map[string]result.Row{}
		var order []string
		out, err := Run(context.Background(), &opt, opt.Options, func(r *result.Row) error {
			rows[r.Tensor()] = *r
			order = append(order, r.Tensor())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"", "p:input:0", "p:output:0", "q:input:0", "q:input:1", "q:output:0"} // w has no dump
		if !slices.Equal(order, want) {
			t.Fatalf("%q, want %q", order, want)
		}
		// Output p is half of its golden array; that the slice at hand of q's
		// input fits nothing does not show.
		p, q := rows["p:output:0"], rows["q:input:0"]
		if got := q.Result().Text(metric.MaxAbsoluteError); !q.Compared || got != "8.000000" || shapeText(q.Shape) != shapeText(p.Shape) || len(q.Reasons) != len(p.Reasons) {
			t.Errorf("q:input:0: shape %v, largest error %s, reasons %v", q.Shape, got, q.Reasons)
		}
		for _, own := range []string{"p:input:0", "q:input:1", "q:output:0"} {
			r := rows[own]
			if got := r.Result().Text(metric.MaxAbsoluteError); !r.Compared || got != "0.000000" {
				t.Errorf("%s: largest error %s, reasons %v", own, got, r.Reasons)
			}
		}
		if out.Groups != 3 || faultOf(out.Failed) != FaultNoDump || out.Table.Compared() == 0 {
			t.Errorf("%+v", out)
		}
	}
}

// openRules reads a graph or rule file of any kind and derives its fusion rules.
func openRules(path string) (*fusion.Rules, error) {
	m, err := read.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	return fusion.New(m)
}
