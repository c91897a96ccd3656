package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"precision/compare/report"
	"precision/compare/verdict"
	"precision/repl"
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
		{[]string{"report"}, exitUsage, "", "precision browse " + filepath.Join(state, "result-")}, // a check is no table
		{[]string{"why", "block2/conv"}, exitOK, "block2/conv:output:0 (Conv2D", "testdata"},
	} {
		status, stdout, stderr := run(c.args...)
		if status != c.status || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%q: status %d\n%s\n%s", c.args, status, stdout, stderr)
		}
	}
}

// TestExitStatus: who asks for it gets a verdict as diff tells it; without, a verdict is no error.
func TestExitStatus(t *testing.T) {
	sample, err := filepath.Abs("../../testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	npu, golden, graph := filepath.Join(sample, "npu"), filepath.Join(sample, "golden"), filepath.Join(sample, "ge_proto_00000001_graph_1_Build.txt")
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"compare", npu, golden, "-g", graph, "-json", "bad.json"}, exitOK},
		{[]string{"compare", npu, golden, "-g", graph, "-exit-status"}, exitError},
		{[]string{"report", "bad.json"}, exitOK},
		{[]string{"report", "bad.json", "-exit-status"}, exitError},
		{[]string{"report", "bad.json", "-exit-status", "-gate"}, exitBelow},
		{[]string{"check", npu, "-g", graph}, exitOK},
		{[]string{"check", npu, "-g", graph, "-exit-status"}, exitError},
	} {
		if status, stdout, stderr := precision(t, c.args...); status != c.want {
			t.Errorf("%q: exit status %d, expected %d\n%s%s", c.args, status, c.want, stdout, stderr)
		}
	}
}

// TestStatusOf: an inconclusive verdict is told apart from a bad one, and neither is an error unasked.
func TestStatusOf(t *testing.T) {
	for v, want := range map[verdict.Verdict]int{verdict.Good: exitOK, verdict.Suspect: exitOK, verdict.Bad: exitError, verdict.Inconclusive: exitNoMatch} {
		if statusOf(true, v) != want || statusOf(false, v) != exitOK {
			t.Errorf("%s: %d, unasked %d", v, statusOf(true, v), statusOf(false, v))
		}
	}
}

// TestNarrow: COLUMNS is honoured, and tables leave out columns where there is no room.
func TestNarrow(t *testing.T) {
	t.Setenv("COLUMNS", "60")
	status, help, stderr := precision(t, "-lang", "en", "compare", "-jsn", "x")
	if status != exitUsage || !strings.Contains(stderr, "did you mean -json?") {
		t.Errorf("status %d: %s%s", status, help, stderr)
	}
	_, help, _ = precision(t, "-lang", "en", "compare", "-h")
	_, text, _ := strings.Cut(help, "\n  -")
	for line := range strings.Lines(text) {
		if len([]rune(line)) > 62 && strings.HasPrefix(line, "        ") {
			t.Errorf("a line of help is wider than COLUMNS: %q", line)
		}
	}
}

// TestHelp: help is one screen of 80 columns with every command once; that of a command has an example that parses and the options
// that people use, -h all the rest.
func TestHelp(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	list := slices.Concat(commands(false), commands(true))
	for i, c := range list {
		if _, shell := repl.Command(c.name); c.run == nil && !shell || slices.ContainsFunc(list[:i], func(d command) bool { return d.name == c.name }) {
			t.Errorf("%s is in two groups of the help, or no command", c.name)
		}
	}
	_, help, _ := precision(t, "-c", "help")
	for _, m := range regexp.MustCompile(`(?m)^  (\w+)  `).FindAllStringSubmatch(help, -1) {
		if _, ok := named(m[1]); !ok && m[1] != "help" && m[1] != "exit" {
			t.Errorf("the help of the program has no %s", m[1])
		}
	}
	for _, lang := range []string{"en", "zh"} {
		_, help, _ := precision(t, "-lang", lang, "-h")
		if n := strings.Count(help, "\n"); n > 24 {
			t.Errorf("the help in %s takes %d lines:\n%s", lang, n, help)
		}
		for line := range strings.Lines(help) {
			if w := report.Width(strings.TrimRight(line, "\n")); w > 80 {
				t.Errorf("a line of %d columns: %q", w, line)
			}
		}
	}
	for _, h := range append(list, command{name: "preflight.diff"}, command{name: "preflight.manifest"}) {
		if h, _ = named(h.name); h.example == "" {
			continue
		}
		command, words := h.name, strings.Split(h.name, ".")
		_, some, _ := precision(t, append(append([]string{"-lang", "en"}, words...), "-h")...)
		_, all, _ := precision(t, append(append([]string{"-lang", "en"}, words...), "-h", "all")...)
		if !strings.Contains(some, h.example) || !strings.HasPrefix(h.example, "precision ") {
			t.Errorf("no example in the help of %s:\n%s", command, some)
		}
		for _, o := range strings.Fields(h.options) {
			if !strings.Contains(some, "\n  -"+o) || !strings.Contains(all, "\n  -"+o) {
				t.Errorf("%s has no option -%s:\n%s", command, o, some)
			}
		}
		if strings.Contains(some, "-h all lists") == (strings.Count(some, "\n  -") == strings.Count(all, "\n  -")) {
			t.Errorf("the help of %s does not say what is left out:\n%s", command, some)
		}
	}
}
