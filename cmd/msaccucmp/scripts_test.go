package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"precision/cmd/msaccucmp/compat"
	"strings"
	"testing"
)

func needNumpy(t *testing.T) {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import numpy").Run() == nil {
			return
		}
	}
	t.Skip("no python3 with numpy to run scripts")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A user's algorithm is a column of its own, in the place where it was named,
// and a user's conversion goes before the built-in one.
func TestUserScripts(t *testing.T) {
	needNumpy(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "scripts", "algorithm", "alg_Largest.py"),
		"import numpy as np\n\ndef compare(mine, golden, args):\n    return np.abs(mine - golden).max(), 'seen by ' + args.name\n")
	write(t, filepath.Join(dir, "scripts", "format_convert", "convert_NC1HWC0_to_NCHW.py"),
		"import numpy as np\n\ndef convert(shape_from, shape_to, array):\n    n, c1, h, w, c0 = shape_from\n"+
			"    a = np.asarray(array).reshape(shape_from).transpose(0, 1, 4, 2, 3).reshape(n, c1 * c0, h, w)\n    return a[:, :shape_to[1]]\n")
	sample := "../../testdata/sample"
	out := filepath.Join(dir, "out")
	npu := sample + "/npu/20260101120000/0/sample_net_1/1/0"
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), &stdout, &stderr, []string{"compare", "-m", npu, "-g", sample + "/golden",
		"-f", sample + "/ge_proto_00000001_graph_1_Build.txt", "-out", out, "-c", filepath.Join(dir, "scripts"),
		"-alg", "1,Largest,CosineSimilarity,Nope", "-a", "Largest:name=me"})
	files, _ := filepath.Glob(filepath.Join(out, "result_*.csv"))
	if len(files) != 1 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	header := strings.Join(rows[0], ",")
	if !strings.HasSuffix(header, "Shape,MaxAbsoluteError,Largest,CosineSimilarity,CompareFailReason") {
		t.Fatalf("columns %s", header)
	}
	n, same := len(rows[0]), 0
	for _, r := range rows[1:] {
		if r[n-4] == "NaN" {
			continue
		}
		same++
		if r[n-4] != r[n-3] || !strings.Contains(r[n-1], "seen by me") {
			t.Errorf("row %v", r)
		}
	}
	if same < 30 {
		t.Errorf("only %d rows have values\n%s", same, stderr.String())
	}
	if !strings.Contains(stderr.String(), `no algorithm "Nope"`) {
		t.Error("the unknown algorithm is not named")
	}

	// Through the converter, scripted and built in must agree.
	dump := filepath.Join(npu, "MaxPool.pool1.3.1.1630000000003000")
	for _, c := range [][]string{{"plain"}, {"scripted", "-c", filepath.Join(dir, "scripts")}} {
		args := append([]string{"convert", "-d", dump, "-f", "NCHW", "-o", "0", "-out", filepath.Join(dir, c[0])}, c[1:]...)
		if code := run(context.Background(), &stdout, &stderr, args); code != 0 {
			t.Fatalf("%s: exit %d: %s", c[0], code, stderr.String())
		}
	}
	name := "MaxPool.pool1.3.1.1630000000003000.output.0.1x20x4x4.npy"
	a, errA := os.ReadFile(filepath.Join(dir, "plain", name))
	b, errB := os.ReadFile(filepath.Join(dir, "scripted", name))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("scripted and built-in conversions differ: %v %v", errA, errB)
	}
}

// Two PyTorch recordings are told by their ending.
func TestTorchFilesAreRecognised(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.h5", "b.h5"} {
		write(t, filepath.Join(dir, name), "no HDF5")
	}
	var stdout, stderr bytes.Buffer
	args := []string{"compare", "-m", filepath.Join(dir, "a.h5"), "-g", filepath.Join(dir, "b.h5"), "-out", dir}
	if code := run(context.Background(), &stdout, &stderr, args); code != 7 || !strings.Contains(stderr.String(), "a.h5") {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	if code := run(context.Background(), &stdout, &stderr, append(args, "-op", "x")); code != compat.CodeParameter {
		t.Errorf("-op with .h5: exit %d", code)
	}
}

// -advisor of two .h5 files writes its summary beside the table, as of two folders.
func TestAdvisorOfTorch(t *testing.T) {
	dir := t.TempDir()
	const recordings = "../../compare/torch/testdata"
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), &stdout, &stderr, []string{"compare", "-m", recordings + "/full_npu.h5", "-g", recordings + "/full_gpu.h5", "-out", dir, "-advisor"}); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "advisor_summary.txt"))
	if err != nil || !strings.HasPrefix(string(text), "Detection Type: ") || strings.Count(string(text), "\n") < 2 {
		t.Errorf("%q, %v", text, err)
	}
}
