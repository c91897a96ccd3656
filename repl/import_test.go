package repl

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"precision/graph/read"
	"precision/graph/write"
	"precision/internal/whole"
)

// TestImport lays out an output folder of msquickcmp from the sample, imports
// it and compares.
func TestImport(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	sample := filepath.Join(repoDir, "testdata", "sample")
	from := filepath.Join("out", "20260102030405")
	copyTree(t, filepath.Join(sample, "npu"), filepath.Join(from, "dump_data", "npu"))
	copyTree(t, filepath.Join(sample, "golden"), filepath.Join(from, "dump_data", "tf"))
	copyTree(t, filepath.Join(repoDir, "repl", "testdata", "results"), from)
	m, err := read.Open(t.Context(), filepath.Join(sample, "ge_proto_00000001_graph_1_Build.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := write.JSON(context.Background(), &text, m); err != nil {
		t.Fatal(err)
	}
	if err := writeBytes(filepath.Join(from, "model", "net.json"), text.Bytes()); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cfg := Config{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Lang: "en", ConfigDir: filepath.Join(dir, "config")}
	if code := Import(cfg, from); code != 0 {
		t.Fatalf("exit status %d: %s%s", code, &out, &errs)
	}
	cfg.Commands = "vcs -l 1; vc -l 1; ni fc"
	if code := Run(context.Background(), cfg); code != 0 {
		t.Errorf("exit status %d: %s%s", code, &out, &errs)
	}
	for _, want := range []string{"vector_compare/0/result_20260102030405.csv", "54 of 65 tensors compared", "net.json", "[MatMulV2] fc", "TfDumpOutput"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s%s", want, &out, &errs)
		}
	}
	if code := Import(cfg, from); code != exitError || !strings.Contains(errs.String(), "already") {
		t.Errorf("exit status %d for a data folder that is there: %s", code, &errs)
	}
	cfg.Dir = "new"
	if code := Import(cfg, "no_such"); code != exitError {
		t.Errorf("exit status %d for a folder that is missing", code)
	}
	if code := Import(cfg, filepath.Join(from, "model")); code != exitNothing {
		t.Errorf("exit status %d for another folder", code)
	}
}

func writeBytes(path string, data []byte) error {
	return whole.Write(path, data, 0o600)
}
