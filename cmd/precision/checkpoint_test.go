package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Weights in place of a recording are named as what they are, as a file and as a folder of them.
func TestCheckpoints(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "step1.ckpt")
	if err := os.WriteFile(file, []byte("\x0a\x4c\x0a\x09fc.weight\x12\x3f\x08\x03"+strings.Repeat("\x00", 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"compare", "-lt", file, "-rt", file}, {"compare", "-lt", dir, "-rt", t.TempDir()}, {"check", file}, {"check", dir}, {"vc", "-lt", file, "-rt", file}} {
		var out, failed bytes.Buffer
		if code := execute(context.Background(), env{stdout: &out, stderr: &failed}, args); code == exitOK || !strings.Contains(failed.String(), "a checkpoint (MindSpore)") {
			t.Errorf("%v: status %d, %s%s", args, code, out.String(), failed.String())
		}
	}
}
