package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/report"
	"precision/compare/verdict"
)

// TestReport: a saved table says what the comparison said, with the same files,
// the same gate, and after the dumps are gone.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	sample := "../../testdata/sample/"
	call := func(want int, args ...string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		if got := execute(t.Context(), env{stdout: &out, stderr: &errs, lang: "en"}, args); got != want {
			t.Fatalf("%v: status %d, expected %d\n%s%s", args, got, want, out.String(), errs.String())
		}
		return out.String(), errs.String()
	}
	said, _ := call(exitBelow, "compare", "-lt", sample+"npu", "-rt", sample+"golden", "-g", sample+"ge_proto_00000001_graph_1_Build.txt", "-out", dir,
		"-gate", "-threshold", "0.97", "-json", file("v.json"), "-junit", file("v.xml"), "-sarif", file("v.sarif"))
	again, _ := call(exitBelow, "report", file("v.json"), "-gate", "-json", file("w.json"), "-junit", file("w.xml"), "-sarif", file("w.sarif"))
	said, _, _ = strings.Cut(said, "Result ")
	if said != again {
		t.Errorf("report says\n%s\nand compare said\n%s", again, said)
	}
	for _, name := range []string{"json", "xml", "sarif"} {
		first, err := os.ReadFile(file("v." + name))
		second, err2 := os.ReadFile(file("w." + name))
		if err != nil || err2 != nil || !bytes.Equal(first, second) {
			t.Errorf("the two files %s differ: %v %v", name, err, err2)
		}
	}
	if text, _ := call(exitOK, "report", file("v.json"), "-profile", "default"); !strings.Contains(text, "default (sha256") {
		t.Errorf("with another profile:\n%s", text)
	}
	if text, _ := call(exitOK, "report", "-baseline", file("v.json"), "-gate", file("v.json")); !strings.Contains(text, "0 regressions, 0 improved") {
		t.Errorf("against itself:\n%s", text)
	}
	text, _ := call(exitOK, "report", file("v.json"), "-n", "2", "-sort", "distance")
	if lines := strings.Split(strings.TrimSpace(text), "\n"); !strings.HasPrefix(lines[len(lines)-3], "State ") || !strings.Contains(lines[len(lines)-2], "softmax") {
		t.Errorf("the worst two:\n%s", text)
	}
	for args, want := range map[string]string{
		"report":                                 "there is no last result",
		"report x.json y.json":                   "found 2 files",
		"report " + file("none.json"):            "no such file",
		"report -sort size " + file("v.json"):    "expected one of order, state",
		"report -n -1 " + file("v.json"):         "expected a number of operators",
		"report -profile none " + file("v.json"): `there is no profile "none"`,
		"report " + dir:                          "directory",
		"profile none":                           `there is no profile "none"`,
		"schema x":                               `unexpected argument "x"`,
	} {
		if _, errs := call(exitError, strings.Fields(args)...); !strings.Contains(errs, want) {
			t.Errorf("precision %s says %s, expected %s", args, errs, want)
		}
	}
	if text, _ := call(exitOK, "schema"); !json.Valid([]byte(text)) || text != string(report.JSONSchema) {
		t.Errorf("the schema:\n%s", text)
	}
	if text, _ := call(exitOK, "profile"); text != verdict.Default().Source {
		t.Errorf("the profile:\n%s", text)
	}
}

// TestReportCSV: a csv table holds less, and still leads to the same operator.
func TestReportCSV(t *testing.T) {
	dir := t.TempDir()
	sample := "../../testdata/sample/"
	var out, errs bytes.Buffer
	for _, numerics := range []string{"exact", "reference"} {
		if got := execute(t.Context(), env{stdout: &out, stderr: &errs, lang: "en"}, []string{"compare", "-lt", sample + "npu", "-rt", sample + "golden",
			"-g", sample + "ge_proto_00000001_graph_1_Build.txt", "-out", dir, "-numerics", numerics}); got != exitOK {
			t.Fatalf("status %d: %s", got, errs.String())
		}
	}
	tables, _ := filepath.Glob(filepath.Join(dir, "*.csv"))
	if len(tables) != 2 {
		t.Fatalf("found %q, expected two tables", tables)
	}
	for _, path := range tables {
		out.Reset()
		if got := execute(t.Context(), env{stdout: &out, stderr: &errs, lang: "en"}, []string{"report", "-gate", path}); got != exitBelow {
			t.Fatalf("%s: status %d: %s%s", path, got, out.String(), errs.String())
		}
		if !strings.Contains(out.String(), "bad: ") || !strings.Contains(out.String(), "Conv2D block2/conv, output 0") {
			t.Errorf("%s:\n%s", path, out.String())
		}
	}
}

// A check writes its page, which names the operator that is wrong; not over what is checked.
func TestCheckPage(t *testing.T) {
	sample := filepath.Join("..", "..", "testdata", "sample")
	out := filepath.Join(t.TempDir(), "check.html")
	code, stdout, stderr := precision(t, "check", filepath.Join(sample, "npu"), "-g", sample, "-out", t.TempDir(), "-html", out)
	if code != exitOK {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	page, err := os.ReadFile(out)
	if err != nil || !strings.Contains(unzipped(t, page), `"block2/conv"`) || !strings.Contains(unzipped(t, page), `"block2/conv:output:0"`) {
		t.Errorf("the page: %v", err)
	}
	if code, _, stderr := precision(t, "check", filepath.Join(sample, "npu"), "-g", sample, "-out", t.TempDir(), "-html", sample); code == exitOK || stderr == "" {
		t.Errorf("a page over the input: exit %d", code)
	}
}
