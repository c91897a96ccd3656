package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the output that the READMEs show")

// transcript is a command that is shown with what it prints.
var transcript = regexp.MustCompile(`(?m)^    \$ precision (?:compare|check|report) .*\n(?:    .*\n)+`)

// ran is a transcript as it should be.
func ran(t *testing.T, lang, block string) string {
	t.Helper()
	command, _, _ := strings.Cut(block, "\n")
	dir := t.TempDir()
	args := strings.Fields(strings.ReplaceAll(strings.TrimPrefix(command, "    $ precision "), "-out result", "-out "+dir))
	var out, errs bytes.Buffer
	if code := execute(context.Background(), env{stdout: &out, stderr: &errs}, append([]string{"-lang", lang}, args...)); code != exitOK {
		t.Fatalf("%s: exit %d: %s", command, code, &errs)
	}
	shown := strings.ReplaceAll(out.String(), dir, "result")
	shown = regexp.MustCompile(`(result|check)_\d{14}`).ReplaceAllString(shown, "${1}_20260101120000")
	return command + "\n    " + strings.ReplaceAll(strings.TrimSpace(shown), "\n", "\n    ") + "\n"
}

// TestReadme runs the commands of the READMEs on the sample network and holds
// what they print against what is shown there, indented. With -update it writes
// that.
func TestReadme(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	graph := "testdata/sample/ge_proto_00000001_graph_1_Build.txt"
	for file, lang := range map[string]string{"README.md": "en", "README.zh.md": "zh"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := string(text)
		for _, args := range [][]string{
			{"compare", "-lt", "testdata/sample/npu", "-rt", "testdata/sample/golden", "-g", graph},
			{"check", "-lt", "testdata/sample/npu", "-g", graph},
		} {
			dir := t.TempDir()
			var out, errs bytes.Buffer
			if code := execute(context.Background(), env{stdout: &out, stderr: &errs}, append([]string{"-lang", lang}, append(args, "-out", dir)...)); code != exitOK {
				t.Fatalf("%s: exit %d: %s", args[0], code, &errs)
			}
			shown := strings.ReplaceAll(out.String(), dir, "result")
			shown = regexp.MustCompile(`(result|check)_\d{14}`).ReplaceAllString(shown, "${1}_20260101120000")
			shown = "    " + strings.ReplaceAll(strings.TrimSpace(shown), "\n", "\n    ") + "\n"
			// The block begins with the first word of the output and ends where the
			// table is named.
			first := strings.Fields(shown)[0]
			block := regexp.MustCompile(`(?s)    ` + first + ` .*?(result|check)_20260101120000\.csv\n`)
			if !block.MatchString(got) {
				t.Fatalf("%s does not show the output of %s:\n%s", file, args[0], shown)
			}
			got = block.ReplaceAllLiteralString(got, shown)
		}
		got = transcript.ReplaceAllStringFunc(got, func(block string) string {
			return ran(t, lang, block)
		})
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got != string(text) {
			t.Errorf("%s shows other output than the commands print; run with -update and look at the difference", file)
		}
	}
}
