package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/testdata/workshop/dumptest"
)

// One bad tensor is one row with its reason, and all others are compared.
func TestBadInputIsARow(t *testing.T) {
	dir := t.TempDir()
	npu, golden := filepath.Join(dir, "npu"), filepath.Join(dir, "golden")
	values := []float32{1, 2, 3, 4}
	good := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: []int64{2, 2}, Data: dumptest.Floats(values)}
	file := func(tensors ...dumptest.Tensor) []byte { return dumptest.Dump{Outputs: tensors}.Bytes() }
	cut := file(good)
	beyond := file(good)
	binary.LittleEndian.PutUint64(beyond, 1<<40)
	huge := good
	huge.Shape = []int64{1 << 40, 1 << 10}
	claim := good
	claim.Claim = 1 << 50
	dumps := map[string][]byte{
		"good": file(good), "=cmd|calc": file(good), "cut": cut[:len(cut)-5], "beyond": beyond, "five": []byte("12345"), "none": nil,
		"garbage": []byte("\x04\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"), "huge": file(huge), "claim": file(claim),
		"second_ok": file(claim, good), "lying": file(good), "pickle": file(good), "nogold": file(good), "last": file(good),
	}
	var graph strings.Builder
	graph.WriteString("graph {\n  name: \"g\"\n")
	order := []string{"good", "=cmd|calc", "cut", "beyond", "five", "none", "garbage", "huge", "claim", "second_ok", "lying", "pickle", "nogold",
		"missing", "last"}
	for i, name := range order {
		fmt.Fprintf(&graph, "  op {\n    name: %q\n    type: \"Op\"\n    id: %d\n    output_desc { attr { key: \"origin_format\" value { s: \"ND\" } } }\n"+
			"    output_desc { attr { key: \"origin_format\" value { s: \"ND\" } } }\n  }\n", name, i)
		flat := strings.NewReplacer("=", "_", "|", "_").Replace(name)
		if content, ok := dumps[name]; ok {
			path := filepath.Join(npu, fmt.Sprintf("Op.%s.%d.1.163000000000%04d", flat, i, i))
			if err := os.MkdirAll(npu, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if name == "nogold" {
			continue
		}
		for output := range 2 {
			path := filepath.Join(golden, fmt.Sprintf("%s.%d.163000000000%04d.npy", flat, output, i))
			if err := dumptest.WriteNpy(path, "<f4", []int64{2, 2}, dumptest.Floats(values)); err != nil {
				t.Fatal(err)
			}
		}
	}
	graph.WriteString("}\n")
	lie := filepath.Join(golden, "lying.0.1630000000000010.npy")
	if err := dumptest.WriteNpy(lie, "<f4", []int64{1 << 30, 1 << 30}, dumptest.Floats(values)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(golden, "pickle.0.1630000000000011.npy"), []byte("\x93NUMPY\x01\x00\x40\x00{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }        \n"), 0o644); err != nil {
		t.Fatal(err)
	}
	graphPath := filepath.Join(dir, "ge_proto_1_Build.txt")
	if err := os.WriteFile(graphPath, []byte(graph.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	out := filepath.Join(dir, "out")
	if code := execute(context.Background(), env{stdout: &o, stderr: &e}, []string{"compare", "-lt", npu, "-rt", golden, "-g", graphPath, "-out", out}); code != exitOK {
		t.Fatalf("exit %d: %s", code, e.String())
	}
	files, _ := filepath.Glob(filepath.Join(out, "*.csv"))
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	cosine := map[string]string{}
	reason := map[string]string{}
	for _, r := range rows[1:] {
		key := strings.TrimSpace(r[column["NPUDump"]])
		if strings.HasSuffix(r[column["TensorIndex"]], ":output:1") {
			key += ":1"
		}
		cosine[key] = r[column["CosineSimilarity"]]
		reason[key] = r[column["CompareFailReason"]]
	}
	for _, name := range []string{"good", "last"} {
		if cosine[name] != "1.000000" {
			t.Errorf("%s: cosine %q, reason %q", name, cosine[name], reason[name])
		}
	}
	for name, want := range map[string]string{
		"cut": "found 11 bytes, expected 16", "beyond": "1099511627776 bytes", "five": "5 bytes", "none": "empty", "garbage": "not a dump header",
		"huge": "shape", "claim": "expected 1125899906842624", "second_ok": "expected 1125899906842624", "lying": "expected", "pickle": "pickle.0",
		"nogold": "no the ground truth", "missing": "no dump file",
	} {
		if cosine[name] != "NaN" || !strings.Contains(reason[name], want) {
			t.Errorf("%s: cosine %q, reason %q, want %q in it", name, cosine[name], reason[name], want)
		}
	}
	if _, raw := cosine["=cmd|calc"]; !raw || strings.Contains(string(text), "\r\n1,Op,=cmd") {
		t.Errorf("the formula-like name is lost or not neutral:\n%s", text)
	}
}

// TestCheckTellsDamagedInputs: the dump of an input of the network that cannot be believed is told by a check, too, which does
// without it as whoever takes the input has it.
func TestCheckTellsDamagedInputs(t *testing.T) {
	npu := filepath.Join(t.TempDir(), "npu")
	if err := os.CopyFS(npu, os.DirFS(filepath.Join("..", "..", "testdata", "sample", "npu"))); err != nil {
		t.Fatal(err)
	}
	graph := filepath.Join("..", "..", "testdata", "sample", "ge_proto_00000001_graph_1_Build.txt")
	data := inTree(t, npu, "Data.x.")
	whole, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(inTree(t, npu, ".pool1."))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte
		said    string
	}{
		"whole":   {whole, ""},
		"cut":     {whole[:len(whole)-1], "x:output:0: the dump cannot be read"},
		"empty":   {nil, "the file is empty"},
		"another": {other, "were files exchanged or renamed?"},
	} {
		if err := os.WriteFile(data, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, stdout, stderr := precision(t, "-lang", "en", "check", npu, "-g", graph, "-out", t.TempDir(), "-gate=strict")
		damaged := strings.Contains(stdout, "fails: 1 damaged: x:output:0")
		if damaged != (c.said != "") || !strings.Contains(stdout, c.said) {
			t.Errorf("%s: %s%s", name, stdout, stderr)
		}
	}
}

// inTree is the first file below a folder with so much in its name.
func inTree(t *testing.T, dir, part string) (found string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && found == "" && !d.IsDir() && strings.Contains(d.Name(), part) {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("%s in %s: %v", part, dir, err)
	}
	return found
}
