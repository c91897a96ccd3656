package oracle

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/mindspore"
	"precision/dump/npy"
)

// TestMindSpore: the calls of a network of MindSpore, as testdata/mindspore.py records them, are known and
// right, exponentials at worst suspect; each that is known is wrong when an element of it is changed. Where an
// attribute of a primitive is not recorded, that is unknown. Functions whose parameters or defaults are not those of PyTorch's
// are computed by their own; what nobody wrote down and has the name of one of PyTorch is right where that explains it, and
// not known where it does not.
func TestMindSpore(t *testing.T) {
	dir := unpacked(t, "mindspore.tar.gz")
	before := recordingFindings(t, dir)
	known := map[string]bool{}
	for name, f := range before {
		if f.Verdict == Wrong {
			t.Errorf("%s is wrong: %v", name, f.Reasons)
		}
		if f.Verdict == OK || f.Verdict == Suspect {
			known[f.Type] = true
		}
	}
	for _, want := range strings.Fields(`Primitive.reshape.Reshape Primitive.matmul.MatMul Primitive.bias_add.BiasAdd Primitive.conv2d.Conv2D Primitive.gather.Gather Primitive.relu.ReLU
		Primitive.bn_train.BatchNorm Primitive.max_pool.MaxPool Functional.matmul Functional.softmax Functional.gelu Functional.transpose Functional.mul Functional.sigmoid
		Functional.cross_entropy Functional.flatten Functional.expand_dims Primitive.layer_norm.LayerNorm Cell.LayerNorm
		Functional.conv2d Functional.var Functional.std Functional.norm Tensor.var Tensor.norm Functional.pad Functional.one_hot Functional.smooth_l1_loss Functional.meshgrid
		Functional.repeat_interleave Functional.log_softmax Functional.div Functional.cosine_similarity Functional.binary_cross_entropy_with_logits Functional.tensor_dot Functional.fmod
		Functional.bias_add Functional.arange Functional.relu6 Functional.cummax Functional.floor_div Functional.unstack Functional.atan2 Tensor.__add__ Cell.Dense Cell.Conv2d Cell.Embedding Cell.BatchNorm2d Cell.ReLU Cell.MaxPool2d`) {
		if !known[want] {
			t.Errorf("%s is not known", want)
		}
	}
	if f := before["Functional.interpolate.0.forward:output:0"]; f.Verdict != Unknown {
		t.Errorf("a bicubic interpolation, which MindSpore computes otherwise, is %s", f.Verdict)
	}
	borrowed := strings.Fields("relu6 cummax floor_div atan2") // with a changed element these are not known
	files, err := filepath.Glob(filepath.Join(dir, "step0", "*", "dump_tensor_data", "*.forward*.output.0.npy"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	changed := map[string]bool{}
	for _, file := range files {
		call := strings.TrimSuffix(filepath.Base(file), ".output.0.npy")
		f := before[call+":output:0"]
		// What is told by a guess of attributes that are not recorded cannot be wrong.
		if f == nil || f.Verdict != OK || strings.Contains(call, "Conv") || strings.Contains(call, "conv") || strings.Contains(call, "Norm") || strings.Contains(call, "Pool") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := len(b) - 4
		binary.LittleEndian.PutUint32(b[n:], math.Float32bits(math.Float32frombits(binary.LittleEndian.Uint32(b[n:]))*1.5+3))
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		changed[call+":output:0"] = true
	}
	after := recordingFindings(t, dir)
	for name := range changed {
		f := after[name]
		if api, _, _ := strings.Cut(strings.TrimPrefix(name, "Functional."), "."); slices.Contains(borrowed, api) && f.Verdict == Unknown {
			continue
		}
		if f.Verdict != Wrong && !strings.HasPrefix(name, "Cell.") {
			t.Errorf("%s is %s with a changed element: %v", name, f.Verdict, f.Reasons)
		}
	}
	if len(changed) < 15 {
		t.Errorf("only %d outputs changed", len(changed))
	}
}

// TestKernelsOfStep: nearly all kernels of a step of training are known and right: gradients, updates of weights, parts of
// tensors, views. An element that is changed makes a kernel wrong, or unknown where something that it rests on is not
// recorded.
func TestKernelsOfStep(t *testing.T) {
	dir := unpacked(t, "kernels.tar.gz")
	judge := func() (findings []Finding) {
		list, err := mindspore.Find(dir)
		if err == nil {
			findings, _, err = RecordingJob{Kernels: list, Workers: 1}.Run(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		return findings
	}
	for _, f := range judge() {
		if f.Verdict == Wrong || f.Verdict == Unknown && f.Type != "Primitive.AssignAdd" {
			t.Errorf("%s of %s is %s: %v", f.Name(), f.Type, f.Verdict, f.Reasons)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "rank_0", "*", "*", "*", "*.npy"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		// What an update works on is written when it is done.
		if base := filepath.Base(file); !strings.Contains(base, ".output.") && !strings.HasPrefix(base, "Adam.") && !strings.HasPrefix(base, "Assign.") {
			continue
		} else if !strings.Contains(base, "Float32") || (strings.HasPrefix(base, "Adam.") || strings.HasPrefix(base, "Assign.")) && !strings.Contains(base, ".input.0") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := len(b) - 4
		binary.LittleEndian.PutUint32(b[n:], math.Float32bits(math.Float32frombits(binary.LittleEndian.Uint32(b[n:]))*1.5+3))
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	count := map[Verdict]int{}
	for _, f := range judge() {
		if f.DType != dtype.Float32 || strings.HasPrefix(f.Type, "Primitive.Adam") && f.Index > 0 || f.Type == "Primitive.BatchNorm" && (f.Index == 1 || f.Index == 2) {
			continue
		}
		if count[f.Verdict]++; f.Verdict == OK || f.Verdict == Suspect {
			t.Errorf("%s of %s is %s with a changed element", f.Name(), f.Type, f.Verdict)
		}
	}
	if count[Wrong] < 120 || count[Unknown] > 40 {
		t.Errorf("with changed elements %v", count)
	}
}

// TestKernels: what MindSpore dumps itself is checked without a graph: the type of a kernel is in its name,
// its attributes are inputs.
func TestKernels(t *testing.T) {
	dir := t.TempDir() + "/rank_0/Net/0/0"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(name string, typ dtype.Type, shape []int64, data []byte) {
		b, err := npy.AppendHeader(nil, typ, shape)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".npy"), append(b, data...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	floats := func(values ...float32) (b []byte) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		return b
	}
	for op, last := range map[string]float32{"right": 11, "wrong": 8} {
		head := "MatMul.Default_" + op + "-op0.0.0.1"
		put(head+"0.input.0.DefaultFormat.Float32", dtype.Float32, []int64{1, 2}, floats(1, 2))
		put(head+"1.input.1.DefaultFormat.Float32", dtype.Float32, []int64{2, 2}, floats(1, 2, 3, 4))
		put(head+"2.input.2.DefaultFormat.Bool", dtype.Bool, nil, []byte{0})
		put(head+"3.input.3.DefaultFormat.Bool", dtype.Bool, nil, []byte{1})
		put(head+"4.output.0.DefaultFormat.Float32", dtype.Float32, []int64{1, 2}, floats(5, last))
	}
	// Exponentials of a CPU are some dozen roundoffs off.
	head := "Exp.Default_coarse-op0.0.0.2"
	put(head+"0.input.0.DefaultFormat.Float32", dtype.Float32, []int64{2}, floats(-4.5, 1))
	put(head+"1.output.0.DefaultFormat.Float32", dtype.Float32, []int64{2}, floats(0.011108997*(1-3e-6), 2.7182817))
	list, err := mindspore.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	findings, _, err := RecordingJob{Kernels: list, Workers: 1}.Run(t.Context())
	if err != nil || len(findings) != 3 {
		t.Fatalf("%+v, %v", findings, err)
	}
	for _, f := range findings {
		if want := map[string]Verdict{"Default_right-op0": OK, "Default_wrong-op0": Wrong, "Default_coarse-op0": Suspect}[f.Op]; f.Verdict != want || f.Type != "Primitive.MatMul" && f.Type != "Primitive.Exp" {
			t.Errorf("%s of %s is %s, expected %s: %v", f.Op, f.Type, f.Verdict, want, f.Reasons)
		}
	}
}
