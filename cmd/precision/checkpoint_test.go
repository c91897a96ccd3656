package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Weights in place of a recording are named as what they are, as a file and as a folder of them; what only begins as weights
// do is named by its place where they would be compared.
func TestCheckpoints(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "step1.ckpt")
	if err := os.WriteFile(file, []byte("\x0a\x4c\x0a\x09fc.weight\x12\x3f\x08\x03"+strings.Repeat("\x00", 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"compare", "-lt", file, "-rt", file}, {"vc", "-lt", file, "-rt", file}} {
		var out, failed bytes.Buffer
		if code := execute(context.Background(), env{stdout: &out, stderr: &failed}, args); code == exitOK || !strings.Contains(failed.String(), file+`: offset 0: the value "fc.weight"`) {
			t.Errorf("%v: status %d, %s%s", args, code, out.String(), failed.String())
		}
	}
	for _, args := range [][]string{{"compare", "-lt", dir, "-rt", t.TempDir()}, {"check", file}, {"check", dir}} {
		var out, failed bytes.Buffer
		if code := execute(context.Background(), env{stdout: &out, stderr: &failed}, args); code == exitOK || !strings.Contains(failed.String(), "a checkpoint (MindSpore)") {
			t.Errorf("%v: status %d, %s%s", args, code, out.String(), failed.String())
		}
	}
}

// The configuration of MindSpore's own dump is called dump.json by many: it is named as what it is, and does not hide the
// recording beside it. A recording whose file begins with other keys is one.
func TestSettings(t *testing.T) {
	dir, beside := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "dump.json")
	for _, path := range []string{file, filepath.Join(beside, "dump.json")} {
		if err := os.WriteFile(path, []byte(`{ "common_dump_settings": {"op_debug_mode": 0, "dump_mode": 0, "path": "/data/dump", "net_name": "Net"}, "e2e_dump_settings": {"enable": true}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(args ...string) (int, string) {
		var out, failed bytes.Buffer
		code := execute(context.Background(), env{stdout: &out, stderr: &failed}, args)
		return code, out.String() + failed.String()
	}
	for _, args := range [][]string{{"compare", "-lt", file, "-rt", file}, {"compare", "-lt", dir, "-rt", dir}, {"compare", "-all", "-lt", dir, "-rt", dir, "-out", t.TempDir()}, {"check", file}, {"check", dir}, {"vc", "-lt", file, "-rt", file}} {
		if code, said := ask(args...); code == exitOK || !strings.Contains(said, "the configuration of MindSpore's own dump") {
			t.Errorf("%v: status %d, %s", args, code, said)
		}
	}
	kernel := filepath.Join(beside, "rank_0", "Net", "0", "0")
	if err := os.MkdirAll(kernel, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, shape := range map[string]string{"input.0": "(4,)", "output.0": "(4,)"} {
		b := "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }"
		b += strings.Repeat(" ", 10+0x76-1-len(b)) + "\n" + strings.Repeat("\x00\x00\x80\x3f", 4)
		if err := os.WriteFile(filepath.Join(kernel, "Neg.Default_Neg-op0.0.0.1000."+name+".DefaultFormat.Float32.npy"), []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, said := ask("check", beside, "-out", t.TempDir()); !strings.Contains(said, "1 wrong") {
		t.Errorf("the recording beside the configuration was not checked: %s", said)
	}
}
