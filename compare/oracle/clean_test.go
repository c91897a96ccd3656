package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/testdata/workshop/dumptest"
)

// unpacked is an archive of recordings in testdata, as clean.py makes, in a folder of the test.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	return dumptest.Unpack(t, filepath.Join("testdata", name))
}

func recordingFindings(t *testing.T, dir string) map[string]*Finding {
	t.Helper()
	list, err := msprobe.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	findings, _, err := RecordingJob{Recordings: list, Workers: 1}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*Finding{}
	for i := range findings {
		out[findings[i].Name()] = &findings[i]
	}
	return out
}

// TestCleanRecordings: no call of a recording with nothing wrong is called wrong: not the norms of
// PyTorch's CPU kernels in bfloat16, nor gradients that autocast rounds; and modules of other
// libraries are known by their parameters, or by their parts.
func TestCleanRecordings(t *testing.T) {
	dir := unpacked(t, "clean.tar.gz")
	for name, want := range map[string]map[string]Verdict{
		"mix-bf16": {
			"Functional.batch_norm.0.forward:output:0": Suspect, "Functional.batch_norm.0.backward:output:0": Suspect,
			"Functional.layer_norm.0.backward:output:2": Suspect, "Module.norm.OwnNorm.forward.0:output:0": OK,
			"Module.mlp.act.OwnActivation.forward.0:output:0": OK, "Module.mlp.Mlp.forward.0:output:0": OK, "Module.mlp.Mlp.backward.0:output:0": OK,
		},
		"mix-autocast": {"Tensor.__add__.1.backward:output:1": OK, "Functional.layer_norm.0.backward:output:1": Suspect, "Module.mlp.Mlp.backward.0:output:0": OK},
		"L0-fp32": {
			"Module.norm.OwnNorm.forward.0:output:0": OK, "Module.norm.OwnNorm.backward.0:output:0": OK, "Module.mlp.act.OwnActivation.forward.0:output:0": OK,
			"Module.mlp.Mlp.forward.0:output:0": Unknown, // the product of its two branches is not recorded
		},
	} {
		found := recordingFindings(t, filepath.Join(dir, name))
		known := 0
		for n, f := range found {
			if f.Verdict == Wrong {
				t.Errorf("%s: %s is wrong: %v", name, n, f.Reasons)
			}
			if f.Verdict == Suspect && f.Reasons[len(f.Reasons)-1].Kind != LowPrecision {
				t.Errorf("%s: %s is suspect for %v, expected lower precision", name, n, f.Reasons)
			}
			if f.Verdict != Unknown {
				known++
			}
		}
		if 10*known < 8*len(found) {
			t.Errorf("%s: %d of %d outputs are judged", name, known, len(found))
		}
		for n, v := range want {
			if f := found[n]; f == nil || f.Verdict != v {
				t.Errorf("%s: %s is %v, expected %v", name, n, f, v)
			}
		}
	}
}

