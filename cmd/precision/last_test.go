package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestLast: behind a comparison commands need nothing but a name, which may be a part, a pattern or the framework's.
func TestLast(t *testing.T) {
	sample, err := filepath.Abs("../../testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	state := t.TempDir()
	run := func(args ...string) (int, string, string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		status := execute(context.Background(), env{stdout: &stdout, stderr: &stderr, lang: "en", state: state}, args)
		return status, stdout.String(), stderr.String()
	}
	for _, args := range [][]string{{"why", "conv1"}, {"report"}, {"browse"}} {
		if status, _, stderr := run(args...); status != exitUsage || !strings.Contains(stderr, "precision "+args[0]+":") {
			t.Errorf("%q without a last result: status %d, %s", args, status, stderr)
		}
	}
	if status, _, stderr := run("compare", filepath.Join(sample, "npu"), filepath.Join(sample, "golden"), "-g", filepath.Join(sample, "ge_proto_00000001_graph_1_Build.txt")); status != exitOK {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		args   []string
		status int
		stdout string
		stderr string
	}{
		{[]string{"why", "block2/conv"}, exitOK, "block2/conv:output:0 (Conv2D", "last result: "},
		{[]string{"why", "block2/conv:output:0"}, exitOK, "block2/conv:output:0 (Conv2D", ""},
		{[]string{"why", "BLOCK2"}, exitOK, "block2/conv:output:0", ""},
		{[]string{"why", "l1_*"}, exitOK, "l1_conv_1:output:0", ""},
		{[]string{"why", "blokc2/conv"}, exitNoMatch, "", "did you mean block2/conv?"},
		{[]string{"why", "nothing-like-it-at-all"}, exitNoMatch, "", "no outputs of"},
		{[]string{"why", "*"}, exitNoMatch, "", "21 operators fit \"*\""},
		{[]string{"report"}, exitOK, "Conv2D block2/conv, output 0", "last result: "},
		{[]string{"check"}, exitOK, "block2/conv:output:0", "last result: "},
		{[]string{"why", "block2/conv"}, exitOK, "block2/conv:output:0 (Conv2D", "testdata"},
	} {
		status, stdout, stderr := run(c.args...)
		if status != c.status || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%q: status %d\n%s\n%s", c.args, status, stdout, stderr)
		}
	}
}
