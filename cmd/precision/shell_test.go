package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sampleData lays the sample network out as a data folder of the shell.
func sampleData(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "precision_data")
	for from, to := range map[string]string{"npu": "npu/debug_0/dump", "golden": "tf/dump"} {
		if err := os.CopyFS(filepath.Join(dir, filepath.FromSlash(to)), os.DirFS(filepath.Join(sample, from))); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(sampleGraph)
	if err != nil {
		t.Fatal(err)
	}
	graphs := filepath.Join(dir, "npu", "debug_0", "graph")
	if err := os.MkdirAll(graphs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(graphs, filepath.Base(sampleGraph)), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestShellFromTheCommandLine(t *testing.T) {
	dir := sampleData(t)
	code, out, stderr := precision(t, "-data", dir, "-lang", "en", "-c", "vc; ls -t Conv3D")
	if code != exitOK || !strings.Contains(out, "block2/conv") || !strings.Contains(out, "[Conv3D][] volume") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if code, out, _ := precision(t, "data", dir, "-lang", "en", "-c", "vcs -l 1"); code != exitOK || !strings.Contains(out, "block2/conv") {
		t.Errorf("data DIR: exit %d: %s", code, out)
	}
	if code, out, _ := precision(t, "-lang", "zh", "-data", dir, "vcs", "-l", "1"); code != exitOK || !strings.Contains(out, "左侧") {
		t.Errorf("flags before a sub-command: exit %d: %s", code, out)
	}
	if code, out, stderr := precision(t, "-data", dir, "-c", ""); code != exitOK || out != "" || stderr != "" {
		t.Errorf("-c without a command: exit %d: %s%s", code, out, stderr)
	}
	if code, out, _ := precision(t, "-lang", "zh", "data", dir, "-c", "vcs -l 1"); code != exitOK || !strings.Contains(out, "左侧") {
		t.Errorf("-lang in front of data: exit %d: %s", code, out)
	}
	for _, args := range [][]string{{"-lang", "zh", "infer", "none"}, {"infer", "none", "-lang", "zh"}} {
		if code, _, stderr := precision(t, args...); code != exitError || !strings.Contains(stderr, "没有目录 none") {
			t.Errorf("%q: exit %d: %s", args, code, stderr)
		}
	}
	if code, _, stderr := precision(t, "data", "-c", "ls"); code != exitError || !strings.Contains(stderr, "which folder") {
		t.Errorf("data without a folder: exit %d: %s", code, stderr)
	}
	if code, out, _ := precision(t, "--version"); code != exitOK || !strings.HasPrefix(out, "precision ") {
		t.Errorf("--version: exit %d: %s", code, out)
	}
	if code, _, stderr := precision(t, "-c", "ls", "vcs"); code != exitError || !strings.Contains(stderr, "vcs") {
		t.Errorf("-c and a sub-command: exit %d: %s", code, stderr)
	}
	if code, _, stderr := precision(t, "-c", "ls", "stray"); code != exitError || !strings.Contains(stderr, "stray") {
		t.Errorf("a stray word: exit %d: %s", code, stderr)
	}
}

// Every command of the shell is a sub-command too.
func TestShellWords(t *testing.T) {
	t.Chdir(filepath.Dir(sampleData(t)))
	code, out, stderr := precision(t, "ls", "-t", "MaxPool")
	if code != exitOK || !strings.Contains(out, "pool1") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if code, _, stderr := precision(t, "nothing"); code != exitError || !strings.Contains(stderr, "no command") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, out, _ := precision(t, "help"); !strings.Contains(out, "vcs") || !strings.Contains(out, "  compare ") {
		t.Errorf("help:\n%s", out)
	}
}

// The data folder is found from inside it, and from the folder that holds it.
func TestDataFolderFound(t *testing.T) {
	dir := sampleData(t)
	elsewhere := t.TempDir()
	for _, c := range []struct {
		in   string
		args []string
	}{
		{filepath.Dir(dir), nil},
		{dir, nil},
		{elsewhere, []string{"-data", dir}},
		{elsewhere, []string{"-data", filepath.Dir(dir)}},
	} {
		t.Chdir(c.in)
		if code, out, stderr := precision(t, append(c.args, "-c", "ls -t MaxPool")...); code != exitOK || !strings.Contains(out, "pool1") {
			t.Errorf("in %s, %q: exit %d: %s%s", c.in, c.args, code, out, stderr)
		}
	}
	t.Chdir(elsewhere)
	if code, _, stderr := precision(t, "ls"); code == exitOK || !strings.Contains(stderr, filepath.Join("precision_data", "npu")) {
		t.Errorf("without data: exit %d: %s", code, stderr)
	}
}

// The help of help is the list of commands.
func TestHelpOfHelp(t *testing.T) {
	for _, args := range [][]string{{"help", "help"}, {"help", "-h"}, {"-h", "--help"}} {
		if code, out, stderr := precision(t, args...); code != exitOK || stderr != "" || !strings.Contains(out, "vcs") {
			t.Errorf("%q: exit %d: %q, %q", args, code, out, stderr)
		}
	}
}

// The help of the ways into the shell opens none.
func TestHelpOpensNoShell(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"shell", "data", "infer"} {
		for _, args := range [][]string{{name, "-h"}, {"help", name}} {
			if code, out, stderr := precision(t, args...); code != exitOK || stderr != "" || !strings.Contains(out, "usage: precision") {
				t.Errorf("%q: exit %d: %q, %q", args, code, out, stderr)
			}
		}
	}
}
