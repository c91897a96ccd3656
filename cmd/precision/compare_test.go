package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/testdata/workshop/dumptest"
)

// A limit that judges nothing must not pass for a network that is fine.
func TestLimitsAreChecked(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-threshold", "98"}, "-threshold 98: expected a cosine similarity"},
		{[]string{"-threshold", "NaN"}, "-threshold NaN"},
		{[]string{"-fail-below", "NaN"}, "-fail-below NaN"},
		{[]string{"-fail-below", "99"}, "-fail-below 99"},
		{[]string{"-profile", "nothing"}, "there is no profile \"nothing\""},
		{[]string{"-gate=hard"}, "expected -gate or -gate=strict"},
		{[]string{"-baseline", "no.json"}, "no.json"},
	} {
		code, _, stderr, table := compareSample(t, c.args...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || table != "" {
			t.Errorf("%q: exit %d, %q", c.args, code, stderr)
		}
	}
	// What is judged does not depend on the columns that are shown.
	for _, columns := range []string{"1,0", "1,2"} {
		code, stdout, stderr, _ := compareSample(t, "-fail-below", "0.9", "-metrics", columns)
		if code != exitBelow || !strings.Contains(stdout, "block2/conv:output:0") {
			t.Errorf("exit %d: %s%s", code, stdout, stderr)
		}
	}
}

// What is held against itself is equal and proves nothing: no gate lets it pass.
func TestComparedWithItself(t *testing.T) {
	golden, err := filepath.Abs(sample + "/golden")
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "golden")
	if err := os.Symlink(golden, link); err != nil {
		link = sample + "/golden" // no links here, so it is another path at least
	}
	for _, c := range []struct {
		sides []string
		code  int
		says  string
	}{
		{[]string{"-rt", sample + "/npu"}, exitBelow, "both sides are the same recording, which shows nothing"},
		{[]string{"-lt", golden, "-rt", link, "-g", ""}, exitBelow, "both sides are the same recording, which shows nothing"},
		{[]string{"-second", sample + "/npu"}, exitError, "is the left side itself"},
	} {
		code, stdout, stderr, _ := compareSample(t, append(c.sides, "-gate")...)
		if code != c.code || !strings.Contains(stdout+stderr, c.says) {
			t.Errorf("%q: exit status %d, %s%s", c.sides, code, stdout, stderr)
		}
	}
}

// pairOf writes one-operator folders and compares them by name.
func pairOf(t *testing.T, mine []byte, golden []float32, args ...string) (code int, stdout string) {
	t.Helper()
	dir := t.TempDir()
	npu := filepath.Join(dir, "npu")
	if err := os.MkdirAll(npu, 0o755); err != nil {
		t.Fatal(err)
	}
	good := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: []int64{2}, Data: dumptest.Floats([]float32{1, 2})}
	for i, content := range [][]byte{mine, dumptest.Dump{Outputs: []dumptest.Tensor{good}}.Bytes()} {
		if err := os.WriteFile(filepath.Join(npu, fmt.Sprintf("Op.op%d.1.1.163000000000000%d", i, i)), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, values := range map[string][]float32{"op0": golden, "op1": {1, 2}} {
		if err := dumptest.WriteNpy(filepath.Join(dir, "golden", name+".0.1630000000000009.npy"), "<f4", []int64{int64(len(values))}, dumptest.Floats(values)); err != nil {
			t.Fatal(err)
		}
	}
	var o, e bytes.Buffer
	code = execute(context.Background(), env{stdout: &o, stderr: &e}, append([]string{"compare", "-lt", npu, "-rt", filepath.Join(dir, "golden"), "-out", filepath.Join(dir, "out")}, args...))
	if e.Len() > 0 {
		t.Errorf("%q: %s", args, e.String())
	}
	return code, o.String()
}

// The outputs of a dump that cannot be read have no cosine similarity either.
func TestFailBelowCountsUnreadableDumps(t *testing.T) {
	if code, stdout := pairOf(t, []byte("no dump at all"), []float32{1, 2}, "-fail-below", "0.5"); code != exitBelow {
		t.Errorf("exit %d:\n%s", code, stdout)
	}
}

// The verdict on a scalar names what it rests on, in both numerics.
func TestVerdictOnScalar(t *testing.T) {
	scalar := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: []int64{1}, Data: dumptest.Floats([]float32{3})}
	for _, numerics := range []string{"exact", "reference"} {
		_, stdout := pairOf(t, dumptest.Dump{Outputs: []dumptest.Tensor{scalar}}.Bytes(), []float32{4}, "-numerics", numerics)
		if !strings.Contains(stdout, "op0, output 0") || !strings.Contains(stdout, "relative error 0.25,") {
			t.Errorf("%s:\n%s", numerics, stdout)
		}
	}
}

// A folder full of other files does not push the result off the screen.
func TestWarningsAreBounded(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, mostWarnings: mostWarnings, mostWarnings + 1: mostWarnings + 1, 5000: mostWarnings + 1} {
		var list []error
		for i := range n {
			list = append(list, fmt.Errorf("file %d.", i))
		}
		var b bytes.Buffer
		env{stderr: &b, lang: "en"}.printWarnings(list)
		if got := strings.Count(b.String(), "warning: "); got != want {
			t.Errorf("%d warnings: %d lines, want %d", n, got, want)
		}
		if n > 0 && (!strings.Contains(b.String(), "file 0.\n") || !strings.Contains(b.String(), fmt.Sprintf("file %d.\n", n-1))) {
			t.Errorf("%d warnings: the first or the last is missing:\n%s", n, b.String())
		}
		if n > want && !strings.Contains(b.String(), fmt.Sprintf("%d more\n", n-mostWarnings)) {
			t.Errorf("%d warnings: no count of the others:\n%s", n, b.String())
		}
	}
}