// replace puts the elements of one recorded tensor in place of another's.
func replace(t *testing.T, dir, by string, files ...string) {
	t.Helper()
	tensors, err := filepath.Glob(filepath.Join(dir, "step0", "*", msprobe.TensorFolder))
	if err != nil || len(tensors) != 1 {
		t.Fatal(tensors, err)
	}
	b, err := os.ReadFile(filepath.Join(tensors[0], by))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(tensors[0], f)
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A part that is wrong leaves the modules around it unknown, for that reason; the part alone is
// accused. Where no call made a module's output, that is the reason.
func TestPartsDecideModules(t *testing.T) {
	dir := filepath.Join(unpacked(t, "clean.tar.gz"), "mix-bf16")
	// The product took something else than its output follows from.
	replace(t, dir, "Module.norm.OwnNorm.forward.0.input.0.pt", "Module.mlp.up.Linear.forward.0.input.0.pt")
	found := recordingFindings(t, dir)
	if f := found["Module.mlp.up.Linear.forward.0:output:0"]; f.Verdict != Wrong {
		t.Errorf("the part is %v, expected wrong: %v", f.Verdict, f.Reasons)
	}
	f := found["Module.mlp.Mlp.forward.0:output:0"]
	if f.Verdict != Unknown || f.Reasons[0].Kind != PartUnknown || f.Reasons[0].Args[0] != "Module.mlp.up.Linear.forward.0" {
		t.Errorf("the module is %v, expected unknown for its part: %v", f.Verdict, f.Reasons)
	}

	dir = filepath.Join(unpacked(t, "clean.tar.gz"), "mix-bf16")
	replace(t, dir, "Module.norm.OwnNorm.forward.0.input.0.pt", "Module.mlp.Mlp.forward.0.output.0.pt")
	found = recordingFindings(t, dir)
	if f := found["Module.mlp.Mlp.forward.0:output:0"]; f.Verdict != Unknown || f.Damage == nil && f.Reasons[0].Kind != Apart {
		t.Errorf("a module with another output than its parts is %v: %v", f.Verdict, f.Reasons)
	}
}

// A module of which nothing is known but its parameters is never wrong: that it is a norm is a guess.
func TestGuessedModulesAreNeverWrong(t *testing.T) {
	dir := filepath.Join(unpacked(t, "clean.tar.gz"), "L0-fp32")
	replace(t, dir, "Module.mlp.Mlp.forward.0.input.0.pt", "Module.norm.OwnNorm.forward.0.input.0.pt")
	f := recordingFindings(t, dir)["Module.norm.OwnNorm.forward.0:output:0"]
	if f.Verdict != Unknown || f.Reasons[0].Kind != NoAPI {
		t.Errorf("%v: %v", f.Verdict, f.Reasons)
	}
}

// Lower precision is how a function is computed where one looser unit explains all of its calls and
// they need it as a rule; what one call alone needs is its fault.
func TestLooserUnit(t *testing.T) {
	call := func(typ dtype.Type, v Verdict, looser bool) Finding {
		f := Finding{Op: "Torch.exp.0.forward", function: "Torch.exp.forward", DType: typ, Verdict: v, looser: looser}
		if v == Suspect {
			f.Reasons = []result.Reason{because(LowPrecision, 1)}
		}
		return f
	}
	ok, off, wrong, loose := call(dtype.BFloat16, OK, false), call(dtype.BFloat16, Wrong, true), call(dtype.BFloat16, Wrong, false), call(dtype.BFloat16, Suspect, false)
	for _, c := range []struct {
		name  string
		calls []Finding
		want  Verdict
	}{
		{"all calls", []Finding{off, off}, Suspect},
		{"half of them", []Finding{off, loose, ok, ok}, Suspect},
		{"one of several", []Finding{off, ok, ok, ok}, Wrong},
		{"the only one", []Finding{off}, Wrong},
		{"the only one, in float32", []Finding{call(dtype.Float32, Wrong, true)}, Suspect},
		{"another that it does not explain", []Finding{off, off, wrong}, Wrong},
	} {
		settleLooser(c.calls)
		if got := c.calls[0].Verdict; got != c.want {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
	}
}

// What a rank has of a Partial tensor is one summand: it is not held against its inputs.
func TestPartialIsUnknown(t *testing.T) {
	for _, partial := range []bool{true, false} {
		r := newRecorder(t)
		for _, c := range callCases(t) {
			if c.Name == "Functional.linear" {
				r.damage = func(place string, b []byte) {
					if strings.HasSuffix(place, ".output.0") {
						b[2] ^= 0x70
					}
				}
				r.add(&c)
				break
			}
		}
		if partial {
			file := `"data_name":"Functional.linear.0.forward.output.0.pt"`
			if !strings.Contains(r.entries[0], file) {
				t.Fatal(r.entries[0])
			}
			r.entries[0] = strings.Replace(r.entries[0], file, `"device_mesh":[0,1],"placements":[{"Partial":{"reduce_op":"sum"}}],`+file, 1)
		}
		f := r.check()[0]
		if want := map[bool]Verdict{true: Unknown, false: Wrong}[partial]; f.Verdict != want || partial && f.Reasons[0].Kind != Partial {
			t.Errorf("partial %v: %v %v, expected %v", partial, f.Verdict, f.Reasons, want)
		}
	}
}

// TestPartialSharesBias: of a bias that every rank has, each adds its part to its summand. What no part explains is not known.
func TestPartialSharesBias(t *testing.T) {
	const partial, whole = `[{"Partial":{"reduce_op":"sum"}}]`, `[{"Replicate":{}}]`
	for _, c := range []struct {
		name, out, mesh, bias, placed string
		want                          Verdict
	}{
		{"half of it", "15 25", "[0,1]", whole, partial, OK},
		{"a quarter", "13 21", "[[0,1],[2,3]]", `[{"Replicate":{}},{"Replicate":{}}]`, `[{"Partial":{"reduce_op":"sum"}},{"Partial":{"reduce_op":"sum"}}]`, OK},
		{"half along one dimension of four ranks", "15 25", "[[0,1],[2,3]]", `[{"Replicate":{}},{"Replicate":{}}]`, `[{"Replicate":{}},{"Partial":{"reduce_op":"sum"}}]`, OK},
		{"nothing of it", "11 17", "[0,1]", whole, partial, Unknown},
		{"one and a half", "23 41", "[0,1]", whole, partial, Unknown},
		{"half of one that is cut", "15 25", "[0,1]", `[{"Shard":{"dim":0}}]`, partial, Unknown},
		{"half, and the output is no summand", "15 25", "[0,1]", whole, whole, Wrong},
		{"half, and the largest counts", "15 25", "[0,1]", whole, `[{"Partial":{"reduce_op":"max"}}]`, Unknown},
	} {
		r := newRecorder(t)
		call, err := textCase("Functional.linear(float32[1,2]{1 2}, float32[2,2]{3 4 5 6}, float32[2]{8 16}) = float32[1,2]{" + c.out + "}")
		if err != nil {
			t.Fatal(err)
		}
		r.add(&call)
		for place, placements := range map[string]string{"input.2": c.bias, "output.0": c.placed} {
			file := `"data_name":"Functional.linear.0.forward.` + place + `.pt"`
			if !strings.Contains(r.entries[0], file) {
				t.Fatal(r.entries[0])
			}
			r.entries[0] = strings.Replace(r.entries[0], file, `"device_mesh":`+c.mesh+`,"placements":`+placements+`,`+file, 1)
		}
		if f := r.check()[0]; f.Verdict != c.want {
			t.Errorf("%s: %v %v, expected %v", c.name, f.Verdict, f.Reasons, c.want)
		}
	}
}

// TestLastSummand: of all calls that leave summands, the last one before another that has some of its form is meant, and
// to find it costs the same however many calls lie between.
func TestLastSummand(t *testing.T) {
	value := func(width int64, reduced string) msprobe.Value {
		return msprobe.Value{Section: msprobe.Output, Kind: msprobe.Tensor, Elem: dtype.Float32, Shape: []int64{2, width}, DataName: "x.pt",
			Extra: []msprobe.Extra{{Key: "device_mesh", JSON: "[0,1]"}, {Key: "placements", JSON: `[{"Partial":{"reduce_op":"` + reduced + `"}}]`}}}
	}
	look := func(between int) (*recordedCalls, *msprobe.Value) {
		r := &recordedCalls{}
		r.step = []*recordedCalls{r, r}
		add := func(values ...msprobe.Value) {
			r.calls = append(r.calls, &recordedCall{Call: &msprobe.Call{Values: values}, order: len(r.calls)})
		}
		add(value(4, "sum"))
		add(value(4, "max"), value(4, "sum"), value(4, "sum"))
		for range between {
			add(value(3, "sum"))
		}
		add(value(4, "sum"))
		like := value(4, "sum")
		return r, &like
	}
	r, like := look(6)
	for before, want := range []int{-1, 0, 1, 1, 1, 1, 1, 1, 1, 8} {
		c, place := r.lastSummand(like, before)
		if (c == nil) != (want < 0) || c != nil && (c.order != want || (place == 1) != (want == 1)) {
			t.Errorf("before %d: %v at %d, expected call %d", before, c, place, want)
		}
	}
	cost := func(between int) float64 {
		r, like := look(between)
		return testing.AllocsPerRun(10, func() { r.lastSummand(like, between+2) }) // decoding where summands are takes memory
	}
	if few, many := cost(8), cost(2048); many > 4*few { // pools lose some under the race detector
		t.Errorf("%v allocations behind 2048 calls, %v behind 8", many, few)
	}
}

// TestSummedOverRanks: what is on its way from other ranks has no elements; it is the sum of the summands that the ranks left
// just before. What that does not explain is not known, and neither is what is no such sum or lacks a rank.
func TestSummedOverRanks(t *testing.T) {
	const partial = `"device_mesh":[0,1],"placements":[{"Partial":{"reduce_op":"sum"}}],`
	for _, c := range []struct {
		name, placed, out string
		ranks             int
		want              Verdict
		why               result.Kind
	}{
		{"the sum", partial, "13 23", 2, OK, ""},
		{"something else", partial, "13 24", 2, Unknown, Partial},
		{"a rank that was not recorded", partial, "12 19", 1, Unknown, NoElements},
		{"the largest", strings.Replace(partial, "sum", "max", 1), "13 23", 2, Unknown, NoElements},
		{"parts", `"device_mesh":[0,1],"placements":[{"Shard":{"dim":0}}],`, "13 23", 2, Unknown, NoElements},
		{"more ranks", strings.Replace(partial, "[0,1]", "[0,1,2]", 1), "13 23", 2, Unknown, NoElements},
	} {
		var all []msprobe.Recording
		top := t.TempDir()
		for rank, product := range []string{"float32[2,2]{3 4 5 6}) = float32[1,2]{11 17}", "float32[2,2]{1 0 0 2}) = float32[1,2]{1 4}"}[:c.ranks] {
			r := newRecorder(t)
			r.dir = filepath.Join(top, "step0", fmt.Sprintf("rank%d", rank))
			if err := os.MkdirAll(filepath.Join(r.dir, msprobe.TensorFolder), 0o700); err != nil {
				t.Fatal(err)
			}
			for i, text := range []string{"Functional.linear(float32[1,2]{1 2}, " + product, "Tensor.__add__(float32[1,2]{1 2}, float32[1,2]{12 21}) = float32[1,2]{" + c.out + "}"} {
				call, err := textCase(text)
				if err != nil {
					t.Fatal(err)
				}
				r.add(&call)
				for _, x := range [][3]string{
					{`"data_name":"Functional.linear.0.forward.output.0.pt"`, c.placed + `"data_name":"Functional.linear.0.forward.output.0.pt"`},
					{`,"data_name":"Tensor.__add__.0.forward.input.1.pt"`, `,"on":"its way"`},
				}[i : i+1] {
					r.entries[i] = strings.Replace(r.entries[i], x[0], x[1], 1)
				}
			}
			at := strings.LastIndex(r.entries[1][:strings.Index(r.entries[1], `"on":`)], "torch.Tensor")
			r.entries[1] = r.entries[1][:at] + "torch.distributed._functional_collectives.AsyncCollectiveTensor" + r.entries[1][at+len("torch.Tensor"):]
			all = append(all, r.write()...)
		}
		findings, _, err := RecordingJob{Recordings: all, Workers: 1}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, f := range findings {
			if !strings.Contains(f.Op, "__add__") {
				continue
			}
			if seen++; f.Verdict != c.want || c.why != "" && f.Reasons[0].Kind != c.why {
				t.Errorf("%s: %v %v, expected %v %v", c.name, f.Verdict, f.Reasons, c.want, c.why)
			}
		}
		if seen != c.ranks {
			t.Errorf("%s: %d sums, expected %d", c.name, seen, c.ranks)
		}
	}
}

// Recorders of version 1.0 leave out the parameters of modules: those that a call in them was given are theirs, and where no call was recorded, nobody
// knows whether a norm has any. None is wrong for it.
func TestParametersNotRecorded(t *testing.T) {
	dir := unpacked(t, "clean.tar.gz")
	for name, known := range map[string]bool{"mix-bf16": true, "L0-fp32": false} {
		dumps, err := filepath.Glob(filepath.Join(dir, name, "step0", "*", msprobe.DumpFile))
		if err != nil || len(dumps) != 1 {
			t.Fatal(dumps, err)
		}
		var dump map[string]any
		text, err := os.ReadFile(dumps[0])
		if err == nil {
			err = json.Unmarshal(text, &dump)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, values := range dump["data"].(map[string]any) {
			delete(values.(map[string]any), "parameters")
		}
		if text, err = json.Marshal(dump); err == nil {
			err = os.WriteFile(dumps[0], text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		found := recordingFindings(t, filepath.Join(dir, name))
		for n, f := range found {
			if f.Verdict == Wrong {
				t.Errorf("%s: %s is wrong: %v", name, n, f.Reasons)
			}
		}
		for _, norm := range []string{"Module.bn.BatchNorm2d.forward.0:output:0", "Module.last.LayerNorm.forward.0:output:0"} {
			if f := found[norm]; f == nil || (f.Verdict != Unknown) != known {
				t.Errorf("%s: %s is %v, expected it to be known: %v", name, norm, f, known)
			}
		}
	}
}

// The gradient of a module that is called twice belongs to the forward call that it is of, also where a recorder counted backward calls as they
// came.
func TestForwardOfRenumbered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "step0", "rank")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var entries []string
	for _, name := range []string{"forward.0", "forward.1", "backward.0", "backward.1"} {
		entries = append(entries, fmt.Sprintf(`"Module.act.GELU.%s": {"input": [], "output": []}`, name))
	}
	path := filepath.Join(dir, msprobe.DumpFile)
	if err := os.WriteFile(path, []byte(`{"task": "tensor", "level": "L0", "framework": "pytorch", "dump_data_dir": null, "data": {`+strings.Join(entries, ", ")+"}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := msprobe.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := readCalls(&list[0])
	if err != nil {
		t.Fatal(err)
	}
	for back, forward := range map[string]string{"Module.act.GELU.backward.0": "Module.act.GELU.forward.1", "Module.act.GELU.backward.1": "Module.act.GELU.forward.0"} {
		if got := r.index[back].forward(); got == nil || got.Name != forward {
			t.Errorf("%s is the gradient of %v, expected %s", back, got, forward)
		}
	}
}
