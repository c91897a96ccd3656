package compat

import (
	"os"
	"path/filepath"
	"precision/internal/must"
	"testing"
)

// Any folder that can be opened will do, however it is named.
func TestFindBatchPaths(t *testing.T) {
	root := t.TempDir()
	graphs := filepath.Join(root, "graphs [1]*")
	step := filepath.Join(root, "20210901120000", "0", "net", "1", "10")
	for _, dir := range []string{graphs, step, filepath.Join(filepath.Dir(step), "9")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(graphs, "a.json"), []byte(`{"name":"m","graph":[{"name":"net","op":[{"name":"x","type":"Data"}]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	dumps := filepath.Join(root, "20210901120000")
	forms := []string{dumps, dumps + string(filepath.Separator)}
	link := filepath.Join(root, "latest")
	if err := os.Symlink("20210901120000", link); err == nil {
		forms = append(forms, link)
	}
	t.Chdir(dumps)
	for _, form := range append(forms, ".") {
		runs, err := must.Of(func() []BatchRun { return FindBatch(t.Context(), form, graphs) })
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		if len(runs) != 1 || runs[0].Name() != "0_net_10" || runs[0].Rules != filepath.Join(graphs, "a.json") {
			t.Errorf("%s: %+v", form, runs)
		}
	}
	if err := must.Try(func() { FindBatch(t.Context(), root, graphs) }); err == nil {
		t.Errorf("%s is taken for a folder of a time", root)
	}
}
