package aclgraph

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLoad: names of functions, modules and the user's own, with words and digits
// that are not theirs; calls are counted from 0, whatever number they begin with.
func TestLoad(t *testing.T) {
	top := t.TempDir()
	dir := top + "/step1/rank2/dump_tensor_data"
	for _, file := range []string{
		"Aten.add.Tensor.11.input.0.pt", "Aten.add.Tensor.9.input.0.pt", "Aten.add.Tensor.9.input.1.pt", "Aten.add.Tensor.9.output.0.pt",
		"Module.layers.0.output.dense.Linear.5.input.0.pt", "Module.layers.0.output.dense.Linear.5.output.pt", "Module.__root__.Net.5.output.0.1.pt",
		"reshape_and_cache.1.input_kwargs.slot.mapping.pt", "Functional.linear.3.backward.input.0.pt",
		"Module.fc.Linear.forward.0.parameters.weight.npy", "act_0.pt", "x.pt", ".pt", "Add.op.0.0.17.output.0.npy",
	} {
		put(t, dir+"/"+file)
	}
	put(t, top+"/step0/pid77/tensor_data/Aten.add.Tensor.0.input.0.pt")
	put(t, top+"/dump_tensor_data/rank2/Aten.add.Tensor.12.input.0.pt") // not filed away yet
	all, err := Find(top)
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	if r := all[0]; r.Step != -1 || r.Rank != 2 {
		t.Errorf("%+v", r)
	}
	if r := all[1]; r.Step != 0 || r.Rank != -1 || r.Process != 77 {
		t.Errorf("%+v", r)
	}
	if again, err := Find(dir); err != nil || len(again) != 1 || again[0].Step != 1 || again[0].Rank != 2 {
		t.Errorf("%+v, %v", again, err)
	}
	calls, err := Load(all[2])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range calls {
		text := c.Name.String() + " " + c.Name.Class + ":"
		for _, x := range c.Tensors {
			text += " " + x.Section.String() + "." + x.Path
		}
		got = append(got, text)
	}
	want := []string{
		"Aten.add.Tensor.0.forward : input.0 input.1 output.0",
		"Aten.add.Tensor.1.forward : input.0",
		"Functional.linear.3.backward : input.0",
		"Module.__root__.Net.forward.0 Net: output.0.1",
		"Module.fc.Linear.forward.0 Linear: parameters.weight",
		"Module.layers.0.output.dense.Linear.forward.0 Linear: input.0 output.0",
		"reshape_and_cache.0.forward : kwargs.slot.mapping",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// Beside a dump.json the files are its own.
	put(t, dir+"/dump.json")
	if again, err := Find(dir); err == nil {
		t.Errorf("%+v", again)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Aten.add.Tensor.9.input.0.pt")
	f.Add("Module.layers.0.output.dense.Linear.5.output.pt")
	f.Fuzz(func(t *testing.T, name string) {
		if x, ok := parse(name); ok && (x.api == "" || x.Path == "" || x.number < 0) {
			t.Errorf("%q: %+v", name, x)
		}
	})
}
