package fx

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoad: nodes are in the order they ran in, inputs ahead of outputs; of a node
// that was recorded twice the last is taken; other files are left alone.
func TestLoad(t *testing.T) {
	top := t.TempDir()
	dirs := []string{top + "/msprobe_fx_dump/worldsize2_global_rank1/model/3", top + "/data_dump/2/gm_20240125_dump"}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{
			"add_1-aten.add.Tensor.OUTPUT.0.20240125031118787360.npy", "add_1-aten.add.Tensor.INPUT.0.20240125031118787359.npy",
			"mm-aten.mm.default.OUTPUT.0.20240125031118787351.npy", "mm-aten.mm.default.INPUT.1.20240125031118787350.npy",
			"mm-aten.mm.default.INPUT.0.20240125031118787350.npy", "mm-aten.mm.default.OUTPUT.0.20240125031118787399.npy",
			"mm-aten.mm.default.OUTPUT.0.npy", "conv.0.1700000000000000.npy", "x.txt", "mm.OUTPUT.0.1.npy",
		} {
			if err := os.WriteFile(dir+"/"+file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := Find(top)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	if all[0].Token != 1 || all[0].Rank != -1 || all[1].Token != 2 || all[1].Rank != 1 {
		t.Errorf("%+v", all)
	}
	nodes, err := Load(all[1])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range nodes {
		text := n.Name + " " + n.Function
		for _, x := range n.Tensors {
			text += fmt.Sprintf(" %v%d", x.Output, x.Index)
		}
		got = append(got, text)
	}
	want := "mm aten.mm.default false0 false1 true0\nadd_1 aten.add.Tensor false0 true0"
	if strings.Join(got, "\n") != want {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), want)
	}
	if file := filepath.Base(nodes[0].Tensors[2].File); !strings.Contains(file, "87399") {
		t.Errorf("%s is taken", file)
	}
}

func FuzzParseName(f *testing.F) {
	f.Add("mm-aten.mm.default.OUTPUT.0.20240125031118787351.npy")
	f.Add("a-.INPUT.0.1.npy")
	f.Fuzz(func(t *testing.T, file string) {
		if n, ok := ParseName(file); ok && (n.Node == "" || n.Function == "" || n.Index < 0) {
			t.Errorf("%q: %+v", file, n)
		}
	})
}
