package oracle

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"precision/dump"
	"precision/dump/dtype"
	"precision/graph"
	"precision/graph/fusion"
	"precision/graph/read"
	"precision/testdata/workshop/dumptest"
)

const networkSize = 4096

// network is a chain of three operators on some devices: add = x + c, relu, mul = relu·relu,
// and an all-reduce of that. Fault changes what a device records.
func network(t *testing.T, devices int, golden bool, fault func(device int, op string, y []float32)) (Job, *graph.Model) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("graph { name: \"net\"\n")
	op := func(id int, name, typ string, inputs ...string) {
		fmt.Fprintf(&b, " op { name: %q type: %q id: %d\n", name, typ, id)
		for _, in := range inputs {
			fmt.Fprintf(&b, " input: %q input_desc { dtype: DT_FLOAT16 layout: \"ND\" }\n", in+":0")
		}
		fmt.Fprintf(&b, " output_desc { dtype: DT_FLOAT16 layout: \"ND\" attr { key: \"_datadump_origin_name\" value { s: %q } } } }\n", name)
	}
	op(0, "x", "Data")
	op(1, "c", "Const")
	op(2, "add", "Add", "x", "c")
	op(3, "relu", "Relu", "add")
	op(4, "mul", "Mul", "relu", "relu")
	op(5, "reduce", "HcomAllReduce", "mul")
	b.WriteString("}\n")
	m, err := read.Read(t.Context(), strings.NewReader(b.String()), "graph.txt")
	if err != nil {
		t.Fatal(err)
	}
	p := precisionFor(dtype.Float16)
	shape := []int64{networkSize}
	tensor := func(v []float32) dumptest.Tensor {
		return dumptest.Tensor{Type: int(dtype.Float16), Format: 2, Shape: shape, Origin: shape, Data: dumptest.Halves(v)}
	}
	each := func(f func(i int) float64) []float32 {
		y := make([]float32, networkSize)
		for i := range y {
			y[i] = float32(p.Round(f(i)))
		}
		return y
	}
	type values map[string][]float32
	all := make([]values, devices)
	for d := range all {
		v := values{"x": each(func(i int) float64 { return math.Sin(float64(i*7+d*3)) * 2 }), "c": each(func(i int) float64 { return math.Cos(float64(i)) })}
		spoilt := func(name string, y []float32) {
			if v[name] = y; fault != nil {
				fault(d, name, y)
			}
		}
		spoilt("add", each(func(i int) float64 { return float64(v["x"][i]) + float64(v["c"][i]) }))
		spoilt("relu", each(func(i int) float64 { return max(float64(v["add"][i]), 0) }))
		spoilt("mul", each(func(i int) float64 { return float64(v["relu"][i]) * float64(v["relu"][i]) }))
		all[d] = v
	}
	sum := each(func(i int) float64 {
		s := 0.0
		for d := range all {
			s += float64(all[d]["mul"][i])
		}
		return s
	})
	var job Job
	for d, v := range all {
		v["reduce"] = append([]float32{}, sum...)
		if fault != nil {
			fault(d, "reduce", v["reduce"])
		}
		folder := filepath.Join(dir, "20260101000000", fmt.Sprint(d), "net", "1", "0")
		for i, o := range [][]string{{"Add", "add", "x", "c"}, {"Relu", "relu", "add"}, {"Mul", "mul", "relu", "relu"}, {"HcomAllReduce", "reduce", "mul"}} {
			rec := dumptest.Dump{OpName: o[1], Time: 1, Outputs: []dumptest.Tensor{tensor(v[o[1]])}}
			for _, in := range o[2:] {
				rec.Inputs = append(rec.Inputs, tensor(v[in]))
			}
			if err := rec.Write(filepath.Join(folder, fmt.Sprintf("%s.%s.%d.7.16147172617855%02d", o[0], o[1], i, i))); err != nil {
				t.Fatal(err)
			}
		}
		f, err := dump.Scan(folder, dump.Options{Rules: true})
		if err != nil {
			t.Fatal(err)
		}
		job.Devices = append(job.Devices, DeviceOf(f))
	}
	job.Graph = m
	if golden {
		folder := filepath.Join(dir, "golden")
		x, c := all[0]["x"], all[0]["c"]
		exact := map[string]func(i int) float64{"x": func(i int) float64 { return float64(x[i]) }, "c": func(i int) float64 { return float64(c[i]) }}
		exact["add"] = func(i int) float64 { return float64(x[i]) + float64(c[i]) }
		exact["relu"] = func(i int) float64 { return max(exact["add"](i), 0) }
		exact["mul"] = func(i int) float64 { return exact["relu"](i) * exact["relu"](i) }
		for name, f := range exact {
			v := make([]float32, networkSize)
			for i := range v {
				v[i] = float32(f(i))
			}
			if err := dumptest.WriteNpy(filepath.Join(folder, name+".0.1614717261785500.npy"), "<f4", shape, dumptest.Floats(v)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := dump.Scan(folder, dump.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rules, err := fusion.New(m)
		if err != nil {
			t.Fatal(err)
		}
		job.Golden = &Golden{Folder: f, Rules: rules}
	}
	return job, m
}

func verdictsOf(f []Finding) map[string]Verdict {
	out := map[string]Verdict{}
	for i := range f {
		out[fmt.Sprintf("%d %s", f[i].Rank, f[i].Op)] = f[i].Verdict
	}
	return out
}

// TestNetwork blames the operator that is wrong, and none that it feeds.
func TestNetwork(t *testing.T) {
	job, _ := network(t, 1, false, nil)
	found, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := verdictsOf(found), map[string]Verdict{"-1 add": OK, "-1 relu": OK, "-1 mul": OK, "-1 reduce": Unknown}; !reflect.DeepEqual(got, want) {
		t.Fatalf("%v", got)
	}
	job, _ = network(t, 1, false, func(_ int, op string, y []float32) {
		if op == "relu" {
			for i := range y {
				y[i] *= 2
			}
		}
	})
	found, _ = job.Run(t.Context())
	if got, want := verdictsOf(found), map[string]Verdict{"-1 add": OK, "-1 relu": Wrong, "-1 mul": OK, "-1 reduce": Unknown}; !reflect.DeepEqual(got, want) {
		t.Fatalf("%v", got)
	}
	if found[1].Pattern != "scale" {
		t.Errorf("pattern %q", found[1].Pattern)
	}
}

// TestWorkers finds the same with any number of workers.
func TestWorkers(t *testing.T) {
	job, _ := network(t, 2, false, func(d int, op string, y []float32) {
		if d == 1 && op == "add" {
			clear(y[100:300])
		}
	})
	var first []Finding
	for workers := 1; workers <= 4; workers++ {
		job.Workers = workers
		found, err := job.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = found
		} else if fmt.Sprint(first) != fmt.Sprint(found) {
			t.Errorf("%d workers find something else", workers)
		}
	}
}

// TestAllReduce holds ranks against each other.
func TestAllReduce(t *testing.T) {
	job, _ := network(t, 3, false, nil)
	found, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		if found[i].Verdict != OK {
			t.Errorf("rank %d, %s: %v %v", found[i].Rank, found[i].Op, found[i].Verdict, found[i].Reasons)
		}
	}
	job, _ = network(t, 3, false, func(d int, op string, y []float32) {
		if op == "reduce" && d == 2 {
			for i := range y {
				y[i] /= 3
			}
		}
	})
	found, _ = job.Run(t.Context())
	got := verdictsOf(found)
	if got["2 reduce"] != Wrong || got["0 reduce"] == Wrong || got["1 reduce"] == Wrong {
		t.Errorf("%v", got)
	}
}

// TestSplit tells the error that an operator adds from the one it is fed.
func TestSplit(t *testing.T) {
	job, _ := network(t, 1, true, func(_ int, op string, y []float32) {
		if op == "add" {
			for i := range y {
				y[i] += 0.25
			}
		}
	})
	found, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ local, inherited float64 }{{0.25, 0}, {0, 0.2}, {0, 0.5}} {
		s := found[i].Split
		if s == nil {
			t.Fatalf("%s: no split", found[i].Op)
		}
		if math.Abs(s.Local-want.local) > 0.01 || (s.Inherited > 0.05) != (want.inherited > 0) {
			t.Errorf("%s: local %g, inherited %g", found[i].Op, s.Local, s.Inherited)
		}
	}
	if s := found[2].Split; !(s.Amplification > 1 && s.Amplification < 4) || s.Sensitive {
		t.Errorf("mul: amplification %g", s.Amplification)
	}
}
