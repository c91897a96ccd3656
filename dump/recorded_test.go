package dump

import (
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
)

// cases are recorded runs of msaccucmp.py.
const cases = "../testdata/cases"

func recorded(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(cases, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// What the converter made of a damaged file is what the file's error says.
func TestRecordedDamage(t *testing.T) {
	var cmd struct {
		Runs []struct {
			ID   string
			Args []string
		}
	}
	dir := recorded(t, "conv_bad_files")
	b, err := os.ReadFile(filepath.Join(dir, "cmd.json"))
	if err == nil {
		err = json.Unmarshal(b, &cmd)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Where the result is meant to differ: these succeed there, with nothing
	// converted.
	differs := map[string]int{"eight": CodeSize, "short_data": CodeShape}
	checked := 0
	for _, run := range cmd.Runs {
		at := slices.Index(run.Args, "-d") + 1
		if at == 0 || len(run.Args) != 5 || run.ID == "out_is_file" {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(run.Args[at]))
		if info, err := os.Stat(path); err != nil || info.IsDir() || ParseName(info.Name()).Kind != Offline {
			continue
		}
		var want struct {
			ExitCode int `json:"exit_code"`
		}
		b, err := os.ReadFile(filepath.Join(dir, "expected", run.ID, "result.json"))
		if err == nil {
			err = json.Unmarshal(b, &want)
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := openHeader(path)
		if f != nil {
			for _, x := range slices.Concat(f.Inputs, f.Outputs) {
				if err == nil {
					err = x.Err
				}
			}
		}
		code := want.ExitCode
		if other, ok := differs[run.ID]; ok {
			code = other
		}
		if Code(err) != code {
			t.Errorf("%s: code %d (%v), want %d", run.ID, Code(err), err, code)
		}
		checked++
	}
	if checked < 12 {
		t.Errorf("only %d runs were found", checked)
	}
}

// Every array that the converter wrote without changing the layout holds what
// we read from the dump.
func TestRecordedConversions(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(cases, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".npy") || !strings.Contains(filepath.ToSlash(path), "/files/out/") {
			return err
		}
		parts := strings.Split(d.Name(), ".")
		if len(parts) < 4 || parts[len(parts)-3] != "input" && parts[len(parts)-3] != "output" {
			return nil // a layout in the name, or no converted tensor
		}
		root, _, _ := strings.Cut(filepath.ToSlash(path), "/expected/")
		source := strings.Join(parts[:len(parts)-3], ".")
		var from string
		filepath.WalkDir(filepath.Join(root, "in"), func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == source {
				from = p
			}
			return nil
		})
		if from == "" {
			return nil
		}
		f, err := openHeader(from)
		if err != nil {
			t.Errorf("%s: %v", from, err)
			return nil
		}
		list := f.Outputs
		if parts[len(parts)-3] == "input" {
			list = f.Inputs
		}
		x := &list[number(parts[len(parts)-2])]
		want, err := openHeader(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		got, err := values(f, x)
		if err != nil {
			t.Errorf("%s: %v", from, err)
			return nil
		}
		wanted, err := values(want, &want.Outputs[0])
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		if x.Type == dtype.HiFloat8 || x.Type == dtype.Float8E4M3FN || x.Type == dtype.Float8E5M2 {
			return nil // wrongly decoded there
		}
		checked++
		same := len(got) == len(wanted)
		for i := 0; same && i < len(got); i++ {
			same = got[i] == wanted[i] || math.IsNaN(got[i]) && math.IsNaN(wanted[i])
		}
		if !same {
			t.Errorf("%s of %s (%s %v): %v, want %v", x.label(), from, x.Type, x.Shape, got, wanted)
		}
		if dims := want.Outputs[0].Shape; !slices.Equal(x.Shape, dims) && len(x.Shape) > 0 {
			t.Errorf("%s of %s: shape %v, want %v", x.label(), from, x.Shape, dims)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tensors are as recorded", checked)
	if checked < 40 {
		t.Errorf("only %d recorded tensors were found", checked)
	}
}

// values reads a tensor.
func values(f *File, x *Tensor) ([]float64, error) {
	if x.Err != nil {
		return nil, x.Err
	}
	b, err := os.ReadFile(f.Path)
	if err != nil {
		return nil, err
	}
	v := make([]float64, x.Elements()*int64(x.Type.Parts()))
	dtype.Widen64(x.Type, v, b[x.Offset:][:x.Bytes()])
	return v, nil
}

func TestRecordedNames(t *testing.T) {
	f, err := Scan(recorded(t, "npu_vs_npu_names/in/npu"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "long_long_long_long_long_long_long_long_long_long_long_long_name: 1234567890 | old_form: Relu.old_form.7.1630000000000000" +
		" | short_time: Relu.short_time.9.1.1234 | twice: Relu.twice.8.1.1630000000000500 Relu.twice.8.1.1630000000000900"
	if got := listing(f); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
	if len(f.Warnings) != 3 { // 987654321, mapping.csv line 2, notes.md
		t.Errorf("%v", f.Warnings)
	}
	if n := f.Ops[0].Newest().Name; n.OpType != "Conv2D" || n.Task != 11 {
		t.Errorf("%+v", n)
	}
	f, err = Scan(recorded(t, "npu_vs_npu_names/more/npu"), Options{})
	if err != nil || len(f.Warnings) != 0 {
		t.Fatalf("%v %v", err, f.Warnings)
	}
	if n := f.Op("task_type").Newest().Name; n.Time != 1630000000000300 || n.TaskType != 0 || f.Op("task_type").Slicing != Whole {
		t.Errorf("%+v", n)
	}
}

func TestRecordedSlices(t *testing.T) {
	f, err := Scan(recorded(t, "npu_vs_npu_ffts/in/npu"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "auto_op: Relu.g_sgt_graph_0_auto_op.5.1.1630000000000000.4.33.0.0 Relu.g_sgt_graph_0_auto_op.5.1.1630000000000010.4.33.1.0" +
		" | manual_op: Mul.manual_op_lxslice0.6.1.1630000000000100.4.44.0.0 Mul.manual_op_lxslice1.6.1.1630000000000101.4.44.0.0" +
		" | normal: Add.normal.9.1.1630000000000500"
	if got := listing(f); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
	if f.Op("auto_op").Slicing != Auto || f.Op("manual_op").Slicing != Manual || f.Op("normal").Slicing != Whole {
		t.Error("slicing")
	}
	r, err := f.Op("auto_op").Newest().Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.Slices.Auto || r.Slices.Count != 2 || !slices.Equal(r.Outputs[0].Shape, []int64{2, 6}) || !slices.Equal(r.Inputs[0].Shape, []int64{4, 6}) ||
		len(r.Warnings) != 0 {
		t.Errorf("%+v %v", r.Outputs, r.Warnings)
	}
	f, err = Scan(recorded(t, "npu_vs_npu_ffts/in/npu"), Options{Slices: true})
	if err != nil || len(f.Ops) != 4 || f.Op("manual_op_lxslice1") == nil || f.Op("g_sgt_graph_0_auto_op") == nil {
		t.Errorf("%v %s", err, listing(f))
	}
}

func TestRecordedMixture(t *testing.T) {
	f, err := Scan(recorded(t, "bad_args/in/mixed"), Options{})
	if err != nil || f.Mixture == nil || f.Mixture.Code != CodeFolder || f.Kind != Offline || len(f.Ops) != 1 {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := Scan(recorded(t, "bad_args/in/nodumps"), Options{}); Code(err) != CodeFolder {
		t.Errorf("%v", err)
	}
}

func TestRecordedQuantised(t *testing.T) {
	for dir, want := range map[string]Kind{
		"quant_npu_vs_quant/in/golden": Quant, "quant_npu_vs_plain/in/golden": Standard, "quant_npu_vs_quant/in/npu": Offline,
		"net_one_to_one/in/golden": Standard,
	} {
		f, err := Scan(recorded(t, dir), Options{Rules: true})
		if err != nil || f.Kind != want || f.Quantised != (strings.HasPrefix(dir, "quant") && want != Standard) {
			t.Errorf("%s: %v %+v, want %s", dir, err, f, want)
		}
	}
}

func TestRecordedFoldersFurtherUp(t *testing.T) {
	_, choices, err := Resolve(recorded(t, "batch/in/dump"))
	if len(choices) != 4 || Code(err) != CodeFolder {
		t.Errorf("%v %v", choices, err)
	}
	dir := recorded(t, "npu_vs_npu/in")
	if _, choices, _ := Resolve(dir); len(choices) != 2 {
		t.Errorf("%v", choices)
	}
}
