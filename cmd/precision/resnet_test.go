package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"precision/testdata/workshop/recorded"
)

// The real ResNet-50 graph with a dump of 170 operators made by a script beside
// the checkout. Both stay there; without them, or without numpy, the test has
// nothing to work on.
func TestResNet50(t *testing.T) {
	if testing.Short() {
		t.Skip("140 MB of data")
	}
	script, err := filepath.Abs("../../../shared/tools/resnet50_dump.py")
	if err != nil {
		t.Fatal(err)
	}
	wantPath, err := filepath.Abs("../../../shared/real/resnet50/expected/seed1_break_res3a.csv")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(wantPath)
	if err != nil {
		t.Skip("the recorded table is not here")
	}
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("no python3 with numpy to make the dump")
	}
	const broken = "res3a_branch1res3ares3a_relu"
	data := t.TempDir()
	if out, err := exec.Command(python, script, data, "--seed", "1", "--break", broken).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	compare := func(graph string, more ...string) (stdout, table string) {
		t.Helper()
		out := t.TempDir()
		args := append([]string{"compare", "-lt", filepath.Join(data, "npu"), "-rt", filepath.Join(data, "golden"),
			"-g", filepath.Join(data, graph), "-out", out}, more...)
		var o, e bytes.Buffer
		if code := execute(context.Background(), env{stdout: &o, stderr: &e}, args); code != exitOK {
			t.Fatalf("exit %d: %s", code, e.String())
		}
		files, _ := filepath.Glob(filepath.Join(out, "result_*.csv"))
		if len(files) != 1 {
			t.Fatalf("files %v", files)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return o.String(), string(text)
	}
	stdout, fromJSON := compare("graph.json", "-numerics", "reference")
	if !strings.Contains(stdout, " Conv2D "+broken+" ") {
		t.Errorf("the summary does not name %s:\n%s", broken, stdout)
	}
	if err := recorded.Same("result.csv", string(want), fromJSON, ""); err != nil {
		t.Error(err)
	}
	if _, fromText := compare("graph.txt", "-numerics", "reference"); fromText != fromJSON {
		t.Error("the text graph and its JSON give different tables")
	}
	stdout, exact := compare("graph.txt")
	if !strings.Contains(stdout, " Conv2D "+broken+" ") {
		t.Errorf("exact: the summary does not name %s:\n%s", broken, stdout)
	}
	if _, again := compare("graph.txt", "-workers", "1"); again != exact {
		t.Error("the table depends on the number of workers")
	}
}
