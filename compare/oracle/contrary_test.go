package oracle

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// TestContrary: an input that is not what was recorded where it was made is told, also where the
// result does not show it; one that its operator wrote over is not, nor what no dump makes.
func TestContrary(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, out  float32 // of relu, whose input is 1 where it was made
		at, to   uint64  // the addresses of its input and output
		verdict  Verdict
		contrary bool
	}{
		{"as it was made", 1, 1, 0, 0, OK, false},
		{"another, and the result of it", -3, 0, 0, 0, Suspect, true},
		{"zeros", 0, 0, 0, 0, Suspect, true},
		{"written over", 2, 2, 4096, 4096, OK, false},
		{"written elsewhere", 2, 2, 4096, 8192, Suspect, true},
	} {
		job, _ := network(t, 1, false, nil)
		shape := []int64{64}
		tensor := func(v float32, at uint64) dumptest.Tensor {
			y := make([]float32, 64)
			for i := range y {
				y[i] = v * float32(1+i%5)
			}
			return dumptest.Tensor{Type: int(dtype.Float16), Format: 2, Shape: shape, Origin: shape, Address: at, Data: dumptest.Halves(y)}
		}
		folder := filepath.Join(t.TempDir(), "0")
		for name, d := range map[string]dumptest.Dump{
			"Add.add.0.7.1614717261785500":   {OpName: "add", Time: 1, Inputs: []dumptest.Tensor{tensor(1, 0), tensor(0, 0)}, Outputs: []dumptest.Tensor{tensor(1, 0)}},
			"Relu.relu.1.7.1614717261785501": {OpName: "relu", Time: 1, Inputs: []dumptest.Tensor{tensor(c.in, c.at)}, Outputs: []dumptest.Tensor{tensor(c.out, c.to)}},
		} {
			if err := d.Write(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := dump.Scan(folder, dump.Options{Rules: true})
		if err != nil {
			t.Fatal(err)
		}
		job.Devices = []Device{DeviceOf(f)}
		found, err := job.Run(t.Context())
		if err != nil || len(found) != 2 {
			t.Fatal(err, len(found))
		}
		certain := slices.ContainsFunc(found[1].Reasons, func(r result.Reason) bool { return r.Kind == Contrary && r.Args[1] == "add" })
		if found[1].Verdict != c.verdict || certain != c.contrary || found[0].Verdict != OK {
			t.Errorf("%s: %v %v, expected %v", c.name, found[1].Verdict, found[1].Reasons, c.verdict)
		}
	}
}

// TestNoResult: a call whose entry ends without its outputs has lost them, whether or not a tensor
// went into it; an empty list of outputs is one.
func TestNoResult(t *testing.T) {
	r := newRecorder(t)
	r.entries = append(r.entries, `"Torch.load.0.forward":{"input_args":[],"input_kwargs":{}}`, `"Torch.save.0.forward":{"input_args":[],"input_kwargs":{},"output":[]}`)
	found := r.check()
	if len(found) != 1 || found[0].Op != "Torch.load.0.forward" || !found[0].missing() {
		t.Errorf("%v", found)
	}
	// As many as another call of the function has.
	r = newRecorder(t)
	const tensor = `{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":1,"Min":0,"Mean":0.5,"Norm":1}`
	r.entries = append(r.entries, `"Torch.sort.0.forward":{"input_args":[`+tensor+`],"input_kwargs":{},"output":[`+tensor+`,`+tensor+`]}`,
		`"Torch.sort.1.forward":{"input_args":[`+tensor+`],"input_kwargs":{}}`)
	if c := CoverageOf(r.check(), nil, nil); c.Expected != 4 || len(c.Missing) != 2 {
		t.Errorf("%+v", c)
	}
	// Of a gradient as many as inputs asked for one.
	r = newRecorder(t)
	asks := strings.Replace(tensor, "{", `{"requires_grad":true,`, 1)
	r.entries = append(r.entries, `"Torch.add.0.forward":{"input_args":[`+asks+`,`+tensor+`,`+asks+`],"input_kwargs":{},"output":[]}`, `"Torch.add.0.backward":{"input":[`+tensor+`]}`)
	if c := CoverageOf(r.check(), nil, nil); c.Expected != 2 || len(c.Missing) != 2 {
		t.Errorf("%+v", c)
	}
}

// Operators that were recorded and that the graph does not have are counted: no strict gate passes them.
func TestStrangers(t *testing.T) {
	known := Finding{Op: "a", Verdict: OK}
	c := CoverageOf([]Finding{known, {Op: "b", Verdict: OK}, {Op: "b", Index: 1, Verdict: OK}, {Op: "c", Reasons: []result.Reason{because(NotInGraph)}}}, nil, nil)
	if !slices.Equal(c.Strangers, []string{"c"}) || c.Recorded != 3 || c.Expected != 3 {
		t.Errorf("%+v", c)
	}
	if c := CoverageOf([]Finding{known}, nil, nil); len(c.Strangers) > 0 {
		t.Errorf("%+v", c)
	}
}

// TestOrderOfNaN: of an order with NaN in it nothing is known, wherever a device puts it; of one without, everything.
func TestOrderOfNaN(t *testing.T) {
	for text, want := range map[string]Verdict{
		"Torch.sort(float32[3]{2 nan 1}) = float32[3]{1 2 nan}, int64[3]{2 0 1}": OK, // as the framework does
		"Torch.sort(float32[3]{2 nan 1}) = float32[3]{nan 1 2}, int64[3]{1 2 0}": Unknown,
		// Rows beside it are judged, and do not make it right.
		"Torch.sort(float32[2,3]{2 nan 1 4 6 5}) = float32[2,3]{nan 1 2 4 5 6}, int64[2,3]{1 2 0 0 2 1}": Unknown,
		"Torch.sort(float32[2,3]{2 nan 1 4 6 5}) = float32[2,3]{nan 1 2 6 5 4}, int64[2,3]{1 2 0 1 2 0}": Wrong,
		"Torch.topk(float32[2,3]{2 nan 1 4 6 5}, 1) = float32[2,1]{2 6}, int64[2,1]{0 1}":                Unknown,
		"Torch.sort(float32[3]{2 3 1}) = float32[3]{1 2 3}, int64[3]{2 0 1}":                             OK,
		"Torch.sort(float32[3]{2 3 1}) = float32[3]{3 1 2}, int64[3]{1 2 0}":                             Wrong,
	} {
		for _, f := range Made(t, text) {
			if f.Verdict != want {
				t.Errorf("%s: output %d is %s, expected %s", text, f.Index, f.Verdict, want)
			}
		}
	}
}
